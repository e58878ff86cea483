"""One path of a fingertip by three movements with different torques.

The redundancy that Duarte's notebook on the kinematic chain and Cesari et al. (2001) discuss: with three joints and a
fingertip that has two coordinates, the hand may turn as it likes. Start, end and fingertip are the same in all three
movements; they differ by motion in the null space of the Jacobian, and in their torques.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import FINGERTIP_M, FOREARM_M, UPPER_ARM_M, VERTICAL, three_link_arm

import limbtorque as lt

DURATION_S, HAND_DEG = 0.6, 10.0  # orientation of the hand at start and end
START_M, END_M = (0.30, -0.35), (0.58, -0.02)


def turned_hand(tip: lt.MinimumJerk, time_s: np.ndarray, turn_rad: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint angles and derivatives that take the fingertip along its way while the hand turns there and back."""
    links = lt.Chain([UPPER_ARM_M, FOREARM_M], [1.0, 1.0], [0.1, 0.1], [0.01, 0.01])  # only lengths matter here
    u = np.polynomial.Polynomial([0.0, 1.0 / DURATION_S])
    turning = 64.0 * (u * (1.0 - u)) ** 3  # from 0 to 1 and back, at rest at the ends
    hand, speed, spin, jerk = (
        np.radians(HAND_DEG) * (k == 0) + turn_rad * (turning.deriv(k) if k else turning)(time_s) for k in range(4)
    )
    spoke = (FINGERTIP_M - FOREARM_M) * np.exp(1j * hand)
    factors = (1.0, 1j * speed, 1j * spin - speed**2, 1j * jerk - 3.0 * speed * spin - 1j * speed**3)
    wrist, *rates = (
        way - np.column_stack([(f * spoke).real, (f * spoke).imag])
        for way, f in zip((tip.position, tip.velocity, tip.acceleration, tip.jerk), factors, strict=True)
    )
    inner = lt.two_link_angles(links.length_m, wrist, bend="positive").angle_rad
    found = lt.joint_motion(links, inner, velocity_m_s=rates[0], acceleration_m_s2=rates[1], jerk_m_s3=rates[2])
    both = ((inner, hand), (found.velocity_rad_s, speed), (found.acceleration_rad_s2, spin))
    return tuple(np.column_stack([two, own - two.sum(axis=1)]) for two, own in both)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """One way of the fingertip by three motions of the joints."""
    arm = three_link_arm()
    fingertip = lt.Point(2, FINGERTIP_M - FOREARM_M)
    time = np.linspace(0.0, DURATION_S, 601)
    tip = lt.minimum_jerk(time, start=START_M, end=END_M, duration_s=DURATION_S)
    ways = {"hand turns down, by 30°": (-30.0, draw.INDIGO, "--"), "hand does not turn": (0.0, "black", "-")}
    ways["hand turns up, by 30°"] = (30.0, draw.WINE, "-.")

    figure = lt.paper_figure(115.0)
    (posture, *torques), (wrist_panel, free_panel, self_panel) = figure.subplots(2, 3)
    torques.append(wrist_panel)
    numbers, sizes = {"fingertip_difference_m": 0.0}, []
    for name, (turn_deg, colour, line) in ways.items():
        motion = turned_hand(tip, time, np.radians(turn_deg))
        terms = lt.torque_terms(arm, lt.Kinematics(*motion), gravity_m_s2=VERTICAL)
        matrix = lt.jacobian(arm, motion[0], point=fingertip)
        unseen = (lt.null_space_projector(matrix) @ motion[1][:, :, None])[:, :, 0]
        reached = lt.point_position(arm, motion[0], point=fingertip)
        numbers["fingertip_difference_m"] = max(numbers["fingertip_difference_m"], np.abs(reached - tip.position).max())
        sizes.append(np.sqrt(np.mean(terms.net**2, axis=0)))
        joints = np.concatenate([lt.joint_positions(arm, motion[0])[:, :3], reached[:, None]], axis=1)
        for k in (0, 300, 600) if turn_deg == 0.0 else (300,):
            draw.limb(posture, joints[k], colour=colour if k == 300 else "0.75", width=1.2)
        style = {"color": colour, "linestyle": line}
        for joint, panel in enumerate(torques):
            panel.plot(time, terms.net[:, joint], **style)
        free_panel.plot(time, lt.manipulability(matrix), **style)
        self_panel.plot(time, np.linalg.norm(unseen, axis=1), label=name, **style)
    posture.plot(*tip.position.T, color=draw.OLIVE, linewidth=2.0, zorder=1)
    posture.set(xlabel="forward, x (m)", ylabel="up, y (m)")
    posture.set_title("a  Start, middle and end", loc="left")
    for joint, panel in enumerate(torques):
        panel.set_title(f"{'bcd'[joint]}  {draw.JOINTS[joint].capitalize()}", loc="left")
        panel.set_ylabel("net torque (N m), + flexion")
    free_panel.set_ylabel(r"$\sqrt{\det JJ^T}$ (m²)")
    free_panel.set_title("e  Manipulability", loc="left")
    self_panel.set_ylabel("joint velocity (rad/s)")
    self_panel.set_title("f  Velocity in the null space", loc="left")
    for panel in (*torques, free_panel, self_panel):
        panel.set_xlabel("time (s)")
        panel.set_xlim(0.0, DURATION_S)
        draw.zero(panel) if panel in torques else None
    draw.legend(figure, [self_panel])
    lt.save_figure(figure, folder / "redundancy.png")

    small = np.radians(0.01)  # a little more turning changes the angles along the null space, and nowhere else
    change = (turned_hand(tip, time, small)[0] - turned_hand(tip, time, -small)[0]) / (2.0 * small)
    projector = lt.null_space_projector(lt.jacobian(arm, turned_hand(tip, time, 0.0)[0], point=fingertip))
    left = change - (projector @ change[:, :, None])[:, :, 0]
    numbers["change_outside_null_space"] = np.abs(left).max() / np.abs(change).max()
    numbers["redundancy"] = np.trace(projector[300])
    for joint, name in enumerate(draw.JOINTS):
        for way, size in zip(("down", "fixed", "up"), sizes, strict=True):
            numbers[f"{name}_rms_{way}_nm"] = size[joint]
    return numbers


if __name__ == "__main__":
    draw.run(main, "redundancy")
