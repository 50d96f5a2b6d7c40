"""The generated methods: what they send, what they return, and that both faces are the same."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from slurm_rest.api import API_VERSIONS, ApiRequest, AsyncSlurmApi, SlurmApi
from slurm_rest.api._client import AsyncSlurmdbApi, AsyncUtilApi, SlurmdbApi, UtilApi
from slurm_rest.api._operations import SLURM, SLURMDB, UTIL
from slurm_rest.api.accounting import OpenapiAccountsResp
from slurm_rest.api.jobs import JobDescMsg, JobSubmitReq, OpenapiJobInfoResp
from slurm_rest.errors import ProtocolError, UnsupportedVersion

T = TypeVar("T")
FACES = [(AsyncSlurmApi, SlurmApi, SLURM), (AsyncSlurmdbApi, SlurmdbApi, SLURMDB), (AsyncUtilApi, UtilApi, UTIL)]


class Caller:
    """Answers everything with the same body and keeps what was asked."""

    def __init__(self, answer: bytes = b"{}", version: str = API_VERSIONS[-1]) -> None:
        self.answer, self.version = answer, version
        self.asked: list[ApiRequest] = []

    async def api_version(self) -> str:
        return self.version

    async def send(self, request: ApiRequest) -> bytes:
        self.asked.append(request)
        return self.answer


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


async def test_a_typed_call() -> None:
    caller = Caller(b'{"jobs": [{"job_id": 1}]}')
    answer = await AsyncSlurmApi(caller).get_jobs(update_time=1_800_000_000, flags=["ALL", "DETAIL"])
    assert isinstance(answer, OpenapiJobInfoResp)
    assert answer.jobs
    assert answer.jobs[0].job_id == 1
    assert caller.asked[0].query == (("update_time", "uts1800000000"), ("flags", "ALL"), ("flags", "DETAIL"))


async def test_path_body_and_query_reach_their_places() -> None:
    caller = Caller()
    api = AsyncSlurmApi(caller)
    await api.post_job(7, JobDescMsg(comment="x"))
    await api.delete_job("7_1", signal="TERM")
    await api.db.get_accounts(with_assocs=True)
    await api.util.post_hostnames({"hostlist": "n[1-2]"})
    version = API_VERSIONS[-1]
    assert [(one.operation.method, one.path, one.query) for one in caller.asked] == [
        ("POST", f"/slurm/{version}/job/7", ()),
        ("DELETE", f"/slurm/{version}/job/7_1", (("signal", "TERM"),)),
        ("GET", f"/slurmdb/{version}/accounts/", (("WithAssociations", "true"),)),
        ("POST", f"/util/{version}/hostnames", ()),
    ]
    assert json.loads(caller.asked[0].body or b"") == {"comment": "x"}


async def test_nothing_is_sent_when_the_version_cannot() -> None:
    caller = Caller(version=API_VERSIONS[0])
    with pytest.raises(UnsupportedVersion):
        await AsyncSlurmApi(caller).get_conf()
    with pytest.raises(UnsupportedVersion):
        await AsyncSlurmApi(caller).post_job_submit(JobSubmitReq(job=JobDescMsg(segment_size=2)))
    assert caller.asked == []


@pytest.mark.parametrize("answer", [b"<html>secret</html>", b"[]", b'{"jobs": '])
async def test_an_answer_that_is_none(answer: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"GET /slurm/.*/jobs/: the answer is no JSON object") as caught:
        await AsyncSlurmApi(Caller(answer)).get_jobs()
    assert caught.value.__cause__ is None
    assert "secret" not in str(caught.value)


def test_the_blocking_face_sends_the_same() -> None:
    caller = Caller(b'{"accounts": [{"name": "a"}]}')
    api = SlurmApi(AsyncSlurmApi(caller), run)
    answer = api.db.get_accounts()
    assert isinstance(answer, OpenapiAccountsResp)
    assert answer.accounts
    assert answer.accounts[0].name == "a"
    api.delete_job(1, flags="FULL_JOB")
    api.util.post_hostlist({"hostnames": ["n1"]})
    assert [one.operation.name for one in caller.asked] == ["get_accounts", "delete_job", "post_hostlist"]


@pytest.mark.parametrize(("asynchronous", "blocking", "table"), FACES)
def test_there_is_a_method_per_operation_on_both_faces(asynchronous: Any, blocking: Any, table: Any) -> None:
    def methods(face: Any) -> dict[str, Any]:
        return {name: one for name, one in vars(face).items() if not name.startswith("_") and callable(one)}

    assert methods(asynchronous).keys() == methods(blocking).keys() == table.keys()
    for name, method in methods(asynchronous).items():
        twin = methods(blocking)[name]
        assert inspect.iscoroutinefunction(method)
        assert not inspect.iscoroutinefunction(twin)
        assert inspect.signature(method) == inspect.signature(twin)
        assert inspect.getdoc(method) == inspect.getdoc(twin)
        assert inspect.getdoc(method)


@pytest.mark.parametrize(("asynchronous", "blocking", "table"), FACES)
async def test_every_method_passes_every_argument_on(asynchronous: Any, blocking: Any, table: Any) -> None:
    """Each method, in each version of its operation, with every parameter that the version has."""
    samples: dict[str, Any] = {"bool": True, "time": 1_800_000_000, "list": ["a", "b"], "scalar": "x"}
    for name, operation in table.items():
        for version in operation.versions:
            params = {one.name: one for one in operation.query if version in one.versions}
            names = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
            positional: list[Any] = [f"v{number}" for number, _ in enumerate(names)]
            if operation.body:
                positional.append({"job_rec": {}} if operation.body == "OpenapiJobModifyReq" else {})
            caller, twin = Caller(version=version), Caller(version=version)
            values = {key: samples[one.kind] for key, one in params.items()}
            answer = await getattr(asynchronous(caller), name)(*positional, **values)
            assert type(answer).__name__ == operation.response
            (request,) = caller.asked
            assert {wire for wire, _ in request.query} == {one.wire for one in params.values()}
            assert len(request.query) == sum(2 if one.kind == "list" else 1 for one in params.values())
            assert all(text in request.path for text in positional if isinstance(text, str))
            await asyncio.to_thread(getattr(blocking(asynchronous(twin), run), name), *positional, **values)
            assert twin.asked == caller.asked
