"""Base of every section of options: frozen, checked and described."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

SMALLEST, LARGEST = 1e-15, 1e15  # sizes of numbers in any unit
LONGEST = 1000  # characters of a text
_COLLECTIONS = (dict, list, tuple)


def option(default: Any, sentence: str | None = None, unit: str = "", allowed: str = "", **limits: Any) -> Any:
    """Field of a model for an option.

    Parameters
    ----------
    default : Any
        Its default; ``...`` where it has to be given.
    sentence : str, optional
        Description; a longer one is the docstring below the field.
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
    """A frozen model that refuses unknown names and implausible numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)

    @classmethod
    def plain_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse booleans as numbers, and unusual digits."""
        takes_truth, takes_numbers = _takes(cls, str(info.field_name))
        for each in _entries(value):
            if isinstance(each, bool) and not takes_truth:
                raise ValueError("true and false are not allowed here")
            if takes_numbers and is_odd_number(each):
                raise ValueError(f"expected a number in plain digits, such as 72.5, found {each[:40]!r}")
        return value

    @classmethod
    def own_values(cls, value: Any, name: str) -> Any:  # noqa: ARG003 (for classes that choose by it)
        """Values of a field that its validator checks."""
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _of_a_size(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse implausibly large or small numbers, and overlong texts."""
        for each in _entries(cls.own_values(value, str(info.field_name))):
            number = isinstance(each, int | float) and not isinstance(each, bool)
            if number and each and not SMALLEST <= abs(each) <= LARGEST:
                raise ValueError(f"expected a size from {SMALLEST:g} to {LARGEST:g}")
            if isinstance(each, str) and len(each) > LONGEST:
                raise ValueError(f"expected at most {LONGEST} characters, found {len(each)}")
        return value


ONE_OR_MORE = BeforeValidator(  # of an option that is a list: one entry may be given without it
    lambda value: (value,) if isinstance(value, str) else value, json_schema_input_type=str | tuple[str, ...]
)


class Options(Frozen):
    """A section of options, or an entry of one."""

    @field_validator("*", mode="before")
    @classmethod
    def _plain_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        return cls.plain_number(value, info)


@functools.cache
def _takes(model: type[BaseModel], name: str) -> tuple[bool, bool]:
    """Return two flags: field accepts booleans, field accepts numbers."""
    kinds = set(_leaves(model.model_fields[name].annotation))
    has_model = any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in kinds)
    return bool in kinds or has_model, bool(kinds & {int, float})


def _leaves(annotation: Any) -> Iterator[Any]:
    """Types in an annotation; for literals the types of their values."""
    if get_origin(annotation) is Literal:
        yield from map(type, get_args(annotation))
    elif inner := get_args(annotation):
        for part in inner:
            yield from _leaves(part)
    else:
        yield annotation


def _entries(value: Any) -> Iterable[Any]:
    """Value, or values within lists and dictionaries."""
    if not isinstance(value, _COLLECTIONS):
        return (value,)
    parts = value.values() if isinstance(value, dict) else value
    return itertools.chain.from_iterable(map(_entries, parts))


def number_of(value: Any) -> float:
    """Number, also from text in plain digits; otherwise NaN.

    >>> number_of("7.5e1"), number_of("7_5"), number_of(True)
    (75.0, nan, nan)
    """
    try:
        return math.nan if isinstance(value, bool) or is_odd_number(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def is_odd_number(text: Any) -> bool:
    """Return True for a number written with underscores or in other scripts."""
    if not isinstance(text, str) or (text.strip().isascii() and "_" not in text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
