"""Chains of joints and segments, and rules that place their landmarks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from limbtorque.study.options.base import Options, option

NAME = r"^[a-z][a-z0-9_]*$"
NAME_IN_WORDS = "small letters, digits and '_', a letter first"


class Joint(Options):
    """One joint of a chain."""

    name: str = option(..., "Name of the joint, used in column names.", allowed=NAME_IN_WORDS, pattern=NAME)
    landmark: str = Field(description="Landmark used as the joint centre.")
    flexion_sagittal: Literal[-1, 1] = 1
    """+1 where flexion turns the distal segment counter-clockwise with x forward and y up."""
    flexion_zero_deg: float = option(0.0, "Joint angle at zero flexion in the sagittal plane.", "deg")
    flexion_right_horizontal: Literal[-1, 1] = 1
    """+1 where flexion of the right limb is counter-clockwise seen from above; the left limb has the other sign."""
    sole: tuple[str, str] | None = None
    """Landmarks, back and front, whose line replaces the distal segment's for flexion, where they are mapped."""
    flexion_name: str = option("flexion", "Word for flexion at this joint.")
    extension_name: str = option("extension", "Word for the opposite of flexion.")
    one_way: bool = option(False, "The joint flexes one way only (elbow, knee); used to detect mirrored limbs.")
    moment_arms_in_any_plane: bool = True
    """The muscles' moment arms hold in any plane; false where they were sampled in the sagittal plane only."""


class Segment(Options):
    """One segment of a chain."""

    name: str = option(..., "Name of the segment, used in column names.", allowed=NAME_IN_WORDS, pattern=NAME)
    row: str = Field(description="Row of the table of segment parameters.")


class ChainModel(Options):
    """A planar chain: joints from the base outwards, and the segments between them."""

    joints: tuple[Joint, ...] = Field(min_length=1, description="Joints, proximal first.")
    segments: tuple[Segment, ...] = Field(min_length=1, description="Segments, proximal first.")
    end: str = Field(description="Landmark at the end of the last segment.")
    ground_contact: bool = option(False, "The last segment touches the ground, so force plates load it.")
    contact_landmarks: tuple[str, ...] = ()
    """Landmarks of the last segment that indicate ground contact, where they are mapped."""
    foot: bool = True
    """The last segment is the foot that stands on the ground; false for a leg whose foot is not measured: torques in
    swing only."""
    muscles: str | None = None
    """Muscle set: a built-in name (arm, leg, pairs) or a file in the study; null for none."""

    @property
    def landmarks(self) -> list[str]:
        """Landmarks of the joint centres and of the end, proximal first."""
        return [*(joint.landmark for joint in self.joints), self.end]

    @model_validator(mode="after")
    def _agree(self) -> ChainModel:
        if len(self.joints) != len(self.segments):
            raise ValueError(
                f"a chain has as many segments as joints, found {len(self.segments)} and {len(self.joints)}"
            )
        names = [j.name for j in self.joints] + [s.name for s in self.segments]
        if len(set(names)) != len(names):
            raise ValueError(f"names of joints and segments must be unique, found {names}")
        if taken := sorted({"base", "chain", "endpoint", "external"} & set(names)):
            raise ValueError(
                f"names of joints and segments, found {', '.join(taken)}: columns of the tables have these names"
            )
        return self


def _segments(**rows: str) -> tuple[Segment, ...]:
    return tuple(Segment(name=name, row=row) for name, row in rows.items())


_SHOULDER = Joint(name="shoulder", landmark="glenohumeral_axis", flexion_zero_deg=-90.0, moment_arms_in_any_plane=False)
_ELBOW = Joint(name="elbow", landmark="elbow_axis", one_way=True)
_HIP = Joint(name="hip", landmark="hip_axis", flexion_zero_deg=-90.0, moment_arms_in_any_plane=False)
_KNEE = Joint(name="knee", landmark="knee_axis", flexion_sagittal=-1, one_way=True)
_ANKLE = Joint(
    name="ankle",
    landmark="ankle_axis",
    flexion_zero_deg=70.0,  # the line from ankle to metatarsal slopes by about 20 deg; better measured by the sole
    sole=("heel", "head_of_metatarsal_2"),
    flexion_name="dorsiflexion",
    extension_name="plantarflexion",
)
ARM = ChainModel(
    joints=(_SHOULDER, _ELBOW, Joint(name="wrist", landmark="wrist_axis")),
    segments=_segments(upper_arm="upper_arm", forearm="forearm", hand="hand"),
    end="knuckle_2_middle_finger",
    muscles="arm",
)
LEG = ChainModel(
    joints=(_HIP, _KNEE, _ANKLE),
    segments=_segments(thigh="thigh", shank="shank", foot="foot"),
    end="head_of_metatarsal_2",
    ground_contact=True,
    contact_landmarks=("heel", "head_of_metatarsal_2"),
    muscles="leg",
)
ARM_WITHOUT_HAND = ChainModel(
    joints=(_SHOULDER, _ELBOW),
    segments=_segments(upper_arm="upper_arm", forearm_and_hand="forearm_and_hand"),
    end="wrist_axis",
)
LEG_WITHOUT_FOOT = ChainModel(
    joints=(_HIP, _KNEE),
    segments=_segments(thigh="thigh", shank_and_foot="foot_and_shank"),
    end="ankle_axis",
    ground_contact=True,
    contact_landmarks=("ankle_axis",),
    foot=False,
)
BUILT_IN = {"arm": ARM, "leg": LEG, "arm_without_hand": ARM_WITHOUT_HAND, "leg_without_foot": LEG_WITHOUT_FOOT}


def limb_of(chain: str) -> str:
    """Limb of a built-in chain: arm or leg.

    >>> limb_of("leg_without_foot")
    'leg'
    """
    return chain.partition("_")[0]


HipRegression = Literal["harrington_2007", "bell_1990", "davis_1991"]
ShoulderOffset = Literal["rab_2002"]


class Between(Options):
    """A point on the line between two markers."""

    between: tuple[str, str] = Field(description="Labels of the two markers.")
    fraction: float = option(0.5, unit="1", ge=-1.0, le=2.0)
    """Distance from the first marker as a fraction of the way to the second."""


class HipCentre(Options):
    """Hip joint centre by a regression on the pelvis; see docs/joint_centres.md."""

    hip_centre: HipRegression
    """Regression of the hip's centre on the set's anterior_superior_iliac_spine of both sides and its sacrum, or
    posterior_superior_iliac_spine of both sides. davis_1991 needs leg_length_m of the subject."""
    marker_radius_m: float = option(0.007, unit="m", ge=0.0, le=0.03)
    """Radius of the markers on the anterior spines, used by davis_1991."""


class ShoulderCentre(Options):
    """Shoulder joint centre by an offset from the acromion; see docs/joint_centres.md."""

    shoulder_centre: ShoulderOffset
    """Offset of the shoulder's centre from the set's acromion, from the distance between the acromia."""


def _kind_of_rule(value: Any, without: Collection[str] = ()) -> str:
    """Kind of a landmark's rule, so that faults refer to this kind only."""
    for kind, keys in _KINDS.items():
        if type(value).__name__ == kind or (isinstance(value, dict) and keys & set(value)):
            return "Between" if kind in without else kind
    if isinstance(value, Between | dict):
        return "Between"
    return "markers" if isinstance(value, list | tuple) else "marker"


_KINDS = {  # kinds of rules by the keys that only they have
    "Functional": {"functional", "anatomical"},
    "Carried": {"static", "cluster"},
    "HipCentre": {"hip_centre"},
    "ShoulderCentre": {"shoulder_centre"},
}
Label = Annotated[str, Tag("marker")]
Labels = Annotated[tuple[str, ...], Tag("markers")]
Line = Annotated[Between, Tag("Between")]
MarkedRule = Annotated[Label | Labels | Line, Discriminator(lambda value: _kind_of_rule(value, _KINDS))]


class Carried(Options):
    """A landmark of the static trial, carried by a cluster of markers."""

    static: MarkedRule = Field(description="Marker, markers or point between two in the static trial (static_file).")
    cluster: tuple[str, ...]
    """Labels of three or more markers of the landmark's segment, in the static and in the moving trial."""

    @model_validator(mode="after")
    def _three_markers(self) -> Carried:
        if len(set(self.cluster)) < 3 or len(set(self.cluster)) < len(self.cluster):
            raise ValueError(
                f"cluster: {', '.join(self.cluster) or 'no label'}: expected three or more different markers for the pose "
                "of a segment; name others on the same segment"
            )
        return self


_Place = (
    Label
    | Labels
    | Line
    | Annotated[Carried, Tag("Carried")]
    | Annotated[HipCentre, Tag("HipCentre")]
    | Annotated[ShoulderCentre, Tag("ShoulderCentre")]
)
PlaceRule = Annotated[_Place, Discriminator(lambda value: _kind_of_rule(value, ("Functional",)))]


class Functional(Options):
    """The centre of rotation between two segments; see docs/signals.md."""

    functional: tuple[tuple[str, ...], tuple[str, ...]]
    """Labels of two or more markers of each of the two segments."""
    anatomical: PlaceRule = Field(description="Another rule: it defines the plane and the coordinate along its normal.")

    @model_validator(mode="after")
    def _two_segments(self) -> Functional:
        if fault := segments_fault(self.functional):
            raise ValueError(fault)
        return self


def segments_fault(segments: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """Fault of the segment labels of a functional centre; empty if there is none.

    >>> segments_fault((("TH1", "TH2"), ("TB1", "TB2")))
    ''
    """
    for labels in segments:
        if len(set(labels)) < 2:
            return f"{', '.join(labels) or 'no label'}: a segment's orientation needs two different markers or more; name another one"
    if both := sorted(set(segments[0]) & set(segments[1])):
        return f"{', '.join(both)}: named for both segments; assign each marker to the segment that it is attached to"
    return ""


LandmarkRule = Annotated[_Place | Annotated[Functional, Tag("Functional")], Discriminator(_kind_of_rule)]
