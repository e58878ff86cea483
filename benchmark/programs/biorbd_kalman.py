"""biorbd's extended Kalman filter and inverse dynamics on the given body, as its examples combine them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import biorbd
import numpy as np
import pandas as pd
from programs.common import FloatArray, given, write_joints

FIRST_FRAMES = 50  # the filter settles on the first frame, as if at rest
UNSETTLED = 10  # frames without results: from this rest to the motion


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Angles and moments of every trial with a given body."""
    for trial, body in given(folder, trials):
        path = out / f"{trial.subject}.bioMod"
        text, signs = model_of(body, trial.markers)
        path.write_text(text, encoding="utf-8")
        model = biorbd.Model(str(path))
        markers = np.stack([trial.markers[name.to_string()] for name in model.technicalMarkerNames()], axis=1)
        kalman = biorbd.KalmanReconsMarkers(model, biorbd.KalmanParam(trial.rate_hz))
        kinds = (biorbd.GeneralizedCoordinates, biorbd.GeneralizedVelocity, biorbd.GeneralizedAcceleration)
        state = [kind(model) for kind in kinds]
        angles, moments = np.empty((2, len(markers), model.nbQ()))
        for k in (*([0] * FIRST_FRAMES), *range(len(markers))):
            kalman.reconstructFrame(model, markers[k].ravel(), *state)
            external = model.externalForceSet()
            for side, (force, point, twist) in trial.loads.items():
                if force[k].any():
                    external.add(f"{side}_foot", np.concatenate([twist[k], force[k]]), point[k])
            angles[k] = signs * state[0].to_array()
            moments[k] = signs * model.InverseDynamics(*state, external).to_array()
        angles[:UNSETTLED] = moments[:UNSETTLED] = np.nan
        write_joints(out, trial, body, angles, moments)


def model_of(body: Mapping[str, Any], seen: Collection[str]) -> tuple[str, FloatArray]:
    """Text of a biorbd model, and sign of each of its coordinates."""
    lines, signs = ["version 4", "gravity 0 -9.80665 0"], [1.0, 1.0, 1.0]
    for name, segment in body.items():
        axes = np.rint(segment["axes"])  # those of a frame, or opposite
        signs += axes.sum(axis=1).tolist()
        turning = "".join("xyz"[np.flatnonzero(axis)[0]] for axis in axes)
        moving = f"parent {segment['parent']}" if segment["parent"] else "translations xyz"
        lines += [f"segment {name}", moving, f"rtinmatrix 0\nrt 0 0 0 xyz {_numbers(segment['centre_m'])}"]
        lines += [f"rotations {turning}", f"mass {segment['mass_kg']}", f"com {_numbers(segment['com_m'])}"]
        lines += [f"inertia {_numbers(np.ravel(segment['inertia_kgm2']))}", "endsegment"]
        for label in seen & segment["markers_m"].keys():
            place = _numbers(segment["markers_m"][label])
            lines.append(f"marker {label}\nparent {name}\nposition {place}\ntechnical 1\nendmarker")
    return "\n".join(lines) + "\n", np.array(signs)


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:.12g}" for value in values)
