"""Forces, sides and mass against the movement of the body: expected values by Newton's second law."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from demo_reach import ARM, EXACT, SETTINGS, arm_motion, settings_with
from scipy.signal import butter, sosfiltfilt

from limbtorque.analysis.trial import analyse_recording
from limbtorque.arrays import beyond
from limbtorque.quality.body_checks import force_metrics
from limbtorque.quality.foot_checks import pressure_on_toes, shear_error_share
from limbtorque.quality.metrics import stated_misfits
from limbtorque.signals.spectrum import shortest_period_s
from limbtorque.torques.joint_torques import used_frames

ROOT = Path(__file__).resolve().parents[2]
G, RATE_HZ, MASS_KG = 9.81, 100.0, 60.0
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
TIME_S = np.arange(300) / RATE_HZ


def off_toes_m(*args, **changes):
    on_toes = pressure_on_toes(*args, **changes)
    return abs(on_toes.off_m) if on_toes else float("nan")


def bouncing():
    """Centre of mass that goes 2 cm up and down at 2 Hz, and the force that this asks for."""
    omega = 2.0 * np.pi * 2.0
    centre, force = np.zeros((300, 3)), np.zeros((300, 3))
    centre[:, 0], centre[:, 2] = 1.2 * TIME_S, 1.0 + 0.02 * np.sin(omega * TIME_S)
    force[:, 2] = MASS_KG * (G - 0.02 * omega**2 * np.sin(omega * TIME_S))
    return force, centre


def checked(force, centre, mass_kg=MASS_KG, known=slice(50, 250)):
    chosen = np.zeros(300, dtype=bool)
    chosen[known] = True
    return force_metrics(force, centre, chosen, rate_hz=RATE_HZ, mass_kg=mass_kg, gravity_m_s2=G, axes=AXES)


def test_a_force_that_moves_the_body_leaves_nothing():
    """The filter takes 1.2 % of a movement of 2 Hz from both sides; central differences of second order lose 0.13 % of its acceleration."""
    found = checked(*bouncing())
    assert found["weight_error_share"] < 1e-3
    assert found["force_tilt_deg"] < 0.01
    assert found["force_residual_share"] < 1e-3
    assert found["force_delay_s"] < 1e-4


HIDDEN_S = 0.2 / (4.0 * np.pi)  # a fifth of an acceleration of 2 Hz, over its rate of change


def test_mass_scale_tilt_and_delay_are_measured():
    force, centre = bouncing()
    assert checked(force, centre, mass_kg=1.25 * MASS_KG)["weight_error_share"] == pytest.approx(0.2, abs=1e-3)
    assert checked(1.26 * force, centre)["weight_error_share"] == pytest.approx(0.26, abs=2e-3)
    angle = np.radians(4.0)
    tilted = force[:, 2:] * np.array([np.sin(angle), 0.0, np.cos(angle)])
    assert checked(tilted, centre)["force_tilt_deg"] == pytest.approx(4.0, abs=0.2)  # less what a trunk may lean
    assert checked(np.roll(force, 3, axis=0), centre)["force_delay_s"] == pytest.approx(
        beyond(0.03, HIDDEN_S), abs=1e-3
    )
    assert checked(np.roll(force, -2, axis=0), centre)["force_delay_s"] == pytest.approx(
        beyond(0.02, HIDDEN_S), abs=1e-3
    )


@pytest.mark.parametrize("frames", [14, 15, -15])
def test_the_largest_delay_is_15_frames(frames):
    """0.15 s at 100 Hz; the parabola through three delays needs one more, so that the largest itself is a whole number.

    Half a period of 2 Hz is 0.25 s: no other delay up to 0.15 s fits.
    """
    force, centre = bouncing()
    found = checked(np.roll(force, frames, axis=0), centre)["force_delay_s"]
    assert found == pytest.approx(beyond(frames / RATE_HZ, HIDDEN_S), abs=1e-3)


def stance(pivot_m=0.4, hip_m=0.9, rate_hz=100.0):
    """A stance of 0.6 s: the hip goes 0.8 m over the foot, the force points `pivot_m` above the hip."""
    phase = np.linspace(0.0, 1.0, 61)
    hip = np.stack([0.8 * (phase - 0.5), np.full(61, hip_m)], axis=1)
    pressure = np.stack([0.15 * (phase - 0.5), np.zeros(61)], axis=1)
    upward = 700.0 * (0.3 + np.sin(np.pi * phase))
    forward = upward * (hip - pressure)[:, 0] / (hip_m + pivot_m)
    quiet = np.zeros((20, 2))
    around = [np.concatenate([quiet, part, quiet + part[-1]]) for part in (hip, pressure)]
    return np.concatenate([quiet, np.stack([forward, upward], axis=1), quiet]), around[1], around[0], rate_hz


def test_the_force_along_the_way_points_above_the_hip():
    """By hand: a force to a pivot above the hip has the slope hip / pivot; its share is less that over 0.7, less one."""
    force, pressure, hip, rate_hz = stance()
    slope = 0.9 / 1.3
    for factor in (1.0, 0.5, 0.0, -1.0, 1.5):
        found = shear_error_share(force * [factor, 1.0], pressure, hip, rate_hz)
        assert found == pytest.approx(abs(factor * slope / 0.7 - 1.0), abs=1e-9)


def test_smoothed_positions_hold_long_periods_only():
    rng = np.random.default_rng(1)
    rough = 0.3 * np.sin(2.0 * np.pi * TIME_S)[:, None] + 3e-4 * rng.standard_normal((300, 6))
    smooth = sosfiltfilt(butter(2, 3.0, fs=RATE_HZ, output="sos"), rough, axis=0)
    assert shortest_period_s(rough, rate_hz=RATE_HZ) == pytest.approx(2.0 / RATE_HZ, rel=0.05)
    # Noise of 0.3 mm falls to the floor of 0.02 mm at a gain of 1/15 of both passes of second order: at 14^(1/4) times 3 Hz.
    assert shortest_period_s(smooth, rate_hz=RATE_HZ) == pytest.approx(1.0 / (14.0**0.25 * 3.0), rel=0.25)


def simulated(task, subject):
    sys.path.append(str(ROOT / "benchmarks"))
    try:
        from parts.damage_subjects import make_trial
    finally:
        sys.path.pop(0)
    return make_trial(task, subject)


@pytest.fixture(scope="module")
def walk():
    return simulated("walk", "W01")


def test_a_landing_needs_less_of_the_acceleration_than_a_reach():
    """The torque that moves the segments, summed from its terms; a landing can spare what a reach needs."""
    found = analysed(simulated("jump", "J02"))
    terms, used = found.torques.terms, used_frames(found.motion, found.torques)
    moving = sum(each.sum(axis=2) for each in (terms.inertial, terms.centripetal, terms.coriolis)) + terms.base
    lost = found.motion.metrics["acceleration_filtered_share"]
    share = np.sqrt((moving[used] ** 2).mean(axis=0)) / np.ptp(terms.net[used], axis=0)
    taken = lost / np.sqrt(1.0 - lost**2) * share.max()
    assert lost > 0.2
    assert taken < 0.05
    judged = found.records["torques"].metrics["acceleration_lost_share"]
    assert judged == pytest.approx(lost * taken / 0.1, rel=1e-9)


def analysed(trial, **changes):
    limb = replace(trial.limb, **changes)
    return analyse_recording(trial.recording, limb, trial.settings)


def test_a_simulated_walk_agrees_with_its_forces(walk):
    found = analysed(walk)
    assert found.status == "ok"
    assert found.motion.metrics["weight_error_share"] < 0.01
    assert found.motion.metrics["force_delay_s"] < 0.003
    assert found.motion.metrics["pressure_off_toes_m"] < 0.02  # on the toes, as in people; 0.03 is the limit


def test_exchanged_sides_are_rejected(walk):
    other = {"R": "L", "L": "R"}
    labels = tuple(other[label[0]] + label[1:] for label in walk.recording.labels)
    found = analysed(replace(walk, recording=replace(walk.recording, labels=labels)))
    assert found.motion.metrics["sides_reversed_share"] == 1.0
    assert found.status == "rejected"


def test_a_wrong_mass_is_flagged(walk):
    found = analysed(walk, body_mass_kg=1.3 * walk.limb.body_mass_kg)
    assert found.motion.metrics["weight_error_share"] == pytest.approx(1.0 - 1.0 / 1.3, abs=0.01)
    assert "body_weight" in found.verdict.names


@pytest.mark.parametrize(("frames", "known"), [(2, False), (3, True)])
def test_three_frames_show_the_pressure_under_a_raised_heel(frames, known):
    """Heel 4 cm up and front down for so many frames; the pressure is 5 cm behind the front there, far away elsewhere."""
    n = 20
    heel, front = np.zeros((n, 2)), np.zeros((n, 2))
    front[:, 0] = 0.2
    raised = slice(10, 10 + frames)
    heel[raised, 1] = 0.04
    pressure = np.zeros(n)
    pressure[raised] = 0.15
    off_m = off_toes_m(pressure, np.full(n, 500.0), heel_m=heel, front_m=front)
    assert off_m == pytest.approx(0.05) if known else np.isnan(off_m)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"heel_m": 0.031}, True),
        ({"heel_m": 0.03}, False),
        ({"heel_m": 0.029}, False),
        ({"heel_m": 0.04, "front_m": 0.019}, True),
        ({"heel_m": 0.04, "front_m": 0.02}, False),
        ({"heel_m": 0.04, "front_m": 0.021}, False),
        ({"heel_m": 0.04, "force_n": 151.0}, True),
        ({"heel_m": 0.04, "force_n": 150.0}, False),
        ({"heel_m": 0.04, "force_n": 149.0}, False),
        ({"heel_m": 0.04, "force_n": np.nan}, False),
    ],
)
def test_a_foot_on_its_toes_by_heel_front_and_force(change, counts):
    """3 cm of the heel, 2 cm of the front and 0.3 of the largest force, 500 N, in five of twenty frames."""
    made = {"heel_m": 0.0, "front_m": 0.0, "force_n": 500.0} | change
    heel, front, force = np.zeros((20, 2)), np.zeros((20, 2)), np.full(20, 500.0)
    heel[10:15, 1], front[10:15, 1], force[10:15] = made["heel_m"], made["front_m"], made["force_n"]
    assert np.isfinite(off_toes_m(np.zeros(20), force, heel_m=heel, front_m=front)) == counts


def with_markers(trial, change):
    markers_m = change(trial.recording.markers_m.copy(), trial.recording.labels.index)
    return replace(trial, recording=replace(trial.recording, markers_m=markers_m))


@pytest.mark.parametrize("factor", [0.0, 0.4, -1.0])
def test_forces_along_the_way_that_are_missing_or_scaled_are_seen(walk, factor):
    """The horizontal force of all plates changes, with it the moment; the centre of pressure stays."""

    def scaled(plate):
        flat = plate.force_n * [factor, factor, 1.0]
        level = plate.corners_m.mean(axis=0)
        moment = plate.moment_nm + np.cross(level, flat - plate.force_n)
        return replace(plate, force_n=flat, moment_nm=moment)

    plates = tuple(scaled(plate) for plate in walk.recording.force_plates)
    found = analysed(replace(walk, recording=replace(walk.recording, force_plates=plates)))
    assert "shear_error_share" in found.verdict.names
    assert analysed(walk).motion.metrics["shear_error_share"] < 0.25


@pytest.mark.parametrize("label", ["HJC", "KJC"])
def test_a_marker_that_is_off_by_seven_centimetres_on_one_side_is_seen(walk, label):
    """Three standard deviations of the difference, 17 mm with the stated errors and unlike legs, are 5 cm; along a leg it is less."""

    def moved(markers_m, index):
        markers_m[:, index(walk.limb.side[0].upper() + label), 2] += 0.07
        return markers_m

    found = analysed(with_markers(walk, moved))
    assert 1.0 < found.motion.metrics["sides_unlike_factor"] < 2.0
    assert analysed(walk).motion.metrics["sides_unlike_factor"] < 0.3
    assert found.status in ("caution", "rejected")


def test_exchanged_labels_of_ankle_and_heel_are_rejected(walk):
    def exchanged(markers_m, index):
        ankle, heel = index("RAJC"), index("RHEE")
        markers_m[:, [ankle, heel]] = markers_m[:, [heel, ankle]]
        return markers_m

    assert walk.limb.side == "left"
    right = replace(walk, limb=replace(walk.limb, side="right"))
    found = analysed(with_markers(right, exchanged))
    assert found.motion.metrics["foot_reversed_share"] == 1.0
    assert "foot_reversed_share" in found.verdict.names
    assert found.status == "rejected"


@pytest.mark.parametrize(
    ("heel_m", "off_m", "by_marker"),
    [(0.02, -0.05, True), (0.02, 0.05, True), (-0.03, -0.05, False), (0.07, 0.05, False), (0.02, 0.09, False)],
)
def test_a_pressure_that_is_right_at_the_strike_blames_the_marker_at_the_front(heel_m, off_m, by_marker):
    """The foot rolls over: front up for 10 frames, flat, heel up for 10; a toe is no longer than 6 cm."""
    heel, front = np.zeros((50, 2)), np.tile([0.2, 0.0], (50, 1))
    front[:10, 1], heel[40:, 1] = 0.05, 0.05
    pressure = np.linspace(0.0, 0.2, 50)
    pressure[:10], pressure[40:] = heel_m, 0.2 + off_m
    found = pressure_on_toes(pressure, np.full(50, 500.0), heel_m=heel, front_m=front)
    assert (found.off_m, found.heel_m) == pytest.approx((off_m, heel_m))
    assert found.by_marker == by_marker


@pytest.mark.parametrize("kind", ["marker", "plates"])
def test_a_toe_marker_on_the_tip_is_no_reason_to_reject(walk, kind):
    """Five centimetres ahead of the pressure, which is 1.5 cm ahead of the ball; with plates shifted as far the torque is wrong."""
    side = walk.limb.side[0].upper()
    hips = walk.recording.markers_m[[0, -1], walk.recording.labels.index(side + "HJC")]
    way = (hips[1] - hips[0]) * [1.0, 1.0, 0.0]
    way *= 0.065 / np.linalg.norm(way)

    def ahead(markers_m, index):
        markers_m[:, index(side + "TOE")] += way
        return markers_m

    plates = tuple(
        replace(p, corners_m=p.corners_m - way, moment_nm=p.moment_nm - np.cross(way, p.force_n))
        for p in walk.recording.force_plates
    )
    shifted = replace(walk, recording=replace(walk.recording, force_plates=plates))
    found = analysed(with_markers(walk, ahead) if kind == "marker" else shifted)
    flags = [flag for flag in found.verdict.flags if flag.check.flag == "pressure_off_toes_m"]
    assert {flag.status for flag in flags} == ({"caution"} if kind == "marker" else {"caution", "rejected"})
    assert "5 cm behind the marker of head_of_metatarsal_2" in flags[0].where
    assert ("tip of the toe" in flags[0].where) == (kind == "marker")


def test_exchanged_markers_of_ankle_and_knee_beside_centres_of_the_file(walk):
    """Centres are right; markers on the condyles and the malleolus have each other's names."""
    side = walk.limb.side[0].upper()
    knee, ankle = (walk.recording.labels.index(side + name) for name in ("KJC", "AJC"))
    skin = walk.recording.markers_m[:, [ankle, knee]] + np.array([0.0, 0.05, 0.0])
    recording = replace(
        walk.recording,
        labels=(*walk.recording.labels, side + "FC", side + "LM"),
        markers_m=np.concatenate([walk.recording.markers_m, skin], axis=1),
    )
    sets = {
        "leg": {
            **walk.settings.marker_sets["leg"],
            "femoral_condyles": "{S}FC",
            "lateral_malleolus": "{S}LM",
            "medial_malleolus": "{S}LM",
        }
    }
    substitutes = {"leg": {"greater_trochanter": "hip_axis"}}
    settings = walk.settings.model_copy(update={"marker_sets": sets, "substitutes": substitutes})
    found = analysed(replace(walk, recording=recording, settings=settings))
    assert found.motion.metrics["landmark_astray_share"] == 1.0
    assert "landmark_astray_share" in found.verdict.rejected_by
    assert analysed(walk).motion.metrics["landmark_astray_share"] == 0.0


@pytest.mark.parametrize(("factor", "status"), [(1.0, "ok"), (1.06, "caution"), (0.9, "rejected")])
def test_lengths_of_another_person_in_the_static_trial(walk, factor, status):
    """All lengths of the static trial are longer by the factor."""
    static = replace(walk.recording, markers_m=factor * walk.recording.markers_m[:50])
    found = analysed(replace(walk, recording=replace(walk.recording, static=static)))
    assert found.motion.metrics["static_unlike_share"] == pytest.approx(abs(1.0 / factor - 1.0), abs=0.005)
    assert found.verdict.torques == status


@pytest.mark.parametrize(("degrees", "status"), [(2.0, "caution"), (3.0, "rejected")])
def test_cameras_tilted_against_level_plates(walk, degrees, status):
    """The forces are right; the feet rest on a slope."""
    from parts.damage_subjects import turned

    axis = "x" if int(walk.subject[1:]) % 2 else "y"
    markers_m = turned(walk.recording, degrees=degrees, axis=axis).markers_m
    found = analysed(replace(walk, recording=replace(walk.recording, markers_m=markers_m)))
    assert found.motion.metrics["floor_slope_deg"] == pytest.approx(degrees, abs=0.1)
    assert {flag.status for flag in found.verdict.flags if flag.check.name == "floor_slope_deg"} == {status}
    assert analysed(walk).motion.metrics["floor_slope_deg"] < 0.2


def test_stated_errors_explain_lengths_only_where_they_are_switched_on():
    motion, off = arm_motion(EXACT), settings_with(uncertainty__off="[joint_centres, soft_tissue]")
    assert stated_misfits(motion, ARM, SETTINGS).beyond == 0.0
    assert stated_misfits(motion, ARM, off).beyond == 1.0
