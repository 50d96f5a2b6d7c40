"""Specs: reading back what was rendered, and the body that is made of them."""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from slurm_rest import SpecError, UnsupportedVersion
from slurm_rest.sbatch import JobSpec, Setting, Submitter, submit_body
from slurm_rest.sbatch.derive import PUT
from slurm_rest.sbatch.limits import version_table
from slurm_rest.sbatch.nodes import node_bounds
from slurm_rest.sbatch.option import NONE
from slurm_rest.sbatch.options import OPTIONS
from tests.differential.test_differential import VALUES

HEAD = "#!/bin/sh\n"
DOCUMENTATION = Path(__file__).parents[3] / "docs" / "sbatch.md"
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


def job(release: str = "24.11", version: str = "v0.0.42", **options: object) -> dict[str, object]:
    setting = Setting("/home/alice", version=version, release=release, now=datetime(2026, 11, 29, 17, 38))
    found = submit_body(JobSpec(f"{HEAD}true\n", **options), setting)["job"]  # type: ignore[arg-type]
    assert isinstance(found, dict)
    return found


def test_tasks_nodes_and_cpus() -> None:
    assert job(ntasks=4, cpus_per_task=2)["minimum_cpus"] == 8
    assert job(nodes="2", ntasks_per_node=4, cpus_per_task=2)["minimum_cpus"] == 16
    assert job(nodes="2", ntasks=1)["minimum_nodes"] == 1
    assert "tasks" not in job(nodes=2)
    assert job(nodes=2, threads_per_core=2)["tasks"] == 4
    assert job(nodelist="n[1-3],n2")["minimum_nodes"] == 3
    assert job(ntasks=5, ntasks_per_node=2)["minimum_nodes"] == 3
    assert job(gpus=2, ntasks_per_gpu=2)["tasks"] == 4
    assert job(gpus=4, gpus_per_task=2)["tasks"] == 2
    assert job(gpus=4, gpus_per_node=2)["maximum_nodes"] == 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"gpus_per_task": 1}, "need --gpus, --ntasks"),
        ({"gpus_per_socket": 1}, "--sockets-per-node"),
        ({"mem_per_gpu": "1G"}, "needs a request for GPUs"),
        ({"gpus": 3, "gpus_per_node": 2}, "not a multiple"),
        ({"gpus": 1, "nodes": 2}, "fewer than 2 nodes"),
        ({"ntasks_per_core": 2, "threads_per_core": 1}, "larger than"),
        ({"distribution": "plane=4", "nodes": 2, "ntasks": 4}, "Too few tasks"),
        ({"distribution": "arbitrary"}, "needs hosts"),
        ({"distribution": "arbitrary", "nodelist": "n1", "nodes": 1}, "cannot be combined"),
        ({"resv_ports": 1}, "needs --stepmgr"),
        ({"hint": "bogus"}, "compute_bound"),
        ({"begin": "now+2hours", "deadline": "now+1hour"}, "before"),
        ({"tres_per_task": "mem=1G", "ntasks": 1}, "cannot count mem"),
        ({"tres_per_task": "cpu=0", "ntasks": 1}, "no number of cpu"),
        ({"bbf": "x", "components": [JobSpec(ntasks=1)]}, "--bbf of one component alone"),
        ({"tres_per_task": "cpu2", "ntasks": 1}, "no number of cpu"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_sent(options: dict[str, object], problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        job(**options)  # type: ignore[arg-type]


def test_a_shared_resource_for_each_task() -> None:
    flags = {"gres_flags": "one-task-per-sharing", "ntasks": 2}
    assert "flags" in job(version="v0.0.40", tres_per_task="gres/shard=1", **flags)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="needs the shared resource in --tres-per-task"):
        job(version="v0.0.40", gres="shard:1", **flags)  # type: ignore[arg-type]


def test_no_gpus_for_a_task_is_no_binding() -> None:
    assert job(tres_per_task="gres/gpu=0", ntasks=2)["tres_per_task"] == "gres/gpu=0"
    assert "tres_bind" not in job(tres_per_task="gres/shard=0", ntasks=2)


def test_segments_have_to_divide_the_nodes_from_26_05_on() -> None:
    assert job(segment=2, nodes=3)["segment_size"] == {"set": True, "infinite": False, "number": 2}
    with pytest.raises(SpecError, match="does not divide"):
        job("26.05", "v0.0.45", segment=2, nodes=3)


def test_a_segment_may_be_larger_than_the_job_and_is_not_held_against_names() -> None:
    assert job("26.05", "v0.0.45", segment=8, nodes=2)["segment_size"] == {"set": True, "infinite": False, "number": 8}
    assert "segment_size" in job("26.05", "v0.0.45", segment=2, nodelist="n[1-3]")
    with pytest.raises(SpecError, match="does not divide the number of nodes, 3"):
        job("26.05", "v0.0.45", segment=2, nodes="1,3")


def test_named_hosts_make_tasks_only_where_nothing_else_does() -> None:
    options: dict[str, object] = {"distribution": "arbitrary", "nodelist": "n1,n2,n1"}
    assert job(**options)["tasks"] == 3  # type: ignore[arg-type]
    assert job(**options, threads_per_core=2)["tasks"] == 4  # type: ignore[arg-type]
    assert job(**options, threads_per_core=2, ntasks=3)["tasks"] == 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("nodes", "bounds"), [("2-4:2", (2, 2)), ("1-4:2", (1, 3)), ("2, 4", (2, 4)), ("4-2,1", (1, 1))]
)
def test_sets_of_node_counts(nodes: str, bounds: tuple[int, int]) -> None:
    spec = JobSpec(HEAD, nodes=nodes)
    assert node_bounds(str(spec.nodes)) == (*bounds, True)


@pytest.mark.parametrize("nodes", ["2-2:2", "2-4:2,3", "4-2:1", "1:2", "1,,2"])
def test_what_is_no_set_of_node_counts(nodes: str) -> None:
    with pytest.raises(SpecError, match="--nodes takes"):
        JobSpec(HEAD, nodes=nodes)


def test_blanks_part_hosts() -> None:
    assert job(nodelist="n1 n2\tn3")["required_nodes"] == ["n1", "n2", "n3"]
    with pytest.raises(SpecError, match="range"):
        job(nodelist="n[1, 2]")


@pytest.mark.parametrize(
    "options",
    [
        {"delay_boot": "71582789"},
        {"switches": "1@71582789"},
        {"tmp": "5000T"},
        {"threads_per_core": 65537},
        {"thread_spec": 40000},
    ],
)
def test_numbers_that_slurm_would_cut_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(SpecError) as caught:
        job(**options)  # type: ignore[arg-type]
    assert caught.value.kind == "value"


def test_a_list_of_nobody_is_no_nodes() -> None:
    for hosts in ("", ",", " "):
        assert (job(nodelist=hosts)["minimum_nodes"], job(nodelist=hosts)["minimum_cpus"]) == (0, 0)
    assert job(nodelist="", nodes=2)["minimum_nodes"] == 2


def test_how_memory_is_bound_is_not_replaced_in_any_component() -> None:
    spec = JobSpec(f"{HEAD}true\n", mem_bind="verbose,rank", components=[JobSpec(ntasks=1)])
    for variable, gone in (("SBATCH_MEM_BIND", "SLURM_MEM_BIND_HET"), ("SLURM_MEM_BIND_VERBOSE", "BIND_VERBOSE_PACK")):
        submitter = Submitter({variable: "rank"}, "/w", "host")
        jobs = submit_body(spec, Setting("/tmp", rule="submit", submitter=submitter))["jobs"]
        assert isinstance(jobs, list)
        told = [item for item in jobs[0]["environment"] if "_GROUP_" in item]
        assert told
        assert not [item for item in told if gone in item]


@pytest.mark.parametrize(
    ("first", "second", "refused"),
    [
        ({"time": 5}, {"time": 6}, ""),
        ({"ntasks": 1}, {"ntasks": 2, "cpus_per_task": 2}, ""),
        ({}, {"time": 5}, "the --time of component 1 to component 0"),
        ({"hold": True}, {}, "the --hold of component 0 to component 1"),
        ({"hold": True}, {"hold": False}, "the --hold of component 0 to component 1"),
    ],
)
def test_a_command_line_cannot_keep_options_apart(
    first: dict[str, object], second: dict[str, object], refused: str
) -> None:
    spec = JobSpec(HEAD, **first, components=[JobSpec(**second)])  # type: ignore[arg-type]
    assert len(submit_body(spec, Setting("/tmp"))["jobs"]) == 2  # type: ignore[arg-type]
    if not refused:
        submit_body(spec, Setting("/tmp", commands=True))
        return
    with pytest.raises(SpecError, match=refused):
        submit_body(spec, Setting("/tmp", commands=True))


def test_a_burst_buffer_file_in_a_het_job() -> None:
    setting = Setting("/tmp", read_file=lambda _: b"#BB capacity=1\n")
    words = ["--bbf=x", "-n1", ":", "-n2"]
    tail = "echo what is cut off here is no directive\n"
    made = submit_body(JobSpec.from_script(f"{HEAD}#SBATCH -t 5\n{tail}", words=words), setting)
    assert made["script"] == f"{HEAD}#BB capacity=1\n#SBATCH -t 5\n{tail}"
    with pytest.raises(SpecError, match="takes the last directives away"):
        submit_body(JobSpec.from_script(f"{HEAD}#SBATCH -t 5\ntrue\n", words=words), setting)


def test_each_component_may_name_the_cluster() -> None:
    setting = Setting("/home/alice", cluster="here")
    spec = JobSpec(f"{HEAD}true\n", clusters="here", components=[JobSpec(clusters="there")])
    with pytest.raises(SpecError, match="serves cluster here, not there"):
        submit_body(spec, setting)


def test_limits_stay_for_later_components_and_a_file_empties_the_environment() -> None:
    submitter = Submitter({"A": "b"}, "/w", "host", 0o22, 0, {"CORE": 0, "NOFILE": 9})
    parts = [JobSpec(propagate="NOFILE"), JobSpec(propagate="NONE")]
    spec = JobSpec(f"{HEAD}true\n", propagate="CORE", hint="nomultithread", components=parts)
    jobs = submit_body(spec, Setting("/tmp", rule="submit", submitter=submitter))["jobs"]
    assert isinstance(jobs, list)
    limits = [[item for item in one["environment"] if item.startswith("SLURM_RLIMIT")] for one in jobs]
    assert limits == [
        ["SLURM_RLIMIT_CORE=U0"],
        ["SLURM_RLIMIT_CORE=U0", "SLURM_RLIMIT_NOFILE=U9"],
        ["SLURM_RLIMIT_CORE=U0", "SLURM_RLIMIT_NOFILE=U9"],
    ]
    setting = Setting("/tmp", rule="submit", submitter=submitter, read_file=lambda _: b"B=1\0")
    made = submit_body(spec.replace(components=[], export_file="x", export="ALL"), setting)["job"]
    assert isinstance(made, dict)
    assert "B=1" in made["environment"]
    assert not [item for item in made["environment"] if item.startswith(("A=", "SLURM_HINT", "SLURM_RLIMIT"))]


@pytest.mark.parametrize(
    ("version", "options"),
    [
        ("v0.0.42", {"cores_per_socket": 2}),
        ("v0.0.41", {"oom_kill_step": 0}),
        ("v0.0.40", {"segment": 0}),
        ("v0.0.42", {"resv_ports": 0, "stepmgr": True}),
        ("v0.0.43", {"extra_node_info": "1:2"}),
        ("v0.0.44", {"hint": "memory_bound"}),
        ("v0.0.42", {"gres_flags": "one-task-per-sharing"}),
        ("v0.0.41", {"oom_kill_step": 1}),
        ("v0.0.41", {"distribution": "pack"}),
        ("v0.0.40", {"distribution": "block"}),
        ("v0.0.40", {"stepmgr": True}),
        ("v0.0.42", {"resv_ports": 1, "stepmgr": True}),
        ("v0.0.45", {"mem_bind": "sort,local"}),
    ],
)
def test_what_a_version_cannot_express_names_those_that_can(version: str, options: dict[str, object]) -> None:
    with pytest.raises(UnsupportedVersion, match=f"{version} cannot express") as caught:
        job(version=version, **options)  # type: ignore[arg-type]
    assert "v0.0.4" in str(caught.value.hint)


def test_cores_in_the_versions_that_have_them() -> None:
    assert job(version="v0.0.45", cores_per_socket=2)["cores_per_socket"] == 2
    assert job(version="v0.0.40", hint="memory_bound")["cores_per_socket"] == 1
    # On 24.11 a hint wipes it out.
    assert "cores_per_socket" not in job(hint="nomultithread", cores_per_socket=2)


def environment(export: str | None = None, release: str = "24.11", **environ: str) -> dict[str, str]:
    submitter = Submitter({"HOME": "/h", "SLURM_X": "1", "SLURM_JWT": "secret", **environ}, "/w", "host", 0o22, 0, {})
    setting = Setting("/home/alice", rule="submit", version="v0.0.42", release=release, submitter=submitter)
    made = submit_body(JobSpec(f"{HEAD}true\n", export=export), setting)["job"]
    assert isinstance(made, dict)
    return dict(item.partition("=")[::2] for item in made["environment"])


def test_the_environment_of_a_submitter() -> None:
    everything = environment(A="b")
    assert (everything["A"], everything["SLURM_UMASK"], everything["SLURM_SUBMIT_DIR"]) == ("b", "0022", "/w")
    assert "SLURM_GET_USER_ENV" not in everything
    assert "SLURM_JWT" not in everything
    none = environment("NONE", A="b")
    assert (none["SLURM_X"], none["SLURM_GET_USER_ENV"], none["SLURM_EXPORT_ENV"]) == ("1", "1", "NONE")
    assert not {"A", "HOME"} & set(none)
    some = environment("A=c,'B=x,y',HOME,C='q'", A="b")
    assert (some["A"], some["B"], some["HOME"], some["C"]) == ("c", "x,y", "/h", "'q'")
    assert environment("A=1,ALL", A="b")["A"] == "b"
    assert environment(HYDRA_BOOTSTRAP="ssh").get("HYDRA_LAUNCHER_EXTRA_ARGS") is None


def test_flags_without_a_value_are_rendered_bare() -> None:
    assert JobSpec(HEAD, hold=True, requeue=True, exclusive=True).to_argv() == [
        "--exclusive=exclusive",
        "--hold",
        "--requeue",
    ]
    assert all(row.bare is True for row in OPTIONS if row.takes is NONE)


def test_the_documentation_has_the_versions() -> None:
    rows = "".join(f"| `{what}` | {versions} |\n" for what, versions in version_table())
    assert f"| needs | API version |\n|---|---|\n{rows}" in DOCUMENTATION.read_text()
