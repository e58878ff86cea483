"""Forward dynamics: motion produced by torques, and work done."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, finite, row, vectors
from limbtorque.chain.energy import segment_energies
from limbtorque.chain.forward import check_inertia
from limbtorque.chain.kinematics import STILL, in_plane, on_chain
from limbtorque.chain.model import Chain, Kinematics, Point
from limbtorque.chain.prepared import PreparedChain
from limbtorque.study.options.base import Options, option

RUNAWAY_RAD_S = 1e6
TorqueLaw = Callable[[float, FloatArray, FloatArray, FloatArray], ArrayLike]


class Integration(Options):
    """Method and tolerances of the integration by scipy's ``solve_ivp``."""

    method: Literal["DOP853", "LSODA"] = option("DOP853", "Integrator.")
    rtol: float = option(1e-9, "Relative tolerance.", "1", ge=1e-13, le=1e-2)
    atol: float = option(1e-10, "Absolute tolerance of angles, velocities and work.", "rad, rad/s, J", gt=0.0)
    max_step_s: float | None = option(None, "Longest step; null: chosen from the tolerances.", "s", ge=1e-5)


@dataclass(frozen=True, eq=False)
class State:
    """State of a chain at one instant.

    Attributes
    ----------
    angle_rad, velocity_rad_s : array_like of shape (n_joints,)
        Joint angles and angular velocities.
    base_m, base_velocity_m_s : array_like of shape (2,)
        Position and velocity of the first joint, 0 by default.
    """

    angle_rad: ArrayLike
    velocity_rad_s: ArrayLike
    base_m: ArrayLike = STILL
    base_velocity_m_s: ArrayLike = STILL


@dataclass(frozen=True)
class Drive:
    """Torques as a function of time and state, with optional internal states.

    An internal state is an integral or an activation.

    Attributes
    ----------
    torque : callable
        ``torque(time_s, angle_rad, velocity_rad_s, memory)`` -> net joint torques, shape (n_joints,), N m.
    memory : tuple of float
        Values of the memory at the start.
    memory_rate : callable or None
        Their rates of change, from the same arguments; needed where there is a memory.
    """

    torque: TorqueLaw
    memory: tuple[float, ...] = ()
    memory_rate: TorqueLaw | None = None


@dataclass(frozen=True)
class AttachedLoad:
    """Load at a point of a link as a function of time and the point's motion.

    Attributes
    ----------
    point : Point
        Point of application.
    force : callable
        ``force(time_s, position_m, velocity_m_s)`` -> force on the link, shape (2,), N.
    couple : callable or None
        ``couple(time_s, orientation_rad, velocity_rad_s)`` of the link -> couple on it, N m.
    """

    point: Point
    force: Callable[[float, FloatArray, FloatArray], ArrayLike]
    couple: Callable[[float, float, float], float] | None = None


@dataclass(frozen=True)
class Simulation:
    """An integrated motion.

    Attributes
    ----------
    success : bool
        True where the integration reached the last time, or `until` stopped it.
    message : str
        Message of the integrator.
    n_evaluations : int
        Number of evaluations of the accelerations.
    time_s : ndarray of shape (n_frames,)
        Requested times that the integration reached.
    angle_rad, velocity_rad_s, acceleration_rad_s2, torque_nm : ndarray of shape (n_frames, n_joints)
        Joint angles, their derivatives, and the torques that drove them.
    base_m, base_velocity_m_s : ndarray of shape (n_frames, 2)
        Motion of the base.
    memory : ndarray of shape (n_frames, n_memory)
        Memory of the drive.
    energy_j : ndarray of shape (n_frames,)
        Kinetic and potential energy of the chain.
    joint_work_j : ndarray of shape (n_frames, n_joints)
        Work of every joint torque since the first frame.
    base_work_j, load_work_j : ndarray of shape (n_frames,)
        Work at the moving base, and of the loads.
    """

    success: bool
    message: str
    n_evaluations: int
    time_s: FloatArray
    angle_rad: FloatArray
    velocity_rad_s: FloatArray
    acceleration_rad_s2: FloatArray
    torque_nm: FloatArray
    base_m: FloatArray
    base_velocity_m_s: FloatArray
    memory: FloatArray
    energy_j: FloatArray
    joint_work_j: FloatArray
    base_work_j: FloatArray
    load_work_j: FloatArray

    @property
    def balance_j(self) -> FloatArray:
        """Change of energy minus all work, shape (n_frames,): the integration error."""
        work = self.joint_work_j.sum(axis=1) + self.base_work_j + self.load_work_j
        return np.asarray(self.energy_j - self.energy_j[0] - work)


def pid(
    target_rad: Callable[[float], ArrayLike] | ArrayLike,
    *,
    proportional_nm_rad: ArrayLike,
    integral_nm_rad_s: ArrayLike,
    derivative_nms_rad: ArrayLike,
    target_velocity_rad_s: Callable[[float], ArrayLike] | None = None,
    controls: Literal["joints", "segments"] = "joints",
) -> Drive:
    """PID control torques that hold or track angles of joints or segments.

    Parameters
    ----------
    target_rad : callable of time, or array_like of shape (n_joints,)
        Angles to be held, rad, counter-clockwise: of joints, or of segments from the x axis.
    proportional_nm_rad, integral_nm_rad_s, derivative_nms_rad : array_like of shape (n_joints,)
        Torque for each rad of error, each rad s of its integral, and against each rad/s of velocity.
    target_velocity_rad_s : callable of time, optional
        Rate of change of the target; the derivative part then works on the rate of the error. Without it a moving
        target is followed late, by about ``derivative / proportional`` seconds.
    controls : {"joints", "segments"}
        Angles that errors and velocities are of. With "segments" the torque of joint i corrects the orientation of
        segment i, whatever the segments before it do.

    Returns
    -------
    Drive
        Its memory is the integral of the error, rad s.
    """
    if controls not in ("joints", "segments"):
        raise ValueError(f"controls is {controls!r}, expected 'joints' or 'segments'")
    p = row("proportional_nm_rad", proportional_nm_rad)
    i = row("integral_nm_rad_s", integral_nm_rad_s, p.size, like="proportional_nm_rad")
    d = row("derivative_nms_rad", derivative_nms_rad, p.size, like="proportional_nm_rad")
    held = None if callable(target_rad) else row("target_rad", target_rad, p.size, like="proportional_nm_rad")

    def controlled(values: FloatArray) -> FloatArray:
        return np.cumsum(values) if controls == "segments" else values

    def error(time_s: float, angle: FloatArray) -> FloatArray:
        if angle.size != p.size:
            raise ValueError(f"torque controls {p.size} joints (shape of its gains), the chain has {angle.size}")
        target = target_rad(time_s) if callable(target_rad) else held
        return np.asarray(target, dtype=float) - controlled(angle)

    def torque(time_s: float, angle: FloatArray, velocity: FloatArray, memory: FloatArray) -> FloatArray:
        wanted = target_velocity_rad_s(time_s) if target_velocity_rad_s else 0.0
        return p * error(time_s, angle) + i * memory + d * (np.asarray(wanted, dtype=float) - controlled(velocity))

    def rate(time_s: float, angle: FloatArray, _: FloatArray, __: FloatArray) -> FloatArray:
        return error(time_s, angle)

    return Drive(torque, (0.0,) * p.size, rate)


def simulate(
    chain: Chain,
    time_s: ArrayLike,
    start: State,
    torque: ArrayLike | TorqueLaw | Drive | None,
    *,
    gravity_m_s2: ArrayLike,
    base_acceleration_m_s2: ArrayLike = STILL,
    load_nm: ArrayLike | None = None,
    loads: Sequence[AttachedLoad] = (),
    until: Callable[[float, FloatArray], float] | None = None,
    integration: Integration | None = None,
) -> Simulation:
    """Motion of a chain under given torques.

    Parameters
    ----------
    chain : Chain
        The chain.
    time_s : array_like of shape (n_frames,)
        Times of the motion, rising, s; the first is the start.
    start : State
        Angles, angular velocities and base at the first time.
    torque : array_like of shape (n_frames, n_joints) or (n_joints,), callable, Drive or None
        Net joint torques, N m: samples at `time_s`, between which a cubic spline runs, constant, or a function
        ``torque(time_s, angle_rad, velocity_rad_s, memory)``, or a function with a memory; None where the joints are free.
    gravity_m_s2 : array_like of shape (2,)
        Acceleration of gravity in the plane.
    base_acceleration_m_s2 : array_like of shape (n_frames, 2) or (2,), optional
        Acceleration of the first joint: samples, with a cubic spline between them, or constant.
    load_nm : array_like of shape (n_frames, n_joints) or (n_joints,), optional
        Generalised forces of recorded loads at `time_s`, in joint space, as in `forward_dynamics`.
    loads : sequence of AttachedLoad, optional
        Loads that follow the chain.
    until : callable, optional
        ``until(time_s, angle_rad)``: the integration stops where it falls through 0.
    integration : Integration, optional
        Method and tolerances.

    Returns
    -------
    Simulation
        Motion, energy and work. ``success`` is False where the integrator failed or a joint exceeded 1e6 rad/s; it is
        True where `until` stopped it.

    Raises
    ------
    ValueError
        Wrong shapes, numbers that are not finite, given or returned by a function, or times that do not rise.

    Notes
    -----
    ``scipy.integrate.solve_ivp``. The works are integrated with the motion, to the same tolerances, so that
    ``balance_j`` measures the conservation of energy. `load_nm` does no work on the base.

    A spline through samples rounds the corners of a torque, as at the onset of a minimum-jerk movement: sample more
    densely there, or give a function. Steps longer than the sampling interval skip knots of the spline;
    ``integration.max_step_s`` of that length is a little more accurate.
    """
    from scipy.integrate import solve_ivp  # a slow import that most stages do not need

    check_inertia(chain)
    times = row("time_s", time_s)
    falling = np.flatnonzero(np.diff(times) <= 0.0) + 1
    if times.size < 2 or falling.size:
        fault = f"{times[falling[0]]} at [{falling[0]}] after {times[falling[0] - 1]}" if falling.size else "too few"
        raise ValueError(f"time_s of shape {times.shape} has {fault}; expected two or more rising times")
    options = integration or Integration()
    for number, load in enumerate(loads):
        if not isinstance(load, AttachedLoad):
            kind = type(load).__name__
            raise ValueError(f"loads[{number}] is of type {kind}, expected limbtorque.AttachedLoad")
        on_chain(f"loads[{number}].point", load.point, chain.n_links)
    motion = _Motion(
        prepared=PreparedChain(chain, gravity_m_s2),
        drive=_drive(torque, times, chain.n_links),
        base_acceleration=_in_time("base_acceleration_m_s2", base_acceleration_m_s2, times, 2),
        recorded=None if load_nm is None else _in_time("load_nm", load_nm, times, chain.n_links),
        loads=tuple(loads),
    )
    first = np.concatenate(
        [
            row("angle_rad", start.angle_rad, chain.n_links),
            row("velocity_rad_s", start.velocity_rad_s, chain.n_links),
            vectors("base_m", start.base_m),
            vectors("base_velocity_m_s", start.base_velocity_m_s),
            row("torque.memory", motion.drive.memory),
            np.zeros(chain.n_links + 2),
        ]
    )
    result = solve_ivp(
        lambda at_s, state: motion.driven(at_s, state)[1],
        (times[0], times[-1]),
        first,
        t_eval=times,
        method=options.method,
        rtol=options.rtol,
        atol=options.atol,
        max_step=options.max_step_s or np.inf,
        events=motion.endings(until),
    )
    return motion.simulation(result)


@dataclass(frozen=True)
class _Motion:
    """Equations of motion of a driven chain, and layout of its state."""

    prepared: PreparedChain
    drive: Drive
    base_acceleration: Callable[[float], FloatArray]
    recorded: Callable[[float], FloatArray] | None
    loads: tuple[AttachedLoad, ...]

    @cached_property
    def parts(self) -> list[slice]:
        """Parts of a state: motion of joints and base, internal states, works."""
        n, k = self.prepared.chain.n_links, len(self.drive.memory)
        return [slice(*ends) for ends in pairwise(accumulate([n, n, 2, 2, k, n, 1, 1], initial=0))]

    def endings(self, until: Callable[[float, FloatArray], float] | None) -> list[Callable[[float, FloatArray], float]]:
        """Events that end the integration: a joint spinning out of control, and `until`."""
        n = self.prepared.chain.n_links
        events = [lambda _, state: RUNAWAY_RAD_S - float(np.abs(state[n : 2 * n]).max())]
        events += [lambda time_s, state: until(time_s, state[:n])] if until else []
        for event in events:
            event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
        return events

    def driven(self, time_s: float, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Net joint torques, and the rate of change of the state."""
        angle, velocity, base, base_velocity, memory = (state[part] for part in self.parts[:5])
        torque = _returned("torque", self.drive.torque(time_s, angle, velocity, memory), angle.size, time_s)
        law = self.drive.memory_rate
        remembered = _returned("memory_rate", law(time_s, angle, velocity, memory), memory.size, time_s) if law else ()
        applied, force, load_power = torque, np.zeros(2), 0.0
        if self.recorded is not None:
            recorded = self.recorded(time_s)
            applied, load_power = applied + recorded, float(recorded @ velocity)
        if self.loads:
            load, force, power = self._loads(time_s, angle, velocity, base, base_velocity)
            applied, load_power = applied + load, load_power + power
        push, rates, along = self.base_acceleration(time_s).tolist(), velocity.tolist(), base_velocity.tolist()
        acceleration, at_base = self.prepared.driven(angle.tolist(), rates, applied.tolist(), push)
        base_power = float((at_base - force) @ base_velocity)
        powers = [*(torque * velocity).tolist(), base_power, load_power]
        return torque, np.array([*rates, *acceleration, *along, *push, *remembered, *powers])

    def _loads(
        self, time_s: float, angle: FloatArray, velocity: FloatArray, base: FloatArray, base_velocity: FloatArray
    ) -> tuple[FloatArray, FloatArray, float]:
        """Generalised force of the attached loads, their total force, and their power."""
        theta, omega = np.cumsum(angle), np.cumsum(velocity)
        general, total, power = np.zeros(self.prepared.chain.n_links), np.zeros(2), 0.0
        for number, load in enumerate(self.loads):
            k, direction = load.point.link, np.exp(1j * theta)
            spokes = np.append(
                self.prepared.chain.length_m[:k] * direction[:k],
                complex(load.point.along_m, load.point.across_m) * direction[k],
            )
            position = base + in_plane(spokes.sum())
            moving = base_velocity + in_plane((1j * omega[: k + 1] * spokes).sum())
            force = _returned(f"loads[{number}].force", load.force(time_s, position, moving), 2, time_s)
            turn = (load.couple(time_s, float(theta[k]), float(omega[k])),) if load.couple else (0.0,)
            couple = float(_returned(f"loads[{number}].couple", turn, 1, time_s)[0])
            turning = (np.conj(spokes) * complex(*force)).imag
            turning[k] += couple
            general[: k + 1] += np.cumsum(turning[::-1])[::-1]
            total, power = total + force, power + float(force @ moving + couple * omega[k])
        return general, total, power

    def simulation(self, result: Any) -> Simulation:
        """Return the simulation, with torques and energies at the requested times."""
        angle, velocity, base, base_velocity, memory, joint_work, base_work, load_work = (
            result.y[part].T for part in self.parts
        )
        torques, rates = zip(*(self.driven(t, y) for t, y in zip(result.t, result.y.T, strict=True)), strict=True)
        kinematics = Kinematics(angle, velocity, base_m=base, base_velocity_m_s=base_velocity)
        energy = segment_energies(self.prepared.chain, kinematics, gravity_m_s2=self.prepared.gravity_m_s2)
        away = bool(len(result.t_events[0]))
        return Simulation(
            success=bool(result.success) and not away,
            message=f"a joint turned faster than {RUNAWAY_RAD_S:g} rad/s" if away else str(result.message),
            n_evaluations=int(result.nfev),
            time_s=result.t,
            angle_rad=angle,
            velocity_rad_s=velocity,
            acceleration_rad_s2=np.array(rates)[:, self.parts[1]],
            torque_nm=np.array(torques),
            base_m=base,
            base_velocity_m_s=base_velocity,
            memory=memory,
            energy_j=energy.total,
            joint_work_j=joint_work,
            base_work_j=base_work[:, 0],
            load_work_j=load_work[:, 0],
        )


def _drive(torque: ArrayLike | TorqueLaw | Drive | None, times: FloatArray, n_joints: int) -> Drive:
    if torque is None:
        free = np.zeros(n_joints)
        return Drive(lambda *_: free)
    if isinstance(torque, Drive):
        if bool(torque.memory) != (torque.memory_rate is not None):
            raise ValueError("the drive has only memory or memory_rate; expected both or neither")
        return torque
    if callable(torque):
        return Drive(torque)
    sampled = _in_time("torque", torque, times, n_joints)
    return Drive(lambda time_s, *_: sampled(time_s))


def _returned(name: str, value: ArrayLike, size: int, time_s: float) -> FloatArray:
    """Check a callback's value, since integration would not end on NaN."""
    array = np.asarray(value, dtype=float)
    if array.shape != (size,) or not (math.isfinite(sum(array.tolist())) or np.isfinite(array).all()):
        raise ValueError(
            f"{name} at {time_s:.6g} s is {array.tolist()} (shape {array.shape}); expected finite numbers of shape ({size},)"
        )
    return array


def _in_time(name: str, value: ArrayLike, times: FloatArray, width: int) -> Callable[[float], FloatArray]:
    """Function of time through samples (cubic spline, no steps), or a constant."""
    array = finite(name, np.asarray(value, dtype=float))
    if array.shape == (width,):
        return lambda _: array
    if array.shape != (times.size, width):
        raise ValueError(f"{name} has shape {array.shape}, expected ({times.size}, {width}): a row for each time")
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(times, array)  # through two samples a straight line
    cubics = np.ascontiguousarray(np.moveaxis(spline.c, 1, 0))
    starts, knots = times.tolist(), times[1:-1].tolist()

    def sampled(time_s: float) -> FloatArray:
        """Value of the spline, faster than its own call."""
        k = bisect_right(knots, time_s)
        x = time_s - starts[k]
        return np.asarray(np.array([x * x * x, x * x, x, 1.0]) @ cubics[k])

    return sampled
