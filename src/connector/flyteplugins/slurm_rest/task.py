"""The two kinds of tasks. Importing this loads neither grpc nor the connector: a task image needs only flyte."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from flyte import Cache, Resources
from flyte.clustered import ClusteredTaskEnvironment
from flyte.extend import AsyncFunctionTaskTemplate, TaskPluginRegistry, TaskTemplate
from flyte.io import Dir, File
from flyte.models import NativeInterface
from flyte.types import TypeEngine

from .caching import ScriptPolicy, with_script
from .clustering import clustered_config, keep_configuration
from .config import Slurm
from .local import run_here
from .options import check_env, check_mapping, is_text, job_options, shown
from .script import check_directives, output_references, read_directives, with_interpreter
from .template import NATIVE, SCRIPT
from .typed import check_input_type, check_value_type, type_text
from .values import NO_TREE, check_variables, output_variables

if TYPE_CHECKING:
    from flyte.models import SerializationContext

__all__ = ["Slurm", "SlurmFunctionTask", "SlurmScriptTask"]

UPLOADS = ("connector", "job", "presigned")
# A message of gRPC has as much, and so has a script by Slurm's own default (max_script_size).
_LONGEST_SCRIPT = 4 * 1024 * 1024
_KINDS: Mapping[type, str] = {File: "file", Dir: "directory"}


class SlurmFunctionTask(AsyncFunctionTaskTemplate[Any, Any, Any]):
    """A Python function that runs as a Slurm job: its own image and entrypoint, inputs, outputs, caching and retries.

    Remove ``plugin_config`` and it runs on Kubernetes. Of a ``flyte.clustered.ClusteredTaskEnvironment`` it is one job
    with a node for each replica, and a process for each rank.
    """

    plugin_config: Slurm

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on as they come
        self.task_type = NATIVE
        environment = self.parent_env() if self.parent_env is not None else None
        if isinstance(environment, ClusteredTaskEnvironment):
            self.plugin_config = clustered_config(self.plugin_config, environment)
        if "array" in self.plugin_config.sbatch_options:
            raise ValueError(f"{self.name!r} cannot be an array: each of its tasks would write the same outputs")

    def custom_config(self, sctx: SerializationContext) -> dict[str, Any]:  # JSON, whatever flyte's annotation says
        """Return the configuration for the connector; raises ValueError for resources that Slurm has no word for."""
        return self.plugin_config.to_custom_config(self.resources)

    async def execute(self, **kwargs: object) -> object:
        """Run the function where it is, on a node of the cluster; in a local run, as a job."""
        return await run_here(self, kwargs)


class SlurmScriptTask(TaskTemplate[Any, Any, Any]):
    """An sbatch script as a task. It runs unmodified under its own interpreter, with its directives.

    ``inputs`` reach it as ``FLYTE_INPUT_<NAME>``, ``outputs`` have a destination in ``FLYTE_OUTPUT_<NAME>``. An output
    is a File, a Dir, or a value, which the script writes as text into a small file: numbers, texts and moments plainly,
    lists, mappings and structures as JSON. ``output_upload`` says who brings them to the object store: with
    ``connector`` the destination is a path on the cluster, with ``job`` the URI, and the script uploads itself. With
    ``presigned`` it is a path, too, and once written ``eval "$FLYTE_OUTPUT_<NAME>_UPLOAD"`` uploads the file, with curl
    to the URL in ``FLYTE_OUTPUT_<NAME>_URL``. ``plugin_config`` wins over directives.

    Raises ValueError for names that collide, types of outputs that no text gives, and outputs that the script names
    and the task does not.
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
            raise ValueError(f"output_upload must be one of {', '.join(UPLOADS)}, not {shown(output_upload)}")
        if not is_text(name) or not name:
            raise ValueError(f"name is {shown(name)}: it takes the name of the task, a text")
        if not isinstance(plugin_config, Slurm):
            kind = f"{type(plugin_config).__module__}.{type(plugin_config).__name__}"
            raise ValueError(f"plugin_config is a {kind}: it takes flyteplugins.slurm_rest.Slurm")
        check_mapping("inputs", inputs or {})
        check_mapping("outputs", outputs or {})
        given, declared = dict(inputs or {}), dict(outputs or {})
        _check_inputs(name, given)
        check_variables(given, declared, plugin_config.env, output_upload)
        _check_types(name, declared, output_upload)
        _check_script(name, script, job_options(plugin_config.options(), plugin_config.sbatch_options))
        _check_references(name, script, declared, output_upload)
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
        if self.resources is not None and not isinstance(self.resources, Resources):
            raise ValueError(f"resources is a {type(self.resources).__name__}: it takes flyte.Resources")
        check_env(self.env_vars or {}, "env_vars")
        check_variables(given, declared, self.env_vars or {}, output_upload)
        if isinstance(self.cache, Cache):
            policy = ScriptPolicy(script, self._configuration(), self._output_types())
            self.cache = with_script(self.cache, policy)

    def _configuration(self) -> dict[str, object]:
        # Flyte gives env_vars to a task's container, and a script has none.
        config = replace(self.plugin_config, env={**(self.env_vars or {}), **self.plugin_config.env})
        if self.resources is None:
            return config.to_custom_config()
        directives = read_directives(with_interpreter(self.script)).options()
        return config.to_custom_config(self.resources, directives)

    def _output_kinds(self) -> dict[str, str]:
        return {name: _KINDS.get(kind, "value") for name, kind in self.declared_outputs.items()}

    def _output_types(self) -> dict[str, str]:
        """Return what each output is, so that another type is another version of the task."""
        return {
            name: _KINDS.get(kind) or type_text(TypeEngine.to_literal_type(kind))
            for name, kind in self.declared_outputs.items()
        }

    def custom_config(self, sctx: SerializationContext) -> dict[str, Any]:  # JSON, whatever flyte's annotation says
        """Return the configuration for the connector, with the script."""
        config = {**self._configuration(), "script": self.script}
        if self.declared_outputs:
            config |= {"outputs": self._output_kinds(), "output_upload": self.output_upload}
        return config

    def override(self, **changes: Any) -> SlurmScriptTask:  # noqa: ANN401  # what flyte's own takes
        """Return the task with other settings, ``plugin_config`` among them; its cache goes by the new ones.

        Raises ValueError for what makes the task what it is: name, image, interface, docs.
        """
        fixed = ("name", "interface", "task_type", "image")
        if refused := sorted({*fixed, "docs"} & changes.keys()):
            raise ValueError(f"{', '.join(refused)} cannot be overridden")
        kept = {one.name: getattr(self, one.name) for one in fields(TaskTemplate) if one.init and one.name not in fixed}
        given = {name: value for name, value in changes.items() if value is not None}
        return SlurmScriptTask(
            self.name,
            given.pop("script", self.script),
            given.pop("plugin_config", self.plugin_config),
            inputs={name: kind for name, (kind, _) in self.interface.inputs.items()},
            outputs=self.declared_outputs,
            output_upload=given.pop("output_upload", self.output_upload),
            **{**kept, **given},
        )

    async def execute(self, **kwargs: object) -> object:
        """Run the script as a job and wait for it."""
        return await run_here(self, kwargs)


def _check_inputs(name: str, inputs: Mapping[str, type]) -> None:
    for given, kind in inputs.items():
        try:
            check_input_type(kind)
        except Exception as error:  # noqa: PERF203  # flyte's own for a structure that it cannot describe
            raise ValueError(f"The input {given!r} of {name!r}: {error}") from error


def _check_types(name: str, outputs: Mapping[str, type], upload: str) -> None:
    for output, kind in outputs.items():
        if not isinstance(kind, Hashable):
            raise ValueError(f"The output {output!r} of {name!r} is {shown(kind)}, which is no type")
        if kind is Dir and upload == "presigned":
            raise ValueError(f"The output {output!r} of {name!r} is a Dir, and a URL is for one object: {NO_TREE}")
        if kind in _KINDS:
            continue
        try:
            check_value_type(kind)
        except Exception as error:  # flyte's own for a structure that it cannot describe
            what = kind.__name__ if isinstance(kind, type) else shown(kind)
            raise ValueError(f"The output {output!r} of {name!r} is a {what}: {error}") from error


def _check_script(name: str, script: str, options: Mapping[str, object]) -> None:
    """Refuse a script that no release of sbatch takes with these options, before anything waits for it."""
    if not isinstance(script, str):
        kind = type(script).__name__
        raise ValueError(
            f"The script of {name!r} is of type {kind}: pass its text, such as Path('x.sbatch').read_text()"
        )
    if not script.removeprefix("\ufeff").strip():
        raise ValueError(f"The script of {name!r} is empty")
    if problem := next((place for place, char in enumerate(script) if "\ud800" <= char <= "\udfff"), None):
        line = script.count("\n", 0, problem) + 1
        raise ValueError(f"The script of {name!r} is not UTF-8 text, which flyte carries alone: see line {line}")
    if (size := len(script.encode())) > _LONGEST_SCRIPT:
        what = f"has {size:,} bytes, and the platform carries no more than {_LONGEST_SCRIPT:,}"
        raise ValueError(f"The script of {name!r} {what}: give what it holds as an input, such as a File")
    try:
        check_directives(read_directives(with_interpreter(script)).options())
        read_directives(with_interpreter(script), options=options)
    except ValueError as error:
        raise ValueError(f"The script of {name!r}: {error}") from error


def _check_references(name: str, script: str, outputs: Mapping[str, type], upload: str) -> None:
    """Refuse a script that writes to a destination which the task does not declare: the variable would be unset."""
    declared = {variable for output in outputs for variable in output_variables(output, upload)}
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
keep_configuration()
