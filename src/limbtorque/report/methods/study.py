"""Data of a study for the methods: options, trials, counts, errors, references."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from limbtorque.figures.templates import prose
from limbtorque.motion.limb import Limb
from limbtorque.report.methods.references import cited
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.uncertainty import Uncertainty
from limbtorque.study.settings import Settings, flattened
from limbtorque.tables.column import counted
from limbtorque.uncertainty.sizes import options_of, used_sizes

Row = Mapping[str, Any]
PERCENT, MILLIMETRES = (100.0, " %"), (1000.0, " mm")
ASSUMED = "assumed"
SECTIONS = ("uncertainty", "gaps", "filter", "plates")  # on which it depends which errors a trial has
ERRORS: dict[str, tuple[str, tuple[float, str], str]] = {  # what is wrong, unit, reference of the default size
    "segment_mass": ("segment masses, as shares of body mass", PERCENT, "rossi"),
    "segment_com": ("centres of mass, as shares of segment length", PERCENT, "rossi"),
    "segment_inertia": ("moments of inertia", PERCENT, "rossi"),
    "segment_correlation": ("correlation between segments", (1.0, ""), ""),
    "rest_of_body_mass": ("share of body mass of the remaining segments", PERCENT, ""),
    "measured_parameters": ("measured segment parameters", PERCENT, ""),
    "body_mass": ("body mass", PERCENT, ""),
    "centre_marker_m": ("joint centres at one marker", MILLIMETRES, "dellacroce"),
    "centre_midpoint_m": ("joint centres at the mean of several markers", MILLIMETRES, ""),
    "centre_between_m": ("joint centres between two markers", MILLIMETRES, ""),
    "centre_functional_m": ("functional joint centres", MILLIMETRES, "hicks"),
    "centre_harrington_m": ("hip centres by Harrington's regression", MILLIMETRES, "mantovani"),
    "centre_davis_m": ("hip centres by Davis's regression", MILLIMETRES, "mantovani"),
    "centre_bell_m": ("hip centres by Bell's regression", MILLIMETRES, "hicks"),
    "centre_rab_m": ("shoulder centres by Rab's offset", MILLIMETRES, ""),
    "centre_keypoint_m": ("hips and knees by keypoints of video", MILLIMETRES, "needham"),
    "centre_imaged_m": ("joint centres by imaging", MILLIMETRES, ""),
    "soft_tissue_m": ("soft-tissue movement of joint centres", MILLIMETRES, ""),
    "soft_tissue_range_deg": ("change of joint angle over which soft-tissue movement varies", (1.0, " degrees"), ""),
    "marker_noise": ("marker noise, relative to that in the trial's spectrum", (1.0, ""), ""),
    "gaps": ("joint centres in filled gaps, relative to their expected error", (1.0, ""), ""),
    "filter": ("movement removed by the filter, relative to its estimate", (1.0, ""), ""),
    "plane_deg": ("direction of the plane, where its cost is not known", (1.0, " degrees"), ""),
    "plate_gain": ("forces of the plates", PERCENT, ""),
    "plate_offset_n": ("offsets of the plates", (1.0, " N"), ""),
    "pressure_m": ("centres of pressure", MILLIMETRES, "exell"),
    "synchronisation_s": ("delay between plates and cameras", (1000.0, " ms"), ""),
    "moment_arm": ("moment arms of muscles", PERCENT, ""),
    "muscle_strength": ("strengths of muscles", PERCENT, ""),
}
OWN = {"marker_noise": "the trial's spectrum", "gaps": "the filled gaps", "filter": "filtering once more"}


@dataclass
class MethodsStudy:
    """Settings and tables of a study, and the references cited so far.

    Attributes
    ----------
    settings : Settings
        Settings of the study.
    provenance : mapping
        Content of ``provenance.json``.
    ledger, windows : sequence of mapping
        Rows of ``ledger.csv`` and ``windows.csv``.
    cited : dict of str to None
        Names of the references cited so far.
    """

    settings: Settings
    provenance: Mapping[str, Any]
    ledger: Sequence[Row]
    windows: Sequence[Row] = ()
    cited: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = flattened(self.settings.model_dump(mode="json"))
        self.done = [row for row in self.ledger if row["status"] != "failed"]

    def cite(self, *names: str) -> str:
        """Cite references in brackets, and add them to the list of references."""
        self.cited |= dict.fromkeys(names)
        return f"({'; '.join(cited(name) for name in names)})"

    def row(self, trial: Row) -> Row:
        """Row of a trial in the table of trials."""
        found: Row = self.provenance.get("trials", {}).get(str(trial["trial"]), {}).get("row", {})
        return found

    def value(self, trial: Row, option: str) -> Any:
        """Option of a trial, or else of the study."""
        return self.row(trial).get("options", {}).get(option, self.whole[option])

    def options(self, *names: str, of: Iterable[Row] | None = None) -> Counter[tuple[Any, ...]]:
        """Number of trials with each combination of values of some options."""
        rows = self.done if of is None else of
        return Counter(tuple(_hashable(self.value(row, name)) for name in names) for row in rows)

    def each(self, *names: str, of: Iterable[Row] | None = None, caller: Callable[..., str]) -> str:
        """Clause for each combination of values, with counts if the trials differ.

        Parameters
        ----------
        *names : str
            Options, such as `plane.kind`.
        of : iterable of mapping, optional
            Ledger rows of the trials; all analysed ones where not given.
        caller : callable
            Clause for the values of these options: the body of a `{% call %}` block of a template. A combination of which
            there is nothing to say (an option that is off) has an empty clause, which is left out.
        """
        clauses: Counter[str] = Counter()
        for values, count in self.options(*names, of=of).items():
            clauses[prose(caller(*values))] += count
        return with_counts(clauses)

    def chain(self, trial: Row) -> ChainModel:
        """Chain of a trial."""
        return self.settings.chain(str(trial["chain"]))


def with_counts(clauses: Counter[str]) -> str:
    """Join clauses, with numbers of trials if the trials differ.

    Examples
    --------
    >>> with_counts(Counter({"filled": 2, "": 1})), with_counts(Counter({"filled": 3}))
    ('filled (2 trials)', 'filled')
    """
    if len(clauses) == 1:
        return next(iter(clauses))
    return "; ".join(f"{clause} ({counted(count, 'trial')})" for clause, count in clauses.most_common() if clause)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def known_numbers(rows: Iterable[Row], name: str) -> list[float]:
    """Finite numbers of a column; empty cells are left out."""
    found = []
    for row in rows:
        try:
            number = float(row.get(name, math.nan))
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            found.append(number)
    return found


def span(rows: Iterable[Row], name: str, unit: str) -> str:
    """Range and median of a column, with its unit."""
    numbers = known_numbers(rows, name)
    if not numbers:
        return "not known"
    if f"{min(numbers):.3g}" == f"{max(numbers):.3g}":
        return f"{numbers[0]:.3g} {unit}"
    return f"{min(numbers):.3g} to {max(numbers):.3g} {unit}, median {median(numbers):.3g} {unit}"


def used_errors(study: MethodsStudy) -> list[tuple[str, str, str]]:
    """Errors in the analysed trials: description, standard deviation, source.

    Parameters
    ----------
    study : MethodsStudy
        The study, whose references are cited.

    Returns
    -------
    list of tuple of str
        In the order of `ERRORS`, then those of landmarks; only errors on which some trial depends, and with several values
        the number of trials of each. A reference stands beside the size that it gives alone.
    """
    found: dict[str, Counter[Any]] = {}
    known: dict[str, Settings] = {}
    for row in study.done:
        for name, value in _of_trial(study, row, known).items():
            found.setdefault(name, Counter())[value] += 1
    order = [*(name for name in ERRORS if name in found), *(name for name in found if name not in ERRORS)]
    return [_line(study, name, found[name]) for name in order]


def _line(study: MethodsStudy, name: str, values: Counter[Any]) -> tuple[str, str, str]:
    """Line of the table of errors."""
    what, (scale, unit), reference = ERRORS.get(name, (_landmark(name), MILLIMETRES, ""))
    sizes = Counter({_size(value, scale, unit): count for value, count in values.items()})
    source = "set in this study"
    if name in ERRORS and set(values) == {options_of(Uncertainty())[name]}:
        source = OWN.get(
            name, f"{ASSUMED}, beside" if reference in ("rossi", "dellacroce") else "" if reference else ASSUMED
        )
        source = f"{source} {study.cite(reference).strip('()')}".strip() if reference else source
    return what, with_counts(sizes), source


def _size(value: float | str, scale: float, unit: str) -> str:
    """Size with its unit, or a description of the landmark's kind."""
    if isinstance(value, str):
        return f"as {ERRORS[f'centre_{value}_m'][0]}"
    return f"{scale * value:.4g}{unit}"


def _landmark(name: str) -> str:
    """Text for the option with a landmark's error."""
    first, _, last = name.rpartition(".")
    own = f" (marker set {first.removeprefix('sets.')})" if first.startswith("sets.") else ""
    return f"the {last.replace('_', ' ')}{own}"


def _of_trial(study: MethodsStudy, row: Row, known: dict[str, Settings]) -> dict[str, Any]:
    """Error options of a trial, with values."""
    of, about = study.row(row), study.provenance.get("trials", {}).get(str(row["trial"]), {})
    own = {name: value for name, value in of.get("options", {}).items() if name.split(".")[0] in SECTIONS}
    key = json.dumps(own, sort_keys=True)
    if key not in known:
        known[key] = _with_options(study, own)
    limb = Limb(
        str(row["chain"]),
        side=str(row["side"]),
        body_mass_kg=float(of.get("body_mass_kg") or 1.0),  # no size depends on it
        marker_set=str(of.get("marker_set") or ""),
        measured=of.get("measured", {}),
        load=str(of.get("load") or ""),
    )
    return used_sizes(limb, known[key], muscles=bool(about.get("muscle_set")))


def _with_options(study: MethodsStudy, own: Mapping[str, Any]) -> Settings:
    """Settings of the study with the options of a trial."""
    if not own:
        return study.settings
    whole = study.settings.model_dump(mode="json")
    for option, value in own.items():
        *path, last = option.split(".")
        section = whole
        for name in path:
            section = section[name]
        section[last] = value
    return Settings.model_validate(whole)
