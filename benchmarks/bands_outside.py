"""How often the bands of the net torques hold the moments of other programs, on recorded walks and a run.

The moments of Plug-in Gait are in the C3D files of the cohort, analysed as `limbtorque init` proposes; those of OpenSim lie
beside the markers of a walk and a run. Errors are those of the settings. Prints a table in Markdown for each program: the share
of the frames in which the difference is inside our 95 % limits, and root mean squares of both; for Plug-in Gait also the share
with its radii of gyration in place of ours.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from plug_in_gait import write

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import limb_of
from limbtorque.arrays import FloatArray
from limbtorque.chain.linear import inertial_parameters, term_regressor
from limbtorque.cli.init.init import init_study
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import file_outputs
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces
from limbtorque.recordings.recording import with_static
from limbtorque.study.settings import Settings, make_settings
from limbtorque.study.study import load_study
from limbtorque.tables.files import column_values
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.propagation import torque_bands

PAGE = Path(__file__).resolve().parents[1] / "docs" / "uncertainty.md"
JOINTS = ("hip", "knee", "ankle")
PHASES = {"stance": 1, "swing": 0}  # of the load's status
# Thigh, shank and foot, in lengths of the segment: those of Dempster's table about the proximal end, which pyCGM2, an open
# reproduction of Plug-in Gait, takes about the centre of mass (pyCGM2/Model/bodySegmentParameters.py).
OTHER_RADII = (0.540, 0.528, 0.690)
MOMENTS = ("hip_flexion", "knee_angle", "ankle_angle")
SHANK = ["{S}TB1", "{S}TB2", "{S}TB3"]
RUN = {
    "hip_axis": {"static": "{S}HJC", "cluster": ["RASI", "LASI", "RPSI", "LPSI"]},
    "knee_axis": {"static": ["{S}LFC", "{S}MFC"], "cluster": ["{S}TH1", "{S}TH2", "{S}TH3"]},
    "ankle_axis": {"static": ["{S}LMAL", "{S}MMAL"], "cluster": SHANK},
    "lateral_malleolus": {"static": "{S}LMAL", "cluster": SHANK},
    "medial_malleolus": {"static": "{S}MMAL", "cluster": SHANK},
    "head_of_metatarsal_2": "{S}TOE",
    "heel": "{S}CAL",
    "greater_trochanter": {"static": "{S}HJC", "cluster": ["RASI", "LASI", "RPSI", "LPSI"]},
    "femoral_condyles": {"static": ["{S}LFC", "{S}MFC"], "cluster": ["{S}TH1", "{S}TH2", "{S}TH3"]},
}
WALK = {
    "anterior_superior_iliac_spine": "{S}.ASIS",
    "posterior_superior_iliac_spine": "{S}.PSIS",
    "hip_axis": {"hip_centre": "harrington_2007"},
    "knee_axis": "{S}.Knee",
    "ankle_axis": "{S}.Ankle",
    "lateral_malleolus": "{S}.Ankle",
    "medial_malleolus": "{S}.Ankle",
    "greater_trochanter": {"hip_centre": "harrington_2007"},
    "femoral_condyles": "{S}.Knee",
    "head_of_metatarsal_2": "{S}.Toe",
    "heel": "{S}.Heel",
}


@dataclass(frozen=True)
class Leg:
    """Torques of a leg beside those of another program.

    Attributes
    ----------
    name : str
        Kind of the recording.
    off_nm, sd_nm : ndarray of shape (n_frames, 3)
        Ours minus theirs at hip, knee and ankle, and our standard deviation, N m; NaN where not known.
    other_nm : ndarray of shape (n_frames, 3)
        The difference with the radii of gyration of `OTHER_RADII` in place of the table's, N m.
    status : ndarray of shape (n_frames,)
        1 with a known ground reaction force, 0 without contact.
    """

    name: str
    off_nm: FloatArray
    other_nm: FloatArray
    sd_nm: FloatArray
    status: FloatArray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "recordings", type=Path, help="folder with the folders cohort, walk_emg_opensim and running_opensim"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the rows of straight walks into docs/uncertainty.md"
    )
    options = parser.parse_args()
    folder = options.recordings.resolve()
    cohort, opensim = beside_plug_in_gait(folder / "cohort"), beside_opensim(folder)
    tables = [table_of(list(cohort), other=True), table_of(list(opensim), other=False)]
    if options.write:
        write(PAGE, [only(table, name) for table, name in zip(tables, ("straight walk", "walk"), strict=True)])
    print("\n\n".join(tables))


def without(table: str, *names: str) -> str:
    """Table without the rows of some recordings, which are printed only."""
    return "\n".join(line for line in table.splitlines() if not line.startswith(tuple(f"| {name} |" for name in names)))


def only(table: str, name: str) -> str:
    """Rows of one recording, without their first cell."""
    head, rule, *rows = table.splitlines()
    chosen = [head, rule, *(row for row in rows if row.startswith(f"| {name} |"))]
    return "\n".join(f"|{row.split('|', 2)[2]}" for row in chosen)


def table_of(legs: Sequence[Leg], *, other: bool) -> str:
    """Table of all legs by the kind of their recording; `other`: with the share for the other radii of gyration."""
    more = ["inside with its radii, %"] if other else []
    names = ["recording", "joint", "phase", "inside, %", *more, "difference, N m", "sd, N m"]
    lines = [f"| {' | '.join(names)} |", "| --- | --- | --- " + "| ---: " * (len(names) - 3) + "|"]
    for name in dict.fromkeys(leg.name for leg in legs):
        for phase, status in PHASES.items():
            for k, joint in enumerate(JOINTS):
                parts = [
                    np.stack([leg.off_nm[:, k], leg.other_nm[:, k], leg.sd_nm[:, k]])[:, leg.status == status]
                    for leg in legs
                    if leg.name == name
                ]
                used = [part[:, known] for part in parts if (known := np.isfinite(part).all(axis=0)).any()]
                if used:
                    cells = [name, joint, phase, *_cells(np.hstack(used), other=other)]
                    lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(values: FloatArray, *, other: bool) -> list[str]:
    """Shares inside the limits, and root mean squares."""
    off, with_other, sd = values
    inside = [f"{100.0 * (np.abs(each) < LIMITS * sd).mean():.0f}" for each in (off, with_other)[: 1 + other]]
    return [*inside, *(f"{np.sqrt(np.mean(each**2)):.2g}" for each in (off, sd))]


def beside_plug_in_gait(recordings: Path, **options: Any) -> Iterator[Leg]:
    """Legs of all walks of the cohort beside the moments in the same files."""
    with tempfile.TemporaryDirectory() as name:
        init_study(Path(name) / "study", recordings, chains=("leg",))
        trials = load_study(Path(name) / "study", overrides=options).trials
        for trial in trials:
            recording, limb = read_recording(trial.file), limb_of(trial)
            motion = chain_motion(recording, limb, trial.settings)
            table = file_outputs(recording, motion, limb)[0]
            names = [f"{joint}_file_torque_nm" for joint in JOINTS]
            unknown = np.full(len(motion.time_s), np.nan)
            theirs = [column_values(table, each) if each in table.column_names else unknown for each in names]
            yield leg_of(motion, limb, trial.settings, np.stack(theirs, axis=1), name=f"{trial.condition} walk")


def beside_opensim(folder: Path) -> Iterator[Leg]:
    """Legs of a walk and a run beside the generalized forces of OpenSim's inverse dynamics."""
    options = ReadOptions(forces_length_unit="m")
    walk, run = folder / "walk_emg_opensim", folder / "running_opensim"
    walking = read_with_forces(walk / "markers_walk.trc", walk / "grf_walk.mot", options)
    running = read_with_forces(run / "motion_capture_run.trc", run / "grf_run.mot", options)
    running = with_static(running, read_recording(run / "static_run.trc"))
    results = walk / "id_walk.sto", run / "inverse_dynamics.sto"
    cases = ("walk", walking, WALK, 85.3, results[0]), ("run", running, RUN, 70.0, results[1])
    for name, recording, rules, mass_kg, moments in cases:
        settings = make_settings({"plane": {"up_axis": "+y"}, "marker_sets": {"own": rules}})
        for side in ("right", "left"):
            limb = Limb("leg", side=side, body_mass_kg=mass_kg)
            motion = chain_motion(recording, limb, settings)
            yield leg_of(motion, limb, settings, opensim_moments(moments, side, motion), name=name)


def opensim_moments(results: Path, side: str, motion: ChainMotion) -> FloatArray:
    """Moments of OpenSim at our frames and in our sign, shape (n_frames, 3); NaN before and after theirs."""
    head, *lines = results.read_text(encoding="utf-8").partition("endheader\n")[2].strip().splitlines()
    columns, values = head.split(), np.array([[float(cell) for cell in line.split()] for line in lines])
    found = [
        np.interp(motion.time_s, values[:, 0], values[:, columns.index(f"{name}_{side[0]}_moment")], np.nan, np.nan)
        for name in MOMENTS
    ]
    return np.stack(found, axis=1) * motion.flexion.sign


def leg_of(motion: ChainMotion, limb: Limb, settings: Settings, theirs_nm: FloatArray, *, name: str) -> Leg:
    """Differences and standard deviation of the frames that a summary uses."""
    torques, bands, chain = joint_torques(motion), torque_bands(motion, limb, settings), motion.chain
    used = used_frames(motion, torques)[:, None]
    inertia = chain.mass_kg * (np.array(OTHER_RADII) * chain.length_m) ** 2
    change = inertial_parameters(replace(chain, inertia_kgm2=inertia)) - inertial_parameters(chain)
    regressor = term_regressor(chain, motion.kinematics, gravity_m_s2=motion.gravity_m_s2)[:, 0]
    off_nm = np.where(used, torques.terms.net - theirs_nm, np.nan)
    other_nm = off_nm + np.einsum("p,jpt->tj", change, regressor)
    return Leg(name, off_nm, other_nm, np.where(used, bands.sd_nm[:, 0].T, np.nan), motion.load.status)


if __name__ == "__main__":
    main()
