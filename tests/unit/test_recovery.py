"""A lost answer at the wire: what is looked at, what is decided, and that nothing is sent twice in doubt."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from slurm_rest.errors import ControllerDown, ErrorContext, ProtocolError, SubmitUncertain, Timeout
from slurm_rest.keys import callers_key
from slurm_rest.records import read_controller_job
from slurm_rest.transport.recovery import (
    Case,
    Decision,
    Look,
    Loss,
    carries,
    held_until,
    loss_of,
    newest_first,
)
from tests.support.transports import rest_of

from .captures import Capture, failure
from .lost import BOUNDS, CUT, JOB_ID, MADE, OLD, RECENT, SCRIPT, Cluster, at_once
from .wire import Server, accounted, body_of, client, good, job, no_pauses, query_of, server

__all__ = ["at_once", "no_pauses", "server"]

FOUND = read_controller_job(job(7))


# --- the decision ---------------------------------------------------------------------------------------------


def lost_at_1(loss: Loss) -> Case:
    """Return the case of a request that was sent at 0."""
    return Case(1, held_until(loss, 0, 1, BOUNDS), BOUNDS)


@pytest.mark.parametrize(
    ("loss", "looks", "decisions"),
    [
        # Two looks, the second a grace after the first answer.
        (Loss.ANSWERED, [(1, 1.1), (2, 2.1), (3.1, 3.2)], "OPEN OPEN ABSENT"),
        # slurmrestd may try for 10 s on behalf of a client that is gone.
        (Loss.CUT, [(1, 1.1), (5, 5.1), (11.9, 12), (12, 12.1)], "OPEN OPEN OPEN ABSENT"),
        # A controller that answers late moves everything.
        (Loss.CUT, [(1, 30), (31, 31.1), (32, 32.1)], "OPEN OPEN ABSENT"),
        # What is silent may still hold it.
        (Loss.SILENT, [(1, 1.1), (100, 100.1), (10_000, 10_000.1)], "OPEN OPEN OPEN"),
        # A look from before the loss says nothing.
        (Loss.ANSWERED, [(0.2, 0.3), (3, 3.1), (5.1, 5.2)], "OPEN OPEN ABSENT"),
    ],
)
def test_when_there_is_none(loss: Loss, looks: list[tuple[float, float]], decisions: str) -> None:
    case = lost_at_1(loss)
    assert [case.judge(Look(*look)).name for look in looks] == decisions.split()


@pytest.mark.parametrize("loss", Loss)
def test_found_is_found(loss: Loss) -> None:
    case = lost_at_1(loss)
    assert case.judge(Look(1, 1.1, (FOUND,), complete=False)) is Decision.FOUND


def test_an_incomplete_look_never_says_none() -> None:
    case = lost_at_1(Loss.ANSWERED)
    found = [case.judge(Look(start, start + 0.1, complete=False)) for start in (1, 50)]
    assert found == [Decision.OPEN, Decision.OPEN]
    assert case.may_settle(50)


def test_pauses_end_when_the_case_can_settle() -> None:
    case = lost_at_1(Loss.CUT)
    assert [case.pause(1, looks) for looks in (1, 2, 3, 4, 9)] == [0.2, 0.5, 1.0, 2.0, 2.0]
    case.judge(Look(1, 1.1))
    assert case.pause(11.5, 4) == 0.5
    assert case.pause(13, 4) == 0


@pytest.mark.parametrize(
    ("error", "from_slurm", "loss"),
    [
        (Timeout("x"), False, Loss.SILENT),
        (ProtocolError("x"), False, Loss.CUT),
        (ProtocolError("x"), True, Loss.ANSWERED),
        (ProtocolError("x", context=ErrorContext(http_status=503)), False, Loss.CUT),
        # A proxy whose own time was up waited for somebody who may still hold it.
        (ProtocolError("x", context=ErrorContext(http_status=504)), False, Loss.SILENT),
        (ControllerDown("x"), True, Loss.ANSWERED),
    ],
)
def test_who_may_still_hold_it(error: Exception, from_slurm: bool, loss: Loss) -> None:
    assert loss_of(error, from_slurm=from_slurm) is loss  # type: ignore[arg-type]  # all are SlurmErrors


@pytest.mark.parametrize(
    ("record", "mine"),
    [
        ({"comment": "slurm-rest:aa"}, True),
        ({"comment": "words slurm-rest:aa and more words"}, True),
        ({"comment": "slurm-rest:aa", "user_name": "bob"}, False),
        ({"comment": "slurm-rest:aa", "user_name": "nobody", "user_id": 99}, True),
        ({"comment": "slurm-rest:aa", "user_name": ""}, True),
        ({"comment": "slurm-rest:bb"}, False),
        ({"comment": None}, False),
        ({}, False),
    ],
)
def test_whose_key_it_is(record: dict[str, Any], mine: bool) -> None:
    assert carries(read_controller_job(job(7, **record)), "slurm-rest:aa", "alice") is mine


def test_ids_start_anew_behind_the_largest() -> None:
    assert newest_first({5, 9, 7}) == [9, 7, 5]
    assert newest_first({67_043_000, 3, 67_042_999, 4}) == [4, 3, 67_043_000, 67_042_999]
    assert newest_first([]) == []


def test_a_callers_key_is_of_one_user_and_cluster() -> None:
    keys = {callers_key(*words) for words in [("a", "u", "c"), ("b", "u", "c"), ("a", "v", "c"), ("a", "u", "d")]}
    assert len(keys) == 4
    assert callers_key("a", "u", "c") in keys


# --- at the wire ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "job_id"),
    [
        (job(50, "PENDING", comment="KEY", **RECENT), 50),
        (job(50, "CANCELLED", comment="KEY", **RECENT), 50),
        (job(50, "RUNNING", comment="changed KEY later", **RECENT), 50),
        (job(52, "RUNNING", comment="KEY", array_job_id={"set": True, "number": 50}, **RECENT), 50),
        (job(50, "PENDING", comment="KEY", het_job_id={"set": True, "number": 50}, **RECENT), 50),
    ],
    ids=["pending", "cancelled", "changed", "array", "het"],
)
async def test_a_job_is_found_by_its_key(record: dict[str, Any], job_id: int, server: Server, at_once: None) -> None:
    cluster = Cluster(server, record)
    post = cluster.posts(CUT)
    async with client(user="alice") as slurm:
        made = await slurm.submit(SCRIPT)
    assert (made.id, made.found, post.call_count) == (job_id, True, 1)
    # One listing, one record: no ids were known before.
    assert (cluster.listing.call_count, cluster.reads[0].call_count) == (1, 1)
    assert query_of(cluster.listing.calls[0], "job_id") == []


async def test_ids_behind_the_last_known_one_are_asked_first(server: Server, at_once: None) -> None:
    cluster = Cluster(server, job(JOB_ID, comment="mine"), job(JOB_ID + 2, comment="KEY", **RECENT))
    cluster.posts(MADE, CUT)
    async with client(user="alice") as slurm:
        assert (await slurm.submit(SCRIPT)).id == JOB_ID
        assert (await slurm.submit(SCRIPT)).id == JOB_ID + 2
    asked = query_of(cluster.listing.calls[0], "job_id")
    assert (asked[0], len(asked), cluster.listing.call_count) == (str(JOB_ID + 1), 1000, 1)


@pytest.mark.parametrize(
    "others",
    [
        (),
        (job(50, comment="KEY", user_name="bob", **RECENT),),
        (job(50, comment="other slurm-rest:00000000000000000000", **RECENT),),
        (job(50, comment="words", name="another", **RECENT),),
        (job(50, comment="words", name="night", **OLD),),
    ],
    ids=["nothing", "somebody else's", "another key", "another name", "an old one"],
)
async def test_it_is_sent_again_under_the_same_key_when_there_is_none(
    others: tuple[dict[str, Any], ...], server: Server, at_once: None
) -> None:
    cluster = Cluster(server, *others).asks_accounting()
    post = cluster.posts(CUT, MADE)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING", comment="KEY")]))
    async with client(user="alice") as slurm:
        made = await slurm.submit(SCRIPT, name="night")
    assert (made.id, made.found, post.call_count) == (JOB_ID, False, 2)
    assert len({body_of(call)["job"]["comment"] for call in post.calls}) == 1
    assert cluster.accounting is not None
    # Two looks that found nothing, the second with accounting, and one whether it stayed the only one.
    assert (cluster.listing.call_count, cluster.accounting.call_count) == (3, 2)
    query = cluster.accounting.calls[0].request.url.params
    assert dict(query) == {
        "usage_time_as_submit_time": "true",
        "start_time": "now-300seconds",
        "skip_steps": "true",
        "users": "alice",
        "job_name": "night",
    }


async def test_a_controller_that_was_killed_gives_ids_twice(server: Server, at_once: None) -> None:
    # The id of the first job now stands for the second one, whose answer was lost.
    cluster = Cluster(server, job(JOB_ID, "PENDING", comment="KEY", **RECENT))
    server.on("GET", "/diag/", good(statistics={"req_time_start": 1_800_000_000}))
    post = cluster.posts(MADE, CUT)
    async with client(user="alice") as slurm:
        first = await slurm.submit(SCRIPT)
        second = await slurm.submit(SCRIPT)
    assert (first.id, second.id, second.found, post.call_count) == (JOB_ID, JOB_ID, True, 2)


async def test_a_job_that_left_the_controller_is_found_in_accounting(server: Server, at_once: None) -> None:
    past = accounted(40, comment={"job": "KEY"}, user="alice", name="night")
    cluster = Cluster(server, past=(past,)).asks_accounting()
    post = cluster.posts(CUT)
    async with client(user="alice") as slurm:
        assert (await slurm.submit(SCRIPT, name="night")).id == 40
    assert post.call_count == 1


@pytest.mark.parametrize(("length", "asked"), [(255, True), (256, False)])
async def test_a_name_that_accounting_cuts_off_is_not_asked_by(
    server: Server, at_once: None, length: int, asked: bool
) -> None:
    past = accounted(40, comment={"job": "KEY"}, user="alice", name="n" * 255)
    cluster = Cluster(server, past=(past,)).asks_accounting()
    cluster.posts(CUT)
    async with client(user="alice") as slurm:
        assert (await slurm.submit(SCRIPT, name="n" * length)).id == 40
    assert cluster.accounting is not None
    assert ("job_name" in cluster.accounting.calls[0].request.url.params) is asked


@pytest.mark.parametrize(
    ("others", "accounting"),
    [
        ((job(50, comment="words", name="night", **RECENT),), None),
        ((), failure(502, 7000)),
    ],
    ids=["a comment that was changed", "accounting away"],
)
async def test_in_doubt_nothing_is_sent_again(
    others: tuple[dict[str, Any], ...], accounting: Capture | None, server: Server, at_once: None
) -> None:
    cluster = Cluster(server, *others).asks_accounting(accounting)
    post = cluster.posts(CUT)
    async with client(user="alice", recovery_timeout=1.5) as slurm:
        with pytest.raises(SubmitUncertain) as caught:
            await slurm.submit(SCRIPT, name="night")
    assert post.call_count == 1
    assert caught.value.key == cluster.key
    assert cluster.key in caught.value.hint


async def test_a_doubtful_job_does_not_hide_the_right_one(server: Server, at_once: None) -> None:
    doubtful = job(70, comment="words", name="night", **RECENT)
    cluster = Cluster(
        server, *[job(one, comment="KEY" if one == 40 else "x", **RECENT) for one in range(40, 70)], doubtful
    )
    cluster.posts(CUT)
    async with client(user="alice") as slurm:
        assert (await slurm.submit(SCRIPT, name="night")).id == 40


async def test_a_clock_that_is_ahead_does_not_make_new_jobs_old(server: Server, at_once: None) -> None:
    """So many came after the job that it is not among those read first; accounting has not heard of it yet."""
    now = int(time.time())
    recent: dict[str, Any] = {"submit_time": {"set": True, "number": now}}
    cluster = Cluster(server, *[job(one, comment="KEY" if one == 40 else "x", **recent) for one in range(40, 90)])
    accounting = server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    server.on("GET", "/diag/", lambda _: good(statistics={"req_time": now, "req_time_start": 1_800_000_000}).response)
    post = cluster.posts(CUT)
    async with client(user="alice") as slurm:
        rest_of(slurm).connection.tokens.clock.local = lambda: time.time() + 600
        assert (await slurm.submit(SCRIPT, name="night")).id == 40
        # Nobody had to ask accounting before.
        assert accounting.call_count == 0
        await slurm.history()
    assert post.call_count == 1


async def test_a_silent_server_is_never_sent_to_again(server: Server, at_once: None) -> None:
    cluster = Cluster(server)
    post = cluster.posts(httpx.ReadTimeout("slow"))
    async with client(user="alice", recovery_timeout=1) as slurm:
        with pytest.raises(SubmitUncertain):
            await slurm.submit(SCRIPT)
    assert post.call_count == 1


async def test_three_times_is_enough(server: Server, at_once: None) -> None:
    cluster = Cluster(server).asks_accounting()
    post = cluster.posts(CUT, CUT, CUT)
    async with client(user="alice") as slurm:
        with pytest.raises(ProtocolError):
            await slurm.submit(SCRIPT)
    assert post.call_count == 3


async def test_a_twin_is_cancelled_and_the_lower_id_stays(server: Server, at_once: None) -> None:
    twin = job(JOB_ID - 1, "PENDING", comment="KEY", **RECENT)
    cluster = Cluster(server, twin).asks_accounting()
    cluster.posts(MADE)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING")]))
    cancel = server.on("DELETE", "/jobs/", good(status=[]))
    async with client(user="alice") as slurm:
        made = await slurm.submit(SCRIPT, idempotency_key="tonight")
    assert (made.id, made.found) == (JOB_ID - 1, True)
    assert [body_of(call)["jobs"] for call in cancel.calls] == [[str(JOB_ID)]]
