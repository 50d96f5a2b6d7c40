"""The batch scripts that are made: run by a real shell with a stand-in for srun, and read as words."""

from __future__ import annotations

import os
import shlex
import subprocess
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
    assert words == [
        *("ch-run", "--write-fake", "--set-env", "--bind", "/a:/b", "--bind", "/c:/c", "--cd=/w", "/images/a", "--")
    ]


def test_slurms_own_containers_run_the_whole_script_inside() -> None:
    script = native_script(Container("oci", "/bundles/a", python_environment="/opt/venv"), A0)
    assert script.startswith("#!/bin/sh\n")
    assert "srun" not in script
    assert script.rstrip().endswith(f"exec {shlex.join(A0)}")
    assert 'export PATH=/opt/venv/bin:"$PATH"' in script


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_script_is_good_shell(runtime: str) -> None:
    for launcher in ("single", "srun"):
        container = Container(runtime, "/i", python_environment="/e", launcher=launcher)
        script = native_script(container, A0, ["cuda/12.2", "a'b"])
        shell = script.splitlines()[0].removeprefix("#!")
        done = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
        assert done.stderr == ""


# --- what they do -----------------------------------------------------------------------------------------------


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script whose srun passes its command on, without srun's own options."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, text in {
        "srun": 'while case $1 in --*) true ;; *) false ;; esac; do shift; done; exec "$@"',
        "a0": 'pwd; printf "%s\\n" "$@"; echo "$VIRTUAL_ENV"; exit 3',
        "scontrol": 'printf "n7\\nn8\\n"',
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    env = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder), **variables}
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
    command = ("sh", "-c", "echo $FLYTE_CLUSTERED_WORKER $RANK $LOCAL_RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT")
    script = native_script(Container("none", launcher="srun"), command)
    assert "--ntasks=1" not in script
    place = {"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NTASKS": "4", "SLURM_NODEID": "1", "SLURM_NNODES": "2"}
    done = run(script, tmp_path, SLURM_JOB_NODELIST="n[7-8]", SLURM_JOB_ID="40123", **place)
    assert done.stdout == "1 3 1 4 n7 20123\n", done.stderr


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
