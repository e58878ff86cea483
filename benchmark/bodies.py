"""Bodies of the benchmark: segments, joint axes and markers of a person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from space import Body, FloatArray, Segment

SIDES = ("right", "left")
LEG, ARM = ("thigh", "shank", "foot"), ("upper_arm", "forearm", "hand")
JOINTS = {"leg": ("hip", "knee", "ankle"), "arm": ("shoulder", "elbow", "wrist")}
FREE_AXES = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # of pelvis and trunk: rotation, list, tilt
LIMB_AXES = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # right: flexion, abduction, rotation
# Shares, in segments.csv: of the body's mass; of the segment's length, the centre of mass and the radii of gyration; of the height, the
# length and the joint's centre in the parent (right side). Round numbers between those of de Leva (1996) and Winter (2009); leg and foot
# as in `limbtorque.simulation.gait`. Markers, in markers.csv: shares of the height in the segment's frame (right side)
HERE = Path(__file__).parent
SEGMENTS = pd.read_csv(HERE / "segments.csv", index_col="part", keep_default_na=False)
MARKERS = pd.read_csv(HERE / "markers.csv")
FRAME = ("forward", "up", "out")
MIDDLE = ("C7", "T10", "CLAV", "STRN")  # without a side
MEDIAL = ("KNM", "ANM", "ELM")  # in the standing trial only
SPREAD = 0.08  # largest deviation of a share of unlike bodies
TILT_RAD, MOVING_M = 0.06, 0.012  # largest tilt and way of their knee's axis


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
    sides = (side,) if chain == "arm" else SIDES
    parts = ["trunk"] if chain == "arm" else ["pelvis", "trunk"]
    parts += [f"{of}_whole_arm" for of in SIDES if chain == "leg" or of != side]
    parts += [f"{of}_{part}" for of in sides for part in (LEG if chain == "leg" else ARM)]
    varied, (tilt, moving) = pd.DataFrame(SEGMENTS, copy=True), (0.0, 0.0)
    if unlike is not None:
        factors = 1.0 + SPREAD * unlike.uniform(-1.0, 1.0, (len(varied), 7))
        varied[["mass", *_columns("com")]] *= factors[:, :4]
        turning = varied[_columns("gyration")].to_numpy()
        least = turning == turning.min(axis=1, keepdims=True)
        varied[_columns("gyration")] = turning * np.where(least, factors[:, 4:5], factors[:, 5:6])
        varied["length"] *= 0.5 + 0.5 * factors[:, 6]
        tilt, moving = (TILT_RAD, MOVING_M) * unlike.uniform([-1.0, 0.5], 1.0)
    scale = height_m * varied["length"] / SEGMENTS["length"]
    total = 1.0 if chain == "arm" else sum(varied["mass"][_part(name)[1]] for name in parts)
    body: dict[str, Segment] = {}
    for whole in parts:
        of, part = _part(whole)
        row, mirror = varied.loc[part], np.array([1.0, 1.0, -1.0 if of == "left" else 1.0])
        mass, length, parent = row["mass"] / total * mass_kg, row["length"] * height_m, row["parent"] if body else ""
        com, turning, centre = (row[_columns(key)].to_numpy(float) for key in ("com", "gyration", "centre"))
        body[whole] = Segment(
            whole,
            parent if parent in ("pelvis", "trunk", "") else f"{of}_{parent}",
            joint=f"{of}_{row['joint']}" if of else row["joint"],
            centre_m=centre * scale.get(parent, 0.0) * mirror,
            axes=_axes(part, of, tilt),
            mass_kg=mass,
            length_m=length,
            com_m=com * length * mirror,
            inertia_kgm2=np.diag(mass * (turning * length) ** 2),
            markers_m=_markers(part, of, scale[part]),
        )
    return Person(name, sex, chain, mass_kg, height_m, body, moving)


def _columns(name: str) -> list[str]:
    return [f"{name}_{axis}" for axis in FRAME]


def _part(name: str) -> tuple[str, str]:
    """Side (empty: neither) and part of a segment."""
    side, _, part = name.partition("_")
    return (side, part) if part else ("", side)


def _markers(part: str, side: str, scale: float) -> dict[str, FloatArray]:
    """Markers of a segment; of the trunk and pelvis those of both sides."""
    markers = {}
    for label, *place in MARKERS.loc[MARKERS["part"] == part, ["marker", *FRAME]].itertuples(index=False):
        for of in ("",) if label in MIDDLE else (side,) if side else SIDES:
            markers[of[:1].upper() + label] = scale * np.array(place) * (1.0, 1.0, -1.0 if of == "left" else 1.0)
    return markers


def _axes(part: str, side: str, tilt: float) -> FloatArray:
    """Axes of a segment's joint."""
    if not side:
        return FREE_AXES
    outwards = 1.0 if side == "right" else -1.0
    axes = LIMB_AXES * np.array([[1.0], [outwards], [outwards]])
    if part == "shank":  # its flexion axis, turned in the frontal plane
        axes[0] = 0.0, -outwards * np.sin(tilt), -np.cos(tilt)
    return axes
