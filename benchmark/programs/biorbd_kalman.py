"""biorbd's extended Kalman filter and inverse dynamics on the given body, as its examples combine them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from common import LIMBS, MOTIONS, SIDES, FloatArray, given, read_body, read_forces, read_trc, run, write_results

FIRST_FRAMES = 50  # the filter settles on the first frame, as if at rest
UNSETTLED = 10  # frames without results: from this rest to the motion


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Angles and moments of every trial with a given body."""
    import biorbd

    for trial, about in given(trials).iterrows():
        body = read_body(folder, about["subject"])
        rate, markers = read_trc(folder / "recordings" / f"{trial}.trc")
        text, signs = model_of(body, set(markers))
        path = out / f"{about['subject']}.bioMod"
        path.write_text(text, encoding="utf-8")
        model = biorbd.Model(str(path))
        labels = [name.to_string() for name in model.technicalMarkerNames()]
        n_frames = len(markers[labels[0]])
        loads = read_forces(folder / "recordings" / f"{trial}_forces.mot", rate, n_frames)
        kalman = biorbd.KalmanReconsMarkers(model, biorbd.KalmanParam(rate))
        q, speed, acceleration = (
            biorbd.GeneralizedCoordinates(model),
            biorbd.GeneralizedVelocity(model),
            biorbd.GeneralizedAcceleration(model),
        )
        angles, moments = np.empty((2, n_frames, model.nbQ()))
        for k in (*([0] * FIRST_FRAMES), *range(n_frames)):
            seen = np.concatenate([markers[label][k] for label in labels])
            kalman.reconstructFrame(model, seen, q, speed, acceleration)
            external = model.externalForceSet()
            for side, (force, point, twist) in loads.items():
                if force[k].any():
                    external.add(f"{side}_foot", np.concatenate([twist[k], force[k]]), point[k])
            angles[k] = q.to_array()
            moments[k] = model.InverseDynamics(q, speed, acceleration, external).to_array()
        angles[:UNSETTLED] = moments[:UNSETTLED] = np.nan
        names = [name.to_string() for name in model.nameDof()]
        columns: dict[str, FloatArray] = {}
        for side in SIDES:
            for joint, part in LIMBS[about["chain"]].items():
                segment = f"{side}_{part}"
                for motion, (axis, sign) in zip(MOTIONS, signs.get(segment, ()), strict=False):
                    place = names.index(f"{segment}_Rot{axis.upper()}")
                    columns[f"{side}_{joint}_{motion}_rad"] = sign * angles[:, place]
                    columns[f"{side}_{joint}_{motion}_nm"] = sign * moments[:, place]
        write_results(out / f"{trial}.csv", rate, columns)


def model_of(body: dict[str, dict[str, object]], seen: set[str]) -> tuple[str, dict[str, list[tuple[str, float]]]]:
    """Text of a biorbd model, and axis and sign of each segment's rotations."""
    lines, signs = ["version 4", "gravity 0 -9.80665 0"], {}
    for name, segment in body.items():
        axes = np.array(segment["joint_axes"])
        signs[name] = [
            ("xyz"[int(np.abs(axis).argmax())], float(np.sign(axis[np.abs(axis).argmax()]))) for axis in axes
        ]
        root = segment["parent"] == "ground"
        lines += [
            f"segment {name}",
            "" if root else f"parent {segment['parent']}",
            f"rtinmatrix 0\nrt 0 0 0 xyz {_numbers(segment['joint_centre_in_parent_m'])}",
            "translations xyz" if root else "",
            f"rotations {''.join(axis for axis, _ in signs[name])}",
            f"mass {segment['mass_kg']}",
            f"com {_numbers(segment['centre_of_mass_m'])}",
            f"inertia {_numbers(np.ravel(segment['inertia_kgm2']))}",
            "endsegment",
        ]
        for label, place in segment["markers_m"].items():
            if label in seen:
                lines.append(f"marker {label}\nparent {name}\nposition {_numbers(place)}\ntechnical 1\nendmarker")
    return "\n".join(lines) + "\n", signs


def _numbers(values) -> str:
    return " ".join(f"{value:.12g}" for value in values)


if __name__ == "__main__":
    run(__doc__, analyse)
