"""Measure which choice of the analysis moves which joint and term, on simulated walks with exact torques and on recorded walks.

    python benchmarks/choices.py
    python benchmarks/choices.py --cohort FOLDER --write docs/choices.md
    python benchmarks/choices.py --example STUDY; limbtorque multiverse STUDY

Each option is changed alone. "Change" is the root mean square over the frames, and over the walks, of the difference from the
defaults; "error" that from the exact torques (in the simulation only). Both in mN m/kg, over frames that both have. `--write` puts
the table into the page, and the picture into docs/figures/choices.png; `--example` writes the study of the page's example.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from parts.choices_example import write_study
from segment_tables import with_landmarks

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import limb_of
from limbtorque.arrays import FloatArray
from limbtorque.chain.dynamics import TorqueTerms, torque_terms
from limbtorque.chain.model import Load
from limbtorque.cli.init.init import init_study
from limbtorque.figures.style import STYLE, paper_figure, save_figure
from limbtorque.motion.limb import Limb
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.simulation.demo import FIRST_STRIKE_S, WALK_NOISE_M, WALK_NOISE_N, demo_walks
from limbtorque.simulation.gait import walk
from limbtorque.study.settings import Settings, override
from limbtorque.study.study import load_study
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.torques.joint_torques import joint_torques

ROOT = Path(__file__).resolve().parents[1]
MARKS = ("<!-- choices -->", "<!-- end of choices -->")
PICTURE = ROOT / "docs" / "figures" / "choices.png"
JOINTS = ("hip", "knee", "ankle")
DEFAULT = "defaults"
HIP = "marker_sets.{set}.hip_axis"
CHOICES: dict[str, dict[str, str]] = {
    DEFAULT: {},
    **{f"`filter.cutoff_hz: {hz}`": {"filter.cutoff_hz": hz} for hz in ("6", "10")},
    **{f"`filter.method: {name}`": {"filter.method": name} for name in ("critically_damped", "quintic_spline")},
    **{f"`filter.force_cutoff_hz: {hz}`": {"filter.force_cutoff_hz": hz} for hz in ("10", "20")},
    **{f"`motion.angles: {name}`": {"motion.angles": name} for name in ("segments", "inertial_chain")},
    **{f"hip: `{rule}`": {HIP: f'{{"hip_centre": "{rule}"}}'} for rule in ("harrington_2007", "bell_1990")},
    **{f"`segments.table: {name}`": {"segments.table": name} for name in ("de_leva",)},
}
SPINES = {"anterior_superior_iliac_spine": "{S}ASI", "sacrum": "SACR"}  # that init leaves out


@dataclass(frozen=True)
class Leg:
    """A leg to analyse.

    Attributes
    ----------
    recording : Recording
        Its recording.
    limb : Limb
        Side and subject; the sex is that of the tables that need it.
    settings : Settings
        The defaults.
    exact : callable or None
        Exact terms at frames, shape (n_frames, 3, n_terms).
    """

    recording: Recording
    limb: Limb
    settings: Settings
    exact: Callable[[FloatArray], FloatArray] | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohort", type=Path, help="folder of recorded walks with Plug-in Gait's markers")
    parser.add_argument("--write", type=Path, help="page whose table is replaced")
    parser.add_argument(
        "--example", type=Path, help="write the study of the example into this folder, and nothing else"
    )
    options = parser.parse_args()
    if options.example:
        write_study(options.example)
        return
    measured = {"simulated walks": measure(list(simulated()))}
    if options.cohort:
        measured["recorded walks"] = measure(list(recorded(options.cohort)))
    text = table(measured)
    print(text)
    if options.write:
        head, rest = options.write.read_text(encoding="utf-8").split(MARKS[0])
        page = f"{head}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"
        options.write.write_text(page, encoding="utf-8")
        draw(measured)


def simulated() -> Iterator[Leg]:
    """Both legs of simulated walks of three people at two speeds, with the noise of the demo."""
    settings = load_study(ROOT).settings
    for each in demo_walks():
        if not each.name.endswith("_1"):
            continue
        recording = each.recording(noise_m=WALK_NOISE_M, noise_n=WALK_NOISE_N)
        for side in ("right", "left"):
            about = {"body_mass_kg": each.walker.mass_kg, "marker_set": "limb_markers", "sex": "m"}

            def exact(time_s: FloatArray, walker=each.walker, side=side) -> FloatArray:
                leg = walk(walker, time_s, first_strike_s=FIRST_STRIKE_S)[side]
                gravity = np.array([0.0, -settings.gravity_m_s2])
                loads = [Load(2, leg.force_n, leg.pressure_m)]
                return kinds(torque_terms(walker.chain, leg.kinematics, gravity_m_s2=gravity, loads=loads))

            yield Leg(recording, Limb("leg", side=side, **about), settings, exact)


def recorded(cohort: Path) -> Iterator[Leg]:
    """Legs of recorded walks, as `limbtorque init` proposes them."""
    with tempfile.TemporaryDirectory() as name:
        init_study(Path(name) / "study", cohort.resolve(), chains=("leg",))
        for trial in load_study(Path(name) / "study").trials:
            settings = trial.settings
            sets = {key: {**SPINES, **rules} for key, rules in settings.marker_sets.items()}
            settings = Settings.model_validate({**settings.model_dump(), "marker_sets": sets})
            yield Leg(read_recording(trial.file), replace(limb_of(trial), sex="f"), settings)


def kinds(terms: TorqueTerms) -> FloatArray:
    """Net torque and terms by kind, shape (n_frames, n_joints, 7)."""
    sums = [getattr(terms, kind).sum(axis=2) for kind in ("inertial", "centripetal", "coriolis")]
    return np.stack([terms.net, *sums, terms.gravity, terms.base, terms.external], axis=2)


def analysed(leg: Leg, changes: dict[str, str]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Frames, times and terms of a leg, N m/kg; NaN at the ends of the trial."""
    named = {name.format(set=leg.limb.marker_set): text for name, text in changes.items()}
    settings = leg.settings
    if table_name := named.pop("segments.table", ""):
        settings = with_landmarks(settings, table_name)
    if named:
        settings = override(settings, named, source="choices")
    motion = chain_motion(leg.recording, leg.limb, settings)
    terms = kinds(joint_torques(motion).terms) / leg.limb.body_mass_kg
    terms[motion.edge] = np.nan
    return motion.frame, motion.time_s, terms


def measure(legs: Sequence[Leg]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Change and error of each choice, mN m/kg, shape (3, 7); error NaN where nothing is exact."""
    squares: dict[str, list[tuple[FloatArray, FloatArray]]] = {name: [] for name in CHOICES}
    for leg in legs:
        frames, time_s, reference = analysed(leg, {})
        exact = leg.exact(time_s) / leg.limb.body_mass_kg if leg.exact else np.full_like(reference, np.nan)
        for name, changes in CHOICES.items():
            own_frames, _, terms = analysed(leg, changes)
            _, at, own_at = np.intersect1d(frames, own_frames, return_indices=True)
            known = ~np.isnan(terms[own_at] + reference[at]).any(axis=(1, 2))
            pairs = (terms[own_at] - other[at] for other in (reference, exact))
            change, error = ((1e6 * pair[known] ** 2).mean(axis=0) for pair in pairs)
            squares[name].append((change, error))
    return {name: tuple(np.sqrt(np.mean(each, axis=0))) for name, each in squares.items()}  # type: ignore[misc]


def table(measured: dict[str, dict[str, tuple[FloatArray, FloatArray]]]) -> str:
    """Rows of the page."""
    heads = ["choice", *JOINTS, "term that it moves most", *(f"{joint}, recorded" for joint in JOINTS)]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    simulated_walks, *others = measured.values()
    for name, (change, error) in simulated_walks.items():
        joint, term = np.unravel_index(change[:, 1:].argmax(), change[:, 1:].shape)
        most = f"{EFFECT_TERMS[1 + term]}, {JOINTS[joint]}: {change[joint, 1 + term]:.0f}" if change.any() else ""
        cells = [*(f"{a:.0f}/{b:.0f}" for a, b in zip(change[:, 0], error[:, 0], strict=True)), most]
        cells += [f"{each:.0f}" for each in others[0][name][0][:, 0]] if others else [""] * 3
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(measured: dict[str, dict[str, tuple[FloatArray, FloatArray]]]) -> None:
    """Picture of the changes by choice, joint and term."""
    names = [name for name in CHOICES if name != DEFAULT]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = paper_figure(24.0 + 5.0 * len(names))
        panels = figure.subplots(1, len(measured), sharey=True, squeeze=False)[0]
        for axes, (title, values) in zip(panels, measured.items(), strict=True):
            grid = np.stack([values[name][0].ravel() for name in names])
            norm = LogNorm(1.0, 100.0, clip=True)
            image = axes.imshow(np.maximum(grid, 1.0), norm=norm, cmap="YlGnBu", aspect="auto", interpolation="none")
            axes.set_xticks(range(grid.shape[1]), EFFECT_TERMS * 3, rotation=90, fontsize=5.5)
            axes.set_yticks(range(len(names)), [name.replace("`", "") for name in names], fontsize=6.5)
            for k, joint in enumerate(JOINTS):
                axes.text(7 * k + 3, -0.8, joint, ha="center", va="bottom", fontsize=7)
                axes.axvline(7 * k - 0.5, color="white", linewidth=2.0)
            axes.set_title(title, loc="left", fontweight="bold", pad=16.0)
            axes.tick_params(length=0)
        bar = figure.colorbar(image, ax=list(panels), fraction=0.03, pad=0.01)
        bar.set_label("change (mN m/kg, root mean square)")
        save_figure(figure, PICTURE)


if __name__ == "__main__":
    main()
