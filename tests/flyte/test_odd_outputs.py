"""Trees and files that a script may leave, and what a store makes of their names."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flyteplugins.slurm_rest import transfers
from flyteplugins.slurm_rest.outcome import Outcome
from flyteplugins.slurm_rest.transfers import Transfer, collect
from flyteplugins.slurm_rest.values import check_variables
from slurm_rest import AsyncSlurmClient
from slurm_rest.testing import FakeTransport

from .support.s3 import Store


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncSlurmClient]:
    made = AsyncSlurmClient(
        transport=FakeTransport(), workdir="/home/{user}", path_map={"/home": str(tmp_path)}, environ={}
    )
    yield made
    await made.close()


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
    return {path: data for path, data in store.objects.items() if path.startswith("odd/out")}


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


async def test_a_pipe_is_no_file(client: AsyncSlurmClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out")
    assert "/home/out is no regular file" in (await moved(client, kind="file")).message


@pytest.mark.parametrize("name", ["a#b", "a?b", "x" * 256, "é" * 128])
def test_an_output_whose_name_no_object_or_file_has_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="rename it"):
        check_variables((), [name])
    check_variables((), [name.replace("#", "-").replace("?", "-")[:100]])
