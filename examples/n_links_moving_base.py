"""Six links on a moving base with loads: two methods of inverse dynamics.

The equations for one, two and three links of Zatsiorsky (2002) and Cesari et al. (2001), carried on to any number of
links and to a base that moves. The sum of the torque terms and a recursive Newton-Euler pass share no expression;
they differ by rounding.
"""

from pathlib import Path

import _drawing as draw
import matplotlib as mpl
import numpy as np

import limbtorque as lt

N_LINKS, TILT_DEG, SHAKE_M, SHAKE_HZ = 6, 25.0, 0.03, 1.5


def tapered_chain() -> lt.Chain:
    """Rods that get shorter and lighter from the base outwards."""
    length = 0.30 * 0.85 ** np.arange(N_LINKS)
    mass = 2.0 * 0.7 ** np.arange(N_LINKS)
    return lt.Chain(length, mass, 0.45 * length, mass * (0.3 * length) ** 2)


def swaying(time_s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint angles that swing at frequencies of their own, and their derivatives."""
    rest, size = np.radians([-60.0, 25.0, 30.0, -20.0, 35.0, 25.0]), np.radians([25, 20, 30, 25, 20, 30])
    rate, phase = 2.0 * np.pi * np.linspace(0.8, 1.8, N_LINKS), np.arange(N_LINKS)
    turn = np.outer(time_s, rate) + phase
    return rest + size * np.sin(turn), size * rate * np.cos(turn), -size * rate**2 * np.sin(turn)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Torques by both methods, and their difference."""
    chain, time = tapered_chain(), np.linspace(0.0, 2.0, 1001)
    motion = swaying(time)
    shaking = 2.0 * np.pi * SHAKE_HZ * time
    base = SHAKE_M * np.column_stack([np.sin(shaking), np.cos(2.0 * shaking)])
    base_acceleration = -((2.0 * np.pi * SHAKE_HZ) ** 2) * base * [1.0, 4.0]
    tilt = np.radians(TILT_DEG)
    gravity = 9.81 * np.array([-np.sin(tilt), -np.cos(tilt)])  # the base, and x and y with it, leans by the tilt

    joints = lt.joint_positions(chain, motion[0], base_m=base)
    inner = lt.point_position(chain, motion[0], point=lt.Point(2, 0.1, 0.02), base_m=base)
    ones, still = np.ones(len(time)), np.zeros((len(time), 2))
    loads = [
        lt.Load(1, still, joints[:, 1], 3.0 * np.sin(shaking)),  # a couple on the second link
        lt.Load(2, np.column_stack([8.0 * ones, -4.0 * ones]), inner),  # a constant force beside the third
        lt.Load(
            5, np.column_stack([-5.0 * np.cos(shaking), 3.0 * ones]), joints[:, -1], -0.5 * ones
        ),  # both, at the end
    ]
    kinematics = lt.Kinematics(*motion, base_acceleration_m_s2=base_acceleration)
    terms = lt.torque_terms(chain, kinematics, gravity_m_s2=gravity, loads=loads, joint_m=joints)
    wrench = lt.newton_euler(chain, kinematics, gravity_m_s2=gravity, loads=loads, joint_m=joints)
    difference = np.abs(terms.net - wrench.torque_nm)

    figure = lt.paper_figure(125.0)
    (posture, torques), (shares, closure) = figure.subplots(2, 2)
    shades = mpl.colormaps["cividis"](np.linspace(0.0, 0.85, N_LINKS))
    for k, colour in ((0, "0.8"), (120, "0.65"), (240, "black")):
        draw.limb(posture, joints[k], colour=colour)
    draw.arrow(posture, inner[240], 0.025 * loads[1].force_n[240], lt.TERM_COLOURS["external"])
    draw.arrow(posture, joints[240, -1], 0.025 * loads[2].force_n[240], lt.TERM_COLOURS["external"])
    draw.arrow(posture, joints[240, 0], 0.015 * base_acceleration[240], lt.TERM_COLOURS["base"])
    draw.arrow(posture, [0.05, -0.25], 0.015 * gravity, lt.TERM_COLOURS["gravity"])
    posture.set(xlabel="x (m)", ylabel="y (m)")
    posture.set_title("a  Six links at 0, 0.24 and 0.48 s", loc="left")
    draw.zero(torques)
    for joint, colour in enumerate(shades):
        torques.plot(time, terms.net[:, joint], color=colour)
        closure.semilogy(time[::10], difference[::10, joint], "o", color=colour, markersize=1.5)
    draw.label_ends(torques, 2.0, [(terms.net[-1, j], f"joint {j + 1}", shades[j]) for j in range(N_LINKS)])
    torques.set(xlabel="time (s)", ylabel="torque (N m)", xlim=(0.0, 2.0))
    torques.set_title("b  Net torque by joint, + counter-clockwise", loc="left")
    closure.set(xlabel="time (s)", ylabel="difference (N m)", xlim=(0.0, 2.0), ylim=(1e-18, 3e-9))
    closure.axhline(1e-9, color="0.4", linestyle="--")
    closure.text(1.98, 6e-10, "above this a trial is flagged", ha="right", va="top", color="0.4")
    closure.set_title("d  Sum of terms minus Newton-Euler", loc="left")
    kinds = [draw.by_kind(terms, joint) for joint in range(N_LINKS)]
    for number, (kind, colour) in enumerate(lt.TERM_COLOURS.items()):
        size = [np.sqrt(np.mean(joint[kind] ** 2)) for joint in kinds]
        shares.bar(np.arange(N_LINKS) + 1 + 0.13 * (number - 2.5), size, 0.12, color=colour, label=lt.TERM_NAMES[kind])
    shares.set(xlabel="joint, from the base", ylabel="root mean square (N m)")
    shares.set_title("c  Size of the terms", loc="left")
    draw.legend(figure, [shares])
    lt.save_figure(figure, folder / "n_links_moving_base.png")
    return {
        "largest_difference_nm": difference.max(),
        "largest_torque_nm": np.abs(terms.net).max(),
        "base_term_peak_nm": np.abs(terms.base[:, 0]).max(),
    }


if __name__ == "__main__":
    draw.run(main, "n_links_moving_base")
