"""All settings of a study: read, validated once, frozen afterwards.

Options are in `study/options`, a module for each section; marker rules in `marker_rules`, chains in `chains`.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model, model_validator

from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.study.chains import BUILT_IN, ChainModel, LandmarkRule
from limbtorque.study.faults import hidden_character, limits_of, sentences
from limbtorque.study.files import parse_yaml, read_yaml
from limbtorque.study.options.base import Options, option
from limbtorque.study.options.contrasts import Contrasts
from limbtorque.study.options.motion import BodySegments, Differentiation, Filter, Gaps, Motion, Plane
from limbtorque.study.options.multiverse import Multiverse
from limbtorque.study.options.muscles import Emg, Muscles
from limbtorque.study.options.outputs import Ensembles, Figures, Report, Run, Tables, TorqueColumns
from limbtorque.study.options.quality import Quality
from limbtorque.study.options.reading import LoadModel, Plates, Reading
from limbtorque.study.options.reference import Reference
from limbtorque.study.options.uncertainty import Uncertainty


class Settings(Options):
    """All settings of a study."""

    title: str = option("", "Name of the study.")
    trials: str = option("config/trials.csv", "Table of trials, relative to the study's folder.")
    subjects: str = option("config/subjects.csv", "Table of subjects, relative to the study's folder.")
    gravity_m_s2: float = option(9.80665, "Acceleration of gravity.", "m/s^2", ge=0.0, le=30.0)
    marker_sets: dict[str, dict[str, LandmarkRule]] = option({})
    """Per marker set: landmark -> marker, list of markers (their mean), point between two markers, or the markers of
    two segments whose centre of rotation it is. {S} is replaced by R or L, {s} by r or l, {side} by right or left."""
    substitutes: dict[str, dict[str, str]] = option({})
    """Per marker set: required landmark -> landmark used in its place. Every use is noted."""
    chains: dict[str, ChainModel] = option({}, "Chains of the study, beside the built-in arm and leg.")
    reading: Reading = Reading()
    plane: Plane = Plane()
    gaps: Gaps = Gaps()
    filter: Filter = Filter()
    differentiation: Differentiation = Differentiation()
    segments: BodySegments = BodySegments()
    loads: dict[str, LoadModel] = option({}, "External loads by name, for the column 'load' of the table of trials.")
    plates: Plates = Plates()
    motion: Motion = Motion()
    torques: TorqueColumns = TorqueColumns()
    muscles: Muscles = Muscles()
    emg: Emg = Emg()
    uncertainty: Uncertainty = Uncertainty()
    quality: Quality = Quality()
    tables: Tables = Tables()
    ensembles: Ensembles = Ensembles()
    contrasts: Contrasts = Contrasts()
    reference: Reference = Reference()
    multiverse: Multiverse = Multiverse()
    figures: Figures = Figures()
    report: Report = Report()
    run: Run = Run()

    def chain(self, name: str) -> ChainModel:
        """Return the chain of this name, user-defined or built-in."""
        return {**BUILT_IN, **self.chains}[name]

    @model_validator(mode="after")
    def _agreeing(self) -> Settings:
        self.check_sections()
        return self

    def check_sections(self) -> None:
        """Raise `ValueError` where sections contradict each other."""
        segments = [segment for chain in self.chain_names for segment in self.chain(chain).segments]
        names, rows = ({getattr(segment, kind) for segment in segments} for kind in ("name", "row"))
        joints = {joint.name for chain in self.chain_names for joint in self.chain(chain).joints}
        for section, given, known, what in (
            ("muscles.sets", self.muscles.sets, self.chain_names, "is not a chain; the chains are"),
            ("segments.added", self.segments.added, names, "is not a segment of a chain; the segments are"),
            ("segments.rows", self.segments.rows, rows, "is not used by a segment of a chain; the rows are"),
            ("figures.joints", self.figures.joints, joints, "is not a joint of a chain; the joints are"),
        ):
            if unknown := sorted({*given} - {*known}):
                hint = did_you_mean(unknown[0], known)
                raise ValueError(f"{section} names {', '.join(unknown)}, which {what} {', '.join(sorted(known))}{hint}")
        if self.torques.bands and not self.uncertainty.enabled:
            raise ValueError("torques.bands needs uncertainty.enabled; switch both on, or torques.bands off")

    def muscle_set(self, chain: str, folder: Path) -> str | Path | None:
        """Muscle set of a chain, built-in or from a file of the study, or None."""
        name = self.muscles.sets.get(chain, self.chain(chain).muscles) if self.muscles.enabled else None
        return folder / name if name and name.endswith((".yaml", ".yml")) else name

    @property
    def chain_names(self) -> list[str]:
        """Names of all chains a trial may use."""
        return sorted({*BUILT_IN, *self.chains})


def load_settings(path: Path | str, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read and validate a settings file.

    Parameters
    ----------
    path : Path or str
        A YAML file.
    overrides : mapping, optional
        Options that take the place of the file's, nested or by dotted name, as ``snakemake --config`` gives them:
        ``{"filter": {"cutoff_hz": 6}}`` or ``{"filter.cutoff_hz": 6}``.

    Returns
    -------
    Settings
        The frozen settings.

    Raises
    ------
    SettingsError
        The file is missing or not YAML, or any entry of it or of the overrides is wrong; all of them are listed.
    """
    path = Path(path)
    try:
        raw = json.loads(path.read_bytes()) if path.suffix == ".json" else read_yaml(path)
    except FileNotFoundError:
        raise SettingsError(f"settings file {path} does not exist; copy config/config.yaml of the demo study") from None
    except OSError as error:
        raise SettingsError(f"settings file {path} cannot be read: {error.strerror}") from None
    except RecursionError:  # of JSON
        raise SettingsError(f"settings file {path} has lists or names nested too deeply") from None
    except ValueError as error:
        raise SettingsError(f"settings file {path} {error}") from None
    if not isinstance(raw, dict | None):
        raise SettingsError(f"settings file {path} holds a {type(raw).__name__}, expected 'key: value' lines")
    return make_settings(raw or {}, source=str(path), overrides=overrides)


def make_settings(
    raw: Mapping[str, Any], *, source: str = "settings", overrides: Mapping[str, Any] | None = None
) -> Settings:
    """Validate settings given as nested dictionaries.

    Parameters
    ----------
    raw : mapping
        Settings as nested dictionaries.
    source : str, optional
        Origin of the settings, for messages.
    overrides : mapping, optional
        As for `load_settings`.

    Raises
    ------
    SettingsError
        Any entry is wrong; all of them are listed.
    """
    changes = _nested(overrides or {})
    whole = _merged(Settings, raw, changes) if changes else raw
    if hidden := sorted(
        f"{name if name.isprintable() else repr(name)}: {fault}"
        for name, value in flattened(dict(whole)).items()
        if (fault := hidden_character(name) or _hidden_in(value))
    ):
        raise SettingsError("\n".join([f"{source}:", *(f"  - {one}" for one in hidden)]), hidden)
    try:
        return Settings.model_validate(whole)
    except ValidationError as error:
        changed = [f"{name}." for name in flattened(changes)]
        faults: dict[str, list[str]] = {}
        for path, sentence in sentences(error, Settings, whole, hint=_unknown_option):
            ours = any(f"{path}.".startswith(name) or name.startswith(f"{path}.") for name in changed)
            faults.setdefault("--config" if ours else source, []).append(sentence)
        listed = ["\n".join([f"{origin}:", *(f"  - {one}" for one in found)]) for origin, found in faults.items()]
        raise SettingsError("\n".join(listed), [one for found in faults.values() for one in found]) from None


def _hidden_in(value: Any) -> str:
    """Fault of the first text with a hidden character in a value of any kind."""
    if isinstance(value, str):
        return hidden_character(value.strip(), allowed="\t")
    parts = (part for pair in value.items() for part in pair) if isinstance(value, dict) else value
    return next(filter(None, map(_hidden_in, parts)), "") if isinstance(value, dict | list | tuple) else ""


def _nested(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dictionaries from a mapping whose outermost names may be dotted.

    >>> _nested({"filter.cutoff_hz": 6, "filter": {"order": 2}})
    {'filter': {'cutoff_hz': 6, 'order': 2}}
    """
    nested: dict[str, Any] = {}
    for dotted, value in overrides.items():
        *path, last = str(dotted).split(".")
        for name in reversed([*path, last]):
            value = {name: value}
        nested = _merged(Settings, nested, value)
    return nested


def _merged(annotation: Any, base: Any, changes: Any) -> Any:
    """Copy of nested dictionaries with changes, entry by entry."""
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if not (is_model or get_origin(annotation) is dict) or not isinstance(changes, Mapping):
        return changes
    inner = {n: f.annotation for n, f in annotation.model_fields.items()} if is_model else {}
    old = dict(base) if isinstance(base, Mapping) else {}
    for name, value in changes.items():
        old[name] = _merged(inner.get(name) if is_model else get_args(annotation)[1], old.get(name), value)
    return old


def override(settings: Settings, changes: Mapping[str, str], *, source: str) -> Settings:
    """Return settings with some options changed by their dotted names.

    Parameters
    ----------
    settings : Settings
        The study's settings.
    changes : mapping of str to str
        Dotted name -> value as text, e.g. ``{"filter.cutoff_hz": "10"}``.
    source : str
        Origin of the changes, for messages.

    Raises
    ------
    SettingsError
        An unknown name or a wrong value.
    """
    sections = {dotted.partition(".")[0] for dotted in changes} & type(settings).model_fields.keys()
    values = {section: getattr(settings, section) for section in sections}
    raw = {n: v.model_dump() if isinstance(v, BaseModel) else copy.deepcopy(v) for n, v in values.items()}
    for dotted, text in sorted(changes.items()):
        *path, last = dotted.split(".")
        target: Any = raw
        for part in path:
            target = target.get(part) if isinstance(target, dict) else None
        if not isinstance(target, dict) or last not in target:
            raise SettingsError(f"{source}: no option is called {dotted!r}{did_you_mean(dotted, settable_names())}")
        try:
            # a list, a dictionary (not the {side} of an event's name), None, or the text itself
            nested = text[:1] == "[" or (text[:1] == "{" and ":" in text)
            target[last] = parse_yaml(text) if nested else None if text in ("null", "~") else text
        except ValueError:
            raise SettingsError(f"{source}: {dotted} is {text!r}, which is not readable as YAML") from None
    with contextlib.suppress(ValueError):  # make_settings says what is wrong, in our words
        if all(str(text).isascii() and str(text).isprintable() and "\\" not in str(text) for text in changes.values()):
            new = {}  # these sections are validated again, the others shared
            for name, value in raw.items():
                section = type(getattr(settings, name))
                is_model = issubclass(section, BaseModel)
                new[name] = section.model_validate(value) if is_model else getattr(_alone(name)(**{name: value}), name)
            changed = settings.model_copy(update=new)
            changed.check_sections()
            return changed
    whole = {name: getattr(settings, name) for name in type(settings).model_fields}
    return make_settings({**whole, **raw}, source=source)


@functools.cache
def _alone(name: str) -> type[Options]:
    """Model of a single option outside all sections."""
    field = Settings.model_fields[name]
    model: type[Options] = create_model(name, __base__=Options, **{name: (field.annotation, field)})  # type: ignore[call-overload]
    return model


@functools.cache
def option_names() -> tuple[str, ...]:
    """Dotted names of all options."""
    return tuple(name for name, *_ in describe_options())


@functools.cache
def settable_names() -> tuple[str, ...]:
    """Dotted names of all options, and of entries of mappings."""
    defaults = {name: json.loads(default) for name, default, *_ in describe_options()}
    entries = [f"{name}.{key}" for name, value in defaults.items() if isinstance(value, dict) for key in value]
    return (*option_names(), *entries)


USUAL = frozenset(  # options that many studies set; the others are for rare recordings and questions
    (
        *("title", "marker_sets", "chains", "loads", "plane.kind", "plane.up_axis", "plane.forward_axis"),
        *("filter.method", "filter.cutoff_hz", "filter.scope", "filter.force_cutoff_hz", "gaps.max_gap_s"),
        *("segments.table", "segments.added", "motion.angles", "plates.assignment", "plates.belt_speed_m_s"),
        *("muscles.enabled", "muscles.sets", "muscles.criterion", "emg.channels"),
        *("uncertainty.enabled", "uncertainty.landmarks", "ensembles.window", "ensembles.start_event"),
        *("ensembles.end_event", "ensembles.per_body_mass", "figures.kinds", "figures.formats", "tables.csv"),
    )
)


def describe_options(model: type[BaseModel] = Settings, prefix: str = "") -> list[tuple[str, str, str, str, str]]:
    """Name, default, range, unit and sentence of every option, for the documentation."""
    rows = []
    for name, field in model.model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            rows += describe_options(nested, f"{prefix}{name}.")
            continue
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
        limits = [f"{signs[key]} {limit}" for key, limit in limits_of(field).items()]
        parts = (part for outer in (nested, *get_args(nested)) for part in get_args(outer))
        words = dict.fromkeys(str(part) for part in parts if isinstance(part, str | int))
        allowed = str(extra.get("x-range") or ", ".join(limits) or " | ".join(words))
        default = field.get_default(call_default_factory=True)
        shown = "required" if field.is_required() else json.dumps(default)
        rows.append(
            (prefix + name, shown, allowed, str(extra.get("x-unit", "")), " ".join(str(field.description).split()))
        )
    return rows


def options_page() -> str:
    """Every option in Markdown: a table of common and a table of rare options."""
    tables: dict[bool, list[str]] = {True: [], False: []}
    for name, default, allowed, unit, sentence in describe_options():
        row = f"| `{name}` | `{default}` | {allowed.replace('|', 'or')} | {unit} | {sentence} |"
        tables[name in USUAL].append(row)
    head = "| option | default | range | unit | description |\n| --- | --- | --- | --- | --- |\n"
    titled = {"## Usual options": tables[True], "## Rare options": tables[False]}
    return "\n\n".join(f"{title}\n\n{head}" + "\n".join(rows) for title, rows in titled.items())


def settings_hash(settings: Settings, sections: tuple[str, ...]) -> str:
    """Hexadecimal hash of sections or single options (`tables.csv`)."""
    wanted: dict[str, Any] = {name: True for name in sections if "." not in name}
    for section, _, name in (name.partition(".") for name in sections if "." in name):
        wanted.setdefault(section, {})[name] = True
    chosen = settings.model_dump(mode="json", include=wanted)
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def flattened(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries as one with dotted names; empty ones stay as values.

    >>> flattened({"filter": {"order": 3}, "loads": {}})
    {'filter.order': 3, 'loads': {}}
    """
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        flat |= (
            flattened(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
        )
    return flat


def _unknown_option(path: str) -> str:
    """Sentence for an unknown name that exists in another section; else empty."""
    *_, last = path.split(".")
    if path in option_names():
        section, _, name = path.rpartition(".")
        return f"{path} is an option of a section; write '{section}:' and, indented below it, '{name}: ...'"
    same = [name for name in option_names() if name.rpartition(".")[2] == last]
    return f"{path} is unknown; did you mean {' or '.join(map(repr, same[:3]))}?" if same else ""
