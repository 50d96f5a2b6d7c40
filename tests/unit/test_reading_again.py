"""Questions that are asked again and again: what has not changed is not read again, one end moves no other job."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import httpx
import pytest

from slurm_rest import JobState
from slurm_rest.transport.answers import read_answer
from slurm_rest.transport.base import StateRow
from slurm_rest.transport.rest.building import RequestBuilder, ids_query
from slurm_rest.transport.rest.states import StateReader, Told
from tests.support.transports import rest_of

from .wire import UP, Server, client, no_pauses, server, states

__all__ = ["no_pauses", "server"]

RUNNING = JobState.parse("RUNNING")


# --- requests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "body"), [("POST", b"{}"), ("POST", b""), ("DELETE", b"[]"), ("GET", None), ("PUT", None)]
)
@pytest.mark.parametrize("base", ["http://host:6820", "https://user:word@host/slurm/", "http://[::1]:6820/a/b"])
@pytest.mark.parametrize("query", ["", "job_id=1&job_id=2", [("users", "a b,ü"), ("step", "7")]])
async def test_requests_are_those_that_httpx_would_build(
    method: str, body: bytes | None, base: str, query: str | list[tuple[str, str]]
) -> None:
    async with httpx.AsyncClient(base_url=base, cookies={"seat": "7"}) as http:
        same, own = {"accept": "application/json", "user-agent": "me"}, {"x-request-id": "a-1"}
        built = RequestBuilder(http, same).build(method, "/slurm/v0.0.45/job/1_2", query, own, body)
        encoded = query if isinstance(query, str) else "users=a%20b%2C%C3%BC&step=7"
        target = f"/slurm/v0.0.45/job/1_2?{encoded}" if encoded else "/slurm/v0.0.45/job/1_2"
        theirs = http.build_request(method, target, headers={**same, **own}, content=body)
    assert str(built.url) == str(theirs.url)
    assert (built.url.raw_path, built.url.query) == (theirs.url.raw_path, theirs.url.query)
    assert (built.url.host, built.url.port, built.url.userinfo) == (
        theirs.url.host,
        theirs.url.port,
        theirs.url.userinfo,
    )
    assert built.url.params == theirs.url.params
    assert built.headers == theirs.headers
    assert built.headers.raw[0] == theirs.headers.raw[0]
    assert built.content == theirs.content
    assert isinstance(built.stream, httpx.AsyncByteStream)
    assert b"".join([piece async for piece in built.stream]) == theirs.content


# --- answers --------------------------------------------------------------------------------------------------


def test_the_same_answer_again_shares_its_body_and_nothing_else_does() -> None:
    raw = json.dumps({"jobs": [], "meta": {}, "errors": [], "warnings": [{"description": "odd"}]}).encode()
    first = read_answer("GET", "/a", 200, "application/json", raw, "x-1")
    again = read_answer("GET", "/a", 200, "application/json", raw, "x-2", like=first)
    assert again.body is first.body
    assert (again.context.request_id, again.context.warnings) == ("x-2", first.context.warnings)
    assert read_answer("GET", "/a", 500, "application/json", raw, like=first).body is not first.body
    assert read_answer("GET", "/a", 200, "application/json", raw + b" ", like=first).body is not first.body


async def test_only_what_moved_is_read_again(server: Server) -> None:
    server.ping(UP)
    moved = states(*((str(number), "COMPLETED" if number == 7 else "RUNNING") for number in range(1, 151)))
    still = states(*((str(number), "RUNNING") for number in range(1, 151)))
    server.on("GET", "/jobs/state/", still, still, moved, still)
    async with client() as slurm:
        rest = rest_of(slurm)
        rounds = [await rest.states(range(1, 151)) for _ in range(4)]
    assert all(before is after for before, after in zip(rounds[0], rounds[1], strict=True))
    assert [str(row.state) for row in rounds[2] if row.job_id == 7] == ["COMPLETED"]
    assert [str(row.state) for row in rounds[3] if row.job_id == 7] == ["RUNNING"]
    assert rounds[2][0] is not rounds[1][0]


# --- pieces ---------------------------------------------------------------------------------------------------


class Asked:
    """Answers that all run, and keeps what was asked."""

    def __init__(self) -> None:
        self.questions: list[tuple[int, ...]] = []
        self.known: list[bool] = []

    async def __call__(self, ids: Sequence[int], before: Told | None) -> Told:
        self.questions.append(tuple(ids))
        self.known.append(before is not None)
        rows = [StateRow(job_id, RUNNING) for job_id in ids]
        return before or Told(rows, read_answer("GET", "/", 200, "application/json", b"{}"))

    async def since(self, reader: StateReader, ids: Collection[int]) -> list[bool]:
        """Ask, and return for each request whether its question had been asked before."""
        del self.questions[:], self.known[:]
        rows = await reader.read(ids)
        assert sorted(row.job_id for row in rows) == sorted(ids)
        assert all(len(question) <= 1000 for question in self.questions)
        return self.known


async def test_a_job_that_left_changes_one_question_only() -> None:
    asked, ids = Asked(), set(range(1, 5001))
    reader = StateReader(asked)
    assert await asked.since(reader, ids) == [False] * 5
    assert await asked.since(reader, ids) == [True] * 5
    ids.remove(1500)
    assert await asked.since(reader, ids) == [True, False, True, True, True]
    # A look at a few others leaves what is known alone.
    assert await asked.since(reader, {7, 8}) == [False]
    assert await asked.since(reader, ids) == [True] * 5


async def test_other_ids_are_other_questions_though_each_set_stays_as_it_is() -> None:
    asked, one, other = Asked(), frozenset(range(1, 201)), frozenset(range(100, 401))
    reader = StateReader(asked)
    for ids in (one, one, other, one, set(other), other):
        await asked.since(reader, ids)
        assert sorted(asked.questions[0]) == sorted(ids)


async def test_there_are_never_more_questions_than_are_needed() -> None:
    asked, ids = Asked(), set(range(1, 3001))
    reader = StateReader(asked)
    assert len(await asked.since(reader, ids)) == 3
    ids -= set(range(10, 1010))
    assert len(await asked.since(reader, ids)) == 2
    ids |= set(range(5000, 5100))
    assert len(await asked.since(reader, ids)) == 3
    ids |= set(range(10, 900))
    assert len(await asked.since(reader, ids)) == 3
    assert await asked.since(reader, ids) == [True] * 3


def test_a_query_of_no_ids_asks_for_all() -> None:
    assert (ids_query([]), ids_query([1, 2])) == ("", "job_id=1&job_id=2")
