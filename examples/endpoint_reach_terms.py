"""Torque terms of a fingertip that moves straight: slow, fast, horizontal.

The simulation of Duarte's notebook on one- and two-link systems: from the hanging arm to the upper arm level and the
elbow at 90 degrees, the fingertip by minimum jerk along a straight line. From an elbow bent by 10 degrees everything is
finite. From the notebook's straight arm it is not (two_link_endpoint.py): with its 101 samples and numerical
derivatives, the torques of the shaded onset are those of the sampling.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import HORIZONTAL, VERTICAL, two_link_arm
from two_link_endpoint import as_the_notebook, from_bent_elbow
from two_link_reach import FAST_S, SLOW_S, interaction_share

import limbtorque as lt

MOVEMENTS = {
    "slow": ("slow, 4 s", SLOW_S, VERTICAL),
    "fast": ("fast, 0.5 s", FAST_S, VERTICAL),
    "horizontal": ("horizontal, 0.5 s", FAST_S, HORIZONTAL),
}
ONSET = 0.05  # share of the movement that is shaded


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Terms of three movements from two starts."""
    arm = two_link_arm()
    figure = lt.paper_figure(195.0)
    panels = figure.subplots(4, 3, sharex="col")
    numbers = {}
    for column, (name, (title, seconds, gravity)) in enumerate(MOVEMENTS.items()):
        starts = {
            "bent": from_bent_elbow(arm, seconds, gravity=gravity),
            "straight": as_the_notebook(arm, seconds, gravity=gravity),
        }
        for row, (start, (time, _, terms, *_)) in enumerate(starts.items()):
            for joint in (0, 1):
                panel = panels[2 * row + joint, column]
                draw.torque_terms(panel, time, terms, joint)
                letter = "abcdefghijkl"[3 * (2 * row + joint) + column]
                panel.set_title(f"{letter}  {draw.JOINTS[joint].capitalize()}, {title}", loc="left")
                numbers[f"{start}_{name}_{draw.JOINTS[joint]}_peak_nm"] = np.abs(terms.net[:, joint]).max()
                if name != "horizontal":
                    share = interaction_share(terms, joint)
                    numbers[f"{start}_{name}_{draw.JOINTS[joint]}_interaction_share"] = share
                if start == "straight":
                    panel.axvspan(
                        0.0, ONSET * seconds, color="0.88", linewidth=0.0, zorder=0, label="made by the sampling"
                    )
            if name == "slow":
                numbers[f"{start}_slow_without_gravity_nm"] = np.abs(terms.net - terms.gravity).max()
        panels[3, column].set_xlabel("time (s)")
    for row, start in enumerate(("elbow bent by 10° at first",) * 2 + ("straight arm, 101 samples",) * 2):
        panels[row, 0].set_ylabel(f"torque (N m), + flexion\n{start}")
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "endpoint_reach_terms.png")
    return numbers


if __name__ == "__main__":
    draw.run(main, "endpoint_reach_terms")
