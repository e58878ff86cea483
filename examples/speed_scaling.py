"""Straight reaches, slow and fast: what grows with the square of the speed.

After Hollerbach and Flash (1982): the fingertip runs straight across the horizontal plane, in three directions. A movement
made twice as fast along the same way has four times the inertial, centripetal and Coriolis torques, so that the
interaction of the joints is as important in a slow reach as in a fast one. Gravity does not change; where it acts, only
what is left without it keeps its shape.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import HORIZONTAL, VERTICAL, two_link_arm

import limbtorque as lt

DURATIONS_S = {1.0: ":", 0.5: "--", 0.25: "-"}
FROM_M = np.array([0.05, 0.40])  # fingertip, from the shoulder
TOWARDS = {"across": (0.35, 0.0), "away": (0.0, 0.28), "oblique": (0.25, 0.2)}  # m


def reach(arm: lt.Chain, way_m: np.ndarray, duration_s: float, gravity: tuple[float, float]) -> tuple:
    """Share of the time, angles and torque terms of a straight reach of the fingertip."""
    time = np.linspace(0.0, duration_s, 201)
    way = lt.minimum_jerk(time, start=FROM_M, end=FROM_M + way_m, duration_s=duration_s)
    angle = lt.two_link_angles(arm.length_m, way.position, bend="positive").angle_rad
    tip = {"velocity_m_s": way.velocity, "acceleration_m_s2": way.acceleration, "jerk_m_s3": way.jerk}
    turn = lt.joint_motion(arm, angle, **tip)
    motion = lt.Kinematics(angle, turn.velocity_rad_s, turn.acceleration_rad_s2)
    return time / duration_s, angle, lt.torque_terms(arm, motion, gravity_m_s2=gravity)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Three reaches at three speeds in the horizontal plane, one of them in the vertical plane."""
    arm = two_link_arm()
    figure = lt.paper_figure(150.0)
    panels = figure.subplots(3, 3)
    numbers = {}
    for column, (name, direction) in enumerate(TOWARDS.items()):
        path, interaction = panels[:2, column]
        for seconds in DURATIONS_S:
            share, angle, terms = reach(arm, np.array(direction), seconds, HORIZONTAL)
            parts = lt.interaction_torques(terms)
            for joint in (0, 1):
                ratio = np.abs(parts.interaction[:, joint]).max() / np.abs(parts.muscle[:, joint]).max()
                numbers[f"{name}_{seconds:g}_s_{draw.JOINTS[joint]}_interaction_ratio"] = ratio
                numbers[f"{name}_{seconds:g}_s_{draw.JOINTS[joint]}_peak_nm"] = np.abs(terms.net[:, joint]).max()
        joints = lt.joint_positions(arm, angle)
        for k in (0, 100, 200):
            draw.limb(path, joints[k], colour="black" if k == 200 else "0.7", width=1.2)
        path.plot(*joints[:, -1].T, color=draw.WINE, zorder=4)
        path.set_title(f"{'abc'[column]}  {name.capitalize()}", loc="left")
        path.set_xlabel("x (m)")
        draw.zero(interaction)
        for joint, colour in enumerate(("black", draw.INDIGO)):
            joint_name = draw.JOINTS[joint]
            interaction.plot(share, parts.muscle[:, joint], color=colour, label=f"torque, {joint_name}")
            interaction.plot(share, parts.interaction[:, joint], "--", color=colour, label=f"interaction, {joint_name}")
        interaction.set_title(f"{'def'[column]}  Horizontal, in {min(DURATIONS_S):g} s", loc="left")
    panels[0, 0].set_ylabel("y (m)")
    panels[1, 0].set_ylabel("torque (N m)")
    found = {}
    for seconds, line in DURATIONS_S.items():
        share, _, terms = reach(arm, np.array(TOWARDS["oblique"]), seconds, VERTICAL)
        found[seconds] = {"net": terms.net, "without_gravity": terms.net - terms.gravity}
        shown = (terms.net, seconds**2 * terms.net, seconds**2 * (terms.net - terms.gravity))
        for panel, values in zip(panels[2], shown, strict=True):
            for joint, colour in enumerate(("black", draw.INDIGO)):
                panel.plot(share, values[:, joint], line, color=colour)
    titles = ("g  Vertical, oblique: net torque", "h  Times duration²", "i  The same without gravity")
    for panel, title, unit in zip(panels[2], titles, ("N m", "N m s²", "N m s²"), strict=True):
        panel.set_title(title, loc="left")
        panel.set_ylabel(f"torque ({unit})")
    for panel in panels[1:].flat:
        draw.zero(panel)
        panel.set(xlabel="normalized time", xlim=(0.0, 1.0))
    for seconds, line in DURATIONS_S.items():
        panels[2, 0].plot([], [], line, color="0.4", label=f"{seconds:g} s")
    draw.legend(figure, [*panels[1], panels[2, 0]], columns=4)
    lt.save_figure(figure, folder / "speed_scaling.png")
    for name in ("net", "without_gravity"):
        off = np.abs(found[0.25][name] - 16.0 * found[1.0][name]).max()
        numbers[f"vertical_{name}_off_16_times_nm"] = off
    gravity = reach(arm, np.array(TOWARDS["oblique"]), 1.0, VERTICAL)[2].gravity
    return numbers | {"gravity_peak_nm": np.abs(gravity).max()}


if __name__ == "__main__":
    draw.run(main, "speed_scaling")
