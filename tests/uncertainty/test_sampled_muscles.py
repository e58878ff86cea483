"""Muscle forces of samples: one flexor by hand, and the limits that its errors give."""

import numpy as np
import pytest
from still_chains import FOREARM_LIMB, N_FRAMES, RATE_HZ, forearm_at, with_errors

from limbtorque.muscles.force_table import force_series, muscle_summary
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.study.options.muscles import Muscles
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.uncertainty.propagation import trial_errors
from limbtorque.uncertainty.sampled import Draw
from limbtorque.uncertainty.sampled_forces import force_statistics, not_sampled, with_force_samples


@pytest.fixture
def lowering():
    """A forearm held in one place after the other: the torque of gravity from its largest value down."""
    return forearm_at(np.linspace(0.0, 1.2, N_FRAMES))


def summarised(motion, **errors):
    settings, torques, whole = with_errors(**errors), joint_torques(motion), np.ones(N_FRAMES, dtype=bool)
    options, windows = Muscles(), {"trial": whole, "none": ~whole}
    forces = muscle_forces(
        motion,
        torques.terms.net,
        load_muscle_set("pairs"),
        options=options,
        body_mass_kg=70.0,
        reaction_n=torques.wrenches.reaction_n,
    )
    chosen = forces.muscle_set
    rows = muscle_summary(motion, force_series(forces), chosen, options, windows=windows, min_known_share=0.5)
    found = force_statistics(
        trial_errors(motion, FOREARM_LIMB, settings),
        Draw(256, 1, "anna", "lower"),
        chosen,
        options,
        known=forces.arm_known,
        windows=windows,
        used=whole,
    )
    rows = with_force_samples(rows, found, chosen.names)
    arm_m = forces.geometry.moment_arm_m[0, 0, chosen.names.index("elbow_flexor")]
    return {row["window"]: row for row in rows if row["muscle"] == "elbow_flexor"}, arm_m


def test_the_force_of_one_muscle_is_torque_over_arm(lowering):
    """Body mass of 2 % alone: the same share of every statistic; limits of a normal error."""
    rows, arm_m = summarised(lowering, body_mass=0.02, moment_arm=0.0, muscle_strength=0.3)
    row = rows["trial"]
    for start, unit in (("peak", "n"), ("mean", "n"), ("impulse", "ns")):
        value = row[f"{start}_{unit}"]
        assert row[f"{start}_sd_{unit}"] == pytest.approx(0.02 * value, rel=0.01)
        assert row[f"{start}_low_{unit}"] == pytest.approx(value * (1.0 - 0.0392), rel=0.002)
        assert row[f"{start}_high_{unit}"] == pytest.approx(value * (1.0 + 0.0392), rel=0.002)
    net = joint_torques(lowering).terms.net[:, 0]
    assert row["peak_n"] == pytest.approx(net.max() / arm_m)
    assert row["impulse_ns"] == pytest.approx(0.5 * (net[1:] + net[:-1]).sum() / arm_m / RATE_HZ)


def test_the_quantiles_of_an_arm_are_those_of_its_inverse(lowering):
    """Force over 1 + 0.1 z at z = +-1.96."""
    row = summarised(lowering, moment_arm=0.1, muscle_strength=0.0)[0]["trial"]
    assert row["peak_low_n"] == pytest.approx(row["peak_n"] / 1.196, rel=0.01)
    assert row["peak_high_n"] == pytest.approx(row["peak_n"] / 0.804, rel=0.01)


def test_unknown_windows_have_no_limits(lowering):
    row = summarised(lowering, body_mass=0.02)[0]["none"]
    assert np.isnan([row[f"{name}_sd_n"] for name in ("peak", "mean")]).all()


def test_rows_without_samples_have_the_columns():
    [row] = with_force_samples([{"window": "trial", "muscle": "a", "peak_n": 1.0}], {}, ("a",))
    assert np.isnan(row["impulse_high_ns"])


@pytest.mark.parametrize(
    "options",
    [
        {"force_length_velocity": True},
        {"passive_moments": "anderson"},
        {"emg_weight": 1.0},
    ],
)
def test_optimizations_with_a_state_are_not_sampled(options):
    assert not not_sampled(Muscles())
    assert not_sampled(Muscles(**options)) == [f"muscles.{name}" for name in options]
