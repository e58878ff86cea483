"""Draw the muscle forces of a real reach and a real step, for docs/muscle_validation.md, and print the numbers of that page.

Usage: python tools/draw_muscles.py FOLDER [FIGURES]

FOLDER holds the recordings of the study in ``tests/recordings_study``; the figures go to ``docs/figures`` when no other
folder is given. The same recordings give the same bytes.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from limbtorque.analysis.trial import TrialResult, analyse_recording
from limbtorque.figures.muscle_figures import muscle_figure
from limbtorque.figures.style import save_figure
from limbtorque.motion.limb import Limb
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.settings import override
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial
from limbtorque.tables.files import column_array

ROOT = Path(__file__).resolve().parents[1]
STUDY = ROOT / "tests" / "recordings_study" / "config"
CRITERIA = {"p = 2": "2", "p = 3": "3", "min/max": "min_max"}  # the first is the one that is drawn in black
TITLES = {
    "box_right": "Right arm that lifts a box; the weight of the box is not known, and not in the torques",
    "walking2_right": "Right leg in walking: swing, then stance on a force plate from 2.67 s to 3.24 s",
}
FIGURES = {"box_right": "muscles_reach.png", "walking2_right": "muscles_step.png"}
AT_MOST = {"box_right": 6, "walking2_right": 8}
FROM_S = {"box_right": 0.0, "walking2_right": 2.25}  # before, the leg stands on the floor: its torques are not known


def main(recordings: Path, figures: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(STUDY, Path(folder) / "config")
        (Path(folder) / "recordings").symlink_to(recordings.resolve())
        trials = [trial for trial in load_study(Path(folder)).trials if trial.name in TITLES]
        for trial in trials:
            draw(trial, figures / FIGURES[trial.name])


def analyse(trial: Trial, **options: str) -> TrialResult:
    """Analyse a trial with some options of `muscles` changed."""
    changes = {**{f"muscles.{name}": value for name, value in options.items()}}
    return analyse_recording(
        read_c3d(trial.file),
        Limb(
            trial.chain,
            side=trial.side,
            body_mass_kg=trial.subject.mass_kg,
            marker_set=trial.marker_set,
            prefix=trial.prefix,
        ),
        override(trial.settings, changes, source="draw_muscles"),
    )


def draw(trial: Trial, path: Path) -> None:
    results = {name: analyse(trial, exponent=exponent) for name, exponent in CRITERIA.items()}
    tables = {name: part(result.muscle_table, FROM_S[trial.name]) for name, result in results.items()}
    (label, table), *others = tables.items()
    figure = muscle_figure(
        table,
        title=TITLES[trial.name],
        names=full_names(results[label]),
        label=label,
        others=dict(others),
        at_most=AT_MOST[trial.name],
    )
    save_figure(figure, path)
    print(f"\n{path.name}: {TITLES[trial.name]}\n")
    print_muscles(results | {"p = 1": analyse(trial, exponent="1")}, label)
    print_options(trial, results[label])


def print_muscles(results: dict[str, TrialResult], first: str) -> None:
    """Print, for every muscle, what criteria and mechanics say at the instant of its largest force."""
    result = results[first]
    table, muscles = result.muscle_table, result.muscles
    used = used_frames(table)
    others = [name for name in results if name != first]
    print(f"| muscle | strength | largest force, {first} | at (s) | {' | '.join(others)} | possible | must pull |")
    for k, (name, strength) in enumerate(zip(muscles.muscle_set.names, muscles.muscle_set.max_force_n, strict=True)):
        force, least, greatest = (column_array(table, f"{name}_{which}force_n")[:, 0] for which in ("", "min_", "max_"))
        top = used[force[used].argmax()]
        at_top = [f"{results[other].muscles.force_n[top, k]:.0f}" for other in others]
        print(
            f"| {name} | {strength:.0f} | {force[top]:.0f} | {column_array(table, 'time_s')[top, 0]:.2f} | "
            f"{' | '.join(at_top)} | {least[top]:.0f} to {greatest[top]:.0f} | {100 * (least[used] > 1.0).mean():.0f} % |"
        )
    outside = column_array(table, "moment_arm_status")[:, 0] == 1
    print(f"\nframes outside the range of a moment arm: {outside.sum()} of {len(outside)}")
    for name, beyond in zip(muscles.muscle_set.names, muscles.geometry.muscle_out_of_range.T, strict=True):
        print(f"  {name}: {beyond.sum()}" if beyond.any() else "", end="")
    print()
    width = (muscles.greatest_n - muscles.least_n)[used] / muscles.muscle_set.max_force_n
    print(f"mean width of the range, shares of the strength: {width.mean():.2f}")
    print(f"range wider than 95 % of the strength: {100 * (width > 0.95).mean():.0f} % of muscles and frames")
    for name, other in results.items():
        shared = other.muscles.optimized
        jump = np.nanmax(np.abs(np.diff(other.muscles.force_n, axis=0)), axis=0)
        print(
            f"{name}: active muscles {np.median((shared.activation[used] > 1e-6).sum(axis=1)):.0f} (median), largest change "
            f"from frame to frame {jump.max():.0f} N ({muscles.muscle_set.names[jump.argmax()]}), largest gap "
            f"{np.nanmax(np.abs(shared.duality_gap)):.0e}, largest residual {np.nanmax(shared.residual_nm):.0e} N m"
        )


def print_options(trial: Trial, plain: TrialResult) -> None:
    """Print what other options of `muscles` change."""
    used = used_frames(plain.muscle_table)
    names = plain.muscles.muscle_set.names
    force = plain.muscles.force_n[used]
    for tendon in ("rigid", "compliant"):
        print_fibres(tendon, analyse(trial, force_length_velocity="true", tendon=tendon).muscles, names, used, force)
    for curves in ("riener_edrich", "anderson"):
        passive = analyse(trial, passive_moments=curves).muscles
        largest = np.nanmax(np.abs(passive.passive_nm[used]), axis=0)
        print(f"passive_moments {curves}: at most {', '.join(f'{value:.1f}' for value in largest)} N m; ", end="")
        print(peaks(names, force, passive.force_n[used]), statuses(passive))
    print_contact(analyse(trial, contact_forces="true"))


def print_contact(result: TrialResult) -> None:
    """Print the force in each joint over all frames but those affected by the filter's edges."""
    for i, joint in enumerate(result.motion.joints):
        size = np.hypot(*result.muscles.contact.contact_n[~result.motion.edge, i].T)
        known = np.isfinite(size)
        print(f"force in the {joint} known in {100 * known.mean():.0f} % of the frames", end="")
        top = int(np.nanargmax(size)) if known.any() else 0
        reaction = np.hypot(*result.torques.wrenches.reaction_n[~result.motion.edge, i].T)
        weight = result.muscles.body_weight_n
        largest = f": {size[top]:.0f} N ({size[top] / weight:.1f} body weights) at most, joint reaction there {reaction[top]:.0f} N"
        print(largest if known.any() else "")


def print_fibres(tendon: str, found: MuscleForces, names: list[str], used: np.ndarray, force: np.ndarray) -> None:
    """Print what fibres on rigid or compliant tendons change."""
    print(f"tendon {tendon}: {peaks(names, force, found.force_n[used])}; {statuses(found)}, ", end="")
    print(f"fibres out of range {found.fibres_out_of_range.sum()}")
    passive, fibre = found.limits.passive_n[used], found.limits.fibre_length[used]
    for k in np.flatnonzero(found.limits.modelled):
        lengths = f"{np.nanmin(fibre[:, k]):.2f} to {np.nanmax(fibre[:, k]):.2f}"
        strain = f", strain up to {100 * np.nanmax(found.stretch.strain[used, k]):.1f} %" if found.stretch else ""
        print(f"  {names[k]}: passive {np.nanmax(passive[:, k]):.0f} N, fibre {lengths}{strain}, ", end="")
        print(f"activation up to {np.nanmax(found.activation[used, k]):.2f}")
    if found.stretch is not None:
        counts = found.stretch.iterations[used]
        print(f"  optimizations: {np.median(counts):.0f} in the median, {counts.max()} at most, last change ", end="")
        print(f"{found.stretch.change[used].max():.0e}")


def peaks(names: list[str], before: np.ndarray, after: np.ndarray) -> str:
    pairs = zip(names, np.nanmax(before, axis=0), np.nanmax(after, axis=0), strict=True)
    return ", ".join(f"{name} {old:.0f} -> {new:.0f}" for name, old, new in pairs)


def used_frames(table: pa.Table) -> np.ndarray:
    """Frames away from the ends, inside the range of the moment arms, whose torque is known and within reach."""
    return np.flatnonzero((column_array(table, "edge", "optimization_status", "moment_arm_status") == 0).all(axis=1))


def statuses(found: MuscleForces) -> str:
    return f"frames that the muscles cannot reach {int((found.optimized.status == 1).sum())}"


def part(table: pa.Table, from_s: float) -> pa.Table:
    return table.filter(column_array(table, "time_s")[:, 0] >= from_s)


def full_names(result: TrialResult) -> dict[str, str]:
    muscles = result.muscles.muscle_set.muscles
    return {m.name: m.name if m.full_name == m.name else f"{m.full_name} ({m.name})" for m in muscles}


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "figures")
