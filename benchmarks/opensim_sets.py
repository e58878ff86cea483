"""Compare imported muscle sets with OpenSim itself, at the recorded coordinates of a movement.

Usage: python benchmarks/opensim_sets.py RECORDINGS [--write]

RECORDINGS is the folder of the recordings that the tests use, with ``arm26``, ``walk_emg_opensim`` and
``running_opensim``. Needs the package ``opensim``. For every muscle and joint: the rms error of the set's moment arm, with
the model's other coordinates at their defaults (the error of the import), and with all coordinates as recorded (what the
plane costs on top), and the processor time of import and static optimization. Forces are compared by ``opensim_forces.py``.
``--write`` puts the tables into ``docs/muscle_validation.md``, but for that of single muscles.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.arrays import FloatArray
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.opensim_models.import_set import ImportedMuscle, ImportedSet, ImportOptions, import_muscle_set
from limbtorque.muscles.opensim_models.joints import JointChoice, chain_joints
from limbtorque.muscles.opensim_models.model import read_model
from limbtorque.muscles.static_optimization.solve import OK, share_torques

PAGE = Path(__file__).resolve().parents[1] / "docs" / "muscle_validation.md"
BEGIN, END = "<!-- begin: printed by benchmarks/opensim_sets.py -->\n", "<!-- end -->\n"
MOST_FRAMES = 120
FRAMES = 2000  # of the speed
SENSED_M = 0.005  # arms in other planes that are listed


@dataclass(frozen=True)
class Movement:
    """A model with the recorded coordinates of a movement."""

    title: str
    model: str
    coordinates: str
    chain: str
    in_degrees: bool
    paths: str = ""


MOVEMENTS = (
    Movement("Arm26, reach", "arm26/arm26.osim", "arm26/arm26_InverseKinematics.mot", "arm", False),
    Movement("Walk", "walk_emg_opensim/subject_walk_scaled.osim", "walk_emg_opensim/coordinates.sto", "leg", False),
    Movement(
        "Walk, functions",
        "walk_emg_opensim/subject_walk_scaled.osim",
        "walk_emg_opensim/coordinates.sto",
        "leg",
        False,
        "walk_emg_opensim/subject_walk_scaled_FunctionBasedPathSet.xml",
    ),
    Movement("Run", "running_opensim/Rajagopal2015_scaled.osim", "running_opensim/ik_output_run.mot", "leg", True),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = [(movement, *compared(options.recordings, movement)) for movement in MOVEMENTS]
    text = "\n".join(tables(options.recordings, found))
    walk, run = (next(entry for entry in found if entry[0].title == title) for title in ("Walk", "Run"))
    print("\n".join([text, "", *muscle_table(walk, run)]))
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{text}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def tables(folder: Path, found: Sequence[tuple[Movement, ImportedSet, float, pd.DataFrame]]) -> Iterator[str]:
    yield "| model, movement | muscles | import, s | rms in the plane: median | wrapped muscles | worst | above 0.5 mm | rms with all coordinates as recorded: median | worst |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for movement, imported, seconds, errors in found:
        rms = errors.in_plane_mm.to_numpy()
        worst = errors.loc[errors.in_plane_mm.idxmax()]
        above = errors[errors.in_plane_mm > 0.5]
        listed = ", ".join(f"{row.muscle} at the {row.joint} {row.in_plane_mm:.2f}" for row in above.itertuples())
        far = errors.loc[errors.recorded_mm.idxmax()]
        yield (
            f"| {movement.title} | {len(imported.muscles)} | {seconds:.0f} | {np.median(rms):.3f} mm | "
            f"{errors.in_plane_mm[errors.wrapped].median():.3f} mm | {worst.in_plane_mm:.2f} mm, {worst.muscle} at the {worst.joint} | {listed or 'none'} | "
            f"{errors.recorded_mm.median():.2f} mm | {far.recorded_mm:.1f} mm, {far.muscle} at the {far.joint} |"
        )
    yield ""
    walk = next(entry for entry in found if entry[0].title == "Walk")
    run = next(entry for entry in found if entry[0].title == "Run")
    functions = next(entry for entry in found if entry[0].paths)
    yield functions_line(folder, walk[1], functions[1])
    yield ""
    yield speed(run[1])


def compared(folder: Path, movement: Movement) -> tuple[ImportedSet, float, pd.DataFrame]:
    """Imported set, processor time of the import, and errors by muscle and joint."""
    paths = folder / movement.paths if movement.paths else None
    options = ImportOptions("right", movement.chain, paths, JointChoice({}, {}), {})
    start = time.process_time()
    imported = import_muscle_set(folder / movement.model, options)
    seconds = time.process_time() - start
    recorded = read_table(folder / movement.coordinates)
    rows = recorded.iloc[np.unique(np.linspace(0, len(recorded) - 1, MOST_FRAMES).astype(int))]
    return imported, seconds, arm_errors(folder, movement, imported, rows)


def read_table(path: Path) -> pd.DataFrame:
    """Table of an OpenSim storage file; columns are named without their paths."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.strip() == "endheader") + 1
    names = [name.removesuffix("/value").rpartition("/")[2] for name in lines[first].split()]
    return pd.DataFrame([line.split() for line in lines[first + 1 :] if line.strip()], columns=names).astype(float)


def arm_errors(folder: Path, movement: Movement, imported: ImportedSet, rows: pd.DataFrame) -> pd.DataFrame:
    """Error of every moment arm of a set against OpenSim's at recorded coordinates, mm."""
    import opensim

    model = opensim.Model(str(folder / movement.model))
    if movement.paths:
        processor = opensim.ModelProcessor(str(folder / movement.model))
        processor.append(opensim.ModOpReplacePathsWithFunctionBasedPaths(str(folder / movement.paths)))
        model = processor.process()
    model.initSystem()
    joints = chain_joints(read_model(folder / movement.model), movement.chain, side="right", choice=JointChoice({}, {}))
    own = {joint.coordinate for joint in joints}
    rotations = {
        c.getName()
        for c in (model.getCoordinateSet().get(i) for i in range(model.getCoordinateSet().getSize()))
        if c.getMotionType() == 1
    }
    values = rows.copy()
    if movement.in_degrees:
        values.loc[:, [name for name in values if name in rotations]] *= np.pi / 180.0
    flexion = np.column_stack([joint.sign * values[joint.coordinate] for joint in joints])
    ours = musculotendon(imported.muscle_set, flexion, joints=[joint.name for joint in joints])
    pairs = [(one, j) for one in imported.muscles for j in range(len(joints)) if joints[j].name in one.fit.joints]
    theirs = [
        model_arms(model, values if all_planes else values[[c for c in values if c in own]], pairs, joints)
        for all_planes in (False, True)
    ]
    table = []
    for p, (one, j) in enumerate(pairs):
        m = [muscle.name for muscle in imported.muscles].index(one.name)
        inside = ~ours.muscle_out_of_range[:, m]
        off = [ours.moment_arm_m[:, j, m] - arms[:, p] for arms in theirs]
        rms, whole = (1e3 * float(np.sqrt(np.mean(error[inside] ** 2))) for error in off)
        table.append(
            (
                one.name,
                joints[j].name,
                one.wrapped,
                rms,
                whole,
                1e3 * float(np.abs(off[0][inside]).max()),
                inside.mean(),
            )
        )
    return pd.DataFrame(
        table, columns=["muscle", "joint", "wrapped", "in_plane_mm", "recorded_mm", "largest_mm", "inside"]
    )


def functions_line(folder: Path, own: ImportedSet, functions: ImportedSet) -> str:
    """Difference of the walk's function-based paths from the model's own, along the walk and in the plane."""
    movement = MOVEMENTS[1]
    joints = chain_joints(read_model(folder / movement.model), movement.chain, side="right", choice=JointChoice({}, {}))
    recorded = read_table(folder / movement.coordinates)
    flexion = np.column_stack([joint.sign * recorded[joint.coordinate] for joint in joints])
    names = [joint.name for joint in joints]
    one, other = (musculotendon(found.muscle_set, flexion, joints=names) for found in (own, functions))
    arm_mm = 1e3 * np.abs(one.moment_arm_m - other.moment_arm_m)
    length_mm = 1e3 * np.abs(one.length_m - other.length_m).max(axis=0)
    rms = np.sqrt(np.mean(arm_mm**2, axis=0))
    return (
        f"Function-based paths compared with the model's own, during walking: moment arms differ by up to {arm_mm.max():.1f} mm "
        f"({rms.max():.1f} mm rms in the worst muscle), lengths by up to {length_mm.max():.0f} mm "
        f"({own.muscle_set.names[int(length_mm.argmax())]})."
    )


def model_arms(
    model: Any, values: pd.DataFrame, pairs: Sequence[tuple[ImportedMuscle, int]], joints: Sequence[Any]
) -> FloatArray:
    """Moment arms that OpenSim evaluates, flexion positive, shape (n_frames, n_pairs)."""
    state = model.initSystem()
    coordinates, muscles = model.getCoordinateSet(), model.getMuscles()
    arms = np.empty((len(values), len(pairs)))
    for f, row in enumerate(values.to_dict("records")):
        for name, value in row.items():
            if coordinates.contains(name) and not coordinates.get(name).getLocked(state):
                coordinates.get(name).setValue(state, value, False)
        model.assemble(state)
        for p, (one, j) in enumerate(pairs):
            arms[f, p] = joints[j].sign * muscles.get(one.name).computeMomentArm(
                state, coordinates.get(joints[j].coordinate)
            )
    return arms


def muscle_table(*of: tuple[Movement, ImportedSet, float, pd.DataFrame]) -> Iterator[str]:
    """Errors of every muscle, in the plane and with all coordinates as recorded."""
    yield (
        "| muscle | joint | "
        + " | ".join(f"{one[0].title}: in the plane | all as recorded" for one in of)
        + " | other planes |"
    )
    yield "| --- | --- |" + " --- | --- |" * len(of) + " --- |"
    first = of[0]
    for muscle, joint in first[3][["muscle", "joint"]].itertuples(index=False):
        cells = []
        for _, _, _, errors in of:
            row = errors[(errors.muscle == muscle) & (errors.joint == joint)]
            cells += [f"{row.in_plane_mm.item():.2f} | {row.recorded_mm.item():.1f}" if len(row) else " | "]
        one = next(one for one in first[1].muscles if one.name == muscle)
        other = ", ".join(f"{name} {1e3 * arm:+.0f}" for name, arm in one.other_planes_m.items() if abs(arm) > SENSED_M)
        yield f"| {muscle}{' (wrapped)' if one.wrapped else ''} | {joint} | {' | '.join(cells)} | {other} |"


def speed(imported: ImportedSet) -> str:
    """Processor time of static optimization with an imported set, at torques that its muscles can make."""
    muscles, draw = imported.muscle_set, np.random.default_rng(1)
    flexion = np.radians(np.column_stack([draw.uniform(*ends, FRAMES) for ends in ((-20, 60), (5, 90), (-20, 20))]))
    arm = musculotendon(muscles, flexion).moment_arm_m
    torque = np.einsum("fjm,fm->fj", arm, draw.uniform(0.0, 0.5, (FRAMES, len(muscles.names))) * muscles.max_force_n)
    times_s = []
    for _ in range(9):
        start = time.process_time()
        solved = share_torques(arm, torque, max_force_n=muscles.max_force_n)
        times_s.append(time.process_time() - start)
    return (
        f"Static optimization of {FRAMES} frames with {len(muscles.names)} muscles and 3 joints, exponent 2: "
        f"{1e6 * np.median(times_s) / FRAMES:.1f} us a frame of processor time (least {1e6 * min(times_s) / FRAMES:.1f}); "
        f"{(solved.status == OK).sum()} of them within strength."
    )


if __name__ == "__main__":
    sys.exit(main())
