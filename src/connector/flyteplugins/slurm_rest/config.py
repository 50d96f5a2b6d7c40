"""The configuration of a task, and the ``custom`` field that carries it to the connector.

Pure, and free of flyte: a task image needs nothing for it. The format is that of flyteplugins-slurm 2.12.1; what is
ours alone is written only where it is used, so that either connector reads what the other package serialised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .options import (
    FIELD_OPTIONS,
    check_carried,
    check_env,
    check_mapping,
    check_modules,
    check_srun_args,
    check_texts,
    env_text,
    is_text,
    job_options,
    json_value,
    shown,
    whole_count,
    whole_port,
)
from .resources import Resources, resource_options
from .runtimes import Container, check_bundle, check_restarts, check_runtime, check_words

__all__ = ["LAUNCHERS", "Slurm"]

LAUNCHERS = ("single", "srun")
_SSH_PORT = 22
_PATHS = ("container_image", "container_workdir", "working_dir", "known_hosts", "python_environment")
_NAMES = ("host", "username", "cluster", "rest_url", "rest_api_version")
_SECRETS = ("ssh_private_key", "known_hosts_secret", "rest_token")


@dataclass
class Slurm:
    """How a task runs on a Slurm cluster. All checks are made here, where the task is defined.

    ``partition`` to ``constraint`` are sbatch's options of these names (``time_limit`` is ``--time``); any other long
    option goes into ``sbatch_options`` under its own name, ``True`` for a bare flag, and wins over these fields.

    ``container_runtime`` starts the task's image: ``pyxis``, ``apptainer``, ``singularity``, ``charliecloud``, ``oci``
    (Slurm's own ``--container``; ``container_image`` is then the path of a bundle), or ``none``: no image but a Python
    on the node, for which ``python_environment`` names a virtual environment. ``container_image`` overrides the task's
    image, also with a local ``.sqsh`` or ``.sif``; ``container_mounts`` are ``SRC:DST[:ro]``; ``container_args`` go to
    the runtime, ``srun_args`` to srun, from a list of those that do no harm. ``modules`` are loaded first.

    ``launcher`` ``srun`` starts one process for each of the job's tasks, with RANK, LOCAL_RANK, WORLD_SIZE,
    MASTER_ADDR and MASTER_PORT set, and the first writes the outputs; ``single`` starts one. When one of several fails
    all are ended, and started again within the job up to ``max_restarts`` times.

    ``resources=`` of the environment fills in CPUs, memory, GPUs and disk where nothing here says them.

    ``env`` reaches the job as its environment, never as text of a script. ``working_dir`` is where the job's output
    goes; a relative one is below the user's home.

    ``cluster`` is one that the connector's deployment names in ``FLYTE_SLURM_CLUSTERS``; all about it is set there.

    The connection (``host`` to ``skip_host_key_verification``, and ``rest_url``, ``rest_api_version``, ``rest_token``)
    serves where the connector's deployment sets none: what the deployment sets wins. ``ssh_private_key``,
    ``known_hosts_secret`` and ``rest_token`` are names of Flyte secrets. ``skip_host_key_verification`` counts only
    where the deployment allows it.

    Raises ValueError for what is unknown, reserved, or wrong in form.
    """

    partition: str | None = None
    nodes: int | None = None
    ntasks: int | None = None
    cpus_per_task: int | None = None
    gres: str | None = None
    gpus_per_node: int | str | None = None
    mem: str | None = None
    time_limit: str | None = None
    account: str | None = None
    qos: str | None = None
    reservation: str | None = None
    constraint: str | None = None
    sbatch_options: Mapping[str, object] = field(default_factory=dict)

    container_runtime: str = "pyxis"
    container_args: Sequence[str] = field(default_factory=list)
    modules: Sequence[str] = field(default_factory=list)
    container_image: str | None = None
    container_mounts: Sequence[str] = field(default_factory=list)
    container_workdir: str | None = None
    srun_args: Sequence[str] = field(default_factory=list)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    working_dir: str | None = None

    host: str | None = None
    port: int = _SSH_PORT
    username: str | None = None
    ssh_private_key: str | None = None
    known_hosts: str | None = None
    known_hosts_secret: str | None = None
    skip_host_key_verification: bool = False

    # Ours; keyword-only, so that positional arguments mean what they mean in flyteplugins-slurm.
    python_environment: str | None = field(default=None, kw_only=True)
    launcher: str = field(default="single", kw_only=True)
    max_restarts: int = field(default=0, kw_only=True)
    cluster: str | None = field(default=None, kw_only=True)
    rest_url: str | None = field(default=None, kw_only=True)
    rest_api_version: str | None = field(default=None, kw_only=True)
    rest_token: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in (*_PATHS, *_NAMES, *_SECRETS):
            value = getattr(self, name)
            if name in _PATHS and hasattr(value, "__fspath__"):
                setattr(self, name, value.__fspath__())
            elif value is not None:
                _check_line(name, value)
        check_runtime(self.container_runtime)
        if self.launcher not in LAUNCHERS:
            raise ValueError(f"Unknown launcher {shown(self.launcher)}; expected one of: {', '.join(LAUNCHERS)}")
        check_restarts(self.max_restarts, self.launcher)
        check_mapping("sbatch_options", self.sbatch_options)
        check_carried(self.options(), self.sbatch_options)
        job_options(self.options(), self.sbatch_options)
        check_srun_args(self.srun_args)
        check_words(self.container_runtime, self.container_args)
        check_texts("container_mounts", self.container_mounts)
        check_bundle(
            Container(
                self.container_runtime,
                args=self.container_args,
                mounts=self.container_mounts,
                srun_args=self.srun_args,
                launcher=self.launcher,
            )
        )
        check_modules(self.modules)
        check_env(self.env)
        whole_port(self.port)
        if self.skip_host_key_verification not in (True, False):
            # A text such as "false" would count as True.
            kind = type(self.skip_host_key_verification).__name__
            raise ValueError(f"skip_host_key_verification is of type {kind}: it is True or False")
        _check_directory(self.working_dir)

    def options(self) -> dict[str, object]:
        """Return the fields that are options of sbatch, by their names here, as far as they are set."""
        return {name: getattr(self, name) for name in FIELD_OPTIONS if getattr(self, name) is not None}

    def to_custom_config(
        self, resources: Resources | None = None, directives: Mapping[str, object] | None = None
    ) -> dict[str, object]:
        """Return the ``custom`` field of a task: JSON values only, and names of secrets, never their values.

        ``resources`` are those of the task on each node; what the configuration or ``directives`` of its script say
        wins. Raises ValueError for a resource that Slurm has no word for.
        """
        container: dict[str, object] = {
            "runtime": self.container_runtime,
            "args": list(self.container_args),
            "image": self.container_image,
            "mounts": list(self.container_mounts),
            "workdir": self.container_workdir,
            "srun_args": list(self.srun_args),
        }
        if self.python_environment:
            container["python_environment"] = self.python_environment
        if self.launcher != "single":
            container["launcher"] = self.launcher
        if self.max_restarts:
            container["max_restarts"] = self.max_restarts
        fields, options = self.options(), dict(self.sbatch_options)
        if resources is not None:
            said = {**(directives or {}), **job_options(fields, options)}
            # The processes of a node are one pod's elsewhere.
            processes = whole_count(said.get("ntasks_per_node")) if self.launcher == "srun" else 0
            for name, value in resource_options(resources, said, processes or 1).items():
                (fields if name in FIELD_OPTIONS else options)[name] = value
        whole: dict[str, object] = {
            "connection": self._connection(),
            "sbatch": {name: json_value(value) for name, value in fields.items()},
            "sbatch_options": {name: json_value(value) for name, value in options.items()},
            "container": container,
            "env": {name: env_text(value) for name, value in self.env.items()},
        }
        rest = {"modules": list(self.modules), "working_dir": self.working_dir, "secrets": self._secrets()}
        return whole | {name: value for name, value in rest.items() if value}

    def _connection(self) -> dict[str, object]:
        names = ("host", "username", "known_hosts", "rest_url", "rest_api_version", "cluster")
        found: dict[str, object] = {name: getattr(self, name) for name in names if getattr(self, name)}
        if (port := whole_port(self.port)) not in (None, _SSH_PORT):
            found["port"] = port
        if self.skip_host_key_verification:
            found["skip_host_key_verification"] = True
        return found

    def _secrets(self) -> dict[str, str]:
        named = {
            "ssh_private_key": self.ssh_private_key,
            "known_hosts_data": self.known_hosts_secret,
            "rest_token": self.rest_token,
        }
        return {keyword: name for keyword, name in named.items() if name}


def _check_line(name: str, value: object) -> None:
    """Refuse what is no text of one line; it is not shown, since it may be a secret. Raises ValueError."""
    what = "the name of a Flyte secret, not its value" if name in _SECRETS else "a text of one line"
    if not isinstance(value, str):
        raise ValueError(f"{name} is of type {type(value).__name__}: it takes {what}")
    if not is_text(value) or any(char < " " for char in value):
        raise ValueError(f"{name} has a line end, or what is no text: it takes {what}")


def _check_directory(path: str | None) -> None:
    if path is not None and "\\" in path:
        # In the name of an output file it has a meaning to Slurm, and cannot be escaped.
        raise ValueError(f"working_dir is {path!r}: it may have no backslash")
    if path is not None and ("$" in path or (path.startswith("~") and path.partition("/")[0] != "~")):
        # A directory of that very name would be made.
        raise ValueError(f"working_dir is {path!r}: no shell reads it; write ~/ for the user's home, or a whole path")
