"""OpenSim's results among storage files: computed by a model, not recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

TITLES = {  # first line of a file, in small letters
    "modelforces": "forces of a model's muscles and actuators (static optimization, force reporter)",
    "static optimization": "muscle activations of static optimization",
    "joint reaction loads": "joint reactions of a model",
    "coordinates": "coordinates of a model (inverse kinematics)",
    "speeds": "coordinate speeds of a model",
    "accelerations": "coordinate accelerations of a model",
    "modelstates": "states of a model",
    "states": "states of a model",
    "controls": "controls of a model's actuators",
    "activations": "muscle activations of a model",
    "inverse dynamics generalized forces": "generalized forces of inverse dynamics",
    "inverse dynamics": "generalized forces of inverse dynamics",
    "model marker errors from ik": "marker errors of inverse kinematics",
}
COLUMNS = (
    (r".+_on_.+_in_.+_[fmp][xyz]", "joint reactions of a model"),
    (r"/.+/(value|speed|activation|fiber_length|normalized_tendon_force)", "states of a model"),
    (r".+[./](fiber_length|activation)", "states of a model"),
    (
        r".+_(tilt|list|rotation|flexion|adduction|angle|elev|flex)(_[rl])?",
        "coordinates of a model (inverse kinematics)",
    ),
    (r".+_o[xyz]", "positions of a model's bodies (body kinematics)"),
    (r".+_(moment|force)", "generalized forces of inverse dynamics"),
)
OF_MUSCLES = ("modelforces", "static optimization", "modelstates", "states", "controls", "activations")
FITTED = ("inverse kinematics", "model marker locations from ik")
GIVE = "results of OpenSim, not a recording: give the markers it was computed from (TRC), and the ground forces as forces_file"


def kind_of_results(title: str, names: Sequence[str]) -> str:
    """Contents of a file of results by its first line or its columns; else empty.

    Parameters
    ----------
    title : str
        First line of the file.
    names : sequence of str
        Its columns after the time.

    Examples
    --------
    >>> kind_of_results("UNKNOWN", ["hip_r_on_femur_r_in_ground_fx"])
    'joint reactions of a model'
    >>> kind_of_results("a.sto", ["RSHO_tx", "RSHO_ty", "RSHO_tz"])
    ''
    """
    if kind := TITLES.get(title.strip().lower(), ""):
        return kind
    for pattern, kind in COLUMNS:
        if 3 * sum(bool(re.fullmatch(pattern, name.lower())) for name in names) > len(names):
            return kind
    return ""


def is_result(name: str) -> bool:
    """Return True for a column of a model's coordinates, states, reactions or moments."""
    return any(re.fullmatch(pattern, name.lower()) for pattern, _ in COLUMNS)


def is_of_muscles(title: str) -> bool:
    """Return True for the first line of computed activations or forces."""
    return title.strip().lower() in OF_MUSCLES


def is_fitted(title: str) -> bool:
    """Return True for the first line of a file of a model's own markers."""
    return title.strip().lower() in FITTED
