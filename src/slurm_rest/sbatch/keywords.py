"""The keyword options of ``submit`` for type checkers; a test keeps them equal to JobSpec's fields."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypedDict

    from .spec import JobSpec
else:
    from typing import TypedDict

__all__ = ["JobOptions"]


class JobOptions(TypedDict, total=False):
    """sbatch's long options with ``_`` for ``-``, and ``args`` and ``env``. None leaves an option unset."""

    args: Sequence[str]
    env: Mapping[str, str]
    components: Sequence[JobSpec]
    job_name: str | None
    name: str | None
    account: str | None
    acctg_freq: str | int | None
    array: str | None
    autocomplete: str | None
    batch: str | None
    bb: str | None
    bbf: str | os.PathLike[str] | None
    begin: str | int | datetime | None
    chdir: str | os.PathLike[str] | None
    cluster: str | None
    cluster_constraint: str | None
    clusters: str | None
    comment: str | None
    consolidate_segments: bool | None
    constraint: str | None
    container: str | None
    container_id: str | None
    container_type: str | None
    context: str | None
    contiguous: bool | None
    core_spec: int | None
    cores_per_socket: int | None
    cpu_freq: str | int | None
    cpus_per_gpu: int | None
    cpus_per_task: int | None
    deadline: str | int | datetime | None
    delay_boot: str | int | timedelta | None
    dependency: str | None
    distribution: str | None
    error: str | os.PathLike[str] | None
    exclude: str | Sequence[str] | None
    exclusive: bool | str | None
    export: str | None
    export_file: str | os.PathLike[str] | None
    external: bool | None
    extra: str | None
    extra_node_info: str | None
    get_user_env: bool | str | None
    gid: str | None
    gpu_bind: str | None
    gpu_freq: str | None
    gpus: int | str | None
    gpus_per_node: int | str | None
    gpus_per_socket: int | str | None
    gpus_per_task: int | str | None
    gres: str | Sequence[str] | None
    gres_flags: str | Sequence[str] | None
    hint: str | Sequence[str] | None
    hold: bool | None
    ignore_pbs: bool | None
    input: str | os.PathLike[str] | None
    kill_on_invalid_dep: bool | str | None
    licenses: str | Sequence[str] | None
    mail_type: str | Sequence[str] | None
    mail_user: str | None
    mcs_label: str | None
    mem: str | int | None
    mem_bind: str | Sequence[str] | tuple[frozenset[str], str, str] | None
    mem_per_cpu: str | int | None
    mem_per_gpu: str | int | None
    mem_update: str | None
    mincpus: int | None
    network: str | None
    nice: int | None
    no_kill: bool | str | None
    no_requeue: bool | None
    nodefile: str | os.PathLike[str] | None
    nodelist: str | Sequence[str] | None
    nodes: int | str | None
    ntasks: int | None
    ntasks_per_core: int | None
    ntasks_per_gpu: int | None
    ntasks_per_node: int | None
    ntasks_per_socket: int | None
    ntasks_per_tres: int | None
    oom_kill_step: int | None
    open_mode: str | None
    output: str | os.PathLike[str] | None
    overcommit: bool | None
    oversubscribe: bool | None
    partition: str | Sequence[str] | None
    prefer: str | None
    priority: int | str | None
    profile: str | Sequence[str] | None
    propagate: bool | str | Sequence[str] | None
    qos: str | None
    reboot: bool | None
    requeue: bool | str | None
    reservation: str | Sequence[str] | None
    resources: str | None
    resv_ports: int | None
    segment: int | None
    signal: str | int | tuple[str, int, int] | None
    sockets_per_node: int | None
    spread_job: bool | None
    spread_segments: bool | None
    stepmgr: bool | None
    switches: str | int | tuple[int, int | None] | None
    tasks_per_node: int | None
    test_only: bool | None
    thread_spec: int | None
    threads_per_core: int | None
    time: str | int | timedelta | None
    time_min: str | int | timedelta | None
    tmp: str | int | None
    tres_bind: str | None
    tres_per_task: str | None
    uid: str | None
    use_min_nodes: bool | None
    wait: bool | None
    wait_all_nodes: int | None
    wckey: str | None
