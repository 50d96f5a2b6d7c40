"""Settings: which layer wins, the profile file, and every way in which they can be wrong."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from slurm_rest.auth import (
    ChainToken,
    CommandToken,
    EnvironmentToken,
    FileToken,
    KeyToken,
    NoToken,
    ScontrolToken,
    StaticToken,
    TokenProvider,
)
from slurm_rest.config import Settings, load_settings
from slurm_rest.errors import ConfigError, TokenMissing

URL = "http://slurm:6820"
Profile = Callable[[str], dict[str, str]]


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """Return a function that writes a profile file and gives the environment in which it is found."""

    def write(text: str) -> dict[str, str]:
        folder = tmp_path / "slurm-rest"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(text)
        return {"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/nowhere"}

    return write


def load(environ: Mapping[str, str] | None = None, **arguments: object) -> Settings:
    return load_settings(arguments, {"HOME": "/nowhere", **(environ or {})})


def test_nothing_set_is_no_url_and_the_defaults() -> None:
    settings = load()
    assert (settings.url, settings.api_version, settings.user, settings.cluster) == ("", None, None, "")
    assert (settings.transport, settings.environment, settings.workdir) == ("auto", "login", None)
    assert isinstance(settings.token, NoToken)
    with pytest.raises(ConfigError, match=r"No slurmrestd is configured.*SLURM_REST_URL"):
        settings.require_url()


def test_arguments_win_over_environment_and_that_over_the_profile(profile: Profile) -> None:
    environ = profile('[clusters.a]\nurl = "http://p:1"\nuser = "p"\nworkdir = "/p"\napi_version = "v0.0.40"\n')
    assert load(environ).url == "http://p:1"
    environ |= {"SLURM_REST_URL": "http://e:2", "SLURM_REST_USER": "e", "SLURM_REST_WORKDIR": ""}
    settings = load(environ, url="http://a:3", user=None)
    assert settings.url == "http://a:3"
    assert settings.user == "e"
    assert settings.workdir == "/p"
    assert settings.api_version == "v0.0.40"
    assert settings.cluster == "a"


# --- the address ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (URL, URL),
        (URL + "/", URL),
        ("https://slurm", "https://slurm"),
        ("http://[::1]:6820", "http://[::1]:6820"),
        ("http://gate/slurm/", "http://gate/slurm"),
        ("unix:/run/s.sock", "unix:/run/s.sock"),
        ("unix:///run/s.sock", "unix:/run/s.sock"),
    ],
)
def test_addresses_that_are_taken(given: str, kept: str) -> None:
    assert load(url=given).url == kept


@pytest.mark.parametrize(
    "url",
    [
        "slurm:6820",
        "slurm",
        "ftp://slurm",
        "http://",
        "http://:6820",
        "http://slurm:port",
        "http://slurm:0",
        "http://slurm:99999",
        "http://[::1",
        "http://slurm :6820",
        "http://slurm:6820\n",
        "http://sl\x1burm",
        "unix:run/s.sock",
        "unix://run/s.sock",
        "unix:",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError, match=r"http://HOST:PORT"):
        load(url=url)


@pytest.mark.parametrize("url", ["http://alice:s3cret@slurm", "ftp://alice:s3cret@slurm", "http://h/?token=s3cret"])
def test_an_address_with_a_secret_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(url=url)
    assert "s3cret" not in str(caught.value)


# --- other values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["v0.0.42", "0.0.42"])
def test_a_version_with_and_without_its_letter(value: str) -> None:
    assert load(api_version=value).api_version == "v0.0.42"


@pytest.mark.parametrize("value", ["latest", "v", "v0.0.x", "v0..42", "24.11.5-1"])
def test_what_is_no_version(value: str) -> None:
    with pytest.raises(ConfigError, match="API version"):
        load(api_version=value)


@pytest.mark.parametrize(("name", "value"), [("transport", "telnet"), ("environment", "mine")])
def test_words_that_a_setting_does_not_know(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is '{value}'.*SLURM_REST_{name.upper()}"):
        load({f"SLURM_REST_{name.upper()}": value})


def test_a_home_that_does_not_exist_is_said() -> None:
    for name in ("CA_FILE", "TOKEN_FILE", "JWT_KEY_FILE"):
        with pytest.raises(ConfigError, match="home of a user"):
            load({f"SLURM_REST_{name}": "~no-such-user-here/x", "SLURM_REST_USER": "alice"})


# --- tokens ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({"SLURM_JWT": "x"}, EnvironmentToken),
        ({"SLURM_REST_TOKEN_FILE": "/x"}, FileToken),
        ({"SLURM_REST_TOKEN_COMMAND": "make token --for 'me too'"}, CommandToken),
        ({"SLURM_REST_JWT_KEY_FILE": "/x", "SLURM_REST_USER": "alice"}, KeyToken),
        ({"SLURM_JWT": "x", "SLURM_REST_TOKEN_FILE": "/x"}, ChainToken),
        ({"SLURM_REST_TOKEN_SSH": "1", "SLURM_REST_SSH_HOST": "login"}, ScontrolToken),
        ({"SLURM_REST_TOKEN_SSH": "0", "SLURM_REST_SSH_HOST": "login"}, NoToken),
        ({}, NoToken),
    ],
)
def test_where_the_token_comes_from(environ: dict[str, str], kind: type[object]) -> None:
    assert type(load(environ).token) is kind


def test_a_token_argument_wins_over_everything(profile: Profile) -> None:
    environ = {**profile('[clusters.a]\nurl = "http://p:1"\ntoken_file = "/p"\n'), "SLURM_JWT": "e"}
    assert load(environ, token="t").token == StaticToken("t")
    assert load(environ, token_file="/f").token == FileToken(Path("/f"))
    provider = FileToken(Path("/mine"))
    assert load(environ, token=provider).token is provider
    assert load({**environ, "SLURM_JWT": "e"}).token == EnvironmentToken({**environ, "HOME": "/nowhere"})


async def test_an_empty_token_argument_is_not_replaced_by_another_identity() -> None:
    with pytest.raises(TokenMissing, match="the token argument is empty"):
        await load({"SLURM_JWT": "e"}, token="").token.token()


def test_the_command_is_split_as_a_shell_would() -> None:
    assert load({"SLURM_REST_TOKEN_COMMAND": "make --for 'me too'"}).token == CommandToken(["make", "--for", "me too"])
    assert load(token_command=("make", "x y")).token == CommandToken(["make", "x y"])


def test_the_key_signs_for_the_user_of_the_settings_or_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load({"SLURM_REST_USER": "alice"}, jwt_key_file="/k").token == KeyToken(Path("/k"), "alice")
    monkeypatch.setattr(getpass, "getuser", lambda: "me")
    assert load(jwt_key_file="/k").token == KeyToken(Path("/k"), "me")

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(getpass, "getuser", nobody)
    with pytest.raises(ConfigError, match="SLURM_REST_USER"):
        load(jwt_key_file="/k")


@pytest.mark.parametrize("token", [123, b"token", [], object()])
def test_what_is_neither_text_nor_provider(token: object) -> None:
    with pytest.raises(ConfigError, match="The token is of type"):
        load(token=token)


@pytest.mark.parametrize("words", ["'half", "  ", 5, [1]])
def test_commands_that_are_none(words: object) -> None:
    with pytest.raises(ConfigError, match="token command"):
        load(token_command=words)


def test_sources_of_one_layer_are_asked_one_after_the_other(profile: Profile) -> None:
    kept = {"HOME": "/nowhere", "SLURM_JWT": "x", "SLURM_REST_TOKEN_FILE": "/f", "SLURM_REST_TOKEN_COMMAND": "c"}
    kept |= {"SLURM_REST_JWT_KEY_FILE": "/k", "SLURM_REST_USER": "u", "SLURM_REST_JWT_KEY_ID": "id"}
    kept |= {"SLURM_REST_TOKEN_SSH": "yes", "SLURM_REST_SSH_HOST": "login"}
    found = load_settings({}, kept).token
    file, command, key = FileToken(Path("/f")), CommandToken(["c"]), KeyToken(Path("/k"), "u", key_id="id")
    assert found == ChainToken([EnvironmentToken(kept), file, command, key, ScontrolToken("login")])
    assert load(kept, token_file="/f").token == file
    assert load(kept, token="t", token_file="/f").token == ChainToken([StaticToken("t"), file])
    table = '[clusters.a]\nurl = "http://p:1"\ntoken_file = "/f"\ntoken_command = "c"\n'
    assert load(profile(table)).token == ChainToken([file, command])


def test_a_list_names_sources_in_an_order_of_its_own(profile: Profile) -> None:
    words = 'token = ["key:/k", "ssh", "env", "env:MINE", "command:make it", "file:/f"]'
    environ = profile(f'[clusters.a]\nurl = "http://p:1"\nssh_host = "login"\nuser = "u"\n{words}\n')
    env = {**environ}
    keys: list[TokenProvider] = [KeyToken(Path("/k"), "u"), ScontrolToken("login")]
    chain = [*keys, EnvironmentToken(env), EnvironmentToken(env, "MINE")]
    found = load_settings({}, env).token
    assert found == ChainToken([*chain, CommandToken(["make", "it"]), FileToken(Path("/f"))])
    own = StaticToken("t")
    assert load(token=[own, "file:/f"]).token == ChainToken([own, FileToken(Path("/f"))])
    assert load(token=[own]).token is own


@pytest.mark.parametrize("source", ["a.b.c", "file:", "env:", "ssh:x", "x:y", "", 5])
def test_entries_that_are_no_source_are_refused_without_being_shown(source: object) -> None:
    with pytest.raises(ConfigError, match="token source") as caught:
        load(token=[source])
    assert str(source) not in caught.value.message or not source or source == 5


def test_a_token_over_ssh_needs_a_host_and_a_plain_word() -> None:
    with pytest.raises(ConfigError, match="needs a host"):
        load({"SLURM_REST_TOKEN_SSH": "1"})
    with pytest.raises(ConfigError, match="token_ssh is 'login'"):
        load({"SLURM_REST_TOKEN_SSH": "login"})


# --- the profile file -----------------------------------------------------------------------------------------

TWO = '[clusters.a]\nurl = "http://a:1"\n[clusters.b]\nurl = "http://b:1"\ntoken_command = ["make", "b"]\n'


def test_a_cluster_is_chosen_by_argument_environment_or_default(profile: Profile) -> None:
    environ = profile('default = "a"\n' + TWO)
    assert load(environ).cluster == "a"
    environ["SLURM_REST_CLUSTER"] = "b"
    settings = load(environ)
    assert (settings.cluster, settings.url, settings.token) == ("b", "http://b:1", CommandToken(["make", "b"]))
    assert load(environ, cluster="a").url == "http://a:1"


def test_several_clusters_and_no_choice(profile: Profile) -> None:
    environ = profile(TWO)
    with pytest.raises(ConfigError, match=r"none is chosen.*SLURM_REST_CLUSTER.*a, b"):
        load(environ)
    assert load({**environ, "SLURM_REST_URL": URL}).url == URL


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[clusters.a", "Cannot read"),
        ('clusters = "a"\n', "clusters must be tables"),
        ("[clusters]\na = 1\n", "clusters must be tables"),
        ('default = "c"\n' + TWO, "has no cluster 'c'.*a, b"),
        ('[clusters.a]\nulr = "http://a:1"\n', r"unknown key 'ulr'\. Did you mean url\?"),
        ('url = "http://a:1"\n' + TWO, r"'url' stands outside a cluster\. Write \[clusters.NAME\] above it"),
        ('[clusters.a]\nurl = "a:1"\n', "not the URL"),
    ],
)
def test_profiles_that_are_wrong(text: str, words: str, profile: Profile) -> None:
    with pytest.raises(ConfigError, match=words):
        load(profile(text))


def test_a_cluster_without_a_file() -> None:
    with pytest.raises(ConfigError, match="'a' is asked for, but there is no /nowhere"):
        load(cluster="a")


def test_a_home_that_cannot_be_looked_into_has_no_profile() -> None:
    assert load({"HOME": "/" + "x" * 5000}).cluster == ""


def test_settings_show_no_token_and_no_environment(profile: Profile) -> None:
    environ = {**profile('[clusters.a]\nurl = "http://p:1"\ntoken = "s3cret"\n'), "PASSWORD": "s3cret"}
    assert "s3cret" not in repr(load(environ))
    assert "s3cret" not in repr(load({"SLURM_JWT": "s3cret"}, url=URL))
    assert "s3cret" not in repr(load(url=URL, token="s3cret"))


async def test_a_profiles_token_is_not_sent_to_another_url(profile: Profile) -> None:
    environ = profile('[clusters.hpc]\nurl = "http://hpc:6820"\ntoken = "a.b.c"\nworkdir = "/w"\n')
    other = load({**environ, "SLURM_REST_URL": "http://elsewhere:6820"})
    assert (await other.token.token(), other.workdir) == ("", "/w")
    named = load({**environ, "SLURM_REST_URL": "http://elsewhere:6820", "SLURM_REST_CLUSTER": "hpc"})
    assert await named.token.token() == "a.b.c"
    same = load({**environ, "SLURM_REST_URL": "http://hpc:6820"})
    assert await same.token.token() == "a.b.c"


def test_ssh_settings_come_from_every_layer(profile: Profile) -> None:
    found = profile('[clusters.a]\nssh_host = "login.a"\nssh_port = 23\nssh_user = "alice"\n')
    environ = {**found, "SLURM_REST_SSH_PORT": "24", "SLURM_REST_SSH_PROXY_JUMP": "j"}
    settings = load_settings({"ssh_key_file": "/k", "ssh_user": "bob"}, environ)
    assert (settings.ssh_host, settings.ssh_port, settings.ssh_user) == ("login.a", 24, "bob")
    assert (settings.ssh_key_file, settings.ssh_proxy_jump) == (Path("/k"), "j")


@pytest.mark.parametrize(
    ("value", "on"), [("1", True), ("true", True), (True, True), ("0", False), ("false", False), (False, False)]
)
def test_a_tunnel_is_on_or_off(value: object, on: bool) -> None:
    assert load_settings({"ssh_tunnel": value}, {}).ssh_tunnel is on
    assert load_settings({}, {"SLURM_REST_SSH_TUNNEL": str(value)}).ssh_tunnel is on


@pytest.mark.parametrize("path", ["exits", "{user}/exits", "/home/a\nb"])
def test_exit_records_lie_in_an_absolute_directory(path: str) -> None:
    assert load_settings({}, {"SLURM_REST_EXIT_RECORDS": "/home/{user}/e"}).exit_records == "/home/{user}/e"
    assert load_settings({}, {"SLURM_REST_EXIT_RECORDS": ""}).exit_records is None
    with pytest.raises(ConfigError, match=r"no absolute path.*SLURM_REST_EXIT_RECORDS"):
        load_settings({"exit_records": path}, {})


def test_a_tunnel_is_no_address() -> None:
    assert load_settings({}, {"SLURM_REST_SSH_TUNNEL": ""}).ssh_tunnel is False
    with pytest.raises(ConfigError, match="'login:22'"):
        load_settings({}, {"SLURM_REST_SSH_TUNNEL": "login:22"})


@pytest.mark.parametrize(
    ("arguments", "ways", "by_commands"),
    [
        ({}, ["rest"], ["cli"]),
        ({"ssh_host": "h"}, ["ssh"], ["ssh", "cli"]),
        ({"url": "http://h:1"}, ["rest"], ["rest", "cli"]),
        ({"ssh_host": "h", "url": "http://h:1"}, ["rest", "ssh"], ["rest", "ssh", "cli"]),
        ({"ssh_host": "h", "url": "http://h:1", "transport": "ssh"}, ["ssh"], ["ssh"]),
        ({"transport": "cli"}, ["cli"], ["cli"]),
    ],
)
def test_the_transports_follow_from_what_is_set(
    arguments: dict[str, str], ways: list[str], by_commands: list[str], tmp_path: Path
) -> None:
    assert [*load_settings(arguments, {}).ways()] == ways
    for name in ("sbatch", "squeue"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert [*load_settings(arguments, {"PATH": str(tmp_path)}).ways()] == by_commands
    (tmp_path / "squeue").unlink()
    assert [*load_settings(arguments, {"PATH": str(tmp_path)}).ways()] == ways, "one command is not Slurm"


@pytest.mark.parametrize("port", ["0", "65536", "ssh", "-1", "\u0661"])
def test_a_port_is_a_number(port: str) -> None:
    with pytest.raises(ConfigError, match="not a port"):
        load_settings({}, {"SLURM_REST_SSH_PORT": port})


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "alice@h", "a b", "h\n"])
def test_a_host_is_a_name(host: str) -> None:
    with pytest.raises(ConfigError, match="not the name"):
        load_settings({"ssh_host": host}, {})


@pytest.mark.parametrize("name", ["user", "ssh_user"])
@pytest.mark.parametrize("user", ["ali\udcff", "ali\nce", "\0"])
def test_a_user_has_a_name_that_can_be_sent(name: str, user: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is .*no user's name.*SLURM_REST_"):
        load_settings({name: user}, {})


def test_an_unknown_argument_names_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"no argument 'ssh_hst'\. Did you mean 'ssh_host'"):
        load_settings({"ssh_hst": "login"}, {})


def test_only_the_environment_turns_host_key_verification_off(profile: Profile) -> None:
    assert load_settings({}, {"SLURM_REST_SSH_INSECURE": "1"}).ssh_insecure
    with pytest.raises(TypeError):
        load_settings({"ssh_insecure": True}, {})
    with pytest.raises(ConfigError, match="unknown key"):
        load_settings({}, profile("[clusters.a]\nssh_insecure = true\n"))


def test_a_private_key_is_in_no_repr() -> None:
    assert "secret" not in repr(load_settings({"ssh_key": "secret"}, {}))
