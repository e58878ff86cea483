"""A straight path of a two-link endpoint: joints down to the jerk, and both paths.

The figures of Duarte's notebook on the kinematic chain: two links of 0.5 m, the endpoint by minimum jerk from (1, 0) to
(0.5, 0.5). There the chain is straight initially, and acceleration and jerk of the joints have no bound at the onset; they
are drawn in colour from 0.03 s on (the notebook's curves begin at 0.01 s, its first sample is 0/0). From an elbow bent by
10 degrees all are finite.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from one_link_kinematics import draw_derivatives

import limbtorque as lt

LINK_M, DURATION_S, FIRST_S = 0.5, 1.0, 0.03
END_M = np.array([0.5, 0.5])


def straight_way(chain: lt.Chain, time_s: np.ndarray, bend_deg: float) -> tuple[lt.MinimumJerk, list[np.ndarray]]:
    """Endpoint, and joint angles with three derivatives in degrees, from a start on the x axis."""
    start = lt.point_position(chain, np.radians([[-bend_deg / 2.0, bend_deg]]), point=chain.endpoint)[0]
    way = lt.minimum_jerk(time_s, start=start, end=END_M, duration_s=DURATION_S)
    angle = lt.two_link_angles(chain.length_m, way.position, bend="positive").angle_rad
    tip = {"velocity_m_s": way.velocity, "acceleration_m_s2": way.acceleration, "jerk_m_s3": way.jerk}
    turn = lt.joint_motion(chain, angle, **tip)
    joints = (angle, turn.velocity_rad_s, turn.acceleration_rad_s2, turn.jerk_rad_s3)
    return way, [np.degrees(value) for value in joints]


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Endpoint and joints over time, and their paths, from a bent and from a straight elbow."""
    chain = lt.Chain([LINK_M, LINK_M], [1.0, 1.0], [0.25, 0.25], [0.02, 0.02])
    time = np.linspace(0.0, DURATION_S, 1001)
    way, joints = straight_way(chain, time, 10.0)
    late = time[time >= FIRST_S]
    _, unbounded = straight_way(chain, late, 0.0)
    figure = lt.paper_figure(135.0)
    grid = figure.add_gridspec(3, 4)
    panels = np.array([[figure.add_subplot(grid[row, column]) for column in range(4)] for row in (0, 1)])
    draw_derivatives(panels[0], time, [way.position, way.velocity, way.acceleration, way.jerk], ("x", "y"), "m", "abcd")
    draw_derivatives(panels[1], time, joints, (r"$\alpha_1$", r"$\alpha_2$"), "deg", "efgh")
    for panel, values in zip(panels[1], unbounded, strict=True):
        panel.set_ylim(*panel.get_ylim())
        for joint, line in enumerate((":", "-.")):
            name = rf"$\alpha_{joint + 1}$, straight initially"
            panel.plot(late, values[:, joint], line, color=draw.WINE, linewidth=1.0, zorder=1.5, label=name)
    panels[1, 0].get_legend().remove()
    panels[0, 0].set_ylabel("endpoint")
    panels[1, 0].set_ylabel("joint")
    for panel in panels[1]:
        panel.set_xlabel("time (s)")
    path, space = figure.add_subplot(grid[2, :2]), figure.add_subplot(grid[2, 2:])
    for k in np.linspace(0, len(time) - 1, 6).astype(int):
        draw.limb(path, lt.joint_positions(chain, np.radians(joints[0][[k]]))[0], colour="0.75", width=1.0)
    path.plot(*way.position.T, color="black", zorder=4)
    path.set(xlabel="x (m)", ylabel="y (m)")
    path.set_title("i  Path of the endpoint", loc="left")
    space.plot(*joints[0].T, color="black", label="elbow bent by 10° initially")
    space.plot(*unbounded[0].T, ":", color=draw.WINE, label="straight initially")
    space.set(xlabel=r"$\alpha_1$ (deg)", ylabel=r"$\alpha_2$ (deg)")
    space.set_title("j  Path in joint space", loc="left")
    space.legend(frameon=False)
    draw.legend(figure, panels[1])
    lt.save_figure(figure, folder / "two_link_kinematics.png")
    rates = [np.gradient(value, time, axis=0, edge_order=2) for value in joints[:3]]
    ends = ("velocity_deg_s", "acceleration_deg_s2", "jerk_deg_s3")
    onset, elbow = straight_way(chain, np.array([5e-4, 2e-3]), 0.0)[1], 1
    return {
        **{
            f"difference_{name}": np.abs(rate - value)[2:-2].max() / np.abs(value).max()
            for name, rate, value in zip(ends, rates, joints[1:], strict=True)
        },
        **{f"peak_elbow_{name}": np.abs(value[:, elbow]).max() for name, value in zip(ends, joints[1:], strict=True)},
        **{
            f"onset_power_{order}": np.log(abs(value[1, elbow] / value[0, elbow])) / np.log(4.0)
            for order, value in enumerate(onset)
        },
        "endpoint_peak_speed_m_s": np.hypot(*way.velocity.T).max(),
        "endpoint_mean_speed_m_s": float(np.hypot(*(END_M - way.position[0]))) / DURATION_S,
        "straight_elbow_end_deg": unbounded[0][-1, elbow],
    }


if __name__ == "__main__":
    draw.run(main, "two_link_kinematics")
