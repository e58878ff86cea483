"""Products of two noisy velocities: mean and variance against drawn numbers and closed forms."""

import numpy as np
import pytest
from still_chains import N_FRAMES, RATE_HZ, motion_of

from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.linear import term_rows, with_kinds
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.uncertainty.marker_noise import MarkerNoise, NoiseGains, product_noise

NONE = NoiseGains(None, RATE_HZ, (RATE_HZ / 2.0,), np.ones((1, N_FRAMES)), 0.0, 4, np.ones((1, 3)))
COVARIANCE = np.array([[4.0, 1.0, -0.5], [1.0, 2.0, 0.3], [-0.5, 0.3, 1.0]]) * 1e-6  # of the links' orientations


def resting():
    length = np.array([0.3, 0.25, 0.1])
    chain = Chain(length, [2.0, 1.2, 0.4], 0.45 * length, [0.02, 0.008, 0.001])
    angle = np.tile([-1.2, 0.9, 0.4], (N_FRAMES, 1))
    kinematics = Kinematics(angle, 0.0 * angle, 0.0 * angle)
    joints, segments = ("shoulder", "elbow", "wrist"), ("upper_arm", "forearm", "hand")
    return motion_of(chain, kinematics, joints=joints, segments=segments)


def noise():
    parts = np.zeros((5, 5))
    parts[2:, 2:] = np.linalg.cholesky(COVARIANCE)
    return MarkerNoise(np.tile(parts[..., None], N_FRAMES), np.zeros(N_FRAMES), NONE)


def test_mean_and_variance_equal_those_of_drawn_velocities():
    """60,000 samples: a mean is uncertain by 0.4 % of the standard deviation, a variance of squares by some 2 %."""
    motion, errors = resting(), noise()
    found = product_noise(motion, errors)
    covariance = errors.velocity[..., 0]
    drawn = np.random.default_rng(1).multivariate_normal(np.zeros(3), covariance, 60_000)
    angle = np.tile(motion.kinematics.angle_rad[0], (len(drawn), 1))
    rows = with_kinds(
        term_rows(torque_terms(motion.chain, Kinematics(angle, drawn, 0.0 * drawn), gravity_m_s2=(0.0, 0.0)))
    )
    sd = np.sqrt(found.variance_nm2[..., 0])
    np.testing.assert_allclose(rows.mean(axis=2), found.bias_nm[..., 0], rtol=0.0, atol=0.02 * sd.max())
    np.testing.assert_allclose(rows.std(axis=2)[sd > 0.0], sd[sd > 0.0], rtol=0.03)
    assert (rows[sd == 0.0] == 0.0).all()


def test_square_of_one_noisy_velocity():
    """Variance 2 v^2 and mean v of the square, times the coefficient of the shoulder's velocity at the elbow."""
    motion, errors = resting(), noise()
    found, v = product_noise(motion, errors), errors.velocity[0, 0, 0]
    unit = Kinematics(motion.kinematics.angle_rad[:1], np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3)))
    rows = term_rows(torque_terms(motion.chain, unit, gravity_m_s2=(0.0, 0.0)))[1, 4, 0]
    assert found.bias_nm[1, 4, 0] == pytest.approx(rows * v)
    assert found.variance_nm2[1, 4, 0] == pytest.approx(2.0 * (rows * v) ** 2)


def test_terms_of_second_order_add_up_to_the_net_bias():
    found = product_noise(resting(), noise())
    np.testing.assert_allclose(found.bias_nm[:, 0], found.bias_nm[:, 1:-3].sum(axis=1), rtol=1e-12, atol=1e-18)


def test_without_noise_there_is_no_second_order():
    found = product_noise(resting(), None)
    assert not found.bias_nm.any()
    assert not found.variance_nm2.any()
