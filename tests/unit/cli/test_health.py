from __future__ import annotations

import json
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from slurm_rest import AsyncSlurmClient, FilesWay, Ping
from tests.unit.cli.server import URL, Run, Server, token

REFUSED = {"errors": [{"error_number": 1007, "error": "Protocol authentication error", "description": "no"}]}
NO_DATABASE = {"errors": [{"error_number": 7000, "error": "Unable to connect to database", "description": "away"}]}
NO_CONTROLLER = {"errors": [{"error_number": 1800, "error": "Unable to contact slurm controller", "description": "x"}]}


def lines(out: str) -> dict[str, str]:
    """Return what is said of each check, its hint left out."""
    return dict(line.split(maxsplit=1) for line in out.splitlines()[1:] if not line.strip().startswith("hint:"))


def down(server: Server) -> None:
    gone = {"hostname": "ctl1", "responding": False, "primary": True, "latency": 0}
    server.answer("GET", "/slurm/ping/", {"pings": [gone]})
    server.answer("GET", "/slurm/jobs/state/", NO_CONTROLLER, 502)


def test_all_is_well(run: Run, server: Server) -> None:
    result = run("ping")

    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[0] == f"rest {URL}"
    assert [line.split()[0] for line in result.out.splitlines()] == [
        "rest",
        "token",
        "controller",
        "accounting",
        "files",
        "none",
        "hint:",
    ]
    assert "SLURM_REST_PATH_MAP" in result.out.splitlines()[-1]
    said = lines(result.out)
    assert said["token"].startswith("ok      alice, from SLURM_JWT, good for 00:59:")
    assert said["controller"].startswith("ok      ctl1: Slurm 24.11.5, API v0.0.42, cluster testing, ")
    assert said["accounting"].startswith("ok ")


@pytest.mark.parametrize("way", ["nothing", "SLURM_REST_WORKDIR", "SLURM_REST_PATH_MAP", "SLURM_REST_ENVIRONMENT"])
def test_it_tells_that_nothing_says_where_jobs_start(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLURM_REST_WORKDIR")
    told = {"SLURM_REST_WORKDIR": "/x", "SLURM_REST_PATH_MAP": str(tmp_path), "SLURM_REST_ENVIRONMENT": "submit"}
    if way in told:
        monkeypatch.setenv(way, told[way])

    plain, document = run("ping"), json.loads(run("ping", "--json").out)["jobs"]

    assert (plain.status, document["ok"]) == (0, True)
    missing = way == "nothing"
    said = "\njobs\n  directory   -       Nothing says where jobs start: submit needs --chdir\n"
    assert (said in plain.out) == missing
    assert bool(document["checks"][0]["message"]) == missing
    assert (run("convert", "--wrap", "true").status != 0) == missing


def test_a_variable_that_is_misspelt_is_named(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ULR", "KNOWN_HOSTS", "CACHE", "MIRROR", "DEBUG", "RECORDER", "FAULT_SECONDS", "CLUSTER"):
        monkeypatch.setenv(f"SLURM_REST_{name}", "")
    result = run("ping")
    assert result.status == 0
    assert result.err.splitlines() == [
        "slurm-rest: warning: SLURM_REST_KNOWN_HOSTS is no setting",
        "hint: Did you mean SLURM_REST_SSH_KNOWN_HOSTS?",
        "slurm-rest: warning: SLURM_REST_ULR is no setting",
        "hint: Did you mean SLURM_REST_URL?",
    ]


def test_with_a_dead_controller_accounting_is_still_looked_at(run: Run, server: Server) -> None:
    down(server)

    result = run("ping")

    assert result.status == 1
    said = lines(result.out)
    assert said["controller"] == "FAILED  slurmrestd cannot reach slurmctld"
    assert said["accounting"].startswith("ok ")


def test_dead_accounting_is_told_apart(run: Run, server: Server) -> None:
    server.answer("GET", "/slurmdb/jobs/", NO_DATABASE, 502)

    result = run("ping")

    assert result.status == 1
    said = lines(result.out)
    assert said["controller"].startswith("ok ")
    assert said["accounting"].startswith("FAILED  slurmrestd cannot reach slurmdbd")


def refuse(server: Server) -> None:
    down(server)
    server.answer("GET", "/slurm/jobs/state/", REFUSED, 511)
    server.answer("GET", "/slurmdb/jobs/", NO_DATABASE, 502)


def test_a_rejected_token_is_told_apart(run: Run, server: Server) -> None:
    refuse(server)

    result = run("ping")

    assert result.status == 1
    both = " ".join(lines(result.out).values())
    assert both.count("not signed with this cluster's key") == 1
    assert both.count("FAILED  the same") == 1


def test_an_expired_token_is_told_apart(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(server)
    monkeypatch.setenv("SLURM_JWT", token(exp=int(time.time()) - 60))

    said = lines(run("ping").out)

    assert said["token"] == "FAILED  it has expired"
    assert "The token expired at" in said["controller"] + said["accounting"]


def test_no_token_is_told_apart(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JWT")
    for path in ("/slurm/ping/", "/slurmdb/jobs/"):
        server.answer("GET", path, "Authentication failure", 401)

    result = run("ping")

    assert result.status == 1
    said = lines(result.out)
    assert said["token"].split(maxsplit=1) == ["-", "no token is configured"]
    assert "slurmrestd wants a token" in said["controller"] + said["accounting"]


def test_a_local_socket_needs_no_token(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JWT")
    assert run("ping").status == 0


def test_an_unreadable_token_file_is_told_by_each_check(run: Run, server: Server) -> None:
    result = run("--token-file", "/no/such/file", "ping")

    assert result.status == 1
    said = lines(result.out)
    assert said["token"].startswith("FAILED  Cannot read the token file /no/such/file")
    assert (said["controller"], said["accounting"]) == ("FAILED  the same", "FAILED  the same")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError("[Errno -2] Name or service not known"), "host name"),
        (httpx.ConnectError("All connection attempts failed"), "Nothing listens at"),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"), "certificate"),
        (httpx.ConnectError("[SSL: WRONG_VERSION_NUMBER] wrong version number"), "does not speak TLS"),
    ],
)
def test_trouble_on_the_way_is_told_apart(run: Run, server: Server, error: Exception, words: str) -> None:
    for path in ("/slurm/ping/", "/slurmdb/jobs/"):
        server.answers["GET", path] = error

    result = run("ping")

    assert result.status == 1
    assert words in result.out
    assert result.err == ""


def test_a_server_that_is_no_slurmrestd_is_told_apart(run: Run, server: Server) -> None:
    for path in ("/slurm/ping/", "/slurmdb/jobs/"):
        server.answer("GET", path, "<html>hello</html>", 200)

    result = run("ping")

    assert result.status == 1
    assert "this is not slurmrestd's answer" in result.out


def test_a_silent_primary_counts_as_wrong(run: Run, server: Server) -> None:
    pings = [
        {"hostname": "ctl1", "responding": False, "primary": True},
        {"hostname": "ctl2", "responding": True, "primary": False},
    ]
    server.answer("GET", "/slurm/ping/", {"pings": pings})

    result = run("ping")

    assert result.status == 1
    assert lines(result.out)["controller"].startswith("FAILED  ctl1 gives no answer")


def test_json_is_one_document_whatever_is_wrong(run: Run, server: Server) -> None:
    down(server)

    result = run("ping", "--json")

    assert result.status == 1
    document = json.loads(result.out)
    (rest,) = document["transports"]
    assert (document["ok"], rest["ok"], rest["name"], rest["url"]) == (False, False, "rest", URL)
    assert {check["name"]: check["error"] for check in rest["checks"]} == {
        "token": None,
        "controller": "ControllerDown",
        "accounting": None,
    }
    assert rest["token"]["user"] == "alice"


def test_a_transport_that_cannot_be_made_does_not_hide_the_others(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_REST_SSH_HOST", "login.test")
    monkeypatch.setitem(sys.modules, "asyncssh", None)  # as where it is not installed

    result = run("ping")

    assert (result.status, result.err) == (1, "")
    assert lines(result.out)["controller"].startswith("ok ")
    *_, head, check, hint, files, sftp, _, used = result.out.splitlines()
    assert (files, sftp.split()[:2]) == ("files SFTP at login.test", ["sftp", "FAILED"])
    assert head == "ssh login.test"
    assert check == "  transport   FAILED  SSH needs asyncssh, which is not installed"
    assert hint.strip().startswith("hint: Install it: pip install")
    assert used == "Commands use rest"
    document = json.loads(run("ping", "--json").out)
    assert [(one["transport"], one["state"], one["active"]) for one in document["health"]] == [
        ("rest", "closed", True),
        ("ssh", "open", False),
    ]
    assert document["health"][1]["reason"] == "SSH needs asyncssh, which is not installed"
    rest, ssh = document["transports"]
    assert (rest["ok"], ssh["ok"], ssh["url"]) == (True, False, "login.test")
    assert ssh["checks"][0]["name"] == "transport"


@pytest.mark.parametrize("login", ["alice", "svc"])
def test_a_login_that_is_not_the_user_of_the_jobs_is_told(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch, login: str
) -> None:
    """No failure: files are read that way, and jobs can be asked about."""
    monkeypatch.setenv("SLURM_REST_SSH_HOST", "login.test")
    monkeypatch.setenv("SLURM_REST_SSH_USER", login)
    # As far as making a client needs it, also where it is not installed.
    asyncssh = ModuleType("asyncssh")
    asyncssh.__spec__ = ModuleSpec("asyncssh", None)
    monkeypatch.setitem(sys.modules, "asyncssh", asyncssh)

    async def asked(_: AsyncSlurmClient) -> list[Ping]:
        return [Ping(hostname="ctl1", responding=True, primary=True, slurm="24.11.5", cluster="testing")]

    async def nothing(_: AsyncSlurmClient) -> list[FilesWay]:
        return []

    monkeypatch.setattr(AsyncSlurmClient, "ping", asked)
    monkeypatch.setattr(AsyncSlurmClient, "ping_accounting", asked)
    monkeypatch.setattr(AsyncSlurmClient, "ping_files", nothing)

    document = json.loads(run("ping", "--json").out)

    _, ssh = document["transports"]
    assert ssh["ok"]
    told = [check["message"] for check in ssh["checks"] if check["name"] == "user"]
    assert told == (["it logs in as svc: jobs of alice are not submitted this way"] if login == "svc" else [])


def test_each_way_to_files_is_checked(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("SLURM_REST_PATH_MAP", f"/home={tmp_path}/home")
    result = run("ping")
    assert result.status == 0
    head, check = result.out.splitlines()[-2:]
    assert head == f"files /home at {tmp_path}/home"
    assert check.split()[:2] == ["directory", "ok"]

    monkeypatch.setenv("SLURM_REST_PATH_MAP", f"/home={tmp_path}/home,/scratch={tmp_path}/gone")
    result = run("ping")
    assert result.status == 1
    gone, hint, home = result.out.splitlines()[-3:]
    assert gone.split()[:2] == ["directory", "FAILED"]
    assert f"There is no {tmp_path}/gone here" in gone
    assert "is it mounted" in hint
    assert home.split()[:2] == ["directory", "ok"]
    files = json.loads(run("ping", "--json").out)["files"]
    assert (files["ok"], [check["error"] for check in files["checks"]]) == (False, ["FileMissing", None])


def test_texts_of_the_server_are_made_harmless(run: Run, server: Server) -> None:
    evil = {"hostname": "ctl\x1b]0;x\x07\n", "responding": True, "primary": True}
    server.answer("GET", "/slurm/ping/", {"pings": [evil]})

    result = run("ping")

    assert "\x1b" not in result.out
    assert len(result.out.splitlines()) == 7
