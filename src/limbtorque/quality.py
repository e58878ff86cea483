"""Flags: what was measured about a trial, the threshold, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from limbtorque.settings import Quality


@dataclass(frozen=True)
class Check:
    """One quality figure that can flag a trial.

    Attributes
    ----------
    name : str
        Name of the figure and of the flag.
    unit : str
        Unit of the figure.
    definition : str
        What was measured.
    threshold : str or None
        Option of `quality` above which the trial is flagged; None: above zero.
    advice : str
        What to do.
    about : {"torques", "muscles"}
        Which tables the flag puts in doubt.
    """

    name: str
    unit: str
    definition: str
    threshold: str | None
    advice: str
    about: str = "torques"


CHECKS = (
    Check(
        "closure_nm",
        "N m",
        "largest difference between the sum of the terms and the net torque of the recursive Newton-Euler pass",
        "closure_nm",
        "report this as a defect of the program, with the file",
    ),
    Check(
        "power_closure_w",
        "W",
        "largest difference between the sum of all powers and the rate of change of the segments' energy",
        "power_closure_w",
        "report this as a defect of the program, with the file",
    ),
    Check(
        "energy_rate_share",
        "1",
        "root mean square difference between the powers and the change of the energy from frame to frame, relative to it (to 0.1 W at least)",
        "energy_rate_share",
        "velocities and accelerations do not fit each other: give a lower filter.cutoff_hz, raise differentiation.accuracy, or record at a higher rate",
    ),
    Check(
        "chain_fit_m",
        "m",
        "root mean square distance of the fitted rigid chain's joints from the measured ones, foreshortened frames left out (motion.angles: rigid_chain)",
        "chain_fit_m",
        "check the joint centres: swapped or loose markers, a point that is not a joint centre",
    ),
    Check(
        "gap_share",
        "1",
        "share of the analysed frames in which a marker of the chain was filled",
        "gap_share",
        "look at the recording; lower gaps.max_gap_s",
    ),
    Check(
        "longest_unfilled_gap_s",
        "s",
        "longest time between two complete stretches; only the longest stretch is analysed",
        None,
        "fill the gap in the capture software, or split the trial with start_s and end_s",
    ),
    Check(
        "out_of_plane_share",
        "1",
        "variance of the segments' out-of-plane components over their whole variance",
        "out_of_plane_share",
        "choose another plane, or do not analyse this movement in a plane",
    ),
    Check(
        "tilt_deg",
        "deg",
        "largest mean inclination of a segment to the plane",
        "tilt_deg",
        "choose another plane; the plane sees the projection of the segment only",
    ),
    Check(
        "length_variation",
        "1",
        "largest standard deviation of a segment's length in space over its mean",
        "length_variation",
        "check the joint centres: swapped or loose markers, a point that is not a joint centre",
    ),
    Check(
        "functional_residual_m",
        "m",
        "largest root mean square distance between the two segments' predictions of a functional joint centre",
        "functional_residual_m",
        "the segments do not turn about one point in this plane: skin that moves, swapped markers, or another plane; see the notes, or use the anatomical centre",
    ),
    Check(
        "reversed_flexion_deg",
        "deg",
        "median bend of an elbow or knee to the side it cannot bend to",
        "reversed_flexion_deg",
        "check side, forward_axis and up_axis: the limb looks mirrored",
    ),
    Check(
        "foreshortened_share",
        "1",
        "share of frames in which a segment points out of the plane; their torques are left empty",
        "foreshortened_share",
        "choose another plane, or do not analyse this movement in a plane",
    ),
    Check(
        "unmeasured_share",
        "1",
        "share of frames with ground contact whose force is not known; their torques are left empty",
        "unmeasured_share",
        "use the frames with external_status 0 or 1 only; the notes say which plate was not used and why (plates.assignment, plates.edge_margin_m)",
    ),
    Check(
        "no_contact",
        "1",
        "1 where the chain meets the ground but no ground contact was found in the whole trial",
        None,
        "if the foot was in the air throughout, set plates.assignment to none; on a treadmill give plates.belt_speed_m_s",
    ),
    Check(
        "other_foot_unknown_share",
        "1",
        "share of frames whose plate is used although the other foot, which may stand on it too, is not seen",
        "other_foot_unknown_share",
        "map the other foot's markers, or make sure that it was not on the plate",
    ),
    Check(
        "up_axis_deg",
        "deg",
        "largest angle between the up axis and the mean direction from foot to hip, or of the force on a plate",
        "up_axis_deg",
        "check plane.up_axis against `limbtorque inspect`",
    ),
    Check(
        "unused_share",
        "1",
        "share of the analysed frames that are not in the summary: near the ends, or torque not known",
        "unused_share",
        "the trial is too short for this filter, or hardly anything is known of it",
    ),
    Check(
        "reserve_share",
        "1",
        "share of frames in which the muscles cannot reach the torque of a joint whose moment arms are known",
        "reserve_share",
        "look at the reserve torques; the muscle set may be too weak for this subject or movement, or muscles.activation_bounds too narrow",
        about="muscles",
    ),
    Check(
        "arm_range_share",
        "1",
        "share of frames with a joint outside the range in which its moment arms were sampled",
        "arm_range_share",
        "do not use muscle forces of frames with moment_arm_status 1",
        about="muscles",
    ),
    Check(
        "reserve_part",
        "1",
        "largest priced reserve of a joint over its largest net torque (muscles.reserve: priced)",
        "reserve_part",
        "lower muscles.reserve_nm, or look why the muscles leave so much; OpenSim's guide to best practice asks for less than 10 %",
        about="muscles",
    ),
    Check(
        "passive_part",
        "1",
        "largest passive tension of a muscle over its largest isometric force (muscles.force_length_velocity)",
        "passive_part",
        "a fibre is stretched as it hardly is in life: the rigid tendon, the set or the scaling does not fit this posture; scale the set, or leave force_length_velocity off",
        about="muscles",
    ),
    Check(
        "fibre_range_share",
        "1",
        "share of frames in which a muscle's fibre is shorter, longer or faster than its curves hold for (muscles.force_length_velocity)",
        "fibre_range_share",
        "do not use muscle forces of frames with fibre_status 1; scale the set to the subject (muscles.scale_moment_arms)",
        about="muscles",
    ),
    Check(
        "joints_without_moment_arms",
        "1",
        "number of joints without moment arms: not known in this plane, measured against a segment that is not in the chain, or moved by no muscle; their whole torque is reserve",
        None,
        "the notes say which and why; do not use forces of muscles that cross these joints",
        about="muscles",
    ),
    Check(
        "sharing_failed_share",
        "1",
        "share of frames in which no sharing passed its certificate; they have no forces",
        None,
        "report this as a defect of the program, with the file",
        about="muscles",
    ),
)
FIGURES = (
    ("n_frames_recorded", "1", "frames in the recording"),
    ("n_frames", "1", "frames analysed"),
    ("rate_hz", "Hz", "frames per second"),
    ("speed_m_s", "m/s", "largest speed of a joint centre in the plane"),
    ("undecided_flexion", "1", "1 where no elbow or knee is bent by 10 deg: a mirrored limb could not be noticed"),
    ("cutoff_hz", "Hz", "cut-off of the joint centres; the largest where each has its own (filter.scope: joint)"),
    (
        "own_cutoff_hz",
        "Hz",
        "cut-off that the trial's own data ask for, by filter.cutoff_hz, or by 'expected_error' where that is a number; the largest "
        "where each joint centre has its own",
    ),
    ("noise_m", "m", "standard deviation of the joint centres' noise that the choice of own_cutoff_hz found"),
    (
        "cutoff_at_limit",
        "1",
        "1 where own_cutoff_hz is the lowest or highest that was tried: the data show no better one between",
    ),
    (
        "functional_range_deg",
        "deg",
        "smallest range of relative rotation that a functional joint centre was found from",
    ),
    (
        "functional_offset_m",
        "m",
        "largest mean distance in the plane between a functional joint centre and the anatomical one",
    ),
    ("edge_share", "1", "share of frames within reach of an end of the filter and the differences"),
    (
        "force_range_share",
        "1",
        "mean of (greatest - least possible force) / strength over muscles and frames: what the criterion decides, not the mechanics",
    ),
    ("co_contraction_cost_share", "1", "cost that muscles.co_contraction adds, over the cost without it"),
    (
        "co_contraction_reduced_share",
        "1",
        "share of frames in which less co-contraction than asked for leaves the torque within reach",
    ),
    (
        "replay_lost",
        "1",
        "1 where the replay ended because a joint was replay.stop_deg off, 0 where it reached the last frame",
    ),
    (
        "replay_s",
        "s",
        "time over which the torques were integrated forward, until the end or replay.stop_deg (replay.enabled)",
    ),
    ("replay_within_s", "s", "how long the integrated motion stays within replay.tolerance_deg of the measured one"),
    ("replay_drift_deg", "deg", "largest difference of a joint angle at the end of the replay"),
)


@dataclass(frozen=True)
class Flag:
    """A quality figure that is above its threshold.

    Attributes
    ----------
    check : Check
        What was measured.
    value, threshold : float
        Found and allowed.
    """

    check: Check
    value: float
    threshold: float

    @property
    def sentence(self) -> str:
        """What was found, what is allowed and what to do."""
        unit = f" {self.check.unit}" if self.check.unit != "1" else ""
        return (
            f"{self.check.name} is {self.value:.4g}{unit}, allowed {self.threshold:.4g}: {self.check.definition}; "
            f"{self.check.advice}"
        )


def assess(figures: Mapping[str, float], thresholds: Quality) -> list[Flag]:
    """Flags of a trial.

    Parameters
    ----------
    figures : mapping of str to float
        Quality figures by name; a figure that is absent or NaN was not applicable and raises no flag.
    thresholds : Quality
        Allowed values.

    Returns
    -------
    list of Flag
        In the order of `CHECKS`.

    Examples
    --------
    >>> [flag.check.name for flag in assess({"gap_share": 0.5, "tilt_deg": 1.0}, Quality())]
    ['gap_share']
    """
    flags = []
    for check in CHECKS:
        value = figures.get(check.name, math.nan)
        threshold = float(getattr(thresholds, check.threshold)) if check.threshold else 0.0
        if value > threshold:
            flags.append(Flag(check, value, threshold))
    return flags
