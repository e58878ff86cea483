"""From positions to joint angles: two solutions, limits, and marker noise.

After Duarte's notebook on the kinematic chain, whose inverse kinematics has two solutions and, in its code, silently moves a
target that is out of reach. Then a simulated arm is measured with noise: angles of each segment by
itself against a chain of constant lengths fitted to all joints at once.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from _arms import FINGERTIP_M, UPPER_ARM_M, VERTICAL, three_link_arm

import limbtorque as lt

RATE_HZ, CUTOFF_HZ, NOISE_M, TRIALS = 200.0, 8.0, 0.002, 10
START_DEG, TARGET_DEG, DURATION_S = (-85.0, 100.0, -10.0), (10.0, 30.0, 5.0), 0.8


def by_segment(joint_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint angles from the direction of each segment by itself, and the measured shoulder."""
    along = np.diff(joint_m, axis=1)
    orientation = np.unwrap(np.arctan2(along[..., 1], along[..., 0]), axis=0)
    return np.diff(orientation, axis=1, prepend=0.0), joint_m[:, 0]


def by_chain(joint_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint angles and shoulder of the rigid chain that fits all measured joints best."""
    fit = lt.fit_rigid_chain(joint_m)
    return fit.angle_rad, fit.base_m


def net_torques(chain: lt.Chain, angle_rad: np.ndarray, base_m: np.ndarray) -> np.ndarray:
    """Net torques of a recording: filtered, differentiated, on a shoulder that moves as measured."""
    angle, base = (lt.low_pass(values, rate_hz=RATE_HZ, cutoff_hz=CUTOFF_HZ) for values in (angle_rad, base_m))
    velocity, acceleration = lt.differentiate(angle, rate_hz=RATE_HZ)
    _, base_acceleration = lt.differentiate(base, rate_hz=RATE_HZ)
    kinematics = lt.Kinematics(angle, velocity, acceleration, base_acceleration_m_s2=base_acceleration)
    return lt.torque_terms(chain, kinematics, gravity_m_s2=VERTICAL).net


def rms(values: np.ndarray) -> np.ndarray:
    """Root mean square over time, away from the ends of the filter."""
    return np.sqrt(np.mean(values[30:-30] ** 2, axis=0))


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Two solutions, a target out of reach, and noise."""
    links = lt.Chain([UPPER_ARM_M, FINGERTIP_M], [2.0, 1.5], [0.14, 0.17], [0.02, 0.02])
    near, far = np.array([[0.45, 0.15]]), np.array([[0.75, -0.35]])
    solutions = {
        bend: lt.two_link_angles(links.length_m, near, bend=bend).angle_rad for bend in ("positive", "negative")
    }
    projected = lt.two_link_angles(links.length_m, far, bend="positive", unreachable="project")
    try:
        lt.two_link_angles(links.length_m, far, bend="positive")
        refused = 0.0
    except ValueError:
        refused = 1.0

    arm = three_link_arm()
    time = np.arange(-0.4, DURATION_S + 0.6, 1.0 / RATE_HZ)
    reach = lt.minimum_jerk(time, start=np.radians(START_DEG), end=np.radians(TARGET_DEG), duration_s=DURATION_S)
    true = lt.joint_positions(arm, reach.position)
    without_noise = net_torques(arm, *by_segment(true))
    methods = {"segment": (by_segment, draw.OLIVE), "chain": (by_chain, draw.INDIGO)}
    angle_error, torque_error, place_error, hand = {}, {}, {}, arm.centre_of_mass(2)
    hand_m = lt.point_position(arm, reach.position, point=hand)
    for name, (method, _) in methods.items():
        angles, torques, places = [], [], []
        for seed in range(TRIALS):
            angle, base = method(true + NOISE_M * np.random.default_rng(seed).standard_normal(true.shape))
            angles.append(np.degrees(angle - reach.position))
            places.append(rms(lt.point_position(arm, angle, point=hand, base_m=base) - hand_m))
            torques.append(net_torques(arm, angle, base) - without_noise)
        angle_error[name] = np.mean([rms(error) for error in angles], axis=0)
        torque_error[name] = np.mean([rms(error) for error in torques], axis=0)
        place_error[name] = np.mean(places)
        methods[name] += (torques[0],)
    noisy = true + NOISE_M * np.random.default_rng(0).standard_normal(true.shape)
    lengths = lt.fit_rigid_chain(noisy).length_m

    figure = lt.paper_figure(115.0)
    (reached, angle_panel), (noise_panel, torque_panel) = figure.subplots(2, 2)
    for (bend, angle), colour in zip(solutions.items(), (draw.INDIGO, draw.WINE), strict=True):
        joints = lt.joint_positions(links, angle)[0]
        draw.limb(reached, joints, colour=colour)
        place, side = (joints[1] - [0.03, 0.01], "right") if bend == "positive" else (joints[1] + [0.08, 0.0], "left")
        reached.text(*place, f"{bend} bend", color=colour, ha=side, va="center")
    joints = lt.joint_positions(links, projected.angle_rad)[0]
    draw.limb(reached, joints, colour="0.6")
    reached.plot(*np.vstack([joints[-1], far[0]]).T, ":", color="black", linewidth=0.9)
    reached.plot(*np.vstack([near, far]).T, "x", color="black", markersize=5, zorder=5)
    reached.text(0.46, -0.14, f"out of reach by {100 * projected.shift_m[0]:.1f} cm", va="center")
    reached.set(xlabel="x (m)", ylabel="y (m)")
    reached.set_title("a  Two solutions, and a target out of reach", loc="left")
    for name, (_, colour, torques) in methods.items():
        noise_panel.plot(time[30:-30], torques[30:-30, 1], color=colour)
        shift, label = (-0.18, "each segment by itself") if name == "segment" else (0.18, "chain of constant lengths")
        angle_panel.bar(np.arange(3) + shift, angle_error[name], 0.34, color=colour, label=label)
        torque_panel.bar(np.arange(3) + shift, torque_error[name], 0.34, color=colour)
    for panel, title, quantity in (
        (angle_panel, "b  Noise of the angles before the filter", "root mean square (deg)"),
        (torque_panel, "d  Noise of the torques", "root mean square (N m)"),
    ):
        panel.set_xticks(range(3), draw.JOINTS)
        panel.set_title(title, loc="left")
        panel.set_ylabel(quantity)
    draw.zero(noise_panel)
    noise_panel.set(xlabel="time (s)", ylabel="error (N m)")
    noise_panel.set_title("c  Error of the elbow's torque, one trial", loc="left")
    draw.legend(figure, [angle_panel])
    lt.save_figure(figure, folder / "inverse_kinematics.png")
    numbers = {
        "unreachable_refused": refused,
        "unreachable_shift_m": projected.shift_m[0],
        "shift_closed_form_m": np.hypot(*far[0]) - UPPER_ARM_M - FINGERTIP_M,
        "fitted_length_error_m": np.abs(lengths - arm.length_m).max(),
        "length_noise_of_one_frame_m": np.linalg.norm(np.diff(noisy, axis=1), axis=2).std(axis=0).max(),
    }
    numbers |= {f"hand_place_noise_{method}_m": error for method, error in place_error.items()}
    for joint, name in enumerate(draw.JOINTS):
        for method in methods:
            numbers[f"{name}_angle_noise_{method}_deg"] = angle_error[method][joint]
            numbers[f"{name}_torque_noise_{method}_nm"] = torque_error[method][joint]
    return numbers


if __name__ == "__main__":
    draw.run(main, "inverse_kinematics")
