"""The two kinds of tasks. Importing this loads neither grpc nor the connector: a task image needs only flyte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flyte import Cache
from flyte.extend import AsyncFunctionTaskTemplate, TaskPluginRegistry, TaskTemplate
from flyte.io import Dir, File
from flyte.models import NativeInterface

from .caching import ScriptPolicy, with_script
from .config import Slurm
from .local import run_here
from .script import output_references, read_directives, with_interpreter
from .template import NATIVE, SCRIPT
from .values import input_variable, output_variable, refuse_collisions

if TYPE_CHECKING:
    from flyte.models import SerializationContext

__all__ = ["Slurm", "SlurmFunctionTask", "SlurmScriptTask"]

UPLOADS = ("connector", "job")


class SlurmFunctionTask(AsyncFunctionTaskTemplate[Any, Any, Any]):
    """A Python function that runs as a Slurm job: its own image and entrypoint, inputs, outputs, caching and retries.

    Remove ``plugin_config`` and it runs on Kubernetes.
    """

    plugin_config: Slurm

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they come
        self.task_type = NATIVE

    def custom_config(self, sctx: SerializationContext) -> dict[str, Any]:  # JSON, whatever flyte's annotation says
        """Return the configuration for the connector; raises ValueError for resources that Slurm has no word for."""
        return self.plugin_config.to_custom_config(self.resources)

    async def execute(self, **kwargs: object) -> object:
        """Run the function where it is, on a node of the cluster; in a local run, as a job."""
        return await run_here(self, kwargs)


class SlurmScriptTask(TaskTemplate[Any, Any, Any]):
    """An sbatch script as a task. It runs unmodified under its own interpreter, with its directives.

    ``inputs`` reach it as ``FLYTE_INPUT_<NAME>``, ``outputs`` (File or Dir) have a destination in
    ``FLYTE_OUTPUT_<NAME>``. ``output_upload`` says who brings them to the object store: with ``connector`` the
    destination is a path on the cluster, with ``job`` the URI, and the script uploads itself. ``plugin_config`` wins
    over directives.

    Raises ValueError for names that collide, other types of outputs, and outputs that the script names and the task
    does not.
    """

    def __init__(
        self,
        name: str,
        script: str,
        plugin_config: Slurm,
        inputs: Mapping[str, type] | None = None,
        outputs: Mapping[str, type] | None = None,
        output_upload: str = "connector",
        **kwargs: object,
    ) -> None:
        if output_upload not in UPLOADS:
            raise ValueError(f"output_upload must be one of {', '.join(UPLOADS)}, not {output_upload!r}")
        given, declared = dict(inputs or {}), dict(outputs or {})
        _check_names(given, declared)
        _check_types(name, declared)
        _check_references(name, script, declared)
        super().__init__(
            name=name,
            interface=NativeInterface({key: (kind, None) for key, kind in given.items()}, declared),
            task_type=SCRIPT,
            image=None,
            **kwargs,  # type: ignore[arg-type]  # handed on as they come
        )
        self.script = script
        self.plugin_config = plugin_config
        self.declared_outputs = declared
        self.output_upload = output_upload
        if isinstance(self.cache, Cache):
            policy = ScriptPolicy(script, self._configuration(), self._output_kinds())
            self.cache = with_script(self.cache, policy)

    def _configuration(self) -> dict[str, object]:
        if self.resources is None:
            return self.plugin_config.to_custom_config()
        directives = read_directives(with_interpreter(self.script)).options()
        return self.plugin_config.to_custom_config(self.resources, directives)

    def _output_kinds(self) -> dict[str, str]:
        return {name: "directory" if kind is Dir else "file" for name, kind in self.declared_outputs.items()}

    def custom_config(self, sctx: SerializationContext) -> dict[str, Any]:  # JSON, whatever flyte's annotation says
        """Return the configuration for the connector, with the script."""
        config = {**self._configuration(), "script": self.script}
        if self.declared_outputs:
            config |= {"outputs": self._output_kinds(), "output_upload": self.output_upload}
        return config

    async def execute(self, **kwargs: object) -> object:
        """Run the script as a job and wait for it."""
        return await run_here(self, kwargs)


def _check_names(inputs: Mapping[str, type], outputs: Mapping[str, type]) -> None:
    refuse_collisions(inputs, {name: input_variable(name) for name in inputs}, "inputs")
    refuse_collisions(outputs, {name: output_variable(name) for name in outputs}, "outputs")


def _check_types(name: str, outputs: Mapping[str, type]) -> None:
    for output, kind in outputs.items():
        if kind not in (File, Dir):
            shown = getattr(kind, "__name__", kind)
            raise ValueError(
                f"The output {output!r} of {name!r} is a {shown}: a script's outputs are flyte.io.File or flyte.io.Dir"
            )


def _check_references(name: str, script: str, outputs: Mapping[str, type]) -> None:
    """Refuse a script that writes to a destination which the task does not declare: the variable would be unset."""
    declared = {output_variable(output) for output in outputs}
    unknown = sorted(output_references(script) - declared)
    if not unknown:
        return
    first = unknown[0]
    if declared:
        advice = f"Declared are {', '.join(sorted(declared))}: add it to outputs, or correct the name"
    else:
        advice = f'Declare it: outputs={{"{first.removeprefix("FLYTE_OUTPUT_").lower()}": File}}'
    raise ValueError(f"The script of {name!r} writes to ${', $'.join(unknown)}, which is not declared. {advice}")


TaskPluginRegistry.register(Slurm, SlurmFunctionTask)
