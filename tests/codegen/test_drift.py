"""The committed output is what the documents make; a new version needs its document and nothing else."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codegen import lock
from codegen.document import CodegenError, document_paths
from codegen.dump import command_line, plugins, pretty
from codegen.main import REPOSITORY, drift, generate, main
from tests.codegen.small import NUMBER, TEXT, obj, operation, raw, ref, store

OPENAPI = REPOSITORY / "openapi"
OUTPUT = REPOSITORY / "src/slurm_rest/api"


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return generate(OPENAPI)


def small(version: str, **fields: Any) -> dict[str, Any]:
    return raw(version, {"resp": obj(**fields)}, {"GET /slurm/jobs/ get_jobs": operation(ref("resp"))})


def test_the_committed_output_is_up_to_date() -> None:
    script = REPOSITORY / "scripts/codegen"
    done = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_output_does_not_depend_on_the_run(files: dict[str, str]) -> None:
    code = "import hashlib,sys; from pathlib import Path; from codegen.main import generate;"
    code += "print(hashlib.sha256(repr(generate(Path(sys.argv[1]))).encode()).hexdigest())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code, str(OPENAPI)],
            check=True,
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_one_changed_byte_is_drift(tmp_path: Path, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(OUTPUT, tmp_path / "api", ignore=shutil.ignore_patterns("__pycache__"))
    assert drift(files, tmp_path / "api") == []
    jobs = tmp_path / "api/jobs.py"
    jobs.write_text(jobs.read_text().replace("JobInfo", "JobInf0", 1))
    assert main(["--check", "--out", str(tmp_path / "api")]) == 1
    assert "jobs.py differs" in capsys.readouterr().err


def test_missing_and_left_over_files_are_drift(tmp_path: Path, files: dict[str, str]) -> None:
    shutil.copytree(OUTPUT, tmp_path / "api", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "api/jobs.py").rename(tmp_path / "api/old.py")
    assert drift(files, tmp_path / "api") == ["jobs.py is missing", "old.py is no longer generated"]
    assert main(["--out", str(tmp_path / "api")]) == 0
    assert drift(files, tmp_path / "api") == []
    assert (tmp_path / "api/base.py").exists()


def test_a_changed_document_is_refused(tmp_path: Path) -> None:
    store(tmp_path, small("v0.0.1", x=TEXT), versions=("v0.0.1",))
    generate(tmp_path)
    (tmp_path / "v0.0.1.json").write_text((tmp_path / "v0.0.1.json").read_text() + " ")
    with pytest.raises(CodegenError, match="not what lock"):
        generate(tmp_path)


def test_documents_and_lock_belong_together(tmp_path: Path) -> None:
    store(tmp_path, small("v0.0.1", x=TEXT), small("v0.0.2", x=TEXT), versions=("v0.0.1", "v0.0.2"))
    (tmp_path / "v0.0.3.json").write_text(json.dumps(small("v0.0.3", x=TEXT)))
    with pytest.raises(CodegenError, match="json is not in lock"):
        generate(tmp_path)
    (tmp_path / "v0.0.3.json").unlink()
    (tmp_path / "v0.0.2.json").unlink()
    with pytest.raises(CodegenError, match=r"has v0\.0\.2 but there is no such document"):
        generate(tmp_path)


def test_versions_are_ordered_as_numbers(tmp_path: Path) -> None:
    for version in ("v0.0.10", "v0.0.9", "v0.1.0"):
        (tmp_path / f"{version}.json").touch()
    (tmp_path / "vnotes.json").touch()
    assert list(document_paths(tmp_path)) == ["v0.0.9", "v0.0.10", "v0.1.0"]


def test_a_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match="no documents"):
        generate(tmp_path)


def test_a_new_version_is_one_document(
    tmp_path: Path, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """v0.0.46, made of v0.0.45 with a new field and a new operation, needs no change of the generator."""
    shutil.copytree(OPENAPI, tmp_path / "openapi")
    text = (OPENAPI / "v0.0.45.json").read_text("utf-8").replace("v0.0.45", "v0.0.46").replace("_v0045_", "_v0046_")
    new = json.loads(text)
    new["components"]["schemas"]["v0.0.46_job_desc_msg"]["properties"]["colour"] = TEXT
    del new["components"]["schemas"]["v0.0.46_job_desc_msg"]["properties"]["x11"]
    new["components"]["schemas"]["v0.0.46_job_desc_msg"]["properties"]["account"] = obj(name=TEXT)
    new["paths"]["/slurm/v0.0.46/topology/"] = {
        "get": {
            **operation({"$ref": "#/components/schemas/v0.0.46_openapi_topology_resp"}),
            "operationId": "slurm_v0046_get_topology",
        }
    }
    new["components"]["schemas"]["v0.0.46_openapi_topology_resp"] = obj(levels=NUMBER)
    path = tmp_path / "openapi/v0.0.46.json"
    path.write_bytes(pretty(new))
    entries = lock.read(tmp_path / "openapi/lock.toml")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    entries["v0.0.46"] = lock.Entry("v0.0.46", "26.11", "26.11.0", "cmd", digest)
    lock.write(tmp_path / "openapi/lock.toml", entries.values())
    assert main(["--openapi", str(tmp_path / "openapi"), "--out", str(tmp_path / "api")]) == 0
    assert "since versions disagree: job_desc_msg.account: object (v0.0.46), str (v0.0.40 " in capsys.readouterr().err
    spec = importlib.util.spec_from_file_location("new_versions", tmp_path / "api/_versions.py")
    assert spec
    assert spec.loader
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    assert table.API_VERSIONS[-1] == "v0.0.46"
    fields = {name: bits for bits, names in table.FIELDS["JobDescMsg"].items() for name in names.split()}
    assert (fields["colour"], fields["x11"], fields["name"]) == (0b1000000, 0b0111111, 0b1111111)
    assert table.FAMILY["OpenapiTopologyResp"] == "cluster"
    assert "async def get_topology(self) -> OpenapiTopologyResp:" in (tmp_path / "api/_client.py").read_text()
    assert "async def get_topology" not in files["_client.py"]


def test_no_version_is_written_in_code(files: dict[str, str]) -> None:
    """Only generated tables and prose may name versions; code that compares them would miss the next."""
    code = re.compile(r"""["']v0\.0\.\d+["']""")
    hand = [path for path in OUTPUT.glob("*.py") if path.name not in files]
    found = [path.name for path in [*hand, *(REPOSITORY / "codegen").glob("*.py")] if code.search(path.read_text())]
    assert found == []


def test_the_lock_names_a_recipe_for_every_document() -> None:
    entries = lock.read(OPENAPI / "lock.toml")
    assert sorted(entries) == sorted(path.stem for path in OPENAPI.glob("v*.json"))
    for entry in entries.values():
        assert f"-d {entry.version}+prefer_refs" in entry.command
        assert entry.release.startswith(entry.slurm)


def test_documents_are_pretty_and_sorted() -> None:
    assert pretty({"b": "é", "a": []}) == '{\n "a": [],\n "b": "é"\n}\n'.encode()
    for path in OPENAPI.glob("v*.json"):
        assert path.read_bytes() == pretty(json.loads(path.read_bytes())), path.name


def test_a_dump_asks_for_the_plugins_that_the_release_has(tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib/x86_64-linux-gnu/slurm-wlm"
    folder.mkdir(parents=True)
    for name in ("openapi_slurmdbd.so", "openapi_slurmctld.so", "data_parser_v0_0_42.so"):
        (folder / name).touch()
    assert plugins(tmp_path) == ["openapi/slurmctld", "openapi/slurmdbd"]
    assert command_line("v0.0.9", ["openapi/slurmctld"])[1:4] == ["-d", "v0.0.9+prefer_refs", "-s"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dump", "v0.0.46"], "say which release"),
        (["dump", "--slurm", "99.11"], "nothing to dump"),
        (["dump", "--slurm", "99.11", "v0.0.46"], "no slurmrestd of 99.11: no recipe"),
    ],
)
def test_a_dump_says_what_it_needs(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(OPENAPI / "lock.toml", tmp_path)
    assert main(["--openapi", str(tmp_path), *arguments]) == 1
    assert message in capsys.readouterr().err
