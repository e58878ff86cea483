"""Walking speed, cadence and stride length of a gait cycle."""

from __future__ import annotations

from limbtorque.arrays import FloatArray
from limbtorque.statistics.windows import resample
from limbtorque.statistics.wording import GAIT_CYCLE, Percent
from limbtorque.study.settings import Settings
from limbtorque.tables.study_columns import GAIT_COLUMNS
from limbtorque.tables.trial_record import Window

UNKNOWN_GAIT = {column.name: float("nan") for column in GAIT_COLUMNS}


def gait_values(time_s: FloatArray, forward_m: FloatArray, window: Window, settings: Settings) -> dict[str, float]:
    """Values of `tables.study_columns.GAIT_COLUMNS` for one trial.

    Parameters
    ----------
    time_s : ndarray of shape (n_frames,)
        Time, s.
    forward_m : ndarray of shape (n_frames,)
        Forward position of the first joint, m.
    window : Window
        The trial's 0 to 100 %.
    settings : Settings
        Its events, and the speed of a treadmill's belt.

    Returns
    -------
    dict of str to float
        NaN where the window is not a gait cycle; speed and length NaN where the position at its ends is not known.

    Notes
    -----
    At the same phase of the next stride a hip has moved as far as the body. Two steps are a stride: the cadence is 120 over
    its duration in seconds.
    """
    options = settings.ensembles
    percent = Percent(options.window, options.start_event, options.end_event)
    if window.note or percent.what != GAIT_CYCLE:
        return UNKNOWN_GAIT
    ends_m = resample(time_s, forward_m[:, None], start_s=window.start_s, end_s=window.end_s, n_points=2)[:, 0]
    stride_s = window.end_s - window.start_s
    speed_m_s = abs(float(ends_m[1] - ends_m[0]) / stride_s + settings.plates.belt_speed_m_s)
    return {
        "walking_speed_m_s": speed_m_s,
        "cadence_steps_min": 120.0 / stride_s,
        "stride_length_m": speed_m_s * stride_s,
    }
