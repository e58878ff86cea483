"""A recording in SI units, independent of the file format, and its audit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.errors import LandmarkError, ReadError, did_you_mean

TIME_DIGITS = 6  # decimals of the time of an event, s


@dataclass(frozen=True)
class Event:
    """A named instant of a trial.

    Attributes
    ----------
    label : str
        Name, e.g. ``"Foot Strike"``.
    context : str
        Side or subject it belongs to, e.g. ``"Left"``; empty where unknown.
    time_s : float
        Time from the first frame of this recording, s; rounded to a microsecond, as files hold single precision.

    Examples
    --------
    >>> Event("Foot Strike", "Left", 1.1500000953674316).time_s
    1.15
    """

    label: str
    context: str
    time_s: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "time_s", round(float(self.time_s), TIME_DIGITS))

    @property
    def name(self) -> str:
        """Label with its context, which is named once.

        Examples
        --------
        >>> Event("Foot Strike right", "Right", 1.2).name, Event("Foot Strike", "Left", 1.2).name
        ('Foot Strike right', 'Foot Strike Left')
        """
        said = self.context.casefold() in self.label.casefold().split()
        return self.label if said else f"{self.label} {self.context}".strip()


@dataclass(frozen=True)
class ForcePlate:
    """The wrench that one force plate measured, in the laboratory frame.

    Attributes
    ----------
    number : int
        Number of the plate in the file, from 1.
    kind : int
        C3D ``FORCE_PLATFORM:TYPE``; 0 where the file holds the wrench itself and does not know the plate.
    corners_m : ndarray of shape (4, 3)
        Corners of the working surface, m. A file that holds the wrench itself (kind 0) does not have them: they are
        four times the mean point where the force acts, which says how high the surface is and bounds nothing.
    rate_hz : float
        Sampling rate of `force_n` and `moment_nm`, Hz.
    force_n : ndarray of shape (n_samples, 3)
        Ground reaction force: what the plate does to the foot, N; up is positive on a vertical axis.
    moment_nm : ndarray of shape (n_samples, 3)
        Moment of that force system about the **origin of the laboratory**, N m.
    saturated : ndarray of bool, shape (n_samples,)
        Samples in which a channel of the plate is at its limit (`signals.channels`); empty where the channels are not known.
    """

    number: int
    kind: int
    corners_m: FloatArray
    rate_hz: float
    force_n: FloatArray
    moment_nm: FloatArray
    saturated: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))


@dataclass(frozen=True)
class ModelOutput:
    """Angle, moment or power of a joint that another program stored in the file.

    Attributes
    ----------
    label : str
        Label in the file, e.g. ``"LHipMoment"``.
    side, joint, kind : str
        ``"left"`` or ``"right"``, the joint in small letters, and ``"angle"``, ``"moment"`` or ``"power"``.
    unit : str
        Unit as the file states it.
    per_kg : bool
        The numbers are per kilogram of body mass.
    values : ndarray of shape (n_frames, 3)
        rad, N m or N m/kg, W or W/kg; NaN where missing. Their signs and axes are the other program's.
    """

    label: str
    side: str
    joint: str
    kind: str
    unit: str
    per_kg: bool
    values: FloatArray


@dataclass(frozen=True)
class Finding:
    """A property of a file and its interpretation by the reader.

    Attributes
    ----------
    item : str
        The property, e.g. ``"unit of length"``.
    stated : str
        Statement of the file.
    interpretation : str
        Interpretation by the reader.
    to_settle : str
        Empty where the file or an option settles the matter. Otherwise the interpretation is a guess, and this is the
        action that would settle it.
    """

    item: str
    stated: str
    interpretation: str
    to_settle: str = ""

    @property
    def guessed(self) -> bool:
        """True if neither the file nor an option determines the property."""
        return bool(self.to_settle)

    @property
    def sentence(self) -> str:
        """The finding in one line."""
        return f"{self.item}: {self.stated}; {self.interpretation}{' (a guess)' if self.guessed else ''}"


@dataclass(frozen=True)
class Audit:
    """All findings about a recording, in reading order.

    Attributes
    ----------
    findings : tuple of Finding
        The findings.

    Examples
    --------
    >>> audit = Audit((Finding("rate", "POINT:RATE is 100 Hz", "100 frames per second"),))
    >>> audit.sentences
    ('rate: POINT:RATE is 100 Hz; 100 frames per second',)
    >>> audit.guesses
    ()
    """

    findings: tuple[Finding, ...] = ()

    @property
    def guesses(self) -> tuple[Finding, ...]:
        """The findings that are guesses."""
        return tuple(finding for finding in self.findings if finding.guessed)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every finding in one line."""
        return tuple(finding.sentence for finding in self.findings)

    def refuse_guesses(self, name: str) -> None:
        """Raise an error if anything was guessed (``reading.strict``).

        Parameters
        ----------
        name : str
            Name of the file, for the message.

        Raises
        ------
        ReadError
            Something was guessed; the message lists every guess and the action that settles it.
        """
        if self.guesses:
            listed = "; ".join(f"{g.item}: {g.stated} ({g.to_settle})" for g in self.guesses)
            raise ReadError(f"{name}: {len(self.guesses)} guesses needed, which reading.strict forbids: {listed}")


@dataclass(frozen=True)
class Recording:
    """A recording as read: SI units, missing samples as NaN.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    sha256 : str
        Hash of the file's bytes.
    reader : str
        Reader, with its version.
    labels : tuple of str
        Labels of `markers_m` as the file has them, subject prefix included. Empty labels and modelled outputs
        (angles, forces, moments, powers, scalars) are not among them.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions in the laboratory frame, m; NaN where the marker was not seen.
    rate_hz : float
        Frames per second.
    first_frame : int
        Number of the first frame in the original capture, from 1.
    modelled_labels : tuple of str
        Labels of the points that are not markers (left out of `markers_m`).
    model_outputs : tuple of ModelOutput
        Those of them that are a joint's angle, moment or power of known unit (`recordings.model_outputs`).
    events : tuple of Event
        Events, in order of time.
    analog_labels, analog_units : tuple of str
        Names and units of the analog channels.
    analog_descriptions : tuple of str
        Descriptions of the channels; empty where the format has none.
    analog : ndarray of shape (n_samples, n_channels)
        Analog channels, in `analog_units`.
    analog_rate_hz : float
        Samples per second of `analog`; 0 where there are none.
    force_plates : tuple of ForcePlate
        Plates, in the file's order.
    notes : tuple of str
        Observations of the reader.
    audit : Audit
        Statements of the file and their interpretation.
    start_s : float or None
        Time of the first frame on the file's own clock, s; None where the file has no times. Everything else that is a
        time counts from the first frame.
    forces_source, forces_sha256 : str
        Name and hash of the file of the force plates, where that is another one.
    person : tuple of (str, str)
        Parameters of the file about the person, name and value as text, e.g. ``("PROCESSING:BODYMASS", "45.8")``. Nothing
        is computed from them; `limbtorque init` proposes them, with their source.
    static : Recording or None
        Static trial of the same person with the same markers, from which landmarks are carried (`with_static`).
    """

    source: str
    sha256: str
    reader: str
    labels: tuple[str, ...]
    markers_m: FloatArray
    rate_hz: float
    first_frame: int
    modelled_labels: tuple[str, ...] = ()
    model_outputs: tuple[ModelOutput, ...] = ()
    events: tuple[Event, ...] = ()
    analog_labels: tuple[str, ...] = ()
    analog_units: tuple[str, ...] = ()
    analog: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    analog_rate_hz: float = 0.0
    force_plates: tuple[ForcePlate, ...] = ()
    notes: tuple[str, ...] = ()
    audit: Audit = field(default_factory=Audit)
    start_s: float | None = None
    forces_source: str = ""
    forces_sha256: str = ""
    person: tuple[tuple[str, str], ...] = ()
    analog_descriptions: tuple[str, ...] = ()
    static: Recording | None = None

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return int(self.markers_m.shape[0])

    @property
    def time_s(self) -> FloatArray:
        """Time of each frame from the first one, s."""
        return np.arange(self.n_frames) / self.rate_hz


def without_markers(recording: Recording) -> Recording:
    """Recording without positions, with the same number of frames."""
    return replace(recording, labels=(), markers_m=np.empty((recording.n_frames, 0, 3)))


def with_static(recording: Recording, static: Recording) -> Recording:
    """Recording with positions, name and hash of its static trial.

    Parameters
    ----------
    recording : Recording
        The moving trial.
    static : Recording
        The static trial of the same person, with the same markers in the same places.
    """
    standing = Recording(
        static.source, static.sha256, static.reader, static.labels, static.markers_m, static.rate_hz, static.first_frame
    )
    return replace(recording, static=standing)


def find_marker(recording: Recording, name: str, *, prefix: str | None = None) -> int:
    """Index of a marker by its label, with or without its subject prefix.

    Labels are matched exactly, otherwise ignoring case: one file may have ``r_knee`` and ``L_knee``.

    Parameters
    ----------
    recording : Recording
        Where to look.
    name : str
        Label as in the file, or without the prefix that ends in a colon.
    prefix : str, optional
        Subject prefix, with or without the colon, that settles an ambiguous name.

    Returns
    -------
    int
        Index into ``recording.labels``.

    Raises
    ------
    LandmarkError
        No such marker, or more than one: the message lists the candidates.
    """
    if prefix:
        name = f"{prefix.rstrip(':')}:{name}" if ":" not in name else name
    whole, bare = list(recording.labels), [label.rpartition(":")[2] for label in recording.labels]
    ways = [(whole, name), (bare, name)] + [
        ([x.casefold() for x in labels], name.casefold()) for labels in (whole, bare)
    ]
    found_by = ([i for i, label in enumerate(labels) if label == wanted] for labels, wanted in ways)
    hits = next(filter(None, found_by), [])
    if len(hits) == 1:
        return hits[0]
    if len(hits) > 1:
        found = ", ".join(repr(recording.labels[i]) for i in hits)
        raise LandmarkError(
            f"{recording.source}: marker {name!r} is ambiguous, the file has {found}; "
            "give the full label, or the subject prefix in the column 'prefix' of trials.csv; "
            "rename a label that occurs twice, or set reading.marker_names to descriptions where these differ"
        )
    if name in recording.modelled_labels:
        raise LandmarkError(
            f"{recording.source}: point {name!r} is a modelled output, not a position; name a marker or a joint centre"
        )
    hint = did_you_mean(name, [label.rpartition(":")[2] for label in recording.labels], n=3)
    raise LandmarkError(
        f"{recording.source}: marker {name!r} is not among the {len(recording.labels)} positions of the file{hint}"
    )
