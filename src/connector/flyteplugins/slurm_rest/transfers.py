"""Moves what a script wrote to the object store, or finds that the script has done so itself."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import posixpath
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import flyte.storage as storage
from flyte.io import Dir, File

from slurm_rest.errors import FileMissing, FilesError
from slurm_rest.transport.files import Entry, Files
from slurm_rest.within import within

from .messages import sendable
from .objects import is_directory, is_file, unstorable
from .outcome import Outcome
from .receipts import Receipts
from .settling import may_go_by
from .typed import ALL_VALUES_LIMIT, VALUE_LIMIT, MalformedValue, read_value
from .wording import in_our_terms

__all__ = ["Transfer", "collect"]

# flyte's clients of stores wait for ever for one that does not answer. So long for a small request, and for an upload
# so long and then at least so many bytes a second; what takes longer is tried again.
_PATIENCE, _SLOWEST = 60.0, 256 * 1024

# All are listed before the first is moved, in memory that all tasks share.
_MOST_FILES = 100_000
_DIRECTORY, _VALUE = "directory", "value"


@dataclass(frozen=True, slots=True)
class Transfer:
    """The outputs of one job: name -> uri, kind, upload, written_to. ``limit`` is the largest in bytes, or None.

    ``identity`` tells the job from another one with its id.
    """

    job_id: str
    outputs: Mapping[str, Mapping[str, str]]
    limit: int | None
    identity: str = ""

    @property
    def receipt(self) -> str:
        """Where its receipt is: beside the outputs, of this very job."""
        beside = posixpath.dirname(next(iter(self.outputs.values()))["uri"])
        short = hashlib.sha256(self.identity.encode()).hexdigest()[:16]
        return f"{beside}/slurm-{self.job_id}-{short}.outputs.json"


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


async def collect(transfer: Transfer, files: Files, receipts: Receipts | None) -> Outcome:
    """Return the outputs, each checked, or a failure that names all that are missing, too large or unreadable.

    They are moved once, whoever asks: the receipt, an object beside them, says what has been moved and what each value
    is. ``receipts`` are None where nobody else could move them, in a local run. Raises TransportError and what the
    store raises: those are worth another try.
    """

    async def move() -> bytes:
        return await _moved(transfer, files)

    if receipts is None or all(place.get("upload") != "connector" for place in transfer.outputs.values()):
        return await _outcome(transfer, await move())
    return await _outcome(transfer, await receipts.once(transfer.receipt, move))


async def _moved(transfer: Transfer, files: Files) -> bytes:
    """Have all outputs in the store; return the content of those that are values, and what is wrong with others."""
    values: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for name, place in transfer.outputs.items():
        try:
            if place["kind"] == _VALUE:
                values[name] = base64.b64encode(await within(_PATIENCE, _small_file(place, files))).decode()
            elif not await _bring(place, files, transfer.limit):
                raise _Missing(place)
        except (_Missing, _TooLarge, FilesError) as error:  # noqa: PERF203  # each has its own
            if may_go_by(error):
                raise
            wrong[name] = in_our_terms(str(error))
    return json.dumps({"values": values, "wrong": wrong}).encode()


async def _outcome(transfer: Transfer, moved: bytes) -> Outcome:
    report: dict[str, dict[str, str]] = json.loads(moved)
    found: dict[str, object] = {}
    wrong, total = dict(report["wrong"]), 0
    for name, place in transfer.outputs.items():
        if name in report["values"]:
            try:
                found[name], size = await read_value(base64.b64decode(report["values"][name]), place["type"])
                total += size
                if total > ALL_VALUES_LIMIT:
                    raise MalformedValue(
                        f"with it the task's values have {total:,} bytes in a message that holds {ALL_VALUES_LIMIT:,}:"
                        " declare it as a File"
                    )
            except MalformedValue as error:
                wrong[name] = f"{place['written_to']} does not hold what is declared: {error}"
        elif name not in wrong:
            make = Dir if place["kind"] == _DIRECTORY else File
            found[name] = make.from_existing_remote(place["uri"])
    if wrong:
        listed = "\n".join(f"output {name!r}: {wrong[name]}" for name in transfer.outputs if name in wrong)
        message = (
            f"Slurm job {transfer.job_id} ended well, but not every declared output can be had:\n{listed}\n"
            "The script is given each destination as FLYTE_OUTPUT_<NAME> and must write there."
        )
        return Outcome(False, message, "MissingOutputs")
    return Outcome(True, outputs=found)


async def _small_file(place: Mapping[str, str], files: Files) -> bytes:
    """Return what a script wrote for a value, which is no file to keep: nothing is moved."""
    raw = bytearray()
    try:
        if place.get("upload") == "connector":
            chunks = files.read_chunks(place["written_to"])
        elif await _is_uploaded(place):
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
        return await within(_PATIENCE, _is_uploaded(place))
    if place["kind"] == _DIRECTORY:
        return await _bring_tree(place["written_to"], place["uri"], files, limit)
    try:
        stat = await files.stat(place["written_to"])
    except FileMissing:
        return False
    if stat.kind != "file":
        is_what = "a directory, not a file" if stat.kind == _DIRECTORY else "no regular file"
        raise FilesError(f"{place['written_to']} is {is_what}", path=place["written_to"], kind="kind")
    _check_size(stat.size, limit)
    await _send(files, place["written_to"], place["uri"], stat.size)
    return True


async def _is_uploaded(place: Mapping[str, str]) -> bool:
    """Tell whether the script has uploaded an output; raises FilesError where it is of the other kind."""
    uri = place["uri"]
    wanted, other = (is_directory, is_file) if place["kind"] == _DIRECTORY else (is_file, is_directory)
    if await wanted(uri):
        return True
    if await other(uri):
        is_what = "a file, not a directory" if other is is_file else "a directory, not a file"
        raise FilesError(f"{uri} is {is_what}", path=uri, kind="kind")
    return False


async def _bring_tree(top: str, uri: str, files: Files, limit: int | None) -> bool:
    try:
        entries = await _listed(top, files)
    except FileMissing:
        # As a directory it is missing, too, where the script wrote a file.
        with contextlib.suppress(FileMissing):
            kind = (await files.stat(top)).kind
            raise FilesError(f"{top} is a {kind}, not a directory", path=top, kind="kind") from None
        return False
    _check_size(sum(entry.size for entry in entries), limit)
    for entry in entries:
        # Before anything is sent: flyte would store it under another name, over another file perhaps.
        if problem := unstorable(posixpath.join(uri, entry.relative)):
            what = f"{sendable(entry.path)!r} cannot be stored, with {problem}: rename it, or pack the directory"
            raise FilesError(what, path=entry.path, kind="kind")
    for entry in entries:
        await _send(files, entry.path, posixpath.join(uri, entry.relative), entry.size)
    return bool(entries)


async def _listed(top: str, files: Files) -> list[Entry]:
    entries: list[Entry] = []
    async with aclosing(files.walk(top)) as found:
        async for entry in found:
            if entry.problem:
                raise FilesError(f"{entry.path} cannot be followed ({entry.problem})", path=entry.path, kind="kind")
            if entry.kind == "file":
                entries.append(entry)
            if len(entries) > _MOST_FILES:
                raise _TooLarge(
                    f"{top} has more than the {_MOST_FILES:,} files that the connector moves one by one: pack it, or"
                    " set output_upload='job' on the task"
                )
    return entries


async def _send(files: Files, path: str, uri: str, size: int) -> None:
    async def chunks() -> AsyncGenerator[bytes, None]:
        async for data in files.read_chunks(path, size=1024 * 1024):
            yield data

    if not storage.is_remote(uri):
        # A store on this host's disk makes no directories by itself.
        await asyncio.to_thread(Path(uri.removeprefix("file://")).parent.mkdir, parents=True, exist_ok=True)
    if size == 0:
        # An upload of no parts leaves no object.
        await within(_PATIENCE, storage.put_stream(b"", to_path=uri))
        return
    bound = _PATIENCE + size / _SLOWEST
    await within(bound, storage.put_stream(chunks(), to_path=uri, size_hint=size))


def _check_size(size: int, limit: int | None) -> None:
    if limit is not None and size > limit:
        raise _TooLarge(
            f"{size:,} bytes are more than the {limit:,} that the connector moves. Set output_upload='job' on the task"
            " and let the script upload to the URI that it is given then, or raise"
            " FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES on the connector"
        )
