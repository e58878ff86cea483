"""A PID controller holds the forearm's orientation while the upper arm swings.

The law that Watanabe's notebook on the matrix formalism has in its code: the elbow's torque follows the error of the
forearm's own orientation (not of the elbow's angle), with gains 30, 3 and 2 and a target of 60 degrees from the downward
vertical; the shoulder is free. It is the built-in drive `pid(controls="segments")`, integrated accurately, beside a replay
of the notebook's explicit Euler steps with its running trapezoid for the integral.
"""

from pathlib import Path

import _drawing as draw
import numpy as np
from double_pendulum import ANGLES, LENGTHS_M, MASS_KG, VELOCITIES, G, rates

import limbtorque as lt

P_NM_RAD, I_NM_RAD_S, D_NMS_RAD, TARGET_RAD, DURATION_S = 30.0, 3.0, 2.0, np.pi / 3.0, 20.0
STEPS = {1e-4: draw.INDIGO, 1e-3: draw.WINE}  # of Euler's method, s; the notebook's is the first


def euler(step_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Orientations from the downward vertical and the elbow's torque, by the notebook's steps (gravity put right)."""
    n, state = round(DURATION_S / step_s), [*ANGLES[0], *VELOCITIES[0]]
    integral, before, found = 0.0, TARGET_RAD - state[1], np.empty((n + 1, 3))
    for k in range(n + 1):
        error = TARGET_RAD - state[1]
        integral += step_s * (before + error) / 2.0
        before = error
        elbow = P_NM_RAD * error - D_NMS_RAD * state[3] + I_NM_RAD_S * integral
        found[k] = *state[:2], elbow
        state = [value + step_s * rate for value, rate in zip(state, rates(state, elbow_nm=elbow), strict=True)]
    return found[:, :2], found[:, 2]


@draw.paper_style
def main(folder: Path) -> dict[str, float]:
    """Orientations and torque under the built-in drive, and the error of Euler's steps."""
    length = np.array(LENGTHS_M)
    arm = lt.Chain(length, [MASS_KG, MASS_KG], length / 2.0, MASS_KG * length**2 / 12.0)
    time = np.linspace(0.0, DURATION_S, 2001)
    drive = lt.pid(
        [0.0, TARGET_RAD - np.pi / 2.0],  # from the x axis
        proportional_nm_rad=[0.0, P_NM_RAD],
        integral_nm_rad_s=[0.0, I_NM_RAD_S],
        derivative_nms_rad=[0.0, D_NMS_RAD],
        controls="segments",
    )
    start = lt.State(lt.joint_angles(ANGLES, zero="downward_vertical")[0], np.diff(VELOCITIES, axis=1, prepend=0.0)[0])
    held = lt.simulate(arm, time, start, torque=drive, gravity_m_s2=(0.0, -G))
    theta = lt.segment_angles(held.angle_rad, zero="downward_vertical")
    replays = {step: euler(step) for step in STEPS}
    numbers = {}
    figure = lt.paper_figure(115.0)
    (posture, torque), (orientation, difference) = figure.subplots(2, 2)
    joints = lt.joint_positions(arm, held.angle_rad)
    for k in (0, 15, 50, 80, 110, 150):
        draw.limb(posture, joints[k], colour="black" if k == 150 else str(0.85 - 0.004 * k))
        if k == 80:  # left of the forearm: the label of the start is below it
            posture.text(*(joints[k, -1] - [0.1, 0.0]), f"{time[k]:g} s", fontsize=6.0, va="center", ha="right")
        else:
            posture.text(*(joints[k, -1] - [0.0, 0.06]), f" {time[k]:g} s", fontsize=6.0, va="top")
    posture.set(xlabel="x (m)", ylabel="y (m)")
    posture.set_title("a  The first 1.5 s", loc="left")
    draw.zero(torque)
    torque.plot(time, held.torque_nm[:, 1], color="black")
    torque.set(ylabel="elbow's torque (N m), + flexion", xlim=(0.0, 10.0), ylim=(-2.0, 14.0))
    torque.set_title("b  Torque of the controller; inset: the first 0.3 s", loc="left")
    inset = torque.inset_axes((0.3, 0.62, 0.65, 0.36))
    inset.plot(time[:31], held.torque_nm[:31, 1], color="black")
    inset.tick_params(labelsize=6)
    for link, (name, line) in enumerate(zip(("upper arm", "forearm"), draw.LINES[:2], strict=True)):
        orientation.plot(time, np.degrees(theta[:, link]), label=name, **line)
    orientation.axhline(60.0, color=draw.WINE, linewidth=0.8, label="target")
    orientation.set(ylabel="from the downward vertical (deg)", xlim=(0.0, 10.0), ylim=(-95.0, 130.0))
    orientation.set_title("c  Orientations", loc="left")
    orientation.legend(frameon=False, ncols=3, loc="upper center")
    draw.zero(difference)
    for step, (angles, _) in replays.items():
        off = np.degrees(angles[:: round((time[1] - time[0]) / step)] - theta)
        difference.plot(time, off[:, 0], color=STEPS[step], label=f"steps of {1000.0 * step:g} ms")
        off = np.abs(off).max(axis=1)
        numbers[f"euler_{1000.0 * step:g}_ms_off_1_s_deg"] = off[: len(time) // 20].max()
        numbers[f"euler_{1000.0 * step:g}_ms_off_deg"] = off.max()
    difference.set(ylabel="upper arm, Euler less DOP853 (deg)", xlim=(0.0, DURATION_S))
    difference.set_title("d  Explicit Euler beside the accurate motion", loc="left")
    difference.legend(frameon=False, loc="upper left")
    for panel in (torque, orientation, difference):
        panel.set_xlabel("time (s)")
    lt.save_figure(figure, folder / "pid_forearm.png")
    law = P_NM_RAD * (TARGET_RAD - theta[:, 1]) - D_NMS_RAD * np.gradient(theta[:, 1], time, edge_order=2)
    law += I_NM_RAD_S * held.memory[:, 1]
    return numbers | {
        "law_difference_nm": np.abs(law - held.torque_nm[:, 1])[200:-2].max(),
        "largest_torque_nm": np.abs(held.torque_nm[:, 1]).max(),
        "balance_j": np.abs(held.balance_j).max(),
        "shoulder_torque_nm": np.abs(held.torque_nm[:, 0]).max(),
        "forearm_error_end_deg": np.abs(60.0 - np.degrees(theta[time >= 18.0, 1])).max(),
        "elbow_angle_moves_deg": np.ptp(np.degrees(held.angle_rad[time >= 18.0, 1])),
        "notebook_torque_start_nm": replays[1e-4][1][0],
    }


if __name__ == "__main__":
    draw.run(main, "pid_forearm")
