"""The verdict on simulated and recorded movements: clean ones are ok, and each cause of a rejection rejects."""

from dataclasses import replace

import numpy as np
import pytest

from clustered_legs import FOOT, MEASURED, SUBSTITUTES
from limbtorque.analysis.reading import limb_of
from limbtorque.analysis.trial import analyse_recording
from limbtorque.motion.limb import Limb
from limbtorque.quality.checks import CHECKS
from limbtorque.quality.joint_shares import fit_error_share, spike_change
from limbtorque.quality.metrics import shortest_period_share
from limbtorque.quality.verdict import judge
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.writers import write_recording
from limbtorque.simulation.gait import HALF_WIDTH_M, Walker, Walkway, walk_recording
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import load_settings, make_settings, override
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table
from limbtorque.workflow.keys import session_key
from limbtorque.workflow.layout import table_path
from limbtorque.workflow.stages import kinematics, torques
from staged_study import ROOT, make_study

WALKER = Walker(strike_m_s=0.4)
SETTINGS = make_settings(
    {
        "plane": {"up_axis": "+z", "forward_axis": "travel"},
        "marker_sets": {"simulated": {**MEASURED, **FOOT}},
        "substitutes": {"simulated": SUBSTITUTES},
        "ensembles": {"window": "events", "start_event": "Foot Strike {side}", "end_event": "Foot Strike {side}"},
        "muscles": {"enabled": False},
    }
)
JOINTS = ("hip", "knee", "ankle")
SWING, LATER = 128, 300  # frames in the first swing of the right leg, and after its first stride


@pytest.fixture(scope="module")
def walking():
    """A person who walks 3.5 m over five plates, one for each step, with marker noise of 0.5 mm."""
    plates = [(0.08 + k * WALKER.stride_m / 2, (1 if k % 2 else -1) * HALF_WIDTH_M) for k in range(5)]
    way = Walkway(plates_m=tuple(plates), noise_m=0.0005, noise_n=1.0, seed=1)
    return walk_recording(WALKER, way, duration_s=3.2, first_strike_s=0.4)


def analysed(recording, settings=SETTINGS, side="right", mass_kg=WALKER.mass_kg):
    return analyse_recording(recording, Limb("leg", side=side, body_mass_kg=mass_kg), settings)


def moved(recording, label, frames, metres):
    markers_m = recording.markers_m.copy()
    markers_m[frames, recording.labels.index(label), 0] += metres
    return replace(recording, markers_m=markers_m)


def exchanged(recording, first, second, frames):
    markers_m = recording.markers_m.copy()
    a, b = recording.labels.index(first), recording.labels.index(second)
    markers_m[frames, a], markers_m[frames, b] = recording.markers_m[frames, b], recording.markers_m[frames, a]
    return replace(recording, markers_m=markers_m)


# ---- clean movements ----


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_simulated_walk_is_ok(walking, side):
    found = analysed(walking, override(SETTINGS, {"muscles.enabled": "true"}, source="x"), side=side)
    assert found.verdict.flags == ()
    assert (found.status, found.verdict.torques, found.verdict.muscles) == ("ok", "ok", "ok")
    assert found.verdict.joints == dict.fromkeys(JOINTS, "ok")


def test_simulated_reaches_in_the_sagittal_plane_are_ok():
    study = load_study(ROOT)
    for trial in (one for one in study.trials if "sagittal" in one.name):
        limb = Limb("arm", side=trial.side, body_mass_kg=trial.subject.mass_kg, measured=trial.subject.measured)
        found = analyse_recording(read_c3d(trial.file), replace(limb, load=trial.load), trial.settings)
        assert (found.status, found.verdict.flags) == ("ok", ()), trial.name


# ---- spikes ----


def changes(damaged, clean):
    """Largest change of each joint's net torque or terms in the window over its range, against the undamaged recording."""
    frames = damaged.window.judged(damaged.motion.time_s, np.ones(len(damaged.motion.time_s), dtype=bool))
    return spike_change(damaged.motion, damaged.torques, clean.motion, frames)[0]


@pytest.mark.parametrize("n_frames", [1, 10])
def test_a_spike_of_20_cm_in_a_knee_marker_in_swing_rejects_every_joint_it_changes(walking, n_frames):
    found = analysed(moved(walking, "RKJC", slice(SWING, SWING + n_frames), 0.2))
    true = changes(found, analysed(walking))
    assert min(true.values()) > 0.1  # the ankle, too
    assert found.verdict.joints == dict.fromkeys(JOINTS, "rejected")
    assert found.motion.metrics["spike_frames"] == n_frames
    assert f"RKJC {SWING + 1}" in " ".join(found.motion.notes)
    frames = [int(part.split()[0].rstrip(",")) for part in found.records["torques"].notes[0].split(" at frame ")[1:]]
    assert len(frames) == len(JOINTS)
    assert any(abs(frame - SWING) < 15 for frame in frames)


def test_a_spike_rejects_the_joints_that_the_limit_says_and_no_others(walking):
    damaged = moved(walking, "RKJC", [SWING], 0.2)
    share = analysed(damaged).records["torques"].joint_metrics["spike_change_share"]
    low, middle, high = sorted(JOINTS, key=share.__getitem__)
    limit = str((share[middle] + share[high]) / 2)
    strict = override(SETTINGS, {"quality.spike_change_share": limit}, source="x")
    found = analysed(damaged, strict).verdict
    assert found.joints == {high: "rejected", middle: "caution", low: "caution"}  # spike_frames
    assert found.rejected_joints == (high,)
    assert (found.torques, found.status) == ("rejected", "rejected")


def test_a_spike_after_the_window_is_named_and_rejects_nothing(walking):
    """At a given cut-off, which a spike cannot change."""
    settings = override(SETTINGS, {"filter.cutoff_hz": "8"}, source="x")
    found = analysed(moved(walking, "RKJC", [LATER], 0.2), settings)
    assert found.status == analysed(walking, settings).status
    assert not {"spikes"} & set(found.verdict.names)
    assert f"spikes (marker, frames): RKJC {LATER + 1}" in found.motion.notes
    assert max(found.records["torques"].joint_metrics["spike_change_share"].values()) < 0.01  # mean lengths of segments


@pytest.mark.parametrize("metres", [0.0, 0.005, 0.2])
def test_the_spike_of_a_recorded_walk(cohort_walk, metres):
    recording, settings = cohort_walk
    at = 90 if metres else 0  # in swing
    found = analysed(moved(recording, "RFEO", [at], metres), settings, mass_kg=40.0).verdict
    assert found.rejected_joints == (JOINTS if metres > 0.1 else ())


@pytest.fixture(scope="module")
def cohort_walk(recordings):
    file = recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d"
    joints = {"hip_axis": "{S}FEP", "knee_axis": "{S}FEO", "ankle_axis": "{S}TIO"}
    own = {"marker_sets": {"simulated": {**joints, **FOOT}}}
    return read_recording(file), make_settings({**SETTINGS.model_dump(), **own})


def test_what_the_distance_of_the_fitted_chain_is_worth(walking):
    found = analysed(walking)
    motion, frames = found.motion, np.zeros(len(found.motion.time_s), dtype=bool)
    frames[np.flatnonzero(~motion.edge & ~np.isnan(found.torques.terms.net).any(axis=1))[:40]] = True
    off = replace(motion, fit_m=np.where(np.arange(len(frames)) % 2, 0.003, 0.004))
    share = fit_error_share(off, found.torques, frames)
    reaction = found.torques.wrenches.reaction_n[frames]
    expected = (
        np.sqrt(12.5e-6)
        * np.sqrt((reaction**2).sum(axis=2).mean(axis=0))
        / np.ptp(found.torques.terms.net[frames], axis=0)
    )
    assert list(share.values()) == pytest.approx(expected.tolist(), rel=1e-12)
    assert fit_error_share(off, found.torques, np.zeros_like(frames)) == {}


def test_the_shortest_period_counts_against_that_of_the_movement(walking):
    """A sine of 1 Hz on a body that goes forward; central differences at 100 Hz lose 0.07 % of its acceleration."""
    motion = analysed(walking).motion
    sine = np.sin(2.0 * np.pi * np.arange(len(motion.time_s)) / motion.rate_hz)
    way = motion.time_s[:, None, None] * np.array([1.2, 0.0])
    frames = np.arange(len(sine))
    whole = (frames >= 10) & (frames < 210)  # two periods
    moving = replace(motion, joint_m=way + sine[:, None, None] * np.ones((1, 4, 2)), edge=~whole)
    share = shortest_period_share(replace(moving, metrics={"shortest_period_s": 0.2}))
    assert share == {"shortest_period_share": pytest.approx(0.2, rel=1e-3)}
    assert shortest_period_share(replace(moving, metrics={})) == {}
    assert shortest_period_share(replace(moving, joint_m=0.0 * way, metrics={"shortest_period_s": 0.2})) == {}


# ---- every cause of a rejection ----


def test_exchanged_labels_in_the_window_reject_every_joint_and_outside_none(walking):
    settings = override(SETTINGS, {"filter.cutoff_hz": "8"}, source="x")
    inside = analysed(exchanged(walking, "RKJC", "RAJC", slice(80, 86)), settings)
    assert "swapped_frames" in inside.verdict.names
    assert inside.verdict.joints == dict.fromkeys(JOINTS, "rejected")
    outside = analysed(exchanged(walking, "RKJC", "RAJC", slice(LATER, LATER + 6)), settings)
    assert outside.motion.metrics["swapped_frames"] == 6.0
    assert outside.status == "ok"


def test_torques_and_powers_beyond_what_people_reach_are_rejected_at_their_joints(walking):
    """The torques of a person of 70 kg for one of 9 kg; the plates, which reject the whole trial, are not asked."""
    assert analysed(walking, mass_kg=9.0).verdict.rejected_joints == JOINTS
    settings = override(
        SETTINGS, {"quality.weight_error_share": "100", "quality.stance_force_error_share": "100"}, source="x"
    )
    found = analysed(walking, settings, mass_kg=9.0)
    assert "joint_effort" in found.verdict.names
    limits = Quality().torque_nm_kg
    largest = found.records["torques"].joint_metrics["torque_nm_kg"]
    beyond = tuple(joint for joint in JOINTS if largest[joint] > limits[joint])
    assert found.verdict.rejected_joints == beyond
    assert beyond
    unlimited = override(SETTINGS, {"quality.torque_nm_kg": "{neck: 1}"}, source="x")
    assert "joint_effort" not in analysed(walking, unlimited, mass_kg=9.0).verdict.names


def test_a_limb_turned_round_bends_beyond_anatomy(walking):
    """Walking backwards: the knee bends to the front."""
    settings = override(SETTINGS, {"plane.forward_axis": "-x"}, source="x")
    found = analysed(walking, settings)
    assert {"reversed_flexion", "joint_range"} <= set(found.verdict.names)
    assert "knee" in found.verdict.rejected_joints


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if check.rejects_from == 1.0], ids=lambda check: check.name
)
def test_each_rejecting_check_rejects_and_no_other_does(check):
    by_joint = {check.name: {"knee": 1e9}}
    assert judge({}, Quality(), by_joint, joints=JOINTS).joints == {"hip": "ok", "knee": "rejected", "ankle": "ok"}
    whole = [flag for flag in CHECKS if flag.rejects_from > 1.0 and flag.affects == "torques"]
    above = {flag.name: 1.5 * flag.allowed_at("", Quality()) + 1e-12 for flag in whole}
    assert judge(above, Quality(), joints=JOINTS).status == "caution"
    for flag in whole:
        status = judge({flag.name: 1e9}, Quality(), joints=JOINTS).status
        assert status == ("rejected" if flag.rejects_from == 2.0 else "caution"), flag.name


def test_muscles_have_a_status_of_their_own():
    flagged = {"passive_part": 1e9}
    found = judge(flagged, Quality(), joints=JOINTS)
    assert (found.torques, found.muscles, found.status) == ("ok", "caution", "caution")
    beyond = {"torque_nm_kg": {"hip": 1e9}}
    assert judge({}, Quality(), beyond, joints=JOINTS).muscles == "rejected"
    alone = judge({"tilt_deg": 1e9}, Quality(), joints=JOINTS)
    assert (alone.torques, alone.muscles) == ("caution", "ok")
    without = judge({}, Quality(), joints=JOINTS, muscles=False)
    assert (without.muscles, without.status) == ("none", "ok")


def test_a_joint_that_its_distance_from_the_chain_rejects_is_rejected_alone():
    """The torques of a wrist are small beside the reaction force; a flag of the limb, or of each joint, rejects the limb."""
    wrist = {"fit_error_share": {"wrist": 1.0, "elbow": 0.01}}
    found = judge({}, Quality(), wrist, joints=["elbow", "wrist"])
    assert (found.joints, found.torques, found.muscles) == ({"elbow": "ok", "wrist": "rejected"}, "caution", "caution")
    assert found.rejected_joints == ("wrist",)
    both = {"fit_error_share": {"wrist": 1.0, "elbow": 1.0}}
    assert judge({}, Quality(), both, joints=["elbow", "wrist"]).torques == "rejected"
    assert (
        judge({}, Quality(), wrist | {"torque_nm_kg": {"wrist": 1e9}}, joints=["elbow", "wrist"]).torques == "rejected"
    )


def test_defaults_limit_joints_of_the_built_in_chains_only():
    settings = load_settings(ROOT / "config" / "config.yaml")
    known = {joint.name for chain in ("arm", "leg") for joint in settings.chain(chain).joints}
    for option in ("torque_nm_kg", "power_w_kg", "flexion_deg", "extension_deg"):
        assert set(getattr(Quality(), option)) <= known


def test_a_spike_is_judged_alike_by_the_workflow_and_in_memory(tmp_path):
    """The torques stage reads the recording again; a spike of 10 cm in a wrist marker of a reach."""
    name = "S01_sagittal_fast"
    spiked = tmp_path / f"{name}.csv"
    write_recording(moved(read_c3d(ROOT / "data" / "demo" / f"{name}.c3d"), "WRR", [125], 0.1), spiked)
    folder = make_study(
        tmp_path / "study", names=[name], change=lambda rows: [{**r, "file": str(spiked)} for r in rows]
    )
    study = load_study(folder)
    for stage, module in (("kinematics", kinematics), ("torques", torques)):
        for session in study.batches:
            module.run(folder=folder, session=session, key=session_key(stage, study, session))
    (trial,) = study.trials
    _, record = read_table(folder / table_path("torques", trial.session, name))
    share = record.joint_metrics["spike_change_share"]
    found = analyse_recording(read_recording(spiked), limb_of(trial), trial.settings)
    assert share == pytest.approx(found.records["torques"].joint_metrics["spike_change_share"], rel=1e-6)
    assert set(found.verdict.rejected_joints) == {joint for joint in share if share[joint] > 0.1}
    assert found.verdict.rejected_joints
    assert any("at frame 12" in note for note in record.notes)


# ---- one plate, which no other can contradict ----


@pytest.fixture(scope="module")
def one_plate():
    """The first step on a plate, the others on the floor."""
    way = Walkway(plates_m=((0.08, HALF_WIDTH_M * -1),), noise_m=0.0005, noise_n=1.0, seed=2)
    return walk_recording(WALKER, way, duration_s=2.6, first_strike_s=0.4)


def of_plates(recording, change):
    plates = (replace(p, force_n=change(p.force_n), moment_nm=change(p.moment_nm)) for p in recording.force_plates)
    return replace(recording, force_plates=tuple(plates))


@pytest.mark.parametrize(("gain", "status"), [(1.0, "ok"), (0.5, "rejected"), (0.85, "caution"), (1.26, "rejected")])
def test_the_force_of_a_single_plate_carries_the_body(one_plate, gain, status):
    """Newton's second law in single support, with the hip for the body: 0.03 off in the simulations and recorded walks."""
    found = analysed(of_plates(one_plate, lambda x: gain * x))
    assert found.status == status
    assert found.motion.metrics["stance_force_error_share"] == pytest.approx(abs(gain - 1.0), abs=0.03)


def test_a_force_before_the_strike_of_the_file_is_seen(one_plate):
    early = analysed(of_plates(one_plate, lambda x: np.roll(x, -50, axis=0)))  # 50 ms at 1000 Hz
    assert "force_timing" in early.verdict.names
    assert analysed(one_plate).motion.metrics["force_early_s"] <= 0.0
