"""Every option, once: its default, range, unit and a sentence. Validated once, frozen afterwards."""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    Tag,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from limbtorque.errors import SettingsError
from limbtorque.study.yaml_file import read_yaml

Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]
Vector = tuple[float, float, float]
CutoffCriterion = Literal["expected_error", "residual", "autocorrelation", "gcv"]
Convention = Literal["segment_space", "torque_equation", "motion_equation", "interaction", "motion_dependent"]


def _option(default: Any, sentence: str, unit: str = "", allowed: str = "", **limits: Any) -> Any:
    return Field(default=default, description=sentence, json_schema_extra={"unit": unit, "allowed": allowed}, **limits)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Untagged(_Model):
    """A model without the tag that tells loads apart: pydantic lets no validator touch that."""

    @field_validator("*", mode="before")
    @classmethod
    def _not_a_truth_value(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true for 1: YAML reads yes, no, on and off as truth values, too."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("true or false (yes, no, on, off) has no meaning here")
        return value


class Between(_Untagged):
    """A point on the line between two markers."""

    between: tuple[str, str] = Field(description="Labels of the two markers.")
    fraction: float = _option(0.5, "Share of the way from the first marker to the second.", "1", ge=-1.0, le=2.0)


def _kind_of_rule(value: Any) -> str:
    """Which kind of rule a landmark has, so that a fault is told of that kind only."""
    if isinstance(value, Functional) or (isinstance(value, dict) and {"functional", "anatomical"} & set(value)):
        return "Functional"
    if isinstance(value, Between | dict):
        return "Between"
    return "markers" if isinstance(value, list | tuple) else "marker"


def _kind_of_place(value: Any) -> str:
    """Likewise, of rules that say a place: one of these is the anatomical one beside a functional centre."""
    kind = _kind_of_rule(value)
    return "Between" if kind == "Functional" else kind


Label = Annotated[str, Tag("marker")]
Labels = Annotated[tuple[str, ...], Tag("markers")]
Line = Annotated[Between, Tag("Between")]
AnatomicalRule = Annotated[Label | Labels | Line, Discriminator(_kind_of_place)]


class Functional(_Untagged):
    """The point about which two segments turn against each other; see docs/signals.md."""

    functional: tuple[tuple[str, ...], tuple[str, ...]] = Field(
        description="Labels of two or more markers of each of the two segments."
    )
    anatomical: AnatomicalRule = Field(
        description="Marker, markers or point between two: where the plane and the depth along its normal come from."
    )

    @model_validator(mode="after")
    def _two_segments(self) -> Functional:
        if fault := segments_fault(self.functional):
            raise ValueError(fault)
        return self


def segments_fault(segments: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """What is wrong with the labels of two segments that turn against each other; empty where nothing is.

    >>> segments_fault((("TH1", "TH2"), ("TB1", "TB2")))
    ''
    """
    for labels in segments:
        if len(set(labels)) < 2:
            return f"{', '.join(labels) or 'no label'}: a segment's orientation needs two different markers or more; name another one"
    if both := sorted(set(segments[0]) & set(segments[1])):
        return (
            f"{', '.join(both)}: named for both segments, and such a marker would be taken for their centre; "
            "give it to the segment it sits on"
        )
    return ""


LandmarkRule = Annotated[Label | Labels | Line | Annotated[Functional, Tag("Functional")], Discriminator(_kind_of_rule)]


class Reading(_Untagged):
    """Reading of recordings."""

    memory_limit_mb: int = _option(2048, "Memory the reading process may use for one file.", "MB", ge=128)
    time_limit_s: float = _option(120.0, "Time the reading of one file may take.", "s", gt=0.0)
    max_speed_m_s: float = _option(40.0, "Speed no joint centre can have.", "m/s", gt=0.0)
    length_unit: Literal["mm", "cm", "m"] | None = _option(
        None, "Unit of positions, for files that do not say it, or say it wrongly; it holds whatever the file says."
    )
    force_unit: Literal["N", "kN"] | None = _option(None, "Unit of forces in text files that do not say it.")
    rate_hz: float | None = _option(
        None, "Frames per second of text files without times; other files have to agree with it.", "Hz", gt=0.0
    )
    text_encoding: str | None = _option(
        None, "Encoding of text that is not UTF-8, by Python's name, e.g. 'shift_jis'; null: Windows-1252, a guess."
    )
    forces_length_unit: Literal["mm", "cm", "m"] | None = _option(
        None, "The same as length_unit for the file of the column forces_file, for which length_unit does not hold."
    )
    forces_offset_s: float | None = _option(
        None, "Added to the times of forces_file, where they are not of the same clock as the markers'.", "s"
    )
    strict: bool = _option(False, "Refuse a file of which anything has to be guessed; the error lists the guesses.")


class Joint(_Untagged):
    """One joint of a chain."""

    name: str = Field(description="Name of the joint, used in column names.", pattern=r"^[a-z][a-z0-9_]*$")
    landmark: str = Field(description="Landmark that is taken for the joint centre.")
    flexion_sagittal: Literal[-1, 1] = _option(
        1, "+1 where flexion turns the distal segment counter-clockwise with x forward and y up."
    )
    flexion_zero_deg: float = _option(0.0, "Joint angle at zero flexion in the sagittal plane.", "deg")
    flexion_right_horizontal: Literal[-1, 1] = _option(
        1, "+1 where flexion of the right limb is counter-clockwise seen from above; the left limb has the other sign."
    )
    sole: tuple[str, str] | None = _option(
        None, "Landmarks, back and front, whose line is the distal segment's for flexion, if they are mapped."
    )
    flexion_name: str = _option("flexion", "What flexion is called at this joint.")
    extension_name: str = _option("extension", "What the opposite of flexion is called.")
    one_way: bool = _option(False, "Flexes to one side only (elbow, knee): used to find mirrored limbs.")
    moment_arms_in_any_plane: bool = _option(
        True, "The muscles' moment arms hold whatever the plane; false where they were sampled in the sagittal plane."
    )


class Segment(_Untagged):
    """One segment of a chain."""

    name: str = Field(description="Name of the segment, used in column names.", pattern=r"^[a-z][a-z0-9_]*$")
    row: str = Field(description="Row of the table of segment parameters.")


class ChainModel(_Untagged):
    """A planar chain: joints from the base outwards, and the segments between them."""

    joints: tuple[Joint, ...] = Field(min_length=1, description="Joints, proximal first.")
    segments: tuple[Segment, ...] = Field(min_length=1, description="Segments, proximal first.")
    end: str = Field(description="Landmark at the end of the last segment.")
    ground_contact: bool = _option(False, "The last segment meets the ground: force plates load it.")
    contact_landmarks: tuple[str, ...] = _option(
        (), "Landmarks of the last segment that show ground contact, if mapped."
    )
    muscles: str | None = _option(
        None, "Muscle set: a built-in name (arm, leg, pairs) or a file in the study; null for none."
    )

    @model_validator(mode="after")
    def _agree(self) -> ChainModel:
        if len(self.joints) != len(self.segments):
            raise ValueError(
                f"a chain has as many segments as joints, found {len(self.segments)} and {len(self.joints)}"
            )
        names = [j.name for j in self.joints] + [s.name for s in self.segments]
        if len(set(names)) != len(names):
            raise ValueError(f"names of joints and segments have to differ, found {names}")
        if taken := sorted({"base", "chain", "endpoint", "external"} & set(names)):
            raise ValueError(
                f"names of joints and segments, found {', '.join(taken)}: columns of the tables have these names"
            )
        return self


ARM = ChainModel(
    joints=(
        Joint(
            name="shoulder",
            landmark="glenohumeral_axis",
            flexion_zero_deg=-90.0,
            moment_arms_in_any_plane=False,
        ),
        Joint(name="elbow", landmark="elbow_axis", one_way=True),
        Joint(name="wrist", landmark="wrist_axis"),
    ),
    segments=(
        Segment(name="upper_arm", row="upper_arm"),
        Segment(name="forearm", row="forearm"),
        Segment(name="hand", row="hand"),
    ),
    end="knuckle_2_middle_finger",
    muscles="arm",
)
LEG = ChainModel(
    joints=(
        Joint(
            name="hip",
            landmark="hip_axis",
            flexion_zero_deg=-90.0,
            moment_arms_in_any_plane=False,
        ),
        Joint(name="knee", landmark="knee_axis", flexion_sagittal=-1, one_way=True),
        Joint(
            name="ankle",
            landmark="ankle_axis",
            flexion_zero_deg=70.0,  # the line from ankle to metatarsal slopes by about 20 deg; better measured by the sole
            sole=("heel", "head_of_metatarsal_2"),
            flexion_name="dorsiflexion",
            extension_name="plantarflexion",
        ),
    ),
    segments=(
        Segment(name="thigh", row="thigh"),
        Segment(name="shank", row="shank"),
        Segment(name="foot", row="foot"),
    ),
    end="head_of_metatarsal_2",
    ground_contact=True,
    contact_landmarks=("heel", "head_of_metatarsal_2"),
    muscles="leg",
)


class Plane(_Untagged):
    """The plane of motion."""

    kind: Literal["sagittal", "horizontal", "best_fit"] = _option("sagittal", "Which plane the motion is projected on.")
    up_axis: Axis | None = _option(None, "Laboratory axis that points up; it has to be given.")
    forward_axis: Axis | Literal["travel"] = _option(
        "travel", "Axis that points forward, or 'travel': the direction in which the proximal joint is displaced."
    )
    min_projection: float = _option(
        0.3,
        "A segment whose projection is a smaller share of its length has no orientation in the plane.",
        "1",
        gt=0.0,
        lt=1.0,
    )
    min_travel_m: float = _option(0.5, "Least displacement that defines a direction of travel.", "m", gt=0.0)

    @model_validator(mode="after")
    def _not_parallel(self) -> Plane:
        if self.up_axis and self.forward_axis[1:] == self.up_axis[1:]:
            raise ValueError(f"forward_axis {self.forward_axis} is parallel to up_axis {self.up_axis}")
        return self


class Gaps(_Untagged):
    """Missing samples."""

    max_gap_s: float = _option(0.1, "Longest gap that is filled.", "s", ge=0.0, le=2.0)
    method: Literal["cubic", "pchip", "rigid_segment", "principal_components"] = _option(
        "cubic",
        "'cubic', 'pchip': interpolation in time from both sides of the gap; 'rigid_segment': from three or more other markers of a "
        "segment (gaps.segments); 'principal_components': from all markers. What these two cannot fill, 'cubic' does.",
    )
    segments: tuple[tuple[str, ...], ...] = _option(
        (),
        "Labels of the markers of each rigid segment, for 'rigid_segment'; those that a recording lacks are left out.",
    )
    longer: Literal["trim", "fail"] = _option(
        "trim", "A longer gap: 'trim' keeps the longest stretch without one, 'fail' refuses the trial."
    )
    constant_marker: Literal["fail", "accept"] = _option(
        "fail", "A marker that has the very same position in all frames: refuse the trial, or accept a fixed point."
    )
    spikes: Literal["flag", "fill"] = _option(
        "flag", "Samples that leave their marker's path for up to three frames: flag the trial, or fill them as gaps."
    )
    min_stretch_s: float = _option(0.2, "Shortest stretch worth analysing.", "s", gt=0.0)


class Filter(_Untagged):
    """Low-pass filter of joint positions and force plates."""

    method: Literal["butterworth", "critically_damped", "savitzky_golay", "cubic_spline", "quintic_spline", "none"] = (
        _option(
            "butterworth",
            "'butterworth', 'critically_damped': recursive filters, run both ways; 'savitzky_golay': local polynomials; 'cubic_spline', "
            "'quintic_spline': smoothing splines; 'none': no filter.",
        )
    )
    cutoff_hz: float | CutoffCriterion = _option(
        "expected_error",
        "Frequency at which the dual-pass gain is 1/sqrt(2). Or how it is chosen from the data: 'expected_error' (least expected error "
        "of the accelerations), 'residual' analysis, 'autocorrelation' of the residual, 'gcv' (generalised cross-validation).",
        "Hz",
        "> 0.0 | expected_error | residual | autocorrelation | gcv",
    )
    max_cutoff_hz: float = _option(
        12.0,
        "A cut-off from the data is no higher: markers are on skin, and skin that trembles looks like movement to every criterion. "
        "Raise it for blows and landings with markers on bone or rigid clusters.",
        "Hz",
        gt=0.0,
    )
    scope: Literal["trial", "joint", "study"] = _option(
        "trial",
        "A cut-off from the data is one for all joint centres of the trial, or each joint centre's own, or one for all trials of "
        "the study that ask for it.",
    )
    order: int = _option(
        3,
        "Order of one pass; the two passes together have twice that order. Local polynomials have the degree 2 order - 1; splines "
        "have their own.",
        "1",
        ge=1,
        le=8,
    )
    ends: Literal["auto", "reflect", "linear", "none"] = _option(
        "auto",
        "What the signal is taken to be beyond its ends: its point reflection, a line, or nothing; 'auto': reflection for recursive "
        "filters, nothing for the others.",
    )
    force_cutoff_hz: float | None = _option(
        None, "Cut-off of force plates; null: the same as for the joint positions.", "Hz", gt=0.0
    )

    @field_validator("cutoff_hz", mode="before")
    @classmethod
    def _number_or_criterion(cls, value: Any) -> Any:
        if isinstance(value, str) and value in get_args(CutoffCriterion):
            return value
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0.0 < number < math.inf:
            raise ValueError(f"expected a frequency above 0 Hz, or one of {', '.join(get_args(CutoffCriterion))}")
        return number

    @model_validator(mode="after")
    def _curved_polynomials(self) -> Filter:
        if self.method == "savitzky_golay" and self.order < 2:
            raise ValueError(
                "order 1 gives lines, which have no second derivative; savitzky_golay needs order 2 or more"
            )
        if self.method == "savitzky_golay" and self.cutoff_hz == "expected_error":
            raise ValueError(
                "expected_error is not to be relied on with savitzky_golay, whose gain has lobes; give cutoff_hz: gcv, or a number"
            )
        return self


class Differentiation(_Untagged):
    """Derivatives with respect to time."""

    accuracy: Literal[2, 4, 6, 8] = _option(
        4, "Order of accuracy of the central differences; both derivatives come from one polynomial.", "1"
    )

    @field_validator("accuracy", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        """Take 4 where a column of the table of trials says '4'."""
        return int(value) if isinstance(value, str) and value.isdigit() else value


class SegmentParametersSettings(_Untagged):
    """Body segment parameters."""

    table: Literal["dempster_winter"] = _option("dempster_winter", "Table of segment parameters.")


class Force(_Model):
    """A constant force on the last segment."""

    type: Literal["constant_force"]
    force_n: Vector = _option(..., "Force on the segment in the laboratory frame.", "N")
    fraction: float = _option(1.0, "Where it acts: share of the last segment's length from its joint.", "1")


class Spring(_Model):
    """A linear spring between a fixed point and the last segment."""

    type: Literal["spring"]
    stiffness_n_m: float = _option(..., "Stiffness.", "N/m", gt=0.0)
    anchor_m: Vector = _option(..., "Fixed end in the laboratory frame.", "m")
    rest_length_m: float = _option(0.0, "Length without force; a shorter spring is slack.", "m", ge=0.0)
    fraction: float = _option(1.0, "Where it acts: share of the last segment's length from its joint.", "1")


LoadModel = Annotated[Force | Spring, Field(discriminator="type")]


class Plates(_Untagged):
    """Force plates and ground contact."""

    assignment: Literal["auto", "none"] | tuple[int, ...] = _option(
        "auto",
        "'auto' finds each foot's plates from geometry; a plate number or a list of them, [1, 2], gives them; 'none': no contact.",
    )
    threshold_n: float = _option(20.0, "Vertical force above which a plate counts as loaded.", "N", gt=0.0)
    max_distance_m: float = _option(
        0.10, "Largest distance of the centre of pressure from the line of the foot.", "m", gt=0.0
    )
    max_contact_speed_m_s: float = _option(
        1.0, "A foot with a contact landmark slower than this may stand on the ground.", "m/s", gt=0.0
    )
    max_contact_height_m: float = _option(
        0.04, "An end of the foot no higher than this above its lowest position on a plate stands on it.", "m", gt=0.0
    )
    edge_margin_m: float = _option(
        0.04,
        "How far beyond the plate's edge a standing heel or toe marker may be: markers stand out from the sole.",
        "m",
    )
    min_contact_s: float = _option(
        0.06, "Contacts and gaps between contacts shorter than this are ignored.", "s", ge=0.0
    )
    belt_speed_m_s: float = _option(
        0.0, "Speed of a treadmill's belt, against the forward direction: a standing foot moves with it.", "m/s"
    )
    remove_offset: bool = _option(True, "Subtract the mean of the unloaded samples of each plate's whole recording.")
    max_offset_n: float = _option(
        40.0, "A plate whose lowest vertical force is farther from zero is never unloaded.", "N"
    )

    @field_validator("assignment", mode="before")
    @classmethod
    def _one_plate(cls, value: Any) -> Any:
        """Take 2, or '2' of a column of the table of trials, for the list of one plate."""
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        return (value,) if isinstance(value, int) and not isinstance(value, bool) else value


class Motion(_Untagged):
    """Joint centres and angles."""

    angles: Literal["segments", "rigid_chain"] = _option(
        "segments",
        "'segments': each segment's own direction, from joint to joint; 'rigid_chain': a chain of links of constant length, "
        "fitted to all joints of all frames by least squares.",
    )
    min_functional_range_deg: float = _option(
        20.0,
        "A functional joint centre wants its segments to turn against each other by this much at least.",
        "deg",
        gt=0.0,
        le=180.0,
    )


class TorqueColumns(_Untagged):
    """More columns in the torque tables."""

    conventions: tuple[Convention, ...] = _option(
        (),
        "Groupings of the same terms as further columns: 'segment_space', 'torque_equation', 'motion_equation', "
        "'interaction', 'motion_dependent'; see docs/theory.md.",
    )
    power: bool = _option(False, "Power of every term, and the energy of every segment.")
    induced_accelerations: bool = _option(
        False, "What each torque, gravity, velocity, the base and the load accelerate, joints and endpoint."
    )

    @field_validator("conventions", mode="before")
    @classmethod
    def _one_convention(cls, value: Any) -> Any:
        if isinstance(value, list):  # each once; what is not a name is for the next check
            return tuple(item for k, item in enumerate(value) if item not in value[:k])
        return (value,) if isinstance(value, str) else value


class Integration(_Untagged):
    """Integration of the equations of motion, scipy's solve_ivp."""

    method: Literal["DOP853", "LSODA"] = _option("DOP853", "Integrator.")
    rtol: float = _option(1e-9, "Relative tolerance.", "1", ge=1e-13, le=1e-2)
    atol: float = _option(1e-10, "Absolute tolerance, of angles, velocities and works alike.", "rad, rad/s, J", gt=0.0)
    max_step_s: float | None = _option(None, "Longest step; null: as the tolerances allow.", "s", gt=0.0)


class Replay(_Untagged):
    """Forward simulation of every trial with the torques found for it."""

    enabled: bool = _option(False, "Integrate the torques forward from the first frame and compare with the motion.")
    tolerance_deg: float = _option(
        1.0, "The motion counts as reproduced as long as no joint is farther off.", "deg", gt=0.0
    )
    stop_deg: float = _option(30.0, "The replay ends where a joint is farther off: the motion is lost.", "deg", gt=0.0)


Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Muscles(_Untagged):
    """Muscle forces: how the joint torques are shared. See docs/muscles.md."""

    enabled: bool = _option(True, "Share the joint torques among muscles.")
    sets: dict[str, str] = Field(
        default_factory=dict,
        description="Muscle set of a chain in place of its own, {arm: pairs}: a built-in name (arm, leg, pairs) or a file in the "
        "study.",
    )
    criterion: Literal["activation", "stress"] = _option(
        "activation",
        "What is kept small: 'activation', force over strength; 'stress', force over physiological cross-section "
        "(the muscle set has to give pcsa_cm2).",
    )
    exponent: float | Literal["min_max"] = _option(
        2.0,
        "The sum of its powers with this exponent, from 1 to 10, is as small as can be; 'min_max': the largest one, "
        "then the next, and so on.",
        "1",
        "1 to 10 | min_max",
    )
    weights: dict[str, Annotated[float, Field(gt=0.0)]] = Field(
        default_factory=dict,
        description="Weight of a muscle's power in the sum, {soleus: 2}, or {leg.soleus: 2} for the set leg only; 1 where not "
        "given.",
    )
    min_activation: float = _option(0.0, "No muscle is less active than this.", "1", ge=0.0, lt=1.0)
    activation_bounds: dict[str, tuple[Share, Share]] = Field(
        default_factory=dict,
        description="Least and largest activation of a muscle, {soleus: [0.1, 0.8]}, named as for weights; those of the muscle set "
        "where not given.",
    )
    reserve: Literal["least", "priced", "none"] = _option(
        "least",
        "Torque that no muscle makes: 'least', only where the muscles cannot reach the torque, and then as little as "
        "possible; 'priced', everywhere, at a cost; 'none', no forces where the torque is out of reach.",
    )
    reserve_nm: float = _option(
        1.0,
        "Priced reserve that adds 1 to the sum: as much as a fully active muscle of weight 1 (criterion: activation).",
        "N m",
        gt=0.0,
    )
    co_contraction: float = _option(
        0.0,
        "Every muscle is held at this share, at least, of the activation that the most active one at a joint it crosses has "
        "without co-contraction; what that adds to the cost is a column.",
        "1",
        ge=0.0,
        le=1.0,
    )
    ranges: bool = _option(True, "Least and greatest force that each muscle could have with the same torques.")
    force_length_velocity: bool = _option(
        False,
        "Strength depends on fibre length and velocity, and passive tension is taken off the torque (De Groote et al. "
        "2016, rigid tendon); muscles without fibre parameters keep their strength.",
    )
    max_fibre_velocity_lopt_s: float = _option(
        10.0, "Fastest shortening, in optimal fibre lengths per second.", "1/s", gt=0.0
    )
    scale_moment_arms: Literal["none", "segment_length"] = _option(
        "none",
        "'segment_length': moment arms and lengths grow with the subject's segment distal to the joint, against the "
        "muscle set's reference.",
    )
    scale_strength: Literal["none", "mass"] = _option(
        "none", "'mass': strengths grow with body mass, against the muscle set's reference."
    )
    contact_forces: bool = _option(
        False, "Force in each joint, where the line of action of every muscle that pulls across it is known."
    )

    @field_validator("exponent", mode="before")
    @classmethod
    def _number_or_limit(cls, value: Any) -> Any:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if value != "min_max" and not 1.0 <= number <= 10.0:
            raise ValueError("expected a number from 1 to 10, or min_max")
        return value if value == "min_max" else number

    @field_validator("activation_bounds", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        pairs = value.items() if isinstance(value, dict) else ()
        if wrong := [name for name, pair in pairs if not (isinstance(pair, list | tuple) and len(pair) == 2)]:
            raise ValueError(f"{wrong[0]}: expected its least and largest activation, such as [0.1, 0.8]")
        return value

    @model_validator(mode="after")
    def _agree(self) -> Muscles:
        if self.exponent == "min_max" and self.weights:
            raise ValueError("weights have no meaning with exponent min_max: in the limit they cancel; leave them out")
        if self.exponent == "min_max" and self.reserve == "priced":
            raise ValueError("reserve 'priced' has no meaning with exponent min_max: use 'least' or 'none'")
        for muscle, (least, largest) in self.activation_bounds.items():
            if least > largest:
                raise ValueError(f"activation_bounds of {muscle}: least {least} is above largest {largest}")
        return self


class Quality(_Untagged):
    """Thresholds above which a trial is flagged."""

    closure_nm: float = _option(1e-9, "Largest difference between the two methods of inverse dynamics.", "N m", gt=0.0)
    power_closure_w: float = _option(
        1e-8, "Largest difference between powers and rate of change of energy.", "W", gt=0.0
    )
    energy_rate_share: float = _option(
        0.05, "Difference between the powers and the change of energy from frame to frame.", "1", gt=0.0
    )
    chain_fit_m: float = _option(0.01, "Distance of a fitted rigid chain from the joints.", "m", gt=0.0)
    out_of_plane_share: float = _option(0.20, "Share of the segments' movement that leaves the plane.", "1", gt=0.0)
    tilt_deg: float = _option(25.0, "Mean inclination of a segment to the plane.", "deg", gt=0.0)
    functional_offset_m: float = _option(
        0.05, "Distance of a functional joint centre from the anatomical one.", "m", gt=0.0
    )
    functional_residual_m: float = _option(
        0.015, "Root mean square distance of the two segments' predictions of a functional joint centre.", "m", gt=0.0
    )
    length_variation: float = _option(0.03, "Standard deviation of a segment's length over its mean.", "1", gt=0.0)
    gap_share: float = _option(0.10, "Share of frames in which a needed marker was filled.", "1", gt=0.0)
    swapped_frames: float = _option(0.0, "Frames in which a needed marker is exchanged with another.", "1", ge=0.0)
    spike_frames: float = _option(0.0, "Frames in which a needed marker has a spike.", "1", ge=0.0)
    noise_m: float = _option(1e-3, "Standard deviation of the joint centres' noise.", "m", gt=0.0)
    acceleration_lost_share: float = _option(
        0.25, "Root mean square acceleration that the filter takes away over the whole.", "1", gt=0.0
    )
    plate_saturated_share: float = _option(0.0, "Share of frames whose plate was driven to its limit.", "1", ge=0.0)
    plate_drift_n: float = _option(5.0, "Change of a used plate's vertical force while unloaded.", "N", gt=0.0)
    reversed_flexion_deg: float = _option(10.0, "Median bend of an elbow or knee to its wrong side.", "deg", gt=0.0)
    reversed_flexion_share: float = _option(
        0.0,
        "Share of frames in which an elbow or knee is bent to its wrong side by more than 10 degrees.",
        "1",
        ge=0.0,
    )
    foreshortened_share: float = _option(0.0, "Share of frames with a segment pointing out of the plane.", "1", ge=0.0)
    unused_share: float = _option(0.9, "Share of frames that are not in the summary.", "1", ge=0.0)
    other_foot_unknown_share: float = _option(
        0.0, "Share of frames whose plate is used without knowing where the other foot is.", "1", ge=0.0
    )
    up_axis_deg: float = _option(45.0, "Angle of the leg, or of the force on a plate, to the up axis.", "deg", gt=0.0)
    unmeasured_share: float = _option(0.0, "Share of frames with ground contact but no usable plate.", "1", ge=0.0)
    reserve_share: float = _option(0.01, "Share of frames in which the muscles cannot reach the torque.", "1", ge=0.0)
    arm_range_share: float = _option(
        0.01, "Share of frames in which a joint is outside the range of its moment arms.", "1", ge=0.0
    )
    fibre_range_share: float = _option(
        0.01, "Share of frames in which a fibre is shorter, longer or faster than its curves hold for.", "1", ge=0.0
    )
    reserve_part: float = _option(0.10, "Largest priced reserve over the largest net torque of the joint.", "1", gt=0.0)
    passive_part: float = _option(0.5, "Largest passive tension of a muscle over its strength.", "1", gt=0.0)


class Tables(_Untagged):
    """Formats of the tables."""

    csv: bool = _option(True, "Write CSV beside Parquet.")
    sto: bool = _option(False, "Write OpenSim storage files (.sto) beside Parquet; columns of text are left out.")
    xlsx: bool = _option(
        False,
        "Write results/summary.xlsx: a row for every trial, what its columns are, and the ledger; docs/tables.md.",
    )


class Ensembles(_Untagged):
    """Curves over 0 to 100 % of a movement or cycle, and their means. See docs/tables.md."""

    enabled: bool = _option(True, "Write results/curves, results/ensembles.csv and results/windows.csv.")
    window: Literal["movement", "events", "trial"] = _option(
        "movement",
        "What is 0 to 100 %: 'movement', from where the endpoint's speed in the plane first rises above a share of its peak to where "
        "it last falls below; 'events', from one event of the recording to another; 'trial', all frames but those at its ends that the summary leaves out.",
    )
    onset_share: float = _option(
        0.05, "Share of the peak speed at which a movement begins and ends.", "1", gt=0.0, lt=1.0
    )
    max_rest_s: float = _option(
        0.3,
        "Longest time that the endpoint may stay below onset_share inside one movement. Longer rests mean several movements, or the stances of "
        "a walk: such a trial has no window, with a note.",
        "s",
        gt=0.0,
    )
    start_event: str = _option(
        "",
        "Event at 0 %, as `limbtorque inspect` shows it: 'Foot Strike Left', or 'Foot Strike' for those that are not of the other "
        "side; {side} stands for right or left, by the trial's side.",
    )
    end_event: str = _option(
        "", "Event at 100 %: the next one after the start; the same name as start_event makes a whole cycle."
    )
    cycle: Literal["most_known", "first"] | PositiveInt = _option(
        "most_known",
        "Which of several windows between events: 'most_known', that with the largest share of frames with a known torque, such as the stride on "
        "the force plate, the earlier of two alike; 'first'; or its number, from 1.",
        allowed="most_known | first | 1, 2, ...",
    )
    n_points: int = _option(101, "Points of a curve, evenly from 0 to 100 %.", "1", ge=2, le=10001)
    include: Literal["ok", "flagged"] = _option(
        "flagged",
        "Trials that are averaged, by their torque_status: 'flagged', all but failed ones; 'ok', without flagged ones. Holds for "
        "results/summary_by_condition.csv, too.",
    )
    spread_over: Literal["trials", "subjects"] = _option(
        "trials",
        "What mean and spread are of: all trials alike, or the means of the subjects. Holds for results/summary_by_condition.csv, too.",
    )
    per_body_mass: bool = _option(
        False, "Torques and powers of curves and ensembles over the subject's body mass, in N m/kg and W/kg."
    )

    @model_validator(mode="after")
    def _events_named(self) -> Ensembles:
        if self.window == "events" and not (self.start_event.strip() and self.end_event.strip()):
            raise ValueError(
                "window events needs start_event and end_event, named as `limbtorque inspect` shows them; "
                "the same name twice makes a whole cycle"
            )
        return self


class Figures(_Untagged):
    """Figures."""

    kinds: tuple[Literal["torques", "contributions", "kinematics", "power", "limb", "muscles", "cutoff"], ...] = (
        _option(
            ("torques", "cutoff"),
            "What is drawn of each trial: 'torques', net torques and their terms; 'contributions', the same terms piled up; 'kinematics'; 'power'; "
            "'limb', the limb in the plane with the forces on it; 'muscles', forces with their possible range; 'cutoff', what the cut-off was chosen from.",
        )
    )
    study: tuple[Literal["ensembles", "peak_terms", "flags"], ...] = _option(
        ("ensembles", "peak_terms", "flags"),
        "What is drawn of the study, for each chain: 'ensembles', mean curves and spread by condition and side; 'peak_terms', terms side by side at "
        "the peak of the mean torque; 'flags', a matrix of quality flags.",
    )
    width: Literal["one_column", "two_columns"] = _option(
        "two_columns", "Width of figures: 85 or 180 mm, as journals print them; that of the limb is 85 mm wide."
    )
    formats: tuple[Literal["png", "pdf", "svg"], ...] = _option(("png",), "Formats of each figure.")

    @field_validator("kinds", "study", "formats", mode="before")
    @classmethod
    def _one_entry(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


class Report(_Untagged):
    """Pages that open in a browser."""

    enabled: bool = _option(True, "Make results/report: a first page, and a page for each trial.")


class Run(_Untagged):
    """How the work is cut up."""

    max_trials_per_job: int = _option(100, "Trials in one job at the most; longer sessions are split.", "1", ge=1)
    max_failed_fraction: float = _option(
        0.5, "The run ends with an error where a larger share of the trials failed.", "1", ge=0.0, le=1.0
    )


class Settings(_Untagged):
    """All settings of a study."""

    title: str = _option("", "Name of the study.")
    trials: str = _option("config/trials.csv", "Table of trials, relative to the study's folder.")
    subjects: str = _option("config/subjects.csv", "Table of subjects, relative to the study's folder.")
    gravity_m_s2: float = _option(9.80665, "Acceleration of gravity.", "m/s^2", ge=0.0, le=30.0)
    marker_sets: dict[str, dict[str, LandmarkRule]] = Field(
        default_factory=dict,
        description="Per marker set: landmark -> marker, list of markers (their mean), two markers and a fraction, "
        "or the markers of two segments whose centre of rotation it is. {S} stands for R or L, {s} for r or l, {side} for right or left.",
    )
    substitutes: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Per marker set: landmark that is needed -> landmark that stands for it. Every use is noted.",
    )
    chains: dict[str, ChainModel] = Field(
        default_factory=dict, description="Chains of your own, beside the built-in arm and leg."
    )
    reading: Reading = Reading()
    plane: Plane = Plane()
    gaps: Gaps = Gaps()
    filter: Filter = Filter()
    differentiation: Differentiation = Differentiation()
    segments: SegmentParametersSettings = SegmentParametersSettings()
    loads: dict[str, LoadModel] = Field(
        default_factory=dict, description="External loads by name, for the column 'load' of the table of trials."
    )
    plates: Plates = Plates()
    motion: Motion = Motion()
    torques: TorqueColumns = TorqueColumns()
    integration: Integration = Integration()
    replay: Replay = Replay()
    muscles: Muscles = Muscles()
    quality: Quality = Quality()
    tables: Tables = Tables()
    ensembles: Ensembles = Ensembles()
    figures: Figures = Figures()
    report: Report = Report()
    run: Run = Run()

    def chain(self, name: str) -> ChainModel:
        """Return the chain of this name: the study's own, or a built-in one."""
        return {"arm": ARM, "leg": LEG, **self.chains}[name]

    @model_validator(mode="after")
    def _chains_of_sets(self) -> Settings:
        if unknown := sorted(set(self.muscles.sets) - set(self.chain_names)):
            raise ValueError(
                f"muscles.sets names {', '.join(unknown)}, which is no chain; the chains are {', '.join(self.chain_names)}"
            )
        return self

    def muscle_set(self, chain: str, folder: Path) -> str | Path | None:
        """Muscle set of a chain: a built-in name, or a file of the study in a folder; None without one."""
        name = self.muscles.sets.get(chain, self.chain(chain).muscles) if self.muscles.enabled else None
        return folder / name if name and name.endswith((".yaml", ".yml")) else name

    @property
    def chain_names(self) -> list[str]:
        """Names of all chains a trial may use."""
        return sorted({"arm", "leg", *self.chains})


def load_settings(path: Path) -> Settings:
    """Read and validate a settings file.

    Parameters
    ----------
    path : Path
        A YAML file.

    Returns
    -------
    Settings
        The frozen settings.

    Raises
    ------
    SettingsError
        The file is missing or not YAML, or any of its entries is wrong; all of them are listed.
    """
    try:
        raw = read_yaml(path)
    except FileNotFoundError:
        raise SettingsError(f"settings file {path} does not exist; copy config/config.yaml of the demo study") from None
    except ValueError as error:
        raise SettingsError(f"settings file {path} {error}") from None
    if not isinstance(raw, dict | None):
        raise SettingsError(f"settings file {path} holds a {type(raw).__name__}, expected 'key: value' lines")
    return make_settings(raw or {}, source=str(path))


def make_settings(raw: Mapping[str, Any], *, source: str = "settings") -> Settings:
    """Validate settings that were read or written by hand.

    Parameters
    ----------
    raw : mapping
        Settings as nested dictionaries.
    source : str, optional
        Where they come from, for messages.

    Raises
    ------
    SettingsError
        Any entry is wrong; all of them are listed.
    """
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        faults = [_sentence(dict(detail)) for detail in error.errors()]
        raise SettingsError(f"{source}:\n" + "\n".join(f"  - {fault}" for fault in dict.fromkeys(faults))) from None


def override(settings: Settings, changes: Mapping[str, str], *, source: str) -> Settings:
    """Return settings with some options changed by their dotted names, as a trial's own columns do.

    Parameters
    ----------
    settings : Settings
        The study's settings.
    changes : mapping of str to str
        Dotted name -> value as text, e.g. ``{"filter.cutoff_hz": "10"}``.
    source : str
        Where the changes come from, for messages.

    Raises
    ------
    SettingsError
        An unknown name or a wrong value.
    """
    raw = settings.model_dump()
    for dotted, text in sorted(changes.items()):
        *path, last = dotted.split(".")
        target: Any = raw
        for part in path:
            target = target.get(part) if isinstance(target, dict) else None
        if not isinstance(target, dict) or last not in target:
            raise SettingsError(f"{source}: no option is called {dotted!r}{_did_you_mean(dotted, option_names())}")
        try:
            a_collection = text[:1] == "[" or (text[:1] == "{" and ":" in text)  # not the {side} of an event's name
            target[last] = yaml.safe_load(text) if a_collection else None if text in ("null", "~") else text
        except yaml.YAMLError:
            raise SettingsError(f"{source}: {dotted} is {text!r}, which is not readable as YAML") from None
    return make_settings(raw, source=source)


@functools.cache
def option_names() -> tuple[str, ...]:
    """Dotted names of all options."""
    return tuple(name for name, *_ in describe_options())


def describe_options(model: type[BaseModel] = Settings, prefix: str = "") -> list[tuple[str, str, str, str, str]]:
    """Name, default, range, unit and sentence of every option, for the documentation."""
    rows = []
    for name, field in model.model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            rows += describe_options(nested, f"{prefix}{name}.")
            continue
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        limits = [
            f"{sign} {getattr(limit, key)}"
            for limit in field.metadata
            for key, sign in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))
            if hasattr(limit, key)
        ]
        allowed = str(extra.get("allowed") or ", ".join(limits) or _literals(nested))
        default = field.get_default(call_default_factory=True)
        shown = "required" if field.is_required() else json.dumps(default)
        rows.append((prefix + name, shown, allowed, str(extra.get("unit", "")), str(field.description)))
    return rows


def options_page() -> str:
    """Every option as a table in Markdown."""
    lines = ["| option | default | range | unit | what it is |", "| --- | --- | --- | --- | --- |"]
    for name, default, allowed, unit, sentence in describe_options():
        lines.append(f"| `{name}` | `{default}` | {allowed.replace('|', 'or')} | {unit} | {sentence} |")
    return "\n".join(lines)


def _literals(annotation: Any) -> str:
    values = [v for part in (annotation, *get_args(annotation)) for v in get_args(part) if isinstance(v, str | int)]
    return " | ".join(dict.fromkeys(str(v) for v in values))


def settings_hash(settings: Settings, sections: tuple[str, ...]) -> str:
    """Hash of some sections of the settings, or of single options (`tables.csv`), as hexadecimal text."""
    wanted: dict[str, Any] = {name: True for name in sections if "." not in name}
    for section, _, option in (name.partition(".") for name in sections if "." in name):
        wanted.setdefault(section, {})[option] = True
    chosen = settings.model_dump(mode="json", include=wanted)
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def flattened(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries as one, with dotted names; empty dictionaries stay as values.

    >>> flattened({"filter": {"order": 3}, "loads": {}})
    {'filter.order': 3, 'loads': {}}
    """
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        flat |= (
            flattened(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
        )
    return flat


def _sentence(detail: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        parent = [str(part) for part in detail["loc"][:-1]]
        known = [
            name[len(".".join([*parent, ""])) :] for name in option_names() if name.startswith(".".join([*parent, ""]))
        ]
        if where in option_names():
            section, _, option = where.rpartition(".")
            return f"{where}: is an option of a section; write '{section}:' and, indented below it, '{option}: ...'"
        names = [name.split(".")[0] for name in (known if parent else option_names())] or _names_in_lists()
        last = str(detail["loc"][-1])
        same = [name for name in option_names() if name.rpartition(".")[2] == last]
        hint = f"; did you mean {' or '.join(map(repr, same[:3]))}?" if same else _did_you_mean(last, names)
        return f"{where}: no option has this name{hint}"
    inside = [name for name in option_names() if name.startswith(f"{where}.")]
    if inside and not isinstance(detail.get("input"), dict):
        options = ", ".join(dict.fromkeys(name[len(where) + 1 :].split(".")[0] for name in inside))
        found = _short(detail.get("input"))
        return f"{where}: is a section; write '{where}:' and its options ({options}) indented below it; found {found}"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "dict_type":
        message = "expected 'name: value' entries, in one line {name: value}"
    if detail["type"] == "value_error" and isinstance(detail.get("input"), dict):
        return f"{where or 'settings'}: {message}"  # what was found is a whole section
    return f"{where or 'settings'}: {message}; found {_short(detail.get('input'))}"


def _names_in_lists() -> list[str]:
    """Names of the options of what stands in lists and dictionaries, and so has no dotted name of its own."""
    return [
        name
        for model in (ChainModel, Joint, Segment, Force, Spring, Between, Functional)
        for name in model.model_fields
    ]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _did_you_mean(name: str, names: Any) -> str:
    near = difflib.get_close_matches(name, list(dict.fromkeys(names)), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
