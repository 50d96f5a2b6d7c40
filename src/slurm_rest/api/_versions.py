"""Which API versions there are, and which of them knows which field of which model."""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

API_VERSIONS: tuple[str, ...] = ("v0.0.40", "v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45")
"""Every version that this client speaks, oldest first."""

FAMILY: dict[str, str] = {
    "Account": "accounting",
    "AccountReq": "accounting",
    "AccountShort": "accounting",
    "Accounting": "accounting",
    "AccountingAllocated": "accounting",
    "AccountingAllocatedReq": "accounting",
    "AccountingReq": "accounting",
    "AccountsAddCond": "accounting",
    "AcctGatherEnergy": "cluster",
    "Assoc": "accounting",
    "AssocDefault": "accounting",
    "AssocDefaultReq": "accounting",
    "AssocMax": "accounting",
    "AssocMaxJobs": "accounting",
    "AssocMaxJobsPer": "accounting",
    "AssocMaxJobsPerReq": "accounting",
    "AssocMaxJobsReq": "accounting",
    "AssocMaxPer": "accounting",
    "AssocMaxPerAccount": "accounting",
    "AssocMaxPerAccountReq": "accounting",
    "AssocMaxPerReq": "accounting",
    "AssocMaxReq": "accounting",
    "AssocMaxTres": "accounting",
    "AssocMaxTresGroup": "accounting",
    "AssocMaxTresGroupReq": "accounting",
    "AssocMaxTresMinutes": "accounting",
    "AssocMaxTresMinutesPer": "accounting",
    "AssocMaxTresMinutesPerReq": "accounting",
    "AssocMaxTresMinutesReq": "accounting",
    "AssocMaxTresPer": "accounting",
    "AssocMaxTresPerReq": "accounting",
    "AssocMaxTresReq": "accounting",
    "AssocMin": "accounting",
    "AssocMinReq": "accounting",
    "AssocRecSet": "accounting",
    "AssocReq": "accounting",
    "AssocSharesObjWrap": "accounting",
    "AssocSharesObjWrapFairshare": "accounting",
    "AssocSharesObjWrapTres": "accounting",
    "AssocShort": "accounting",
    "AssocShortReq": "accounting",
    "BfExitFields": "diagnostics",
    "ClusterRec": "accounting",
    "ClusterRecAssociations": "accounting",
    "ClusterRecAssociationsReq": "accounting",
    "ClusterRecController": "accounting",
    "ClusterRecControllerReq": "accounting",
    "ClusterRecReq": "accounting",
    "Controller": "diagnostics",
    "ControllerPing": "diagnostics",
    "Coord": "accounting",
    "CoordReq": "accounting",
    "CronEntry": "jobs",
    "CronEntryLine": "jobs",
    "Instance": "accounting",
    "InstanceReq": "accounting",
    "InstanceTime": "accounting",
    "InstanceTimeReq": "accounting",
    "Job": "accounting",
    "JobAllocReq": "jobs",
    "JobArray": "accounting",
    "JobArrayLimits": "accounting",
    "JobArrayLimitsMax": "accounting",
    "JobArrayLimitsMaxRunning": "accounting",
    "JobArrayResponseMsgEntry": "jobs",
    "JobComment": "accounting",
    "JobDefaults": "diagnostics",
    "JobDescMsg": "jobs",
    "JobDescMsgRlimits": "jobs",
    "JobHet": "accounting",
    "JobInfo": "jobs",
    "JobInfoPower": "jobs",
    "JobMcs": "accounting",
    "JobModify": "accounting",
    "JobModifyComment": "accounting",
    "JobModifyTres": "accounting",
    "JobRequired": "accounting",
    "JobRes": "jobs",
    "JobResCore": "jobs",
    "JobResNode": "jobs",
    "JobResNodeCpus": "jobs",
    "JobResNodeMemory": "jobs",
    "JobResNodes": "jobs",
    "JobResSocket": "jobs",
    "JobReservation": "accounting",
    "JobState": "accounting",
    "JobStateRow": "jobs",
    "JobSubmitReq": "jobs",
    "JobSubmitResponseMsg": "jobs",
    "JobTime": "accounting",
    "JobTimeSystem": "accounting",
    "JobTimeTotal": "accounting",
    "JobTimeUser": "accounting",
    "JobTres": "accounting",
    "KillJobsMsg": "jobs",
    "KillJobsRespJob": "jobs",
    "KillJobsRespJobError": "jobs",
    "KillJobsRespJobFederation": "jobs",
    "License": "cluster",
    "Node": "cluster",
    "NodeGresLayout": "jobs",
    "NodeResourceLayout": "jobs",
    "OpenapiAccountsAddCondResp": "accounting",
    "OpenapiAccountsAddCondRespStr": "accounting",
    "OpenapiAccountsRemovedResp": "accounting",
    "OpenapiAccountsReq": "accounting",
    "OpenapiAccountsResp": "accounting",
    "OpenapiAssocsRemovedResp": "accounting",
    "OpenapiAssocsReq": "accounting",
    "OpenapiAssocsResp": "accounting",
    "OpenapiClustersRemovedResp": "accounting",
    "OpenapiClustersReq": "accounting",
    "OpenapiClustersResp": "accounting",
    "OpenapiConfResp": "diagnostics",
    "OpenapiCreateNodeReq": "cluster",
    "OpenapiDiagResp": "diagnostics",
    "OpenapiError": "common",
    "OpenapiHostlistReq": "cluster",
    "OpenapiHostlistReqResp": "cluster",
    "OpenapiHostnamesReq": "cluster",
    "OpenapiHostnamesReqResp": "cluster",
    "OpenapiInstancesResp": "accounting",
    "OpenapiJobAllocResp": "jobs",
    "OpenapiJobInfoResp": "jobs",
    "OpenapiJobModifyReq": "accounting",
    "OpenapiJobModifyResp": "accounting",
    "OpenapiJobPostResponse": "jobs",
    "OpenapiJobRequeueResp": "jobs",
    "OpenapiJobStateResp": "jobs",
    "OpenapiJobSubmitResponse": "jobs",
    "OpenapiJobsRequeueQuery": "jobs",
    "OpenapiJobsRequeueResp": "jobs",
    "OpenapiKillJobResp": "jobs",
    "OpenapiKillJobsResp": "jobs",
    "OpenapiLicensesResp": "cluster",
    "OpenapiMeta": "common",
    "OpenapiMetaClient": "common",
    "OpenapiMetaPlugin": "common",
    "OpenapiMetaSlurm": "common",
    "OpenapiMetaSlurmVersion": "common",
    "OpenapiNodesResp": "cluster",
    "OpenapiPartitionResp": "cluster",
    "OpenapiPartitionsModReq": "cluster",
    "OpenapiPingArrayResp": "diagnostics",
    "OpenapiReservationModResp": "cluster",
    "OpenapiReservationResp": "cluster",
    "OpenapiResourceLayoutResp": "jobs",
    "OpenapiResp": "common",
    "OpenapiSharesResp": "accounting",
    "OpenapiSlurmdbdConfResp": "diagnostics",
    "OpenapiSlurmdbdConfigReq": "accounting",
    "OpenapiSlurmdbdConfigResp": "accounting",
    "OpenapiSlurmdbdJobsResp": "accounting",
    "OpenapiSlurmdbdPingResp": "diagnostics",
    "OpenapiSlurmdbdQosRemovedResp": "accounting",
    "OpenapiSlurmdbdQosReq": "accounting",
    "OpenapiSlurmdbdQosResp": "accounting",
    "OpenapiSlurmdbdStatsResp": "diagnostics",
    "OpenapiTresReq": "accounting",
    "OpenapiTresResp": "accounting",
    "OpenapiUsersAddCondResp": "accounting",
    "OpenapiUsersAddCondRespStr": "accounting",
    "OpenapiUsersReq": "accounting",
    "OpenapiUsersResp": "accounting",
    "OpenapiWarning": "common",
    "OpenapiWckeyRemovedResp": "accounting",
    "OpenapiWckeyReq": "accounting",
    "OpenapiWckeyResp": "accounting",
    "PartPrio": "jobs",
    "PartitionInfo": "cluster",
    "PartitionInfoAccounts": "cluster",
    "PartitionInfoAccountsReq": "cluster",
    "PartitionInfoCpus": "cluster",
    "PartitionInfoCpusReq": "cluster",
    "PartitionInfoDefaults": "cluster",
    "PartitionInfoDefaultsReq": "cluster",
    "PartitionInfoGroups": "cluster",
    "PartitionInfoGroupsReq": "cluster",
    "PartitionInfoMaximums": "cluster",
    "PartitionInfoMaximumsOversubscribe": "cluster",
    "PartitionInfoMaximumsOversubscribeReq": "cluster",
    "PartitionInfoMaximumsReq": "cluster",
    "PartitionInfoMinimums": "cluster",
    "PartitionInfoMinimumsReq": "cluster",
    "PartitionInfoNodes": "cluster",
    "PartitionInfoNodesReq": "cluster",
    "PartitionInfoPartition": "cluster",
    "PartitionInfoPartitionReq": "cluster",
    "PartitionInfoPriority": "cluster",
    "PartitionInfoPriorityReq": "cluster",
    "PartitionInfoQos": "cluster",
    "PartitionInfoQosReq": "cluster",
    "PartitionInfoReq": "cluster",
    "PartitionInfoTimeouts": "cluster",
    "PartitionInfoTimeoutsReq": "cluster",
    "PartitionInfoTres": "cluster",
    "PartitionInfoTresReq": "cluster",
    "PortRange": "diagnostics",
    "ProcessExitCodeVerbose": "common",
    "ProcessExitCodeVerboseReq": "accounting",
    "ProcessExitCodeVerboseSignal": "common",
    "ProcessExitCodeVerboseSignalReq": "accounting",
    "Qos": "accounting",
    "QosLimits": "accounting",
    "QosLimitsMax": "accounting",
    "QosLimitsMaxAccruing": "accounting",
    "QosLimitsMaxAccruingPer": "accounting",
    "QosLimitsMaxAccruingPerReq": "accounting",
    "QosLimitsMaxAccruingReq": "accounting",
    "QosLimitsMaxActiveJobs": "accounting",
    "QosLimitsMaxActiveJobsReq": "accounting",
    "QosLimitsMaxJobs": "accounting",
    "QosLimitsMaxJobsActiveJobs": "accounting",
    "QosLimitsMaxJobsActiveJobsPer": "accounting",
    "QosLimitsMaxJobsActiveJobsPerReq": "accounting",
    "QosLimitsMaxJobsActiveJobsReq": "accounting",
    "QosLimitsMaxJobsPer": "accounting",
    "QosLimitsMaxJobsPerReq": "accounting",
    "QosLimitsMaxJobsReq": "accounting",
    "QosLimitsMaxReq": "accounting",
    "QosLimitsMaxTres": "accounting",
    "QosLimitsMaxTresMinutes": "accounting",
    "QosLimitsMaxTresMinutesPer": "accounting",
    "QosLimitsMaxTresMinutesPerReq": "accounting",
    "QosLimitsMaxTresMinutesReq": "accounting",
    "QosLimitsMaxTresPer": "accounting",
    "QosLimitsMaxTresPerReq": "accounting",
    "QosLimitsMaxTresReq": "accounting",
    "QosLimitsMaxWallClock": "accounting",
    "QosLimitsMaxWallClockPer": "accounting",
    "QosLimitsMaxWallClockPerReq": "accounting",
    "QosLimitsMaxWallClockReq": "accounting",
    "QosLimitsMin": "accounting",
    "QosLimitsMinReq": "accounting",
    "QosLimitsMinTres": "accounting",
    "QosLimitsMinTresPer": "accounting",
    "QosLimitsMinTresPerReq": "accounting",
    "QosLimitsMinTresReq": "accounting",
    "QosLimitsReq": "accounting",
    "QosPreempt": "accounting",
    "QosPreemptReq": "accounting",
    "QosReq": "accounting",
    "ReservationCoreSpec": "cluster",
    "ReservationDescMsg": "cluster",
    "ReservationDescMsgPurgeCompleted": "cluster",
    "ReservationDescMsgPurgeCompletedReq": "cluster",
    "ReservationDescMsgReq": "cluster",
    "ReservationInfo": "cluster",
    "ReservationInfoPurgeCompleted": "cluster",
    "ReservationModReq": "cluster",
    "RollupStats": "diagnostics",
    "RollupStatsDaily": "diagnostics",
    "RollupStatsDailyDuration": "diagnostics",
    "RollupStatsHourly": "diagnostics",
    "RollupStatsHourlyDuration": "diagnostics",
    "RollupStatsItem": "diagnostics",
    "RollupStatsMonthly": "diagnostics",
    "RollupStatsMonthlyDuration": "diagnostics",
    "ScheduleExitFields": "diagnostics",
    "SharesFloat128Tres": "accounting",
    "SharesRespMsg": "accounting",
    "SharesUint64Tres": "accounting",
    "SlurmConf": "diagnostics",
    "SlurmConfMeta": "diagnostics",
    "SlurmStepId": "jobs",
    "SlurmStepIdReq": "jobs",
    "SlurmdbPurgeUnits": "diagnostics",
    "SlurmdbdConf": "diagnostics",
    "SlurmdbdPing": "diagnostics",
    "StatsMsg": "diagnostics",
    "StatsMsgRpcDump": "diagnostics",
    "StatsMsgRpcQueue": "diagnostics",
    "StatsMsgRpcType": "diagnostics",
    "StatsMsgRpcUser": "diagnostics",
    "StatsRec": "diagnostics",
    "StatsRpc": "diagnostics",
    "StatsRpcTime": "diagnostics",
    "StatsUser": "diagnostics",
    "StatsUserTime": "diagnostics",
    "Step": "accounting",
    "StepCpu": "accounting",
    "StepCpuRequestedFrequency": "accounting",
    "StepNodes": "accounting",
    "StepStatistics": "accounting",
    "StepStatisticsCpu": "accounting",
    "StepStatisticsEnergy": "accounting",
    "StepStep": "accounting",
    "StepTask": "accounting",
    "StepTasks": "accounting",
    "StepTime": "accounting",
    "StepTimeSystem": "accounting",
    "StepTimeTotal": "accounting",
    "StepTimeUser": "accounting",
    "StepTres": "accounting",
    "StepTresConsumed": "accounting",
    "StepTresRequested": "accounting",
    "Tres": "common",
    "TresReq": "common",
    "UpdateNodeMsg": "cluster",
    "User": "accounting",
    "UserDefault": "accounting",
    "UserDefaultReq": "accounting",
    "UserReq": "accounting",
    "UserShort": "accounting",
    "UsersAddCond": "accounting",
    "Wckey": "accounting",
    "WckeyReq": "accounting",
    "WckeyTagStruct": "accounting",
}
"""The module that has a model."""

FIELDS: dict[str, dict[int, str]] = {
    "Account": {
        0x3F: "associations coordinators description flags name organization",
    },
    "AccountReq": {
        0x3F: "associations coordinators description flags name organization",
    },
    "AccountShort": {
        0x3F: "description organization",
    },
    "Accounting": {
        0x3C: "id_alt",
        0x3F: "allocated id start tres",
    },
    "AccountingAllocated": {
        0x3F: "seconds",
    },
    "AccountingAllocatedReq": {
        0x3F: "seconds",
    },
    "AccountingReq": {
        0x3C: "id_alt",
        0x3F: "allocated id start tres",
    },
    "AccountsAddCond": {
        0x3F: "accounts association clusters",
    },
    "AcctGatherEnergy": {
        0x3F: (
            "average_watts base_consumed_energy consumed_energy current_watts last_collected previous_consumed_energy"
        ),
    },
    "Assoc": {
        0x3F: (
            "account accounting cluster comment default flags id is_default lineage max min parent_account partition "
            "priority qos shares_raw user"
        ),
    },
    "AssocDefault": {
        0x3F: "qos",
    },
    "AssocDefaultReq": {
        0x3F: "qos",
    },
    "AssocMax": {
        0x3F: "jobs per tres",
    },
    "AssocMaxJobs": {
        0x3F: "accruing active per total",
    },
    "AssocMaxJobsPer": {
        0x3F: "accruing count submitted wall_clock",
    },
    "AssocMaxJobsPerReq": {
        0x3F: "accruing count submitted wall_clock",
    },
    "AssocMaxJobsReq": {
        0x3F: "accruing active per total",
    },
    "AssocMaxPer": {
        0x3F: "account",
    },
    "AssocMaxPerAccount": {
        0x3F: "wall_clock",
    },
    "AssocMaxPerAccountReq": {
        0x3F: "wall_clock",
    },
    "AssocMaxPerReq": {
        0x3F: "account",
    },
    "AssocMaxReq": {
        0x3F: "jobs per tres",
    },
    "AssocMaxTres": {
        0x3F: "group minutes per total",
    },
    "AssocMaxTresGroup": {
        0x3F: "active minutes",
    },
    "AssocMaxTresGroupReq": {
        0x3F: "active minutes",
    },
    "AssocMaxTresMinutes": {
        0x3F: "per total",
    },
    "AssocMaxTresMinutesPer": {
        0x3F: "job",
    },
    "AssocMaxTresMinutesPerReq": {
        0x3F: "job",
    },
    "AssocMaxTresMinutesReq": {
        0x3F: "per total",
    },
    "AssocMaxTresPer": {
        0x3F: "job node",
    },
    "AssocMaxTresPerReq": {
        0x3F: "job node",
    },
    "AssocMaxTresReq": {
        0x3F: "group minutes per total",
    },
    "AssocMin": {
        0x3F: "priority_threshold",
    },
    "AssocMinReq": {
        0x3F: "priority_threshold",
    },
    "AssocRecSet": {
        0x3F: (
            "comment defaultqos fairshare grpjobs grpjobsaccrue grpsubmitjobs grptres grptresmins grptresrunmins "
            "grpwall maxjobs maxjobsaccrue maxsubmitjobs maxtresminsperjob maxtresperjob maxtrespernode "
            "maxtresrunmins maxwalldurationperjob minpriothresh parent priority qoslevel"
        ),
    },
    "AssocReq": {
        0x3F: (
            "account accounting cluster comment default flags id is_default lineage max min parent_account partition "
            "priority qos shares_raw user"
        ),
    },
    "AssocSharesObjWrap": {
        0x3F: (
            "cluster effective_usage fairshare id name parent partition shares shares_normalized tres type usage "
            "usage_normalized"
        ),
    },
    "AssocSharesObjWrapFairshare": {
        0x3F: "factor level",
    },
    "AssocSharesObjWrapTres": {
        0x3F: "group_minutes run_seconds usage",
    },
    "AssocShort": {
        0x3F: "account cluster id partition user",
    },
    "AssocShortReq": {
        0x3F: "account cluster id partition user",
    },
    "BfExitFields": {
        0x3F: "bf_max_job_start bf_max_job_test bf_max_time bf_node_space_size end_job_queue state_changed",
    },
    "ClusterRec": {
        0x1F: "select_plugin",
        0x3F: "associations controller flags name nodes rpc_version tres",
    },
    "ClusterRecAssociations": {
        0x3F: "root",
    },
    "ClusterRecAssociationsReq": {
        0x3F: "root",
    },
    "ClusterRecController": {
        0x3F: "host port",
    },
    "ClusterRecControllerReq": {
        0x3F: "host port",
    },
    "ClusterRecReq": {
        0x1F: "select_plugin",
        0x3F: "associations controller flags name nodes rpc_version tres",
    },
    "Controller": {
        0x20: "address machine",
    },
    "ControllerPing": {
        0x1F: "mode pinged",
        0x20: "status",
        0x3C: "primary responding",
        0x3F: "hostname latency",
    },
    "Coord": {
        0x3F: "direct name",
    },
    "CoordReq": {
        0x3F: "direct name",
    },
    "CronEntry": {
        0x3F: "command day_of_month day_of_week flags hour line minute month specification",
    },
    "CronEntryLine": {
        0x3F: "end start",
    },
    "Instance": {
        0x3F: "cluster extra instance_id instance_type node_name time",
    },
    "InstanceReq": {
        0x3F: "cluster extra instance_id instance_type node_name time",
    },
    "InstanceTime": {
        0x3F: "time_end time_start",
    },
    "InstanceTimeReq": {
        0x3F: "time_end time_start",
    },
    "Job": {
        0x20: "exclusive original_sluid oversubscribe sluid",
        0x38: "segment_size",
        0x3C: "qosreq restart_cnt",
        0x3E: "stderr stderr_expanded stdin stdin_expanded stdout stdout_expanded",
        0x3F: (
            "account allocation_nodes array association block cluster comment constraints container derived_exit_code "
            "exit_code extra failed_node flags group het hold job_id kill_request_user licenses mcs name nodes "
            "partition priority qos required reservation script state steps submit_line time tres used_gres user "
            "wckey working_directory"
        ),
    },
    "JobAllocReq": {
        0x3E: "hetjob job",
    },
    "JobArray": {
        0x3F: "job_id limits task task_id",
    },
    "JobArrayLimits": {
        0x3F: "max",
    },
    "JobArrayLimitsMax": {
        0x3F: "running",
    },
    "JobArrayLimitsMaxRunning": {
        0x3F: "tasks",
    },
    "JobArrayResponseMsgEntry": {
        0x3F: "error error_code job_id step_id why",
    },
    "JobComment": {
        0x3F: "administrator job system",
    },
    "JobDefaults": {
        0x20: "type value",
    },
    "JobDescMsg": {
        0x2: "resv_mpi_ports",
        0x3: "exclusive oversubscribe",
        0x1F: "power_flags",
        0x20: "container_type memory_update_delay memory_update_margin",
        0x21: "cores_per_socket",
        0x30: "step_id",
        0x3C: "oom_kill_step",
        0x3E: "segment_size",
        0x3F: (
            "account account_gather_frequency admin_comment allocation_node_list allocation_node_port argv array "
            "batch_features begin_time burst_buffer cluster_constraint clusters comment constraints container "
            "container_id contiguous core_specification cpu_binding cpu_binding_flags cpu_frequency cpus_per_task "
            "cpus_per_tres crontab current_working_directory deadline delay_boot dependency distribution "
            "distribution_plane_size end_time environment excluded_nodes extra flags group_id hetjob_group hold "
            "immediate job_id kill_on_node_fail kill_warning_delay kill_warning_flags kill_warning_signal licenses "
            "mail_type mail_user maximum_cpus maximum_nodes mcs_label memory_binding memory_binding_type "
            "memory_per_cpu memory_per_node memory_per_tres minimum_boards_per_node minimum_cpus "
            "minimum_cpus_per_node minimum_nodes minimum_sockets_per_board name network nice nodes ntasks_per_tres "
            "open_mode overcommit partition prefer priority profile qos reboot requeue required_nodes "
            "required_switches reservation reserve_ports rlimits script selinux_context shared site_factor "
            "sockets_per_node spank_environment standard_error standard_input standard_output tasks tasks_per_board "
            "tasks_per_core tasks_per_node tasks_per_socket temporary_disk_per_node thread_specification "
            "threads_per_core time_limit time_minimum tres_bind tres_freq tres_per_job tres_per_node tres_per_socket "
            "tres_per_task user_id wait_all_nodes wait_for_switch wckey x11 x11_magic_cookie x11_target_host "
            "x11_target_port"
        ),
    },
    "JobDescMsgRlimits": {
        0x3F: "as_ core cpu data fsize memlock nofile nproc rss stack",
    },
    "JobHet": {
        0x3F: "job_id job_offset",
    },
    "JobInfo": {
        0x3: "exclusive minimum_switches oversubscribe show_flags",
        0x1F: "power",
        0x20: "container_type memory_update_delay memory_update_margin",
        0x30: "step_id submit_line",
        0x38: "licenses_allocated segment_size stderr_expanded stdin_expanded stdout_expanded",
        0x3C: "priority_by_partition required_switches",
        0x3F: (
            "account accrue_time admin_comment allocating_node array_job_id array_max_tasks array_task_id "
            "array_task_string association_id batch_features batch_flag batch_host billable_tres burst_buffer "
            "burst_buffer_state cluster cluster_features command comment container container_id contiguous core_spec "
            "cores_per_socket cpu_frequency_governor cpu_frequency_maximum cpu_frequency_minimum cpus cpus_per_task "
            "cpus_per_tres cron current_working_directory deadline delay_boot dependency derived_exit_code "
            "eligible_time end_time excluded_nodes exit_code extra failed_node features federation_origin "
            "federation_siblings_active federation_siblings_viable flags gres_detail group_id group_name het_job_id "
            "het_job_id_set het_job_offset hold job_id job_resources job_size_str job_state last_sched_evaluation "
            "licenses mail_type mail_user max_cpus max_nodes maximum_switch_wait_time mcs_label memory_per_cpu "
            "memory_per_node memory_per_tres minimum_cpus_per_node minimum_tmp_disk_per_node name network nice "
            "node_count nodes partition pre_sus_time preempt_time preemptable_time prefer priority profile qos reboot "
            "requeue required_nodes resize_time restart_cnt resv_name scheduled_nodes selinux_context shared "
            "sockets_per_board sockets_per_node standard_error standard_input standard_output start_time "
            "state_description state_reason submit_time suspend_time system_comment tasks tasks_per_board "
            "tasks_per_core tasks_per_node tasks_per_socket tasks_per_tres thread_spec threads_per_core time_limit "
            "time_minimum tres_alloc_str tres_bind tres_freq tres_per_job tres_per_node tres_per_socket tres_per_task "
            "tres_req_str user_id user_name wckey"
        ),
    },
    "JobInfoPower": {
        0x1F: "flags",
    },
    "JobMcs": {
        0x3F: "label",
    },
    "JobModify": {
        0x30: "comment derived_exit_code extra tres wckey",
    },
    "JobModifyComment": {
        0x30: "administrator job system",
    },
    "JobModifyTres": {
        0x30: "allocated",
    },
    "JobRequired": {
        0x3F: "cpus memory_per_cpu memory_per_node",
    },
    "JobRes": {
        0x1: "allocated_cores allocated_cpus allocated_hosts allocated_nodes",
        0x3E: "cpus select_type threads_per_core",
        0x3F: "nodes",
    },
    "JobResCore": {
        0x3E: "index status",
    },
    "JobResNode": {
        0x3E: "cpus index memory name sockets",
    },
    "JobResNodeCpus": {
        0x3E: "count used",
    },
    "JobResNodeMemory": {
        0x3E: "allocated used",
    },
    "JobResNodes": {
        0x3E: "allocation count list_ select_type whole",
    },
    "JobResSocket": {
        0x3E: "cores index",
    },
    "JobReservation": {
        0x38: "requested",
        0x3F: "id name",
    },
    "JobState": {
        0x3F: "current reason",
    },
    "JobStateRow": {
        0x3F: "job_id state",
    },
    "JobSubmitReq": {
        0x3F: "job jobs script",
    },
    "JobSubmitResponseMsg": {
        0x3: "error error_code job_id job_submit_user_msg step_id",
    },
    "JobTime": {
        0x3E: "planned",
        0x3F: "elapsed eligible end limit start submission suspended system total user",
    },
    "JobTimeSystem": {
        0x3F: "microseconds seconds",
    },
    "JobTimeTotal": {
        0x3F: "microseconds seconds",
    },
    "JobTimeUser": {
        0x3F: "microseconds seconds",
    },
    "JobTres": {
        0x3F: "allocated requested",
    },
    "KillJobsMsg": {
        0x3F: "account flags job_name job_state jobs nodes partition qos reservation signal user_id user_name wckey",
    },
    "KillJobsRespJob": {
        0x3F: "error federation job_id step_id",
    },
    "KillJobsRespJobError": {
        0x3F: "code message string",
    },
    "KillJobsRespJobFederation": {
        0x3F: "sibling",
    },
    "License": {
        0x30: "nodes",
        0x3F: "free last_consumed last_deficit last_update license_name remote reserved total used",
    },
    "Node": {
        0x1F: "external_sensors power tres_weighted",
        0x20: "suspend_time",
        0x38: "cert_flags tls_cert_last_renewal topology",
        0x3E: "gpu_spec res_cores_per_gpu",
        0x3F: (
            "active_features address alloc_cpus alloc_idle_cpus alloc_memory architecture boards boot_time "
            "burstbuffer_network_address cluster_name comment cores cpu_binding cpu_load cpus effective_cpus energy "
            "extra features free_mem gres gres_drained gres_used hostname instance_id instance_type last_busy "
            "mcs_label name next_state_after_reboot operating_system owner partitions port real_memory reason "
            "reason_changed_at reason_set_by_user reservation resume_after slurmd_start_time sockets "
            "specialized_cores specialized_cpus specialized_memory state temporary_disk threads tres tres_used "
            "version weight"
        ),
    },
    "NodeGresLayout": {
        0x30: "count index name type",
    },
    "NodeResourceLayout": {
        0x30: "channel core_bitmap cores_per_socket gres mem_alloc node sockets_per_node",
    },
    "OpenapiAccountsAddCondResp": {
        0x3F: "account association_condition",
    },
    "OpenapiAccountsAddCondRespStr": {
        0x3F: "added_accounts errors meta warnings",
    },
    "OpenapiAccountsRemovedResp": {
        0x3F: "errors meta removed_accounts warnings",
    },
    "OpenapiAccountsReq": {
        0x3F: "accounts",
    },
    "OpenapiAccountsResp": {
        0x3F: "accounts errors meta warnings",
    },
    "OpenapiAssocsRemovedResp": {
        0x3F: "errors meta removed_associations warnings",
    },
    "OpenapiAssocsReq": {
        0x3F: "associations",
    },
    "OpenapiAssocsResp": {
        0x3F: "associations errors meta warnings",
    },
    "OpenapiClustersRemovedResp": {
        0x3F: "deleted_clusters errors meta warnings",
    },
    "OpenapiClustersReq": {
        0x3F: "clusters",
    },
    "OpenapiClustersResp": {
        0x3F: "clusters errors meta warnings",
    },
    "OpenapiConfResp": {
        0x20: "errors meta slurm_conf slurm_conf_meta warnings",
    },
    "OpenapiCreateNodeReq": {
        0x30: "node_conf",
    },
    "OpenapiDiagResp": {
        0x3F: "errors meta statistics warnings",
    },
    "OpenapiError": {
        0x3F: "description error error_number source",
    },
    "OpenapiHostlistReq": {
        0x30: "hostlist",
    },
    "OpenapiHostlistReqResp": {
        0x30: "errors hostlist meta warnings",
    },
    "OpenapiHostnamesReq": {
        0x30: "hostnames",
    },
    "OpenapiHostnamesReqResp": {
        0x30: "errors hostnames meta warnings",
    },
    "OpenapiInstancesResp": {
        0x3F: "errors instances meta warnings",
    },
    "OpenapiJobAllocResp": {
        0x3E: "errors job_id job_submit_user_msg meta warnings",
    },
    "OpenapiJobInfoResp": {
        0x3F: "errors jobs last_backfill last_update meta warnings",
    },
    "OpenapiJobModifyReq": {
        0x30: "job_id_list job_rec",
    },
    "OpenapiJobModifyResp": {
        0x30: "errors meta results warnings",
    },
    "OpenapiJobPostResponse": {
        0x3: "job_id job_submit_user_msg step_id",
        0x3F: "errors meta results warnings",
    },
    "OpenapiJobRequeueResp": {
        0x20: "errors meta status warnings",
    },
    "OpenapiJobStateResp": {
        0x3F: "errors jobs meta warnings",
    },
    "OpenapiJobSubmitResponse": {
        0x3: "result",
        0x3F: "errors job_id job_submit_user_msg meta step_id warnings",
    },
    "OpenapiJobsRequeueQuery": {
        0x20: "flags jobs",
    },
    "OpenapiJobsRequeueResp": {
        0x20: "errors meta status warnings",
    },
    "OpenapiKillJobResp": {
        0x3C: "status",
        0x3F: "errors meta warnings",
    },
    "OpenapiKillJobsResp": {
        0x3F: "errors meta status warnings",
    },
    "OpenapiLicensesResp": {
        0x3F: "errors last_update licenses meta warnings",
    },
    "OpenapiMeta": {
        0x3F: "client command plugin slurm",
    },
    "OpenapiMetaClient": {
        0x3F: "group source user",
    },
    "OpenapiMetaPlugin": {
        0x3F: "accounting_storage data_parser name type",
    },
    "OpenapiMetaSlurm": {
        0x3F: "cluster release version",
    },
    "OpenapiMetaSlurmVersion": {
        0x3F: "major micro minor",
    },
    "OpenapiNodesResp": {
        0x3F: "errors last_update meta nodes warnings",
    },
    "OpenapiPartitionResp": {
        0x3F: "errors last_update meta partitions warnings",
    },
    "OpenapiPartitionsModReq": {
        0x20: "partitions",
    },
    "OpenapiPingArrayResp": {
        0x3F: "errors meta pings warnings",
    },
    "OpenapiReservationModResp": {
        0x38: "errors meta reservations warnings",
    },
    "OpenapiReservationResp": {
        0x3F: "errors last_update meta reservations warnings",
    },
    "OpenapiResourceLayoutResp": {
        0x30: "errors meta nodes warnings",
    },
    "OpenapiResp": {
        0x3F: "errors meta warnings",
    },
    "OpenapiSharesResp": {
        0x3F: "errors meta shares warnings",
    },
    "OpenapiSlurmdbdConfResp": {
        0x20: "errors meta slurmdbd_conf warnings",
    },
    "OpenapiSlurmdbdConfigReq": {
        0x1F: "instances",
        0x3F: "accounts associations clusters qos tres users wckeys",
    },
    "OpenapiSlurmdbdConfigResp": {
        0x1F: "instances",
        0x3F: "accounts associations clusters errors meta qos tres users warnings wckeys",
    },
    "OpenapiSlurmdbdJobsResp": {
        0x3F: "errors jobs meta warnings",
    },
    "OpenapiSlurmdbdPingResp": {
        0x3C: "errors meta pings warnings",
    },
    "OpenapiSlurmdbdQosRemovedResp": {
        0x3F: "errors meta removed_qos warnings",
    },
    "OpenapiSlurmdbdQosReq": {
        0x3F: "qos",
    },
    "OpenapiSlurmdbdQosResp": {
        0x3F: "errors meta qos warnings",
    },
    "OpenapiSlurmdbdStatsResp": {
        0x3F: "errors meta statistics warnings",
    },
    "OpenapiTresReq": {
        0x3F: "tres",
    },
    "OpenapiTresResp": {
        0x3F: "errors meta tres warnings",
    },
    "OpenapiUsersAddCondResp": {
        0x3F: "association_condition user",
    },
    "OpenapiUsersAddCondRespStr": {
        0x3F: "added_users errors meta warnings",
    },
    "OpenapiUsersReq": {
        0x3F: "users",
    },
    "OpenapiUsersResp": {
        0x3F: "errors meta users warnings",
    },
    "OpenapiWarning": {
        0x3F: "description source",
    },
    "OpenapiWckeyRemovedResp": {
        0x3F: "deleted_wckeys errors meta warnings",
    },
    "OpenapiWckeyReq": {
        0x3F: "wckeys",
    },
    "OpenapiWckeyResp": {
        0x3F: "errors meta warnings wckeys",
    },
    "PartPrio": {
        0x3C: "partition priority",
    },
    "PartitionInfo": {
        0x20: "flags preempt_mode",
        0x38: "topology",
        0x3E: "select_type",
        0x3F: (
            "accounts alternate cluster cpus defaults grace_time groups maximums minimums name node_sets nodes "
            "partition priority qos suspend_time timeouts tres"
        ),
    },
    "PartitionInfoAccounts": {
        0x3F: "allowed deny",
    },
    "PartitionInfoAccountsReq": {
        0x3F: "allowed deny",
    },
    "PartitionInfoCpus": {
        0x3F: "task_binding total",
    },
    "PartitionInfoCpusReq": {
        0x3F: "task_binding total",
    },
    "PartitionInfoDefaults": {
        0x3F: "job memory_per_cpu partition_memory_per_cpu partition_memory_per_node time",
    },
    "PartitionInfoDefaultsReq": {
        0x3F: "job memory_per_cpu partition_memory_per_cpu partition_memory_per_node time",
    },
    "PartitionInfoGroups": {
        0x3F: "allowed",
    },
    "PartitionInfoGroupsReq": {
        0x3F: "allowed",
    },
    "PartitionInfoMaximums": {
        0x3F: (
            "cpus_per_node cpus_per_socket memory_per_cpu nodes over_time_limit oversubscribe "
            "partition_memory_per_cpu partition_memory_per_node shares time"
        ),
    },
    "PartitionInfoMaximumsOversubscribe": {
        0x3F: "flags jobs",
    },
    "PartitionInfoMaximumsOversubscribeReq": {
        0x3F: "flags jobs",
    },
    "PartitionInfoMaximumsReq": {
        0x3F: (
            "cpus_per_node cpus_per_socket memory_per_cpu nodes over_time_limit oversubscribe "
            "partition_memory_per_cpu partition_memory_per_node shares time"
        ),
    },
    "PartitionInfoMinimums": {
        0x3F: "nodes",
    },
    "PartitionInfoMinimumsReq": {
        0x3F: "nodes",
    },
    "PartitionInfoNodes": {
        0x3F: "allowed_allocation configured total",
    },
    "PartitionInfoNodesReq": {
        0x3F: "allowed_allocation configured total",
    },
    "PartitionInfoPartition": {
        0x20: "exclusive oversubscribe",
        0x3F: "state",
    },
    "PartitionInfoPartitionReq": {
        0x20: "exclusive oversubscribe",
        0x3F: "state",
    },
    "PartitionInfoPriority": {
        0x3F: "job_factor tier",
    },
    "PartitionInfoPriorityReq": {
        0x3F: "job_factor tier",
    },
    "PartitionInfoQos": {
        0x3F: "allowed assigned deny",
    },
    "PartitionInfoQosReq": {
        0x3F: "allowed assigned deny",
    },
    "PartitionInfoReq": {
        0x20: "flags preempt_mode",
        0x38: "topology",
        0x3E: "select_type",
        0x3F: (
            "accounts alternate cluster cpus defaults grace_time groups maximums minimums name node_sets nodes "
            "partition priority qos suspend_time timeouts tres"
        ),
    },
    "PartitionInfoTimeouts": {
        0x3F: "resume suspend",
    },
    "PartitionInfoTimeoutsReq": {
        0x3F: "resume suspend",
    },
    "PartitionInfoTres": {
        0x3F: "billing_weights configured",
    },
    "PartitionInfoTresReq": {
        0x3F: "billing_weights configured",
    },
    "PortRange": {
        0x20: "maximum minimum set",
    },
    "ProcessExitCodeVerbose": {
        0x3F: "return_code signal status",
    },
    "ProcessExitCodeVerboseReq": {
        0x3F: "return_code signal status",
    },
    "ProcessExitCodeVerboseSignal": {
        0x3F: "id name",
    },
    "ProcessExitCodeVerboseSignalReq": {
        0x3F: "id name",
    },
    "Qos": {
        0x3F: "description flags id limits name preempt priority usage_factor usage_threshold",
    },
    "QosLimits": {
        0x3F: "factor grace_time max min",
    },
    "QosLimitsMax": {
        0x3F: "accruing active_jobs jobs tres wall_clock",
    },
    "QosLimitsMaxAccruing": {
        0x3F: "per",
    },
    "QosLimitsMaxAccruingPer": {
        0x3F: "account user",
    },
    "QosLimitsMaxAccruingPerReq": {
        0x3F: "account user",
    },
    "QosLimitsMaxAccruingReq": {
        0x3F: "per",
    },
    "QosLimitsMaxActiveJobs": {
        0x3F: "accruing count",
    },
    "QosLimitsMaxActiveJobsReq": {
        0x3F: "accruing count",
    },
    "QosLimitsMaxJobs": {
        0x3C: "count",
        0x3F: "active_jobs per",
    },
    "QosLimitsMaxJobsActiveJobs": {
        0x3F: "per",
    },
    "QosLimitsMaxJobsActiveJobsPer": {
        0x3F: "account user",
    },
    "QosLimitsMaxJobsActiveJobsPerReq": {
        0x3F: "account user",
    },
    "QosLimitsMaxJobsActiveJobsReq": {
        0x3F: "per",
    },
    "QosLimitsMaxJobsPer": {
        0x3F: "account user",
    },
    "QosLimitsMaxJobsPerReq": {
        0x3F: "account user",
    },
    "QosLimitsMaxJobsReq": {
        0x3C: "count",
        0x3F: "active_jobs per",
    },
    "QosLimitsMaxReq": {
        0x3F: "accruing active_jobs jobs tres wall_clock",
    },
    "QosLimitsMaxTres": {
        0x3F: "minutes per total",
    },
    "QosLimitsMaxTresMinutes": {
        0x3C: "total",
        0x3F: "per",
    },
    "QosLimitsMaxTresMinutesPer": {
        0x3F: "account job qos user",
    },
    "QosLimitsMaxTresMinutesPerReq": {
        0x3F: "account job qos user",
    },
    "QosLimitsMaxTresMinutesReq": {
        0x3C: "total",
        0x3F: "per",
    },
    "QosLimitsMaxTresPer": {
        0x3F: "account job node user",
    },
    "QosLimitsMaxTresPerReq": {
        0x3F: "account job node user",
    },
    "QosLimitsMaxTresReq": {
        0x3F: "minutes per total",
    },
    "QosLimitsMaxWallClock": {
        0x3F: "per",
    },
    "QosLimitsMaxWallClockPer": {
        0x3F: "job qos",
    },
    "QosLimitsMaxWallClockPerReq": {
        0x3F: "job qos",
    },
    "QosLimitsMaxWallClockReq": {
        0x3F: "per",
    },
    "QosLimitsMin": {
        0x3F: "priority_threshold tres",
    },
    "QosLimitsMinReq": {
        0x3F: "priority_threshold tres",
    },
    "QosLimitsMinTres": {
        0x3F: "per",
    },
    "QosLimitsMinTresPer": {
        0x3F: "job",
    },
    "QosLimitsMinTresPerReq": {
        0x3F: "job",
    },
    "QosLimitsMinTresReq": {
        0x3F: "per",
    },
    "QosLimitsReq": {
        0x3F: "factor grace_time max min",
    },
    "QosPreempt": {
        0x3F: "exempt_time list_ mode",
    },
    "QosPreemptReq": {
        0x3F: "exempt_time list_ mode",
    },
    "QosReq": {
        0x3F: "description flags id limits name preempt priority usage_factor usage_threshold",
    },
    "ReservationCoreSpec": {
        0x3F: "core node",
    },
    "ReservationDescMsg": {
        0x38: (
            "accounts burst_buffer comment core_count duration end_time features flags groups licenses "
            "max_start_delay name node_count node_list partition purge_completed start_time tres users"
        ),
    },
    "ReservationDescMsgPurgeCompleted": {
        0x38: "time",
    },
    "ReservationDescMsgPurgeCompletedReq": {
        0x38: "time",
    },
    "ReservationDescMsgReq": {
        0x38: (
            "accounts burst_buffer comment core_count duration end_time features flags groups licenses "
            "max_start_delay name node_count node_list partition purge_completed start_time tres users"
        ),
    },
    "ReservationInfo": {
        0x1F: "watts",
        0x3F: (
            "accounts burst_buffer core_count core_specializations end_time features flags groups licenses "
            "max_start_delay name node_count node_list partition purge_completed start_time tres users"
        ),
    },
    "ReservationInfoPurgeCompleted": {
        0x3F: "time",
    },
    "ReservationModReq": {
        0x38: "reservations",
    },
    "RollupStats": {
        0x3E: "daily hourly monthly",
    },
    "RollupStatsDaily": {
        0x3E: "count duration last_run",
    },
    "RollupStatsDailyDuration": {
        0x3E: "last max time",
    },
    "RollupStatsHourly": {
        0x3E: "count duration last_run",
    },
    "RollupStatsHourlyDuration": {
        0x3E: "last max time",
    },
    "RollupStatsItem": {
        0x1: "last_cycle last_run max_cycle mean_cycles total_cycles total_time type",
    },
    "RollupStatsMonthly": {
        0x3E: "count duration last_run",
    },
    "RollupStatsMonthlyDuration": {
        0x3E: "last max time",
    },
    "ScheduleExitFields": {
        0x3F: "default_queue_depth end_job_queue licenses max_job_start max_rpc_cnt max_sched_time",
    },
    "SharesFloat128Tres": {
        0x3F: "name value",
    },
    "SharesRespMsg": {
        0x3F: "shares total_shares",
    },
    "SharesUint64Tres": {
        0x3F: "name value",
    },
    "SlurmConf": {
        0x20: (
            "accounting_storage_backup_host accounting_storage_enforce accounting_storage_external_host "
            "accounting_storage_host accounting_storage_parameters accounting_storage_port accounting_storage_tres "
            "accounting_storage_type accounting_store_flags acct_gather_energy_type acct_gather_filesystem_type "
            "acct_gather_interconnect_type acct_gather_node_freq acct_gather_profile_type auth_alt_parameters "
            "auth_alt_types auth_info auth_type batch_start_timeout bcast_exclude bcast_parameters burst_buffer_type "
            "certgen_parameters certgen_type certmgr_parameters certmgr_type cli_filter_parameters cli_filter_plugins "
            "cluster_name communication_parameters communication_parameters_flags complete_wait conf_flags "
            "controllers cpu_freq_def cpu_freq_governors cred_type data_parser_parameters debug_flags def_mem_per_cpu "
            "dependency_parameters eio_timeout enforce_part_limits epilog epilog_msg_time epilog_slurmctld "
            "epilog_timeout fair_share_dampening_factor federation_parameters first_job_id "
            "get_name_info_cache_timeout gpu_freq_def gres_types group_update_force group_update_time hash_plugin "
            "health_check_interval health_check_node_state health_check_program health_check_timeout "
            "host_unreach_retry_count http_parser_type inactive_limit interactive_step_options "
            "job_acct_gather_frequency job_acct_gather_params job_acct_gather_type job_acct_oom_kill job_comp_host "
            "job_comp_loc job_comp_params job_comp_port job_comp_type job_comp_user job_defaults job_file_append "
            "job_requeue job_submit_plugins keepalive_interval keepalive_probes keepalive_time kill_on_bad_exit "
            "kill_wait launch_parameters license_parameters licenses log_time_format mail_domain mail_prog "
            "max_array_size max_batch_requeue max_dbd_msgs max_job_count max_job_id max_mem_per_cpu max_node_count "
            "max_step_count max_tasks_per_node mcs_parameters mcs_plugin message_timeout metrics_auth_users "
            "metrics_parameters metrics_type min_job_age mpi_default mpi_params namespace_type node_features_plugins "
            "over_time_limit plug_stack_config plugin_dir pr_ep_parameters pr_ep_plugins preempt_exempt_time "
            "preempt_mode preempt_parameters preempt_type priority_calc_period priority_decay_half_life "
            "priority_favor_small priority_flags priority_max_age priority_parameters priority_site_factor_parameters "
            "priority_site_factor_plugin priority_type priority_usage_reset_period priority_weight_age "
            "priority_weight_assoc priority_weight_fairshare priority_weight_job_size priority_weight_partition "
            "priority_weight_qos priority_weight_tres private_data proctrack_type prolog prolog_flags "
            "prolog_slurmctld prolog_timeout propagate_prio_process propagate_resource_limits "
            "propagate_resource_limits_except reboot_program reconfig_flags requeue_exit requeue_exit_hold "
            "resume_fail_program resume_program resume_rate resume_timeout resv_epilog resv_over_run resv_prolog "
            "return_to_service scheduler_parameters scheduler_time_slice scheduler_type scron_parameters select_type "
            "select_type_parameters slurm_sched_log_file slurm_sched_log_level slurm_user slurm_user_id "
            "slurmctld_addr slurmctld_debug slurmctld_http_auth_params slurmctld_log_file slurmctld_parameters "
            "slurmctld_pid_file slurmctld_port slurmctld_port_count slurmctld_primary_off_prog "
            "slurmctld_primary_on_prog slurmctld_syslog_debug slurmctld_timeout slurmd_debug slurmd_http_auth_params "
            "slurmd_log_file slurmd_parameters slurmd_parameters_flags slurmd_pid_file slurmd_port slurmd_spool_dir "
            "slurmd_syslog_debug slurmd_timeout slurmd_user slurmd_user_id srun_epilog srun_port_range srun_prolog "
            "state_save_location suspend_exc_nodes suspend_exc_parts suspend_exc_states suspend_program suspend_rate "
            "suspend_time suspend_timeout switch_parameters switch_type task_epilog task_plugin task_plugin_param "
            "task_prolog tcp_timeout tls_parameters tls_type tmp_fs topology_param topology_plugin tree_width "
            "unkillable_step_program unkillable_step_timeout url_parser_type v_size_factor wait_time x11_parameters"
        ),
    },
    "SlurmConfMeta": {
        0x20: "boot_time cluster_id hash_value last_update next_job_id slurm_conf slurm_version",
    },
    "SlurmStepId": {
        0x30: "job_id sluid step_het_component step_id",
    },
    "SlurmStepIdReq": {
        0x30: "job_id sluid step_het_component step_id",
    },
    "SlurmdbPurgeUnits": {
        0x20: "archive days hours months set",
    },
    "SlurmdbdConf": {
        0x20: (
            "archive_dir archive_script commit_delay dbd_addr dbd_backup_host dbd_host dbd_port debug_level "
            "debug_level_syslog default_qos flags log_file max_purge_limit max_query_time_range parameters "
            "persist_conn_flags pid_file purge_event_after purge_job_after purge_job_env_after purge_job_script_after "
            "purge_resv_after purge_step_after purge_suspend_after purge_txn_after purge_usage_after storage_loc "
            "storage_pass_script storage_user track_slurmctld_down track_wc_key"
        ),
    },
    "SlurmdbdPing": {
        0x20: "status",
        0x3C: "hostname latency primary responding",
    },
    "StatsMsg": {
        0x1F: "parts_packed",
        0x3E: (
            "bf_cycle_max bf_table_size_sum pending_rpcs pending_rpcs_by_hostlist schedule_cycle_depth "
            "schedule_cycle_sum"
        ),
        0x3F: (
            "agent_count agent_queue_size agent_thread_count bf_active bf_backfilled_het_jobs bf_backfilled_jobs "
            "bf_cycle_counter bf_cycle_last bf_cycle_mean bf_cycle_sum bf_depth_mean bf_depth_mean_try bf_depth_sum "
            "bf_depth_try_sum bf_exit bf_last_backfilled_jobs bf_last_depth bf_last_depth_try bf_queue_len "
            "bf_queue_len_mean bf_queue_len_sum bf_table_size bf_table_size_mean bf_when_last_cycle "
            "dbd_agent_queue_size gettimeofday_latency job_states_ts jobs_canceled jobs_completed jobs_failed "
            "jobs_pending jobs_running jobs_started jobs_submitted req_time req_time_start rpcs_by_message_type "
            "rpcs_by_user schedule_cycle_last schedule_cycle_max schedule_cycle_mean schedule_cycle_mean_depth "
            "schedule_cycle_per_minute schedule_cycle_total schedule_exit schedule_queue_length server_thread_count"
        ),
    },
    "StatsMsgRpcDump": {
        0x3E: "count message_type type_id",
    },
    "StatsMsgRpcQueue": {
        0x3E: "count message_type type_id",
    },
    "StatsMsgRpcType": {
        0x3E: "cycle_last cycle_max dropped queued",
        0x3F: "average_time count message_type total_time type_id",
    },
    "StatsMsgRpcUser": {
        0x3F: "average_time count total_time user user_id",
    },
    "StatsRec": {
        0x3F: "rollups rpcs time_start users",
    },
    "StatsRpc": {
        0x3F: "count rpc time",
    },
    "StatsRpcTime": {
        0x3F: "average total",
    },
    "StatsUser": {
        0x3F: "count time user",
    },
    "StatsUserTime": {
        0x3F: "average total",
    },
    "Step": {
        0x1F: "pid",
        0x20: "submit_line",
        0x3F: "cpu exit_code kill_request_user nodes state statistics step task tasks time tres",
    },
    "StepCpu": {
        0x3F: "governor requested_frequency",
    },
    "StepCpuRequestedFrequency": {
        0x3F: "max min",
    },
    "StepNodes": {
        0x3F: "count list_ range",
    },
    "StepStatistics": {
        0x3F: "cpu energy",
    },
    "StepStatisticsCpu": {
        0x3F: "actual_frequency",
    },
    "StepStatisticsEnergy": {
        0x3F: "consumed",
    },
    "StepStep": {
        0x38: "stderr stderr_expanded stdin stdin_expanded stdout stdout_expanded",
        0x3F: "id name",
    },
    "StepTask": {
        0x3F: "distribution",
    },
    "StepTasks": {
        0x3F: "count",
    },
    "StepTime": {
        0x38: "limit",
        0x3F: "elapsed end start suspended system total user",
    },
    "StepTimeSystem": {
        0x3F: "microseconds seconds",
    },
    "StepTimeTotal": {
        0x3F: "microseconds seconds",
    },
    "StepTimeUser": {
        0x3F: "microseconds seconds",
    },
    "StepTres": {
        0x3F: "allocated consumed requested",
    },
    "StepTresConsumed": {
        0x3F: "average max min total",
    },
    "StepTresRequested": {
        0x3F: "average max min total",
    },
    "Tres": {
        0x3F: "count id name node task type",
    },
    "TresReq": {
        0x3F: "count id name node task type",
    },
    "UpdateNodeMsg": {
        0x38: "topology_str",
        0x3F: (
            "address comment cpu_bind extra features features_act gres hostname name reason reason_uid resume_after "
            "state weight"
        ),
    },
    "User": {
        0x3F: "administrator_level associations coordinators default flags name old_name wckeys",
    },
    "UserDefault": {
        0x30: "qos",
        0x3F: "account wckey",
    },
    "UserDefaultReq": {
        0x30: "qos",
        0x3F: "account wckey",
    },
    "UserReq": {
        0x3F: "administrator_level associations coordinators default flags name old_name wckeys",
    },
    "UserShort": {
        0x30: "defaultqos",
        0x3F: "adminlevel defaultaccount defaultwckey",
    },
    "UsersAddCond": {
        0x3F: "accounts association clusters partitions users wckeys",
    },
    "Wckey": {
        0x3F: "accounting cluster flags id name user",
    },
    "WckeyReq": {
        0x3F: "accounting cluster flags id name user",
    },
    "WckeyTagStruct": {
        0x3F: "flags wckey",
    },
}
"""Model -> bits of API_VERSIONS (1 is the oldest) -> the fields that exactly these know."""

PLAIN: dict[str, dict[str, int]] = {
    "JobDescMsg": {"distribution_plane_size": 0x1},
}
"""Request fields that these versions want as a bare number, not as {set, infinite, number}."""
