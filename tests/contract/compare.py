"""Compares two answers by what a client can rely on: statuses, keys, kinds of values, error numbers and words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx

__all__ = ["differences"]

_BY_NATURE = r"0x[0-9a-f]+|\d{4}-\d\d-\d\dT[\d:]+|\b\d+\b"

# Where the content, and so its form, depends on the machine or the moment, not on the protocol.
_ANY_CONTENT = re.compile(
    r"/(statistics/.*|job_resources/.*|jobs\[\]/job_resources/.*|gres_detail|job_size_str|steps\[\]/tres/.*|tres/\w+\[\]|clusters\[\]/.*"
    r"|nodes\[\]/(gres|cpu_load|comment|topology|free_mem).*|client/.*|priority_by_partition|last_backfill.*|errors|warnings)"
)


def differences(real: httpx.Response, fake: httpx.Response) -> list[str]:
    """Return what is different, as lines to read; none when a client could not tell them apart."""
    found = []
    for name, one, other in (
        ("status", real.status_code, fake.status_code),
        ("content-type", real.headers.get("content-type"), fake.headers.get("content-type")),
        ("closes", real.headers.get("connection", "").lower(), fake.headers.get("connection", "").lower()),
    ):
        if one != other:
            found.append(f"{name}: {one!r}, the fake {other!r}")
    if "json" not in real.headers.get("content-type", "") or "json" not in fake.headers.get("content-type", ""):
        return found + ([] if real.text == fake.text else [f"text: {real.text!r}, the fake {fake.text!r}"])
    bodies = [json.loads(one.content.decode("utf-8", "surrogateescape")) for one in (real, fake)]
    found += list(_shape("", *bodies))
    for key in ("errors", "warnings"):
        issues = [[_issue(one) for one in body[key]] for body in bodies]
        if issues[0] != issues[1]:
            found.append(f"{key}: {issues[0]}, the fake {issues[1]}")
    return found


def _issue(issue: dict[str, Any]) -> dict[str, Any]:
    # Numbers in the words are ids and clocks; an address is 24.11's.
    words = {
        name: re.sub(_BY_NATURE, "N", str(issue.get(name))).replace("(N)", "()") for name in ("description", "source")
    }
    return {**issue, **words}


def _shape(path: str, real: Any, fake: Any) -> Iterator[str]:
    if _ANY_CONTENT.fullmatch(path):
        return
    kinds = [_kind(one) for one in (real, fake)]
    if kinds[0] != kinds[1]:
        yield f"{path}: {kinds[0]} ({str(real)[:60]}), the fake {kinds[1]} ({str(fake)[:60]})"
    elif isinstance(real, dict):
        for key in sorted(real.keys() - fake.keys()):
            yield f"{path}/{key}: missing in the fake ({json.dumps(real[key])[:80]})"
        for key in sorted(fake.keys() - real.keys()):
            yield f"{path}/{key}: only in the fake"
        for key in sorted(real.keys() & fake.keys()):
            yield from _shape(f"{path}/{key}", real[key], fake[key])
    elif isinstance(real, list):
        if bool(real) != bool(fake):
            yield f"{path}: {json.dumps(real)[:80]}, the fake {json.dumps(fake)[:80]}"
        elif real:
            yield from _shape(f"{path}[]", real[0], fake[0])


def _kind(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"set", "infinite", "number"}:
        return "number"
    return type(value).__name__
