"""What deploy/compose/credentials makes: tokens that Slurm's own rules take, and keys that stay the same."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import stat
from pathlib import Path
from types import ModuleType

import jwt
import pytest

from tests.packaging.support import ROOT

KEY = b"k" * 32


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script as a module, with folders of this test and without the right to give files away."""
    loader = importlib.machinery.SourceFileLoader("credentials", str(ROOT / "deploy/compose/credentials"))
    spec = importlib.util.spec_from_loader("credentials", loader)
    assert spec is not None
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    for name in ("OUT", "HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(module, name, tmp_path / name)
    (tmp_path / "HOME/.profile").write_text("umask 022\n")
    monkeypatch.setattr(module.os, "fchown", lambda *_: None)
    return module


def test_a_token_is_what_the_daemons_take(maker: ModuleType) -> None:
    claims = jwt.decode(maker.sign(KEY, 1_000_000), KEY, algorithms=["HS256"], options={"verify_exp": False})
    assert claims == {"sun": "svc", "iat": 1_000_000, "exp": 1_000_000 + maker.LIFESPAN}
    # The next one comes well before this one ends.
    assert maker.RENEWAL * 2 < maker.LIFESPAN


def test_store_and_clients_have_the_same_keys_and_keep_them(maker: ModuleType) -> None:
    maker.make_store_keys()
    made = {path.name: path.read_text() for path in maker.OUT.iterdir()}
    (identity,) = json.loads(made["s3.json"])["identities"]
    variables = dict(line.removeprefix("export ").split("=", 1) for line in made["store.env"].splitlines())
    assert identity["credentials"] == [
        {"accessKey": variables["FLYTE_AWS_ACCESS_KEY_ID"], "secretKey": variables["FLYTE_AWS_SECRET_ACCESS_KEY"]}
    ]
    assert len(variables["FLYTE_AWS_SECRET_ACCESS_KEY"]) >= 40
    maker.make_store_keys()
    assert {path.name: path.read_text() for path in maker.OUT.iterdir()} == made
    assert (maker.HOME / ".profile").read_text() == "umask 022\n. ~/.store.env\n"
    assert (maker.HOME / ".store.env").read_text() == made["store.env"]


def test_nobody_else_may_read_them(maker: ModuleType) -> None:
    maker.make_store_keys()
    maker.write(maker.OUT / "token", "x")
    written = [*maker.OUT.iterdir(), maker.HOME / ".store.env"]
    assert len(written) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o400}


def test_keys_of_a_start_that_was_cut_off_are_made_anew(maker: ModuleType) -> None:
    """What the store has and what its clients have must not come from two starts."""
    maker.write(maker.OUT / "store.env", "export FLYTE_AWS_ACCESS_KEY_ID=old\n")
    maker.make_store_keys()
    (identity,) = json.loads((maker.OUT / "s3.json").read_text())["identities"]
    assert identity["credentials"][0]["accessKey"] in (maker.OUT / "store.env").read_text()


@pytest.mark.parametrize(("hours", "well"), [(0, True), (3, False)])
def test_a_token_that_is_not_renewed_is_noticed(
    maker: ModuleType, monkeypatch: pytest.MonkeyPatch, hours: int, well: bool
) -> None:
    monkeypatch.setattr("sys.argv", ["credentials", "healthy"])
    maker.write(maker.OUT / "token", "x")
    then = (maker.OUT / "token").stat().st_mtime - hours * 3600
    os.utime(maker.OUT / "token", (then, then))
    with pytest.raises(SystemExit) as ended:
        maker.main()
    assert (ended.value.code == 0) is well
