"""Slurm's numbers that may be unset or infinite."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from slurm_rest.api import INFINITE, Infinite, NoVal, NoValFloat
from slurm_rest.api.values import read_no_val, write_no_val


class Whole(BaseModel):
    value: NoVal = None


class Real(BaseModel):
    value: NoValFloat = None


integers = st.integers(min_value=-(2**31), max_value=2**64)
reals = st.floats(allow_nan=False, allow_infinity=False)


@given(integers)
def test_every_form_of_a_number_is_the_number(number: int) -> None:
    forms: list[Any] = [{"set": True, "infinite": False, "number": number}, {"set": True, "number": number}, number]
    for form in forms:
        assert Whole.model_validate({"value": form}).value == number
        assert Whole.model_validate_json(json.dumps({"value": form})).value == number


@given(st.one_of(integers, reals))
def test_a_number_with_a_fraction_keeps_it(number: float) -> None:
    value = Real.model_validate({"value": {"set": True, "infinite": False, "number": number}}).value
    assert value == float(number)
    assert isinstance(value, float)


@given(integers)
def test_unset_wins_over_the_number(number: int) -> None:
    forms: list[Any] = [{"set": False, "infinite": False, "number": number}, {"number": number}]
    assert [Whole.model_validate({"value": form}).value for form in forms] == [None, None]


@given(integers, st.booleans())
def test_infinite_wins_over_the_rest(number: int, flag: bool) -> None:
    form = {"set": flag, "infinite": True, "number": number}
    assert Whole.model_validate({"value": form}).value is INFINITE


@pytest.mark.parametrize("form", [None, {}, {"set": False}, {"set": True}, {"set": True, "number": None}])
def test_unset(form: object) -> None:
    assert Whole.model_validate({"value": form}).value is None


@pytest.mark.parametrize("form", ["Infinity", INFINITE, float("inf"), {"infinite": True}])
def test_infinite(form: object) -> None:
    assert Whole.model_validate({"value": form}).value is INFINITE
    assert Real.model_validate({"value": form}).value is INFINITE


def test_infinite_as_json_writes_it_bare() -> None:
    assert Real.model_validate_json(b'{"value": Infinity}').value is INFINITE


@pytest.mark.parametrize("form", ["5", "abc", True, [5], {"set": True, "number": "x"}, float("nan"), float("-inf")])
def test_what_is_no_number_is_refused(form: object) -> None:
    if form == float("-inf"):
        with pytest.raises(ValidationError):
            Whole.model_validate({"value": form})
        return
    for model in (Whole, Real):
        with pytest.raises(ValidationError):
            model.model_validate({"value": form})


def test_a_fraction_is_no_whole_number() -> None:
    assert Whole.model_validate({"value": 5.0}).value == 5
    with pytest.raises(ValidationError, match="whole number"):
        Whole.model_validate({"value": 5.5})


@given(st.one_of(st.none(), st.just(INFINITE), integers))
def test_what_is_written_is_read_back(value: int | Infinite | None) -> None:
    written = Whole(value=value).model_dump(mode="json")["value"]
    assert read_no_val(written) == value
    assert Whole.model_validate_json(Whole(value=value).model_dump_json()).value == value


def test_the_written_form_is_complete() -> None:
    """``{"number": 5}`` without ``set`` would be taken as unset."""
    assert write_no_val(5) == {"set": True, "infinite": False, "number": 5}
    assert write_no_val(0) == {"set": True, "infinite": False, "number": 0}
    assert write_no_val(INFINITE) == {"set": False, "infinite": True, "number": 0}
    assert write_no_val(None) is None


def test_in_python_the_value_stays_what_it_is() -> None:
    assert Whole(value=5).model_dump() == {"value": 5}
    assert Whole(value=INFINITE).model_dump()["value"] is INFINITE


def test_infinite_is_one_thing() -> None:
    assert pickle.loads(pickle.dumps(INFINITE)) is INFINITE
    assert copy.deepcopy(INFINITE) is INFINITE
    assert Infinite("Infinity") is INFINITE
    assert repr(INFINITE) == str(INFINITE) == "INFINITE"
    assert json.loads(json.dumps({"limit": INFINITE})) == {"limit": "Infinity"}
    others: list[object] = [0, 5, 2**64, None, float("inf")]
    assert INFINITE not in others
