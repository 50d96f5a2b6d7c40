"""What can be changed of a job, in the two languages in which it is said."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import get_type_hints

import pytest

from slurm_rest.api import known_in
from slurm_rest.errors import SpecError
from slurm_rest.sbatch.changes import CHANGEABLE, JobChanges, changed_fields, changed_words, read_changes

NOON = datetime(2030, 1, 2, 12)


def test_the_types_name_what_the_table_has() -> None:
    assert set(get_type_hints(JobChanges)) == set(CHANGEABLE)


@pytest.mark.parametrize(
    ("option", "value", "field", "word"),
    [
        ("time", "2:00:00", {"time_limit": {"set": True, "infinite": False, "number": 120}}, "TimeLimit=120"),
        ("time", timedelta(minutes=7), {"time_limit": {"set": True, "infinite": False, "number": 7}}, "TimeLimit=7"),
        ("time", "UNLIMITED", {"time_limit": {"set": False, "infinite": True, "number": 0}}, "TimeLimit=UNLIMITED"),
        ("mem", "4G", {"memory_per_node": {"set": True, "infinite": False, "number": 4096}}, "MinMemoryNode=4096"),
        ("name", "x 'y'", {"name": "x 'y'"}, "JobName=x 'y'"),
        ("partition", ["a", "b"], {"partition": "a,b"}, "Partition=a,b"),
        ("nodes", "1-2", {"nodes": "1-2"}, "NumNodes=1-2"),
        ("nodelist", ["n1", "n2"], {"required_nodes": ["n1,n2"]}, "ReqNodeList=n1,n2"),
        ("requeue", False, {"requeue": False}, "Requeue=0"),
        ("requeue", True, {"requeue": True}, "Requeue=1"),
        ("nice", -5, {"nice": -5}, "Nice=-5"),
        ("mail_type", "END,FAIL", {"mail_type": ["END", "FAIL"]}, "MailType=END,FAIL"),
        ("ntasks", 4, {"tasks": 4}, "NumTasks=4"),
    ],
)
def test_an_option_in_both_languages(option: str, value: object, field: dict[str, object], word: str) -> None:
    values = read_changes({option: value, "wckey": None}, NOON)
    assert changed_fields(values) == field
    assert changed_words(values, "24.11") == [word]


def test_times_are_said_in_unix_seconds() -> None:
    values = read_changes({"begin": "now+1hour"}, NOON)
    at = int((NOON + timedelta(hours=1)).timestamp())
    assert changed_fields(values) == {"begin_time": {"set": True, "infinite": False, "number": at}}
    assert changed_words(values, "22.05") == [f"StartTime=uts{at}"]


@pytest.mark.parametrize("name", CHANGEABLE)
def test_every_field_is_known_to_every_version(name: str) -> None:
    samples: dict[str, object] = {"begin": 1900000000, "deadline": 1900000000, "requeue": True, "nodes": 2}
    samples |= dict.fromkeys(("error", "input", "output"), "/tmp/x")
    samples |= dict.fromkeys(("cpus_per_task", "ntasks", "mem", "mem_per_cpu", "tmp", "nice", "priority"), 5)
    samples |= {"time": 5, "time_min": 5, "mail_type": "END"}
    (field,) = changed_fields(read_changes({name: samples.get(name, "x")}, NOON))
    assert len(known_in("JobDescMsg", field)) >= 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "nothing to change"),
        ({"name": None}, "nothing to change"),
        ({"tme": 5}, "Did you mean 'time'"),
        ({"gpus": 1}, "cannot be changed"),
        ({"time": "soon"}, "time"),
        ({"begin": "yesterdaze"}, "begin"),
        ({"output": "here.txt"}, "not absolute"),
    ],
)
def test_what_cannot_be_changed_says_why(changes: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_changes(changes, NOON)
    assert words in str(caught.value)
    assert caught.value.hint or caught.value.field


def test_an_old_scontrol_lacks_some_words() -> None:
    values = read_changes({"error": "/tmp/e"}, NOON)
    with pytest.raises(SpecError, match=r"22\.05 cannot change error"):
        changed_words(values, "22.05")
    assert changed_words(values, "24.11") == ["StdErr=/tmp/e"]
