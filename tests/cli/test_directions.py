"""Directions that `limbtorque init` proposes for people who go backward or sideways, and torques of the first."""

from dataclasses import replace

import numpy as np
import pytest
from proposed_study import rows

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.cli.init.init import init_study
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques

NAMES = {"HJC": "FEP", "KJC": "FEO", "AJC": "TIO", "TOE": "TOE", "HEE": "HEE"}
RULES = {
    "hip_axis": "{S}FEP",
    "knee_axis": "{S}FEO",
    "ankle_axis": "{S}TIO",
    "lateral_malleolus": "{S}TIO",
    "head_of_metatarsal_2": "{S}TOE",
    "heel": "{S}HEE",
}
SUBSTITUTES = {"greater_trochanter": "hip_axis", "femoral_condyles": "knee_axis", "medial_malleolus": "ankle_axis"}


@pytest.fixture(scope="module")
def forward():
    """A walk along x without plates, marked like Plug-in Gait with a head."""
    made = walk_recording(Walker(), Walkway(), duration_s=3.0, first_strike_s=0.3)
    labels = [label[0] + NAMES.get(label[1:], label[1:]) for label in made.labels]
    ankles = [made.markers_m[:, labels.index(f"{side}TIO")] for side in "RL"]
    hips = [made.markers_m[:, labels.index(f"{side}FEP")] for side in "RL"]
    more = [*ankles, sum(hips) / 2.0 + [0.0, 0.0, 0.75]]
    markers = np.concatenate([made.markers_m, np.stack(more, axis=1)], axis=1)
    return replace(made, markers_m=markers, labels=(*labels, "RANK", "LANK", "LFHD"), force_plates=(), events=())


def sideways(recording):
    """Side steps: the travel along x is turned to y, the body is not."""
    head = recording.markers_m[:, [-1], :1]
    return replace(recording, markers_m=recording.markers_m + np.concatenate([-head, head, 0.0 * head], axis=2))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda one: one, "travel"),
        (lambda one: replace(one, markers_m=one.markers_m[::-1]), "pelvis"),
        (sideways, "pelvis"),
    ],
    ids=["forward", "backward", "sideways"],
)
def test_forward_is_where_the_body_faces(forward, tmp_path, change, expected):
    (tmp_path / "data").mkdir()
    write_c3d(change(forward), tmp_path / "data" / "walk.c3d")
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    found = rows(tmp_path / "study")
    assert [row["plane.forward_axis"] for row in found] == [expected] * 2
    assert all(("faces another direction" in row.get("note", "")) == (expected != "travel") for row in found)
    assert all(trial.gait for trial in proposal.trials)


def test_a_walk_backward_has_the_torques_of_the_walk_forward(forward):
    """Accelerations do not change with the direction of time, so that no torque of a foot in the air does."""
    settings = make_settings(
        {
            "plane": {"up_axis": "+z", "forward_axis": "pelvis"},
            "marker_sets": {"own": RULES},
            "substitutes": {"own": SUBSTITUTES},
            "plates": {"assignment": "none"},
        }
    )
    limb = Limb("leg", side="left", body_mass_kg=70.0)
    there, back = (
        joint_torques(chain_motion(replace(forward, markers_m=markers), limb, settings)).terms.net
        for markers in (forward.markers_m, forward.markers_m[::-1])
    )
    np.testing.assert_allclose(back[::-1], there, atol=1e-3)  # the filter's two passes meet the ends in another order
