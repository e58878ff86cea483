"""Columns of the comparison of each subject with a reference group."""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, SIZE, columns

_SIGN = f"of torques and angles: {FLEXION}; of power and work: energy into the segments"
REFERENCE_COLUMNS = columns(
    {
        "subject:text": "subject",
        "chain:text": "chain",
        "condition:text": "condition",
        "side:text": "side of the body",
        "joint:text": "joint; empty for walking speed, cadence and stride length",
        "quantity:text": "flexion, torque, power (over body mass), or a column of results.csv or windows.csv",
        "term:text": "of torques: net, or the sum of its terms of a kind",
        "statistic:text": "curve (the mean of the side's trials); or a number: their mean, max or min (mean of the extremes)",
        "unit:text": "unit of the quantity",
        "value:value": ("value of the subject; this and all up to p_adjusted are of numbers", _SIGN),
        "reference_mean:value": ("mean of the reference, at the subject's walking speed where at_speed is 1", _SIGN),
        "low:value": ("lower limit of the 95 % interval of a new subject", _SIGN),
        "high:value": ("upper limit of the 95 % interval of a new subject", _SIGN),
        "t": "(value - mean) / (s sqrt(1 + 1/n)), one against n (Crawford and Howell 1998)",
        "degrees_of_freedom:count": "degrees of freedom of t",
        "p": "two-sided p of t",
        "p_adjusted": "p adjusted for all numbers of the subject (Holm 1979)",
        "rms_deviation:value": ("root mean square of value less reference mean; up to outside_certain of curves", SIZE),
        "rms_error:value": ("its standard deviation by errors of the inputs; of net torques with torques.bands", SIZE),
        "reference_rms:value": ("median of rms_deviation in the reference, each side beside the other subjects", SIZE),
        "larger_share": "share of the reference's sides with at least this rms_deviation",
        "outside:text": "points outside the band that holds 95 % of whole new curves, in percent of the window",
        "outside_certain:text": "points that are outside whatever the error of the net torque (95 % limits)",
        "n_reference:count": "subjects of the reference with a value, without the subject itself",
        "n_trials:count": "trials of the subject on this side",
        "walking_speed_m_s": "walking speed of the subject; empty where it is not known",
        "reference_speed_low_m_s": "least walking speed of the reference",
        "reference_speed_high_m_s": "greatest walking speed of the reference",
        "at_speed:count": "1 where the reference's mean is that at the subject's walking speed, by regression",
    }
)
