"""A free double pendulum: energy as a test of equations and integrator.

After Watanabe's notebook on the matrix formalism, with the values of its code: two rods of 1 kg, 1 m and 0.5 m long.
Angles are the segments', from the downward vertical; they are converted, not mixed. No torque acts, so that the
energy of 3.899 J must not change. It is held by an accurate integrator, not by the notebook's Euler steps, and not by
the gravity of its code, which has l2 where l1 belongs in one term.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from scipy.integrate import solve_ivp

import limbtorque as lt

MASS_KG, LENGTHS_M, G, DURATION_S = 1.0, (1.0, 0.5), 9.81, 20.0
ANGLES, VELOCITIES = np.array([[np.pi / 10, np.pi / 3]]), np.array([[2.0 * np.pi, -6.0 * np.pi]])
STEPS = {1e-4: 1000, 1e-3: 100, 1e-2: 10}  # step of Euler's method (s): steps between two points of the figure


def rates(state: np.ndarray, slip: bool = False, elbow_nm: float = 0.0) -> tuple[float, float, float, float]:
    """Rates of orientations (from the downward vertical) and velocities; with the slip of the printed code, or not."""
    first, second, w1, w2 = state
    (l1, l2), cos, sin = LENGTHS_M, np.cos(first - second), np.sin(first - second)
    m11, m12, m22 = MASS_KG * l1**2 * 4.0 / 3.0, MASS_KG * l1 * l2 * cos / 2.0, MASS_KG * l2**2 / 3.0
    arm = l1 / 2.0 + (l2 if slip else l1)  # the weight of rod 2 hangs at the end of rod 1
    right1 = -MASS_KG * l1 * l2 * sin * w2**2 / 2.0 - MASS_KG * G * arm * np.sin(first) - elbow_nm
    right2 = MASS_KG * l1 * l2 * sin * w1**2 / 2.0 - MASS_KG * G * l2 / 2.0 * np.sin(second) + elbow_nm
    size = m11 * m22 - m12**2
    return w1, w2, (m22 * right1 - m12 * right2) / size, (m11 * right2 - m12 * right1) / size


def euler(step_s: float, every: int, slip: bool = False) -> np.ndarray:
    """States by Euler's explicit method, one out of `every`."""
    state = np.concatenate([ANGLES[0], VELOCITIES[0]]).tolist()
    states = [state]
    for step in range(1, round(DURATION_S / step_s) + 1):
        state = [value + step_s * rate for value, rate in zip(state, rates(state, slip), strict=True)]
        if step % every == 0:
            states.append(state)
    return np.array(states)


def energy(chain: lt.Chain, states: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy of states in the notebook's angles, J."""
    alpha = lt.joint_angles(states[:, :2], zero="downward_vertical")
    return lt.segment_energies(
        chain, lt.Kinematics(alpha, np.diff(states[:, 2:], axis=1, prepend=0.0)), gravity_m_s2=(0.0, -G)
    ).total


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """The pendulum by an accurate integrator, by Euler steps, and with the slip."""
    length = np.array(LENGTHS_M)
    pendulum = lt.Chain(length, [MASS_KG, MASS_KG], length / 2.0, MASS_KG * length**2 / 12.0)
    time = np.linspace(0.0, DURATION_S, 4001)
    free = lt.simulate(
        pendulum,
        time,
        lt.State(lt.joint_angles(ANGLES, zero="downward_vertical")[0], np.diff(VELOCITIES, axis=1, prepend=0.0)[0]),
        torque=None,
        gravity_m_s2=(0.0, -G),
    )
    start = np.concatenate([ANGLES[0], VELOCITIES[0]])
    with_slip = solve_ivp(
        lambda _, state: rates(state, slip=True),
        (0.0, DURATION_S),
        start,
        t_eval=time,
        method="DOP853",
        rtol=1e-9,
        atol=1e-10,
    )
    slip_energy = energy(pendulum, with_slip.y.T)
    stepped = {step: energy(pendulum, euler(step, every)) for step, every in STEPS.items()}

    figure = lt.paper_figure(125.0)
    (path, orientation), (drift, slipped) = figure.subplots(2, 2)
    joints = lt.joint_positions(pendulum, free.angle_rad)
    path.plot(*joints[:601, -1].T, color=draw.INDIGO, linewidth=0.6)
    for k in range(0, 121, 40):
        draw.limb(path, joints[k], colour="black" if k == 0 else "0.7", width=1.0)
    path.set(xlabel="x (m)", ylabel="y (m)")
    path.set_title("a  Way of the end in 3 s; rods in the first 0.6 s", loc="left")
    theta = np.degrees(lt.segment_angles(free.angle_rad, zero="downward_vertical"))
    for link, line in enumerate(draw.LINES[:2]):
        orientation.plot(time, theta[:, link] / 360.0, **line)
    draw.label_ends(
        orientation, DURATION_S, [(theta[-1, k] / 360.0, f"rod {k + 1}", draw.LINES[k]["color"]) for k in (0, 1)]
    )
    orientation.set(xlabel="time (s)", ylabel="orientation (turns)", xlim=(0.0, DURATION_S))
    orientation.set_title("b  Orientation, from the downward vertical", loc="left")
    shades = {1e-4: draw.INDIGO, 1e-3: draw.WINE, 1e-2: draw.OLIVE}
    for step, values in reversed(stepped.items()):
        places = np.linspace(0.0, DURATION_S, len(values))
        drift.semilogy(
            places[1:], np.abs(values[1:] - values[0]), color=shades[step], label=f"Euler, steps of {1000 * step:g} ms"
        )
    drift.semilogy(time[20::20], np.abs(free.energy_j - free.energy_j[0])[20::20], color="black", label="DOP853")
    drift.set(xlabel="time (s)", ylabel=r"$|E - E_0|$ (J)", xlim=(0.0, DURATION_S))
    drift.set_title("c  Error of the energy", loc="left")
    slipped.plot(time, slip_energy, color="0.55", linewidth=0.7, label="gravity of the printed code, DOP853")
    slipped.plot(time, free.energy_j, color="black")
    slipped.set(xlabel="time (s)", ylabel="energy (J)", xlim=(0.0, DURATION_S))
    slipped.set_title("d  Energy with the slip in gravity", loc="left")
    draw.legend(figure, [drift, slipped], columns=3)
    lt.save_figure(figure, folder / "double_pendulum.png")
    return {
        "energy_j": free.energy_j[0],
        "energy_held_j": np.abs(free.energy_j - free.energy_j[0]).max(),
        "slip_lowest_j": slip_energy.min(),
        "slip_highest_j": slip_energy.max(),
        **{f"euler_{1000 * step:g}_ms_highest_j": values.max() for step, values in stepped.items()},
        "evaluations": free.n_evaluations,
    }


if __name__ == "__main__":
    draw.run(main, "double_pendulum")
