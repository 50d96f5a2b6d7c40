"""Whose token it is, who signs it, and as whom one acts, on real clusters."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.auth import KeyToken
from slurm_rest.errors import AuthError, ConfigError, TokenRejected, UnknownUser
from tests.support.cluster import OwnCluster
from tests.support.transports import ssh_way

from .conftest import MakeClient

TRUE = "#!/bin/sh\ntrue\n"


async def test_scontrol_over_ssh_makes_the_token(make_client: MakeClient, cluster: Cluster) -> None:
    slurm = make_client(token=None, token_ssh=True, **ssh_way(cluster, "bob"))
    assert slurm.transport == "rest"
    job = await slurm.submit(TRUE, hold=True)
    assert (await job.info()).user == "bob"
    await job.cancel()
    assert slurm.settings.token.name == "scontrol token on 127.0.0.1"


async def test_a_chain_passes_over_what_does_not_work(
    make_client: MakeClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JWT", cluster.token("alice", lifespan=-60))
    sources = ["env", "file:/nonexistent", "ssh"]
    slurm = make_client(token=sources, **ssh_way(cluster, "alice"))
    await slurm.ping()
    assert slurm.settings.token.name.startswith("scontrol token")


async def test_what_ssh_lacks_is_said(make_client: MakeClient, cluster: Cluster) -> None:
    slurm = make_client(token=None, token_ssh=True, **ssh_way(cluster, "nosuchuser"))
    with pytest.raises(AuthError, match="does not let us in"):
        await slurm.states([1])
    cluster.exec(["mv", "/usr/bin/scontrol", "/usr/bin/scontrol.away"], check=True)
    try:
        slurm = make_client(token=None, token_ssh=True, **ssh_way(cluster, "alice"))
        with pytest.raises(ConfigError, match=r"scontrol token on .* failed: .*not found"):
            await slurm.states([1])
    finally:
        cluster.exec(["mv", "/usr/bin/scontrol.away", "/usr/bin/scontrol"], check=True)


@pytest.mark.parametrize("mighty", ["root", "slurm"])
async def test_root_and_slurms_own_user_act_as_others(mighty: str, make_client: MakeClient) -> None:
    as_bob = make_client(mighty, user="bob")
    job = await as_bob.submit(TRUE, hold=True)
    assert (await job.info()).user == "bob"
    await job.cancel()


async def test_with_the_clusters_key_one_is_whom_one_signs_for(make_client: MakeClient, cluster: Cluster) -> None:
    slurm = make_client(token=None, jwt_key_file=cluster.jwt_key, user="bob")
    job = await slurm.submit(TRUE, hold=True)
    assert (await job.info()).user == "bob"
    await job.cancel()


@pytest.mark.parametrize("way", ["root", "key"])
async def test_nobodys_job_is_not_left_behind(
    way: str, make_client: MakeClient, client: AsyncSlurmClient, cluster: Cluster
) -> None:
    """24.11 gives the jobs of users it does not know to uid 99, 26.05 refuses them."""
    how: dict[str, object] = {"token": None, "jwt_key_file": cluster.jwt_key} if way == "key" else {}
    slurm = make_client("root", user="nosuchuser", **how)
    with pytest.raises(UnknownUser, match="nosuchuser"):
        await slurm.submit(TRUE, hold=True, name=f"nobodys-{way}")
    for record in await client.jobs(name=f"nobodys-{way}"):
        assert record.state.is_terminal


async def test_a_user_whom_nobody_knows_is_found_out_without_a_job(make_client: MakeClient) -> None:
    with pytest.raises(UnknownUser, match="Neither slurmrestd's host nor accounting knows the user 'nosuchuser'"):
        await make_client("nosuchuser").ping_accounting()
    with pytest.raises(UnknownUser, match="nosuchuser"):
        await make_client("root", user="nosuchuser").ping_accounting()
    for user in ("alice", "root"):
        await make_client(user).ping_accounting()


# --- RS256 ----------------------------------------------------------------------------------------------------


def number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()


def trust(cluster: Cluster, key: rsa.RSAPrivateKey, key_id: str) -> None:
    """Let the cluster take tokens that are signed with this key, besides those of its own."""
    public = key.public_key().public_numbers()
    entry = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": key_id, "n": number(public.n), "e": number(public.e)}
    file = cluster.folder / "keys/jwks.json"
    file.write_text(json.dumps({"keys": [entry]}))
    os.chmod(file, 0o644)
    new = "AuthAltParameters=jwt_key=/etc/cluster/jwt.key,jwks=/etc/cluster/jwks.json"
    both = ["/etc/slurm/slurm.conf", "/etc/slurm/slurmdbd.conf"]
    cluster.exec(["sed", "-i", f"s|^AuthAltParameters=.*|{new}|", *both], check=True)
    for name in ("slurmdbd", "slurmctld", "slurmrestd"):
        cluster.service(name).restart()


@pytest.mark.parametrize("release", ["24.11", "26.05"])
async def test_rs256_with_a_key_of_the_jwks_file(release: str, own_cluster: OwnCluster, tmp_path: Path) -> None:
    cluster = own_cluster(release)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path / "key.pem"
    file.write_bytes(key.private_bytes(*form))
    trust(cluster, key, "k1")
    settings = {"jwt_key_file": file, "jwt_key_id": "k1", "user": "bob", "workdir": "/tmp"}
    async with AsyncSlurmClient(cluster.url, **settings) as slurm:  # type: ignore[arg-type]  # names from above
        await slurm.ping()
        await slurm.ping_accounting()
        job = await slurm.submit(TRUE, hold=True)
        assert (await job.info()).user == "bob"
    async with AsyncSlurmClient(cluster.url, token=KeyToken(file, "bob", key_id="k2")) as slurm:
        with pytest.raises(TokenRejected):
            await slurm.ping()
    async with AsyncSlurmClient(cluster.url, token=cluster.token("alice")) as slurm:
        await slurm.ping()
