"""The body that is made of a spec: what follows from its options, and what does not fit together."""

from __future__ import annotations

import pytest

from slurm_rest import SpecError
from slurm_rest.sbatch import JobSpec, Setting, submit_body
from slurm_rest.sbatch.nodes import node_bounds
from tests.unit.sbatch.support import HEAD, job


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
        ({"bbf": "x"}, "--bbf names a file"),
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


def test_a_type_of_gpus_alone_is_one_of_them() -> None:
    made = job(tres_per_task="gres:gpu:a100", ntasks=2)
    assert (made["tres_per_task"], made["tres_bind"]) == ("gres/gpu:a100", "gres/gpu:per_task:1")


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("gres/gpu:1k", 1024),
        ("gres/gpu:1KiB", 1024),
        ("gres/gpu=2kb", 2000),
        ("gres/gpu:a100:1M", 1024**2),
        ("gres/gpu:a100=1gb", 10**9),
        ("gres/gpu:1t", 1024**4),
        ("gres/gpu:1ki", 1),
        ("gres/gpu:1g.5gb", 1),
        ("gres/gpu:1g.5gb:2", 2),
        ("gres/gpu:00=3", 3),
        ("gres/gpu:1k:2", 2),
        ("gres/gpu::4", 4),
    ],
)
def test_what_stands_behind_the_last_separator_is_the_count_with_its_unit(asked: str, count: int) -> None:
    assert job(tres_per_task=asked, ntasks=2)["tres_bind"] == f"gres/gpu:per_task:{count}"


@pytest.mark.parametrize("asked", ["gres/gpu:a100:2x", "gres/gpu=2ki", "gres/gpu=1:2", "gres/gpu::"])
def test_what_is_no_count_is_refused(asked: str) -> None:
    with pytest.raises(SpecError, match=r"is no resource|no number of"):
        job(tres_per_task=asked, ntasks=2)


@pytest.mark.parametrize(
    ("asked", "old", "new"), [("cpu=1k", 1, 1024), ("cpu:2KB,gres/gpu=1", 2, 2000), ("cpu=3", 3, 3)]
)
def test_26_05_reads_units_of_cpus(asked: str, old: int, new: int) -> None:
    assert job("24.11", tres_per_task=asked, ntasks=1)["cpus_per_task"] == old
    assert job("26.05", tres_per_task=asked, ntasks=1)["cpus_per_task"] == new


@pytest.mark.parametrize(
    "options",
    [
        {"gpus_per_task": "4294967297", "ntasks": 2},
        {"gpus_per_task": "a100:1,h100:4294967295", "ntasks": 2},
        {"tres_per_task": "gres/gpu:99999p", "ntasks": 2},
        {"tres_per_task": "cpu=4g", "ntasks": 1},
        {"gpus_per_node": "1t", "ntasks_per_gpu": 2},
    ],
)
def test_counts_that_sbatch_would_cut_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(SpecError, match=r"too many|more than Slurm can count"):
        job("26.05", **options)  # type: ignore[arg-type]


def test_slurmrestd_takes_128_components() -> None:
    for count in (128, 129):
        spec = JobSpec(f"{HEAD}true\n", components=[JobSpec()] * (count - 1))
        assert len(submit_body(spec, Setting("/tmp", commands=True))["jobs"]) == count  # type: ignore[arg-type]
        if count == 128:
            assert len(submit_body(spec, Setting("/tmp"))["jobs"]) == count  # type: ignore[arg-type]
            continue
        with pytest.raises(SpecError, match="129 components cannot be said over REST: it takes 128 at most"):
            submit_body(spec, Setting("/tmp"))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("1,2", "gres/gpu=1"),
        (",1", None),
        ("x,1", None),
        ("a:1,", "gres/gpu:a=1"),
        ("a:1,b:2,", "gres/gpu:b=2,gres/gpu:a=1"),
    ],
)
def test_lists_of_gpus_for_a_task_on_26_05(given: str, asked: str | None) -> None:
    assert job("26.05", "v0.0.45", gpus_per_task=given, ntasks=2).get("tres_per_task") == asked


@pytest.mark.parametrize("given", ["a:1,,", "a:1,b", "a=1:2"])
def test_lists_of_gpus_with_none_in_them(given: str) -> None:
    with pytest.raises(SpecError, match=r"asks for none|names no type"):
        job("26.05", "v0.0.45", gpus_per_task=given, ntasks=2)


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
    ("nodes", "bounds"),
    [
        ("2-4:2", (2, 2)),
        ("1-4:02", (1, 3)),
        ("2, 4", (2, 4)),
        ("4-2,1", (1, 1)),
        ("2,", (0, 2)),
        ("1,,3", (0, 3)),
        ("-2,", (0, 2)),
        ("1-,2", (2, 2)),
        ("+1,2", (1, 2)),
    ],
)
def test_sets_of_node_counts(nodes: str, bounds: tuple[int, int]) -> None:
    spec = JobSpec(HEAD, nodes=nodes)
    assert node_bounds(str(spec.nodes)) == (*bounds, True)


@pytest.mark.parametrize("nodes", ["2-2:2", "2-4:2,3", "4-2:1", "1:2", ",2", ",", "2-1,4-3", "70000,1", "1,2n"])
def test_what_is_no_set_of_node_counts(nodes: str) -> None:
    with pytest.raises(SpecError, match="--nodes takes"):
        JobSpec(HEAD, nodes=nodes)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("n1b,n2", ["n2", "n1b"]),
        ("n01,n2", ["n2", "n01"]),
        ("n10,n9,n09", ["n9", "n09", "n10"]),
        ("n1,n,n1", ["n", "n1"]),
        ("n2,m10,m9", ["m9", "m10", "n2"]),
    ],
)
def test_slurmctld_looks_at_the_last_name_so_the_order_is_sbatchs(given: str, sent: list[str]) -> None:
    assert job(nodelist=given)["required_nodes"] == sent
    assert job(exclude=given)["excluded_nodes"] == given.split(",")


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


def test_a_burst_buffer_file_goes_behind_the_first_line() -> None:
    setting = Setting("/tmp", read_file=lambda _: b"#BB capacity=1")
    made = submit_body(JobSpec(f"{HEAD}true\n", bbf="x"), setting)
    assert made["script"] == f"{HEAD}#BB capacity=1\ntrue\n"
    for parts in ({"bbf": "x", "components": [JobSpec()]}, {"components": [JobSpec(bbf="x")]}):
        with pytest.raises(SpecError, match="sbatch itself loses the script"):
            submit_body(JobSpec(f"{HEAD}true\n", **parts), setting)


def test_srun_would_take_the_distribution_of_one_component_for_all() -> None:
    parts = JobSpec(HEAD, components=[JobSpec(distribution="cyclic")])
    with pytest.raises(SpecError, match="--distribution in a heterogeneous job") as caught:
        submit_body(parts, Setting("/tmp"))
    assert "srun" in caught.value.hint
    assert submit_body(parts, Setting("/tmp", commands=True))
    assert job(distribution="cyclic")["distribution"] == "cyclic"


def test_22_05_would_take_extra_for_another_option() -> None:
    spec = JobSpec(HEAD, extra="2")
    with pytest.raises(SpecError, match="would take it for --extra-node-info"):
        submit_body(spec, Setting("/tmp", release="22.05", commands=True))
    for release in ("24.11", "26.05"):
        assert submit_body(spec, Setting("/tmp", release=release, commands=True))


def test_each_component_may_name_the_cluster() -> None:
    setting = Setting("/home/alice", cluster="here")
    spec = JobSpec(f"{HEAD}true\n", clusters="here", components=[JobSpec(clusters="there")])
    with pytest.raises(SpecError, match="serves cluster here, not there"):
        submit_body(spec, setting)
