"""Reading answers that are not as the documents say."""

from __future__ import annotations

import json
import logging

import pytest
from pydantic import ValidationError

from slurm_rest.api import INFINITE
from slurm_rest.api._operations import SLURM, SLURMDB
from slurm_rest.api.accounting import OpenapiSlurmdbdJobsResp
from slurm_rest.api.base import decode_json, read_answer
from slurm_rest.api.cluster import OpenapiPartitionResp
from slurm_rest.api.jobs import OpenapiJobInfoResp
from tests.support.logs import logged
from tests.unit.api.captures import load
from tests.unit.api.lossless import losses

JOBS = SLURM["get_jobs"]


def jobs(raw: bytes, *, strict: bool = True) -> OpenapiJobInfoResp:
    answer = read_answer(JOBS, raw, strict=strict)
    assert isinstance(answer, OpenapiJobInfoResp)
    return answer


def test_bytes_that_are_not_utf8_become_surrogates_and_lose_nothing() -> None:
    raw = b'{"jobs": [{"job_id": 1, "name": "a\xff\x80b"}, {"job_id": 2, "name": "\xc3\xa9"}]}'
    answer = jobs(raw)
    assert answer.jobs
    assert [job.name for job in answer.jobs] == ["a\udcff\udc80b", "é"]
    assert (answer.jobs[0].name or "").encode("utf-8", "surrogateescape") == b"a\xff\x80b"


def test_one_bad_byte_in_a_real_answer() -> None:
    capture = load("26.05.5", "v0.0.45", "jobs")
    raw = capture.raw.replace(b'"user_name": "alice"', b'"user_name": "al\xffce"')
    assert raw != capture.raw
    assert list(losses(jobs(raw), decode_json(raw))) == []


@pytest.mark.parametrize(
    "raw", [b" ", b"Authentication failure", b"{", b"[]", b"3", b"null", b'{"jobs": 3', b"\xff", b"[" * 100_000]
)
def test_what_is_no_answer_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_answer(JOBS, raw)


def test_an_empty_body_is_an_answer_without_fields() -> None:
    """slurmrestd answers 304 without a body when a change would change nothing."""
    assert jobs(b"") == OpenapiJobInfoResp()


def test_what_follows_the_answer_is_an_error() -> None:
    """26.05 writes error answers twice; the transport must cut at Content-Length."""
    with pytest.raises(ValueError, match=r".*"):
        read_answer(JOBS, b"{}{}")


def test_any_field_may_be_null_or_absent() -> None:
    names = OpenapiJobInfoResp.model_fields
    assert jobs(json.dumps(dict.fromkeys(names)).encode()) == OpenapiJobInfoResp()
    assert jobs(b"{}").jobs is None
    answer = jobs(b'{"jobs": [{"job_resources": null, "job_state": null, "exit_code": {}}]}')
    assert answer.jobs
    assert answer.jobs[0].job_resources is None


def test_an_empty_association() -> None:
    answer = read_answer(SLURMDB["get_jobs"], b'{"jobs": [{"association": {}, "user": null}]}', strict=True)
    assert isinstance(answer, OpenapiSlurmdbdJobsResp)
    assert answer.jobs
    assert answer.jobs[0].association
    assert answer.jobs[0].association.user is None


def test_words_of_a_newer_slurm_are_kept() -> None:
    answer = jobs(b'{"jobs": [{"job_state": ["LEVITATING", "COMPLETING"]}]}')
    assert answer.jobs
    assert answer.jobs[0].job_state == ["LEVITATING", "COMPLETING"]


def test_numbers_beyond_their_format() -> None:
    answer = jobs(b'{"jobs": [{"job_id": 18446744073709551615, "time_limit": {"set": true, "number": 4294960097}}]}')
    assert answer.jobs
    assert answer.jobs[0].job_id == 2**64 - 1
    assert answer.jobs[0].time_limit == 4294960097


def test_the_complex_form_of_numbers() -> None:
    answer = jobs(b'{"jobs": [{"time_limit": "Infinity", "priority": 5, "delay_boot": null}]}')
    assert answer.jobs
    job = answer.jobs[0]
    assert job.time_limit is INFINITE
    assert (job.priority, job.delay_boot) == (5, None)


def test_shapes_that_changed_between_versions() -> None:
    old = jobs(b'{"jobs": [{"job_resources": {"nodes": "n[1-2]", "allocated_hosts": 2}}]}')
    new = jobs(b'{"jobs": [{"job_resources": {"nodes": {"count": 2, "list": "n[1-2]"}}}]}')
    assert old.jobs
    assert new.jobs
    assert old.jobs[0].job_resources
    assert old.jobs[0].job_resources.nodes == "n[1-2]"
    assert new.jobs[0].job_resources
    nodes = new.jobs[0].job_resources.nodes
    assert not isinstance(nodes, str)
    assert nodes
    assert (nodes.count, nodes.list_) == (2, "n[1-2]")
    for binding, value in ((b"4", 4), (b'["CORES"]', ["CORES"])):
        raw = b'{"partitions": [{"cpus": {"task_binding": ' + binding + b"}}]}"
        answer = read_answer(SLURM["get_partitions"], raw, strict=True)
        assert isinstance(answer, OpenapiPartitionResp)
        assert answer.partitions
        assert answer.partitions[0].cpus
        assert answer.partitions[0].cpus.task_binding == value


def test_a_value_of_an_unexpected_type_hides_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    odd = b'{"job_id": [], "job_resources": {"nodes": [5]}}'
    raw = b'{"jobs": [{"job_id": {"new": 1}, "name": "a"}, {"job_id": 2}, ' + odd + b"]}"
    with pytest.raises(ValidationError):
        jobs(raw)
    with caplog.at_level(logging.WARNING, "slurm_rest.api"):
        answer = jobs(raw, strict=False)
    assert answer.jobs
    assert [(job.job_id, job.name) for job in answer.jobs] == [(None, "a"), (2, None), (None, None)]
    assert logged(caplog) == [
        "get_jobs: ignored values of unexpected types in jobs.*.job_id, jobs.*.job_resources.nodes"
    ]
