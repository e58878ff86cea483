"""Options of the section `quality`: thresholds of the verdict."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from limbtorque.study.options.base import Options, option

ByJoint = dict[str, Annotated[float, Field(gt=0.0)]]


def limits(sentence: str, unit: str, default: ByJoint) -> Any:
    """Option with a limit for each joint, by its name."""
    allowed = "joint: limit"
    return option(default, f"{sentence} Joints that are not named are not judged by it.", unit, allowed)


class Quality(Options):
    """Thresholds of quality metrics; above one, the status is caution or rejected."""

    closure_nm: float = option(1e-9, "Largest difference between the two methods of inverse dynamics.", "N m", gt=0.0)
    power_closure_w: float = option(
        1e-8, "Largest difference between powers and rate of change of energy.", "W", gt=0.0
    )
    energy_rate_share: float = option(
        0.05, "Difference between the powers and the change of energy from frame to frame, as a fraction.", "1", gt=0.0
    )
    fit_error_share: float = option(
        0.06,
        "Torque that the distance of a fitted rigid chain from the joints is worth, as a fraction of the net torque's range.",
        "1",
        gt=0.0,
    )
    out_of_plane_share: float = option(
        0.15, "Fraction of the segments' movement that is outside the plane.", "1", gt=0.0
    )
    tilt_deg: float = option(30.0, "Mean inclination of a segment to the plane.", "deg", gt=0.0)
    functional_offset_m: float = option(
        0.05, "Distance of a functional joint centre from the anatomical one.", "m", gt=0.0
    )
    functional_residual_m: float = option(
        0.015, "Root mean square distance of the two segments' predictions of a functional joint centre.", "m", gt=0.0
    )
    cluster_residual_m: float = option(
        0.02,
        "Root mean square distance of a cluster's markers from their rigid shape in the static trial.",
        "m",
        gt=0.0,
    )
    length_variation: float = option(0.06, "Standard deviation of a segment's length over its mean.", "1", gt=0.0)
    gap_share: float = option(0.25, "Fraction of frames in which a required marker was filled.", "1", gt=0.0)
    swapped_frames: float = option(
        0.0,
        "Frames in which a required marker is swapped with another; 0: no tolerance, every occurrence counts.",
        "1",
        ge=0.0,
    )
    spike_frames: float = option(
        0.0,
        "Frames in which a required marker has a spike or jump; 0: no tolerance, every occurrence counts.",
        "1",
        ge=0.0,
    )
    spike_change_share: float = option(
        0.1,
        "Change of a joint's net torque or of one of its terms where spikes are filled, as a fraction of its range; above it "
        "the joint is rejected.",
        "1",
        gt=0.0,
    )
    torque_nm_kg: ByJoint = limits(
        "Net torque per body mass; above it the joint is rejected.",
        "N m/kg",
        {"hip": 10.0, "knee": 10.0, "ankle": 8.0, "shoulder": 4.0, "elbow": 3.0, "wrist": 1.5},
    )
    power_w_kg: ByJoint = limits(
        "Joint power per body mass; above it the joint is rejected.",
        "W/kg",
        {"hip": 100.0, "knee": 100.0, "ankle": 80.0, "shoulder": 60.0, "elbow": 50.0, "wrist": 25.0},
    )
    flexion_deg: ByJoint = limits(
        "Flexion beyond anatomy; above it the joint is rejected.",
        "deg",
        {"knee": 177.0, "ankle": 60.0, "elbow": 170.0, "wrist": 100.0},
    )
    extension_deg: ByJoint = limits(
        "Extension beyond anatomy; above it the joint is rejected.",
        "deg",
        {"knee": 30.0, "ankle": 75.0, "elbow": 30.0, "wrist": 90.0},
    )
    noise_m: float = option(3e-3, "Standard deviation of the joint centres' noise.", "m", gt=0.0)
    acceleration_lost_share: float = option(
        0.25, "Root mean square acceleration removed by the filter, as a fraction of the total.", "1", gt=0.0
    )
    shortest_period_share: float = option(
        0.18,
        "Shortest period in the unfiltered joint centres over that of the movement; larger ones show smoothing before the export.",
        "1",
        gt=0.0,
    )
    plate_drift_n: float = option(20.0, "Change of the vertical force of an unloaded plate.", "N", gt=0.0)
    plate_height_error_m: float = option(
        0.05,
        "Distance of the lower end of a loaded foot from 0.04 m above its plate; raise it for a step that stands on a plate.",
        "m",
        gt=0.0,
    )
    plate_slope_deg: float = option(
        2.0, "Angle between a plate's surface and the horizontal; raise it for a ramp.", "deg", gt=0.0
    )
    slope_in_force_share: float = option(
        0.6, "Lean of the mean force towards the normal of a sloping plate, over the slope.", "1", gt=0.0
    )
    reversed_flexion_deg: float = option(
        10.0, "Median flexion of an elbow or knee in the wrong direction.", "deg", gt=0.0
    )
    reversed_flexion_share: float = option(
        0.0,
        "Fraction of frames in which an elbow or knee is flexed in the wrong direction by more than 10 degrees.",
        "1",
        ge=0.0,
    )
    foreshortened_share: float = option(
        0.05, "Fraction of frames with a segment pointing out of the plane.", "1", ge=0.0
    )
    unused_share: float = option(0.9, "Fraction of frames that are not in the summary.", "1", ge=0.0)
    sides_reversed_share: float = option(
        0.5, "Fraction of frames in which the left hip or shoulder is to the right of the right one.", "1", gt=0.0
    )
    sides_unlike_m: float = option(
        0.025, "Difference of a segment's length between left and right, or of the place of the hips.", "m", gt=0.0
    )
    foot_reversed_share: float = option(0.5, "Fraction of frames in which the ankle is below the heel.", "1", gt=0.0)
    mass_for_height_factor: float = option(
        2.0, "Body mass over the usual one at the given height, or its inverse.", "1", gt=1.0
    )
    length_for_height_factor: float = option(
        1.4, "Length of the segments over the usual one at the given height, or its inverse.", "1", gt=1.0
    )
    weight_error_share: float = option(
        0.15, "Difference between the plates' vertical impulse and that of the body mass, as a fraction.", "1", gt=0.0
    )
    stance_force_error_share: float = option(
        0.12, "Difference of a stance's vertical force from that which carries the body, as a fraction.", "1", gt=0.0
    )
    force_early_s: float = option(
        0.012, "Time by which the force on a foot begins before its strike in the file.", "s", gt=0.0
    )
    force_tilt_deg: float = option(12.0, "Inclination of the mean force that carries the body.", "deg", gt=0.0)
    force_residual_share: float = option(
        0.10, "Vertical force that the body's movement does not explain, as a fraction of its weight.", "1", gt=0.0
    )
    force_delay_s: float = option(0.018, "Time between the vertical force and the body's acceleration.", "s", gt=0.0)
    shear_error_share: float = option(
        0.45,
        "Difference of the force along the way from that of a force that points above the hip, as a fraction.",
        "1",
        gt=0.0,
    )
    pressure_off_toes_m: float = option(
        0.025, "Distance of the centre of pressure from the ball of the foot while the heel is raised.", "m", gt=0.0
    )
    other_foot_unknown_share: float = option(
        0.0,
        "Fraction of frames in which a plate is used although the position of the other foot is unknown.",
        "1",
        ge=0.0,
    )
    up_axis_deg: float = option(
        45.0, "Angle of the leg, or of the ground reaction force, to the up axis.", "deg", gt=0.0
    )
    unmeasured_share: float = option(0.05, "Fraction of frames with ground contact but no usable plate.", "1", ge=0.0)
    reserve_share: float = option(
        0.01, "Fraction of frames in which the muscles cannot produce the torque.", "1", ge=0.0
    )
    arm_range_deg: float = option(10.0, "Distance of a joint from the range of its moment arms.", "deg", ge=0.0)
    fibre_range_share: float = option(
        0.01,
        "Fraction of frames in which a fibre is outside the range of its force-length and force-velocity curves.",
        "1",
        ge=0.0,
    )
    reserve_part: float = option(
        0.10, "Largest priced reserve torque over the largest net torque of the joint.", "1", gt=0.0
    )
    passive_part: float = option(0.5, "Largest passive tension of a muscle over its strength.", "1", gt=0.0)
