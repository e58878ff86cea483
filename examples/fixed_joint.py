"""Two links with one joint held: what the other can still do with the endpoint.

Problem 1 of Duarte's notebook on the kinematic chain. With joint 1 held at 0 degrees the endpoint runs on a circle about
joint 2; with joint 2 held at 0 degrees on one twice as large about joint 1. Either way one column of the Jacobian is
left, and no Coriolis acceleration.
"""

from pathlib import Path

import _drawing as draw
import numpy as np

import limbtorque as lt

LINK_M, DURATION_S, SCALE = 0.5, 1.0, 0.03  # m of arrow for 1 m/s^2
SPEED_SCALE = 0.15  # m of arrow for 1 m/s: as long as 5 m/s^2
HELD = {
    "joint_1": ("joint 1 held at 0°", (0.0, 0.0), (0.0, 90.0)),
    "joint_2": ("joint 2 held at 0°", (0.0, 0.0), (90.0, 0.0)),
}


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Way, acceleration and Jacobian of the endpoint with either joint held."""
    chain = lt.Chain([LINK_M, LINK_M], [1.0, 1.0], [0.25, 0.25], [0.02, 0.02])
    time, end = np.linspace(0.0, DURATION_S, 1001), chain.endpoint
    colours = [lt.TERM_COLOURS[kind] for kind in ("inertial", "centripetal")]
    figure = lt.paper_figure(120.0)
    panels = figure.subplots(2, 3)
    numbers = {}
    for row, (name, (title, first, last)) in enumerate(HELD.items()):
        turn = lt.minimum_jerk(time, start=np.radians(first), end=np.radians(last), duration_s=DURATION_S)
        motion = lt.Kinematics(turn.position, turn.velocity, turn.acceleration)
        parts, matrix = lt.acceleration_parts(chain, motion, point=end), lt.jacobian(chain, turn.position, point=end)
        joints, speed = lt.joint_positions(chain, turn.position), lt.point_velocity(chain, motion, point=end)
        kinds = (parts.tangential.sum(axis=1), parts.centripetal.sum(axis=1))
        way, over_time, columns = panels[row]
        way.plot(*joints[:, -1].T, color="0.8", linewidth=0.8)
        for k in (0, 300, 500, 700):
            draw.limb(way, joints[k], colour="0.55")
            draw.arrow(way, joints[k, -1], SPEED_SCALE * speed[k], draw.INDIGO)
            for values, colour in zip(kinds, colours, strict=True):
                draw.arrow(way, joints[k, -1], SCALE * values[k], colour)
        way.set(xlabel="x (m)", ylabel="y (m)")
        base = 0.02, -0.17
        way.plot([base[0], base[0] + 5.0 * SCALE], [base[1]] * 2, color="black", linewidth=1.2)
        way.text(base[0] + 5.0 * SCALE + 0.02, base[1], "5 m/s²; velocity (violet): 1 m/s", fontsize=6.0, va="center")
        way.set_title(f"{'ad'[row]}  {title.capitalize()}", loc="left")
        draw.zero(over_time)
        for values, colour, kind in zip(kinds, colours, ("tangential", "centripetal"), strict=True):
            for axis, line in enumerate(("-", "--")):
                over_time.plot(time, values[:, axis], line, color=colour, label=f"{kind}, {'xy'[axis]}")
        over_time.set(xlabel="time (s)", ylabel="acceleration (m/s²)", xlim=(0.0, DURATION_S))
        over_time.set_title(f"{'be'[row]}  Endpoint's acceleration", loc="left")
        moving = int(name == "joint_1")  # index of the joint that moves
        draw.zero(columns)
        for axis, line in enumerate(("-", "--")):
            columns.plot(np.degrees(turn.position[:, moving]), matrix[:, axis, moving], line, color="black")
        draw.label_ends(columns, 90.0, [(matrix[-1, axis, moving], "xy"[axis], "black") for axis in (0, 1)])
        columns.set(xlabel=f"angle of joint {moving + 1} (deg)", ylabel="column of J (m/rad)", xlim=(0.0, 90.0))
        columns.set_title(f"{'cf'[row]}  Remaining column of J", loc="left")
        radius = LINK_M if moving else 2.0 * LINK_M
        angle, rate, spin = (value[:, moving] for value in (turn.position, turn.velocity, turn.acceleration))
        sin, cos = np.sin(angle), np.cos(angle)
        exact = radius * np.column_stack([-sin * spin - cos * rate**2, cos * spin - sin * rate**2])
        numbers |= {
            f"{name}_acceleration_difference_m_s2": np.abs(parts.total - exact).max(),
            f"{name}_jacobian_difference_m": np.abs(matrix[:, :, moving] - radius * np.column_stack([-sin, cos])).max(),
            f"{name}_coriolis_m_s2": np.abs(parts.coriolis).max(),
            f"{name}_peak_acceleration_m_s2": np.hypot(*parts.total.T).max(),
        }
    draw.legend(figure, panels, columns=4)
    lt.save_figure(figure, folder / "fixed_joint.png")
    return numbers


if __name__ == "__main__":
    draw.run(main, "fixed_joint")
