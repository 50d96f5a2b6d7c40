"""Names that the generator makes."""

from __future__ import annotations

import pytest

from codegen.naming import class_name, constant_name, python_name, request_name


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("job_id", "job_id"),
        ("TRES", "tres"),
        ("CPUs", "cpus"),
        ("RPCs", "rpcs"),
        ("MaxDBDMsgs", "max_dbd_msgs"),
        ("DefMemPerCPU", "def_mem_per_cpu"),
        ("NoUsersAreCoords", "no_users_are_coords"),
        ("Include the raw QOS or delta_qos", "include_the_raw_qos_or_delta_qos"),
        ("Exclude parent id/name", "exclude_parent_id_name"),
        ("as", "as_"),
        ("list", "list_"),
        ("model_name", "model_name_"),
        ("3d", "n3d"),
    ],
)
def test_fields_are_snake_case_and_hide_nothing(wire: str, name: str) -> None:
    assert python_name(wire) == name


def test_a_name_without_letters_is_refused() -> None:
    with pytest.raises(ValueError, match="no Python name"):
        python_name("--")


def test_classes_and_constants() -> None:
    assert class_name("job_desc_msg") == "JobDescMsg"
    assert class_name("openapi_tres_resp") == "OpenapiTresResp"
    assert constant_name("job_state") == "JOB_STATE"


@pytest.mark.parametrize(
    ("component", "name"),
    [
        ("account", "account_req"),
        ("openapi_accounts_resp", "openapi_accounts_req"),
        ("openapi_hostlist_req_resp", "openapi_hostlist_req"),
    ],
)
def test_request_twins(component: str, name: str) -> None:
    assert request_name(component) == name
