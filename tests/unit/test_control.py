"""scontrol's complaints about hold, release, requeue and update, as three releases print them."""

from __future__ import annotations

import pytest

from slurm_rest.errors import ApiError, ControllerDown, JobNotFound, PermissionDenied, SlurmError
from slurm_rest.transport.control import action_program, read_actions, read_update
from slurm_rest.transport.shell import Finished

LABELS = ["1", "66000000", "3", "4", "5_4", "5"]


def said(*lines: str, status: int = 1) -> Finished:
    return Finished("scontrol", "", "\n".join(lines), status)


@pytest.mark.parametrize("end", ["slurm_suspend error: No error", "slurm_suspend error"])
def test_each_label_has_its_own_outcome(end: str) -> None:
    done = said(
        "Invalid job id specified for job 66000000",
        "Job has already finished for job 3",
        "Invalid user id for job 4",
        end,
    )
    results = read_actions(done, LABELS, "here")
    assert [(one.job_id, one.outcome) for one in results] == [
        (1, "done"),
        (66000000, "not_found"),
        (3, "already_over"),
        (4, "denied"),
        (5, "done"),
        (5, "done"),
    ]
    assert results[3].message == "Invalid user id"
    assert [one.ok for one in results] == [True, False, False, False, True, True]


@pytest.mark.parametrize("lots", [("5_1-2", "5_3-4"), ("5_[1-2]", "5_[3-4]")])
def test_an_array_is_done_when_some_of_it_is(lots: tuple[str, str]) -> None:
    good, bad = (f"{lots[0]}: No error", f"{lots[1]}: Job is pending execution")
    assert read_actions(said(good, bad), ["5"], "here")[0].outcome == "done"
    (none,) = read_actions(said(bad), ["5"], "here")
    assert (none.outcome, none.message) == ("denied", "Job is pending execution")


def test_nothing_is_known_when_the_controller_is_away() -> None:
    done = said("slurm_suspend error: Unable to contact slurm controller (connect failure)")
    with pytest.raises(ControllerDown):
        read_actions(done, ["1"], "here")
    with pytest.raises(ControllerDown):
        read_update(said("Unable to contact slurm controller (connect failure)"), "1", "here")


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (("Invalid job id specified for job 1",), JobNotFound),
        (("Invalid user id for job 1",), PermissionDenied),
        (("Access/permission denied for job 1",), PermissionDenied),
        (("Invalid partition name specified for job 1",), ApiError),
        (("1_1: Job has already finished", "1_2: Invalid partition name specified"), ApiError),
        (("1_1: Job has already finished",), ApiError),
    ],
)
def test_a_refused_change_has_its_kind(lines: tuple[str, ...], kind: type[SlurmError]) -> None:
    with pytest.raises(kind) as caught:
        read_update(said(*lines), "1", "here")
    assert type(caught.value) is kind
    assert lines[-1].split(": ")[-1].removesuffix(" for job 1") in caught.value.message or kind is JobNotFound


def test_ended_tasks_do_not_spoil_a_change() -> None:
    read_update(said("1_1: Job has already finished", "1_[2-3]: No error"), "1", "here")
    read_update(said(status=0), "1", "here")


def test_labels_stay_words() -> None:
    assert action_program("hold", ["5_[1-3]", "6+1"]).text == "scontrol hold '5_[1-3]' 6+1"


@pytest.mark.parametrize(
    ("words", "hint"), [("Invalid partition name specified", "List partitions"), ("Requested operation", "try again")]
)
def test_a_change_that_is_refused_says_what_to_do(words: str, hint: str) -> None:
    with pytest.raises(ApiError) as caught:
        read_update(said(f"{words} for job 5"), "5", "here")
    assert hint in caught.value.hint
