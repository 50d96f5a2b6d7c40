"""Models of slurmdbd: finished jobs, users, accounts, associations, QOS, clusters, TRES; and shares."""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

from slurm_rest.api._model import AnswerModel, RequestModel, wire
from slurm_rest.api.common import OpenapiError, OpenapiMeta, OpenapiWarning, ProcessExitCodeVerbose, Tres, TresReq
from slurm_rest.api.values import NoVal, NoValFloat

__all__ = [
    "Account",
    "AccountReq",
    "AccountShort",
    "Accounting",
    "AccountingAllocated",
    "AccountingAllocatedReq",
    "AccountingReq",
    "AccountsAddCond",
    "Assoc",
    "AssocDefault",
    "AssocDefaultReq",
    "AssocMax",
    "AssocMaxJobs",
    "AssocMaxJobsPer",
    "AssocMaxJobsPerReq",
    "AssocMaxJobsReq",
    "AssocMaxPer",
    "AssocMaxPerAccount",
    "AssocMaxPerAccountReq",
    "AssocMaxPerReq",
    "AssocMaxReq",
    "AssocMaxTres",
    "AssocMaxTresGroup",
    "AssocMaxTresGroupReq",
    "AssocMaxTresMinutes",
    "AssocMaxTresMinutesPer",
    "AssocMaxTresMinutesPerReq",
    "AssocMaxTresMinutesReq",
    "AssocMaxTresPer",
    "AssocMaxTresPerReq",
    "AssocMaxTresReq",
    "AssocMin",
    "AssocMinReq",
    "AssocRecSet",
    "AssocReq",
    "AssocSharesObjWrap",
    "AssocSharesObjWrapFairshare",
    "AssocSharesObjWrapTres",
    "AssocShort",
    "AssocShortReq",
    "ClusterRec",
    "ClusterRecAssociations",
    "ClusterRecAssociationsReq",
    "ClusterRecController",
    "ClusterRecControllerReq",
    "ClusterRecReq",
    "Coord",
    "CoordReq",
    "Instance",
    "InstanceReq",
    "InstanceTime",
    "InstanceTimeReq",
    "Job",
    "JobArray",
    "JobArrayLimits",
    "JobArrayLimitsMax",
    "JobArrayLimitsMaxRunning",
    "JobComment",
    "JobHet",
    "JobMcs",
    "JobModify",
    "JobModifyComment",
    "JobModifyTres",
    "JobRequired",
    "JobReservation",
    "JobState",
    "JobTime",
    "JobTimeSystem",
    "JobTimeTotal",
    "JobTimeUser",
    "JobTres",
    "OpenapiAccountsAddCondResp",
    "OpenapiAccountsAddCondRespStr",
    "OpenapiAccountsRemovedResp",
    "OpenapiAccountsReq",
    "OpenapiAccountsResp",
    "OpenapiAssocsRemovedResp",
    "OpenapiAssocsReq",
    "OpenapiAssocsResp",
    "OpenapiClustersRemovedResp",
    "OpenapiClustersReq",
    "OpenapiClustersResp",
    "OpenapiInstancesResp",
    "OpenapiJobModifyReq",
    "OpenapiJobModifyResp",
    "OpenapiSharesResp",
    "OpenapiSlurmdbdConfigReq",
    "OpenapiSlurmdbdConfigResp",
    "OpenapiSlurmdbdJobsResp",
    "OpenapiSlurmdbdQosRemovedResp",
    "OpenapiSlurmdbdQosReq",
    "OpenapiSlurmdbdQosResp",
    "OpenapiTresReq",
    "OpenapiTresResp",
    "OpenapiUsersAddCondResp",
    "OpenapiUsersAddCondRespStr",
    "OpenapiUsersReq",
    "OpenapiUsersResp",
    "OpenapiWckeyRemovedResp",
    "OpenapiWckeyReq",
    "OpenapiWckeyResp",
    "ProcessExitCodeVerboseReq",
    "ProcessExitCodeVerboseSignalReq",
    "Qos",
    "QosLimits",
    "QosLimitsMax",
    "QosLimitsMaxAccruing",
    "QosLimitsMaxAccruingPer",
    "QosLimitsMaxAccruingPerReq",
    "QosLimitsMaxAccruingReq",
    "QosLimitsMaxActiveJobs",
    "QosLimitsMaxActiveJobsReq",
    "QosLimitsMaxJobs",
    "QosLimitsMaxJobsActiveJobs",
    "QosLimitsMaxJobsActiveJobsPer",
    "QosLimitsMaxJobsActiveJobsPerReq",
    "QosLimitsMaxJobsActiveJobsReq",
    "QosLimitsMaxJobsPer",
    "QosLimitsMaxJobsPerReq",
    "QosLimitsMaxJobsReq",
    "QosLimitsMaxReq",
    "QosLimitsMaxTres",
    "QosLimitsMaxTresMinutes",
    "QosLimitsMaxTresMinutesPer",
    "QosLimitsMaxTresMinutesPerReq",
    "QosLimitsMaxTresMinutesReq",
    "QosLimitsMaxTresPer",
    "QosLimitsMaxTresPerReq",
    "QosLimitsMaxTresReq",
    "QosLimitsMaxWallClock",
    "QosLimitsMaxWallClockPer",
    "QosLimitsMaxWallClockPerReq",
    "QosLimitsMaxWallClockReq",
    "QosLimitsMin",
    "QosLimitsMinReq",
    "QosLimitsMinTres",
    "QosLimitsMinTresPer",
    "QosLimitsMinTresPerReq",
    "QosLimitsMinTresReq",
    "QosLimitsReq",
    "QosPreempt",
    "QosPreemptReq",
    "QosReq",
    "SharesFloat128Tres",
    "SharesRespMsg",
    "SharesUint64Tres",
    "Step",
    "StepCpu",
    "StepCpuRequestedFrequency",
    "StepNodes",
    "StepStatistics",
    "StepStatisticsCpu",
    "StepStatisticsEnergy",
    "StepStep",
    "StepTask",
    "StepTasks",
    "StepTime",
    "StepTimeSystem",
    "StepTimeTotal",
    "StepTimeUser",
    "StepTres",
    "StepTresConsumed",
    "StepTresRequested",
    "User",
    "UserDefault",
    "UserDefaultReq",
    "UserReq",
    "UserShort",
    "UsersAddCond",
    "Wckey",
    "WckeyReq",
    "WckeyTagStruct",
]


class AssocShort(AnswerModel):
    """``assoc_short``."""

    account: str | None = None
    """Account name."""

    cluster: str | None = None
    """Cluster name."""

    id: int | None = None
    """Numeric association ID."""

    partition: str | None = None
    """Partition name."""

    user: str | None = None
    """User name."""


class Coord(AnswerModel):
    """``coord``."""

    direct: bool | None = None
    """Indicates whether the coordinator was directly assigned to this account."""

    name: str | None = None
    """User name."""


class Account(AnswerModel):
    """``account``."""

    associations: list[AssocShort] | None = None
    """Associations involving this account (only populated if requested)."""

    coordinators: list[Coord] | None = None
    """List of users that are a coordinator of this account (only populated if requested)."""

    description: str | None = None
    """Arbitrary string describing the account."""

    flags: list[str] | None = None
    """Flags associated with this account. One of: DELETED, WithAssociations, WithCoordinators, NoUsersAreCoords,
    UsersAreCoords.
    """

    name: str | None = None
    """Account name."""

    organization: str | None = None
    """Organization to which the account belongs."""


class AssocShortReq(RequestModel):
    """``assoc_short`` as a request."""

    account: str | None = None
    """Account name."""

    cluster: str | None = None
    """Cluster name."""

    id: int | None = None
    """Numeric association ID."""

    partition: str | None = None
    """Partition name."""

    user: str | None = None
    """User name."""


class CoordReq(RequestModel):
    """``coord`` as a request."""

    direct: bool | None = None
    """Indicates whether the coordinator was directly assigned to this account."""

    name: str | None = None
    """User name."""


class AccountReq(RequestModel):
    """``account`` as a request."""

    associations: list[AssocShortReq] | None = None
    """Associations involving this account (only populated if requested)."""

    coordinators: list[CoordReq] | None = None
    """List of users that are a coordinator of this account (only populated if requested)."""

    description: str | None = None
    """Arbitrary string describing the account."""

    flags: list[str] | None = None
    """Flags associated with this account. One of: DELETED, WithAssociations, WithCoordinators, NoUsersAreCoords,
    UsersAreCoords.
    """

    name: str | None = None
    """Account name."""

    organization: str | None = None
    """Organization to which the account belongs."""


class AccountShort(RequestModel):
    """``account_short``."""

    description: str | None = None
    """Arbitrary string describing the account."""

    organization: str | None = None
    """Organization to which the account belongs."""


class AccountingAllocated(AnswerModel):
    """``accounting_allocated``."""

    seconds: int | None = None
    """Number of seconds allocated."""


class Accounting(AnswerModel):
    """``accounting``."""

    allocated: AccountingAllocated | None = None

    id: int | None = None
    """Association ID or Workload characterization key ID."""

    id_alt: int | None = None
    """Alternate ID (not currently used). Only v0.0.42 and later."""

    start: int | None = None
    """When the record was started (UNIX timestamp)."""

    tres: Tres | None = wire("TRES")
    """Trackable resources."""


class AccountingAllocatedReq(RequestModel):
    """``accounting_allocated`` as a request."""

    seconds: int | None = None
    """Number of seconds allocated."""


class AccountingReq(RequestModel):
    """``accounting`` as a request."""

    allocated: AccountingAllocatedReq | None = None

    id: int | None = None
    """Association ID or Workload characterization key ID."""

    id_alt: int | None = None
    """Alternate ID (not currently used). Only v0.0.42 and later."""

    start: int | None = None
    """When the record was started (UNIX timestamp)."""

    tres: TresReq | None = wire("TRES")
    """Trackable resources."""


class AssocRecSet(RequestModel):
    """``assoc_rec_set``."""

    comment: str | None = None
    """Arbitrary comment."""

    defaultqos: str | None = None
    """Default QOS."""

    fairshare: int | None = None
    """Allocated shares used for fairshare calculation."""

    grpjobs: NoVal = None
    """GrpJobs - Maximum number of running jobs in this association and its children."""

    grpjobsaccrue: NoVal = None
    """GrpJobsAccrue - Maximum number of pending jobs able to accrue age priority in this association and its children.
    """

    grpsubmitjobs: NoVal = None
    """GrpSubmitJobs - Maximum number of jobs in a pending or running state at any time in this association and its
    children.
    """

    grptres: list[TresReq] | None = None
    """GrpTRES - Maximum number of TRES able to be allocated by running jobs in this association and its children."""

    grptresmins: list[TresReq] | None = None
    """GrpTRESMins - Maximum number of TRES minutes that can possibly be used by past, present, and future jobs in this
    association and its children.
    """

    grptresrunmins: list[TresReq] | None = None
    """GrpTRESRunMins - Maximum number of TRES minutes able to be allocated by running jobs in this association and its
    children.
    """

    grpwall: NoVal = None
    """GrpWall - Maximum wall clock time in minutes able to be allocated by running jobs in this association and its
    children.
    """

    maxjobs: NoVal = None
    """MaxJobs - Maximum number of running jobs per user in this association."""

    maxjobsaccrue: NoVal = None
    """MaxJobsAccrue - Maximum number of pending jobs able to accrue age priority at any given time in this association.
    """

    maxsubmitjobs: NoVal = None
    """MaxSubmitJobs - Maximum number of jobs in a pending or running state at any time in this association."""

    maxtresminsperjob: list[TresReq] | None = None
    """MaxTRESMinsPerJob - Maximum number of TRES minutes each job can use in this association."""

    maxtresperjob: list[TresReq] | None = None
    """MaxTRESPerJob - Maximum number of TRES each job can use in this association."""

    maxtrespernode: list[TresReq] | None = None
    """MaxTRESPerNode - Maximum number of TRES each node in a job allocation can use in this association."""

    maxtresrunmins: list[TresReq] | None = None
    """Not implemented."""

    maxwalldurationperjob: NoVal = None
    """MaxWallDurationPerJob - Maximum wall clock time in minutes each job can use in this association."""

    minpriothresh: NoVal = None
    """MinPrioThreshold - Minimum priority required to reserve resources when scheduling."""

    parent: str | None = None
    """Name of parent account."""

    priority: NoVal = None
    """Association priority factor."""

    qoslevel: list[str] | None = None
    """List of available QOS names (List of QOS names)."""


class AccountsAddCond(RequestModel):
    """``accounts_add_cond``."""

    accounts: list[str] | None = None
    """CSV accounts list."""

    association: AssocRecSet | None = None
    """Association limits and options."""

    clusters: list[str] | None = None
    """CSV clusters list."""


class AssocDefault(AnswerModel):
    """``assoc_default``."""

    qos: str | None = None
    """Default QOS."""


class AssocMaxJobsPer(AnswerModel):
    """``assoc_max_jobs_per``."""

    accruing: NoVal = None
    """GrpJobsAccrue - Maximum number of pending jobs able to accrue age priority in this association and its children.
    """

    count: NoVal = None
    """GrpJobs - Maximum number of running jobs in this association and its children."""

    submitted: NoVal = None
    """GrpSubmitJobs - Maximum number of jobs in a pending or running state at any time in this association and its
    children.
    """

    wall_clock: NoVal = None
    """MaxWallDurationPerJob - Maximum wall clock time in minutes each job can use in this association."""


class AssocMaxJobs(AnswerModel):
    """``assoc_max_jobs``."""

    accruing: NoVal = None
    """MaxJobsAccrue - Maximum number of pending jobs able to accrue age priority at any given time in this association.
    """

    active: NoVal = None
    """MaxJobs - Maximum number of running jobs per user in this association."""

    per: AssocMaxJobsPer | None = None

    total: NoVal = None
    """MaxSubmitJobs - Maximum number of jobs in a pending or running state at any time in this association."""


class AssocMaxPerAccount(AnswerModel):
    """``assoc_max_per_account``."""

    wall_clock: NoVal = None
    """GrpWall - Maximum wall clock time in minutes able to be allocated by running jobs in this association and its
    children.
    """


class AssocMaxPer(AnswerModel):
    """``assoc_max_per``."""

    account: AssocMaxPerAccount | None = None


class AssocMaxTresGroup(AnswerModel):
    """``assoc_max_tres_group``."""

    active: list[Tres] | None = None
    """GrpTRESRunMins - Maximum number of TRES minutes able to be allocated by running jobs in this association and its
    children.
    """

    minutes: list[Tres] | None = None
    """GrpTRESMins - Maximum number of TRES minutes that can possibly be used by past, present, and future jobs in this
    association and its children.
    """


class AssocMaxTresMinutesPer(AnswerModel):
    """``assoc_max_tres_minutes_per``."""

    job: list[Tres] | None = None
    """MaxTRESMinsPerJob - Maximum number of TRES minutes each job can use in this association."""


class AssocMaxTresMinutes(AnswerModel):
    """``assoc_max_tres_minutes``."""

    per: AssocMaxTresMinutesPer | None = None

    total: list[Tres] | None = None
    """Not implemented."""


class AssocMaxTresPer(AnswerModel):
    """``assoc_max_tres_per``."""

    job: list[Tres] | None = None
    """MaxTRESPerJob - Maximum number of TRES each job can use in this association."""

    node: list[Tres] | None = None
    """MaxTRESPerNode - Maximum number of TRES each node in a job allocation can use in this association."""


class AssocMaxTres(AnswerModel):
    """``assoc_max_tres``."""

    group: AssocMaxTresGroup | None = None

    minutes: AssocMaxTresMinutes | None = None

    per: AssocMaxTresPer | None = None

    total: list[Tres] | None = None
    """GrpTRES - Maximum number of TRES able to be allocated by running jobs in this association and its children."""


class AssocMax(AnswerModel):
    """``assoc_max``."""

    jobs: AssocMaxJobs | None = None

    per: AssocMaxPer | None = None

    tres: AssocMaxTres | None = None


class AssocMin(AnswerModel):
    """``assoc_min``."""

    priority_threshold: NoVal = None
    """MinPrioThreshold - Minimum priority required to reserve resources when scheduling."""


class Assoc(AnswerModel):
    """``assoc``."""

    account: str | None = None
    """Account name."""

    accounting: list[Accounting] | None = None
    """Accounting records containing related resource usage."""

    cluster: str | None = None
    """Cluster name."""

    comment: str | None = None
    """Arbitrary comment."""

    default: AssocDefault | None = None

    flags: list[str] | None = None
    """Flags on the association. One of: DELETED, NoUpdate, Exact, NoUsersAreCoords, UsersAreCoords."""

    id: int | AssocShort | None = None
    """Unique ID (Association ID)."""

    is_default: bool | None = None
    """Is default association for user."""

    lineage: str | None = None
    """Complete path up the hierarchy to the root association."""

    max: AssocMax | None = None

    min: AssocMin | None = None

    parent_account: str | None = None
    """Name of parent account."""

    partition: str | None = None
    """Partition name."""

    priority: NoVal = None
    """Association priority factor."""

    qos: list[str] | None = None
    """List of available QOS names (List of QOS names)."""

    shares_raw: int | None = None
    """Allocated shares used for fairshare calculation."""

    user: str | None = None
    """User name."""


class AssocDefaultReq(RequestModel):
    """``assoc_default`` as a request."""

    qos: str | None = None
    """Default QOS."""


class AssocMaxJobsPerReq(RequestModel):
    """``assoc_max_jobs_per`` as a request."""

    accruing: NoVal = None
    """GrpJobsAccrue - Maximum number of pending jobs able to accrue age priority in this association and its children.
    """

    count: NoVal = None
    """GrpJobs - Maximum number of running jobs in this association and its children."""

    submitted: NoVal = None
    """GrpSubmitJobs - Maximum number of jobs in a pending or running state at any time in this association and its
    children.
    """

    wall_clock: NoVal = None
    """MaxWallDurationPerJob - Maximum wall clock time in minutes each job can use in this association."""


class AssocMaxJobsReq(RequestModel):
    """``assoc_max_jobs`` as a request."""

    accruing: NoVal = None
    """MaxJobsAccrue - Maximum number of pending jobs able to accrue age priority at any given time in this association.
    """

    active: NoVal = None
    """MaxJobs - Maximum number of running jobs per user in this association."""

    per: AssocMaxJobsPerReq | None = None

    total: NoVal = None
    """MaxSubmitJobs - Maximum number of jobs in a pending or running state at any time in this association."""


class AssocMaxPerAccountReq(RequestModel):
    """``assoc_max_per_account`` as a request."""

    wall_clock: NoVal = None
    """GrpWall - Maximum wall clock time in minutes able to be allocated by running jobs in this association and its
    children.
    """


class AssocMaxPerReq(RequestModel):
    """``assoc_max_per`` as a request."""

    account: AssocMaxPerAccountReq | None = None


class AssocMaxTresGroupReq(RequestModel):
    """``assoc_max_tres_group`` as a request."""

    active: list[TresReq] | None = None
    """GrpTRESRunMins - Maximum number of TRES minutes able to be allocated by running jobs in this association and its
    children.
    """

    minutes: list[TresReq] | None = None
    """GrpTRESMins - Maximum number of TRES minutes that can possibly be used by past, present, and future jobs in this
    association and its children.
    """


class AssocMaxTresMinutesPerReq(RequestModel):
    """``assoc_max_tres_minutes_per`` as a request."""

    job: list[TresReq] | None = None
    """MaxTRESMinsPerJob - Maximum number of TRES minutes each job can use in this association."""


class AssocMaxTresMinutesReq(RequestModel):
    """``assoc_max_tres_minutes`` as a request."""

    per: AssocMaxTresMinutesPerReq | None = None

    total: list[TresReq] | None = None
    """Not implemented."""


class AssocMaxTresPerReq(RequestModel):
    """``assoc_max_tres_per`` as a request."""

    job: list[TresReq] | None = None
    """MaxTRESPerJob - Maximum number of TRES each job can use in this association."""

    node: list[TresReq] | None = None
    """MaxTRESPerNode - Maximum number of TRES each node in a job allocation can use in this association."""


class AssocMaxTresReq(RequestModel):
    """``assoc_max_tres`` as a request."""

    group: AssocMaxTresGroupReq | None = None

    minutes: AssocMaxTresMinutesReq | None = None

    per: AssocMaxTresPerReq | None = None

    total: list[TresReq] | None = None
    """GrpTRES - Maximum number of TRES able to be allocated by running jobs in this association and its children."""


class AssocMaxReq(RequestModel):
    """``assoc_max`` as a request."""

    jobs: AssocMaxJobsReq | None = None

    per: AssocMaxPerReq | None = None

    tres: AssocMaxTresReq | None = None


class AssocMinReq(RequestModel):
    """``assoc_min`` as a request."""

    priority_threshold: NoVal = None
    """MinPrioThreshold - Minimum priority required to reserve resources when scheduling."""


class AssocReq(RequestModel):
    """``assoc`` as a request."""

    account: str | None = None
    """Account name."""

    accounting: list[AccountingReq] | None = None
    """Accounting records containing related resource usage."""

    cluster: str | None = None
    """Cluster name."""

    comment: str | None = None
    """Arbitrary comment."""

    default: AssocDefaultReq | None = None

    flags: list[str] | None = None
    """Flags on the association. One of: DELETED, NoUpdate, Exact, NoUsersAreCoords, UsersAreCoords."""

    id: int | AssocShortReq | None = None
    """Unique ID (Association ID)."""

    is_default: bool | None = None
    """Is default association for user."""

    lineage: str | None = None
    """Complete path up the hierarchy to the root association."""

    max: AssocMaxReq | None = None

    min: AssocMinReq | None = None

    parent_account: str | None = None
    """Name of parent account."""

    partition: str | None = None
    """Partition name."""

    priority: NoVal = None
    """Association priority factor."""

    qos: list[str] | None = None
    """List of available QOS names (List of QOS names)."""

    shares_raw: int | None = None
    """Allocated shares used for fairshare calculation."""

    user: str | None = None
    """User name."""


class AssocSharesObjWrapFairshare(AnswerModel):
    """``assoc_shares_obj_wrap_fairshare``."""

    factor: NoValFloat = None
    """Fairshare factor."""

    level: NoValFloat = None
    """Fairshare factor at this level; stored on an assoc as a long double, but that is not needed for display in
    sshare.
    """


class SharesFloat128Tres(AnswerModel):
    """``shares_float128_tres``."""

    name: str | None = None
    """TRES name."""

    value: float | None = None
    """TRES value."""


class SharesUint64Tres(AnswerModel):
    """``shares_uint64_tres``."""

    name: str | None = None
    """TRES name."""

    value: NoVal = None
    """TRES value."""


class AssocSharesObjWrapTres(AnswerModel):
    """``assoc_shares_obj_wrap_tres``."""

    group_minutes: list[SharesUint64Tres] | None = None
    """TRES-minute limit."""

    run_seconds: list[SharesUint64Tres] | None = None
    """Currently running tres-secs = grp_used_tres_run_secs."""

    usage: list[SharesFloat128Tres] | None = None
    """Measure of each TRES usage."""


class AssocSharesObjWrap(AnswerModel):
    """``assoc_shares_obj_wrap``."""

    cluster: str | None = None
    """Cluster name."""

    effective_usage: NoValFloat = None
    """Effective, normalized usage."""

    fairshare: AssocSharesObjWrapFairshare | None = None

    id: int | None = None
    """Association ID."""

    name: str | None = None
    """Share name."""

    parent: str | None = None
    """Parent name."""

    partition: str | None = None
    """Partition name."""

    shares: NoVal = None
    """Number of shares allocated."""

    shares_normalized: NoValFloat = None
    """Normalized shares."""

    tres: AssocSharesObjWrapTres | None = None

    type: list[str] | None = None
    """User or account association. One of: USER, ASSOCIATION."""

    usage: int | None = None
    """Measure of tresbillableunits usage."""

    usage_normalized: NoValFloat = None
    """Normalized usage."""


class ClusterRecAssociations(AnswerModel):
    """``cluster_rec_associations``."""

    root: AssocShort | None = None
    """Root association information."""


class ClusterRecController(AnswerModel):
    """``cluster_rec_controller``."""

    host: str | None = None
    """ControlHost."""

    port: int | None = None
    """ControlPort."""


class ClusterRec(AnswerModel):
    """``cluster_rec``."""

    associations: ClusterRecAssociations | None = None

    controller: ClusterRecController | None = None

    flags: list[str] | None = None
    """Flags. One of: REGISTERING, MULTIPLE_SLURMD, FRONT_END, FEDERATION, EXTERNAL, DELETED."""

    name: str | None = None
    """ClusterName."""

    nodes: str | None = None
    """Node names."""

    rpc_version: int | None = None
    """RPC version used in the cluster."""

    select_plugin: str | None = None
    """Only v0.0.40 to v0.0.44. Deprecated."""

    tres: list[Tres] | None = None
    """Trackable resources."""


class ClusterRecAssociationsReq(RequestModel):
    """``cluster_rec_associations`` as a request."""

    root: AssocShortReq | None = None
    """Root association information."""


class ClusterRecControllerReq(RequestModel):
    """``cluster_rec_controller`` as a request."""

    host: str | None = None
    """ControlHost."""

    port: int | None = None
    """ControlPort."""


class ClusterRecReq(RequestModel):
    """``cluster_rec`` as a request."""

    associations: ClusterRecAssociationsReq | None = None

    controller: ClusterRecControllerReq | None = None

    flags: list[str] | None = None
    """Flags. One of: REGISTERING, MULTIPLE_SLURMD, FRONT_END, FEDERATION, EXTERNAL, DELETED."""

    name: str | None = None
    """ClusterName."""

    nodes: str | None = None
    """Node names."""

    rpc_version: int | None = None
    """RPC version used in the cluster."""

    select_plugin: str | None = None
    """Only v0.0.40 to v0.0.44. Deprecated."""

    tres: list[TresReq] | None = None
    """Trackable resources."""


class InstanceTime(AnswerModel):
    """``instance_time``."""

    time_end: int | None = None
    """When the instance will end (UNIX timestamp)."""

    time_start: int | None = None
    """When the instance will start (UNIX timestamp)."""


class Instance(AnswerModel):
    """``instance``."""

    cluster: str | None = None
    """Cluster name."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    instance_id: str | None = None
    """Cloud instance ID."""

    instance_type: str | None = None
    """Cloud instance type."""

    node_name: str | None = None
    """NodeName."""

    time: InstanceTime | None = None


class InstanceTimeReq(RequestModel):
    """``instance_time`` as a request."""

    time_end: int | None = None
    """When the instance will end (UNIX timestamp)."""

    time_start: int | None = None
    """When the instance will start (UNIX timestamp)."""


class InstanceReq(RequestModel):
    """``instance`` as a request."""

    cluster: str | None = None
    """Cluster name."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    instance_id: str | None = None
    """Cloud instance ID."""

    instance_type: str | None = None
    """Cloud instance type."""

    node_name: str | None = None
    """NodeName."""

    time: InstanceTimeReq | None = None


class JobArrayLimitsMaxRunning(AnswerModel):
    """``job_array_limits_max_running``."""

    tasks: int | None = None
    """Maximum number of simultaneously running tasks, 0 if no limit."""


class JobArrayLimitsMax(AnswerModel):
    """``job_array_limits_max``."""

    running: JobArrayLimitsMaxRunning | None = None


class JobArrayLimits(AnswerModel):
    """``job_array_limits``."""

    max: JobArrayLimitsMax | None = None


class JobArray(AnswerModel):
    """``job_array``."""

    job_id: int | None = None
    """Job ID of job array, or 0 if N/A."""

    limits: JobArrayLimits | None = None

    task: str | None = None
    """String expression of task IDs in this record."""

    task_id: NoVal = None
    """Task ID of this task in job array."""


class JobComment(AnswerModel):
    """``job_comment``."""

    administrator: str | None = None
    """Arbitrary comment made by administrator."""

    job: str | None = None
    """Arbitrary comment made by user."""

    system: str | None = None
    """Arbitrary comment from slurmctld."""


class JobHet(AnswerModel):
    """``job_het``."""

    job_id: int | None = None
    """Heterogeneous job ID, if applicable."""

    job_offset: NoVal = None
    """Unique sequence number applied to this component of the heterogeneous job."""


class JobMcs(AnswerModel):
    """``job_mcs``."""

    label: str | None = None
    """Multi-Category Security label on the job."""


class JobRequired(AnswerModel):
    """``job_required``."""

    cpus: int | None = wire("CPUs")
    """Minimum number of CPUs required."""

    memory_per_cpu: NoVal = None
    """Minimum memory in megabytes per allocated CPU."""

    memory_per_node: NoVal = None
    """Minimum memory in megabytes per allocated node."""


class JobReservation(AnswerModel):
    """``job_reservation``."""

    id: int | None = None
    """Unique identifier of requested reservation."""

    name: str | None = None
    """Name of reservation to use."""

    requested: str | None = None
    """Comma-separated list of requested reservation names. Only v0.0.43 and later."""


class JobState(AnswerModel):
    """``job_state``."""

    current: list[str] | None = None
    """Current state. Words: ``words.JOB_STATE``."""

    reason: str | None = None
    """Reason for previous Pending or Failed state."""


class JobTimeSystem(AnswerModel):
    """``job_time_system``."""

    microseconds: int | None = None
    """System CPU time used by the job in microseconds."""

    seconds: int | None = None
    """System CPU time used by the job in seconds."""


class JobTimeTotal(AnswerModel):
    """``job_time_total``."""

    microseconds: int | None = None
    """Sum of System and User CPU time used by the job in microseconds."""

    seconds: int | None = None
    """Sum of System and User CPU time used by the job in seconds."""


class JobTimeUser(AnswerModel):
    """``job_time_user``."""

    microseconds: int | None = None
    """User CPU time used by the job in microseconds."""

    seconds: int | None = None
    """User CPU time used by the job in seconds."""


class JobTime(AnswerModel):
    """``job_time``."""

    elapsed: int | None = None
    """Elapsed time in seconds."""

    eligible: int | None = None
    """Time when the job became eligible to run (UNIX timestamp)."""

    end: int | None = None
    """End time (UNIX timestamp)."""

    limit: NoVal = None
    """Maximum run time in minutes."""

    planned: NoVal = None
    """Time required to start job after becoming eligible to run in seconds. Only v0.0.41 and later."""

    start: int | None = None
    """Time execution began (UNIX timestamp)."""

    submission: int | None = None
    """Time when the job was submitted (UNIX timestamp)."""

    suspended: int | None = None
    """Total time in suspended state in seconds."""

    system: JobTimeSystem | None = None

    total: JobTimeTotal | None = None

    user: JobTimeUser | None = None


class JobTres(AnswerModel):
    """``job_tres``."""

    allocated: list[Tres] | None = None
    """Trackable resources allocated to the job."""

    requested: list[Tres] | None = None
    """Trackable resources requested by job."""


class StepCpuRequestedFrequency(AnswerModel):
    """``step_cpu_requested_frequency``."""

    max: NoVal = None
    """Maximum requested CPU frequency in kHz."""

    min: NoVal = None
    """Minimum requested CPU frequency in kHz."""


class StepCpu(AnswerModel):
    """``step_cpu``."""

    governor: str | None = None
    """Requested CPU frequency governor in kHz."""

    requested_frequency: StepCpuRequestedFrequency | None = None


class StepNodes(AnswerModel):
    """``step_nodes``."""

    count: int | None = None
    """Number of nodes in the job step."""

    list_: list[str] | None = wire("list")
    """List of nodes used by the step."""

    range: str | None = None
    """Node(s) allocated to the job step."""


class StepStatisticsCpu(AnswerModel):
    """``step_statistics_cpu``."""

    actual_frequency: int | None = None
    """Average weighted CPU frequency of all tasks in kHz."""


class StepStatisticsEnergy(AnswerModel):
    """``step_statistics_energy``."""

    consumed: NoVal = None
    """Total energy consumed by all tasks in a job in joules."""


class StepStatistics(AnswerModel):
    """``step_statistics``."""

    cpu: StepStatisticsCpu | None = wire("CPU")

    energy: StepStatisticsEnergy | None = None


class StepStep(AnswerModel):
    """``step_step``."""

    id: str | None = None
    """Step ID (Slurm job step ID)."""

    name: str | None = None
    """Step name."""

    stderr: str | None = None
    """Path to stderr file. Only v0.0.43 and later."""

    stderr_expanded: str | None = None
    """Step stderr with expanded fields. Only v0.0.43 and later."""

    stdin: str | None = None
    """Path to stdin file. Only v0.0.43 and later."""

    stdin_expanded: str | None = None
    """Step stdin with expanded fields. Only v0.0.43 and later."""

    stdout: str | None = None
    """Path to stdout file. Only v0.0.43 and later."""

    stdout_expanded: str | None = None
    """Step stdout with expanded fields. Only v0.0.43 and later."""


class StepTask(AnswerModel):
    """``step_task``."""

    distribution: str | None = None
    """The layout of the step was when it was running."""


class StepTasks(AnswerModel):
    """``step_tasks``."""

    count: int | None = None
    """Total number of tasks."""


class StepTimeSystem(AnswerModel):
    """``step_time_system``."""

    microseconds: int | None = None
    """System CPU time used by the step in microseconds."""

    seconds: int | None = None
    """System CPU time used by the step in seconds."""


class StepTimeTotal(AnswerModel):
    """``step_time_total``."""

    microseconds: int | None = None
    """Total CPU time used by the step in microseconds."""

    seconds: int | None = None
    """Total CPU time used by the step in seconds."""


class StepTimeUser(AnswerModel):
    """``step_time_user``."""

    microseconds: int | None = None
    """User CPU time used by the step in microseconds."""

    seconds: int | None = None
    """User CPU time used by the step in seconds."""


class StepTime(AnswerModel):
    """``step_time``."""

    elapsed: int | None = None
    """Elapsed time in seconds."""

    end: NoVal = None
    """End time (UNIX timestamp)."""

    limit: NoVal = None
    """Maximum run time in minutes. Only v0.0.43 and later."""

    start: NoVal = None
    """Time execution began (UNIX timestamp)."""

    suspended: int | None = None
    """Total time in suspended state in seconds."""

    system: StepTimeSystem | None = None

    total: StepTimeTotal | None = None

    user: StepTimeUser | None = None


class StepTresConsumed(AnswerModel):
    """``step_tres_consumed``."""

    average: list[Tres] | None = None
    """Average TRES usage consumed among all tasks."""

    max: list[Tres] | None = None
    """Maximum TRES usage consumed among all tasks."""

    min: list[Tres] | None = None
    """Minimum TRES usage consumed among all tasks."""

    total: list[Tres] | None = None
    """Total TRES usage consumed among all tasks."""


class StepTresRequested(AnswerModel):
    """``step_tres_requested``."""

    average: list[Tres] | None = None
    """Average TRES usage requested among all tasks."""

    max: list[Tres] | None = None
    """Maximum TRES usage requested among all tasks."""

    min: list[Tres] | None = None
    """Minimum TRES usage requested among all tasks."""

    total: list[Tres] | None = None
    """Total TRES usage requested among all tasks."""


class StepTres(AnswerModel):
    """``step_tres``."""

    allocated: list[Tres] | None = None
    """Trackable resources allocated to the step."""

    consumed: StepTresConsumed | None = None

    requested: StepTresRequested | None = None


class Step(AnswerModel):
    """``step``."""

    cpu: StepCpu | None = wire("CPU")

    exit_code: ProcessExitCodeVerbose | None = None
    """Exit code (return code returned by process)."""

    kill_request_user: str | None = None
    """User ID that requested termination of the step."""

    nodes: StepNodes | None = None

    pid: str | None = None
    """Deprecated; Process ID. Only v0.0.40 to v0.0.44. Deprecated."""

    state: list[str] | None = None
    """Current state. Words: ``words.JOB_STATE``."""

    statistics: StepStatistics | None = None

    step: StepStep | None = None

    submit_line: str | None = None
    """Full command used to submit the step. Only v0.0.45 and later."""

    task: StepTask | None = None

    tasks: StepTasks | None = None

    time: StepTime | None = None

    tres: StepTres | None = None


class WckeyTagStruct(AnswerModel):
    """``wckey_tag_struct``."""

    flags: list[str] | None = None
    """Active flags. One of: ASSIGNED_DEFAULT."""

    wckey: str | None = None
    """WCKey name."""


class Job(AnswerModel):
    """``job``."""

    account: str | None = None
    """Account the job ran under."""

    allocation_nodes: int | None = None
    """List of nodes allocated to the job."""

    array: JobArray | None = None

    association: AssocShort | None = None
    """Unique identifier for the association."""

    block: str | None = None
    """The name of the block to be used (used with Blue Gene systems)."""

    cluster: str | None = None
    """Cluster name."""

    comment: JobComment | None = None

    constraints: str | None = None
    """Feature(s) the job requested as a constraint."""

    container: str | None = None
    """Absolute path to OCI container bundle."""

    derived_exit_code: ProcessExitCodeVerbose | None = None
    """Highest exit code of all job steps (return code returned by process)."""

    exclusive: str | None = None
    """Exclusive resource allocation mode requested for the job. Only v0.0.45 and later."""

    exit_code: ProcessExitCodeVerbose | None = None
    """Exit code (return code returned by process)."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    failed_node: str | None = None
    """Name of node that caused job failure."""

    flags: list[str] | None = None
    """Flags associated with this job. One of: NONE, CLEAR_SCHEDULING, NOT_SET, STARTED_ON_SUBMIT, STARTED_ON_SCHEDULE,
    STARTED_ON_BACKFILL, START_RECEIVED, JOB_ALTERED.
    """

    group: str | None = None
    """Group ID of the user that owns the job."""

    het: JobHet | None = None

    hold: bool | None = None
    """Hold (true) or release (false) job (Job held)."""

    job_id: int | None = None
    """Job ID."""

    kill_request_user: str | None = None
    """User ID that requested termination of the job."""

    licenses: str | None = None
    """License(s) required by the job."""

    mcs: JobMcs | None = None

    name: str | None = None
    """Job name."""

    nodes: str | None = None
    """Node(s) allocated to the job."""

    original_sluid: str | None = None
    """Original SLUID (Slurm Lexicographically-sortable Unique ID). Only v0.0.45 and later."""

    oversubscribe: str | None = None
    """Oversubscribe mode requested for the job. Only v0.0.45 and later."""

    partition: str | None = None
    """Partition assigned to the job."""

    priority: NoVal = None
    """Request specific job priority."""

    qos: str | None = None
    """Quality of Service assigned to the job."""

    qosreq: str | None = None
    """Requested QOS. Only v0.0.42 and later."""

    required: JobRequired | None = None

    reservation: JobReservation | None = None

    restart_cnt: int | None = None
    """How many times this job has been requeued/restarted. Only v0.0.42 and later."""

    script: str | None = None
    """Job batch script contents; only the first component in a HetJob is populated or honored."""

    segment_size: int | None = None
    """Requested segment size. Only v0.0.43 and later."""

    sluid: str | None = None
    """SLUID (Slurm Lexicographically-sortable Unique ID). Only v0.0.45 and later."""

    state: JobState | None = None

    stderr: str | None = None
    """Path to stderr file. Only v0.0.41 and later."""

    stderr_expanded: str | None = None
    """Job stderr with expanded fields. Only v0.0.41 and later."""

    stdin: str | None = None
    """Path to stdin file. Only v0.0.41 and later."""

    stdin_expanded: str | None = None
    """Job stdin with expanded fields. Only v0.0.41 and later."""

    stdout: str | None = None
    """Path to stdout file. Only v0.0.41 and later."""

    stdout_expanded: str | None = None
    """Job stdout with expanded fields. Only v0.0.41 and later."""

    steps: list[Step] | None = None
    """Individual steps in the job."""

    submit_line: str | None = None
    """Command used to submit the job."""

    time: JobTime | None = None

    tres: JobTres | None = None

    used_gres: str | None = None
    """Generic resources used by job."""

    user: str | None = None
    """User that owns the job."""

    wckey: WckeyTagStruct | None = None
    """Workload characterization key (WCKey ID with tagging)."""

    working_directory: str | None = None
    """Path to current working directory."""


class JobModifyComment(RequestModel):
    """``job_modify_comment``, v0.0.44 and later."""

    administrator: str | None = None
    """Arbitrary comment made by administrator."""

    job: str | None = None
    """Arbitrary comment made by user."""

    system: str | None = None
    """Arbitrary comment from slurmctld."""


class JobModifyTres(RequestModel):
    """``job_modify_tres``, v0.0.44 and later."""

    allocated: list[TresReq] | None = None
    """Trackable resources allocated to the job."""


class ProcessExitCodeVerboseSignalReq(RequestModel):
    """``process_exit_code_verbose_signal`` as a request."""

    id: NoVal = None
    """Signal sent to process (numeric)."""

    name: str | None = None
    """Signal sent to process (name)."""


class ProcessExitCodeVerboseReq(RequestModel):
    """``process_exit_code_verbose`` as a request."""

    return_code: NoVal = None
    """Process return code (numeric)."""

    signal: ProcessExitCodeVerboseSignalReq | None = None

    status: list[str] | None = None
    """Status given by return code. One of: INVALID, PENDING, SUCCESS, ERROR, SIGNALED, CORE_DUMPED."""


class JobModify(RequestModel):
    """``job_modify``, v0.0.44 and later."""

    comment: JobModifyComment | None = None

    derived_exit_code: ProcessExitCodeVerboseReq | None = None
    """Highest exit code of all job steps (return code returned by process)."""

    extra: str | None = None
    """Arbitrary string used for node filtering if extra constraints are enabled."""

    tres: JobModifyTres | None = None

    wckey: str | None = None
    """Workload characterization key."""


class OpenapiAccountsAddCondResp(RequestModel):
    """``openapi_accounts_add_cond_resp``."""

    account: AccountShort | None = None
    """Account organization and description."""

    association_condition: AccountsAddCond | None = None
    """CSV list of accounts, association limits and options, CSV list of clusters."""


class OpenapiAccountsAddCondRespStr(AnswerModel):
    """``openapi_accounts_add_cond_resp_str``."""

    added_accounts: str | None = None
    """added_accounts."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiAccountsRemovedResp(AnswerModel):
    """``openapi_accounts_removed_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    removed_accounts: list[str] | None = None
    """removed_accounts."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiAccountsReq(RequestModel):
    """``openapi_accounts_resp`` as a request."""

    accounts: list[AccountReq] | None = None
    """accounts."""


class OpenapiAccountsResp(AnswerModel):
    """``openapi_accounts_resp``."""

    accounts: list[Account] | None = None
    """accounts."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiAssocsRemovedResp(AnswerModel):
    """``openapi_assocs_removed_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    removed_associations: list[str] | None = None
    """removed_associations."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiAssocsReq(RequestModel):
    """``openapi_assocs_resp`` as a request."""

    associations: list[AssocReq] | None = None
    """associations."""


class OpenapiAssocsResp(AnswerModel):
    """``openapi_assocs_resp``."""

    associations: list[Assoc] | None = None
    """associations."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiClustersRemovedResp(AnswerModel):
    """``openapi_clusters_removed_resp``."""

    deleted_clusters: list[str] | None = None
    """deleted_clusters."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiClustersReq(RequestModel):
    """``openapi_clusters_resp`` as a request."""

    clusters: list[ClusterRecReq] | None = None
    """clusters."""


class OpenapiClustersResp(AnswerModel):
    """``openapi_clusters_resp``."""

    clusters: list[ClusterRec] | None = None
    """clusters."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiInstancesResp(AnswerModel):
    """``openapi_instances_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    instances: list[Instance] | None = None
    """instances."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiJobModifyReq(RequestModel):
    """``openapi_job_modify_req``, v0.0.44 and later as a request."""

    job_id_list: list[str] | None = None
    """CSV list of Job IDs to modify."""

    job_rec: JobModify | None = None
    """Job modify message."""


class OpenapiJobModifyResp(AnswerModel):
    """``openapi_job_modify_resp``, v0.0.44 and later."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    results: list[str] | None = None
    """Job modify results."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class SharesRespMsg(AnswerModel):
    """``shares_resp_msg``."""

    shares: list[AssocSharesObjWrap] | None = None
    """Association shares."""

    total_shares: int | None = None
    """Total number of shares."""


class OpenapiSharesResp(AnswerModel):
    """``openapi_shares_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    shares: SharesRespMsg | None = None
    """fairshare info."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class QosLimitsMaxAccruingPerReq(RequestModel):
    """``qos_limits_max_accruing_per`` as a request."""

    account: NoVal = None
    """MaxJobsAccruePerAccount - Maximum number of pending jobs an account (or subacct) can have accruing age priority.
    """

    user: NoVal = None
    """MaxJobsAccruePerUser - Maximum number of pending jobs a user can have accruing age priority."""


class QosLimitsMaxAccruingReq(RequestModel):
    """``qos_limits_max_accruing`` as a request."""

    per: QosLimitsMaxAccruingPerReq | None = None


class QosLimitsMaxActiveJobsReq(RequestModel):
    """``qos_limits_max_active_jobs`` as a request."""

    accruing: NoVal = None
    """GrpJobsAccrue - Maximum number of pending jobs able to accrue age priority."""

    count: NoVal = None
    """GrpJobs - Maximum number of running jobs."""


class QosLimitsMaxJobsActiveJobsPerReq(RequestModel):
    """``qos_limits_max_jobs_active_jobs_per`` as a request."""

    account: NoVal = None
    """MaxJobsPerAccount - Maximum number of running jobs per account."""

    user: NoVal = None
    """MaxJobsPerUser - Maximum number of running jobs per user."""


class QosLimitsMaxJobsActiveJobsReq(RequestModel):
    """``qos_limits_max_jobs_active_jobs`` as a request."""

    per: QosLimitsMaxJobsActiveJobsPerReq | None = None


class QosLimitsMaxJobsPerReq(RequestModel):
    """``qos_limits_max_jobs_per`` as a request."""

    account: NoVal = None
    """MaxSubmitJobsPerAccount - Maximum number of jobs in a pending or running state per account."""

    user: NoVal = None
    """MaxSubmitJobsPerUser - Maximum number of jobs in a pending or running state per user."""


class QosLimitsMaxJobsReq(RequestModel):
    """``qos_limits_max_jobs`` as a request."""

    active_jobs: QosLimitsMaxJobsActiveJobsReq | None = None

    count: NoVal = None
    """GrpSubmitJobs - Maximum number of jobs in a pending or running state at any time. Only v0.0.42 and later."""

    per: QosLimitsMaxJobsPerReq | None = None


class QosLimitsMaxTresMinutesPerReq(RequestModel):
    """``qos_limits_max_tres_minutes_per`` as a request."""

    account: list[TresReq] | None = None
    """MaxTRESRunMinsPerAccount - Maximum number of TRES minutes each account can use."""

    job: list[TresReq] | None = None
    """MaxTRESMinsPerJob - Maximum number of TRES minutes each job can use."""

    qos: list[TresReq] | None = None
    """GrpTRESRunMins - Maximum number of TRES minutes able to be allocated by running jobs."""

    user: list[TresReq] | None = None
    """MaxTRESRunMinsPerUser - Maximum number of TRES minutes each user can use."""


class QosLimitsMaxTresMinutesReq(RequestModel):
    """``qos_limits_max_tres_minutes`` as a request."""

    per: QosLimitsMaxTresMinutesPerReq | None = None

    total: list[TresReq] | None = None
    """GrpTRESMins - Maximum number of TRES minutes that can possibly be used by past, present, and future jobs. Only
    v0.0.42 and later.
    """


class QosLimitsMaxTresPerReq(RequestModel):
    """``qos_limits_max_tres_per`` as a request."""

    account: list[TresReq] | None = None
    """MaxTRESPerAccount - Maximum number of TRES each account can use."""

    job: list[TresReq] | None = None
    """MaxTRESPerJob - Maximum number of TRES each job can use."""

    node: list[TresReq] | None = None
    """MaxTRESPerNode - Maximum number of TRES each node in a job allocation can use."""

    user: list[TresReq] | None = None
    """MaxTRESPerUser - Maximum number of TRES each user can use."""


class QosLimitsMaxTresReq(RequestModel):
    """``qos_limits_max_tres`` as a request."""

    minutes: QosLimitsMaxTresMinutesReq | None = None

    per: QosLimitsMaxTresPerReq | None = None

    total: list[TresReq] | None = None
    """GrpTRES - Maximum number of TRES able to be allocated by running jobs."""


class QosLimitsMaxWallClockPerReq(RequestModel):
    """``qos_limits_max_wall_clock_per`` as a request."""

    job: NoVal = None
    """MaxWallDurationPerJob - Maximum wall clock time in minutes each job can use."""

    qos: NoVal = None
    """GrpWall - Maximum wall clock time in minutes able to be allocated by running jobs."""


class QosLimitsMaxWallClockReq(RequestModel):
    """``qos_limits_max_wall_clock`` as a request."""

    per: QosLimitsMaxWallClockPerReq | None = None


class QosLimitsMaxReq(RequestModel):
    """``qos_limits_max`` as a request."""

    accruing: QosLimitsMaxAccruingReq | None = None

    active_jobs: QosLimitsMaxActiveJobsReq | None = None

    jobs: QosLimitsMaxJobsReq | None = None

    tres: QosLimitsMaxTresReq | None = None

    wall_clock: QosLimitsMaxWallClockReq | None = None


class QosLimitsMinTresPerReq(RequestModel):
    """``qos_limits_min_tres_per`` as a request."""

    job: list[TresReq] | None = None
    """MinTRESPerJob - Minimum number of TRES each job running under this QOS must request."""


class QosLimitsMinTresReq(RequestModel):
    """``qos_limits_min_tres`` as a request."""

    per: QosLimitsMinTresPerReq | None = None


class QosLimitsMinReq(RequestModel):
    """``qos_limits_min`` as a request."""

    priority_threshold: NoVal = None
    """MinPrioThreshold - Minimum priority required to reserve resources when scheduling."""

    tres: QosLimitsMinTresReq | None = None


class QosLimitsReq(RequestModel):
    """``qos_limits`` as a request."""

    factor: NoValFloat = None
    """LimitFactor - A float that is factored into an association's [Grp|Max]TRES limits."""

    grace_time: int | None = None
    """GraceTime - Preemption grace time in seconds to be extended to a job which has been selected for preemption."""

    max: QosLimitsMaxReq | None = None

    min: QosLimitsMinReq | None = None


class QosPreemptReq(RequestModel):
    """``qos_preempt`` as a request."""

    exempt_time: NoVal = None
    """PreemptExemptTime - Specifies a minimum run time for jobs before they are considered for preemption."""

    list_: list[str] | None = wire("list")
    """Other QOS's this QOS can preempt."""

    mode: list[str] | None = None
    """PreemptMode - Mechanism used to preempt jobs or enable gang scheduling. One of: DISABLED, SUSPEND, REQUEUE,
    CANCEL, GANG.
    """


class QosReq(RequestModel):
    """``qos`` as a request."""

    description: str | None = None
    """Arbitrary description."""

    flags: list[str] | None = None
    """Flags, to avoid modifying current values specify NOT_SET. Words: ``words.QOS_FLAGS``."""

    id: int | None = None
    """Unique ID."""

    limits: QosLimitsReq | None = None

    name: str | None = None
    """Name."""

    preempt: QosPreemptReq | None = None

    priority: NoVal = None
    """Priority - QOS priority factor."""

    usage_factor: NoValFloat = None
    """UsageFactor - A float that is factored into a job's TRES usage."""

    usage_threshold: NoValFloat = None
    """UsageThreshold - A float representing the lowest fairshare of an association allowed to run a job."""


class UserDefaultReq(RequestModel):
    """``user_default`` as a request."""

    account: str | None = None
    """Default account."""

    qos: int | None = None
    """Default QOS. Only v0.0.44 and later."""

    wckey: str | None = None
    """Default WCKey."""


class WckeyReq(RequestModel):
    """``wckey`` as a request."""

    accounting: list[AccountingReq] | None = None
    """Accounting records containing related resource usage."""

    cluster: str | None = None
    """Cluster name."""

    flags: list[str] | None = None
    """Flags associated with this WCKey. One of: DELETED."""

    id: int | None = None
    """Unique ID for this user-cluster-wckey combination."""

    name: str | None = None
    """WCKey name."""

    user: str | None = None
    """User name."""


class UserReq(RequestModel):
    """``user`` as a request."""

    administrator_level: list[str] | None = None
    """AdminLevel granted to the user. One of: Not Set, None, Operator, Administrator."""

    associations: list[AssocShortReq] | None = None
    """Associations created for this user."""

    coordinators: list[CoordReq] | None = None
    """Accounts this user is a coordinator for."""

    default: UserDefaultReq | None = None

    flags: list[str] | None = None
    """Flags associated with this user. One of: NONE, DELETED."""

    name: str | None = None
    """User name."""

    old_name: str | None = None
    """Previous user name."""

    wckeys: list[WckeyReq] | None = None
    """List of available WCKeys."""


class OpenapiSlurmdbdConfigReq(RequestModel):
    """``openapi_slurmdbd_config_resp`` as a request."""

    accounts: list[AccountReq] | None = None
    """Accounts."""

    associations: list[AssocReq] | None = None
    """Associations."""

    clusters: list[ClusterRecReq] | None = None
    """Clusters."""

    instances: list[InstanceReq] | None = None
    """Instances. Only v0.0.40 to v0.0.44. Deprecated."""

    qos: list[QosReq] | None = None
    """QOS."""

    tres: list[TresReq] | None = None
    """TRES."""

    users: list[UserReq] | None = None
    """Users."""

    wckeys: list[WckeyReq] | None = None
    """WCKeys."""


class QosLimitsMaxAccruingPer(AnswerModel):
    """``qos_limits_max_accruing_per``."""

    account: NoVal = None
    """MaxJobsAccruePerAccount - Maximum number of pending jobs an account (or subacct) can have accruing age priority.
    """

    user: NoVal = None
    """MaxJobsAccruePerUser - Maximum number of pending jobs a user can have accruing age priority."""


class QosLimitsMaxAccruing(AnswerModel):
    """``qos_limits_max_accruing``."""

    per: QosLimitsMaxAccruingPer | None = None


class QosLimitsMaxActiveJobs(AnswerModel):
    """``qos_limits_max_active_jobs``."""

    accruing: NoVal = None
    """GrpJobsAccrue - Maximum number of pending jobs able to accrue age priority."""

    count: NoVal = None
    """GrpJobs - Maximum number of running jobs."""


class QosLimitsMaxJobsActiveJobsPer(AnswerModel):
    """``qos_limits_max_jobs_active_jobs_per``."""

    account: NoVal = None
    """MaxJobsPerAccount - Maximum number of running jobs per account."""

    user: NoVal = None
    """MaxJobsPerUser - Maximum number of running jobs per user."""


class QosLimitsMaxJobsActiveJobs(AnswerModel):
    """``qos_limits_max_jobs_active_jobs``."""

    per: QosLimitsMaxJobsActiveJobsPer | None = None


class QosLimitsMaxJobsPer(AnswerModel):
    """``qos_limits_max_jobs_per``."""

    account: NoVal = None
    """MaxSubmitJobsPerAccount - Maximum number of jobs in a pending or running state per account."""

    user: NoVal = None
    """MaxSubmitJobsPerUser - Maximum number of jobs in a pending or running state per user."""


class QosLimitsMaxJobs(AnswerModel):
    """``qos_limits_max_jobs``."""

    active_jobs: QosLimitsMaxJobsActiveJobs | None = None

    count: NoVal = None
    """GrpSubmitJobs - Maximum number of jobs in a pending or running state at any time. Only v0.0.42 and later."""

    per: QosLimitsMaxJobsPer | None = None


class QosLimitsMaxTresMinutesPer(AnswerModel):
    """``qos_limits_max_tres_minutes_per``."""

    account: list[Tres] | None = None
    """MaxTRESRunMinsPerAccount - Maximum number of TRES minutes each account can use."""

    job: list[Tres] | None = None
    """MaxTRESMinsPerJob - Maximum number of TRES minutes each job can use."""

    qos: list[Tres] | None = None
    """GrpTRESRunMins - Maximum number of TRES minutes able to be allocated by running jobs."""

    user: list[Tres] | None = None
    """MaxTRESRunMinsPerUser - Maximum number of TRES minutes each user can use."""


class QosLimitsMaxTresMinutes(AnswerModel):
    """``qos_limits_max_tres_minutes``."""

    per: QosLimitsMaxTresMinutesPer | None = None

    total: list[Tres] | None = None
    """GrpTRESMins - Maximum number of TRES minutes that can possibly be used by past, present, and future jobs. Only
    v0.0.42 and later.
    """


class QosLimitsMaxTresPer(AnswerModel):
    """``qos_limits_max_tres_per``."""

    account: list[Tres] | None = None
    """MaxTRESPerAccount - Maximum number of TRES each account can use."""

    job: list[Tres] | None = None
    """MaxTRESPerJob - Maximum number of TRES each job can use."""

    node: list[Tres] | None = None
    """MaxTRESPerNode - Maximum number of TRES each node in a job allocation can use."""

    user: list[Tres] | None = None
    """MaxTRESPerUser - Maximum number of TRES each user can use."""


class QosLimitsMaxTres(AnswerModel):
    """``qos_limits_max_tres``."""

    minutes: QosLimitsMaxTresMinutes | None = None

    per: QosLimitsMaxTresPer | None = None

    total: list[Tres] | None = None
    """GrpTRES - Maximum number of TRES able to be allocated by running jobs."""


class QosLimitsMaxWallClockPer(AnswerModel):
    """``qos_limits_max_wall_clock_per``."""

    job: NoVal = None
    """MaxWallDurationPerJob - Maximum wall clock time in minutes each job can use."""

    qos: NoVal = None
    """GrpWall - Maximum wall clock time in minutes able to be allocated by running jobs."""


class QosLimitsMaxWallClock(AnswerModel):
    """``qos_limits_max_wall_clock``."""

    per: QosLimitsMaxWallClockPer | None = None


class QosLimitsMax(AnswerModel):
    """``qos_limits_max``."""

    accruing: QosLimitsMaxAccruing | None = None

    active_jobs: QosLimitsMaxActiveJobs | None = None

    jobs: QosLimitsMaxJobs | None = None

    tres: QosLimitsMaxTres | None = None

    wall_clock: QosLimitsMaxWallClock | None = None


class QosLimitsMinTresPer(AnswerModel):
    """``qos_limits_min_tres_per``."""

    job: list[Tres] | None = None
    """MinTRESPerJob - Minimum number of TRES each job running under this QOS must request."""


class QosLimitsMinTres(AnswerModel):
    """``qos_limits_min_tres``."""

    per: QosLimitsMinTresPer | None = None


class QosLimitsMin(AnswerModel):
    """``qos_limits_min``."""

    priority_threshold: NoVal = None
    """MinPrioThreshold - Minimum priority required to reserve resources when scheduling."""

    tres: QosLimitsMinTres | None = None


class QosLimits(AnswerModel):
    """``qos_limits``."""

    factor: NoValFloat = None
    """LimitFactor - A float that is factored into an association's [Grp|Max]TRES limits."""

    grace_time: int | None = None
    """GraceTime - Preemption grace time in seconds to be extended to a job which has been selected for preemption."""

    max: QosLimitsMax | None = None

    min: QosLimitsMin | None = None


class QosPreempt(AnswerModel):
    """``qos_preempt``."""

    exempt_time: NoVal = None
    """PreemptExemptTime - Specifies a minimum run time for jobs before they are considered for preemption."""

    list_: list[str] | None = wire("list")
    """Other QOS's this QOS can preempt."""

    mode: list[str] | None = None
    """PreemptMode - Mechanism used to preempt jobs or enable gang scheduling. One of: DISABLED, SUSPEND, REQUEUE,
    CANCEL, GANG.
    """


class Qos(AnswerModel):
    """``qos``."""

    description: str | None = None
    """Arbitrary description."""

    flags: list[str] | None = None
    """Flags, to avoid modifying current values specify NOT_SET. Words: ``words.QOS_FLAGS``."""

    id: int | None = None
    """Unique ID."""

    limits: QosLimits | None = None

    name: str | None = None
    """Name."""

    preempt: QosPreempt | None = None

    priority: NoVal = None
    """Priority - QOS priority factor."""

    usage_factor: NoValFloat = None
    """UsageFactor - A float that is factored into a job's TRES usage."""

    usage_threshold: NoValFloat = None
    """UsageThreshold - A float representing the lowest fairshare of an association allowed to run a job."""


class UserDefault(AnswerModel):
    """``user_default``."""

    account: str | None = None
    """Default account."""

    qos: int | None = None
    """Default QOS. Only v0.0.44 and later."""

    wckey: str | None = None
    """Default WCKey."""


class Wckey(AnswerModel):
    """``wckey``."""

    accounting: list[Accounting] | None = None
    """Accounting records containing related resource usage."""

    cluster: str | None = None
    """Cluster name."""

    flags: list[str] | None = None
    """Flags associated with this WCKey. One of: DELETED."""

    id: int | None = None
    """Unique ID for this user-cluster-wckey combination."""

    name: str | None = None
    """WCKey name."""

    user: str | None = None
    """User name."""


class User(AnswerModel):
    """``user``."""

    administrator_level: list[str] | None = None
    """AdminLevel granted to the user. One of: Not Set, None, Operator, Administrator."""

    associations: list[AssocShort] | None = None
    """Associations created for this user."""

    coordinators: list[Coord] | None = None
    """Accounts this user is a coordinator for."""

    default: UserDefault | None = None

    flags: list[str] | None = None
    """Flags associated with this user. One of: NONE, DELETED."""

    name: str | None = None
    """User name."""

    old_name: str | None = None
    """Previous user name."""

    wckeys: list[Wckey] | None = None
    """List of available WCKeys."""


class OpenapiSlurmdbdConfigResp(AnswerModel):
    """``openapi_slurmdbd_config_resp``."""

    accounts: list[Account] | None = None
    """Accounts."""

    associations: list[Assoc] | None = None
    """Associations."""

    clusters: list[ClusterRec] | None = None
    """Clusters."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    instances: list[Instance] | None = None
    """Instances. Only v0.0.40 to v0.0.44. Deprecated."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    qos: list[Qos] | None = None
    """QOS."""

    tres: list[Tres] | None = None
    """TRES."""

    users: list[User] | None = None
    """Users."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""

    wckeys: list[Wckey] | None = None
    """WCKeys."""


class OpenapiSlurmdbdJobsResp(AnswerModel):
    """``openapi_slurmdbd_jobs_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    jobs: list[Job] | None = None
    """jobs."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiSlurmdbdQosRemovedResp(AnswerModel):
    """``openapi_slurmdbd_qos_removed_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    removed_qos: list[str] | None = None
    """removed QOS."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiSlurmdbdQosReq(RequestModel):
    """``openapi_slurmdbd_qos_resp`` as a request."""

    qos: list[QosReq] | None = None
    """List of QOS."""


class OpenapiSlurmdbdQosResp(AnswerModel):
    """``openapi_slurmdbd_qos_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    qos: list[Qos] | None = None
    """List of QOS."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiTresReq(RequestModel):
    """``openapi_tres_resp`` as a request."""

    tres: list[TresReq] | None = wire("TRES")
    """TRES."""


class OpenapiTresResp(AnswerModel):
    """``openapi_tres_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    tres: list[Tres] | None = wire("TRES")
    """TRES."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class UserShort(RequestModel):
    """``user_short``."""

    adminlevel: list[str] | None = None
    """AdminLevel granted to the user. One of: Not Set, None, Operator, Administrator."""

    defaultaccount: str | None = None
    """Default account."""

    defaultqos: int | None = None
    """Default QOS. Only v0.0.44 and later."""

    defaultwckey: str | None = None
    """Default WCKey."""


class UsersAddCond(RequestModel):
    """``users_add_cond``."""

    accounts: list[str] | None = None
    """CSV accounts list."""

    association: AssocRecSet | None = None
    """Association limits and options."""

    clusters: list[str] | None = None
    """CSV clusters list."""

    partitions: list[str] | None = None
    """CSV partitions list."""

    users: list[str] | None = None
    """CSV users list."""

    wckeys: list[str] | None = None
    """CSV WCKeys list."""


class OpenapiUsersAddCondResp(RequestModel):
    """``openapi_users_add_cond_resp``."""

    association_condition: UsersAddCond | None = None
    """Filters to select associations for users."""

    user: UserShort | None = None
    """Admin level of user, DefaultAccount, DefaultWCKey."""


class OpenapiUsersAddCondRespStr(AnswerModel):
    """``openapi_users_add_cond_resp_str``."""

    added_users: str | None = None
    """added_users."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiUsersReq(RequestModel):
    """``openapi_users_resp`` as a request."""

    users: list[UserReq] | None = None
    """users."""


class OpenapiUsersResp(AnswerModel):
    """``openapi_users_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    users: list[User] | None = None
    """users."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiWckeyRemovedResp(AnswerModel):
    """``openapi_wckey_removed_resp``."""

    deleted_wckeys: list[str] | None = None
    """deleted wckeys."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""


class OpenapiWckeyReq(RequestModel):
    """``openapi_wckey_resp`` as a request."""

    wckeys: list[WckeyReq] | None = None
    """wckeys."""


class OpenapiWckeyResp(AnswerModel):
    """``openapi_wckey_resp``."""

    errors: list[OpenapiError] | None = None
    """Query errors."""

    meta: OpenapiMeta | None = None
    """Slurm meta values."""

    warnings: list[OpenapiWarning] | None = None
    """Query warnings."""

    wckeys: list[Wckey] | None = None
    """wckeys."""
