"""A native cluster: what runs in it, how its daemons are held, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from cluster.errors import ClusterError
from cluster.native import Cluster, down, end_orphans, up
from cluster.root import RELEASES, ensure_root, run_in_root
from cluster.space import Process, members, wait_until
from cluster.state import clusters_dir, load
from tests.support.cluster import OwnCluster, SharedCluster, saved

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPT = [sys.executable, str(REPOSITORY / "scripts/cluster")]
PARSERS = {"22.05": "v0.0.38", "24.11": "v0.0.42", "26.05": "v0.0.45"}


def rest(cluster: Cluster, path: str, user: str = "alice", timeout: float = 60) -> dict[str, Any]:
    """GET a document of slurmrestd as a user."""
    headers = {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": cluster.token(user)}
    request = urllib.request.Request(f"{cluster.url}/{path.format(v=PARSERS[cluster.release])}", headers=headers)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        body: dict[str, Any] = json.load(answer)
    return body


def batch(cluster: Cluster, script: str, *options: str, user: str = "alice") -> str:
    """Run a batch job to its end and return what it printed."""
    output = f"/shared/{user}-{time.monotonic_ns()}.txt"
    done = cluster.exec(["sbatch", "-W", "-o", output, *options, "--wrap", script], user=user)
    assert done.returncode == 0, done.stderr
    return (cluster.shared / Path(output).name).read_text()


def accounted(cluster: Cluster, column: str) -> list[str]:
    """Return a column of all that sacct knows of the last days; by itself it begins with this day's midnight."""
    done = cluster.exec(["sacct", "-aXn", "-S", "now-2days", "-o", column])
    return done.stdout.split()


def script(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run scripts/cluster."""
    return subprocess.run([*SCRIPT, *words], check=False, capture_output=True, text=True, env={**os.environ, **env})


@pytest.fixture(params=RELEASES)
def every_cluster(request: pytest.FixtureRequest, shared_cluster: SharedCluster) -> Cluster:
    return shared_cluster(request.param)


def test_every_daemon_runs_and_listens_on_loopback_only(every_cluster: Cluster) -> None:
    assert {name: every_cluster.service(name).status() for name in every_cluster.services()} == dict.fromkeys(
        ("munge", "database", "slurmdbd", "slurmctld", "slurmrestd", "sshd", "n1", "n2"), "running"
    )
    assert every_cluster.state.holder is not None
    sockets = {
        os.readlink(entry)
        for _, _, process in members(every_cluster.state.holder)
        for entry in Path(f"/proc/{process.pid}/fd").iterdir()
        if entry.is_symlink()
    }
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]
    assert len(listening) >= 6
    assert {address.split(":")[0] for address in listening} == {"0100007F"}
    # The start asks sshd and slurmrestd for a sign of life, and keeps no connection: sshd lets few be without a login.
    first = every_cluster.state.holder.pid
    assert not [entry for entry in Path(f"/proc/{first}/fd").iterdir() if os.readlink(entry).startswith("socket:")]


def test_a_job_runs_in_each_partition_with_a_gpu_and_a_licence(every_cluster: Cluster) -> None:
    for partition, gpu in (("normal", "v100"), ("debug", "a100")):
        printed = batch(
            every_cluster,
            "echo $SLURM_JOB_PARTITION $SLURM_JOB_NODELIST $CUDA_VISIBLE_DEVICES; id -un",
            *("-p", partition, f"--gres=gpu:{gpu}:1", "-L", "matlab:1", "-C", "avx2"),
        )
        assert printed.split()[:2] == [partition, "n2"]
        assert printed.split()[-1] == "alice"
        assert printed.split()[2] in {"0", "1", "2", "3"}


def test_the_memory_of_a_short_job_is_measured(any_cluster: Cluster) -> None:
    def measured(seconds: float) -> int:
        """Run a job that holds 100 MB for so long, and return the kilobytes of its script as accounting has them."""
        program = f"import time; held = bytearray(100 << 20); time.sleep({seconds})"
        job = batch(any_cluster, f"echo $SLURM_JOB_ID; python3 -c '{program}'").strip()
        query = ["sacct", "-j", f"{job}.batch", "-nP", "--units=K", "-o", "State,MaxRSS"]
        assert wait_until(lambda: "COMPLETED" in any_cluster.exec(query).stdout, 120, 0.2)
        return int(float(any_cluster.exec(query).stdout.split("|")[1].strip().rstrip("K") or 0))

    # A busy machine may miss the short one; with the stock interval of 30 s neither has a value.
    assert measured(2.5) > 100_000 or measured(12) > 100_000


def test_the_debug_partition_has_a_limit(every_cluster: Cluster) -> None:
    done = every_cluster.exec(["sbatch", "-p", "debug", "-t", "60", "--hold", "--wrap", "true"], user="alice")
    assert done.returncode == 0, done.stderr
    job = done.stdout.split()[-1]
    shown = every_cluster.exec(["squeue", "-h", "-j", job, "-o", "%r"]).stdout
    every_cluster.exec(["scancel", job])
    assert shown.strip() in {"PartitionTimeLimit", "JobHeldUser"}


def test_users_with_and_without_association(every_cluster: Cluster) -> None:
    listing = every_cluster.exec(["sacctmgr", "-nP", "show", "assoc", "format=user,account,qos"]).stdout
    rows = {row.split("|")[0]: row.split("|")[1:] for row in listing.splitlines()}
    accounts = {user: rows[user][0] for user in ("alice", "bob", "svc")}
    assert accounts == {"alice": "physics", "bob": "chemistry", "svc": "services"}
    assert set(rows["alice"][1].split(",")) == {"normal", "low", "high"}
    assert "nora" not in rows
    assert batch(every_cluster, "id -u", user="nora") == "2004\n"


def test_the_accounting_database_was_made_before_the_cluster(every_cluster: Cluster) -> None:
    """So that ``up`` does not wait for sacctmgr; nothing in it is named after the database that was copied."""
    assert not every_cluster.log_path("accounts").exists()
    data = every_cluster.folder / "data"
    assert (data / "registered").exists()
    assert not (data / "primed").exists()
    dump = every_cluster.exec(["mariadb-dump", "-uslurm", "-pslurm", "--no-tablespaces", "slurm_acct_db"]).stdout
    assert "_primed" not in dump
    assert f"`{every_cluster.state.environment()['CLUSTER_NAME']}_job_table`" in dump


def test_a_container_runtime_could_run_inside_a_job(every_cluster: Cluster) -> None:
    """The kernel refuses a user namespace to a chrooted process; these are not."""
    assert batch(every_cluster, "unshare --user --map-root-user id -u") == "0\n"
    assert batch(every_cluster, "bwrap --unshare-all --ro-bind / / --proc /proc id -un") == "alice\n"
    assert every_cluster.exec(["su", "bob", "-c", "unshare -Ur true"]).returncode == 0


def test_rest_answers_with_a_token_and_refuses_without(any_cluster: Cluster) -> None:
    nodes = rest(any_cluster, "slurm/{v}/nodes/")["nodes"]
    assert [(node["name"], node["cpus"]) for node in nodes] == [("n1", 8), ("n2", 8)]
    assert rest(any_cluster, "slurmdb/{v}/users/")["users"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{any_cluster.url}/slurm/{PARSERS[any_cluster.release]}/nodes/", timeout=60)
    assert refused.value.code == 401
    refused.value.close()


def test_ssh_lets_each_user_in_by_key(every_cluster: Cluster) -> None:
    options = ["-o", f"UserKnownHostsFile={every_cluster.known_hosts}", "-o", "BatchMode=yes", "-F", "none"]
    target = ["-i", str(every_cluster.ssh_key), "-p", str(every_cluster.ssh_port)]
    for user in ("alice", "bob", "svc", "nora"):
        command = ["ssh", *options, *target, f"{user}@127.0.0.1", "id -un; pwd; squeue -h | wc -l"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.stdout.split()[:2] == [user, f"/home/{user}"], done.stderr


def test_the_container_support_of_slurm_runs_a_bundle(any_cluster: Cluster) -> None:
    """Slurm's own OCI support with crun, rootless: the job's script runs in the bundle's root."""
    bundle = any_cluster.home / "alice" / "bundle"
    root = bundle / "rootfs"
    for name in ("proc", "dev", "run/slurm", "tmp", "etc", "usr"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    (root / "etc/in-the-bundle").touch()
    ids = [{"containerID": 2001, "hostID": 2001, "size": 1}]
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/usr", "type": "none", "source": "/usr", "options": ["rbind", "ro"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},
    ]
    process = {"user": {"uid": 2001, "gid": 2001}, "args": ["/bin/true"], "cwd": "/", "env": ["PATH=/usr/bin:/bin"]}
    linux = {
        "uidMappings": ids,
        "gidMappings": ids,
        "namespaces": [{"type": name} for name in ("user", "mount", "pid")],
    }
    config = {"ociVersion": "1.0.0", "process": process, "root": {"path": "rootfs"}, "mounts": mounts, "linux": linux}
    (bundle / "config.json").write_text(json.dumps(config))
    for path in (bundle, *bundle.rglob("*")):
        os.chown(path, 2001, 2001, follow_symlinks=False)
    printed = batch(any_cluster, "ls /etc; id -u", "--container", "/home/alice/bundle", "-e", "/dev/null")
    assert printed.split() == ["in-the-bundle", "2001"]


def test_a_frozen_controller_does_not_answer_and_then_does(any_cluster: Cluster) -> None:
    service = any_cluster.service("slurmctld")
    with any_cluster.frozen("slurmctld"):
        assert service.status() == "frozen"
        assert len(service.processes()) >= 1
        with pytest.raises(TimeoutError):
            rest(any_cluster, "slurm/{v}/nodes/", timeout=1)
    assert service.status() == "running"
    assert rest(any_cluster, "slurm/{v}/nodes/")["nodes"]


def test_each_daemon_can_be_frozen_stopped_and_killed(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("24.11")
    for name in cluster.services():
        service = cluster.service(name)
        with cluster.frozen(name):
            assert service.status() == "frozen"
        assert service.status() == "running"
        with cluster.stopped(name):
            assert service.status() == "stopped"
            assert not service.answers()
        assert service.status() == "running"
        service.kill()
        assert service.status() == "stopped"
        service.start()
        assert service.status() == "running"
        assert service.answers()
    assert batch(cluster, "echo fine") == "fine\n"
    with pytest.raises(ClusterError, match="no service n2"):
        cluster.service("n2")


def test_jobs_end_up_in_accounting_while_slurmdbd_is_away(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("26.05")
    with cluster.stopped("slurmdbd"):
        assert batch(cluster, "echo unseen") == "unseen\n"

    assert wait_until(lambda: accounted(cluster, "State") == ["COMPLETED"], 120, 0.2)


def test_high_preempts_low(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("24.11")
    low = cluster.exec(["sbatch", "-q", "low", "-n8", "--wrap", "sleep 600"], user="alice").stdout.split()[-1]

    def state(job: str) -> str:
        return cluster.exec(["squeue", "-h", "-j", job, "-o", "%T"]).stdout.strip()

    assert wait_until(lambda: state(low) == "RUNNING", 120, 0.1)
    high = cluster.exec(["sbatch", "-q", "high", "-n8", "--wrap", "sleep 600"], user="bob").stdout.split()[-1]
    assert wait_until(lambda: state(high) == "RUNNING", 120, 0.1)
    assert state(low) in {"PENDING", "REQUEUED", "COMPLETING"}


def test_settings_replace_and_add_lines_of_slurm_conf(own_cluster: OwnCluster) -> None:
    conf = {"MinJobAge": "2", "KillWait": "7", "AccountingStorageEnforce": "associations"}
    cluster = own_cluster("26.05", nodes=3, conf=conf)
    shown = cluster.exec(["scontrol", "show", "config"]).stdout
    values = {line.split("=")[0].strip(): line.split("=", 1)[1].strip() for line in shown.splitlines() if "=" in line}
    assert (values["MinJobAge"], values["KillWait"], values["AccountingStorageEnforce"]) == (
        "2 sec",
        "7 sec",
        "associations",
    )
    assert cluster.nodes == ("n1", "n2", "n3")
    refused = cluster.exec(["sbatch", "--wrap", "true"], user="nora")
    assert refused.returncode != 0
    assert "Invalid account" in refused.stderr


def test_a_daemon_that_ends_at_once_is_named_and_nothing_stays(shared_cluster: SharedCluster) -> None:
    shared_cluster("24.11")
    name = f"own-{os.getpid()}-broken"
    with pytest.raises(
        ClusterError, match=rf"cluster {name} did not start \(start: slurmctld has ended: .*fatal"
    ) as raised:
        up(name, "24.11", 1, ["SelectType=select/nonsense"])
    assert not (clusters_dir() / name).exists()
    log = clusters_dir() / f"{name}.failed.log"
    assert raised.value.remedy == f"read {log}"
    assert "select/nonsense" in log.read_text()
    log.unlink()


def test_two_side_by_side_know_nothing_of_each_other(own_cluster: OwnCluster) -> None:
    first, second = own_cluster("24.11"), own_cluster("24.11")
    assert not set(first.state.ports.all()) & set(second.state.ports.all())
    batch(first, "true")
    assert wait_until(lambda: bool(accounted(first, "JobID")), 120, 0.2)
    assert not accounted(second, "JobID")
    request = urllib.request.Request(
        f"{second.url}/slurm/v0.0.42/nodes/", headers={"X-SLURM-USER-TOKEN": first.token("alice")}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 511
    refused.value.close()


@pytest.mark.parametrize("held", ["none", "frozen", "stopped"])
def test_down_leaves_nothing(own_cluster: OwnCluster, held: str) -> None:
    cluster = own_cluster("24.11")
    assert cluster.state.holder is not None
    batch(cluster, "true")
    cluster.exec(["sbatch", "--wrap", "setsid sleep 1000 & sleep 1000"], user="alice")
    everything = [process for _, _, process in members(cluster.state.holder)]
    assert len(everything) > 8
    if held == "frozen":
        for name in cluster.services():
            cluster.service(name).freeze()
    if held == "stopped":
        for name in ("slurmctld", "database", "munge"):
            cluster.service(name).stop()
    assert down(cluster.name)
    assert not [process for process in everything if process.alive()]
    assert not list(clusters_dir().glob(f"*{cluster.name}*"))
    assert not list(clusters_dir().glob(f".{cluster.name}*"))
    assert str(cluster.folder) not in Path("/proc/self/mountinfo").read_text()
    assert not down(cluster.name)


def test_it_starts_again_after_a_kill_and_remembers(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("26.05")
    batch(cluster, "true")
    # Accounting hears of it later than sbatch; what it has not heard is lost with the controller's memory.
    assert wait_until(lambda: accounted(cluster, "State") == ["COMPLETED"], 120, 0.2)
    command = ["sbatch", "--hold", "--comment", "a-mark-of-its-own", "--wrap", "true"]
    held = cluster.exec(command, user="alice").stdout.split()[-1]
    # The controller saves its queue every few seconds; a kill before that is a queue lost, as on any machine.
    assert wait_until(lambda: saved(cluster, "a-mark-of-its-own"), 120, 0.1)
    assert cluster.state.holder is not None
    os.kill(cluster.state.holder.pid, signal.SIGKILL)
    assert cluster.state.holder.wait_gone(60)
    with pytest.raises(ClusterError, match=r"no cluster .* is running"):
        Cluster.find(cluster.name)
    again, fresh = up(cluster.name)
    assert fresh
    assert again.state.ports == cluster.state.ports
    assert "COMPLETED" in accounted(again, "State")
    assert held in again.exec(["squeue", "-h", "-o", "%i"]).stdout.split()
    same, fresh = up(cluster.name)
    assert not fresh
    assert same.state.holder == again.state.holder


def test_a_kill_while_the_database_gets_its_name_does_no_harm(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("24.11")
    name = cluster.state.environment()["CLUSTER_NAME"]
    cluster.service("slurmctld").stop()
    cluster.service("slurmdbd").stop()
    half = f"RENAME TABLE {name}_job_table TO _primed_job_table, {name}_step_table TO _primed_step_table"
    cluster.exec(["mariadb", "-uslurm", "-pslurm", "slurm_acct_db", "-e", half], check=True)
    (cluster.folder / "data/primed").touch()
    assert cluster.state.holder is not None
    os.kill(cluster.state.holder.pid, signal.SIGKILL)
    assert cluster.state.holder.wait_gone(60)
    again, _ = up(cluster.name)
    assert "_primed" not in again.exec(["mariadb", "-uslurm", "-pslurm", "slurm_acct_db", "-e", "SHOW TABLES"]).stdout
    batch(again, "true")
    assert wait_until(lambda: accounted(again, "User") == ["alice"], 120, 0.2)


def test_a_damaged_database_does_not_keep_it_down(own_cluster: OwnCluster) -> None:
    cluster = own_cluster("24.11")
    assert cluster.state.holder is not None
    os.kill(cluster.state.holder.pid, signal.SIGKILL)
    assert cluster.state.holder.wait_gone(60)
    (cluster.folder / "data/database/ibdata1").write_bytes(b"")
    again, _ = up(cluster.name)
    assert batch(again, "echo fine") == "fine\n"


def test_clusters_of_dead_sessions_are_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_cluster: OwnCluster
) -> None:
    """In a cache of its own: any session that begins meanwhile would end it, and may leave an orphan itself."""
    (tmp_path / "roots").symlink_to(ensure_root("24.11").parent)
    monkeypatch.setenv("SLURM_REST_CACHE", str(tmp_path))
    cluster = own_cluster("24.11")
    assert end_orphans() == []
    content = json.loads((cluster.folder / "state.json").read_text())
    content["owner"]["started"] += 1
    (cluster.folder / "state.json").write_text(json.dumps(content))
    assert end_orphans() == [cluster.name]
    assert load(cluster.name) is None


def test_a_process_is_not_mistaken_for_its_successor() -> None:
    me = Process.of(os.getpid())
    assert me is not None
    assert me.alive()
    assert not Process(me.pid, me.started - 1).alive()


@pytest.mark.cluster
def test_a_command_runs_in_a_root_without_changing_it() -> None:
    root = ensure_root("24.11")
    spec = ["slurmrestd", "-d", "v0.0.42", "-s", "openapi/slurmctld,openapi/slurmdbd", "--generate-openapi-spec"]
    printed = run_in_root(root, spec, user="nobody")
    assert json.loads(printed.stdout)["openapi"].startswith("3.")
    touched = run_in_root(root, ["sh", "-c", "touch /mark; id -un; echo $WORD; cat"], env={"WORD": "yes"}, input="in")
    assert touched.stdout == "root\nyes\nin"
    assert not (root / "mark").exists()
    assert run_in_root(root, ["false"]).returncode == 1
