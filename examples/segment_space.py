"""The same torques in joint space and in segment space, term by term.

Exercise 6 of Duarte's notebook on one- and two-link systems. In angles of the segments from the horizontal, each segment
brings one inertial and one centripetal term; there is no Coriolis term, because a segment's angular velocity is the sum
of those of the joints before it, and its square holds their products.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, two_link_arm
from two_link_reach import FAST_S, reach_by_joints

import limbtorque as lt

BLUE, RED, PINK, GREEN = (lt.TERM_COLOURS[kind] for kind in ("inertial", "centripetal", "coriolis", "gravity"))


def in_joint_space(terms: lt.TorqueTerms, joint: int) -> dict[str, tuple]:
    """Terms of a joint by joint angles: name -> values, colour, line."""
    return {
        r"inertial, $\alpha_1''$": (terms.inertial[:, joint, 0], BLUE, "-"),
        r"inertial, $\alpha_2''$": (terms.inertial[:, joint, 1], BLUE, "--"),
        r"centripetal, $\alpha_1'^2$": (terms.centripetal[:, joint, 0], RED, "-"),
        r"centripetal, $\alpha_2'^2$": (terms.centripetal[:, joint, 1], RED, "--"),
        r"Coriolis, $2\alpha_1'\alpha_2'$": (terms.coriolis[:, joint, 0], PINK, "-"),
        "gravity": (terms.gravity[:, joint], GREEN, "-"),
    }


def in_segment_space(terms: lt.SegmentTerms, joint: int) -> dict[str, tuple]:
    """Terms of a joint by the segments' angles: name -> values, colour, line."""
    return {
        r"inertial, $\theta_1''$": (terms.inertial[:, joint, 0], BLUE, "-"),
        r"inertial, $\theta_2''$": (terms.inertial[:, joint, 1], BLUE, "--"),
        r"centripetal, $\theta_1'^2$": (terms.centripetal[:, joint, 0], RED, "-"),
        r"centripetal, $\theta_2'^2$": (terms.centripetal[:, joint, 1], RED, "--"),
        "gravity": (terms.gravity[:, joint], GREEN, "-"),
    }


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Shoulder and elbow in both spaces, in a fast reach."""
    arm = two_link_arm()
    time, reach, by_joint = reach_by_joints(arm, FAST_S, VERTICAL)
    motion = lt.Kinematics(reach.position, reach.velocity, reach.acceleration)
    by_segment = lt.segment_terms(arm, motion, terms=by_joint)
    figure = lt.paper_figure(150.0)
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    numbers = {}
    for column, (space, terms, sort) in enumerate(
        (("joint", by_joint, in_joint_space), ("segment", by_segment, in_segment_space))
    ):
        for joint in (0, 1):
            panel, parts = panels[joint, column], sort(terms, joint)
            draw.zero(panel)
            for name, (values, colour, line) in parts.items():
                if np.abs(values).max() > 1e-9:
                    panel.plot(time, values, color=colour, linestyle=line, label=name)
            panel.plot(time, by_joint.net[:, joint], color="black", linewidth=2.0, zorder=1.9, label="net torque")
            panel.set_title(
                f"{'abcd'[2 * joint + column]}  {draw.JOINTS[joint].capitalize()}, {space} space", loc="left"
            )
            panel.legend(frameon=False, fontsize=6.5)
            total = sum(values for values, _, _ in parts.values())
            numbers[f"{space}_{draw.JOINTS[joint]}_difference_nm"] = np.abs(total - by_joint.net[:, joint]).max()
            numbers |= {
                f"{space}_{draw.JOINTS[joint]}_{k}_nm": np.abs(values).max()
                for k, (values, _, _) in enumerate(parts.values())
            }
    for joint in (0, 1):
        panels[joint, 0].set_ylabel("torque (N m), + flexion")
        panels[1, joint].set_xlabel("time (s)")
    panels[0, 0].set_xlim(0.0, FAST_S)
    lt.save_figure(figure, folder / "segment_space.png")
    return numbers


if __name__ == "__main__":
    draw.run(main, "segment_space")
