"""Submissions at the wire: the job id is the outcome, nothing is sent twice, and nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

from slurm_rest import AsyncSlurmClient, JobSpec
from slurm_rest.api import API_VERSIONS
from slurm_rest.errors import (
    ConfigError,
    ControllerDown,
    ProtocolError,
    SlurmError,
    SpecError,
    SubmitRejected,
    SubmitUncertain,
    Timeout,
    TokenRejected,
    UnknownUser,
    Unreachable,
    UnsupportedVersion,
)

from .captures import Capture, capture, failure
from .wire import (
    NEW,
    NOT_SERVED,
    UP,
    Server,
    body_of,
    client,
    good,
    job,
    no_pauses,
    server,
)

__all__ = ["no_pauses", "server"]

SCRIPT = "#!/bin/sh\ntrue\n"
MADE = capture(NEW, "submit_ok")
HELD = capture(NEW, "submit_ok_held")
COMPLAINT = capture(NEW, "submit_bad_flag")
JOB_ID: int = MADE.body["job_id"]


def owned(server: Server, job_id: int = JOB_ID, **record: Any) -> respx.Route:
    """Let the new job be alice's."""
    return server.on("GET", f"/job/{job_id}", good(jobs=[job(job_id, "PENDING", **record)]))


def cancels(server: Server, *failures: tuple[int, int]) -> respx.Route:
    """Take a batch cancel and report these failures of (id, code)."""
    status = [{"step_id": str(job_id), "error": {"code": code, "message": "no"}} for job_id, code in failures]
    return server.on("DELETE", "/jobs/", good(status=status))


# --- success --------------------------------------------------------------------------------------------------


async def test_one_post_and_one_look_at_the_owner(server: Server) -> None:
    server.ping()
    post, look = server.on("POST", "/job/submit", MADE), owned(server)
    async with client(user="alice") as slurm:
        made = await slurm.submit(SCRIPT, nodes=2, time="1:00:00")
        again = await slurm.submit(SCRIPT)
    assert (made.id, again.id, made.warnings) == (JOB_ID, JOB_ID, ())
    assert (post.call_count, look.call_count) == (2, 1)
    request = post.calls[0].request
    assert request.headers["content-type"] == "application/json"
    assert "transfer-encoding" not in request.headers
    assert int(request.headers["content-length"]) == len(request.content)
    sent = body_of(post.calls[0])
    assert sent["script"] == SCRIPT
    assert sent["job"]["time_limit"] == {"set": True, "infinite": False, "number": 60}
    assert (sent["job"]["minimum_nodes"], sent["job"]["current_working_directory"]) == (2, "/tmp")
    assert sent["job"]["comment"] != body_of(post.calls[1])["job"]["comment"]


async def test_warnings_with_a_job_id_are_a_success(server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", HELD)
    owned(server, HELD.body["job_id"])
    async with client() as slurm:
        made = await slurm.submit(SCRIPT, hold=True)
    assert made.id == HELD.body["job_id"]
    assert any("held state" in warning for warning in made.warnings)


async def test_bytes_that_are_not_utf8_go_out_as_they_came(server: Server, tmp_path: Path) -> None:
    server.ping()
    post = server.on("POST", "/job/submit", MADE)
    owned(server)
    script = tmp_path / "job.sh"
    script.write_bytes(b"#!/bin/sh\n# caf\xe9\n")
    async with client() as slurm:
        await slurm.submit(script, name="caf\u00e9", env={"A": "\udce9"})
    raw = post.calls[0].request.content
    assert b"# caf\xe9\\n" in raw
    assert b'"A=\xe9"' in raw
    assert '"caf\u00e9"'.encode() in raw
    assert b'"argv": ["' + str(script).encode() + b'"]' in raw


async def test_the_job_is_named_after_its_script(server: Server, tmp_path: Path) -> None:
    server.ping()
    post = server.on("POST", "/job/submit", MADE)
    owned(server)
    script = tmp_path / "train.sbatch"
    script.write_text(SCRIPT)
    async with client() as slurm:
        names = [(await slurm.submit(script)).name, (await slurm.submit(script, name="mine")).name]
        names += [(await slurm.submit(script, job_name="theirs")).name, (await slurm.submit(SCRIPT, name=None)).name]
        names += [(await slurm.submit(JobSpec(SCRIPT))).name]
    sent = [body_of(call)["job"]["name"] for call in post.calls]
    assert sent == ["train.sbatch", "mine", "theirs", "sbatch", "sbatch"]
    assert names == [*sent[:4], ""]


# --- Slurm's refusals -----------------------------------------------------------------------------------------


async def test_a_job_that_was_made_in_spite_of_errors_is_cancelled(server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", COMPLAINT)
    cancel = cancels(server)
    async with client() as slurm:
        with pytest.raises(SubmitRejected, match="Unknown flag") as caught:
            await slurm.submit(SCRIPT)
    job_id = COMPLAINT.body["job_id"]
    assert caught.value.cancelled_job_id == job_id
    assert body_of(cancel.calls[0]) == {"jobs": [str(job_id)]}


@pytest.mark.parametrize("reply", [failure(502, 1800), httpx.ReadTimeout("x"), (2002,)], ids=repr)
async def test_a_job_that_cannot_be_cancelled_again_is_named(reply: object, server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", COMPLAINT)
    job_id = COMPLAINT.body["job_id"]
    if isinstance(reply, tuple):
        cancels(server, (job_id, reply[0]))
    else:
        server.on("DELETE", "/jobs/", reply)  # type: ignore[arg-type]  # a Capture or an error
    async with client() as slurm:
        with pytest.raises(SubmitUncertain, match="Unknown flag") as caught:
            await slurm.submit(SCRIPT)
    assert f"Cancel job {job_id}" in caught.value.hint
    assert caught.value.key


async def test_no_job_id_is_no_job_though_the_status_is_200(server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", capture(NEW, "submit_bad_type_no_job_id"))
    async with client() as slurm:
        with pytest.raises(SubmitRejected, match="made no job") as caught:
            await slurm.submit(SCRIPT)
    assert caught.value.http_status == 200
    assert caught.value.cancelled_job_id is None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (capture(NEW, "submit_error_partition"), SubmitRejected),
        (capture(NEW, "submit_error_no_environment"), SubmitRejected),
        (capture(NEW, "bad_token_jobs"), TokenRejected),
        (failure(500, 6010), UnknownUser),
        (failure(502, 1800), ControllerDown),
        (failure(504, 5004), SubmitUncertain),
        (failure(500, -1), SubmitUncertain),
        (failure(422, 104, "Connection reset by peer"), SubmitUncertain),
        (Capture("POST", "/", 200, "application/json", b'{"meta": {'), SubmitUncertain),
        (Capture("POST", "/", 503, "text/html", b"<html>busy</html>"), SubmitUncertain),
        (httpx.ConnectError("refused"), Unreachable),
        (httpx.ConnectTimeout("slow"), Unreachable),
        (httpx.PoolTimeout("full"), Unreachable),
        (httpx.ReadTimeout("slow"), SubmitUncertain),
        (httpx.WriteTimeout("slow"), SubmitUncertain),
        (httpx.RemoteProtocolError("disconnected"), SubmitUncertain),
        (httpx.ReadError("reset"), SubmitUncertain),
        (httpx.WriteError("broken pipe"), SubmitUncertain),
    ],
    ids=str,
)
async def test_nothing_is_posted_twice_without_a_look(
    reply: Capture | Exception, kind: type[SlurmError], server: Server
) -> None:
    server.ping()
    post = server.on("POST", "/job/submit", reply)
    async with client(recovery_timeout=0) as slurm:
        with pytest.raises(kind) as caught:
            await slurm.submit(SCRIPT)
    assert type(caught.value) is kind
    assert post.call_count == 1
    if isinstance(caught.value, SubmitUncertain):
        assert body_of(post.calls[0])["job"]["comment"] == caught.value.key
        assert caught.value.key in caught.value.hint
    error: BaseException | None = caught.value
    seen: list[BaseException] = []
    while error is not None:
        assert error not in seen
        seen.append(error)
        error = error.__cause__


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(httpx.ReadTimeout("slow"), Timeout), (httpx.RemoteProtocolError("SSH-2.0-OpenSSH"), ProtocolError)],
)
async def test_a_fault_before_the_post_is_no_uncertainty(
    fault: Exception, kind: type[SlurmError], server: Server
) -> None:
    server.ping(fault)
    async with client() as slurm:
        with pytest.raises(kind) as caught:
            await slurm.submit(SCRIPT)
    assert type(caught.value) is kind


# --- whose job ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [{"user_id": 99, "user_name": ""}, {"user_id": 65534}, {"user_name": "bob"}])
async def test_a_job_that_became_somebody_elses_is_cancelled(record: dict[str, Any], server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", MADE)
    owned(server, **record)
    cancel = cancels(server)
    async with client(user="alice") as slurm:
        with pytest.raises(UnknownUser, match="not for alice; it was cancelled"):
            await slurm.submit(SCRIPT)
    assert body_of(cancel.calls[0]) == {"jobs": [str(JOB_ID)]}


@pytest.mark.parametrize(
    "reply", [failure(502, 1800), capture(NEW, "job_unknown"), httpx.ReadTimeout("slow")], ids=repr
)
async def test_a_look_that_fails_does_not_lose_the_job(reply: Capture | Exception, server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", MADE)
    look = server.on("GET", f"/job/{JOB_ID}", reply)
    async with client(user="alice") as slurm:
        assert (await slurm.submit(SCRIPT)).id == JOB_ID
        assert (await slurm.submit(SCRIPT)).id == JOB_ID
    assert look.call_count == 2


# --- versions -------------------------------------------------------------------------------------------------


async def test_a_version_that_is_gone_is_negotiated_before_the_job_is_sent_once(server: Server) -> None:
    server.ping(UP, NOT_SERVED)
    for version in API_VERSIONS[:-1]:
        server.on("GET", f"/slurm/{version}/ping/", UP)
    gone = server.on("POST", "/job/submit", NOT_SERVED)
    now = server.on("POST", "/slurm/v0.0.44/job/submit", MADE)
    server.on("GET", f"/slurm/v0.0.44/job/{JOB_ID}", good(jobs=[job(JOB_ID)]))
    async with client() as slurm:
        assert (await slurm.submit(SCRIPT)).id == JOB_ID
    assert (gone.call_count, now.call_count) == (1, 1)


SHARING: dict[str, Any] = {"gres_flags": "multiple-tasks-per-sharing", "gres": "shard:2"}


def serves(server: Server, *versions: str) -> None:
    """Answer pings in these versions alone."""
    for version in API_VERSIONS:
        server.on("GET", f"/slurm/{version}/ping/", UP if version in versions else NOT_SERVED)


async def test_what_the_version_in_use_cannot_express_goes_out_in_an_older_one(server: Server) -> None:
    serves(server, "v0.0.45", "v0.0.43", "v0.0.40")
    made = server.on("POST", "/slurm/v0.0.40/job/submit", MADE)
    plain = server.on("POST", "/job/submit", MADE)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID)]))
    async with client() as slurm:
        await slurm.submit(SCRIPT)
        requests = slurm.requests
        assert (await slurm.submit(SCRIPT, **SHARING)).id == JOB_ID
        again = slurm.requests
        await slurm.submit(SCRIPT, **SHARING)
    assert (made.call_count, plain.call_count) == (2, 1)
    # Which ones are served is asked once.
    assert (again - requests, slurm.requests - again) == (len(API_VERSIONS) + 1, 1)


async def test_no_older_version_is_taken_in_place_of_a_pinned_one(server: Server) -> None:
    server.ping()
    async with client(api_version="v0.0.45") as slurm:
        with pytest.raises(UnsupportedVersion, match="per-sharing"):
            await slurm.submit(SCRIPT, **SHARING)


async def test_what_no_served_version_can_express_is_refused(server: Server) -> None:
    serves(server, "v0.0.45", "v0.0.43")
    async with client() as slurm:
        with pytest.raises(UnsupportedVersion, match=r"v0\.0\.45 cannot express --gres-flags"):
            await slurm.submit(SCRIPT, **SHARING)


async def test_an_older_version_that_is_gone_is_not_replaced(server: Server) -> None:
    serves(server, "v0.0.45", "v0.0.40")
    gone = server.on("POST", "/slurm/v0.0.40/job/submit", NOT_SERVED)
    async with client() as slurm:
        with pytest.raises(UnsupportedVersion):
            await slurm.submit(SCRIPT, **SHARING)
    assert gone.call_count == 1


# --- before anything is sent ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "options", "kind"),
    [
        ("#!/bin/sh\n#SBATCH -n two\n", {}, SpecError),
        ("#!/bin/sh\n#SBATCH --nonesuch\n", {}, SpecError),
        ("#!/bin/sh\n#SBATCH --test-only\n", {}, SpecError),
        (JobSpec("#!/bin/sh\n#SBATCH -n 2\n"), {}, SpecError),
        (JobSpec("echo hello\n"), {}, SpecError),
        (JobSpec(), {}, SpecError),
        ("/no/such/script", {}, SpecError),
        (b"#!/bin/sh\n", {}, SpecError),
        (None, {}, SpecError),
        (7, {}, SpecError),
        (SCRIPT, {"script": SCRIPT}, SpecError),
        (SCRIPT, {"nodse": 2}, SpecError),
        (SCRIPT, {"name": "a", "job_name": "b"}, SpecError),
        (SCRIPT, {"comment": "x" * 1000}, SpecError),
        (SCRIPT, {"chdir": "here"}, SpecError),
        (SCRIPT, {"nodes": "two"}, SpecError),
        (SCRIPT, {"env": ["A=1"]}, SpecError),
        (SCRIPT, {"env": "A=1"}, SpecError),
        (SCRIPT, {"env": 7}, SpecError),
    ],
)
async def test_what_is_wrong_before_sending_sends_nothing(
    script: object, options: dict[str, object], kind: type[SlurmError], server: Server
) -> None:
    async with client() as slurm:
        with pytest.raises(kind):
            await slurm.submit(script, **options)  # type: ignore[arg-type]  # wrong on purpose
        assert slurm.requests == 0


async def test_a_job_without_a_directory_names_the_ways(server: Server) -> None:
    async with client(workdir="") as slurm:
        with pytest.raises(ConfigError, match=r"chdir=.*SLURM_REST_WORKDIR.*SLURM_REST_ENVIRONMENT"):
            await slurm.submit(SCRIPT)
        assert slurm.requests == 0


# --- interruptions --------------------------------------------------------------------------------------------


class Slow:
    """A reply that comes when the test says so."""

    def __init__(self, reply: Capture) -> None:
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self.reply = reply

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.set()
        await self.go.wait()
        return self.reply.response


async def interrupted(slurm: AsyncSlurmClient, slow: Slow, then: Callable[[], None]) -> None:
    """Submit, cancel the submission while its answer is awaited, let the answer come."""
    task = asyncio.create_task(slurm.submit(SCRIPT))
    await slow.asked.wait()
    task.cancel()
    await asyncio.sleep(0)
    then()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_interrupted_submission_leaves_no_job_behind(server: Server) -> None:
    server.ping()
    slow = Slow(MADE)
    post = server.on("POST", "/job/submit", slow)
    owned(server)
    cancel = cancels(server)
    async with client() as slurm:
        await interrupted(slurm, slow, slow.go.set)
    assert post.call_count == 1
    assert body_of(cancel.calls[0]) == {"jobs": [str(JOB_ID)]}


async def test_an_interruption_stays_one_though_the_cancel_fails(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.ping()
    slow = Slow(MADE)
    server.on("POST", "/job/submit", slow)
    owned(server)
    server.on("DELETE", "/jobs/", failure(502, 1800))
    async with client() as slurm:
        await interrupted(slurm, slow, slow.go.set)
    assert f"Job {JOB_ID} could not be cancelled" in caplog.text


async def test_an_interruption_does_not_wait_for_ever(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from slurm_rest.transport import once

    monkeypatch.setattr(once, "_ABANDON_SECONDS", 0)
    server.ping()
    slow = Slow(MADE)
    server.on("POST", "/job/submit", slow)
    owned(server)
    async with client() as slurm:
        await interrupted(slurm, slow, lambda: None)
        slow.go.set()
        assert (await slurm.submit(SCRIPT)).id == JOB_ID
    assert "there may be a job whose comment ends in slurm-rest:" in caplog.text
