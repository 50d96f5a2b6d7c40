"""The keyword options of ``submit`` for type checkers; a test keeps them equal to JobSpec's fields."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypedDict
else:
    from typing import TypedDict

__all__ = ["JobOptions"]


class JobOptions(TypedDict, total=False):
    """sbatch's long options with ``_`` for ``-``, and ``args`` and ``env``. None leaves an option unset."""

    args: Sequence[str]
    env: Mapping[str, str]
    name: str | None
    job_name: str | None
    account: str | None
    partition: str | Sequence[str] | None
    qos: str | None
    time: str | int | timedelta | None
    time_min: str | int | timedelta | None
    nodes: int | str | None
    ntasks: int | None
    ntasks_per_node: int | None
    cpus_per_task: int | None
    mem: str | int | None
    mem_per_cpu: str | int | None
    gpus: int | str | None
    gpus_per_node: int | str | None
    gres: str | Sequence[str] | None
    constraint: str | None
    licenses: str | Sequence[str] | None
    nodelist: str | Sequence[str] | None
    exclude: str | Sequence[str] | None
    exclusive: bool | str | None
    array: str | None
    dependency: str | None
    begin: datetime | int | None
    deadline: datetime | int | None
    hold: bool | None
    requeue: bool | None
    chdir: str | os.PathLike[str] | None
    output: str | os.PathLike[str] | None
    error: str | os.PathLike[str] | None
    input: str | os.PathLike[str] | None
    open_mode: str | None
    comment: str | None
    mail_type: str | Sequence[str] | None
    mail_user: str | None
    nice: int | None
    priority: int | None
    reservation: str | Sequence[str] | None
    wckey: str | None
