"""Curves, rigid tendons and activation: SymPy's biomechanics, closed forms, derivatives and the way back."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from sympy.physics import biomechanics as sb

from limbtorque.muscles import hill
from limbtorque.muscles.hill import ActivationDynamics, activation_rate, excitation_for_rate, hill_limits

EPS = np.finfo(float).eps
CURVES = {
    "tendon_force": (sb.TendonForceLengthDeGroote2016, (0.95, 1.1)),
    "tendon_length": (sb.TendonForceLengthInverseDeGroote2016, (-0.2, 5.0)),
    "passive_force_length": (sb.FiberForceLengthPassiveDeGroote2016, (0.2, 1.8)),
    "active_force_length": (sb.FiberForceLengthActiveDeGroote2016, (0.2, 1.8)),
    "force_velocity": (sb.FiberForceVelocityDeGroote2016, (-1.2, 1.2)),
    "fibre_velocity": (sb.FiberForceVelocityInverseDeGroote2016, (-0.1, 1.9)),
}
FIBRES = {
    "max_force_n": [1000.0],
    "optimal_fibre_length_m": [0.1],
    "tendon_slack_length_m": [0.2],
    "pennation_rad": [0.3],
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_those_of_sympy(name):
    symbolic, ends = CURVES[name]
    x = sp.Symbol("x")
    at = np.linspace(*ends, 41)
    curve = symbolic.with_defaults(x).doit()
    exact = [float(curve.subs(x, sp.Float(value, 30)).evalf(30)) for value in at]
    # what one rounding of the argument does to a curve that bends 36 times as steeply as its height, and to a difference
    np.testing.assert_allclose(getattr(hill, name)(at), exact, rtol=100 * EPS, atol=10 * EPS)


@pytest.mark.parametrize("name", ["active_force_length", "passive_force_length"])
def test_slopes_are_those_of_the_curves(name):
    """Central differences: the error is that of the third derivative, some 100, times 1e-10 / 6."""
    curve, at, step = getattr(hill, name), np.linspace(0.3, 1.8, 31), 1e-5
    differences = (curve(at + step) - curve(at - step)) / (2.0 * step)
    np.testing.assert_allclose(getattr(hill, f"{name}_slope")(at), differences, atol=3e-8)


@pytest.mark.parametrize("strain", [0.02, 0.049, 0.1])
def test_tendon_of_any_strain(strain):
    """At its strain a tendon pulls with the strength; stiffness and inverse belong to its curve."""
    assert hill.tendon_force(1.0 + strain, strain) == pytest.approx(1.0, abs=1e-12)
    tension = np.linspace(0.0, 2.0, 21)
    length, step = hill.tendon_length(tension, strain), 1e-7
    np.testing.assert_allclose(hill.tendon_force(length, strain), tension, atol=1e-12)
    rise = (hill.tendon_force(length + step, strain) - hill.tendon_force(length - step, strain)) / (2.0 * step)
    np.testing.assert_allclose(hill.tendon_stiffness(tension, strain), rise, rtol=1e-6)


def test_curves_pass_near_the_points_they_were_made_for():
    """Within the third digit that the constants were rounded to, times their number; misprinted they do not."""
    assert hill.active_force_length(1.0) == pytest.approx(1.0, abs=0.01)
    assert hill.force_velocity(0.0) == pytest.approx(1.0, abs=0.005)
    assert hill.force_velocity(-1.0) == pytest.approx(0.0, abs=0.02)
    assert hill.passive_force_length([1.0, 1.6]) == pytest.approx([0.0, 1.0], abs=1e-15)
    assert hill.tendon_force(1.049) == pytest.approx(1.0, abs=0.01)
    d1, d2, _, d4 = hill.VELOCITY
    assert abs(np.sinh((1.0 - d4) / d1) / d2) > 0.04  # a velocity at the isometric force, without - d3
    not_squared = sum(b1 * np.exp(-0.5 * (1.0 - b2) ** 2 / (b3 + b4)) for b1, b2, b3, b4 in hill.GAUSSIANS)
    assert not_squared > 1.2


def test_isometric_at_the_optimum():
    """A fibre of the optimal length at the pennation it has there: F_max fl(1) fv(0) cos, and no passive tension."""
    length = 0.2 + 0.1 * np.cos(0.3)
    limits = hill_limits([[length]], [[0.0]], **FIBRES)
    expected = 1000.0 * hill.active_force_length(1.0) * hill.force_velocity(0.0) * np.cos(0.3)
    assert limits.strength_n[0, 0] == pytest.approx(expected, rel=1e-12)
    assert limits.fibre_length[0, 0] == pytest.approx(1.0, rel=1e-14)
    assert limits.cos_pennation[0, 0] == pytest.approx(np.cos(0.3), rel=1e-14)
    assert limits.passive_n[0, 0] == pytest.approx(0.0, abs=1e-9)
    assert limits.possible.all()
    assert limits.modelled.all()


def test_stretched_fibre():
    """Unpennate, at 1.3 optimal lengths, shortening by 2 of them per second out of 10."""
    limits = hill_limits([[0.33]], [[-0.2]], **FIBRES | {"pennation_rad": [0.0]})
    active = hill.active_force_length(1.3) * hill.force_velocity(-0.2)
    assert limits.strength_n[0, 0] == pytest.approx(1000.0 * active, rel=1e-12)
    assert limits.passive_n[0, 0] == pytest.approx(1000.0 * np.expm1(2.0) / np.expm1(4.0), rel=1e-12)  # 4 * 0.3 / 0.6
    assert limits.fibre_velocity[0, 0] == pytest.approx(-0.2, rel=1e-14)
    slower = hill_limits([[0.33]], [[-0.2]], **FIBRES | {"pennation_rad": [0.0]}, max_velocity_lopt_s=5.0)
    assert slower.fibre_velocity[0, 0] == pytest.approx(-0.4, rel=1e-14)


@given(st.floats(0.21, 0.36), st.floats(0.0, 1.2))
def test_fibre_keeps_its_thickness_and_its_velocity_is_that_of_its_length(length, pennation):
    step, muscle = 1e-6, FIBRES | {"pennation_rad": [pennation]}
    fast = hill_limits([[length]], [[0.01]], **muscle)
    sine = np.sqrt(1.0 - fast.cos_pennation**2)
    np.testing.assert_allclose(fast.fibre_length * sine, np.sin(pennation), atol=1e-7)  # root of rounding
    later, before = (hill_limits([[length + 0.01 * t]], [[0.0]], **muscle).fibre_length for t in (step, -step))
    # the third derivative of the length is below 1 / thickness^2, 1e4: far less than the rounding, eps / step
    np.testing.assert_allclose(10.0 * fast.fibre_velocity, (later - before) / (2.0 * step), atol=2e-9)


@given(st.floats(-0.5, 2.0), st.floats(-30.0, 30.0), st.floats(0.0, 1.5))
def test_tension_never_pushes_and_is_never_lost(length, velocity, pennation):
    limits = hill_limits([[length]], [[velocity]], **FIBRES | {"pennation_rad": [pennation]})
    for values in (limits.strength_n, limits.passive_n):
        assert np.isfinite(values).all()
        assert (values >= 0.0).all()
    assert limits.strength_n[0, 0] <= 1000.0 * 1.8  # lengthening at the greatest velocity
    assert limits.passive_n[0, 0] <= 1000.0 * (1.0 + 10.0 * EPS)
    inside = length > 0.2 and 0.4 <= limits.fibre_length[0, 0] <= 1.6 and abs(limits.fibre_velocity[0, 0]) <= 1.0
    assert limits.possible[0, 0] == inside


def test_what_is_impossible():
    """Slack, too short, too long, too fast either way; the tension is that of the end of the range."""
    muscle = FIBRES | {"pennation_rad": [0.0]}
    length = np.array([0.2, 0.19, 0.239, 0.361, 0.3, 0.3, 0.3])[:, None]
    velocity = np.array([0.0, 0.0, 0.0, 0.0, -1.01, 1.01, 0.99])[:, None]
    limits = hill_limits(length, velocity, **muscle)
    assert limits.possible[:, 0].tolist() == [False] * 6 + [True]
    ends = hill_limits([[0.24], [0.36], [0.3], [0.3]], [[0.0], [0.0], [-1.0], [1.0]], **muscle)
    assert (limits.strength_n[:2] == 0.0).all()
    assert (limits.passive_n[:2] == 0.0).all()
    np.testing.assert_allclose(limits.strength_n[2:6], ends.strength_n, rtol=1e-12)
    np.testing.assert_allclose(limits.passive_n[2:6], ends.passive_n, rtol=1e-12, atol=1e-9)


def test_unknown_fibres_and_missing_frames():
    two = {name: [values[0], values[0]] for name, values in FIBRES.items()} | {"max_force_n": [1000.0, 700.0]}
    for name in ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad"):
        length = [[0.3, 0.3], [np.nan] * 2, [0.3, 0.1]]
        limits = hill_limits(length, [[0.1] * 2] * 3, **two | {name: [two[name][0], np.nan]})
        assert limits.modelled.tolist() == [True, False]
        assert limits.strength_n[:, 1].tolist() == [700.0] * 3
        assert limits.passive_n[:, 1].tolist() == [0.0] * 3
        assert limits.possible.all()
        assert np.isfinite(limits.strength_n[0, 0])
        assert np.isnan([limits.strength_n[1, 0], limits.passive_n[1, 0], limits.fibre_length[1, 0]]).all()
    assert np.isnan(hill_limits([[0.3]], [[np.nan]], **FIBRES).strength_n).all()


def test_activation_dynamics_are_those_of_sympy():
    model = sb.FirstOrderActivationDeGroote2016.with_defaults("m")
    rate = sp.lambdify((model.e, model.a), model.rhs()[0], "numpy")
    e, a = np.meshgrid(np.linspace(0.0, 1.0, 21), np.linspace(0.0, 1.0, 21))
    np.testing.assert_allclose(activation_rate(e, a), rate(e, a), rtol=100 * EPS, atol=100 * EPS)


def test_constants_of_activation_dynamics():
    """Far from the switch the rates are those of either time constant; their inverse is 1/s."""
    dynamics = ActivationDynamics(rise_s=0.02, fall_s=0.1, smoothing=1e4)
    up, down = activation_rate([0.6, 0.2], 0.4, dynamics=dynamics)
    assert up == pytest.approx(0.2 / (0.02 * 1.1), rel=1e-12)
    assert down == pytest.approx(-0.2 * 1.1 / 0.1, rel=1e-12)
    for name in ("rise_s", "fall_s", "smoothing"):
        with pytest.raises(ValueError, match=f"{name} is 0.0"):
            ActivationDynamics(**{name: 0.0})


@given(st.floats(-200.0, 200.0), st.floats(0.0, 1.0))
def test_rate_and_back(rate, activation):
    found, reached = excitation_for_rate(rate, activation)
    assert 0.0 <= found <= 1.0
    back = activation_rate(found, activation)
    if reached:
        assert back == pytest.approx(rate, abs=1e-11)
    else:
        assert found == pytest.approx(float(rate > back), abs=1e-13)
        assert abs(rate) > abs(back)


def test_excitation_of_missing_and_impossible_values():
    found, reached = excitation_for_rate([np.nan, 1e4, -1e4], [0.2, 0.2, 0.2])
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1:], [1.0, 0.0], atol=1e-15)
    assert reached.tolist() == [True, False, False]
    with pytest.raises(ValueError, match=r"activation has 1.2; expected numbers from 0 to 1"):
        excitation_for_rate([0.0], [1.2])
