"""Signed effects of input errors: closed forms, the variance of the bands, sums of terms by kind."""

from types import SimpleNamespace

import numpy as np
import pytest

from clustered_legs import LANDMARKS
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.torques import trial_uncertainty
from limbtorque.motion.limb import Limb
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings
from limbtorque.tables.effect_columns import EFFECT_STATISTICS, EFFECT_TERMS, effect_column, owner_of_effect
from limbtorque.tables.frame_columns import kind_columns
from limbtorque.torques.joint_torques import joint_torques, torque_table, used_frames
from limbtorque.torques.summary import study_rows, torque_summary
from limbtorque.uncertainty.effects import TrialEffects, effects_table

GAIN, BODY_MASS = 0.02, 0.03
LIMB = Limb("leg", side="right", body_mass_kg=70.0)


@pytest.fixture(scope="module")
def leg():
    """A simulated walk with its effects; the knee's flexion is clockwise."""
    settings = make_settings(
        {
            "marker_sets": {"sim": LANDMARKS},
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "filter": {"cutoff_hz": 8.0},
            "uncertainty": {"sizes": {"plate_gain": GAIN, "body_mass": BODY_MASS}},
        }
    )
    recording = walk_recording(
        Walker(),
        Walkway(((0.1, -0.2), (0.65, 0.2)), plate_rate_hz=500.0, noise_m=0.0005),
        duration_s=2.2,
        first_strike_s=0.35,
    )
    motion = chain_motion(recording, LIMB, settings)
    torques = joint_torques(motion)
    used = used_frames(motion, torques)
    windows = {"trial": used, "stance": used & (motion.load.status == 1)}
    summary = torque_summary(motion, torques, windows=windows, min_known_share=0.1)
    uncertain = trial_uncertainty(motion, torques, LIMB, settings, summary=summary, windows=windows)
    signs = dict(zip(motion.joints, motion.flexion.sign.tolist(), strict=True))
    rows = study_rows(uncertain.summary, LIMB.model(settings), flexion_sign=signs)
    return SimpleNamespace(
        motion=motion,
        table=torque_table(motion, torques, options=settings.torques),
        windows=windows,
        net=[row for row in rows if row["term"] == "net"],
        values=np.array(uncertain.effects.values["value"]).reshape(-1, len(EFFECT_TERMS)),
        keys=list(zip(*(uncertain.effects.values[name] for name in ("window", "joint", "statistic")), strict=True))[
            ::7
        ],
        effects={
            column.name: uncertain.effects.effects[:, k].reshape(-1, len(EFFECT_TERMS)).astype(float)
            for k, column in enumerate(uncertain.effects.columns)
        },
    )


def of_net(leg, name):
    """Column of the summary for each row of net values."""
    rows = {(row["window"], row["joint"]): row for row in leg.net}
    return np.array([rows[window, joint][name(statistic)] for window, joint, statistic in leg.keys])


def test_net_values_are_those_of_the_summary_and_the_sum_of_their_terms(leg):
    assert {key[2] for key in leg.keys} == set(EFFECT_STATISTICS)
    assert {-1.0, 1.0} <= set(leg.motion.flexion.sign.tolist())
    net = of_net(leg, lambda statistic: statistic)
    np.testing.assert_allclose(leg.values[:, 0], net, rtol=1e-12)
    np.testing.assert_allclose(leg.values[:, 1:].sum(axis=1), net, rtol=0.0, atol=1e-9)


def test_squares_of_the_effects_add_up_to_the_variance_of_the_bands(leg):
    """In single precision, whose relative error is 6e-8."""
    square = sum(each[:, 0] ** 2 for each in leg.effects.values())
    sd = of_net(leg, lambda statistic: "_sd_".join(statistic.rsplit("_", 1)))
    np.testing.assert_allclose(np.sqrt(square), sd, rtol=1e-6)
    assert (sd > 0.1).all()
    noise, at_minimum = (leg.effects[f"effect_trial_marker_noise{end}"][:, 0] for end in ("", "_of_the_minimum"))
    assert np.array_equal(at_minimum != 0.0, [key[2] == "min_nm" for key in leg.keys])
    assert (np.abs(noise + at_minimum) > 1e-3).all()


def test_a_term_has_its_value_where_the_net_torque_has_its_extreme(leg):
    """From the torque component table, at the frame of the largest and smallest flexion torque of the window."""
    for (window, joint, statistic), values in zip(leg.keys, leg.values, strict=True):
        if statistic in ("max_nm", "min_nm"):
            sign = leg.motion.flexion.sign[leg.motion.joints.index(joint)]
            net = np.where(leg.windows[window], sign * leg.table[f"{joint}_torque_nm"].to_numpy(), np.nan)
            frame = np.nanargmax(net) if statistic == "max_nm" else np.nanargmin(net)
            names = [*(column.name for column in kind_columns(joint)), f"{joint}_torque_gravity_nm"]
            expected = [sign * leg.table[name][int(frame)].as_py() for name in names]
            np.testing.assert_allclose(values[1:5], expected, rtol=1e-9, atol=1e-12)


def test_the_gain_of_a_plate_changes_the_external_term_by_its_share(leg):
    """Two percent more force is two percent more external torque, with its sign, and nothing else."""
    effect, external = leg.effects["effect_study_plate_gain"], EFFECT_TERMS.index("external")
    np.testing.assert_allclose(effect[:, external], GAIN * leg.values[:, external], rtol=1e-4, atol=2e-5)
    np.testing.assert_array_equal(effect[:, 0], effect[:, external])
    assert not effect[:, 1:external].any()
    assert (effect[:, 0] > 0.1).any()
    assert (effect[:, 0] < -0.1).any()


def test_a_wrong_body_mass_changes_all_terms_of_the_segments_by_its_share(leg):
    """But those of velocities: the effect is that at velocities without their noise."""
    effect = leg.effects["effect_subject_body_mass"]
    terms = [EFFECT_TERMS.index(name) for name in ("inertial", "gravity", "base")]
    np.testing.assert_allclose(effect[:, terms], BODY_MASS * leg.values[:, terms], rtol=1e-5, atol=1e-9)


def test_every_effect_has_an_owner(leg):
    owners = {name: owner_of_effect(name) for name in leg.effects}
    assert owners["effect_trial_marker_noise"] == "trial"
    assert {owners[name] for name in owners if "joint_centres" in name or "soft_tissue" in name} == {"session"}
    assert {owners[name] for name in owners if "filter" in name or "plate" in name} == {"study"}


def test_a_table_has_0_for_errors_of_other_trials_and_nothing_where_none_is_known():
    def of_trial(*names):
        values = {"window": ["trial"], "joint": ["knee"], "term": ["net"], "statistic": ["mean_nm"], "unit": ["N m"]}
        columns = [effect_column("session", "joint_centres", name) for name in names]
        return TrialEffects(values | {"value": [5.0]}, columns, np.full((1, len(names)), 2.0, dtype=np.float32))

    table = effects_table({"a": of_trial("left knee"), "b": of_trial("right knee"), "long": of_trial()}).to_pandas()
    left, right = (table[f"effect_session_joint_centres_{side}_knee"] for side in ("left", "right"))
    np.testing.assert_array_equal(left, [2.0, 0.0, np.nan])
    np.testing.assert_array_equal(right, [0.0, 2.0, np.nan])
    assert table.trial.tolist() == ["a", "b", "long"]
