"""A caller's own key at the wire: its job is found again, made once, and never guessed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest

from slurm_rest import AsyncSlurmClient, JobSpec
from slurm_rest.errors import ConfigError, ProtocolError, SpecError, SubmitUncertain
from slurm_rest.keys import callers_key, name_mark
from slurm_rest.records import read_controller_job
from slurm_rest.transport import recovery
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.recovery import (
    Look,
    given_after,
    is_still,
)
from slurm_rest.transport.rest import RestTransport, search
from tests.support.transports import rest_of

from .captures import capture, failure
from .lost import BOUNDS, JOB_ID, MADE, OLD, RECENT, SCRIPT, Cluster, at_once
from .wire import NEW, Server, accounted, body_of, client, good, job, no_pauses, server, states

__all__ = ["at_once", "no_pauses", "server"]


@pytest.mark.parametrize("state", ["PENDING", "RUNNING", "COMPLETED", "CANCELLED"])
async def test_an_earlier_job_is_returned_and_nothing_sent(state: str, server: Server) -> None:
    cluster = Cluster(server, job(50, state, comment="KEY", **OLD)).asks_accounting()
    cluster.key = callers_key("tonight", "alice", capture(NEW, "ping").body["meta"]["slurm"]["cluster"])
    async with client(user="alice") as slurm:
        made = [await slurm.submit(SCRIPT, idempotency_key="tonight") for _ in range(2)]
    assert [(one.id, one.found) for one in made] == [(50, True), (50, True)]
    # The second time it is known.
    assert cluster.listing.call_count == 1
    assert cluster.accounting is not None
    assert cluster.accounting.calls[0].request.url.params["start_time"] == "now-604800seconds"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"comment": "mine"}, True),
        ({"comment": ""}, True),
        ({"comment": "mine", "name": "other"}, False),
        ({"comment": "slurm-rest:" + "a" * 20}, False),
    ],
)
async def test_a_job_that_wrote_another_comment_is_the_same_one(
    server: Server, at_once: None, changed: dict[str, Any], found: bool
) -> None:
    """As its script may, with scontrol; Slurm gives an id to another job only after it lost its state."""
    cluster = Cluster(server).asks_accounting()
    post = cluster.posts(MADE, MADE)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "RUNNING", **{"name": "night", **OLD, **changed})]))
    async with client(user="alice") as slurm:
        made = [await slurm.submit(SCRIPT, name="night", idempotency_key="tonight") for _ in range(2)]
    assert [one.found for one in made] == [False, found]
    assert post.call_count == (1 if found else 2)
    others = read_controller_job(job(7, name="night", user_name="bob", comment="mine"))
    assert not is_still(others, "slurm-rest:aa", "alice", "night")


@pytest.mark.parametrize(("mark", "found"), [(name_mark("tonight"), True), ("", False)])
async def test_a_name_of_its_own_finds_a_job_with_another_comment(
    server: Server, at_once: None, mark: str, found: bool
) -> None:
    """Also another process, which made no job under the key."""
    name = f"night-{mark}"
    one, other = job(50, "RUNNING", comment="mine", name=name, **OLD), job(51, "RUNNING", name="night", **OLD)
    cluster = Cluster(server, one, other).asks_accounting()
    cluster.key = "slurm-rest:" + "0" * 20
    if not found:
        cluster.posts(MADE)
        server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING")]))
    async with client(user="alice") as slurm:
        assert (await slurm.find("tonight", name=name) is not None) is found
        made = await slurm.submit(SCRIPT, name=name, idempotency_key="tonight")
    assert (made.id, made.found) == ((50, True) if found else (JOB_ID, False))


async def test_an_interrupted_submission_stays_under_its_key(
    server: Server, at_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = Cluster(server).asks_accounting()
    asked, go = asyncio.Event(), asyncio.Event()

    async def post(request: httpx.Request) -> httpx.Response:
        asked.set()
        await go.wait()
        return MADE.response

    server.on("POST", "/job/submit", post)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING")]))
    async with client(user="alice") as slurm:
        task = asyncio.create_task(slurm.submit(SCRIPT, idempotency_key="tonight"))
        await asked.wait()
        task.cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert cluster.listing.called
    assert f"job {JOB_ID} stays" in caplog.text


async def test_a_submission_that_ends_with_all_tasks_of_its_loop_names_its_key(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    asked, made = asyncio.Event(), list[int]()

    async def post(request: httpx.Request) -> httpx.Response:
        if made:
            asked.set()
            await asyncio.Event().wait()
        made.append(JOB_ID)
        return MADE.response

    server.ping()
    server.on("POST", "/job/submit", post)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING")]))
    async with client(user="alice") as slurm:
        await slurm.submit(SCRIPT)
        before = asyncio.all_tasks()
        task = asyncio.create_task(slurm.submit(SCRIPT))
        await asked.wait()
        for one in asyncio.all_tasks() - before:
            one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "there may be a job whose comment ends in slurm-rest:" in caplog.text


async def test_what_a_new_key_costs(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that another process made meanwhile is in the controller, unless the first look is long ago."""
    made, costs = list[int](), list[int]()

    def post(_: httpx.Request) -> httpx.Response:
        made.append(JOB_ID + len(made))
        return good(job_id=made[-1]).response

    server.ping()
    server.on("POST", "/job/submit", post)
    server.on("GET", "/jobs/state/", lambda _: states(*((str(one), "PENDING") for one in made)).response)
    server.on("GET", "/diag/", lambda _: good(statistics={"req_time_start": 1_800_000_000}).response)
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    # Whose job it became is looked at once for each user; no other record is read.
    owner = server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING")]))
    async with client(user="alice") as slurm:
        for key in ("first", "second", "third"):
            monkeypatch.setattr(search, "STAYS", -1 if key == "third" else 60)
            before = slurm.requests
            assert not (await slurm.submit(SCRIPT, idempotency_key=key)).found
            costs.append(slurm.requests - before)
    # States, diag and accounting, the submission, states again; long after the first look diag and accounting, too.
    assert (costs[1:], owner.call_count) == ([5, 7], 1)


async def test_of_two_earlier_jobs_the_later_is_cancelled(server: Server) -> None:
    """Both who made them ended before they saw the other's."""
    first = job(50, "RUNNING", comment="KEY", **OLD)
    second, over = job(51, "RUNNING", comment="KEY", **OLD), job(52, "COMPLETED", comment="KEY", **OLD)
    cluster = Cluster(server, first, second, over).asks_accounting()
    cluster.key = callers_key("tonight", "alice", capture(NEW, "ping").body["meta"]["slurm"]["cluster"])
    cancel = server.on("DELETE", "/jobs/", good(status=[]))
    async with client(user="alice") as slurm:
        made = await slurm.submit(SCRIPT, idempotency_key="tonight")
    assert (made.id, made.found) == (50, True)
    assert [body_of(call)["jobs"] for call in cancel.calls] == [["51"]]


async def test_jobs_of_others_are_read_once_for_all_keys(server: Server) -> None:
    others = [job(40 + place, "PENDING", user_name="bob", user_id=1002, **RECENT) for place in range(3)]
    cluster = Cluster(server, *others, job(50, "PENDING", comment="some words", **OLD)).asks_accounting()
    cluster.key = "none of theirs"
    async with client(user="alice") as slurm:
        assert [await slurm.find(key) for key in ("tonight", "tomorrow")] == [None, None]
    assert [route.call_count for route in cluster.reads] == [1, 1, 1, 1]


class Crowd:
    """Many young jobs of the user's without keys, which accounting knows by the name ``other``, but for some."""

    def __init__(
        self,
        server: Server,
        ids: range,
        *,
        carrying: int = 0,
        unknown: tuple[int, ...] = (),
        old: tuple[int, ...] = (),
    ) -> None:
        self.key = callers_key("tonight", "alice", capture(NEW, "ping").body["meta"]["slurm"]["cluster"])
        self.carrying, self.unknown, self.old = carrying, unknown, old
        self.read, self.named = list[int](), list[int]()
        server.ping()
        server.on("GET", "/jobs/state/", lambda _: states(*((str(one), "PENDING") for one in ids)).response)
        server.on("GET", "/diag/", lambda _: good(statistics={"req_time_start": 1_800_000_000}).response)
        server.router.get(url__regex=r".*/slurm/v0.0.45/job/\d+$").mock(side_effect=self._record)
        server.on("GET", "/slurmdb/v0.0.45/jobs/", self._accounted)

    def _record(self, request: httpx.Request) -> httpx.Response:
        job_id = int(request.url.path.rpartition("/")[2])
        self.read.append(job_id)
        comment = self.key if job_id == self.carrying else ""
        name = "night" if job_id == self.carrying else "other"
        return good(jobs=[job(job_id, "PENDING", name=name, comment=comment, **RECENT)]).response

    def _accounted(self, request: httpx.Request) -> httpx.Response:
        asked = [int(one) for one in request.url.params.get_list("step")]
        self.named += asked
        times = {one: 1_700_000_000 if one in self.old else RECENT["submit_time"]["number"] for one in asked}
        known = [one for one in asked if one not in self.unknown]
        named = [(one, "night" if one == self.carrying and one not in self.old else "other") for one in known]
        records = [accounted(one, name=name, user="alice", time={"submission": times[one]}) for one, name in named]
        return good(jobs=records).response

    async def look(self, slurm: AsyncSlurmClient, name: str = "night") -> Look:
        """Look for the key, among jobs of this name."""
        return await rest_of(slurm).find(PreparedJob({}, self.key, "alice", name, repeated=True), since=time.time())


async def test_beside_thousands_of_others_an_earlier_job_can_be_ruled_out(server: Server) -> None:
    """Which of them are others accounting tells by their names, for all searches of a client."""
    crowd = Crowd(server, range(1, 5001), unknown=(4000, 3))
    async with client(user="alice") as slurm:
        looks = [await crowd.look(slurm) for _ in range(2)]
    assert [(look.jobs, look.complete) for look in looks] == [((), True)] * 2
    assert sorted(crowd.read) == [3, 4000, *range(5001 - 64, 5001)]
    assert sorted(crowd.named) == list(range(1, 5001 - 64))


@pytest.mark.parametrize(
    ("unknown", "old"),
    [((), ()), ((7,), ()), ((), (7,))],
    ids=["accounting knows it", "accounting has not heard of it yet", "accounting knows an older one of that id"],
)
async def test_beside_thousands_of_others_an_earlier_job_is_found(
    unknown: tuple[int, ...], old: tuple[int, ...], server: Server
) -> None:
    crowd = Crowd(server, range(1, 5001), carrying=7, unknown=unknown, old=old)
    async with client(user="alice") as slurm:
        look = await crowd.look(slurm)
    assert [record.id for record in look.jobs] == [7]
    assert len(crowd.read) < 80


@pytest.mark.parametrize("restarted", [False, True])
async def test_jobs_that_are_older_than_the_search_are_read_once_for_all_keys(server: Server, restarted: bool) -> None:
    """Of the user's own, with names that tell nothing, as those of other users; ids begin anew after a crash."""
    began = [1_800_000_000, 1_800_000_000 + restarted]
    reads = list[int]()

    def record(request: httpx.Request) -> httpx.Response:
        reads.append(int(request.url.path.rpartition("/")[2]))
        return good(jobs=[job(reads[-1], "PENDING", name="night", comment="mine", **OLD)]).response

    server.ping()
    server.on("GET", "/jobs/state/", lambda _: states(*((str(one), "PENDING") for one in range(1, 101))).response)
    server.on("GET", "/diag/", lambda _: good(statistics={"req_time_start": began.pop(0)}).response)
    server.router.get(url__regex=r".*/slurm/v0.0.45/job/\d+$").mock(side_effect=record)
    server.on("GET", "/slurmdb/v0.0.45/jobs/", good(jobs=[]))
    async with client(user="alice") as slurm:
        for key in ("tonight", "tomorrow"):
            await slurm.find(key, name="night")
    newest = [*range(85, 101)]
    assert sorted(reads) == (sorted([*newest, *newest]) if restarted else newest)


async def test_without_accounting_an_old_job_that_waits_is_found_all_the_same(server: Server) -> None:
    """Neither by accounting nor among the jobs of the last minutes; some were submitted before it, and after it."""
    key = callers_key("tonight", "alice", capture(NEW, "ping").body["meta"]["slurm"]["cluster"])

    def record(request: httpx.Request) -> httpx.Response:
        job_id = int(request.url.path.rpartition("/")[2])
        long_ago: dict[str, Any] = {"submit_time": {"set": True, "number": int(time.time()) - 3600 + job_id}}
        return good(jobs=[job(job_id, "PENDING", comment=key if job_id == 7 else "", **long_ago)]).response

    server.ping()
    server.on("GET", "/jobs/state/", lambda _: states(*((str(one), "PENDING") for one in range(1, 101))).response)
    server.on("GET", "/diag/", lambda _: good(statistics={"req_time_start": 1_800_000_000}).response)
    server.router.get(url__regex=r".*/slurm/v0.0.45/job/\d+$").mock(side_effect=record)
    server.on("GET", "/slurmdb/v0.0.45/jobs/", failure(502, 7000))
    async with client(user="alice") as slurm:
        for _ in range(2):
            found = await slurm.find("tonight", name="night")
            assert found is not None
            assert found.id == 7


def test_ids_after_a_mark() -> None:
    last = 0x03FF0000
    assert list(given_after([9, 7, 5], 7)) == [9]
    assert list(given_after([9, 7, 5], 6)) == [9, 7]
    assert list(given_after([9, 7, 5], 10)) == [9, 7, 5], "of before the ids began anew"
    assert list(given_after([4, 2, last - 1, last - 3], last - 2)) == [4, 2, last - 1]
    assert list(given_after([], 3)) == []


async def test_more_others_than_a_look_may_read_leave_it_open(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "BOUNDS", replace(BOUNDS, records=100, names=1000))
    crowd = Crowd(server, range(1, 2401))
    async with client(user="alice") as slurm:
        with pytest.raises(SubmitUncertain, match="too many jobs look alike"):
            await slurm.submit(SCRIPT, name="night", idempotency_key="tonight")
        # What is known by now is not asked again, so a later look comes further.
        assert not (await crowd.look(slurm)).complete
        assert (await crowd.look(slurm)).complete


async def test_where_a_site_gives_jobs_other_names_all_are_read(server: Server) -> None:
    crowd = Crowd(server, range(1, 201))
    server.on("POST", "/job/submit", MADE)
    async with client(user="alice") as slurm:
        # The record that is read of it says another name.
        await slurm.submit(SCRIPT, name="given")
        crowd.read.clear()
        assert (await crowd.look(slurm)).complete
    assert (sorted(crowd.read), crowd.named) == (list(range(1, 201)), [])


async def test_without_a_name_all_are_read(server: Server) -> None:
    crowd = Crowd(server, range(1, 201))
    async with client(user="alice") as slurm:
        assert (await crowd.look(slurm, name="")).complete
    # Accounting is asked as it always is, for no job in particular.
    assert (sorted(crowd.read), crowd.named) == (list(range(1, 201)), [])


async def test_without_accounting_an_earlier_job_cannot_be_ruled_out(server: Server) -> None:
    Cluster(server).asks_accounting(failure(502, 7000))
    async with client(user="alice") as slurm:
        with pytest.raises(SubmitUncertain, match="Nothing was sent"):
            await slurm.submit(SCRIPT, idempotency_key="tonight")


@pytest.mark.parametrize("certain", [True, False])
async def test_while_accounting_is_away_who_knows_that_no_job_began_gets_one(server: Server, certain: bool) -> None:
    Cluster(server).asks_accounting(failure(502, 7000))
    asked = list[bool]()

    async def never_began() -> bool:
        asked.append(certain)
        return certain

    async with client(user="alice") as slurm:
        spec = JobSpec.from_script(SCRIPT)
        if certain:
            server.on("POST", "/job/submit", MADE)
            server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, "PENDING")]))
            assert (await slurm.submit_read(spec, {}, words="tonight", never_began=never_began)).id == JOB_ID
        else:
            with pytest.raises(SubmitUncertain, match="accounting is away"):
                await slurm.submit_read(spec, {}, words="tonight", never_began=never_began)
    assert asked == [certain]


async def test_a_key_is_of_a_user_whose_name_is_known(server: Server) -> None:
    async with client() as slurm:
        with pytest.raises(ConfigError, match="SLURM_REST_USER"):
            await slurm.submit(SCRIPT, idempotency_key="tonight")
        assert slurm.requests == 0


@pytest.mark.parametrize(
    ("words", "problem"), [("", "1 to 200"), ("x" * 201, "1 to 200"), (7, "1 to 200"), ("\ud800", "half a character")]
)
async def test_words_that_are_no_key(words: object, problem: str, server: Server) -> None:
    async with client(user="alice") as slurm:
        with pytest.raises(SpecError, match=f"idempotency_key .*{problem}"):
            await slurm.submit(SCRIPT, idempotency_key=words)  # type: ignore[arg-type]  # wrong on purpose
        assert slurm.requests == 0


async def test_a_job_that_went_another_way_is_found_too(server: Server) -> None:
    key = "slurm-rest:" + "ab" * 10
    server.ping()
    server.on("GET", "/jobs/state/", states(("5", "PENDING"), ("6", "PENDING")))
    server.on("GET", "/diag/", good(statistics={"req_time_start": 1_800_000_000}))
    server.on("GET", "/job/6", good(jobs=[job(6, "PENDING", comment="another")]))
    server.on("GET", "/job/5", good(jobs=[job(5, "PENDING", comment=f"text {key}")]))
    async with client() as slurm:
        transport = slurm._transport
        assert isinstance(transport, RestTransport)
        look = await transport.find(PreparedJob({}, key, user="alice"), since=1_900_000_000)
    assert [record.id for record in look.jobs] == [5]


@pytest.mark.parametrize("wrong", ["jobs/state", "slurmdb"])
async def test_the_answer_to_another_request_does_not_say_that_there_is_no_job(server: Server, wrong: str) -> None:
    """As a proxy that mixes up what it keeps alive would give it: nothing is sent that may be there already."""
    server.ping()
    other = capture(NEW, "ping")
    server.on("GET", "/jobs/state/", other if wrong == "jobs/state" else states())
    if wrong == "slurmdb":
        server.on("GET", "/diag/", good(statistics={"req_time_start": 1_800_000_000}))
        server.on("GET", "/slurmdb/v0.0.45/jobs/", other)
    async with client(user="alice") as slurm:
        with pytest.raises(ProtocolError, match="the answer to another request") as caught:
            await slurm.submit(SCRIPT, idempotency_key="tonight")
    assert "No job was submitted" in caught.value.hint
