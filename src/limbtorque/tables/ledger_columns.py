"""Columns of `ledger.csv`, and of `metrics.csv` for the metrics without a check."""

from __future__ import annotations

from limbtorque.tables.column import MUSCLE_STATUS, TORQUE_STATUS, TRIAL_COLUMNS, attribute_columns, columns

METRICS = columns(
    {
        "n_frames_recorded": "frames in the recording",
        "n_frames": "frames analysed",
        "rate_hz": "frames per second",
        "speed_m_s": "largest speed of a joint centre in the plane",
        "chain_fit_m": "root mean square distance between fitted and measured joints, excluding foreshortened frames "
        "(motion.angles: rigid_chain)",
        "shortest_period_s": "shortest period at which the unfiltered joint centres move by more than 0.02 mm, less "
        "than any camera's noise",
        "gap_error_m": "largest expected error of a filled gap",
        "max_unfilled_gap_s": "longest gap between two complete parts; only the longest part is analysed",
        "plate_saturated_share": "share of frames in which a channel of a plate in use is saturated; torques there "
        "are empty, see unmeasured_share",
        "pressure_shift_m": "pressure_off_toes_m; 0 where the centre of pressure is right at the strike, so that the marker at the "
        "front of the foot is misplaced",
        "undecided_flexion": "1 where no elbow or knee bends by 10 deg, so that a mirrored limb cannot be detected",
        "cutoff_hz": "cut-off of the joint centres; the largest where each has its own (filter.scope: joint)",
        "load_moment_lost_share": "largest moment of the ground reaction about a joint that the force plates' filter "
        "removes, relative to the largest moment there; the notes list it by joint",
        "own_cutoff_hz": "cut-off chosen from the trial's own data by the method of filter.cutoff_hz (expected_error "
        "where that is a number), before the limit filter.max_cutoff_hz; the largest where joint centres differ",
        "bandwidth_hz": "frequency up to which the acceleration of the joint centres is stronger than their noise",
        "acceleration_filtered_share": "share of the joint centres' acceleration (rms) that the filter removes",
        "cutoff_at_limit": "1 where own_cutoff_hz is the lowest or highest cut-off tried, so that no optimum was found",
        "functional_range_deg": "smallest range of relative rotation that determined a functional joint centre",
        "cluster_error_m": "largest expected error of a landmark carried from the static trial, from residual and "
        "size of its cluster; a lower bound",
        "flexion_axis_deg": "angle between the joint's flexion axis and the plane's normal, root mean square; up to 15 deg, at the "
        "ankle 30, a planar torque is right within about 10 % of its range (torques.in_space)",
        "edge_share": "share of frames with edge effects of the filter and the differences",
        "force_range_share": "mean of (greatest - least possible force) / strength over muscles and frames: the part "
        "that the criterion determines, not mechanics",
        "arm_range_share": "share of the judged frames with a joint outside the range of its moment-arm data",
    }
)
FILE_COLUMNS = attribute_columns(  # attributes of the trial
    {
        "file:text": ("file", "recording, as in the table of trials"),
        "forces_file:text": ("forces_file", "second file, with the force plates; empty where there is none"),
        "static_file:text": (
            "static_file",
            "static trial, for landmarks carried by clusters; empty where there is none",
        ),
    }
)
STATUS_COLUMNS = (  # attributes of the verdict
    *attribute_columns(
        {"status:text": ("status", "ok, caution, rejected or failed: the worse of torque_status and muscle_status")}
    ),
    TORQUE_STATUS,
    MUSCLE_STATUS,
    *attribute_columns(
        {
            "rejected_joints:text": ("rejected_joints", "joints whose torques must not be used"),
            "rejected_by:text": ("rejected_by", "names of the flags that reject the trial or some of its joints"),
        }
    ),
)
HASH_COLUMNS = attribute_columns(  # attributes of the facts about the recording
    {
        "input_sha256:text": ("sha256", "hash of the recording"),
        "forces_sha256:text": ("forces_sha256", "hash of the second file"),
        "static_sha256:text": ("static_sha256", "hash of the static trial"),
    }
)
OUTCOME_COLUMNS = attribute_columns(  # attributes of the outcome in `workflow.stages.collect`
    {
        "reason:text": ("reasons", "type of failure, or names of the flags"),
        "message:text": ("message", "description of the failure or flags, and action to take"),
        "plane:text": ("plane", "anatomical plane of motion: sagittal, horizontal or oblique"),
        "n_guesses:count": ("n_guesses", "assumptions about the recording that the file does not state"),
        "notes:text": ("notes", "text file with the notes of the analysis and these assumptions"),
    }
)
LEDGER_COLUMNS = (
    *TRIAL_COLUMNS,
    *FILE_COLUMNS,
    *STATUS_COLUMNS,
    *OUTCOME_COLUMNS[:3],
    *HASH_COLUMNS,
    *OUTCOME_COLUMNS[3:],
)
