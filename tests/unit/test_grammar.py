"""What Python values and texts mean as values of options, and the scripts that sbatch takes."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest.errors import SpecError
from slurm_rest.sbatch.option import REQUIRED, Option
from slurm_rest.sbatch.options import OPTIONS, ROW_OF
from slurm_rest.sbatch.script import MAX_SCRIPT_BYTES, check_script, read_script

whole = st.integers(min_value=0, max_value=10_000)


# --- times ----------------------------------------------------------------------------------------------------


def read(name: str, value: object) -> object:
    return ROW_OF[name].read(value)


def limit(value: object) -> object:
    found = read("time", value)
    return found / timedelta(minutes=1) if isinstance(found, timedelta) else str(found).lower()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (90, 90),
        ("90", 90),
        ("1:30", 2),
        ("0:30", 1),
        ("90:00", 90),
        ("2:00:00", 120),
        ("0:0:1", 1),
        ("1-", 1440),
        ("1-12", 36 * 60),
        ("1-2:3", 1440 + 123),
        ("1-2:3:4", 1440 + 124),
        ("1:90", 3),
        (timedelta(hours=1, seconds=1), 61),
        (0, "unlimited"),
        ("0", "unlimited"),
        ("UNLIMITED", "unlimited"),
        ("infinite", "unlimited"),
        ("-1", "unlimited"),
    ],
)
def test_times(value: object, expected: object) -> None:
    assert limit(value) == expected


@pytest.mark.parametrize(
    "value",
    ["", "1h", "1.5", 1.5, "1:", ":30", "1:2:3:4", "1--2", "1-2-3", "-5", -5, "abc", True, None, [5], b"5",
     timedelta(seconds=-1), " 5 ", "4294967294", "9" * 400, timedelta.max, 4294967294, 10**30],
)  # fmt: skip
def test_times_that_are_none(value: object) -> None:
    with pytest.raises(ValueError, match="takes"):
        read("time", value)


@given(whole, whole, whole, whole)
def test_a_time_is_the_sum_of_its_parts_rounded_up(days: int, hours: int, mins: int, secs: int) -> None:
    total = ((days * 24 + hours) * 60 + mins) * 60 + secs
    expected = -(-total // 60) or "unlimited"
    assert limit(f"{days}-{hours}:{mins}:{secs}") == expected
    assert limit(timedelta(seconds=total)) == expected


# --- sizes and counts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [(4000, 4000), ("4000", 4000), ("4G", 4096), ("4GB", 4096), ("4g", 4096), ("512M", 512), ("1T", 1048576),
     ("1K", 1), ("1024k", 1), ("1025k", 2), ("0", 0), (0, 0)],
)  # fmt: skip
def test_memory(value: object, expected: int) -> None:
    assert read("mem", value) == expected


@pytest.mark.parametrize(
    "value", ["", "4 G", "4GiB", "1.5G", "4P", "G", "-1", -1, 1.5, True, None, 10**30, "9" * 400 + "T", "9" * 400 + "K"]
)
def test_memory_that_is_none(value: object) -> None:
    with pytest.raises(ValueError, match=r"takes MiB|more memory|no number that large"):
        read("mem", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2, "2"), ("2", "2"), ("2-4", "2-4"), ("2 ", "2"), ("3-3", "3-3"), ("-2", "1-2"), ("1k", "1024"), ("1,3", "1,3"),
     ("2-8:2", "2-8:2"), (0, "0")],
)  # fmt: skip
def test_nodes(value: object, expected: str) -> None:
    assert read("nodes", value) == expected


@pytest.mark.parametrize("value", ["", "two", "4-2", "2-", "1:2", 1.5, True, None, "2147483648", "1-2-3", ",2", [1]])
def test_nodes_that_are_none(value: object) -> None:
    with pytest.raises(ValueError, match="takes"):
        read("nodes", value)


@pytest.mark.parametrize("value", [0, -1, 2147483647, "0", "x", "", "1.0", 1.0, True, None, [1]])
def test_counts_that_are_none(value: object) -> None:
    with pytest.raises(ValueError, match="whole number"):
        read("ntasks", value)


@pytest.mark.parametrize(
    ("value", "expected"), [(1, "1"), ("2", "2"), ("a100:2", "a100:2"), (["a:1", "b:2"], "a:1,b:2")]
)
def test_gpus(value: object, expected: str) -> None:
    assert read("gpus", value) == expected


@pytest.mark.parametrize("value", [True, 1.5, None, {"a": 1}])
def test_gpus_that_are_none(value: object) -> None:
    with pytest.raises(ValueError, match="takes"):
        read("gpus", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("gpu:a100:2", "gpu:a100:2"), (["gpu:1", "nic"], "gpu:1,nic"), ("none", "none"), ("NONE", "none")],
)
def test_gres(value: object, expected: str) -> None:
    assert read("gres", value) == expected


def test_moments() -> None:
    when = datetime(2027, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    assert read("begin", when) == int(when.timestamp())
    assert read("begin", 1_700_000_000) == 1_700_000_000
    assert read("begin", "now+1hour") == "now+1hour"
    for value in (datetime(2027, 1, 2), 0, -1, True, 1.5, "soon", None, 10**18):  # naive on purpose
        with pytest.raises(ValueError, match="takes"):
            read("begin", value)


def test_paths() -> None:
    assert read("output", Path("/a b")) == "/a b"
    for value in (b"/x", 7, None, "a\0b"):
        with pytest.raises(ValueError, match=r"takes|NUL"):
            read("output", value)


@given(st.sampled_from(OPTIONS), st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.binary(),
                                           st.timedeltas(), st.datetimes(), st.lists(st.text())))  # fmt: skip
def test_an_option_takes_a_value_or_says_what_it_takes(row: Option, value: object) -> None:
    try:
        canonical = row.read(value)
    except ValueError as error:
        said = str(error)
        canonical = None
    else:
        said = ""
    if canonical is None:
        assert said
        return
    # A canonical value is itself one that can be given, and so is the text that sbatch would read.
    assert row.read(canonical) == canonical
    if row.takes is REQUIRED and isinstance(value, str):
        assert row.read(row.show(canonical)) == canonical


# --- scripts --------------------------------------------------------------------------------------------------

GOOD = "#!/bin/sh\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n\t", "only white space"),
        (" #!/bin/sh\n", "does not start with #!"),
        ("\ufeff#!/bin/sh\n", "does not start with #!"),
        ("echo\0\r\n", "does not start with #!"),
        (GOOD + "\0\r\n", "NUL"),
        (GOOD + "a\r\n#SBATCH -n 2\n", "DOS line ends"),
        ("#!/bin/sh\r\n#SBATCH -n 2\n", "DOS line ends"),
        (GOOD + "\ud800", "half a character"),
        (GOOD + "#" * MAX_SCRIPT_BYTES, "larger than 4194304 bytes"),
        (GOOD + "é" * (MAX_SCRIPT_BYTES // 2), "larger than 4194304 bytes"),
    ],
)
def test_scripts_are_checked_in_sbatchs_order(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words) as caught:
        check_script(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "#!/bin/sh",
        "#!",
        GOOD + "#" * (MAX_SCRIPT_BYTES - len(GOOD)),
        GOOD + "printf 'a\\r\\n'\n# lone \r in it\n",
        GOOD + "# caf\udce9\n",
        GOOD + "#SBATCH -n 2\n",
        GOOD + "true\n#SBATCH -n 2\n",
        GOOD + ":\n#SBATCH -n 2\n",
        GOOD + " #SBATCH -n 2\n##SBATCH -n 2\n# SBATCH -n 2\n#sbatch -n 2\n#SBATC -n 2\n",
        "#!/usr/bin/env python\nprint('''\n#SBATCH -n 2\n''')\n",
    ],
)
def test_scripts_that_are_taken_unchanged(text: str) -> None:
    assert check_script(text) == text


def test_a_script_is_text_or_a_path(tmp_path: Path) -> None:
    file = tmp_path / "train.sbatch"
    file.write_bytes(b"#!/bin/sh\n# caf\xe9\n")
    script = read_script(file)
    assert (script.text, script.name, script.path) == ("#!/bin/sh\n# caf\udce9\n", "train.sbatch", str(file))
    assert read_script(str(file)) == script
    text = read_script(GOOD)
    assert (text.text, text.name, text.path) == (GOOD, "sbatch", "")


def test_a_relative_path_becomes_an_absolute_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.sh").write_text(GOOD)
    assert read_script("job.sh").path == os.path.join(os.getcwd(), "job.sh")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "is empty"),
        ("no/such/file", "No such file"),
        ("/", "directory"),
        ("a\0b", "null"),
        ("x" * 5000, "too long"),
        ("echo hi\n", "does not start with #!"),
        (b"#!/bin/sh\n", "bytes, not a path"),
        (None, "NoneType, not a path"),
        (3, "int, not a path"),
        (["#!/bin/sh"], "list, not a path"),
    ],
)
def test_sources_that_are_no_script(source: object, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        read_script(source)  # type: ignore[arg-type]  # wrong on purpose


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "big.sh"
    with file.open("wb") as out:
        out.write(b"#!/bin/sh\n")
        out.write(b"#" * (MAX_SCRIPT_BYTES * 2))
    with pytest.raises(SpecError, match="larger than"):
        read_script(file)
