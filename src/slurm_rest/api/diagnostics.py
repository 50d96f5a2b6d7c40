"""Models of ping, diag and the running configuration."""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

from slurm_rest.api._model import AnswerModel, wire
from slurm_rest.api.common import OpenapiError, OpenapiMeta, OpenapiWarning
from slurm_rest.api.values import NoVal

__all__ = [
    "BfExitFields",
    "Controller",
    "ControllerPing",
    "JobDefaults",
    "OpenapiConfResp",
    "OpenapiDiagResp",
    "OpenapiPingArrayResp",
    "OpenapiSlurmdbdConfResp",
    "OpenapiSlurmdbdPingResp",
    "OpenapiSlurmdbdStatsResp",
    "PortRange",
    "RollupStats",
    "RollupStatsDaily",
    "RollupStatsDailyDuration",
    "RollupStatsHourly",
    "RollupStatsHourlyDuration",
    "RollupStatsItem",
    "RollupStatsMonthly",
    "RollupStatsMonthlyDuration",
    "ScheduleExitFields",
    "SlurmConf",
    "SlurmConfMeta",
    "SlurmdbPurgeUnits",
    "SlurmdbdConf",
    "SlurmdbdPing",
    "StatsMsg",
    "StatsMsgRpcDump",
    "StatsMsgRpcQueue",
    "StatsMsgRpcType",
    "StatsMsgRpcUser",
    "StatsRec",
    "StatsRpc",
    "StatsRpcTime",
    "StatsUser",
    "StatsUserTime",
]


class BfExitFields(AnswerModel):
    """``bf_exit_fields``."""

    bf_max_job_start: int | None = None
    """Reached number of jobs allowed to start."""

    bf_max_job_test: int | None = None
    """Reached number of jobs allowed to be tested."""

    bf_max_time: int | None = None
    """Reached maximum allowed scheduler time."""

    bf_node_space_size: int | None = None
    """Reached table size limit."""

    end_job_queue: int | None = None
    """Reached end of queue."""

    state_changed: int | None = None
    """System state changed."""


class Controller(AnswerModel):
    """``controller``, v0.0.45 and later."""

    address: str | None = None
    """Controller address (IP or hostname)."""

    machine: str | None = None
    """Name of machine hosting controller."""


class ControllerPing(AnswerModel):
    """``controller_ping``."""

    hostname: str | None = None
    """Target for ping."""

    latency: int | None = None
    """Number of microseconds it took to successfully ping or timeout."""

    mode: str | None = None
    """The operating mode of the responding slurmctld. Only v0.0.40 to v0.0.44. Deprecated."""

    pinged: str | None = None
    """Ping result. Only v0.0.40 to v0.0.44. Deprecated."""

    primary: bool | None = None
    """Is responding slurmctld the primary controller (Is responding slurmctld the primary controller). Only v0.0.42 and
    later.
    """

    responding: bool | None = None
    """If ping RPC responded with pong from controller. Only v0.0.42 and later."""

    status: str | None = None
    """Ping status code. Only v0.0.45 and later."""


class JobDefaults(AnswerModel):
    """``job_defaults``, v0.0.45 and later."""

    type: list[str] | None = None
    """Default Type. One of: DefCpuPerGPU, DefMemPerGPU."""

    value: int | None = None
    """Default value for the given type (e.g. CPUs per GPU or memory per GPU)."""


class PortRange(AnswerModel):
    """``port_range``, v0.0.45 and later."""

    maximum: int | None = None
    """Maximum port number."""

    minimum: int | None = None
    """Minimum port number."""

    set: bool | None = None
    """True if minimum and maximum are set (or ignored on false)."""


class SlurmConf(AnswerModel):
    """``slurm_conf``, v0.0.45 and later."""

    accounting_storage_backup_host: str | None = wire("AccountingStorageBackupHost")
    """Accounting storage backup host."""

    accounting_storage_enforce: list[str] | None = wire("AccountingStorageEnforce")
    """Controls what level of association-based enforcement to impose on job submissions. One of: associations, limits,
    wckeys, qos, safe, nojobs, nosteps.
    """

    accounting_storage_external_host: str | None = wire("AccountingStorageExternalHost")
    """Accounting storage ext host."""

    accounting_storage_host: str | None = wire("AccountingStorageHost")
    """Accounting storage host."""

    accounting_storage_parameters: list[str] | None = wire("AccountingStorageParameters")
    """Accounting storage params."""

    accounting_storage_port: int | None = wire("AccountingStoragePort")
    """Node accounting storage port."""

    accounting_storage_tres: list[str] | None = wire("AccountingStorageTRES")
    """List of registered TRES."""

    accounting_storage_type: str | None = wire("AccountingStorageType")
    """Accounting storage type."""

    accounting_store_flags: list[str] | None = wire("AccountingStoreFlags")
    """AccountingStoreFlags specific CONF_FLAG_* flags. One of: job_comment, job_extra, job_script, job_env, no_stdio.
    """

    acct_gather_energy_type: list[str] | None = wire("AcctGatherEnergyType")
    """Energy accounting type."""

    acct_gather_filesystem_type: str | None = wire("AcctGatherFilesystemType")
    """Filesystem accounting type."""

    acct_gather_interconnect_type: str | None = wire("AcctGatherInterconnectType")
    """Interconnect accounting type."""

    acct_gather_node_freq: int | None = wire("AcctGatherNodeFreq")
    """Secs between node acct request."""

    acct_gather_profile_type: str | None = wire("AcctGatherProfileType")
    """Profile accounting type."""

    auth_alt_parameters: str | None = wire("AuthAltParameters")
    """Alternate authentication parameters."""

    auth_alt_types: list[str] | None = wire("AuthAltTypes")
    """Alternate authentication types."""

    auth_info: str | None = wire("AuthInfo")
    """Authentication info."""

    auth_type: str | None = wire("AuthType")
    """Authentication type."""

    batch_start_timeout: int | None = wire("BatchStartTimeout")
    """Maximum seconds for batch job to start."""

    bcast_exclude: list[str] | None = wire("BcastExclude")
    """Bcast exclude library paths."""

    bcast_parameters: list[str] | None = wire("BcastParameters")
    """Bcast options."""

    burst_buffer_type: str | None = wire("BurstBufferType")
    """Burst buffer plugin type."""

    certgen_parameters: list[str] | None = wire("CertgenParameters")
    """Certgen parameters."""

    certgen_type: str | None = wire("CertgenType")
    """Certgen type."""

    certmgr_parameters: str | None = wire("CertmgrParameters")
    """Certmgr parameters."""

    certmgr_type: str | None = wire("CertmgrType")
    """Certmgr type."""

    cli_filter_parameters: list[str] | None = wire("CliFilterParameters")
    """Parameters for cli_filter plugins."""

    cli_filter_plugins: list[str] | None = wire("CliFilterPlugins")
    """List of cli_filter plugins to use."""

    cluster_name: str | None = wire("ClusterName")
    """General name of the entire cluster."""

    communication_parameters: list[str] | None = wire("CommunicationParameters")
    """Communication parameters."""

    communication_parameters_flags: list[str] | None = wire("CommunicationParametersFlags")
    """CommunicationParameters specific CONF_FLAG_* flags. One of: IPv4, IPv6, disable_http."""

    complete_wait: int | None = wire("CompleteWait")
    """Seconds to wait for job completion before scheduling another job."""

    conf_flags: list[str] | None = wire("ConfFlags")
    """General configuration flags (DisableRootJobs, AllowSpecResourcesUsage, UsePAM, TrackWCKey). One of:
    DisableRootJobs, AllowSpecResourcesUsage, UsePam, TrackWCKey.
    """

    controllers: list[Controller] | None = None
    """slurmctld controllers (List of slurmctld controllers)."""

    cpu_freq_def: str | None = wire("CpuFreqDef")
    """Default CPU frequency or governor for job steps if not set via --cpu-freq."""

    cpu_freq_governors: list[str] | None = wire("CpuFreqGovernors")
    """CPU frequency governors allowed via --cpu-freq. Words: ``words.SLURM_CONF_CPU_FREQ_GOVERNORS``."""

    cred_type: str | None = wire("CredType")
    """Credential signature plugin."""

    data_parser_parameters: str | None = wire("DataParserParameters")
    """Data parser parameters."""

    debug_flags: list[str] | None = wire("DebugFlags")
    """Subsystems which provide more detailed event logging. Words: ``words.SLURM_CONF_DEBUG_FLAGS``."""

    def_mem_per_cpu: NoVal = wire("DefMemPerCPU")
    """Default MB memory per allocated CPU."""

    dependency_parameters: list[str] | None = wire("DependencyParameters")
    """Options controlling job dependency behavior."""

    eio_timeout: int | None = wire("EioTimeout")
    """Seconds srun waits for slurmstepd to close the TCP/IP connection."""

    enforce_part_limits: list[str] | None = wire("EnforcePartLimits")
    """Controls whether partition limits are enforced at job submission time. One of: NO, ANY, ALL."""

    epilog: list[str] | None = wire("Epilog")
    """pathname of job epilog run by slurmd (Epilog programs run by slurmd)."""

    epilog_msg_time: int | None = wire("EpilogMsgTime")
    """Usecs for slurmctld to process an epilog complete message."""

    epilog_slurmctld: list[str] | None = wire("EpilogSlurmctld")
    """pathname of job epilog run by slurmctld (Epilog programs run by slurmctld)."""

    epilog_timeout: NoVal = wire("EpilogTimeout")
    """Epilog timeout in seconds."""

    fair_share_dampening_factor: int | None = wire("FairShareDampeningFactor")
    """Dampening factor for the effect of exceeding fair share of resources."""

    federation_parameters: list[str] | None = wire("FederationParameters")
    """Federation parameters."""

    first_job_id: int | None = wire("FirstJobId")
    """First slurm generated job_id to assign."""

    get_name_info_cache_timeout: int | None = wire("GetNameInfoCacheTimeout")
    """For getnameinfo() cache."""

    gpu_freq_def: str | None = wire("GpuFreqDef")
    """Default GPU frequency for job steps if not set via --gpu-freq."""

    gres_types: list[str] | None = wire("GresTypes")
    """Comma-delimited list of generic resources to be managed."""

    group_update_force: bool | None = wire("GroupUpdateForce")
    """Update group/partition info even if no change detected."""

    group_update_time: int | None = wire("GroupUpdateTime")
    """Interval in seconds between updates of user/group partition membership."""

    hash_plugin: str | None = wire("HashPlugin")
    """Hash plugin type."""

    health_check_interval: int | None = wire("HealthCheckInterval")
    """Secs between health checks."""

    health_check_node_state: list[str] | None = wire("HealthCheckNodeState")
    """Node states on which to execute the HealthCheckProgram. One of: START_ONLY, REBOOT_ONLY, ANY, IDLE, ALLOC, MIXED,
    NONDRAINED_IDLE, CYCLE.
    """

    health_check_program: str | None = wire("HealthCheckProgram")
    """Pathname of health check program."""

    health_check_timeout: int | None = wire("HealthCheckTimeout")
    """Timeout for health check program."""

    host_unreach_retry_count: int | None = wire("HostUnreachRetryCount")
    """Times to retry connecting if rc=EHOSTUNREACH."""

    http_parser_type: str | None = wire("HttpParserType")
    """Http_parser plugin type."""

    inactive_limit: int | None = wire("InactiveLimit")
    """Seconds of inactivity before a inactive resource allocation is released."""

    interactive_step_options: str | None = wire("InteractiveStepOptions")
    """Options for srun when using LaunchParameters=use_interactive_step with salloc."""

    job_acct_gather_frequency: list[str] | None = wire("JobAcctGatherFrequency")
    """Poll frequency for job accounting gather plugins."""

    job_acct_gather_params: list[str] | None = wire("JobAcctGatherParams")
    """Job accounting gather parameters."""

    job_acct_gather_type: str | None = wire("JobAcctGatherType")
    """Job accounting gather type."""

    job_acct_oom_kill: bool | None = wire("JobAcctOomKill")
    """Enforce mem limit at runtime y|n."""

    job_comp_host: str | None = wire("JobCompHost")
    """Job completion logging host."""

    job_comp_loc: str | None = wire("JobCompLoc")
    """Job completion logging location."""

    job_comp_params: str | None = wire("JobCompParams")
    """Job completion parameters for plugin."""

    job_comp_port: int | None = wire("JobCompPort")
    """Job completion storage port."""

    job_comp_type: str | None = wire("JobCompType")
    """Job completion storage type."""

    job_comp_user: str | None = wire("JobCompUser")
    """Job completion storage user."""

    job_defaults: list[JobDefaults] | None = wire("JobDefaults")
    """List of job_defaults_t elements."""

    job_file_append: bool | None = wire("JobFileAppend")
    """If set, append to stdout/err file."""

    job_requeue: bool | None = wire("JobRequeue")
    """If set, jobs get requeued on node failure."""

    job_submit_plugins: list[str] | None = wire("JobSubmitPlugins")
    """List of job_submit plugins to use."""

    keepalive_interval: int | None = wire("KeepaliveInterval")
    """Interval between keepalive probes."""

    keepalive_probes: int | None = wire("KeepaliveProbes")
    """Number of keepalive probe attempts."""

    keepalive_time: int | None = wire("KeepaliveTime")
    """Keep alive time for srun I/O sockets."""

    kill_on_bad_exit: bool | None = wire("KillOnBadExit")
    """If set, the job will be terminated immediately when one of the processes is aborted or crashed."""

    kill_wait: int | None = wire("KillWait")
    """Seconds between SIGTERM and SIGKILL when a job reaches its time limit."""

    launch_parameters: list[str] | None = wire("LaunchParameters")
    """Step launcher plugin options."""

    license_parameters: list[str] | None = wire("LicenseParameters")
    """Options for licenses/HRES."""

    licenses: list[str] | None = wire("Licenses")
    """Licenses available on this cluster."""

    log_time_format: str | None = wire("LogTimeFormat")
    """Format of the timestamp in slurmctld and slurmd log files."""

    mail_domain: str | None = wire("MailDomain")
    """Default domain to append to usernames."""

    mail_prog: str | None = wire("MailProg")
    """Pathname of mail program."""

    max_array_size: int | None = wire("MaxArraySize")
    """Maximum job array size."""

    max_batch_requeue: int | None = wire("MaxBatchRequeue")
    """Max times a batch job may be auto-requeued before being held."""

    max_dbd_msgs: int | None = wire("MaxDBDMsgs")
    """Maximum number of messages queued while DBD is not connected."""

    max_job_count: int | None = wire("MaxJobCount")
    """Maximum number of active jobs."""

    max_job_id: int | None = wire("MaxJobId")
    """Maximum job id before wrapping back to FirstJobId."""

    max_mem_per_cpu: NoVal = wire("MaxMemPerCPU")
    """Maximum MB memory per allocated CPU."""

    max_node_count: int | None = wire("MaxNodeCount")
    """Max number of static + dynamic nodes."""

    max_step_count: int | None = wire("MaxStepCount")
    """Maximum number of steps per job."""

    max_tasks_per_node: int | None = wire("MaxTasksPerNode")
    """Maximum tasks per node."""

    mcs_parameters: list[str] | None = wire("MCSParameters")
    """Mcs plugin parameters."""

    mcs_plugin: str | None = wire("MCSPlugin")
    """Mcs plugin type."""

    message_timeout: int | None = wire("MessageTimeout")
    """Seconds permitted for a round-trip communication to complete."""

    metrics_auth_users: list[str] | None = wire("MetricsAuthUsers")
    """Users allowed to query metrics."""

    metrics_parameters: list[str] | None = wire("MetricsParameters")
    """Parameters related to metrics plugins."""

    metrics_type: str | None = wire("MetricsType")
    """Metrics plugin type."""

    min_job_age: int | None = wire("MinJobAge")
    """COMPLETED jobs over this age (secs) purged from in memory records."""

    mpi_default: str | None = wire("MpiDefault")
    """Default type of MPI to be used."""

    mpi_params: list[str] | None = wire("MpiParams")
    """MPI parameters."""

    namespace_type: str | None = wire("NamespaceType")
    """Namespace plugin type."""

    node_features_plugins: list[str] | None = wire("NodeFeaturesPlugins")
    """List of node_features plugins to use."""

    over_time_limit: int | None = wire("OverTimeLimit")
    """Minutes by which a job can exceed its time limit before being canceled."""

    plug_stack_config: str | None = wire("PlugStackConfig")
    """Pathname to plugin stack config file."""

    plugin_dir: str | None = wire("PluginDir")
    """Pathname to plugins."""

    pr_ep_parameters: str | None = wire("PrEpParameters")
    """PrEp parameters."""

    pr_ep_plugins: list[str] | None = wire("PrEpPlugins")
    """PrEp plugins."""

    preempt_exempt_time: NoVal = wire("PreemptExemptTime")
    """Minimum run time for all jobs before they can be considered for preemption."""

    preempt_mode: list[str] | None = wire("PreemptMode")
    """Mechanism used to preempt jobs or enable gang scheduling. One of: DISABLED, SUSPEND, REQUEUE, CANCEL, GANG,
    WITHIN, PRIORITY.
    """

    preempt_parameters: list[str] | None = wire("PreemptParameters")
    """Options controlling preemption behavior."""

    preempt_type: str | None = wire("PreemptType")
    """Job preemption selection plugin."""

    priority_calc_period: str | None = wire("PriorityCalcPeriod")
    """Period in minutes between half-life decay recalculations (Time formatted as HH:MM:SS or D-HH:MM:SS)."""

    priority_decay_half_life: str | None = wire("PriorityDecayHalfLife")
    """How long prior resource use is considered in determining job priority (Time formatted as HH:MM:SS or D-HH:MM:SS).
    """

    priority_favor_small: bool | None = wire("PriorityFavorSmall")
    """If set, give small jobs preferential scheduling priority."""

    priority_flags: list[str] | None = wire("PriorityFlags")
    """Flags controlling priority calculation behavior. Words: ``words.SLURM_CONF_PRIORITY_FLAGS``."""

    priority_max_age: str | None = wire("PriorityMaxAge")
    """Job age at which the maximum age priority factor is assigned (Time formatted as HH:MM:SS or D-HH:MM:SS)."""

    priority_parameters: str | None = wire("PriorityParameters")
    """Priority plugin parameters."""

    priority_site_factor_parameters: str | None = wire("PrioritySiteFactorParameters")
    """Parameters for the site-specific priority factor plugin."""

    priority_site_factor_plugin: str | None = wire("PrioritySiteFactorPlugin")
    """Plugin for computing site-specific priority factors."""

    priority_type: str | None = wire("PriorityType")
    """Priority type plugin."""

    priority_usage_reset_period: str | None = wire("PriorityUsageResetPeriod")
    """Interval at which association usage is reset to zero."""

    priority_weight_age: int | None = wire("PriorityWeightAge")
    """Degree to which queue wait time contributes to job priority."""

    priority_weight_assoc: int | None = wire("PriorityWeightAssoc")
    """Degree to which association contributes to job priority."""

    priority_weight_fairshare: int | None = wire("PriorityWeightFairshare")
    """Degree to which fair-share contributes to job priority."""

    priority_weight_job_size: int | None = wire("PriorityWeightJobSize")
    """Degree to which job size contributes to job priority."""

    priority_weight_partition: int | None = wire("PriorityWeightPartition")
    """Degree to which partition contributes to job priority."""

    priority_weight_qos: int | None = wire("PriorityWeightQOS")
    """Degree to which QOS contributes to job priority."""

    priority_weight_tres: str | None = wire("PriorityWeightTRES")
    """TRES types and weights controlling their contribution to job priority."""

    private_data: list[str] | None = wire("PrivateData")
    """Controls what information is hidden from regular users. One of: accounts, events, jobs, nodes, partitions,
    reservations, usage, users.
    """

    proctrack_type: str | None = wire("ProctrackType")
    """Process tracking plugin type."""

    prolog: list[str] | None = wire("Prolog")
    """pathname of job prolog run by slurmd (Prolog programs run by slurmd)."""

    prolog_flags: list[str] | None = wire("PrologFlags")
    """Flags controlling Prolog and Epilog behavior. One of: Alloc, NoHold, Contain, Serial, X11, DeferBatch,
    ForceRequeueOnFail, RunInJob.
    """

    prolog_slurmctld: list[str] | None = wire("PrologSlurmctld")
    """pathname of job prolog run by slurmctld (Prolog programs run by slurmctld)."""

    prolog_timeout: NoVal = wire("PrologTimeout")
    """Prolog timeout in seconds."""

    propagate_prio_process: str | None = wire("PropagatePrioProcess")
    """Controls scheduling priority (nice value) of user spawned tasks."""

    propagate_resource_limits: list[str] | None = wire("PropagateResourceLimits")
    """Propagate (all/specific) resource limits."""

    propagate_resource_limits_except: list[str] | None = wire("PropagateResourceLimitsExcept")
    """Propagate all rlimits except these."""

    reboot_program: str | None = wire("RebootProgram")
    """Program to reboot the node."""

    reconfig_flags: list[str] | None = wire("ReconfigFlags")
    """Flags controlling actions taken on scontrol reconfig. One of: KeepPartInfo, KeepPartState, KeepPowerSaveSettings.
    """

    requeue_exit: list[str] | None = wire("RequeueExit")
    """Exit codes that trigger automatic batch job requeue."""

    requeue_exit_hold: list[str] | None = wire("RequeueExitHold")
    """Exit codes that trigger automatic requeue with job hold."""

    resume_fail_program: str | None = wire("ResumeFailProgram")
    """Program executed when nodes fail to resume by ResumeTimeout."""

    resume_program: str | None = wire("ResumeProgram")
    """Program to bring nodes out of power save mode when assigned work."""

    resume_rate: int | None = wire("ResumeRate")
    """Rate at which nodes are resumed from power save mode per minute."""

    resume_timeout: int | None = wire("ResumeTimeout")
    """Max seconds between a resume request and node availability."""

    resv_epilog: str | None = wire("ResvEpilog")
    """Path of reservation epilog run by slurmctld."""

    resv_over_run: int | None = wire("ResvOverRun")
    """Minutes a running job can continue after its reservation ends."""

    resv_prolog: str | None = wire("ResvProlog")
    """Path of reservation prolog run by slurmctld."""

    return_to_service: str | None = wire("ReturnToService")
    """Controls when a DOWN node is returned to service."""

    scheduler_parameters: list[str] | None = wire("SchedulerParameters")
    """Options controlling scheduler behavior (varies by SchedulerType)."""

    scheduler_time_slice: int | None = wire("SchedulerTimeSlice")
    """Time slice in seconds for gang scheduling."""

    scheduler_type: str | None = wire("SchedulerType")
    """Type of scheduler to use."""

    scron_parameters: list[str] | None = wire("ScronParameters")
    """Options controlling scrontab behavior."""

    select_type: str | None = wire("SelectType")
    """Type of node selector to use."""

    select_type_parameters: list[str] | None = wire("SelectTypeParameters")
    """Scheduler consumable resource selection type. Words: ``words.SLURM_CONF_SELECT_TYPE_PARAMETERS``."""

    slurm_sched_log_file: str | None = wire("SlurmSchedLogFile")
    """Where slurm Scheduler log gets written."""

    slurm_sched_log_level: int | None = wire("SlurmSchedLogLevel")
    """Configured level of slurm Scheduler log."""

    slurm_user: str | None = wire("SlurmUser")
    """User that slurmctld runs as."""

    slurm_user_id: int | None = wire("SlurmUserId")
    """Uid of slurm_user_name."""

    slurmctld_addr: str | None = wire("SlurmctldAddr")
    """Address used for communications to the currently active slurmctld daemon."""

    slurmctld_debug: str | None = wire("SlurmctldDebug")
    """Slurmctld logging level."""

    slurmctld_http_auth_params: list[str] | None = wire("SlurmctldHttpAuthParams")

    slurmctld_log_file: str | None = wire("SlurmctldLogFile")
    """Where slurmctld error log gets written."""

    slurmctld_parameters: list[str] | None = wire("SlurmctldParameters")
    """Options controlling slurmctld behavior."""

    slurmctld_pid_file: str | None = wire("SlurmctldPidFile")
    """Where to put slurmctld pidfile."""

    slurmctld_port: int | None = wire("SlurmctldPort")
    """Default communications port to slurmctld."""

    slurmctld_port_count: int | None = wire("SlurmctldPortCount")
    """Number of slurmctld comm ports."""

    slurmctld_primary_off_prog: str | None = wire("SlurmctldPrimaryOffProg")
    """Run when becomes slurmctld backup."""

    slurmctld_primary_on_prog: str | None = wire("SlurmctldPrimaryOnProg")
    """Run when becomes slurmctld primary."""

    slurmctld_syslog_debug: str | None = wire("SlurmctldSyslogDebug")
    """Slurmctld output to local logfile and syslog."""

    slurmctld_timeout: int | None = wire("SlurmctldTimeout")
    """Seconds the backup controller waits for the primary before taking over."""

    slurmd_debug: str | None = wire("SlurmdDebug")
    """Slurmd logging level."""

    slurmd_http_auth_params: list[str] | None = wire("SlurmdHttpAuthParams")

    slurmd_log_file: str | None = wire("SlurmdLogFile")
    """Where slurmd error log gets written."""

    slurmd_parameters: list[str] | None = wire("SlurmdParameters")
    """Options controlling slurmd behavior."""

    slurmd_parameters_flags: list[str] | None = wire("SlurmdParametersFlags")
    """SlurmdParameters specific CONF_FLAG_* flags. One of: config_overrides, l3cache_as_socket, numa_node_as_socket,
    allow_ecores, shutdown_on_reboot, contain_spank.
    """

    slurmd_pid_file: str | None = wire("SlurmdPidFile")
    """Where to put slurmd pidfile."""

    slurmd_port: int | None = wire("SlurmdPort")
    """Default communications port to slurmd."""

    slurmd_spool_dir: str | None = wire("SlurmdSpoolDir")
    """Where slurmd put temporary state info."""

    slurmd_syslog_debug: str | None = wire("SlurmdSyslogDebug")
    """Slurmd output to local logfile and syslog."""

    slurmd_timeout: int | None = wire("SlurmdTimeout")
    """Seconds slurmctld waits for slurmd before marking node DOWN."""

    slurmd_user: str | None = wire("SlurmdUser")
    """User that slurmd runs as."""

    slurmd_user_id: int | None = wire("SlurmdUserId")
    """Uid of slurmd_user_name."""

    srun_epilog: str | None = wire("SrunEpilog")
    """Srun epilog program."""

    srun_port_range: PortRange | None = wire("SrunPortRange")
    """Port range for srun communications (Port range)."""

    srun_prolog: str | None = wire("SrunProlog")
    """Srun prolog program."""

    state_save_location: str | None = wire("StateSaveLocation")
    """Pathname of slurmctld state save directory."""

    suspend_exc_nodes: list[str] | None = wire("SuspendExcNodes")
    """Nodes excluded from power save mode."""

    suspend_exc_parts: list[str] | None = wire("SuspendExcParts")
    """Partitions whose nodes are excluded from power save mode."""

    suspend_exc_states: list[str] | None = wire("SuspendExcStates")
    """States that should not be powered down."""

    suspend_program: str | None = wire("SuspendProgram")
    """Program to place idle nodes into power save mode."""

    suspend_rate: int | None = wire("SuspendRate")
    """Rate at which nodes are placed into power save mode per minute."""

    suspend_time: NoVal = wire("SuspendTime")
    """Seconds a node must be idle before being placed in power save mode."""

    suspend_timeout: int | None = wire("SuspendTimeout")
    """Max seconds between a suspend request and node shutdown."""

    switch_parameters: list[str] | None = wire("SwitchParameters")
    """Options for the switch plugin."""

    switch_type: str | None = wire("SwitchType")
    """Switch or interconnect type."""

    task_epilog: str | None = wire("TaskEpilog")
    """Pathname of task launch epilog."""

    task_plugin: list[str] | None = wire("TaskPlugin")
    """Task launch plugin."""

    task_plugin_param: list[str] | None = wire("TaskPluginParam")
    """Default task binding and distribution options. Words: ``words.SLURM_CONF_TASK_PLUGIN_PARAM``."""

    task_prolog: str | None = wire("TaskProlog")
    """Pathname of task launch prolog."""

    tcp_timeout: int | None = wire("TCPTimeout")
    """Seconds permitted for a TCP connection to be established."""

    tls_parameters: list[str] | None = wire("TLSParameters")
    """Options for the TLS plugin."""

    tls_type: str | None = wire("TLSType")
    """Tls plugin type."""

    tmp_fs: str | None = wire("TmpFS")
    """Pathname of temporary file system."""

    topology_param: list[str] | None = wire("TopologyParam")
    """Network topology parameters."""

    topology_plugin: str | None = wire("TopologyPlugin")
    """Network topology plugin."""

    tree_width: int | None = wire("TreeWidth")
    """Fanout of the slurmd communication tree."""

    unkillable_step_program: str | None = wire("UnkillableStepProgram")
    """Program run by the slurmstepd when processes in a job step are unkillable."""

    unkillable_step_timeout: int | None = wire("UnkillableStepTimeout")
    """Time in seconds, after processes in a job step have been signaled, before they are considered "unkillable"."""

    url_parser_type: str | None = wire("UrlParserType")
    """Url_parser plugin type."""

    v_size_factor: int | None = wire("VSizeFactor")
    """Job virtual memory limit as a percentage of its real memory limit."""

    wait_time: int | None = wire("WaitTime")
    """Default seconds srun waits after first task exits before terminating all."""

    x11_parameters: list[str] | None = wire("X11Parameters")
    """Options for X11 forwarding."""


class SlurmConfMeta(AnswerModel):
    """``slurm_conf_meta``, v0.0.45 and later."""

    boot_time: int | None = wire("BOOT_TIME")
    """Time slurmctld last booted."""

    cluster_id: NoVal = wire("ClusterId")
    """Unique ID for this cluster from the DBD."""

    hash_value: int | None = wire("HashValue")
    """Hash value of the slurm.conf file."""

    last_update: int | None = wire("LastUpdate")
    """Last update time of the build parameters."""

    next_job_id: NoVal = wire("NEXT_JOB_ID")
    """Next slurm generated job_id to assign."""

    slurm_conf: str | None = wire("SLURM_CONF")
    """Pathname of slurm config file."""

    slurm_version: str | None = wire("SLURM_VERSION")
    """Version of slurmctld."""


class OpenapiConfResp(AnswerModel):
    """``openapi_conf_resp``, v0.0.45 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    slurm_conf: SlurmConf | None = None
    """Configuration from slurm.conf."""

    slurm_conf_meta: SlurmConfMeta | None = None
    """Meta data related to slurm.conf."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class ScheduleExitFields(AnswerModel):
    """``schedule_exit_fields``."""

    default_queue_depth: int | None = None
    """Reached number of jobs allowed to be tested."""

    end_job_queue: int | None = None
    """Reached end of queue."""

    licenses: int | None = None
    """Blocked on licenses."""

    max_job_start: int | None = None
    """Reached number of jobs allowed to start."""

    max_rpc_cnt: int | None = None
    """Reached RPC limit."""

    max_sched_time: int | None = None
    """Reached maximum allowed scheduler time."""


class StatsMsgRpcDump(AnswerModel):
    """``stats_msg_rpc_dump``, v0.0.41 and later."""

    count: list[str] | None = None
    """Number of RPCs received."""

    message_type: str | None = None
    """Message type as string (Slurm RPC message type)."""

    type_id: int | None = None
    """Message type as integer."""


class StatsMsgRpcQueue(AnswerModel):
    """``stats_msg_rpc_queue``, v0.0.41 and later."""

    count: int | None = None
    """Number of pending RPCs queued."""

    message_type: str | None = None
    """Message type as string (Slurm RPC message type)."""

    type_id: int | None = None
    """Message type as integer."""


class StatsMsgRpcType(AnswerModel):
    """``stats_msg_rpc_type``."""

    average_time: NoVal = None
    """Average time spent processing RPC in seconds."""

    count: int | None = None
    """Number of RPCs received."""

    cycle_last: int | None = None
    """Number of RPCs processed within the last RPC queue cycle. Only v0.0.41 and later."""

    cycle_max: int | None = None
    """Maximum number of RPCs processed within a RPC queue cycle since start. Only v0.0.41 and later."""

    dropped: int | None = None
    """Number of RPCs dropped. Only v0.0.41 and later."""

    message_type: str | None = None
    """Message type as string (Slurm RPC message type)."""

    queued: int | None = None
    """Number of RPCs queued. Only v0.0.41 and later."""

    total_time: int | None = None
    """Total time spent processing RPC in seconds."""

    type_id: int | None = None
    """Message type as integer."""


class StatsMsgRpcUser(AnswerModel):
    """``stats_msg_rpc_user``."""

    average_time: NoVal = None
    """Average time spent processing RPC in seconds."""

    count: int | None = None
    """Number of RPCs received."""

    total_time: int | None = None
    """Total time spent processing RPC in seconds."""

    user: str | None = None
    """User name."""

    user_id: int | None = None
    """User ID (numeric)."""


class StatsMsg(AnswerModel):
    """``stats_msg``."""

    agent_count: int | None = None
    """Number of agent threads."""

    agent_queue_size: int | None = None
    """Number of enqueued outgoing RPC requests in an internal retry list."""

    agent_thread_count: int | None = None
    """Total number of active threads created by all agent threads."""

    bf_active: bool | None = None
    """Backfill scheduler currently running."""

    bf_backfilled_het_jobs: int | None = None
    """Number of heterogeneous job components started through backfilling since last Slurm start."""

    bf_backfilled_jobs: int | None = None
    """Number of jobs started through backfilling since last slurm start."""

    bf_cycle_counter: int | None = None
    """Number of backfill scheduling cycles since last reset."""

    bf_cycle_last: int | None = None
    """Execution time in microseconds of last backfill scheduling cycle."""

    bf_cycle_max: int | None = None
    """Execution time in microseconds of longest backfill scheduling cycle. Only v0.0.41 and later."""

    bf_cycle_mean: int | None = None
    """Mean time in microseconds of backfilling scheduling cycles since last reset."""

    bf_cycle_sum: int | None = None
    """Total time in microseconds of backfilling scheduling cycles since last reset."""

    bf_depth_mean: int | None = None
    """Mean number of eligible to run jobs processed during all backfilling scheduling cycles since last reset."""

    bf_depth_mean_try: int | None = None
    """The subset of Depth Mean that the backfill scheduler attempted to schedule."""

    bf_depth_sum: int | None = None
    """Total number of jobs processed during all backfilling scheduling cycles since last reset."""

    bf_depth_try_sum: int | None = None
    """Subset of bf_depth_sum that the backfill scheduler attempted to schedule."""

    bf_exit: BfExitFields | None = None
    """Reasons for which the backfill scheduling cycle exited since last reset."""

    bf_last_backfilled_jobs: int | None = None
    """Number of jobs started through backfilling since last reset."""

    bf_last_depth: int | None = None
    """Number of processed jobs during last backfilling scheduling cycle."""

    bf_last_depth_try: int | None = None
    """Number of processed jobs during last backfilling scheduling cycle that had a chance to start using available
    resources.
    """

    bf_queue_len: int | None = None
    """Number of jobs pending to be processed by backfilling algorithm."""

    bf_queue_len_mean: int | None = None
    """Mean number of jobs pending to be processed by backfilling algorithm."""

    bf_queue_len_sum: int | None = None
    """Total number of jobs pending to be processed by backfilling algorithm since last reset."""

    bf_table_size: int | None = None
    """Number of different time slots tested by the backfill scheduler in its last iteration."""

    bf_table_size_mean: int | None = None
    """Mean number of different time slots tested by the backfill scheduler."""

    bf_table_size_sum: int | None = None
    """Total number of different time slots tested by the backfill scheduler. Only v0.0.41 and later."""

    bf_when_last_cycle: NoVal = None
    """When the last backfill scheduling cycle happened (UNIX timestamp)."""

    dbd_agent_queue_size: int | None = None
    """Number of messages for SlurmDBD that are queued."""

    gettimeofday_latency: int | None = None
    """Latency of 1000 calls to the gettimeofday() syscall in microseconds, as measured at controller startup."""

    job_states_ts: NoVal = None
    """When the job state counts were gathered (UNIX timestamp)."""

    jobs_canceled: int | None = None
    """Number of jobs canceled since the last reset."""

    jobs_completed: int | None = None
    """Number of jobs completed since last reset."""

    jobs_failed: int | None = None
    """Number of jobs failed due to slurmd or other internal issues since last reset."""

    jobs_pending: int | None = None
    """Number of jobs pending at the time of listed in job_state_ts."""

    jobs_running: int | None = None
    """Number of jobs running at the time of listed in job_state_ts."""

    jobs_started: int | None = None
    """Number of jobs started since last reset."""

    jobs_submitted: int | None = None
    """Number of jobs submitted since last reset."""

    parts_packed: int | None = None
    """Zero if only RPC statistic included. Only v0.0.40 to v0.0.44. Deprecated."""

    pending_rpcs: list[StatsMsgRpcQueue] | None = None
    """Pending RPC statistics (Pending RPCs). Only v0.0.41 and later."""

    pending_rpcs_by_hostlist: list[StatsMsgRpcDump] | None = None
    """Pending RPCs hostlists (Pending RPCs by hostlist). Only v0.0.41 and later."""

    req_time: NoVal = None
    """When the request was made (UNIX timestamp)."""

    req_time_start: NoVal = None
    """When the data in the report started (UNIX timestamp)."""

    rpcs_by_message_type: list[StatsMsgRpcType] | None = None
    """Most frequently issued remote procedure calls (RPCs) (RPCs by type)."""

    rpcs_by_user: list[StatsMsgRpcUser] | None = None
    """RPCs issued by user ID (RPCs by user)."""

    schedule_cycle_depth: int | None = None
    """Total number of jobs processed in scheduling cycles. Only v0.0.41 and later."""

    schedule_cycle_last: int | None = None
    """Time in microseconds for last scheduling cycle."""

    schedule_cycle_max: int | None = None
    """Max time of any scheduling cycle in microseconds since last reset."""

    schedule_cycle_mean: int | None = None
    """Mean time in microseconds for all scheduling cycles since last reset."""

    schedule_cycle_mean_depth: int | None = None
    """Mean of the number of jobs processed in a scheduling cycle."""

    schedule_cycle_per_minute: int | None = None
    """Number of scheduling executions per minute."""

    schedule_cycle_sum: int | None = None
    """Total run time in microseconds for all scheduling cycles since last reset. Only v0.0.41 and later."""

    schedule_cycle_total: int | None = None
    """Number of scheduling cycles since last reset."""

    schedule_exit: ScheduleExitFields | None = None
    """Reasons for which the scheduling cycle exited since last reset."""

    schedule_queue_length: int | None = None
    """Number of jobs pending in queue."""

    server_thread_count: int | None = None
    """Number of current active slurmctld threads."""


class OpenapiDiagResp(AnswerModel):
    """``openapi_diag_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    statistics: StatsMsg | None = None
    """statistics."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiPingArrayResp(AnswerModel):
    """``openapi_ping_array_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    pings: list[ControllerPing] | None = None
    """pings."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class SlurmdbPurgeUnits(AnswerModel):
    """``slurmdb_purge_units``, v0.0.45 and later."""

    archive: bool | None = None
    """whether to archive purged records."""

    days: int | None = None
    """days."""

    hours: int | None = None
    """hours."""

    months: int | None = None
    """months."""

    set: bool | None = None
    """whether purge has been set."""


class SlurmdbdConf(AnswerModel):
    """``slurmdbd_conf``, v0.0.45 and later."""

    archive_dir: str | None = wire("ArchiveDir")
    """location to locally store data if not using a script."""

    archive_script: str | None = wire("ArchiveScript")
    """script to archive old data."""

    commit_delay: int | None = wire("CommitDelay")
    """on busy systems, delay commits from slurmctld this many seconds."""

    dbd_addr: str | None = wire("DbdAddr")
    """network address of Slurm DBD."""

    dbd_backup_host: str | None = wire("DbdBackupHost")
    """hostname of Slurm DBD backup."""

    dbd_host: str | None = wire("DbdHost")
    """hostname of Slurm DBD."""

    dbd_port: int | None = wire("DbdPort")
    """port number for RPCs to DBD."""

    debug_level: str | None = wire("DebugLevel")
    """debug level, default=3."""

    debug_level_syslog: str | None = wire("DebugLevelSyslog")
    """output to both log file and syslog."""

    default_qos: str | None = wire("DefaultQOS")
    """default qos setting when adding clusters."""

    flags: list[str] | None = wire("Flags")
    """various flags, see DBD_CONF_FLAG_*. One of: AllowNoDefAcct, AllResourcesAbsolute, DisableCoordDBD,
    DisableArchiveCommands.
    """

    log_file: str | None = wire("LogFile")
    """fully qualified pathname of the slurmdbd log file (default unset; logs go to syslog)."""

    max_purge_limit: int | None = wire("MaxPurgeLimit")
    """max number of records that are purged in a single query so that locks can be periodically released."""

    max_query_time_range: str | None = wire("MaxQueryTimeRange")
    """max time range for user queries (Time formatted as HH:MM:SS or D-HH:MM:SS)."""

    parameters: list[str] | None = wire("Parameters")
    """parameters to change behavior with the slurmdbd directly."""

    persist_conn_flags: list[str] | None = wire("PersistConnFlags")
    """flags to be sent back on any persist connection init. One of: PreserveCaseUser."""

    pid_file: str | None = wire("PidFile")
    """where to store current PID."""

    purge_event_after: SlurmdbPurgeUnits | None = wire("PurgeEventAfter")
    """purge events older than this in hours, days, or months."""

    purge_job_after: SlurmdbPurgeUnits | None = wire("PurgeJobAfter")
    """purge jobs older than this in hours, days, or months."""

    purge_job_env_after: SlurmdbPurgeUnits | None = wire("PurgeJobEnvAfter")
    """purge job environments older than this in hours, days, or months."""

    purge_job_script_after: SlurmdbPurgeUnits | None = wire("PurgeJobScriptAfter")
    """purge job scripts older than this in hours, days, or months."""

    purge_resv_after: SlurmdbPurgeUnits | None = wire("PurgeResvAfter")
    """purge reservations older than this in hours, days, or months."""

    purge_step_after: SlurmdbPurgeUnits | None = wire("PurgeStepAfter")
    """purge steps older than this in hours, days, or months."""

    purge_suspend_after: SlurmdbPurgeUnits | None = wire("PurgeSuspendAfter")
    """purge suspend data older than this in hours, days, or months."""

    purge_txn_after: SlurmdbPurgeUnits | None = wire("PurgeTXNAfter")
    """purge transaction data older than this in hours, days, or months."""

    purge_usage_after: SlurmdbPurgeUnits | None = wire("PurgeUsageAfter")
    """purge usage data older than this in hours, days, or months."""

    storage_loc: str | None = wire("StorageLoc")
    """name of the database where accounting records are written (default slurm_acct_db)."""

    storage_pass_script: str | None = wire("StoragePassScript")
    """path to executable script that emits ephemeral DB authentication tokens used in place of StoragePass."""

    storage_user: str | None = wire("StorageUser")
    """username used to connect to the accounting database (defaults to the user running slurmdbd)."""

    track_slurmctld_down: bool | None = wire("TrackSlurmctldDown")
    """whether or not to track when a slurmctld goes down."""

    track_wc_key: bool | None = wire("TrackWCKey")
    """whether or not to track WCKey."""


class OpenapiSlurmdbdConfResp(AnswerModel):
    """``openapi_slurmdbd_conf_resp``, v0.0.45 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    slurmdbd_conf: SlurmdbdConf | None = None
    """slurmdbd.conf."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class SlurmdbdPing(AnswerModel):
    """``slurmdbd_ping``, v0.0.42 and later."""

    hostname: str | None = None
    """Target for ping."""

    latency: int | None = None
    """Number of microseconds it took to successfully ping or timeout."""

    primary: bool | None = None
    """Is responding slurmdbd the primary controller (Is responding slurmctld the primary controller)."""

    responding: bool | None = None
    """If ping RPC responded with pong from slurmdbd."""

    status: str | None = None
    """Ping status code. Only v0.0.45 and later."""


class OpenapiSlurmdbdPingResp(AnswerModel):
    """``openapi_slurmdbd_ping_resp``, v0.0.42 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    pings: list[SlurmdbdPing] | None = None
    """pings."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class RollupStatsDailyDuration(AnswerModel):
    """``rollup_stats_daily_duration``, v0.0.41 and later."""

    last: int | None = None
    """Total time spent doing daily daily rollup (seconds)."""

    max: int | None = None
    """Longest daily rollup time (seconds)."""

    time: int | None = None
    """Total time spent doing daily rollups (seconds)."""


class RollupStatsDaily(AnswerModel):
    """``rollup_stats_daily``, v0.0.41 and later."""

    count: int | None = None
    """Number of daily rollups since last_run."""

    duration: RollupStatsDailyDuration | None = None

    last_run: int | None = None
    """Last time daily rollup ran (UNIX timestamp)."""


class RollupStatsHourlyDuration(AnswerModel):
    """``rollup_stats_hourly_duration``, v0.0.41 and later."""

    last: int | None = None
    """Total time spent doing last daily rollup (seconds)."""

    max: int | None = None
    """Longest hourly rollup time (seconds)."""

    time: int | None = None
    """Total time spent doing hourly rollups (seconds)."""


class RollupStatsHourly(AnswerModel):
    """``rollup_stats_hourly``, v0.0.41 and later."""

    count: int | None = None
    """Number of hourly rollups since last_run."""

    duration: RollupStatsHourlyDuration | None = None

    last_run: int | None = None
    """Last time hourly rollup ran (UNIX timestamp)."""


class RollupStatsMonthlyDuration(AnswerModel):
    """``rollup_stats_monthly_duration``, v0.0.41 and later."""

    last: int | None = None
    """Total time spent doing monthly daily rollup (seconds)."""

    max: int | None = None
    """Longest monthly rollup time (seconds)."""

    time: int | None = None
    """Total time spent doing monthly rollups (seconds)."""


class RollupStatsMonthly(AnswerModel):
    """``rollup_stats_monthly``, v0.0.41 and later."""

    count: int | None = None
    """Number of monthly rollups since last_run."""

    duration: RollupStatsMonthlyDuration | None = None

    last_run: int | None = None
    """Last time monthly rollup ran (UNIX timestamp)."""


class RollupStats(AnswerModel):
    """``rollup_stats``, v0.0.41 and later."""

    daily: RollupStatsDaily | None = None

    hourly: RollupStatsHourly | None = None

    monthly: RollupStatsMonthly | None = None


class RollupStatsItem(AnswerModel):
    """``rollup_stats_item``, v0.0.40."""

    last_cycle: int | None = None
    """time of last cycle (seconds)."""

    last_run: int | None = None
    """Last time rollup ran (UNIX timestamp)."""

    max_cycle: int | None = None
    """longest rollup time (seconds)."""

    mean_cycles: int | None = None
    """average time for rollup (seconds)."""

    total_cycles: int | None = None
    """number of rollups since last_run."""

    total_time: int | None = None
    """total time spent doing rollups (seconds)."""

    type: str | None = None
    """type. One of: internal, user, unknown."""


class StatsRpcTime(AnswerModel):
    """``stats_rpc_time``."""

    average: int | None = None
    """Average RPC processing time in microseconds."""

    total: int | None = None
    """Total RPC processing time in microseconds."""


class StatsRpc(AnswerModel):
    """``stats_rpc``."""

    count: int | None = None
    """Number of RPCs processed."""

    rpc: str | None = None
    """RPC type."""

    time: StatsRpcTime | None = None


class StatsUserTime(AnswerModel):
    """``stats_user_time``."""

    average: int | None = None
    """Average RPC processing time in microseconds."""

    total: int | None = None
    """Total RPC processing time in microseconds."""


class StatsUser(AnswerModel):
    """``stats_user``."""

    count: int | None = None
    """Number of RPCs processed."""

    time: StatsUserTime | None = None

    user: str | None = None
    """User ID."""


class StatsRec(AnswerModel):
    """``stats_rec``."""

    rollups: RollupStats | list[RollupStatsItem] | None = None
    """Rollup statistics."""

    rpcs: list[StatsRpc] | None = wire("RPCs")
    """List of RPCs sent to the slurmdbd."""

    time_start: int | None = None
    """When data collection started (UNIX timestamp)."""

    users: list[StatsUser] | None = None
    """List of users that issued RPCs."""


class OpenapiSlurmdbdStatsResp(AnswerModel):
    """``openapi_slurmdbd_stats_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    statistics: StatsRec | None = None
    """statistics."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""
