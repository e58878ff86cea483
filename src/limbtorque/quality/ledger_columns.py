"""Columns of `ledger.csv` and `metrics.csv`: status and metrics of trials."""

from __future__ import annotations

from limbtorque.quality.checks import CHECKS
from limbtorque.tables.column import MUSCLE_STATUS, TORQUE_STATUS, TRIAL_COLUMNS, Column

METRICS = (
    Column("n_frames_recorded", "1", "frames in the recording"),
    Column("n_frames", "1", "frames analysed"),
    Column("rate_hz", "Hz", "frames per second"),
    Column("speed_m_s", "m/s", "largest speed of a joint centre in the plane"),
    Column(
        "chain_fit_m",
        "m",
        "root mean square distance between fitted and measured joints, without foreshortened frames (motion.angles: rigid_chain)",
    ),
    Column(
        "shortest_period_s",
        "s",
        "shortest period at which the unfiltered joint centres move by more than 0.02 mm, less than any camera's noise",
    ),
    Column("gap_error_m", "m", "largest expected error of a filled gap"),
    Column(
        "max_unfilled_gap_s",
        "s",
        "longest time between two complete stretches; only the longest stretch is analysed",
    ),
    Column(
        "plate_saturated_share",
        "1",
        "share of frames in which a channel of a used plate stays at its limit; their torques are empty, see unmeasured_share",
    ),
    Column(
        "undecided_flexion", "1", "1 where no elbow or knee bends by 10 deg, so that a mirrored limb cannot be detected"
    ),
    Column("cutoff_hz", "Hz", "cut-off of the joint centres; the largest where each has its own (filter.scope: joint)"),
    Column(
        "load_moment_lost_share",
        "1",
        "largest moment of the ground reaction about a joint that the force plates' filter removes, relative to the largest "
        "moment there; the notes have it by joint",
    ),
    Column(
        "own_cutoff_hz",
        "Hz",
        "cut-off chosen from the trial's own data by the method of filter.cutoff_hz (expected_error where that is a number), "
        "before the limit filter.max_cutoff_hz; the largest where each joint centre has its own",
    ),
    Column(
        "bandwidth_hz", "Hz", "frequency up to which the acceleration of the joint centres is stronger than their noise"
    ),
    Column(
        "cutoff_at_limit",
        "1",
        "1 where own_cutoff_hz is the lowest or highest cut-off that was tried: no optimum in between",
    ),
    Column(
        "functional_range_deg",
        "deg",
        "smallest range of relative rotation that determined a functional joint centre",
    ),
    Column(
        "cluster_error_m",
        "m",
        "largest expected error of a landmark carried from the static trial, by its cluster's residual and size; a lower bound",
    ),
    Column("edge_share", "1", "share of frames with edge effects of the filter and the differences"),
    Column(
        "force_range_share",
        "1",
        "mean of (greatest - least possible force) / strength over muscles and frames: determined by the criterion, not by mechanics",
    ),
    Column("arm_range_share", "1", "share of the judged frames with a joint outside the range of its moment-arm data"),
    Column("co_contraction_cost_share", "1", "cost added by muscles.co_contraction, relative to the cost without it"),
    Column(
        "co_contraction_reduced_share",
        "1",
        "share of frames with less co-contraction than muscles.co_contraction, so that the muscles can produce the torque",
    ),
    Column("replay_lost", "1", "1 where the replay ended because a joint was 30 degrees off, 0 otherwise"),
    Column("replay_s", "s", "duration of the forward integration of the torques (replay.enabled)"),
    Column(
        "replay_within_s",
        "s",
        "time for which the integrated motion stays within 1 degree of the measured one",
    ),
    Column("replay_drift_deg", "deg", "largest difference of a joint angle at the end of the replay"),
)
QUALITY_COLUMNS = (*METRICS, *(Column(check.name, check.unit, check.definition) for check in CHECKS))
LEDGER_COLUMNS = (
    *TRIAL_COLUMNS,
    Column("file", "", "recording, as in the table of trials", kind=str),
    Column("forces_file", "", "second file, with the force plates; empty where there is none", kind=str),
    Column("static_file", "", "static trial, from which landmarks are carried; empty where there is none", kind=str),
    Column("status", "", "ok, caution, rejected or failed: the worse of torque_status and muscle_status", kind=str),
    TORQUE_STATUS,
    MUSCLE_STATUS,
    Column("rejected_joints", "", "joints whose torques must not be used", kind=str),
    Column("rejected_by", "", "names of the flags that reject the trial, or joints of it", kind=str),
    Column("reason", "", "kind of failure, or names of the flags", kind=str),
    Column("message", "", "description of the failure or flags, and action to take", kind=str),
    Column("plane", "", "anatomical plane of motion: sagittal, horizontal or oblique", kind=str),
    Column("input_sha256", "", "hash of the recording", kind=str),
    Column("forces_sha256", "", "hash of the second file", kind=str),
    Column("static_sha256", "", "hash of the static trial", kind=str),
    Column("n_guesses", "1", "assumptions about the recording that the file does not state", kind=int),
    Column("notes", "", "text file with the notes of the analysis and these assumptions", kind=str),
)
METRIC_COLUMNS = (
    TRIAL_COLUMNS[0],
    Column(
        "joint", "", "joint of the metrics; empty for those of the whole trial and the worst of its joints", kind=str
    ),
    *QUALITY_COLUMNS,
)
