"""deploy/ and the profile flyte of docker-compose.yml against the code and each other; nothing of them runs here."""

from __future__ import annotations

import ast
import itertools
import posixpath
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # it ships no types

from flyteplugins.slurm_rest.settings import Deployment
from flyteplugins.slurm_rest.template import NATIVE, SCRIPT
from tests.packaging.support import ROOT

from .test_docs import read_by_the_code

IMAGE = (ROOT / "deploy/Dockerfile").read_text()
DOCS = (ROOT / "docs/flyte-deployment.md").read_text()
MANIFESTS = {one["kind"]: one for one in yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text())}
VALUES = yaml.safe_load((ROOT / "deploy/flyte-binary-values.yaml").read_text())
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
POD = MANIFESTS["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
PORTS = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}


def variables() -> dict[str, str]:
    return {one["name"]: one["value"] for one in CONTAINER["env"]}


def test_its_variables_are_read_by_the_code() -> None:
    assert {name for name in variables() if name.startswith("FLYTE_SLURM")} - read_by_the_code() == set()
    deployment = Deployment.read(variables())
    assert deployment.rest_url.startswith("https://")
    assert {name for name in COMPOSE["services"]["connector"]["environment"] if "SLURM" in name} <= read_by_the_code()


def test_its_files_lie_where_the_secret_is_mounted() -> None:
    mounts = {one["name"]: one["mountPath"] for one in CONTAINER["volumeMounts"]}
    assert set(mounts) == {volume["name"] for volume in POD["volumes"]}
    files = [value for name, value in variables().items() if name.endswith("_FILE")]
    assert len(files) == 2
    assert {posixpath.dirname(path) for path in files} == {mounts["slurm"]}
    (secret,) = [volume["secret"] for volume in POD["volumes"] if "secret" in volume]
    # Not readable by everybody, and by the user through its group.
    assert secret["defaultMode"] == 0o440
    command = re.search(rf"kubectl create secret generic {secret['secretName']}((?: .*\\\n)*.*)", DOCS)
    assert command is not None
    keys = re.findall(r"--from-file=([\w.]+)=", command[1])
    assert sorted(keys) == sorted(posixpath.basename(path) for path in files)


def test_nothing_of_it_is_a_credential() -> None:
    whole = "".join(path.read_text() for path in (ROOT / "deploy").rglob("*") if path.is_file())
    assert "kind: Secret" not in whole
    assert not re.search(r"eyJ[\w-]{10}|PRIVATE KEY|(?i:secret_?key|password): *[\w\"']", whole)


def test_command_ports_and_user_are_those_of_the_image() -> None:
    found = re.search(r"^CMD (\[.*\])$", IMAGE, re.MULTILINE)
    assert found is not None
    command = ast.literal_eval(found[1])
    assert CONTAINER["command"] == command
    given = dict(itertools.pairwise(command))
    assert {"grpc": int(given["--port"]), "metrics": int(given["--prometheus_port"])} == PORTS
    assert f"EXPOSE {PORTS['grpc']} {PORTS['metrics']}" in IMAGE
    user = POD["securityContext"]["runAsUser"]
    assert f"USER {user}:{POD['securityContext']['fsGroup']}\n" in IMAGE
    assert f"--uid {user} " in IMAGE
    # The root file system is read-only: what the image's user may write is a volume.
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"]
    assert {"/tmp", "/home/connector"} <= {one["mountPath"] for one in CONTAINER["volumeMounts"]}


def options_of_c0() -> set[str]:
    from flyte._bin.connect import main

    return {name for parameter in main.params for name in parameter.opts}


def test_the_command_is_one_of_flyte() -> None:
    name, *words = CONTAINER["command"]
    assert name == "c0"
    assert {word for word in words if word.startswith("--")} <= options_of_c0()


@pytest.mark.parametrize("probe", ["readinessProbe", "livenessProbe"])
def test_probes_ask_the_port_of_grpc(probe: str) -> None:
    """Kubernetes knows no names of ports there."""
    assert CONTAINER[probe]["grpc"] == {"port": PORTS["grpc"]}


def selectors() -> Iterator[dict[str, str]]:
    deployment = MANIFESTS["Deployment"]["spec"]
    yield deployment["selector"]["matchLabels"]
    yield deployment["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
    yield MANIFESTS["Service"]["spec"]["selector"]
    yield MANIFESTS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]
    yield MANIFESTS["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]


def test_all_of_it_is_about_the_same_pods() -> None:
    labels = MANIFESTS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert all(selector == labels for selector in selectors())
    assert POD["serviceAccountName"] == MANIFESTS["ServiceAccount"]["metadata"]["name"]
    assert POD["automountServiceAccountToken"] is MANIFESTS["ServiceAccount"]["automountServiceAccountToken"] is False
    # A budget that lets no pod go blocks the node's maintenance.
    assert MANIFESTS["PodDisruptionBudget"]["spec"]["minAvailable"] < MANIFESTS["Deployment"]["spec"]["replicas"]


def test_callers_reach_grpc_and_the_pods_reach_slurmrestd() -> None:
    (port,) = MANIFESTS["Service"]["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (PORTS["grpc"], "grpc")
    assert MANIFESTS["Service"]["spec"]["clusterIP"] == "None"
    policy = MANIFESTS["NetworkPolicy"]["spec"]
    assert [one["port"] for rule in policy["ingress"] for one in rule["ports"]] == [PORTS["grpc"]]
    assert all("from" in rule for rule in policy["ingress"])
    outside = {one["port"] for rule in policy["egress"] for one in rule["ports"]}
    assert outside == {53, 443, int(variables()["FLYTE_SLURM_REST_URL"].rpartition(":")[2])}


def test_the_platform_sends_both_types_to_the_service() -> None:
    types = {NATIVE, SCRIPT}
    tasks = VALUES["enabled_plugins"]["tasks"]["task-plugins"]
    assert set(tasks["default-for-task-types"]) == types
    assert set(tasks["default-for-task-types"].values()) <= set(tasks["enabled-plugins"])
    service = VALUES["configuration"]["inline"]["plugins"]["connector-service"]
    assert set(service["connectorForTaskTypes"]) == types
    (name,) = set(service["connectorForTaskTypes"].values())
    host = MANIFESTS["Service"]["metadata"]["name"]
    assert service["connectors"][name]["endpoint"] == f"dns:///{host}.flyte.svc.cluster.local:{PORTS['grpc']}"


def test_the_docs_show_these_values() -> None:
    """Those who read there and those who give Helm the file get the same."""
    (shown,) = [text for text in re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL) if "connectorForTaskTypes" in text]
    assert yaml.safe_load(shown) == VALUES


PROFILE = {name: one for name, one in COMPOSE["services"].items() if one.get("profiles") == ["flyte"]}


def test_the_profile_has_what_it_promises_and_nothing_of_it_starts_without_it() -> None:
    assert set(PROFILE) == {"credentials", "store", "connector"}
    plain = {name: one for name, one in COMPOSE["services"].items() if name not in PROFILE}
    assert not {needed for one in plain.values() for needed in one.get("depends_on", {})} & set(PROFILE)
    assert all(one["healthcheck"]["test"] for one in COMPOSE["services"].values())


def test_credentials_come_by_a_volume_that_only_one_service_writes() -> None:
    writers = [name for name, one in PROFILE.items() if "credentials:/credentials" in one["volumes"]]
    assert writers == ["credentials"]
    assert all("credentials:/credentials:ro" in PROFILE[name]["volumes"] for name in ("store", "connector"))
    # What is root's of the cluster's own keys is read there alone, by root, and not written.
    readers = [name for name, one in PROFILE.items() if any(mount.startswith("keys:") for mount in one["volumes"])]
    assert readers == writers
    assert "keys:/etc/cluster:ro" in PROFILE["credentials"]["volumes"]
    assert "user" not in PROFILE["credentials"]
    assert PROFILE["connector"]["user"] == PROFILE["store"]["user"] == "2003:2003"


def test_the_first_task_of_the_docs_finds_the_python_that_the_connector_lays() -> None:
    (block,) = [text for text in re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL) if "@env.task" in text]
    page: dict[str, Any] = {"__name__": "square"}
    exec(compile(block, "square.py", "exec", dont_inherit=True), page)
    config = page["config"]
    assert config.container_runtime == "none"
    laid = re.findall(r"mv \S+ (\S+)$", COMPOSE["services"]["connector"]["command"][-1], re.MULTILINE)
    assert laid == [config.python_environment]
    top = posixpath.dirname(config.python_environment)
    assert {f"shared:{top}"} <= set(COMPOSE["services"]["connector"]["volumes"])
    assert {f"shared:{top}"} <= set(COMPOSE["x-service"]["volumes"])
