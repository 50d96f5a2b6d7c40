"""What Slurm's commands printed on three releases, read back; and what nobody's text may do to it."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.errors import (
    AccountingDown,
    ControllerDown,
    JobNotFound,
    PermissionDenied,
    ProtocolError,
    SlurmError,
    SubmitRejected,
    Timeout,
    TransportError,
    Unreachable,
)
from slurm_rest.models import ExitCode, JobInfo, Submission
from slurm_rest.sbatch import JobSpec
from slurm_rest.states import BaseState
from slurm_rest.transport import commands, job_texts, key_texts, node_texts
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.capabilities import command_capabilities
from slurm_rest.transport.job_texts import Question
from slurm_rest.transport.recovery import carries, group_id, is_suspect
from slurm_rest.transport.shell import LINE, Ending, Finished, Program, quote, read_output, wrap

FOLDER = Path(__file__).parent.parent / "data/commands"
RELEASES = ("22.05", "24.11", "26.05")
JOB = PreparedJob({"script": "#!/bin/sh\n", "job": {}}, "slurm-rest:" + "0" * 20)
MARK, LONG = "~" + "5e" * 4 + "~", "~" + "5e" * 8 + "~"
# Anything that Slurm or a user could put into a text, but NUL.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


class Recorded:
    """The outputs of one release."""

    def __init__(self, release: str) -> None:
        self.release = release
        self._all = json.loads((FOLDER / f"{release}.json").read_text())
        self.ids: dict[str, int] = self._all["ids"]
        self.own: dict[str, int] = self._all["own_ids"]

    def __getitem__(self, name: str) -> Finished:
        found = self._all[name]
        return Finished(found["command"], found["stdout"], found["stderr"], found["status"])

    def queue(self) -> list[JobInfo]:
        question = job_texts.queue_question([1])
        return job_texts.read_queue(Question(question.program, question.fields, MARK), self["queue"], "c")

    def accounting(self) -> list[JobInfo]:
        question = job_texts.accounting_question([1], paths=command_capabilities(self.release).accounting_paths)
        return job_texts.read_accounting(Question(question.program, question.fields, MARK), self["accounting"])


@pytest.fixture(params=RELEASES)
def recorded(request: pytest.FixtureRequest) -> Recorded:
    return Recorded(request.param)


def done(stdout: str = "", stderr: str = "", status: int = 0, name: str = "sbatch") -> Finished:
    return Finished(name, stdout, stderr, status)


# --- states --------------------------------------------------------------------------------------------------


def test_states_come_under_the_ids_that_were_asked_for(recorded: Recorded) -> None:
    ids = recorded.ids
    rows = commands.read_states(recorded["states"], [ids["plain"], ids["array"], ids["het"]])
    assert {row.job_id for row in rows} == {ids["plain"], ids["array"], ids["het"]}
    tasks = {row.task_id: row.state.base for row in rows if row.job_id == ids["array"]}
    assert tasks == {1: BaseState.RUNNING, 2: BaseState.PENDING, 3: BaseState.PENDING, 4: BaseState.PENDING}
    assert sorted(row.offset or 0 for row in rows if row.job_id == ids["het"]) == [0, 1]
    assert [row.state.base for row in rows if row.job_id == ids["plain"]] == [BaseState.FAILED]


def test_a_task_is_also_found_by_its_own_id() -> None:
    rows = commands.read_states(done("5_1 9 RUNNING\n"), [9])
    assert [(row.job_id, row.task_id) for row in rows] == [(9, 1)]


def test_without_ids_every_job_comes_under_its_own() -> None:
    rows = commands.read_states(done("5_1 9 RUNNING\n7+1 8 PENDING\n"), None)
    assert [(row.job_id, row.task_id, row.offset) for row in rows] == [(9, 1, None), (8, None, 1)]


@pytest.mark.parametrize("line", ["5 5", "slurmctld is busy", "5 x RUNNING"])
def test_a_line_that_is_no_job_means_that_the_answer_cannot_be_trusted(line: str) -> None:
    with pytest.raises(ProtocolError, match="no job's"):
        commands.read_states(done(f"4 4 RUNNING\n{line}\n"), [4])


@pytest.mark.parametrize(("word", "base"), [("COMPLETING", BaseState.RUNNING), ("REQUEUE_HOLD", BaseState.PENDING)])
def test_a_flag_alone_stands_beside_a_base_state(word: str, base: BaseState) -> None:
    state = commands.state_of(word)
    assert (state.base, state.flags, state.is_terminal) == (base, frozenset([word]), False)


# --- records -------------------------------------------------------------------------------------------------


def test_the_queue_is_read_whatever_names_hold(recorded: Recorded) -> None:
    by_id = {record.id: record for record in recorded.queue()}
    plain, held = by_id[recorded.ids["plain"]], by_id[recorded.ids["line"]]
    assert plain.name == "a|b;c^^^d,e=f"
    assert (plain.comment, plain.submission_key) == ("two words", "slurm-rest:00112233445566778899")
    assert (plain.user, plain.uid, plain.partition, plain.reason) == ("alice", 2001, "normal", "NonZeroExitCode")
    assert plain.submit_time is not None
    assert plain.submit_time.year == 2026
    assert (held.name, held.time_limit) == ("two\nlines\n   StdOut=/x", timedelta(minutes=90))
    labels = {record.label for record in by_id.values()}
    array, het = recorded.ids["array"], recorded.ids["het"]
    assert {f"{array}_1", f"{array}_[2-4%1]", f"{het}+0", f"{het}+1"} <= labels


def test_details_are_not_taken_from_names(recorded: Recorded) -> None:
    question = Question(Program("scontrol", ""), (), LONG)
    found = job_texts.read_details(question, recorded["details"], recorded.queue())
    by_id = {record.id: record for record in found}
    plain, held = by_id[recorded.ids["plain"]], by_id[recorded.ids["line"]]
    assert plain.exit_code == ExitCode(3, 0)
    assert plain.derived_exit_code == ExitCode(7, 0)
    assert plain.stdout == f"/home/alice/slurm-{plain.id}.out"
    assert held.stdout == f"/home/alice/slurm-{held.id}.out"
    assert all(record.exit_code == ExitCode() for record in found if record.name.startswith("n|b"))


def test_a_name_that_looks_like_a_record_is_only_a_name() -> None:
    name = "x ExitCode=9:9\nJobId=6 JobName=y ExitCode=8:8\n   StdOut=/no"
    record = JobInfo(id=5, name=name, state=commands.state_of("FAILED"))
    text = f"JobId=5 JobName={name}\n   Requeue=1 Restarts=0 ExitCode=3:0\n   StdOut=/yes\n\n\n{LONG}\n"
    (found,) = job_texts.read_details(Question(Program("scontrol", ""), (), LONG), done(text), [record])
    assert (found.exit_code, found.stdout) == (ExitCode(3, 0), "/yes")


@pytest.mark.parametrize("end", ["\n   \n\n", "\n   Power=\n   \n\n", "\n   TresPerNode=gres/gpu:1\n   \n\n", "\n"])
def test_paths_keep_their_blanks_and_lines(end: str) -> None:
    record = JobInfo(id=5, name="n", state=commands.state_of("FAILED"))
    paths = "   WorkDir=/tmp\n   StdErr=/tmp/c  \n   StdIn=/tmp/d \n   StdOut=/tmp/a\nb  "
    text = f"JobId=5 JobName=n\n   SubmitLine=sbatch -o a\n   StdOut=/no x\n{paths}{end}\n{LONG}\n"
    (found,) = job_texts.read_details(Question(Program("scontrol", ""), (), LONG), done(text), [record])
    assert (found.stdout, found.stderr, found.stdin) == ("/tmp/a\nb  ", "/tmp/c  ", "/tmp/d ")


def test_an_answer_that_cannot_be_read_says_what_to_do() -> None:
    question = job_texts.queue_question([1])
    with pytest.raises(ProtocolError) as caught:
        job_texts.read_queue(Question(question.program, question.fields, MARK), done("welcome to login1"), "c")
    assert "by hand" in caught.value.hint


def test_accounting_is_read_whatever_names_hold(recorded: Recorded) -> None:
    found = recorded.accounting()
    plain = next(record for record in found if record.id == recorded.ids["plain"])
    assert (plain.name, plain.state.base, plain.exit_code) == ("a|b;c^^^d,e=f", BaseState.FAILED, ExitCode(3, 0))
    # slurmdbd of 22.05 learns of the steps' exit code later than of the job's end.
    derived = 0 if recorded.release == "22.05" else 7
    assert (plain.source, plain.derived_exit_code) == ("accounting", ExitCode(derived, 0))
    assert plain.reason == "NonZeroExitCode"
    held = next(record for record in found if record.id == recorded.ids["line"])
    assert held.name == "two\nlines\n   StdOut=/x"
    assert {record.array_job_id for record in found if record.name.startswith("n|b")} == {recorded.ids["array"]}
    assert {record.het_job_offset for record in found if record.het_job_id == recorded.ids["het"]} == {0, 1}


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_half_an_answer_is_no_answer(recorded: Recorded, cut: int) -> None:
    question = job_texts.queue_question([1])
    whole = recorded["queue"]
    torn = Finished(whole.name, whole.stdout.rstrip("\n")[: -cut - len(MARK)], "", 0)
    with pytest.raises(ProtocolError):
        job_texts.read_queue(Question(question.program, question.fields, MARK), torn, "c")


def test_a_users_own_jobs_are_read_with_their_keys(recorded: Recorded) -> None:
    queue, past = key_texts.own_queue_question(), key_texts.own_past_question("", 60)
    live = key_texts.read_own_queue(Question(queue.program, queue.fields, MARK), recorded["own_queue"])
    gone = key_texts.read_own_past(Question(past.program, past.fields, MARK), recorded["own_past"])
    ids, key = recorded.own, "slurm-rest:00112233445566778899"
    keyed = {ids["keyed"], ids["array"], ids["het"], ids["cancelled"]}
    assert {group_id(record) for record in live if carries(record, key, "alice")} == keyed
    assert {group_id(record) for record in gone if carries(record, key, "alice")} == {ids["keyed"], ids["cancelled"]}
    assert {(record.user, record.uid) for record in live + gone} == {("alice", 2001)}
    names = {record.id: record.name for record in live}
    assert (names[ids["keyed"]], names[ids["cancelled"]]) == ("a|b;c^^^d", "two\nlines")
    assert {record.state.is_terminal for record in live if record.id == ids["cancelled"]} == {True}
    # Accounting keeps a comment when the job is over: until then such a job could be any.
    running = [record for record in gone if record.array_job_id]
    assert [is_suspect(record, "arr", "alice", 0) for record in running] == [True]


def test_nodes_are_read_whatever_reasons_hold(recorded: Recorded) -> None:
    question = node_texts.nodes_question()
    found = node_texts.read_nodes(Question(question.program, question.fields, MARK), recorded["nodes"])
    one, two = found
    assert (one.name, one.state, one.partitions, one.reason) == ("n1", ("IDLE",), ("normal", "debug"), "")
    assert (two.state, two.cpus, two.memory, two.features) == (("IDLE", "DRAIN"), 8, 16384, ("amd", "avx2"))
    assert two.reason.startswith("disk | full, a=b")


def test_partitions_are_read(recorded: Recorded) -> None:
    normal, debug = node_texts.read_partitions(recorded["partitions"])
    assert (normal.name, normal.is_default, normal.max_time, normal.max_nodes) == ("normal", True, timedelta(7), None)
    assert (debug.is_default, debug.max_time, debug.max_nodes, debug.nodes) == (
        False,
        timedelta(minutes=30),
        1,
        "n[1-2]",
    )


# --- sbatch --------------------------------------------------------------------------------------------------


def taken(said: Finished) -> Submission:
    found = commands.read_submission(said, "h")
    assert isinstance(found, Submission)
    return found


@pytest.mark.parametrize(
    ("stdout", "job_id", "cluster"),
    [
        ("12\n", 12, ""),
        ("12;east\n", 12, "east"),
        ("Welcome to host 3\n\nestimate: 2 SUs\n127652\n", 127652, ""),
    ],
)
def test_the_id_is_the_last_line(stdout: str, job_id: int, cluster: str) -> None:
    found = taken(done(stdout, "sbatch: held by policy\n"))
    assert (found.job_id, found.cluster, found.warnings) == (job_id, cluster, ("held by policy",))


def test_the_cluster_is_understood_on_every_release(recorded: Recorded) -> None:
    found = taken(recorded["taken"])
    assert found.job_id > 0
    assert found.cluster.startswith("s2")


def test_a_refusal_keeps_slurms_words(recorded: Recorded) -> None:
    with pytest.raises(SubmitRejected, match="Invalid partition name specified") as caught:
        commands.read_submission(recorded["refused"], "h")
    assert (caught.value.context.command, caught.value.context.exit_status) == ("sbatch", 1)
    assert caught.value.hint == "List partitions with: slurm-rest partitions"


def test_a_refusal_for_any_reason_says_what_to_do() -> None:
    with pytest.raises(SubmitRejected) as caught:
        commands.read_submission(done("", "sbatch: error: the site wants a project code", 1), "h")
    assert caught.value.hint == "Change what is wrong, and submit it again."


@pytest.mark.parametrize(
    ("stdout", "stderr", "status", "kind"),
    [
        ("", "", 0, ProtocolError),
        ("Submitted batch job 127652 estimates 2 SUs\n", "", 0, ProtocolError),
        ("0\n", "", 0, ProtocolError),
        ("", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", 1, ControllerDown),
        ("", "", 137, ProtocolError),
        # A wrapper that prints numbers of its own, before or behind the job's.
        ("127652;east\n12345\n", "", 0, ProtocolError),
        ("12345\n127652\n", "", 0, ProtocolError),
        # A wrapper that failed behind sbatch.
        ("127652\n", "charge: no project\n", 1, ProtocolError),
        ("127652;east\nsbatch: Account charged: x\n", "", 2, ProtocolError),
        ("", "sbatch: error: Munge decode failed: Expired credential", 1, Unreachable),
        ("", "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying", 124, Timeout),
    ],
)
def test_no_clear_answer_leaves_the_submission_open(
    stdout: str, stderr: str, status: int, kind: type[SlurmError]
) -> None:
    said = done(stdout, stderr, status)
    found = commands.read_submission(said, "h")
    assert type(found) is kind
    assert found.hint
    assert not commands.began_too_late(said)


def test_a_dead_controller_has_taken_nothing() -> None:
    said = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)"
    with pytest.raises(ControllerDown):
        commands.read_submission(done("", said, 1), "h")


@pytest.mark.parametrize(
    "said",
    [
        'Munge encode failed: Failed to access "/run/munge/munge.socket.2" (Did you start munged?)',
        "Batch job submission failed: Protocol authentication error",
    ],
)
def test_what_munge_did_not_vouch_for_was_not_submitted(said: str) -> None:
    with pytest.raises(Unreachable, match="cannot prove to Slurm who runs it"):
        commands.read_submission(done("", f"sbatch: error: {said}", 1), "h")


def test_no_room_is_told_apart_from_a_refusal() -> None:
    with pytest.raises(TransportError, match="no room") as caught:
        commands.read_submission(done("", "mktemp: No space left on device", 98), "h")
    assert not isinstance(caught.value, SubmitRejected)


def test_what_came_too_late_did_nothing() -> None:
    said = done("", "", 97)
    assert isinstance(commands.read_submission(said, "h"), Timeout)
    assert commands.began_too_late(said)


def prepared(spec: JobSpec, environment: list[str]) -> PreparedJob:
    job = {"environment": environment, "current_working_directory": "/w", "name": "n", "comment": "c"}
    return PreparedJob({"script": spec.script, "job": job}, JOB.key, spec=spec)


def program_of(job: PreparedJob, *, begin_by: int = 2**31, seconds: float = 60) -> Program:
    return commands.submit_program(job, begin_by=begin_by, seconds=seconds)


@pytest.mark.parametrize("said", ["RaisedSignal", "RaisedSignal:9(Killed)", "RaisedSignal:53(Real-time signal 19)"])
def test_a_reason_is_the_word_that_slurmrestd_says(said: str) -> None:
    question = job_texts.queue_question([1])
    told = {"JobID": "1", "Reason": said, "State": "FAILED"}
    line = "".join(f"{told.get(name, 'N/A')}{question.separator}" for name in question.fields) + "\n"
    (record,) = job_texts.read_queue(question, done(line, ""), "c")
    assert record.reason == "RaisedSignal"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"begin": "16:00", "deadline": "tomorrow"}, ["--begin=uts1800000000", "--deadline=uts1800086400"]),
        ({"begin": "now+1hour"}, ["--begin=now+1hour"]),
        ({"begin": "now+1hour noon"}, ["--begin=uts1800000000"]),
        ({"begin": 1800000000}, ["--begin=uts1800000000"]),
        ({}, []),
    ],
)
def test_times_are_the_submitters_and_not_the_hosts(given: dict[str, str], said: list[str]) -> None:
    job = prepared(JobSpec("#!/bin/sh\n", **given), [])  # type: ignore[arg-type]  # options of several kinds
    told = {"begin_time": {"set": True, "infinite": False, "number": 1800000000}, "deadline": 1800086400}
    names = {"begin": "begin_time", "deadline": "deadline"}
    job.body["job"] |= {names[name]: told[names[name]] for name in given}  # type: ignore[operator]  # a dict, see above
    words = shlex.split(program_of(job).text.partition("sbatch")[2].partition("--export")[0])
    assert [word for word in words if word.startswith(("--begin", "--deadline"))] == said


@given(environment=st.lists(TEXT, max_size=3), script=TEXT, args=st.lists(TEXT, max_size=2), comment=TEXT)
@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_everything_reaches_sbatch_as_it_is(
    shell: str, environment: list[str], script: str, args: list[str], comment: str
) -> None:
    spec = JobSpec("#!/bin/sh\n" + script, args=args)
    job = prepared(spec, environment)
    job.body["job"]["comment"] = comment[:200]  # type: ignore[index]  # a dict, as made above
    fake = (
        'timeout() { shift 3; "$@"; }\n'
        "sbatch() { for w; do case $w in --comment=*) printf '%s\\0' \"${w#*=}\";; esac; last=$w; done\n"
        "cat <&3; printf '|\\0'; case $last in */slurm-rest.*) ;; esac\n"
        'for w; do case $w in */slurm-rest.????????) cat "$w"; printf "\\0"; seen=1; continue;; esac\n'
        '[ -z "$seen" ] || printf "%s\\0" "$w"; done; [ -n "$seen" ] || { cat; printf "\\0"; }; }\n'
    )
    program = Program("sbatch", fake + program_of(job).text)
    wrapped = wrap(program)
    ran = subprocess.run([shell, "-c", 'eval "$(cat)"'], input=wrapped.stdin, capture_output=True, check=False)
    found = read_output(program, wrapped, ran.stdout, ran.stderr, "here").stdout
    expected = [comment[:200], *environment, "SLURM_JOB_NAME=n", "|", "#!/bin/sh\n" + script, *args]
    assert found == "".join(f"{one}\0" for one in expected)


# --- scancel, scontrol, failures -----------------------------------------------------------------------------


def test_each_id_gets_its_own_truth(recorded: Recorded) -> None:
    ids = recorded.ids
    labels = [str(ids["plain"]), str(ids["theirs"]), "99999", str(ids["line"])]
    found = commands.read_cancelled(recorded["cancel"], labels, "h")
    assert [one.outcome for one in found] == ["already_over", "denied", "not_found", "signalled"]


def test_a_failure_about_no_id_is_a_failure_to_ask() -> None:
    said = "scancel: error: Unable to contact slurm controller (connect failure)"
    with pytest.raises(ControllerDown):
        commands.read_cancelled(done("", said, 1, "scancel"), ["1"], "h")


def test_ping_names_each_controller_once(recorded: Recorded) -> None:
    (ping,) = commands.read_ping(recorded["ping"], "h")
    assert (ping.hostname, ping.responding, ping.primary) == ("login", True, True)
    assert ping.slurm.startswith(recorded.release)
    assert ping.cluster.startswith("s2")


def test_a_controller_that_is_down_is_named() -> None:
    text = "Slurmctld(primary) at a is DOWN\nslurm-wlm 24.11.5\n"
    with pytest.raises(ControllerDown):
        commands.read_ping(done(text, "", 0, "scontrol"), "h")


@pytest.mark.parametrize(
    ("name", "said", "kind"),
    [
        ("squeue", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", ControllerDown),
        ("squeue", "squeue: error: Access/permission denied", PermissionDenied),
        ("squeue", "slurm_load_jobs error: Protocol authentication error", Unreachable),
        ("sacct", 'sacct: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2"', Unreachable),
        ("squeue", "", ProtocolError),
    ],
)
def test_failures_say_which(name: str, said: str, kind: type[SlurmError]) -> None:
    assert type(commands.failure(done("", said, 1, name), "h")) is kind


def test_a_database_that_is_away_is_accountings_failure(recorded: Recorded) -> None:
    error = commands.failure(recorded["no_accounting"], "h")
    assert isinstance(error, AccountingDown)
    assert not isinstance(error, JobNotFound)


# --- nobody's text breaks a parser -----------------------------------------------------------------------------


@given(stdout=TEXT, stderr=TEXT, status=st.integers(0, 255))
def test_parsers_raise_nothing_but_our_errors(stdout: str, stderr: str, status: int) -> None:
    said = done(stdout, stderr, status)
    queue, sacct = job_texts.queue_question([1]), job_texts.accounting_question([1], paths=True)
    own, past = key_texts.own_queue_question(), key_texts.own_past_question("n", 60)
    rows = [*stdout.split(), *["x"] * 40]
    filled = [
        done(queue.separator.join(rows[: len(queue.fields)]) + queue.separator + "\n"),
        done(sacct.separator.join(rows[: len(sacct.fields)]) + "\n"),
    ]
    for read in (
        lambda: commands.read_states(said, [1]),
        lambda: commands.read_submission(said, "h"),
        lambda: commands.read_cancelled(said, ["1", "2_3"], "h"),
        lambda: commands.read_ping(said, "h"),
        lambda: job_texts.read_queue(queue, said, ""),
        lambda: job_texts.read_queue(queue, filled[0], ""),
        lambda: job_texts.read_accounting(sacct, said),
        lambda: job_texts.read_accounting(sacct, filled[1]),
        lambda: node_texts.read_nodes(node_texts.nodes_question(), said),
        lambda: node_texts.read_partitions(said),
        lambda: key_texts.read_own_queue(own, said),
        lambda: key_texts.read_own_queue(own, done(own.separator.join(rows[:10]) + own.separator + "\n")),
        lambda: key_texts.read_own_past(past, said),
        lambda: key_texts.read_own_past(past, done(past.separator.join(rows[:8]) + "\n")),
    ):
        with contextlib.suppress(SlurmError):
            read()


# --- the shell -----------------------------------------------------------------------------------------------


def run(program: Program, *, before: str = "", env: dict[str, str] | None = None, cut: int | None = None) -> Finished:
    wrapped = wrap(program)
    line = f"{before}{LINE}"
    stdin = wrapped.stdin[:cut]
    ran = subprocess.run(["/bin/sh", "-c", line], input=stdin, capture_output=True, check=False, env=env)
    return read_output(program, wrapped, ran.stdout, ran.stderr, "here")


@given(st.lists(TEXT, min_size=1))
def test_quoting_survives_a_real_shell(words: list[str]) -> None:
    assert run(Program("x", f"printf '%s\\0' {quote(words)}")).stdout == "".join(f"{word}\0" for word in words)


def test_bytes_that_are_no_text_come_back() -> None:
    odd = "\udcff\udc81\x01\x7f"
    assert run(Program("x", f"printf %s {quote([odd])}")).stdout == odd


def test_banners_are_no_output() -> None:
    found = run(Program("x", "echo out; echo err >&2; exit 3"), before="echo Welcome 42; echo hm >&2; ")
    assert (found.stdout, found.stderr, found.status) == ("out\n", "err\n", 3)


def test_a_logins_own_defaults_do_not_reach_slurm() -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "SBATCH_PARTITION": "long",
        "SQUEUE_FORMAT": "%j",
        "SLURM_CLUSTERS": "b",
        "SLURM_CONF": "/c",
        "LC_ALL": "fr_FR",
        "OTHER": "1\nSLURM_X=2",
    }
    found = run(Program("x", "env"), env=env).stdout.splitlines()
    names = {line.partition("=")[0] for line in found if line.startswith(("SBATCH", "SQUEUE", "SLURM", "LC_"))}
    assert names - {"SLURM_X"} == {"SLURM_CONF", "SLURM_TIME_FORMAT", "LC_ALL"}
    assert "LC_ALL=C" in found


def test_half_a_program_does_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    program = Program("x", f"touch {quote([str(made)])}\ntrue")
    for cut in range(0, len(wrap(program).stdin) - 2, 7):
        with pytest.raises(ProtocolError):
            run(program, cut=cut)
    assert not made.exists()
    run(program)
    assert made.exists()


@given(st.binary(max_size=60), st.binary(max_size=60), st.integers(1, 40), st.booleans())
def test_the_end_is_seen_when_all_of_it_is_there_and_not_before(
    before: bytes, said: bytes, step: int, on_stderr: bool
) -> None:
    wrapped = wrap(Program("squeue", ""))
    mark = wrapped.mark.encode()
    begin, end = (mark, mark) if on_stderr else (mark + b" 1800000000", mark + b" 127")
    whole = before + begin + b"\n" + said + b"\n" + end + b"\n"
    ending, output = Ending(wrapped.mark), bytearray()
    for start in range(0, len(whole), step):
        output += whole[start : start + step]
        assert ending.has_come(output) == (len(output) >= len(whole))


def test_what_comes_behind_the_end_does_not_hide_it() -> None:
    assert Ending("m").has_come(bytearray(b"m 17\nhello\n\nm 0\nand from the background\n"))


def test_output_without_an_end_is_a_failure_to_ask() -> None:
    program = Program("squeue", "")
    wrapped = wrap(program)
    with pytest.raises(ProtocolError, match="broke off"):
        read_output(program, wrapped, f"{wrapped.mark} 17\n1 1 RUNNING\n".encode(), b"", "h")
    half = f"{wrapped.mark} 17\n1 1 RUNNING\n\n{wrapped.mark} 12".encode()
    with pytest.raises(ProtocolError, match="broke off"):
        read_output(program, wrapped, half, b"", "h")
    assert read_output(program, wrapped, half + b"7\n", b"", "h") == Finished("squeue", "1 1 RUNNING\n", "", 127, 17)
    with pytest.raises(ProtocolError, match="did not start: This account is not available"):
        read_output(program, wrapped, b"This account is not available", b"", "h")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3:0\n", ExitCode(3, 0)),
        ("0:9", ExitCode(0, 9)),
        ("", ExitCode()),
        ("3", ExitCode()),
        (":", ExitCode()),
        ("3:", ExitCode()),
        (":9", ExitCode()),
        ("x:0", ExitCode()),
        ("0:x", ExitCode()),
    ],
)
def test_an_exit_code_is_read_whole_or_not_at_all(text: str, found: ExitCode) -> None:
    assert job_texts._exit(text) == found


def test_a_job_keeps_the_name_that_its_environment_has() -> None:
    assert commands._with_name(["A=1"], "x") == ["A=1", "SLURM_JOB_NAME=x"]
    assert commands._with_name(["SLURM_JOB_NAME=own", "A=1"], "x") == ["SLURM_JOB_NAME=own", "A=1"]
    assert commands._with_name(["MY_SLURM_JOB_NAME=own"], "x") == ["MY_SLURM_JOB_NAME=own", "SLURM_JOB_NAME=x"]
    assert commands._with_name(["A=1"], None) == ["A=1"]
    assert commands._with_name(["A=1"], "") == ["A=1"]
