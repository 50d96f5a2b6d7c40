"""Moves what a script wrote to the object store, or finds that the script has done so itself."""

from __future__ import annotations

import asyncio
import contextlib
import posixpath
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import flyte.storage as storage
from flyte.io import Dir, File

from slurm_rest.errors import FileMissing, FilesError
from slurm_rest.transport.files import Files

from .outcome import Outcome
from .typed import VALUE_LIMIT, MalformedValue, read_value

__all__ = ["Transfer", "collect"]

_DIRECTORY, _VALUE = "directory", "value"


@dataclass(frozen=True, slots=True)
class Transfer:
    """The outputs of one job: name -> uri, kind, upload, written_to. ``limit`` is the largest in bytes, or None."""

    job_id: str
    outputs: Mapping[str, Mapping[str, str]]
    limit: int | None


class _Missing(Exception):
    """The script did not write an output."""

    def __init__(self, place: Mapping[str, str]) -> None:
        what = f"nothing was written to {place['written_to']}"
        if place.get("upload") == "presigned":
            what = (
                f"nothing was uploaded to {place['uri']}; the script writes the file to $FLYTE_OUTPUT_<NAME> and then"
                ' runs: eval "$FLYTE_OUTPUT_<NAME>_UPLOAD"'
            )
        super().__init__(what)


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
            found[name] = await _output(place, files, transfer.limit)
        except (_Missing, _TooLarge, MalformedValue, FilesError) as error:  # noqa: PERF203  # each has its own
            wrong.append(f"output {name!r}: {error}")
    if wrong:
        listed = "\n".join(wrong)
        message = (
            f"Slurm job {transfer.job_id} ended well, but not every declared output can be had:\n{listed}\n"
            "The script is given each destination as FLYTE_OUTPUT_<NAME> and must write there."
        )
        return Outcome(False, message, "MissingOutputs")
    return Outcome(True, outputs=found)


async def _output(place: Mapping[str, str], files: Files, limit: int | None) -> object:
    if place["kind"] == _VALUE:
        try:
            return await read_value(await _small_file(place, files), place["type"])
        except MalformedValue as error:
            raise MalformedValue(f"{place['written_to']} does not hold what is declared: {error}") from None
    if not await _bring(place, files, limit):
        raise _Missing(place)
    make = Dir if place["kind"] == _DIRECTORY else File
    return make.from_existing_remote(place["uri"])


async def _small_file(place: Mapping[str, str], files: Files) -> bytes:
    """Return what a script wrote for a value, which is no file to keep: nothing is moved."""
    raw = bytearray()
    try:
        if place.get("upload") == "connector":
            chunks = files.read_chunks(place["written_to"])
        elif await storage.exists(place["uri"]):
            chunks = storage.get_stream(place["uri"])
        else:
            raise _Missing(place)
        async with aclosing(chunks):
            async for chunk in chunks:
                raw += chunk
                if len(raw) > VALUE_LIMIT:
                    raise _TooLarge(
                        f"{place['written_to']} has more than the {VALUE_LIMIT:,} bytes of a value: declare it as a"
                        " File"
                    )
    except FileMissing:
        raise _Missing(place) from None
    return bytes(raw)


async def _bring(place: Mapping[str, str], files: Files, limit: int | None) -> bool:
    """Have one output in the store; False where the script wrote none."""
    if place.get("upload") in ("job", "presigned"):
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
        # As a directory it is missing, too, where the script wrote a file.
        with contextlib.suppress(FileMissing):
            kind = (await files.stat(top)).kind
            raise FilesError(f"{top} is a {kind}, not a directory", path=top, kind="kind") from None
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
