"""Sections `plane`, `gaps`, `filter`, `differentiation`, `segments`, `motion`."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field, field_validator, model_validator

from limbtorque.arrays import FloatArray
from limbtorque.chain.segments import TABLES, Row, segment_table
from limbtorque.errors import SettingsError
from limbtorque.study.options.base import Options, number_of, option

Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


def axis_vector(axis: str | None) -> FloatArray:
    """Unit vector of a signed laboratory axis.

    Raises
    ------
    SettingsError
        No axis is given.

    Examples
    --------
    >>> axis_vector("-y").tolist()
    [-0.0, -1.0, -0.0]
    """
    if axis is None:
        raise SettingsError(
            "plane.up_axis is missing; `limbtorque inspect` shows the range of the markers along each axis"
        )
    sign = 1.0 if axis[0] == "+" else -1.0
    unit: FloatArray = np.eye(3)["xyz".index(axis[1])]
    return sign * unit


class Plane(Options):
    """The plane of motion."""

    kind: Literal["sagittal", "horizontal", "best_fit"] = option("sagittal", "Plane on which the motion is projected.")
    up_axis: Axis | None = option(None, "Laboratory axis that points up; required.")
    forward_axis: Axis | Literal["travel", "pelvis", "thorax"] = "travel"
    """Laboratory axis that points forward; 'travel', the direction of displacement of the proximal joint; 'pelvis' or
    'thorax', the mean direction that they face, from a landmark of both sides (docs/joint_centres.md)."""

    @model_validator(mode="after")
    def _not_parallel(self) -> Plane:
        if self.up_axis and self.forward_axis[1:] == self.up_axis[1:] and self.forward_axis[0] in "+-":
            raise ValueError(f"forward_axis {self.forward_axis} is parallel to up_axis {self.up_axis}")
        return self


CutoffCriterion = Literal["expected_error", "residual", "autocorrelation", "gcv"]


class Gaps(Options):
    """Missing samples."""

    max_gap_s: float = option(0.1, "Longest gap that is filled.", "s", ge=0.0, le=2.0)
    method: Literal["cubic", "principal_components"] = "cubic"
    """'cubic': interpolation in time from both sides of the gap; 'principal_components': from all other markers, or by
    'cubic' where these cannot fill it."""
    longer: Literal["trim", "fail"] = "trim"
    """Treatment of a longer gap: 'trim' uses the longest stretch without one, 'fail' refuses the trial."""
    constant_marker: Literal["fail", "accept"] = "fail"
    """Treatment of a marker with exactly the same position in all frames: 'fail' refuses the trial, 'accept' takes it
    as a fixed point."""
    spikes: Literal["flag", "fill"] = "flag"
    """Treatment of samples that leave their marker's path for up to three frames: 'flag' flags the trial, 'fill' fills
    them as gaps."""


class Filter(Options):
    """Low-pass filter of joint positions and force plates."""

    method: Literal["butterworth", "critically_damped", "quintic_spline", "none"] = "butterworth"
    """'butterworth', 'critically_damped': recursive filters, forward and backward; 'quintic_spline': a smoothing spline;
    'none': no filter."""
    cutoff_hz: float | CutoffCriterion = option(
        "expected_error", unit="Hz", allowed="> 0.0 | expected_error | residual | autocorrelation | gcv"
    )
    """Frequency at which the gain of both passes together is 1/sqrt(2), or the criterion by which it is chosen from the
    data: 'expected_error' (smallest expected error of the accelerations), 'residual' analysis, 'autocorrelation' of the
    residual, 'gcv' (generalised cross-validation)."""
    max_cutoff_hz: float = option(12.0, unit="Hz", gt=0.0)
    """Highest cut-off chosen from the data: markers move with the skin, and no criterion can tell skin movement from
    bone movement. Raise it for impacts, with markers on bone or rigid clusters."""
    min_cutoff_hz: float = option(3.0, unit="Hz", ge=0.0)
    """Lowest cut-off chosen from the data: recordings that were smoothed before, or whose noise is slow, hide the
    movement's own frequencies."""
    cutoffs_hz: dict[str, Annotated[float, Field(gt=0.0)]] = option({}, unit="Hz")
    """Cut-offs given for chains, or for chains and conditions, such as {leg: 10, "arm, fast": 7}, in place of
    filter.cutoff_hz; a cell of the table of trials goes before both."""
    scope: Literal["trial", "joint"] = "trial"
    """Scope of a cut-off chosen from the data: 'trial': one for all joint centres of a trial; 'joint': one for each
    joint centre."""
    order: int = option(3, unit="1", ge=1, le=8)
    """Order of one pass; both passes together have twice that order. A spline ignores it."""
    impact_factor: float = option(1.5, unit="1", ge=1.0, le=10.0)
    """Cut-off of joint positions and force plates around the time at which this foot loads a plate, relative to the
    cut-off chosen from the data; 1: no other cut-off there. A given cut-off holds throughout."""
    force_cutoff_hz: float | None = option(None, unit="Hz", gt=0.0)
    """Cut-off of force plates; null: 0.4 of the frame rate, and around impacts that of the joint positions as far as
    their accelerations show the force's high frequencies (docs/force_filter.md)."""

    @field_validator("cutoff_hz", mode="before")
    @classmethod
    def _number_or_criterion(cls, value: Any) -> Any:
        if isinstance(value, str) and value in get_args(CutoffCriterion):
            return value
        number = number_of(value)
        if not 0.0 < number < math.inf:
            raise ValueError(f"expected a frequency above 0 Hz, or one of {', '.join(get_args(CutoffCriterion))}")
        return number

    @model_validator(mode="after")
    def _agree(self) -> Filter:
        if self.min_cutoff_hz > self.max_cutoff_hz:
            raise ValueError(
                f"min_cutoff_hz is {self.min_cutoff_hz:g} Hz, expected at most max_cutoff_hz, {self.max_cutoff_hz:g} Hz"
            )
        return self


class Differentiation(Options):
    """Derivatives with respect to time."""

    accuracy: Literal[2, 4, 6, 8] = option(4, unit="1")
    """Order of accuracy of the central differences; both derivatives come from the same polynomial."""

    @field_validator("accuracy", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        """Accept a number as text, from the table of trials."""
        return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


class AddedMass(Options):
    """A point mass that moves with a segment: a held object, a shoe, a prosthesis."""

    mass_kg: float = option(..., "Mass.", "kg", gt=0.0, le=200.0)
    fraction: float = option(1.0, unit="1", ge=-2.0, le=5.0)
    """Place on the line from the segment's proximal joint (0) to its distal one, or the end of the chain (1)."""


class OwnRow(Options):
    """User-defined parameters of a segment, as shares of body mass and length."""

    proximal: str = option(..., "Landmark at which the length begins.", allowed="a landmark", min_length=1)
    distal: str = option(..., "Landmark at which the length ends.", allowed="a landmark", min_length=1)
    mass: float = option(..., "Mass divided by body mass.", "1", gt=0.0, lt=0.5)
    com: float = option(..., unit="1", ge=0.0, lt=1.0)
    """Distance of the centre of mass from the proximal landmark, over length."""
    gyration: float = option(..., unit="1", ge=0.05, le=0.8)
    """Radius of gyration about the centre of mass, for rotation in the plane of motion, over length."""
    com_from: Literal["landmark", "joint"] = "landmark"
    """'landmark': the centre of mass is on the line between the landmarks, projected on that between the joints;
    'joint': its distance is measured from the proximal joint."""

    @model_validator(mode="after")
    def _two_landmarks(self) -> OwnRow:
        if self.proximal == self.distal:
            raise ValueError(f"proximal and distal are both {self.proximal}, expected two landmarks")
        return self


class BodySegments(Options):
    """Body segment parameters."""

    table: Literal["dempster_winter", "de_leva", "zatsiorsky"] = "dempster_winter"
    """Table of segment parameters: 'dempster_winter', 'de_leva' and 'zatsiorsky', which need the subject's sex; each
    with its own landmarks (docs/segments.md)."""
    rows: dict[str, OwnRow] = option({})
    """Parameters of the laboratory's own, by the rows of the table that they replace or add, such as {foot: {proximal:
    heel, distal: toe_tip, mass: 0.014, com: 0.44, gyration: 0.25}}."""
    added: dict[str, AddedMass] = option({})
    """Point masses by the segments of a chain that they move with, such as {hand: {mass_kg: 2}}; they add to the
    segment's mass, centre of mass and moment of inertia, not to the body mass."""

    def parameters(self, sex: str) -> dict[str, Row]:
        """Rows of the chosen table, with user-defined rows.

        Raises
        ------
        SegmentError
            The table depends on the sex, which is not given.
        """
        own = {name: Row(**row.model_dump()) for name, row in self.rows.items()}
        return {**segment_table(self.table, sex), **own}

    @property
    def for_any_sex(self) -> bool:
        """True if the table does not depend on the sex."""
        return "" in TABLES[self.table]

    @property
    def any_sex(self) -> dict[str, Row]:
        """Rows for either sex, for their landmarks only."""
        return self.parameters("f")


class Motion(Options):
    """Joint centres and angles."""

    angles: Literal["segments", "rigid_chain", "inertial_chain"] = "rigid_chain"
    """'rigid_chain': a chain of links of constant length, fitted to all joints and frames by least squares;
    'inertial_chain': that chain for angles and inertia, the measured joints for the moment arms of external loads;
    'segments': direction of each segment, from joint to joint."""
