"""From a recording to a motion: time base, window, ends, projection, lost orientations, the ground."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from demo_reach import DEMO, EXACT, SETTINGS, arm_motion, settings_with

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.errors import LoadError, SignalError
from limbtorque.motion.limb import Limb
from limbtorque.quality.metrics import torque_metrics
from limbtorque.quality.verdict import assess
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.filters import filter_reach
from limbtorque.study.settings import load_settings
from limbtorque.torques.joint_torques import joint_torques

ROOT = Path(__file__).resolve().parents[2]


def motion(recording=EXACT, *, limb=None, **changes):
    return arm_motion(recording, limb=limb, **changes)


def yawed(degrees):
    """The same reach in a vertical plane that is turned about the vertical."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return replace(EXACT, markers_m=EXACT.markers_m @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]))


def test_a_window_keeps_the_time_and_frames_of_the_recording():
    later = replace(EXACT, first_frame=201)
    found = motion(later, limb={"start_s": 0.5, "end_s": 2.0})
    np.testing.assert_array_equal(found.frame, np.arange(251, 402))
    np.testing.assert_allclose(found.time_s, np.arange(50, 201) / 100.0)
    whole = motion(later)
    inside = ~found.edge
    np.testing.assert_allclose(
        found.kinematics.angle_rad[inside], whole.kinematics.angle_rad[50:201][inside], atol=2e-3
    )


def test_the_largest_speed_is_allowed(monkeypatch):
    """Without a filter the joints are the recorded ones."""
    free = motion(filter__method="none")
    top_m_s = float(free.metrics["speed_m_s"])
    steps = np.linalg.norm(np.diff(free.joint_m, axis=0), axis=-1)
    assert top_m_s == pytest.approx(100.0 * steps.max())
    monkeypatch.setattr("limbtorque.motion.chain_motion.FASTEST_M_S", top_m_s)
    assert motion(filter__method="none").metrics["speed_m_s"] == top_m_s
    monkeypatch.setattr("limbtorque.motion.chain_motion.FASTEST_M_S", top_m_s * (1.0 - 1e-12))
    with pytest.raises(SignalError, match="a joint moves at"):
        motion(filter__method="none")


def test_frames_within_reach_of_the_ends_are_marked():
    """The filter's answer to an end has decayed to a hundredth after `filter_reach` frames, and two more by differences."""
    found = motion(filter__cutoff_hz=8, filter__order=2)
    reach = filter_reach(8.0, rate_hz=100.0, order=2) + 2
    np.testing.assert_array_equal(np.flatnonzero(~found.edge), np.arange(reach, 251 - reach))
    assert reach == 13
    unfiltered = motion(filter__method="none")
    assert np.flatnonzero(unfiltered.edge).tolist() == [0, 1, 249, 250]


def test_a_limb_seen_at_an_angle_weighs_and_turns_as_its_projection():
    """Turned by 24 deg about the vertical: x shrinks by the cosine. Compared with an arm whose every particle is projected."""
    found = motion(yawed(24.0))
    flat = replace(EXACT, markers_m=EXACT.markers_m * np.array([np.cos(np.radians(24.0)), 1.0, 1.0]))
    np.testing.assert_allclose(found.joint_m, motion(flat).joint_m, atol=1e-12)
    lengths_in_space = motion().chain
    share = found.chain.length_m / np.linalg.norm(np.diff(EXACT.markers_m[:, [0, 5]], axis=1), axis=2).mean()
    assert (share < 1.0).all()
    np.testing.assert_allclose(
        found.chain.com_m / found.chain.length_m, lengths_in_space.com_m / lengths_in_space.length_m, rtol=1e-6
    )
    assert (found.chain.com_m < lengths_in_space.com_m).all()


def test_measured_parameters_are_projected_as_the_tables_are():
    """The table's own values, given as measured ones, change nothing, in whatever plane.

    Mean lengths after the filter differ by its bias on a turning segment, which is not the same in both planes.
    """
    plain = motion().chain
    own = {}
    for i, row in enumerate(("upper_arm", "forearm", "hand")):
        own |= {
            f"{row}_mass_kg": plain.mass_kg[i],
            f"{row}_com_m": plain.com_m[i],
            f"{row}_inertia_kgm2": plain.inertia_kgm2[i],
        }
    with_table, with_own = motion(yawed(24.0)).chain, motion(yawed(24.0), limb={"measured": own}).chain
    for name in ("mass_kg", "com_m", "inertia_kgm2"):
        np.testing.assert_allclose(getattr(with_own, name), getattr(with_table, name), rtol=1e-4)


def test_angles_keep_to_their_turn_across_lost_orientations():
    """The hand points out of the plane for a while and comes back turned: no joint gathers turns."""
    markers = EXACT.markers_m.copy()
    wrist = 0.5 * (markers[:, 3] + markers[:, 4])
    swing = np.radians(np.interp(np.arange(251), [100, 150], [0.0, 360.0]))
    reach = np.linalg.norm(markers[:, 5] - wrist, axis=1)
    markers[:, 5] = wrist + reach[:, None] * np.column_stack([np.cos(swing), np.sin(swing), 0.2 * np.ones(251)])
    found = motion(replace(EXACT, markers_m=markers), filter__cutoff_hz=8, filter__order=2)
    assert found.foreshortened.any()
    assert np.isnan(found.kinematics.angle_rad[found.foreshortened]).all()
    assert np.nanmax(np.abs(found.kinematics.angle_rad)) < np.pi + np.pi / 2
    reach_frames = filter_reach(8.0, rate_hz=100.0, order=2)
    first = int(np.flatnonzero(found.foreshortened)[0])
    segment = markers[:, 5] - wrist
    short = np.hypot(segment[:, 0], segment[:, 2]) < 0.3 * np.linalg.norm(segment, axis=1)
    assert int(np.flatnonzero(short)[0]) - first == reach_frames + 2


def test_a_nearly_straight_arm_leaves_its_facing_undecided():
    straight = replace(DEMO, reach=replace(DEMO.reach, start_deg=(-80.0, 5.0, 0.0), target_deg=(-60.0, 8.0, 0.0)))
    assert motion(straight.recording(noise_m=0.0)).metrics["undecided_flexion"] == 1.0
    assert motion().metrics["undecided_flexion"] == 0.0


def test_a_trial_shorter_than_its_ends_is_flagged():
    found = motion(replace(EXACT, markers_m=EXACT.markers_m[60:84]), filter__cutoff_hz=8, filter__order=2)
    figures = {**found.metrics, **torque_metrics(found, joint_torques(found))}
    assert "unused_share" in [flag.check.name for flag in assess(figures, SETTINGS.quality)]


# --- legs, on a recorded walk ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walk(recordings):
    return read_c3d(recordings / "walking_opensim" / "walking2.c3d")


WALK = load_settings(ROOT / "tests" / "recordings_study" / "config" / "config.yaml")


def leg(recording, side="right", settings=WALK, **trial):
    changes = {name: value for name, value in trial.items() if "__" in name}
    plain = {name: value for name, value in trial.items() if "__" not in name}
    limb = Limb("leg", side=side, body_mass_kg=66.0, marker_set="opensim_walking", **plain)
    return chain_motion(recording, limb, settings_with(settings, **changes))


def flags(found):
    figures = {**found.metrics, **torque_metrics(found, joint_torques(found))}
    return [flag.check.name for flag in assess(figures, WALK.quality)]


def test_a_window_inside_the_stance_keeps_the_plates_offset(walk):
    """The offset is that of the whole recording: the torque inside a window is that of the whole stretch."""
    whole, part = leg(walk), leg(walk, start_s=2.68, end_s=3.19, plane__forward_axis="+x")
    assert any("offset of -13.8 N" in note for note in part.notes)
    same = np.isin(whole.frame, part.frame)
    middle = slice(50, -50)
    np.testing.assert_allclose(part.load.force_n[middle, 1], whole.load.force_n[same][middle, 1], atol=3.0)


def test_on_a_treadmill_no_contact_is_noticed_and_the_belts_speed_finds_it(walk):
    speed = 1.65
    shift = np.arange(walk.n_frames)[:, None, None] / walk.rate_hz * np.array([speed, 0.0, 0.0])
    belt = replace(walk, markers_m=walk.markers_m - shift, force_plates=())
    lost = leg(belt, plane__forward_axis="+x")
    assert not (lost.load.status == 2).any()
    assert "no_contact" in flags(lost)
    found = leg(belt, plane__forward_axis="+x", plates__belt_speed_m_s=speed)
    assert (found.load.status == 2).mean() > 0.5


def test_a_step_up_is_stance_all_the_same(walk):
    """The floor is 8 cm higher before frame 600: the first stance is still no swing."""
    markers = walk.markers_m.copy()
    markers[:600, :, 2] += 0.08
    found = leg(replace(walk, markers_m=markers))
    status = dict(zip(found.frame.tolist(), found.load.status.tolist(), strict=True))
    assert all(status[frame] == 2 for frame in range(424, 560))


def test_the_other_foot_that_is_not_seen_is_flagged(walk):
    index = [walk.labels.index(label) for label in ("LCAL", "LMT2", "LAJC")]
    markers = walk.markers_m.copy()
    markers[:, index] = np.nan
    assert "other_foot_unknown_share" in flags(leg(replace(walk, markers_m=markers)))
    assert "other_foot_unknown_share" not in flags(leg(walk))


def test_a_load_on_a_leg_that_meets_the_ground_is_refused(walk):
    settings = WALK.model_copy(update={"loads": SETTINGS.loads})
    with pytest.raises(LoadError, match="cannot be combined with ground contact"):
        leg(walk, settings=settings, load="spring")


def test_an_up_axis_that_points_down_is_flagged(walk):
    found = leg(walk, plane__up_axis="-z", plane__forward_axis="+x", plates__assignment="none")
    assert "up_axis_deg" in flags(found)
    assert "up_axis_deg" not in flags(leg(walk))


def test_the_force_plates_have_a_cut_off_of_their_own(walk):
    """At 50 Hz the first peak is the raw one to a few newtons; at 1 Hz, slower than the step, it is far lower."""
    raw = walk.force_plates[0].force_n[:, 2].max() + 13.8
    fast, slow = leg(walk, filter__force_cutoff_hz=50.0), leg(walk, filter__force_cutoff_hz=1.0)
    assert np.nanmax(fast.load.force_n[:, 1]) == pytest.approx(raw, abs=10.0)
    assert np.nanmax(slow.load.force_n[:, 1]) < 0.8 * raw
    assert any("force plates are filtered at 50 Hz, also at impacts" in note for note in fast.notes)
    assert not any("also at impacts" in note for note in leg(walk).notes)


def test_force_plates_are_filtered_as_a_spline_smooths(walk):
    """A spline's gain is that of a Butterworth filter of order 3; the chosen cut-off is the plates' too."""
    with_spline = leg(walk, filter__method="quintic_spline", filter__cutoff_hz=9.0)
    with_filter = leg(walk, filter__method="butterworth", filter__order=3, filter__cutoff_hz=9.0)
    both = ~with_spline.edge & ~with_filter.edge
    np.testing.assert_allclose(with_spline.load.force_n[both], with_filter.load.force_n[both], atol=0.5)
    chosen = leg(walk, filter__method="quintic_spline", filter__cutoff_hz="expected_error", filter__impact_factor=1.0)
    again = leg(walk, filter__method="quintic_spline", filter__cutoff_hz=chosen.metrics["cutoff_hz"])
    np.testing.assert_array_equal(chosen.load.force_n, again.load.force_n)


def test_ankle_flexion_is_that_of_the_sole(walk):
    """The foot is flat on the plate in frames 700 to 740, the shank leans forward from upright: dorsiflexion 0 to 20 deg."""
    found = leg(walk)
    flexion = np.degrees(found.kinematics.angle_rad[:, 2] - found.flexion.zero_rad[2])
    flat = (found.frame >= 700) & (found.frame <= 740)
    shank = np.degrees(found.kinematics.angle_rad[:, :2].sum(axis=1)) + 90.0
    np.testing.assert_allclose(flexion[flat], -shank[flat], atol=8.0)
    assert any("flexion is measured from the sole" in note for note in found.notes)
