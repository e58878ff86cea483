"""Errors of predicted and carried joint centres: the tables of docs/joint_centres.md.

One command makes them: predicted hips beside those in the static trials of the cohort, simulated clusters beside theory, and a
run whose joints are carried from its static trial beside OpenSim's inverse dynamics.
"""

from __future__ import annotations

import argparse
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import get_args

import numpy as np

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import FloatArray, lengths
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.predicted_centres import ERRORS, carry, cluster_shape, hip_centre
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces
from limbtorque.recordings.recording import Recording, with_static
from limbtorque.study.chains import HipRegression
from limbtorque.study.settings import Settings, make_settings
from limbtorque.torques.joint_torques import joint_torques, used_frames

PAGE = Path(__file__).resolve().parents[1] / "docs" / "joint_centres.md"
SIDES = (("right", "R", "L"), ("left", "L", "R"))
# of the files' PROCESSING group: width of the pelvis and leg lengths of right and left, m; their markers have 10 mm
COHORT = {"HC030A": (0.204, 0.830, 0.830), "HC032A": (0.228, 0.800, 0.805), "HC044A": (0.181, 0.780, 0.780)}
OTHERS = {"Plug-in Gait": "FEP", "Harrington by the Oxford foot model's script": "HJCHarrington"}
CLUSTER_SIZES_M = (0.05, 0.10)  # half-widths of a square of markers
DISTANCES_M = (0.10, 0.20, 0.30)
NOISE_M, N_FRAMES = 0.002, 40_000
OUTPUTS = {"hip": "hip_flexion_{}_moment", "knee": "knee_angle_{}_moment", "ankle": "ankle_angle_{}_moment"}
THIGH, SHANK = ([f"{{S}}{name}{k}" for k in (1, 2, 3)] for name in ("TH", "TB"))
MALLEOLI = {
    name: {"static": f"{{S}}{label}", "cluster": SHANK}
    for name, label in (("lateral_malleolus", "LMAL"), ("medial_malleolus", "MMAL"))
}
RUNNING = {
    "knee_axis": {"static": ["{S}LFC", "{S}MFC"], "cluster": THIGH},
    "ankle_axis": {"static": ["{S}LMAL", "{S}MMAL"], "cluster": SHANK},
    **MALLEOLI,
    **{"head_of_metatarsal_2": "{S}TOE", "heel": "{S}CAL"},
    **{"anterior_superior_iliac_spine": "{S}ASI", "posterior_superior_iliac_spine": "{S}PSI"},
}
WALKING = {  # lateral markers alone
    **{"knee_axis": "{S}.Knee", "ankle_axis": "{S}.Ankle", "head_of_metatarsal_2": "{S}.Toe", "heel": "{S}.Heel"},
    **{"anterior_superior_iliac_spine": "{S}.ASIS", "posterior_superior_iliac_spine": "{S}.PSIS"},
}
ANKLES = {"lateral_malleolus": "ankle_axis", "medial_malleolus": "ankle_axis"}
HIPS = {
    "static trial": {"static": "{S}HJC", "cluster": ["RASI", "LASI", "RPSI", "LPSI"]},
    "harrington_2007": {"hip_centre": "harrington_2007"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder with the folders cohort and running_opensim")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/joint_centres.md")
    options = parser.parse_args()
    running = options.recordings / "running_opensim"
    tables = (
        published_table(),
        table(HEAD_OF_HIPS, chain(hip_rows(options.recordings / "cohort"), model_rows(running))),
        table(HEAD_OF_CLUSTERS, cluster_rows()),
        table(HEAD_OF_RUN, run_rows(running)),
        table(HEAD_OF_RUN, walk_rows(options.recordings / "walk_emg_opensim")),
    )
    if options.write:
        write(PAGE, tables)
    print("\n\n".join(tables))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Table in Markdown; the columns after the first two are numbers."""
    marks = ["---", "---", *["---:"] * (len(head) - 2)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))


def published_table() -> str:
    """Errors by imaging of the built-in rules."""

    def size(metres: float) -> str:
        return "not known" if np.isnan(metres) else f"{1e3 * metres:.1f}"

    rows = ((f"`{name}`", error.source, size(error.mean_m), size(error.sd_m)) for name, error in ERRORS.items())
    return table(("rule", "study", "mean error (mm)", "s.d. (mm)"), rows)


HEAD_OF_HIPS = ("rule", "beside", "hips", "distance (mm)", "forward (mm)", "up (mm)", "aside (mm)")


def hip_rows(folder: Path) -> Iterator[Sequence[str]]:
    """Mean differences of predicted hips from those in the static trials, in axes of the pelvis."""
    found: dict[tuple[str, str], list[FloatArray]] = {}
    for name, measures in COHORT.items():
        recording = read_recording(folder / name / "Static" / f"{name}01.c3d")
        for rule in get_args(HipRegression):
            for other, difference in _differences(recording, rule, measures):
                found.setdefault((rule, other), []).append(difference)
    for (rule, other), differences in found.items():
        yield _hip_row(rule, other, differences)


def model_rows(folder: Path) -> Iterator[Sequence[str]]:
    """Differences of predicted hips from those of the model that OpenSim scaled to the runner."""
    model = ElementTree.parse(folder / "Rajagopal2015_scaled.osim")
    at = {marker.get("name"): _place(marker.findtext("location")) for marker in model.iter("Marker")}
    hips = {joint.get("name"): _place(joint.findtext("location_in_parent")) for joint in model.iter("CustomJoint")}
    back = (at["RPSI"] + at["LPSI"]) / 2.0
    for rule in ("harrington_2007", "bell_1990"):
        differences = []
        for side, own, other in SIDES:
            spines = at[f"{own}ASI"], at[f"{other}ASI"]
            apart = hip_centre(rule, *spines, back, side=side) - hips[f"hip_{own.lower()}"]
            differences.append(_in_pelvis(apart, *spines, back, side)[0])
        yield _hip_row(rule, "the model that OpenSim scaled to the runner", differences)


def _place(text: str | None) -> FloatArray:
    """Position in a model, shape (1, 3), m; x is forward, y up, z to the right."""
    return np.array([[float(number) for number in (text or "").split()]])


def _hip_row(rule: str, other: str, differences: Sequence[FloatArray]) -> Sequence[str]:
    mean = 1e3 * np.mean(differences, axis=0)
    distances = 1e3 * lengths(np.array(differences))
    span = f"{distances.mean():.2f} ({distances.min():.2f} to {distances.max():.2f})"
    return f"`{rule}`", other, str(len(differences)), span, *(f"{value:+.1f}" for value in mean)


def _in_pelvis(apart: FloatArray, own: FloatArray, other: FloatArray, back: FloatArray, side: str) -> FloatArray:
    """Components of vectors forward, up and to the hip's side, in axes of the pelvis."""
    aside = (own - other) / lengths(own - other)[:, None]
    ahead = (own + other) / 2.0 - back
    ahead = ahead - np.sum(ahead * aside, axis=1, keepdims=True) * aside
    ahead = ahead / lengths(ahead)[:, None]
    up = np.cross(aside, ahead) * (1.0 if side == "right" else -1.0)
    return np.stack([np.sum(apart * axis, axis=1) for axis in (ahead, up, aside)], axis=1)


def _differences(
    recording: Recording, rule: str, measures: tuple[float, float, float]
) -> Iterator[tuple[str, FloatArray]]:
    place = {label.rpartition(":")[2]: index for index, label in enumerate(recording.labels)}
    width_m, *legs_m = measures
    for (side, own, other), leg_m in zip(SIDES, legs_m, strict=True):
        spines = [recording.markers_m[:, place[label]] for label in (f"{own}ASI", f"{other}ASI", "SACR")]
        kept = {"side": side, "leg_length_m": leg_m, "width_m": width_m, "marker_radius_m": 0.005}
        hip_m = hip_centre(rule, *spines, **kept)
        for program, stem in OTHERS.items():
            if own + stem in place:
                apart = hip_m - recording.markers_m[:, place[own + stem]]
                yield program, np.nanmean(_in_pelvis(apart, *spines, side), axis=0)


HEAD_OF_CLUSTERS = (
    "markers, distance of the landmark",
    "cluster",
    "residual, theory (mm)",
    "simulated (mm)",
    "error of the landmark, theory (mm)",
    "simulated (mm)",
)


def cluster_rows() -> Iterator[Sequence[str]]:
    """Residual and carried error of square and triangular clusters with noise, beside theory."""
    rng = np.random.default_rng(21)
    for n_markers in (3, 4):
        for half in CLUSTER_SIZES_M:
            corners = (
                half * np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])[:n_markers]
            )
            for distance in DISTANCES_M:
                landmark = corners.mean(axis=0) + np.array([0.0, 0.0, distance])
                shape = cluster_shape(corners[None], landmark[None])
                found = carry(shape, corners + NOISE_M * rng.standard_normal((N_FRAMES, n_markers, 3)))
                residual = NOISE_M * np.sqrt(3.0 * (1.0 - 2.0 / n_markers))
                error = np.sqrt(((found.landmark_m - landmark) ** 2).sum(axis=1).mean())
                numbers = (residual, found.residual_m, np.sqrt(3.0) * NOISE_M * shape.error_ratio, error)
                corner = f"{2e2 * half:.0f} cm {'square' if n_markers == 4 else 'half square'}"
                yield f"{n_markers}, {1e2 * distance:.0f} cm", corner, *(f"{1e3 * value:.2f}" for value in numbers)


HEAD_OF_RUN = ("hip's centre", "leg, joint", "frames", "r", "rms (N m)", "least, greatest, ours", "OpenSim")


def run_rows(folder: Path) -> Iterator[Sequence[str]]:
    """Joint torques of a run beside OpenSim's, with the hip from the static trial and predicted."""
    options = ReadOptions(forces_length_unit="m")
    recording = read_with_forces(folder / "motion_capture_run.trc", folder / "grf_run.mot", options)
    recording = with_static(recording, read_recording(folder / "static_run.trc"))
    mass_kg = model_mass_kg(folder / "Rajagopal2015_scaled.osim")
    for name, hip in HIPS.items():
        settings = leg_settings({**RUNNING, "hip_axis": hip}, {})
        yield from _beside(name, recording, settings, mass_kg, folder / "inverse_dynamics.sto")


def walk_rows(folder: Path) -> Iterator[Sequence[str]]:
    """Joint torques of a walk beside OpenSim's, with a predicted hip."""
    options = ReadOptions(forces_length_unit="m")
    recording = read_with_forces(folder / "markers_walk.trc", folder / "grf_walk.mot", options)
    mass_kg = model_mass_kg(folder / "subject_walk_scaled.osim")
    name = "harrington_2007"
    settings = leg_settings({**WALKING, "hip_axis": {"hip_centre": name}}, ANKLES)
    yield from _beside(name, recording, settings, mass_kg, folder / "id_walk.sto")


def _beside(
    name: str, recording: Recording, settings: Settings, mass_kg: float, results: Path
) -> Iterator[Sequence[str]]:
    for side in ("right", "left"):
        motion = chain_motion(recording, Limb("leg", side=side, body_mass_kg=mass_kg), settings)
        for joint, ours, theirs in compared(motion, results, side):
            r, rms = np.corrcoef(ours, theirs)[0, 1], np.sqrt(np.mean((ours - theirs) ** 2))
            spans = (f"{values.min():.0f}, {values.max():.0f}" for values in (ours, theirs))
            yield name, f"{side}, {joint}", str(len(ours)), f"{r:.3f}", f"{rms:.1f}", *spans


def model_mass_kg(model: Path) -> float:
    """Sum of the masses of a model's bodies, kg."""
    return sum(map(float, re.findall(r"<mass>([^<]*)</mass>", model.read_text(encoding="utf-8"))))


def leg_settings(rules: dict[str, object], substitutes: dict[str, str]) -> Settings:
    """Settings of a leg: everything but the markers by default."""
    hip_and_knee = {"greater_trochanter": "hip_axis", "femoral_condyles": "knee_axis"}
    return make_settings(
        {
            "plane": {"up_axis": "+y"},
            "marker_sets": {"leg": rules},
            "substitutes": {"leg": {**hip_and_knee, **substitutes}},
            "muscles": {"enabled": False},
        }
    )


def compared(motion: ChainMotion, results: Path, side: str) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Net torques, flexion positive, of the frames that count, with OpenSim's at the same times."""
    head, _, body = results.read_text(encoding="utf-8").partition("endheader\n")
    del head
    names, *lines = body.strip().splitlines()
    columns, values = names.split(), np.array([[float(cell) for cell in line.split()] for line in lines])
    torques = joint_torques(motion)
    used = used_frames(motion, torques)
    for joint, ours in zip(motion.joints, (torques.terms.net * motion.flexion.sign).T, strict=True):
        column = values[:, columns.index(OUTPUTS[joint].format(side[0]))]
        inside = used & (motion.time_s >= values[0, 0]) & (motion.time_s <= values[-1, 0])
        yield joint, ours[inside], np.interp(motion.time_s[inside], values[:, 0], column)


def write(page: Path, tables: Sequence[str]) -> None:
    """Replace the tables of the page, between its marks."""
    text = page.read_text(encoding="utf-8")
    for k, made in enumerate(tables, start=1):
        before, begin, rest = text.partition(f"<!-- table {k} -->\n\n")
        _, end, after = rest.partition(f"\n\n<!-- end of table {k} -->")
        if not (begin and end):
            raise SystemExit(f"{page.name}: the marks of table {k} are missing")
        text = before + begin + made + end + after
    page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
