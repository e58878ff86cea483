"""Bad input of every public function of the chain and the simulation is refused with a sentence.

The sentence names the argument, says the shape found and the one expected or, where a number is not finite, the shape and
the first bad entry. NaN passes where a function takes `missing=True` and is told so; an infinite number passes nowhere.
"""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import limbtorque
from chains import three_links
from limbtorque.chain.conventions import internal_angles, joint_angles, segment_angles, segment_terms, segment_torques
from limbtorque.chain.dynamics import inertia_matrix, newton_euler, torque_terms
from limbtorque.chain.energy import power_balance, segment_energies
from limbtorque.chain.forward import forward_dynamics, induced_accelerations
from limbtorque.chain.inverse import fit_rigid_chain, joint_motion, two_link_angles
from limbtorque.chain.kinematics import (
    acceleration_parts,
    jacobian,
    jacobian_rate,
    joint_positions,
    manipulability,
    null_space_projector,
    point_acceleration,
    point_jerk,
    point_position,
    point_velocity,
    velocity_ellipse,
)
from limbtorque.chain.model import Chain, Kinematics, Load, Point
from limbtorque.simulation.forward import AttachedLoad, Drive, State, pid, simulate
from limbtorque.simulation.reach import minimum_jerk

FRAMES, LINKS = 5, 3
CHAIN = three_links()
TWO = Chain([0.31, 0.27], [2.1, 1.3], [0.135, 0.115], [0.0205, 0.0091])
RNG = np.random.default_rng(1)
JOINTS = RNG.uniform(0.2, 1.0, (3, FRAMES, LINKS))
ANGLE, VELOCITY, ACCELERATION = JOINTS
BASE = RNG.normal(size=(FRAMES, 2))
DOWN = np.array([0.0, -9.81])
TERMS = torque_terms(CHAIN, Kinematics(ANGLE, VELOCITY, ACCELERATION), gravity_m_s2=DOWN)
POSITION = joint_positions(CHAIN, ANGLE)
POINT = Point(1, 0.1)
LOAD = Load(2, RNG.normal(size=(FRAMES, 2)), RNG.normal(size=(FRAMES, 2)), RNG.normal(size=FRAMES))
MOTION = {"angle_rad": ANGLE, "velocity_rad_s": VELOCITY, "acceleration_rad_s2": ACCELERATION}
LOADED = {"gravity_m_s2": DOWN, "base_acceleration_m_s2": BASE, "loads": [LOAD], "joint_m": POSITION}
ON = {"chain": CHAIN, "point": POINT}


def some(arguments, *names):
    return {name: arguments[name] for name in names}


def called(function, arguments):
    """Call a function; arguments that belong to its kinematics or to its first state are put into them."""
    arguments = dict(arguments)
    for name, kind in (("kinematics", Kinematics), ("start", State)):
        if name in inspect.signature(function).parameters and "duration_s" not in arguments:
            parts = {field.name for field in fields(kind)} & arguments.keys()
            arguments[name] = kind(**{part: arguments.pop(part) for part in parts})
    return function(**arguments)


GAINS = ("proportional_nm_rad", "integral_nm_rad_s", "derivative_nms_rad")
# good arguments of every function that takes arrays; each array is then spoilt in turn
GOOD = {
    acceleration_parts: {**ON, **MOTION, "base_acceleration_m_s2": BASE},
    fit_rigid_chain: {"joint_m": POSITION, "counted": np.ones(FRAMES, dtype=bool)},
    forward_dynamics: {
        "chain": CHAIN,
        **some(MOTION, "angle_rad", "velocity_rad_s"),
        "torque_nm": ACCELERATION,
        "gravity_m_s2": DOWN,
        "base_acceleration_m_s2": BASE,
        "load_nm": ACCELERATION,
    },
    induced_accelerations: {
        "chain": CHAIN,
        **some(MOTION, "angle_rad", "velocity_rad_s"),
        "terms": TERMS,
        "base_acceleration_m_s2": BASE,
    },
    inertia_matrix: {"chain": CHAIN, "angle_rad": ANGLE},
    internal_angles: {"angle_rad": ANGLE},
    jacobian: {**ON, "angle_rad": ANGLE},
    jacobian_rate: {**ON, **some(MOTION, "angle_rad", "velocity_rad_s")},
    joint_angles: {"orientation_rad": ANGLE},
    joint_motion: {
        "chain": TWO,
        "angle_rad": ANGLE[:, :2],
        "velocity_m_s": BASE,
        "acceleration_m_s2": BASE,
        "jerk_m_s3": BASE,
    },
    joint_positions: {"chain": CHAIN, "angle_rad": ANGLE, "base_m": BASE},
    manipulability: {"jacobian_m": np.swapaxes(POSITION[:, 1:], 1, 2)},
    minimum_jerk: {"time_s": np.linspace(0, 1, FRAMES), "start": np.zeros(2), "end": np.ones(2), "duration_s": 1.0},
    newton_euler: {"chain": CHAIN, **MOTION, **LOADED},
    null_space_projector: {"jacobian_m": np.swapaxes(POSITION[:, 1:], 1, 2)},
    pid: {"target_rad": np.zeros(LINKS), **dict.fromkeys(GAINS, np.ones(LINKS))},
    point_acceleration: {**ON, **MOTION, "base_acceleration_m_s2": BASE},
    point_jerk: {**ON, **MOTION, "jerk_rad_s3": ACCELERATION, "base_jerk_m_s3": BASE},
    point_position: {**ON, "angle_rad": ANGLE, "base_m": BASE},
    point_velocity: {**ON, **some(MOTION, "angle_rad", "velocity_rad_s"), "base_velocity_m_s": BASE},
    power_balance: {
        "chain": CHAIN,
        **MOTION,
        "terms": TERMS,
        "gravity_m_s2": DOWN,
        "base_velocity_m_s": BASE,
        "base_acceleration_m_s2": BASE,
    },
    segment_angles: {"angle_rad": ANGLE},
    segment_energies: {
        "chain": CHAIN,
        **some(MOTION, "angle_rad", "velocity_rad_s"),
        "gravity_m_s2": DOWN,
        "base_m": BASE,
        "base_velocity_m_s": BASE,
    },
    segment_terms: {"chain": CHAIN, **MOTION, "terms": TERMS},
    segment_torques: {"torque_nm": ANGLE},
    simulate: {
        "chain": CHAIN,
        "time_s": np.linspace(0.0, 0.01, FRAMES),
        "angle_rad": ANGLE[0],
        "velocity_rad_s": VELOCITY[0],
        "torque": np.zeros((FRAMES, LINKS)),
        "gravity_m_s2": DOWN,
        "base_acceleration_m_s2": BASE,
        "base_m": BASE[0],
        "base_velocity_m_s": BASE[0],
        "load_nm": np.zeros((FRAMES, LINKS)),
    },
    torque_terms: {"chain": CHAIN, **MOTION, **LOADED},
    two_link_angles: {
        "length_m": np.array([0.3, 0.25]),
        "target_m": np.full((FRAMES, 2), 0.2),
        "bend": "positive",
        "base_m": np.zeros((FRAMES, 2)),
    },
    velocity_ellipse: {"jacobian_m": np.swapaxes(POSITION[:, 1:], 1, 2)},
}

ELSEWHERE = {"muscle_drive", "muscle_state"}  # their input is tested in test_muscle_driven.py
# functions without an array of their own: pairs counts, the other two sort terms that torque_terms or segment_terms made
WITHOUT_ARRAYS = {"pairs", "interaction_torques", "motion_dependent_torques"}


def each_function(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda function: function.__name__)


def arrays(function, *, of=float):
    """Names of the arrays of numbers among a function's arguments."""
    return [name for name, v in GOOD[function].items() if isinstance(v, np.ndarray) and v.dtype == of]


def refused(function, **change):
    """What a function says to good arguments with a change."""
    arguments = {**GOOD[function], **change}
    with pytest.raises(ValueError) as raised:  # noqa: PT011 (the callers check the sentence)
        called(function, arguments)
    return str(raised.value)


def test_every_public_function_is_here():
    functions = [each for name in limbtorque.__all__ if inspect.isfunction(each := getattr(limbtorque, name))]
    rooms = ("limbtorque.chain.", "limbtorque.simulation.")
    public = {
        each.__name__
        for each in functions
        if each.__module__.startswith(rooms)
        and each.__module__ not in ("limbtorque.chain.segments", "limbtorque.chain.body_segments")
    }
    assert {function.__name__ for function in GOOD} | WITHOUT_ARRAYS | ELSEWHERE == public


@each_function(GOOD)
def test_good_input_is_taken_and_left_alone(function):
    kept = {name: value.copy() for name, value in GOOD[function].items() if isinstance(value, np.ndarray)}
    called(function, GOOD[function])
    for name, value in kept.items():
        np.testing.assert_array_equal(GOOD[function][name], value)


# --- shapes ----------------------------------------------------------------------------------------------------------

ANY_WIDTH = {internal_angles, joint_angles, manipulability, null_space_projector, segment_angles, segment_torques}
ANY_WIDTH |= {velocity_ellipse}


def other_shapes(function, name):
    """Another number of columns, one dimension more and one less, except where the function takes that too."""
    value = GOOD[function][name]
    if function not in ANY_WIDTH and name not in {"time_s", "counted"}:
        yield np.concatenate([value, value[..., :1]], axis=-1)
    if name == "counted":
        yield value[1:]
    yield np.stack([value, value])
    constant = function is simulate and name in {"torque", "load_nm"}  # the same on every frame
    if not (constant or (name.startswith("base_") and value.ndim == 2)):
        yield value[0]


@each_function(GOOD)
def test_other_shapes_are_named(function):
    for name in arrays(function) + arrays(function, of=bool):
        for spoilt in other_shapes(function, name):
            message = refused(function, **{name: spoilt})
            assert name in message
            assert str(np.shape(spoilt)) in message
            assert "expected" in message
            wanted = GOOD[function][name].shape
            if len(np.shape(spoilt)) == len(wanted) and function not in (minimum_jerk, pid, two_link_angles):
                assert (
                    str(wanted[-1]) in message.split("expected")[1]
                )  # the columns it wants; the others say it in words


FREE_FRAMES = {"angle_rad", "time_s", "jacobian_m", "orientation_rad", "target_m"}  # these say how many there are


@each_function([f for f in GOOD if f not in (fit_rigid_chain, segment_torques)])
def test_other_numbers_of_frames_are_named(function):
    for name in arrays(function):
        value = GOOD[function][name]
        if len(value) == FRAMES and name not in FREE_FRAMES:
            message = refused(function, **{name: value[1:]})
            assert name in message
            assert str(value[1:].shape) in message
            assert str(FRAMES) in message.split("expected")[1]


# --- numbers that are none -------------------------------------------------------------------------------------------


def spoil(value, first, second):
    """The array with two bad numbers in it, and where the first is."""
    spoilt, place = value.copy(), ((len(value) - 1) // 2, *[0] * (value.ndim - 1))
    spoilt[place] = first
    spoilt[(-1,) * value.ndim] = second
    return spoilt, ", ".join(map(str, place))


@pytest.mark.parametrize("numbers", [(np.nan, np.inf), (-np.inf, np.nan)])
@each_function([f for f in GOOD if f is not fit_rigid_chain])  # to which NaN is a missing joint
def test_first_number_that_is_not_finite_is_named(function, numbers):
    for name in arrays(function):
        value = GOOD[function][name]
        spoilt, where = spoil(value, *numbers)
        message = refused(function, **{name: spoilt})
        assert name in message
        if name != "length_m":  # of which both are shown
            assert str(value.shape) in message
            assert f"{numbers[0]} at [{where}]" in message


WITH_MISSING = [f for f in GOOD if "missing" in inspect.signature(f).parameters]


@each_function([*WITH_MISSING, fit_rigid_chain])
def test_nan_may_be_missing_and_infinity_may_not(function):
    options = {"missing": True} if function in WITH_MISSING else {}
    for name in arrays(function):
        if name == "gravity_m_s2":
            continue
        gap, _ = spoil(GOOD[function][name], np.nan, np.nan)
        called(function, {**GOOD[function], **options, name: gap})
        gap[(0,) * gap.ndim] = np.nan  # so that it is not the entry that is named
        spoilt, where = spoil(gap, -np.inf, np.inf)
        message = refused(function, **options, **{name: spoilt})
        assert name in message
        assert f"-inf at [{where}]" in message
    if "gravity_m_s2" in GOOD[function]:
        assert "nan at [1]" in refused(function, **options, gravity_m_s2=np.array([0.0, np.nan]))


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["force_n", "point_m", "couple_nm"])
@pytest.mark.parametrize("function", [torque_terms, newton_euler])
def test_numbers_of_loads_are_named(function, name, number):
    spoilt = getattr(LOAD, name).copy()
    place = (3, *[0] * (spoilt.ndim - 1))
    spoilt[place] = number
    fields = {"force_n": LOAD.force_n, "point_m": LOAD.point_m, "couple_nm": LOAD.couple_nm, name: spoilt}
    loads = [LOAD, Load(0, **fields)]
    message = refused(function, loads=loads)
    assert f"loads[1].{name} of shape {spoilt.shape} has {number} at [{', '.join(map(str, place))}]" in message
    if np.isnan(number):
        called(function, {**GOOD[function], "loads": loads, "missing": True})
    else:
        assert f"loads[1].{name}" in refused(function, loads=loads, missing=True)


# --- points, choices, and things that do not belong together ---------------------------------------------------------

OF_POINTS = [f for f in GOOD if "point" in GOOD[f]]


@pytest.mark.parametrize("point", [Point(3, 0.1), Point(-1, 0.1), Point(1, np.nan), Point(0, 0.1, np.inf)], ids=str)
@each_function(OF_POINTS)
def test_points_that_are_nowhere_are_named(function, point):
    message = refused(function, point=point)
    assert (str(point) if 0 <= point.link < LINKS else f"point.link is {point.link}") in message


CHOICES = [(function, "space", ("joint", "segment")) for function in (jacobian, jacobian_rate)]
CHOICES += [(two_link_angles, "bend", ("positive", "negative")), (two_link_angles, "unreachable", ("error", "project"))]
CHOICES += [(function, "zero", ("x_axis", "downward_vertical")) for function in (segment_angles, joint_angles)]


@pytest.mark.parametrize(("function", "name", "choices"), CHOICES)
def test_choices_that_there_are_not_are_named(function, name, choices):
    message = refused(function, **{name: "sideways"})
    assert name in message
    assert all(repr(choice) in message for choice in choices)


def terms_of(chain, frames):
    motion = (values[:frames, : chain.n_links] for values in JOINTS)
    return torque_terms(chain, Kinematics(*motion), gravity_m_s2=DOWN)


@pytest.mark.parametrize(("chain", "frames"), [(CHAIN, 4), (CHAIN, 1), (TWO, FRAMES)])
@pytest.mark.parametrize("function", [induced_accelerations, power_balance, segment_terms])
def test_terms_of_another_motion_are_named(function, chain, frames):
    message = refused(function, terms=terms_of(chain, frames))
    assert "terms" in message
    assert "expected" in message


STRAIGHT = np.array([[0.3, 0.5], [0.3, np.pi], [0.3, 0.0], [0.3, 0.5], [0.3, 0.5]])
BARE = Chain([0.3, 0.3, 0.3], [1.0, 1.0, 0.0], [0.1, 0.1, 0.1], [0.1, 0.1, 0.0])
VALUES = [
    *(
        (two_link_angles, {"length_m": lengths}, "length_m is [")
        for lengths in ([0.3, 0.0], [-0.1, 0.3], [0.3, np.nan])
    ),
    *((function, {"chain": BARE}, "link 2 has no inertia") for function in (forward_dynamics, induced_accelerations)),
    (joint_motion, {"chain": CHAIN}, "the chain has 3 links"),
    (joint_motion, {"angle_rad": STRAIGHT}, "angle_rad[1]"),
    (fit_rigid_chain, {"joint_m": np.where(np.arange(4)[:, None] == 2, np.nan, POSITION)}, "no complete counted frame"),
    (fit_rigid_chain, {"counted": np.zeros(FRAMES, dtype=bool)}, "no complete counted frame"),
    (fit_rigid_chain, {"counted": np.ones(FRAMES)}, "of bool"),
    *(
        (minimum_jerk, {"duration_s": duration}, f"duration_s is {duration}")
        for duration in (0.0, -1.0, np.nan, np.inf)
    ),
]


@pytest.mark.parametrize(("function", "change", "words"), VALUES)
def test_values_that_cannot_be_are_named(function, change, words):
    assert words in refused(function, **change)


# --- simulation ------------------------------------------------------------------------------------------------------


def limited(value):
    """A law that always says the same, but not for ever: an integrator that cannot go on is stopped by an error."""
    calls = iter(range(1000))

    def law(*_):
        if next(calls, None) is None:
            raise RuntimeError("the integration does not end")
        return value

    return law


def loaded(point, force):
    return {"loads": [AttachedLoad(point, limited(force))]}


STILL, ONE = limited(np.zeros(LINKS)), (0.0, 1.0)
SIMULATIONS = [
    ({"time_s": [0.0]}, "time_s of shape (1,) has too few; expected two or more rising times"),
    ({"time_s": [0.0, 0.1, 0.1]}, "time_s of shape (3,) has 0.1 at [2] after 0.1; expected two or more rising"),
    ({"torque": limited(np.zeros(2))}, "(2,)"),
    ({"torque": limited(np.zeros((1, 3)))}, "(1, 3)"),
    ({"torque": limited([0.0, np.nan, 0.0])}, "torque"),
    (loaded(Point(3, 0.1), ONE), "loads[0].point.link is 3; the chain has links 0 to 2"),
    (loaded(Point(-1, 0.1), ONE), "loads[0].point.link is -1"),
    (loaded(Point(1, np.nan), ONE), "loads[0]"),
    (loaded(POINT, (0.0, 1.0, 2.0)), "loads[0]"),
    (loaded(POINT, 1.0), "loads[0]"),
    (loaded(POINT, (np.nan, 1.0)), "loads[0]"),
    ({"torque": Drive(STILL, (0.0,), None)}, "only memory or memory_rate; expected both or neither"),
    ({"torque": Drive(STILL, (), limited([0.0]))}, "only memory or memory_rate"),
    ({"torque": Drive(STILL, (0.0,), limited([0.0, 0.0]))}, "memory_rate"),
]


@pytest.mark.parametrize(("change", "words"), SIMULATIONS)
def test_simulations_that_are_none_are_named(change, words):
    message = refused(simulate, **{"torque": STILL, **change})
    assert words in message


@pytest.mark.parametrize("shape", [(2, 3), (4, 3, 3), (4, 1, 3), (4, 2, 1), (4, 2, 3, 1)])
@pytest.mark.parametrize("function", [manipulability, null_space_projector, velocity_ellipse])
def test_a_jacobian_of_another_shape_is_refused(function, shape):
    with pytest.raises(ValueError, match=r"expected \(n_frames, 2, 2 or more joints\)"):
        function(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))
