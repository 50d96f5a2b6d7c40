"""Moves what a script wrote to the object store, or finds that the script has done so itself."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path

import flyte.storage as storage
from flyte.io import Dir, File

from slurm_rest.errors import FileMissing, FilesError
from slurm_rest.transport.files import Files

from .outcome import Outcome

__all__ = ["Transfer", "collect"]

_DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class Transfer:
    """The outputs of one job: name -> uri, kind, upload, written_to. ``limit`` is the largest in bytes, or None."""

    job_id: str
    outputs: Mapping[str, Mapping[str, str]]
    limit: int | None


class _TooLarge(Exception):
    """An output is above the ceiling."""


async def collect(transfer: Transfer, files: Files) -> Outcome:
    """Return the outputs, each checked, or a failure that names all that are missing, too large or unreadable.

    Raises TransportError and what the store raises: those are worth another try.
    """
    found: dict[str, object] = {}
    wrong: list[str] = []
    for name, place in transfer.outputs.items():
        try:
            there = await _bring(name, place, files, transfer.limit)
        except (_TooLarge, FilesError) as error:
            wrong.append(f"output {name!r}: {error}")
            continue
        if not there:
            wrong.append(f"output {name!r}: nothing was written to {place['written_to']}")
            continue
        make = Dir if place["kind"] == _DIRECTORY else File
        found[name] = make.from_existing_remote(place["uri"])
    if wrong:
        listed = "\n".join(wrong)
        message = (
            f"Slurm job {transfer.job_id} ended well, but not every declared output can be had:\n{listed}\n"
            "The script is given each destination as FLYTE_OUTPUT_<NAME> and must write there."
        )
        return Outcome(False, message, "MissingOutputs")
    return Outcome(True, outputs=found)


async def _bring(name: str, place: Mapping[str, str], files: Files, limit: int | None) -> bool:
    """Have one output in the store; False where the script wrote none."""
    if place.get("upload") == "job":
        return bool(await storage.exists(place["uri"]))
    if place["kind"] == _DIRECTORY:
        return await _bring_tree(place["written_to"], place["uri"], files, limit)
    try:
        stat = await files.stat(place["written_to"])
    except FileMissing:
        return False
    if stat.kind != "file":
        raise FilesError(f"{place['written_to']} is a {stat.kind}, not a file", path=place["written_to"], kind="kind")
    _check_size(stat.size, limit)
    await _send(files, place["written_to"], place["uri"], stat.size)
    return True


async def _bring_tree(top: str, uri: str, files: Files, limit: int | None) -> bool:
    entries, total = [], 0
    try:
        async for entry in files.walk(top):
            if entry.problem:
                raise FilesError(f"{entry.path} cannot be followed ({entry.problem})", path=entry.path, kind="failed")
            if entry.kind == "file":
                entries.append(entry)
                total += entry.size
    except FileMissing:
        return False
    _check_size(total, limit)
    for entry in entries:
        await _send(files, entry.path, posixpath.join(uri, entry.relative), entry.size)
    return bool(entries)


async def _send(files: Files, path: str, uri: str, size: int) -> None:
    async def chunks() -> AsyncGenerator[bytes, None]:
        async for data in files.read_chunks(path, size=1024 * 1024):
            yield data

    if not storage.is_remote(uri):
        # A store on this host's disk makes no directories by itself.
        await asyncio.to_thread(Path(uri.removeprefix("file://")).parent.mkdir, parents=True, exist_ok=True)
    if size == 0:
        # An upload of no parts leaves no object.
        await storage.put_stream(b"", to_path=uri)
        return
    await storage.put_stream(chunks(), to_path=uri, size_hint=size)


def _check_size(size: int, limit: int | None) -> None:
    if limit is not None and size > limit:
        raise _TooLarge(
            f"{size:,} bytes are more than the {limit:,} that the connector moves. Set output_upload='job' on the task"
            " and let the script upload to the URI that it is given then, or raise"
            " FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES on the connector"
        )
