"""Random chains and motions for the tests of the mechanics, and what counts as equal."""

import numpy as np

from limbtorque.chain import Chain

N_STATES = 200
ROUNDING = 1e-12  # double precision after some hundred operations, relative to the largest number of the array


def same(found, expected, scale=0.0, rounding=ROUNDING):
    """Equal within rounding of the largest number involved."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(np.abs(expected).max(initial=0.0), scale, 1e-300)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=rounding * size)


def random_chain(rng, n):
    """Links as different as a finger and a thigh, with centres of mass beside the link, too."""
    length = rng.uniform(0.1, 0.6, n)
    return Chain(length, rng.uniform(0.3, 9.0, n), length * rng.uniform(-0.2, 1.2, n), rng.uniform(0.001, 0.2, n))


def random_motion(rng, n, frames=N_STATES):
    """Angles, velocities and accelerations as large as in a throw."""
    return (
        rng.uniform(-4.0, 4.0, (frames, n)),
        rng.uniform(-10.0, 10.0, (frames, n)),
        rng.uniform(-80.0, 80.0, (frames, n)),
    )
