"""Sign conventions of the program in one figure of a three-link arm.

The figure of docs/theory.md. Every place and every angle comes from a chain and the functions that the program uses,
so that the drawing cannot say other than the code. Names follow Cesari et al. (2001) and Duarte's notebook on
two-link systems.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path as Curve

import limbtorque as lt

ANGLES_DEG = (30.0, 45.0, 40.0)
ANGLE, LENGTH, GRAVITY, BASE, LOAD = draw.INDIGO, "0.25", *(lt.TERM_COLOURS[k] for k in ("gravity", "base", "external"))


def arc(
    axes: Axes, centre: np.ndarray, radius: float, start_deg: float, turn_deg: float, colour: str, width: float = 1.0
) -> None:
    """Draw an arc that turns counter-clockwise, with an arrow at its end."""
    turn = np.radians(start_deg + np.linspace(0.0, turn_deg, 60))
    curve = Curve(centre + radius * np.column_stack([np.cos(turn), np.sin(turn)]))
    head = {
        "arrowstyle": "-|>",
        "mutation_scale": 6.0 + 2.0 * width,
        "shrinkA": 0.0,
        "shrinkB": 0.0,
        "capstyle": "butt",
    }
    axes.add_patch(FancyArrowPatch(path=curve, color=colour, linewidth=width, zorder=4, **head))


def label(
    axes: Axes, place: np.ndarray, text: str, colour: str = "black", towards_deg: float = 0.0, away: float = 0.0
) -> None:
    """Write a symbol at a place, or at some distance from it in a direction."""
    offset = away * np.array([np.cos(np.radians(towards_deg)), np.sin(np.radians(towards_deg))])
    axes.text(*(place + offset), text, color=colour, ha="center", va="center", fontsize=10.0, zorder=6)


def key(axes: Axes, lines: list[tuple[str, str]]) -> None:
    """Write what the symbols mean below the arm."""
    for row, (text, colour) in enumerate(lines):
        axes.text(0.14, -0.1 - 0.036 * row, text, color=colour, va="center", fontsize=7.5)


def ray(axes: Axes, start: np.ndarray, direction_deg: float, length: float) -> None:
    """Draw the thin line from which an angle is measured."""
    end = start + length * np.array([np.cos(np.radians(direction_deg)), np.sin(np.radians(direction_deg))])
    axes.plot(*np.vstack([start, end]).T, color="0.6", linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)


def measure(axes: Axes, start: np.ndarray, end: np.ndarray, off: float, text: str) -> None:
    """Draw a length beside a link."""
    along = (end - start) / np.linalg.norm(end - start)
    side = off * np.array([along[1], -along[0]])
    style = {
        "arrowstyle": "<|-|>",
        "color": LENGTH,
        "linewidth": 0.7,
        "shrinkA": 0.0,
        "shrinkB": 0.0,
        "mutation_scale": 6,
    }
    axes.annotate("", xy=end + side, xytext=start + side, arrowprops=style)
    for point in (start, end):
        axes.plot(*np.vstack([point + 0.25 * side, point + 1.15 * side]).T, color="0.6", linewidth=0.5)
    label(axes, (start + end) / 2.0 + side * (1.0 + 0.032 / abs(off)), text, LENGTH)


def arm_of(axes: Axes, joints: np.ndarray, centres: np.ndarray) -> None:
    """Draw links, joints and centres of mass."""
    axes.plot(*joints.T, color="0.72", linewidth=6.0, solid_capstyle="round", solid_joinstyle="round", zorder=2)
    axes.plot(*joints[:-1].T, "o", color="black", markerfacecolor="white", markersize=6.5, zorder=5)
    axes.plot(*centres.T, "o", color="black", markersize=4.0, zorder=5)
    axes.set(aspect="equal", xlim=(-0.23, 0.65), ylim=(-0.21, 0.76))
    axes.axis("off")


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """The arm twice: its angles and lengths, its forces and torques."""
    length = np.array([0.36, 0.30, 0.25])
    chain = lt.Chain(length, [2.0, 1.2, 0.5], 0.45 * length, [0.02, 0.01, 0.002])
    alpha = np.radians([ANGLES_DEG])
    joints = lt.joint_positions(chain, alpha)[0]
    centres = np.array([lt.point_position(chain, alpha, point=chain.centre_of_mass(link))[0] for link in range(3)])
    theta, beta = np.degrees(lt.segment_angles(alpha)[0]), np.degrees(lt.internal_angles(alpha)[0])

    figure = lt.paper_figure(110.0)
    angles, loads = figure.subplots(1, 2)
    arm_of(angles, joints, centres)
    for joint in range(3):
        before = theta[joint - 1] if joint else 0.0
        ray(angles, joints[joint], before, 0.17)
        arc(angles, joints[joint], (0.12, 0.09, 0.085)[joint], before, theta[joint] - before, ANGLE)
        text = r"$\alpha_1=\theta_1$" if joint == 0 else rf"$\alpha_{joint + 1}$"
        label(angles, joints[joint], text, ANGLE, (10.0, 50.0, 92.0)[joint], (0.195, 0.125, 0.115)[joint])
    ray(angles, joints[2], 0.0, 0.22)
    arc(angles, joints[2], 0.20, 0.0, theta[2], draw.WINE)
    label(angles, joints[2], r"$\theta_3$", draw.WINE, 30.0, 0.235)
    turn = np.radians(np.linspace(theta[1], theta[1] + beta[1], 60))
    angles.plot(*(joints[1][:, None] + 0.08 * np.array([np.cos(turn), np.sin(turn)])), color=draw.OLIVE, zorder=4)
    label(angles, joints[1], r"$\beta_2$", draw.OLIVE, theta[1] + beta[1] / 2.0, 0.115)
    measure(angles, joints[2], joints[3], -0.12, r"$L_3$")
    measure(angles, joints[2], centres[2], -0.055, r"$d_3$")
    for text, way, ha, va in (
        ("x, forward", (0.13, 0.0), "left", "center"),
        ("y, up", (0.0, 0.13), "center", "bottom"),
    ):
        draw.arrow(angles, np.array([-0.2, -0.19]), np.array(way), "black", width=0.9)
        angles.text(-0.2 + 1.08 * way[0], -0.19 + 1.08 * way[1], text, ha=ha, va=va)
    key(
        angles,
        [
            (r"$\alpha$: joint angle; $\theta$: orientation", "black"),
            (r"$\beta$: internal angle, $\pi-\alpha$", "black"),
            ("$p_0$: base; $p_3$: endpoint", "0.3"),
        ],
    )
    angles.set_title("a  Angles, lengths and centres of mass", loc="left")

    for k, (angle, distance) in enumerate(((-130.0, 0.05), (-50.0, 0.055), (-40.0, 0.055), (40.0, 0.055))):
        label(angles, joints[k], f"$p_{k}$", "0.3", angle, distance)

    arm_of(loads, joints, centres)
    for joint, side in enumerate((0.055, 0.06, -0.06)):
        arc(loads, joints[joint], 0.06, theta[joint] + 52.0, 256.0, "black", width=1.6)
        label(loads, joints[joint], rf"$\tau_{joint + 1}$", "black", (120.0, 160.0, -30.0)[joint], 0.097)
        draw.arrow(loads, centres[joint], np.array([0.0, -0.085]), GRAVITY, width=1.6)
        label(loads, centres[joint] + [side, -0.055], rf"$m_{joint + 1}g$", GRAVITY)
    draw.arrow(loads, joints[0], np.array([-0.16, -0.05]), BASE, width=1.6)
    label(loads, joints[0] + [-0.19, -0.06], r"$a_0$", BASE)
    draw.arrow(loads, joints[3], np.array([-0.15, 0.03]), LOAD, width=1.6)
    label(loads, joints[3] + [-0.18, 0.036], r"$F$", LOAD)
    middle = 0.28 * joints[2] + 0.72 * joints[3]
    arc(loads, middle, 0.06, -60.0, 150.0, LOAD, width=1.6)
    label(loads, middle, r"$N$", LOAD, 18.0, 0.095)
    explained = [
        (r"$\tau$: proximal link on distal link", "black"),
        ("$F$, $N$: surroundings on the arm", LOAD),
        ("$a_0$: acceleration of the base", BASE),
        ("$m_ig$: weights", GRAVITY),
    ]
    key(loads, explained)
    loads.set_title("b  Torques and loads; turns are positive counter-clockwise", loc="left")
    lt.save_figure(figure, folder / "signs.png")
    numbers = {f"alpha_{k + 1}_deg": value for k, value in enumerate(ANGLES_DEG)}
    numbers |= {f"theta_{k + 1}_deg": value for k, value in enumerate(theta)}
    return numbers | {f"beta_{k + 1}_deg": value for k, value in enumerate(beta)}


if __name__ == "__main__":
    draw.run(main, "signs")
