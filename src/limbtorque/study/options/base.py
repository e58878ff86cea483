"""Base of every section of options: frozen, checked, and described once."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

SMALLEST, LARGEST = 1e-15, 1e15  # sizes of numbers in any unit


def option(default: Any, sentence: str, unit: str = "", allowed: str = "", **limits: Any) -> Any:
    """Field of a model with all that is known of an option.

    Parameters
    ----------
    default : Any
        Its default; ``...`` where it has to be given.
    sentence : str
        Description.
    unit : str, optional
        Unit, "1" for pure numbers.
    allowed : str, optional
        Range in words, where it does not follow from type and limits.
    **limits
        pydantic's ``gt``, ``ge``, ``lt``, ``le`` and others.
    """
    extra = {"x-unit": unit, "x-range": allowed}
    return Field(default, description=sentence, json_schema_extra={k: v for k, v in extra.items() if v}, **limits)


class Frozen(BaseModel):
    """A frozen model that refuses unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Options(Frozen):
    """A section of options, or an entry of one."""

    @field_validator("*", mode="after")
    @classmethod
    def _of_a_size(cls, value: Any) -> Any:
        """Refuse numbers that no quantity of a study has."""
        if isinstance(value, float) and value and not SMALLEST <= abs(value) <= LARGEST:
            raise ValueError(f"is {value:g}, expected 0, or a size from {SMALLEST:g} to {LARGEST:g}")
        return value

    @field_validator("*", mode="before")
    @classmethod
    def _no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false where pydantic would read 1 and 0."""
        kind = cls.model_fields[str(info.field_name)].annotation
        if (
            isinstance(value, bool)
            and kind is not bool
            and not (isinstance(kind, type) and issubclass(kind, BaseModel))
        ):
            raise ValueError("true and false have no meaning here")
        return value
