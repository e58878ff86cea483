"""JSON schemas of the settings and of both tables: what they say of every option, and what they refuse."""

import copy
import csv
from pathlib import Path

import jsonschema
import pytest

from limbtorque.study.files import read_yaml
from limbtorque.study.settings import Settings, option_names
from limbtorque.study.study import settings_schema, subjects_schema, trials_schema

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {"settings": settings_schema, "trials": trials_schema, "subjects": subjects_schema}


def properties(schema):
    """All properties of a schema and of its definitions, with the names of those that are required."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, property_ in part.get("properties", {}).items():
            yield name, property_, name in part.get("required", ())


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_property_has_a_description_a_default_and_a_unit(name):
    schema = SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, property_, required in properties(schema):
        assert property_["description"].endswith((".", ")")), name
        is_open = "additionalProperties" in property_  # a dictionary, empty by default
        assert required or "default" in property_ or "$ref" in property_ or is_open, name
        kinds = {part.get("type") for part in (property_, *property_.get("anyOf", ()))}
        if kinds & {"number", "integer"} and "enum" not in property_ and name not in ("assignment", "cycle"):
            assert property_["x-unit"], name


def test_every_option_stands_in_the_schema():
    schema = settings_schema()
    names = []
    for name, property_ in schema["properties"].items():
        section = schema["$defs"].get(property_.get("$ref", "").rpartition("/")[2])
        names += [f"{name}.{inner}" for inner in section["properties"]] if section else [name]
    assert tuple(names) == option_names()


@pytest.mark.parametrize("study", [ROOT, ROOT / "tests" / "recordings_study"])
def test_our_own_studies_fit_the_schema(study):
    jsonschema.validate(read_yaml(study / "config" / "config.yaml"), settings_schema())
    jsonschema.validate(Settings().model_dump(mode="json"), settings_schema())


@pytest.mark.parametrize(
    "raw",
    [
        {"plates": {"assignment": 2}},
        {"plates": {"assignment": [1, 2]}},
        {"torques": {"columns": "segment_space"}},
        {"figures": {"kinds": "torques", "formats": ["svg"]}},
        {"filter": {"cutoff_hz": 6, "order": 2}},
    ],
)
def test_what_the_settings_accept_the_schema_accepts(raw):
    Settings.model_validate(raw)
    jsonschema.validate(raw, settings_schema())


@pytest.mark.parametrize(
    "raw", [{"filtr": {}}, {"filter": {"order": 9}}, {"plane": {"kind": "frontal"}}, {"filter": 6}]
)
def test_what_the_settings_refuse_the_schema_refuses(raw):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, settings_schema())


def test_rows_of_the_demo_fit_the_schemas():
    for table, schema in (("trials", trials_schema()), ("subjects", subjects_schema())):
        with (ROOT / "config" / f"{table}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        for row in rows:
            cells = {
                name: float(cell) if name.endswith(("_kg", "_m", "_s")) else cell for name, cell in row.items() if cell
            }
            jsonschema.validate(cells, schema)
            wrong = copy.deepcopy(cells)
            del wrong["subject"]
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(wrong, schema)
