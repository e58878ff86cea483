"""A reach against a spring: torque terms, reaction forces and joint angles.

The experiment of Cesari et al. (2001): upper arm, forearm and hand in the sagittal plane, and a spring that pulls the
hand back along x. The spring's term is compared with the paper's equations (42)-(44), in which the spring acts at the
distance d_S beyond the hand's centre of mass.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, three_link_arm

import limbtorque as lt

START_DEG, TARGET_DEG = (-85.0, 100.0, -10.0), (10.0, 30.0, 5.0)
STIFFNESS_N_M = 40.0
BEYOND_COM_M = 0.03  # d_S


def reach(chain: lt.Chain, duration_s: float) -> dict:
    """Motion, spring force, terms and reaction forces of a reach."""
    time = np.linspace(0.0, duration_s, 401)
    motion = lt.minimum_jerk(time, start=np.radians(START_DEG), end=np.radians(TARGET_DEG), duration_s=duration_s)
    joints = lt.joint_positions(chain, motion.position)
    grip = lt.point_position(chain, motion.position, point=lt.Point(2, chain.com_m[2] + BEYOND_COM_M))
    pull = STIFFNESS_N_M * (grip[:, 0] - grip[0, 0])  # slack at the start
    spring = lt.Load(2, np.column_stack([-pull, np.zeros_like(pull)]), grip)
    kinematics = lt.Kinematics(motion.position, motion.velocity, motion.acceleration)
    return {
        "time": time, "angle": motion.position, "joints": joints, "grip": grip, "pull": pull,
        "kinematics": kinematics,
        "terms": lt.torque_terms(chain, kinematics, gravity_m_s2=VERTICAL, loads=[spring], joint_m=joints),
        "wrench": lt.newton_euler(chain, kinematics, gravity_m_s2=VERTICAL, loads=[spring], joint_m=joints),
    }  # fmt: skip


def spring_of_paper(chain: lt.Chain, angle_rad: np.ndarray, pull_n: np.ndarray) -> np.ndarray:
    """Equations (42)-(44) of Cesari et al. (2001), N m."""
    first, second, third = np.sin(np.cumsum(angle_rad, axis=1)).T
    wrist = -pull_n * (chain.com_m[2] + BEYOND_COM_M) * third
    elbow = wrist - pull_n * chain.length_m[1] * second
    return np.column_stack([elbow - pull_n * chain.length_m[0] * first, elbow, wrist])


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Slow and fast reach against the spring."""
    arm = three_link_arm()
    slow, fast = reach(arm, 2.0), reach(arm, 0.5)
    figure = lt.paper_figure(150.0)
    panels = figure.subplots(3, 3)
    for column, (name, trial) in enumerate((("slow, 2 s", slow), ("fast, 0.5 s", fast))):
        for joint, panel in enumerate(panels[:, column]):
            if column:
                panel.sharey(panels[joint, 0])
            draw.torque_terms(panel, trial["time"], trial["terms"], joint)
            panel.set_title(f"{'abcdef'[3 * column + joint]}  {draw.JOINTS[joint].capitalize()}, {name}", loc="left")
            panel.set_ylabel("torque (N m), + flexion" if column == 0 else None)
    posture, angles, forces = panels[:, 2]
    for k in np.linspace(0, 400, 5).astype(int):
        draw.limb(posture, fast["joints"][k], colour="black" if k in (0, 400) else "0.7")
        if k:
            draw.arrow(posture, fast["grip"][k], [-fast["pull"][k] * 0.012, 0.0], lt.TERM_COLOURS["external"])
    posture.set(xlabel="forward, x (m)", ylabel="up, y (m)")
    posture.set_title(f"g  Spring, up to {fast['pull'].max():.1f} N", loc="left")
    kinds = (fast["angle"], lt.segment_angles(fast["angle"]), lt.internal_angles(fast["angle"]))
    angle_labels, force_labels = [], []
    for joint, line in enumerate(draw.LINES):
        for values, colour, name in zip(
            kinds, ("black", draw.INDIGO, draw.WINE), ("alpha", "theta", "beta"), strict=True
        ):
            if joint or name == "alpha":  # at the shoulder all three are the same
                angles.plot(fast["time"], np.degrees(values[:, joint]), color=colour, linestyle=line["linestyle"])
                angle_labels.append((np.degrees(values[-1, joint]), rf"$\{name}_{joint + 1}$", colour))
        for axis, colour in enumerate((draw.INDIGO, draw.WINE)):
            force = fast["wrench"].reaction_n[:, joint, axis]
            forces.plot(fast["time"], force, color=colour, linestyle=line["linestyle"])
            force_labels.append((force[-1], rf"$F_{{{'xy'[axis]}{joint + 1}}}$", colour))
    for panel, labels, title, quantity in (
        (angles, angle_labels, "h  Angles, fast", "angle (deg)"),
        (forces, force_labels, "i  Reaction forces, fast", "force on distal link (N)"),
    ):
        draw.label_ends(panel, 0.5, labels)
        panel.set_xlim(0.0, 0.5)
        panel.set_title(title, loc="left")
        panel.set_ylabel(quantity)
    for panel in [*panels[2], angles]:
        panel.set_xlabel("time (s)")
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "three_link_spring.png")
    numbers = {}
    for name, trial in (("slow", slow), ("fast", fast)):
        terms = trial["terms"]
        for joint in range(3):
            numbers[f"{name}_{draw.JOINTS[joint]}_peak_nm"] = np.abs(terms.net[:, joint]).max()
        numbers[f"{name}_spring_difference_nm"] = np.abs(
            terms.external - spring_of_paper(arm, trial["angle"], trial["pull"])
        ).max()
        numbers[f"{name}_closure_nm"] = np.abs(terms.net - trial["wrench"].torque_nm).max()
    return numbers | {
        "spring_peak_n": fast["pull"].max(),
        "fast_spring_shoulder_nm": np.abs(fast["terms"].external[:, 0]).max(),
    }


if __name__ == "__main__":
    draw.run(main, "three_link_spring")
