"""Point masses that move with a segment (`segments.added`): by hand for a limb at rest, and as a body in motion."""

import numpy as np
import pytest

from clustered_legs import MEASURED, leg_settings
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.errors import SettingsError, StudyError
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import Recording
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings, override
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.workflow.load_checked import checked_study
from staged_study import make_study

G = 9.80665
LIMB = Limb("leg", side="right", body_mass_kg=70.0)


@pytest.fixture(scope="module")
def walking():
    return walk_recording(Walker(), Walkway(), duration_s=1.6, first_strike_s=0.2)


def arm(added):
    """An arm held out at 30 and 60 degrees below the horizontal, for a second."""
    shoulder = np.array([0.0, -0.2, 1.4])
    steps = [0.3 * np.array([np.cos(a), 0.0, -np.sin(a)]) for a in np.radians([30.0, 60.0])]
    points = [shoulder, shoulder + steps[0], shoulder + steps[0] + steps[1], shoulder + steps[0] + 1.25 * steps[1]]
    labels = ("RSHO", "RELB", "RWRI", "RHAN")
    still = Recording("held.c3d", "", "test", labels, np.tile(points, (101, 1, 1)), 100.0, 1)
    rules = dict(zip(("glenohumeral_axis", "elbow_axis", "wrist_axis", "knuckle_2_middle_finger"), labels, strict=True))
    settings = make_settings(
        {
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "gaps": {"constant_marker": "accept"},
            "filter": {"method": "none"},
            "marker_sets": {"arm": rules},
            "substitutes": {"arm": {"ulnar_styloid": "wrist_axis"}},
            "segments": {"added": added},
        }
    )
    motion = chain_motion(still, Limb("arm", side="right", body_mass_kg=70.0), settings)
    return np.array(points)[:, [0, 2]], joint_torques(motion).terms.net[50]


@pytest.mark.parametrize(("segment", "link", "fraction"), [("hand", 2, 1.0), ("hand", 2, 1.5), ("forearm", 1, 0.4)])
def test_a_held_mass_needs_its_weight_times_its_lever(segment, link, fraction):
    """Torque of each joint proximal to it: 2 kg times g times the horizontal distance; none of the others."""
    points, bare = arm({})
    _, loaded = arm({segment: {"mass_kg": 2.0, "fraction": fraction}})
    place = points[link] + fraction * (points[link + 1] - points[link])
    levers = np.where(np.arange(3) <= link, place[0] - points[:3, 0], 0.0)
    np.testing.assert_allclose(loaded - bare, 2.0 * G * levers, atol=1e-9)


def test_a_mass_in_motion_is_a_body_of_its_own(walking):
    """A mass of 1.5 kg on the shank: the torque of the hip changes by that of its weight and acceleration about the hip.

    The net torque at the hip of a leg in the air is the rate of angular momentum about the moving hip less the moment of weight, and a point mass adds
    r x m (a - g), with a its acceleration in the laboratory: the rigid chain's own, so to rounding.
    """
    settings = leg_settings(MEASURED, plates={"assignment": "none"})
    added = leg_settings(
        MEASURED, plates={"assignment": "none"}, segments={"added": {"shank": {"mass_kg": 1.5, "fraction": 0.7}}}
    )
    bare, loaded = (chain_motion(walking, LIMB, chosen) for chosen in (settings, added))
    knee, ankle = bare.joint_m[:, 1], bare.joint_m[:, 2]
    place = knee + 0.7 * (ankle - knee)
    dt = 1.0 / bare.rate_hz
    acceleration = (place[2:] - 2.0 * place[1:-1] + place[:-2]) / dt**2
    force = 1.5 * (acceleration + np.array([0.0, G]))
    lever = (place - bare.joint_m[:, 0])[1:-1]
    expected = lever[:, 0] * force[:, 1] - lever[:, 1] * force[:, 0]
    change = (joint_torques(loaded).terms.net - joint_torques(bare).terms.net)[1:-1, 0]
    # second differences are off by the fourth derivative times dt^2 / 12: below 1 % of the largest in the middle of the swing
    inner = slice(10, -10)
    assert np.sqrt(np.mean((change - expected)[inner] ** 2)) < 0.02 * np.abs(expected[inner]).max()
    np.testing.assert_array_equal(loaded.joint_m, bare.joint_m)


def test_names_and_columns():
    with pytest.raises(
        SettingsError, match=r"segments.added names hnd, which is not a segment of a chain.*did you mean 'hand'"
    ):
        make_settings({"segments": {"added": {"hnd": {"mass_kg": 1.0}}}})
    settings = make_settings({"plane": {"up_axis": "+z"}})
    own = override(settings, {"segments.added": "{hand: {mass_kg: 2, fraction: 0.5}}"}, source="test")
    assert own.segments.added["hand"].mass_kg == 2.0
    assert settings.segments.added == {}


def test_a_mass_on_a_segment_that_no_limb_of_the_study_has_is_a_fault(tmp_path):
    """It would change nothing, and nothing would say so."""
    shank = "segments: {added: {shank: {mass_kg: 20, fraction: 1}}}\n"
    with pytest.raises(
        StudyError, match=r"segments.added names shank, which is not in any limb of the trials; expected forearm"
    ):
        checked_study(make_study(tmp_path / "study", extra=shank))
    checked_study(make_study(tmp_path / "hand", extra=shank.replace("shank", "hand")))


@pytest.mark.parametrize("segment", ["hand", "shank"])
def test_a_mass_of_one_trial_is_on_a_segment_of_its_own_limb(tmp_path, segment):
    """One trial is of an arm without hand, in a study whose other arms have one."""

    def change(rows):
        mass = f"{{{segment}: {{mass_kg: 2}}}}"
        return [
            {**rows[0], "chain": "arm_without_hand", "segments.added": mass},
            *({**row, "segments.added": ""} for row in rows[1:]),
        ]

    study = make_study(tmp_path / "study", change=lambda rows: [row | {"segments.added": ""} for row in change(rows)])
    checked_study(study)
    with pytest.raises(
        StudyError, match=rf"\(trial .*\): segments.added names {segment}, which is not in the chain arm_without"
    ):
        checked_study(make_study(tmp_path / "own", change=change))
