"""Compare what criteria of static optimization predict of a walk with electromyography.

Usage: python benchmarks/criteria.py STUDY ADULT [--write]

STUDY is a folder with the settings and tables of walking children with electromyography, as `limbtorque init` makes them,
and ADULT the folder ``walk_emg_opensim``, whose angles, moments and envelopes are OpenSim's. The built-in set ``leg``; whole
cycles, and trials whose torques are not rejected; one electromechanical delay, that of the settings, fixed beforehand. ``--write`` puts the tables of
criteria into ``docs/muscle_validation.md``; without it the other tables are printed, too.

In the row *informed by the others* every muscle is predicted with the envelopes of the others only, so that r is still a prediction.

Four other ways to compare, each fixed before it was tried and with the default criterion: `ACTIVATION_DYNAMICS` in place of the
delay; `ELECTRODES`, which take the electrode over the rectus femoris as one over the whole quadriceps; `SLOW_HZ`, a lower cut-off
of the envelopes; and `STRENGTHS`, with which the muscles make the joint torques that were measured in men.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.analysis.trial import analyse_recording
from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.emg.recorded import electromyography
from limbtorque.emg.summary import correlations
from limbtorque.motion.limb import Limb
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.objective import Envelopes, Problem, least_cost_forces, measured_activation, usable_envelopes
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.muscles.static_optimization.solve import StaticOptimization
from limbtorque.muscles.strength_factors import fitted_factors
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.filters import low_pass
from limbtorque.statistics.windows import summary_windows
from limbtorque.study.options.muscles import Emg, Muscles
from limbtorque.study.settings import override
from limbtorque.study.study import load_study
from limbtorque.study.trials import Trial

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "muscle_validation.md"
BEGIN, END = "<!-- begin: printed by benchmarks/criteria.py -->\n", "<!-- end: benchmarks/criteria.py -->\n"
DELAY_S = Emg().delay_s
STEP_S = 0.01
WHOLE = 0.9  # part of a cycle's frames with known torques that counts as a whole cycle
CRITERIA: dict[str, dict[str, Any]] = {
    "exponent 2 (the default)": {},
    "exponent 3": {"exponent": 3.0},
    "min/max": {"exponent": "min_max"},
    "volume, exponent 2": {"criterion": "volume"},
    "informed by the others, weight 10": {"emg_weight": 10.0, "leave_out": True},
}
ADULT_CHANNELS = {
    "gastroc": ("gastrocnemius",),
    "hamstrings": ("medial_hamstrings", "biceps_femoris"),
    "tib_ant": ("tibialis_anterior",),
    "rect_fem": ("rectus_femoris",),
    "soleus": ("soleus",),
    "vasti": ("vastus_lateralis", "vastus_medius"),
    "glut_max": ("gluteus_maximus",),
}
ADULT_ANGLES = ("hip_flexion_r", "knee_angle_r", "ankle_angle_r")
ADULT_HZ = 100.0
LOADED_N = 20.0
ACTIVATION_DYNAMICS = (0.015, 0.060)
"""Time constants of activation and deactivation, s (De Groote et al. 2016, after Winters 1995)."""
ELECTRODES = {"rect_fem": ("rect_fem", "vasti")}
"""Muscles under an electrode, with equal parts: cross-talk of the vasti is likely over the rectus femoris (Di Nardo and Fioretti 2013)."""
SLOW_HZ = 3.0
"""Cut-off of the envelopes, half the default, Hz."""
STRENGTHS = "Anderson et al. (2007)"
"""Source of joint torques of men; the factors nearest to 1 with which the agonists make their means over the angles."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk with its measured envelopes, the frames that are compared, and the muscle forces of its own settings."""

    subject: str
    side: str
    problem: Problem
    rate_hz: float
    envelopes: Envelopes
    used: BoolArray
    found: MuscleForces | None = None


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path, help="study of the children, made by `limbtorque init`")
    parser.add_argument("adult", type=Path, help="folder walk_emg_opensim")
    parser.add_argument(
        "--write", action="store_true", help="write the tables of criteria into docs/muscle_validation.md"
    )
    options = parser.parse_args()
    young, old = walks(options.study, options.adult)
    text = "\n".join(tables(young, old)) + "\n"
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")
    else:
        others = [line for group in (young, old) for line in neighbours(group)]
        print("\n".join([text, *others, *ways(options.study, options.adult)]))


def walks(
    study: Path, folder: Path, *, delay_s: float = DELAY_S, cutoff_hz: float | None = None
) -> tuple[list[Walk], list[Walk]]:
    """Walks of the children and of the adult; `cutoff_hz` is that of the envelopes where it is not the usual one."""
    changes = {"emg.delay_s": str(delay_s)} | ({"emg.envelope_cutoff_hz": str(cutoff_hz)} if cutoff_hz else {})
    return [*children(study, changes)], [adult(folder, delay_s, cutoff_hz)]


def children(study: Path, changes: Mapping[str, str]) -> Iterator[Walk]:
    """Walks of whole cycles, each subject's on the side with most channels without a fault, with settings changed."""
    walks = [walk for trial in load_study(study).trials if (walk := child(trial, study, changes))]
    for subject in dict.fromkeys(walk.subject for walk in walks):
        own = [walk for walk in walks if walk.subject == subject]
        channels = {side: sum(len(w.envelopes.muscles) for w in own if w.side == side) for side in ("left", "right")}
        yield from (walk for walk in own if walk.side == max(channels, key=lambda side: channels[side]))


def child(trial: Trial, study: Path, changes: Mapping[str, str]) -> Walk | None:
    """Walk of a trial; None without a whole cycle or a usable channel, or where the torques are rejected."""
    settings = override(trial.settings, {"muscles.ranges": "false", **changes}, source="criteria")
    limb = Limb(trial.chain, side=trial.side, body_mass_kg=trial.subject.mass_kg, marker_set=trial.marker_set)
    recording = read_c3d(trial.file)
    result = analyse_recording(recording, limb, settings, folder=study)
    motion, found = result.motion, result.muscles
    envelopes = usable_envelopes(electromyography(recording, motion.time_s, trial.side, settings.emg))
    if found is None or not envelopes.muscles or result.window.note or settings.ensembles.window != "events":
        return None
    if result.verdict.torques == "rejected":
        return None
    net = result.torques.terms.net * motion.flexion.sign * found.arm_known
    arm = found.geometry.moment_arm_m * found.arm_known[:, None]
    problem = Problem.of_set(arm, net, found.muscle_set, Muscles())
    window = summary_windows(motion, result.window, result.limb, result.settings)["events"]
    used = window & ~motion.edge & np.isfinite(net).all(axis=1)
    if used.sum() < WHOLE * window.sum():
        return None
    return Walk(trial.subject.name, trial.side, problem, motion.rate_hz, envelopes, used, found)


def adult(
    folder: Path, delay_s: float, cutoff_hz: float | None, channels: Mapping[str, Sequence[str]] = ADULT_CHANNELS
) -> Walk:
    """Right leg of the adult from OpenSim's angles and moments, the first cycle that they have.

    The channels are envelopes already: `cutoff_hz` is a further low-pass.
    """
    angles, moments = (read_table(folder / name) for name in ("coordinates.sto", "id_walk.sto"))
    emg, ground = read_table(folder / "electromyography.sto"), read_table(folder / "grf_walk.mot")
    times = np.arange(angles["time"].iloc[0], min(angles["time"].iloc[-1], moments["time"].iloc[-1]), 1.0 / ADULT_HZ)
    flexion = np.column_stack([np.interp(times, angles["time"], angles[name]) for name in ADULT_ANGLES])
    net = np.column_stack([np.interp(times, moments["time"], moments[f"{name}_moment"]) for name in ADULT_ANGLES])
    muscles = load_muscle_set("leg")
    problem = Problem.of_set(musculotendon(muscles, flexion).moment_arm_m, net, muscles, Muscles())
    level = np.column_stack([emg[list(some)].mean(axis=1) for some in channels.values()])
    if cutoff_hz:
        level = low_pass(level, rate_hz=float(1.0 / np.diff(emg["time"]).mean()), cutoff_hz=cutoff_hz)
    values = [np.interp(times - delay_s, emg["time"], one) for one in level.T]
    envelopes = Envelopes(tuple(channels), np.column_stack(values), np.zeros(len(values), dtype=bool))
    return Walk("adult", "right", problem, ADULT_HZ, envelopes, times < times[0] + cycle_s(ground))


def cycle_s(ground: pd.DataFrame) -> float:
    """Time between the first two foot strikes of the right foot, s."""
    loaded = ground["ground_force_r_vy"].to_numpy() > LOADED_N
    first, second = ground["time"].to_numpy()[1:][loaded[1:] & ~loaded[:-1]][:2]
    return float(second - first)


def read_table(path: Path) -> pd.DataFrame:
    """Table of an OpenSim storage file; columns are named without their paths."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.strip() == "endheader") + 1
    names = [name.removesuffix("/value").rpartition("/")[2] for name in lines[first].split()]
    return pd.DataFrame([line.split() for line in lines[first + 1 :] if line.strip()], columns=names).astype(float)


def predicted(walk: Walk, options: Muscles, *, without: str = "") -> StaticOptimization:
    """Activations of a walk, one muscle's envelope left out."""
    keep = [k for k, name in enumerate(walk.envelopes.muscles) if name != without]
    kept = Envelopes(
        tuple(walk.envelopes.muscles[k] for k in keep), walk.envelopes.level[:, keep], walk.envelopes.maximal[keep]
    )
    measured, _ = measured_activation(walk.problem, options, kept)
    return least_cost_forces(walk.problem, options, envelope=measured)


def agreement(walk: Walk, choice: Mapping[str, Any]) -> dict[str, float]:
    """Correlation by muscle, muscles nearest to their own envelope, and the largest change of an activation in 10 ms."""
    options = Muscles(**{name: value for name, value in choice.items() if name != "leave_out"})
    whole = predicted(walk, options)
    names = walk.envelopes.muscles
    left_out = [predicted(walk, options, without=muscle) for muscle in names] if choice.get("leave_out") else []
    r = crossed(walk, left_out or [whole] * len(names))
    row = dict(zip(names, np.diag(r), strict=True))
    row["own"] = float(np.mean(np.diag(r) >= r.max(axis=1)))
    activation = whole.activation[walk.used & np.isfinite(whole.activation).all(axis=1)]
    row["change"] = float(np.abs(np.diff(activation, axis=0)).max() * walk.rate_hz * STEP_S)
    row["largest"] = float(activation.max())
    row["gap"] = float(np.nanmax(np.abs(whole.duality_gap)))
    return row


def crossed(walk: Walk, by_muscle: Sequence[StaticOptimization]) -> FloatArray:
    """Correlation of every muscle's activation (rows) with every envelope (columns).

    Parameters
    ----------
    walk : Walk
        The walk.
    by_muscle : sequence of StaticOptimization
        For each muscle with an envelope, the solution that its activation is taken from.
    """
    names, level = walk.problem.muscle_set.names, walk.envelopes.level
    curves = [
        under_electrode(found.activation, names, (m,))
        for m, found in zip(walk.envelopes.muscles, by_muscle, strict=True)
    ]
    return correlated(walk, np.column_stack(curves), level)


def correlated(walk: Walk, activation: FloatArray, level: FloatArray) -> FloatArray:
    """Correlations over the frames that are compared and known."""
    used = walk.used & np.isfinite(activation).all(axis=1) & np.isfinite(level).all(axis=1)
    return correlations(activation[used], level[used])


def under_electrode(activation: FloatArray, names: Sequence[str], muscles: Sequence[str]) -> FloatArray:
    """Mean activation of the muscles under an electrode."""
    return np.asarray(activation[:, [names.index(muscle) for muscle in muscles]].mean(axis=1))


def tables(young: Sequence[Walk], old: Sequence[Walk]) -> Iterator[str]:
    """Lines of the tables: criteria against muscles."""
    today = datetime.datetime.now(tz=datetime.UTC).date()
    yield f"Measured on {today.day} {today:%B %Y}; {len(young)} walks of the children, delay {1e3 * DELAY_S:.0f} ms."
    for walks, title in ((young, "children"), (old, "adult")):
        subjects = sorted({walk.subject for walk in walks})
        rows = {name: by_subject(walks, choice) for name, choice in CRITERIA.items()}
        muscles = [name for name in ADULT_CHANNELS if any(name in row.columns for row in rows.values())]
        yield ""
        yield f"| {title} ({len(subjects)}) | {' | '.join(muscles)} | median | own envelope best |"
        yield f"| --- |{' --- |' * (len(muscles) + 2)}"
        for name, row in rows.items():
            middle = row.median()
            rs = [middle[muscle] for muscle in muscles]
            cells = [f"{r:.2f}" for r in [*rs, float(np.nanmedian(rs))]]
            cells.append(f"{row['own'].mean():.0%}")
            yield f"| {name} | {' | '.join(cells)} |"
        worst = max(float(row["gap"].max()) for row in rows.values())
        yield ""
        yield f"Largest relative duality gap: {worst:.0e}."


def by_subject(walks: Sequence[Walk], choice: Mapping[str, Any]) -> pd.DataFrame:
    """Median over the walks of each subject."""
    rows = [{"subject": walk.subject, **agreement(walk, choice)} for walk in walks]
    return pd.DataFrame(rows).groupby("subject").median()


def neighbours(walks: Sequence[Walk]) -> Iterator[str]:
    """Lines of a table: activations of the default criterion against all envelopes; the largest of a row is bold."""
    rows = []
    for walk in walks:
        own = walk.envelopes.muscles
        r = crossed(walk, [predicted(walk, Muscles())] * len(own))
        rows += [(walk.subject, own[a], own[e], r[a, e]) for a in range(len(own)) for e in range(len(own))]
    found = pd.DataFrame(rows, columns=["subject", "activation", "envelope", "r"])
    subjects = found.groupby(["subject", "activation", "envelope"]).r.median().reset_index()
    muscles = [name for name in ADULT_CHANNELS if name in set(found.activation)]
    middle = subjects.pivot_table("r", "activation", "envelope", aggfunc="median").loc[muscles, muscles]
    yield f"| activation (exponent 2) against envelope of | {' | '.join(muscles)} |"
    yield f"| --- |{' --- |' * len(muscles)}"
    for muscle, row in middle.iterrows():
        cells = [f"**{r:.2f}**" if r == row.max() else f"{r:.2f}" for r in row]
        yield f"| {muscle} | {' | '.join(cells)} |"
    yield ""


def ways(study: Path, folder: Path) -> Iterator[str]:
    """Lines of a table: other ways to compare, with the default criterion."""
    factors = measured_strengths()
    yield ""
    yield f"| {'way'} | walk | {' | '.join(ADULT_CHANNELS)} | median |"
    yield f"| --- | --- |{' --- |' * (len(ADULT_CHANNELS) + 1)}"
    late, prompt, slow = (walks(study, folder, **how) for how in ({}, {"delay_s": 0.0}, {"cutoff_hz": SLOW_HZ}))
    weak = tuple([weakened(walk, factors) for walk in group] for group in late)
    whole = {muscle: (muscle,) for muscle in ADULT_CHANNELS}
    for name, groups, dynamics, electrodes in (
        (f"delay of {1e3 * DELAY_S:.0f} ms, as above", late, False, whole),
        ("activation dynamics", prompt, True, whole),
        ("electrodes", late, False, {**whole, **ELECTRODES}),
        (f"envelopes of {SLOW_HZ:g} Hz", slow, False, whole),
        ("strengths as measured", weak, False, whole),
    ):
        for group, title in zip(groups, ("children", "adult"), strict=True):
            rows = [{"subject": w.subject, **one_way(w, dynamics=dynamics, electrodes=electrodes)} for w in group]
            middle = pd.DataFrame(rows).groupby("subject").median().median()
            cells = [f"{middle[m]:.2f}" if m in middle else "" for m in ADULT_CHANNELS]
            yield f"| {name} | {title} | {' | '.join(cells)} | {np.nanmedian(middle):.2f} |"
    listed = ", ".join(
        f"{name} {factor:.2f}" for name, factor in zip(load_muscle_set("leg").names, factors, strict=True)
    )
    yield ""
    yield f"Factors of the strengths as measured: {listed}."


def measured_strengths() -> FloatArray:
    """Factors with which the muscles of `leg` make the torques of `STRENGTHS`, shape (n_muscles,)."""
    sys.path.append(str(ROOT / "tools"))
    from draw_strength import published_efforts

    return fitted_factors(published_efforts(STRENGTHS))


def weakened(walk: Walk, factors: FloatArray) -> Walk:
    """Walk with other strengths."""
    return replace(walk, problem=replace(walk.problem, strength_n=walk.problem.strength_n * factors))


def one_way(walk: Walk, *, dynamics: bool, electrodes: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Correlation by muscle with another way of comparing."""
    found, names = predicted(walk, Muscles()), walk.problem.muscle_set.names
    activation = [under_electrode(found.activation, names, electrodes[m]) for m in walk.envelopes.muscles]
    level = activated(walk.envelopes.level, walk.rate_hz) if dynamics else walk.envelopes.level
    r = correlated(walk, np.column_stack(activation), level)
    return dict(zip(walk.envelopes.muscles, np.diag(r), strict=True))


def activated(excitation: FloatArray, rate_hz: float) -> FloatArray:
    """Activation that follows an excitation, both 0 to 1, by the equation of De Groote et al. (2016).

    ``da/dt = (e - a) / (t1 (0.5 + 1.5 a))`` while e is above a, and ``(e - a) (0.5 + 1.5 a) / t2`` else, with the switch of that
    paper as a step. Steps of a millisecond at most; it begins with the excitation, and unknown samples count as the last known.
    """
    known = pd.DataFrame(excitation).ffill().bfill().to_numpy()
    steps = max(int(np.ceil(1e3 / rate_hz)), 1)
    level, found = known[0].copy(), np.empty_like(known)
    for frame, target in enumerate(known):
        for _ in range(steps):
            slow = 0.5 + 1.5 * level
            rate = np.where(target > level, 1.0 / (ACTIVATION_DYNAMICS[0] * slow), slow / ACTIVATION_DYNAMICS[1])
            level = level + (target - level) * np.minimum(rate / (steps * rate_hz), 1.0)
        found[frame] = level
    return np.where(np.isfinite(excitation), found, np.nan)


if __name__ == "__main__":
    main()
