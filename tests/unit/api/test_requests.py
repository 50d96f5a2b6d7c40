"""Requests: what is wrong is refused before anything is sent, and what is sent has the servers' form."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from slurm_rest.api import API_VERSIONS, INFINITE
from slurm_rest.api._operations import SLURM, SLURMDB, UTIL
from slurm_rest.api.accounting import AccountReq, OpenapiAccountsReq
from slurm_rest.api.base import ApiRequest, Operation, build_request
from slurm_rest.api.jobs import JobDescMsg, JobSubmitReq, KillJobsMsg, OpenapiJobInfoResp
from slurm_rest.errors import SpecError, UnsupportedVersion

FIRST, LAST = API_VERSIONS[0], API_VERSIONS[-1]


def job(version: str = LAST, **fields: Any) -> dict[str, Any]:
    body = json.loads(build_request(SLURM["post_job_submit"], version, body={"job": fields}).body or b"")
    assert isinstance(body["job"], dict)
    return body["job"]


def query(operation: Operation, version: str = LAST, /, **values: Any) -> tuple[tuple[str, str], ...]:
    return build_request(operation, version, query=values).query


def test_a_whole_request() -> None:
    body = JobSubmitReq(script="#!/bin/sh\n", job=JobDescMsg(name="x", time_limit=5))
    request = build_request(SLURM["post_job_submit"], LAST, body=body)
    assert (request.operation.method, request.path, request.query) == ("POST", f"/slurm/{LAST}/job/submit", ())
    assert json.loads(request.body or b"") == {
        "script": "#!/bin/sh\n",
        "job": {"name": "x", "time_limit": {"set": True, "infinite": False, "number": 5}},
    }


def test_none_is_not_sent_and_nothing_else_is_left_out() -> None:
    assert job(name="", nice=0, hold=False, environment=[], comment=None, time_limit=0) == {
        "name": "",
        "nice": 0,
        "hold": False,
        "environment": [],
        "time_limit": {"set": True, "infinite": False, "number": 0},
    }


def test_infinite_is_written_out() -> None:
    assert job(time_limit=INFINITE) == {"time_limit": {"set": False, "infinite": True, "number": 0}}


def test_a_version_that_wants_a_bare_number_gets_one() -> None:
    assert job(FIRST, distribution_plane_size=3) == {"distribution_plane_size": 3}
    assert job(API_VERSIONS[1], distribution_plane_size=3)["distribution_plane_size"]["set"] is True
    with pytest.raises(SpecError, match=r"knows no INFINITE for job\.distribution_plane_size"):
        job(FIRST, distribution_plane_size=INFINITE)


def test_an_unknown_field_names_the_nearest() -> None:
    with pytest.raises(SpecError, match="JobDescMsg has no field 'nmae'; did you mean 'name'") as caught:
        job(nmae="x")
    assert caught.value.field == "job.nmae"
    with pytest.raises(ValidationError, match="no field 'parttion'; did you mean 'partition'"):
        JobDescMsg.model_validate({"parttion": "x"})
    with pytest.raises(ValidationError, match="no field 'zzzzzzzz' "):
        JobDescMsg.model_validate({"zzzzzzzz": "x"})


def test_an_unknown_field_cannot_be_assigned_either() -> None:
    body = JobDescMsg(name="x")
    with pytest.raises(ValueError, match="nmae"):
        body.nmae = "y"  # type: ignore[attr-defined]
    with pytest.raises(ValidationError):
        body.name = 5  # type: ignore[assignment]


def test_a_value_of_the_wrong_type_is_refused() -> None:
    """Sent, ``name: ["a"]`` would be answered with 200 and no job."""
    with pytest.raises(SpecError, match=r"^job.name: Input should be a valid string"):
        job(name=["a"])


def test_a_field_that_the_version_lacks_is_refused_and_the_versions_that_have_it_are_named() -> None:
    with pytest.raises(UnsupportedVersion, match=f"API version {LAST} has no field 'job.oversubscribe'") as caught:
        job(oversubscribe=True)
    assert caught.value.supported == API_VERSIONS[:2]
    assert caught.value.version == LAST
    assert job(FIRST, oversubscribe=True) == {"oversubscribe": True}


def test_fields_are_checked_at_every_depth() -> None:
    with pytest.raises(UnsupportedVersion, match=r"no field 'jobs\[1\]\.segment_size'"):
        build_request(SLURM["post_job_submit"], FIRST, body={"jobs": [{"name": "a"}, {"segment_size": 2}]})
    with pytest.raises(UnsupportedVersion, match=r"no field 'job\.segment_size'"):
        job(FIRST, segment_size=2)


def test_a_field_that_is_set_to_none_is_not_refused() -> None:
    assert job(FIRST, segment_size=None) == {}


def test_names_on_the_wire_may_differ() -> None:
    body = json.loads(build_request(SLURM["post_job_submit"], LAST, body={"job": {"rlimits": {"as_": 5}}}).body or b"")
    assert body["job"]["rlimits"] == {"as": {"set": True, "infinite": False, "number": 5}}
    same = build_request(SLURM["post_job_submit"], LAST, body={"job": {"rlimits": {"as": 5}}})
    assert json.loads(same.body or b"") == body


def test_a_wire_name_counts_as_known_to_the_version() -> None:
    assert job(FIRST, rlimits={"as_": 5})["rlimits"]["as"]["number"] == 5


@pytest.mark.parametrize("text", ["é", "\udcff\udc80", "a\nb", '"', "\\", "\u2028", "x" * 2000, "\U0001f600"])
def test_any_text_goes_over_the_wire_byte_for_byte(text: str) -> None:
    request = build_request(SLURM["post_job_submit"], LAST, body={"job": {"name": text}})
    assert json.loads((request.body or b"").decode("utf-8", "surrogateescape"))["job"]["name"] == text


def test_what_has_no_bytes_or_would_be_cut_is_refused() -> None:
    with pytest.raises(SpecError, match="lone surrogate"):
        job(name="\ud800")
    with pytest.raises(SpecError, match="NUL"):
        job(environment=["A=1\0"])
    assert job(name="\\u0000") == {"name": "\\u0000"}


def test_an_operation_that_the_version_lacks() -> None:
    with pytest.raises(UnsupportedVersion, match=f"{FIRST} has no slurm get_conf") as caught:
        build_request(SLURM["get_conf"], FIRST)
    assert caught.value.supported == (LAST,)
    assert LAST in str(caught.value)


def test_a_version_that_nobody_knows() -> None:
    with pytest.raises(UnsupportedVersion, match="does not know API version v9") as caught:
        build_request(SLURM["get_jobs"], "v9.9.9")
    assert caught.value.supported == API_VERSIONS


def test_a_body_where_none_belongs_and_none_where_one_does() -> None:
    with pytest.raises(SpecError, match="takes no body"):
        build_request(SLURM["get_jobs"], LAST, body={})
    with pytest.raises(SpecError, match="needs a body"):
        build_request(SLURM["post_job_submit"], LAST)
    with pytest.raises(SpecError, match="takes a JobSubmitReq, not a JobDescMsg"):
        build_request(SLURM["post_job_submit"], LAST, body=JobDescMsg())


def test_delete_with_a_body() -> None:
    request = build_request(SLURM["delete_jobs"], LAST, body=KillJobsMsg(jobs=["1", "2"], signal="TERM"))
    assert (request.operation.method, request.path) == ("DELETE", f"/slurm/{LAST}/jobs/")
    assert json.loads(request.body or b"") == {"jobs": ["1", "2"], "signal": "TERM"}


def test_bodies_that_the_document_calls_answers() -> None:
    body = OpenapiAccountsReq(accounts=[AccountReq(name="a", organization="o", description="d")])
    request = build_request(SLURMDB["post_accounts"], LAST, body=body)
    assert json.loads(request.body or b"")["accounts"] == [{"description": "d", "name": "a", "organization": "o"}]
    assert build_request(UTIL["post_hostlist"], LAST, body={"hostnames": ["n1"]}).path == f"/util/{LAST}/hostlist"


def test_values_of_the_environment_appear_nowhere() -> None:
    body = JobSubmitReq(job=JobDescMsg(environment=["KEY=hunter2"], name="x"))
    assert repr(body) == "JobSubmitReq(job=JobDescMsg(environment='...', name='x'))"
    assert "hunter2" not in str(body)
    assert "hunter2" not in repr(build_request(SLURM["post_job_submit"], LAST, body=body))
    wrong: dict[str, Any] = {"environment": [{"KEY": "hunter2"}]}
    with pytest.raises(ValidationError) as caught:
        JobDescMsg(**wrong)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(SpecError) as refused:
        job(**wrong)
    assert "hunter2" not in str(refused.value)
    with pytest.raises(SpecError) as cut:
        job(environment=["KEY=hunter2\0"])
    assert "hunter2" not in str(cut.value)


@pytest.mark.parametrize("name", ["delete_association", "delete_associations"])
def test_a_deletion_without_a_filter_is_refused(name: str) -> None:
    """Slurm would take it for a deletion of everything; only running jobs stopped it when tried."""
    for values in ({}, {"with_deleted": True}, {"account": None}, {"usage_start": 5, "format": "x"}):
        with pytest.raises(SpecError, match=r"would delete everything[.] give one of account, cluster"):
            build_request(SLURMDB[name], FIRST, query=values)
    assert build_request(SLURMDB[name], FIRST, query={"account": "a"}).query == (("account", "a"),)


# -- paths


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        (42, "42"),
        ("42_7", "42_7"),
        ("42+1", "42%2B1"),
        ("a/b", "a%2Fb"),
        ("é ?#%", "%C3%A9%20%3F%23%25"),
        ("\udcff", "%FF"),
    ],
)
def test_path_parameters_are_one_encoded_segment(value: object, segment: str) -> None:
    request = build_request(SLURM["get_job"], LAST, path={"job_id": value})
    assert request.path == f"/slurm/{LAST}/job/{segment}"


@pytest.mark.parametrize("value", ["", ".", "..", "a\0", None, True, 4.0, ["4"], "\ud800"])
def test_path_parameters_that_would_name_something_else(value: object) -> None:
    with pytest.raises(SpecError) as caught:
        build_request(SLURM["get_job"], LAST, path={"job_id": value})
    assert caught.value.field == "job_id"


def test_path_parameters_are_complete() -> None:
    with pytest.raises(SpecError, match="needs job_id"):
        build_request(SLURM["get_job"], LAST)
    with pytest.raises(SpecError, match="no path parameter 'id'"):
        build_request(SLURM["get_job"], LAST, path={"job_id": 1, "id": 2})


def test_a_value_in_braces_is_not_taken_for_a_placeholder() -> None:
    assert build_request(SLURM["get_node"], LAST, path={"node_name": "{x}"}).path.endswith("/node/%7Bx%7D")


# -- queries


def test_lists_are_repeated_in_order_and_without_duplicates() -> None:
    asked = query(SLURM["get_jobs_state"], job_id=[3, "1_2", 3, "3"])
    assert asked == (("job_id", "3"), ("job_id", "1_2"))
    assert query(SLURM["get_jobs_state"], job_id=7) == (("job_id", "7"),)
    assert query(SLURM["get_jobs_state"], job_id=(str(n) for n in range(2))) == (("job_id", "0"), ("job_id", "1"))


def test_an_empty_list_is_refused_because_it_would_ask_for_everything() -> None:
    with pytest.raises(SpecError, match=r"'job_id' is an empty list[.] leave it out"):
        query(SLURM["get_jobs_state"], job_id=[])


def test_none_leaves_a_parameter_out() -> None:
    assert query(SLURM["get_jobs"], update_time=None, flags=None) == ()


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false")])
def test_booleans(value: object, text: str) -> None:
    assert query(SLURMDB["get_jobs"], skip_steps=value) == (("skip_steps", text),)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("skip_steps", "yes"),
        ("skip_steps", 1),
        ("skip_steps", [True]),
        ("job_name", True),
        ("job_name", ""),
        ("job_name", ["a", ""]),
        ("job_name", b"x"),
        ("job_name", {"a": 1}),
        ("job_name", 1.5),
        ("job_name", "a\0b"),
        ("node", ["a", "b"]),
        ("start_time", -1),
        ("start_time", float("nan")),
        ("start_time", [1]),
        ("start_time", True),
        ("start_time", ""),
    ],
)
def test_values_that_cannot_be_sent(name: str, value: object) -> None:
    with pytest.raises(SpecError) as caught:
        build_request(SLURMDB["get_jobs"], LAST, query={name: value})
    assert caught.value.field == name


def test_times_are_sent_in_the_one_form_that_all_versions_read() -> None:
    aware = datetime(2026, 3, 4, 5, 6, 7, 999, tzinfo=timezone(timedelta(hours=2)))
    seconds = int(aware.timestamp())
    for value in (aware, seconds, float(seconds), str(seconds), aware.astimezone().replace(tzinfo=None)):
        assert query(SLURM["get_jobs"], update_time=value) == (("update_time", f"uts{seconds}"),)
    assert query(SLURM["get_jobs"], update_time="now-1hour") == (("update_time", "now-1hour"),)


def test_the_beginning_of_time_is_moved_to_where_slurm_takes_it() -> None:
    """uts0 and uts1 are refused by every version; all jobs are younger than this anyway."""
    assert query(SLURM["get_jobs"], update_time=0) == (("update_time", "uts1000000"),)


def test_a_parameter_has_the_name_that_its_version_gives_it() -> None:
    associations = SLURMDB["get_associations"]
    assert query(associations, FIRST, with_deleted=True) == (("with_deleted", "true"),)
    assert query(associations, LAST, with_deleted=True) == (("Include deleted associations", "true"),)
    assert query(SLURMDB["get_accounts"], LAST, with_assocs=True) == (("WithAssociations", "true"),)


def test_a_parameter_that_the_version_lacks() -> None:
    with pytest.raises(UnsupportedVersion, match="no query parameter 'submit_time' of get_jobs") as caught:
        query(SLURMDB["get_jobs"], LAST, submit_time=5)
    assert caught.value.supported == (FIRST,)


def test_an_unknown_parameter_names_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"no query parameter 'update_tme'[.] did you mean 'update_time'"):
        query(SLURM["get_jobs"], update_tme=5)
    with pytest.raises(SpecError, match="it has none"):
        query(SLURM["get_ping"], x=5)


@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), min_size=1))
def test_any_text_passes_through_a_query(names: list[str]) -> None:
    assert [text for _, text in query(SLURMDB["get_jobs"], job_name=names)] == list(dict.fromkeys(names))


# -- the table


def test_gets_that_change_something_are_not_safe_to_repeat() -> None:
    unsafe = {name for name, one in SLURM.items() if one.method == "GET" and not one.safe}
    assert unsafe == {"get_reconfigure", "get_job_requeue"}
    assert not [one for table in (SLURM, SLURMDB, UTIL) for one in table.values() if one.safe and one.method != "GET"]


def test_requests_are_values() -> None:
    first = build_request(SLURM["get_job"], LAST, path={"job_id": 1})
    assert first == build_request(SLURM["get_job"], LAST, path={"job_id": "1"})
    assert isinstance(first, ApiRequest)
    assert "token" not in repr(first)


def test_answers_ignore_what_they_do_not_know() -> None:
    answer = OpenapiJobInfoResp.model_validate({"jobs": [{"job_id": 1, "colour": "red"}], "new": 1})
    assert answer.jobs
    assert answer.jobs[0].job_id == 1


@pytest.mark.parametrize(
    ("name", "given", "hint"),
    [
        ("get_job", {"path": {"job_id": ""}}, "one part of the path"),
        ("get_job", {"path": {"job_id": 1.5}}, "one part of the path"),
        ("get_job", {"path": {"job_id": "a\0"}}, "end at the first one"),
        ("get_job", {"path": {"job_id": "\ud800"}}, "surrogateescape"),
        ("get_job", {"path": {"id": 1}}, "{job_id}"),
        ("get_job", {"path": {}}, "{job_id}"),
        ("get_jobs", {"body": {}}, "Leave it out"),
        ("post_job_submit", {}, "Give a JobSubmitReq"),
        ("post_job_submit", {"body": "x"}, "A dict of its fields"),
        ("post_job_submit", {"body": {"script": "a\0"}}, "end at the first one"),
        ("post_job_submit", {"body": {"job": {"nam": "x"}}}, "See JobSubmitReq in slurm_rest.api.jobs"),
        ("post_job_submit", {"body": {"job": {"name": 1}}}, "See JobSubmitReq in slurm_rest.api.jobs"),
    ],
)
def test_what_cannot_be_sent_says_what_to_do(name: str, given: dict[str, Any], hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        build_request(SLURM[name], LAST, **given)
    assert hint in caught.value.hint


@pytest.mark.parametrize("body", [{}, {"job_id_list": ["1"]}])
def test_what_would_end_slurmrestd_is_not_sent(body: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="post_jobs needs job_rec"):
        build_request(SLURMDB["post_jobs"], LAST, body=body)
    assert build_request(SLURMDB["post_jobs"], LAST, body={**body, "job_rec": {}}).body
