"""The configuration of a task: what it takes, what it refuses where the task is defined, and how it is serialised."""

from __future__ import annotations

import dataclasses
import inspect
from datetime import timedelta

import flyte
import pytest
from flyte.io import Dir, File
from flyte.models import SerializationContext

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.template import read_task

from .support.platform import serialize

# flyteplugins-slurm 2.12.1, its fields in their order with their defaults.
OFFICIAL: dict[str, object] = {
    "partition": None,
    "nodes": None,
    "ntasks": None,
    "cpus_per_task": None,
    "gres": None,
    "gpus_per_node": None,
    "mem": None,
    "time_limit": None,
    "account": None,
    "qos": None,
    "reservation": None,
    "constraint": None,
    "sbatch_options": {},
    "container_runtime": "pyxis",
    "container_args": [],
    "modules": [],
    "container_image": None,
    "container_mounts": [],
    "container_workdir": None,
    "srun_args": [],
    "env": {},
    "working_dir": None,
    "host": None,
    "port": 22,
    "username": None,
    "ssh_private_key": None,
    "known_hosts": None,
    "known_hosts_secret": None,
    "skip_host_key_verification": False,
}
# What flyteplugins-slurm 2.12.1 makes of ``EXAMPLE``.
EXAMPLE = Slurm(
    partition="gpu",
    gpus_per_node="h100:8",
    time_limit="4:00:00",
    sbatch_options={"exclusive": True, "mail-type": "FAIL"},
    container_runtime="apptainer",
    container_mounts=["/data:/data"],
    modules=["apptainer"],
    env={"AWS_REGION": "eu-north1"},
    host="login",
    port=2222,
    username="flyte",
    ssh_private_key="slurm-ssh-key",
    known_hosts_secret="slurm-hosts",
    skip_host_key_verification=True,
)
EXAMPLE_CUSTOM = {
    "connection": {"host": "login", "username": "flyte", "port": 2222, "skip_host_key_verification": True},
    "sbatch": {"partition": "gpu", "gpus_per_node": "h100:8", "time_limit": "4:00:00"},
    "sbatch_options": {"exclusive": True, "mail-type": "FAIL"},
    "container": {
        "runtime": "apptainer",
        "args": [],
        "image": None,
        "mounts": ["/data:/data"],
        "workdir": None,
        "srun_args": [],
    },
    "env": {"AWS_REGION": "eu-north1"},
    "modules": ["apptainer"],
    "secrets": {"ssh_private_key": "slurm-ssh-key", "known_hosts_data": "slurm-hosts"},
}


def test_every_field_of_the_official_package_is_there_with_its_default() -> None:
    plain = Slurm()
    fields = [field.name for field in dataclasses.fields(Slurm)]
    assert fields[: len(OFFICIAL)] == list(OFFICIAL)
    assert {name: getattr(plain, name) for name in OFFICIAL} == OFFICIAL
    positional = [p.name for p in inspect.signature(Slurm).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert positional == list(OFFICIAL)


def test_what_it_serialises_is_the_official_format() -> None:
    assert EXAMPLE.to_custom_config() == EXAMPLE_CUSTOM
    assert set(Slurm().to_custom_config()) == {"connection", "sbatch", "sbatch_options", "container", "env"}


def test_what_is_ours_is_there_only_where_it_is_used() -> None:
    ours = Slurm(
        container_runtime="none",
        python_environment="/opt/env",
        launcher="srun",
        rest_url="http://slurm",
        rest_api_version="v0.0.42",
        rest_token="slurm-token",
    ).to_custom_config()
    assert ours["connection"] == {"rest_url": "http://slurm", "rest_api_version": "v0.0.42"}
    assert ours["secrets"] == {"rest_token": "slurm-token"}
    assert ours["container"] == {
        "runtime": "none",
        "args": [],
        "image": None,
        "mounts": [],
        "workdir": None,
        "srun_args": [],
        "python_environment": "/opt/env",
        "launcher": "srun",
    }


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"container_runtime": "docker"}, "Unknown container_runtime 'docker'"),
        ({"launcher": "mpirun"}, "Unknown launcher"),
        ({"time_limit": "soon"}, "time"),
        ({"sbatch_options": {"output": "/home/x/.ssh/authorized_keys"}}, "'output' is set by the connector"),
        ({"sbatch_options": {"outpu": "/x"}}, "no option 'outpu': did you mean 'output'"),
        ({"sbatch_options": {"uid": "0"}}, "Reserved"),
        ({"sbatch_options": {"--qos": "high"}}, "Invalid sbatch option name"),
        ({"sbatch_options": {"script": "x"}}, "no option 'script'"),
        ({"sbatch_options": {"nodes": "many"}}, "nodes"),
        ({"srun_args": ["--output=/x"]}, "srun_args may not have '--output=/x'"),
        ({"srun_args": ["--outp=/x"]}, "srun_args may not have"),
        ({"srun_args": ["-o", "/x"]}, "srun_args may not have"),
        ({"srun_args": ["--ntasks=2"]}, "srun_args may not have"),
        ({"srun_args": ["--overlap", "pmix"]}, "srun_args may not have 'pmix'"),
        ({"container_runtime": "oci", "container_mounts": ["/a:/b"]}, "takes no container_mounts"),
        ({"modules": ["a b"]}, "module name"),
        ({"modules": ["-f"]}, "module name"),
        ({"env": {"A-B": "1"}}, "Invalid environment variable name: 'A-B'"),
    ],
)
def test_what_is_wrong_is_refused_where_the_task_is_defined(given: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Slurm(**given)  # type: ignore[arg-type]  # one field after the other


def test_values_with_white_space_are_fine() -> None:
    Slurm(sbatch_options={"mail-user": "a b@c", "dependency": "afterok:1"}, srun_args=["--mpi=pmix", "--exact"])


def test_the_environment_is_in_no_repr() -> None:
    assert "hidden" not in repr(Slurm(env={"TOKEN": "hidden"}))


# --- scripts --------------------------------------------------------------------------------------------------


def script(text: str = "#!/bin/sh\n", **options: object) -> SlurmScriptTask:
    return SlurmScriptTask("legacy", text, Slurm(), **options)  # type: ignore[arg-type]  # what a test wants to set


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("", {"outputs": {"n": set}}, "'n' of 'legacy' is a set: a script's outputs are"),
        ("", {"output_upload": "ftp"}, "output_upload must be one of"),
        ("cp x $FLYTE_OUTPUT_MODEL", {}, r'outputs=\{"model": File\}'),
        (
            "cp x ${FLYTE_OUTPUT_MODLE}",
            {"outputs": {"model": File}},
            "FLYTE_OUTPUT_MODLE.*Declared are FLYTE_OUTPUT_MODEL",
        ),
        ("", {"inputs": {"a-b": int, "a_b": int}}, "'a-b' and the input 'a_b' would both be FLYTE_INPUT_A_B"),
        ("", {"outputs": {"x.y": File, "X_Y": Dir}}, "would both be FLYTE_OUTPUT_X_Y"),
        ("", {"outputs": {"../m": File}}, "'../m' cannot be the name of a file"),
    ],
)
def test_a_script_that_cannot_work_is_refused(text: str, options: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        script(text, **options)


def test_a_variable_of_the_task_may_not_hide_an_input_or_output() -> None:
    for name in ("FLYTE_OUTPUT_M", "FLYTE_INPUT_M"):
        with pytest.raises(ValueError, match=f"'{name}' of env .* would both be {name}"):
            SlurmScriptTask("t", "", Slurm(env={name: "1"}), inputs={"m": int}, outputs={"m": File})


def test_a_name_made_at_run_time_is_left_alone() -> None:
    script("# about FLYTE_OUTPUT_X\ncp x ${!FLYTE_OUTPUT_*}\n")


def test_what_a_script_serialises_is_the_official_format() -> None:
    task = script("#!/bin/sh\n", inputs={"n": int}, outputs={"model": File, "shards": Dir}, output_upload="job")
    custom = task.custom_config(SerializationContext(version="1"))
    assert custom == {
        **Slurm().to_custom_config(),
        "script": "#!/bin/sh\n",
        "outputs": {"model": "file", "shards": "directory"},
        "output_upload": "job",
    }
    assert "outputs" not in script().custom_config(SerializationContext(version="1"))


def version(task: SlurmScriptTask) -> str:
    flyte.TaskEnvironment.from_task("legacy", task)
    return str(serialize(task).metadata.discovery_version)


def test_the_cache_sees_what_decides_the_result_and_nothing_else() -> None:
    def of(text: str = "a", outputs: dict[str, type] | None = None, upload: str = "connector", **config: object) -> str:
        slurm = Slurm(**config)  # type: ignore[arg-type]  # one field after the other
        return version(SlurmScriptTask("t", text, slurm, outputs=outputs, output_upload=upload, cache="auto"))

    base = of()
    assert base == of()
    assert of(host="other", username="u", ssh_private_key="k", rest_url="http://x", rest_token="t") == base
    changed = [of("b"), of(outputs={"m": File}), of(outputs={"m": Dir}), of(partition="gpu"), of(time_limit="1:00")]
    changed += [of(sbatch_options={"exclusive": True})]
    changed += [of(outputs={"m": int}), of(outputs={"m": list[int]}), of(outputs={"m": list[str]})]
    changed += [of(env={"A": "1"}), of(modules=["cuda"]), of(mem="1G"), of(working_dir="/w"), of(gres="gpu:1")]
    assert len({base, *changed}) == len(changed) + 1
    assert version(SlurmScriptTask("t", "a", Slurm(), cache=flyte.Cache(behavior="auto", salt="2"))) != base
    assert of(outputs={"m": File}, upload="job") == of(outputs={"m": File})


def test_a_task_that_is_overridden_keeps_its_script_and_its_rule() -> None:
    task = SlurmScriptTask("t", "a", Slurm(), inputs={"n": int}, outputs={"m": File}, cache="auto", retries=3)
    flyte.TaskEnvironment.from_task("env", task)
    same, other = task.override(cache="auto"), task.override(plugin_config=Slurm(partition="gpu"))
    versions = [str(serialize(one).metadata.discovery_version) for one in (task, same, other)]
    assert versions[0] == versions[1] != versions[2]
    assert (other.script, other.declared_outputs, serialize(other).metadata.retries.retries) == ("a", {"m": File}, 3)
    assert serialize(task.override(retries=5)).metadata.retries.retries == 5
    with pytest.raises(ValueError, match="image cannot be overridden"):
        task.override(image="x")


def test_a_version_of_the_authors_own_is_left_alone() -> None:
    own = flyte.Cache(behavior="override", version_override="mine")
    assert version(SlurmScriptTask("t", "a", Slurm(), cache=own)) == "mine"


# --- both ways --------------------------------------------------------------------------------------------------


def test_a_template_is_read_back() -> None:
    task = script("#!/bin/sh\n", outputs={"model": File})
    task.plugin_config = EXAMPLE
    flyte.TaskEnvironment.from_task("legacy", task)
    read = read_task(serialize(task))
    assert (read.kind, read.connection.host, read.connection.port) == ("slurm_script", "login", 2222)
    assert (read.fields, read.options) == (EXAMPLE_CUSTOM["sbatch"], EXAMPLE_CUSTOM["sbatch_options"])
    assert (read.modules, read.env, read.outputs) == (("apptainer",), {"AWS_REGION": "eu-north1"}, {"model": "file"})
    assert read.asks_for_unsafe_host


def test_the_limits_of_a_task_are_read() -> None:
    task = script(timeout=flyte.Timeout(max_runtime=90, max_queued_time=60), interruptible=True)
    flyte.TaskEnvironment.from_task("legacy", task)
    read = read_task(serialize(task))
    assert (read.max_runtime, read.max_queued) == (timedelta(seconds=90), timedelta(seconds=60))
    assert read.interruptible
    plain = script()
    flyte.TaskEnvironment.from_task("legacy", plain)
    bare = read_task(serialize(plain))
    assert (bare.max_runtime, bare.max_queued, bare.interruptible) == (None, None, False)


# --- resources ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resources", "fields", "options"),
    [
        (flyte.Resources(cpu=4), {"cpus_per_task": 4}, {}),
        (flyte.Resources(cpu="500m"), {"cpus_per_task": 1}, {}),
        (flyte.Resources(cpu=2.5), {"cpus_per_task": 3}, {}),
        (flyte.Resources(cpu=(2, 8), memory=("1Gi", "8Gi")), {"cpus_per_task": 2, "mem": "1024M"}, {}),
        (flyte.Resources(memory="1G"), {"mem": "954M"}, {}),
        (flyte.Resources(memory="1.5Gi", disk="10Gi"), {"mem": "1536M"}, {"tmp": "10240M"}),
        (flyte.Resources(memory="1000"), {"mem": "1M"}, {}),
        (flyte.Resources(gpu=2), {"gpus_per_node": 2}, {}),
        (flyte.Resources(gpu=0, shm="auto"), {}, {}),
        (flyte.Resources(gpu="A100:4"), {"gpus_per_node": "a100:4"}, {}),
        (flyte.Resources(gpu="MI250X:1"), {"gpus_per_node": "mi250x:1"}, {}),
        (flyte.Resources(gpu=flyte.GPU("A100", 2, "1g.5gb")), {"gpus_per_node": "a100_1g.5gb:2"}, {}),
    ],
)
def test_resources_become_options(
    resources: flyte.Resources, fields: dict[str, object], options: dict[str, object]
) -> None:
    custom = Slurm().to_custom_config(resources)
    assert (custom["sbatch"], custom["sbatch_options"]) == (fields, options)


@pytest.mark.parametrize(
    "own",
    [
        {"cpus_per_task": 1, "mem": "2G", "gres": "gpu:1", "sbatch_options": {"tmp": "1G"}},
        {"sbatch_options": {"tres-per-task": "cpu=2,gres/gpu=1", "mem-per-cpu": "1G", "tmp": 5}},
        {"sbatch_options": {"gpus": 2, "cpus-per-gpu": 4, "mem-per-gpu": "4G", "tmp": 5}},
    ],
)
def test_what_the_configuration_says_itself_wins_over_resources(own: dict[str, object]) -> None:
    slurm = Slurm(**own)  # type: ignore[arg-type]  # one field after the other
    asked = flyte.Resources(cpu=8, memory="64Gi", gpu="A100:8", disk="1Ti")
    assert slurm.to_custom_config(asked) == slurm.to_custom_config()


def test_other_generic_resources_are_no_gpus() -> None:
    assert Slurm(gres="license:1").to_custom_config(flyte.Resources(gpu=1))["sbatch"] == {
        "gres": "license:1",
        "gpus_per_node": 1,
    }


def test_a_device_that_slurm_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match=r"resources: Slurm knows a Trn1 only by.*say gres"):
        Slurm().to_custom_config(flyte.Resources(gpu="Trn1:1"))


def test_resources_of_an_environment_reach_the_job() -> None:
    env = flyte.TaskEnvironment(
        name="big",
        plugin_config=Slurm(mem="1G"),
        image=flyte.Image.from_base("img"),
        resources=flyte.Resources(2, "4Gi", 1),
    )

    @env.task
    async def train() -> None:
        """Never runs here."""

    read = read_task(serialize(train))
    assert (read.fields, read.container.gpus) == ({"mem": "1G", "cpus_per_task": 2.0, "gpus_per_node": 1.0}, True)


def test_a_scripts_directives_win_over_resources() -> None:
    asked = flyte.Resources(cpu=2, memory="4Gi")
    text = "#!/bin/sh\n#SBATCH -c 3 --spread-segments\n"
    custom = script(text, resources=asked).custom_config(SerializationContext(version="1"))
    assert custom["sbatch"] == {"mem": "4096M"}
