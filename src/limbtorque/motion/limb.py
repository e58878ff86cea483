"""Limb of a trial: chain, side, subject, and analysed part of the recording."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from limbtorque.arrays import choice
from limbtorque.chain.segments import Row, table_row
from limbtorque.errors import LandmarkError, LoadError, did_you_mean
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.reading import LoadModel
from limbtorque.study.settings import Settings
from limbtorque.study.subjects import MASS_KG


@dataclass(frozen=True)
class Limb:
    """A limb of a subject in a recording.

    Attributes
    ----------
    chain : str
        ``"arm"``, ``"leg"`` or a chain of the settings.
    side : {"left", "right"}
        Side of the body.
    body_mass_kg : float
        Body mass, kg.
    marker_set : str
        Marker set of the settings; may be empty where they have exactly one.
    prefix : str
        Subject prefix of the labels, if the file has several.
    measured : mapping of str to float
        The subject's own measures: segment parameters, e.g. ``{"forearm_mass_kg": 1.2}``, ``leg_length_m`` and
        ``pelvis_width_m``.
    load : str
        Name of an external load of the settings, or empty.
    start_s, end_s : float or None
        Window of the recording that is analysed, s from its first frame.
    height_m : float
        Body height, m, with which mass and segment lengths are compared; NaN where not known.
    sex : {"f", "m", ""}
        Sex, for the tables of segment parameters that depend on it.
    subject, trial : str
        Names of subject and trial, for strengths by subject and for errors that are shared in samples.

    Examples
    --------
    >>> Limb("arm", side="right", body_mass_kg=72.0, start_s=0.5).side
    'right'
    """

    chain: str
    side: str
    body_mass_kg: float
    marker_set: str = ""
    prefix: str = ""
    measured: Mapping[str, float] = field(default_factory=dict)
    load: str = ""
    start_s: float | None = None
    end_s: float | None = None
    height_m: float = math.nan
    sex: str = ""
    subject: str = ""
    trial: str = ""

    def __post_init__(self) -> None:
        choice("side", self.side, ("left", "right"))
        choice("sex", self.sex, ("f", "m", ""))
        least_kg, most_kg = MASS_KG
        if not (isinstance(self.body_mass_kg, int | float) and least_kg <= self.body_mass_kg <= most_kg):
            raise ValueError(f"body_mass_kg is {self.body_mass_kg!r}; expected {least_kg:g} to {most_kg:g} kg")

    def model(self, settings: Settings) -> ChainModel:
        """Return the chain's joints and segments."""
        known = settings.chain_names
        if self.chain not in known:
            raise LandmarkError(
                f"chain is {self.chain!r}, expected {' or '.join(known)}{did_you_mean(self.chain, known)}"
            )
        return settings.chain(self.chain)

    def segment_rows(self, settings: Settings) -> tuple[Row, ...]:
        """Return the rows of segment parameters of the chain, proximal first.

        Raises
        ------
        SegmentError
            The table lacks a segment, or depends on the sex, which is not given.
        """
        rows = settings.segments.parameters(self.sex)
        return tuple(table_row(rows, segment.row) for segment in self.model(settings).segments)

    def set_name(self, settings: Settings) -> str:
        """Return the name of the limb's marker set, by default the only one.

        Raises
        ------
        LandmarkError
            No marker set is named, and the settings have none or several.
        """
        name, known = self.marker_set, settings.marker_sets
        if not name:
            if len(known) != 1:
                raise LandmarkError(
                    f"marker_set is missing, and the settings have {', '.join(known) or 'none'}; name one"
                )
            name = next(iter(known))
        if name not in known:
            hint = did_you_mean(name, known) or f"; they have {', '.join(known) or 'none'}"
            raise LandmarkError(f"marker_set {name!r} is not among the settings' marker sets{hint}")
        return name

    def landmarks(self, settings: Settings) -> LandmarkMap:
        """Return the markers of the limb's landmarks.

        Raises
        ------
        LandmarkError
            No marker set is named, and the settings have none or several.
        """
        name = self.set_name(settings)
        return LandmarkMap(
            settings.marker_sets[name],
            settings.substitutes.get(name, {}),
            self.side,
            self.prefix,
            measured=self.measured,
            up_axis=settings.plane.up_axis,
        )

    def meets_ground(self, settings: Settings) -> bool:
        """Return True if the ground may load the limb (`plates.assignment`)."""
        return self.model(settings).ground_contact and settings.plates.assignment != "none"

    def external_load(self, settings: Settings) -> LoadModel | None:
        """Return the limb's external load from the settings."""
        if self.load and self.load not in settings.loads:
            hint = did_you_mean(self.load, settings.loads) or f"; they have {', '.join(settings.loads) or 'none'}"
            raise LoadError(f"load {self.load!r} is not among the settings' loads{hint}")
        return settings.loads[self.load] if self.load else None
