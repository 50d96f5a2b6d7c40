"""Which way leads to a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurm_rest import AsyncSlurmClient
from slurm_rest.config import load_settings
from slurm_rest.errors import ConfigError
from slurm_rest.transport.files import Files, choose_files


def files(**settings: object) -> Files:
    return choose_files(load_settings({"url": "http://nowhere", **settings}, {"HOME": "/nowhere"}))


@pytest.fixture
def here(tmp_path: Path) -> str:
    (tmp_path / "f").write_bytes(b"here")
    return str(tmp_path)


async def test_without_any_way_the_error_names_them() -> None:
    for way in (files(), files(path_map="/home=/mnt/home")):
        with pytest.raises(ConfigError, match="/scratch/x") as caught:
            await way.tail("/scratch/x")
        assert "SLURM_REST_PATH_MAP" in caught.value.hint
        assert "SLURM_REST_SSH_HOST" in caught.value.hint


async def test_the_path_map_comes_first(here: str) -> None:
    for settings in ({}, {"ssh_host": "login.invalid"}, {"transport": "cli"}, {"environment": "submit"}):
        way = files(path_map={"/cluster": here}, **settings)
        assert (await way.tail("/cluster/f")).data == b"here"
        await way.close()


@pytest.mark.parametrize("settings", [{"transport": "cli"}, {"environment": "submit"}])
async def test_on_a_host_of_the_cluster_all_paths_are_at_hand(here: str, settings: dict[str, object]) -> None:
    assert (await files(**settings).tail(f"{here}/f")).data == b"here"


async def test_health_has_a_row_for_files(here: str) -> None:
    def client(**settings: object) -> AsyncSlurmClient:
        environ = {"HOME": "/nowhere"}
        return AsyncSlurmClient("http://nowhere", token="t", environ=environ, **settings)  # type: ignore[arg-type]

    async with client() as slurm:
        row = slurm.health()[-1]
        assert (row.transport, row.state, row.where) == ("files", "open", "nowhere")
        assert "SLURM_REST_PATH_MAP" in row.reason
        assert [way.kind for way in await slurm.ping_files()] == ["none"]
    async with client(path_map={"/a": here, "/gone": f"{here}/gone"}, ssh_host="login", transport="rest") as slurm:
        row = slurm.health()[-1]
        assert (row.state, row.since, row.active) == ("closed", None, False)
        assert row.where.endswith("SFTP at login")
    async with client(path_map={"/a": here, "/gone": f"{here}/gone"}) as slurm:
        found = {way.where: way.reachable for way in await slurm.ping_files()}
        assert found == {f"/a at {here}": True, f"/gone at {here}/gone": False}
        row = slurm.health()[-1]
        assert (row.state, row.since is not None) == ("open", True)
        assert f"There is no {here}/gone here" in row.reason
    async with client(environment="submit") as slurm:
        assert [(way.kind, way.reachable) for way in await slurm.ping_files()] == [("host", True)]
