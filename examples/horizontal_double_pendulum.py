"""Torque terms that vanish: shoulder still, elbow straight, elbow still, polar.

Exercise 5 of Duarte's notebook on one- and two-link systems: a double pendulum in the horizontal plane, without external
force. Links of equal length, so that in the polar case the endpoint stays on a line. Each special movement takes 0.5 s by minimum jerk; the terms of both joints show which are zero and which cancel.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import HORIZONTAL, UPPER_ARM_M, two_link_arm

import limbtorque as lt

DURATION_S = 0.5
MOVEMENTS = {  # start and end of both joints, degrees
    "shoulder_still": (r"5a  Shoulder still, $\alpha_1' = 0$", (0.0, 20.0), (0.0, 110.0)),
    "elbow_straight": (r"5b  Elbow straight, $\alpha_2 = 0$", (0.0, 0.0), (90.0, 0.0)),
    "elbow_still": (r"5c  Elbow still, $\alpha_2' = 0$", (0.0, 70.0), (90.0, 70.0)),
    "polar": (r"5d  $2\alpha_1 + \alpha_2 = 180°$", (20.0, 140.0), (80.0, 20.0)),
}


def equal_links() -> lt.Chain:
    """The arm with its endpoint as far from the elbow as the shoulder is: on the forearm."""
    arm = two_link_arm()
    return lt.Chain([UPPER_ARM_M, UPPER_ARM_M], arm.mass_kg, arm.com_m, arm.inertia_kgm2)


def move(arm: lt.Chain, start_deg: tuple[float, float], end_deg: tuple[float, float]) -> tuple:
    """Time, angles and torque terms of a movement of both joints by minimum jerk."""
    time = np.linspace(0.0, DURATION_S, 401)
    turn = lt.minimum_jerk(time, start=np.radians(start_deg), end=np.radians(end_deg), duration_s=DURATION_S)
    kinematics = lt.Kinematics(turn.position, turn.velocity, turn.acceleration)
    return time, turn.position, lt.torque_terms(arm, kinematics, gravity_m_s2=HORIZONTAL)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Postures and torque terms of the four movements."""
    arm = equal_links()
    figure = lt.paper_figure(130.0)
    panels = figure.subplots(3, 4)
    numbers = {}
    for column, (name, (title, start, end)) in enumerate(MOVEMENTS.items()):
        time, angle, terms = move(arm, start, end)
        joints = lt.joint_positions(arm, angle)
        for k in np.linspace(0, len(time) - 1, 5).astype(int):
            draw.limb(panels[0, column], joints[k], colour="black" if k == len(time) - 1 else "0.7", width=1.2)
        panels[0, column].plot(*joints[:, -1].T, color="0.85", linewidth=0.8, zorder=1)
        panels[0, column].set_title(title, loc="left")
        panels[0, column].set_xlabel("x (m)")
        panels[2, column].set_xlabel("time (s)")
        for joint in (0, 1):
            draw.torque_terms(panels[1 + joint, column], time, terms, joint)
            for kind, values in draw.by_kind(terms, joint).items():
                numbers[f"{name}_{draw.JOINTS[joint]}_{kind}_nm"] = np.abs(values).max()
        velocity = terms.centripetal[:, 0].sum(axis=1) + terms.coriolis[:, 0].sum(axis=1)
        numbers[f"{name}_shoulder_velocity_terms_nm"] = np.abs(velocity).max()
        numbers[f"{name}_elbow_peak_nm"] = np.abs(terms.net[:, 1]).max()
    panels[0, 0].set_ylabel("y (m)")
    for joint in (0, 1):
        panels[1 + joint, 0].set_ylabel(f"{draw.JOINTS[joint]} (N m), + flexion")
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "horizontal_double_pendulum.png")
    return numbers


if __name__ == "__main__":
    draw.run(main, "horizontal_double_pendulum")
