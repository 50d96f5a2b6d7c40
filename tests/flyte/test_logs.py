"""Logs and metrics."""

from __future__ import annotations

import pytest

from .support.site import Site, lines_of


async def test_logs_go_on_where_they_were(site: Site) -> None:
    meta = await site.create()
    lines, _ = await lines_of(site, meta)
    assert lines == [f"No output yet from Slurm job {meta.job_id}; it goes to {meta.stdout_path}"]
    out, err = (site.files / path.removeprefix("/home/") for path in (meta.stdout_path, meta.stderr_path))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(b"one\ntwo \xff\n")
    err.write_bytes(b"trouble\n")
    lines, token = await lines_of(site, meta)
    assert lines == [
        f"--- stdout: {meta.stdout_path} ---",
        "one",
        "two \ufffd",
        f"--- stderr: {meta.stderr_path} ---",
        "trouble",
    ]
    with out.open("ab") as more:
        more.write(b"three\nhalf a li")
    lines, token = await lines_of(site, meta, token)
    assert lines == ["three"]
    with out.open("ab") as more:
        more.write(b"ne\n")
    lines, token = await lines_of(site, meta, token)
    assert lines == ["half a line"]
    with out.open("ab") as more:
        more.write(b"no end")
    found = []
    for _ in range(3):
        lines, token = await lines_of(site, meta, token)
        found.append(lines)
    assert found == [[], ["no end"], []], "a last line without an end comes once it is quiet"
    out.write_bytes(b"anew\n")
    assert (await lines_of(site, meta, token))[0] == ["anew"], "as after a requeue"


async def test_as_many_lines_as_are_asked_for(site: Site) -> None:
    meta = await site.create()
    out = site.files / meta.stdout_path.removeprefix("/home/")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"{number}\n" for number in range(1000)))
    assert (await lines_of(site, meta, lines=2))[0][1:] == ["998", "999"]
    for lines in (0, -1):
        assert len((await lines_of(site, meta, lines=lines))[0]) == 501
    for odd in ("x", "[" * 100_000, "[]", '{"stdout": [1]}', '{"stdout": [-1, 0]}', '{"other": 3}'):
        assert (await lines_of(site, meta, odd))[0][-1] == "999"


async def test_progress_bars_are_lines_and_odd_characters_are_text(site: Site) -> None:
    meta = await site.create()
    out = site.files / meta.stdout_path.removeprefix("/home/")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(b"\r".join(b"%d%%" % number for number in range(100)) + b"\r\na\x0cb\x1cc\xe2\x80\xa8d\xc2\x85e\n")
    assert (await lines_of(site, meta, lines=3))[0][1:] == ["98%", "99%", "a\x0cb\x1cc\u2028d\x85e"]
    assert len((await lines_of(site, meta))[0]) == 102


async def test_logs_that_cannot_be_read_are_explained(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLYTE_SLURM_FILES")
    meta = await site.create()
    lines, token = await lines_of(site, meta)
    assert len(lines) == 1
    assert f"The output of Slurm job {meta.job_id} cannot be read: Nothing leads to /home/alice" in lines[0]
    assert "Set FLYTE_SLURM_HOST" in lines[0]
    assert " SLURM_REST" not in lines[0]
    assert (await lines_of(site, meta, token))[0] == []


async def test_metrics(site: Site) -> None:
    meta = await site.create()
    site.fake.start(int(meta.job_id))
    found = await site.connector.get_metrics(meta)
    assert "elapsed_seconds" in {one.metric for one in found.results}
