"""From a reach to muscle excitations, and from these forward to the reach.

The equation with which Duarte's notebook on one- and two-link systems ends, muscle forces in the equations of motion. A
minimum-jerk reach of a two-link arm asks for net torques; static optimization distributes these among the muscles of the built-in set, whose
strength depends on their length and velocity, with passive tensions taken off and no muscle below an activation of
0.01; the activations ask for excitations, by the inverse of the activation dynamics. Then the excitations alone drive the
arm, without feedback. Some shoulder muscles have no fibre parameters in the set: constant strength.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, two_link_arm
from scipy.interpolate import PchipInterpolator

import limbtorque as lt

START_DEG, TARGET_DEG, REST_S = (-75.0, 85.0), (-20.0, 35.0), 0.2
DURATION_S, HASTY_S, LEAST = 0.6, 0.3, 0.01
OFF_DEG = 1.0
MUSCLES = lt.Musculature(
    lt.load_muscle_set("arm"), ("shoulder", "elbow"), flexion_sign=(1.0, 1.0), flexion_zero_rad=(-np.pi / 2.0, 0.0)
)
NAMES = MUSCLES.muscle_set.names
GROUPS = {  # at the elbow
    "biceps": (["BIClong", "BICshort"], draw.INDIGO),
    "brachialis": (["BRA"], draw.OLIVE),
    "triceps": (["TRIlong", "TRIlat", "TRImed"], draw.WINE),
}
DRIVEN = {"DELT1": "0.55", "BIClong": draw.INDIGO, "BRA": draw.OLIVE}


@dataclass(frozen=True)
class Plan:
    """A reach, its net torques, and how the muscles are to make them."""

    time_s: np.ndarray
    reach: lt.MinimumJerk
    net_nm: np.ndarray
    muscles: lt.Musculature
    state: lt.MuscleState
    activation: np.ndarray
    excitation: np.ndarray
    within: np.ndarray  # excitations between 0 and 1 that keep up with the activations


def plan(rate_hz: float, duration_s: float = DURATION_S, muscles: lt.Musculature = MUSCLES) -> Plan:
    """Excitations for a reach, sampled."""
    time = np.arange(round((duration_s + 2.0 * REST_S) * rate_hz) + 1) / rate_hz
    reach = lt.minimum_jerk(
        time - REST_S, start=np.radians(START_DEG), end=np.radians(TARGET_DEG), duration_s=duration_s
    )
    motion = (reach.position, reach.velocity, reach.acceleration)
    net = lt.torque_terms(two_link_arm(), lt.Kinematics(*motion), gravity_m_s2=VERTICAL).net
    state = lt.muscle_state(muscles, reach.position, reach.velocity)
    shared = lt.share_torques(
        state.moment_arm_m, net - state.passive_nm, max_force_n=state.strength_n, min_activation=LEAST
    )
    if not (shared.success.all() and state.possible.all()) or state.out_of_range.any():
        raise ValueError("the reach asks more of the muscles than they can do, or than is known of them")
    rate = np.gradient(shared.activation, time, axis=0)
    excitation, within = lt.excitation_for_rate(rate, shared.activation)
    return Plan(time, reach, net, muscles, state, shared.activation, excitation, within)


def carry_out(wanted: Plan, off_deg: float = 0.0) -> tuple[lt.Simulation, np.ndarray]:
    """The movement that the excitations make, from a start that may be a little off, and its largest error in degrees."""
    excitation = PchipInterpolator(wanted.time_s, wanted.excitation)
    drive = lt.muscle_drive(wanted.muscles, excitation, activation=wanted.activation[0])
    return move(wanted, drive, off_deg)


def move(wanted: Plan, torque: object, off_deg: float = 0.0) -> tuple[lt.Simulation, np.ndarray]:
    """The movement that torques make, and the largest error of an angle over time, degrees."""
    made = lt.simulate(
        two_link_arm(),
        wanted.time_s,
        lt.State(wanted.reach.position[0] + np.radians(off_deg), np.zeros(2)),
        torque=torque,
        gravity_m_s2=VERTICAL,
        integration=lt.Integration(rtol=1e-8, atol=1e-9),
    )
    return made, np.degrees(np.abs(made.angle_rad - wanted.reach.position)).max(axis=1)


def of(names: list[str], values: np.ndarray) -> np.ndarray:
    """Sum over some muscles, the last axis."""
    return values[..., [NAMES.index(name) for name in names]].sum(axis=-1)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """The reach at three rates, from a start that is off, and in haste."""
    numbers = {}
    figure = lt.paper_figure(118.0)
    (posture, angle_panel, drive_panel), (torque_panel, error_panel, off_panel) = figure.subplots(2, 3)
    rates = ((100.0, "0.6", "-.", 20.0), (250.0, "0.35", "--", 2.0), (1000.0, "black", "-", 0.2))
    for rate, colour, line, height in rates:
        wanted = plan(rate)
        made, error = carry_out(wanted)
        error_panel.semilogy(made.time_s[error > 0.0], error[error > 0.0], color=colour, linestyle=line)
        error_panel.text(0.4, height, f"{rate:g} Hz", color=colour, ha="right", va="bottom", fontsize=7.5)
        numbers[f"error_{rate:g}_hz_deg"] = error.max()
    numbers["balance_j"] = np.abs(made.balance_j).max()
    numbers["least_excitation"], numbers["excitation_peak"] = wanted.excitation.min(), wanted.excitation.max()
    error_panel.set(ylabel="largest error (deg)", ylim=(1e-7, 1e3))
    error_panel.set_title("e  Error by rate of the samples", loc="left")

    for k in (0, len(made.time_s) // 2, -1):
        joints = lt.joint_positions(two_link_arm(), made.angle_rad[[k]])[0]
        draw.limb(posture, joints, colour="black" if k == -1 else "0.7", width=1.2)
    posture.set(xlabel="forward, x (m)", ylabel="up, y (m)")
    posture.set_title("a  Start, middle and end", loc="left")
    flexion = np.degrees(made.angle_rad - MUSCLES.flexion_zero_rad)
    planned = np.degrees(wanted.reach.position - MUSCLES.flexion_zero_rad)
    for joint, line in enumerate(draw.LINES[:2]):
        angle_panel.plot(
            made.time_s, planned[:, joint], color="0.8", linewidth=4.0, label="wanted" if joint == 0 else None
        )
        angle_panel.plot(made.time_s, flexion[:, joint], **line, label=f"{draw.JOINTS[joint]}, made")
    angle_panel.set_ylabel("joint angle (deg), + flexion")
    angle_panel.set_title("b  Angles, wanted and made", loc="left")

    draw_muscles(drive_panel, torque_panel, wanted, made)
    numbers |= off_the_way(off_panel)
    for panel in (angle_panel, drive_panel, torque_panel, error_panel, off_panel):
        panel.set(xlabel="time (s)", xlim=(0.0, made.time_s[-1]))
    draw.legend(figure, [angle_panel, torque_panel, drive_panel], columns=5)
    lt.save_figure(figure, folder / "muscle_driven_reach.png")
    hasty = plan(1000.0, HASTY_S)
    return numbers | {
        **parts_of_the_elbow(wanted),
        "hasty_error_deg": carry_out(hasty)[1].max(),
        "hasty_excitation_share": float((~hasty.within).any(axis=1).mean()),
        "excitation_outside": float((~wanted.within).sum()),
    }


def draw_muscles(drive_panel: draw.Axes, torque_panel: draw.Axes, wanted: Plan, made: lt.Simulation) -> None:
    """Draw excitations and activations, and the parts of the elbow's torque."""
    for name, colour in DRIVEN.items():
        drive_panel.plot(made.time_s, of([name], made.memory), color=colour)
        drive_panel.plot(made.time_s, of([name], wanted.excitation), color=colour, linestyle=":")
    drive_panel.plot([], [], color="0.3", label="activation")
    drive_panel.plot([], [], color="0.3", linestyle=":", label="excitation")
    for y, text, colour in zip(
        (0.36, 0.1, 0.03), ("deltoid, anterior", "long biceps", "brachialis"), DRIVEN.values(), strict=True
    ):
        drive_panel.text(0.02, y, text, color=colour, fontsize=7.5)
    drive_panel.set(ylabel="activation, excitation", ylim=(0.0, 0.45))
    drive_panel.set_title("c  Drive of three muscles", loc="left")

    state = lt.muscle_state(MUSCLES, made.angle_rad, made.velocity_rad_s)
    active = state.moment_arm_m[:, 1] * made.memory * state.strength_n
    draw.zero(torque_panel)
    for name, (names, colour) in GROUPS.items():
        torque_panel.plot(made.time_s, of(names, active), color=colour, label=name)
    torque_panel.plot(made.time_s, state.passive_nm[:, 1], color="0.5", linestyle="-.", label="passive tensions")
    torque_panel.plot(made.time_s, made.torque_nm[:, 1], color="black", linewidth=2.0, zorder=1.9, label="net torque")
    torque_panel.set_ylabel("torque (N m), + flexion")
    torque_panel.set_title("d  Elbow: torques of its muscles", loc="left")


def parts_of_the_elbow(wanted: Plan) -> dict[str, float]:
    """Torques at the elbow at the end of the reach, N m."""
    active = wanted.state.moment_arm_m[:, 1] * wanted.activation * wanted.state.strength_n
    parts = {f"elbow_{name}_nm": of(names, active)[-1] for name, (names, _) in GROUPS.items()}
    passive, net = wanted.state.passive_nm[-1, 1], wanted.net_nm[-1, 1]
    left = active[-1].sum() + passive - net
    return parts | {"elbow_passive_nm": passive, "elbow_net_nm": net, "elbow_left_over_nm": abs(left)}


def off_the_way(panel: draw.Axes) -> dict[str, float]:
    """Draw how an error of the start grows: under muscles, under the same torques, and under muscles of constant strength."""
    wanted = plan(250.0)
    constant = plan(250.0, muscles=replace(MUSCLES, force_length_velocity=False))
    cases = {
        "muscles": (carry_out(wanted, OFF_DEG)[1], "black", "-"),
        "net torques": (move(wanted, wanted.net_nm, OFF_DEG)[1], "0.35", "--"),
        "constant strength": (carry_out(constant, OFF_DEG)[1], "0.6", "-."),
    }
    for error, colour, line in cases.values():
        panel.semilogy(wanted.time_s, error, color=colour, linestyle=line)
    panel.set(ylabel="largest error (deg)", ylim=(0.1, 1e3))
    panel.set_title("f  Start 1° off", loc="left")
    for (x, y), (name, (_, colour, _)) in zip(((0.72, 0.35), (0.98, 2.5), (0.74, 150.0)), cases.items(), strict=True):
        panel.text(x, y, name, color=colour, ha="right", va="bottom", fontsize=7.5)
    return {f"off_{name.replace(' ', '_')}_deg": error[-1] for name, (error, _, _) in cases.items()}


if __name__ == "__main__":
    draw.run(main, "muscle_driven_reach")
