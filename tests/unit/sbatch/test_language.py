"""Scripts, words and sources: what is read, in which order, and what is refused with which words."""

from __future__ import annotations

import contextlib
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slurm_rest import SpecError
from slurm_rest.sbatch import JobSpec, Script, Setting, read_job, read_script, submit_body
from slurm_rest.sbatch.lexer import quote_word, read_directives, split_words
from slurm_rest.sbatch.option import NONE, Option
from slurm_rest.sbatch.options import OPTIONS, ROW_OF
from slurm_rest.sbatch.reader import options_of, split_command_line
from slurm_rest.sbatch.script import check_script

HEAD = "#!/bin/bash\n"
VARIABLES = ["SBATCH_REQ_SWITCH", "SBATCH_WAIT4SWITCH", *(name for row in OPTIONS for name in row.variables)]


def read(script: str, words: list[str] | None = None, release: str = "24.11", **environ: str) -> JobSpec:
    given_, _ = split_command_line(words or [], options_of(release))
    return read_job(Script(HEAD + script, "job.sh"), given=given_, environ=environ, release=release).spec


@given(st.text(max_size=200))
@example("\ud800")
@example("#SBATCH 'a")
def test_no_text_raises_anything_but_its_own_error(text: str) -> None:
    for directive in (text, f"#SBATCH {text}\n", f"#SBATCH --comment={text}\n#PBS {text}\n"):
        with contextlib.suppress(SpecError):
            read_job(Script(f"{HEAD}{directive}", "x"), environ={}, release="26.05")


@given(st.lists(st.text(max_size=20), max_size=6))
def test_no_words_raise_anything_but_their_own_error(words: list[str]) -> None:
    for line in (words, [f"--time={word}" for word in words], [f"-n{word}" for word in words]):
        with contextlib.suppress(SpecError):
            JobSpec.from_script(f"{HEAD}true\n", words=line)


@pytest.mark.parametrize("row", [row for row in OPTIONS if row.takes is not NONE], ids=lambda row: row.long)
def test_huge_numbers_have_errors_of_their_own(row: Option) -> None:
    # Python shows and reads no number of more than 4300 digits.
    text = "1" + "0" * 4400
    texts = (text, f"-{text}", f"{text}-{text}", f"n[{text}]", f"gpu:{text}", f"cpu={text}", f"{text}@{text}")
    for value in (10**4400, -(10**4400), 2**64 + 1, *texts):
        with contextlib.suppress(SpecError):
            spec = JobSpec(f"{HEAD}true\n", **{row.name: value})  # type: ignore[arg-type]
            spec.to_argv()
            submit_body(spec, Setting("/tmp", version="v0.0.45", release="26.05"))


@given(st.binary(max_size=200))
@example(b"#SBATCH --time=\xff\xfe\n")
def test_no_bytes_raise_anything_but_their_own_error(raw: bytes) -> None:
    for text in (raw, b"#SBATCH " + raw, b"#SBATCH --hint=" + raw, b"#BSUB " + raw, b"#PBS -l " + raw):
        script = f"{HEAD}{text.decode('utf-8', 'surrogateescape')}\n"
        with contextlib.suppress(SpecError):
            submit_body(read_job(Script(script, "x"), environ={}, release="24.11").spec, Setting("/tmp"))


@given(st.dictionaries(st.sampled_from(VARIABLES), st.text(max_size=9)))
def test_no_variable_raises_anything_but_its_own_error(environ: dict[str, str]) -> None:
    with contextlib.suppress(SpecError):
        read_job(Script(f"{HEAD}true\n", "x"), environ=environ, release="24.11")


WORDS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(WORDS.filter(lambda text: not text.endswith("\r")))
@example('{"a":{"b":"90 min"}}')
def test_a_quoted_word_comes_back(text: str) -> None:
    assert [word.text for word in split_words(f" --comment={quote_word(text)}")] == [f"--comment={text}"]


@given(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_a_comment_is_kept_exactly(text: str) -> None:
    spec = JobSpec(f"{HEAD}true\n", name="x", comment=text)
    assert JobSpec.from_script(spec.to_script()).comment == text
    with pytest.raises(SpecError, match="line break"):
        JobSpec(f"{HEAD}true\n", comment=f"{text}\n").to_script()


def test_directives_end_at_the_first_command() -> None:
    spec = read("\n# a remark\n#SBATCH -n 3\n  # another\n#SBATCH\t-c 2 # more\necho\n#SBATCH -N 2\n")
    assert (spec.ntasks, spec.cpus_per_task, spec.nodes) == (3, 2, None)


@pytest.mark.parametrize("line", [" #SBATCH -n 3", "##SBATCH -n 3", "# SBATCH -n 3", "#sbatch -n 3"])
def test_switched_off_directives(line: str) -> None:
    assert read(f"{line}\ntrue\n").ntasks is None


def test_a_value_may_stand_on_the_next_line() -> None:
    spec = read("#SBATCH --time\n#SBATCH 10 -HOn2\ntrue\n")
    assert (spec.ntasks, spec.hold, spec.overcommit) == (2, True, True)


def test_an_empty_word_ends_the_line() -> None:
    assert read('#SBATCH "" -n 3\ntrue\n').ntasks is None
    assert read('#SBATCH --comment="" -n 3\ntrue\n').ntasks == 3


def test_files_stay_in_the_directory_of_the_component_that_named_them() -> None:
    first, second = "#SBATCH -D /a -o o -e none\n#SBATCH hetjob\n", "#SBATCH -D /b\ntrue\n"
    (carried,) = read(first + second).components
    assert (carried.output, carried.error) == ("/a/o", "none")
    (same,) = read(f"{first}true\n").components
    assert same.output == "o"
    (own,) = read(f"{first}#SBATCH -o p\n{second}").components
    assert own.output == "p"
    with pytest.raises(SpecError, match="Component 1 has another --chdir, but --output=o stays"):
        read(f"#SBATCH -o o\n#SBATCH hetjob\n{second}")


def test_hetjob_begins_a_component_only_as_the_first_word() -> None:
    assert len(read_directives(f"{HEAD}#SBATCH -n1\n#SBATCH HetJob -n 9\n#SBATCH -n2\n")) == 2
    assert len(read_directives(f"{HEAD}#SBATCH -J my-hetjob --output=hetjob/x\n")) == 1
    # Behind other words it ends the line.
    assert read("#SBATCH -n 2 hetjob -c 4\ntrue\n").cpus_per_task is None


def test_components_keep_what_sbatch_keeps() -> None:
    spec = read("#SBATCH -n 1 --mem=200 -J hj -p debug\n#SBATCH hetjob\n#SBATCH -n 2 -c 2\ntrue\n")
    (second,) = spec.components
    assert (second.mem, second.name, second.partition, second.ntasks) == (200, "hj", None, 2)


def test_components_on_the_command_line() -> None:
    spec = read("#SBATCH -t 5\ntrue\n", ["-n1", ":", "-n2", ":", "-c3"])
    assert [part.ntasks for part in (spec, *spec.components)] == [1, 2, None]
    assert [part.time for part in spec.components] == [spec.time, spec.time]


def test_the_first_component_takes_what_is_kept_from_the_whole_command_line() -> None:
    spec = read("true\n", ["-n1", ":", "--hold", "-t", "6", "-c", "2", ":", "-t", "7"])
    assert (spec.hold, spec.cpus_per_task) == (True, None)
    times = [ROW_OF["time"].show(part.time) for part in (spec, *spec.components)]
    assert times == ["0-00:07:00", "0-00:06:00", "0-00:07:00"]
    assert read("#SBATCH --mem-per-cpu=5\ntrue\n", ["-n1", ":", "--mem=20"]).mem is None
    with pytest.raises(SpecError, match="exclude each other"):
        read("true\n", ["-n1", ":", "--mem=20"], SBATCH_MEM_PER_CPU="5")
    assert read("#PBS -N pbs\ntrue\n", ["-n1", ":", "--ignore-pbs"]).name == "job.sh"


@pytest.mark.parametrize(
    "word", ["-n\u00a02", "--mem=1\u212a", "--time=\u0665", "--nodes=\u00a02", "--nodelist=n[\u0661]"]
)
def test_only_ascii_blanks_and_digits_count(word: str) -> None:
    with pytest.raises(SpecError):
        read("true\n", [word])


@pytest.mark.parametrize("line", ["\u00a0", "\x1c", "\u2003#"])
def test_only_ascii_blanks_make_a_line_blank(line: str) -> None:
    assert read(f"{line}\n#SBATCH -n 3\ntrue\n").ntasks is None


def test_a_file_of_variables_takes_those_of_sbatch_from_later_components() -> None:
    spec = read("#SBATCH --export-file=x\n#SBATCH hetjob\ntrue\n", SBATCH_PARTITION="debug")
    assert [part.partition for part in (spec, *spec.components)] == ["debug", None]


def test_later_sources_win() -> None:
    assert read("#SBATCH -J script\ntrue\n", SBATCH_JOB_NAME="variable").name == "variable"
    assert read("#SBATCH -J script\ntrue\n", ["-J", "argv"], SBATCH_JOB_NAME="variable").name == "argv"
    assert read("true\n", SBATCH_OVERCOMMIT="yes").overcommit is True
    assert read("#SBATCH -O\ntrue\n", SBATCH_OVERCOMMIT="no").overcommit is None


@pytest.mark.parametrize(
    ("words", "environ", "taken"),
    [
        (["-v", "-Q"], {}, False),
        (["-Q", ":", "--verbose"], {}, False),
        (["-Q"], {"SBATCH_DEBUG": " 2"}, False),
        (["-Q"], {"SBATCH_DEBUG": "0"}, True),
        (["-v"], {"SBATCH_DEBUG": "1"}, True),
    ],
)
def test_a_command_line_is_verbose_or_quiet(words: list[str], environ: dict[str, str], taken: bool) -> None:
    with contextlib.nullcontext() if taken else pytest.raises(SpecError, match="--verbose and --quiet exclude"):
        assert read("#SBATCH -Q -v -t 5\n", words, "24.11", **environ).time == timedelta(minutes=5)


@pytest.mark.parametrize("value", ["", "x", "1"])
def test_sbatch_does_not_run_with_the_variable_of_an_option_that_is_gone(value: str) -> None:
    for release in ("24.11", "26.05"):
        with pytest.raises(SpecError, match="SBATCH_POWER is set") as caught:
            read("true\n", release=release, SBATCH_POWER=value)
        assert caught.value.hint == "Unset SBATCH_POWER."


@pytest.mark.parametrize(
    ("value", "taken"),
    [("1", True), ("x", True), ("", True), (" +3", True), ("-0", True), ("2147483646", True), ("99999999999x", True),
     ("-1", False), ("2147483647", False), ("99999999999", False), ("9" * 5000, False)],
)  # fmt: skip
def test_sbatch_looks_at_the_number_in_its_debug_variable(value: str, taken: bool) -> None:
    with contextlib.nullcontext() if taken else pytest.raises(SpecError, match=r"SBATCH_DEBUG=.*a whole number"):
        assert read("true\n", SBATCH_DEBUG=value, SBATCH_TIMELIMIT="5").time == timedelta(minutes=5)


def test_memory_of_two_sources() -> None:
    spec = read("#SBATCH --mem=1G\ntrue\n", SBATCH_MEM_PER_CPU="2G")
    assert (spec.mem, spec.mem_per_cpu) == (1024, None)
    both = {"SBATCH_MEM_PER_CPU": "2G", "SBATCH_MEM_PER_NODE": "1G"}
    for script, words, environ in (("#SBATCH --mem=1G\n", ["--mem-per-cpu=1G"], {}), ("true\n", [], both)):
        with pytest.raises(SpecError, match="exclude each other") as caught:
            read(script, words, "24.11", **environ)
        assert caught.value.kind == "conflict"


def test_tasks_of_gpus_and_a_variable_for_each_task() -> None:
    script = "#SBATCH --ntasks-per-gpu=3 -G 1\ntrue\n"
    assert read(script, release="26.05", SBATCH_TRES_PER_TASK="cpu:2").tres_per_task == "cpu:2"
    for release, value in (("24.11", "cpu:2"), ("26.05", "gres/gpu:1")):
        with pytest.raises(SpecError, match="exclude each other"):
            read(script, release=release, SBATCH_TRES_PER_TASK=value)


def test_a_hint_of_a_variable_leaves_counts_on_24_11() -> None:
    spec = read("#SBATCH --sockets-per-node=2\ntrue\n", SBATCH_HINT="nomultithread")
    body = submit_body(spec, Setting("/tmp"))["job"]
    assert isinstance(body, dict)
    assert (body["sockets_per_node"], body["threads_per_core"]) == (2, 1)
    assert "SLURM_HINT=nomultithread" in body["environment"]
    given_ = submit_body(read("#SBATCH --sockets-per-node=2 --hint=nomultithread\ntrue\n"), Setting("/tmp"))["job"]
    assert "sockets_per_node" not in given_  # type: ignore[operator]


def test_mail_types_add_up_on_24_11_only() -> None:
    script = "#SBATCH --mail-type=BEGIN\n#SBATCH --mail-type=END\ntrue\n"
    assert read(script).mail_type == ("BEGIN", "END")
    assert read(script, release="26.05").mail_type == ("END",)


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        ("#SBATCH --ntask-per-node=2\n", "usage", "--ntasks-per-node"),
        ("#SBATCH --ti=4\n", "usage", "ambiguous"),
        ("#SBATCH -y\n", "usage", "no option -y"),
        ("#SBATCH -n\n", "usage", "needs a value"),
        ("#SBATCH --hold=yes\n", "usage", "takes no value"),
        ("#SBATCH -J 'a\n", "directive", "unmatched '"),
        ("#SBATCH -n 3 foo\n", "directive", "foo"),
        ("#SBATCH -n 3 : -n 2\n", "directive", "colon"),
        ("#SBATCH -n 0\n", "value", "--ntasks"),
        ("#SBATCH --exclusive -s\n", "conflict", "--oversubscribe"),
        ("#SBATCH --mem=1G --mem-per-cpu=1G\n", "conflict", "--mem-per-cpu"),
        ("#PBS -X\n", "usage", "-X"),
    ],
)
def test_refusals_name_the_word_and_its_line(script: str, kind: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        read(f"\n{script}true\n")
    assert caught.value.kind == kind
    assert "Line 3" in str(caught.value) or kind == "conflict"


def test_what_counts_on_the_command_line_only_is_ignored_in_a_script() -> None:
    assert read("#SBATCH --wrap=foo --help --version -v -Q --usage -n 2\ntrue\n").ntasks == 2


def test_waiting_is_kept_for_the_command() -> None:
    assert read("#SBATCH --wait --test-only\ntrue\n").options() == {"name": "job.sh", "wait": True, "test_only": True}


def test_a_priority_that_is_no_number_is_none_to_sbatch() -> None:
    spec = read("#SBATCH --priority=high --nice=5x\ntrue\n", ["--priority=low"])
    assert (spec.priority, spec.nice) == (0, 5)
    assert JobSpec(f"{HEAD}true\n", priority="TOP", nice="-3").nice == -3  # type: ignore[arg-type]


def test_foreign_directives() -> None:
    spec = read("#SBATCH -J s\n#PBS -N p -q debug -l nodes=2:ppn=3,walltime=10\ntrue\n")
    assert (spec.name, spec.partition, spec.nodes, spec.ntasks) == ("p", "debug", "2", 6)
    assert read("#SBATCH -J s\n#PBS -N p\ntrue\n", ["--ignore-pbs"]).name == "s"
    assert read("#BSUB -J b -n 2,4 -W 5 -x\n#PBS -N p\ntrue\n").ntasks == 4
    assert read("#PBS -W umask=027\ntrue\n").env == {"SLURM_UMASK": "0027"}
    assert read("x\n" * 101 + "#PBS -N late\n").name == "job.sh"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        (" \n\t", "white space"),
        ("\ufeff#!/bin/sh\n", "does not start with #!"),
        (" #!/bin/sh\n", "does not start with #!"),
        ("#!/bin/sh\n\0", "NUL"),
        ("#!/bin/sh\r\ntrue\r\n", "CR LF"),
        ("#!/bin/sh\n" + "#" * (4 * 1024 * 1024), "larger than 4194304 bytes"),
    ],
)
def test_scripts_that_are_refused(text: str, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        check_script(text)


def test_files_that_are_no_scripts(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\x02\x01\x01\0")
    (tmp_path / "large").write_bytes(b"#!/bin/sh\n" + b"#" * (4 * 1024 * 1024))
    for name in ("binary", "large"):
        with pytest.raises(SpecError):
            read_script(tmp_path / name)
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(SpecError, match="Cannot read"):
            read_script(path)


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-8-SIG"])
def test_another_encoding_is_named_with_what_converts_it(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "my job.sh"
    path.write_bytes("#!/bin/sh\n#SBATCH -n 2\ntrue\n".encode(encoding))
    with pytest.raises(
        SpecError, match="byte order mark" if encoding == "UTF-8-SIG" else f"is {encoding} text"
    ) as caught:
        read_script(path)
    # The hint is a command that does it.
    command = str(caught.value.hint).partition(": ")[2]
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    changed = path if encoding == "UTF-8-SIG" else tmp_path / "new.sh"
    assert JobSpec.from_script(changed).ntasks == 2


def test_text_of_any_language_is_kept(tmp_path: Path) -> None:
    (tmp_path / "ü.sh").write_bytes(b"#!/bin/sh\n#SBATCH --comment=\xc3\xbcn\xc3\xaf\xe2\x86\x92\necho \xff\n")
    spec = JobSpec.from_script(tmp_path / "ü.sh")
    assert (spec.comment, spec.name) == ("ünï→", "ü.sh")
    assert spec.script.encode("utf-8", "surrogateescape").endswith(b"echo \xff\n")
