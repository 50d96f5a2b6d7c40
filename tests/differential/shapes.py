"""Shapes of clusters for the comparison: a plain one, and a rich one where the options of large sites mean something.

The rich one has sockets, cores and threads, shards beside the GPUs, a tree of switches, specialised cores, MCS labels,
licences, shared partitions and limits that are enforced for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cluster.native import Cluster, up
from cluster.space import Process

__all__ = ["SHAPES", "start"]

SHAPES = ("plain", "rich")
# So large that no other number in a record looks like a job's id.
_FIRST_JOB = 700001
_NODES = {"plain": 2, "rich": 4}
# What slurm.conf can say before the nodes are known.
_RICH: Mapping[str, str] = {
    "SelectTypeParameters": "CR_Core_Memory,MULTIPLE_SHARING_GRES_PJ",
    "GresTypes": "gpu,shard",
    "Licenses": "matlab:10,ansys:5",
    "AccountingStorageTRES": "gres/gpu,gres/gpu:a100,gres/gpu:h100,gres/shard,license/matlab",
    "AllowSpecResourcesUsage": "YES",
    "EnforcePartLimits": "ALL",
    "MCSPlugin": "mcs/user",
    "MCSParameters": "ondemand,noselect",
    "MpiParams": "ports=28000-28100",
    "PrologFlags": "Alloc,Contain",
    "SlurmctldParameters": "enable_stepmgr",
    "TopologyPlugin": "topology/default",
}
_NODE = (
    "CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=64000 TmpDisk=100000"
    " Gres=gpu:a100:2,gpu:h100:2,shard:8"
)
_TREE = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n"
_DAEMONS = ("slurmctld", "n1", "n2", "n3", "n4", "slurmrestd")


def start(name: str, shape: str, release: str, owner: Process | None = None) -> Cluster:
    """Return a running cluster of that shape, with the files that cases name; it ends with its ``owner``."""
    conf = {"FirstJobId": str(_FIRST_JOB), **(_RICH if shape == "rich" else {})}
    cluster, is_new = up(name, release, _NODES[shape], [f"{key}={value}" for key, value in conf.items()], owner=owner)
    if is_new and shape == "rich":
        _make_rich(cluster)
    home = cluster.home / "alice"
    (home / "envfile").write_bytes(b"A=1\0B=two words\0")
    (home / "hosts").write_text("n1\nn2 # a remark\n\nn1\n")
    (home / "emptyhosts").write_text("")
    (home / "bbfile").write_text("#BB x\n")
    return cluster


def _make_rich(cluster: Cluster) -> None:
    """Give a cluster its nodes, partitions and switches, and restart it."""
    conf = cluster.exec(["cat", "/etc/slurm/slurm.conf"], check=True).stdout
    lines = []
    for line in conf.splitlines():
        node = re.match(r"NodeName=n([0-9]) ", line)
        if node:
            rack = (int(node[1]) + 1) // 2
            kept = line.partition(" CPUs=")[0]
            lines.append(f"{kept} {_NODE} Features=fast,ib,rack{rack} State=UNKNOWN")
        elif line.startswith("PartitionName=normal"):
            lines.append(f"{line} OverSubscribe=YES")
        elif line.startswith("PartitionName=debug"):
            lines.append(f"{line} OverSubscribe=FORCE:2")
            lines.append("PartitionName=alone Nodes=n[3-4] OverSubscribe=EXCLUSIVE MaxTime=60 State=UP")
        else:
            lines.append(line.replace("topology/default", "topology/tree"))
    gres = "".join(
        f"NodeName=n{n} Name=gpu Type={kind} File=/dev/pretended[{files}]\n"
        for n in range(1, 5)
        for kind, files in (("a100", "0-1"), ("h100", "2-3"))
    )
    shards = "".join(f"NodeName=n{n} Name=shard Count=8\n" for n in range(1, 5))
    for name, text in (("slurm", "\n".join(lines) + "\n"), ("topology", _TREE), ("gres", gres + shards)):
        cluster.exec(["tee", f"/etc/slurm/{name}.conf"], input=text, check=True)
    for name in _DAEMONS:
        cluster.service(name).stop()
    for name in _DAEMONS:
        cluster.service(name).start()
