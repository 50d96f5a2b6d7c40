"""A lost answer of sbatch: what is asked, what is decided, and that nothing is run twice in doubt."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.errors import ProtocolError, SubmitUncertain, Timeout
from slurm_rest.sbatch import JobSpec
from slurm_rest.transport import command_submit, commands, key_texts, recovery
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.cli import LocalRunner
from slurm_rest.transport.command_line import CommandTransport, Runner
from slurm_rest.transport.command_submit import HostClock
from slurm_rest.transport.shell import Program, Wrapped
from tests.support.waiting import until_true

KEY = "slurm-rest:" + "0" * 20
VERSION = 'case $1 in --version) echo "slurm-wlm 24.11.5";; *) echo "ClusterName             = c";; esac'
SBATCH = "cat >/dev/null; echo 7"
# Later than any run of the tests, and earlier.
RECENT, OLD = 2**31, 1_700_000_000


class Losing:
    """A runner that loses the answers of so many submissions, after they have run."""

    name, user, where = "ssh", "", "login"

    def __init__(self, runner: Runner, times: int) -> None:
        self._runner, self._times = runner, times

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        stdout, stderr = await self._runner.execute(line, program, timeout)
        if b"--parsable" in program.stdin and self._times > 0:
            self._times -= 1
            return b"", b""
        return stdout, stderr

    async def close(self) -> None:
        await self._runner.close()


class Host:
    """A host with fakes of Slurm's commands, and what they were asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has(scontrol=VERSION, squeue="", sacct="", sbatch=SBATCH, scancel="")

    def has(self, **texts: str) -> None:
        """Put these commands there, as shell texts."""
        for name, text in texts.items():
            path = self.folder / name
            path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.folder}/calls\n{text}\n')
            path.chmod(0o755)

    def calls(self, name: str) -> list[str]:
        lines = (self.folder / "calls").read_text().splitlines()
        return [line for line in lines if line.startswith(name)]

    def transport(self, lost: int = 1, recovery_timeout: float = 120) -> CommandTransport:
        """Return a transport that loses answers of submissions."""
        runner = LocalRunner(["/usr/bin/env", f"PATH={self.folder}:/usr/bin:/bin", "/bin/sh", "-c"])
        return CommandTransport(Losing(runner, lost), recovery_timeout=recovery_timeout)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing take time: all that was started ended long ago."""
    monkeypatch.setattr(recovery, "BOUNDS", replace(recovery.BOUNDS, grace=0, end=-60.0, pauses=(0,)))
    monkeypatch.setattr(command_submit, "_PATIENCE", 60)


def job(*, repeated: bool = False, name: str = "night", **options: object) -> PreparedJob:
    spec = JobSpec("#!/bin/sh\n", **options)  # type: ignore[arg-type]  # whatever a test wants to set
    made = {"environment": [], "current_working_directory": "/w", "name": name, "comment": KEY}
    return PreparedJob({"script": spec.script, "job": made}, KEY, "alice", name, repeated=repeated, spec=spec)


def queued(job_id: int, comment: str, *, name: str = "night", at: int = RECENT, array: str = "N/A") -> str:
    """Return squeue as a shell text that prints one job."""
    base = job_id - 2 if array != "N/A" else job_id
    fields = [str(job_id), str(base), array, "0", str(at), "alice", "2001", name, comment, "PENDING"]
    return _printing(fields, "\\n", last=True)


def past(job_id: int, comment: str, *, name: str = "night", at: int = RECENT) -> str:
    """Return sacct as a shell text that prints one job."""
    fields = [str(job_id), str(job_id), str(at), "alice", "2001", name, comment, "CANCELLED by 2001"]
    return _printing(fields, "\\n", last=False)


def _printing(fields: list[str], end: str, *, last: bool) -> str:
    mark = "m=$(echo \"$*\" | grep -o '~[0-9a-f]*~' | head -n 1)\n"
    texts = [f"'{field}'" for field in fields]
    return mark + "printf '%s' " + '"$m"'.join(texts) + ('"$m"' if last else "") + f"\nprintf '{end}'"


# --- the clock ------------------------------------------------------------------------------------------------


@given(began=st.floats(0, 1e6), took=st.floats(0, 30), start=st.floats(0, 20), part=st.floats(0, 1))
def test_what_may_begin_has_its_time_and_no_more(began: float, took: float, start: float, part: float) -> None:
    # The host's clock is ahead by 1e9 s and a part of one; it was read at some time within the question.
    ahead = 1e9 + part
    for read in (began, began + took):
        clock = HostClock(int(read + ahead), began, began + took)
        now = began + took + 1000
        last, over = clock.begin_by(now, start)
        assert last + 1 >= now + start + ahead - 1e-3, "it has all its time"
        assert over + ahead >= last + 1 - 1e-3, "it is over there"
        assert over - now <= start + took + 4


# --- the program ----------------------------------------------------------------------------------------------


async def test_it_does_nothing_after_its_time(host: Host) -> None:
    transport = host.transport(lost=0)
    program = commands.submit_program(job(args=["x"]), begin_by=int(time.time()) - 1, seconds=9)
    done = await transport.caller.run(program)
    assert commands.began_too_late(done)
    with pytest.raises(FileNotFoundError):
        host.calls("sbatch")


class Gate(Losing):
    """A runner that lets submissions begin when ``open`` is set."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner, 0)
        self.open = asyncio.Event()

    async def execute(self, line: str, program: Wrapped, timeout: float) -> tuple[bytes, bytes]:
        if b"--parsable" in program.stdin:
            await self.open.wait()
        return await super().execute(line, program, timeout)


async def test_the_time_of_one_that_waits_for_its_turn_has_not_begun(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    plain = commands.submit_program

    def making(job: PreparedJob, *, begin_by: int, seconds: float) -> Program:
        made.append(begin_by)
        return plain(job, begin_by=begin_by, seconds=seconds)

    monkeypatch.setattr(commands, "submit_program", making)
    inner = host.transport(lost=0).runner
    transport = CommandTransport(gate := Gate(inner))
    await transport.target()
    tasks = [asyncio.create_task(transport.submit(job())) for _ in range(20)]
    await until_true(lambda: len(made) >= 8, "the first turns")
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(made) == 8, "as many as a runner runs at once"
    gate.open.set()
    assert [one.job_id for one in await asyncio.gather(*tasks)] == [7] * 20
    assert len(made) == 20


async def test_sbatch_is_ended_when_its_time_is_over(host: Host) -> None:
    host.has(sbatch="echo waiting >&2; exec sleep 600")
    transport = host.transport(lost=0)
    for seconds in (1, 20):
        done = await transport.caller.run(commands.submit_program(job(), begin_by=2**40, seconds=seconds))
        assert isinstance(commands.read_submission(done, "h"), Timeout)
        # A busy machine may not have begun to run it within the first.
        if "waiting" in done.stderr:
            break
    else:
        pytest.fail("what it wrote before is lost")


# --- after a lost answer --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queue", "job_id"),
    [
        (queued(50, KEY), 50),
        (queued(50, f"words {KEY}"), 50),
        (queued(50, f"{KEY} changed later"), 50),
        (queued(52, KEY, array="2"), 50),
    ],
    ids=["plain", "words", "changed", "array"],
)
async def test_a_job_is_found_by_its_key(queue: str, job_id: int, host: Host, at_once: None) -> None:
    host.has(squeue=queue)
    made = await host.transport().submit(job())
    assert (made.job_id, made.found, made.cluster) == (job_id, True, "c")
    (asked,) = host.calls("squeue")
    assert "-u" in asked
    assert len(host.calls("sbatch")) == 1


async def test_a_job_that_left_the_controller_is_found_in_accounting(host: Host, at_once: None) -> None:
    host.has(sacct=past(40, KEY))
    assert (await host.transport().submit(job())).job_id == 40
    asked = host.calls("sacct")[0]
    assert "-S now-300seconds -E now+1day" in asked
    assert "--name=night" in asked


@pytest.mark.parametrize(
    "queue",
    [
        "",
        queued(50, "other slurm-rest:" + "1" * 20),
        queued(50, "words", name="another"),
        queued(50, "words", at=OLD),
    ],
    ids=["nothing", "another key", "another name", "an old one"],
)
async def test_it_is_sent_again_under_the_same_key_when_there_is_none(queue: str, host: Host, at_once: None) -> None:
    host.has(squeue=queue)
    made = await host.transport().submit(job())
    assert (made.job_id, made.found) == (7, False)
    sent = host.calls("sbatch")
    assert len(sent) == 2
    assert all(f"--comment={KEY}" in line for line in sent)


@pytest.mark.parametrize(
    "commands_there",
    [
        {"squeue": queued(50, "words")},
        {"sacct": past(50, "")},
        {"sacct": "echo 'sacct: error: Problem talking to the database' >&2; exit 1"},
        {"squeue": "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"},
    ],
    ids=["a comment that was changed", "a comment that is not kept", "accounting away", "controller away"],
)
async def test_in_doubt_nothing_is_sent_again(commands_there: dict[str, str], host: Host, at_once: None) -> None:
    host.has(**commands_there)
    transport = host.transport(recovery_timeout=0.5)
    with pytest.raises(SubmitUncertain) as caught:
        await transport.submit(job())
    assert len(host.calls("sbatch")) == 1
    assert caught.value.key == KEY
    assert KEY in caught.value.hint


async def test_it_is_not_sent_again_before_it_has_ended_by_itself(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "BOUNDS", replace(recovery.BOUNDS, grace=0, pauses=(0,)))
    with pytest.raises(SubmitUncertain):
        await host.transport(recovery_timeout=0.5).submit(job())
    assert len(host.calls("sbatch")) == 1


async def test_three_times_is_enough(host: Host, at_once: None) -> None:
    with pytest.raises(ProtocolError):
        await host.transport(lost=9).submit(job())
    assert len(host.calls("sbatch")) == 3


async def test_what_began_too_late_is_sent_again_without_a_look(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "BOUNDS", replace(recovery.BOUNDS, start=-600.0))
    monkeypatch.setattr(command_submit, "_PATIENCE", 700)
    with pytest.raises(Timeout, match="too late"):
        await host.transport(lost=0).submit(job())
    assert [host.calls(name) for name in ("squeue", "sacct", "sbatch")] == [[], [], []]


# --- a caller's own key ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("commands_there", [{"squeue": queued(50, KEY, at=OLD)}, {"sacct": past(50, KEY, at=OLD)}])
async def test_an_earlier_job_is_returned_and_nothing_sent(commands_there: dict[str, str], host: Host) -> None:
    host.has(**commands_there)
    made = await host.transport(lost=0).submit(job(repeated=True))
    assert (made.job_id, made.found) == (50, True)
    assert host.calls("sbatch") == []
    assert all("now-604800seconds" in line for line in host.calls("sacct"))


async def test_without_accounting_an_earlier_job_cannot_be_ruled_out(host: Host) -> None:
    host.has(sacct="exit 1")
    with pytest.raises(SubmitUncertain, match="Nothing was sent"):
        await host.transport(lost=0).submit(job(repeated=True))
    assert host.calls("sbatch") == []


async def test_where_a_cluster_keeps_no_accounting_the_controllers_word_is_enough(host: Host) -> None:
    host.has(sacct="echo 'Slurm accounting storage is disabled' >&2; exit 1")
    made = await host.transport(lost=0).submit(job(repeated=True))
    assert (made.found, len(host.calls("sbatch"))) == (False, 1)
    host.has(squeue=queued(8, "changed"))
    with pytest.raises(SubmitUncertain, match="too many jobs look alike"):
        await host.transport(lost=0).submit(job(repeated=True))
    assert len(host.calls("sbatch")) == 1


async def test_jobs_of_other_keys_that_come_between_the_questions_hide_none(host: Host) -> None:
    # In squeue only from the second time on; accounting keeps no comments, and it is the user's newest of that name.
    other = queued(50, "slurm-rest:ffffffffffffffffffff")
    host.has(squeue=f"[ $(grep -c ^squeue {host.folder}/calls) -lt 2 ] && exit\n{other}", sacct=past(50, ""))
    made = await host.transport(lost=0).submit(job(repeated=True))
    assert (made.job_id, made.found) == (7, False)


async def test_a_job_of_the_key_that_comes_between_the_questions_is_found(host: Host) -> None:
    host.has(squeue=f"[ $(grep -c ^squeue {host.folder}/calls) -lt 2 ] && exit\n{queued(50, KEY)}", sacct=past(50, ""))
    made = await host.transport(lost=0).submit(job(repeated=True))
    assert (made.job_id, made.found) == (50, True)
    assert host.calls("sbatch") == []


async def test_a_twin_is_cancelled_and_the_lower_id_stays(host: Host) -> None:
    # Nobody is there at first; the look after the submission sees one that was faster.
    made = host.folder / "made"
    host.has(squeue=f"[ -e {made} ] || exit 0\n{queued(6, KEY)}", sbatch=f"touch {made}\n{SBATCH}")
    found = await host.transport(lost=0).submit(job(repeated=True))
    assert (found.job_id, found.found) == (6, True)
    assert [line.split()[-1] for line in host.calls("scancel")] == ["7"]
    assert [len(host.calls(name)) for name in ("squeue", "sacct")] == [2, 1], "it cannot have left squeue so soon"


# --- a look for others ----------------------------------------------------------------------------------------


async def test_a_key_of_another_transport_is_looked_for_once(host: Host) -> None:
    transport = host.transport(lost=0)
    host.has(squeue=queued(50, KEY))
    look = await transport.find(job(), since=RECENT)
    assert [record.id for record in look.jobs] == [50]
    host.has(squeue="")
    for final, complete in ((True, True), (False, False)):
        look = await transport.find(job(), since=RECENT, final=final)
        assert (look.jobs, look.complete) == ((), complete)
    assert len(host.calls("sacct")) == 1
    look = await transport.find(job(), since=RECENT, back=77)
    assert "now-77seconds" in host.calls("sacct")[-1]
    assert look.complete


def test_names_that_accounting_would_split_are_not_asked_by() -> None:
    assert "--name" not in key_texts.own_past_question("a,b", 5).program.text
    assert "--name" not in key_texts.own_past_question("", 5).program.text
    # It keeps 255 bytes of a name (24.11, 26.05).
    assert "--name" not in key_texts.own_past_question("n" * 256, 5).program.text
