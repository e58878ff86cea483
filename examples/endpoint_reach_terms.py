"""Torque terms of a fingertip that moves straight: slow, fast, horizontal.

The simulation of Duarte's notebook on one- and two-link systems: from the hanging arm to the upper arm level and the
elbow at 90 degrees, the fingertip by minimum jerk along a straight line. From an elbow bent by 10 degrees everything is
finite. From the notebook's straight arm it is not (two_link_endpoint.py): with its 101 samples and numerical
derivatives, the torques of the shaded onset are an artefact of the sampling, and the later peaks are cut, too. Thin
dotted lines are the notebook's own figure: the same with its segment parameters. A second figure has the motion.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import HORIZONTAL, VERTICAL, two_link_arm
from two_link_endpoint import as_the_notebook, from_bent_elbow, notebook_arm
from two_link_reach import FAST_S, SLOW_S, interaction_share

import limbtorque as lt

MOVEMENTS = {
    "slow": ("slow, 4 s", SLOW_S, VERTICAL),
    "fast": ("fast, 0.5 s", FAST_S, VERTICAL),
    "horizontal": ("horizontal, 0.5 s", FAST_S, HORIZONTAL),
}
ONSET = 0.05  # share of the movement that is shaded
STARTS = ("elbow bent by 10° initially", "straight arm, 101 samples")


def shade_onset(panel: draw.Axes, seconds: float) -> None:
    """Shade the onset from a straight arm."""
    panel.axvspan(0.0, ONSET * seconds, color="0.88", linewidth=0.0, zorder=0, label="sampling artefact")


@draw.paper_style
def terms_figure(folder: Path) -> dict[str, float]:
    """Terms of three movements from two starts."""
    arm, own = two_link_arm(), notebook_arm()
    figure = lt.paper_figure(195.0)
    panels = figure.subplots(4, 3, sharex="col")
    numbers = {}
    for column, (name, (title, seconds, gravity)) in enumerate(MOVEMENTS.items()):
        starts = {
            "bent": from_bent_elbow(arm, seconds, gravity=gravity),
            "straight": as_the_notebook(arm, seconds, gravity=gravity),
        }
        printed = as_the_notebook(own, seconds, gravity=gravity)[2]
        for row, (start, (time, _, terms, _)) in enumerate(starts.items()):
            for joint in (0, 1):
                panel, joint_name = panels[2 * row + joint, column], draw.JOINTS[joint]
                draw.torque_terms(panel, time, terms, joint)
                letter = "abcdefghijkl"[3 * (2 * row + joint) + column]
                panel.set_title(f"{letter}  {joint_name.capitalize()}, {title}", loc="left")
                numbers[f"{start}_{name}_{joint_name}_peak_nm"] = np.abs(terms.net[:, joint]).max()
                if name != "horizontal":
                    numbers[f"{start}_{name}_{joint_name}_interaction_share"] = interaction_share(terms, joint)
                if start == "straight":
                    shade_onset(panel, seconds)
                    for kind, values in draw.by_kind(printed, joint).items():
                        panel.plot(time, values, ":", color=lt.TERM_COLOURS[kind], linewidth=0.9)
                    panel.plot(time, printed.net[:, joint], "k:", linewidth=1.0, label="notebook's parameters")
                    numbers[f"notebook_{name}_{joint_name}_peak_nm"] = np.abs(printed.net[:, joint]).max()
            if name == "slow":
                numbers[f"{start}_slow_without_gravity_nm"] = np.abs(terms.net - terms.gravity).max()
        panels[3, column].set_xlabel("time (s)")
    for row, start in enumerate(STARTS):
        for joint in (0, 1):
            panels[2 * row + joint, 0].set_ylabel(f"torque (N m), + flexion\n{start}")
    draw.legend(figure, panels, columns=4)
    lt.save_figure(figure, folder / "endpoint_reach_terms.png")
    return numbers


@draw.paper_style
def motion_figure(folder: Path) -> dict[str, float]:
    """Angles, velocities and accelerations of the slow and the fast movement."""
    arm, numbers = two_link_arm(), {}
    figure = lt.paper_figure(105.0)
    panels = figure.subplots(2, 3, sharex="row")
    for row, name in enumerate(("slow", "fast")):
        title, seconds, _ = MOVEMENTS[name]
        bent, straight = from_bent_elbow(arm, seconds), as_the_notebook(arm, seconds)
        for order, quantity in enumerate(("angle_rad", "velocity_rad_s", "acceleration_rad_s2")):
            panel = panels[row, order]
            draw.zero(panel)
            for joint, line in enumerate(draw.LINES[:2]):
                panel.plot(bent[0], np.degrees(getattr(bent[3], quantity)[:, joint]), label=draw.JOINTS[joint], **line)
                values = np.degrees(getattr(straight[3], quantity)[:, joint])
                panel.plot(straight[0], values, ":", color=draw.WINE, label="from a straight arm")
            shade_onset(panel, seconds)
            what = ("angle (deg)", "angular velocity (deg/s)", "angular acceleration (deg/s²)")[order]
            panel.set_title(f"{'abcdef'[3 * row + order]}  {title.capitalize()}", loc="left")
            panel.set(xlabel="time (s)", ylabel=what, xlim=(0.0, seconds))
        rate = np.gradient(bent[3].velocity_rad_s, bent[0], axis=0, edge_order=2)
        peak = np.abs(bent[3].acceleration_rad_s2).max()
        numbers[f"{name}_acceleration_difference"] = np.abs(rate - bent[3].acceleration_rad_s2).max() / peak
        numbers[f"{name}_elbow_peak_deg_s2"] = np.degrees(np.abs(bent[3].acceleration_rad_s2[:, 1]).max())
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "endpoint_reach_motion.png")
    return numbers


def main(folder: Path) -> dict[str, float]:
    """Torque terms and motion of the reaches."""
    return terms_figure(folder) | motion_figure(folder)


if __name__ == "__main__":
    draw.run(main, "endpoint_reach_terms", "endpoint_reach_motion")
