"""Options of the section `quality`: thresholds of the quality flags."""

from __future__ import annotations

from limbtorque.study.options.base import Options, option


class Quality(Options):
    """Thresholds above which a trial is flagged."""

    closure_nm: float = option(1e-9, "Largest difference between the two methods of inverse dynamics.", "N m", gt=0.0)
    power_closure_w: float = option(
        1e-8, "Largest difference between powers and rate of change of energy.", "W", gt=0.0
    )
    energy_rate_share: float = option(
        0.05, "Difference between the powers and the change of energy from frame to frame.", "1", gt=0.0
    )
    chain_fit_m: float = option(0.01, "Distance of a fitted rigid chain from the joints.", "m", gt=0.0)
    out_of_plane_share: float = option(0.20, "Share of the segments' movement that leaves the plane.", "1", gt=0.0)
    tilt_deg: float = option(25.0, "Mean inclination of a segment to the plane.", "deg", gt=0.0)
    functional_offset_m: float = option(
        0.05, "Distance of a functional joint centre from the anatomical one.", "m", gt=0.0
    )
    functional_residual_m: float = option(
        0.015, "Root mean square distance of the two segments' predictions of a functional joint centre.", "m", gt=0.0
    )
    length_variation: float = option(0.03, "Standard deviation of a segment's length over its mean.", "1", gt=0.0)
    gap_share: float = option(0.10, "Share of frames in which a needed marker was filled.", "1", gt=0.0)
    swapped_frames: float = option(0.0, "Frames in which a needed marker is exchanged with another.", "1", ge=0.0)
    spike_frames: float = option(0.0, "Frames in which a needed marker has a spike.", "1", ge=0.0)
    noise_m: float = option(1e-3, "Standard deviation of the joint centres' noise.", "m", gt=0.0)
    acceleration_lost_share: float = option(
        0.25, "Root mean square acceleration that the filter takes away over the whole.", "1", gt=0.0
    )
    plate_saturated_share: float = option(0.0, "Share of frames whose plate was driven to its limit.", "1", ge=0.0)
    plate_drift_n: float = option(5.0, "Change of a used plate's vertical force while unloaded.", "N", gt=0.0)
    reversed_flexion_deg: float = option(10.0, "Median bend of an elbow or knee to its wrong side.", "deg", gt=0.0)
    reversed_flexion_share: float = option(
        0.0,
        "Share of frames in which an elbow or knee is bent to its wrong side by more than 10 degrees.",
        "1",
        ge=0.0,
    )
    foreshortened_share: float = option(0.0, "Share of frames with a segment pointing out of the plane.", "1", ge=0.0)
    unused_share: float = option(0.9, "Share of frames that are not in the summary.", "1", ge=0.0)
    other_foot_unknown_share: float = option(
        0.0, "Share of frames whose plate is used without knowing where the other foot is.", "1", ge=0.0
    )
    up_axis_deg: float = option(45.0, "Angle of the leg, or of the force on a plate, to the up axis.", "deg", gt=0.0)
    unmeasured_share: float = option(0.0, "Share of frames with ground contact but no usable plate.", "1", ge=0.0)
    reserve_share: float = option(0.01, "Share of frames in which the muscles cannot reach the torque.", "1", ge=0.0)
    arm_range_share: float = option(
        0.01, "Share of frames in which a joint is outside the range of its moment arms.", "1", ge=0.0
    )
    fibre_range_share: float = option(
        0.01, "Share of frames in which a fibre is shorter, longer or faster than its curves hold for.", "1", ge=0.0
    )
    reserve_part: float = option(0.10, "Largest priced reserve over the largest net torque of the joint.", "1", gt=0.0)
    passive_part: float = option(0.5, "Largest passive tension of a muscle over its strength.", "1", gt=0.0)
