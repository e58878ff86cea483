"""Joint angles, moments and powers of another program, stored in the file.

Names and components are those of Plug-in Gait (Vicon): ``LHipAngles``, ``LHipMoment``, ``LHipPower``; the first component
of angles and moments is the sagittal one (Kadaba et al. 1990, J Orthop Res; Davis et al. 1991, Hum Mov Sci). Its files
state moments in N mm and powers in W where the numbers are per kilogram of body mass, so the unit that a file states is
checked against its force plates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.recordings.recording import ForcePlate, ModelOutput
from limbtorque.recordings.source import MOMENTS_NM, Source, plain_unit

NAMES = re.compile(r"([LR])(Hip|Knee|Ankle|Shoulder|Elbow|Wrist)(Angles|Moment|Power)")
GROUND_FORCE = re.compile(r"[LR]GroundReactionForce")
KINDS = {"Angles": "angle", "Moment": "moment", "Power": "power"}
FACTORS: dict[str, Mapping[str, float]] = {
    "angle": {"deg": np.pi / 180.0, "degree": np.pi / 180.0, "rad": 1.0, "radian": 1.0},
    "moment": MOMENTS_NM,
    "power": {"w": 1.0, "watt": 1.0},
}
PER_KG = re.compile(r"(/kg|kg\^?1)$")  # as `plain_unit` spells "/kg" and "kg^-1"
SAME_SHARE = 0.03  # two forces, or a force and a mass, that differ by less agree
LOADED_N = 100.0
LOADED_SHARE = 0.1  # of the largest force of the file: what is smaller is noise in a ratio
LEAST_FRAMES = 10


def per_kilogram(kind: str, unit: str, *, force_ratio: float, mass_kg: float) -> bool | None:
    """True for values per kilogram; None if the file does not determine it.

    Parameters
    ----------
    kind : {"angle", "moment", "power"}
        Kind of output.
    unit : str
        Its unit as the file states it.
    force_ratio : float
        Median of the plates' force over the ground reaction force among the model outputs; NaN where either is missing.
    mass_kg : float
        Body mass that the file states; NaN where it does not.

    Examples
    --------
    >>> per_kilogram("moment", "Nmm", force_ratio=45.9, mass_kg=45.8)
    True
    """
    if kind == "angle" or PER_KG.search(plain_unit(unit)):
        return kind != "angle"
    if abs(force_ratio - 1.0) <= SAME_SHARE:
        return False
    return True if abs(force_ratio / mass_kg - 1.0) <= SAME_SHARE else None


def model_outputs(
    points: Mapping[str, int],
    xyz: FloatArray,
    seen: BoolArray,
    *,
    stated: Mapping[str, str],
    plates: Sequence[ForcePlate],
    rate_hz: float,
    mass_kg: float,
    source: Source,
) -> tuple[ModelOutput, ...]:
    """Read joint angles, moments and powers among the modelled points.

    Parameters
    ----------
    points : dict of str to int
        Labels of those points, and their columns in `xyz`.
    xyz : ndarray of shape (n_frames, n_points, 3)
        All points, in the file's units.
    seen : ndarray of bool, shape (n_frames, n_points)
        Samples that are there.
    stated : dict of str to str
        Unit of angles, moments and powers as the file has it; empty where it does not.
    plates : sequence of ForcePlate
        Force plates.
    rate_hz : float
        Frames per second.
    mass_kg : float
        Body mass that the file states; NaN where it does not.
    source : Source
        Gets the finding.

    Returns
    -------
    tuple of ModelOutput
        In SI units; those whose unit, or whose division by body mass, the file does not settle are left out.

    Notes
    -----
    A unit that ends in "/kg" is per kilogram. Any other one is checked: where the plates' force is the ground reaction
    force among the outputs (which the file states in newtons), the numbers are not divided; where it is the body mass
    that the file states times that force, they are per kilogram; otherwise, nothing is guessed.
    """
    found = {label: NAMES.fullmatch(label.rpartition(":")[2]) for label in points}
    named = {label: match.groups() for label, match in found.items() if match}
    if not named:
        return ()

    def values(label: str) -> FloatArray:
        return np.where(seen[:, points[label], np.newaxis], xyz[:, points[label]], np.nan)

    ground = [values(label) for label in points if GROUND_FORCE.fullmatch(label.rpartition(":")[2])]
    force_ratio = _force_ratio(ground, plates, rate_hz)
    outputs = []
    for label, (side, joint, of) in named.items():
        kind = KINDS[of]
        per_kg = per_kilogram(kind, stated[kind], force_ratio=force_ratio, mass_kg=mass_kg)
        factor = FACTORS[kind].get(PER_KG.sub("", plain_unit(stated[kind])))
        if per_kg is not None and factor is not None:
            where = ("left" if side == "L" else "right", joint.lower(), kind)
            outputs.append(ModelOutput(label, *where, stated[kind], per_kg, values(label) * factor))
    said = ", ".join(f"{kind} in {unit or 'no stated unit'}" for kind, unit in stated.items())
    if np.isfinite(force_ratio):
        said += f"; the plates' force is {force_ratio:.4g} times their ground reaction force"
    if np.isfinite(mass_kg):
        said += f", PROCESSING:BODYMASS is {mass_kg:g} kg"
    read = f"{len(outputs)} of {len(named)} read for comparison, not as positions"
    if any(output.per_kg for output in outputs):
        read += ", moments and powers per kilogram of body mass"
    if len(outputs) < len(named):
        read += "; for the others the unit, or division by body mass, is unknown"
    source.add("angles, moments and powers of another program", said, read)
    return tuple(outputs)


def _force_ratio(ground: Sequence[FloatArray], plates: Sequence[ForcePlate], rate_hz: float) -> float:
    """Median ratio of plate force to ground reaction force output in the file."""
    if not ground or not plates:
        return float("nan")
    stored = np.linalg.norm(sum(np.nan_to_num(force) for force in ground), axis=1)
    total = np.zeros((len(stored), 3))
    for plate in plates:
        samples = plate.force_n[:: max(round(plate.rate_hz / rate_hz), 1)][: len(stored)]
        total[: len(samples)] += np.nan_to_num(samples)
    measured_n = np.linalg.norm(total, axis=1)
    loaded = (measured_n > LOADED_N) & (stored > LOADED_SHARE * stored.max(initial=0.0))
    if loaded.sum() < LEAST_FRAMES:
        return float("nan")
    return float(np.median(measured_n[loaded] / stored[loaded]))
