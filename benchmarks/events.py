"""Errors of foot strikes, foot offs and cycles, on recorded and simulated movements.

    python benchmarks/events.py folder
    python benchmarks/events.py folder --write

The folder is that of the recordings of the tests. `--write` puts the tables into docs/events.md.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from parts.coverage_cases import LEG_SET
from plug_in_gait import ROOT, write

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import FloatArray, runs
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.model import Load
from limbtorque.ground.assignment import Feet, Stretch, assign
from limbtorque.ground.events import STRIKE, foot_events
from limbtorque.ground.foot import (
    LOW_PASS,
    NO_EVENTS,
    Foot,
    Strikes,
    file_strikes,
    find_foot,
    oconnor_events,
    zeni_events,
)
from limbtorque.ground.plates import Reading, read_plate
from limbtorque.motion.limb import Limb
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Event, Recording
from limbtorque.signals.smoothers import smooth_values
from limbtorque.simulation.gait import Walker, Walkway, walk, walk_recording
from limbtorque.statistics.windows import cycle_times
from limbtorque.study.options.reading import Plates
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques

PAGE = ROOT / "docs" / "events.md"
UP = np.array([0.0, 0.0, 1.0])
SETTINGS = Plates()
METHODS = {"zeni": "Zeni et al. (2008)", "oconnor": "O'Connor et al. (2007)"}
KINDS = [(kind, how) for kind in ("strike", "off") for how in ("slow landmark", "event of the file", *METHODS.values())]
NEAR_S = 0.3  # between an event and the flank of the force that it is compared with


@dataclass(frozen=True)
class Source:
    """Walks of one kind: files, labels of heel, toe and pelvis or hip, table of the forces on each foot, axis upwards."""

    name: str
    files: str
    heel: str
    toe: str
    hip: str
    forces: str = ""
    up: int = 2


SOURCES = (
    Source("children, straight", "cohort/*/Straight/*.c3d", "{S}HEE", "{S}TOE", "{S}FEP"),
    Source("children, turns", "cohort/*/Turn/*.c3d", "{S}HEE", "{S}TOE", "{S}FEP"),
    Source("adult, 250 Hz", "walking_opensim/walking2.c3d", "{S}CAL", "{S}MT2", "{S}PSI"),
    Source("adult, 60 Hz", "c3d_org/sample10/type-2a.c3d", "{S}HEE", "{S}TOE", "{S}ASI"),
    Source("adult, 100 Hz", "walk_emg_opensim/markers_walk.trc", "{S}.Heel", "{S}.Toe", "{S}.PSIS", "grf_walk.mot", 1),
    Source("running, 150 Hz", "running_opensim/motion_capture_run.trc", "{S}CAL", "{S}TOE", "{S}PSI", "grf_run.mot", 1),
)
WALKERS = {
    "no impact": Walker(),
    "impact 0.4 m/s": Walker(strike_m_s=0.4),
    "impact 0.6 m/s": Walker(strike_m_s=0.6, strike_s=0.03),
    "1.4 m/s": Walker(stride_s=1.0, speed_m_s=1.4),
    "0.6 m/s": Walker(stride_s=1.5, speed_m_s=0.6),
    "0.4 m/s": Walker(stride_s=1.8, speed_m_s=0.4),
    "child": Walker(30.0, 1.35, 0.95, 1.0),
    "tall": Walker(95.0, 1.95, 1.15, 1.4, strike_m_s=0.3),
}


Kind = tuple[str, str]  # strike or off, and the method
Found = dict[Kind, list[tuple[float, float]]]  # errors in s, NaN where the event was not found, with the rate


def recorded(folder: Path) -> Iterator[tuple[str, Recording, Source]]:
    """Recorded walks with force plates."""
    for source in SOURCES:
        for path in sorted(folder.glob(source.files)):
            forces = path.with_name(source.forces).as_posix() if source.forces else ""
            yield source.name, read_recording(path), replace(source, forces=forces)


def simulated() -> Iterator[tuple[str, Recording, Source]]:
    """Simulated walks with a plate below the second step of each foot."""
    labels = Source("simulated", "", "{S}HEE", "{S}TOE", "{S}HJC")
    for name, walker in WALKERS.items():
        middle = 0.5 * (walker.foot_m[1, 0] - walker.foot_m[0, 0])
        plates = ((walker.stride_m + middle, -0.2), (1.5 * walker.stride_m + middle, 0.2))
        for seed in range(3):
            walkway = Walkway(plates_m=plates, noise_m=0.0005, noise_n=1.0, seed=seed)
            first_s = 0.5 + 0.0037 * (seed + 1)
            yield (
                f"simulated, {name}",
                walk_recording(walker, walkway, duration_s=2.6 * walker.stride_s + first_s, first_strike_s=first_s),
                labels,
            )


def feet_of(recording: Recording, source: Source) -> dict[str, Foot]:
    """Both feet with their contacts by speed and their strikes by each source."""
    rate_hz, names = recording.rate_hz, {label.rpartition(":")[2]: i for i, label in enumerate(recording.labels)}

    def marker(template: str, side: str) -> FloatArray:
        return recording.markers_m[:, names[template.format(S=side[0].upper())]]

    hips = {side: marker(source.hip, side) for side in ("right", "left")}
    level = [axis for axis in range(3) if axis != source.up]
    velocity = np.gradient(0.5 * (hips["right"] + hips["left"])[:, level], axis=0)
    way = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    feet = {}
    for side, hip in hips.items():
        heel, toe = marker(source.heel, side), marker(source.toe, side)
        foot = find_foot(
            {"heel": heel, "toe": toe},
            ends=(heel, toe),
            rate_hz=rate_hz,
            belt_m_s=np.zeros(3),
            side=side,
        )
        ahead = [np.sum((end - hip)[:, level] * way, axis=1) for end in (heel, toe)]
        strikes = Strikes(
            file_strikes(recording.events, side, rate_hz=rate_hz, first=0),
            zeni_events(ahead[0], ahead[1], rate_hz=rate_hz),
            oconnor_events(heel[:, source.up], toe[:, source.up], rate_hz=rate_hz),
        )
        feet[side] = replace(foot, strikes=strikes)
    return feet


def flanks(reading: Reading, own: tuple[int, int]) -> tuple[float, float]:
    """Frames, with fractions, at which the force of a step rises above and falls below the threshold."""
    start, stop = (edge * reading.per_frame for edge in own)
    above = np.flatnonzero(reading.wrench[start:stop] @ np.r_[UP, 0.0, 0.0, 0.0] > SETTINGS.threshold_n)
    on, off = (start + above[[0, -1]]) / reading.per_frame
    return (float(on) if own[0] > 0 else np.nan), (float(off) if own[1] < len(reading.mean) else np.nan)


def offs_of_file(events: tuple[Event, ...], side: str, rate_hz: float) -> FloatArray:
    """Foot offs of one side that the file holds, in frames."""
    times = [e.time_s for e in events if e.label.casefold() == "foot off" and e.context.casefold() == side]
    return np.array(times, dtype=float) * rate_hz


def error_s(events: FloatArray, flank: float, rate_hz: float) -> float:
    """Nearest event less the flank of the force, s; NaN without one."""
    if not len(events) or np.isnan(flank):
        return float("nan")
    error = float((events - flank)[np.argmin(np.abs(events - flank))] / rate_hz)
    return error if abs(error) <= NEAR_S else float("nan")


def errors(recording: Recording, source: Source) -> Iterator[tuple[Kind, float]]:
    """Errors of every method, for all steps that one plate measures alone."""
    rate_hz, feet = recording.rate_hz, feet_of(recording, source)
    if source.forces:
        yield from _errors_of_table(recording, source, feet)
        return
    stretch = Stretch(slice(0, recording.n_frames), 1, rate_hz)
    readings = [
        read_plate(plate, stretch.frames, rate_hz, settings=SETTINGS, up=UP) for plate in recording.force_plates
    ]
    for side, foot in feet.items():
        other = feet["left" if side == "right" else "right"]
        for reading in readings:
            own = assign(reading, readings, Feet(foot, other), stretch=stretch, settings=SETTINGS, up=UP).own
            for step in runs(own):
                on, off = flanks(reading, step)
                yield from _errors_of_step(recording, foot, on, off)


def _errors_of_step(recording: Recording, foot: Foot, on: float, off: float) -> Iterator[tuple[Kind, float]]:
    """Errors of every method for one step, by the flanks of its force in frames."""
    rate_hz = recording.rate_hz
    slow = [edge for run in runs(foot.contact) for edge in run]
    yield ("strike", "slow landmark"), error_s(np.array(slow[::2]), on, rate_hz)
    yield ("off", "slow landmark"), error_s(np.array(slow[1::2]), off, rate_hz)
    yield ("strike", "event of the file"), error_s(foot.strikes.file, on, rate_hz)
    yield ("off", "event of the file"), error_s(offs_of_file(recording.events, foot.side, rate_hz), off, rate_hz)
    for name in ("zeni", "oconnor"):
        found = getattr(foot.strikes, name)
        yield ("strike", METHODS[name]), error_s(found.strike, on, rate_hz)
        yield ("off", METHODS[name]), error_s(found.off, off, rate_hz)


def _errors_of_table(recording: Recording, source: Source, feet: dict[str, Foot]) -> Iterator[tuple[Kind, float]]:
    """Errors of every method for the steps of a table with the force on each foot."""
    for side, foot in feet.items():
        for on, off in table_flanks(Path(source.forces), side, recording.rate_hz):
            yield from _errors_of_step(recording, foot, on, off)


def table_flanks(path: Path, side: str, rate_hz: float) -> list[tuple[float, float]]:
    """Flanks of the vertical force on one foot of an OpenSim table, in frames; NaN at the ends of the table."""
    lines = path.read_text().splitlines()
    head = next(k for k, line in enumerate(lines) if line.strip() == "endheader") + 1
    head += not lines[head].strip()
    names = [name.casefold() for name in lines[head].split()]
    values = np.array([line.split() for line in lines[head + 1 :] if line.strip()], dtype=float)
    (column,) = (k for k, name in enumerate(names) if "force" in name and name.endswith("vy") and _of_side(name, side))
    frames = values[:, 0] * rate_hz
    return [
        (frames[start] if start else np.nan, frames[stop - 1] if stop < len(frames) else np.nan)
        for start, stop in runs(values[:, column] > SETTINGS.threshold_n)
    ]


def _of_side(name: str, side: str) -> bool:
    return name.startswith(f"{side[0]}_") or f"_{side[0]}_" in name


def stride_errors(recording: Recording, source: Source) -> Iterator[tuple[Kind, float]]:
    """Duration of a stride by each method less that by the file's strikes, or by the forces on the foot."""
    rate_hz = recording.rate_hz
    for side, foot in feet_of(recording, source).items():
        known = foot.strikes.file
        if source.forces:
            known = np.array([on for on, _ in table_flanks(Path(source.forces), side, rate_hz) if not np.isnan(on)])
        used = foot_events(foot, NO_EVENTS, rate_hz=rate_hz, first=0)
        for first, last in pairwise(known):
            for name, year in (("zeni", 2008), ("oconnor", 2007)):
                events = used[f"{name}_{year}"]
                found = np.array([event.time_s for event in events if event.label == STRIKE]) * rate_hz
                ends = [error_s(found, at, rate_hz) for at in (first, last)]
                yield ("stride", METHODS[name]), ends[1] - ends[0]


CYCLES = {"pedal, 1.25 per s": (1.25, 0.17, 0.17), "push, 1 per s": (1.0, 0.25, 0.03)}  # rate, half axes along x and y


def cycle_table() -> str:
    """Errors of the beginnings of cycles: an ellipse with noise of 1 mm, low-pass filtered at 6 Hz."""
    rows = []
    time_s = np.arange(0.0, 10.0, 0.01)
    for name, (per_s, along, above) in CYCLES.items():
        for start, turn in (("highest", 0.0), ("rearmost", 0.75)):
            apart, missing = [], 0
            for seed in range(20):
                rng = np.random.default_rng(seed)
                angle = 2.0 * np.pi * (per_s * time_s + rng.uniform())
                path = np.column_stack([along * np.sin(angle), above * np.cos(angle)])
                smooth = smooth_values(
                    path + 0.001 * rng.standard_normal(path.shape), rate_hz=100.0, cutoff_hz=6.0, smoother=LOW_PASS
                )
                found = cycle_times(time_s, smooth, start=start)
                phase = angle / (2.0 * np.pi) - turn
                whole = np.arange(np.ceil(phase[0] + 0.5), np.floor(phase[-1] - 0.5) + 1)
                exact = np.interp(whole, phase, time_s)
                nearest = np.array([found[np.argmin(np.abs(found - at))] - at for at in exact])
                missing += int((np.abs(nearest) > 0.25 / per_s).sum())
                apart += nearest[np.abs(nearest) <= 0.25 / per_s].tolist()
            ms = 1000.0 * np.array(apart)
            rows.append((name, start, len(apart), missing, f"{_rms(ms):.1f}", f"{np.abs(ms).max():.1f}"))
    return _table(("movement", "start", "cycles", "not found", "rms, ms", "largest, ms"), rows)


def _table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """Table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _rms(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


def _known(pairs: Sequence[tuple[float, float]]) -> FloatArray:
    """Errors that are known with their rates, as rows."""
    return np.array([pair for pair in pairs if not np.isnan(pair[0])]).reshape(-1, 2)


def _span(values: FloatArray, form: str = ".0f") -> str:
    """Least and greatest value; one where they are the same."""
    least, greatest = (f"{value:z{form}}" for value in (values.min(), values.max()))
    return least if least == greatest else f"{least} to {greatest}"


def errors_table(found: Mapping[Kind, Sequence[tuple[float, float]]]) -> str:
    """Number, median, root mean square and range of the errors of each event and method."""
    rows = []
    for kind, method in KINDS:
        pairs = found[kind, method]
        known = _known(pairs)
        if not len(known):
            continue
        # a file without events misses none
        missing = "-" if method == "event of the file" else len(pairs) - len(known)
        ms, frames = 1000.0 * known[:, 0], known[:, 0] * known[:, 1]
        figures = f"{np.median(ms):.0f}", f"{_rms(ms):.0f}", _span(ms), _span(frames, ".1f")
        rows.append((kind, method, len(known), missing, *figures))
    return _table(("event", "method", "n", "not found", "median, ms", "rms, ms", "range, ms", "range, frames"), rows)


def walks_table(each: Mapping[str, Mapping[Kind, Sequence[tuple[float, float]]]]) -> str:
    """Ranges of the errors by walk."""
    kinds = [kind for kind in KINDS if kind != ("off", "slow landmark")]
    rows = []
    for walks, found in each.items():
        cells = [_known(found[kind])[:, 0] for kind in kinds]
        spans = [_span(1000.0 * cell) if len(cell) else "none" for cell in cells]
        strikes, offs = (sum(~np.isnan([e for e, _ in found[kind, "slow landmark"]])) for kind in ("strike", "off"))
        rows.append((walks, strikes, offs, *spans))
    return _table(("walks", "strikes", "offs", *(f"{kind}: {how}" for kind, how in kinds)), rows)


def strides_table(each: Mapping[str, Mapping[Kind, Sequence[tuple[float, float]]]]) -> str:
    """Errors of the durations of strides by walk and method."""
    rows = []
    for walks, found in each.items():
        for method in METHODS.values():
            pairs = found["stride", method]
            ms = 1000.0 * _known(pairs)[:, 0]
            if len(ms):
                rows.append((walks, method, len(pairs), len(pairs) - len(ms), f"{np.median(ms):.0f}", _span(ms)))
    return _table(("walks", "method", "strides", "not found", "median, ms", "range, ms"), rows)


LANDINGS = ("no impact", "impact 0.4 m/s", "impact 0.6 m/s", "1.4 m/s")
LANDING = {"last 0.02 s": (-0.02, 0.0), "0.02 to 0.06 s before": (-0.06, -0.02), "0.06 to 0.2 s before": (-0.2, -0.06)}


def landing_errors(walker: Walker, *, on_plate: bool, seed: int) -> dict[str, FloatArray]:
    """Root mean square error of hip, knee and ankle torque before a strike on the floor or on a plate, N m."""
    settings = make_settings({"marker_sets": {"walk": LEG_SET}, "plane": {"up_axis": "+z", "forward_axis": "travel"}})
    middle, first_s = 0.5 * (walker.foot_m[1, 0] - walker.foot_m[0, 0]), 0.507
    strides = (1.0, 2.0) if on_plate else (1.0,)
    plates = tuple((stride * walker.stride_m + middle, -0.2) for stride in strides)
    made = walk_recording(
        walker,
        Walkway(plates_m=plates, noise_m=0.0005, noise_n=1.0, seed=seed),
        duration_s=3.0 * walker.stride_s + first_s,
        first_strike_s=first_s,
    )
    limb = Limb("leg", side="right", body_mass_kg=walker.mass_kg, marker_set="walk")
    motion = chain_motion(made, limb, settings)
    torque = joint_torques(motion).terms.net
    leg = walk(walker, motion.time_s, first_strike_s=first_s)["right"]
    load = Load(walker.chain.n_links - 1, leg.force_n, leg.pressure_m)
    gravity = np.array([0.0, -9.80665])
    exact = torque_terms(walker.chain, leg.kinematics, gravity_m_s2=gravity, loads=[load], joint_m=leg.joint_m).net
    before = motion.time_s - (first_s + 2.0 * walker.stride_s)
    parts = {name: (before > start) & (before <= stop) for name, (start, stop) in LANDING.items()}
    return {name: np.sqrt(np.nanmean((torque - exact)[part] ** 2, axis=0)) for name, part in parts.items()}


def landing_table() -> str:
    """Errors of the torques before a strike on the floor, beside those on a plate."""
    rows = []
    for name in LANDINGS:
        found = {
            on_plate: [landing_errors(WALKERS[name], on_plate=on_plate, seed=seed) for seed in range(3)]
            for on_plate in (False, True)
        }
        for part in LANDING:
            errors_nm = (np.mean([one[part] for one in found[on_plate]], axis=0) for on_plate in (False, True))
            rows.append((name, part, *(", ".join(f"{error:.2f}" for error in row) for row in errors_nm)))
    return _table(("walk", "before the strike", "on the floor", "on a plate"), rows)


def measured(walks: Iterator[tuple[str, Recording, Source]], *, strides: bool) -> dict[str, Found]:
    """Errors of all steps, and of strides, by walk."""
    each: dict[str, Found] = defaultdict(lambda: defaultdict(list))
    for name, recording, source in walks:
        if strides:
            for what, error in stride_errors(recording, source):
                each[name][what].append((error, recording.rate_hz))
        for what, error in errors(recording, source):
            each[name][what].append((error, recording.rate_hz))
    return each


def together(each: Mapping[str, Found]) -> Found:
    """Errors of all walks."""
    whole: Found = defaultdict(list)
    for found in each.values():
        for what, pairs in found.items():
            whole[what] += pairs
    return whole


def main() -> None:
    """Measure the errors and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, help="folder of the recordings of the tests")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/events.md")
    options = parser.parse_args()
    real, made = measured(recorded(options.recordings), strides=True), measured(simulated(), strides=False)
    tables = [
        errors_table(together(real)),
        walks_table(real),
        strides_table(real),
        errors_table(together(made)),
        landing_table(),
        cycle_table(),
    ]
    print("\n\n".join(tables))
    if options.write:
        write(PAGE, tables)


if __name__ == "__main__":
    main()
