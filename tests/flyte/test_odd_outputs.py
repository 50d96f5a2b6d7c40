"""Trees and files that a script may leave, and what a store makes of their names."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from flyte.types import TypeEngine

from flyteplugins.slurm_rest import transfers, typed
from flyteplugins.slurm_rest.outcome import Outcome
from flyteplugins.slurm_rest.settling import may_go_by
from flyteplugins.slurm_rest.transfers import Transfer, collect
from flyteplugins.slurm_rest.typed import type_text
from flyteplugins.slurm_rest.values import check_variables
from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import FilesError
from slurm_rest.transport.files import FileStat

from .support.s3 import Store


def tree(top: Path, *names: str | bytes) -> Path:
    for name in names:
        path = os.path.join(os.fsencode(top), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(os.fsencode(name))
    return top


async def moved(client: AsyncSlurmClient, kind: str = "directory", uri: str = "s3://odd/out") -> Outcome:
    place = {"uri": uri, "kind": kind, "upload": "connector", "written_to": "/home/out"}
    return await collect(Transfer("1", {"out": place}, None), client.files, None)


def stored(store: Store) -> dict[str, bytes]:
    return {path: data for path, data in list(store.objects.items()) if path.startswith("odd/out")}


async def test_odd_names_arrive_as_they_are(client: AsyncSlurmClient, store: Store, tmp_path: Path) -> None:
    names = [
        "a b",
        " c ",
        "100%",
        "a%20b",
        "...",
        ".hidden",
        "a\\b",
        "ü/日本",
        "~x",
        "a'b\"c",
        "c:d",
        "*[x]",
        "x" * 255,
    ]
    tree(tmp_path / "out", *names)
    store.objects.clear()
    outcome = await moved(client)
    assert outcome.is_success, outcome.message
    assert stored(store) == {f"odd/out/{name}": name.encode() for name in names}


async def test_links_within_the_tree_are_followed_and_others_are_refused(
    client: AsyncSlurmClient, store: Store, tmp_path: Path
) -> None:
    tree(tmp_path / "out", "run_3/model", "notes")
    (tmp_path / "out/latest").symlink_to("run_3")
    (tmp_path / "out/best").symlink_to("run_3/model")
    store.objects.clear()
    outcome = await moved(client)
    assert outcome.is_success, outcome.message
    assert stored(store) == {
        **{f"odd/out/{name}/model": b"run_3/model" for name in ("run_3", "latest")},
        "odd/out/best": b"run_3/model",
        "odd/out/notes": b"notes",
    }
    (tmp_path / "secret").write_text("of somebody else")
    (tmp_path / "out/away").symlink_to(tmp_path / "secret")
    store.objects.clear()
    outcome = await moved(client)
    assert not outcome.is_success
    assert "away" in outcome.message
    assert stored(store) == {}


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("epoch#1", "a # in its name"),
        ("what?", "a ? in its name"),
        ("two\nlines", "a control character"),
        ("tab\tbed", "a control character"),
        (b"caf\xe9", "not UTF-8"),
        ("/".join(["d" * 200] * 6), "bytes with its folders"),
    ],
)
async def test_names_that_would_be_cut_are_refused_before_anything_is_sent(
    client: AsyncSlurmClient, store: Store, tmp_path: Path, name: str | bytes, problem: str
) -> None:
    """Under the name that is left another file may be."""
    tree(tmp_path / "out", "a", name)
    store.objects.clear()
    outcome = await moved(client)
    assert (outcome.is_success, outcome.code) == (False, "MissingOutputs")
    assert problem in outcome.message
    assert stored(store) == {}


async def test_a_directory_in_place_of_a_store_takes_any_name(client: AsyncSlurmClient, tmp_path: Path) -> None:
    tree(tmp_path / "out", "epoch#1", "what?")
    outcome = await moved(client, uri=str(tmp_path / "kept"))
    assert outcome.is_success, outcome.message
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"epoch#1", "what?"}


async def test_a_tree_without_end_is_not_listed_to_its_end(
    client: AsyncSlurmClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "_MOST_FILES", 3)
    tree(tmp_path / "out", "1", "2", "3")
    assert (await moved(client, uri=str(tmp_path / "kept"))).is_success
    tree(tmp_path / "out", "4")
    assert "more than the 3 files" in (await moved(client, uri=str(tmp_path / "kept"))).message


@pytest.mark.parametrize(("number", "told"), [(2, ""), (4, "three")])
async def test_values_that_fill_more_than_a_message_are_refused_by_name(
    client: AsyncSlurmClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, told: str
) -> None:
    """A list of small numbers is four times its text in a message, of which the platform takes 4 MiB."""
    monkeypatch.setattr(transfers, "ALL_VALUES_LIMIT", 3000)
    described = type_text(TypeEngine.to_literal_type(list[int]))
    places = {}
    for name in ("zero", "one", "two", "three")[:number]:
        (tmp_path / name).write_text("[1" + ",1" * 110 + "]")
        place = {"uri": f"{tmp_path}/{name}", "kind": "value", "upload": "connector", "written_to": f"/home/{name}"}
        places[name] = {**place, "type": described}
    outcome = await collect(Transfer("1", places, None), client.files, None)
    assert outcome.is_success is not bool(told), outcome.message
    assert not told or f"output {told!r}: " in outcome.message
    assert "output 'two'" not in outcome.message


async def test_a_long_value_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flyte takes seconds to make a message of a list with a hundred thousand items."""
    threads: dict[str, int] = {}
    checked = typed._checked

    def noted(text: str, hint: type, *, is_structure: bool) -> object:
        threads[text[:2]] = threading.get_ident()
        return checked(text, hint, is_structure=is_structure)

    monkeypatch.setattr(typed, "_checked", noted)
    described = type_text(TypeEngine.to_literal_type(list[int]))
    short, _ = await typed.read_value(b"[1]", described)
    long, size = await typed.read_value(b"[2" + b",2" * 3000 + b"]", described)
    assert (short, long) == ([1], [2] * 3001)
    assert size > 3001
    assert threads["[1"] == threading.get_ident() != threads["[2"]


async def test_a_failure_of_the_file_system_is_no_missing_output(
    client: AsyncSlurmClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a day of computing the task would have failed for a moment's trouble."""
    (tmp_path / "out").write_text("x")

    async def fails(path: str) -> FileStat:
        raise FilesError(f"{path}: Failure", path=path)

    with monkeypatch.context() as patched:
        patched.setattr(client.files, "stat", fails)
        with pytest.raises(FilesError, match="Failure") as caught:
            await moved(client, kind="file", uri=str(tmp_path / "kept"))
        assert may_go_by(caught.value)
    assert (await moved(client, kind="file", uri=str(tmp_path / "kept"))).is_success


async def test_a_pipe_is_no_file(client: AsyncSlurmClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out")
    assert "/home/out is no regular file" in (await moved(client, kind="file")).message


@pytest.mark.parametrize("name", ["a#b", "a?b", "x" * 256, "é" * 128])
def test_an_output_whose_name_no_object_or_file_has_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="rename it"):
        check_variables((), [name])
    check_variables((), [name.replace("#", "-").replace("?", "-")[:100]])


# --- what a script uploads itself -----------------------------------------------------------------------------------


@pytest.fixture(params=("s3://odd/sent", "directory"))
def sent(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> str:
    """Return where a script has uploaded a folder with one file in it, an empty file, and an empty folder."""
    if request.param != "directory":
        store.objects |= {"odd/sent/tree/a": b"x", "odd/sent/file": b""}
        return str(request.param)
    tree(tmp_path, "sent/tree/a")
    (tmp_path / "sent/file").touch()
    (tmp_path / "sent/empty").mkdir()
    return str(tmp_path / "sent")


@pytest.mark.parametrize(
    ("name", "kind", "problem"),
    [
        ("tree", "directory", ""),
        ("file", "file", ""),
        ("tree", "file", "is a directory, not a file"),
        ("tree", "value", "is a directory, not a file"),
        ("file", "directory", "is a file, not a directory"),
        ("tre", "directory", "nothing was written"),
        ("fil", "file", "nothing was written"),
        ("none", "value", "nothing was written"),
    ],
)
async def test_an_upload_of_the_other_kind_is_none(
    client: AsyncSlurmClient, sent: str, name: str, kind: str, problem: str
) -> None:
    """A store has no folders, and to flyte anything is there below whose name something is."""
    uri, text = f"{sent}/{name}", type_text(TypeEngine.to_literal_type(str))
    place = {"uri": uri, "kind": kind, "upload": "job", "written_to": uri, "type": text}
    outcome = await collect(Transfer("1", {"out": place}, None), client.files, None)
    assert outcome.is_success is not bool(problem)
    assert problem in outcome.message
