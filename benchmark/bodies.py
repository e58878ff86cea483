"""Bodies of the benchmark: segments, joint axes and markers of a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from space import Body, FloatArray, Segment

SIDES = ("right", "left")
LEG, ARM = ("thigh", "shank", "foot"), ("upper_arm", "forearm", "hand")
JOINTS = {"leg": ("hip", "knee", "ankle"), "arm": ("shoulder", "elbow", "wrist")}
FREE_AXES = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # of pelvis and trunk: rotation, list, tilt
LIMB_AXES = np.array(
    [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
)  # right: flexion, abduction, internal rotation
# Share of the body's mass; centre of mass and radii of gyration in the segment's frame (forward, up, out) as shares of its length.
# Round numbers between those of de Leva (1996) and Winter (2009)
SHARES: dict[str, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    "pelvis": (0.120, (-0.2, 0.3, 0.0), (0.60, 0.58, 0.55)),
    "trunk": (0.432, (0.0, 0.55, 0.0), (0.43, 0.24, 0.42)),
    "whole_arm": (0.050, (0.02, -0.50, 0.02), (0.28, 0.09, 0.28)),
    "thigh": (0.1150, (0.0, -0.425, 0.0), (0.328, 0.140, 0.326)),
    "shank": (0.0450, (0.0, -0.435, 0.0), (0.268, 0.100, 0.262)),
    "foot": (0.0140, (0.24, -0.15, 0.0), (0.13, 0.26, 0.28)),
    "upper_arm": (0.0270, (0.0, -0.50, 0.0), (0.285, 0.150, 0.270)),
    "forearm": (0.0160, (0.0, -0.45, 0.0), (0.275, 0.120, 0.265)),
    "hand": (0.0060, (0.0, -0.70, 0.0), (0.60, 0.40, 0.50)),
}
# Lengths, and joint centres in the parent's frame (right side), as shares of the height; leg and foot as in `limbtorque.simulation.gait`
LENGTHS = {
    "pelvis": 0.1,
    "trunk": 0.31,
    "whole_arm": 0.40,
    "thigh": 0.248,
    "shank": 0.249,
    "foot": 0.152,
    "upper_arm": 0.17,
    "forearm": 0.155,
    "hand": 0.058,
}
CENTRES = {
    "trunk": (-0.055, 0.07, 0.0),
    "thigh": (0.0, 0.0, 0.0495),
    "whole_arm": (0.0, 0.27, 0.105),
    "upper_arm": (0.0, 0.27, 0.105),
}
PARENTS = {
    "trunk": "pelvis",
    "whole_arm": "trunk",
    "thigh": "pelvis",
    "shank": "thigh",
    "foot": "shank",
    "upper_arm": "trunk",
    "forearm": "upper_arm",
    "hand": "forearm",
}
# Markers as shares of the height in the segment's frame (right side)
MARKERS: dict[str, dict[str, tuple[float, float, float]]] = {
    "pelvis": {"ASI": (0.033, 0.045, 0.070), "PSI": (-0.075, 0.055, 0.028)},
    "trunk": {
        "C7": (-0.055, 0.300, 0.0),
        "T10": (-0.065, 0.150, 0.0),
        "CLAV": (0.050, 0.265, 0.0),
        "STRN": (0.070, 0.165, 0.0),
        "SHO": (0.0, 0.300, 0.105),
    },
    "thigh": {
        "THF": (0.050, -0.130, 0.010),
        "THL": (0.0, -0.160, 0.048),
        "KNE": (0.0, -0.245, 0.032),
        "KNM": (0.0, -0.245, -0.032),
    },
    "shank": {
        "SHF": (0.028, -0.100, 0.005),
        "SHL": (0.0, -0.150, 0.030),
        "ANK": (0.0, -0.246, 0.022),
        "ANM": (0.0, -0.246, -0.022),
    },
    "foot": {
        "HEE": (-0.042, -0.018, 0.0),
        "TOE": (0.075, -0.022, 0.0),
        "MT1": (0.080, -0.026, -0.016),
        "MT5": (0.062, -0.030, 0.028),
    },
    "upper_arm": {
        "UPA": (0.0, -0.080, 0.028),
        "UPF": (0.025, -0.110, 0.0),
        "ELB": (0.0, -0.170, 0.022),
        "ELM": (0.0, -0.170, -0.022),
    },
    "forearm": {"FRA": (0.020, -0.080, 0.0), "WRR": (0.0, -0.155, 0.017), "WRU": (0.0, -0.155, -0.017)},
    "hand": {"KNU": (0.0, -0.058, 0.0), "HAR": (0.006, -0.045, 0.020), "HAU": (0.006, -0.045, -0.020)},
}
MIDDLE = ("C7", "T10", "CLAV", "STRN")  # without a side
MEDIAL = ("KNM", "ANM", "ELM")  # in the standing trial only
TILT_RAD, SPREAD = 0.06, 0.08  # of unlike bodies: knee's axis, and largest deviation of a share


@dataclass(frozen=True)
class Person:
    """A simulated person.

    Attributes
    ----------
    name, sex, chain : str
        Name of the subject; ``female`` or ``male``; ``leg`` or ``arm``.
    mass_kg, height_m : float
        Body mass and height.
    body : Body
        Segments.
    moving : float
        Way of the knee's centre in the thigh, backwards and upwards, at 90 degrees of flexion, m.
    """

    name: str
    sex: str
    chain: str
    mass_kg: float
    height_m: float
    body: Body
    moving: float = 0.0

    @property
    def limbs(self) -> dict[str, tuple[str, ...]]:
        """Segments of each side's limb, from proximal to distal."""
        parts = LEG if self.chain == "leg" else ARM
        limbs = {side: tuple(f"{side}_{part}" for part in parts) for side in SIDES}
        return {side: limb for side, limb in limbs.items() if limb[0] in self.body}


def make_person(
    name: str,
    chain: str,
    *,
    mass_kg: float,
    height_m: float,
    sex: str = "male",
    side: str = "right",
    unlike: np.random.Generator | None = None,
) -> Person:
    """A person with the segments of a chain.

    Parameters
    ----------
    name, chain, mass_kg, height_m, sex
        As in `Person`.
    side : str, optional
        Of the arm.
    unlike : Generator, optional
        Source of deviations of all shares and lengths, and of a knee whose axis is tilted and moves.
    """
    arms = () if chain == "arm" else SIDES
    rows = [(part, "") for part in ("pelvis", "trunk")]
    rows += [("whole_arm", other) for other in (arms or SIDES) if other != (side if chain == "arm" else "")]
    rows += [(part, other) for other in arms or (side,) for part in (ARM if chain == "arm" else LEG)]

    def vary(value: float | tuple[float, ...], size: float = SPREAD) -> FloatArray:
        values = np.asarray(value, dtype=float)
        return values if unlike is None else values * (1.0 + size * unlike.uniform(-1.0, 1.0, values.shape))

    shapes = {}
    for part in dict.fromkeys(part for part, _ in rows):
        share, com, radii = SHARES[part]
        across, along = vary((1.0, 1.0))
        turning = np.array(radii) * np.where(np.array(radii) == min(radii), along, across)
        shapes[part] = (float(vary(share)), vary(com), turning, float(vary(LENGTHS[part], 0.5 * SPREAD)) * height_m)
    total = sum(shapes[part][0] for part, _ in rows)
    aside, tilt = float(vary(CENTRES["thigh"][2])), 0.0 if unlike is None else TILT_RAD * unlike.uniform(-1.0, 1.0)
    body = {}
    for part, of in rows:
        share, com, radii, length = shapes[part]
        mirror = np.array([1.0, 1.0, -1.0 if of == "left" else 1.0])
        parent = PARENTS.get(part, "")
        scale = length / (LENGTHS[part] * height_m)
        if part in ("shank", "foot", "forearm", "hand"):
            centre = np.array([0.0, -shapes[parent][3], 0.0])
        else:
            centre = np.array(CENTRES.get(part, (0.0, 0.0, 0.0))) * height_m
            centre[2] = aside * height_m if part == "thigh" else centre[2]
        mass = share / total * mass_kg
        body[_named(part, of)] = Segment(
            name=_named(part, of),
            parent=_named(parent, of) if parent not in ("pelvis", "trunk", "") else parent,
            joint=_joint(part, of),
            centre_m=centre * mirror,
            axes=_axes(part, of, tilt),
            mass_kg=mass,
            length_m=length,
            com_m=com * length * mirror,
            inertia_kgm2=np.diag(mass * (radii * length) ** 2),
            markers_m={
                ("" if label in MIDDLE else other[0].upper()) + label: np.array(place)
                * height_m
                * scale
                * (1, 1, -1 if other == "left" else 1)
                for label, place in MARKERS.get(part, {}).items()
                for other in ((of,) if of else ("right",) if label in MIDDLE else SIDES)
            },
        )
    moving = 0.0 if unlike is None else 0.008 * unlike.uniform(0.5, 1.5)
    return Person(name, sex, chain, mass_kg, height_m, body, moving)


def _named(part: str, side: str) -> str:
    return f"{side}_{part}" if side else part


def _joint(part: str, side: str) -> str:
    """Name of the joint that holds a segment."""
    joints = dict(zip((*LEG, *ARM), (*JOINTS["leg"], *JOINTS["arm"]), strict=True))
    return _named(
        joints.get(part, {"pelvis": "ground", "trunk": "lumbar", "whole_arm": "shoulder"}.get(part, part)), side
    )


def _axes(part: str, side: str, tilt: float) -> FloatArray:
    """Axes of a segment's joint."""
    if not side:
        return FREE_AXES
    axes = LIMB_AXES * np.array([[-1.0 if part == "shank" else 1.0], [1.0], [1.0]])
    if side == "left":
        axes = axes * np.array([[1.0], [-1.0], [-1.0]])
    if part == "shank":  # its flexion axis, turned in the frontal plane
        across = tilt if side == "right" else -tilt
        axes = np.vstack([[0.0, -np.sin(across), -np.cos(across)], axes[1:]])
    return axes
