"""Merging versions into one surface."""

from __future__ import annotations

import pytest

from codegen.document import CodegenError, Document, parse
from codegen.merge import Field, Type
from codegen.surface import Model, Surface, build
from tests.codegen.small import (
    NO_VAL,
    NUMBER,
    TEXT,
    array,
    document,
    jobs,
    obj,
    operation,
    query,
    raw,
    ref,
)


def model(surface: Surface, name: str) -> Model:
    return next(one for one in surface.models if one.name == name)


def field(surface: Surface, name: str, of: str) -> Field:
    return next(one for one in model(surface, of).fields if one.name == name)


def test_a_field_remembers_the_versions_that_have_it() -> None:
    surface = build(
        [
            jobs("v0.0.1", ref("job"), job=obj(id=NUMBER, old=TEXT)),
            jobs("v0.0.2", ref("job"), job=obj(id=NUMBER, new=TEXT)),
        ]
    )
    assert surface.versions == ("v0.0.1", "v0.0.2")
    assert {one.name: one.versions for one in model(surface, "Job").fields} == {
        "id": ("v0.0.1", "v0.0.2"),
        "new": ("v0.0.2",),
        "old": ("v0.0.1",),
    }


@pytest.mark.parametrize("inlined_first", [True, False])
def test_an_inlined_shape_and_a_named_one_are_one_class(*, inlined_first: bool) -> None:
    inlined, named = ("v0.0.1", "v0.0.2") if inlined_first else ("v0.0.2", "v0.0.1")
    documents = [
        jobs(inlined, obj(id=NUMBER, array=obj(task=NUMBER))),
        jobs(named, ref("job_info"), job_info=obj(id=NUMBER, array=obj(task=NUMBER, size=NUMBER))),
    ]
    surface = build(sorted(documents, key=lambda one: one.version))
    assert [one.name for one in surface.models] == ["JobInfo", "JobInfoArray", "JobsResp"]
    assert [one.name for one in model(surface, "JobInfoArray").fields] == ["size", "task"]


def test_an_inlined_shape_does_not_take_the_name_of_another_component() -> None:
    surface = build(
        [jobs("v0.0.1", ref("job"), job=obj(state=obj(now=TEXT), other=ref("job_state")), job_state=obj(x=TEXT))]
    )
    assert field(surface, "state", "Job").type == Type("model", "job_state_item")
    assert field(surface, "other", "Job").type == Type("model", "job_state")


def test_numbers_that_may_be_unset_become_one_value() -> None:
    floating = {**NO_VAL, "properties": {**NO_VAL["properties"], "number": {"type": "number"}}}  # type: ignore[dict-item]
    surface = build([jobs("v0.0.1", ref("job"), job=obj(limit=ref("u32"), load=floating), u32=NO_VAL)])
    assert field(surface, "limit", "Job").type == Type("noval", "int")
    assert field(surface, "load", "Job").type == Type("noval", "float")
    assert not [one for one in surface.models if one.name == "U32"]


def test_a_version_that_has_a_bare_number_is_remembered() -> None:
    surface = build(
        [
            jobs("v0.0.1", ref("job"), job=obj(size=NUMBER)),
            jobs("v0.0.2", ref("job"), job=obj(size=ref("u32")), u32=NO_VAL),
        ]
    )
    assert field(surface, "size", "Job").type == Type("noval", "int")
    assert field(surface, "size", "Job").plain == ("v0.0.1",)


def test_types_that_exclude_each_other_become_a_union_newest_first_and_are_reported() -> None:
    surface = build(
        [
            jobs("v0.0.1", ref("job"), job=obj(nodes=TEXT)),
            jobs("v0.0.2", ref("job"), job=obj(nodes=obj(count=NUMBER))),
        ]
    )
    kind = field(surface, "nodes", "Job").type
    assert [one.kind for one in kind.args] == ["model", "str"]
    assert surface.conflicts == ["job.nodes: object (v0.0.2), str (v0.0.1)"]


def test_enumerations_stay_open_and_their_words_are_collected() -> None:
    def state(*words: str) -> dict[str, object]:
        return array({"type": "string", "enum": list(words)})

    surface = build(
        [
            jobs("v0.0.1", ref("job"), job=obj(state=ref("job_state")), job_state=state("RUNNING")),
            jobs("v0.0.2", ref("job"), job=obj(state=state("RUNNING", "EXPEDITING"))),
        ]
    )
    one = field(surface, "state", "Job")
    assert one.type.kind == "list"
    assert one.type.args[0].kind == "str"
    assert surface.words == {"job_state": ("RUNNING", "EXPEDITING")}


def test_a_component_of_answers_and_requests_has_a_twin_without_the_envelope() -> None:
    schemas = {
        "openapi_accounts_resp": obj(accounts=array(ref("account")), meta=ref("openapi_meta")),
        "account": obj(name=TEXT),
        "openapi_meta": obj(x=TEXT),
    }
    both = ref("openapi_accounts_resp")
    surface = build(
        [
            document(
                "v0.0.1",
                schemas,
                {
                    "GET /slurmdb/accounts/ get_accounts": operation(both),
                    "POST /slurmdb/accounts/ post_accounts": operation(both, body=both),
                },
            )
        ]
    )
    assert [(one.name, one.request) for one in surface.models] == [
        ("Account", False),
        ("AccountReq", True),
        ("OpenapiAccountsReq", True),
        ("OpenapiAccountsResp", False),
        ("OpenapiMeta", False),
    ]
    assert [one.name for one in model(surface, "OpenapiAccountsReq").fields] == ["accounts"]
    assert surface.operations[1].body == "OpenapiAccountsReq"


def test_models_live_in_the_family_of_their_operations_and_shared_ones_in_common() -> None:
    schemas = {"jobs_resp": obj(meta=ref("meta")), "nodes_resp": obj(meta=ref("meta")), "meta": obj(x=TEXT)}
    surface = build(
        [
            document(
                "v0.0.1",
                schemas,
                {
                    "GET /slurm/jobs/ get_jobs": operation(ref("jobs_resp")),
                    "GET /slurm/whatever/ get_whatever": operation(ref("nodes_resp")),
                },
            )
        ]
    )
    assert {one.name: one.family for one in surface.models} == {
        "JobsResp": "jobs",
        "Meta": "common",
        "NodesResp": "cluster",
    }


def test_a_parameter_may_have_another_wire_name_in_another_version() -> None:
    def one(version: str, *parameters: object) -> Document:
        return document(
            version, {"r": obj(x=TEXT)}, {"GET /slurm/jobs/ get_jobs": operation(ref("r"), parameters=parameters)}
        )

    surface = build(
        [
            one("v0.0.1", query("with_deleted", allowEmptyValue=True), query("update_time")),
            one("v0.0.2", query("Include deleted", allowEmptyValue=True, **{"x-name": "with_deleted"})),
        ]
    )
    deleted, time = surface.operations[0].query
    assert deleted.name == "with_deleted"
    assert deleted.kind == "bool"
    assert deleted.wires == (("with_deleted", ("v0.0.1",)), ("Include deleted", ("v0.0.2",)))
    assert (time.name, time.kind, time.versions) == ("update_time", "time", frozenset({"v0.0.1"}))


def test_versions_that_disagree_about_the_route_are_an_error() -> None:
    answer = operation(ref("r"))
    with pytest.raises(CodegenError, match="disagree about the route"):
        build(
            [
                document("v0.0.1", {"r": obj(x=TEXT)}, {"GET /slurm/jobs/ get_jobs": answer}),
                document("v0.0.2", {"r": obj(x=TEXT)}, {"GET /slurm/job/ get_jobs": answer}),
            ]
        )


def test_a_dangling_reference_is_an_error() -> None:
    with pytest.raises(CodegenError, match="reference to 'nowhere'"):
        build([jobs("v0.0.1", ref("nowhere"))])


def test_a_document_of_another_version_is_an_error() -> None:
    other = raw("v0.0.1", {"r": obj(x=TEXT)}, {"GET /slurm/jobs/ get_jobs": operation(ref("r"))})
    with pytest.raises(CodegenError, match="no schemas or operations"):
        parse(other, "v0.0.2")
