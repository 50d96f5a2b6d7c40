"""Runs a task from this process: on a node of the cluster its function itself, in a local run a job.

The connector is loaded only for a local run.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from flyte.extend import AsyncFunctionTaskTemplate, TaskTemplate
from flyte.types import TypeEngine

from .running import LOCAL_RUN, LocalRun
from .typed import declared_value

if TYPE_CHECKING:
    AnyTask = TaskTemplate[Any, Any, Any]

__all__ = ["as_carried", "run_here"]


async def run_here(task: AnyTask, kwargs: Mapping[str, object]) -> object:
    """Return what a task returns, run where this process is or, in a local run, as a job."""
    from flyte._context import internal_ctx  # as flyte's own plugins do; there is no public way to the task's context

    context = internal_ctx().data.task_context
    if context is not None and context.mode == "remote" and isinstance(task, AsyncFunctionTaskTemplate):
        return await AsyncFunctionTaskTemplate.execute(task, **kwargs)

    from flyte.connectors import AsyncConnectorExecutorMixin, ConnectorRegistry
    from flyte.connectors._connector import FlyteConnectorNotFound

    try:
        ConnectorRegistry.get_connector(task.task_type, task.task_type_version)
    except FlyteConnectorNotFound:
        from . import connector  # noqa: F401  # it registers itself
    declared = task.native_interface.outputs
    run = LocalRun(tuple(declared), task=task.name)
    if isinstance(task, AsyncFunctionTaskTemplate):
        _require_store(task.name, context.raw_data_path.path if context is not None else "")
    else:
        kwargs = {
            name: await as_carried(value, task.native_interface.inputs[name][0]) for name, value in kwargs.items()
        }
    token = LOCAL_RUN.set(run)
    at_exit = partial(run.cancel_at_exit, asyncio.get_running_loop())
    atexit.register(at_exit)
    try:
        found = await AsyncConnectorExecutorMixin.execute(task, **kwargs)  # type: ignore[arg-type]  # it needs a task, no base
    except asyncio.CancelledError:
        await run.cancel()
        raise
    finally:
        LOCAL_RUN.reset(token)
        atexit.unregister(at_exit)
    if isinstance(task, AsyncFunctionTaskTemplate) or not isinstance(found, tuple):
        return found
    return tuple(declared_value(value, kind) for value, kind in zip(found, declared.values(), strict=True))


async def as_carried(value: object, kind: Any) -> object:  # noqa: ANN401  # whatever a task may declare
    """Return an input of a script as the platform's connector gets it, which has a description of its type, no class.

    So a script is told the same wherever it is run from: a member of an Enum comes as flyte carries it. Raises what
    flyte raises for a value that is not of its type.
    """
    described = TypeEngine.to_literal_type(kind)
    literal = await TypeEngine.to_literal(value, kind, described)
    return await TypeEngine.to_python_value(literal, TypeEngine.guess_python_type(described))


def _require_store(name: str, path: str) -> None:
    import flyte.storage as storage

    from slurm_rest.errors import ConfigError

    if not storage.is_remote(path):
        raise ConfigError(
            f"{name} is a Python task, whose code, inputs and outputs reach the cluster through an object store: a"
            f" local run needs remote storage, not {path}",
            hint="Use flyte run --local --raw-data-path s3://BUCKET/PATH, or raw_data_path= of flyte.with_runcontext.",
        )
