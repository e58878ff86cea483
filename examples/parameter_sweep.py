"""Torques of a reach by duration, body mass, height and a load.

Exercise 7 of Duarte's notebook on one- and two-link systems: the reach by the joints with different parameters, one
changed at a time. Torques grow with the body's mass; their gravity with height, and the rest with its square and with
the inverse square of the duration. A mass in the hand changes the forearm's mass, centre of mass and inertia.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import FOREARM_M, HEIGHT_M, MASS_KG, VERTICAL, two_link_arm
from two_link_reach import FAST_S, reach_by_joints

import limbtorque as lt

KINDS = ("inertial", "centripetal", "coriolis", "gravity")


def scaled(arm: lt.Chain, mass: float = 1.0, length: float = 1.0) -> lt.Chain:
    """The arm of a person whose mass and lengths are so many times larger."""
    return lt.Chain(arm.length_m * length, arm.mass_kg * mass, arm.com_m * length, arm.inertia_kgm2 * mass * length**2)


def loaded(arm: lt.Chain, held_kg: float, at_m: float = FOREARM_M + 0.07) -> lt.Chain:
    """The arm with a point mass in the hand, so far from the elbow."""
    mass, com, inertia = arm.mass_kg[1] + held_kg, arm.com_m[1], arm.inertia_kgm2[1]
    new = (arm.mass_kg[1] * com + held_kg * at_m) / mass
    about_new = inertia + arm.mass_kg[1] * (com - new) ** 2 + held_kg * (at_m - new) ** 2
    return lt.Chain(arm.length_m, [arm.mass_kg[0], mass], [arm.com_m[0], new], [arm.inertia_kgm2[0], about_new])


def peaks(chain: lt.Chain, duration_s: float) -> np.ndarray:
    """Largest size of each kind of term and of the net torque, shape (2, 5), N m."""
    _, _, terms = reach_by_joints(chain, duration_s, VERTICAL)
    sizes = [[np.abs(draw.by_kind(terms, joint)[kind]).max() for kind in KINDS] for joint in (0, 1)]
    return np.column_stack([sizes, np.abs(terms.net).max(axis=0)])


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Peaks of terms and net torques over four parameters."""
    arm = two_link_arm()
    sweeps = {
        "duration (s)": (np.geomspace(0.3, 4.0, 25), lambda value: peaks(arm, value)),
        "body mass (kg)": (np.linspace(40.0, 120.0, 9), lambda value: peaks(scaled(arm, mass=value / MASS_KG), FAST_S)),
        "body height (m)": (
            np.linspace(1.2, 2.0, 9),
            lambda value: peaks(scaled(arm, length=value / HEIGHT_M), FAST_S),
        ),
        "mass in the hand (kg)": (np.linspace(0.0, 5.0, 11), lambda value: peaks(loaded(arm, value), FAST_S)),
    }
    figure = lt.paper_figure(110.0)
    panels = figure.subplots(2, 4, sharex="col")
    numbers = {}
    for column, (name, (values, found)) in enumerate(sweeps.items()):
        size = np.array([found(value) for value in values])
        for joint in (0, 1):
            panel = panels[joint, column]
            for k, kind in enumerate(KINDS):
                panel.plot(values, size[:, joint, k], color=lt.TERM_COLOURS[kind], label=lt.TERM_NAMES[kind])
            panel.plot(values, size[:, joint, -1], color="black", linewidth=2.0, zorder=1.9, label="net torque")
            varied = ("duration", "body mass", "height", "load")[column]
            title = f"{'abcdefgh'[4 * joint + column]}  {draw.JOINTS[joint].capitalize()}, {varied}"
            panel.set_title(title, loc="left", fontsize=7.5)
            panel.set_ylim(bottom=0.0)
            key = name.split(" (")[0].replace(" ", "_")
            for k, kind in enumerate((*KINDS, "net")):
                for end in (0, -1):
                    numbers[f"{key}_{values[end]:g}_{draw.JOINTS[joint]}_{kind}_nm"] = size[end, joint, k]
        panels[1, column].set_xlabel(name)
    for panel in panels[:, 0]:
        panel.set(xscale="log", yscale="log", ylim=(0.01, 100.0), xticks=[0.3, 0.5, 1.0, 2.0, 4.0])
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter("")
        panel.set_ylabel("largest torque (N m)")
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "parameter_sweep.png")
    held = (
        reach_by_joints(loaded(arm, 5.0), FAST_S, VERTICAL)[2].gravity
        - reach_by_joints(arm, FAST_S, VERTICAL)[2].gravity
    )
    numbers["held_weight_at_elbow_nm"] = np.abs(held[:, 1]).max()
    numbers["held_weight_closed_form_nm"] = 5.0 * 9.81 * (FOREARM_M + 0.07)
    return numbers


if __name__ == "__main__":
    draw.run(main, "parameter_sweep")
