"""Record of a trial after a stage, stored with its table and its session."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.recordings.recording import Audit, Event, Finding

SAME_TIME_S = 1e-6  # times that differ by rounding only


@dataclass(frozen=True)
class FileOutput:
    """Results of another program for a joint, stored in the recording.

    Attributes
    ----------
    joint : str
        The joint.
    labels, units : dict of str to str
        Labels and units of its angle, moment and power in the file, by these words.
    per_kg : bool
        The file's moments and powers are per kilogram of body mass.
    angle_sign, moment_sign : int
        +1 or -1: factors that make them flexion positive.
    """

    joint: str
    labels: Mapping[str, str]
    units: Mapping[str, str]
    per_kg: bool
    angle_sign: int
    moment_sign: int

    def convention(self, kind: str) -> str:
        """Convention of angle, moment or power; for moments both names."""
        if kind == "power":
            return "power generation positive"
        sign = self.angle_sign if kind == "angle" else self.moment_sign
        one, other = ("flexion", "extension") if sign > 0 else ("extension", "flexion")
        if kind == "angle":
            return f"{one} positive"
        return f"internal moment, {one} positive (the same numbers as an external moment, {other} positive)"


@dataclass(frozen=True)
class RecordingFacts:
    """Facts about the recording of a trial that are not in its tables.

    Attributes
    ----------
    sha256, forces_sha256 : str
        Hashes of the recording and of its second file, empty where there is none.
    events : tuple of Event
        Events of the recording.
    audit : Audit
        Findings of the reader.
    outputs : tuple of FileOutput
        Another program's results for the joints of the limb, which the table of kinematics has columns for.
    static_sha256 : str
        Hash of the static trial, empty where there is none.
    """

    sha256: str
    forces_sha256: str = ""
    events: tuple[Event, ...] = ()
    audit: Audit = field(default_factory=Audit)
    outputs: tuple[FileOutput, ...] = ()
    static_sha256: str = ""

    def values(self) -> dict[str, Any]:
        """Values in a form for JSON."""
        events = [{**vars(event), "time_s": float(event.time_s)} for event in self.events]
        audit = [vars(finding) for finding in self.audit.findings]
        return {**vars(self), "events": events, "audit": audit, "outputs": [vars(output) for output in self.outputs]}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RecordingFacts:
        """Facts from their values, the inverse of `values`."""
        events = tuple(Event(**event) for event in values["events"])
        audit = Audit(tuple(Finding(**finding) for finding in values["audit"]))
        outputs = tuple(FileOutput(**output) for output in values.get("outputs", ()))
        return cls(**{**values, "events": events, "audit": audit, "outputs": outputs})


@dataclass(frozen=True)
class MotionConstants:
    """Constants of a motion as lists and numbers, for `motion.table`.

    Attributes
    ----------
    joints, segments : sequence of str
        Names, proximal first.
    rate_hz : float
        Frames a second.
    chain : dict of str to list
        Arguments of `Chain`.
    gravity_m_s2, flexion_sign, flexion_zero_rad, moment_arms_known, cutoff_hz, plane_axes, plane_view
        As in `ChainMotion` and its plane.
    cutoffs : sequence of dict
        Curves that the cut-offs were chosen from (`motion.table.choice_values`).
    notes : sequence of str
        Notes on the motion.
    foot_events : dict of str to list
        Label, side and time in s of foot strikes and offs, by method (`ground.events`).
    impacts : sequence of (float, float)
        Time of each impact, s, and the share of the force that passes the markers' filter there.
    """

    joints: Sequence[str]
    segments: Sequence[str]
    rate_hz: float
    chain: Mapping[str, Any]
    gravity_m_s2: Sequence[float]
    plane_axes: Sequence[Sequence[float]]
    plane_view: Literal["sagittal", "horizontal", "oblique"]
    flexion_sign: Sequence[float]
    flexion_zero_rad: Sequence[float]
    moment_arms_known: Sequence[bool]
    cutoff_hz: Sequence[float]
    cutoffs: Sequence[Mapping[str, Any]]
    notes: Sequence[str]
    foot_events: Mapping[str, Sequence[Sequence[str | float]]] = field(default_factory=dict)
    impacts: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Window:
    """The part of a trial that is 0 to 100 %.

    Attributes
    ----------
    start_s, end_s : float
        Times from the recording's first frame, s; NaN for a missing window.
    note : str
        Reason for a missing window; empty otherwise.
    cycle, n_cycles : int
        Number of the window, and number of windows in the trial.
    events : str
        Source of its events: ``file``, or the method that found them; empty for windows without events.
    """

    start_s: float
    end_s: float
    note: str = ""
    cycle: int = 1
    n_cycles: int = 1
    events: str = ""

    def judged(self, time_s: FloatArray, used: BoolArray) -> BoolArray:
        """Frames judged: those in the window, or else all used frames.

        >>> Window(0.1, 0.25).judged(np.array([0.0, 0.1, 0.2, 0.3]), np.ones(4, dtype=bool)).tolist()
        [False, True, True, False]
        """
        if self.note:
            return used
        return np.asarray((time_s >= self.start_s - SAME_TIME_S) & (time_s <= self.end_s + SAME_TIME_S))


@dataclass(frozen=True)
class TrialRecord:
    """Status of a trial after a stage, with data for later stages and study tables.

    Quality flags are not part of it: they follow from `metrics` and the limits in the settings (`quality.verdict.judge`), which may
    change without any computation.

    Attributes
    ----------
    trial : str
        Name of the trial; empty in tables that are not of one trial.
    status : str
        ``"ok"`` or ``"failed"``.
    reason, message : str
        Why it failed, in a word and in a sentence; else empty.
    metrics : dict of str to float
        Quality metrics of this stage.
    joint_metrics : dict of str to dict of str to float
        Those with a value for each joint, by metric and joint.
    notes : tuple of str
        Notes for the ledger.
    provenance : dict of str to dict of str to str
        Hashes and versions, of this stage and of those before it.
    recording : RecordingFacts or None
        Facts about the recording, from the stage that reads it.
    motion : MotionConstants or None
        Constants of the motion, from the stage that computes it.
    window : Window or None
        The window of the curves, or why there is none, from the stage that computes the torques.
    summary : tuple of dict
        Rows of the summary tables.
    contact_summary : tuple of dict
        Rows of `contact_summary.csv`, from the stage that computes the muscle forces.
    beside_file : tuple of dict
        Rows of `compared_with_file.csv`, from the stage that computes the torques.
    emg, co_contraction : tuple of dict
        Rows of `emg_summary.csv` and `emg_co_contraction.csv`, from the stage that computes the muscle forces.
    """

    trial: str = ""
    status: str = "ok"
    reason: str = ""
    message: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    joint_metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    recording: RecordingFacts | None = None
    motion: MotionConstants | None = None
    window: Window | None = None
    summary: tuple[Mapping[str, Any], ...] = ()
    contact_summary: tuple[Mapping[str, Any], ...] = ()
    beside_file: tuple[Mapping[str, Any], ...] = ()
    emg: tuple[Mapping[str, Any], ...] = ()
    co_contraction: tuple[Mapping[str, Any], ...] = ()

    @property
    def failed(self) -> bool:
        """The trial failed in this stage or in one before it."""
        return self.status == "failed"

    def after(self, *earlier: TrialRecord) -> TrialRecord:
        """Record with the provenance and the last failure of earlier stages."""
        stages = {stage: entry for record in earlier for stage, entry in record.provenance.items()}
        found = replace(self, provenance={**stages, **self.provenance})
        for record in earlier:
            if record.failed:
                found = replace(found, status=record.status, reason=record.reason, message=record.message)
        return found

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        values = {
            **vars(self),
            "recording": self.recording and self.recording.values(),
            "motion": self.motion and vars(self.motion),
            "window": self.window and vars(self.window),
            **{name: _by_names(getattr(self, name)) for name in _ROWS},
        }
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> TrialRecord:
        """Record from its JSON, the inverse of `to_json`."""
        return cls.from_values(json.loads(text))

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> TrialRecord:
        """Record from the values that its JSON holds."""
        values = dict(values)
        if values.get("recording"):
            values["recording"] = RecordingFacts.of(values["recording"])
        if values.get("motion"):
            values["motion"] = MotionConstants(**values["motion"])
        if values.get("window"):
            values["window"] = Window(**values["window"])
        for name in _ROWS:
            values[name] = tuple(
                dict(zip(like["names"], row, strict=True)) for like in values.get(name, ()) for row in like["rows"]
            )
        return cls(**{**values, "notes": tuple(values.get("notes", ()))})


_ROWS = ("summary", "contact_summary", "beside_file", "emg", "co_contraction")


def _by_names(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows for JSON, grouped by columns, with column names once."""
    return [
        {"names": names, "rows": [[row[name] for name in names] for row in alike]}
        for names, alike in itertools.groupby(rows, key=sorted)
    ]
