"""Plug-in Gait's segment model in our chain: what makes its moments leave our bands in swing.

Usage: python benchmarks/plug_in_gait_segments.py COHORT

Straight walks of the cohort, as ``bands_outside.py`` takes them. One after the other: the published radii of gyration (Vicon,
about the centre of mass), the foot a third longer than from the ankle to the toe marker with its centre in the middle, as the
foot of the files is, and the segments in three dimensions: Newton and Euler with the axes of the file, the moment about
the lateral axis of the distal segment. Prints the share of the frames inside our 95 % limits, and the rms difference.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from bands_outside import JOINTS, OTHER_RADII, PHASES

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import limb_of
from limbtorque.arrays import FloatArray
from limbtorque.chain.linear import inertial_parameters, term_regressor
from limbtorque.cli.init.init import init_study
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import file_outputs
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.signals.filters import low_pass
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial
from limbtorque.tables.files import column_values
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.propagation import torque_bands

MASS = np.array([0.1, 0.0465, 0.0145])  # of the body's; thigh, shank, foot, as in the table of Dempster and Winter
CENTRE = np.array([0.433, 0.433, 2.0 / 3.0])  # of the joints' distance, and that from ankle to toe marker
LENGTH = np.array([1.0, 1.0, 4.0 / 3.0])
ENDS = (("FEP", "FEO"), ("FEO", "TIO"), ("TIO", "TOE"))
SEGMENTS = ("FE", "TI", "FO")
GRAVITY_M_S2 = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Case:
    """A leg with the file's moments, our limits and the moments of each model."""

    status: FloatArray
    theirs_nm: FloatArray
    sd_nm: FloatArray
    models: dict[str, FloatArray]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cohort", type=Path, help="folder of the cohort")
    print("\n".join(lines(list(cases(parser.parse_args().cohort.resolve())))))


def lines(legs: list[Case]) -> Iterator[str]:
    """Lines of the table."""
    yield f"| model | phase | {' | '.join(f'{joint}: inside, % | rms, N m' for joint in JOINTS)} |"
    yield f"| --- | --- |{' ---: |' * 6}"
    for name in legs[0].models:
        for phase, status in PHASES.items():
            cells = []
            for k in range(3):
                off, sd = np.hstack([_known(leg, name, k, status) for leg in legs])
                cells += (
                    [f"{100.0 * (np.abs(off) < LIMITS * sd).mean():.0f}", f"{np.sqrt(np.mean(off**2)):.2g}"]
                    if len(off)
                    else ["", ""]
                )
            yield f"| {name} | {phase} | {' | '.join(cells)} |"


def _known(leg: Case, name: str, k: int, status: int) -> FloatArray:
    off, sd = leg.models[name][:, k] - leg.theirs_nm[:, k], leg.sd_nm[:, k]
    some = (leg.status == status) & np.isfinite(off + sd)
    return np.stack([off[some], sd[some]])


def cases(cohort: Path) -> Iterator[Case]:
    """Legs of the straight walks."""
    with tempfile.TemporaryDirectory() as name:
        init_study(Path(name) / "study", cohort, chains=("leg",))
        for trial in load_study(Path(name) / "study").trials:
            if trial.condition == "straight":
                yield case(trial)


def case(trial: Trial) -> Case:
    """Moments of one leg by each model."""
    recording, limb = read_recording(trial.file), limb_of(trial)
    motion = chain_motion(recording, limb, trial.settings)
    torques, bands = joint_torques(motion), torque_bands(motion, limb, trial.settings)
    table, used = file_outputs(recording, motion, limb)[0], used_frames(motion, torques)[:, None]
    theirs = np.stack([column_values(table, f"{joint}_file_torque_nm") for joint in JOINTS], axis=1)
    lengths, chain = _lengths(recording, limb.side[0].upper()), motion.chain
    radii = np.array(OTHER_RADII)
    mass = MASS * limb.body_mass_kg
    changes = {
        "ours": {},
        "its radii of gyration": {"inertia_kgm2": chain.mass_kg * (radii * chain.length_m) ** 2},
        "its segments": {
            **{"mass_kg": mass, "com_m": _centres(chain.com_m, CENTRE * lengths)},
            "inertia_kgm2": mass * (radii * LENGTH * lengths) ** 2,
        },
    }
    regressor = term_regressor(chain, motion.kinematics, gravity_m_s2=motion.gravity_m_s2)[:, 0]
    models = {
        name: torques.terms.net
        + np.einsum("p,jpt->tj", inertial_parameters(replace(chain, **change)) - inertial_parameters(chain), regressor)
        for name, change in changes.items()
    }
    models["its segments in three dimensions"] = in_space(
        recording, motion, mass, lengths, theirs, limb.side[0].upper()
    )
    return Case(motion.load.status, np.where(used, theirs, np.nan), bands.sd_nm[:, 0].T, models)


def _lengths(recording: Recording, side: str) -> FloatArray:
    """Distances between the joint centres, and of the ankle from the toe marker, m."""
    return np.array([np.nanmean(np.linalg.norm(np.subtract(*_ends(recording, side, k)), axis=1)) for k in range(3)])


def _ends(recording: Recording, side: str, k: int) -> tuple[FloatArray, FloatArray]:
    upper, lower = (recording.markers_m[:, recording.labels.index(side + name)] for name in ENDS[k])
    return upper, lower


def _centres(com: FloatArray, along_m: FloatArray) -> FloatArray:
    return along_m if com.ndim == 1 else np.column_stack([along_m, np.zeros(3)])


def in_space(
    recording: Recording, motion: ChainMotion, mass: FloatArray, lengths: FloatArray, theirs: FloatArray, side: str
) -> FloatArray:
    """Moments in swing about the lateral axes of the file's segments, signed as the file's; NaN in stance."""
    place = motion.frame - recording.first_frame
    needed = [*(name for pair in ENDS for name in pair), *(name + end for name in SEGMENTS for end in "OALP")]
    seen = np.isfinite(recording.markers_m[:, [recording.labels.index(side + name) for name in needed]]).all(
        axis=(1, 2)
    )
    first, last = np.flatnonzero(seen)[[0, -1]]
    some = slice(first, last + 1)
    smooth = {"rate_hz": recording.rate_hz, "cutoff_hz": max(motion.cutoff_hz)}

    def rate(values: FloatArray) -> FloatArray:
        return np.gradient(values, 1.0 / recording.rate_hz, axis=0)

    moments = np.full((recording.n_frames, 3), np.nan)
    force, moment = np.zeros((last + 1 - first, 3)), np.zeros((last + 1 - first, 3))
    for k in (2, 1, 0):
        upper, lower = (low_pass(end[some], **smooth) for end in _ends(recording, side, k))
        centre = upper + CENTRE[k] * (lower - upper)
        inertia = mass[k] * (OTHER_RADII[k] * LENGTH[k] * lengths[k]) ** 2
        axes = _axes(recording, side + SEGMENTS[k])[some]
        spin = np.stack([rate(axes[:, i]) for i in range(3)], axis=1)
        rotation = np.einsum("tji,tjk->tik", axes, spin)
        velocity = low_pass(np.stack([rotation[:, 1, 2], rotation[:, 2, 0], rotation[:, 0, 1]], axis=1), **smooth)
        along = (upper - lower) / np.linalg.norm(upper - lower, axis=1, keepdims=True)
        across = velocity - (velocity * along).sum(axis=1, keepdims=True) * along
        inertial = mass[k] * (rate(rate(centre)) - GRAVITY_M_S2)
        moment = moment + inertia * rate(across) + np.cross(centre - upper, inertial) + np.cross(lower - upper, force)
        force = force + inertial
        moments[some, k] = (moment * axes[:, 1]).sum(axis=1)
    found = np.where((motion.load.status == 0)[:, None], moments[place], np.nan)
    return found * np.sign(np.nansum(found * theirs, axis=0))


def _axes(recording: Recording, segment: str) -> FloatArray:
    """Anterior, lateral and proximal axes of a segment of the file, (n_frames, 3, 3), in rows."""
    origin, *ends = (recording.markers_m[:, recording.labels.index(segment + end)] for end in "OALP")
    rows = np.stack([end - origin for end in ends], axis=1)
    return rows / np.linalg.norm(rows, axis=2, keepdims=True)


if __name__ == "__main__":
    main()
