"""A task's template and the execution that it belongs to, read into values of our own. Pure.

Protobuf's messages are read here and nowhere else; numbers in ``custom`` are floats there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from google.protobuf.json_format import MessageToDict

from .options import env_text, whole_count, whole_port
from .runtimes import Container
from .secret_ways import WantedSecret
from .settings import AskedConnection
from .typed import type_text

if TYPE_CHECKING:
    from flyteidl2.connector.connector_pb2 import TaskExecutionMetadata
    from flyteidl2.core.tasks_pb2 import TaskMetadata, TaskTemplate
    from google.protobuf.duration_pb2 import Duration

__all__ = ["NATIVE", "SCRIPT", "Execution", "Task", "read_execution", "read_task"]

NATIVE = "slurm"
SCRIPT = "slurm_script"


@dataclass(frozen=True, slots=True)
class Execution:
    """Whose attempt a job is. All empty in a local run. ``environment`` is what the platform gives every container.

    ``labels`` to ``identity`` are what it says of who launched it.
    """

    org: str = ""
    project: str = ""
    domain: str = ""
    run: str = ""
    action: str = ""
    attempt: int = 0
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    service_account: str = ""
    identity: str = ""

    @property
    def is_known(self) -> bool:
        """True when a second request for the same attempt can be recognised."""
        return bool(self.run and self.action)

    def variables(self) -> dict[str, str]:
        """Return the variables that Kubernetes pods have and connectors must derive: a0 needs project and domain."""
        named = {
            "_U_ORG_NAME": self.org,
            "FLYTE_INTERNAL_EXECUTION_PROJECT": self.project,
            "FLYTE_INTERNAL_EXECUTION_DOMAIN": self.domain,
            "FLYTE_INTERNAL_EXECUTION_ID": self.run,
            "RUN_NAME": self.run,
            "ACTION_NAME": self.action,
            "FLYTE_ATTEMPT_NUMBER": str(self.attempt) if self.is_known else "",
        }
        return {name: value for name, value in named.items() if value} | dict(self.environment)


@dataclass(frozen=True, slots=True)
class Task:
    """What a task asks for. ``fields`` and ``options`` are sbatch's, ``outputs`` the kinds of a script's outputs.

    ``output_types`` are the types of those that are values, as text.

    ``outputs_path`` is where the entrypoint writes: in a local run that is not the prefix that the connector is told.
    """

    kind: str
    name: str
    connection: AskedConnection = field(default_factory=AskedConnection)
    fields: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    container: Container = field(default_factory=lambda: Container("pyxis"))
    command: Sequence[str] = ()
    outputs_path: str = ""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    modules: Sequence[str] = ()
    working_dir: str = ""
    script: str = field(default="", repr=False)
    outputs: Mapping[str, str] = field(default_factory=dict)
    output_types: Mapping[str, str] = field(default_factory=dict)
    output_upload: str = "connector"
    max_runtime: timedelta | None = None
    max_queued: timedelta | None = None
    interruptible: bool = False
    asks_for_unsafe_host: bool = False
    secrets: Sequence[WantedSecret] = ()


def read_execution(metadata: TaskExecutionMetadata | None) -> Execution:
    """Read which run, action and attempt this is."""
    if metadata is None:
        return Execution()
    environment = dict(metadata.environment_variables)
    launched = Execution(
        environment=environment,
        labels=dict(metadata.labels),
        annotations=dict(metadata.annotations),
        service_account=metadata.k8s_service_account,
        identity=metadata.identity.execution_identity,
    )
    if not metadata.HasField("task_execution_id"):
        return launched
    attempt = metadata.task_execution_id
    node = attempt.node_execution_id
    run = node.execution_id
    return replace(
        launched,
        org=run.org or environment.get("_U_ORG_NAME", ""),
        project=run.project,
        domain=run.domain,
        run=run.name or environment.get("RUN_NAME", ""),
        action=node.node_id or environment.get("ACTION_NAME", ""),
        attempt=attempt.retry_attempt,
    )


def read_task(template: TaskTemplate) -> Task:
    """Read a template that this package or flyteplugins-slurm made; raises ValueError for one that lacks its parts."""
    custom = MessageToDict(template.custom)
    common = _common(custom) | _limits(template.metadata) | {"secrets": _secrets(template)}
    kind = template.type
    container = template.container if template.HasField("container") else None
    if kind == SCRIPT:
        if not custom.get("script"):
            raise ValueError("The slurm_script task has no script")
        return Task(
            kind=kind,
            name=template.id.name,
            script=str(custom["script"]),
            outputs={name: str(kind) for name, kind in _mapping(custom, "outputs").items()},
            output_types={pair.key: type_text(pair.value.type) for pair in template.interface.outputs.variables},
            output_upload=str(custom.get("output_upload") or "connector"),
            **common,  # type: ignore[arg-type]  # fields by their names
        )
    if container is None:
        raise ValueError("The slurm task has no container: a pod template cannot run on Slurm")
    command = (*container.command, *container.args)
    return Task(
        kind=kind,
        name=template.id.name,
        container=_container(custom, container.image, command),
        command=command,
        outputs_path=_after(command, "--outputs-path"),
        variables={pair.key: pair.value for pair in container.env},
        **common,  # type: ignore[arg-type]  # fields by their names
    )


def _common(custom: Mapping[str, object]) -> dict[str, object]:
    asked = _mapping(custom, "connection")
    return {
        "connection": AskedConnection(
            host=str(asked.get("host") or ""),
            port=whole_port(asked.get("port")),
            username=str(asked.get("username") or ""),
            known_hosts=str(asked.get("known_hosts") or ""),
            rest_url=str(asked.get("rest_url") or ""),
            rest_api_version=str(asked.get("rest_api_version") or ""),
            cluster=str(asked.get("cluster") or ""),
        ),
        "fields": _mapping(custom, "sbatch"),
        "options": _mapping(custom, "sbatch_options"),
        "env": {name: env_text(value) for name, value in _mapping(custom, "env").items() if value is not None},
        "modules": _texts(custom.get("modules")),
        "working_dir": str(custom.get("working_dir") or ""),
        "asks_for_unsafe_host": bool(asked.get("skip_host_key_verification")),
    }


def _limits(metadata: TaskMetadata) -> dict[str, object]:
    return {
        "max_runtime": _duration(metadata.timeout),
        "max_queued": _duration(metadata.timeouts.queued_timeout),
        "interruptible": metadata.interruptible,
    }


def _secrets(template: TaskTemplate) -> tuple[WantedSecret, ...]:
    """Return what the task wants of secrets; those of its connection are others, and the platform resolves them."""
    return tuple(
        WantedSecret(
            one.key,
            one.group,
            # Flyte's own rule, for templates that name no variable.
            one.env_var or "_".join(filter(None, (one.group, one.key))).replace("-", "_").upper(),
            as_file=one.mount_requirement == one.FILE,
        )
        for one in template.security_context.secrets
    )


def _container(custom: Mapping[str, object], image: str, command: Sequence[str]) -> Container:
    asked = _mapping(custom, "container")
    fields = _mapping(custom, "sbatch")
    return Container(
        runtime=str(asked.get("runtime") or "pyxis"),
        image=str(asked.get("image") or image),
        args=_texts(asked.get("args")),
        mounts=_texts(asked.get("mounts")),
        workdir=str(asked.get("workdir") or ""),
        srun_args=_texts(asked.get("srun_args")),
        python_environment=str(asked.get("python_environment") or ""),
        launcher=str(asked.get("launcher") or "single"),
        max_restarts=whole_count(asked.get("max_restarts")),
        destination=_after(command, "--dest"),
        gpus=_asks_for_gpus({**fields, **_mapping(custom, "sbatch_options")}),
    )


def _after(words: Sequence[str], option: str) -> str:
    """Return the word behind an option, empty without it, or while the platform has not filled it in."""
    word = words[words.index(option) + 1] if option in words[:-1] else ""
    return "" if "{{" in word else word


def _asks_for_gpus(options: Mapping[str, object]) -> bool:
    named = ("gpus", "gpus-per-node", "gpus_per_node", "gpus-per-task", "gpus-per-socket")
    return any(options.get(name) for name in named) or any(
        "gpu" in str(options.get(name) or "").lower() for name in ("gres", "tres-per-task")
    )


def _mapping(custom: Mapping[str, object], name: str) -> dict[str, object]:
    found = custom.get(name)
    return dict(cast("Mapping[str, object]", found)) if isinstance(found, Mapping) else {}


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        # A list with one item that its task forgot to write as one.
        return (value,) if value else ()
    return tuple(env_text(item) for item in value) if isinstance(value, (list, tuple)) else ()


def _duration(value: Duration) -> timedelta | None:
    seconds = value.seconds + value.nanos / 1e9
    return timedelta(seconds=seconds) if seconds > 0 else None
