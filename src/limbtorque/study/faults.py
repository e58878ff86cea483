"""Validation messages, the same for settings, tables and muscle sets."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from limbtorque.errors import did_you_mean

Model = TypeVar("Model", bound=BaseModel)
OUT_OF_RANGE = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}
HIDDEN = {"Cc", "Cs", "Zl", "Zp"}  # categories of Unicode: control characters, halves of pairs, line and paragraph ends
TURNING = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "string_too_short": "a text",
    "dict_type": "'name: value' entries, in one line {name: value}",
    "list_type": "a list",
    "tuple_type": "a list",
    "tuple_too_short": "a longer list",
}


def checked(model: type[Model], raw: Any, *, where: str, faults: list[str], context: Any = None) -> Model | None:
    """Validate plain data as a model.

    Parameters
    ----------
    model : type of BaseModel
        The model.
    raw : Any
        Content of a file, or a part of it.
    where : str
        Place of the data, with which the sentence of a fault begins.
    faults : list of str
        A sentence for every fault is added here.
    context : Any, optional
        Further data for the model's validators.

    Returns
    -------
    BaseModel or None
        None where there was a fault.
    """
    try:
        return model.model_validate(raw, context=context)
    except ValidationError as error:
        faults += [f"{where}: {sentence}" for _, sentence in sentences(error, model, raw)]
        return None


def sentences(
    error: ValidationError, model: type[BaseModel], raw: Any, *, hint: Callable[[str], str] | None = None
) -> list[tuple[str, str]]:
    """Faults of a validation: path, and sentence on given and expected values.

    Parameters
    ----------
    error : ValidationError
        The error of pydantic.
    model : type of BaseModel
        The model that was validated.
    raw : Any
        The data.
    hint : callable, optional
        Returns a sentence for the dotted path of an unknown name, or nothing to have the nearest known name suggested.

    Returns
    -------
    list of (str, str)
        Dotted path and sentence. Alternatives of one value (a number, or a word) make one sentence.
    """
    made: dict[str, str] = {}
    expected: dict[str, list[str]] = {}
    for detail in map(_tag_as_value, error.errors()):
        parts = _parts(detail["loc"], raw, model)
        path = ".".join(parts)
        message = detail["msg"].removeprefix("Value error, ")
        if detail["type"] == "extra_forbidden":
            own = hint(path) if hint else ""
            others = {*_names_in(model, parts[:-1])} - {parts[-1]}  # known beside another form, not beside this one
            made[path] = own or f"{path} is unknown{did_you_mean(parts[-1], sorted(others))}"
        elif detail["type"] == "invalid_key":
            made[path] = f"{path}: a name must be text; put it in quotes"
        elif detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]:
            continue  # its entries have faults, each with a sentence of its own
        elif detail["type"] == "missing":
            field, _ = _field_at(model, parts)
            made[path] = f"{path} is missing{f': {description_of(field)}' if field and field.description else ''}"
        elif detail["type"] == "value_error" and message.startswith("is "):
            made[path] = f"{path} {message}"
        elif detail["type"] == "value_error" and not message.startswith("expected "):
            made[path] = f"{path}: {message}" if path else message
        else:
            expected.setdefault(path, []).append(_expected(detail, parts, model, message))
            made[path] = f"{path or 'it'} is {shown(detail['input'])}, expected {_either(expected[path])}"
    return list(made.items())


def hidden_character(text: str, *, allowed: str = "") -> str:
    r"""Sentence about the first hidden character of a text, or nothing.

    Hidden: control characters, line breaks, and marks of writing direction.

    >>> hidden_character("fast\x07 walk")
    "'fast\\x07 walk' has the invisible character U+0007; remove it"
    """
    if text.isascii() and text.isprintable():
        return ""
    for character in text:
        hidden = unicodedata.category(character) in HIDDEN or character in TURNING
        if hidden and character not in allowed:
            return f"{shown(text)} has the invisible character U+{ord(character):04X}; remove it"
    return ""


def alike(column: str, names: Iterable[str], table: str) -> list[str]:
    """Faults of names that differ by case or by Unicode form only.

    >>> alike("session", ["Day1", "day1", "Day1"], "config/trials.csv")
    ["config/trials.csv: session 'Day1' and 'day1' differ by case or Unicode form only; use one spelling"]
    """
    faults, seen = [], dict[str, str]()
    for name in dict.fromkeys(names):
        first = seen.setdefault(unicodedata.normalize("NFKC", name).casefold(), name)
        if first != name:
            faults.append(
                f"{table}: {column} {first!r} and {name!r} differ by case or Unicode form only; use one spelling"
            )
    return faults


def _tag_as_value(detail: Any) -> dict[str, Any]:
    """Fault of a union's tag, worded like that of a field with a few allowed words."""
    if detail["type"] == "union_tag_not_found":
        return {**detail, "type": "missing", "loc": (*detail["loc"], detail["ctx"]["discriminator"].strip("'"))}
    if detail["type"] == "union_tag_invalid":
        name, words = detail["ctx"]["discriminator"].strip("'"), detail["ctx"]["expected_tags"]
        changes = {"loc": (*detail["loc"], name), "input": detail["input"][name]}
        return {**detail, **changes, "type": "literal_error", "ctx": {"expected": " or ".join(words.rsplit(", ", 1))}}
    return dict(detail)


def shown(value: Any) -> str:
    """Value as in YAML, at most 120 characters."""
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _parts(loc: Sequence[int | str], raw: Any, model: type[BaseModel]) -> tuple[str, ...]:
    """Names and indices of the path to a value, without pydantic's union tags."""
    parts = []
    for i, part in enumerate(loc):
        known: Any = raw if isinstance(raw, Mapping) else range(len(raw)) if isinstance(raw, list | tuple) else ()
        if part in known:
            raw = raw[part]
            parts.append(str(part))
        elif i == len(loc) - 1 and (isinstance(part, int) or part in _names_in(model, parts)):  # missing, or a default
            parts.append(str(part))
    return tuple(parts)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Models that an annotation allows, also within lists, dictionaries and unions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _field_at(model: type[BaseModel], parts: Sequence[str]) -> tuple[FieldInfo | None, list[type[BaseModel]]]:
    """Field at a path, and the models allowed there."""
    field, models = None, [model]
    for part in parts:
        fields = [one.model_fields[part] for one in models if part in one.model_fields]
        if fields:
            field, models = fields[0], [inner for one in fields for inner in _models(one.annotation)]
    return field, models


def _names_in(model: type[BaseModel], parts: Sequence[str]) -> list[str]:
    return [name for one in _field_at(model, parts)[1] for name in one.model_fields]


def _expected(detail: dict[str, Any], parts: Sequence[str], model: type[BaseModel], message: str) -> str:
    """Expected values at a path, with a suggestion for a similar known word."""
    kind, found, ctx = detail["type"], detail["input"], detail.get("ctx", {})
    field, models = _field_at(model, parts)
    if kind == "value_error":
        return message.removeprefix("expected ")
    if kind in ("model_type", "model_attributes_type"):
        names = ", ".join(dict.fromkeys(name for one in models for name in one.model_fields))
        return f"'{parts[-1]}:' and, indented below it, its entries ({names})" if parts else f"entries ({names})"
    if kind == "literal_error":
        words = _in_words(field) or str(ctx["expected"]).replace("'", "")
        known = words.replace(" or ", ", ").split(", ")
        return words + (did_you_mean(found, known) if isinstance(found, str) else "")
    if kind == "too_short":
        return f"{ctx['min_length']} or more entries"
    if kind == "string_pattern_mismatch":
        return _in_words(field)
    if kind in OUT_OF_RANGE:
        limits = limits_of(field) if field else {}
        return range_text(limits or ctx, unit_of(field) if field and limits else "")
    if kind in ("float_type", "float_parsing"):
        allowed = range_text(limits_of(field), unit_of(field)).removeprefix("a number ") if field else ""
        decimal = "a number with a decimal point" if isinstance(found, str) else "a number"
        return f"{decimal}, {allowed}" if allowed else decimal
    return EXPECTED.get(kind) or message.removeprefix("Input should be ")


def _in_words(field: FieldInfo | None) -> str:
    """Range of a field as worded by its model; empty if not worded."""
    extra = field.json_schema_extra if field else None
    return str(extra.get("x-range", "")) if isinstance(extra, dict) else ""


def _either(expected: Sequence[str]) -> str:
    """Join alternatives, each of which may be several words.

    >>> _either(["auto or none", "a list"])
    'auto, none or a list'
    """
    if len(expected) == 1:
        return expected[0]
    words = [word for text in expected for word in text.partition(";")[0].replace(" or ", ", ").split(", ")]
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} or {last}" if first else last


def description_of(field: FieldInfo) -> str:
    """Description of a field, for use within a sentence."""
    text = " ".join((field.description or "").split()).rstrip(".")
    unit = f" ({unit_of(field)})" if unit_of(field) else ""
    return text[:1].lower() + text[1:] + unit


def limits_of(field: FieldInfo) -> dict[str, float]:
    """Limits of a number, by pydantic's names: gt, ge, lt, le."""
    return {
        key: getattr(limit, key) for limit in field.metadata for key in ("gt", "ge", "lt", "le") if hasattr(limit, key)
    }


def unit_of(field: FieldInfo) -> str:
    """Unit of a field, empty for pure numbers and for several units."""
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    unit = str(extra.get("x-unit", ""))
    return "" if unit == "1" or "," in unit else unit


def range_text(limits: Mapping[str, Any], unit: str = "") -> str:
    """Range of a number in words.

    >>> range_text({"ge": 1.0, "le": 400.0}, "kg")
    '1 to 400 kg'
    >>> range_text({"gt": 0.0, "lt": 1.0})
    'a number above 0 and below 1'
    """
    after = f" {unit}" if unit else ""
    if "ge" in limits and "le" in limits:
        return f"{limits['ge']:g} to {limits['le']:g}{after}"
    words = {"gt": "above {:g}", "ge": "of {:g} or more", "lt": "below {:g}", "le": "of {:g} or less"}
    words_of_limits = [text.format(limits[key]) for key, text in words.items() if key in limits]
    return f"a number {' and '.join(words_of_limits)}{after}" if words_of_limits else ""
