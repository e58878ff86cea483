"""Methods, cut-offs and gap filling by settings: a simulated reach whose accelerations are known, and real recordings."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from demo_reach import DEMO, EXACT, arm_motion

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.errors import SettingsError
from limbtorque.figures.quality_figures import cutoff_figure
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.cutoff import choose_cutoff
from limbtorque.signals.smoothers import Smoother
from limbtorque.simulation.reach import reach_motion
from limbtorque.study.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
NOISY = DEMO.recording(noise_m=3e-4)
TRUTH = reach_motion(DEMO.reach, rate_hz=EXACT.rate_hz)
METHODS = ["butterworth", "critically_damped", "quintic_spline"]
CUTOFFS = ["residual", "autocorrelation", "gcv", "expected_error"]


def motion(recording=NOISY, **changes):
    return arm_motion(recording, **changes)


def error(found):
    """Rms error of shoulder and elbow acceleration, rad/s^2, away from the ends."""
    wrong = (found.kinematics.acceleration_rad_s2 - TRUTH.acceleration_rad_s2)[~found.edge, :2]
    return float(np.sqrt(np.mean(wrong**2)))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_angles_of_an_exact_reach(method):
    """A reach of a second has little above 8 Hz: its angles come back to 1 deg, its accelerations to a tenth of their size."""
    found = motion(EXACT, filter__method=method, filter__order=3, filter__cutoff_hz=8.0)
    inside = ~found.edge
    np.testing.assert_allclose(found.kinematics.angle_rad[inside], TRUTH.angle_rad[inside], atol=np.radians(1.0))
    assert error(found) < 0.1 * np.abs(TRUTH.acceleration_rad_s2).max()


@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_a_chosen_cutoff_is_told_with_the_noise_that_was_found(cutoff):
    """Noise of 0.3 mm in each coordinate of a marker; the wrist's is the mean of two, so less. Found to a factor of 1.5."""
    found = motion(filter__method="quintic_spline", filter__cutoff_hz=cutoff)
    assert 2.0 < found.metrics["cutoff_hz"] < 20.0
    assert 1.0e-4 < found.metrics["noise_m"] < 4.5e-4
    assert found.metrics["cutoff_at_limit"] == 0.0
    assert found.metrics["own_cutoff_hz"] == found.metrics["cutoff_hz"]
    assert any(
        note.startswith(f"filter quintic spline; cut-off {found.metrics['cutoff_hz']:.2f} Hz by {cutoff}; noise")
        for note in found.notes
    )


def test_a_chosen_cutoff_stays_between_its_limits():
    """The trial's own is between 4 and 8 Hz; a given number is never limited."""
    own = motion().metrics["own_cutoff_hz"]
    assert 4.0 < own < 8.0
    low = motion(filter__min_cutoff_hz=9.0)
    assert (low.cutoff_hz, low.metrics["own_cutoff_hz"]) == ((9.0,), own)
    assert any("below filter.min_cutoff_hz" in note for note in low.notes)
    assert motion(filter__max_cutoff_hz=3.5).cutoff_hz == (3.5,)
    assert motion(filter__cutoff_hz=2.0).cutoff_hz == (2.0,)
    with pytest.raises(SettingsError, match="min_cutoff_hz is 9 Hz, expected at most max_cutoff_hz, 5 Hz"):
        motion(filter__min_cutoff_hz=9.0, filter__max_cutoff_hz=5.0)


def test_a_gap_is_filled_from_the_other_markers_and_told():
    """A gap of 0.25 s in a wrist marker while the arm moves: its error by principal components is below the cubic's, and told."""
    column, gap = NOISY.labels.index("WRR"), slice(70, 95)
    markers = NOISY.markers_m.copy()
    markers[gap, column] = np.nan
    holed = replace(NOISY, markers_m=markers)
    errors = {}
    for method in ("cubic", "principal_components"):
        found = motion(holed, gaps__max_gap_s=0.3, gaps__method=method)
        wrist = np.abs(found.joint_m - motion().joint_m)[gap, 2].max()
        errors[method] = (wrist, found.metrics["gap_error_m"])
        assert any(f"WRR 71-95 {method}" in note for note in found.notes)
    assert errors["principal_components"][0] < errors["cubic"][0]
    assert motion().metrics["gap_error_m"] == 0.0


@pytest.mark.parametrize(("by", "used_hz"), [("residual", (3.0,)), ("gcv", ())])
def test_residual_plot(by, used_hz):
    smoother = Smoother("quintic_spline")
    choices = [choose_cutoff(NOISY.markers_m[:, k], rate_hz=NOISY.rate_hz, smoother=smoother, by=by) for k in (0, 2)]
    figure = cutoff_figure(choices, title="reach", unit="m", names=["shoulder", "elbow"], used_hz=used_hz)
    assert len(figure.axes) == (2 if by == "residual" else 4)
    for axes, choice in zip(figure.axes, choices * 2, strict=False):
        lines = {line.get_label(): line.get_xdata() for line in axes.lines}
        assert lines["chosen from the data"] == pytest.approx([choice.cutoff_hz] * 2)
        assert ("used" in lines) == bool(used_hz)
    for axes, choice in zip(figure.axes, choices, strict=False):
        (residual,) = [line for line in axes.lines if line.get_label() == "residual"]
        np.testing.assert_array_equal(residual.get_ydata(), 1e3 * choice.residual)


def test_tremble_of_the_skin_is_not_taken_for_movement(recordings):
    """The right leg of the walk: its hip trembles at 15 to 40 Hz after heel strike, 0.8 mm above a noise of 0.1 mm.

    At 33 Hz that let through torques at the hip of 141 N m instead of 83 at 6 Hz, by this page's first criterion.
    """
    recording = read_c3d(recordings / "walking_opensim" / "walking2.c3d")
    settings = load_settings(ROOT / "tests" / "recordings_study" / "config" / "config.yaml")
    found = chain_motion(
        recording, Limb("leg", side="right", body_mass_kg=66.0, marker_set="opensim_walking"), settings
    )
    assert found.metrics["own_cutoff_hz"] < 20.0
    assert found.metrics["cutoff_hz"] <= 12.0


def test_the_default_filter_is_stated_once():
    """Smoother has defaults for scripts; they are those of the settings."""
    from limbtorque.study.options.motion import Filter

    assert (Smoother().method, Smoother().order) == (Filter().method, Filter().order)
