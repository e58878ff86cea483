"""The smoothing of joint centres: which of them choose the cut-off, and what the notes say, at both sides of each limit."""

import numpy as np
import pytest
from demo_reach import SETTINGS

from limbtorque.motion.smoothing import limited_cutoff, smooth_joints, smoother_of
from limbtorque.signals.cutoff import choose_cutoff, moving_share
from limbtorque.signals.smoothers import smooth_with_impacts
from limbtorque.study.settings import make_settings, override

RATE_HZ, N = 100.0, 400
NAMES = ("hip", "knee", "ankle", "toe")


def centres(*noise_m, n=N):
    """Slow movements with the same noise, of another size for each joint centre."""
    t = np.arange(n) / RATE_HZ
    slow = 0.2 * np.exp(-0.5 * ((t - t.mean()) / 0.3) ** 2)
    noise = np.random.default_rng(0).normal(size=(n, 3))
    return np.stack([slow[:, None] * [1.0, 0.5, 0.2] + size * noise for size in noise_m], axis=1)


def smoothed(values, *, names=NAMES, impacts_s=(), **changes):
    settings = override(SETTINGS, {f"filter.{name}": str(value) for name, value in changes.items()}, source="test")
    return smooth_joints(values, rate_hz=RATE_HZ, settings=settings, names=names, impacts_s=impacts_s)


# --- jumping markers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise_m", "jumping"),
    [
        ((1e-3, 1e-3, 1e-3, 2.9e-3), ""),  # three times the median
        ((1e-3, 1e-3, 1e-3, 3.1e-3), "toe"),
        ((1e-3, 3.1e-3, 1e-3, 5e-3, 1e-3), "knee and toe"),
        ((1e-5, 1e-5, 1e-5, 4e-4), ""),  # half a millimetre
        ((1e-5, 1e-5, 1e-5, 7e-4), "toe"),
    ],
)
def test_a_joint_centre_with_three_times_the_noise_does_not_choose(noise_m, jumping):
    found = smoothed(centres(*noise_m))
    notes = [note for note in found.notes if "far noisier than the others, not used to choose the cut-off" in note]
    assert notes == ([f"{jumping}: far noisier than the others, not used to choose the cut-off; check its markers"] if jumping else [])  # fmt: skip
    others = [size for size, name in zip(noise_m, (*NAMES, ""), strict=False) if name not in jumping.split(" and ")]
    expected = smoothed(centres(*(others if jumping else noise_m)), scope="trial")
    assert found.cutoff_hz[0] == pytest.approx(expected.cutoff_hz[0], rel=1e-6)


# --- cut-offs --------------------------------------------------------------------------------------------------------


def test_cutoffs_by_joint_are_those_of_each_alone():
    values = centres(1e-4, 5e-4, 2e-3)
    found = smoothed(values, scope="joint", min_cutoff_hz=0.5)
    at = {"rate_hz": RATE_HZ, "smoother": found.smoother}
    share = (
        4 / 6 * moving_share(values[..., :2], cutoff_hz=12.0, **at)
    )  # three points in the plane, a chain of two links
    alone = [choose_cutoff(values[:, k, :2], noise_share=share, **at).cutoff_hz for k in range(3)]
    assert found.cutoff_hz == pytest.approx(alone)
    assert alone[0] > alone[1] > alone[2]
    assert found.metrics["cutoff_hz"] == max(alone)
    for names, before in ((NAMES[:3], ("hip ", "knee ", "ankle ")), ((), ("", "", ""))):
        listed = ", ".join(f"{name}{cutoff_hz:.2f}" for name, cutoff_hz in zip(before, alone, strict=True))
        assert f"cut-off {listed} Hz" in smoothed(values, scope="joint", min_cutoff_hz=0.5, names=names).notes[0]


@pytest.mark.parametrize(
    ("cutoff_hz", "least_hz", "most_hz", "limited_hz"),
    [(5.0, 3.0, 10.0, 5.0), (2.0, 3.0, 10.0, 3.0), (12.0, 3.0, 10.0, 10.0), (12.0, 50.0, 60.0, 40.0)],
)
def test_limits_of_a_chosen_cutoff(cutoff_hz, least_hz, most_hz, limited_hz):
    """The lowest of the options gives way to 0.4 of the rate."""
    options = SETTINGS.filter.model_copy(update={"min_cutoff_hz": least_hz, "max_cutoff_hz": most_hz})
    assert limited_cutoff(cutoff_hz, options, RATE_HZ) == limited_hz


# --- notes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise_m", "smooth"), [(5e-7, True), (2e-6, False)])
def test_less_noise_than_a_thousandth_of_a_millimetre_was_smoothed_before(noise_m, smooth):
    found = smoothed(centres(noise_m, noise_m), cutoff_hz=6.0)
    assert found.metrics["noise_m"] == pytest.approx(noise_m, rel=0.3)
    assert any("smoothed before" in note for note in found.notes) == smooth
    assert f"noise about {1e3 * found.metrics['noise_m']:.2g} mm" in found.notes[0]


def test_a_short_trial_has_no_cutoff_of_its_own():
    found = smoothed(centres(1e-3, 1e-3, n=19), cutoff_hz=12.0)
    assert found.choices == ()
    assert found.notes[0].endswith("cut-off 12.00 Hz, as given; the trial is too short to choose a cut-off")
    assert "own_cutoff_hz" not in found.metrics


@pytest.mark.parametrize(("factor", "told"), [(1.0, False), (2.0, True)])
def test_impacts_are_told_where_they_count(factor, told):
    found = smoothed(centres(1e-3, 1e-3), scope="trial", impacts_s=(1.5, 2.25), impact_factor=factor)
    assert found.impact_hz == pytest.approx(factor * found.cutoff_hz[0])
    assert found.impacts_s == (1.5, 2.25)
    said = "cut-off times 2 around the loading of plates at 1.50, 2.25 s (filter.impact_factor)"
    assert (said in found.notes) == told
    given = smoothed(centres(1e-3, 1e-3), cutoff_hz=6.0, impacts_s=(1.5,), impact_factor=factor)
    assert given.impact_hz == 6.0  # a given cut-off is the same everywhere


def test_no_filter_leaves_the_positions():
    values = centres(1e-3, 1e-3)
    found = smoothed(values, method="none")
    assert found.smoother is None
    assert found.notes == ("no filter",)
    np.testing.assert_array_equal(found.values, values)


def test_impacts_are_smoothed_at_the_raised_cutoff():
    values = centres(1e-3, 1e-3)
    found = smoothed(values, scope="trial", impacts_s=(2.0,), impact_factor=3.0)
    cutoff_hz, smoother = found.cutoff_hz[0], found.smoother
    expected = smooth_with_impacts(values, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother, impact_hz=3.0 * cutoff_hz, impacts_s=(2.0,))  # fmt: skip
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    plain = smoothed(values, scope="trial")
    np.testing.assert_allclose(found.values[:100], plain.values[:100], atol=1e-9)
    assert np.abs(found.values[195:205] - plain.values[195:205]).max() > 1e-4


@pytest.mark.parametrize(
    ("least_hz", "most_hz", "option"),
    [(0.5, 40.0, ""), (30.0, 40.0, "filter.min_cutoff_hz"), (0.5, 1.0, "filter.max_cutoff_hz")],
)
@pytest.mark.parametrize("scope", ["trial", "joint"])
def test_a_limited_cutoff_is_named(least_hz, most_hz, option, scope):
    found = smoothed(centres(1e-3, 1e-3), scope=scope, min_cutoff_hz=least_hz, max_cutoff_hz=most_hz)
    assert ("the trial's own would be" in found.notes[0]) == bool(option)
    for limit_hz, name in ((least_hz, "filter.min_cutoff_hz"), (most_hz, "filter.max_cutoff_hz")):
        assert (name in found.notes[0]) == (set(found.cutoff_hz) == {limit_hz}) == (name == option)


@pytest.mark.parametrize("method", ["butterworth", "critically_damped"])
def test_the_smoother_has_the_order_and_accuracy_of_the_settings(method):
    options = {"filter": {"method": method, "order": 4, "cutoff_hz": 8.0}, "differentiation": {"accuracy": 2}}
    found = smoother_of(make_settings({"plane": {"up_axis": "+z", "forward_axis": "+x"}, **options}))
    assert (found.method, found.order, found.accuracy) == (method, 4, 2)
