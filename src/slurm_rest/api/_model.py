"""The bases of the generated models. Importing this imports pydantic; ``slurm_rest.api`` alone does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

__all__ = ["AnswerModel", "RequestModel", "wire"]


# Values of these may be secrets of the user: they appear in no repr, log or error.
_SECRET = frozenset({"environment", "spank_environment"})


class _Model(BaseModel):
    """What requests and answers share."""

    model_config = ConfigDict(
        populate_by_name=True,
        # Building a validator takes far longer than creating the class; most classes are never used in one run.
        defer_build=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Only what is set: most of a job's 150 fields are not."""
        for name, value in super().__repr_args__():
            if value is not None:
                yield name, "..." if name in _SECRET and value else value


class AnswerModel(_Model):
    """What a server sends. Fields that this release does not know are ignored; any field may be absent (None)."""

    # A few strings of the documents are numbers in some server's answer.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class RequestModel(_Model):
    """What a client sends. A field that no version knows is refused; None means that the field is not sent."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    @model_validator(mode="before")
    @classmethod
    def _name_the_nearest(cls, data: object) -> object:
        if isinstance(data, Mapping):
            wires = {alias for one in cls.model_fields.values() if isinstance(alias := one.validation_alias, str)}
            for name in data:
                if name not in cls.model_fields and name not in wires:
                    text = unknown_field(cls, str(name))
                    raise PydanticCustomError("unknown_field", "{text}", {"text": text, "field": str(name)})
        return data


def unknown_field(model: type[BaseModel], name: str) -> str:
    """Say that a model has no such field, and which one was probably meant."""
    text = f"{model.__name__} has no field {name!r}"
    near = get_close_matches(name, model.model_fields, n=1, cutoff=0.5)
    return f"{text}; did you mean {near[0]!r}?" if near else text


def wire(name: str) -> Any:  # noqa: ANN401 - like pydantic's Field, it stands for a default of any type
    """A field whose name in JSON is not its Python name. Not `alias`: type checkers would rename the argument."""
    return Field(default=None, validation_alias=name, serialization_alias=name)
