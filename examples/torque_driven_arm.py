"""Torques of inverse dynamics drive the arm forward along the same movement.

The exercise with which Duarte's notebook on one- and two-link systems ends. The torques of a three-link reach against
a spring, on a shoulder that moves, are sampled at 100, 250 and 1000 Hz and put into forward dynamics, a spline
between the samples. Nothing corrects an error on the way. The torques of a minimum-jerk reach have corners at its
onset and end, and the spline cuts them: the coarser the samples, the more. Works of all torques, of the shoulder's
motion and of the spring add up to the change of energy.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, three_link_arm

import limbtorque as lt

START_DEG, TARGET_DEG, DURATION_S, REST_S = (-95.0, 75.0, -5.0), (-35.0, 35.0, -10.0), 0.5, 0.2
SHOULDER_SHIFT_M, STIFFNESS_N_M, ANCHOR_M = (0.06, 0.015), 10.0, np.array([-0.2, -0.25])
WRIST, KNUCKLE = 1, 2  # links at whose end the spring may be


def spring(position_m: np.ndarray) -> np.ndarray:
    """Force of the spring, from the arm to its anchor behind the body, N."""
    return -STIFFNESS_N_M * (position_m - ANCHOR_M)


def sampled_reach(arm: lt.Chain, rate_hz: float, link: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Time, joint angles, torques and the shoulder's acceleration of the reach, sampled."""
    time = np.arange(round((DURATION_S + 2.0 * REST_S) * rate_hz) + 1) / rate_hz
    given = {"duration_s": DURATION_S}
    joints = lt.minimum_jerk(time - REST_S, start=np.radians(START_DEG), end=np.radians(TARGET_DEG), **given)
    shoulder = lt.minimum_jerk(time - REST_S, start=(0.0, 0.0), end=SHOULDER_SHIFT_M, **given)
    places = lt.joint_positions(arm, joints.position, base_m=shoulder.position)
    load = lt.Load(link, spring(places[:, link + 1]), places[:, link + 1])
    kinematics = lt.Kinematics(
        joints.position, joints.velocity, joints.acceleration, base_acceleration_m_s2=shoulder.acceleration
    )
    terms = lt.torque_terms(arm, kinematics, gravity_m_s2=VERTICAL, loads=[load], joint_m=places)
    return time, joints.position, terms.net, shoulder.acceleration


def replay(arm: lt.Chain, rate_hz: float, link: int = WRIST) -> tuple[lt.Simulation, np.ndarray, np.ndarray]:
    """The movement that the sampled torques make, the true one, and the torques."""
    time, angle, torque, push = sampled_reach(arm, rate_hz, link)
    end = lt.Point(link, arm.length_m[link])
    made = lt.simulate(
        arm,
        time,
        lt.State(angle[0], np.zeros(3)),
        torque=torque,
        gravity_m_s2=VERTICAL,
        base_acceleration_m_s2=push,
        loads=[lt.AttachedLoad(end, lambda _, place, __: spring(place))],
    )
    return made, angle, torque


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """The replay at three rates, and the works of the finest."""
    arm, numbers = three_link_arm(), {}
    figure = lt.paper_figure(122.0)
    (torque_panel, error_panel), (work_panel, balance_panel) = figure.subplots(2, 2)
    for rate, colour, line in ((100.0, draw.OLIVE, "-."), (250.0, draw.WINE, "--"), (1000.0, draw.INDIGO, "-")):
        made, angle, torque = replay(arm, rate)
        error = np.degrees(np.abs(made.angle_rad - angle)).max(axis=1)
        error_panel.semilogy(
            made.time_s[error > 0.0], error[error > 0.0], color=colour, linestyle=line, label=f"{rate:g} Hz"
        )
        balance_panel.plot(made.time_s, 1e9 * made.balance_j, color=colour, linestyle=line)
        numbers[f"error_{rate:g}_hz_deg"] = error.max()
        numbers[f"balance_{rate:g}_hz_j"] = np.abs(made.balance_j).max()
    error_panel.set(ylabel="largest error of an angle (deg)", ylim=(1e-7, 1.0))
    error_panel.set_title("b  Difference from the true movement", loc="left")
    balance_panel.set_ylabel("energy minus works (nJ)")
    balance_panel.set_title("d  What is left over", loc="left")

    works = {f"work at the {name}": made.joint_work_j[:, j] for j, name in enumerate(draw.JOINTS)}
    for joint, (name, line) in enumerate(zip(works, draw.LINES, strict=True)):
        torque_panel.plot(made.time_s, torque[:, joint], **line)
        work_panel.plot(made.time_s, works[name], label=name, **line)
    torque_panel.set_ylabel("net torque (N m), + flexion")
    torque_panel.set_title("a  Torques of the reach", loc="left")
    work_panel.plot(made.time_s, made.base_work_j, color=lt.TERM_COLOURS["base"], label="work at the moving shoulder")
    work_panel.plot(made.time_s, made.load_work_j, color=lt.TERM_COLOURS["external"], label="work of the spring")
    gained = made.energy_j - made.energy_j[0]
    work_panel.plot(made.time_s, gained, color="0.75", linewidth=4.0, zorder=1.9, label="energy gained")
    work_panel.set_ylabel("work on the arm (J)")
    work_panel.set_title("c  Works and energy", loc="left")
    for panel in (torque_panel, error_panel, work_panel, balance_panel):
        panel.set(xlabel="time (s)", xlim=(0.0, made.time_s[-1]))
        if panel is not error_panel:
            draw.zero(panel)
    draw.legend(figure, [work_panel, error_panel], columns=4)
    lt.save_figure(figure, folder / "torque_driven_arm.png")
    hand, true_angle, _ = replay(arm, 250.0, KNUCKLE)
    numbers["error_spring_at_knuckle_deg"] = np.degrees(np.abs(hand.angle_rad - true_angle)).max()
    stretch = [np.sum(spring(place) ** 2) / (2.0 * STIFFNESS_N_M) for place in ends(arm, made)]
    return numbers | {
        "spring_work_j": made.load_work_j[-1],
        "spring_energy_change_j": stretch[1] - stretch[0],
        "energy_gained_j": gained[-1],
        **{f"{name}_work_j": made.joint_work_j[-1, joint] for joint, name in enumerate(draw.JOINTS)},
        "shoulder_motion_work_j": made.base_work_j[-1],
    }


def ends(arm: lt.Chain, made: lt.Simulation) -> np.ndarray:
    """Where the spring's end is at the first and at the last frame."""
    return lt.joint_positions(arm, made.angle_rad[[0, -1]], base_m=made.base_m[[0, -1]])[:, WRIST + 1]


if __name__ == "__main__":
    draw.run(main, "torque_driven_arm")
