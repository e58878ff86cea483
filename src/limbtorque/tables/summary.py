"""Columns of the summaries: trial by trial, of the muscles, by condition, and of the workbook."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.tables.column import FLEXION, GROUP_COLUMNS, MECHANICAL, OF_UNIT, TRIAL_COLUMNS, Column
from limbtorque.tables.torques import term_columns

SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    Column("torque_status", "", "ok or flagged: whether the ledger has a flag on the torques of this trial", kind=str),
    Column("joint", "", "joint", kind=str),
    Column("term", "", "net torque or one of its terms", kind=str),
    Column("positive_is", "", "what a positive torque does at this joint in this trial", kind=str),
    Column("n_frames", "1", "frames that were used: known torque, not at the ends", kind=int),
    Column("used_share", "1", "share of the analysed frames that were used"),
    Column(
        "loaded_share",
        "1",
        "share of the used frames with a known external load (external_status 1), such as a measured stance",
    ),
    Column("peak_nm", "N m", "value of largest magnitude", MECHANICAL),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("peak_sense", "", "what the torque does at its peak", kind=str),
    Column(
        "peak_at_gap",
        "1",
        "1 where a frame next to the peak was not used: the peak is the largest value that is known, and there may be a larger one",
        kind=int,
    ),
    Column("max_nm", "N m", "greatest value", MECHANICAL),
    Column("max_time_s", "s", "time of the greatest value from the first frame of the recording"),
    Column("min_nm", "N m", "least value", MECHANICAL),
    Column("min_time_s", "s", "time of the least value from the first frame of the recording"),
    Column("mean_nm", "N m", "mean", MECHANICAL),
    Column("rms_nm", "N m", "root mean square"),
    Column("impulse_nms", "N m s", "integral over time of the frames used", MECHANICAL),
    Column("peak_power_w", "W", "power of largest magnitude of this torque", "positive: energy into the segments"),
    Column("max_power_w", "W", "greatest power of this torque: generation", "positive: energy into the segments"),
    Column("min_power_w", "W", "least power of this torque: absorption", "positive: energy into the segments"),
    Column("positive_work_j", "J", "integral of the positive power"),
    Column("negative_work_j", "J", "integral of the negative power"),
)
MUSCLE_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    Column(
        "muscle_status",
        "",
        "ok or flagged: whether the ledger has a flag on the torques or muscle forces of this trial",
        kind=str,
    ),
    Column("muscle_set", "", "muscle set", kind=str),
    Column("criterion", "", "what the sharing keeps as small as can be", kind=str),
    Column("muscle", "", "muscle", kind=str),
    Column("strength_n", "N", "largest isometric force, scaled to the subject where that was asked for"),
    Column(
        "n_frames",
        "1",
        "frames that were used: known force, not at the ends, inside the range of moment arms and fibres",
        kind=int,
    ),
    Column("used_share", "1", "share of the analysed frames that were used"),
    Column("peak_n", "N", "largest force", "tension positive"),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("peak_activation", "1", "largest activation"),
    Column("mean_n", "N", "mean force", "tension positive"),
    Column("impulse_ns", "N s", "integral of the force over the time of the frames used"),
    Column("min_impulse_ns", "N s", "integral of the least possible force"),
    Column("max_impulse_ns", "N s", "integral of the greatest possible force"),
)
FLEXION_SIGNED = ("peak_nm", "max_nm", "min_nm", "mean_nm", "impulse_nms")
STATISTICS = tuple(column for column in SUMMARY_COLUMNS if column.name.endswith(("_nm", "_s", "_nms", "_w", "_j")))
_OF_STATISTIC = "over the trials, or over the subjects' means where ensembles.spread_over is subjects"
_MIXED = "; empty for peaks, and times of peaks, of which some are positive and some negative"
_STATISTIC_SIGN = (
    f"torques (peak_nm, max_nm, min_nm, mean_nm, impulse_nms): {FLEXION}; power and work: energy into the segments"
)
CONDITION_SUMMARY_COLUMNS = (
    *GROUP_COLUMNS,
    Column("joint", "", "joint", kind=str),
    Column("term", "", "net torque or one of its terms", kind=str),
    Column("statistic", "", "column of the summary that this is of", kind=str),
    Column("unit", "", "unit of the statistic", kind=str),
    Column("mean", OF_UNIT, f"mean {_OF_STATISTIC}{_MIXED}", _STATISTIC_SIGN),
    Column("sd", OF_UNIT, f"standard deviation (n - 1) {_OF_STATISTIC}{_MIXED}; empty for one"),
    Column("median", OF_UNIT, f"median {_OF_STATISTIC}{_MIXED}", _STATISTIC_SIGN),
    Column("min", OF_UNIT, f"least value {_OF_STATISTIC}; of the trials where the mean is empty", _STATISTIC_SIGN),
    Column("max", OF_UNIT, f"greatest value {_OF_STATISTIC}; of the trials where the mean is empty", _STATISTIC_SIGN),
    Column("n_trials", "1", "trials with a value", kind=int),
    Column("n_subjects", "1", "subjects with a value", kind=int),
    Column(
        "min_used_share",
        "1",
        "least share of a trial's frames that its value is of: trials of unlike shares do not compare",
    ),
    Column("max_used_share", "1", "largest such share"),
    Column(
        "n_unloaded",
        "1",
        "further trials of the group, left out here, that have no known external load in any frame where others have one: their stance was not measured",
        kind=int,
    ),
)


def wide_columns(joints: Sequence[str]) -> list[Column]:
    """Columns `<joint>_<term>_<statistic>` of the workbook's sheet of trials.

    Parameters
    ----------
    joints : sequence of str
        Joints of a chain, proximal first.
    """
    columns = []
    for joint in joints:
        prefix, terms = f"{joint}_torque_", {"net": f"{joint}: net torque"}
        terms |= {c.name.removeprefix(prefix).removesuffix("_nm"): c.definition for c in term_columns(joint, joints)}
        for term, text in terms.items():
            columns += [
                Column(
                    f"{joint}_{term}_{statistic.name}",
                    statistic.unit,
                    f"{statistic.definition}; {text}",
                    FLEXION if statistic.name in FLEXION_SIGNED else statistic.sign,
                )
                for statistic in STATISTICS
            ]
    return columns
