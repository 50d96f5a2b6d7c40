"""Every captured answer is read by the model of its operation, whole and unchanged."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone

import pytest

from slurm_rest.api import API_VERSIONS, INFINITE, known_in, words
from slurm_rest.api.base import decode_json, read_answer
from slurm_rest.api.diagnostics import OpenapiDiagResp, OpenapiPingArrayResp
from slurm_rest.api.jobs import (
    OpenapiJobInfoResp,
    OpenapiJobStateResp,
    OpenapiJobSubmitResponse,
    OpenapiKillJobResp,
    OpenapiKillJobsResp,
)
from tests.unit.api.captures import FOLDER, Capture, all_captures, load
from tests.unit.api.lossless import losses

CAPTURES = list(all_captures())
SERVED = [("24.11.5", version) for version in API_VERSIONS[:3]] + [("26.05.5", version) for version in API_VERSIONS[2:]]
each_server = pytest.mark.parametrize(("slurm", "version"), SERVED)


def test_no_capture_is_left_out() -> None:
    assert len(CAPTURES) == 222
    assert {(one.slurm, one.version) for one in CAPTURES} == set(SERVED)


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_an_answer_is_read_whole(capture: Capture) -> None:
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert type(answer).__name__ == capture.operation.response
    assert list(losses(answer, decode_json(capture.raw))) == []


@pytest.mark.parametrize("capture", CAPTURES, ids=str)
def test_an_answer_has_only_fields_that_its_version_is_known_to_have(capture: Capture) -> None:
    """The table of versions agrees with what servers of that version send."""
    answer = read_answer(capture.operation, capture.raw, strict=True)
    model = type(answer).__name__
    sent = [name for name in type(answer).model_fields if name in answer.model_fields_set]
    assert [name for name in sent if capture.version not in known_in(model, name)] == []


def test_no_capture_holds_a_token() -> None:
    secret = re.compile(rb"eyJ[\w-]{8,}\.|Bearer |X-SLURM-USER-TOKEN", re.IGNORECASE)
    assert [path.name for path in FOLDER.rglob("*") if path.is_file() and secret.search(path.read_bytes())] == []


@each_server
def test_a_finished_job(slurm: str, version: str) -> None:
    capture = load(slurm, version, "job_completed")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiJobInfoResp)
    assert answer.jobs
    job = answer.jobs[0]
    record = json.loads(capture.raw)["jobs"][0]
    assert job.job_id == int(capture.meta["request"].rsplit("/", 1)[1])
    assert job.job_state == ["COMPLETED"]
    assert set(job.job_state) <= words.JOB_STATE
    assert job.exit_code
    assert job.exit_code.status == ["SUCCESS"]
    assert job.exit_code.return_code == 0
    assert job.exit_code.signal
    assert job.exit_code.signal.id is None
    assert job.user_name == "alice"
    assert isinstance(job.end_time, int)
    assert datetime.fromtimestamp(job.end_time, timezone.utc).year >= 2024
    assert job.array_job_id == 0
    limit = record["time_limit"]
    assert job.time_limit == (INFINITE if limit["infinite"] else limit["number"])
    assert job.restart_cnt == 0


@each_server
def test_a_job_that_was_killed(slurm: str, version: str) -> None:
    capture = load(slurm, version, "job_signaled")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiJobInfoResp)
    assert answer.jobs
    assert answer.jobs[0].job_state == ["FAILED"]
    assert answer.jobs[0].exit_code
    assert answer.jobs[0].exit_code.signal
    assert answer.jobs[0].exit_code.signal.id == 9
    assert answer.jobs[0].exit_code.signal.name == "KILL"


@each_server
def test_states_are_rows_of_text_ids(slurm: str, version: str) -> None:
    """The document names the answer of jobs/, which has no ``state`` and numbers for ids."""
    capture = load(slurm, version, "jobs_state")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiJobStateResp)
    assert answer.jobs
    assert all(isinstance(row.job_id, str) and row.job_id for row in answer.jobs)
    assert all(row.state and set(row.state) <= words.JOB_STATE for row in answer.jobs)
    assert any("_" in (row.job_id or "") for row in answer.jobs)


@each_server
def test_a_submission(slurm: str, version: str) -> None:
    capture = load(slurm, version, "submit_ok")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiJobSubmitResponse)
    assert answer.job_id
    assert answer.job_id > 0
    assert answer.errors == []
    refused = load(slurm, version, "submit_error_partition")
    answer = read_answer(refused.operation, refused.raw, strict=True)
    assert isinstance(answer, OpenapiJobSubmitResponse)
    assert not answer.job_id
    assert answer.errors
    assert answer.errors[0].error_number == 2000
    assert answer.errors[0].error == "Invalid partition name specified"


@each_server
def test_a_cancel_that_was_not_allowed(slurm: str, version: str) -> None:
    capture = load(slurm, version, "cancel_other_user")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiKillJobResp)
    codes = [row.error.code for row in answer.status or () if row.error]
    # v0.0.40 and 41 say nothing about it.
    assert codes == ([2002] if version in known_in("OpenapiKillJobResp", "status") else [])
    batch = load(slurm, version, "cancel_batch")
    several = read_answer(batch.operation, batch.raw, strict=True)
    assert isinstance(several, OpenapiKillJobsResp)
    assert {row.error.code for row in several.status or () if row.error} >= {2002, 2017}


@each_server
def test_a_ping(slurm: str, version: str) -> None:
    capture = load(slurm, version, "ping")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiPingArrayResp)
    assert answer.pings
    assert answer.pings[0].pinged == ("UP" if version in known_in("ControllerPing", "pinged") else None)
    assert answer.meta
    assert answer.meta.slurm
    assert answer.meta.slurm.release == slurm
    assert answer.meta.plugin
    assert answer.meta.plugin.data_parser == f"data_parser/{version}"


@each_server
def test_diagnostics(slurm: str, version: str) -> None:
    capture = load(slurm, version, "diag")
    answer = read_answer(capture.operation, capture.raw, strict=True)
    assert isinstance(answer, OpenapiDiagResp)
    assert answer.statistics
    assert answer.statistics.rpcs_by_message_type
    kinds = {row.message_type: row for row in answer.statistics.rpcs_by_message_type}
    assert isinstance(next(iter(kinds.values())).average_time, (int, float))


def test_what_versions_know() -> None:
    assert known_in("JobInfo", "stdout_expanded") == API_VERSIONS[3:]
    assert known_in("JobDescMsg", "oversubscribe") == API_VERSIONS[:2]
    assert known_in("ControllerPing", "mode") == API_VERSIONS[:5]
    assert known_in("JobInfo", "job_id") == API_VERSIONS
    assert known_in("JobInfo", "nothing") == ()
    assert known_in("JobInfo", "job_i") == ()
    assert known_in("Nothing", "job_id") == ()
