"""Jobs as the launching user: who that is, who it may not be, and what is kept and told of it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import flyte
import pytest
from flyteidl2.connector.connector_pb2 import TaskExecutionMetadata

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.clients import Clusters, make_client
from flyteplugins.slurm_rest.launching import RefusedUser, UserPolicy, audit, read_users, show_audit
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.service import Known, SlurmConnector
from flyteplugins.slurm_rest.settings import AskedConnection, ClusterAccess, Deployment, SecretValues
from flyteplugins.slurm_rest.template import Execution, read_execution
from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import ConfigError
from slurm_rest.identity import Identity
from slurm_rest.testing import FakeCluster, FakeTransport
from slurm_rest.testing.jobs import JobRequest, Owner
from slurm_rest.testing.tokens import Tokens
from slurm_rest.transport.base import StateRow

from .support.platform import serialize
from .support.site import attempt

ON = {
    "FLYTE_SLURM_REST_URL": "http://slurm",
    "FLYTE_SLURM_REST_JWT_KEY_FILE": "/key",
    "FLYTE_SLURM_RUN_AS": "label:launched-by",
}
ASKED = AskedConnection("evil", 666, "root", "/evil/hosts", "http://evil", "v0.0.99")


def launched(value: str = "alice", run: str = "r1") -> TaskExecutionMetadata:
    found = attempt(run)
    if value:
        found.labels["launched-by"] = value
    return found


# --- who it is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule", ["label:from", "annotation:from", "env:from", "identity", "service-account", " label : from "]
)
async def test_the_user_stands_where_the_deployment_says(rule: str) -> None:
    metadata = TaskExecutionMetadata(
        labels={"from": "label"},
        annotations={"from": "annotation"},
        environment_variables={"from": "env"},
        k8s_service_account="service-account",
    )
    metadata.identity.execution_identity = "identity"
    user, _ = await read_users(rule, "", "").user_of(read_execution(metadata))
    assert user == rule.partition(":")[0].strip()


@pytest.mark.parametrize("rule", ["label", "label:", "env:", "identity:x", "user", "labels:x", ":x"])
def test_a_rule_that_says_nothing_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="It takes label:NAME, annotation:NAME, env:NAME, identity or service-acc"):
        read_users(rule, "", "")


async def test_what_the_platform_has_is_mapped(tmp_path: Path) -> None:
    execution = Execution(identity="ann@example.org")
    policy = read_users("identity", "bo=b@example.org=bob; ann@example.org=alice", "")
    assert await policy.user_of(execution) == ("alice", "ann@example.org")
    assert await policy.user_of(Execution(identity="bo=b@example.org")) == ("bob", "bo=b@example.org")
    with pytest.raises(RefusedUser, match="'mallory' is no user of the cluster that is known here"):
        await policy.user_of(Execution(identity="mallory"))
    file = tmp_path / "users"
    policy = read_users("identity", str(file), "")
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        await policy.user_of(execution)
    file.write_text("# people\nann@example.org = bob\n")
    assert (await policy.user_of(execution))[0] == "bob"
    file.write_text("")
    with pytest.raises(RefusedUser, match="is known here"):
        await policy.user_of(execution)


@pytest.mark.parametrize("text", ["a", "a=", "=b", "a=b;a=c", "a=0", "a=b c"])
def test_a_map_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        read_users("identity", text, "")


# --- who it may not be -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["root", "slurm", "0", "1000", "", "-v", "a/b", "../bob", "a b", "bob\n", "bob\nX: y", "é", "{user}", "." * 3],
)
async def test_nobody_becomes_root_slurm_or_what_is_no_name(name: str) -> None:
    policy = read_users("label:u", "", "")
    with pytest.raises(RefusedUser):
        await policy.user_of(Execution(labels={"u": name}))


async def test_those_that_are_allowed_are_the_only_ones() -> None:
    policy = read_users("label:u", "", "alice, root")
    for name in ("alice", "root"):
        assert (await policy.user_of(Execution(labels={"u": name})))[0] == name
    with pytest.raises(RefusedUser, match=r"No task may run as bob\. FLYTE_SLURM_RUN_AS_ALLOW"):
        await policy.user_of(Execution(labels={"u": "bob"}))
    with pytest.raises(RefusedUser, match="whose token acts for all"):
        UserPolicy("label", "u").check_not_own("slurmadm", "slurmadm")
    policy.check_not_own("root", "root")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"FLYTE_SLURM_REST_JWT_KEY_FILE": ""}, "right to act for others"),
        ({"FLYTE_SLURM_REST_URL": "", "FLYTE_SLURM_REST_JWT_KEY_FILE": ""}, "right to act for others"),
        ({"FLYTE_SLURM_HOST": "login"}, "over slurmrestd alone"),
        ({"FLYTE_SLURM_TRANSPORT": "ssh"}, "over slurmrestd alone"),
        ({"FLYTE_SLURM_TRANSPORT": "cli"}, "over slurmrestd alone"),
        ({"FLYTE_SLURM_FILES": "/home=/mnt/home"}, "is one user's"),
        ({"FLYTE_SLURM_FILES": "/home/{user}=/mnt/home/{user},/scratch"}, "is one user's"),
        ({"FLYTE_SLURM_FILES": "/home/{user}=/mnt/home"}, "is one user's"),
        ({"FLYTE_SLURM_RUN_AS": "", "FLYTE_SLURM_USERNAME": "svc", "FLYTE_SLURM_RUN_AS_ALLOW": "x"}, "do nothing by"),
    ],
)
def test_a_deployment_that_could_act_as_somebody_else_is_refused(changed: Mapping[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Deployment.read({**ON, **changed})


def test_a_task_has_no_say_in_it() -> None:
    environ = {**ON, "FLYTE_SLURM_FILES": "/home/{user}=/mnt/home/{user}"}
    access = Deployment.read(environ).access(ASKED, SecretValues("key", "hosts", "token"), "alice")
    assert (access.user, access.rest_url, access.host) == ("alice", "http://slurm", "")
    assert access.files == "/home/alice=/mnt/home/alice"
    with pytest.raises(ConfigError, match="Nothing says whose the job is"):
        Deployment.read(ON).access(ASKED)
    # Without a rule whatever metadata say of a user counts for nothing.
    off = {**ON, "FLYTE_SLURM_RUN_AS": "", "FLYTE_SLURM_USERNAME": "svc"}
    assert Deployment.read(off).access(ASKED, None, "alice").user == "svc"


async def test_a_link_of_one_user_leads_to_nothing_of_another(tmp_path: Path) -> None:
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
    (tmp_path / "alice/secret").write_text("hers")
    (tmp_path / "bob/link").symlink_to("/home/alice/secret")
    files = f"/home/{{user}}={tmp_path}/{{user}}"
    deployment = Deployment.read({**ON, "FLYTE_SLURM_FILES": files})
    client = make_client(deployment.access(AskedConnection(), None, "bob"))
    with pytest.raises(Exception, match="not at hand here"):
        await client.files.tail("/home/bob/link")
    await client.close()


# --- the connector ---------------------------------------------------------------------------------------------


class Shared:
    """A connector for all users of one cluster in memory; ``accesses`` are the ways that it took."""

    def __init__(self, folder: Path) -> None:
        self.store = folder
        self.slurm = FakeCluster(run=False)
        self.slurm.users.setdefault("bob", 1002)
        self.accesses: list[ClusterAccess] = []
        self.connector = SlurmConnector(Known(clusters=Clusters(self._client)))
        self.task = SlurmScriptTask("who", "#!/bin/sh\nid -un\n", Slurm(username="root", rest_url="http://slurm"))
        flyte.TaskEnvironment.from_task("who", self.task)

    def _client(self, access: ClusterAccess) -> AsyncSlurmClient:
        self.accesses.append(access)
        transport = FakeTransport(self.slurm, user=access.user)
        return AsyncSlurmClient(transport=transport, user=access.user, workdir="/home/{user}", environ={})

    async def create(self, metadata: TaskExecutionMetadata) -> SlurmJobMetadata:
        return await self.connector.create(serialize(self.task), str(self.store), {}, metadata)

    def owner(self, meta: SlurmJobMetadata) -> str:
        return str(self.slurm.members(int(meta.job_id))[0].owner.name)


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shared:
    key = tmp_path / "key"
    key.touch()
    for name, value in {**ON, "FLYTE_SLURM_REST_JWT_KEY_FILE": str(key)}.items():
        monkeypatch.setenv(name, value)
    return Shared(tmp_path)


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(one.getMessage()) for one in caplog.records if one.name.endswith(".audit")]


async def test_each_job_is_its_launchers_and_stays_so(shared: Shared, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "flyteplugins.slurm_rest.audit")
    metas = {name: await shared.create(launched(name, f"r-{name}")) for name in ("alice", "bob")}
    again = await shared.create(launched("bob", "r-bob"))
    assert again.job_id == metas["bob"].job_id
    for name, meta in metas.items():
        assert (shared.owner(meta), meta.run_as) == (name, name)
        kept = SlurmJobMetadata.decode(meta.encode())
        await shared.connector.get(kept)
        async for _ in shared.connector.get_logs(kept):
            pass
        await shared.connector.delete(kept)
    # All of it over two ways, beside whoever follows all jobs; the task's own words on the connection opened none.
    assert [access.user for access in shared.accesses] == ["alice", "root", "bob"]
    shown = [(line["event"], line["user"], line["launched_by"], line["run"]) for line in lines(caplog)]
    assert shown == [
        ("submitted", "alice", "alice", "r-alice"),
        ("submitted", "bob", "bob", "r-bob"),
        ("found", "bob", "bob", "r-bob"),
    ]
    assert lines(caplog)[0]["job_id"] == int(metas["alice"].job_id)


async def test_logs_are_read_as_the_jobs_own_user(shared: Shared) -> None:
    """The way that another user's call opened to the same cluster is not taken, though it has the same address."""
    meta = await shared.create(launched("alice", "r-alice"))
    other = await shared.create(launched("bob", "r-bob"))
    shared.connector.known = Known(clusters=Clusters(shared._client))
    await shared.connector.get(meta)
    shared.accesses.clear()
    async for _ in shared.connector.get_logs(other):
        pass
    await shared.connector.get_metrics(other)
    assert [access.user for access in shared.accesses] == ["bob"]


@pytest.mark.parametrize(
    ("variables", "watcher"),
    [(ON, "root"), ({**ON, "FLYTE_SLURM_REST_JWT_KEY_FILE": "", "FLYTE_SLURM_REST_TOKEN": "of root's"}, "")],
    ids=["key", "token"],
)
async def test_the_jobs_of_all_users_are_followed_with_one_request(
    variables: Mapping[str, str], watcher: str, shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whom the key signs for, or whose token it is; that one has no way to anybody's files."""
    deployment = Deployment.read({**variables, "FLYTE_SLURM_FILES": "/home/{user}=/mnt/home/{user}"})
    users = [f"user{number}" for number in range(50)]
    ids = [shared.slurm.submit([JobRequest(script="#!/bin/sh\n")], Owner(user, 2000)) for user in users]
    asked: list[int] = []
    states = FakeTransport.states

    async def counted(fake: FakeTransport, wanted: Collection[int]) -> list[StateRow]:
        asked.append(len(wanted))
        return await states(fake, wanted)

    monkeypatch.setattr(FakeTransport, "states", counted)
    clusters = Clusters(shared._client)
    found = [clusters.get(deployment.access(AskedConnection(), None, user)) for user in users]
    each = zip(found, ids, strict=True)
    looks = await asyncio.gather(*(cluster.follower.look(Identity(job_id), patience=60) for cluster, job_id in each))
    await clusters.close()
    assert {str(look.state) for look in looks} == {"PENDING"}
    assert len(asked) <= 2, "one question for whoever came first, one for all"
    assert asked[-1] == 50
    watching = [access for access in shared.accesses if access.user not in users]
    assert [(access.user, access.files) for access in watching] == [(watcher, "")]


@pytest.mark.parametrize("name", ["", "root", "slurm", "0"])
async def test_a_refusal_is_told_and_makes_no_job(shared: Shared, caplog: pytest.LogCaptureFixture, name: str) -> None:
    caplog.set_level(logging.INFO, "flyteplugins.slurm_rest.audit")
    with pytest.raises(RefusedUser):
        await shared.create(launched(name))
    assert not shared.slurm.jobs
    assert [line["event"] for line in lines(caplog)] == ["refused"]


async def test_the_user_of_the_token_itself_is_refused(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """SlurmUser may have any name; the token tells it."""
    token = Tokens(shared.slurm, key=b"k" * 32, user="slurmadm").sign("slurmadm")
    monkeypatch.delenv("FLYTE_SLURM_REST_JWT_KEY_FILE")
    monkeypatch.setenv("FLYTE_SLURM_REST_TOKEN", token)
    with pytest.raises(RefusedUser, match="slurmadm, whose token acts for all users"):
        await shared.create(launched("slurmadm"))
    assert shared.owner(await shared.create(launched("bob"))) == "bob"


def test_a_name_from_outside_forges_no_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "flyteplugins.slurm_rest.audit")
    audit("submitted", Execution(run="r\n{}"), user="bob", launched_by='x"\n{"user": "root"}')
    (record,) = [one for one in caplog.records if one.name.endswith(".audit")]
    assert "\n" not in record.getMessage()
    assert json.loads(record.getMessage())["user"] == "bob"


def test_the_audit_is_seen_without_anybody_setting_logging_up(monkeypatch: pytest.MonkeyPatch) -> None:
    audited = logging.getLogger("flyteplugins.slurm_rest.audit")
    monkeypatch.setattr(audited, "level", logging.NOTSET)
    monkeypatch.setattr(audited, "handlers", [])
    monkeypatch.setattr(audited, "propagate", False)
    show_audit()
    show_audit()
    assert audited.level == logging.INFO
    assert len(audited.handlers) == 1
