"""The share of an impact's force that markers show: forces that accelerate segments, that do not, and half of each."""

from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.chain.model import Chain
from limbtorque.ground.impacts import Impacts
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.signals.smoothers import Smoother, impact_share, smooth_values

RATE_HZ, CUTOFF_HZ, STRIKE_S, N = 200.0, 10.0, 1.0, 400
CHAIN = Chain(np.array([0.4, 0.4]), np.array([6.0, 3.0]), np.array([0.2, 0.2]), np.array([0.1, 0.05]))
STILL = np.array([[0.0, 0.0], [0.4, 0.0], [0.8, 0.0]])  # a horizontal chain


def impact(*, carried, noise_m=0.0, smoothed_before=False):
    """A vertical blow of 40 ms at the middle of a chain that it moves as a whole, and a weight that it also stops."""
    time_s = np.arange(N) / RATE_HZ
    bump = np.exp(-0.5 * ((time_s - STRIKE_S - 0.01) / 0.012) ** 2)
    acceleration = 30.0 * bump
    height = np.roll(np.cumsum(np.cumsum(acceleration)), 1) / RATE_HZ**2  # whose central second difference is that
    height[0] = 0.0
    measured = STILL + np.stack([0.0 * height, height], axis=1)[:, None]
    measured = measured + noise_m * np.random.default_rng(1).standard_normal(measured.shape)
    if smoothed_before:
        measured = smooth_values(measured, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=Smoother())
    # moments 6 kg 0.2 m + 3 kg 0.6 m = 3 kg m and 3 kg 0.2 m = 0.6 kg m times the acceleration about the joints, from one wrench
    load = (1.0 + carried) * np.stack([0.0 * acceleration, 6.0 * acceleration, 3.0 * acceleration], axis=1)
    filtered = SmoothedJoints(measured, 0, Smoother(), (CUTOFF_HZ,), (), {}, (), 4, CUTOFF_HZ, (STRIKE_S,))
    filtered = SmoothedJoints(
        filtered.smooth(measured, RATE_HZ), 0, Smoother(), (CUTOFF_HZ,), (), {}, (), 4, CUTOFF_HZ, (STRIKE_S,)
    )
    motion = SimpleNamespace(chain=CHAIN, joint_m=np.broadcast_to(STILL, measured.shape), rate_hz=RATE_HZ)
    return Impacts.of(motion, filtered, measured), load


@pytest.mark.parametrize(("carried", "share"), [(0.0, 1.0), (1.0, 0.5), (9.0, 0.1)])
@pytest.mark.parametrize("noise_m", [0.0, 5e-4])
def test_the_share_is_that_of_the_force_that_accelerates_the_segments(carried, share, noise_m):
    """By Newton's second law about the first joint; noise of half a millimetre costs a few hundredths."""
    impacts, load = impact(carried=carried, noise_m=noise_m)
    ((time_s, found),) = impacts.filtered(load)[1]
    assert time_s == STRIKE_S
    assert found == pytest.approx(share, abs=0.15 if noise_m else 0.03)


def test_markers_that_were_smoothed_before_limit_nothing():
    impacts, load = impact(carried=0.0, smoothed_before=True)
    filtered, ((_, found),) = impacts.filtered(load)
    assert found < 0.1
    assert np.abs(filtered - load).max() < 0.1 * np.abs(load).max()


def test_the_force_is_filtered_like_the_markers_by_the_share_around_impacts_alone():
    impacts, load = impact(carried=0.0)
    filtered, shares = impacts.filtered(load)
    like_markers = impacts.smoothed.smooth(load, RATE_HZ)
    at, far = round(STRIKE_S * RATE_HZ), slice(round(1.2 * RATE_HZ), None)
    assert filtered[at] == pytest.approx(load[at] + shares[0][1] * (like_markers[at] - load[at]))
    np.testing.assert_array_equal(filtered[far], load[far])


def test_neighbouring_impacts_have_the_larger_share():
    share = impact_share(N, RATE_HZ, [(0.5, 0.2), (0.52, 0.8), (1.5, 0.0)])
    assert share.max() == pytest.approx(0.8)
    assert share[round(0.5 * RATE_HZ)] == pytest.approx(0.8)
    assert share[round(1.5 * RATE_HZ)] == 0.0
    assert not impact_share(N, RATE_HZ, []).any()
