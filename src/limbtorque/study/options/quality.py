"""Options of the section `quality`: thresholds of the verdict."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from limbtorque.study.options.base import Options, option

ByJoint = dict[str, Annotated[float, Field(gt=0.0)]]


def limits(sentence: str, unit: str, default: ByJoint) -> Any:
    """Option with a limit for each joint, by its name."""
    allowed = "joint: limit"
    return option(default, f"{sentence} It does not apply to joints that are not named.", unit, allowed)


def threshold(default: float, sentence: str | None = None, unit: str = "1", *, zero: bool = False) -> Any:
    """Option with a limit above 0, or of 0 or more."""
    return option(default, sentence, unit, ge=0.0) if zero else option(default, sentence, unit, gt=0.0)


class Quality(Options):
    """Thresholds of quality metrics; above one, the status is caution or rejected."""

    fit_error_share: float = threshold(0.06)
    """Torque that the distance of a fitted rigid chain from the joints is worth, as a fraction of the net torque's
    range."""
    out_of_plane_share: float = threshold(0.15, "Fraction of the segments' movement out of the plane.")
    tilt_deg: float = threshold(30.0, "Mean inclination of a segment to the plane.", "deg")
    functional_residual_m: float = threshold(0.015, unit="m")
    """Root mean square distance of the two segments' predictions of a functional joint centre."""
    cluster_residual_m: float = threshold(0.02, unit="m")
    """Root mean square distance of a cluster's markers from their rigid shape in the static trial."""
    length_variation: float = threshold(0.06, "Standard deviation of a segment's length relative to its mean.")
    gap_share: float = threshold(0.25, "Fraction of frames in which a required marker was filled.")
    swapped_frames: float = threshold(0.0, zero=True)
    """Frames in which a required marker is swapped with another; 0: no tolerance, every occurrence counts."""
    spike_frames: float = threshold(0.0, zero=True)
    """Frames in which a required marker has a spike or jump; 0: no tolerance, every occurrence counts."""
    spike_change_share: float = threshold(0.1)
    """Change of a joint's net torque or of one of its terms where spikes are filled, as a fraction of its range; above
    it the joint is rejected."""
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
    noise_m: float = threshold(3e-3, "Standard deviation of the joint centres' noise.", "m")
    acceleration_lost_share: float = threshold(0.35)
    """Root mean square acceleration removed by the filter, as a fraction of the total."""
    plate_drift_n: float = threshold(20.0, "Change of the vertical force of an unloaded plate.", "N")
    plate_height_error_m: float = threshold(0.05, unit="m")
    """Distance of the lower end of a loaded foot from 0.04 m above its plate; raise it for a step that stands on a
    plate."""
    plate_slope_deg: float = threshold(2.0, unit="deg")
    """Angle between a plate's surface and the horizontal; raise it for a ramp."""
    foreshortened_share: float = threshold(0.05, zero=True)
    """Fraction of frames with a segment pointing out of the plane."""
    unused_share: float = threshold(0.9, "Fraction of frames that are not in the summary.", zero=True)
    sides_unlike_factor: float = threshold(1.0)
    """Differences between left and right, of the segments' lengths and the place of the hips, over the limit that the stated
    errors of the joint centres give."""
    weight_error_share: float = threshold(0.15)
    """Difference between the plates' vertical impulse and that of the body mass, as a fraction."""
    stance_force_error_share: float = threshold(0.12)
    """Difference of a stance's vertical force from that which carries the body, as a fraction."""
    force_residual_share: float = threshold(0.10)
    """Vertical force that the body's movement does not explain, as a fraction of its weight."""
    shear_error_share: float = threshold(0.45)
    """Difference of the force along the way from that of a force that points above the hip, as a fraction."""
    pressure_off_toes_m: float = threshold(0.03, unit="m")
    """Distance of the centre of pressure from 8 mm ahead of the ball of the foot while the heel is raised, or from a foot
    that stays flat."""
    unmeasured_share: float = threshold(0.05, "Fraction of frames with ground contact but no usable plate.", zero=True)
    reserve_share: float = threshold(0.01, zero=True)
    """Fraction of frames in which the muscles cannot produce the torque."""
