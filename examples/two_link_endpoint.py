"""A fingertip that starts from a straight arm: torques depend on the sampling.

Duarte's notebook on one- and two-link systems lets the fingertip run by minimum jerk along a straight line, from the
arm hanging fully straight. There the elbow's angle rises with the 1.5th power of time, so that its acceleration falls
from infinity as 1/sqrt(time). The notebook clamps targets that are out of reach and differentiates the angles
numerically, over 101 samples: its torques are finite because its samples are far apart. From an elbow bent by 10
degrees all is finite. The notebook's segment parameters are shares of elbow to ulnar styloid, applied to elbow to
fingertip.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import FINGERTIP_M, MASS_KG, UPPER_ARM_M, VERTICAL, two_link_arm
from two_link_reach import FAST_S, SLOW_S, interaction_share, reach_by_joints

import limbtorque as lt

STRAIGHT_M = np.array([0.0, -UPPER_ARM_M - FINGERTIP_M])  # fingertip, from the shoulder
TARGET_M = np.array([UPPER_ARM_M, FINGERTIP_M])
SAMPLES = {101: "o", 401: "s", 1601: "^", 6401: "d"}


def notebook_arm() -> lt.Chain:
    """The arm with the notebook's parameters."""
    length, mass = np.array([UPPER_ARM_M, FINGERTIP_M]), np.array([0.028, 0.022]) * MASS_KG
    return lt.Chain(length, mass, [0.436, 0.682] * length, mass * ([0.322, 0.468] * length) ** 2)


def as_the_notebook(chain: lt.Chain, duration_s: float, n: int = 101, gravity: tuple[float, float] = VERTICAL) -> tuple:
    """Time, angles, terms and motion as the notebook finds them: clamped targets, np.gradient twice."""
    time = np.linspace(0.0, duration_s, n)
    path = lt.minimum_jerk(time, start=STRAIGHT_M, end=TARGET_M, duration_s=duration_s)
    angle = lt.two_link_angles(chain.length_m, path.position, bend="positive", unreachable="project").angle_rad
    velocity = np.gradient(angle, time, axis=0)
    acceleration = np.gradient(velocity, time, axis=0)
    motion = lt.Kinematics(angle, velocity, acceleration)
    return time, angle, lt.torque_terms(chain, motion, gravity_m_s2=gravity), motion


def from_bent_elbow(
    chain: lt.Chain, duration_s: float, bend_deg: float = 10.0, gravity: tuple[float, float] = VERTICAL
) -> tuple:
    """Time, angles, terms and motion of a straight path of the fingertip from a bent elbow, with exact derivatives."""
    time = np.linspace(0.0, duration_s, 401)
    start = lt.point_position(chain, np.radians([[-90.0, bend_deg]]), point=chain.endpoint)[0]
    path = lt.minimum_jerk(time, start=start, end=TARGET_M, duration_s=duration_s)
    angle = lt.two_link_angles(chain.length_m, path.position, bend="positive").angle_rad
    tip = {"velocity_m_s": path.velocity, "acceleration_m_s2": path.acceleration, "jerk_m_s3": path.jerk}
    turn = lt.joint_motion(chain, angle, **tip)
    motion = lt.Kinematics(angle, turn.velocity_rad_s, turn.acceleration_rad_s2)
    return time, angle, lt.torque_terms(chain, motion, gravity_m_s2=gravity), motion


def onset_law(time_s: np.ndarray, duration_s: float) -> np.ndarray:
    """Elbow's acceleration just after the onset from a straight arm, by the cosine rule for small angles, rad/s^2."""
    towards = (TARGET_M - STRAIGHT_M)[1]  # how far the way leads towards the shoulder, m
    factor = np.sqrt(20.0 * (UPPER_ARM_M + FINGERTIP_M) * towards / (UPPER_ARM_M * FINGERTIP_M))
    return 0.75 * factor / np.sqrt(duration_s**3 * time_s)  # of the angle factor * (time / duration)^1.5


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """The notebook's procedure with its parameters and the right ones, against reaches that are smooth."""
    arm = two_link_arm()
    time, reach, terms = reach_by_joints(arm, FAST_S, VERTICAL)
    procedure = "its procedure, right parameters"
    cases = {
        "notebook's procedure and parameters": (as_the_notebook(notebook_arm(), FAST_S), draw.OLIVE, "-"),
        procedure: (as_the_notebook(arm, FAST_S), draw.WINE, "-"),
        "the same with 6401 samples": (as_the_notebook(arm, FAST_S, 6401), draw.WINE, ":"),
        "fingertip straight, elbow bent by 10° initially": (from_bent_elbow(arm, FAST_S), draw.INDIGO, "--"),
        "joints by minimum jerk": ((time, reach.position, terms), "black", "-"),
    }
    figure = lt.paper_figure(140.0)
    (way, onset), *rows = figure.subplots(2, 2)
    for name, shift in ((procedure, 0.0), ("joints by minimum jerk", 0.9)):
        (time, angle, *_), colour, _ = cases[name]
        joints = lt.joint_positions(arm, angle, base_m=[shift, 0.0])
        for k in np.linspace(0, len(time) - 1, 7).astype(int):
            draw.limb(way, joints[k], colour="0.7", width=1.0)
        way.plot(*joints[:, -1].T, color=colour, zorder=4)
    way.set(xlabel="x (m); the right arm is drawn 0.9 m ahead", ylabel="up, y (m)")
    way.set_title("a  Straight way, and way by the joints", loc="left")
    peaks = {}
    for n, marker in SAMPLES.items():
        time, _, _, motion = as_the_notebook(arm, FAST_S, n)
        acceleration = motion.acceleration_rad_s2
        peaks[n] = acceleration[:9, 1].max()
        onset.loglog(time[2:9], acceleration[2:9, 1], marker, color="black", markersize=3, label=f"{n} samples")
    law_time = np.geomspace(1e-4, 0.05, 50)
    onset.loglog(
        law_time, onset_law(law_time, FAST_S), color="0.5", zorder=1, label=r"leading term, $\propto t^{-1/2}$"
    )
    onset.set(xlabel="time after the onset (s)", ylabel="elbow's acceleration (rad/s²), + flexion")
    onset.set_title("b  Straight arm: no bound at the onset", loc="left")
    onset.legend(frameon=False, loc="lower left")
    for joint, (panel, title, limit) in enumerate(
        zip(rows[0], ("c  Shoulder", "d  Elbow"), (110.0, 28.0), strict=True)
    ):
        draw.zero(panel)
        for name, (case, colour, line) in cases.items():
            panel.plot(case[0], case[2].net[:, joint], color=colour, linestyle=line, label=name)
        panel.set(xlabel="time (s)", ylabel="net torque (N m), + flexion", xlim=(-0.01, FAST_S), ylim=(-limit, limit))
        panel.set_title(f"{title}, reach of 0.5 s", loc="left")
    draw.legend(figure, rows[0], columns=3)
    lt.save_figure(figure, folder / "two_link_endpoint.png")

    numbers = {f"onset_acceleration_{n}_rad_s2": peak for n, peak in peaks.items()}
    numbers["largest_elbow_angle_deg"] = np.degrees(cases[procedure][0][1][:, 1].max())
    numbers["shoulder_peak_6401_nm"] = np.abs(cases["the same with 6401 samples"][0][2].net[:, 0]).max()
    for speed, seconds in (("slow", SLOW_S), ("fast", FAST_S)):
        for name, case in {
            "notebook": as_the_notebook(notebook_arm(), seconds),
            "procedure": as_the_notebook(arm, seconds),
            "bent": from_bent_elbow(arm, seconds),
            "joints": reach_by_joints(arm, seconds, VERTICAL),
            "joints_notebook_parameters": reach_by_joints(notebook_arm(), seconds, VERTICAL),
        }.items():
            numbers[f"{name}_{speed}_shoulder_peak_nm"], numbers[f"{name}_{speed}_elbow_peak_nm"] = np.abs(
                case[2].net
            ).max(axis=0)
    numbers["notebook_fast_elbow_interaction_share"] = interaction_share(as_the_notebook(notebook_arm(), FAST_S)[2], 1)
    return numbers


if __name__ == "__main__":
    draw.run(main, "two_link_endpoint")
