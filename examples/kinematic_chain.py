"""Tangential, centripetal and Coriolis acceleration of a two-link endpoint.

After Duarte's notebook on the kinematic chain: two links of 0.5 m, both joints from 0 to 90 degrees in 1 s. The
notebook's fingertip runs straight from the straight chain, which no finite acceleration of the joints can do
(two_link_endpoint.py); here the joints move by minimum jerk.
"""

from pathlib import Path

import _drawing as draw
import numpy as np

import limbtorque as lt

DURATION_S, SCALE = 1.0, 0.035  # m of arrow for 1 m/s^2


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Parts of the endpoint's acceleration, and its jerk."""
    chain = lt.Chain(length_m=[0.5, 0.5], mass_kg=[1.0, 1.0], com_m=[0.25, 0.25], inertia_kgm2=[0.02, 0.02])
    time = np.linspace(0.0, DURATION_S, 1001)
    turn = lt.minimum_jerk(time, start=[0.0, 0.0], end=np.radians([90.0, 90.0]), duration_s=DURATION_S)
    kinematics, end = lt.Kinematics(turn.position, turn.velocity, turn.acceleration), chain.endpoint
    parts = lt.acceleration_parts(chain, kinematics, point=end)
    total = lt.point_acceleration(chain, kinematics, point=end)
    jerk = lt.point_jerk(chain, kinematics, turn.jerk, point=end)
    joints = lt.joint_positions(chain, turn.position)

    tangential, centripetal, coriolis = (lt.TERM_COLOURS[kind] for kind in ("inertial", "centripetal", "coriolis"))
    lines = {
        "tangential, joint 1": (parts.tangential[:, 0], tangential, "-"),
        "tangential, joint 2": (parts.tangential[:, 1], tangential, "--"),
        "centripetal, joint 1": (parts.centripetal[:, 0], centripetal, "-"),
        "centripetal, joint 2": (parts.centripetal[:, 1], centripetal, "--"),
        "Coriolis": (parts.coriolis[:, 0], coriolis, "-"),
    }
    figure = lt.paper_figure(140.0)
    (posture, x_panel), (jerk_panel, y_panel) = figure.subplots(2, 2)
    posture.plot(*joints[:, -1].T, color="0.8", linewidth=0.8)
    for k in (250, 500, 750):
        draw.limb(posture, joints[k], colour="0.55")
        for values, colour, _ in lines.values():
            draw.arrow(posture, joints[k, -1], SCALE * values[k], colour)
        draw.arrow(posture, joints[k, -1], SCALE * total[k], "black", width=1.6)
        place = joints[k, -1] + [(0.05, -0.02), (0.06, 0.03), (0.03, -0.13)][k // 250 - 1]
        posture.text(*place, f"{time[k]:g} s", color="0.4", fontsize=7.0)
    posture.plot([-0.5, 10.0 * SCALE - 0.5], [0.0, 0.0], color="black", linewidth=1.6)
    posture.text(5.0 * SCALE - 0.5, 0.02, "10 m/s²", ha="center", va="bottom", fontsize=7.0)
    posture.set(xlabel="x (m)", ylabel="y (m)")
    posture.set_title("a  Endpoint, its acceleration and the parts", loc="left")
    for axis, panel in enumerate((x_panel, y_panel)):
        draw.zero(panel)
        for name, (values, colour, line) in lines.items():
            panel.plot(time, values[:, axis], color=colour, linestyle=line, label=name)
        panel.plot(time, total[:, axis], color="black", linewidth=2.0, zorder=1.9, label="acceleration")
        panel.set(xlabel="time (s)", ylabel=f"acceleration along {'xy'[axis]} (m/s²)", xlim=(0.0, DURATION_S))
        panel.set_title(f"{'bd'[axis]}  Parts along {'xy'[axis]}", loc="left")
        jerk_panel.plot(time, jerk[:, axis], color="black", linestyle=("-", "--")[axis])
    draw.zero(jerk_panel)
    draw.label_ends(jerk_panel, DURATION_S, [(jerk[-1, 0], "x", "black"), (jerk[-1, 1], "y", "black")])
    jerk_panel.set(xlabel="time (s)", ylabel="jerk of the endpoint (m/s³)", xlim=(0.0, DURATION_S))
    jerk_panel.set_title("c  Jerk", loc="left")
    draw.legend(figure, [x_panel], columns=3)
    lt.save_figure(figure, folder / "kinematic_chain.png")

    velocity = lt.point_velocity(chain, kinematics, point=end)
    numeric = np.gradient(velocity, time, axis=0, edge_order=2), np.gradient(total, time, axis=0, edge_order=2)
    spoke = joints[:, 2] - joints[:, 1]
    across = parts.coriolis[:, 0, 0] * spoke[:, 1] - parts.coriolis[:, 0, 1] * spoke[:, 0]
    return {
        "sum_of_parts_difference_m_s2": np.abs(parts.total - total).max(),
        "difference_from_numeric_m_s2": np.abs(numeric[0] - total).max(),
        "jerk_difference_from_numeric_m_s3": np.abs(numeric[1] - jerk).max(),
        "peak_acceleration_m_s2": np.hypot(*total.T).max(),
        "peak_coriolis_m_s2": np.hypot(*parts.coriolis[:, 0].T).max(),
        "coriolis_closed_form_m_s2": 2.0
        * 0.5
        * (1.875 * np.pi / 2.0) ** 2,  # peak velocity of minimum jerk: 15/8 of the mean
        "coriolis_off_the_second_link": np.abs(across).max(),
        "peak_jerk_m_s3": np.hypot(*jerk.T).max(),
    }


if __name__ == "__main__":
    draw.run(main, "kinematic_chain")
