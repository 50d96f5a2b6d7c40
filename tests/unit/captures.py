"""The captured answers of real slurmrestds, by release and API version, and answers made up in their form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from slurm_rest.transport.answers import Answer, read_answer

CAPTURES = Path(__file__).parent.parent / "data" / "captures"
PLACES = sorted(f"{folder.parent.name}/{folder.name}" for folder in CAPTURES.glob("*/v*"))


@dataclass(frozen=True)
class Capture:
    """One captured answer and the request that got it."""

    method: str
    path: str
    status: int
    content_type: str
    raw: bytes

    @property
    def body(self) -> Any:
        """The body as JSON."""
        return json.loads(self.raw)

    @property
    def answer(self) -> Answer:
        """The answer as the client reads it."""
        return read_answer(self.method, self.path.partition("?")[0], self.status, self.content_type, self.raw, "r1")

    @property
    def response(self) -> httpx.Response:
        """The answer as it comes over the wire."""
        return httpx.Response(self.status, headers={"content-type": self.content_type}, content=self.raw)


@cache
def capture(place: str, name: str) -> Capture:
    """Return one capture; ``place`` is for instance ``24.11.5/v0.0.42``."""
    meta = json.loads((CAPTURES / place / f"{name}.meta.json").read_text())
    raw = (CAPTURES / place / f"{name}.json").read_bytes()
    content_type = meta["headers"]["content-type"]
    if content_type == "text/plain":
        raw = json.loads(raw)["text_body"].encode()
    method, path = meta["request"].split(" ")
    return Capture(method, path, meta["status"], content_type, raw)


def failure(
    status: int, number: int | None, text: str = "", *, path: str = "/slurm/v0.0.42/job/submit", **more: object
) -> Capture:
    """Return an answer in slurmrestd's form with one error, or with none for the number None and no text."""
    errors = [] if number is None and not text else [{"error_number": number, "error": text, "description": text}]
    body = {"meta": {"slurm": {"release": "24.11.5"}}, "errors": errors, "warnings": [], **more}
    return Capture("POST", path, status, "application/json", json.dumps(body).encode())
