"""Models of nodes, partitions, reservations, licenses and host lists."""

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
from slurm_rest.api.common import OpenapiError, OpenapiMeta, OpenapiWarning, Tres, TresReq
from slurm_rest.api.values import NoVal

__all__ = [
    "AcctGatherEnergy",
    "License",
    "Node",
    "OpenapiCreateNodeReq",
    "OpenapiHostlistReq",
    "OpenapiHostlistReqResp",
    "OpenapiHostnamesReq",
    "OpenapiHostnamesReqResp",
    "OpenapiLicensesResp",
    "OpenapiNodesResp",
    "OpenapiPartitionResp",
    "OpenapiPartitionsModReq",
    "OpenapiReservationModResp",
    "OpenapiReservationResp",
    "PartitionInfo",
    "PartitionInfoAccounts",
    "PartitionInfoAccountsReq",
    "PartitionInfoCpus",
    "PartitionInfoCpusReq",
    "PartitionInfoDefaults",
    "PartitionInfoDefaultsReq",
    "PartitionInfoGroups",
    "PartitionInfoGroupsReq",
    "PartitionInfoMaximums",
    "PartitionInfoMaximumsOversubscribe",
    "PartitionInfoMaximumsOversubscribeReq",
    "PartitionInfoMaximumsReq",
    "PartitionInfoMinimums",
    "PartitionInfoMinimumsReq",
    "PartitionInfoNodes",
    "PartitionInfoNodesReq",
    "PartitionInfoPartition",
    "PartitionInfoPartitionReq",
    "PartitionInfoPriority",
    "PartitionInfoPriorityReq",
    "PartitionInfoQos",
    "PartitionInfoQosReq",
    "PartitionInfoReq",
    "PartitionInfoTimeouts",
    "PartitionInfoTimeoutsReq",
    "PartitionInfoTres",
    "PartitionInfoTresReq",
    "ReservationCoreSpec",
    "ReservationDescMsg",
    "ReservationDescMsgPurgeCompleted",
    "ReservationDescMsgPurgeCompletedReq",
    "ReservationDescMsgReq",
    "ReservationInfo",
    "ReservationInfoPurgeCompleted",
    "ReservationModReq",
    "UpdateNodeMsg",
]


class AcctGatherEnergy(AnswerModel):
    """``acct_gather_energy``."""

    average_watts: int | None = None
    """Average power consumption, in watts."""

    base_consumed_energy: int | None = None
    """The energy consumed between when the node was powered on and the last time it was registered by slurmd, in
    joules.
    """

    consumed_energy: int | None = None
    """The energy consumed between the last time the node was registered by the slurmd daemon and the last node energy
    accounting sample, in joules.
    """

    current_watts: NoVal = None
    """The instantaneous power consumption at the time of the last node energy accounting sample, in watts."""

    last_collected: int | None = None
    """Time when energy data was last retrieved (UNIX timestamp)."""

    previous_consumed_energy: int | None = None
    """Previous value of consumed_energy."""


class License(AnswerModel):
    """``license``."""

    free: int | None = wire("Free")
    """Number of licenses currently available."""

    last_consumed: int | None = wire("LastConsumed")
    """Last known number of licenses that were consumed in the license manager (Remote Only)."""

    last_deficit: int | None = wire("LastDeficit")
    """Number of "missing licenses" from the cluster's perspective."""

    last_update: int | None = wire("LastUpdate")
    """When the license information was last updated (UNIX Timestamp)."""

    license_name: str | None = wire("LicenseName")
    """Name of the license."""

    nodes: str | None = wire("Nodes")
    """HRes nodes. Only v0.0.44 and later."""

    remote: bool | None = wire("Remote")
    """Indicates whether licenses are served by the database."""

    reserved: int | None = wire("Reserved")
    """Number of licenses reserved."""

    total: int | None = wire("Total")
    """Total number of licenses present."""

    used: int | None = wire("Used")
    """Number of licenses in use."""


class Node(AnswerModel):
    """``node``."""

    active_features: list[str] | None = None
    """Currently active features."""

    address: str | None = None
    """NodeAddr, used to establish a communication path."""

    alloc_cpus: int | None = None
    """Total number of CPUs currently allocated for jobs."""

    alloc_idle_cpus: int | None = None
    """Total number of idle CPUs."""

    alloc_memory: int | None = None
    """Total memory in MB currently allocated for jobs."""

    architecture: str | None = None
    """Computer architecture."""

    boards: int | None = None
    """Number of Baseboards in nodes with a baseboard controller."""

    boot_time: NoVal = None
    """Time when the node booted (UNIX timestamp)."""

    burstbuffer_network_address: str | None = None
    """Alternate network path to be used for sbcast network traffic."""

    cert_flags: list[str] | None = None
    """Certmgr status flags. One of: TOKEN_SET. Only v0.0.43 and later."""

    cluster_name: str | None = None
    """Cluster name (only set in federated environments)."""

    comment: str | None = None
    """Arbitrary comment."""

    cores: int | None = None
    """Number of cores in a single physical processor socket."""

    cpu_binding: int | None = None
    """Default method for binding tasks to allocated CPUs."""

    cpu_load: int | None = None
    """CPU load as reported by the OS."""

    cpus: int | None = None
    """Total CPUs, including cores and threads."""

    effective_cpus: int | None = None
    """Number of effective CPUs (excluding specialized CPUs)."""

    energy: AcctGatherEnergy | None = None
    """Energy usage data."""

    external_sensors: Any = None
    """Only v0.0.40 to v0.0.44. Deprecated."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    features: list[str] | None = None
    """Available features."""

    free_mem: NoVal = None
    """Total memory in MB currently free as reported by the OS."""

    gpu_spec: str | None = None
    """CPU cores reserved for jobs that also use a GPU. Only v0.0.41 and later."""

    gres: str | None = None
    """Generic resources."""

    gres_drained: str | None = None
    """Drained generic resources."""

    gres_used: str | None = None
    """Generic resources currently in use."""

    hostname: str | None = None
    """NodeHostname."""

    instance_id: str | None = None
    """Cloud instance ID."""

    instance_type: str | None = None
    """Cloud instance type."""

    last_busy: NoVal = None
    """Time when the node was last busy (UNIX timestamp)."""

    mcs_label: str | None = None
    """Multi-Category Security label."""

    name: str | None = None
    """NodeName."""

    next_state_after_reboot: list[str] | None = None
    """The state the node will be assigned after rebooting. Words: ``words.NODE_STATES``."""

    operating_system: str | None = None
    """Operating system reported by the node."""

    owner: str | None = None
    """User allowed to run jobs on this node (unset if no restriction)."""

    partitions: list[str] | None = None
    """Partitions containing this node."""

    port: int | None = None
    """TCP port number of the slurmd."""

    power: Any = None
    """Only v0.0.40 to v0.0.44. Deprecated."""

    real_memory: int | None = None
    """Total memory in MB on the node."""

    reason: str | None = None
    """Describes why the node is in a "DOWN", "DRAINED", "DRAINING", "FAILING" or "FAIL" state."""

    reason_changed_at: NoVal = None
    """When the reason changed (UNIX timestamp)."""

    reason_set_by_user: str | None = None
    """User who set the reason."""

    res_cores_per_gpu: int | None = None
    """Number of CPU cores per GPU restricted to GPU jobs. Only v0.0.41 and later."""

    reservation: str | None = None
    """Name of reservation containing this node."""

    resume_after: NoVal = None
    """Number of seconds after the node's state is updated to "DOWN" or "DRAIN" before scheduling a node state resume.
    """

    slurmd_start_time: NoVal = None
    """Time when the slurmd started (UNIX timestamp)."""

    sockets: int | None = None
    """Number of physical processor sockets/chips on the node."""

    specialized_cores: int | None = None
    """Number of cores reserved for system use."""

    specialized_cpus: str | None = None
    """Slurm abstract CPU IDs on this node reserved for exclusive use by slurmd and slurmstepd."""

    specialized_memory: int | None = None
    """Combined memory limit, in MB, for Slurm compute node daemons."""

    state: list[str] | None = None
    """Node state(s) applicable to this node. Words: ``words.NODE_STATES``."""

    suspend_time: NoVal = None
    """Time in idle state before being considered for power save. Only v0.0.45 and later."""

    temporary_disk: int | None = None
    """Total size in MB of temporary disk storage in TmpFS."""

    threads: int | None = None
    """Number of logical threads in a single physical core."""

    tls_cert_last_renewal: NoVal = None
    """Time when TLS certificate was created. Only v0.0.43 and later."""

    topology: str | None = None
    """Topology. Only v0.0.43 and later."""

    tres: str | None = None
    """Configured trackable resources."""

    tres_used: str | None = None
    """Trackable resources currently allocated for jobs."""

    tres_weighted: float | None = None
    """Ignored. Was weighted number of billable trackable resources allocated. Only v0.0.40 to v0.0.44. Deprecated."""

    version: str | None = None
    """Slurmd version."""

    weight: int | None = None
    """Weight of the node for scheduling purposes."""


class OpenapiCreateNodeReq(RequestModel):
    """``openapi_create_node_req``, v0.0.44 and later as a request."""

    node_conf: str | None = None
    """Node configuration line."""


class OpenapiHostlistReq(RequestModel):
    """``openapi_hostlist_req_resp``, v0.0.44 and later as a request."""

    hostlist: str | None = None
    """Hostlist expression string (Hostlist expression string)."""


class OpenapiHostlistReqResp(AnswerModel):
    """``openapi_hostlist_req_resp``, v0.0.44 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    hostlist: str | None = None
    """Hostlist expression string (Hostlist expression string)."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiHostnamesReq(RequestModel):
    """``openapi_hostnames_req_resp``, v0.0.44 and later as a request."""

    hostnames: list[str] | None = None
    """Array of host names."""


class OpenapiHostnamesReqResp(AnswerModel):
    """``openapi_hostnames_req_resp``, v0.0.44 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    hostnames: list[str] | None = None
    """Array of host names."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiLicensesResp(AnswerModel):
    """``openapi_licenses_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    last_update: NoVal = None
    """Time of last licenses change (UNIX timestamp)."""

    licenses: list[License] | None = None
    """List of licenses."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiNodesResp(AnswerModel):
    """``openapi_nodes_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    last_update: NoVal = None
    """Time of last node change (UNIX timestamp)."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    nodes: list[Node] | None = None
    """List of nodes."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class PartitionInfoAccounts(AnswerModel):
    """``partition_info_accounts``."""

    allowed: str | None = None
    """AllowAccounts - Comma-separated list of accounts which may execute jobs in the partition."""

    deny: str | None = None
    """DenyAccounts - Comma-separated list of accounts which may not execute jobs in the partition."""


class PartitionInfoCpus(AnswerModel):
    """``partition_info_cpus``."""

    task_binding: list[str] | int | None = None
    """CpuBind - Default method controlling how tasks are bound to allocated resources."""

    total: int | None = None
    """TotalCPUs - Number of CPUs available in this partition (read-only)."""


class PartitionInfoDefaults(AnswerModel):
    """``partition_info_defaults``."""

    job: str | None = None
    """JobDefaults - Comma-separated list of job default values (this field is only used to set new defaults)."""

    memory_per_cpu: int | None = None
    """Raw value for DefMemPerCPU or DefMemPerNode. Deprecated."""

    partition_memory_per_cpu: NoVal = None
    """DefMemPerCPU - Default real memory size available per allocated CPU in megabytes."""

    partition_memory_per_node: NoVal = None
    """DefMemPerNode - Default real memory size available per allocated node in megabytes."""

    time: NoVal = None
    """DefaultTime - Run time limit in minutes used for jobs that don't specify a value."""


class PartitionInfoGroups(AnswerModel):
    """``partition_info_groups``."""

    allowed: str | None = None
    """AllowGroups - Comma-separated list of group names which may execute jobs in this partition."""


class PartitionInfoMaximumsOversubscribe(AnswerModel):
    """``partition_info_maximums_oversubscribe``."""

    flags: list[str] | None = None
    """Flags applicable to the OverSubscribe setting. One of: force. Deprecated."""

    jobs: int | None = None
    """Maximum number of jobs allowed to oversubscribe resources. Deprecated."""


class PartitionInfoMaximums(AnswerModel):
    """``partition_info_maximums``."""

    cpus_per_node: NoVal = None
    """MaxCPUsPerNode - Maximum number of CPUs on any node available to all jobs from this partition."""

    cpus_per_socket: NoVal = None
    """MaxCPUsPerSocket - Maximum number of CPUs on any node available on the all jobs from this partition."""

    memory_per_cpu: int | None = None
    """Raw value for MaxMemPerCPU or MaxMemPerNode. Deprecated."""

    nodes: NoVal = None
    """MaxNodes - Maximum count of nodes which may be allocated to any single job."""

    over_time_limit: NoVal = None
    """OverTimeLimit - Number of minutes by which a job can exceed its time limit before being canceled."""

    oversubscribe: PartitionInfoMaximumsOversubscribe | None = None

    partition_memory_per_cpu: NoVal = None
    """MaxMemPerCPU - Maximum real memory size available per allocated CPU in megabytes."""

    partition_memory_per_node: NoVal = None
    """MaxMemPerNode - Maximum real memory size available per allocated node in a job allocation in megabytes."""

    shares: int | None = None
    """OverSubscribe - Controls the ability of the partition to execute more than one job at a time on each resource.
    Deprecated.
    """

    time: NoVal = None
    """MaxTime - Maximum run time limit for jobs in minutes."""


class PartitionInfoMinimums(AnswerModel):
    """``partition_info_minimums``."""

    nodes: int | None = None
    """MinNodes - Minimum count of nodes which may be allocated to any single job."""


class PartitionInfoNodes(AnswerModel):
    """``partition_info_nodes``."""

    allowed_allocation: str | None = None
    """AllocNodes - Comma-separated list of nodes from which users can submit jobs in the partition."""

    configured: str | None = None
    """Nodes - Comma-separated list of nodes which are associated with this partition."""

    total: int | None = None
    """TotalNodes - Number of nodes available in this partition (read-only)."""


class PartitionInfoPartition(AnswerModel):
    """``partition_info_partition``."""

    exclusive: str | None = None
    """Exclusive= string (same as scontrol show partition). Only v0.0.45 and later."""

    oversubscribe: str | None = None
    """OverSubscribe display: FORCE:n, NO, or YES:n (same as show partition and sinfo) (Partition oversubscribe value).
    Only v0.0.45 and later.
    """

    state: list[str] | None = None
    """Current state(s). One of: INACTIVE, UNKNOWN, UP, DOWN, DRAIN."""


class PartitionInfoPriority(AnswerModel):
    """``partition_info_priority``."""

    job_factor: int | None = None
    """PriorityJobFactor - Partition factor used by priority/multifactor plugin in calculating job priority."""

    tier: int | None = None
    """PriorityTier - Controls the order in which the scheduler evaluates jobs from different partitions."""


class PartitionInfoQos(AnswerModel):
    """``partition_info_qos``."""

    allowed: str | None = None
    """AllowQOS - Comma-separated list of Qos which may execute jobs in the partition."""

    assigned: str | None = None
    """QOS - QOS name containing limits that will apply to all jobs in this partition."""

    deny: str | None = None
    """DenyQOS - Comma-separated list of Qos which may not execute jobs in the partition."""


class PartitionInfoTimeouts(AnswerModel):
    """``partition_info_timeouts``."""

    resume: NoVal = None
    """ResumeTimeout - Resumed nodes which fail to respond in this time frame will be marked DOWN (read-only; GLOBAL if
    both set and infinite are false).
    """

    suspend: NoVal = None
    """SuspendTimeout - Maximum time permitted (in seconds) between when a node suspend request is issued and when the
    node is shutdown (read-only; GLOBAL if both set and infinite are false).
    """


class PartitionInfoTres(AnswerModel):
    """``partition_info_tres``."""

    billing_weights: str | None = None
    """TRESBillingWeights - Billing weights of each tracked TRES type that will be used in calculating the usage of a
    job.
    """

    configured: str | None = None
    """TRES - Number of each applicable TRES type available in this partition (read-only)."""


class PartitionInfo(AnswerModel):
    """``partition_info``."""

    accounts: PartitionInfoAccounts | None = None

    alternate: str | None = None
    """Alternate - Partition name of alternate partition to be used if the state of this partition is DRAIN or INACTIVE.
    """

    cluster: str | None = None
    """Cluster name (read-only)."""

    cpus: PartitionInfoCpus | None = None

    defaults: PartitionInfoDefaults | None = None

    flags: list[str] | None = None
    """Partition flag options. Words: ``words.PARTITION_INFO_FLAGS``. Only v0.0.45 and later."""

    grace_time: int | None = None
    """GraceTime - Grace time in seconds to be extended to a job which has been selected for preemption."""

    groups: PartitionInfoGroups | None = None

    maximums: PartitionInfoMaximums | None = None

    minimums: PartitionInfoMinimums | None = None

    name: str | None = None
    """PartitionName - Name by which the partition may be referenced."""

    node_sets: str | None = None
    """NodeSets - Comma-separated list of nodesets which are associated with this partition."""

    nodes: PartitionInfoNodes | None = None

    partition: PartitionInfoPartition | None = None

    preempt_mode: list[str] | None = None
    """PreemptMode - Mechanism used to preempt jobs for this partition when PreemptType=preempt/partition_prio is
    configured (the "CLUSTER_GLOBAL" flag will be ignored when updating a partition). One of: CLUSTER_GLOBAL,
    DISABLED, SUSPEND, REQUEUE, CANCEL, PRIORITY. Only v0.0.45 and later.
    """

    priority: PartitionInfoPriority | None = None

    qos: PartitionInfoQos | None = None

    select_type: list[str] | None = None
    """Scheduler consumable resource selection type (read-only). Words: ``words.CR_TYPE``. Only v0.0.41 and later."""

    suspend_time: NoVal = None
    """SuspendTime - Nodes which remain idle or down for this number of seconds will be placed into power save mode
    (read-only; GLOBAL if both set and infinite are false).
    """

    timeouts: PartitionInfoTimeouts | None = None

    topology: str | None = None
    """Topology - Name of the topology, defined in topology.yaml, used by jobs in this partition. Only v0.0.43 and
    later.
    """

    tres: PartitionInfoTres | None = None


class OpenapiPartitionResp(AnswerModel):
    """``openapi_partition_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    last_update: NoVal = None
    """Time of last partition change (UNIX timestamp)."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    partitions: list[PartitionInfo] | None = None
    """List of partitions."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class PartitionInfoAccountsReq(RequestModel):
    """``partition_info_accounts`` as a request."""

    allowed: str | None = None
    """AllowAccounts - Comma-separated list of accounts which may execute jobs in the partition."""

    deny: str | None = None
    """DenyAccounts - Comma-separated list of accounts which may not execute jobs in the partition."""


class PartitionInfoCpusReq(RequestModel):
    """``partition_info_cpus`` as a request."""

    task_binding: list[str] | int | None = None
    """CpuBind - Default method controlling how tasks are bound to allocated resources."""

    total: int | None = None
    """TotalCPUs - Number of CPUs available in this partition (read-only)."""


class PartitionInfoDefaultsReq(RequestModel):
    """``partition_info_defaults`` as a request."""

    job: str | None = None
    """JobDefaults - Comma-separated list of job default values (this field is only used to set new defaults)."""

    memory_per_cpu: int | None = None
    """Raw value for DefMemPerCPU or DefMemPerNode. Deprecated."""

    partition_memory_per_cpu: NoVal = None
    """DefMemPerCPU - Default real memory size available per allocated CPU in megabytes."""

    partition_memory_per_node: NoVal = None
    """DefMemPerNode - Default real memory size available per allocated node in megabytes."""

    time: NoVal = None
    """DefaultTime - Run time limit in minutes used for jobs that don't specify a value."""


class PartitionInfoGroupsReq(RequestModel):
    """``partition_info_groups`` as a request."""

    allowed: str | None = None
    """AllowGroups - Comma-separated list of group names which may execute jobs in this partition."""


class PartitionInfoMaximumsOversubscribeReq(RequestModel):
    """``partition_info_maximums_oversubscribe`` as a request."""

    flags: list[str] | None = None
    """Flags applicable to the OverSubscribe setting. One of: force. Deprecated."""

    jobs: int | None = None
    """Maximum number of jobs allowed to oversubscribe resources. Deprecated."""


class PartitionInfoMaximumsReq(RequestModel):
    """``partition_info_maximums`` as a request."""

    cpus_per_node: NoVal = None
    """MaxCPUsPerNode - Maximum number of CPUs on any node available to all jobs from this partition."""

    cpus_per_socket: NoVal = None
    """MaxCPUsPerSocket - Maximum number of CPUs on any node available on the all jobs from this partition."""

    memory_per_cpu: int | None = None
    """Raw value for MaxMemPerCPU or MaxMemPerNode. Deprecated."""

    nodes: NoVal = None
    """MaxNodes - Maximum count of nodes which may be allocated to any single job."""

    over_time_limit: NoVal = None
    """OverTimeLimit - Number of minutes by which a job can exceed its time limit before being canceled."""

    oversubscribe: PartitionInfoMaximumsOversubscribeReq | None = None

    partition_memory_per_cpu: NoVal = None
    """MaxMemPerCPU - Maximum real memory size available per allocated CPU in megabytes."""

    partition_memory_per_node: NoVal = None
    """MaxMemPerNode - Maximum real memory size available per allocated node in a job allocation in megabytes."""

    shares: int | None = None
    """OverSubscribe - Controls the ability of the partition to execute more than one job at a time on each resource.
    Deprecated.
    """

    time: NoVal = None
    """MaxTime - Maximum run time limit for jobs in minutes."""


class PartitionInfoMinimumsReq(RequestModel):
    """``partition_info_minimums`` as a request."""

    nodes: int | None = None
    """MinNodes - Minimum count of nodes which may be allocated to any single job."""


class PartitionInfoNodesReq(RequestModel):
    """``partition_info_nodes`` as a request."""

    allowed_allocation: str | None = None
    """AllocNodes - Comma-separated list of nodes from which users can submit jobs in the partition."""

    configured: str | None = None
    """Nodes - Comma-separated list of nodes which are associated with this partition."""

    total: int | None = None
    """TotalNodes - Number of nodes available in this partition (read-only)."""


class PartitionInfoPartitionReq(RequestModel):
    """``partition_info_partition`` as a request."""

    exclusive: str | None = None
    """Exclusive= string (same as scontrol show partition). Only v0.0.45 and later."""

    oversubscribe: str | None = None
    """OverSubscribe display: FORCE:n, NO, or YES:n (same as show partition and sinfo) (Partition oversubscribe value).
    Only v0.0.45 and later.
    """

    state: list[str] | None = None
    """Current state(s). One of: INACTIVE, UNKNOWN, UP, DOWN, DRAIN."""


class PartitionInfoPriorityReq(RequestModel):
    """``partition_info_priority`` as a request."""

    job_factor: int | None = None
    """PriorityJobFactor - Partition factor used by priority/multifactor plugin in calculating job priority."""

    tier: int | None = None
    """PriorityTier - Controls the order in which the scheduler evaluates jobs from different partitions."""


class PartitionInfoQosReq(RequestModel):
    """``partition_info_qos`` as a request."""

    allowed: str | None = None
    """AllowQOS - Comma-separated list of Qos which may execute jobs in the partition."""

    assigned: str | None = None
    """QOS - QOS name containing limits that will apply to all jobs in this partition."""

    deny: str | None = None
    """DenyQOS - Comma-separated list of Qos which may not execute jobs in the partition."""


class PartitionInfoTimeoutsReq(RequestModel):
    """``partition_info_timeouts`` as a request."""

    resume: NoVal = None
    """ResumeTimeout - Resumed nodes which fail to respond in this time frame will be marked DOWN (read-only; GLOBAL if
    both set and infinite are false).
    """

    suspend: NoVal = None
    """SuspendTimeout - Maximum time permitted (in seconds) between when a node suspend request is issued and when the
    node is shutdown (read-only; GLOBAL if both set and infinite are false).
    """


class PartitionInfoTresReq(RequestModel):
    """``partition_info_tres`` as a request."""

    billing_weights: str | None = None
    """TRESBillingWeights - Billing weights of each tracked TRES type that will be used in calculating the usage of a
    job.
    """

    configured: str | None = None
    """TRES - Number of each applicable TRES type available in this partition (read-only)."""


class PartitionInfoReq(RequestModel):
    """``partition_info`` as a request."""

    accounts: PartitionInfoAccountsReq | None = None

    alternate: str | None = None
    """Alternate - Partition name of alternate partition to be used if the state of this partition is DRAIN or INACTIVE.
    """

    cluster: str | None = None
    """Cluster name (read-only)."""

    cpus: PartitionInfoCpusReq | None = None

    defaults: PartitionInfoDefaultsReq | None = None

    flags: list[str] | None = None
    """Partition flag options. Words: ``words.PARTITION_INFO_FLAGS``. Only v0.0.45 and later."""

    grace_time: int | None = None
    """GraceTime - Grace time in seconds to be extended to a job which has been selected for preemption."""

    groups: PartitionInfoGroupsReq | None = None

    maximums: PartitionInfoMaximumsReq | None = None

    minimums: PartitionInfoMinimumsReq | None = None

    name: str | None = None
    """PartitionName - Name by which the partition may be referenced."""

    node_sets: str | None = None
    """NodeSets - Comma-separated list of nodesets which are associated with this partition."""

    nodes: PartitionInfoNodesReq | None = None

    partition: PartitionInfoPartitionReq | None = None

    preempt_mode: list[str] | None = None
    """PreemptMode - Mechanism used to preempt jobs for this partition when PreemptType=preempt/partition_prio is
    configured (the "CLUSTER_GLOBAL" flag will be ignored when updating a partition). One of: CLUSTER_GLOBAL,
    DISABLED, SUSPEND, REQUEUE, CANCEL, PRIORITY. Only v0.0.45 and later.
    """

    priority: PartitionInfoPriorityReq | None = None

    qos: PartitionInfoQosReq | None = None

    select_type: list[str] | None = None
    """Scheduler consumable resource selection type (read-only). Words: ``words.CR_TYPE``. Only v0.0.41 and later."""

    suspend_time: NoVal = None
    """SuspendTime - Nodes which remain idle or down for this number of seconds will be placed into power save mode
    (read-only; GLOBAL if both set and infinite are false).
    """

    timeouts: PartitionInfoTimeoutsReq | None = None

    topology: str | None = None
    """Topology - Name of the topology, defined in topology.yaml, used by jobs in this partition. Only v0.0.43 and
    later.
    """

    tres: PartitionInfoTresReq | None = None


class OpenapiPartitionsModReq(RequestModel):
    """``openapi_partitions_mod_req``, v0.0.45 and later as a request."""

    partitions: list[PartitionInfoReq] | None = None
    """list of partition descriptions."""


class ReservationDescMsgPurgeCompleted(AnswerModel):
    """``reservation_desc_msg_purge_completed``, v0.0.43 and later."""

    time: NoVal = None
    """If PURGE_COMP flag is set, the number of seconds this reservation will sit idle until it is revoked."""


class ReservationDescMsg(AnswerModel):
    """``reservation_desc_msg``, v0.0.43 and later."""

    accounts: list[str] | None = None
    """List of permitted accounts."""

    burst_buffer: str | None = None
    """BurstBuffer."""

    comment: str | None = None
    """Arbitrary string."""

    core_count: NoVal = None
    """Number of cores to reserve."""

    duration: NoVal = None
    """The length of a reservation in minutes."""

    end_time: NoVal = None
    """EndTime (UNIX timestamp)."""

    features: str | None = None
    """Requested node features. Multiple values may be "&" separated if all features are required (AND operation) or
    separated by "|" if any of the specified features are required (OR operation). Parenthesis are also supported for
    features to be ANDed together with counts of nodes having the specified features.
    """

    flags: list[str] | None = None
    """Flags associated with this reservation. Note, to remove flags use "NO_" prefixed flag excluding
    NO_HOLD_JOBS_AFTER_END. Words: ``words.RESERVATION_DESC_MSG_FLAGS``.
    """

    groups: list[str] | None = None
    """List of groups permitted to use the reservation. This is mutually exclusive with users."""

    licenses: list[str] | None = None
    """List of license names."""

    max_start_delay: NoVal = None
    """MaxStartDelay in seconds."""

    name: str | None = None
    """ReservationName."""

    node_count: NoVal = None
    """NodeCnt."""

    node_list: list[str] | None = None
    """The nodes to be reserved. Multiple node names may be specified using simple node range expressions."""

    partition: str | None = None
    """Partition used to reserve nodes from. This will attempt to allocate all nodes in the specified partition unless
    you request fewer resources than are available with core_cnt, node_cnt or tres.
    """

    purge_completed: ReservationDescMsgPurgeCompleted | None = None

    start_time: NoVal = None
    """StartTime (UNIX timestamp)."""

    tres: list[Tres] | None = None
    """List of trackable resources."""

    users: list[str] | None = None
    """List of permitted users."""


class OpenapiReservationModResp(AnswerModel):
    """``openapi_reservation_mod_resp``, v0.0.43 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    reservations: list[ReservationDescMsg] | None = None
    """Reservation descriptions."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class ReservationCoreSpec(AnswerModel):
    """``reservation_core_spec``."""

    core: str | None = None
    """IDs of reserved cores."""

    node: str | None = None
    """Name of reserved node."""


class ReservationInfoPurgeCompleted(AnswerModel):
    """``reservation_info_purge_completed``."""

    time: NoVal = None
    """If PURGE_COMP flag is set, the number of seconds this reservation will sit idle until it is revoked."""


class ReservationInfo(AnswerModel):
    """``reservation_info``."""

    accounts: str | None = None
    """Comma-separated list of permitted accounts."""

    burst_buffer: str | None = None
    """BurstBuffer - Burst buffer resources reserved."""

    core_count: int | None = None
    """CoreCnt - Number of cores reserved."""

    core_specializations: list[ReservationCoreSpec] | None = None
    """Reserved cores specification."""

    end_time: NoVal = None
    """EndTime (UNIX timestamp)."""

    features: str | None = None
    """Features - Expression describing the reservation's required node features."""

    flags: list[str] | None = None
    """Flags associated with this reservation. Words: ``words.RESERVATION_FLAGS``."""

    groups: str | None = None
    """Groups - Comma-separated list of permitted groups."""

    licenses: str | None = None
    """Licenses - Comma-separated list of licenses reserved."""

    max_start_delay: int | None = None
    """MaxStartDelay - Maximum time an eligible job not requesting this reservation can delay a job requesting it in
    seconds.
    """

    name: str | None = None
    """ReservationName - Name of the reservation."""

    node_count: int | None = None
    """NodeCnt - Number of nodes reserved."""

    node_list: str | None = None
    """Nodes - Comma-separated list of node names and/or node ranges reserved."""

    partition: str | None = None
    """PartitionName - Partition used to reserve nodes from."""

    purge_completed: ReservationInfoPurgeCompleted | None = None

    start_time: NoVal = None
    """StartTime (UNIX timestamp)."""

    tres: str | None = None
    """Comma-separated list of required TRES."""

    users: str | None = None
    """Comma-separated list of permitted users."""

    watts: NoVal = None
    """32 bit integer number with flags. Only v0.0.40 to v0.0.44. Deprecated."""


class OpenapiReservationResp(AnswerModel):
    """``openapi_reservation_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    last_update: NoVal = None
    """Time of last reservation change (UNIX timestamp)."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    reservations: list[ReservationInfo] | None = None
    """List of reservations."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class ReservationDescMsgPurgeCompletedReq(RequestModel):
    """``reservation_desc_msg_purge_completed``, v0.0.43 and later as a request."""

    time: NoVal = None
    """If PURGE_COMP flag is set, the number of seconds this reservation will sit idle until it is revoked."""


class ReservationDescMsgReq(RequestModel):
    """``reservation_desc_msg``, v0.0.43 and later as a request."""

    accounts: list[str] | None = None
    """List of permitted accounts."""

    burst_buffer: str | None = None
    """BurstBuffer."""

    comment: str | None = None
    """Arbitrary string."""

    core_count: NoVal = None
    """Number of cores to reserve."""

    duration: NoVal = None
    """The length of a reservation in minutes."""

    end_time: NoVal = None
    """EndTime (UNIX timestamp)."""

    features: str | None = None
    """Requested node features. Multiple values may be "&" separated if all features are required (AND operation) or
    separated by "|" if any of the specified features are required (OR operation). Parenthesis are also supported for
    features to be ANDed together with counts of nodes having the specified features.
    """

    flags: list[str] | None = None
    """Flags associated with this reservation. Note, to remove flags use "NO_" prefixed flag excluding
    NO_HOLD_JOBS_AFTER_END. Words: ``words.RESERVATION_DESC_MSG_FLAGS``.
    """

    groups: list[str] | None = None
    """List of groups permitted to use the reservation. This is mutually exclusive with users."""

    licenses: list[str] | None = None
    """List of license names."""

    max_start_delay: NoVal = None
    """MaxStartDelay in seconds."""

    name: str | None = None
    """ReservationName."""

    node_count: NoVal = None
    """NodeCnt."""

    node_list: list[str] | None = None
    """The nodes to be reserved. Multiple node names may be specified using simple node range expressions."""

    partition: str | None = None
    """Partition used to reserve nodes from. This will attempt to allocate all nodes in the specified partition unless
    you request fewer resources than are available with core_cnt, node_cnt or tres.
    """

    purge_completed: ReservationDescMsgPurgeCompletedReq | None = None

    start_time: NoVal = None
    """StartTime (UNIX timestamp)."""

    tres: list[TresReq] | None = None
    """List of trackable resources."""

    users: list[str] | None = None
    """List of permitted users."""


class ReservationModReq(RequestModel):
    """``reservation_mod_req``, v0.0.43 and later as a request."""

    reservations: list[ReservationDescMsgReq] | None = None
    """Array of reservation descriptions."""


class UpdateNodeMsg(RequestModel):
    """``update_node_msg``."""

    address: list[str] | None = None
    """NodeAddr, used to establish a communication path."""

    comment: str | None = None
    """Arbitrary comment."""

    cpu_bind: int | None = None
    """Default method for binding tasks to allocated CPUs."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    features: list[str] | None = None
    """Available features."""

    features_act: list[str] | None = None
    """Currently active features."""

    gres: str | None = None
    """Generic resources."""

    hostname: list[str] | None = None
    """NodeHostname."""

    name: list[str] | None = None
    """NodeName."""

    reason: str | None = None
    """Reason for node being DOWN or DRAINING."""

    reason_uid: str | None = None
    """User ID to associate with the reason (needed if user root is sending message). Deprecated."""

    resume_after: NoVal = None
    """Number of seconds after which to automatically resume DOWN or DRAINED node."""

    state: list[str] | None = None
    """New state to assign to the node. Words: ``words.NODE_STATES``."""

    topology_str: str | None = None
    """Topology. Only v0.0.43 and later."""

    weight: NoVal = None
    """Weight of the node for scheduling purposes."""
