"""Specs: reading back what was rendered, and the body that is made of them."""

from __future__ import annotations

import contextlib
from datetime import datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slurm_rest import SpecError, UnsupportedVersion
from slurm_rest.sbatch import JobSpec, Setting, submit_body
from slurm_rest.sbatch.derive import PUT
from slurm_rest.sbatch.option import NONE
from slurm_rest.sbatch.options import OPTIONS
from tests.differential.test_differential import VALUES
from tests.unit.sbatch.support import HEAD

NOW = datetime(2026, 11, 29, 17, 38)
SETTING = Setting("/home/alice", version="v0.0.42", now=NOW)
WORDS = [(name, value) for name, values in VALUES.items() for value in values]
ROWS = {row.long: row for row in OPTIONS}


def options_of(drawn: list[tuple[str, str | None]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in drawn:
        row = ROWS[name]
        found[row.name] = row.bare if value is None else value
    return found


@st.composite
def specs(draw: st.DrawFn) -> JobSpec:
    drawn = draw(st.lists(st.sampled_from(WORDS), max_size=8, unique_by=lambda item: item[0]))
    try:
        return JobSpec(f"{HEAD}true\n", **options_of(drawn))  # type: ignore[arg-type]
    except SpecError:
        assume(False)
        raise


def body(spec: JobSpec, setting: Setting = SETTING) -> object:
    try:
        return submit_body(spec, setting)
    except (SpecError, UnsupportedVersion) as error:
        return str(error)


@settings(deadline=None)
@given(specs())
def test_directives_come_back(spec: JobSpec) -> None:
    again = JobSpec.from_script(spec.to_script()).replace(name=spec.name, script=spec.script)
    assert again == spec
    assert body(again) == body(spec)


@settings(deadline=None)
@given(specs())
def test_words_come_back(spec: JobSpec) -> None:
    again = JobSpec.from_script(spec.script, words=spec.to_argv()).replace(name=spec.name)
    assert again == spec
    assert body(again) == body(spec)


@settings(deadline=None)
@given(specs())
def test_options_come_back(spec: JobSpec) -> None:
    assert JobSpec(spec.script, **spec.options()) == spec  # type: ignore[arg-type]
    assert spec.replace() == spec


@settings(deadline=None)
@given(specs(), specs())
def test_components_come_back(first: JobSpec, second: JobSpec) -> None:
    # The first component's --mem carries over, and no option takes it back.
    assume(first.mem is None or (second.mem_per_cpu is None and second.mem_per_gpu is None))
    spec = first.replace(name="a", components=[second.replace(script="", name="b")])
    bodies = body(JobSpec.from_script(spec.script, words=spec.to_argv()))
    assume(isinstance(bodies, dict))
    assert len(bodies["jobs"]) == 2  # type: ignore[index]


def unordered(made: object) -> object:
    """Return a body whose variables are in one order."""
    if not isinstance(made, dict):
        return made
    jobs = made.get("jobs") or [made["job"]]
    return {**made, "jobs": [{**one, "environment": sorted(one["environment"])} for one in jobs], "job": None}


@settings(deadline=None)
@given(specs(), st.sampled_from(["v0.0.42", "v0.0.45"]))
def test_a_body_comes_back(spec: JobSpec, version: str) -> None:
    setting = Setting("/home/alice", version=version, release="26.05" if version > "v0.0.42" else "24.11", now=NOW)
    made = body(spec.replace(env={"A": "b", "SLURM_X": ""}, args=["x", "-y"]), setting)
    assume(isinstance(made, dict))
    again = JobSpec.from_body(made, version)  # type: ignore[arg-type]
    assert unordered(body(again, setting)) == unordered(made)
    assert JobSpec.from_body(body(again, setting), version) == again  # type: ignore[arg-type]


@settings(deadline=None, max_examples=50)
@given(specs(), specs())
def test_a_body_of_several_components_comes_back(first: JobSpec, second: JobSpec) -> None:
    made = body(first.replace(components=[second.replace(script="")]))
    assume(isinstance(made, dict))
    again = JobSpec.from_body(made)  # type: ignore[arg-type]
    assert unordered(body(again)) == unordered(made)


def test_the_normal_form_of_a_spec() -> None:
    spec = JobSpec(
        f"{HEAD}true\n",
        name="x",
        nodes="2",
        ntasks=4,
        mem="4G",
        time="1:00:00",
        gpus_per_node="a100:1",
        signal="B:USR1@30",
        mail_type="END,FAIL",
        exclusive="user",
        hold=True,
        array="0-3",
        chdir="/work",
        no_requeue=True,
        env={"A": "b"},
    )
    assert JobSpec.from_body(submit_body(spec, SETTING)) == spec
    assert JobSpec.from_body(submit_body(spec, SETTING), "v0.0.45") == spec
    hinted = JobSpec.from_body(submit_body(JobSpec(HEAD, hint="nomultithread", output="o"), SETTING))
    assert (hinted.hint, hinted.threads_per_core, hinted.output) == (None, 1, "/home/alice/o")
    assert hinted.env == {"SLURM_HINT": "nomultithread"}


@pytest.mark.parametrize(
    ("job_", "problem"),
    [
        ({"no_such_field": 1}, "no_such_field"),
        ({"tasks": 4, "minimum_cpus": 3}, "minimum_cpus|tasks"),
        ({"mail_type": ["BEGIN", "NEVER"]}, "mail_type"),
        ({"tasks": -1}, "takes a whole number"),
        ({"time_limit": 10**18}, "beyond all"),
        ({"delay_boot": -(10**18)}, "beyond all"),
    ],
)
def test_a_body_that_no_options_give_is_refused(job_: dict[str, object], problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        JobSpec.from_body({"script": HEAD, "job": {"current_working_directory": "/", **job_}})


FIELDS = sorted({*(put for _, put in PUT), "tasks", "nodes", "minimum_nodes", "time_limit", "begin_time", "flags"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["set", "number", "x"]), inner),
    max_leaves=4,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4))
def test_no_body_raises_anything_but_its_own_error(drawn: dict[str, object]) -> None:
    with contextlib.suppress(SpecError):
        JobSpec.from_body({"script": HEAD, "job": {"current_working_directory": "/", **drawn}})


@pytest.mark.parametrize(
    "wrong", [{}, {"script": HEAD}, {"job": {}}, {"script": HEAD, "jobs": [1]}, {"script": 1, "job": {}}]
)
def test_what_is_no_body_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="A body has"):
        JobSpec.from_body(wrong)


def test_a_repr_shows_what_is_set_and_no_values_of_variables() -> None:
    spec = JobSpec(f"{HEAD}echo secret\n", nodes=2, env={"TOKEN": "secret"}, components=[JobSpec(ntasks=1)])
    assert repr(spec) == ("JobSpec(<script of 22 characters>, nodes='2', env=<TOKEN>, components=[JobSpec(ntasks=1)])")


def test_flags_without_a_value_are_rendered_bare() -> None:
    assert JobSpec(HEAD, hold=True, requeue=True, exclusive=True).to_argv() == [
        "--exclusive=exclusive",
        "--hold",
        "--requeue",
    ]
    assert all(row.bare is True for row in OPTIONS if row.takes is NONE)
