"""How each container runtime starts a command in an image. Pure: words in, words out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .options import check_srun_args, check_texts, shown, srun_words

__all__ = [
    "RUNTIMES",
    "Container",
    "check_bundle",
    "check_restarts",
    "check_runtime",
    "check_words",
    "image_for",
    "is_inside",
    "step_words",
]

_APPTAINER_SCHEMES = ("docker-daemon:", "docker-archive:", "oci:", "oci-archive:")
_FILES = (".sif", ".sqsh", ".squashfs")
_GPU_FLAGS = frozenset({"--nv", "--nvccli", "--rocm"})
_WRITABLE_FLAGS = frozenset({"--container-writable", "--container-readonly"})


@dataclass(frozen=True, slots=True)
class Container:
    """What a task says of its container. ``destination`` is where the entrypoint unpacks the code bundle."""

    runtime: str
    image: str = ""
    args: Sequence[str] = ()
    mounts: Sequence[str] = ()
    workdir: str = ""
    srun_args: Sequence[str] = field(default=())
    python_environment: str = ""
    launcher: str = "single"
    max_restarts: int = 0
    destination: str = ""
    gpus: bool = False


def _is_path(image: str) -> bool:
    return image.startswith(("/", "./", "../"))


def _as_path(image: str) -> str:
    """Return an image whose name is that of a file in a form that no runtime takes for a registry's."""
    is_file = image.endswith(_FILES) and ":" not in image and "#" not in image
    return f"./{image}" if is_file and not _is_path(image) else image


def _pyxis_image(image: str) -> str:
    """Enroot separates the registry from the image by #: ``ghcr.io#org/image:tag``."""
    image = _as_path(image.removeprefix("docker://"))
    if _is_path(image) or "#" in image or "://" in image:
        return image
    first, slash, rest = image.partition("/")
    is_registry = "." in first or ":" in first or first == "localhost"
    return f"{first}#{rest}" if slash and is_registry else image


def _apptainer_image(image: str) -> str:
    image = _as_path(image)
    if _is_path(image) or "://" in image or image.startswith(_APPTAINER_SCHEMES):
        return image
    # Enroot's # is a slash to all others: a task may change its runtime alone.
    return f"docker://{image.replace('#', '/', 1)}"


def _pyxis(container: Container) -> list[str]:
    words = [f"--container-image={_pyxis_image(container.image)}"]
    words += [f"--container-mounts={','.join(container.mounts)}"] if container.mounts else []
    words += [f"--container-workdir={container.workdir}"] if container.workdir else []
    if not _WRITABLE_FLAGS.intersection([*container.args, *container.srun_args]):
        # The code bundle is unpacked inside.
        words.append("--container-writable")
    return [*words, *srun_words(container.args)]


def _apptainer(container: Container) -> list[str]:
    words = [container.runtime, "exec"]
    if container.gpus and not _GPU_FLAGS.intersection(container.args):
        # Without it no device of the node is seen inside. AMD needs --rocm, which the task says itself.
        words.append("--nv")
    if container.destination.startswith("/") and not _mounted(container):
        # An image is read-only; this is a writable place for the code bundle.
        words += ["--scratch", container.destination.rstrip("/") or "/"]
    words += ["--bind", ",".join(container.mounts)] if container.mounts else []
    words += ["--pwd", container.workdir] if container.workdir else []
    return [*words, *container.args, _apptainer_image(container.image)]


def _charliecloud(container: Container) -> list[str]:
    words = ["ch-run", "--write-fake"]
    for mount in container.mounts:
        source, _, target = mount.removesuffix(":ro").removesuffix(":rw").partition(":")
        words += ["--bind", f"{source}:{target or source}"]
    words += [f"--cd={container.workdir}"] if container.workdir else []
    return [*words, *container.args, container.image.removeprefix("docker://"), "--"]


def _mounted(container: Container) -> bool:
    """Tell whether the task says itself what is where its code goes. Apptainer refuses to make one place twice."""
    place = container.destination.rstrip("/")
    made = {word.partition("=")[2] for word in container.args if word.startswith("--scratch=")}
    made |= {word for before, word in pairwise(container.args) if before in ("--scratch", "-S")}
    if place in {word.rstrip("/") for word in made}:
        return True
    return any(mount.split(":")[1:2] in ([place], [place + "/"]) for mount in container.mounts)


def _oci(container: Container) -> list[str]:
    return [f"--container={container.image}"]


def _nothing(container: Container) -> list[str]:
    return []


_WORDS: Mapping[str, Callable[[Container], list[str]]] = {
    "pyxis": _pyxis,
    "apptainer": _apptainer,
    "singularity": _apptainer,
    "charliecloud": _charliecloud,
    "oci": _oci,
    "none": _nothing,
}
RUNTIMES = tuple(_WORDS)


def check_runtime(name: object) -> None:
    """Raise ValueError for a runtime that does not exist."""
    if not isinstance(name, str) or name not in _WORDS:
        raise ValueError(f"Unknown container_runtime {shown(name)}; expected one of: {', '.join(RUNTIMES)}")


def check_restarts(count: object, launcher: str) -> None:
    """Raise ValueError for a number of restarts that no script can do."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"max_restarts is {shown(count)}: it is a number from 0 on")
    if count and launcher != "srun":
        raise ValueError('max_restarts starts all processes of a job again: it needs launcher="srun"')


def check_words(runtime: str, args: Sequence[str]) -> None:
    """Raise ValueError for what a runtime may not be given: pyxis's words are srun's own, all others a command's."""
    if runtime == "pyxis":
        check_srun_args(args, "container_args")
    else:
        check_texts("container_args", args)


def check_bundle(container: Container) -> None:
    """Raise ValueError for what Slurm's own containers have no way to do: a bundle's config.json says it all."""
    if container.runtime != "oci":
        return
    if container.mounts or container.args:
        given = "container_mounts" if container.mounts else "container_args"
        raise ValueError(f"The oci runtime takes no {given}: mounts and the like stand in the bundle's config.json")
    if container.srun_args and is_inside(container):
        raise ValueError('The oci runtime calls srun with launcher="srun" alone: srun_args would do nothing')


def step_words(container: Container) -> list[str]:
    """Return what stands between srun's own options and the command that runs inside."""
    check_runtime(container.runtime)
    check_words(container.runtime, container.args)
    return _WORDS[container.runtime](container)


def image_for(container: Container) -> str:
    """Return the path of the bundle that the whole job runs in, empty where it runs on the node."""
    return container.image if is_inside(container) else ""


def is_inside(container: Container) -> bool:
    """Tell whether the whole batch script runs inside the image: there is no srun there to start more processes."""
    return container.runtime == "oci" and container.launcher != "srun"
