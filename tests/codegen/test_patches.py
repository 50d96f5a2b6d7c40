"""Patches are data, and none outlives its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.document import CodegenError, Document
from codegen.patches import Patch, PatchSet, apply, load
from tests.codegen.small import NUMBER, TEXT, array, document, jobs, obj, operation, query, ref


def patched(one: Document, *patches: Patch, **schemas: object) -> Document:
    return apply([one], PatchSet(patches, schemas))[0]


def test_an_answer_is_replaced() -> None:
    one = jobs("v0.0.1", ref("job"), job=obj(id=NUMBER))
    changed = patched(one, Patch("answer", "slurm.get_jobs", "wrong", "job"))
    response = changed.operations["slurm", "get_jobs"].spec["responses"]["200"]
    assert response["content"]["application/json"]["schema"] == {"$ref": "job"}
    assert one.operations["slurm", "get_jobs"].spec["responses"]["200"] != response


def test_an_answer_that_is_right_already_is_an_error() -> None:
    with pytest.raises(CodegenError, match="needs it no more"):
        patched(jobs("v0.0.1", TEXT), Patch("answer", "slurm.get_jobs", "wrong", "jobs_resp"))


def test_an_answer_needs_a_schema_that_exists() -> None:
    with pytest.raises(CodegenError, match="no schema 'nowhere'"):
        patched(jobs("v0.0.1", TEXT), Patch("answer", "slurm.get_jobs", "wrong", "nowhere"))


def test_a_property_is_set_and_keeps_its_description() -> None:
    one = jobs("v0.0.1", ref("job"), job=obj(row=array(obj(id={"type": "string", "description": "which"}))))
    changed = patched(one, Patch("property", "job/row/[]/id", "wrong", '{"type": "integer"}'))
    items = changed.schemas["job"]["properties"]["row"]["items"]
    assert items["properties"]["id"] == {"type": "integer", "description": "which"}


def test_a_property_is_removed() -> None:
    one = jobs("v0.0.1", ref("job"), job=obj(id=NUMBER, gone=TEXT))
    changed = patched(one, Patch("property", "job/gone", "never sent", ""))
    assert list(changed.schemas["job"]["properties"]) == ["id"]
    assert list(one.schemas["job"]["properties"]) == ["id", "gone"]


def test_a_property_is_renamed() -> None:
    one = jobs("v0.0.1", ref("job"), job=obj(**{"last run": NUMBER}))
    changed = patched(one, Patch("rename", "job/last run", "sent otherwise", "last_run"))
    assert list(changed.schemas["job"]["properties"]) == ["last_run"]


def test_a_parameter_gets_hints() -> None:
    spec = operation(ref("r"), parameters=[query("DELETED")])
    one = document("v0.0.1", {"r": obj(x=TEXT)}, {"GET /slurmdb/accounts/ get_accounts": spec})
    changed = patched(one, Patch("parameter", "slurmdb.*?DELETED", "one name", {"x-name": "with_deleted"}))
    assert changed.operations["slurmdb", "get_accounts"].spec["parameters"][0]["x-name"] == "with_deleted"


def test_a_side_effect_is_marked_on_a_get_only() -> None:
    one = jobs("v0.0.1", TEXT)
    changed = patched(one, Patch("side_effect", "slurm.get_jobs", "requeues"))
    assert changed.operations["slurm", "get_jobs"].spec["x-side-effect"]
    posting = document("v0.0.1", {"r": obj(x=TEXT)}, {"POST /slurm/jobs/ post_jobs": operation(ref("r"))})
    with pytest.raises(CodegenError, match="not a GET"):
        patched(posting, Patch("side_effect", "slurm.post_jobs", "requeues"))


@pytest.mark.parametrize(
    "patch",
    [
        Patch("rename", "job/last run", "sent otherwise", "last_run"),
        Patch("property", "job/id", "wrong", '{"type": "integer"}'),
        Patch("property", "nowhere/id", "wrong", '{"type": "integer"}'),
        Patch("parameter", "slurm.get_jobs?nothing", "hint", {"x-kind": "list"}),
        Patch("side_effect", "slurm.get_nothing", "requeues"),
        Patch("rename", "job/id", "not in this version", "jid", since="v0.0.2"),
    ],
)
def test_a_patch_that_changes_nothing_is_an_error(patch: Patch) -> None:
    with pytest.raises(CodegenError, match="applies to no document"):
        patched(jobs("v0.0.1", ref("job"), job=obj(id=NUMBER)), patch)


def test_a_patch_is_bound_to_its_versions() -> None:
    documents = [jobs(f"v0.0.{n}", ref("job"), job=obj(id=NUMBER)) for n in (8, 9, 10, 11)]
    patch = Patch("rename", "job/id", "sent otherwise", "jid", since="v0.0.9", until="v0.0.10")
    changed = apply(documents, PatchSet((patch,), {}))
    assert [next(iter(one.schemas["job"]["properties"])) for one in changed] == ["id", "jid", "jid", "id"]


def test_own_schemas_may_not_shadow_the_documents() -> None:
    with pytest.raises(CodegenError, match="has its own job"):
        patched(jobs("v0.0.1", ref("job"), job=obj(id=NUMBER)), job=obj(x=TEXT))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[patch]]\naction="rename"\ntarget="a/b"\nvalue="c"\nreason=" "', "gives no reason"),
        ('[[patch]]\naction="burn"\ntarget="a/b"\nreason="x"', "unknown action 'burn'"),
        ('[[patch]]\naction="rename"\ntarget="a/b"\nraeson="x"', "unexpected keyword"),
    ],
)
def test_a_patch_file_is_checked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "patches.toml"
    path.write_text(text)
    with pytest.raises(CodegenError, match=message):
        load(path)
