"""Shapes of clusters for the comparison: a plain one, and a rich one where the options of large sites mean something.

The rich one has sockets, cores and threads, shards beside the GPUs, a tree of switches, specialised cores, MCS labels,
licences, shared partitions and limits that are enforced for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from cluster.native import Cluster

__all__ = ["RICH", "RICH_NODES", "make_rich"]

RICH_NODES = 4
# What slurm.conf can say before the nodes are known.
RICH: Mapping[str, str] = {
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


def make_rich(cluster: Cluster) -> None:
    """Give a cluster of four nodes, started with ``RICH``, its nodes, partitions and switches, and restart it."""
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
