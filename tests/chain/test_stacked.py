"""Terms of many chains and motions at once beside one analysis after the other."""

import numpy as np
import pytest

from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.chain.regressor import coupling_of, inertial_parameters, term_rows
from limbtorque.chain.stacked import Motions, stacked_terms

GRAVITY = (0.6, -9.7)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_each_sample_has_the_terms_of_its_own_chain_and_motion(n):
    rng, n_samples, n_frames = np.random.default_rng(n), 5, 7
    chains = [Chain(*rng.uniform(0.1, 2.0, (4, n))) for _ in range(n_samples)]
    angle, velocity, acceleration = rng.normal(size=(3, n, n_samples, n_frames))
    base, external = rng.normal(size=(2, n_samples, n_frames)), rng.normal(size=(n, n_samples, n_frames))
    constants = coupling_of([inertial_parameters(c) for c in chains], [c.length_m for c in chains])
    found = stacked_terms(*constants, Motions(angle, velocity, acceleration, base), external, gravity_m_s2=GRAVITY)
    for k, chain in enumerate(chains):
        motion = Kinematics(angle[:, k].T, velocity[:, k].T, acceleration[:, k].T, base_acceleration_m_s2=base[:, k].T)
        expected = term_rows(torque_terms(chain, motion, gravity_m_s2=GRAVITY))
        expected[:, -1] += external[:, k]
        expected[:, 0] += external[:, k]
        np.testing.assert_allclose(found[:, :, k], expected, rtol=1e-12, atol=1e-12)  # rounding
