"""Columns of the comparison of each subject with a reference group."""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, SIZE, columns

_SIGN = f"of torques and angles: {FLEXION}; of power: energy into the segments"
_OF_CURVE = "; empty for numbers"
_OF_NUMBER = "; empty for curves"
REFERENCE_COLUMNS = columns(
    {
        "subject:text": "subject",
        "chain:text": "chain",
        "condition:text": "condition",
        "side:text": "side of the body",
        "joint:text": "joint; empty for walking speed, cadence and stride length",
        "quantity:text": "flexion, torque, power (over body mass), or a column of windows.csv",
        "term:text": "net torque, or the sum of its terms of a kind",
        "statistic:text": "curve; max or min of its points; or mean, each of the mean of the side's trials",
        "unit:text": "unit of the quantity",
        "value:value": (f"value of the subject{_OF_NUMBER}", _SIGN),
        "reference_mean:value": (
            f"mean of the reference, at the subject's walking speed where at_speed is 1{_OF_NUMBER}",
            _SIGN,
        ),
        "low:value": (f"lower limit of the 95 % interval of a new subject{_OF_NUMBER}", _SIGN),
        "high:value": (f"upper limit of the 95 % interval of a new subject{_OF_NUMBER}", _SIGN),
        "t": "one against the group: (value - mean) / (s sqrt(1 + 1/n)) (Crawford and Howell 1998)" + _OF_NUMBER,
        "degrees_of_freedom:count": "degrees of freedom of t",
        "p": f"two-sided p of t{_OF_NUMBER}",
        "p_adjusted": f"p adjusted for all numbers of the subject (Holm 1979){_OF_NUMBER}",
        "rms_deviation:value": (
            f"root mean square over the points of the deviation from reference_mean{_OF_CURVE}",
            SIZE,
        ),
        "rms_error:value": (
            "its standard deviation due to errors of the inputs of the subject; of net torques of trials with torques.bands, else empty",
            SIZE,
        ),
        "reference_rms:value": ("median of rms_deviation in the reference, each subject beside the others", SIZE),
        "larger_share": f"share of the reference with at least this rms_deviation{_OF_CURVE}",
        "outside:text": "points outside the band that holds 95 % of whole new curves, in percent of the window",
        "outside_certain:text": "of these the points that are outside whatever the error of the net torque (95 % limits)",
        "n_reference:count": "subjects of the reference with a value, without the subject itself",
        "n_trials:count": "trials of the subject on this side",
        "walking_speed_m_s": "walking speed of the subject; empty where it is not known",
        "at_speed:count": "1 where the reference's mean is that at this speed, by regression",
    }
)
