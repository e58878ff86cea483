"""A straight arm swings forward against a cable: one link as an inverted pendulum.

After Duarte's notebook on one- and two-link systems. The torque of the shoulder is found twice: about the joint,
where the reaction force has no lever arm, and about the centre of mass, where it has one and nearly cancels the
torque. The torque is then put into forward dynamics, which gives the swing back.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import VERTICAL, straight_arm

import limbtorque as lt

START_DEG, END_DEG, DURATION_S = -90.0, 20.0, 0.7
CABLE_N = np.array([-20.0, 0.0])  # force of the cable on the wrist: backwards


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Inverse dynamics about two points, then forward dynamics."""
    arm = straight_arm()
    mass, d, length, inertia = arm.mass_kg[0], arm.com_m[0], arm.length_m[0], arm.inertia_kgm2[0]
    time = np.linspace(-0.1, DURATION_S + 0.1, 901)
    swing = lt.minimum_jerk(time, start=np.radians([START_DEG]), end=np.radians([END_DEG]), duration_s=DURATION_S)
    kinematics = lt.Kinematics(swing.position, swing.velocity, swing.acceleration)
    joints = lt.joint_positions(arm, swing.position)
    cable = lt.Load(0, np.tile(CABLE_N, (len(time), 1)), joints[:, -1])
    terms = lt.torque_terms(arm, kinematics, gravity_m_s2=VERTICAL, loads=[cable], joint_m=joints)
    wrench = lt.newton_euler(arm, kinematics, gravity_m_s2=VERTICAL, loads=[cable], joint_m=joints)
    torque, force = terms.net[:, 0], wrench.reaction_n[:, 0]

    cos, sin, alpha2 = np.cos(swing.position[:, 0]), np.sin(swing.position[:, 0]), swing.acceleration[:, 0]
    closed = (inertia + mass * d**2) * alpha2 + 9.81 * mass * d * cos + length * (CABLE_N[0] * sin - CABLE_N[1] * cos)
    of_reaction = d * (force[:, 0] * sin - force[:, 1] * cos)
    of_cable = (length - d) * (CABLE_N[1] * cos - CABLE_N[0] * sin)
    about_com = torque + of_reaction + of_cable - inertia * alpha2

    back = lt.simulate(
        arm,
        time,
        lt.State(swing.position[0], [0.0]),
        torque=terms.net,
        gravity_m_s2=VERTICAL,
        loads=[lt.AttachedLoad(arm.endpoint, lambda *_: CABLE_N)],
    )
    difference_deg = np.degrees(np.abs(back.angle_rad - swing.position).max())

    figure = lt.paper_figure(115.0)
    (arm_panel, joint_panel, com_panel), (x_panel, y_panel, forward_panel) = figure.subplots(2, 3)
    for k in np.linspace(100, 800, 6).astype(int):
        draw.limb(arm_panel, joints[k], colour="black" if k == 800 else "0.65")
        centre = lt.point_position(arm, swing.position[[k]], point=arm.centre_of_mass(0))[0]
        arm_panel.plot(*centre, "o", color="black", markersize=2.5, zorder=4)
        draw.arrow(arm_panel, joints[k, -1], CABLE_N * 0.008, lt.TERM_COLOURS["external"])
    arm_panel.set(xlabel="forward, x (m)", ylabel="up, y (m)")
    arm_panel.set_title("a  The swing; cable of 20 N", loc="left")

    draw.torque_terms(joint_panel, time, terms, 0)
    joint_panel.set_title("b  About the joint", loc="left")
    joint_panel.set_ylabel("torque (N m), + forward")
    com_panel.axhline(0.0, color="0.6", linewidth=0.6)
    com_panel.plot(time, torque, color="black", linewidth=1.8)
    com_panel.plot(time, of_reaction, color=draw.WINE, linestyle="--", label="moment of the reaction force")
    com_panel.plot(time, of_cable, color=lt.TERM_COLOURS["external"], linestyle="--", label="moment of the cable")
    com_panel.plot(
        time, inertia * alpha2, color=lt.TERM_COLOURS["inertial"], linestyle="--", label=r"their sum, $I\alpha''$"
    )
    com_panel.set_title("c  About the centre of mass", loc="left")
    com_panel.set_ylabel("moment (N m), + forward")

    parts = lt.acceleration_parts(arm, kinematics, point=arm.centre_of_mass(0))
    of_mass = {"inertial": mass * parts.tangential[:, 0], "centripetal": mass * parts.centripetal[:, 0]}
    constant = {"gravity": [0.0, mass * 9.81], "external": -CABLE_N}
    of_mass |= {kind: np.tile(value, (len(time), 1)) for kind, value in constant.items()}
    for axis, (panel, name) in enumerate(
        ((x_panel, "d  Reaction force (black), x"), (y_panel, "e  Reaction force (black), y"))
    ):
        panel.axhline(0.0, color="0.6", linewidth=0.6)
        for kind, value in of_mass.items():
            if value[:, axis].any():
                panel.plot(time, value[:, axis], color=lt.TERM_COLOURS[kind], label=lt.TERM_NAMES[kind])
        panel.plot(time, force[:, axis], color="black", linewidth=1.8)
        panel.set_title(name, loc="left")
        panel.set_ylabel("force (N), + " + ("forward", "up")[axis])
    forward_panel.plot(time, np.degrees(swing.position), color="0.75", linewidth=4.0, label="swing")
    forward_panel.plot(time, np.degrees(back.angle_rad), color="black", linestyle="--", label="swing from the torque")
    forward_panel.set_title("f  Forward dynamics", loc="left")
    forward_panel.set_ylabel("angle of the arm (deg)")
    for panel in (joint_panel, com_panel, x_panel, y_panel, forward_panel):
        panel.set_xlim(time[0], time[-1])
        panel.set_xlabel("time (s)")
    draw.legend(figure, [joint_panel, x_panel, com_panel, forward_panel], columns=5)
    lt.save_figure(figure, folder / "one_link.png")
    return {
        "peak_torque_nm": np.abs(torque).max(),
        "closed_form_difference_nm": np.abs(torque - closed).max(),
        "about_com_residual_nm": np.abs(about_com).max(),
        "peak_reaction_n": np.hypot(*force.T).max(),
        "forward_difference_deg": difference_deg,
    }


if __name__ == "__main__":
    draw.run(main, "one_link")
