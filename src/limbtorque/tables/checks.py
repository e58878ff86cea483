"""Flags: what was measured about a trial, the threshold, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from limbtorque.study.options.quality import Quality


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
    source : str
        Where the threshold comes from.
    about : {"torques", "muscles"}
        Which tables the flag puts in doubt.
    """

    name: str
    unit: str
    definition: str
    threshold: str | None
    advice: str
    source: str
    about: str = "torques"


CHECKS = (
    Check(
        "closure_nm",
        "N m",
        "largest difference between the sum of the terms and the net torque of the recursive Newton-Euler pass",
        "closure_nm",
        "report this as a defect of the program, with the file",
        "rounding: two double precision methods differ by 1e-13 N m on the recordings (docs/examples.md); torques of 1000 N m leave room for four digits more",
    ),
    Check(
        "power_closure_w",
        "W",
        "largest difference between the sum of all powers and the rate of change of the segments' energy",
        "power_closure_w",
        "report this as a defect of the program, with the file",
        "rounding: at most 2e-13 W on the recordings (docs/recordings.md), with room for fast and heavy chains",
    ),
    Check(
        "energy_rate_share",
        "1",
        "root mean square difference between the powers and the change of the energy from frame to frame, relative to it (to 0.1 W at least)",
        "energy_rate_share",
        "velocities and accelerations do not fit each other: give a lower filter.cutoff_hz, raise differentiation.accuracy, or record at a higher rate",
        "a convention of this program; 0.22 % at the most on the recordings (docs/recordings.md)",
    ),
    Check(
        "chain_fit_m",
        "m",
        "root mean square distance of the fitted rigid chain's joints from the measured ones, foreshortened frames left out (motion.angles: rigid_chain)",
        "chain_fit_m",
        "check the joint centres: swapped or loose markers, a point that is not a joint centre",
        "measured: 1 to 7 mm on recordings of limbs that keep to the plane, 15 mm where one leaves it (docs/recordings.md)",
    ),
    Check(
        "gap_share",
        "1",
        "share of the analysed frames in which a marker of the chain was filled",
        "gap_share",
        "look at the recording; lower gaps.max_gap_s",
        "a convention of this program",
    ),
    Check(
        "max_unfilled_gap_s",
        "s",
        "longest time between two complete stretches; only the longest stretch is analysed",
        None,
        "fill the gap in the capture software, or split the trial with start_s and end_s",
        "none: any is told",
    ),
    Check(
        "swapped_frames",
        "1",
        "number of analysed frames in which a needed marker is exchanged with another marker",
        "swapped_frames",
        "look at the frames in the notes; exchange the labels back in the capture software, or leave the frames out with start_s and end_s; nothing was mended",
        "none: any is told; 26 recorded files have two, both in one serve at 50 Hz, both seen by the eye too",
    ),
    Check(
        "spike_frames",
        "1",
        "number of analysed frames in which a needed marker leaves its path for up to three frames and comes back",
        "spike_frames",
        "look at the frames in the notes; mend them in the capture software, or set gaps.spikes to fill",
        "none: any is told; 26 recorded files of 50 to 250 Hz have two, in two movements, both seen by the eye too",
    ),
    Check(
        "noise_m",
        "m",
        "standard deviation of the joint centres' white noise, from the high frequencies of their spectrum",
        "noise_m",
        "calibrate the cameras again, look for markers that flicker; choose a lower filter.cutoff_hz",
        "optical systems err by 0.15 mm at rest (Merriaux et al. 2017), our rigid box by 0.03 mm; 1 mm lets 0.4 m/s^2 through a Butterworth filter of 6 Hz at 100 frames per second",
    ),
    Check(
        "acceleration_lost_share",
        "1",
        "root mean square of the joint centres' acceleration that the filter takes away over that of the whole, as far as noise lets it be seen",
        "acceleration_lost_share",
        "raise filter.cutoff_hz towards the ledger's bandwidth_hz, or set filter.cutoff to expected_error",
        "a movement at the very cut-off loses 0.29; with 6 Hz simulated reaches lose 0.03, steps 0.1, impacts 0.34, and the estimate errs by less than 0.1 in nine of ten impacts and less than 0.04 else",
    ),
    Check(
        "out_of_plane_share",
        "1",
        "variance of the segments' out-of-plane components over their whole variance",
        "out_of_plane_share",
        "choose another plane, or do not analyse this movement in a plane",
        "a convention of this program; 0.45 to 0.55 measured where children turn by 90 degrees (docs/recordings.md)",
    ),
    Check(
        "tilt_deg",
        "deg",
        "largest mean inclination of a segment to the plane",
        "tilt_deg",
        "choose another plane; the plane sees the projection of the segment only",
        "a convention of this program: at 25 degrees the projection is a tenth shorter than the segment",
    ),
    Check(
        "length_variation",
        "1",
        "largest standard deviation of a segment's length in space over its mean",
        "length_variation",
        "check the joint centres: swapped or loose markers, a point that is not a joint centre",
        "a convention of this program; 0.005 to 0.03 on the recordings, 0.06 to 0.07 where an acromion stands for the shoulder's centre",
    ),
    Check(
        "functional_residual_m",
        "m",
        "largest root mean square distance between the two segments' predictions of a functional joint centre",
        "functional_residual_m",
        "the segments do not turn about one point in this plane: skin that moves, swapped markers, or another plane; see the notes, or use the anatomical centre",
        "knees, ankles, hips and an elbow leave 0.005 to 0.012 m in the recordings, planes that do not fit 0.026 m and more",
    ),
    Check(
        "functional_offset_m",
        "m",
        "largest mean distance of a functional joint centre from the anatomical one",
        "functional_offset_m",
        "one of the two is wrong: check which markers belong to which segment, that they move with it, and that the movement is large enough",
        "knees, ankles, hips and an elbow are 0.015 to 0.037 m apart in the recordings",
    ),
    Check(
        "reversed_flexion_deg",
        "deg",
        "median bend of an elbow or knee to the side it cannot bend to",
        "reversed_flexion_deg",
        "check side, forward_axis and up_axis: the limb looks mirrored",
        "what Beighton et al. (1973) count as hypermobile, of elbows and knees",
    ),
    Check(
        "reversed_flexion_share",
        "1",
        "largest share of frames in which an elbow or knee is bent by more than 10 degrees to the side it cannot bend to",
        "reversed_flexion_share",
        "look at the limb in the report in these frames: markers that are exchanged or slip, a joint centre that is not in the joint, or a limb that turns out of the plane",
        "none: any is told; of sixteen recorded limbs a serving elbow has 0.31, that of a turning child 0.03, the others none",
    ),
    Check(
        "foreshortened_share",
        "1",
        "share of frames in which a segment points out of the plane; their torques are left empty",
        "foreshortened_share",
        "choose another plane, or do not analyse this movement in a plane",
        "none: any is told",
    ),
    Check(
        "unmeasured_share",
        "1",
        "share of frames in which the foot is on the ground, or within plates.min_contact_s of it, and the force is not known; their torques are left empty",
        "unmeasured_share",
        "use the frames with external_status 0 or 1 only; the notes say which plate was not used and why (plates.assignment, plates.edge_margin_m)",
        "none: any is told",
    ),
    Check(
        "plate_saturated_share",
        "1",
        "share of frames in which a channel of the plate that is used stays at its limit; their torques are left empty",
        "plate_saturated_share",
        "choose a larger range of the plate's amplifier and record again",
        "none: any is told; no channel of the recordings has one, clipped ones are found (signals/flat_tops.py)",
    ),
    Check(
        "plate_drift_n",
        "N",
        "change of the unloaded vertical force of a plate that is used, from the beginning to the end of the recording",
        "plate_drift_n",
        "zero the plate before every trial; let it warm up; record it unloaded before and after",
        "at most 0.9 N on the recordings; capture programs ask for a reset beyond 5 N",
    ),
    Check(
        "no_contact",
        "1",
        "1 where the chain meets the ground but no ground contact was found in the whole trial",
        None,
        "if the foot was in the air throughout, set plates.assignment to none; on a treadmill give plates.belt_speed_m_s",
        "none: any is told",
    ),
    Check(
        "other_foot_unknown_share",
        "1",
        "share of frames whose plate is used although the other foot, which may stand on it too, is not seen",
        "other_foot_unknown_share",
        "map the other foot's markers, or make sure that it was not on the plate",
        "none: any is told",
    ),
    Check(
        "up_axis_deg",
        "deg",
        "largest angle between the up axis and the mean direction from foot to hip, or of the force on a plate",
        "up_axis_deg",
        "check plane.up_axis against `limbtorque inspect`",
        "halfway between an axis that points up and one that lies flat",
    ),
    Check(
        "unused_share",
        "1",
        "share of the analysed frames that are not in the summary: near the ends, or torque not known",
        "unused_share",
        "the trial is too short for this filter, or hardly anything is known of it",
        "a convention of this program",
    ),
    Check(
        "reserve_share",
        "1",
        "share of frames in which the muscles cannot reach the torque of a joint whose moment arms are known",
        "reserve_share",
        "look at the reserve torques; the muscle set may be too weak for this subject or movement, or muscles.activation_bounds too narrow",
        "a convention of this program: single frames may be rounding or noise",
        about="muscles",
    ),
    Check(
        "arm_range_share",
        "1",
        "share of frames with a joint outside the range in which its moment arms were sampled",
        "arm_range_share",
        "do not use muscle forces of frames with moment_arm_status 1",
        "a convention of this program",
        about="muscles",
    ),
    Check(
        "reserve_part",
        "1",
        "largest priced reserve of a joint over its largest net torque (muscles.reserve: priced)",
        "reserve_part",
        "lower muscles.reserve_nm, or look why the muscles leave so much; OpenSim's guide to best practice asks for less than 10 %",
        "OpenSim's guide to best practice asks for less than 10 %",
        about="muscles",
    ),
    Check(
        "passive_part",
        "1",
        "largest passive tension of a muscle over its largest isometric force (muscles.force_length_velocity)",
        "passive_part",
        "a fibre is stretched as it hardly is in life: the rigid tendon, the set or the scaling does not fit this posture; scale the set, or leave force_length_velocity off",
        "a convention of this program",
        about="muscles",
    ),
    Check(
        "fibre_range_share",
        "1",
        "share of frames in which a muscle's fibre is shorter, longer or faster than its curves hold for (muscles.force_length_velocity)",
        "fibre_range_share",
        "do not use muscle forces of frames with fibre_status 1; scale the set to the subject (muscles.scale_moment_arms)",
        "a convention of this program",
        about="muscles",
    ),
    Check(
        "joints_without_moment_arms",
        "1",
        "number of joints without moment arms: not known in this plane, measured against a segment that is not in the chain, or moved by no muscle; their whole torque is reserve",
        None,
        "the notes say which and why; do not use forces of muscles that cross these joints",
        "none: any is told",
        about="muscles",
    ),
    Check(
        "optimization_failed_share",
        "1",
        "share of frames in which no sharing passed its certificate; they have no forces",
        None,
        "report this as a defect of the program, with the file",
        "none: any is told",
        about="muscles",
    ),
)
FIGURES = (
    ("n_frames_recorded", "1", "frames in the recording"),
    ("n_frames", "1", "frames analysed"),
    ("rate_hz", "Hz", "frames per second"),
    ("speed_m_s", "m/s", "largest speed of a joint centre in the plane"),
    ("gap_error_m", "m", "largest expected error of a gap that was filled"),
    ("undecided_flexion", "1", "1 where no elbow or knee is bent by 10 deg: a mirrored limb could not be noticed"),
    ("cutoff_hz", "Hz", "cut-off of the joint centres; the largest where each has its own (filter.scope: joint)"),
    (
        "own_cutoff_hz",
        "Hz",
        "cut-off that the trial's own data ask for, by filter.cutoff_hz, or by 'expected_error' where that is a number; it may be more than filter.max_cutoff_hz allows; the largest "
        "where each joint centre has its own",
    ),
    (
        "bandwidth_hz",
        "Hz",
        "frequency up to which the acceleration of the joint centres is stronger than their noise",
    ),
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
