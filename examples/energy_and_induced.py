"""Where the energy of a reach comes from, and which torque accelerates which joint.

A fast reach of two links against a spring, on a shoulder that moves. The powers of the joint torques, of the
shoulder's motion and of the spring add up to the rate of change of the energy, which is found from the motion of the
segments. The accelerations that each torque, gravity, the velocities, the shoulder's motion and the spring induce
(Zajac and Gordon 1989) add up to those of the movement; a torque accelerates joints that it does not cross.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, two_link_arm

import limbtorque as lt

START_DEG, TARGET_DEG, DURATION_S = (-90.0, 20.0), (0.0, 60.0), 0.5
SHOULDER_SHIFT_M, STIFFNESS_N_M, ANCHOR_M = (0.10, 0.03), 20.0, np.array([-0.3, -0.4])


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Powers, energies and induced accelerations."""
    arm, time = two_link_arm(), np.linspace(0.0, DURATION_S, 501)
    reach = lt.minimum_jerk(time, start=np.radians(START_DEG), end=np.radians(TARGET_DEG), duration_s=DURATION_S)
    shoulder = lt.minimum_jerk(time, start=(0.0, 0.0), end=SHOULDER_SHIFT_M, duration_s=DURATION_S)
    joints = lt.joint_positions(arm, reach.position, base_m=shoulder.position)
    kinematics = lt.Kinematics(
        *(reach.position, reach.velocity, reach.acceleration),
        *(shoulder.position, shoulder.velocity, shoulder.acceleration),
    )
    spring = lt.Load(1, -STIFFNESS_N_M * (joints[:, -1] - ANCHOR_M), joints[:, -1])
    terms = lt.torque_terms(arm, kinematics, gravity_m_s2=VERTICAL, loads=[spring], joint_m=joints)
    powers = lt.power_balance(arm, kinematics, terms=terms, gravity_m_s2=VERTICAL)
    energies = lt.segment_energies(arm, kinematics, gravity_m_s2=VERTICAL)
    induced = lt.induced_accelerations(arm, kinematics, terms=terms)

    figure = lt.paper_figure(130.0)
    (power, energy), (at_shoulder, at_elbow) = figure.subplots(2, 2)
    torques = {"shoulder torque": (draw.INDIGO, "-"), "elbow torque": (draw.INDIGO, "--")}
    base, external, gravity = (lt.TERM_COLOURS[kind] for kind in ("base", "external", "gravity"))
    for joint, (name, (colour, line)) in enumerate(torques.items()):
        power.plot(time, powers.joint[:, joint], color=colour, linestyle=line, label=name)
    power.plot(time, powers.base, color=base, label="motion of the shoulder")
    power.plot(time, powers.external, color=external, label="spring")
    power.plot(time, powers.energy_rate, color="0.75", linewidth=4.0, zorder=1.5, label="rate of change of the energy")
    added = powers.joint.sum(axis=1) + powers.base + powers.external
    power.plot(time, added, color="black", linestyle=":", label="sum of the others")
    power.set_title("a  Powers into the arm", loc="left")
    power.set_ylabel("power (W)")
    kinds = {
        "potential": energies.potential,
        "of translation": energies.translational,
        "of rotation": energies.rotational,
    }
    ends = []
    for (name, values), (colour, line) in zip(
        kinds.items(), ((gravity, "-"), (draw.WINE, "-"), (draw.WINE, "--")), strict=True
    ):
        change = values.sum(axis=1) - values[0].sum()
        energy.plot(time, change, color=colour, linestyle=line)
        ends.append((change[-1], name, colour))
    draw.label_ends(energy, DURATION_S, ends)
    energy.set_title("b  Energy since the onset", loc="left")
    energy.set_ylabel("energy (J)")
    sources = dict(zip(induced.sources, range(len(induced.sources)), strict=True))
    lines = {
        "shoulder torque": ("torque_0", draw.INDIGO, "-"),
        "elbow torque": ("torque_1", draw.INDIGO, "--"),
        "gravity": ("gravity", gravity, "-"),
        "velocities (centripetal and Coriolis)": ("velocity", draw.WINE, "-."),
        "motion of the shoulder": ("base", base, "-"),
        "spring": ("external", external, "-"),
    }
    for joint, panel in enumerate((at_shoulder, at_elbow)):
        panel.plot(
            time,
            reach.acceleration[:, joint],
            color="0.75",
            linewidth=4.0,
            zorder=1.5,
            label="acceleration of the joint",
        )
        for name, (source, colour, line) in lines.items():
            values = induced.joint_rad_s2[:, joint, sources[source]]
            panel.plot(time, values, color=colour, linestyle=line, label=name)
        panel.plot(
            time, induced.joint_rad_s2[:, joint].sum(axis=1), color="black", linestyle=":", label="sum of the others"
        )
        panel.set_title(f"{'cd'[joint]}  Induced at the {draw.JOINTS[joint]}", loc="left")
        panel.set_ylabel("acceleration (rad/s²), + flexion")
    for panel in (power, energy, at_shoulder, at_elbow):
        draw.zero(panel)
        panel.set(xlabel="time (s)", xlim=(0.0, DURATION_S))
    draw.legend(figure, [power, at_shoulder], columns=3)
    lt.save_figure(figure, folder / "energy_and_induced.png")
    early = 100  # frame at 0.1 s
    return {
        "power_residual_w": np.abs(powers.residual).max(),
        "energy_gained_j": energies.total[-1] - energies.total[0],
        "energy_rate_integrated_j": np.trapezoid(powers.energy_rate, time),
        "shoulder_power_peak_w": powers.joint[:, 0].max(),
        "induced_residual_rad_s2": np.abs(induced.joint_rad_s2.sum(axis=2) - reach.acceleration).max(),
        "elbow_by_shoulder_torque_rad_s2": induced.joint_rad_s2[early, 1, sources["torque_0"]],
        "elbow_by_elbow_torque_rad_s2": induced.joint_rad_s2[early, 1, sources["torque_1"]],
        "elbow_acceleration_rad_s2": reach.acceleration[early, 1],
    }


if __name__ == "__main__":
    draw.run(main, "energy_and_induced")
