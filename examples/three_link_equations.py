"""Every term of the three-link equations (3) to (23) in a reach against a spring.

Cesari et al. (2001) write out positions and accelerations of the centres of mass, (3) to (14), and the balance of forces
and moments of hand, forearm and upper arm, (15) to (23). Here each term is a line, in the slow and the fast reach of
three_link_spring.py. Positions are the same in both, and the slow accelerations a sixteenth of the fast ones, so that the first
figure has the fast reach only. The left sides are the whole turn of a segment: the terms of (17)
and (20) with other joints' accelerations are in them. The paper's slips are corrected.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import three_link_arm
from matplotlib.axes import Axes
from three_link_spring import BEYOND_COM_M, reach

import limbtorque as lt

SEGMENTS = ("upper arm", "forearm", "hand")
FAST_S, SLOW_S = 0.5, 2.0
PAIRS = ((0, 1), (0, 2), (1, 2))
DASHES = ("-", "--", ":")
Lines = dict[str, tuple[np.ndarray, dict[str, str]]]  # name -> values, and how they are drawn


def position_terms(chain: lt.Chain, angle_rad: np.ndarray, link: int) -> Lines:
    """Terms of (3), (5), (7), (9), (11) and (13): vectors of shape (n_frames, 2), m."""
    theta = lt.segment_angles(angle_rad)
    along = [*((rf"$\ell_{k + 1}$", chain.length_m[k]) for k in range(link)), ("$d$", chain.com_m[link])]
    return {
        name: (
            size * np.column_stack([np.cos(theta[:, k]), np.sin(theta[:, k])]),
            {"color": draw.OLIVE if name == "$d$" else (draw.INDIGO, draw.WINE)[k]},
        )
        for k, (name, size) in enumerate(along)
    }


def acceleration_terms(chain: lt.Chain, trial: dict, link: int) -> Lines:
    """Terms of (4), (6), (8), (10), (12) and (14): vectors of shape (n_frames, 2), m/s^2."""
    parts = lt.acceleration_parts(chain, trial["kinematics"], point=chain.centre_of_mass(link))
    blue, red, pink = (lt.TERM_COLOURS[kind] for kind in ("inertial", "centripetal", "coriolis"))
    found = {}
    for j in range(link + 1):
        style = {"linestyle": DASHES[j]}
        found[rf"$\alpha_{j + 1}''$"] = (parts.tangential[:, j], {"color": blue, **style})
        found[rf"$\alpha_{j + 1}'^2$"] = (parts.centripetal[:, j], {"color": red, **style})
    for number, (j, k) in enumerate(PAIRS):
        if k <= link:
            style = {"color": pink, "linestyle": DASHES[number]}
            found[rf"$2\alpha_{j + 1}'\alpha_{k + 1}'$"] = (parts.coriolis[:, number], style)
    return found


def balance_terms(chain: lt.Chain, trial: dict, link: int) -> tuple[Lines, Lines, Lines]:
    """Right sides of (15) to (23) for one link: forces along x and y (N), moments about its centre of mass (N m)."""
    wrench, theta = trial["wrench"], lt.segment_angles(trial["angle"])[:, link]
    sin, cos, d = np.sin(theta), np.cos(theta), chain.com_m[link]
    styles = [{"color": draw.INDIGO}, {"color": draw.WINE}, {"color": draw.OLIVE}]
    (fx, fy), torque = wrench.reaction_n[:, link].T, wrench.torque_nm[:, link]
    names = ("$F_x$, proximal joint", "$F_y$, proximal joint", "torque, proximal joint")
    weight = np.full_like(fx, -9.81 * chain.mass_kg[link])
    x, y = {names[0]: (fx, styles[0])}, {names[1]: (fy, styles[1])}
    y["weight"] = (weight, {"color": lt.TERM_COLOURS["gravity"]})
    parts = (fx * d * sin, -fy * d * cos, torque)
    moment = {name: (part, style) for name, part, style in zip(names, parts, styles, strict=True)}
    if link == 2:
        spring = {"color": lt.TERM_COLOURS["external"]}
        x["spring"], moment["spring"] = (-trial["pull"], spring), (trial["pull"] * BEYOND_COM_M * sin, spring)
    else:
        (gx, gy), distal = wrench.reaction_n[:, link + 1].T, [{**style, "linestyle": "--"} for style in styles]
        names, rest = [name.replace("proximal", "distal") for name in names], chain.length_m[link] - d
        x[names[0]], y[names[1]] = (-gx, distal[0]), (-gy, distal[1])
        parts = (gx * rest * sin, -gy * rest * cos, -wrench.torque_nm[:, link + 1])
        moment |= {name: (part, style) for name, part, style in zip(names, parts, distal, strict=True)}
    return x, y, moment


def draw_lines(panel: Axes, time_s: np.ndarray, lines: Lines, whole: np.ndarray, what: str) -> float:
    """Draw the terms and what they add up to, in black; return how far they are off it."""
    draw.zero(panel)
    panel.plot(time_s, whole, color="black", linewidth=2.0, zorder=1.9, label=what)
    for name, (values, style) in lines.items():
        panel.plot(time_s, values, label=name, **style)
    panel.set_xlim(time_s[0], time_s[-1])
    return float(np.abs(sum(values for values, _ in lines.values()) - whole).max())


def along(lines: Lines, axis: int) -> Lines:
    """One coordinate of terms that are vectors."""
    return {name: (values[:, axis], style) for name, (values, style) in lines.items()}


@draw.paper_style
def kinematics_figure(folder: Path, chain: lt.Chain, trial: dict) -> dict[str, float]:
    """Positions and accelerations of the centres of mass, term by term."""
    figure = lt.paper_figure(165.0)
    panels, off = figure.subplots(3, 4, sharex=True), []
    for link, row in enumerate(panels):
        point = chain.centre_of_mass(link)
        kinds = (
            (position_terms(chain, trial["angle"], link), lt.point_position(chain, trial["angle"], point=point)),
            (acceleration_terms(chain, trial, link), lt.point_acceleration(chain, trial["kinematics"], point=point)),
        )
        for order, (terms, whole) in enumerate(kinds):
            for axis, panel in enumerate(row[2 * order : 2 * order + 2]):
                off.append(draw_lines(panel, trial["time"], along(terms, axis), whole[:, axis], "sum"))
                name = f"${'xy'[axis]}_{link + 1}{('', chr(39) * 2)[order]}$ ({('m', 'm/s²')[order]})"
                panel.set_title(f"({3 + 4 * link + 2 * axis + order})  {name}", loc="left")
        row[0].set_ylabel(SEGMENTS[link])
    for panel in panels[2]:
        panel.set_xlabel("time (s)")
    draw.legend(figure, panels[2, [0, 2]], columns=7)
    lt.save_figure(figure, folder / "three_link_equations.png")
    return {"sum_of_terms_difference": max(off)}


@draw.paper_style
def balance_figure(folder: Path, chain: lt.Chain, trial: dict, speed: str) -> dict[str, float]:
    """Forces and moments on each segment, term by term."""
    figure = lt.paper_figure(165.0)
    panels, off = figure.subplots(3, 3, sharex=True), []
    for row, link in zip(panels, (2, 1, 0), strict=True):
        acceleration = lt.point_acceleration(chain, trial["kinematics"], point=chain.centre_of_mass(link))
        spin = trial["kinematics"].acceleration_rad_s2[:, : link + 1].sum(axis=1)
        left = (*(chain.mass_kg[link] * acceleration).T, chain.inertia_kgm2[link] * spin)
        for k, (panel, lines) in enumerate(zip(row, balance_terms(chain, trial, link), strict=True)):
            off.append(
                draw_lines(panel, trial["time"], lines, left[k], "mass · acceleration, inertia · angular acceleration")
            )
            unit = ("along x (N)", "along y (N)", "moments (N m)")[k]
            panel.set_title(f"({15 + 3 * (2 - link) + k})  {SEGMENTS[link].capitalize()}, {unit}", loc="left")
    for panel in panels[2]:
        panel.set_xlabel("time (s)")
    draw.legend(figure, [*panels[0], panels[1, 2]], columns=3)
    lt.save_figure(figure, folder / f"three_link_newton_euler_{speed}.png")
    return {f"{speed}_balance_left_over": max(off)}


def main(folder: Path) -> dict[str, float]:
    """Kinematics of the fast reach; balances of the slow and the fast one."""
    arm = three_link_arm()
    slow, fast = reach(arm, SLOW_S), reach(arm, FAST_S)
    numbers = kinematics_figure(folder, arm, fast)
    for speed, trial in (("slow", slow), ("fast", fast)):
        numbers |= balance_figure(folder, arm, trial, speed)
    tip = [lt.point_acceleration(arm, trial["kinematics"], point=arm.centre_of_mass(2)) for trial in (slow, fast)]
    ratio = (FAST_S / SLOW_S) ** 2
    return numbers | {
        "slow_is_a_sixteenth_m_s2": np.abs(tip[0] - ratio * tip[1]).max(),
        "hand_peak_acceleration_m_s2": np.hypot(*tip[1].T).max(),
    }


if __name__ == "__main__":
    draw.run(main, "three_link_equations", "three_link_newton_euler_slow", "three_link_newton_euler_fast")
