"""A joint held against gravity by a PID controller, with and without integral.

After Watanabe's notebook on the matrix formalism, whose code has a PID controller with gains 30, 3 and 2 for a target
of 60 degrees. Here it holds one rod, which starts level, and the elbow of a two-link arm whose shoulder hangs free,
with some damping. The rod's error without integral follows from the balance of torques; with it, the error decays
with the slowest root of the linearised equation.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, two_link_arm

import limbtorque as lt

P_NM_RAD, D_NMS_RAD, TARGET_RAD = 30.0, 2.0, np.pi / 3.0
INTEGRALS = {"no integral part": 0.0, "3 N m/(rad s), the notebook's": 3.0, "30 N m/(rad s)": 30.0}
STYLES = ((draw.INDIGO, "-"), (draw.WINE, "--"), (draw.OLIVE, "-."))
SHOULDER_DAMPING_NMS = 1.0


def hold_rod(rod: lt.Chain, time_s: np.ndarray, integral: float) -> lt.Simulation:
    """Hold a rod, its angle measured from x, that starts level and at rest."""
    drive = lt.pid(
        [TARGET_RAD], proportional_nm_rad=[P_NM_RAD], integral_nm_rad_s=[integral], derivative_nms_rad=[D_NMS_RAD]
    )
    return lt.simulate(rod, time_s, lt.State([0.0], [0.0]), torque=drive, gravity_m_s2=VERTICAL)


def hold_elbow(arm: lt.Chain, time_s: np.ndarray, integral: float) -> lt.Simulation:
    """Hold the elbow of an arm that hangs straight at first; the shoulder is only damped."""
    drive = lt.pid(
        [0.0, TARGET_RAD],
        proportional_nm_rad=[0.0, P_NM_RAD],
        integral_nm_rad_s=[0.0, integral],
        derivative_nms_rad=[SHOULDER_DAMPING_NMS, D_NMS_RAD],
    )
    start = [-np.pi / 2.0, 0.0]
    return lt.simulate(arm, time_s, lt.State(start, [0.0, 0.0]), torque=drive, gravity_m_s2=VERTICAL)


def slowest_rate(rod: lt.Chain, integral: float) -> float:
    """Rate at which the rod's error decays at the end: of J s^3 + D s^2 + (P - m g d sin(target)) s + integral, 1/s."""
    inertia, weight = rod.coupling[0, 0], 9.81 * rod.first_moment[0]
    return -np.roots([inertia, D_NMS_RAD, P_NM_RAD - weight * np.sin(TARGET_RAD), integral]).real.max()


def error_left(rod: lt.Chain) -> float:
    """Error without integral part, by Newton's method on P error = m g d cos(target - error), rad."""
    weight, error = 9.81 * rod.first_moment[0], 0.0
    for _ in range(20):
        angle = TARGET_RAD - error
        error -= (P_NM_RAD * error - weight * np.cos(angle)) / (P_NM_RAD - weight * np.sin(angle))
    return error


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Angles and errors of the rod and of the elbow, with three integral gains."""
    rod = lt.Chain(length_m=[1.0], mass_kg=[1.0], com_m=[0.5], inertia_kgm2=[1.0 / 12.0])
    time = np.linspace(0.0, 12.0, 2401)
    systems = {"rod": (hold_rod, rod, "One rod"), "elbow": (hold_elbow, two_link_arm(), "Elbow, shoulder free")}
    figure = lt.paper_figure(115.0)
    panels = figure.subplots(2, 3, width_ratios=[1.1, 1.1, 1.0])
    numbers = {"rod_error_left_closed_form_deg": np.degrees(error_left(rod))}
    for row, (system, (hold, chain, title)) in zip(panels, systems.items(), strict=True):
        angle_panel, error_panel, torque_panel = row
        angle_panel.axhline(np.degrees(TARGET_RAD), color="0.6", linewidth=0.6)
        draw.zero(torque_panel)
        for (name, integral), (colour, line) in zip(INTEGRALS.items(), STYLES, strict=True):
            held = hold(chain, time, integral)
            error = np.degrees(TARGET_RAD - held.angle_rad[:, -1])
            style = {"color": colour, "linestyle": line, "label": name}
            angle_panel.plot(time, 60.0 - error, **style)
            error_panel.semilogy(time, np.abs(error), **style)
            torque_panel.plot(time, held.torque_nm[:, -1], **style)
            numbers[f"{system}_error_{integral:g}_deg"] = error[-1]
            if system == "rod" and integral:
                rate = -np.polyfit(time[-600:], np.log(np.abs(error[-600:])), 1)[0]
                numbers |= {
                    f"rod_rate_{integral:g}_per_s": rate,
                    f"rod_root_{integral:g}_per_s": slowest_rate(rod, integral),
                }
        angle_panel.set_ylabel("joint angle (deg)")
        error_panel.set_ylabel("|error| (deg)")
        error_panel.set_ylim(1e-4, 100.0)
        torque_panel.set_ylabel("torque (N m)")
        letters = "abc" if system == "rod" else "def"
        for panel, letter, what in zip(row, letters, (title, "Error", "Torque"), strict=True):
            panel.set_title(f"{letter}  {what}", loc="left")
            panel.set(xlabel="time (s)", xlim=(0.0, 12.0))
        angle_panel.set_xlim(0.0, 4.0)
        torque_panel.set_xlim(0.0, 1.5)
    draw.legend(figure, panels)
    lt.save_figure(figure, folder / "pid_joint.png")
    return numbers


if __name__ == "__main__":
    draw.run(main, "pid_joint")
