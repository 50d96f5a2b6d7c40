"""The blocking face: the same implementation on a loop of its own, from any thread and inside a running loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import inspect
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from slurm_rest import AsyncJob, AsyncSlurmClient, Job, SlurmClient
from slurm_rest.errors import ConfigError, JobNotFound, SlurmError, SpecError, WaitTimeout
from slurm_rest.models import Submission
from slurm_rest.portal import LoopThread
from slurm_rest.sync_files import iterate

from .captures import capture
from .wire import NEW, URL, Server, body_of, good, job, no_pauses, server, states

__all__ = ["no_pauses", "server"]

SCRIPT = "#!/bin/sh\ntrue\n"
MADE = capture(NEW, "submit_ok")
JOB_ID: int = MADE.body["job_id"]


@pytest.fixture
def slurm(server: Server) -> Iterator[SlurmClient]:
    with SlurmClient(URL, token="tok", workdir="/tmp") as client:
        yield client


def scripted(server: Server) -> None:
    """Let one job be submitted, found running and then completed."""
    server.ping()
    server.on("POST", "/job/submit", MADE)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID)]))
    server.on("GET", "/jobs/state/", states((str(JOB_ID), "RUNNING")), states((str(JOB_ID), "COMPLETED")))


def whole_life(slurm: SlurmClient) -> None:
    made = slurm.submit(SCRIPT, name="hello")
    assert (made.id, made.name, repr(made)) == (JOB_ID, "hello", f"<Job {JOB_ID} 'hello' PENDING>")
    assert str(made.state) == "RUNNING"
    assert made.wait().state.is_success
    assert repr(made) == f"<Job {JOB_ID} 'hello' COMPLETED>"


def test_the_life_of_a_job(slurm: SlurmClient, server: Server) -> None:
    scripted(server)
    whole_life(slurm)


def test_tasks_and_components_are_jobs_too(slurm: SlurmClient, server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("10_0", "RUNNING"), ("10_1", "PENDING")))
    cancel = server.on("DELETE", "/jobs/", good(status=[]))
    whole = slurm.job(10)
    first, second = whole.tasks
    assert (first.label, second.label, repr(second)) == ("10_0", "10_1", "<Job 10_1 PENDING>")
    assert str(second.state) == "PENDING"
    assert whole.components == []
    assert second.cancel().ok
    slurm.cancel([first, whole])
    assert [body_of(call)["jobs"] for call in cancel.calls] == [["10_1"], ["10_0", "10"]]


def test_a_submission_keeps_its_spec(slurm: SlurmClient, server: Server) -> None:
    server.ping()
    server.on("POST", "/job/submit", MADE)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID)]))
    made = slurm.submit("#!/bin/sh\n#SBATCH -n 2 -J mine\n", ntasks=3)
    assert made.spec is not None
    assert (made.spec.ntasks, made.name) == (3, "mine")


def test_the_output_of_a_job(server: Server, tmp_path: Path) -> None:
    server.ping()
    ended = job(JOB_ID, "COMPLETED", stdout_expanded="/w/o", stderr_expanded="/w/e")
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[ended]))
    server.on("GET", "/jobs/state/", states((str(JOB_ID), "COMPLETED")))
    (tmp_path / "o").write_bytes(b"one\ntwo caf\xc3\xa9 \xff\n")
    (tmp_path / "e").write_bytes(b"")
    with SlurmClient(URL, token="tok", path_map={"/w": str(tmp_path)}) as slurm:
        made = slurm.job(JOB_ID)
        assert made.stdout() == "one\ntwo caf\xe9 \ufffd\n"
        assert made.stdout(max_bytes=13) == "two caf\xe9 \ufffd\n"
        assert made.stderr() == ""
        assert "".join(made.follow(lines=1)) == "two caf\xe9 \ufffd\n"
        assert slurm.files.names("/w") == ["e", "o"]
        assert [entry.relative for entry in slurm.files.walk("/w")] == ["e", "o"]
        assert b"".join(slurm.files.read_chunks("/w/o", size=3)) == (tmp_path / "o").read_bytes()
        assert slurm.files.tail("/w/o", lines=2).data.startswith(b"one")
        assert slurm.files.stat("/w/e").size == 0
        assert slurm.files.remove("/w/e") is True


def test_a_reader_may_stop_in_the_middle(server: Server, tmp_path: Path) -> None:
    server.ping()
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, stdout_expanded="/w/o")]))
    server.on("GET", "/jobs/state/", states((str(JOB_ID), "RUNNING")))
    (tmp_path / "o").write_bytes(b"one\n")
    with SlurmClient(URL, token="tok", path_map={"/w": str(tmp_path)}) as slurm:
        for text in slurm.job(JOB_ID).follow():
            assert text == "one\n"
            break
        left = slurm.job(JOB_ID).follow()
        assert next(left) == "one\n"
    # The client is closed, and the rest of the iterator with it.
    del left
    gc.collect()


def test_an_iterator_that_is_left_is_closed_on_the_clients_loop(slurm: SlurmClient) -> None:
    seen: list[object] = []

    async def count() -> AsyncGenerator[int, None]:
        try:
            for number in range(10):
                yield number
        finally:
            seen.append(asyncio.get_running_loop())

    counted = count()
    numbers = iterate(counted, slurm._portal.run)
    assert [next(numbers), next(numbers)] == [0, 1]
    del numbers
    gc.collect()
    assert seen == [slurm._portal._thread._loop]
    assert list(iterate(count(), slurm._portal.run)) == [*range(10)]


async def test_it_works_inside_a_running_loop(slurm: SlurmClient, server: Server) -> None:
    scripted(server)
    whole_life(slurm)


def test_it_works_from_several_threads(slurm: SlurmClient, server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("1", "RUNNING")))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: slurm.states([1]), range(16)))
    assert all(list(states) == [1] for states in found)


def test_errors_arrive_with_their_class(slurm: SlurmClient, server: Server) -> None:
    server.ping()
    server.on("GET", "/job/7", capture(NEW, "job_unknown"))
    server.on("GET", "/slurmdb/v0.0.45/jobs/", capture(NEW, "slurmdb_jobs_none"))
    with pytest.raises(JobNotFound, match="no job 7"):
        slurm.job(7).info()


def test_a_wait_that_runs_out(slurm: SlurmClient, server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("7", "RUNNING")))
    # So that the time does not run out before anything was asked.
    assert str(slurm.job(7).state) == "RUNNING"
    with pytest.raises(WaitTimeout) as caught:
        slurm.job(7).wait(timeout=0.05)
    assert caught.value.job_ids == (7,)


def test_a_repr_asks_nothing(slurm: SlurmClient, server: Server) -> None:
    handle = slurm.job(7)
    assert "tok" not in f"{handle!r} {slurm!r} {handle._repr_html_()}".replace("token", "")
    assert slurm.requests == 0


def test_settings_that_are_wrong_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_REST_URL", raising=False)
    before = set(threading.enumerate())
    with pytest.raises(ConfigError):
        SlurmClient("nonsense")
    # Those of other libraries come and go.
    assert [one for one in set(threading.enumerate()) - before if one.name == "slurm_rest"] == []


def test_a_closed_client_says_so(slurm: SlurmClient) -> None:
    slurm.close()
    slurm.close()
    with pytest.raises(SlurmError, match="is closed"):
        slurm.states([1])


def test_a_client_that_is_forgotten_ends_its_thread() -> None:
    client = SlurmClient(URL, token="tok")
    thread, gone = client._portal._thread._thread, weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None
    thread.join(timeout=120)
    assert not thread.is_alive()


def test_what_a_client_has_made_keeps_it_open(server: Server, tmp_path: Path) -> None:
    server.ping()
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID, job_state=["COMPLETED"])]))
    server.on("GET", "/jobs/state/", states((str(JOB_ID), "COMPLETED")))

    def made() -> SlurmClient:
        return SlurmClient(URL, token="tok", path_map={"/w": str(tmp_path)})

    handle = made().job(JOB_ID)
    thread = handle._portal._thread._thread
    gc.collect()
    assert handle.info().id == JOB_ID
    assert [change.state.is_terminal for change in made().watch([JOB_ID])] == [True]
    assert made().files.names("/w") == []
    assert [record.job_id for record in made().api.get_job(JOB_ID).jobs or ()] == [JOB_ID]
    del handle
    gc.collect()
    thread.join(timeout=120)
    assert not thread.is_alive()


def test_a_callback_that_calls_its_own_client_gets_an_error_and_no_deadlock(slurm: SlurmClient) -> None:
    def interfere(_: object) -> None:
        slurm.cancel(7)

    with pytest.raises(SlurmError, match="cannot wait for the same client"):
        slurm.wait([7], on_change=interfere)


def test_an_interrupted_submission_leaves_no_job_behind(
    slurm: SlurmClient, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()
    interrupted = threading.Event()

    async def slow(request: httpx.Request) -> httpx.Response:
        asked.set()
        await asyncio.to_thread(interrupted.wait)
        return MADE.response

    server.ping()
    post = server.on("POST", "/job/submit", slow)
    server.on("GET", f"/job/{JOB_ID}", good(jobs=[job(JOB_ID)]))
    cancel = server.on("DELETE", "/jobs/", good(status=[]))
    wait = concurrent.futures.Future.result

    def interrupt(future: concurrent.futures.Future[Any], timeout: float | None = None) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return wait(future, timeout)
        asked.wait()
        slurm._portal._thread._loop.call_soon_threadsafe(slurm._portal._thread._loop.call_later, 0.01, interrupted.set)
        raise KeyboardInterrupt

    monkeypatch.setattr(concurrent.futures.Future, "result", interrupt)
    with pytest.raises(KeyboardInterrupt):
        slurm.submit(SCRIPT)
    monkeypatch.undo()
    assert post.call_count == 1
    assert body_of(cancel.calls[0]) == {"jobs": [str(JOB_ID)]}


@pytest.mark.parametrize("begun", [True, False])
def test_an_interrupt_while_a_call_is_handed_over_ends_it(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would go on without anybody: a submission would leave its job behind."""
    thread, runs, ended = LoopThread(), threading.Event(), threading.Event()
    hand_over, handed = thread._loop.call_soon_threadsafe, list[object]()

    async def work() -> None:
        runs.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def interrupted(callback: Callable[[], object]) -> object:
        handed.append(callback)
        if begun or len(handed) > 1:
            hand_over(callback)
        if len(handed) == 1:
            assert runs.wait(120) if begun else True
            raise KeyboardInterrupt
        return None

    monkeypatch.setattr(thread._loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        thread.run(work())
    assert ended.is_set() is begun, "what was not begun has nothing to end"
    thread.close()


@pytest.mark.parametrize("begun", [True, False])
def test_closing_ends_the_calls_of_other_threads(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    thread, loop_is_free, handed_over = LoopThread(), threading.Event(), threading.Event()
    told: list[SlurmError] = []

    async def work() -> None:
        if begun:
            handed_over.set()
        await asyncio.Event().wait()

    def call() -> None:
        with pytest.raises(SlurmError, match="closed") as caught:
            thread.run(work())
        told.append(caught.value)

    def hand_over(start: Callable[[], None]) -> None:
        thread._loop.call_soon(start)
        thread._loop._write_to_self()  # type: ignore[attr-defined]  # as asyncio's own does
        handed_over.set()

    if not begun:
        thread._loop.call_soon_threadsafe(loop_is_free.wait)
        monkeypatch.setattr(thread._loop, "call_soon_threadsafe", hand_over)
    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    assert handed_over.wait(120)
    closer = threading.Thread(target=thread.close, daemon=True)
    if not begun:
        handed_over.clear()
    closer.start()
    assert handed_over.wait(120), "the end was handed over, too"
    loop_is_free.set()
    for one in (caller, closer):
        one.join(timeout=120)
    assert not caller.is_alive(), "it does not wait for ever"
    assert told


def test_the_loop_closes_from_its_own_thread() -> None:
    thread = LoopThread()
    thread._loop.call_soon_threadsafe(thread.close)
    thread._thread.join(timeout=120)
    assert not thread._thread.is_alive()
    thread._loop.close()


@pytest.mark.parametrize(("blocking", "asynchronous"), [(SlurmClient, AsyncSlurmClient), (Job, AsyncJob)])
def test_the_faces_take_the_same_arguments(blocking: type[object], asynchronous: type[object]) -> None:
    for name, method in vars(blocking).items():
        other = getattr(asynchronous, name, None)
        if name.startswith("_") or not inspect.isfunction(method) or not inspect.isfunction(other):
            continue
        mine, theirs = inspect.signature(method).parameters, inspect.signature(other).parameters
        assert [(p.name, p.kind) for p in mine.values()] == [(p.name, p.kind) for p in theirs.values()], name
    if blocking is SlurmClient:
        assert list(inspect.signature(blocking).parameters) == list(inspect.signature(asynchronous).parameters)


async def test_the_faces_have_the_same_names(slurm: SlurmClient) -> None:
    """What is documented of one is there in the other."""

    def public(value: object) -> set[str]:
        return {name for name in dir(value) if not name.startswith("_")}

    async with AsyncSlurmClient(URL, token="tok") as client:
        # The command line's own half: what the handles and it need from the client, and what services need.
        inner = {"address", "info", "member_states", "submit_read", "track", "transport", "user_name"}
        assert public(client) ^ public(slurm) == inner
        # state asks where it may block; the rest is the client's business.
        assert public(client.job(1)) - public(slurm.job(1)) == {"refresh", "identity", "learn", "doubts", "trust"}
        assert public(slurm.job(1)) - public(client.job(1)) == {"inner"}


def test_a_submission_that_was_there_already_says_so(slurm: SlurmClient) -> None:
    inner = AsyncJob(slurm._client, 7, submission=Submission(job_id=7, found=True), task_id=3)
    made = Job(slurm._portal, inner)
    assert (made.found, made.task_id, made.offset, made.is_member) == (True, 3, None, True)
    assert not slurm.job(7).found


async def test_one_job_will_do_where_several_may_stand(slurm: SlurmClient, server: Server) -> None:
    server.ping()
    server.on("GET", "/jobs/state/", states(("7", "COMPLETED")))
    server.on("GET", "/job/7", good(jobs=[job(7, job_state=["COMPLETED"])]))
    handle = slurm.job(7)
    for one in (handle, 7, [handle], (7,)):
        assert list(slurm.states(one)) == [7]
        assert list(slurm.describe(one)) == [7]
        assert [record.id for record in slurm.wait(one)] == [7]
        assert [record.id for record in slurm.as_completed(one)] == [7]
        assert [change.label for change in slurm.watch(one)] == ["7"]
    async with AsyncSlurmClient(URL, token="tok") as client:
        assert [record.id for record in await client.wait(client.job(7))] == [7]
        with pytest.raises(SpecError, match="'7' is neither a job nor several"):
            await client.wait("7")  # type: ignore[arg-type]


@pytest.mark.parametrize("nothing", ["7", None, 1.5])
def test_what_is_no_job_is_refused(nothing: Any, slurm: SlurmClient) -> None:
    for ask in (slurm.describe, slurm.wait, slurm.cancel):
        with pytest.raises(SpecError, match="is neither a job nor several"):
            ask(nothing)
