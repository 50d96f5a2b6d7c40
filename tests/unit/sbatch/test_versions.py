"""What only some versions of the API can express."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurm_rest import UnsupportedVersion
from slurm_rest.api import API_VERSIONS
from slurm_rest.sbatch.limits import VERSIONS, version_table
from tests.unit.sbatch.support import job

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "sbatch.md"


@pytest.mark.parametrize(
    ("version", "options"),
    [
        ("v0.0.42", {"cores_per_socket": 2}),
        ("v0.0.41", {"oom_kill_step": 0}),
        ("v0.0.40", {"segment": 0}),
        ("v0.0.42", {"resv_ports": 0, "stepmgr": True}),
        ("v0.0.43", {"extra_node_info": "1:2"}),
        ("v0.0.44", {"hint": "memory_bound"}),
        ("v0.0.42", {"gres_flags": "multiple-tasks-per-sharing"}),
        ("v0.0.41", {"oom_kill_step": 1}),
        ("v0.0.41", {"distribution": "pack"}),
        ("v0.0.40", {"distribution": "block"}),
        ("v0.0.40", {"stepmgr": True}),
        ("v0.0.42", {"resv_ports": 1, "stepmgr": True}),
        ("v0.0.45", {"mem_bind": "sort,local"}),
    ],
)
def test_what_a_version_cannot_express_names_those_that_can(version: str, options: dict[str, object]) -> None:
    with pytest.raises(UnsupportedVersion, match=f"{version} cannot express") as caught:
        job(version=version, **options)  # type: ignore[arg-type]
    able = caught.value.supported
    assert able
    assert set(able) < set(API_VERSIONS)
    assert version not in able
    assert ", ".join(able) in caught.value.hint
    for one in able:
        job(version=one, **options)  # type: ignore[arg-type]


def test_several_options_have_to_be_expressed_together() -> None:
    with pytest.raises(UnsupportedVersion, match="cannot express --cores-per-socket") as caught:
        job(version="v0.0.42", cores_per_socket=2, distribution="block")
    assert caught.value.supported == ("v0.0.45",)
    with pytest.raises(UnsupportedVersion, match=r"--cores-per-socket|--resv-ports") as caught:
        job(version="v0.0.44", cores_per_socket=2, resv_ports=1, stepmgr=True)
    assert caught.value.supported == ()
    assert "--cores-per-socket needs v0.0.40 or v0.0.45 and later" in caught.value.hint
    assert "--resv-ports needs v0.0.41; " in caught.value.hint


def test_a_version_that_is_not_known_yet_can_what_the_newest_could() -> None:
    assert VERSIONS == API_VERSIONS
    assert job(version="v0.0.46", cores_per_socket=2)["cores_per_socket"] == 2
    with pytest.raises(UnsupportedVersion):
        job(version="v0.0.46", mem_bind="sort,local")


def test_cores_in_the_versions_that_have_them() -> None:
    assert job(version="v0.0.45", cores_per_socket=2)["cores_per_socket"] == 2
    assert job(version="v0.0.40", hint="memory_bound")["cores_per_socket"] == 1
    # On 24.11 a hint wipes it out.
    assert "cores_per_socket" not in job(hint="nomultithread", cores_per_socket=2)


def test_the_documentation_has_the_versions() -> None:
    rows = "".join(f"| `{what}` | {versions} |\n" for what, versions in version_table())
    assert f"| needs | API version |\n|---|---|\n{rows}" in DOCUMENTATION.read_text()
