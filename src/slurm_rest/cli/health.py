"""``slurm-rest ping``: each check of each transport on its own, told as soon as it is known."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, cast

import click

from slurm_rest.config import Settings, TransportName, load_settings, misspelt
from slurm_rest.errors import SlurmError
from slurm_rest.models import FilesWay, Ping
from slurm_rest.tables import show_span

from .documents import describe
from .failures import FAILED, Failed, in_options
from .identity import TOKEN_KEYS, Login, read_login
from .shared import json_option, with_client
from .terminal import complain, has_colour, one_line, out, out_json

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient

__all__ = ["ping"]


@dataclass(slots=True)
class _Check:
    """What came of one check. ``error`` is the name of the error's class."""

    name: str
    ok: bool = True
    message: str = ""
    hint: str = ""
    error: str | None = None
    seconds: float = 0.0
    controllers: list[Ping] = field(default_factory=list)

    def document(self) -> dict[str, object]:
        """Return the JSON object."""
        found: dict[str, object] = {
            "name": self.name,
            "ok": self.ok,
            "error": self.error,
            "message": self.message,
            "hint": self.hint,
            "seconds": round(self.seconds, 4),
        }
        if self.name == "controller":
            found["controllers"] = [
                {
                    "hostname": item.hostname,
                    "responding": item.responding,
                    "primary": item.primary,
                    "latency_ms": item.latency.total_seconds() * 1000 if item.latency is not None else None,
                }
                for item in self.controllers
            ]
        return found


_TOGETHER = 1.0
_KEYS = [
    "ok",
    "transports (each with name, ok, url, user, cluster, slurm, api_version, token, checks)",
    "health (each with transport, where, state, reason, active)",
    "files (with ok, where, checks)",
    "jobs (with ok, checks)",
]


@click.command(short_help="Check token, controller, accounting and files.")
@json_option(_KEYS, "an object")
@click.pass_context
def ping(ctx: click.Context, as_json: bool) -> None:
    """Check that Slurm answers you: token, controller and accounting over each transport that is configured,
    the ways to the cluster's files, and that something says where jobs start.

    Each line is printed once it is known; slurmrestd takes up to 20 s to find out that slurmctld or
    slurmdbd is away, 50 s that it is frozen; a frozen slurmrestd is given up after 10 s (after 60 s where
    SLURM_REST_API_VERSION is set, which saves the first question). Where there are several, the last line
    says which one other commands use. Exit status 1 if anything is wrong.
    """
    tell: Callable[[str], None] = (lambda _: None) if as_json else out
    documents: list[dict[str, object]] = []
    for name, meant in misspelt(os.environ).items():
        complain(f"{name} is no setting", f"Did you mean {meant}?", kind="warning")
    settings = load_settings(ctx.obj)
    names = settings.ways()
    if names == ("rest",):
        settings.require_url()  # here it knows that another way would do
    whom = ""
    for name in names:
        login = asyncio.run(read_login(ctx.obj)) if name == "rest" else None
        whom = login.acts_as if login else whom
        try:
            where, checks = with_client(ctx, partial(_check, login=login, whom=whom, tell=tell), name)
        except SlurmError as error:
            # No client could be made of the settings. That must not hide how the other transport is.
            if len(names) == 1:
                raise
            places = {"rest": settings.url, "ssh": settings.ssh_host, "cli": "this host"}
            where, checks = places[name], [_failed("transport", error)]
            tell(f"{name} {one_line(where)}\n{_line(checks[0])}")
        documents.append(_transport(name, where, login, checks))
    files = _files(ctx, names[0], tell)
    jobs = _jobs(settings, tell)
    ok = all(document["ok"] for document in [*documents, files])
    health = _health(documents)
    if as_json:
        out_json({"ok": ok, "transports": documents, "health": health, "files": files, "jobs": jobs})
    elif len(health) > 1:
        out(_used(health))
    if not ok:
        raise Failed(status=FAILED)


def _files(ctx: click.Context, name: TransportName, tell: Callable[[str], None]) -> dict[str, object]:
    """Check the ways to files. That there is none is told with the remedy, and no failure: everything else works."""
    try:
        # Any that can be made will do: nothing is asked over it.
        ways = with_client(ctx, lambda client: client.ping_files(), name)
    except SlurmError as error:
        # Of the transport, which has been told.
        hint = error.hint
        ways = [FilesWay(kind="none", where="unknown", reachable=False, reason=error.message, hint=hint)]
    where = ", ".join(way.where for way in ways)
    tell(f"files {one_line(where)}")
    checks = []
    for way in ways:
        bad = way.reachable is False and way.kind != "none"
        checks.append(_Check(way.kind, ok=not bad, message=way.reason, hint=way.hint, error=way.error))
        tell(_line(checks[-1], "" if way.reason else way.where))
    found: list[object] = [check.document() for check in checks]
    return {"ok": all(check.ok for check in checks), "where": where, "checks": found}


def _jobs(settings: Settings, tell: Callable[[str], None]) -> dict[str, object]:
    """Tell where nothing says in which directory jobs start: ``submit`` alone needs it, or ``--chdir`` each time."""
    from slurm_rest.submission import Surroundings, current_directory  # as slow as the client

    check = _Check("directory")
    if not settings.workdir and current_directory(settings, Surroundings.here("login")) is None:
        check.message = "Nothing says where jobs start: submit needs --chdir"
        check.hint = "Set SLURM_REST_WORKDIR, for instance to /home/{user}."
        tell(f"jobs\n{_line(check)}")
    return {"ok": True, "checks": [check.document()]}


def _health(documents: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return what a client that falls back would make of the checks: an accounting that is away is no reason to."""
    found: list[dict[str, object]] = []
    for document in documents:
        checks = cast("list[dict[str, object]]", document["checks"])
        reason = next((one["message"] for one in checks if not one["ok"] and one["name"] != "accounting"), "")
        state = "open" if reason else "closed"
        active = state == "closed" and not any(one["active"] for one in found)
        place = {"transport": document["name"], "where": document["url"]}
        found.append({**place, "state": state, "reason": reason, "active": active})
    return found


def _used(health: list[dict[str, object]]) -> str:
    used = next((one for one in health if one["active"]), None)
    passed = health[: health.index(used) if used else None]
    reasons = "; ".join(f"{one['transport']}: {one_line(in_options(str(one['reason'])))}" for one in passed)
    if used is None:
        return f"No transport works. {reasons}"
    return f"Commands use {used['transport']}" + (f", since {reasons}" if reasons else "")


async def _check(
    client: AsyncSlurmClient, login: Login | None, whom: str, tell: Callable[[str], None]
) -> tuple[str, list[_Check]]:
    """Make the checks of one transport; ``whom`` is who REST's jobs belong to, where it is configured too."""
    tell(f"{client.transport} {one_line(client.address)}")
    checks = []
    if login is not None:
        checks.append(_check_token(login))
        tell(_line(checks[0], _token_words(login)))
    running = [
        asyncio.create_task(_timed("controller", client.ping)),
        asyncio.create_task(_timed("accounting", client.ping_accounting)),
    ]
    # Told in this order, unless the first one is slow: it must not hide the other.
    await asyncio.wait(running[:1], timeout=_TOGETHER)
    order: Iterable[Awaitable[_Check]] = running if running[0].done() else asyncio.as_completed(running)
    for asked in order:
        check = await asked
        same = any(check.error and check.message == before.message for before in checks)
        checks.append(check)
        tell(_line(check, "the same" if same else "", brief=same))
    if all(check.ok for check in checks) and (remark := _check_user(client, whom)):
        checks.append(remark)
        tell(_line(remark))
    return client.address, checks


def _check_user(client: AsyncSlurmClient, whom: str) -> _Check | None:
    """Tell where an SSH login is not the user of REST's jobs: no failure, but no way to submit them either."""
    own, at, _ = client.address.partition("@")
    if client.transport != "ssh" or not at or not whom or own == whom:
        return None
    hint = f"Log in as {whom} (SLURM_REST_SSH_USER) if it should step in for REST."
    return _Check("user", message=f"it logs in as {own}: jobs of {whom} are not submitted this way", hint=hint)


def _check_token(login: Login) -> _Check:
    # Without a token the server decides: a local socket needs none.
    fatal = bool(login.problem) and bool(login.source) and login.source != "no token"
    return _Check("token", ok=not fatal, message=login.problem, hint=login.hint if fatal else "")


def _token_words(login: Login) -> str:
    if login.problem:
        return login.problem
    acting = f" acting as {login.acts_as}" if login.acts_as != login.user else ""
    left = timedelta(seconds=login.seconds_left or 0)
    return f"{login.user}{acting}, from {login.source}, good for {show_span(left)}"


async def _timed(name: str, ask: Callable[[], Awaitable[list[Ping] | None]]) -> _Check:
    check = _Check(name)
    begin = time.perf_counter()
    try:
        check.controllers = await ask() or []
    except SlurmError as error:
        check = _failed(name, error)
    check.seconds = time.perf_counter() - begin
    silent = [item.hostname for item in check.controllers if not item.responding]
    if silent:
        check.ok, check.error = False, "ControllerDown"
        check.message = f"{', '.join(silent)} gives no answer; another controller has taken over"
        check.hint = "Look at it with: scontrol ping"
    return check


def _failed(name: str, error: SlurmError) -> _Check:
    return _Check(name, ok=False, message=error.message, hint=error.hint, error=type(error).__name__)


def _line(check: _Check, words: str = "", *, brief: bool = False) -> str:
    # A token that is not there may be right.
    label, colour = ("FAILED", "red") if not check.ok else ("-", "yellow") if check.message else ("ok", "green")
    if has_colour(sys.stdout):
        label = click.style(f"{label:6}", fg=colour)
    told = words or check.message or _good_words(check)
    line = f"  {check.name:10}  {label:6}  {one_line(in_options(told))}"
    return line if brief or not check.hint else f"{line}\n{' ' * 22}hint: {one_line(in_options(check.hint))}"


def _good_words(check: _Check) -> str:
    took = f"{check.seconds * 1000:.0f} ms"
    if not check.controllers:
        return took
    first = check.controllers[0]
    names = ", ".join(item.hostname for item in check.controllers)
    api = f", API {first.api_version}" if first.api_version else ""
    return f"{names}: Slurm {first.slurm}{api}, cluster {first.cluster}, {took}"


def _transport(name: str, where: str, login: Login | None, checks: list[_Check]) -> dict[str, object]:
    nobody = Ping(hostname="", responding=False, primary=False)
    told = next((item for check in checks for item in check.controllers), nobody)
    return {
        "name": name,
        "ok": all(check.ok for check in checks),
        "url": where,
        "user": login.acts_as if login else None,
        "cluster": told.cluster or None,
        "slurm": told.slurm or None,
        "api_version": told.api_version or None,
        "token": describe(login, TOKEN_KEYS) if login else None,
        "checks": [check.document() for check in checks],
    }
