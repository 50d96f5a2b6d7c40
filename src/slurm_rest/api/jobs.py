"""Models of the controller's job operations: submit, allocate, update, list, cancel, requeue."""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

from typing import Any

from slurm_rest.api._model import AnswerModel, RequestModel, wire
from slurm_rest.api.common import OpenapiError, OpenapiMeta, OpenapiWarning, ProcessExitCodeVerbose
from slurm_rest.api.values import NoVal, NoValFloat

__all__ = [
    "CronEntry",
    "CronEntryLine",
    "JobAllocReq",
    "JobArrayResponseMsgEntry",
    "JobDescMsg",
    "JobDescMsgRlimits",
    "JobInfo",
    "JobInfoPower",
    "JobRes",
    "JobResCore",
    "JobResNode",
    "JobResNodeCpus",
    "JobResNodeMemory",
    "JobResNodes",
    "JobResSocket",
    "JobStateRow",
    "JobSubmitReq",
    "JobSubmitResponseMsg",
    "KillJobsMsg",
    "KillJobsRespJob",
    "KillJobsRespJobError",
    "KillJobsRespJobFederation",
    "NodeGresLayout",
    "NodeResourceLayout",
    "OpenapiJobAllocResp",
    "OpenapiJobInfoResp",
    "OpenapiJobPostResponse",
    "OpenapiJobRequeueResp",
    "OpenapiJobStateResp",
    "OpenapiJobSubmitResponse",
    "OpenapiJobsRequeueQuery",
    "OpenapiJobsRequeueResp",
    "OpenapiKillJobResp",
    "OpenapiKillJobsResp",
    "OpenapiResourceLayoutResp",
    "PartPrio",
    "SlurmStepId",
    "SlurmStepIdReq",
]


class CronEntryLine(RequestModel):
    """``cron_entry_line``."""

    end: int | None = None
    """End of this entry in file."""

    start: int | None = None
    """Start of this entry in file."""


class CronEntry(RequestModel):
    """``cron_entry``."""

    command: str | None = None
    """Command to run."""

    day_of_month: str | None = None
    """Ranged string specifying eligible day of month values (e.g. 0-10,29)."""

    day_of_week: str | None = None
    """Ranged string specifying eligible day of week values (e.g.0-3,7)."""

    flags: list[str] | None = None
    """Flags. One of: WILD_MINUTE, WILD_HOUR, WILD_DAY_OF_MONTH, WILD_MONTH, WILD_DAY_OF_WEEK."""

    hour: str | None = None
    """Ranged string specifying eligible hour values (e.g. 0-5,23)."""

    line: CronEntryLine | None = None

    minute: str | None = None
    """Ranged string specifying eligible minute values (e.g. 0-10,50)."""

    month: str | None = None
    """Ranged string specifying eligible month values (e.g. 0-5,12)."""

    specification: str | None = None
    """Complete time specification (* means valid for all allowed values) - minute hour day_of_month month day_of_week.
    """


class JobDescMsgRlimits(RequestModel):
    """``job_desc_msg_rlimits``."""

    as_: NoVal = wire("as")
    """Address space limit (Address space limit.)."""

    core: NoVal = None
    """Largest core file that can be created, in bytes (Largest core file that can be created, in bytes.)."""

    cpu: NoVal = None
    """Per-process CPU limit, in seconds (Per-process CPU limit, in seconds.)."""

    data: NoVal = None
    """Maximum size of data segment, in bytes (Maximum size of data segment, in bytes. )."""

    fsize: NoVal = None
    """Largest file that can be created, in bytes (Largest file that can be created, in bytes.)."""

    memlock: NoVal = None
    """Locked-in-memory address space (Locked-in-memory address space)."""

    nofile: NoVal = None
    """Number of open files (Number of open files.)."""

    nproc: NoVal = None
    """Number of processes (Number of processes.)."""

    rss: NoVal = None
    """Largest resident set size, in bytes. This affects swapping; processes that are exceeding their resident set size
    will be more likely to have physical memory taken from them (Largest resident set size, in bytes. This affects
    swapping; processes that are exceeding their resident set size will be more likely to have physical memory taken
    from them.).
    """

    stack: NoVal = None
    """Maximum size of stack segment, in bytes (Maximum size of stack segment, in bytes.)."""


class SlurmStepIdReq(RequestModel):
    """``slurm_step_id``, v0.0.44 and later as a request."""

    job_id: NoVal = None
    """Job ID."""

    sluid: str | None = None
    """SLUID (Slurm Lexicographically-sortable Unique ID)."""

    step_het_component: NoVal = None
    """HetJob component."""

    step_id: str | None = None
    """Job step ID."""


class JobDescMsg(RequestModel):
    """``job_desc_msg``."""

    account: str | None = None
    """Account associated with the job."""

    account_gather_frequency: str | None = None
    """Job accounting and profiling sampling intervals in seconds."""

    admin_comment: str | None = None
    """Arbitrary comment made by administrator."""

    allocation_node_list: str | None = None
    """Local node making the resource allocation."""

    allocation_node_port: int | None = None
    """Port to send allocation confirmation to."""

    argv: list[str] | None = None
    """Arguments to the script. Note: The slurmstepd always overrides argv[0] with the path to the created script file.
    If this option is used, argv[0] should be a throwaway value.
    """

    array: str | None = None
    """Job array index value specification."""

    batch_features: str | None = None
    """Features required for batch script's node."""

    begin_time: NoVal = None
    """Defer the allocation of the job until the specified time (UNIX timestamp)."""

    burst_buffer: str | None = None
    """Burst buffer specifications."""

    cluster_constraint: str | None = None
    """Required features that a federated cluster must have to have a sibling job submitted to it."""

    clusters: str | None = None
    """Clusters that a federated job can run on."""

    comment: str | None = None
    """Arbitrary comment made by user."""

    constraints: str | None = None
    """Comma-separated list of features that are required."""

    container: str | None = None
    """Absolute path to OCI container bundle."""

    container_id: str | None = None
    """OCI container ID."""

    container_type: str | None = None
    """Job container type. Only v0.0.45 and later."""

    contiguous: bool | None = None
    """True if job requires contiguous nodes."""

    core_specification: int | None = None
    """Specialized core count."""

    cores_per_socket: int | None = None
    """Cores per sockets required. Only v0.0.40, v0.0.45."""

    cpu_binding: str | None = None
    """Method for binding tasks to allocated CPUs."""

    cpu_binding_flags: list[str] | None = None
    """Flags for CPU binding. Words: ``words.CPU_BINDING_FLAGS``."""

    cpu_frequency: str | None = None
    """Requested CPU frequency range <p1>[-p2][:p3]."""

    cpus_per_task: int | None = None
    """Number of CPUs required by each task."""

    cpus_per_tres: str | None = None
    """Semicolon delimited list of TRES=# values values indicating how many CPUs should be allocated for each specified
    TRES (currently only used for gres/gpu).
    """

    crontab: CronEntry | None = None
    """Specification for scrontab job (crontab entry)."""

    current_working_directory: str | None = None
    """Working directory to use for the job."""

    deadline: int | None = None
    """Latest time that the job may start (UNIX timestamp)."""

    delay_boot: int | None = None
    """Number of seconds after job eligible start that nodes will be rebooted to satisfy feature specification."""

    dependency: str | None = None
    """Other jobs that must meet certain criteria before this job can start."""

    distribution: str | None = None
    """Layout."""

    distribution_plane_size: NoVal = None
    """Plane size specification when distribution specifies plane."""

    end_time: int | None = None
    """Expected end time (UNIX timestamp)."""

    environment: list[str] | None = None
    """Environment variables to be set for the job; required for job submissions."""

    excluded_nodes: list[str] | None = None
    """Comma-separated list of nodes that may not be used."""

    exclusive: list[str] | None = None
    """One of: true, false, user, mcs, topo. Only v0.0.40 to v0.0.41. Deprecated."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    flags: list[str] | None = None
    """Job flags. Words: ``words.JOB_FLAGS``."""

    group_id: str | None = None
    """Group ID of the user that owns the job."""

    hetjob_group: int | None = None
    """Unique sequence number applied to this component of the heterogeneous job."""

    hold: bool | None = None
    """Hold (true) or release (false) job (Job held)."""

    immediate: bool | None = None
    """If true, exit if resources are not available within the time period specified."""

    job_id: int | None = None
    """Job ID."""

    kill_on_node_fail: bool | None = None
    """If true, kill job on node failure."""

    kill_warning_delay: NoVal = None
    """Number of seconds before end time to send the warning signal."""

    kill_warning_flags: list[str] | None = None
    """Flags related to job signals. Words: ``words.WARN_FLAGS``."""

    kill_warning_signal: str | None = None
    """Signal to send when approaching end time (e.g. "10" or "USR1")."""

    licenses: str | None = None
    """License(s) required by the job."""

    mail_type: list[str] | None = None
    """Mail event type(s). Words: ``words.JOB_MAIL_FLAGS``."""

    mail_user: str | None = None
    """User to receive email notifications."""

    maximum_cpus: int | None = None
    """Maximum number of CPUs required."""

    maximum_nodes: int | None = None
    """Maximum node count."""

    mcs_label: str | None = None
    """Multi-Category Security label on the job."""

    memory_binding: str | None = None
    """Binding map for map/mask_cpu."""

    memory_binding_type: list[str] | None = None
    """Method for binding tasks to memory. One of: NONE, RANK, MAP, MASK, LOCAL, VERBOSE, SORT, PREFER."""

    memory_per_cpu: NoVal = None
    """Minimum memory in megabytes per allocated CPU."""

    memory_per_node: NoVal = None
    """Minimum memory in megabytes per allocated node."""

    memory_per_tres: str | None = None
    """Semicolon delimited list of TRES=# values indicating how much memory in megabytes should be allocated for each
    specified TRES (currently only used for gres/gpu).
    """

    memory_update_delay: int | None = None
    """Auto-reduce memory delay in minutes. Only v0.0.45 and later."""

    memory_update_margin: int | None = None
    """Auto-reduce memory margin percent. Only v0.0.45 and later."""

    minimum_boards_per_node: int | None = None
    """Boards per node required."""

    minimum_cpus: int | None = None
    """Minimum number of CPUs required."""

    minimum_cpus_per_node: int | None = None
    """Minimum number of CPUs per node."""

    minimum_nodes: int | None = None
    """Minimum node count."""

    minimum_sockets_per_board: int | None = None
    """Sockets per board required."""

    name: str | None = None
    """Job name."""

    network: str | None = None
    """Network specs for job step."""

    nice: int | None = None
    """Requested job priority change."""

    nodes: str | None = None
    """Node count range specification (e.g. 1-15:4)."""

    ntasks_per_tres: int | None = None
    """Number of tasks that can access each GPU."""

    oom_kill_step: int | None = None
    """Kill whole step in case of OOM in one of the tasks. Only v0.0.42 and later."""

    open_mode: list[str] | None = None
    """Open mode used for stdout and stderr files. One of: APPEND, TRUNCATE."""

    overcommit: bool | None = None
    """Overcommit resources."""

    oversubscribe: bool | None = None
    """Only v0.0.40 to v0.0.41. Deprecated."""

    partition: str | None = None
    """Partition assigned to the job."""

    power_flags: list[Any] | None = None
    """Only v0.0.40 to v0.0.44. Deprecated."""

    prefer: str | None = None
    """Comma-separated list of features that are preferred but not required."""

    priority: NoVal = None
    """Request specific job priority."""

    profile: list[str] | None = None
    """Profile used by the acct_gather_profile plugin. One of: NOT_SET, NONE, ENERGY, LUSTRE, NETWORK, TASK."""

    qos: str | None = None
    """Quality of Service assigned to the job."""

    reboot: bool | None = None
    """Node reboot requested before start."""

    requeue: bool | None = None
    """Determines whether the job may be requeued."""

    required_nodes: list[str] | None = None
    """Comma-separated list of required nodes."""

    required_switches: NoVal = None
    """Maximum number of switches."""

    reservation: str | None = None
    """Name of reservation to use."""

    reserve_ports: int | None = None
    """Port to send various notification msg to."""

    resv_mpi_ports: int | None = None
    """Number of reserved communication ports; can only be used if slurmstepd step manager is enabled. Only v0.0.41."""

    rlimits: JobDescMsgRlimits | None = None

    script: str | None = None
    """Job batch script contents; only the first component in a HetJob is populated or honored."""

    segment_size: NoVal = None
    """Segment size for topology/block. Only v0.0.41 and later."""

    selinux_context: str | None = None
    """SELinux context."""

    shared: list[str] | None = None
    """How the job can share resources with other jobs, if at all. One of: none, oversubscribe, user, mcs, topo."""

    site_factor: int | None = None
    """Site-specific priority factor."""

    sockets_per_node: int | None = None
    """Sockets per node required."""

    spank_environment: list[str] | None = None
    """Environment variables for job prolog/epilog scripts as set by SPANK plugins."""

    standard_error: str | None = None
    """Path to stderr file."""

    standard_input: str | None = None
    """Path to stdin file."""

    standard_output: str | None = None
    """Path to stdout file."""

    step_id: SlurmStepIdReq | None = None
    """Job step ID. Only v0.0.44 and later."""

    tasks: int | None = None
    """Number of tasks."""

    tasks_per_board: int | None = None
    """Number of tasks to invoke on each board."""

    tasks_per_core: int | None = None
    """Number of tasks to invoke on each core."""

    tasks_per_node: int | None = None
    """Number of tasks to invoke on each node."""

    tasks_per_socket: int | None = None
    """Number of tasks to invoke on each socket."""

    temporary_disk_per_node: int | None = None
    """Minimum tmp disk space required per node."""

    thread_specification: int | None = None
    """Specialized thread count."""

    threads_per_core: int | None = None
    """Threads per core required."""

    time_limit: NoVal = None
    """Maximum run time in minutes."""

    time_minimum: NoVal = None
    """Minimum run time in minutes."""

    tres_bind: str | None = None
    """Task to TRES binding directives."""

    tres_freq: str | None = None
    """TRES frequency directives."""

    tres_per_job: str | None = None
    """Comma-separated list of TRES=# values to be allocated for every job."""

    tres_per_node: str | None = None
    """Comma-separated list of TRES=# values to be allocated for every node."""

    tres_per_socket: str | None = None
    """Comma-separated list of TRES=# values to be allocated for every socket."""

    tres_per_task: str | None = None
    """Comma-separated list of TRES=# values to be allocated for every task."""

    user_id: str | None = None
    """User ID that owns the job."""

    wait_all_nodes: bool | None = None
    """If true, wait to start until after all nodes have booted."""

    wait_for_switch: int | None = None
    """Maximum time to wait for switches in seconds."""

    wckey: str | None = None
    """Workload characterization key."""

    x11: list[str] | None = None
    """X11 forwarding options. One of: FORWARD_ALL_NODES, BATCH_NODE, FIRST_NODE, LAST_NODE."""

    x11_magic_cookie: str | None = None
    """Magic cookie for X11 forwarding."""

    x11_target_host: str | None = None
    """Hostname or UNIX socket if x11_target_port=0."""

    x11_target_port: int | None = None
    """TCP port."""


class JobAllocReq(RequestModel):
    """``job_alloc_req``, v0.0.41 and later as a request."""

    hetjob: list[JobDescMsg] | None = None
    """HetJob description."""

    job: JobDescMsg | None = None
    """Job description."""


class JobArrayResponseMsgEntry(AnswerModel):
    """``job_array_response_msg_entry``."""

    error: str | None = None
    """Verbose update status or error."""

    error_code: int | None = None
    """Verbose update status or error."""

    job_id: int | None = None
    """Job ID for updated job."""

    step_id: str | None = None
    """Step ID for updated job."""

    why: str | None = None
    """Update response message."""


class JobInfoPower(AnswerModel):
    """``job_info_power``, v0.0.40 to v0.0.44."""

    flags: list[Any] | None = None
    """Deprecated."""


class JobResNodeCpus(AnswerModel):
    """``job_res_node_cpus``, v0.0.41 and later."""

    count: int | None = None
    """Total number of CPUs assigned to job."""

    used: int | None = None
    """Total number of CPUs used by job."""


class JobResNodeMemory(AnswerModel):
    """``job_res_node_memory``, v0.0.41 and later."""

    allocated: int | None = None
    """Total memory (MiB) allocated to job."""

    used: int | None = None
    """Total memory (MiB) used by job."""


class JobResCore(AnswerModel):
    """``job_res_core``, v0.0.41 and later."""

    index: int | None = None
    """Core index."""

    status: list[str] | None = None
    """Core status. One of: INVALID, UNALLOCATED, ALLOCATED, IN_USE."""


class JobResSocket(AnswerModel):
    """``job_res_socket``, v0.0.41 and later."""

    cores: list[JobResCore] | None = None
    """Core in socket."""

    index: int | None = None
    """Core index."""


class JobResNode(AnswerModel):
    """``job_res_node``, v0.0.41 and later."""

    cpus: JobResNodeCpus | None = None

    index: int | None = None
    """Node index."""

    memory: JobResNodeMemory | None = None

    name: str | None = None
    """Node name."""

    sockets: list[JobResSocket] | None = None
    """Socket allocations in node."""


class JobResNodes(AnswerModel):
    """``job_res_nodes``, v0.0.41 and later."""

    allocation: list[JobResNode] | None = None
    """Allocated node resources (Job resources for a node)."""

    count: int | None = None
    """Number of allocated nodes."""

    list_: str | None = wire("list")
    """Node(s) allocated to the job."""

    select_type: list[str] | None = None
    """Node scheduling selection method. One of: AVAILABLE, ONE_ROW, RESERVED."""

    whole: bool | None = None
    """Whether whole nodes were allocated."""


class JobRes(AnswerModel):
    """``job_res``."""

    allocated_cores: int | None = None
    """Number of allocated cores. Only v0.0.40."""

    allocated_cpus: int | None = None
    """Number of allocated CPUs. Only v0.0.40."""

    allocated_hosts: int | None = None
    """Number of allocated hosts. Only v0.0.40."""

    allocated_nodes: list[Any] | None = None
    """Allocated node resources. Only v0.0.40."""

    cpus: int | None = None
    """Number of allocated CPUs. Only v0.0.41 and later."""

    nodes: JobResNodes | str | None = None
    """Node(s) allocated to the job."""

    select_type: list[str] | None = None
    """Scheduler consumable resource selection type. Words: ``words.CR_TYPE``. Only v0.0.41 and later."""

    threads_per_core: NoVal = None
    """Number of processor threads per CPU core. Only v0.0.41 and later."""


class PartPrio(AnswerModel):
    """``part_prio``, v0.0.42 and later."""

    partition: str | None = None
    """Partition name."""

    priority: int | None = None
    """Prospective job priority if it runs in this partition."""


class SlurmStepId(AnswerModel):
    """``slurm_step_id``, v0.0.44 and later."""

    job_id: NoVal = None
    """Job ID."""

    sluid: str | None = None
    """SLUID (Slurm Lexicographically-sortable Unique ID)."""

    step_het_component: NoVal = None
    """HetJob component."""

    step_id: str | None = None
    """Job step ID."""


class JobInfo(AnswerModel):
    """``job_info``."""

    account: str | None = None
    """Account associated with the job."""

    accrue_time: NoVal = None
    """When the job started accruing age priority (UNIX timestamp)."""

    admin_comment: str | None = None
    """Arbitrary comment made by administrator."""

    allocating_node: str | None = None
    """Local node making the resource allocation."""

    array_job_id: NoVal = None
    """Job ID of job array, or 0 if N/A."""

    array_max_tasks: NoVal = None
    """Maximum number of simultaneously running array tasks, 0 if no limit."""

    array_task_id: NoVal = None
    """Task ID of this task in job array."""

    array_task_string: str | None = None
    """String expression of task IDs in this record."""

    association_id: int | None = None
    """Unique identifier for the association."""

    batch_features: str | None = None
    """Features required for batch script's node."""

    batch_flag: bool | None = None
    """True if batch job."""

    batch_host: str | None = None
    """Name of host running batch script."""

    billable_tres: NoValFloat = None
    """Billable TRES."""

    burst_buffer: str | None = None
    """Burst buffer specifications."""

    burst_buffer_state: str | None = None
    """Burst buffer state details."""

    cluster: str | None = None
    """Cluster name."""

    cluster_features: str | None = None
    """List of required cluster features."""

    command: str | None = None
    """Executed command."""

    comment: str | None = None
    """Arbitrary comment."""

    container: str | None = None
    """Absolute path to OCI container bundle."""

    container_id: str | None = None
    """OCI container ID."""

    container_type: str | None = None
    """Job container type. Only v0.0.45 and later."""

    contiguous: bool | None = None
    """True if job requires contiguous nodes."""

    core_spec: int | None = None
    """Specialized core count."""

    cores_per_socket: NoVal = None
    """Cores per socket required."""

    cpu_frequency_governor: NoVal = None
    """CPU frequency governor."""

    cpu_frequency_maximum: NoVal = None
    """Maximum CPU frequency."""

    cpu_frequency_minimum: NoVal = None
    """Minimum CPU frequency."""

    cpus: NoVal = None
    """Minimum number of CPUs required."""

    cpus_per_task: NoVal = None
    """Number of CPUs required by each task."""

    cpus_per_tres: str | None = None
    """Semicolon delimited list of TRES=# values indicating how many CPUs should be allocated for each specified TRES
    (currently only used for gres/gpu).
    """

    cron: str | None = None
    """Time specification for scrontab job."""

    current_working_directory: str | None = None
    """Working directory to use for the job."""

    deadline: NoVal = None
    """Latest time that the job may start (UNIX timestamp)."""

    delay_boot: NoVal = None
    """Number of seconds after job eligible start that nodes will be rebooted to satisfy feature specification."""

    dependency: str | None = None
    """Other jobs that must meet certain criteria before this job can start."""

    derived_exit_code: ProcessExitCodeVerbose | None = None
    """Highest exit code of all job steps (return code returned by process)."""

    eligible_time: NoVal = None
    """Time when the job became eligible to run (UNIX timestamp)."""

    end_time: NoVal = None
    """End time, real or expected (UNIX timestamp)."""

    excluded_nodes: str | None = None
    """Comma-separated list of nodes that may not be used."""

    exclusive: list[str] | None = None
    """One of: true, false, user, mcs, topo. Only v0.0.40 to v0.0.41. Deprecated."""

    exit_code: ProcessExitCodeVerbose | None = None
    """Exit code of the job (return code returned by process)."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    failed_node: str | None = None
    """Name of node that caused job failure."""

    features: str | None = None
    """Comma-separated list of features that are required."""

    federation_origin: str | None = None
    """Origin cluster's name (when using federation)."""

    federation_siblings_active: str | None = None
    """Active sibling job names."""

    federation_siblings_viable: str | None = None
    """Viable sibling job names."""

    flags: list[str] | None = None
    """Job flags. Words: ``words.JOB_FLAGS``."""

    gres_detail: list[str] | None = None
    """List of GRES index and counts allocated per node."""

    group_id: int | None = None
    """Group ID of the user that owns the job."""

    group_name: str | None = None
    """Group name of the user that owns the job."""

    het_job_id: NoVal = None
    """Heterogeneous job ID, if applicable."""

    het_job_id_set: str | None = None
    """Job ID range for all heterogeneous job components."""

    het_job_offset: NoVal = None
    """Unique sequence number applied to this component of the heterogeneous job."""

    hold: bool | None = None
    """Hold (true) or release (false) job (Job held)."""

    job_id: int | None = None
    """Job ID."""

    job_resources: JobRes | None = None
    """Resources used by the job."""

    job_size_str: list[str] | None = None
    """Number of nodes (in a range) required for this job."""

    job_state: list[str] | None = None
    """Current state. Words: ``words.JOB_STATE``."""

    last_sched_evaluation: NoVal = None
    """Last time job was evaluated for scheduling (UNIX timestamp)."""

    licenses: str | None = None
    """License(s) required by the job."""

    licenses_allocated: str | None = None
    """License(s) allocated to the job. Only v0.0.43 and later."""

    mail_type: list[str] | None = None
    """Mail event type(s). Words: ``words.JOB_MAIL_FLAGS``."""

    mail_user: str | None = None
    """User to receive email notifications."""

    max_cpus: NoVal = None
    """Maximum number of CPUs usable by the job."""

    max_nodes: NoVal = None
    """Maximum number of nodes usable by the job."""

    maximum_switch_wait_time: int | None = None
    """Maximum time to wait for switches in seconds."""

    mcs_label: str | None = None
    """Multi-Category Security label on the job."""

    memory_per_cpu: NoVal = None
    """Minimum memory in megabytes per allocated CPU."""

    memory_per_node: NoVal = None
    """Minimum memory in megabytes per allocated node."""

    memory_per_tres: str | None = None
    """Semicolon delimited list of TRES=# values indicating how much memory in megabytes should be allocated for each
    specified TRES (currently only used for gres/gpu).
    """

    memory_update_delay: int | None = None
    """Auto-reduce memory delay in minutes. Only v0.0.45 and later."""

    memory_update_margin: int | None = None
    """Auto-reduce memory margin percent. Only v0.0.45 and later."""

    minimum_cpus_per_node: NoVal = None
    """Minimum number of CPUs per node."""

    minimum_switches: int | None = None
    """Maximum number of switches (the 'minimum' in the key is incorrect). Only v0.0.40 to v0.0.41."""

    minimum_tmp_disk_per_node: NoVal = None
    """Minimum tmp disk space required per node."""

    name: str | None = None
    """Job name."""

    network: str | None = None
    """Network specs for the job."""

    nice: int | None = None
    """Requested job priority change."""

    node_count: NoVal = None
    """Minimum number of nodes required."""

    nodes: str | None = None
    """Node(s) allocated to the job."""

    oversubscribe: bool | None = None
    """Only v0.0.40 to v0.0.41. Deprecated."""

    partition: str | None = None
    """Partition assigned to the job."""

    power: JobInfoPower | None = None
    """Only v0.0.40 to v0.0.44."""

    pre_sus_time: NoVal = None
    """Total run time prior to last suspend in seconds."""

    preempt_time: NoVal = None
    """Time job received preemption signal (UNIX timestamp)."""

    preemptable_time: NoVal = None
    """Time job becomes eligible for preemption (UNIX timestamp)."""

    prefer: str | None = None
    """Feature(s) the job requested but that are not required."""

    priority: NoVal = None
    """Request specific job priority."""

    priority_by_partition: list[PartPrio] | None = None
    """Prospective job priority in each partition that may be used by this job. Only v0.0.42 and later."""

    profile: list[str] | None = None
    """Profile used by the acct_gather_profile plugin. One of: NOT_SET, NONE, ENERGY, LUSTRE, NETWORK, TASK."""

    qos: str | None = None
    """Quality of Service assigned to the job, if pending the QOS requested."""

    reboot: bool | None = None
    """Node reboot requested before start."""

    requeue: bool | None = None
    """Determines whether the job may be requeued."""

    required_nodes: str | None = None
    """Comma-separated list of required nodes."""

    required_switches: int | None = None
    """Maximum number of switches. Only v0.0.42 and later."""

    resize_time: NoVal = None
    """Time of last size change (UNIX timestamp)."""

    restart_cnt: int | None = None
    """Number of job restarts."""

    resv_name: str | None = None
    """Name of reservation to use."""

    scheduled_nodes: str | None = None
    """List of nodes scheduled to be used for the job."""

    segment_size: int | None = None
    """Requested segment size. Only v0.0.43 and later."""

    selinux_context: str | None = None
    """SELinux context."""

    shared: list[str] | None = None
    """Ignored. Was 'How the job can share resources with other jobs, if at all'. Replaced by 'oversubscribe' and
    'exclusive'. One of: none, oversubscribe, user, mcs, topo. Deprecated.
    """

    show_flags: list[str] | None = None
    """One of: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE. Only v0.0.40 to v0.0.41. Deprecated."""

    sockets_per_board: int | None = None
    """Number of sockets per board required."""

    sockets_per_node: NoVal = None
    """Number of sockets per node required."""

    standard_error: str | None = None
    """Path to stderr file."""

    standard_input: str | None = None
    """Path to stdin file."""

    standard_output: str | None = None
    """Path to stdout file."""

    start_time: NoVal = None
    """Time execution began, or is expected to begin (UNIX timestamp)."""

    state_description: str | None = None
    """Optional details for state_reason."""

    state_reason: str | None = None
    """Reason for current Pending or Failed state."""

    stderr_expanded: str | None = None
    """Job stderr with expanded fields. Only v0.0.43 and later."""

    stdin_expanded: str | None = None
    """Job stdin with expanded fields. Only v0.0.43 and later."""

    stdout_expanded: str | None = None
    """Job stdout with expanded fields. Only v0.0.43 and later."""

    step_id: SlurmStepId | None = None
    """Job step ID. Only v0.0.44 and later."""

    submit_line: str | None = None
    """Job submit line (e.g. 'sbatch -N3 job.sh job_arg'. Only v0.0.44 and later."""

    submit_time: NoVal = None
    """Time when the job was submitted (UNIX timestamp)."""

    suspend_time: NoVal = None
    """Time the job was last suspended or resumed (UNIX timestamp)."""

    system_comment: str | None = None
    """Arbitrary comment from slurmctld."""

    tasks: NoVal = None
    """Number of tasks."""

    tasks_per_board: NoVal = None
    """Number of tasks invoked on each board."""

    tasks_per_core: NoVal = None
    """Number of tasks invoked on each core."""

    tasks_per_node: NoVal = None
    """Number of tasks invoked on each node."""

    tasks_per_socket: NoVal = None
    """Number of tasks invoked on each socket."""

    tasks_per_tres: NoVal = None
    """Number of tasks that can assess each GPU."""

    thread_spec: int | None = None
    """Specialized thread count."""

    threads_per_core: NoVal = None
    """Number of processor threads per CPU core required."""

    time_limit: NoVal = None
    """Maximum run time in minutes."""

    time_minimum: NoVal = None
    """Minimum run time in minutes."""

    tres_alloc_str: str | None = None
    """TRES used by the job."""

    tres_bind: str | None = None
    """Task to TRES binding directives."""

    tres_freq: str | None = None
    """TRES frequency directives."""

    tres_per_job: str | None = None
    """Comma-separated list of TRES=# values to be allocated per job."""

    tres_per_node: str | None = None
    """Comma-separated list of TRES=# values to be allocated per node."""

    tres_per_socket: str | None = None
    """Comma-separated list of TRES=# values to be allocated per socket."""

    tres_per_task: str | None = None
    """Comma-separated list of TRES=# values to be allocated per task."""

    tres_req_str: str | None = None
    """TRES requested by the job."""

    user_id: int | None = None
    """User ID that owns the job."""

    user_name: str | None = None
    """User name that owns the job."""

    wckey: str | None = None
    """Workload characterization key."""


class JobStateRow(AnswerModel):
    """``job_state_row``."""

    job_id: str | None = None
    """Job id as text: 42, 42_7 (array task), 42+1 (het component)."""

    state: list[str] | None = None
    """Base state first, then flags."""


class JobSubmitReq(RequestModel):
    """``job_submit_req`` as a request."""

    job: JobDescMsg | None = None
    """Job description."""

    jobs: list[JobDescMsg] | None = None
    """HetJob description."""

    script: str | None = None
    """Job batch script contents; Same as the script field in jobs[0] or job."""


class JobSubmitResponseMsg(AnswerModel):
    """``job_submit_response_msg``, v0.0.40 to v0.0.41."""

    error: str | None = None
    """Error message."""

    error_code: int | None = None
    """Error code."""

    job_id: int | None = None
    """New job ID."""

    job_submit_user_msg: str | None = None
    """Message to user from job_submit plugin."""

    step_id: str | None = None
    """New job step ID."""


class KillJobsMsg(RequestModel):
    """``kill_jobs_msg``."""

    account: str | None = None
    """Filter jobs to a specific account."""

    flags: list[str] | None = None
    """Filter jobs according to flags. Words: ``words.WARN_FLAGS``."""

    job_name: str | None = None
    """Filter jobs to a specific name."""

    job_state: list[str] | None = None
    """Filter jobs to a specific state. Words: ``words.JOB_STATE``."""

    jobs: list[str] | None = None
    """List of jobs to signal."""

    nodes: list[str] | None = None
    """Filter jobs to a set of nodes."""

    partition: str | None = None
    """Filter jobs to a specific partition."""

    qos: str | None = None
    """Filter jobs to a specific QOS."""

    reservation: str | None = None
    """Filter jobs to a specific reservation."""

    signal: str | None = None
    """Signal to send to jobs."""

    user_id: str | None = None
    """Filter jobs to a specific numeric user id."""

    user_name: str | None = None
    """Filter jobs to a specific user name."""

    wckey: str | None = None
    """Filter jobs to a specific wckey."""


class KillJobsRespJobError(AnswerModel):
    """``kill_jobs_resp_job_error``."""

    code: int | None = None
    """Numeric error encountered signaling job."""

    message: str | None = None
    """Error message why signaling job failed."""

    string: str | None = None
    """String error encountered signaling job."""


class KillJobsRespJobFederation(AnswerModel):
    """``kill_jobs_resp_job_federation``."""

    sibling: str | None = None
    """Name of federation sibling (may be empty for non-federation)."""


class KillJobsRespJob(AnswerModel):
    """``kill_jobs_resp_job``."""

    error: KillJobsRespJobError | None = None

    federation: KillJobsRespJobFederation | None = None

    job_id: NoVal = None
    """Job ID that signaling failed."""

    step_id: str | None = None
    """Job or Step ID that signaling failed."""


class NodeGresLayout(AnswerModel):
    """``node_gres_layout``, v0.0.44 and later."""

    count: int | None = None
    """Count."""

    index: str | None = None
    """Index."""

    name: str | None = None
    """GRES name."""

    type: str | None = None
    """GRES type (optional)."""


class NodeResourceLayout(AnswerModel):
    """``node_resource_layout``, v0.0.44 and later."""

    channel: NoVal = None
    """IMEX channel."""

    core_bitmap: str | None = None
    """Abstract core bitmap."""

    cores_per_socket: int | None = None
    """Cores per socket."""

    gres: list[NodeGresLayout] | None = None
    """Allocated GRES."""

    mem_alloc: int | None = None
    """Allocated memory."""

    node: str | None = None
    """Node name."""

    sockets_per_node: int | None = None
    """Sockets per node."""


class OpenapiJobAllocResp(AnswerModel):
    """``openapi_job_alloc_resp``, v0.0.41 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    job_id: int | None = None
    """Submitted Job ID."""

    job_submit_user_msg: str | None = None
    """Job submission user message."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobInfoResp(AnswerModel):
    """``openapi_job_info_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    jobs: list[JobInfo] | None = None
    """List of jobs."""

    last_backfill: NoVal = None
    """Time of last backfill scheduler run (UNIX timestamp)."""

    last_update: NoVal = None
    """Time of last job change (UNIX timestamp)."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobPostResponse(AnswerModel):
    """``openapi_job_post_response``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    job_id: str | None = None
    """First updated Job ID - Use results instead. Only v0.0.40 to v0.0.41. Deprecated."""

    job_submit_user_msg: str | None = None
    """First updated Job submission user message - Use results instead. Only v0.0.40 to v0.0.41. Deprecated."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    results: list[JobArrayResponseMsgEntry] | None = None
    """Job update results (Job update results)."""

    step_id: str | None = None
    """First updated Step ID - Use results instead. Only v0.0.40 to v0.0.41. Deprecated."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobRequeueResp(AnswerModel):
    """``openapi_job_requeue_resp``, v0.0.45 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    status: list[JobArrayResponseMsgEntry] | None = None
    """result of job requeue request (Job update results)."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobStateResp(AnswerModel):
    """``openapi_job_state_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    jobs: list[JobStateRow] | None = None
    """One row per job; a pending array task is a row of its own."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobSubmitResponse(AnswerModel):
    """``openapi_job_submit_response``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    job_id: int | None = None
    """submitted Job ID."""

    job_submit_user_msg: str | None = None
    """Job submission user message."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    result: JobSubmitResponseMsg | None = None
    """Job submission. Only v0.0.40 to v0.0.41. Deprecated."""

    step_id: str | None = None
    """submitted Step ID."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobsRequeueQuery(RequestModel):
    """``openapi_jobs_requeue_query``, v0.0.45 and later."""

    flags: list[str] | None = None
    """Requeue flags. One of: Incomplete, Hold, SpecialExit."""

    jobs: list[str] | None = None
    """List of jobs to requeue."""


class OpenapiJobsRequeueResp(AnswerModel):
    """``openapi_jobs_requeue_resp``, v0.0.45 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    status: list[list[JobArrayResponseMsgEntry]] | None = None
    """result of batch job requeue request."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiKillJobResp(AnswerModel):
    """``openapi_kill_job_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    status: list[KillJobsRespJob] | None = None
    """result of signal request (List of jobs signal responses). Only v0.0.42 and later."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiKillJobsResp(AnswerModel):
    """``openapi_kill_jobs_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    status: list[KillJobsRespJob] | None = None
    """result of signal request (List of jobs signal responses)."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiResourceLayoutResp(AnswerModel):
    """``openapi_resource_layout_resp``, v0.0.44 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    nodes: list[NodeResourceLayout] | None = None
    """Node resource layouts."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""
