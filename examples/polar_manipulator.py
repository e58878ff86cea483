"""A polar manipulator: two equal links, the endpoint on a line through the base.

The problem of Duarte's notebooks on the kinematic chain and on two-link systems: with 2 alpha_1 + alpha_2 = 180
degrees the endpoint stays on the y axis, at a distance of 2 L sin(alpha_1). The tangential parts of both joints
cancel across the line, the centripetal part of joint 2 and the Coriolis part cancel altogether, and so do the
centripetal and the Coriolis term in the torque of joint 1.
"""

from pathlib import Path

import _drawing as draw
import numpy as np

import limbtorque as lt

LENGTH_M, DURATION_S = 0.3, 0.5
START_DEG, END_DEG = (20.0, 140.0), (80.0, 20.0)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Mobility, parts of the acceleration and torque terms along the line."""
    chain = lt.Chain([LENGTH_M, LENGTH_M], [2.0, 1.5], [0.13, 0.14], [0.015, 0.011])
    time = np.linspace(0.0, DURATION_S, 501)
    turn = lt.minimum_jerk(time, start=np.radians(START_DEG), end=np.radians(END_DEG), duration_s=DURATION_S)
    kinematics = lt.Kinematics(turn.position, turn.velocity, turn.acceleration)
    joints = lt.joint_positions(chain, turn.position)
    distance = joints[:, -1, 1]
    matrix = lt.jacobian(chain, turn.position, point=chain.endpoint)
    free, ellipse = lt.manipulability(matrix), lt.velocity_ellipse(matrix)
    parts = lt.acceleration_parts(chain, kinematics, point=chain.endpoint)
    terms = lt.torque_terms(chain, kinematics, gravity_m_s2=(0.0, 0.0))

    figure = lt.paper_figure(120.0)
    (posture, measure, axes_panel), (across, along, torque) = figure.subplots(2, 3)
    around = np.linspace(0.0, 2.0 * np.pi, 100)
    posture.plot(joints[:, -1, 0], distance, color="0.7", linewidth=0.8)
    for k in (0, 180, 250, 320, 500):
        draw.limb(posture, joints[k], colour="0.6", width=1.2)
        circle = ellipse.semi_axes[k, 0] * np.cos(around) + 1j * ellipse.semi_axes[k, 1] * np.sin(around)
        circle = 0.2 * circle * np.exp(1j * ellipse.angle_rad[k])
        posture.plot(circle.real, distance[k] + circle.imag, color=draw.INDIGO, linewidth=0.9)
    posture.set(xlabel="x (m)", ylabel="y (m)")
    posture.set_title("a  Arm and velocity ellipses", loc="left")
    measure.plot(distance, free * 1e4, color="black")
    measure.plot(
        distance[::25], LENGTH_M**2 * np.abs(np.sin(turn.position[::25, 1])) * 1e4, "o", color="black", markersize=2.5
    )
    measure.set(xlabel="distance from the base (m)", ylabel=r"$\sqrt{\det JJ^T}$ (cm²)")
    measure.set_title("b  Manipulability", loc="left")
    for number in (0, 1):
        axes_panel.plot(distance, ellipse.semi_axes[:, number], color=draw.INDIGO, linestyle=("-", "--")[number])
    names = zip(ellipse.semi_axes[-1], ("longer", "shorter"), (draw.INDIGO, draw.INDIGO), strict=True)
    draw.label_ends(axes_panel, axes_panel.get_xlim()[1], list(names))
    axes_panel.set(xlabel="distance from the base (m)", ylabel="half axes (m/rad)")
    axes_panel.set_title("c  Axes of the ellipse", loc="left")
    lines = {
        "tangential, joint 1": (parts.tangential[:, 0], lt.TERM_COLOURS["inertial"], "-"),
        "tangential, joint 2": (parts.tangential[:, 1], lt.TERM_COLOURS["inertial"], "--"),
        "centripetal, joint 1": (parts.centripetal[:, 0], lt.TERM_COLOURS["centripetal"], "-"),
        "centripetal, joint 2": (parts.centripetal[:, 1], lt.TERM_COLOURS["centripetal"], "--"),
        "Coriolis": (parts.coriolis[:, 0], lt.TERM_COLOURS["coriolis"], "-"),
    }
    for axis, (panel, title) in enumerate(((across, "d  Across the line: all cancel"), (along, "e  Along the line"))):
        draw.zero(panel)
        for name, (values, colour, line) in lines.items():
            panel.plot(time, values[:, axis], color=colour, linestyle=line, label=name)
        panel.plot(time, parts.total[:, axis], color="black", linewidth=2.0, zorder=1.9, label="sum")
        panel.set(xlabel="time (s)", ylabel=f"acceleration, {'xy'[axis]} (m/s²)", xlim=(0.0, DURATION_S))
        panel.set_title(title, loc="left")
    draw.torque_terms(torque, time, terms, 0)
    torque.set(xlabel="time (s)", ylabel="torque (N m)")
    torque.set_title("f  Joint 1: no velocity term", loc="left")
    draw.legend(figure, [across], columns=3)
    lt.save_figure(figure, folder / "polar_manipulator.png")

    straight = lt.minimum_jerk(
        time, start=np.radians(START_DEG[:1]), end=np.radians(END_DEG[:1]), duration_s=DURATION_S
    )
    first, speed, spin = straight.position[:, 0], straight.velocity[:, 0], straight.acceleration[:, 0]
    closed = 2.0 * LENGTH_M * (np.cos(first) * spin - np.sin(first) * speed**2)  # second derivative of 2 L sin(alpha_1)
    velocity_terms = terms.centripetal[:, 0].sum(axis=1) + terms.coriolis[:, 0].sum(axis=1)
    return {
        "off_the_line_m": np.abs(joints[:, -1, 0]).max(),
        "across_the_line_m_s2": np.abs(parts.total[:, 0]).max(),
        "centripetal_2_and_coriolis_m_s2": np.abs(parts.centripetal[:, 1] + parts.coriolis[:, 0]).max(),
        "centripetal_2_alone_m_s2": np.abs(parts.centripetal[:, 1]).max(),
        "along_difference_from_closed_form_m_s2": np.abs(parts.total[:, 1] - closed).max(),
        "joint_1_velocity_terms_nm": np.abs(velocity_terms).max(),
        "joint_1_coriolis_alone_nm": np.abs(terms.coriolis[:, 0]).max(),
        "manipulability_difference_m2": np.abs(free - LENGTH_M**2 * np.sin(turn.position[:, 1])).max(),
        "largest_manipulability_m2": free.max(),
        "distance_of_largest_m": distance[free.argmax()],
    }


if __name__ == "__main__":
    draw.run(main, "polar_manipulator")
