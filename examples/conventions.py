"""The elbow's torque in a fast reach, in four conventions with the same sum.

Joint space (Zatsiorsky 2002; Cesari et al. 2001) and segment space, which the problems of Duarte's two-link notebook
ask for; net, muscle, interaction and gravity torque (Hollerbach and Flash 1982; Dounskaia 2005); net, muscle, gravity
and motion-dependent torque (Schneider and Zernicke 1990). The same word, "net", means another thing in each.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, two_link_arm
from two_link_reach import FAST_S, reach_by_joints

import limbtorque as lt

ELBOW = 1
BLUE, RED, GREEN = (lt.TERM_COLOURS[kind] for kind in ("inertial", "centripetal", "gravity"))


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Four sortings of one torque."""
    arm = two_link_arm()
    time, reach, joint = reach_by_joints(arm, FAST_S, VERTICAL)
    segment = lt.segment_terms(arm, lt.Kinematics(reach.position, reach.velocity, reach.acceleration), terms=joint)
    interaction, dependent = lt.interaction_torques(joint), lt.motion_dependent_torques(segment)
    torque = joint.net[:, ELBOW]
    sortings = {
        "a  Joint space": {
            r"inertial, shoulder $\alpha_1''$": (joint.inertial[:, ELBOW, 0], BLUE, "--"),
            r"inertial, elbow $\alpha_2''$": (joint.inertial[:, ELBOW, 1], BLUE, "-"),
            r"centripetal, shoulder $\alpha_1'^2$": (joint.centripetal[:, ELBOW, 0], RED, "--"),
            "gravity": (joint.gravity[:, ELBOW], GREEN, "-"),
        },
        "b  Segment space": {
            r"inertial, upper arm $\theta_1''$": (segment.inertial[:, ELBOW, 0], BLUE, "--"),
            r"inertial, forearm $\theta_2''$": (segment.inertial[:, ELBOW, 1], BLUE, "-"),
            r"centripetal, upper arm $\theta_1'^2$": (segment.centripetal[:, ELBOW, 0], RED, "--"),
            "gravity": (segment.gravity[:, ELBOW], GREEN, "-"),
        },
        "c  Hollerbach and Flash (1982)": {
            r"net: inertial, elbow $\alpha_2''$": (interaction.net[:, ELBOW], BLUE, "-"),
            "minus interaction": (-interaction.interaction[:, ELBOW], draw.WINE, "-."),
            "minus gravity": (-interaction.gravity[:, ELBOW], GREEN, "-"),
        },
        "d  Schneider and Zernicke (1990)": {
            r"net: inertial, forearm $\theta_2''$": (dependent.net[:, ELBOW], BLUE, "-"),
            "minus motion-dependent": (-dependent.motion_dependent[:, ELBOW], draw.WINE, "-."),
            "minus gravity": (-dependent.gravity[:, ELBOW], GREEN, "-"),
        },
    }
    figure = lt.paper_figure(170.0)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    numbers = {}
    for panel, (title, parts) in zip(panels.flat, sortings.items(), strict=True):
        draw.zero(panel)
        (whole,) = panel.plot(time, torque, color="black", linewidth=2.0, zorder=1.9)
        for name, (values, colour, line) in parts.items():
            panel.plot(time, values, color=colour, linestyle=line, label=name)
        panel.set_title(title, loc="left")
        panel.legend(loc="upper left", bbox_to_anchor=(-0.08, -0.2), frameon=False, ncols=2, columnspacing=1.0)
        panel.tick_params(labelbottom=True)
        panel.set(xlabel="time (s)", xlim=(0.0, FAST_S))
        total = sum(values for values, _, _ in parts.values())
        numbers[f"difference_{title[0]}_nm"] = np.abs(total - torque).max()
    for panel in panels[:, 0]:
        panel.set_ylabel("torque (N m), + flexion")
    figure.legend([whole], ["the elbow's torque, the sum in every panel"], loc="outside upper center", frameon=False)
    lt.save_figure(figure, folder / "conventions.png")
    return numbers | {
        "elbow_peak_nm": np.abs(torque).max(),
        "net_of_hollerbach_peak_nm": np.abs(interaction.net[:, ELBOW]).max(),
        "net_of_schneider_peak_nm": np.abs(dependent.net[:, ELBOW]).max(),
        "elbow_coriolis_nm": np.abs(joint.coriolis[:, ELBOW]).max(),
        "forearm_centripetal_at_elbow_nm": np.abs(segment.centripetal[:, ELBOW, 1]).max(),
    }


if __name__ == "__main__":
    draw.run(main, "conventions")
