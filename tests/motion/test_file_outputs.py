"""Another program's results come back as our own, whatever signs and units it writes them in."""

from dataclasses import replace

import numpy as np
import pytest
from demo_reach import ARM, DEMO, EXACT, SETTINGS

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.table import beside, file_outputs, kinematics_table
from limbtorque.recordings.recording import ModelOutput
from limbtorque.tables.files import column_values
from limbtorque.tables.trial_record import Window
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.torques.summary import beside_file

LIMB = replace(ARM, prefix=DEMO.prefix)
MOTION = chain_motion(EXACT, LIMB, SETTINGS)
TORQUES = joint_torques(MOTION)
STATED = {"angle": "deg", "moment": "Nmm", "power": "W"}
ALL = Window(float("nan"), float("nan"), "no window")


def outputs(*, angle_sign=1, moment_sign=-1, per_kg=True, prefix="", side=LIMB.side, joint="elbow"):
    """The elbow's true results, as a program with these conventions stores them."""
    k = MOTION.joints.index(joint)
    sense, mass = MOTION.flexion.sign[k], LIMB.body_mass_kg if per_kg else 1.0
    true = {
        "angle": angle_sign * MOTION.flexion.of(MOTION.kinematics.angle_rad)[:, k],
        "moment": moment_sign * sense * TORQUES.terms.net[:, k] / mass,
        "power": TORQUES.powers.joint[:, k] / mass,
    }
    made = []
    for kind, ours in true.items():
        values = np.full((EXACT.n_frames, 3), np.nan)
        frames = MOTION.frame - EXACT.first_frame
        values[frames] = 0.0
        values[frames, 2 if kind == "power" else 0] = ours
        label = f"{prefix}{side[0].upper()}{joint.capitalize()}{kind.capitalize()}"
        made.append(ModelOutput(label, side, joint, kind, STATED[kind], per_kg, values))
    return tuple(made)


def added(*made, limb=LIMB):
    recording = replace(EXACT, model_outputs=tuple(output for some in made for output in some))
    added, *rest = file_outputs(recording, MOTION, limb)
    return beside(kinematics_table(MOTION), added), *rest


@pytest.mark.parametrize("angle_sign", [1, -1])
@pytest.mark.parametrize("moment_sign", [1, -1])
@pytest.mark.parametrize("per_kg", [True, False])
def test_every_convention_comes_back_as_ours(angle_sign, moment_sign, per_kg):
    table, (found,), notes = added(outputs(angle_sign=angle_sign, moment_sign=moment_sign, per_kg=per_kg))
    assert (found.joint, found.angle_sign, found.moment_sign) == ("elbow", angle_sign, moment_sign)
    assert not notes
    k = MOTION.joints.index("elbow")
    for name, ours in (
        ("angle_rad", MOTION.kinematics.angle_rad[:, k]),
        ("torque_nm", TORQUES.terms.net[:, k]),
        ("power_w", TORQUES.powers.joint[:, k]),
    ):
        np.testing.assert_allclose(column_values(table, f"elbow_file_{name}"), ours, atol=1e-9)
    rows = beside_file(MOTION, TORQUES, table, [found], window=ALL, mass_kg=70.0)
    assert [row["quantity"] for row in rows] == ["angle", "torque", "power"]
    for row in rows:
        assert row["r"] == pytest.approx(1.0, abs=1e-9)
        assert row["rms"] == pytest.approx(0.0, abs=1e-9)
        assert row["peak_ratio"] == pytest.approx(1.0, abs=1e-9)
    stated = [(row["file_label"], row["file_unit"], row["file_per_kg"]) for row in rows]
    assert stated == [("RElbowAngle", "deg", 0), ("RElbowMoment", "Nmm", per_kg), ("RElbowPower", "W", per_kg)]
    angle, moment, _ = (row["file_convention"] for row in rows)
    assert angle.startswith("flexion") == (angle_sign > 0)
    assert moment.startswith("internal moment, flexion") == (moment_sign > 0)
    known = ~MOTION.edge & np.isfinite(TORQUES.terms.net[:, k])
    assert abs(rows[1]["file_peak"]) == pytest.approx(np.abs(TORQUES.terms.net[known, k]).max() / 70.0)


def test_a_recording_without_them_has_the_same_table_as_before():
    table, found, notes = added()
    assert table.to_pandas().equals(kinematics_table(MOTION).to_pandas())  # missing numbers are alike there
    assert (found, notes) == ((), ())


def test_the_other_side_is_not_compared():
    other = "left" if LIMB.side == "right" else "right"
    assert added(outputs(side=other))[1:] == ((), ())


def test_no_sign_is_guessed():
    angle, moment, power = outputs()
    _, found, (note,) = added((angle, moment))
    assert not found
    assert "no power with a known unit" in note
    noise = replace(power, values=np.random.default_rng(0).normal(size=power.values.shape))
    _, found, (note,) = added((angle, moment, noise))
    assert not found
    assert "sign or unit of the moment unknown" in note


def test_labels_of_two_subjects_need_the_prefix_of_the_trial():
    own, other = outputs(prefix="A:"), outputs(prefix="B:", moment_sign=1)
    assert added(own, other, limb=replace(LIMB, prefix=""))[1] == ()
    assert added(own, other, limb=replace(LIMB, prefix="A"))[1][0].moment_sign == -1
    assert added(own, other, limb=replace(LIMB, prefix="B"))[1][0].moment_sign == 1
    assert added(own, limb=replace(LIMB, prefix=""))[1][0].labels["moment"] == f"A:{LIMB.side[0].upper()}ElbowMoment"


def test_frames_outside_the_window_do_not_count():
    table, outputs_found, _ = added(outputs())
    half = Window(0.0, float(MOTION.time_s[len(MOTION.time_s) // 2]))
    (_, row, _) = beside_file(MOTION, TORQUES, table, outputs_found, window=half, mass_kg=70.0)
    inside = MOTION.time_s <= half.end_s + 1e-9
    assert row["n_frames"] == (inside & ~MOTION.edge & np.isfinite(TORQUES.terms.net[:, 1])).sum()
    assert row["end_s"] == pytest.approx(half.end_s)
    few = Window(0.0, float(MOTION.time_s[5]))
    (_, row, _) = beside_file(MOTION, TORQUES, table, outputs_found, window=few, mass_kg=70.0)
    assert np.isnan(row["r"])


# --- what is enough for a sign ---------------------------------------------------------------------------------------


def against(values, r):
    """Values with this correlation with others, about their means, and of the same size."""
    centred = values - values.mean()
    other = np.random.default_rng(5).normal(size=len(values))
    other -= other.mean() + centred * (other @ centred) / (centred @ centred)
    return r * centred + np.sqrt(1.0 - r**2) * other * np.linalg.norm(centred) / np.linalg.norm(other)


def refused(*made):
    _, found, notes = added(made)
    assert bool(found) != bool(notes)
    return notes[0] if notes else ""


@pytest.mark.parametrize(("factor", "message"), [(0.52, ""), (1.95, ""), (-1.95, ""), (0.48, "its power is 0.4"), (2.05, "its power is 2"), (-2.05, "its power is 2")])  # fmt: skip
def test_a_power_between_half_and_twice_that_of_the_moment(factor, message):
    angle, moment, power = outputs()
    said = refused(angle, moment, replace(power, values=factor * power.values))
    assert message in said
    assert bool(message) == bool(said)


@pytest.mark.parametrize(("r", "known"), [(0.6, True), (-0.6, True), (0.45, False), (-0.45, False)])
def test_an_angle_with_a_correlation_of_a_half(r, known):
    """Their power is that of their own angle."""
    angle, moment, power = outputs()
    values = angle.values.copy()
    values[:, 0] = against(angle.values[:, 0], r)
    own = np.zeros_like(power.values)
    own[:, 0] = moment.values[:, 0] * np.gradient(values[:, 0]) * MOTION.rate_hz
    said = refused(replace(angle, values=values), moment, replace(power, values=own))
    assert (said == "") == known
    assert known or f"correlates with ours by {abs(r):.2f}" in said or f"correlates with ours by -{abs(r):.2f}" in said


@pytest.mark.parametrize(("frames", "known"), [(20, True), (19, False)])
@pytest.mark.parametrize("which", ["angle", "power"])
def test_twenty_frames_are_needed(frames, known, which):
    angle, moment, power = outputs()
    made = {"angle": angle, "moment": moment, "power": power}
    start = int(np.nanargmax(np.abs(power.values[:, 2]))) - 10
    values = np.full_like(made[which].values, np.nan)
    # the velocity of an angle needs its neighbours
    few = slice(start, start + frames) if which == "power" else slice(start - 1, start + frames + 1)
    values[few] = made[which].values[few]
    said = refused(*(made | {which: replace(made[which], values=values)}).values())
    assert ("fewer than 20 frames" in said) != known
