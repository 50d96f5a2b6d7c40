"""The words that the documents list for flags, states and modes, all versions together.

The fields themselves are plain strings: a newer Slurm may send, and take, a word that is not listed here.
"""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

__all__ = [
    "ACCOUNT_FLAGS",
    "ACCT_GATHER_PROFILE",
    "ADMIN_LVL",
    "ASSOC_FLAGS",
    "ASSOC_SHARES_OBJ_WRAP_TYPE",
    "CLUSTER_REC_FLAGS",
    "CPU_BINDING_FLAGS",
    "CRON_ENTRY_FLAGS",
    "CR_TYPE",
    "JOB_DEFAULTS_TYPE",
    "JOB_EXCLUSIVE_FLAGS",
    "JOB_FLAGS",
    "JOB_MAIL_FLAGS",
    "JOB_RES_CORE_STATUS",
    "JOB_SHARED",
    "JOB_SHOW_FLAGS",
    "JOB_STATE",
    "MEMORY_BINDING_TYPE",
    "NODE_CERT_FLAGS",
    "NODE_CR_TYPE",
    "NODE_STATES",
    "OPENAPI_JOBS_REQUEUE_QUERY_FLAGS",
    "OPEN_MODE",
    "OVERSUBSCRIBE_FLAGS",
    "PARTITION_INFO_FLAGS",
    "PARTITION_INFO_PREEMPT_MODE",
    "PARTITION_STATES",
    "PROCESS_EXIT_CODE_STATUS",
    "QOS_FLAGS",
    "QOS_PREEMPT_MODES",
    "RESERVATION_DESC_MSG_FLAGS",
    "RESERVATION_FLAGS",
    "ROLLUP_STATS_ITEM_TYPE",
    "SLURMDBD_CONF_FLAGS",
    "SLURMDBD_CONF_PERSIST_CONN_FLAGS",
    "SLURMDB_JOB_FLAGS",
    "SLURM_CONF_ACCOUNTING_STORAGE_ENFORCE",
    "SLURM_CONF_ACCOUNTING_STORE_FLAGS",
    "SLURM_CONF_COMMUNICATION_PARAMETERS_FLAGS",
    "SLURM_CONF_CONF_FLAGS",
    "SLURM_CONF_CPU_FREQ_GOVERNORS",
    "SLURM_CONF_DEBUG_FLAGS",
    "SLURM_CONF_ENFORCE_PART_LIMITS",
    "SLURM_CONF_HEALTH_CHECK_NODE_STATE",
    "SLURM_CONF_PREEMPT_MODE",
    "SLURM_CONF_PRIORITY_FLAGS",
    "SLURM_CONF_PRIVATE_DATA",
    "SLURM_CONF_PROLOG_FLAGS",
    "SLURM_CONF_RECONFIG_FLAGS",
    "SLURM_CONF_SELECT_TYPE_PARAMETERS",
    "SLURM_CONF_SLURMD_PARAMETERS_FLAGS",
    "SLURM_CONF_TASK_PLUGIN_PARAM",
    "USER_FLAGS",
    "WARN_FLAGS",
    "WCKEY_FLAGS",
    "WCKEY_TAG_FLAGS",
    "X11_FLAGS",
]

ACCOUNT_FLAGS: frozenset[str] = frozenset(
    {
        "DELETED",
        "NoUsersAreCoords",
        "UsersAreCoords",
        "WithAssociations",
        "WithCoordinators",
    }
)

ACCT_GATHER_PROFILE: frozenset[str] = frozenset(
    {
        "ENERGY",
        "LUSTRE",
        "NETWORK",
        "NONE",
        "NOT_SET",
        "TASK",
    }
)

ADMIN_LVL: frozenset[str] = frozenset(
    {
        "Administrator",
        "None",
        "Not Set",
        "Operator",
    }
)

ASSOC_FLAGS: frozenset[str] = frozenset(
    {
        "DELETED",
        "Exact",
        "NoUpdate",
        "NoUsersAreCoords",
        "UsersAreCoords",
    }
)

ASSOC_SHARES_OBJ_WRAP_TYPE: frozenset[str] = frozenset(
    {
        "ASSOCIATION",
        "USER",
    }
)

CLUSTER_REC_FLAGS: frozenset[str] = frozenset(
    {
        "DELETED",
        "EXTERNAL",
        "FEDERATION",
        "FRONT_END",
        "MULTIPLE_SLURMD",
        "REGISTERING",
    }
)

CPU_BINDING_FLAGS: frozenset[str] = frozenset(
    {
        "CPU_BIND_LDMAP",
        "CPU_BIND_LDMASK",
        "CPU_BIND_LDRANK",
        "CPU_BIND_MAP",
        "CPU_BIND_MASK",
        "CPU_BIND_NONE",
        "CPU_BIND_ONE_THREAD_PER_CORE",
        "CPU_BIND_RANK",
        "CPU_BIND_TO_CORES",
        "CPU_BIND_TO_LDOMS",
        "CPU_BIND_TO_SOCKETS",
        "CPU_BIND_TO_THREADS",
        "VERBOSE",
    }
)

CRON_ENTRY_FLAGS: frozenset[str] = frozenset(
    {
        "WILD_DAY_OF_MONTH",
        "WILD_DAY_OF_WEEK",
        "WILD_HOUR",
        "WILD_MINUTE",
        "WILD_MONTH",
    }
)

CR_TYPE: frozenset[str] = frozenset(
    {
        "BOARD",
        "CORE",
        "CORE_DEFAULT_DIST_BLOCK",
        "CPU",
        "CR_CORE",
        "CR_CORE_DEFAULT_DIST_BLOCK",
        "CR_CORE_MEMORY",
        "CR_CPU",
        "CR_CPU_MEMORY",
        "CR_LLN",
        "CR_MEMORY",
        "CR_NO_DIST_TOPO_BLOCK",
        "CR_ONE_TASK_PER_CORE",
        "CR_PACK_NODES",
        "CR_SOCKET",
        "CR_SOCKET_MEMORY",
        "ENFORCE_BINDING_GRES",
        "LINEAR",
        "LLN",
        "LL_SHARED_GRES",
        "MEMORY",
        "MULTIPLE_SHARING_GRES_PJ",
        "NONE",
        "ONE_TASK_PER_CORE",
        "ONE_TASK_PER_SHARING_GRES",
        "PACK_NODES",
        "SOCKET",
    }
)

JOB_DEFAULTS_TYPE: frozenset[str] = frozenset(
    {
        "DefCpuPerGPU",
        "DefMemPerGPU",
    }
)

JOB_EXCLUSIVE_FLAGS: frozenset[str] = frozenset(
    {
        "false",
        "mcs",
        "topo",
        "true",
        "user",
    }
)

JOB_FLAGS: frozenset[str] = frozenset(
    {
        "ACCRUE_COUNT_CLEARED",
        "BACKFILL_ATTEMPTED",
        "CONSOLIDATE_SEGMENTS",
        "CRON_JOB",
        "DEPENDENT",
        "EXACT_CPU_COUNT_REQUESTED",
        "EXACT_MEMORY_REQUESTED",
        "EXACT_TASK_COUNT_REQUESTED",
        "EXPEDITED_REQUEUE",
        "EXTERNAL_JOB",
        "GRES_ALLOW_TASK_SHARING",
        "GRES_BINDING_DISABLED",
        "GRES_BINDING_ENFORCED",
        "GRES_MULTIPLE_TASKS_PER_SHARING",
        "GRES_ONE_TASK_PER_SHARING",
        "HAS_STATE_DIRECTORY",
        "HETEROGENEOUS_JOB",
        "JOB_ACCRUE_TIME_RESET",
        "JOB_IMPLICIT_MAX_NODES",
        "JOB_KILL_HURRY",
        "JOB_WAS_RUNNING",
        "KILL_INVALID_DEPENDENCY",
        "MAGNETIC",
        "NO_KILL_INVALID_DEPENDENCY",
        "PARTITION_ASSIGNED",
        "PREFER_MINIMUM_NODE_COUNT",
        "SAVE_BATCH_SCRIPT",
        "SCHEDULING_ATTEMPTED",
        "SEND_JOB_ENVIRONMENT",
        "SIBLING_CLUSTER_UPDATE_ONLY",
        "SKIP_TRES_STRING_ACCOUNTING",
        "SPREAD_JOB",
        "SPREAD_SEGMENTS",
        "STEPMGR_ENABLED",
        "TESTING_BACKFILL",
        "TESTING_WHOLE_NODE_BACKFILL",
        "TEST_NOW_ONLY",
        "TOP_PRIORITY_JOB",
        "USING_DEFAULT_ACCOUNT",
        "USING_DEFAULT_PARTITION",
        "USING_DEFAULT_QOS",
        "USING_DEFAULT_WCKEY",
    }
)

JOB_MAIL_FLAGS: frozenset[str] = frozenset(
    {
        "ARRAY_TASKS",
        "BEGIN",
        "END",
        "FAIL",
        "INVALID_DEPENDENCY",
        "REQUEUE",
        "STAGE_OUT",
        "TIME=100%",
        "TIME=50%",
        "TIME=80%",
        "TIME=90%",
    }
)

JOB_RES_CORE_STATUS: frozenset[str] = frozenset(
    {
        "ALLOCATED",
        "INVALID",
        "IN_USE",
        "UNALLOCATED",
    }
)

JOB_SHARED: frozenset[str] = frozenset(
    {
        "mcs",
        "none",
        "oversubscribe",
        "topo",
        "user",
    }
)

JOB_SHOW_FLAGS: frozenset[str] = frozenset(
    {
        "ALL",
        "DETAIL",
        "FEDERATION",
        "FUTURE",
        "LOCAL",
        "MIXED",
        "SIBLING",
    }
)

JOB_STATE: frozenset[str] = frozenset(
    {
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "COMPLETING",
        "CONFIGURING",
        "DEADLINE",
        "EXPEDITING",
        "FAILED",
        "LAUNCH_FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PENDING",
        "POWER_UP_NODE",
        "PREEMPTED",
        "RECONFIG_FAIL",
        "REQUEUED",
        "REQUEUE_FED",
        "REQUEUE_HOLD",
        "RESIZING",
        "RESV_DEL_HOLD",
        "REVOKED",
        "RUNNING",
        "SIGNALING",
        "SPECIAL_EXIT",
        "STAGE_OUT",
        "STOPPED",
        "SUSPENDED",
        "TIMEOUT",
    }
)

MEMORY_BINDING_TYPE: frozenset[str] = frozenset(
    {
        "LOCAL",
        "MAP",
        "MASK",
        "NONE",
        "PREFER",
        "RANK",
        "SORT",
        "VERBOSE",
    }
)

NODE_CERT_FLAGS: frozenset[str] = frozenset(
    {
        "TOKEN_SET",
    }
)

NODE_CR_TYPE: frozenset[str] = frozenset(
    {
        "AVAILABLE",
        "ONE_ROW",
        "RESERVED",
    }
)

NODE_STATES: frozenset[str] = frozenset(
    {
        "ALLOCATED",
        "BLOCKED",
        "CLOUD",
        "COMPLETING",
        "DOWN",
        "DRAIN",
        "DYNAMIC_FUTURE",
        "DYNAMIC_NORM",
        "ERROR",
        "EXTERNAL",
        "FAIL",
        "FUTURE",
        "IDLE",
        "INVALID",
        "INVALID_REG",
        "MAINTENANCE",
        "MIXED",
        "NOT_RESPONDING",
        "PLANNED",
        "POWERED_DOWN",
        "POWERING_DOWN",
        "POWERING_UP",
        "POWER_DOWN",
        "POWER_DOWN_ASAP",
        "POWER_DOWN_FORCE",
        "POWER_DRAIN",
        "POWER_UP",
        "REBOOT_CANCELED",
        "REBOOT_ISSUED",
        "REBOOT_REQUESTED",
        "RESERVED",
        "RESUME",
        "UNDRAIN",
        "UNKNOWN",
    }
)

OPENAPI_JOBS_REQUEUE_QUERY_FLAGS: frozenset[str] = frozenset(
    {
        "Hold",
        "Incomplete",
        "SpecialExit",
    }
)

OPEN_MODE: frozenset[str] = frozenset(
    {
        "APPEND",
        "TRUNCATE",
    }
)

OVERSUBSCRIBE_FLAGS: frozenset[str] = frozenset(
    {
        "force",
    }
)

PARTITION_INFO_FLAGS: frozenset[str] = frozenset(
    {
        "DEFAULT",
        "DEFAULT_CLEAR",
        "HIDDEN",
        "HIDDEN_CLEAR",
        "LLN",
        "LLN_CLEAR",
        "NO_ROOT",
        "NO_ROOT_CLEAR",
        "PDOI",
        "PDOI_CLEAR",
        "REQ_RESV",
        "REQ_RESV_CLEAR",
        "ROOT_ONLY",
        "ROOT_ONLY_CLEAR",
    }
)

PARTITION_INFO_PREEMPT_MODE: frozenset[str] = frozenset(
    {
        "CANCEL",
        "CLUSTER_GLOBAL",
        "DISABLED",
        "PRIORITY",
        "REQUEUE",
        "SUSPEND",
    }
)

PARTITION_STATES: frozenset[str] = frozenset(
    {
        "DOWN",
        "DRAIN",
        "INACTIVE",
        "UNKNOWN",
        "UP",
    }
)

PROCESS_EXIT_CODE_STATUS: frozenset[str] = frozenset(
    {
        "CORE_DUMPED",
        "ERROR",
        "INVALID",
        "PENDING",
        "SIGNALED",
        "SUCCESS",
    }
)

QOS_FLAGS: frozenset[str] = frozenset(
    {
        "ADD",
        "DELETED",
        "DENY_LIMIT",
        "ENFORCE_USAGE_THRESHOLD",
        "NOT_SET",
        "NO_DECAY",
        "NO_RESERVE",
        "OVERRIDE_PARTITION_QOS",
        "PARTITION_MAXIMUM_NODE",
        "PARTITION_MINIMUM_NODE",
        "PARTITION_QOS",
        "PARTITION_TIME_LIMIT",
        "RELATIVE",
        "REMOVE",
        "REQUIRED_RESERVATION",
        "USAGE_FACTOR_SAFE",
    }
)

QOS_PREEMPT_MODES: frozenset[str] = frozenset(
    {
        "CANCEL",
        "DISABLED",
        "GANG",
        "REQUEUE",
        "SUSPEND",
    }
)

RESERVATION_DESC_MSG_FLAGS: frozenset[str] = frozenset(
    {
        "ALL_NODES",
        "ANY_NODES",
        "DAILY",
        "DURATION_MINUS",
        "DURATION_PLUS",
        "FLEX",
        "FORCE_START",
        "HOURLY",
        "IGNORE_JOBS",
        "MAGNETIC",
        "MAINT",
        "NO_ANY_NODES",
        "NO_DAILY",
        "NO_FLEX",
        "NO_HOLD_JOBS_AFTER_END",
        "NO_HOURLY",
        "NO_IGNORE_JOBS",
        "NO_MAGNETIC",
        "NO_MAINT",
        "NO_PART_NODES",
        "NO_PURGE_COMP",
        "NO_STATIC",
        "NO_USER_DELETE",
        "NO_WEEKDAY",
        "NO_WEEKEND",
        "NO_WEEKLY",
        "OVERLAP",
        "PART_NODES",
        "PURGE_COMP",
        "REOCCURRING",
        "REPLACE",
        "REPLACE_DOWN",
        "SKIP",
        "SPEC_NODES",
        "STATIC",
        "TIME_FLOAT",
        "TRES_PER_NODE",
        "USER_DELETE",
        "WEEKDAY",
        "WEEKEND",
        "WEEKLY",
    }
)

RESERVATION_FLAGS: frozenset[str] = frozenset(
    {
        "ALL_NODES",
        "ANY_NODES",
        "DAILY",
        "DURATION_MINUS",
        "DURATION_PLUS",
        "FLEX",
        "FORCE_START",
        "HOURLY",
        "IGNORE_JOBS",
        "MAGNETIC",
        "MAINT",
        "NO_ANY_NODES",
        "NO_DAILY",
        "NO_FLEX",
        "NO_HOLD_JOBS_AFTER_END",
        "NO_HOURLY",
        "NO_IGNORE_JOBS",
        "NO_MAGNETIC",
        "NO_MAINT",
        "NO_PART_NODES",
        "NO_PURGE_COMP",
        "NO_STATIC",
        "NO_USER_DELETE",
        "NO_WEEKDAY",
        "NO_WEEKEND",
        "NO_WEEKLY",
        "OVERLAP",
        "PART_NODES",
        "PURGE_COMP",
        "REOCCURRING",
        "REPLACE",
        "REPLACE_DOWN",
        "SKIP",
        "SPEC_NODES",
        "STATIC",
        "TIME_FLOAT",
        "TRES_PER_NODE",
        "USER_DELETE",
        "WEEKDAY",
        "WEEKEND",
        "WEEKLY",
    }
)

ROLLUP_STATS_ITEM_TYPE: frozenset[str] = frozenset(
    {
        "internal",
        "unknown",
        "user",
    }
)

SLURMDBD_CONF_FLAGS: frozenset[str] = frozenset(
    {
        "AllResourcesAbsolute",
        "AllowNoDefAcct",
        "DisableArchiveCommands",
        "DisableCoordDBD",
    }
)

SLURMDBD_CONF_PERSIST_CONN_FLAGS: frozenset[str] = frozenset(
    {
        "PreserveCaseUser",
    }
)

SLURMDB_JOB_FLAGS: frozenset[str] = frozenset(
    {
        "CLEAR_SCHEDULING",
        "JOB_ALTERED",
        "NONE",
        "NOT_SET",
        "STARTED_ON_BACKFILL",
        "STARTED_ON_SCHEDULE",
        "STARTED_ON_SUBMIT",
        "START_RECEIVED",
    }
)

SLURM_CONF_ACCOUNTING_STORAGE_ENFORCE: frozenset[str] = frozenset(
    {
        "associations",
        "limits",
        "nojobs",
        "nosteps",
        "qos",
        "safe",
        "wckeys",
    }
)

SLURM_CONF_ACCOUNTING_STORE_FLAGS: frozenset[str] = frozenset(
    {
        "job_comment",
        "job_env",
        "job_extra",
        "job_script",
        "no_stdio",
    }
)

SLURM_CONF_COMMUNICATION_PARAMETERS_FLAGS: frozenset[str] = frozenset(
    {
        "IPv4",
        "IPv6",
        "disable_http",
    }
)

SLURM_CONF_CONF_FLAGS: frozenset[str] = frozenset(
    {
        "AllowSpecResourcesUsage",
        "DisableRootJobs",
        "TrackWCKey",
        "UsePam",
    }
)

SLURM_CONF_CPU_FREQ_GOVERNORS: frozenset[str] = frozenset(
    {
        "Conservative",
        "High",
        "Highm1",
        "Low",
        "Medium",
        "OnDemand",
        "Performance",
        "PowerSave",
        "SchedUtil",
        "Unset",
        "UserSpace",
    }
)

SLURM_CONF_DEBUG_FLAGS: frozenset[str] = frozenset(
    {
        "Accrue",
        "Agent",
        "AuditRPCs",
        "AuditTLS",
        "Backfill",
        "BackfillMap",
        "BurstBuffer",
        "CPU_Bind",
        "Cgroup",
        "ConMgr",
        "CpuFrequency",
        "DBD_Agent",
        "DB_Archive",
        "DB_Assoc",
        "DB_Event",
        "DB_Job",
        "DB_QOS",
        "DB_Query",
        "DB_Reservation",
        "DB_Resource",
        "DB_Step",
        "DB_TRES",
        "DB_Usage",
        "DB_WCKey",
        "Data",
        "Dependency",
        "Energy",
        "Federation",
        "GLOB_SILENCE",
        "Gang",
        "Gres",
        "Hetjob",
        "Interconnect",
        "JobAccountGather",
        "JobComp",
        "License",
        "MPI",
        "Metrics",
        "NO_CONF_HASH",
        "Namespace",
        "Network",
        "NetworkRaw",
        "NodeFeatures",
        "Power",
        "Priority",
        "Profile",
        "Protocol",
        "Reservation",
        "Route",
        "Sack",
        "Script",
        "SelectType",
        "Steps",
        "Switch",
        "TLS",
        "TraceJobs",
        "Triggers",
        "thread",
    }
)

SLURM_CONF_ENFORCE_PART_LIMITS: frozenset[str] = frozenset(
    {
        "ALL",
        "ANY",
        "NO",
    }
)

SLURM_CONF_HEALTH_CHECK_NODE_STATE: frozenset[str] = frozenset(
    {
        "ALLOC",
        "ANY",
        "CYCLE",
        "IDLE",
        "MIXED",
        "NONDRAINED_IDLE",
        "REBOOT_ONLY",
        "START_ONLY",
    }
)

SLURM_CONF_PREEMPT_MODE: frozenset[str] = frozenset(
    {
        "CANCEL",
        "DISABLED",
        "GANG",
        "PRIORITY",
        "REQUEUE",
        "SUSPEND",
        "WITHIN",
    }
)

SLURM_CONF_PRIORITY_FLAGS: frozenset[str] = frozenset(
    {
        "ACCRUE_ALWAYS",
        "CALCULATE_RUNNING",
        "DEPTH_OBLIVIOUS",
        "FAIR_TREE",
        "INCR_ONLY",
        "MAX_TRES",
        "MAX_TRES_GRES",
        "NO_NORMAL_ASSOC",
        "NO_NORMAL_PART",
        "NO_NORMAL_QOS",
        "NO_NORMAL_TRES",
        "SMALL_RELATIVE_TO_TIME",
    }
)

SLURM_CONF_PRIVATE_DATA: frozenset[str] = frozenset(
    {
        "accounts",
        "events",
        "jobs",
        "nodes",
        "partitions",
        "reservations",
        "usage",
        "users",
    }
)

SLURM_CONF_PROLOG_FLAGS: frozenset[str] = frozenset(
    {
        "Alloc",
        "Contain",
        "DeferBatch",
        "ForceRequeueOnFail",
        "NoHold",
        "RunInJob",
        "Serial",
        "X11",
    }
)

SLURM_CONF_RECONFIG_FLAGS: frozenset[str] = frozenset(
    {
        "KeepPartInfo",
        "KeepPartState",
        "KeepPowerSaveSettings",
    }
)

SLURM_CONF_SELECT_TYPE_PARAMETERS: frozenset[str] = frozenset(
    {
        "CR_CORE",
        "CR_CORE_DEFAULT_DIST_BLOCK",
        "CR_CORE_MEMORY",
        "CR_CPU",
        "CR_CPU_MEMORY",
        "CR_LLN",
        "CR_MEMORY",
        "CR_NO_DIST_TOPO_BLOCK",
        "CR_ONE_TASK_PER_CORE",
        "CR_PACK_NODES",
        "CR_SOCKET",
        "CR_SOCKET_MEMORY",
        "ENFORCE_BINDING_GRES",
        "LL_SHARED_GRES",
        "MULTIPLE_SHARING_GRES_PJ",
        "NONE",
        "ONE_TASK_PER_SHARING_GRES",
    }
)

SLURM_CONF_SLURMD_PARAMETERS_FLAGS: frozenset[str] = frozenset(
    {
        "allow_ecores",
        "config_overrides",
        "contain_spank",
        "l3cache_as_socket",
        "numa_node_as_socket",
        "shutdown_on_reboot",
    }
)

SLURM_CONF_TASK_PLUGIN_PARAM: frozenset[str] = frozenset(
    {
        "Cores",
        "None",
        "OOMKillStep",
        "SlurmdOffSpec",
        "SlurmdSpecOverride",
        "Sockets",
        "Threads",
        "Verbose",
        "autobind=cores",
        "autobind=sockets",
        "autobind=threads",
    }
)

USER_FLAGS: frozenset[str] = frozenset(
    {
        "DELETED",
        "NONE",
    }
)

WARN_FLAGS: frozenset[str] = frozenset(
    {
        "ARRAY_TASK",
        "BATCH_JOB",
        "CRON_JOBS",
        "FEDERATION_REQUEUE",
        "FULL_JOB",
        "FULL_STEPS_ONLY",
        "HURRY",
        "NO_CRON_JOBS",
        "NO_SIBLING_JOBS",
        "OUT_OF_MEMORY",
        "RESERVATION_JOB",
        "VERBOSE",
        "WARNING_SENT",
    }
)

WCKEY_FLAGS: frozenset[str] = frozenset(
    {
        "DELETED",
    }
)

WCKEY_TAG_FLAGS: frozenset[str] = frozenset(
    {
        "ASSIGNED_DEFAULT",
    }
)

X11_FLAGS: frozenset[str] = frozenset(
    {
        "BATCH_NODE",
        "FIRST_NODE",
        "FORWARD_ALL_NODES",
        "LAST_NODE",
    }
)
