"""The batch scripts that are made: run by a real shell with a stand-in for srun, and read as words."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from flyteplugins.slurm_rest.runtimes import RUNTIMES, Container, step_words
from flyteplugins.slurm_rest.script import native_script, wrapped_script

A0 = ("a0", "--inputs", "s3://b/in puts.pb", "--dest", "/opt/flyte/", "it's", "$HOME")


def srun_words(container: Container, command: tuple[str, ...] = A0) -> list[str]:
    last = native_script(container, command).strip().splitlines()[-1]
    return shlex.split(last)


@pytest.mark.parametrize(
    ("image", "pyxis", "apptainer"),
    [
        ("ghcr.io/org/img:tag", "ghcr.io#org/img:tag", "docker://ghcr.io/org/img:tag"),
        ("localhost:5000/img", "localhost:5000#img", "docker://localhost:5000/img"),
        ("localhost/img", "localhost#img", "docker://localhost/img"),
        ("python:3.12-slim", "python:3.12-slim", "docker://python:3.12-slim"),
        ("org/img", "org/img", "docker://org/img"),
        ("docker://ghcr.io/org/img", "ghcr.io#org/img", "docker://ghcr.io/org/img"),
        ("ghcr.io#org/img", "ghcr.io#org/img", "docker://ghcr.io/org/img"),
        ("/images/a.sqsh", "/images/a.sqsh", "/images/a.sqsh"),
        ("./a.sif", "./a.sif", "./a.sif"),
        ("oras://ghcr.io/a", "oras://ghcr.io/a", "oras://ghcr.io/a"),
    ],
)
def test_image_references(image: str, pyxis: str, apptainer: str) -> None:
    assert f"--container-image={pyxis}" in step_words(Container("pyxis", image))
    assert step_words(Container("apptainer", image))[-1] == apptainer
    assert step_words(Container("singularity", image))[-1] == apptainer


def test_pyxis() -> None:
    container = Container(
        "pyxis",
        "a.io/b",
        args=["--container-name=x"],
        mounts=["/a:/b:ro", "/c:/d"],
        workdir="/w",
        srun_args=["--exact"],
    )
    words = srun_words(container)
    assert words[:6] == ["exec", "srun", "--nodes=1", "--ntasks=1", "--exact", "--container-image=a.io#b"]
    assert words[6:10] == [
        "--container-mounts=/a:/b:ro,/c:/d",
        "--container-workdir=/w",
        "--container-writable",
        "--container-name=x",
    ]
    assert words[10:12] == ["bash", "-c"]
    assert words[13:] == ["--", *A0]


def test_a_container_that_is_to_stay_read_only_stays_so() -> None:
    assert "--container-writable" not in step_words(Container("pyxis", "i", args=["--container-readonly"]))


def test_apptainer() -> None:
    container = Container("apptainer", "i", args=["--cleanenv"], mounts=["/a:/b"], workdir="/w", gpus=True)
    assert step_words(container) == [
        *("apptainer", "exec", "--nv", "--bind", "/a:/b", "--pwd", "/w", "--cleanenv", "docker://i")
    ]
    assert step_words(Container("singularity", "i"))[:2] == ["singularity", "exec"]


@pytest.mark.parametrize("flag", ["--nv", "--rocm", "--nvccli"])
def test_a_gpu_flag_of_the_task_is_the_only_one(flag: str) -> None:
    words = step_words(Container("apptainer", "i", args=[flag], gpus=True))
    assert [word for word in words if word in ("--nv", "--rocm", "--nvccli")] == [flag]


def test_the_code_bundle_has_a_place_to_be_written_to() -> None:
    inside = Container("apptainer", "i", destination="/opt/flyte/")
    assert step_words(inside)[2:4] == ["--scratch", "/opt/flyte"]
    mounted = Container("apptainer", "i", destination="/opt/flyte/", mounts=["/x:/opt/flyte"])
    assert "--scratch" not in step_words(mounted)
    assert "--scratch" not in step_words(Container("apptainer", "i", destination="."))


def test_charliecloud() -> None:
    words = step_words(Container("charliecloud", "/images/a", mounts=["/a:/b:ro", "/c"], workdir="/w"))
    assert words == [*("ch-run", "--write-fake", "--bind", "/a:/b", "--bind", "/c:/c", "--cd=/w", "/images/a", "--")]


def test_slurms_own_containers_run_the_whole_script_inside() -> None:
    script = native_script(Container("oci", "/bundles/a", python_environment="/opt/venv"), A0)
    assert script.startswith("#!/bin/sh\n")
    assert "srun" not in script
    assert script.splitlines()[-1] == shlex.join(["." if word == "/opt/flyte/" else word for word in A0])
    assert 'export PATH=/opt/venv/bin:"$PATH"' in script


def test_a_directory_that_is_asked_for_is_where_a_bundles_command_runs() -> None:
    script = native_script(Container("oci", "/bundles/a", workdir="/my work"), A0)
    assert script.splitlines()[-2:] == ["cd -- '/my work'", f"exec {shlex.join(A0)}"]


def test_slurms_own_containers_of_many_processes_are_steps() -> None:
    words = srun_words(Container("oci", "/bundles/a", launcher="srun", srun_args=["--label"]))
    assert words[:7] == ["exec", "srun", "--kill-on-bad-exit=1", "--label", "--container=/bundles/a", "sh", "-c"]
    assert "RANK=$SLURM_PROCID" in words[7]


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("mounts", ["/a:/b"], "takes no container_mounts"),
        ("args", ["--x"], "takes no container_args"),
        ("srun_args", ["--label"], "srun_args would do nothing"),
    ],
)
def test_what_a_bundle_cannot_be_told_is_refused(field: str, value: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        native_script(Container("oci", "/b", **{field: value}), A0)  # type: ignore[arg-type]  # one of its fields
    native_script(Container("oci", "/b", launcher="srun", srun_args=["--label"]), A0)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_script_is_good_shell(runtime: str) -> None:
    for launcher in ("single", "srun"):
        container = Container(runtime, "/i", python_environment="/e", launcher=launcher)
        script = native_script(container, A0, ["cuda/12.2", "a'b"])
        shell = script.splitlines()[0].removeprefix("#!")
        done = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.stderr == ""


# --- what they do -----------------------------------------------------------------------------------------------


def run(
    script: str, folder: Path, tools: Mapping[str, str] | None = None, /, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script whose srun passes its command on, without srun's own options, or with ``tools`` of its own."""
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    for name, text in {
        "srun": 'while case $1 in --*) true ;; *) false ;; esac; do shift; done; exec "$@"',
        "a0": 'pwd; printf "%s\\n" "$@"; echo "$VIRTUAL_ENV"; exit 3',
        "scontrol": 'printf "n7\\nn8\\n"',
        **(tools or {}),
    }.items():
        (place / name).write_text(f"#!/bin/sh\n{text}\n")
        (place / name).chmod(0o755)
    env = {"PATH": f"{place}:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder), **variables}
    return subprocess.run(["bash", "-c", script], env=env, cwd=folder, capture_output=True, text=True, check=False)


def test_without_a_container_the_bundle_goes_to_a_directory_of_its_own(tmp_path: Path) -> None:
    done = run(native_script(Container("none", python_environment="/e"), A0), tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{tmp_path}/flyte.")
    assert not Path(lines[0]).exists(), "it is removed at the end"
    assert lines[1:-1] == ["--inputs", "s3://b/in puts.pb", "--dest", ".", "it's", "$HOME"]
    assert lines[-1] == "/e"
    assert done.returncode == 3, done.stderr


def test_each_process_of_a_distributed_task_knows_its_place(tmp_path: Path) -> None:
    names = ["FLYTE_CLUSTERED_WORKER", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "NNODES"]
    names += ["MASTER_ADDR", "MASTER_PORT", "JAX_COORDINATOR_ADDRESS", "JOBSET_RESTART_ATTEMPT", "JOBSET_MAX_RESTARTS"]
    command = ("sh", "-c", f"echo {' '.join(f'${name}' for name in names)}")
    script = native_script(Container("none", launcher="srun"), command)
    assert "--ntasks=1" not in script
    place = {"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NTASKS": "4", "SLURM_NODEID": "1", "SLURM_NNODES": "2"}
    place["SLURM_GTIDS"] = "2,3"
    done = run(script, tmp_path, SLURM_JOB_NODELIST="n[7-8]", SLURM_JOB_ID="40123", **place)
    assert done.stdout == "1 3 1 4 2 1 2 n7 20123 n7:20123 0 0\n", done.stderr


@pytest.mark.parametrize(("needed", "code", "tries"), [(1, 0, 1), (3, 0, 3), (4, 7, 3)])
def test_processes_are_started_again_as_often_as_is_said(needed: int, code: int, tries: int, tmp_path: Path) -> None:
    """In a job that Slurm has requeued twice: restarts are counted on, and there are as many as in the first run."""
    container = Container("none", launcher="srun", max_restarts=2)
    count = tmp_path / "count"
    step = (
        f'echo "$JOBSET_RESTART_ATTEMPT/$JOBSET_MAX_RESTARTS" >>{count}; [ $(wc -l <{count}) -ge {needed} ] || exit 7'
    )
    done = run(
        native_script(container, ("true",)),
        tmp_path,
        {"srun": step},
        SLURM_JOB_NODELIST="n1",
        SLURM_JOB_ID="1",
        SLURM_RESTART_COUNT="2",
    )
    assert done.returncode == code, done.stderr
    assert count.read_text().splitlines() == ["2/2", "3/2", "4/2"][:tries]
    assert done.stderr.count("exit code 7, all are started again") == tries - 1


def test_who_says_what_a_failed_process_does_to_others_is_heard() -> None:
    container = Container("none", launcher="srun", srun_args=["--kill-on-bad-exit=0"])
    assert srun_words(container)[:3] == ["exec", "srun", "--kill-on-bad-exit=0"]


RECORD = 'printf "%s\\0" "${0##*/}" "$@" >>"$HOME/calls"; echo >>"$HOME/calls"; '
# Until the command that runs inside, which is always a shell with -c.
INSIDE = 'until [ "$2" = -c ]; do shift; done; exec "$@"'


@pytest.mark.parametrize(
    ("container", "calls"),
    [
        (
            Container("pyxis", "/i.sqsh", mounts=["/a b:/b"], workdir="/w", srun_args=["--label"], launcher="srun"),
            [
                *("srun", "--kill-on-bad-exit=1", "--label", "--container-image=/i.sqsh", "--container-mounts=/a b:/b"),
                *("--container-workdir=/w", "--container-writable"),
            ],
        ),
        (
            Container("apptainer", "/i.sif", mounts=["/a b:/b"], destination="/opt/flyte/", gpus=True),
            [
                *("srun", "--nodes=1", "--ntasks=1", "apptainer", "exec", "--nv", "--scratch", "/opt/flyte"),
                *("--bind", "/a b:/b", "/i.sif"),
            ],
        ),
        (
            Container("charliecloud", "/image", mounts=["/a b:/b"]),
            ["srun", "--nodes=1", "--ntasks=1", "ch-run", "--write-fake", "--bind", "/a b:/b", "/image", "--"],
        ),
        (Container("oci", "/bundle", launcher="srun"), ["srun", "--kill-on-bad-exit=1", "--container=/bundle"]),
    ],
)
def test_what_a_script_calls_and_what_reaches_the_entrypoint(
    container: Container, calls: list[str], tmp_path: Path
) -> None:
    """By programs that write down their words: srun with pyxis, and those that start an image by themselves."""
    seen = 'echo "$SLURM_EXPORT_ENV" >"$HOME/exported"; '
    place = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NTASKS": "1", "SLURM_NODEID": "0", "SLURM_NNODES": "1"}
    nothing = str(tmp_path / "not there")
    done = run(
        native_script(container, A0),
        tmp_path,
        {"srun": RECORD + seen + INSIDE, "a0": RECORD},
        SLURM_EXPORT_ENV="NONE",
        SLURM_JOB_NODELIST="n1",
        SLURM_JOB_ID="1",
        TMPDIR=nothing,
        **place,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "exported").read_text() == "ALL\n", "whatever --export says of the job"
    first, second = (line.split("\0")[:-1] for line in (tmp_path / "calls").read_text().splitlines())
    assert first[: len(calls)] == calls
    assert first[len(calls)] in ("sh", "bash")
    moved = container.runtime in ("charliecloud", "oci")
    assert second == ["." if moved and word == "/opt/flyte/" else word for word in A0]


def test_an_image_of_charliecloud_says_its_own_environment(tmp_path: Path) -> None:
    """Made by ch-image it has a file with it, which the job's own values win over."""
    said = tmp_path / "environment"
    said.write_text("PATH=/usr/bin:/bin:/image\nMINE=image's own\nTASK=image\n# x\n\n")
    script = native_script(Container("charliecloud", "/i"), ("sh", "-c", 'echo "$MINE $TASK $PATH"'))
    done = run(script.replace("/ch/environment", str(said)), tmp_path, {"srun": INSIDE}, TASK="job")
    assert done.stdout == "image's own job /usr/bin:/bin:/image\n", done.stderr


def test_a_module_that_is_missing_ends_the_job(tmp_path: Path) -> None:
    done = run(native_script(Container("none"), ("true",), ["cuda"]), tmp_path)
    assert done.returncode != 0
    assert "module" in done.stderr


@pytest.mark.parametrize("text", ["#!/bin/sh\n#SBATCH --time=1\necho hello\n", "#!/usr/bin/env python3\nprint(1)"])
def test_a_script_without_anything_before_it_is_left_as_it_is(text: str) -> None:
    assert wrapped_script(text) == text


def test_a_script_runs_unmodified_under_its_own_interpreter(tmp_path: Path) -> None:
    text = (
        "#!/usr/bin/env python3\nimport os, sys\n"
        "print(sys.argv[1:], sorted(os.listdir('out')), 'EOF', \"$HOME\", '\\\\')\nsys.exit(7)\n"
    )
    script = wrapped_script(text, directories=["out/a b", "out/c"])
    path = tmp_path / "job"
    path.write_text(script)
    done = subprocess.run(["bash", path, "x y"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("['x y'] ['a b', 'c'] EOF $HOME \\\n", 7), done.stderr


def test_a_shell_script_keeps_its_own_behaviour(tmp_path: Path) -> None:
    text = (
        '#!/bin/bash\nfalse\necho ${UNSET_ONE}after\nread -r line; echo "$line"\n' + "# filler\n" * 20_000 + "exit 5\n"
    )
    path = tmp_path / "job"
    path.write_text(wrapped_script(text, directories=["out"]))
    done = subprocess.run(["bash", path], cwd=tmp_path, input="stdin\n", capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("after\nstdin\n", 5), done.stderr


def test_signals_reach_the_script_itself(tmp_path: Path) -> None:
    text = "#!/bin/bash\ntrap 'echo caught; exit 9' USR1\necho ready\nwhile true; do sleep 0.05; done\n"
    path = tmp_path / "job"
    path.write_text(wrapped_script(text, directories=["out"]))
    with subprocess.Popen(["bash", path], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, 10)
        assert process.stdout.read() == "caught\n"
    assert process.returncode == 9


def test_a_script_without_an_interpreter_is_refused() -> None:
    with pytest.raises(ValueError, match="does not start with #!"):
        wrapped_script("echo\n", modules=["cuda"])
