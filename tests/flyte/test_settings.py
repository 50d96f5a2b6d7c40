"""The deployment's variables, and that a task cannot change what they set."""

from __future__ import annotations

import dataclasses
import itertools
import os
from pathlib import Path

import jwt
import pytest

from flyteplugins.slurm_rest.clients import make_client
from flyteplugins.slurm_rest.settings import AskedConnection, ClusterAccess, Deployment, SecretValues, parse_size
from slurm_rest.auth import ChainToken, NoToken, read_claims
from slurm_rest.errors import ConfigError

ASKED = AskedConnection("evil", 666, "root", "/evil/hosts", "http://evil", "v0.0.99")
SECRETS = SecretValues("task-key", "task-hosts", "task-token")
EVERYTHING = {
    "FLYTE_SLURM_HOST": "login",
    "FLYTE_SLURM_PORT": "2222",
    "FLYTE_SLURM_USERNAME": "svc",
    "FLYTE_SLURM_SSH_PRIVATE_KEY": "our-key\n",
    "FLYTE_SLURM_KNOWN_HOSTS": "/etc/hosts",
    "FLYTE_SLURM_WORKING_DIR": "/scratch/{user}",
    "FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES": "2GB",
    "FLYTE_SLURM_REST_URL": "http://ours",
    "FLYTE_SLURM_REST_TOKEN": "our-token",
    "FLYTE_SLURM_REST_API_VERSION": "v0.0.42",
    "FLYTE_SLURM_REST_CA_FILE": "/ca.pem",
    "FLYTE_SLURM_TRANSPORT": "auto",
    "FLYTE_SLURM_FILES": "/home=/mnt/home",
}


def test_all_of_them_are_read() -> None:
    found = Deployment.read(EVERYTHING)
    assert (found.host, found.port, found.username, found.ssh_private_key) == ("login", 2222, "svc", "our-key\n")
    assert (found.rest_url, found.rest_token, found.files) == ("http://ours", "our-token", "/home=/mnt/home")
    assert (found.working_dir, found.upload_max_bytes) == ("/scratch/{user}", 2_000_000_000)
    assert Deployment.read({}) == Deployment()


def test_changes_of_the_environment_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the same values make the same object, which is looked up thousands of times a second."""
    monkeypatch.setenv("FLYTE_SLURM_REST_URL", "http://one")
    first = Deployment.read(os.environ)
    assert Deployment.read(os.environ) is first
    monkeypatch.setenv("FLYTE_SLURM_REST_URL", "http://two")
    assert (first.rest_url, Deployment.read(os.environ).rest_url) == ("http://one", "http://two")
    monkeypatch.setenv("FLYTE_SLURM_REST_URL", "http://one")
    assert Deployment.read(os.environ) == first
    monkeypatch.delenv("FLYTE_SLURM_REST_URL")
    assert not Deployment.read(os.environ).rest_url


def test_a_task_changes_nothing_of_a_deployment_that_sets_everything() -> None:
    deployment = Deployment.read(EVERYTHING)
    assert deployment.access(ASKED, SECRETS) == deployment.access(AskedConnection())


@pytest.mark.parametrize("alone", ["FLYTE_SLURM_REST_URL", "FLYTE_SLURM_HOST"])
def test_one_way_of_the_deployment_is_enough_to_keep_a_task_from_choosing_another(alone: str) -> None:
    access = Deployment.read({alone: EVERYTHING[alone]}).access(ASKED, SECRETS)
    assert "evil" not in (access.host, access.rest_url)
    assert "http://evil" not in (access.host, access.rest_url)


def test_a_token_of_the_deployment_goes_nowhere_else() -> None:
    """Whatever the deployment leaves out: an address that the task chose never meets a credential for slurmrestd."""
    names = [name for name in EVERYTHING if name not in ("FLYTE_SLURM_TRANSPORT", "FLYTE_SLURM_FILES")]
    for size in range(len(names) + 1):
        for chosen in itertools.combinations(names, size):
            try:
                access = Deployment.read({name: EVERYTHING[name] for name in chosen}).access(ASKED, SECRETS)
            except ConfigError:
                continue
            if access.rest_url != "http://ours":
                assert access.rest_token in ("", "task-token")
            if access.rest_token == "our-token":
                assert access.user != "root"


def test_a_token_of_the_task_serves_where_the_deployment_has_none() -> None:
    url = {"FLYTE_SLURM_REST_URL": "http://ours"}
    access = Deployment.read(url).access(ASKED, SECRETS)
    assert (access.rest_url, access.rest_token, access.user) == ("http://ours", "task-token", "root")
    own = Deployment.read({**url, "FLYTE_SLURM_REST_TOKEN_FILE": "/token"}).access(ASKED, SECRETS)
    assert (own.rest_token, own.rest_token_file, own.user) == ("", "/token", "")


def test_without_a_deployment_the_task_decides() -> None:
    access = Deployment().access(ASKED, SECRETS)
    assert (access.host, access.port, access.user, access.rest_url) == ("evil", 666, "root", "http://evil")
    assert (access.ssh_private_key, access.rest_token, access.known_hosts_data) == (
        "task-key",
        "task-token",
        "task-hosts",
    )
    assert not access.skip_host_key_verification


@pytest.mark.parametrize("word", ["1", "true", "YES"])
def test_only_the_deployment_turns_verification_off(word: str) -> None:
    given = Deployment.read({"FLYTE_SLURM_SKIP_HOST_KEY_VERIFICATION": word})
    assert given.access(ASKED).skip_host_key_verification
    assert "skip" not in {field.name.split("_")[0] for field in dataclasses.fields(AskedConnection)}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"FLYTE_SLURM_PORT": "ssh"}, "PORT is 'ssh'"),
        ({"FLYTE_SLURM_TRANSPORT": "pigeon"}, "TRANSPORT is 'pigeon'"),
        ({"FLYTE_SLURM_FILES": "home"}, "path"),
        ({"FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES": "lots"}, "no size"),
        ({"FLYTE_SLURM_REST_TOKEN": "t"}, "no address"),
        ({"FLYTE_SLURM_REST_URL": "http://x", "FLYTE_SLURM_REST_JWT_KEY_FILE": "/k"}, "needs the user"),
        ({"FLYTE_SLURM_TRANSPORT": "rest", "FLYTE_SLURM_HOST": "h"}, "TRANSPORT is rest"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        Deployment.read(given)


def test_no_way_at_all_is_said() -> None:
    with pytest.raises(ConfigError, match=r"No way to Slurm.*FLYTE_SLURM_REST_URL"):
        Deployment().access(AskedConnection())


def test_a_login_without_a_user_is_not_made_as_this_processs_own() -> None:
    asked = AskedConnection(host="login")
    with pytest.raises(ConfigError, match=r"as whom to log in to login.*FLYTE_SLURM_USERNAME"):
        Deployment().access(asked)
    with pytest.raises(ConfigError, match="as whom"):
        Deployment(host="login", ssh_private_key="key").access(AskedConnection())
    assert Deployment(rest_url="http://slurm", host="login").access(asked).user == "", "the token's"
    assert Deployment(host="login", username="svc").access(asked).user == "svc"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 104857600),
        ("500", 500),
        ("500MB", 500_000_000),
        ("512 MiB", 536870912),
        ("2gb", 2_000_000_000),
        ("0", None),
        ("unlimited", None),
        ("none", None),
        ("3TiB", 3 * 2**40),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["-1", "1.5GB", "GB", "1PB", "0x10"])
def test_other_words_are_no_sizes(text: str) -> None:
    with pytest.raises(ConfigError, match="no size"):
        parse_size(text)


def test_nothing_secret_is_shown() -> None:
    deployment = Deployment.read(EVERYTHING)
    shown = f"{deployment} {deployment.access(ASKED, SECRETS)} {SECRETS} {Deployment().access(ASKED, SECRETS)}"
    for secret in ("our-key", "our-token", "task-key", "task-token", "task-hosts"):
        assert secret not in shown


async def test_a_client_knows_nothing_of_the_process_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JWT", "of-the-process")
    monkeypatch.setenv("SLURM_REST_URL", "http://other")
    monkeypatch.setenv("SBATCH_PARTITION", "other")
    client = make_client(ClusterAccess(rest_url="http://task", user="u"))
    assert (client.settings.url, client.settings.user) == ("http://task", "u")
    assert isinstance(client.settings.token, (NoToken, ChainToken))
    assert not await client.settings.token.token()
    assert "SBATCH_PARTITION" not in client.settings.environ
    await client.close()


async def test_what_the_deployment_sets_reaches_its_client(tmp_path: Path) -> None:
    """Each of the variables, also those that no task has a word in."""
    everything = {**EVERYTHING, "FLYTE_SLURM_SKIP_HOST_KEY_VERIFICATION": "1"}
    client = make_client(Deployment.read(everything).access(ASKED, SECRETS))
    found = client.settings
    assert (found.url, found.user, found.api_version, found.ca_file) == (
        "http://ours",
        "svc",
        "v0.0.42",
        Path("/ca.pem"),
    )
    assert (found.ssh_host, found.ssh_port, found.ssh_user, found.ssh_key) == ("login", 2222, "svc", "our-key\n")
    assert (found.ssh_known_hosts, found.ssh_insecure, found.transport) == (Path("/etc/hosts"), True, "auto")
    assert await found.token.token() == "our-token"
    await client.close()
    assert not make_client(Deployment.read(EVERYTHING).access(ASKED, SECRETS)).settings.ssh_insecure
    (tmp_path / "token").write_text("SLURM_JWT=of-the-file\n")
    (tmp_path / "key").write_bytes(bytes(32))
    rest = {"FLYTE_SLURM_REST_URL": "http://ours", "FLYTE_SLURM_USERNAME": "svc"}
    by_file = {**rest, "FLYTE_SLURM_REST_TOKEN_FILE": str(tmp_path / "token")}
    by_key = {**rest, "FLYTE_SLURM_REST_JWT_KEY_FILE": str(tmp_path / "key")}
    tokens = [
        await make_client(Deployment.read(one).access(ASKED, SECRETS)).settings.token.token()
        for one in (by_file, by_key)
    ]
    assert tokens[0] == "of-the-file"
    assert read_claims(tokens[1]).user == "svc"
    for way in ("rest", "ssh", "cli"):
        access = Deployment.read({**EVERYTHING, "FLYTE_SLURM_TRANSPORT": way}).access(ASKED, SECRETS)
        assert make_client(access).settings.ways() == (way,)


def test_the_login_node_is_entered_as_whom_the_token_names(tmp_path: Path) -> None:
    """REST makes jobs of that user; what is fetched or made over SSH is not to be another's."""
    token = jwt.encode({"sun": "alice", "exp": 2_000_000_000}, "k" * 32, algorithm="HS256")
    (tmp_path / "token").write_text(f"SLURM_JWT={token}\n")
    rest = {"FLYTE_SLURM_REST_URL": "http://ours", "FLYTE_SLURM_HOST": "login"}
    for more, user in (
        ({"FLYTE_SLURM_REST_TOKEN": token}, "alice"),
        ({"FLYTE_SLURM_REST_TOKEN_FILE": str(tmp_path / "token")}, "alice"),
        ({"FLYTE_SLURM_REST_TOKEN": token, "FLYTE_SLURM_USERNAME": "svc"}, "svc"),
        ({"FLYTE_SLURM_REST_TOKEN": "no-jwt"}, None),
        ({"FLYTE_SLURM_REST_TOKEN_FILE": str(tmp_path / "missing")}, None),
    ):
        access = Deployment.read({**rest, **more}).access(AskedConnection())
        assert make_client(access).settings.ssh_user == user
