"""Which of several files is a job's output, where only the compute node knows the name."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from slurm_rest.logs import written_by
from slurm_rest.models import JobInfo
from slurm_rest.records import read_controller_job
from slurm_rest.states import BaseState, JobState
from slurm_rest.transport.files.base import FileStat, Kind

START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
RUNNING = replace(read_controller_job({"job_id": 17}), state=JobState(BaseState.RUNNING), start_time=START)
OVER = replace(RUNNING, state=JobState(BaseState.COMPLETED))
AGAIN = replace(RUNNING, restart_count=1)


def last_written(seconds: float, kind: Kind = "file") -> FileStat:
    return FileStat(kind, 0, START + timedelta(seconds=seconds))


OLD, NEW, FOLDER = last_written(-60), last_written(2), last_written(2, "directory")


@pytest.mark.parametrize(
    ("record", "files", "expected"),
    [
        pytest.param(RUNNING, {}, None, id="none"),
        pytest.param(RUNNING, {"new": NEW}, "new", id="the only one"),
        pytest.param(RUNNING, {"new": last_written(-3)}, "new", id="by a clock that is behind"),
        pytest.param(RUNNING, {"old": OLD}, None, id="not there yet"),
        pytest.param(RUNNING, {"old": OLD, "new": NEW}, "new", id="beside an older one"),
        pytest.param(RUNNING, {"folder": FOLDER}, None, id="no folder"),
        pytest.param(RUNNING, {"folder": FOLDER, "new": NEW}, "new", id="beside a folder"),
        pytest.param(RUNNING, {"one": NEW, "two": NEW}, None, id="two that may be it"),
        pytest.param(OVER, {"old": OLD}, "old", id="nothing was appended to it"),
        pytest.param(OVER, {"old": OLD, "older": OLD}, None, id="two older ones"),
        pytest.param(OVER, {"old": OLD, "new": NEW}, "new", id="over, beside an older one"),
        # The file of its first run, or what is appended to it; no record has the first start.
        pytest.param(AGAIN, {"old": OLD}, "old", id="of a run before"),
        pytest.param(AGAIN, {"old": OLD, "new": NEW}, None, id="two after a requeue"),
        pytest.param(replace(RUNNING, start_time=None), {"old": OLD}, "old", id="no start is known"),
    ],
)
def test_which_file_a_job_wrote(record: JobInfo, files: dict[str, FileStat], expected: str | None) -> None:
    assert written_by(record, files) == expected
