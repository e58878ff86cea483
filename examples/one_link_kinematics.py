"""One link turns by 90 degrees in 1 s: joint above endpoint, down to the jerk.

The figure of Duarte's notebook on the kinematic chain: a link of 1 m, its angle by minimum jerk. What the endpoint
does follows from the angle; the acceleration has a part across the link and one towards the joint.
"""

from pathlib import Path

import _drawing as draw
import numpy as np

import limbtorque as lt

LENGTH_M, TURN_RAD, DURATION_S = 1.0, np.pi / 2.0, 1.0


def derivatives(chain: lt.Chain, motion: lt.MinimumJerk) -> list[np.ndarray]:
    """Position, velocity, acceleration and jerk of the endpoint, of a chain whose joints move by minimum jerk."""
    kinematics, end = lt.Kinematics(motion.position, motion.velocity, motion.acceleration), chain.endpoint
    return [
        lt.point_position(chain, motion.position, point=end),
        lt.point_velocity(chain, kinematics, point=end),
        lt.point_acceleration(chain, kinematics, point=end),
        lt.point_jerk(chain, kinematics, motion.jerk, point=end),
    ]


def draw_derivatives(
    panels: np.ndarray, time_s: np.ndarray, values: list[np.ndarray], names: tuple[str, ...], unit: str, letters: str
) -> None:
    """Draw a quantity and its three derivatives in a row of panels, one line for each coordinate."""
    orders = ("position", "velocity", "acceleration", "jerk")
    if unit == "deg":
        orders = ("angle", *(f"angular {order}" for order in orders[1:]))
    for order, (panel, value) in enumerate(zip(panels, values, strict=True)):
        draw.zero(panel)
        for k, name in enumerate(names):
            panel.plot(time_s, value[:, k], label=name, **draw.LINES[k])
        per = ("", "/s", "/s²", "/s³")[order]
        panel.set_xlim(time_s[0], time_s[-1])
        panel.set_title(f"{letters[order]}  {orders[order].capitalize()} ({unit}{per})", loc="left", fontsize=7.5)
    panels[0].legend(frameon=False)


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Angle, endpoint and their derivatives."""
    link = lt.Chain([LENGTH_M], [1.0], [0.5], [1.0 / 12.0])
    time = np.linspace(0.0, DURATION_S, 1001)
    turn = lt.minimum_jerk(time, start=[0.0], end=[TURN_RAD], duration_s=DURATION_S)
    angles = [np.degrees(value) for value in (turn.position, turn.velocity, turn.acceleration, turn.jerk)]
    end = derivatives(link, turn)
    figure = lt.paper_figure(90.0)
    panels = figure.subplots(2, 4, sharex=True)
    draw_derivatives(panels[0], time, angles, (r"angle $\alpha$",), "deg", "abcd")
    draw_derivatives(panels[1], time, end, ("x", "y"), "m", "efgh")
    panels[0, 0].set_ylabel("joint")
    panels[1, 0].set_ylabel("endpoint")
    for panel in panels[1]:
        panel.set_xlabel("time (s)")
    lt.save_figure(figure, folder / "one_link_kinematics.png")
    sin, cos = np.sin(turn.position), np.cos(turn.position)
    w, a, j = turn.velocity, turn.acceleration, turn.jerk
    closed = (  # the derivatives of (cos, sin), as the notebook writes them
        np.hstack([cos, sin]),
        np.hstack([-sin * w, cos * w]),
        np.hstack([-sin * a - cos * w**2, cos * a - sin * w**2]),
        np.hstack([-sin * (j - w**3) - 3.0 * cos * w * a, cos * (j - w**3) - 3.0 * sin * w * a]),
    )
    names = ("position_m", "velocity_m_s", "acceleration_m_s2", "jerk_m_s3")
    return {
        **{
            f"difference_{name}": np.abs(value - LENGTH_M * exact).max()
            for name, value, exact in zip(names, end, closed, strict=True)
        },
        **{f"peak_{name}": np.hypot(*value.T).max() for name, value in zip(names[1:], end[1:], strict=True)},
    }


if __name__ == "__main__":
    draw.run(main, "one_link_kinematics")
