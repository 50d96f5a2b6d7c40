"""One typed method per operation: ``AsyncSlurmApi`` and its blocking twin ``SlurmApi``."""

# Generated, do not edit; remake with scripts/codegen.
# Sources (sha256 in openapi/lock.toml):
#   v0.0.40 08d164e36fc87d17
#   v0.0.41 0a1ff2d67b76548d
#   v0.0.42 9ac627cf05a6d5bf
#   v0.0.43 d2bec7591fb4918a
#   v0.0.44 0ef7880975ce82e8
#   v0.0.45 b244942629738aa1

# ruff: noqa: A002 - parameters are called what Slurm calls them: id, format

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from slurm_rest.api._operations import SLURM, SLURMDB, UTIL
from slurm_rest.api.base import ApiCaller, AsyncOperations, Runner, SyncOperations, Time, Values

if TYPE_CHECKING:
    from slurm_rest.api.accounting import (
        JobModify,
        OpenapiAccountsAddCondResp,
        OpenapiAccountsAddCondRespStr,
        OpenapiAccountsRemovedResp,
        OpenapiAccountsReq,
        OpenapiAccountsResp,
        OpenapiAssocsRemovedResp,
        OpenapiAssocsReq,
        OpenapiAssocsResp,
        OpenapiClustersRemovedResp,
        OpenapiClustersReq,
        OpenapiClustersResp,
        OpenapiInstancesResp,
        OpenapiJobModifyReq,
        OpenapiJobModifyResp,
        OpenapiSharesResp,
        OpenapiSlurmdbdConfigReq,
        OpenapiSlurmdbdConfigResp,
        OpenapiSlurmdbdJobsResp,
        OpenapiSlurmdbdQosRemovedResp,
        OpenapiSlurmdbdQosReq,
        OpenapiSlurmdbdQosResp,
        OpenapiTresReq,
        OpenapiTresResp,
        OpenapiUsersAddCondResp,
        OpenapiUsersAddCondRespStr,
        OpenapiUsersReq,
        OpenapiUsersResp,
        OpenapiWckeyRemovedResp,
        OpenapiWckeyReq,
        OpenapiWckeyResp,
    )
    from slurm_rest.api.cluster import (
        OpenapiCreateNodeReq,
        OpenapiHostlistReq,
        OpenapiHostlistReqResp,
        OpenapiHostnamesReq,
        OpenapiHostnamesReqResp,
        OpenapiLicensesResp,
        OpenapiNodesResp,
        OpenapiPartitionResp,
        OpenapiPartitionsModReq,
        OpenapiReservationModResp,
        OpenapiReservationResp,
        ReservationDescMsgReq,
        ReservationModReq,
        UpdateNodeMsg,
    )
    from slurm_rest.api.common import OpenapiResp
    from slurm_rest.api.diagnostics import (
        OpenapiConfResp,
        OpenapiDiagResp,
        OpenapiPingArrayResp,
        OpenapiSlurmdbdConfResp,
        OpenapiSlurmdbdPingResp,
        OpenapiSlurmdbdStatsResp,
    )
    from slurm_rest.api.jobs import (
        JobAllocReq,
        JobDescMsg,
        JobSubmitReq,
        KillJobsMsg,
        OpenapiJobAllocResp,
        OpenapiJobInfoResp,
        OpenapiJobPostResponse,
        OpenapiJobRequeueResp,
        OpenapiJobsRequeueQuery,
        OpenapiJobsRequeueResp,
        OpenapiJobStateResp,
        OpenapiJobSubmitResponse,
        OpenapiKillJobResp,
        OpenapiKillJobsResp,
        OpenapiResourceLayoutResp,
    )

__all__ = [
    "AsyncSlurmApi",
    "AsyncSlurmdbApi",
    "AsyncUtilApi",
    "SlurmApi",
    "SlurmdbApi",
    "UtilApi",
]


class AsyncSlurmdbApi(AsyncOperations):
    """The operations of slurmdbd: accounting."""

    async def delete_account(self, account_name: str) -> OpenapiAccountsRemovedResp:
        """Delete account.

        ``DELETE /slurmdb/<version>/account/{account_name}``.
        """
        answer = await self._call(SLURMDB["delete_account"], path={"account_name": account_name})
        return cast("OpenapiAccountsRemovedResp", answer)

    async def delete_association(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsRemovedResp:
        """Delete association.

        ``DELETE /slurmdb/<version>/association/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["delete_association"],
            query={
                "account": account,
                "cluster": cluster,
                "default_qos": default_qos,
                "with_deleted": with_deleted,
                "with_usage": with_usage,
                "only_defaults": only_defaults,
                "with_raw_qos": with_raw_qos,
                "with_sub_accts": with_sub_accts,
                "without_parent_info": without_parent_info,
                "without_parent_limits": without_parent_limits,
                "id": id,
                "parent_account": parent_account,
                "partition": partition,
                "qos": qos,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "user": user,
                "format": format,
            },
        )
        return cast("OpenapiAssocsRemovedResp", answer)

    async def delete_associations(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsRemovedResp:
        """Delete associations.

        ``DELETE /slurmdb/<version>/associations/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["delete_associations"],
            query={
                "account": account,
                "cluster": cluster,
                "default_qos": default_qos,
                "with_deleted": with_deleted,
                "with_usage": with_usage,
                "only_defaults": only_defaults,
                "with_raw_qos": with_raw_qos,
                "with_sub_accts": with_sub_accts,
                "without_parent_info": without_parent_info,
                "without_parent_limits": without_parent_limits,
                "id": id,
                "parent_account": parent_account,
                "partition": partition,
                "qos": qos,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "user": user,
                "format": format,
            },
        )
        return cast("OpenapiAssocsRemovedResp", answer)

    async def delete_cluster(
        self,
        cluster_name: str,
        *,
        classification: Values | None = None,
        cluster: Values | None = None,
        federation: Values | None = None,
        flags: Values | None = None,
        rpc_version: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiClustersRemovedResp:
        """Delete cluster.

        ``DELETE /slurmdb/<version>/cluster/{cluster_name}``.

        Args:
            classification: Type of machine; words: UNCLASSIFIED, CAPABILITY, CAPACITY, CAPAPACITY, CAPAPACITY (both
                CAPABILITY and CAPACITY).
            cluster: cluster list.
            federation: federation list.
            flags: Query flags; words: DELETED, REGISTERING, MULTIPLE_SLURMD, FEDERATION, EXTERNAL, FRONT_END.
            rpc_version: RPC version list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            with_deleted: Include deleted clusters.
            with_usage: Include usage.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["delete_cluster"],
            path={"cluster_name": cluster_name},
            query={
                "classification": classification,
                "cluster": cluster,
                "federation": federation,
                "flags": flags,
                "rpc_version": rpc_version,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "with_deleted": with_deleted,
                "with_usage": with_usage,
                "format": format,
            },
        )
        return cast("OpenapiClustersRemovedResp", answer)

    async def delete_single_qos(self, qos: str) -> OpenapiSlurmdbdQosRemovedResp:
        """Delete QOS.

        ``DELETE /slurmdb/<version>/qos/{qos}``.
        """
        answer = await self._call(SLURMDB["delete_single_qos"], path={"qos": qos})
        return cast("OpenapiSlurmdbdQosRemovedResp", answer)

    async def delete_user(self, name: str) -> OpenapiResp:
        """Delete user.

        ``DELETE /slurmdb/<version>/user/{name}``.
        """
        answer = await self._call(SLURMDB["delete_user"], path={"name": name})
        return cast("OpenapiResp", answer)

    async def delete_wckey(self, id: int | str) -> OpenapiWckeyRemovedResp:
        """Delete wckey.

        ``DELETE /slurmdb/<version>/wckey/{id}``.
        """
        answer = await self._call(SLURMDB["delete_wckey"], path={"id": id})
        return cast("OpenapiWckeyRemovedResp", answer)

    async def get_account(
        self,
        account_name: str,
        *,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        with_deleted: bool | None = None,
    ) -> OpenapiAccountsResp:
        """Get account info.

        ``GET /slurmdb/<version>/account/{account_name}``.

        Args:
            with_assocs: Include associations.
            with_coords: Include coordinators.
            with_deleted: Include deleted.
        """
        answer = await self._call(
            SLURMDB["get_account"],
            path={"account_name": account_name},
            query={"with_assocs": with_assocs, "with_coords": with_coords, "with_deleted": with_deleted},
        )
        return cast("OpenapiAccountsResp", answer)

    async def get_accounts(
        self,
        *,
        description: Values | None = None,
        with_deleted: bool | None = None,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        no_users_are_coords: bool | None = None,
        users_are_coords: bool | None = None,
    ) -> OpenapiAccountsResp:
        """Get account list.

        ``GET /slurmdb/<version>/accounts/``.

        Args:
            description: description list.
            with_deleted: include deleted associations.
            with_assocs: query includes associations.
            with_coords: query includes coordinators.
            no_users_are_coords: remove users as coordinators; only v0.0.41 and later.
            users_are_coords: users are coordinators; only v0.0.41 and later.
        """
        answer = await self._call(
            SLURMDB["get_accounts"],
            query={
                "description": description,
                "with_deleted": with_deleted,
                "with_assocs": with_assocs,
                "with_coords": with_coords,
                "no_users_are_coords": no_users_are_coords,
                "users_are_coords": users_are_coords,
            },
        )
        return cast("OpenapiAccountsResp", answer)

    async def get_association(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsResp:
        """Get association info.

        ``GET /slurmdb/<version>/association/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_association"],
            query={
                "account": account,
                "cluster": cluster,
                "default_qos": default_qos,
                "with_deleted": with_deleted,
                "with_usage": with_usage,
                "only_defaults": only_defaults,
                "with_raw_qos": with_raw_qos,
                "with_sub_accts": with_sub_accts,
                "without_parent_info": without_parent_info,
                "without_parent_limits": without_parent_limits,
                "id": id,
                "parent_account": parent_account,
                "partition": partition,
                "qos": qos,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "user": user,
                "format": format,
            },
        )
        return cast("OpenapiAssocsResp", answer)

    async def get_associations(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsResp:
        """Get association list.

        ``GET /slurmdb/<version>/associations/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_associations"],
            query={
                "account": account,
                "cluster": cluster,
                "default_qos": default_qos,
                "with_deleted": with_deleted,
                "with_usage": with_usage,
                "only_defaults": only_defaults,
                "with_raw_qos": with_raw_qos,
                "with_sub_accts": with_sub_accts,
                "without_parent_info": without_parent_info,
                "without_parent_limits": without_parent_limits,
                "id": id,
                "parent_account": parent_account,
                "partition": partition,
                "qos": qos,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "user": user,
                "format": format,
            },
        )
        return cast("OpenapiAssocsResp", answer)

    async def get_cluster(
        self,
        cluster_name: str,
        *,
        classification: Values | None = None,
        cluster: Values | None = None,
        federation: Values | None = None,
        flags: Values | None = None,
        rpc_version: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiClustersResp:
        """Get cluster info.

        ``GET /slurmdb/<version>/cluster/{cluster_name}``.

        Args:
            classification: Type of machine; words: UNCLASSIFIED, CAPABILITY, CAPACITY, CAPAPACITY, CAPAPACITY (both
                CAPABILITY and CAPACITY).
            cluster: cluster list.
            federation: federation list.
            flags: Query flags; words: DELETED, REGISTERING, MULTIPLE_SLURMD, FEDERATION, EXTERNAL, FRONT_END.
            rpc_version: RPC version list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            with_deleted: Include deleted clusters.
            with_usage: Include usage.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_cluster"],
            path={"cluster_name": cluster_name},
            query={
                "classification": classification,
                "cluster": cluster,
                "federation": federation,
                "flags": flags,
                "rpc_version": rpc_version,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "with_deleted": with_deleted,
                "with_usage": with_usage,
                "format": format,
            },
        )
        return cast("OpenapiClustersResp", answer)

    async def get_clusters(self) -> OpenapiClustersResp:
        """Get cluster list.

        ``GET /slurmdb/<version>/clusters/``.
        """
        answer = await self._call(SLURMDB["get_clusters"])
        return cast("OpenapiClustersResp", answer)

    async def get_conf(self) -> OpenapiSlurmdbdConfResp:
        """Dump slurmdbd configuration.

        ``GET /slurmdb/<version>/conf``; only v0.0.45 and later.
        """
        answer = await self._call(SLURMDB["get_conf"])
        return cast("OpenapiSlurmdbdConfResp", answer)

    async def get_config(self) -> OpenapiSlurmdbdConfigResp:
        """Dump all configuration information.

        ``GET /slurmdb/<version>/config``.
        """
        answer = await self._call(SLURMDB["get_config"])
        return cast("OpenapiSlurmdbdConfigResp", answer)

    async def get_diag(self) -> OpenapiSlurmdbdStatsResp:
        """Get slurmdb diagnostics.

        ``GET /slurmdb/<version>/diag/``.
        """
        answer = await self._call(SLURMDB["get_diag"])
        return cast("OpenapiSlurmdbdStatsResp", answer)

    async def get_instance(
        self,
        *,
        cluster: Values | None = None,
        extra: Values | None = None,
        instance_id: Values | None = None,
        instance_type: Values | None = None,
        node_list: str | int | None = None,
        time_end: Time | None = None,
        time_start: Time | None = None,
        format: str | int | None = None,
    ) -> OpenapiInstancesResp:
        """Get instance info.

        ``GET /slurmdb/<version>/instance/``.

        Args:
            cluster: clusters list.
            extra: extra list.
            instance_id: instance_id list.
            instance_type: instance_type list.
            node_list: Ranged node string.
            time_end: Time end (UNIX timestamp).
            time_start: Time start (UNIX timestamp).
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_instance"],
            query={
                "cluster": cluster,
                "extra": extra,
                "instance_id": instance_id,
                "instance_type": instance_type,
                "node_list": node_list,
                "time_end": time_end,
                "time_start": time_start,
                "format": format,
            },
        )
        return cast("OpenapiInstancesResp", answer)

    async def get_instances(
        self,
        *,
        cluster: Values | None = None,
        extra: Values | None = None,
        instance_id: Values | None = None,
        instance_type: Values | None = None,
        node_list: str | int | None = None,
        time_end: Time | None = None,
        time_start: Time | None = None,
        format: str | int | None = None,
    ) -> OpenapiInstancesResp:
        """Get instance list.

        ``GET /slurmdb/<version>/instances/``.

        Args:
            cluster: clusters list.
            extra: extra list.
            instance_id: instance_id list.
            instance_type: instance_type list.
            node_list: Ranged node string.
            time_end: Time end (UNIX timestamp).
            time_start: Time start (UNIX timestamp).
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_instances"],
            query={
                "cluster": cluster,
                "extra": extra,
                "instance_id": instance_id,
                "instance_type": instance_type,
                "node_list": node_list,
                "time_end": time_end,
                "time_start": time_start,
                "format": format,
            },
        )
        return cast("OpenapiInstancesResp", answer)

    async def get_job(self, job_id: int | str) -> OpenapiSlurmdbdJobsResp:
        """Get job info.

        ``GET /slurmdb/<version>/job/{job_id}``.
        """
        answer = await self._call(SLURMDB["get_job"], path={"job_id": job_id})
        return cast("OpenapiSlurmdbdJobsResp", answer)

    async def get_jobs(
        self,
        *,
        account: Values | None = None,
        association: Values | None = None,
        cluster: Values | None = None,
        constraints: Values | None = None,
        scheduler_unset: bool | None = None,
        scheduled_on_submit: bool | None = None,
        scheduled_by_main: bool | None = None,
        scheduled_by_backfill: bool | None = None,
        job_started: bool | None = None,
        job_altered: bool | None = None,
        exit_code: str | int | None = None,
        show_duplicates: bool | None = None,
        skip_steps: bool | None = None,
        disable_truncate_usage_time: bool | None = None,
        whole_hetjob: bool | None = None,
        disable_whole_hetjob: bool | None = None,
        disable_wait_for_result: bool | None = None,
        usage_time_as_submit_time: bool | None = None,
        show_batch_script: bool | None = None,
        show_job_environment: bool | None = None,
        groups: Values | None = None,
        job_name: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        reason: Values | None = None,
        reservation: Values | None = None,
        reservation_id: Values | None = None,
        state: Values | None = None,
        step: Values | None = None,
        end_time: Time | None = None,
        start_time: Time | None = None,
        node: str | int | None = None,
        users: Values | None = None,
        wckey: Values | None = None,
        format: str | int | None = None,
        cpus_max: str | int | None = None,
        cpus_min: str | int | None = None,
        nodes_max: str | int | None = None,
        nodes_min: str | int | None = None,
        timelimit_max: str | int | None = None,
        timelimit_min: str | int | None = None,
        submit_time: Time | None = None,
    ) -> OpenapiSlurmdbdJobsResp:
        """Get job list.

        ``GET /slurmdb/<version>/jobs/``.

        Args:
            account: account list.
            association: association list; numeric ids.
            cluster: cluster list.
            constraints: constraint list.
            scheduler_unset: Schedule bits not set.
            scheduled_on_submit: Job was started on submit.
            scheduled_by_main: Job was started from main scheduler.
            scheduled_by_backfill: Job was started from backfill.
            job_started: Job start RPC was received.
            job_altered: Job record has been altered; only v0.0.44 and later.
            exit_code: Job exit code (numeric); the servers seen take no notice of it.
            show_duplicates: Include duplicate job entries.
            skip_steps: Exclude job step details.
            disable_truncate_usage_time: Do not truncate the time to usage_start and usage_end.
            whole_hetjob: Include details on all hetjob components.
            disable_whole_hetjob: Only show details on specified hetjob components.
            disable_wait_for_result: Tell dbd not to wait for the result.
            usage_time_as_submit_time: Use usage_time as the submit_time of the job.
            show_batch_script: Include job script.
            show_job_environment: Include job environment.
            groups: group list; ends slurmrestd 24.11.
            job_name: job name list.
            partition: partition name list.
            qos: QOS name list; numeric ids, names fail.
            reason: reason list.
            reservation: reservation name list.
            reservation_id: reservation ID list.
            state: state list; long names (COMPLETED), only together with start_time and end_time.
            step: step id list.
            end_time: Usage end (UNIX timestamp).
            start_time: Usage start (UNIX timestamp).
            node: Ranged node string where jobs ran.
            users: user name list.
            wckey: WCKey list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
            cpus_max: Maximum number of cpus; only v0.0.40.
            cpus_min: Minimum number of cpus; only v0.0.40.
            nodes_max: Maximum number of nodes; only v0.0.40.
            nodes_min: Minimum number of nodes; only v0.0.40.
            timelimit_max: Maximum timelimit (seconds); only v0.0.40.
            timelimit_min: Minimum timelimit (seconds); only v0.0.40.
            submit_time: Submit time (UNIX timestamp); only v0.0.40.
        """
        answer = await self._call(
            SLURMDB["get_jobs"],
            query={
                "account": account,
                "association": association,
                "cluster": cluster,
                "constraints": constraints,
                "scheduler_unset": scheduler_unset,
                "scheduled_on_submit": scheduled_on_submit,
                "scheduled_by_main": scheduled_by_main,
                "scheduled_by_backfill": scheduled_by_backfill,
                "job_started": job_started,
                "job_altered": job_altered,
                "exit_code": exit_code,
                "show_duplicates": show_duplicates,
                "skip_steps": skip_steps,
                "disable_truncate_usage_time": disable_truncate_usage_time,
                "whole_hetjob": whole_hetjob,
                "disable_whole_hetjob": disable_whole_hetjob,
                "disable_wait_for_result": disable_wait_for_result,
                "usage_time_as_submit_time": usage_time_as_submit_time,
                "show_batch_script": show_batch_script,
                "show_job_environment": show_job_environment,
                "groups": groups,
                "job_name": job_name,
                "partition": partition,
                "qos": qos,
                "reason": reason,
                "reservation": reservation,
                "reservation_id": reservation_id,
                "state": state,
                "step": step,
                "end_time": end_time,
                "start_time": start_time,
                "node": node,
                "users": users,
                "wckey": wckey,
                "format": format,
                "cpus_max": cpus_max,
                "cpus_min": cpus_min,
                "nodes_max": nodes_max,
                "nodes_min": nodes_min,
                "timelimit_max": timelimit_max,
                "timelimit_min": timelimit_min,
                "submit_time": submit_time,
            },
        )
        return cast("OpenapiSlurmdbdJobsResp", answer)

    async def get_ping(self) -> OpenapiSlurmdbdPingResp:
        """Ping test.

        ``GET /slurmdb/<version>/ping/``; only v0.0.42 and later.
        """
        answer = await self._call(SLURMDB["get_ping"])
        return cast("OpenapiSlurmdbdPingResp", answer)

    async def get_qos(
        self,
        *,
        description: Values | None = None,
        with_deleted: bool | None = None,
        id: Values | None = None,
        name: Values | None = None,
        preempt_mode: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiSlurmdbdQosResp:
        """Get QOS list.

        ``GET /slurmdb/<version>/qos/``.

        Args:
            description: description list.
            with_deleted: Include deleted QOS.
            id: QOS id list.
            name: QOS name list.
            preempt_mode: PreemptMode used when jobs in this QOS are preempted; words: DISABLED, SUSPEND, REQUEUE,
                CANCEL, GANG.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_qos"],
            query={
                "description": description,
                "with_deleted": with_deleted,
                "id": id,
                "name": name,
                "preempt_mode": preempt_mode,
                "format": format,
            },
        )
        return cast("OpenapiSlurmdbdQosResp", answer)

    async def get_single_qos(self, qos: str, *, with_deleted: bool | None = None) -> OpenapiSlurmdbdQosResp:
        """Get QOS info.

        ``GET /slurmdb/<version>/qos/{qos}``.

        Args:
            with_deleted: Query includes deleted QOS.
        """
        answer = await self._call(SLURMDB["get_single_qos"], path={"qos": qos}, query={"with_deleted": with_deleted})
        return cast("OpenapiSlurmdbdQosResp", answer)

    async def get_tres(self) -> OpenapiTresResp:
        """Get TRES info.

        ``GET /slurmdb/<version>/tres/``.
        """
        answer = await self._call(SLURMDB["get_tres"])
        return cast("OpenapiTresResp", answer)

    async def get_user(
        self,
        name: str,
        *,
        with_deleted: bool | None = None,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        with_wckeys: bool | None = None,
    ) -> OpenapiUsersResp:
        """Get user info.

        ``GET /slurmdb/<version>/user/{name}``.

        Args:
            with_deleted: Include deleted users.
            with_assocs: Include associations.
            with_coords: Include coordinators.
            with_wckeys: Include WCKeys.
        """
        answer = await self._call(
            SLURMDB["get_user"],
            path={"name": name},
            query={
                "with_deleted": with_deleted,
                "with_assocs": with_assocs,
                "with_coords": with_coords,
                "with_wckeys": with_wckeys,
            },
        )
        return cast("OpenapiUsersResp", answer)

    async def get_users(
        self,
        *,
        admin_level: Values | None = None,
        default_account: Values | None = None,
        default_wckey: Values | None = None,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        with_deleted: bool | None = None,
        with_wckeys: bool | None = None,
        without_defaults: bool | None = None,
    ) -> OpenapiUsersResp:
        """Get user list.

        ``GET /slurmdb/<version>/users/``.

        Args:
            admin_level: Administrator level; words: Not Set, None, Operator, Administrator.
            default_account: default account list.
            default_wckey: default WCKey list.
            with_assocs: With associations.
            with_coords: With coordinators.
            with_deleted: With deleted.
            with_wckeys: With WCKeys.
            without_defaults: Exclude defaults.
        """
        answer = await self._call(
            SLURMDB["get_users"],
            query={
                "admin_level": admin_level,
                "default_account": default_account,
                "default_wckey": default_wckey,
                "with_assocs": with_assocs,
                "with_coords": with_coords,
                "with_deleted": with_deleted,
                "with_wckeys": with_wckeys,
                "without_defaults": without_defaults,
            },
        )
        return cast("OpenapiUsersResp", answer)

    async def get_wckey(self, id: int | str) -> OpenapiWckeyResp:
        """Get wckey info.

        ``GET /slurmdb/<version>/wckey/{id}``.
        """
        answer = await self._call(SLURMDB["get_wckey"], path={"id": id})
        return cast("OpenapiWckeyResp", answer)

    async def get_wckeys(
        self,
        *,
        cluster: Values | None = None,
        id: Values | None = None,
        name: Values | None = None,
        only_defaults: bool | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        with_usage: bool | None = None,
        with_deleted: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiWckeyResp:
        """Get wckey list.

        ``GET /slurmdb/<version>/wckeys/``.

        Args:
            cluster: cluster name list.
            id: ID list.
            name: name list.
            only_defaults: Only query defaults; ends slurmrestd 24.11.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp); ends slurmrestd 24.11.
            user: user list.
            with_usage: Include usage.
            with_deleted: Include deleted WCKeys.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["get_wckeys"],
            query={
                "cluster": cluster,
                "id": id,
                "name": name,
                "only_defaults": only_defaults,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "user": user,
                "with_usage": with_usage,
                "with_deleted": with_deleted,
                "format": format,
            },
        )
        return cast("OpenapiWckeyResp", answer)

    async def post_accounts(self, body: OpenapiAccountsReq | Mapping[str, object]) -> OpenapiResp:
        """Add/update list of accounts.

        ``POST /slurmdb/<version>/accounts/``.
        """
        answer = await self._call(SLURMDB["post_accounts"], body=body)
        return cast("OpenapiResp", answer)

    async def post_accounts_association(
        self, body: OpenapiAccountsAddCondResp | Mapping[str, object]
    ) -> OpenapiAccountsAddCondRespStr:
        """Add accounts with conditional association.

        ``POST /slurmdb/<version>/accounts_association/``.
        """
        answer = await self._call(SLURMDB["post_accounts_association"], body=body)
        return cast("OpenapiAccountsAddCondRespStr", answer)

    async def post_associations(self, body: OpenapiAssocsReq | Mapping[str, object]) -> OpenapiResp:
        """Set associations info.

        ``POST /slurmdb/<version>/associations/``.
        """
        answer = await self._call(SLURMDB["post_associations"], body=body)
        return cast("OpenapiResp", answer)

    async def post_clusters(self, body: OpenapiClustersReq | Mapping[str, object]) -> OpenapiResp:
        """Get cluster list.

        ``POST /slurmdb/<version>/clusters/``.
        """
        answer = await self._call(SLURMDB["post_clusters"], body=body)
        return cast("OpenapiResp", answer)

    async def post_config(self, body: OpenapiSlurmdbdConfigReq | Mapping[str, object]) -> OpenapiResp:
        """Load all configuration information.

        ``POST /slurmdb/<version>/config``.
        """
        answer = await self._call(SLURMDB["post_config"], body=body)
        return cast("OpenapiResp", answer)

    async def post_job(self, job_id: int | str, body: JobModify | Mapping[str, object]) -> OpenapiJobModifyResp:
        """Update job.

        ``POST /slurmdb/<version>/job/{job_id}``; only v0.0.44 and later.
        """
        answer = await self._call(SLURMDB["post_job"], path={"job_id": job_id}, body=body)
        return cast("OpenapiJobModifyResp", answer)

    async def post_jobs(self, body: OpenapiJobModifyReq | Mapping[str, object]) -> OpenapiJobModifyResp:
        """Update jobs.

        ``POST /slurmdb/<version>/jobs/``; only v0.0.44 and later.
        """
        answer = await self._call(SLURMDB["post_jobs"], body=body)
        return cast("OpenapiJobModifyResp", answer)

    async def post_qos(
        self,
        body: OpenapiSlurmdbdQosReq | Mapping[str, object],
        *,
        description: Values | None = None,
        with_deleted: bool | None = None,
        id: Values | None = None,
        name: Values | None = None,
        preempt_mode: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiResp:
        """Add or update QOSs.

        ``POST /slurmdb/<version>/qos/``.

        Args:
            description: description list.
            with_deleted: Include deleted QOS.
            id: QOS id list.
            name: QOS name list.
            preempt_mode: PreemptMode used when jobs in this QOS are preempted; words: DISABLED, SUSPEND, REQUEUE,
                CANCEL, GANG.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["post_qos"],
            query={
                "description": description,
                "with_deleted": with_deleted,
                "id": id,
                "name": name,
                "preempt_mode": preempt_mode,
                "format": format,
            },
            body=body,
        )
        return cast("OpenapiResp", answer)

    async def post_tres(self, body: OpenapiTresReq | Mapping[str, object]) -> OpenapiResp:
        """Add TRES.

        ``POST /slurmdb/<version>/tres/``.
        """
        answer = await self._call(SLURMDB["post_tres"], body=body)
        return cast("OpenapiResp", answer)

    async def post_users(self, body: OpenapiUsersReq | Mapping[str, object]) -> OpenapiResp:
        """Update users.

        ``POST /slurmdb/<version>/users/``.
        """
        answer = await self._call(SLURMDB["post_users"], body=body)
        return cast("OpenapiResp", answer)

    async def post_users_association(
        self,
        body: OpenapiUsersAddCondResp | Mapping[str, object],
        *,
        update_time: Time | None = None,
        flags: Values | None = None,
    ) -> OpenapiUsersAddCondRespStr:
        """Add users with conditional association.

        ``POST /slurmdb/<version>/users_association/``.

        Args:
            update_time: Query partitions updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(
            SLURMDB["post_users_association"], query={"update_time": update_time, "flags": flags}, body=body
        )
        return cast("OpenapiUsersAddCondRespStr", answer)

    async def post_wckeys(
        self,
        body: OpenapiWckeyReq | Mapping[str, object],
        *,
        cluster: Values | None = None,
        id: Values | None = None,
        name: Values | None = None,
        only_defaults: bool | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        with_usage: bool | None = None,
        with_deleted: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiResp:
        """Add or update wckeys.

        ``POST /slurmdb/<version>/wckeys/``.

        Args:
            cluster: cluster name list.
            id: ID list.
            name: name list.
            only_defaults: Only query defaults.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            with_usage: Include usage.
            with_deleted: Include deleted WCKeys.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        answer = await self._call(
            SLURMDB["post_wckeys"],
            query={
                "cluster": cluster,
                "id": id,
                "name": name,
                "only_defaults": only_defaults,
                "usage_end": usage_end,
                "usage_start": usage_start,
                "user": user,
                "with_usage": with_usage,
                "with_deleted": with_deleted,
                "format": format,
            },
            body=body,
        )
        return cast("OpenapiResp", answer)


class SlurmdbApi(SyncOperations):
    """The operations of slurmdbd: accounting; each blocks until it is answered."""

    def __init__(self, api: AsyncSlurmdbApi, run: Runner) -> None:
        super().__init__(run)
        self._api = api

    def delete_account(self, account_name: str) -> OpenapiAccountsRemovedResp:
        """Delete account.

        ``DELETE /slurmdb/<version>/account/{account_name}``.
        """
        return self._run(self._api.delete_account(account_name))

    def delete_association(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsRemovedResp:
        """Delete association.

        ``DELETE /slurmdb/<version>/association/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.delete_association(
                account=account,
                cluster=cluster,
                default_qos=default_qos,
                with_deleted=with_deleted,
                with_usage=with_usage,
                only_defaults=only_defaults,
                with_raw_qos=with_raw_qos,
                with_sub_accts=with_sub_accts,
                without_parent_info=without_parent_info,
                without_parent_limits=without_parent_limits,
                id=id,
                parent_account=parent_account,
                partition=partition,
                qos=qos,
                usage_end=usage_end,
                usage_start=usage_start,
                user=user,
                format=format,
            )
        )

    def delete_associations(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsRemovedResp:
        """Delete associations.

        ``DELETE /slurmdb/<version>/associations/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.delete_associations(
                account=account,
                cluster=cluster,
                default_qos=default_qos,
                with_deleted=with_deleted,
                with_usage=with_usage,
                only_defaults=only_defaults,
                with_raw_qos=with_raw_qos,
                with_sub_accts=with_sub_accts,
                without_parent_info=without_parent_info,
                without_parent_limits=without_parent_limits,
                id=id,
                parent_account=parent_account,
                partition=partition,
                qos=qos,
                usage_end=usage_end,
                usage_start=usage_start,
                user=user,
                format=format,
            )
        )

    def delete_cluster(
        self,
        cluster_name: str,
        *,
        classification: Values | None = None,
        cluster: Values | None = None,
        federation: Values | None = None,
        flags: Values | None = None,
        rpc_version: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiClustersRemovedResp:
        """Delete cluster.

        ``DELETE /slurmdb/<version>/cluster/{cluster_name}``.

        Args:
            classification: Type of machine; words: UNCLASSIFIED, CAPABILITY, CAPACITY, CAPAPACITY, CAPAPACITY (both
                CAPABILITY and CAPACITY).
            cluster: cluster list.
            federation: federation list.
            flags: Query flags; words: DELETED, REGISTERING, MULTIPLE_SLURMD, FEDERATION, EXTERNAL, FRONT_END.
            rpc_version: RPC version list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            with_deleted: Include deleted clusters.
            with_usage: Include usage.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.delete_cluster(
                cluster_name,
                classification=classification,
                cluster=cluster,
                federation=federation,
                flags=flags,
                rpc_version=rpc_version,
                usage_end=usage_end,
                usage_start=usage_start,
                with_deleted=with_deleted,
                with_usage=with_usage,
                format=format,
            )
        )

    def delete_single_qos(self, qos: str) -> OpenapiSlurmdbdQosRemovedResp:
        """Delete QOS.

        ``DELETE /slurmdb/<version>/qos/{qos}``.
        """
        return self._run(self._api.delete_single_qos(qos))

    def delete_user(self, name: str) -> OpenapiResp:
        """Delete user.

        ``DELETE /slurmdb/<version>/user/{name}``.
        """
        return self._run(self._api.delete_user(name))

    def delete_wckey(self, id: int | str) -> OpenapiWckeyRemovedResp:
        """Delete wckey.

        ``DELETE /slurmdb/<version>/wckey/{id}``.
        """
        return self._run(self._api.delete_wckey(id))

    def get_account(
        self,
        account_name: str,
        *,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        with_deleted: bool | None = None,
    ) -> OpenapiAccountsResp:
        """Get account info.

        ``GET /slurmdb/<version>/account/{account_name}``.

        Args:
            with_assocs: Include associations.
            with_coords: Include coordinators.
            with_deleted: Include deleted.
        """
        return self._run(
            self._api.get_account(
                account_name, with_assocs=with_assocs, with_coords=with_coords, with_deleted=with_deleted
            )
        )

    def get_accounts(
        self,
        *,
        description: Values | None = None,
        with_deleted: bool | None = None,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        no_users_are_coords: bool | None = None,
        users_are_coords: bool | None = None,
    ) -> OpenapiAccountsResp:
        """Get account list.

        ``GET /slurmdb/<version>/accounts/``.

        Args:
            description: description list.
            with_deleted: include deleted associations.
            with_assocs: query includes associations.
            with_coords: query includes coordinators.
            no_users_are_coords: remove users as coordinators; only v0.0.41 and later.
            users_are_coords: users are coordinators; only v0.0.41 and later.
        """
        return self._run(
            self._api.get_accounts(
                description=description,
                with_deleted=with_deleted,
                with_assocs=with_assocs,
                with_coords=with_coords,
                no_users_are_coords=no_users_are_coords,
                users_are_coords=users_are_coords,
            )
        )

    def get_association(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsResp:
        """Get association info.

        ``GET /slurmdb/<version>/association/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_association(
                account=account,
                cluster=cluster,
                default_qos=default_qos,
                with_deleted=with_deleted,
                with_usage=with_usage,
                only_defaults=only_defaults,
                with_raw_qos=with_raw_qos,
                with_sub_accts=with_sub_accts,
                without_parent_info=without_parent_info,
                without_parent_limits=without_parent_limits,
                id=id,
                parent_account=parent_account,
                partition=partition,
                qos=qos,
                usage_end=usage_end,
                usage_start=usage_start,
                user=user,
                format=format,
            )
        )

    def get_associations(
        self,
        *,
        account: Values | None = None,
        cluster: Values | None = None,
        default_qos: Values | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        only_defaults: bool | None = None,
        with_raw_qos: bool | None = None,
        with_sub_accts: bool | None = None,
        without_parent_info: bool | None = None,
        without_parent_limits: bool | None = None,
        id: Values | None = None,
        parent_account: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiAssocsResp:
        """Get association list.

        ``GET /slurmdb/<version>/associations/``.

        Args:
            account: accounts list.
            cluster: clusters list.
            default_qos: QOS list.
            with_deleted: Include deleted associations.
            with_usage: Include usage.
            only_defaults: Filter to only defaults.
            with_raw_qos: Include a raw qos or delta_qos.
            with_sub_accts: Include sub acct information.
            without_parent_info: Exclude parent id/name.
            without_parent_limits: Exclude limits from parents.
            id: ID list.
            parent_account: names of parent account.
            partition: partition name list.
            qos: QOS list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_associations(
                account=account,
                cluster=cluster,
                default_qos=default_qos,
                with_deleted=with_deleted,
                with_usage=with_usage,
                only_defaults=only_defaults,
                with_raw_qos=with_raw_qos,
                with_sub_accts=with_sub_accts,
                without_parent_info=without_parent_info,
                without_parent_limits=without_parent_limits,
                id=id,
                parent_account=parent_account,
                partition=partition,
                qos=qos,
                usage_end=usage_end,
                usage_start=usage_start,
                user=user,
                format=format,
            )
        )

    def get_cluster(
        self,
        cluster_name: str,
        *,
        classification: Values | None = None,
        cluster: Values | None = None,
        federation: Values | None = None,
        flags: Values | None = None,
        rpc_version: Values | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        with_deleted: bool | None = None,
        with_usage: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiClustersResp:
        """Get cluster info.

        ``GET /slurmdb/<version>/cluster/{cluster_name}``.

        Args:
            classification: Type of machine; words: UNCLASSIFIED, CAPABILITY, CAPACITY, CAPAPACITY, CAPAPACITY (both
                CAPABILITY and CAPACITY).
            cluster: cluster list.
            federation: federation list.
            flags: Query flags; words: DELETED, REGISTERING, MULTIPLE_SLURMD, FEDERATION, EXTERNAL, FRONT_END.
            rpc_version: RPC version list.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            with_deleted: Include deleted clusters.
            with_usage: Include usage.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_cluster(
                cluster_name,
                classification=classification,
                cluster=cluster,
                federation=federation,
                flags=flags,
                rpc_version=rpc_version,
                usage_end=usage_end,
                usage_start=usage_start,
                with_deleted=with_deleted,
                with_usage=with_usage,
                format=format,
            )
        )

    def get_clusters(self) -> OpenapiClustersResp:
        """Get cluster list.

        ``GET /slurmdb/<version>/clusters/``.
        """
        return self._run(self._api.get_clusters())

    def get_conf(self) -> OpenapiSlurmdbdConfResp:
        """Dump slurmdbd configuration.

        ``GET /slurmdb/<version>/conf``; only v0.0.45 and later.
        """
        return self._run(self._api.get_conf())

    def get_config(self) -> OpenapiSlurmdbdConfigResp:
        """Dump all configuration information.

        ``GET /slurmdb/<version>/config``.
        """
        return self._run(self._api.get_config())

    def get_diag(self) -> OpenapiSlurmdbdStatsResp:
        """Get slurmdb diagnostics.

        ``GET /slurmdb/<version>/diag/``.
        """
        return self._run(self._api.get_diag())

    def get_instance(
        self,
        *,
        cluster: Values | None = None,
        extra: Values | None = None,
        instance_id: Values | None = None,
        instance_type: Values | None = None,
        node_list: str | int | None = None,
        time_end: Time | None = None,
        time_start: Time | None = None,
        format: str | int | None = None,
    ) -> OpenapiInstancesResp:
        """Get instance info.

        ``GET /slurmdb/<version>/instance/``.

        Args:
            cluster: clusters list.
            extra: extra list.
            instance_id: instance_id list.
            instance_type: instance_type list.
            node_list: Ranged node string.
            time_end: Time end (UNIX timestamp).
            time_start: Time start (UNIX timestamp).
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_instance(
                cluster=cluster,
                extra=extra,
                instance_id=instance_id,
                instance_type=instance_type,
                node_list=node_list,
                time_end=time_end,
                time_start=time_start,
                format=format,
            )
        )

    def get_instances(
        self,
        *,
        cluster: Values | None = None,
        extra: Values | None = None,
        instance_id: Values | None = None,
        instance_type: Values | None = None,
        node_list: str | int | None = None,
        time_end: Time | None = None,
        time_start: Time | None = None,
        format: str | int | None = None,
    ) -> OpenapiInstancesResp:
        """Get instance list.

        ``GET /slurmdb/<version>/instances/``.

        Args:
            cluster: clusters list.
            extra: extra list.
            instance_id: instance_id list.
            instance_type: instance_type list.
            node_list: Ranged node string.
            time_end: Time end (UNIX timestamp).
            time_start: Time start (UNIX timestamp).
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_instances(
                cluster=cluster,
                extra=extra,
                instance_id=instance_id,
                instance_type=instance_type,
                node_list=node_list,
                time_end=time_end,
                time_start=time_start,
                format=format,
            )
        )

    def get_job(self, job_id: int | str) -> OpenapiSlurmdbdJobsResp:
        """Get job info.

        ``GET /slurmdb/<version>/job/{job_id}``.
        """
        return self._run(self._api.get_job(job_id))

    def get_jobs(
        self,
        *,
        account: Values | None = None,
        association: Values | None = None,
        cluster: Values | None = None,
        constraints: Values | None = None,
        scheduler_unset: bool | None = None,
        scheduled_on_submit: bool | None = None,
        scheduled_by_main: bool | None = None,
        scheduled_by_backfill: bool | None = None,
        job_started: bool | None = None,
        job_altered: bool | None = None,
        exit_code: str | int | None = None,
        show_duplicates: bool | None = None,
        skip_steps: bool | None = None,
        disable_truncate_usage_time: bool | None = None,
        whole_hetjob: bool | None = None,
        disable_whole_hetjob: bool | None = None,
        disable_wait_for_result: bool | None = None,
        usage_time_as_submit_time: bool | None = None,
        show_batch_script: bool | None = None,
        show_job_environment: bool | None = None,
        groups: Values | None = None,
        job_name: Values | None = None,
        partition: Values | None = None,
        qos: Values | None = None,
        reason: Values | None = None,
        reservation: Values | None = None,
        reservation_id: Values | None = None,
        state: Values | None = None,
        step: Values | None = None,
        end_time: Time | None = None,
        start_time: Time | None = None,
        node: str | int | None = None,
        users: Values | None = None,
        wckey: Values | None = None,
        format: str | int | None = None,
        cpus_max: str | int | None = None,
        cpus_min: str | int | None = None,
        nodes_max: str | int | None = None,
        nodes_min: str | int | None = None,
        timelimit_max: str | int | None = None,
        timelimit_min: str | int | None = None,
        submit_time: Time | None = None,
    ) -> OpenapiSlurmdbdJobsResp:
        """Get job list.

        ``GET /slurmdb/<version>/jobs/``.

        Args:
            account: account list.
            association: association list; numeric ids.
            cluster: cluster list.
            constraints: constraint list.
            scheduler_unset: Schedule bits not set.
            scheduled_on_submit: Job was started on submit.
            scheduled_by_main: Job was started from main scheduler.
            scheduled_by_backfill: Job was started from backfill.
            job_started: Job start RPC was received.
            job_altered: Job record has been altered; only v0.0.44 and later.
            exit_code: Job exit code (numeric); the servers seen take no notice of it.
            show_duplicates: Include duplicate job entries.
            skip_steps: Exclude job step details.
            disable_truncate_usage_time: Do not truncate the time to usage_start and usage_end.
            whole_hetjob: Include details on all hetjob components.
            disable_whole_hetjob: Only show details on specified hetjob components.
            disable_wait_for_result: Tell dbd not to wait for the result.
            usage_time_as_submit_time: Use usage_time as the submit_time of the job.
            show_batch_script: Include job script.
            show_job_environment: Include job environment.
            groups: group list; ends slurmrestd 24.11.
            job_name: job name list.
            partition: partition name list.
            qos: QOS name list; numeric ids, names fail.
            reason: reason list.
            reservation: reservation name list.
            reservation_id: reservation ID list.
            state: state list; long names (COMPLETED), only together with start_time and end_time.
            step: step id list.
            end_time: Usage end (UNIX timestamp).
            start_time: Usage start (UNIX timestamp).
            node: Ranged node string where jobs ran.
            users: user name list.
            wckey: WCKey list.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
            cpus_max: Maximum number of cpus; only v0.0.40.
            cpus_min: Minimum number of cpus; only v0.0.40.
            nodes_max: Maximum number of nodes; only v0.0.40.
            nodes_min: Minimum number of nodes; only v0.0.40.
            timelimit_max: Maximum timelimit (seconds); only v0.0.40.
            timelimit_min: Minimum timelimit (seconds); only v0.0.40.
            submit_time: Submit time (UNIX timestamp); only v0.0.40.
        """
        return self._run(
            self._api.get_jobs(
                account=account,
                association=association,
                cluster=cluster,
                constraints=constraints,
                scheduler_unset=scheduler_unset,
                scheduled_on_submit=scheduled_on_submit,
                scheduled_by_main=scheduled_by_main,
                scheduled_by_backfill=scheduled_by_backfill,
                job_started=job_started,
                job_altered=job_altered,
                exit_code=exit_code,
                show_duplicates=show_duplicates,
                skip_steps=skip_steps,
                disable_truncate_usage_time=disable_truncate_usage_time,
                whole_hetjob=whole_hetjob,
                disable_whole_hetjob=disable_whole_hetjob,
                disable_wait_for_result=disable_wait_for_result,
                usage_time_as_submit_time=usage_time_as_submit_time,
                show_batch_script=show_batch_script,
                show_job_environment=show_job_environment,
                groups=groups,
                job_name=job_name,
                partition=partition,
                qos=qos,
                reason=reason,
                reservation=reservation,
                reservation_id=reservation_id,
                state=state,
                step=step,
                end_time=end_time,
                start_time=start_time,
                node=node,
                users=users,
                wckey=wckey,
                format=format,
                cpus_max=cpus_max,
                cpus_min=cpus_min,
                nodes_max=nodes_max,
                nodes_min=nodes_min,
                timelimit_max=timelimit_max,
                timelimit_min=timelimit_min,
                submit_time=submit_time,
            )
        )

    def get_ping(self) -> OpenapiSlurmdbdPingResp:
        """Ping test.

        ``GET /slurmdb/<version>/ping/``; only v0.0.42 and later.
        """
        return self._run(self._api.get_ping())

    def get_qos(
        self,
        *,
        description: Values | None = None,
        with_deleted: bool | None = None,
        id: Values | None = None,
        name: Values | None = None,
        preempt_mode: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiSlurmdbdQosResp:
        """Get QOS list.

        ``GET /slurmdb/<version>/qos/``.

        Args:
            description: description list.
            with_deleted: Include deleted QOS.
            id: QOS id list.
            name: QOS name list.
            preempt_mode: PreemptMode used when jobs in this QOS are preempted; words: DISABLED, SUSPEND, REQUEUE,
                CANCEL, GANG.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_qos(
                description=description,
                with_deleted=with_deleted,
                id=id,
                name=name,
                preempt_mode=preempt_mode,
                format=format,
            )
        )

    def get_single_qos(self, qos: str, *, with_deleted: bool | None = None) -> OpenapiSlurmdbdQosResp:
        """Get QOS info.

        ``GET /slurmdb/<version>/qos/{qos}``.

        Args:
            with_deleted: Query includes deleted QOS.
        """
        return self._run(self._api.get_single_qos(qos, with_deleted=with_deleted))

    def get_tres(self) -> OpenapiTresResp:
        """Get TRES info.

        ``GET /slurmdb/<version>/tres/``.
        """
        return self._run(self._api.get_tres())

    def get_user(
        self,
        name: str,
        *,
        with_deleted: bool | None = None,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        with_wckeys: bool | None = None,
    ) -> OpenapiUsersResp:
        """Get user info.

        ``GET /slurmdb/<version>/user/{name}``.

        Args:
            with_deleted: Include deleted users.
            with_assocs: Include associations.
            with_coords: Include coordinators.
            with_wckeys: Include WCKeys.
        """
        return self._run(
            self._api.get_user(
                name,
                with_deleted=with_deleted,
                with_assocs=with_assocs,
                with_coords=with_coords,
                with_wckeys=with_wckeys,
            )
        )

    def get_users(
        self,
        *,
        admin_level: Values | None = None,
        default_account: Values | None = None,
        default_wckey: Values | None = None,
        with_assocs: bool | None = None,
        with_coords: bool | None = None,
        with_deleted: bool | None = None,
        with_wckeys: bool | None = None,
        without_defaults: bool | None = None,
    ) -> OpenapiUsersResp:
        """Get user list.

        ``GET /slurmdb/<version>/users/``.

        Args:
            admin_level: Administrator level; words: Not Set, None, Operator, Administrator.
            default_account: default account list.
            default_wckey: default WCKey list.
            with_assocs: With associations.
            with_coords: With coordinators.
            with_deleted: With deleted.
            with_wckeys: With WCKeys.
            without_defaults: Exclude defaults.
        """
        return self._run(
            self._api.get_users(
                admin_level=admin_level,
                default_account=default_account,
                default_wckey=default_wckey,
                with_assocs=with_assocs,
                with_coords=with_coords,
                with_deleted=with_deleted,
                with_wckeys=with_wckeys,
                without_defaults=without_defaults,
            )
        )

    def get_wckey(self, id: int | str) -> OpenapiWckeyResp:
        """Get wckey info.

        ``GET /slurmdb/<version>/wckey/{id}``.
        """
        return self._run(self._api.get_wckey(id))

    def get_wckeys(
        self,
        *,
        cluster: Values | None = None,
        id: Values | None = None,
        name: Values | None = None,
        only_defaults: bool | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        with_usage: bool | None = None,
        with_deleted: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiWckeyResp:
        """Get wckey list.

        ``GET /slurmdb/<version>/wckeys/``.

        Args:
            cluster: cluster name list.
            id: ID list.
            name: name list.
            only_defaults: Only query defaults; ends slurmrestd 24.11.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp); ends slurmrestd 24.11.
            user: user list.
            with_usage: Include usage.
            with_deleted: Include deleted WCKeys.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.get_wckeys(
                cluster=cluster,
                id=id,
                name=name,
                only_defaults=only_defaults,
                usage_end=usage_end,
                usage_start=usage_start,
                user=user,
                with_usage=with_usage,
                with_deleted=with_deleted,
                format=format,
            )
        )

    def post_accounts(self, body: OpenapiAccountsReq | Mapping[str, object]) -> OpenapiResp:
        """Add/update list of accounts.

        ``POST /slurmdb/<version>/accounts/``.
        """
        return self._run(self._api.post_accounts(body))

    def post_accounts_association(
        self, body: OpenapiAccountsAddCondResp | Mapping[str, object]
    ) -> OpenapiAccountsAddCondRespStr:
        """Add accounts with conditional association.

        ``POST /slurmdb/<version>/accounts_association/``.
        """
        return self._run(self._api.post_accounts_association(body))

    def post_associations(self, body: OpenapiAssocsReq | Mapping[str, object]) -> OpenapiResp:
        """Set associations info.

        ``POST /slurmdb/<version>/associations/``.
        """
        return self._run(self._api.post_associations(body))

    def post_clusters(self, body: OpenapiClustersReq | Mapping[str, object]) -> OpenapiResp:
        """Get cluster list.

        ``POST /slurmdb/<version>/clusters/``.
        """
        return self._run(self._api.post_clusters(body))

    def post_config(self, body: OpenapiSlurmdbdConfigReq | Mapping[str, object]) -> OpenapiResp:
        """Load all configuration information.

        ``POST /slurmdb/<version>/config``.
        """
        return self._run(self._api.post_config(body))

    def post_job(self, job_id: int | str, body: JobModify | Mapping[str, object]) -> OpenapiJobModifyResp:
        """Update job.

        ``POST /slurmdb/<version>/job/{job_id}``; only v0.0.44 and later.
        """
        return self._run(self._api.post_job(job_id, body))

    def post_jobs(self, body: OpenapiJobModifyReq | Mapping[str, object]) -> OpenapiJobModifyResp:
        """Update jobs.

        ``POST /slurmdb/<version>/jobs/``; only v0.0.44 and later.
        """
        return self._run(self._api.post_jobs(body))

    def post_qos(
        self,
        body: OpenapiSlurmdbdQosReq | Mapping[str, object],
        *,
        description: Values | None = None,
        with_deleted: bool | None = None,
        id: Values | None = None,
        name: Values | None = None,
        preempt_mode: Values | None = None,
        format: str | int | None = None,
    ) -> OpenapiResp:
        """Add or update QOSs.

        ``POST /slurmdb/<version>/qos/``.

        Args:
            description: description list.
            with_deleted: Include deleted QOS.
            id: QOS id list.
            name: QOS name list.
            preempt_mode: PreemptMode used when jobs in this QOS are preempted; words: DISABLED, SUSPEND, REQUEUE,
                CANCEL, GANG.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.post_qos(
                body,
                description=description,
                with_deleted=with_deleted,
                id=id,
                name=name,
                preempt_mode=preempt_mode,
                format=format,
            )
        )

    def post_tres(self, body: OpenapiTresReq | Mapping[str, object]) -> OpenapiResp:
        """Add TRES.

        ``POST /slurmdb/<version>/tres/``.
        """
        return self._run(self._api.post_tres(body))

    def post_users(self, body: OpenapiUsersReq | Mapping[str, object]) -> OpenapiResp:
        """Update users.

        ``POST /slurmdb/<version>/users/``.
        """
        return self._run(self._api.post_users(body))

    def post_users_association(
        self,
        body: OpenapiUsersAddCondResp | Mapping[str, object],
        *,
        update_time: Time | None = None,
        flags: Values | None = None,
    ) -> OpenapiUsersAddCondRespStr:
        """Add users with conditional association.

        ``POST /slurmdb/<version>/users_association/``.

        Args:
            update_time: Query partitions updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.post_users_association(body, update_time=update_time, flags=flags))

    def post_wckeys(
        self,
        body: OpenapiWckeyReq | Mapping[str, object],
        *,
        cluster: Values | None = None,
        id: Values | None = None,
        name: Values | None = None,
        only_defaults: bool | None = None,
        usage_end: Time | None = None,
        usage_start: Time | None = None,
        user: Values | None = None,
        with_usage: bool | None = None,
        with_deleted: bool | None = None,
        format: str | int | None = None,
    ) -> OpenapiResp:
        """Add or update wckeys.

        ``POST /slurmdb/<version>/wckeys/``.

        Args:
            cluster: cluster name list.
            id: ID list.
            name: name list.
            only_defaults: Only query defaults.
            usage_end: Usage end (UNIX timestamp).
            usage_start: Usage start (UNIX timestamp).
            user: user list.
            with_usage: Include usage.
            with_deleted: Include deleted WCKeys.
            format: Ignored; process JSON manually to control output format; only v0.0.40 to v0.0.44.
        """
        return self._run(
            self._api.post_wckeys(
                body,
                cluster=cluster,
                id=id,
                name=name,
                only_defaults=only_defaults,
                usage_end=usage_end,
                usage_start=usage_start,
                user=user,
                with_usage=with_usage,
                with_deleted=with_deleted,
                format=format,
            )
        )


class AsyncUtilApi(AsyncOperations):
    """The operations of slurmrestd itself: host lists."""

    async def post_hostlist(self, body: OpenapiHostnamesReq | Mapping[str, object]) -> OpenapiHostlistReqResp:
        """Convert an array of host names into hostlist expression.

        ``POST /util/<version>/hostlist``; only v0.0.44 and later.
        """
        answer = await self._call(UTIL["post_hostlist"], body=body)
        return cast("OpenapiHostlistReqResp", answer)

    async def post_hostnames(self, body: OpenapiHostlistReq | Mapping[str, object]) -> OpenapiHostnamesReqResp:
        """Convert a hostlist expression into array of host names.

        ``POST /util/<version>/hostnames``; only v0.0.44 and later.
        """
        answer = await self._call(UTIL["post_hostnames"], body=body)
        return cast("OpenapiHostnamesReqResp", answer)


class UtilApi(SyncOperations):
    """The operations of slurmrestd itself: host lists; each blocks until it is answered."""

    def __init__(self, api: AsyncUtilApi, run: Runner) -> None:
        super().__init__(run)
        self._api = api

    def post_hostlist(self, body: OpenapiHostnamesReq | Mapping[str, object]) -> OpenapiHostlistReqResp:
        """Convert an array of host names into hostlist expression.

        ``POST /util/<version>/hostlist``; only v0.0.44 and later.
        """
        return self._run(self._api.post_hostlist(body))

    def post_hostnames(self, body: OpenapiHostlistReq | Mapping[str, object]) -> OpenapiHostnamesReqResp:
        """Convert a hostlist expression into array of host names.

        ``POST /util/<version>/hostnames``; only v0.0.44 and later.
        """
        return self._run(self._api.post_hostnames(body))


class AsyncSlurmApi(AsyncOperations):
    """The operations of slurmctld: jobs, nodes, partitions, reservations."""

    def __init__(self, caller: ApiCaller) -> None:
        super().__init__(caller)
        self.db = AsyncSlurmdbApi(caller)
        self.util = AsyncUtilApi(caller)

    async def delete_job(
        self, job_id: int | str, *, signal: str | int | None = None, flags: Values | None = None
    ) -> OpenapiKillJobResp:
        """Cancel or signal job.

        ``DELETE /slurm/<version>/job/{job_id}``.

        Args:
            signal: Signal to send to Job.
            flags: Signalling flags; words: BATCH_JOB, ARRAY_TASK, FULL_STEPS_ONLY, FULL_JOB, FEDERATION_REQUEUE,
                HURRY, OUT_OF_MEMORY, NO_SIBLING_JOBS, RESERVATION_JOB, VERBOSE, CRON_JOBS, WARNING_SENT,
                NO_CRON_JOBS.
        """
        answer = await self._call(
            SLURM["delete_job"], path={"job_id": job_id}, query={"signal": signal, "flags": flags}
        )
        return cast("OpenapiKillJobResp", answer)

    async def delete_jobs(self, body: KillJobsMsg | Mapping[str, object]) -> OpenapiKillJobsResp:
        """Send signal to list of jobs.

        ``DELETE /slurm/<version>/jobs/``.
        """
        answer = await self._call(SLURM["delete_jobs"], body=body)
        return cast("OpenapiKillJobsResp", answer)

    async def delete_node(self, node_name: str) -> OpenapiResp:
        """Delete node.

        ``DELETE /slurm/<version>/node/{node_name}``.
        """
        answer = await self._call(SLURM["delete_node"], path={"node_name": node_name})
        return cast("OpenapiResp", answer)

    async def delete_partition(self, partition_name: str) -> OpenapiResp:
        """Delete partition.

        ``DELETE /slurm/<version>/partition/{partition_name}``; only v0.0.45 and later.
        """
        answer = await self._call(SLURM["delete_partition"], path={"partition_name": partition_name})
        return cast("OpenapiResp", answer)

    async def delete_reservation(self, reservation_name: str) -> OpenapiResp:
        """Delete a reservation.

        ``DELETE /slurm/<version>/reservation/{reservation_name}``; only v0.0.43 and later.
        """
        answer = await self._call(SLURM["delete_reservation"], path={"reservation_name": reservation_name})
        return cast("OpenapiResp", answer)

    async def get_conf(self, *, update_time: Time | None = None) -> OpenapiConfResp:
        """Dump slurm configuration.

        ``GET /slurm/<version>/conf``; only v0.0.45 and later.

        Args:
            update_time: Query config updated more recently than this time (UNIX timestamp).
        """
        answer = await self._call(SLURM["get_conf"], query={"update_time": update_time})
        return cast("OpenapiConfResp", answer)

    async def get_diag(self) -> OpenapiDiagResp:
        """Get diagnostics.

        ``GET /slurm/<version>/diag/``.
        """
        answer = await self._call(SLURM["get_diag"])
        return cast("OpenapiDiagResp", answer)

    async def get_job(
        self, job_id: int | str, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiJobInfoResp:
        """Get job info.

        ``GET /slurm/<version>/job/{job_id}``.

        Args:
            update_time: Query jobs updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(
            SLURM["get_job"], path={"job_id": job_id}, query={"update_time": update_time, "flags": flags}
        )
        return cast("OpenapiJobInfoResp", answer)

    async def get_job_requeue(
        self,
        job_id: int | str,
        *,
        incomplete: bool | None = None,
        hold: bool | None = None,
        special_exit: bool | None = None,
    ) -> OpenapiJobRequeueResp:
        """Request job requeue.

        ``GET /slurm/<version>/job/{job_id}/requeue``; only v0.0.45 and later; changes the cluster although it is a GET.

        Args:
            incomplete: Operate only on jobs (or tasks of a job array) which have not completed.
            hold: Hold job after requeue, will require manual release to run again.
            special_exit: Set SPECIAL_EXIT state after requeue; must also specify the Hold flag.
        """
        answer = await self._call(
            SLURM["get_job_requeue"],
            path={"job_id": job_id},
            query={"incomplete": incomplete, "hold": hold, "special_exit": special_exit},
        )
        return cast("OpenapiJobRequeueResp", answer)

    async def get_jobs(self, *, update_time: Time | None = None, flags: Values | None = None) -> OpenapiJobInfoResp:
        """Get list of jobs.

        ``GET /slurm/<version>/jobs/``.

        Args:
            update_time: Query jobs updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(SLURM["get_jobs"], query={"update_time": update_time, "flags": flags})
        return cast("OpenapiJobInfoResp", answer)

    async def get_jobs_state(self, *, job_id: Values | None = None) -> OpenapiJobStateResp:
        """Get list of job states.

        ``GET /slurm/<version>/jobs/state/``.

        Args:
            job_id: list of Job IDs to search for.
        """
        answer = await self._call(SLURM["get_jobs_state"], query={"job_id": job_id})
        return cast("OpenapiJobStateResp", answer)

    async def get_licenses(self) -> OpenapiLicensesResp:
        """Get all Slurm tracked license info.

        ``GET /slurm/<version>/licenses/``.
        """
        answer = await self._call(SLURM["get_licenses"])
        return cast("OpenapiLicensesResp", answer)

    async def get_node(
        self, node_name: str, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiNodesResp:
        """Get node info.

        ``GET /slurm/<version>/node/{node_name}``.

        Args:
            update_time: Query nodes updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(
            SLURM["get_node"], path={"node_name": node_name}, query={"update_time": update_time, "flags": flags}
        )
        return cast("OpenapiNodesResp", answer)

    async def get_nodes(self, *, update_time: Time | None = None, flags: Values | None = None) -> OpenapiNodesResp:
        """Get node(s) info.

        ``GET /slurm/<version>/nodes/``.

        Args:
            update_time: Query nodes updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(SLURM["get_nodes"], query={"update_time": update_time, "flags": flags})
        return cast("OpenapiNodesResp", answer)

    async def get_partition(
        self, partition_name: str, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiPartitionResp:
        """Get partition info.

        ``GET /slurm/<version>/partition/{partition_name}``.

        Args:
            update_time: Query partitions updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(
            SLURM["get_partition"],
            path={"partition_name": partition_name},
            query={"update_time": update_time, "flags": flags},
        )
        return cast("OpenapiPartitionResp", answer)

    async def get_partitions(
        self, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiPartitionResp:
        """Get all partition info.

        ``GET /slurm/<version>/partitions/``.

        Args:
            update_time: Query partitions updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        answer = await self._call(SLURM["get_partitions"], query={"update_time": update_time, "flags": flags})
        return cast("OpenapiPartitionResp", answer)

    async def get_ping(self) -> OpenapiPingArrayResp:
        """Ping test.

        ``GET /slurm/<version>/ping/``.
        """
        answer = await self._call(SLURM["get_ping"])
        return cast("OpenapiPingArrayResp", answer)

    async def get_reconfigure(self) -> OpenapiResp:
        """Request slurmctld reconfigure.

        ``GET /slurm/<version>/reconfigure/``; changes the cluster although it is a GET.
        """
        answer = await self._call(SLURM["get_reconfigure"])
        return cast("OpenapiResp", answer)

    async def get_reservation(
        self, reservation_name: str, *, update_time: Time | None = None
    ) -> OpenapiReservationResp:
        """Get reservation info.

        ``GET /slurm/<version>/reservation/{reservation_name}``.

        Args:
            update_time: Query reservations updated more recently than this time (UNIX timestamp).
        """
        answer = await self._call(
            SLURM["get_reservation"], path={"reservation_name": reservation_name}, query={"update_time": update_time}
        )
        return cast("OpenapiReservationResp", answer)

    async def get_reservations(self, *, update_time: Time | None = None) -> OpenapiReservationResp:
        """Get all reservation info.

        ``GET /slurm/<version>/reservations/``.

        Args:
            update_time: Query reservations updated more recently than this time (UNIX timestamp).
        """
        answer = await self._call(SLURM["get_reservations"], query={"update_time": update_time})
        return cast("OpenapiReservationResp", answer)

    async def get_resources(self, job_id: int | str) -> OpenapiResourceLayoutResp:
        """Get resource layout info.

        ``GET /slurm/<version>/resources/{job_id}``; only v0.0.44 and later.
        """
        answer = await self._call(SLURM["get_resources"], path={"job_id": job_id})
        return cast("OpenapiResourceLayoutResp", answer)

    async def get_shares(self, *, accounts: Values | None = None, users: Values | None = None) -> OpenapiSharesResp:
        """Get fairshare info.

        ``GET /slurm/<version>/shares``.

        Args:
            accounts: Accounts to query.
            users: Users to query.
        """
        answer = await self._call(SLURM["get_shares"], query={"accounts": accounts, "users": users})
        return cast("OpenapiSharesResp", answer)

    async def post_job(self, job_id: int | str, body: JobDescMsg | Mapping[str, object]) -> OpenapiJobPostResponse:
        """Update job.

        ``POST /slurm/<version>/job/{job_id}``.
        """
        answer = await self._call(SLURM["post_job"], path={"job_id": job_id}, body=body)
        return cast("OpenapiJobPostResponse", answer)

    async def post_job_allocate(self, body: JobAllocReq | Mapping[str, object]) -> OpenapiJobAllocResp:
        """Submit new job allocation without any steps that must be signaled to stop.

        ``POST /slurm/<version>/job/allocate``; only v0.0.41 and later.
        """
        answer = await self._call(SLURM["post_job_allocate"], body=body)
        return cast("OpenapiJobAllocResp", answer)

    async def post_job_submit(self, body: JobSubmitReq | Mapping[str, object]) -> OpenapiJobSubmitResponse:
        """Submit new job.

        ``POST /slurm/<version>/job/submit``.
        """
        answer = await self._call(SLURM["post_job_submit"], body=body)
        return cast("OpenapiJobSubmitResponse", answer)

    async def post_jobs_requeue(self, body: OpenapiJobsRequeueQuery | Mapping[str, object]) -> OpenapiJobsRequeueResp:
        """Batch requeue job(s).

        ``POST /slurm/<version>/jobs/requeue``; only v0.0.45 and later.
        """
        answer = await self._call(SLURM["post_jobs_requeue"], body=body)
        return cast("OpenapiJobsRequeueResp", answer)

    async def post_new_node(self, body: OpenapiCreateNodeReq | Mapping[str, object]) -> OpenapiResp:
        """Create node.

        ``POST /slurm/<version>/new/node/``; only v0.0.44 and later.
        """
        answer = await self._call(SLURM["post_new_node"], body=body)
        return cast("OpenapiResp", answer)

    async def post_node(self, node_name: str, body: UpdateNodeMsg | Mapping[str, object]) -> OpenapiResp:
        """Update node properties.

        ``POST /slurm/<version>/node/{node_name}``.
        """
        answer = await self._call(SLURM["post_node"], path={"node_name": node_name}, body=body)
        return cast("OpenapiResp", answer)

    async def post_nodes(self, body: UpdateNodeMsg | Mapping[str, object]) -> OpenapiResp:
        """Batch update node(s).

        ``POST /slurm/<version>/nodes/``.
        """
        answer = await self._call(SLURM["post_nodes"], body=body)
        return cast("OpenapiResp", answer)

    async def post_partitions(self, body: OpenapiPartitionsModReq | Mapping[str, object]) -> OpenapiResp:
        """Create or update partitions.

        ``POST /slurm/<version>/partitions/``; only v0.0.45 and later.
        """
        answer = await self._call(SLURM["post_partitions"], body=body)
        return cast("OpenapiResp", answer)

    async def post_reservation(self, body: ReservationDescMsgReq | Mapping[str, object]) -> OpenapiReservationModResp:
        """Create or update a reservation.

        ``POST /slurm/<version>/reservation``; only v0.0.43 and later.
        """
        answer = await self._call(SLURM["post_reservation"], body=body)
        return cast("OpenapiReservationModResp", answer)

    async def post_reservations(self, body: ReservationModReq | Mapping[str, object]) -> OpenapiReservationModResp:
        """Create or update reservations.

        ``POST /slurm/<version>/reservations/``; only v0.0.43 and later.
        """
        answer = await self._call(SLURM["post_reservations"], body=body)
        return cast("OpenapiReservationModResp", answer)


class SlurmApi(SyncOperations):
    """The operations of slurmctld: jobs, nodes, partitions, reservations; each blocks until it is answered."""

    def __init__(self, api: AsyncSlurmApi, run: Runner) -> None:
        super().__init__(run)
        self._api = api
        self.db = SlurmdbApi(api.db, run)
        self.util = UtilApi(api.util, run)

    def delete_job(
        self, job_id: int | str, *, signal: str | int | None = None, flags: Values | None = None
    ) -> OpenapiKillJobResp:
        """Cancel or signal job.

        ``DELETE /slurm/<version>/job/{job_id}``.

        Args:
            signal: Signal to send to Job.
            flags: Signalling flags; words: BATCH_JOB, ARRAY_TASK, FULL_STEPS_ONLY, FULL_JOB, FEDERATION_REQUEUE,
                HURRY, OUT_OF_MEMORY, NO_SIBLING_JOBS, RESERVATION_JOB, VERBOSE, CRON_JOBS, WARNING_SENT,
                NO_CRON_JOBS.
        """
        return self._run(self._api.delete_job(job_id, signal=signal, flags=flags))

    def delete_jobs(self, body: KillJobsMsg | Mapping[str, object]) -> OpenapiKillJobsResp:
        """Send signal to list of jobs.

        ``DELETE /slurm/<version>/jobs/``.
        """
        return self._run(self._api.delete_jobs(body))

    def delete_node(self, node_name: str) -> OpenapiResp:
        """Delete node.

        ``DELETE /slurm/<version>/node/{node_name}``.
        """
        return self._run(self._api.delete_node(node_name))

    def delete_partition(self, partition_name: str) -> OpenapiResp:
        """Delete partition.

        ``DELETE /slurm/<version>/partition/{partition_name}``; only v0.0.45 and later.
        """
        return self._run(self._api.delete_partition(partition_name))

    def delete_reservation(self, reservation_name: str) -> OpenapiResp:
        """Delete a reservation.

        ``DELETE /slurm/<version>/reservation/{reservation_name}``; only v0.0.43 and later.
        """
        return self._run(self._api.delete_reservation(reservation_name))

    def get_conf(self, *, update_time: Time | None = None) -> OpenapiConfResp:
        """Dump slurm configuration.

        ``GET /slurm/<version>/conf``; only v0.0.45 and later.

        Args:
            update_time: Query config updated more recently than this time (UNIX timestamp).
        """
        return self._run(self._api.get_conf(update_time=update_time))

    def get_diag(self) -> OpenapiDiagResp:
        """Get diagnostics.

        ``GET /slurm/<version>/diag/``.
        """
        return self._run(self._api.get_diag())

    def get_job(
        self, job_id: int | str, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiJobInfoResp:
        """Get job info.

        ``GET /slurm/<version>/job/{job_id}``.

        Args:
            update_time: Query jobs updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.get_job(job_id, update_time=update_time, flags=flags))

    def get_job_requeue(
        self,
        job_id: int | str,
        *,
        incomplete: bool | None = None,
        hold: bool | None = None,
        special_exit: bool | None = None,
    ) -> OpenapiJobRequeueResp:
        """Request job requeue.

        ``GET /slurm/<version>/job/{job_id}/requeue``; only v0.0.45 and later; changes the cluster although it is a GET.

        Args:
            incomplete: Operate only on jobs (or tasks of a job array) which have not completed.
            hold: Hold job after requeue, will require manual release to run again.
            special_exit: Set SPECIAL_EXIT state after requeue; must also specify the Hold flag.
        """
        return self._run(self._api.get_job_requeue(job_id, incomplete=incomplete, hold=hold, special_exit=special_exit))

    def get_jobs(self, *, update_time: Time | None = None, flags: Values | None = None) -> OpenapiJobInfoResp:
        """Get list of jobs.

        ``GET /slurm/<version>/jobs/``.

        Args:
            update_time: Query jobs updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.get_jobs(update_time=update_time, flags=flags))

    def get_jobs_state(self, *, job_id: Values | None = None) -> OpenapiJobStateResp:
        """Get list of job states.

        ``GET /slurm/<version>/jobs/state/``.

        Args:
            job_id: list of Job IDs to search for.
        """
        return self._run(self._api.get_jobs_state(job_id=job_id))

    def get_licenses(self) -> OpenapiLicensesResp:
        """Get all Slurm tracked license info.

        ``GET /slurm/<version>/licenses/``.
        """
        return self._run(self._api.get_licenses())

    def get_node(
        self, node_name: str, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiNodesResp:
        """Get node info.

        ``GET /slurm/<version>/node/{node_name}``.

        Args:
            update_time: Query nodes updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.get_node(node_name, update_time=update_time, flags=flags))

    def get_nodes(self, *, update_time: Time | None = None, flags: Values | None = None) -> OpenapiNodesResp:
        """Get node(s) info.

        ``GET /slurm/<version>/nodes/``.

        Args:
            update_time: Query nodes updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.get_nodes(update_time=update_time, flags=flags))

    def get_partition(
        self, partition_name: str, *, update_time: Time | None = None, flags: Values | None = None
    ) -> OpenapiPartitionResp:
        """Get partition info.

        ``GET /slurm/<version>/partition/{partition_name}``.

        Args:
            update_time: Query partitions updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.get_partition(partition_name, update_time=update_time, flags=flags))

    def get_partitions(self, *, update_time: Time | None = None, flags: Values | None = None) -> OpenapiPartitionResp:
        """Get all partition info.

        ``GET /slurm/<version>/partitions/``.

        Args:
            update_time: Query partitions updated more recently than this time (UNIX timestamp).
            flags: Query flags; words: ALL, DETAIL, MIXED, LOCAL, SIBLING, FEDERATION, FUTURE.
        """
        return self._run(self._api.get_partitions(update_time=update_time, flags=flags))

    def get_ping(self) -> OpenapiPingArrayResp:
        """Ping test.

        ``GET /slurm/<version>/ping/``.
        """
        return self._run(self._api.get_ping())

    def get_reconfigure(self) -> OpenapiResp:
        """Request slurmctld reconfigure.

        ``GET /slurm/<version>/reconfigure/``; changes the cluster although it is a GET.
        """
        return self._run(self._api.get_reconfigure())

    def get_reservation(self, reservation_name: str, *, update_time: Time | None = None) -> OpenapiReservationResp:
        """Get reservation info.

        ``GET /slurm/<version>/reservation/{reservation_name}``.

        Args:
            update_time: Query reservations updated more recently than this time (UNIX timestamp).
        """
        return self._run(self._api.get_reservation(reservation_name, update_time=update_time))

    def get_reservations(self, *, update_time: Time | None = None) -> OpenapiReservationResp:
        """Get all reservation info.

        ``GET /slurm/<version>/reservations/``.

        Args:
            update_time: Query reservations updated more recently than this time (UNIX timestamp).
        """
        return self._run(self._api.get_reservations(update_time=update_time))

    def get_resources(self, job_id: int | str) -> OpenapiResourceLayoutResp:
        """Get resource layout info.

        ``GET /slurm/<version>/resources/{job_id}``; only v0.0.44 and later.
        """
        return self._run(self._api.get_resources(job_id))

    def get_shares(self, *, accounts: Values | None = None, users: Values | None = None) -> OpenapiSharesResp:
        """Get fairshare info.

        ``GET /slurm/<version>/shares``.

        Args:
            accounts: Accounts to query.
            users: Users to query.
        """
        return self._run(self._api.get_shares(accounts=accounts, users=users))

    def post_job(self, job_id: int | str, body: JobDescMsg | Mapping[str, object]) -> OpenapiJobPostResponse:
        """Update job.

        ``POST /slurm/<version>/job/{job_id}``.
        """
        return self._run(self._api.post_job(job_id, body))

    def post_job_allocate(self, body: JobAllocReq | Mapping[str, object]) -> OpenapiJobAllocResp:
        """Submit new job allocation without any steps that must be signaled to stop.

        ``POST /slurm/<version>/job/allocate``; only v0.0.41 and later.
        """
        return self._run(self._api.post_job_allocate(body))

    def post_job_submit(self, body: JobSubmitReq | Mapping[str, object]) -> OpenapiJobSubmitResponse:
        """Submit new job.

        ``POST /slurm/<version>/job/submit``.
        """
        return self._run(self._api.post_job_submit(body))

    def post_jobs_requeue(self, body: OpenapiJobsRequeueQuery | Mapping[str, object]) -> OpenapiJobsRequeueResp:
        """Batch requeue job(s).

        ``POST /slurm/<version>/jobs/requeue``; only v0.0.45 and later.
        """
        return self._run(self._api.post_jobs_requeue(body))

    def post_new_node(self, body: OpenapiCreateNodeReq | Mapping[str, object]) -> OpenapiResp:
        """Create node.

        ``POST /slurm/<version>/new/node/``; only v0.0.44 and later.
        """
        return self._run(self._api.post_new_node(body))

    def post_node(self, node_name: str, body: UpdateNodeMsg | Mapping[str, object]) -> OpenapiResp:
        """Update node properties.

        ``POST /slurm/<version>/node/{node_name}``.
        """
        return self._run(self._api.post_node(node_name, body))

    def post_nodes(self, body: UpdateNodeMsg | Mapping[str, object]) -> OpenapiResp:
        """Batch update node(s).

        ``POST /slurm/<version>/nodes/``.
        """
        return self._run(self._api.post_nodes(body))

    def post_partitions(self, body: OpenapiPartitionsModReq | Mapping[str, object]) -> OpenapiResp:
        """Create or update partitions.

        ``POST /slurm/<version>/partitions/``; only v0.0.45 and later.
        """
        return self._run(self._api.post_partitions(body))

    def post_reservation(self, body: ReservationDescMsgReq | Mapping[str, object]) -> OpenapiReservationModResp:
        """Create or update a reservation.

        ``POST /slurm/<version>/reservation``; only v0.0.43 and later.
        """
        return self._run(self._api.post_reservation(body))

    def post_reservations(self, body: ReservationModReq | Mapping[str, object]) -> OpenapiReservationModResp:
        """Create or update reservations.

        ``POST /slurm/<version>/reservations/``; only v0.0.43 and later.
        """
        return self._run(self._api.post_reservations(body))
