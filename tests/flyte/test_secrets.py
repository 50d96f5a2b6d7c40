"""Secrets of tasks: where rules lead, what a job does at its start, and that no value is ever written down."""

from __future__ import annotations

import subprocess
from pathlib import Path

import flyte
import pytest

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.plan import make_plan
from flyteplugins.slurm_rest.script import wrapped_script
from flyteplugins.slurm_rest.secret_ways import (
    UndeliverableSecret,
    WantedSecret,
    deliver_secrets,
    read_secret_rules,
)
from flyteplugins.slurm_rest.template import Execution, read_task
from slurm_rest.errors import ConfigError

from .support.platform import serialize
from .test_launching import Shared, launched, shared

__all__ = ["shared"]

TOKEN = WantedSecret("hf-token", variable="HF_TOKEN")
GROUPED = WantedSecret("key", "team", "TEAM_KEY")


def run(wanted: list[WantedSecret], rules: str, env: dict[str, str], then: str) -> subprocess.CompletedProcess[str]:
    """Run a script with what comes before it, in an environment of its own."""
    lines = deliver_secrets(wanted, read_secret_rules(rules), "alice", ()).lines
    script = wrapped_script(f"#!/bin/sh\n{then}\n", prelude=lines)
    return subprocess.run(
        ["/bin/bash", "-c", script], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **env}, check=False
    )


def test_a_file_and_a_variable_become_the_variables_that_the_task_wants(tmp_path: Path) -> None:
    folder = tmp_path / "it's $HOME"
    folder.mkdir()
    (folder / "hf-token.alice").write_text("se cret'$(id)\n")
    rules = f"hf-token=file:{folder}/{{key}}.{{user}}; team/key=env:SITE_KEY"
    done = run([TOKEN, GROUPED], rules, {"SITE_KEY": "a b"}, 'printf "%s|%s" "$HF_TOKEN" "$TEAM_KEY"')
    assert (done.stdout, done.stderr) == ("se cret'$(id)|a b", "")


def test_a_secret_that_is_not_there_ends_the_job_with_a_word_on_it(tmp_path: Path) -> None:
    done = run([TOKEN], f"*=file:{tmp_path}/{{key}}", {}, "echo never")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"flyte: the secret hf-token cannot be read on this node from {tmp_path}/hf-token" in done.stderr
    done = run([TOKEN], "hf-token=env:SITE", {}, "echo never")
    assert (done.returncode, done.stdout) == (1, "")
    assert "flyte: the secret hf-token is not in the job's environment (SITE)" in done.stderr
    assert run([TOKEN], "hf-token=env:HF_TOKEN", {"HF_TOKEN": ""}, "echo runs").stdout == "runs\n"


@pytest.mark.parametrize(
    ("wanted", "rules", "words"),
    [
        (TOKEN, "", "FLYTE_SLURM_SECRETS on the connector says where secrets lie"),
        (TOKEN, "other=env:A", "'hf-token' cannot be given to a Slurm job"),
        (WantedSecret("a", variable="A", as_file=True), "*=file:/s/{key}", "as_env_var"),
        (WantedSecret("../../etc/shadow", variable="A"), "*=file:/s/{key}", "is no name of a secret"),
        (WantedSecret("..", variable="A"), "*=file:/s/{key}", "is no name of a secret"),
        (WantedSecret("k", "../x", variable="A"), "*=file:/s/{group}/{key}", "is no name of a secret"),
        (WantedSecret("k\n", variable="A"), "*=file:/s/{key}", "is no name of a secret"),
        (WantedSecret("k", variable="A=1; id"), "*=file:/s/{key}", "is no variable"),
        (WantedSecret("k", variable="A"), "*=file:/s/{group}/{key}", "has no group"),
        (WantedSecret("k", variable="TAKEN"), "*=file:/s/{key}", "which the job has already"),
    ],
)
def test_what_cannot_be_delivered_is_refused_with_the_remedy(wanted: WantedSecret, rules: str, words: str) -> None:
    with pytest.raises(UndeliverableSecret, match=words):
        deliver_secrets([wanted], read_secret_rules(rules), "alice", {"TAKEN"})


def test_the_most_particular_rule_counts() -> None:
    rules = read_secret_rules("*=file:/any/{key}\nkey=file:/key\nteam/key=file:/team")
    found = [
        deliver_secrets([wanted], rules, "u", ()).lines[0].split(" || ")[0]
        for wanted in (GROUPED, WantedSecret("key", "other", "K"), WantedSecret("x", "other", "X"))
    ]
    assert found == ["TEAM_KEY=$(cat -- /team)", "K=$(cat -- /key)", "X=$(cat -- /any/x)"]


@pytest.mark.parametrize(
    "text",
    [
        *("a", "a=b", "a=file:b", "a=env:", "a=env:A-B", "*=env:A", "=file:/a", "a=file:/{name}", "a=value:x"),
        *("a=connector-file:b", "*=connector-env:A", "a=connector:/x"),
    ],
)
def test_a_rule_that_leads_nowhere_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="FLYTE_SLURM_SECRETS has"):
        read_secret_rules(text)


def with_secrets() -> SlurmScriptTask:
    task = SlurmScriptTask(
        "secretive",
        "#!/bin/sh\n#SBATCH --time=3\n",
        Slurm(env={"PLAIN": "value-of-env"}),
        secrets=[flyte.Secret("hf-token"), flyte.Secret("key", group="team", as_env_var="TEAM_KEY")],
    )
    flyte.TaskEnvironment.from_task("secretive", task)
    return task


def test_templates_of_flyte_say_what_a_task_wants() -> None:
    assert read_task(serialize(with_secrets())).secrets == (TOKEN, GROUPED)


def test_a_python_task_has_them_before_its_container_starts() -> None:
    environment = flyte.TaskEnvironment(
        name="secretive",
        plugin_config=Slurm(),
        image=flyte.Image.from_base("python:3.11"),
        secrets=flyte.Secret("hf-token"),
    )

    @environment.task
    async def answer() -> int:
        return 42

    task = read_task(serialize(answer))
    lines = deliver_secrets(task.secrets, read_secret_rules("*=file:/s/{key}"), "alice", ()).lines
    plan = make_plan(
        task, Execution(), directory="/d", home="/h", output_prefix="s3://b/p", inputs={}, unique="1", prelude=lines
    )
    text = plan.spec.script
    assert text.index("export HF_TOKEN") < text.index("exec srun")


async def test_a_job_without_its_secrets_is_never_made(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    shared.task = with_secrets()
    with pytest.raises(UndeliverableSecret):
        await shared.create(launched())
    assert not shared.slurm.jobs
    monkeypatch.setenv("FLYTE_SLURM_SECRETS", "*=file:/secrets/{user}/{key}")
    meta = await shared.create(launched())
    (job,) = shared.slurm.members(int(meta.job_id))
    assert "TEAM_KEY=$(cat -- /secrets/alice/key)" in job.request.script
    assert "value-of-env" not in job.request.script + job.comment + repr(meta)
