"""Checks of forces in movements other than walking: squats, runs, flights, seats."""

import numpy as np
import pytest

from limbtorque.arrays import beyond
from limbtorque.quality.body_checks import force_metrics
from limbtorque.quality.foot_checks import shear_error_share

RATE_HZ = 100.0


def stance(duration_s, start_m, end_m, slope):
    """A hip that moves from start to end above a still pressure, and a force whose direction turns `slope` times as far."""
    n = round(duration_s * RATE_HZ)
    hip = np.stack([np.linspace(start_m, end_m, n), np.full(n, 0.9)], axis=1)
    up = 700.0 * np.ones(n)
    force = np.stack([slope * up * hip[:, 0] / 0.9, up], axis=1)
    around = np.zeros((10, 2))
    return (
        np.vstack([around, force, around]),
        np.zeros((n + 20, 2)),
        np.vstack([around + hip[0], hip, around + hip[-1]]),
    )


def test_shear_is_judged_where_the_hip_passes_over_the_foot():
    """In walking a force without a part along the way errs by 1; a hip that stays behind the foot shows nothing."""
    assert shear_error_share(*stance(0.6, -0.3, 0.3, 0.0), RATE_HZ) == pytest.approx(1.0)
    assert np.isnan(shear_error_share(*stance(0.6, -0.4, 0.0, 0.0), RATE_HZ))


def test_shear_counts_less_in_short_stances():
    """0.2 s: g T^2 / h over 1.5 is 9.80665 * 0.04 / 0.9 / 1.5 = 0.291."""
    assert shear_error_share(*stance(0.2, -0.3, 0.3, 0.0), RATE_HZ) == pytest.approx(0.291, abs=1e-3)


def test_force_is_judged_beyond_what_no_marker_shows():
    """A bounce of 2 Hz whose force is 1.1 times as large as its acceleration asks for: 0.1 is less than the fifth that arms may add."""
    time_s = np.arange(300) / RATE_HZ
    wave = np.sin(4.0 * np.pi * time_s)
    rise = 4.0 / (4.0 * np.pi) ** 2  # 4 m/s2
    centre = np.stack([0.0 * wave, 1.0 - rise * wave], axis=1)
    known = (time_s > 0.5) & (time_s < 2.5)

    def residual(part):
        force = np.stack([0.0 * wave, 70.0 * (9.80665 + part * 4.0 * wave)], axis=1)
        return force_metrics(force, centre, known, rate_hz=RATE_HZ, mass_kg=70.0, gravity_m_s2=9.80665, axes=np.eye(2))[
            "force_residual_share"
        ]

    assert residual(1.1) == 0.0
    # rms of half of 4 m/s2 is 1.414, a fifth of 4 m/s2 0.566 m/s2: sqrt(1.414^2 - 0.566^2) / 9.80665 = 0.132, less at 6 Hz
    assert residual(1.5) == pytest.approx(0.132, rel=0.05)


def test_beyond_is_in_quadrature():
    assert beyond(-0.5, 0.3) == pytest.approx(0.4)
    assert beyond(0.1, 0.3) == 0.0
    assert np.isnan(beyond(float("nan"), 0.1))
