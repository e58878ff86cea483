"""Cost of the plane, and moments in space beside Plug-in Gait's, for every leg of a folder of C3D files.

One command makes the tables of docs/plane.md: ``limbtorque init`` proposes the study, and every trial is analysed with
``torques.in_space``; nothing is changed by hand.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from plug_in_gait import JOINTS, SEGMENTS, write

import limbtorque as lt
from limbtorque.arrays import FloatArray, lengths
from limbtorque.cli.init.init import init_study
from limbtorque.recordings.recording import Recording, find_marker
from limbtorque.signals.derivatives import first_derivative
from limbtorque.signals.smoothers import Smoother, smooth_values

AXIAL = {"hip": 0.205, "knee": 0.171, "ankle": 0.256}  # inertia of thigh, shank and foot: de Leva (1996), men
BAND_HEADS = "flexion axis: 2 degrees | own cost | Plug-in Gait: 2 degrees | own cost | limits: 2 degrees | own cost"


@dataclass(frozen=True)
class Leg:
    """Results of one leg; moments by joint, N m/kg, flexion and abduction positive, over the judged frames."""

    name: str
    turn: bool
    out_of_plane: float
    metrics: Mapping[str, Mapping[str, float]]
    planar: Mapping[str, FloatArray]
    flexion: Mapping[str, FloatArray]
    abduction: Mapping[str, FloatArray]
    file: Mapping[str, FloatArray]  # flexion, abduction and rotation, the first flexion positive
    spin: Mapping[str, float]  # largest moment of the inertia about the segment's long axis
    limits: Mapping[str, tuple[FloatArray, FloatArray]]  # without and with `torques.in_space`: (n_frames, low and high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder of C3D files with Plug-in Gait's outputs")
    parser.add_argument("--write", type=Path, help="page whose tables are replaced")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        legs = list(analysed_legs(Path(name) / "study", options.recordings.resolve()))
    tables = [
        cost_table(legs),
        table_by_joint(BAND_HEADS, band_cells, legs),
        table_by_joint("plane: r | rms | flexion axis: r | rms | spin left out, largest", beside_cells, legs),
        table_by_joint("r | rms | peak, ours over the file's", frontal_cells, legs, JOINTS[:2]),
    ]
    if options.write:
        write(options.write, tables)
    print("\n\n".join(tables))


def analysed_legs(folder: Path, recordings: Path) -> Iterator[Leg]:
    """Every leg whose file has the results of Plug-in Gait, in the order of the study."""
    init_study(folder, recordings, chains=("leg",))
    (config,) = (folder / "config").glob("*.yaml")
    proposed, studies = config.read_text(encoding="utf-8"), []
    for in_space in ("false", "true"):
        asked = f"\nmuscles: {{enabled: false}}\ntorques: {{in_space: {in_space}}}\n"
        config.write_text(proposed + asked, encoding="utf-8")
        studies.append(lt.load_study(folder))
    for trial in studies[0].trials:
        plain, result = (study.analyse(trial.name) for study in studies)
        if plain.verdict.status != result.verdict.status:
            print(f"{trial.name}: {plain.verdict.status} becomes {result.verdict.status}")
        yield leg_of(result, lt.read_recording(trial.file), trial.condition, plain=plain)


def leg_of(result: lt.TrialResult, recording: Recording, condition: str, *, plain: lt.TrialResult) -> Leg:
    """Moments of a leg, its metrics, and the moments of its file; `plain`: without moments in space."""
    motion, mass_kg, side = result.motion, result.limb.body_mass_kg, result.limb.side
    space, planar = (result.to_dataframe(name, positive="flexion") for name in ("space", "torques"))
    record = result.records["torques"]
    net = np.column_stack([planar[f"{joint}_torque_nm"] for joint in JOINTS])
    known = ~motion.edge & ~np.isnan(net).any(axis=1)
    used = known & result.window.judged(motion.time_s, known)
    outputs = {
        output.joint: output.values[motion.frame - recording.first_frame]
        for output in recording.model_outputs
        if (output.kind, output.side) == ("moment", side)
    }
    theirs = {}
    for joint in JOINTS:
        own, values = planar[f"{joint}_torque_nm"].to_numpy()[used], outputs[joint][used]
        theirs[joint] = values * np.array([np.sign(np.nansum(own * values[:, 0])), 1.0, 1.0])
    return Leg(
        name=f"{result.source.partition('.')[0]}, {side}",
        turn="turn" in condition.lower(),
        out_of_plane=record.metrics["out_of_plane_share"],
        metrics=record.joint_metrics,
        planar={joint: planar[f"{joint}_torque_nm"].to_numpy()[used] / mass_kg for joint in JOINTS},
        flexion={joint: space[f"{joint}_torque_about_flexion_axis_nm"].to_numpy()[used] / mass_kg for joint in JOINTS},
        abduction={joint: space[f"{joint}_moment_abduction_nm"].to_numpy()[used] / mass_kg for joint in JOINTS},
        file=theirs,
        spin={joint: spin_moment(result, recording, k)[used].max() / mass_kg for k, joint in enumerate(JOINTS)},
        limits={joint: tuple(_limits(each, joint)[used] / mass_kg for each in (plain, result)) for joint in JOINTS},
    )


def _limits(result: lt.TrialResult, joint: str) -> FloatArray:
    """Limits of a net torque, (n_frames, 2), N m."""
    table = result.to_dataframe("torques", positive="flexion")
    return table[[f"{joint}_torque_low_nm", f"{joint}_torque_high_nm"]].to_numpy()


def spin_moment(result: lt.TrialResult, recording: Recording, link: int) -> FloatArray:
    """Size of the moment that spins a segment about its long axis, by the axes of the file's model, N m."""
    motion, side = result.motion, result.limb.side[0].upper()
    joint = JOINTS[link]
    points = [find_marker(recording, f"{side}{SEGMENTS[joint]}{point}") for point in "OPL"]
    places = recording.markers_m[motion.frame - recording.first_frame][:, points]
    smooth = smooth_values(places, rate_hz=motion.rate_hz, cutoff_hz=max(motion.cutoff_hz), smoother=Smoother())
    long, lateral = (smooth[:, k] - smooth[:, 0] for k in (1, 2))
    long = long / lengths(long)[:, None]
    lateral = lateral - (lateral * long).sum(axis=1, keepdims=True) * long
    lateral = lateral / lengths(lateral)[:, None]
    turning = first_derivative(lateral, rate_hz=motion.rate_hz, accuracy=2)
    spin = (turning * np.cross(long, lateral)).sum(axis=1)
    share = AXIAL[joint] * motion.chain.inertia_kgm2[link]
    return np.abs(share * first_derivative(spin, rate_hz=motion.rate_hz, accuracy=2))


def cost_table(legs: Sequence[Leg]) -> str:
    """Metric of the plane for each leg, what it is in N m/kg, and the angle of the flexion axes to the normal."""
    lines = [
        "| recording, leg | walk | `out_of_plane_share` | hip | knee | ankle |",
        "| --- | --- " + "| ---: " * 4 + "|",
    ]
    for leg in sorted(legs, key=lambda leg: leg.turn):
        shares, angles_deg = leg.metrics["plane_difference"], leg.metrics["flexion_axis_deg"]
        off = {joint: _rms(leg.planar[joint] - leg.flexion[joint]) for joint in JOINTS}
        cells = [f"{shares[joint]:.3f} ({off[joint]:.3f}; {angles_deg[joint]:.0f})" for joint in JOINTS]
        kind = "turn" if leg.turn else "straight"
        lines.append(f"| {leg.name} | {kind} | {leg.out_of_plane:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_by_joint(
    heads: str,
    cells: Callable[[Sequence[Leg], str], Iterable[str]],
    legs: Sequence[Leg],
    joints: Sequence[str] = JOINTS,
) -> str:
    """Table with the cells of each kind of walk and joint, below their heads."""
    lines = [f"| walk | joint | {heads} |", "| --- | --- " + "| ---: " * (heads.count("|") + 1) + "|"]
    for turn, walk in enumerate(("straight", "turn")):
        some = [leg for leg in legs if leg.turn == turn]
        lines += [f"| {walk} | {joint} | {' | '.join(cells(some, joint))} |" for joint in joints]
    return "\n".join(lines)


def band_cells(legs: Sequence[Leg], joint: str) -> Iterator[str]:
    """Frames whose limits hold the moments about the flexion axes and those of the file, in per cent, and their width."""
    limits = [[leg.limits[joint][k] for leg in legs] for k in (0, 1)]
    for moments in ([leg.flexion[joint] for leg in legs], [leg.file[joint][:, 0] for leg in legs]):
        yield from (f"{100.0 * _held(moments, within):.0f}" for within in limits)
    yield from (f"{np.nanmean(np.ptp(np.concatenate(each), axis=1)) / 2.0:.3f}" for each in limits)


def _held(moments: Sequence[FloatArray], limits: Sequence[FloatArray]) -> float:
    """Share of the frames with known moment and limits in which these hold it."""
    values, (low, high) = np.concatenate(moments), np.concatenate(limits).T
    known = np.isfinite(values) & np.isfinite(low)
    return float(((low <= values) & (values <= high))[known].mean())


def beside_cells(legs: Sequence[Leg], joint: str) -> Iterator[str]:
    """Differences from the file's sagittal moments: in the plane, and about the flexion axis."""
    for ours in ("planar", "flexion"):
        yield from _alike([_known(getattr(leg, ours)[joint], leg.file[joint][:, 0]) for leg in legs])
    yield f"{max(leg.spin[joint] for leg in legs):.3f}"


def frontal_cells(legs: Sequence[Leg], joint: str) -> Iterator[str]:
    """Abduction moments beside the file's."""
    pairs = [_known(leg.abduction[joint], leg.file[joint][:, 1]) for leg in legs]
    yield from _alike(pairs)
    yield _range([ours.max() / theirs.max() for ours, theirs in pairs], digits=2)


def _alike(pairs: Sequence[tuple[FloatArray, FloatArray]]) -> list[str]:
    """Correlation and root mean square difference of moments."""
    return [_range([np.corrcoef(*pair)[0, 1] for pair in pairs]), _range([_rms(a - b) for a, b in pairs])]


def _known(ours: FloatArray, theirs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both moments where the file has a value."""
    there = np.isfinite(theirs)
    return ours[there], theirs[there]


def _rms(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


def _range(values: Sequence[float], digits: int = 3) -> str:
    middle, least, most = (f"{value:.{digits}f}" for value in (np.median(values), min(values), max(values)))
    return f"{middle} ({least} to {most})"


if __name__ == "__main__":
    main()
