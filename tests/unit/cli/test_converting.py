from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurm_rest.api import API_VERSIONS
from slurm_rest.cli.app import app
from slurm_rest.cli.sbatch_help import GROUPS
from slurm_rest.sbatch.options import OPTIONS
from tests.unit.cli.server import Run, Server, token

WIDTH = 80


def test_the_body_is_what_submit_sends_but_for_the_key(run: Run, server: Server, tmp_path: Path) -> None:
    server.answer("POST", "/slurm/job/submit", {"job_id": 12})
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/sh\n#SBATCH -a 0-3 -t 5 --comment=mine\n#SBATCH -o %A_%a.out\ntrue\n")
    words = ["-p", "debug", "--env", "A=1", str(path), "--epochs", "3"]

    converted = run("convert", *words)
    assert (converted.status, converted.err, server.requests) == (0, "", [])
    assert run("submit", *words).status == 0

    printed, sent = json.loads(converted.out), server.body()
    assert isinstance(sent["job"], dict)
    comment = str(sent["job"].pop("comment"))
    assert printed["job"].pop("comment") == "mine"
    assert comment.startswith("mine slurm-rest:")
    assert printed == sent


def test_nothing_is_asked_and_no_token_is_needed(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JWT", "SLURM_REST_URL", "SLURM_REST_API_VERSION"):
        monkeypatch.delenv(name)
    result = run("convert", "--wrap", "true")
    assert (result.status, server.requests) == (0, [])
    assert json.loads(result.out)["job"]["name"] == "wrap"


@pytest.mark.parametrize(
    "source", ["SLURM_JWT", "SLURM_REST_TOKEN_FILE", "no file", "SLURM_REST_TOKEN_COMMAND", "none"]
)
def test_the_user_comes_from_where_submit_has_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    text = token(sun="carol")
    monkeypatch.delenv("SLURM_JWT")
    if source == "SLURM_JWT":
        monkeypatch.setenv(source, text)
    elif source == "SLURM_REST_TOKEN_COMMAND":
        monkeypatch.setenv(source, f"touch {tmp_path}/ran")
    elif source != "none":
        (tmp_path / "token").write_text(f"SLURM_JWT={text}\n" if source != "no file" else "")
        monkeypatch.setenv("SLURM_REST_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setattr("getpass.getuser", lambda: "here")
    result = run("convert", "--wrap", "true")
    expected = "carol" if source in ("SLURM_JWT", "SLURM_REST_TOKEN_FILE") else "here"
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out)["job"]["current_working_directory"] == f"/home/{expected}"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", ["behind", "in front", "variable"])
def test_the_version_decides(run: Run, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def convert(version: str) -> tuple[int, str]:
        words = ["convert", "--segment=2", "--wrap", "true"]
        if place == "behind":
            words[1:1] = ["--api-version", version]
        elif place == "in front":
            words[:0] = ["--api-version", version]
        else:
            monkeypatch.setenv("SLURM_REST_API_VERSION", version)
        result = run(*words)
        return result.status, result.err

    assert convert("v0.0.41")[0] == 0
    status, said = convert("v0.0.40")
    assert status == 1
    assert "v0.0.40 cannot express --segment" in said


@pytest.mark.parametrize("words", [["convert", "--api-version=v9"], ["--api-version", "v9", "convert"]])
def test_a_version_that_is_not_known_is_a_matter_of_usage(run: Run, words: list[str]) -> None:
    result = run(*words, "--wrap", "true")
    assert result.status == 2
    error, hint = result.err.splitlines()
    assert error == "slurm-rest: error: no such API version: v9"
    assert all(version in hint for version in API_VERSIONS)


def test_what_sbatch_refuses_is_refused(run: Run) -> None:
    result = run("convert", stdin=b"#!/bin/sh\n#SBATCH -t soon\n")
    assert (result.status, result.out) == (1, "")
    assert "Line 2: " in result.err


def test_every_version_is_printed_as_json(run: Run) -> None:
    for version in API_VERSIONS:
        printed = run("convert", "--api-version", version, "-N2", "--wrap", "echo caf\u00e9 \udcff")
        assert printed.out.isascii()
        assert json.loads(printed.out)["script"].endswith("caf\u00e9 \udcff\n")


def test_submit_has_no_api_version_of_its_own(run: Run, server: Server) -> None:
    assert run("submit", "--api-version=v0.0.42", "--wrap", "true").status == 2


# --- help -----------------------------------------------------------------------------------------------------


def shown(run: Run, command: str) -> str:
    return run(command, "--help").out


@pytest.mark.parametrize("command", ["submit", "convert"])
def test_help_names_every_option(run: Run, command: str) -> None:
    found = re.findall(r"^  (?:-(\w), |    )--([a-z-]+)", shown(run, command), re.MULTILINE)
    own = {"submit": {("", "env"), ("", "idempotency-key")}, "convert": {("", "env"), ("", "api-version")}}[command]
    assert set(found) == {(row.short, row.long) for row in OPTIONS} | own
    assert len(found) == len(set(found))


def test_every_option_has_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names.split()]
    assert sorted(grouped) == sorted([*(row.long for row in OPTIONS), "env", "idempotency-key", "api-version"])


def test_help_fits_a_terminal() -> None:
    for command in ("submit", "convert"):
        lines = CliRunner().invoke(app, [command, "--help"], terminal_width=WIDTH).output.splitlines()
        assert max(map(len, lines)) <= WIDTH
        assert "Others:" not in lines


def test_the_common_options_come_first(run: Run) -> None:
    lines = shown(run, "submit").splitlines()
    first = lines.index("Common options:")
    assert lines[first + 1].startswith("  -J, --job-name NAME ")
    assert "      --env NAME=VALUE " in "\n".join(lines[first : first + 20])


def test_help_of_convert_says_what_is_printed(run: Run) -> None:
    said = " ".join(shown(run, "convert").split())
    assert "Print the JSON body that submit would send" in said
    assert "POST /slurm/VERSION/job/submit" in said
    assert "--api-version VERSION" in said
    assert "--api-version" not in shown(run, "submit")


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["--hel"], ["-Qh"], ["-n2", "-h", "nofile"]])
def test_help_submits_nothing(run: Run, server: Server, words: list[str]) -> None:
    result = run("submit", *words)
    assert (result.status, server.requests) == (0, [])
    assert result.out.startswith("Usage: ")
    assert "Common options:" in result.out


def test_usage_is_one_line(run: Run, server: Server) -> None:
    result = run("submit", "--usage")
    assert (result.status, result.err, server.requests) == (0, "", [])
    assert result.out == "Usage: slurm-rest submit [OPTIONS] [SCRIPT [ARGS...]]\n"


@pytest.mark.parametrize("word", ["-V", "--version"])
def test_the_version_is_this_programs(run: Run, server: Server, word: str) -> None:
    result = run("submit", word)
    assert (result.status, server.requests) == (0, [])
    assert result.out.startswith("slurm-rest ")
    assert len(result.out.splitlines()) == 1
