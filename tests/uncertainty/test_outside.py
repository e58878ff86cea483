"""Bands beside another program on recorded walks: a standing test of what docs/uncertainty.md says."""

from pathlib import Path

import numpy as np
import pytest

from limbtorque.uncertainty.bands import LIMITS

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def legs(recordings):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import bands_outside

        return [leg for leg in bands_outside.beside_plug_in_gait(recordings / "cohort") if leg.name == "straight walk"]


def shares(legs, status, name):
    """Share of the frames inside our limits, by joint."""
    parts = [
        (np.abs(getattr(leg, name)) < LIMITS * leg.sd_nm)[
            (leg.status == status) & np.isfinite(leg.off_nm + leg.sd_nm).all(axis=1)
        ]
        for leg in legs
    ]
    return np.concatenate(parts).mean(axis=0)


def test_the_bands_hold_plug_in_gait_in_stance(legs):
    """Most errors are common, so that at least 95 % should be held; with its own radii of gyration they are."""
    assert len(legs) == 6
    assert (shares(legs, 1, "off_nm") > 0.85).all()
    assert (shares(legs, 1, "other_nm") > 0.95).all()


def test_other_radii_of_gyration_explain_the_hip_in_swing(legs):
    """Ours hold three of five frames, those about the proximal end nearly all."""
    ours, other = shares(legs, 0, "off_nm"), shares(legs, 0, "other_nm")
    assert ours[0] < 0.75
    assert other[0] > 0.95
    assert other[1] > ours[1] + 0.4
