"""Torque terms of shoulder and elbow in a slow and a fast reach.

After Duarte's notebook on one- and two-link systems: from the arm hanging down to the upper arm level and the elbow
at 90 degrees, in 4 s and in 0.5 s, in a sagittal and in a horizontal plane. The notebook moves the fingertip along a
straight line; `two_link_endpoint.py` shows why that cannot begin with a straight arm. Here the joint angles move by
minimum jerk.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import FINGERTIP_M, HORIZONTAL, VERTICAL, two_link_arm

import limbtorque as lt

SLOW_S, FAST_S = 4.0, 0.5
NEUTRAL_DEG, FINAL_DEG = (-90.0, 0.0), (0.0, 90.0)


def reach_by_joints(chain: lt.Chain, duration_s: float, gravity: tuple[float, float]) -> tuple:
    """Time, motion and torque terms of a reach whose joint angles move by minimum jerk."""
    time = np.linspace(0.0, duration_s, 401)
    reach = lt.minimum_jerk(time, start=np.radians(NEUTRAL_DEG), end=np.radians(FINAL_DEG), duration_s=duration_s)
    terms = lt.torque_terms(
        chain, lt.Kinematics(reach.position, reach.velocity, reach.acceleration), gravity_m_s2=gravity
    )
    return time, reach, terms


def interaction_share(terms: lt.TorqueTerms, joint: int) -> float:
    """Share of the time in which the torque of the other joint's motion is larger than that of gravity."""
    kinds = draw.by_kind(terms, joint)
    interaction = kinds["inertial"] - terms.inertial[:, joint, joint] + kinds["centripetal"] + kinds["coriolis"]
    return float(np.mean(np.abs(interaction) > np.abs(kinds["gravity"])))


def push_at_fingertip(chain: lt.Chain, reach: lt.MinimumJerk) -> np.ndarray:
    """External terms of both joints at the end of the reach, for 10 N that push the fingertip backwards, N m."""
    still = np.zeros((1, 2))
    joints = lt.joint_positions(chain, reach.position[-1:])
    push = lt.Load(1, np.array([[-10.0, 0.0]]), joints[:, -1])
    terms = lt.torque_terms(
        chain, lt.Kinematics(reach.position[-1:], still, still), gravity_m_s2=HORIZONTAL, loads=[push], joint_m=joints
    )
    return terms.external[0]


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Terms of three reaches."""
    arm = two_link_arm()
    reaches = {
        "slow": ("Slow, 4 s", *reach_by_joints(arm, SLOW_S, VERTICAL)),
        "fast": ("Fast, 0.5 s", *reach_by_joints(arm, FAST_S, VERTICAL)),
        "horizontal": ("Fast, horizontal plane", *reach_by_joints(arm, FAST_S, HORIZONTAL)),
    }
    numbers = {}
    figure = lt.paper_figure(110.0)
    panels = figure.subplots(2, 3, sharex="col", sharey="row")
    for column, (name, (title, time, _, terms)) in enumerate(reaches.items()):
        for joint, panel in enumerate(panels[:, column]):
            draw.torque_terms(panel, time, terms, joint)
            panel.set_title(f"{'abcdef'[3 * joint + column]}  {draw.JOINTS[joint].capitalize()}. {title}", loc="left")
            numbers[f"{name}_{draw.JOINTS[joint]}_peak_nm"] = np.abs(terms.net[:, joint]).max()
            if name != "horizontal":
                numbers[f"{name}_{draw.JOINTS[joint]}_interaction_share"] = interaction_share(terms, joint)
        panels[1, column].set_xlabel("time (s)")
    for panel in panels[:, 0]:
        panel.set_ylabel("torque (N m), + flexion")
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "two_link_reach.png")

    _, _, reach, slow = reaches["slow"]
    numbers["slow_torque_without_gravity_nm"] = np.abs(slow.net - slow.gravity).max()
    numbers["elbow_gravity_peak_nm"] = slow.gravity[:, 1].max()
    numbers["elbow_gravity_closed_form_nm"] = arm.mass_kg[1] * 9.81 * arm.com_m[1]  # forearm level, half-way
    numbers["push_shoulder_nm"], numbers["push_elbow_nm"] = push_at_fingertip(arm, reach)
    numbers["push_closed_form_nm"] = -10.0 * FINGERTIP_M  # both joints: forearm up, upper arm level
    return numbers


if __name__ == "__main__":
    draw.run(main, "two_link_reach")
