"""Columns of the study's tables: summary, curves, comparison, dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from limbtorque.study.chains import Joint
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.tables.column import (
    FIRST_ORDER,
    FLEXION,
    GROUP_COLUMNS,
    INTO_SEGMENTS,
    MUSCLE_STATUS,
    N_REJECTED,
    SIZE,
    SPREAD_OVER,
    TOO_FEW,
    TORQUE_STATUS,
    TRIAL_COLUMNS,
    Column,
    attribute_columns,
    columns,
)
from limbtorque.tables.frame_columns import term_columns

JOINT, _TERM, WINDOW, USED_SHARE = columns(
    {
        "joint:text": "joint",
        "term:text": "net torque or one of its terms",
        "window:text": "frames of the row: movement, events, cycles or trial (the window of the curves, windows.csv; trial where there "
        "is no window), or stance, the part with ground contact",
        "used_share": "share of the frames of the window that were used; below ensembles.min_known_share the statistics are empty",
    }
)
STANCE = "stance"  # in the column window
CYCLE = "cycle"
BOTH = "both"  # in the column side of ensembles.csv
_TORQUES = ("_nm", "_nms", "_w", "_j")


def _times(name: str, of: str) -> dict[str, str]:
    """Columns of a time in the window of the row."""
    return {
        f"{name}_time_s": f"time of the {of} after the window's start",
        f"{name}_time_percent": f"time of the {of} in percent of the window",
    }


MEASURED = columns(
    {
        "peak_nm": ("value of largest magnitude", FLEXION),
        **_times("peak", "peak"),
        "max_nm": ("maximum: the peak in flexion", FLEXION),
        **_times("max", "maximum"),
        "min_nm": ("minimum: the peak in extension", FLEXION),
        **_times("min", "minimum"),
        "mean_nm": ("mean", FLEXION),
        "rms_nm": "root mean square",
        "impulse_nms": ("time integral over the frames used", FLEXION),
        "peak_power_w": ("power of this torque of largest magnitude", INTO_SEGMENTS),
        "max_power_w": ("maximum power of this torque: generation", INTO_SEGMENTS),
        "min_power_w": ("minimum power of this torque: absorption", INTO_SEGMENTS),
        "positive_work_j": "time integral of the positive power",
        "negative_work_j": "time integral of the negative power",
    }
)
STATISTICS = (
    *MEASURED,
    *(
        Column(f"{c.name}_kg", f"{c.unit}/kg", f"{c.definition}, over body mass", c.sign, source=c.name)
        for c in MEASURED
        if c.name.endswith(_TORQUES)
    ),
)


def _limits(names: Iterable[str], how: str, signs: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """Columns of the standard deviation and the limits of statistics."""
    entries: dict[str, tuple[str, str]] = {}
    for name in names:
        (start, end), sign = name.rsplit("_", 1), (signs or {}).get(name, "")
        text = f"standard deviation of {name} due to the errors of the section uncertainty, {how}"
        entries |= {
            f"{start}_sd_{end}": (text, SIZE),
            f"{start}_low_{end}": (f"lower 95 % limit of {name}", sign),
            f"{start}_high_{end}": (f"upper 95 % limit of {name}", sign),
        }
    return entries


def _bands(signs: Mapping[str, bool]) -> dict[str, str | tuple[str, str]]:
    """Columns of the uncertainty of statistics, partly with certainty of the sign."""
    entries: dict[str, str | tuple[str, str]] = {}
    for name, has_sign in signs.items():
        start = name.rsplit("_", 1)[0]
        entries |= _limits([name], FIRST_ORDER, {name: FLEXION})
        if has_sign:
            entries[f"{start}_sign_certain"] = f"1 where both 95 % limits of {name} have the sign of {name}, else 0"
        for owner, trials in (("study", "the study"), ("subject", "a subject alone")):
            entries[f"{start}_shared_by_{owner}"] = (
                f"share of the variance of {name} due to errors common to all trials of {trials}, which do not average out "
                "over them"
            )
    return entries


_SAMPLES = "from samples; empty without uncertainty.samples"
_SAMPLED_SIGNS = {c.name: c.sign for c in MEASURED if c.name.endswith(("_time_s", "_w", "_j"))}
_BAND_RMS = "standard deviation of this torque due to the errors of the section uncertainty, to first order: root mean square over the frames used"
BANDS = columns(
    {
        **_bands({"peak_nm": True, "max_nm": False, "min_nm": False, "mean_nm": True, "impulse_nms": False}),
        **_limits(_SAMPLED_SIGNS, _SAMPLES, _SAMPLED_SIGNS),
        "band_rms_nm": (_BAND_RMS, SIZE),
        "band_main_source:text": "source of error with the largest share of the variance over these frames",
        "band_main_share": "its share of that variance",
        "peak_main_source:text": "source of error with the largest share of the variance of peak_nm",
        "peak_main_input:text": "joint centre, or other source of error, with the largest share of the variance of peak_nm; "
        "for net torques",
        "peak_main_input_share": "its share of that variance, to first order",
        **{
            f"peak_share_{source}": f"share of the variance of peak_nm by {source} (uncertainty.off names all)"
            for source in SOURCES
        },
    }
)
# Statistics whose uncertainty is that of the samples where there are some.
SAMPLED = tuple(c.name for c in MEASURED if c.name != "rms_nm" and not c.name.endswith("_percent"))


def _mirror(column: Column) -> str:
    """Name of the statistic that corresponds to this one for the opposite torque."""
    name = column.name
    if name.startswith(("max_", "min_")) and "_power_" not in name:
        name = ("min" if name.startswith("max") else "max") + name[3:]
    if column.sign == FLEXION:
        name = name.replace("_low_", "_limit_").replace("_high_", "_low_").replace("_limit_", "_high_")
    return name


# Statistics of a torque from those of the opposite torque: the name there, and the factor.
MIRRORED = {
    c.name: (_mirror(c), -1.0 if c.sign == FLEXION else 1.0)
    for c in (*MEASURED, *BANDS)
    if c.sign == FLEXION or _mirror(c) != c.name
}
_POSITIVE_IS = columns({"positive_is:text": "anatomical direction of a positive torque at this joint"})
_WINDOW_START = columns({"window_start_s": "start of the window, from the first frame of the recording"})
SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    WINDOW,
    JOINT,
    _TERM,
    *_POSITIVE_IS,
    *columns({"n_frames:count": "number of frames used: torque known, no edge effects"}),
    USED_SHARE,
    *columns(
        {
            "loaded_share": "share of the used frames with a known external load (external_status 1), such as a measured stance",
            "peak_sense:text": "anatomical direction of the torque at its peak",
            "peak_at_gap:count": "1 where a frame next to the peak was not used: the peak is the largest known value; the true peak may "
            "be larger",
        }
    ),
    *_WINDOW_START,
    *STATISTICS,
)
SUMMARY_KEYS = (TRIAL_COLUMNS[0], WINDOW, JOINT, _TERM)
SUMMARY_BANDS_COLUMNS = (*SUMMARY_KEYS, *BANDS)
_PEAKS = {  # of results.csv -> extreme of the summary, and its meaning
    "flexion_peak": ("max", "largest net torque in flexion (dorsiflexion at the ankle)"),
    "extension_peak": ("min", "largest net torque in extension (plantarflexion at the ankle), negative"),
}
_LIMITS = {"": "", "_low": "lower 95 % limit of the ", "_high": "upper 95 % limit of the "}


def _peak_columns(name: str, extreme: str, text: str) -> list[Column]:
    """Columns of a peak over body mass, of its limits and its time."""
    peaks = [
        Column(
            *(f"{name}{part}_nm_kg", "N m/kg", f"{limit}{text}, over body mass", FLEXION),
            source=f"{extreme}{part}_nm",
        )
        for part, limit in _LIMITS.items()
    ]
    time = Column(f"{name}_time_percent", "%", "its time in percent of the window", source=f"{extreme}_time_percent")
    return [*peaks, time]


(BODY_MASS,) = attribute_columns({"body_mass_kg": ("subject.mass_kg", "body mass of the subject")})  # of the trial
RESULTS_COLUMNS = (
    *(column for column in TRIAL_COLUMNS if column.name != "session"),
    BODY_MASS,
    TORQUE_STATUS,
    WINDOW,
    JOINT,
    USED_SHARE,
    *(column for name, (extreme, text) in _PEAKS.items() for column in _peak_columns(name, extreme, text)),
    *(column for column in STATISTICS if column.source in ("positive_work_j", "negative_work_j")),
)
SAMPLED_FORCES = ("peak_n", "mean_n", "impulse_ns")
_TENSION = "tension positive"
MUSCLE_STATISTICS = columns(
    {
        "peak_n": ("largest force", _TENSION),
        **_times("peak", "peak"),
        "peak_activation": "largest activation",
        "mean_n": ("mean force", _TENSION),
        "impulse_ns": "time integral of the force over the frames used",
        "min_impulse_ns": "time integral of the least possible force",
        "max_impulse_ns": "time integral of the greatest possible force",
        **_limits(SAMPLED_FORCES, _SAMPLES, {"peak_n": _TENSION, "mean_n": _TENSION}),
    }
)
MUSCLE_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    WINDOW,
    *columns(
        {
            "muscle_set:text": "muscle set",
            "criterion:text": "quantity minimised by static optimization",
            "muscle:text": "muscle",
            "strength_n": "maximum isometric force, scaled to the subject where muscles.scale has strength",
            "n_frames:count": "number of frames used: force known, no edge effects, inside the range of moment arms and fibre curves",
        }
    ),
    USED_SHARE,
    *_WINDOW_START,
    *MUSCLE_STATISTICS,
)
_OVER_WEIGHT = "contact forces relative to body weight, at the same torques"
CONTACT_STATISTICS = columns(
    {
        "peak_bw": "largest contact force relative to body weight",
        **_times("peak", "peak"),
        "min_peak_bw": f"largest of the least possible {_OVER_WEIGHT}",
        "max_peak_bw": f"largest of the greatest possible {_OVER_WEIGHT}",
        "effort_min_peak_bw": f"largest of the least {_OVER_WEIGHT} with limited effort",
        "effort_max_peak_bw": f"largest of the greatest {_OVER_WEIGHT} with limited effort",
        "mean_bw": "mean contact force relative to body weight",
        "effort_range_bw": "median width of the range of the contact force relative to body weight, at the same torques with limited effort",
    }
)
CONTACT_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    WINDOW,
    JOINT,
    *columns({"n_frames:count": "number of frames used: contact force known, no edge effects"}),
    USED_SHARE,
    *_WINDOW_START,
    *CONTACT_STATISTICS,
)
_OVER = "over the units of spread_over"
_MIXED = "; empty for peaks, and times of peaks, that are positive in some trials and negative in others"
_OF_BOTH_SIGNS = "; over the trials for peaks of both signs"
_WITHIN = "pooled standard deviation of the trials about the mean of their subject; sd contains its square over the number of trials"
_INTERVAL = "95 % limit of the mean over subjects, by Student's t; empty over trials"
_CONDITION_SIGN = f"torques (peak_nm, max_nm, min_nm, mean_nm, impulse_nms, also over body mass): {FLEXION}; power and work: energy into the segments"
_MEAN_ERROR = (
    "standard deviation of the mean due to the errors of the section uncertainty, separate from sd; errors common to trials of a "
    "subject or of the study do not average out; empty for rms_nm, times, powers and works"
)
CONDITION_SUMMARY_COLUMNS = (
    *GROUP_COLUMNS,
    WINDOW,
    JOINT,
    _TERM,
    *columns({"statistic:text": "column of summary.csv", "unit:text": "unit of the statistic"}),
    SPREAD_OVER,
    *columns(
        {
            "mean:value": (f"mean {_OVER}{TOO_FEW}{_MIXED}", _CONDITION_SIGN),
            "sd:value": f"standard deviation (n - 1) {_OVER}{TOO_FEW}{_MIXED}",
            "mean_error:value": (_MEAN_ERROR, SIZE),
            "median:value": (f"median {_OVER}{TOO_FEW}{_MIXED}", _CONDITION_SIGN),
            "min:value": (f"minimum {_OVER}{TOO_FEW}{_OF_BOTH_SIGNS}", _CONDITION_SIGN),
            "max:value": (f"maximum {_OVER}{TOO_FEW}{_OF_BOTH_SIGNS}", _CONDITION_SIGN),
            "n_subjects:count": "number of subjects with a value",
            "n_trials:count": "number of trials with a value",
        }
    ),
    N_REJECTED,
    *columns(
        {
            "min_used_share": "smallest used_share of these trials; trials with very different shares are not comparable",
            "max_used_share": "largest used_share of these trials",
            "n_unloaded:count": "number of trials of the group left out because their stance was not measured: no frame has a known external "
            "load, but other trials have one",
            "mean_low:value": (f"lower {_INTERVAL}", _CONDITION_SIGN),
            "mean_high:value": (f"upper {_INTERVAL}", _CONDITION_SIGN),
            "sd_within:value": _WITHIN,
        }
    ),
)
DICTIONARY_COLUMNS = (  # attributes of the column
    *columns({"table:text": "table of the column"}),
    *attribute_columns(
        {
            "column:text": ("name", "name of the column"),
            "unit:text": ("unit", "unit; 1 for a pure number, empty for text"),
            "definition:text": ("definition", "definition of the quantity"),
            "sign:text": ("sign", "meaning of a positive value"),
        }
    ),
)
_QUANTITY = columns(
    {
        "quantity:text": "quantity, defined in table curves.quantity of the data dictionary",
        "unit:text": "unit of the quantity",
        "percent": "point of the window, from 0 at its start to 100 at its end (windows.csv)",
    }
)
_CURVE_SIGN = f"angles, velocities, torques: {FLEXION}; powers: energy into the segments"
_VALUE = "value of the quantity, interpolated between frames by cubic splines; empty where a neighbouring frame has no value or has edge effects (column edge)"
_KNOWN = "of net torques of trials with torques.bands, else empty"
OWNERS = columns(  # in the order of `uncertainty.bands.OWNERS`
    {
        f"sd_by_{owner}:value": f"standard deviation of value due to errors of the inputs that {shared}; {_KNOWN}"
        for owner, shared in {
            "study": "all trials of the study share",
            "subject": "the trials of a subject share",
            "trial": "are of this trial alone",
        }.items()
    }
)
CURVE_COLUMNS = (*TRIAL_COLUMNS, *_QUANTITY, *columns({"value:value": (_VALUE, _CURVE_SIGN)}), *OWNERS)
_SIDE = "side of the body; both, where a condition has both: each subject with the mean of its sides, or all trials weighted equally (spread_over)"
ENSEMBLE_COLUMNS = (
    *GROUP_COLUMNS[:2],
    *columns({"side:text": _SIDE}),
    *_QUANTITY,
    SPREAD_OVER,
    *columns(
        {
            "mean:value": (f"mean {_OVER}{TOO_FEW}", _CURVE_SIGN),
            "sd:value": f"standard deviation (n - 1) {_OVER}{TOO_FEW}",
            "mean_error:value": "standard deviation of the mean due to errors of the inputs, separate from sd; errors that trials share do not "
            f"average out; {_KNOWN}",
            "n_subjects:count": "number of subjects with a value at this point",
            "n_trials:count": "number of trials with a value at this point",
        }
    ),
    N_REJECTED,
    *columns(
        {
            "mean_low:value": (f"lower {_INTERVAL}", _CURVE_SIGN),
            "mean_high:value": (f"upper {_INTERVAL}", _CURVE_SIGN),
            "sd_within:value": _WITHIN,
        }
    ),
)
_GAIT_CYCLE = "empty where 0 to 100 % is not a gait cycle (ensembles.start_event and end_event)"
GAIT_COLUMNS = columns(
    {
        "walking_speed_m_s": f"forward travel of the first joint over the cycle's duration, plus plates.belt_speed_m_s; {_GAIT_CYCLE}",
        "cadence_steps_min": f"steps a minute: 120 s over the cycle's duration; {_GAIT_CYCLE}",
        "stride_length_m": f"walking speed times the cycle's duration; {_GAIT_CYCLE}",
    }
)
WINDOW_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    *columns(
        {
            "window:text": "definition of 0 to 100 %: movement, events, cycles or trial",
            "start_s": "start of the window, from the first frame of the recording",
            "end_s": "end of the window, from the first frame of the recording",
            "cycle:count": "number, from 1, of the cycle or window between events in use (ensembles.cycle); 0 where there is "
            "none",
            "n_cycles:count": "number of cycles or windows between events in the analysed frames",
            "events:text": "source of the events: file, or the method that found foot strikes and offs (docs/events.md); empty for windows "
            "without events",
        }
    ),
    *GAIT_COLUMNS,
    *columns(
        {
            "known_share": "share of the points of the curve with a known torque",
            "included:count": "1 where the trial is included in curves and ensembles",
            "rejected_joints:text": "joints left out because their torques were rejected",
            "note:text": "reason why the trial was left out, or the missing part of its curve",
        }
    ),
)


def curve_columns(joints: Sequence[Joint], *, per_body_mass: bool) -> list[Column]:
    """Quantities of `results/curves` and `results/ensembles.csv`.

    Parameters
    ----------
    joints : sequence of Joint
        Joints of the chain, proximal first.
    per_body_mass : bool
        Divide torques and powers by body mass; their names then end in ``_kg`` and their units in ``/kg``.
    """
    names = [joint.name for joint in joints]
    over, ending = (" over body mass", "_kg") if per_body_mass else ("", "")
    per = ending.replace("_", "/")
    table: list[Column] = []
    for joint in joints:
        sign, name = f"{joint.flexion_name} positive", joint.name
        table += columns(
            {
                f"{name}_flexion_deg": f"{joint.flexion_name} angle of the {name}",
                f"{name}_velocity_deg_s": f"angular velocity of the {name}",
            },
            sign,
        )
        (net,) = columns({f"{name}_torque_nm": f"net {name} torque: the sum of its terms"})
        table += [
            Column(f"{c.name}{ending}", f"{c.unit}{per}", f"{c.definition}{over}", sign)
            for c in (net, *term_columns(name, names))
        ]
        text = f"power of the net {name} torque: torque times angular velocity{over}"
        table.append(Column(f"{name}_power_w{ending}", f"W{per}", text, INTO_SEGMENTS))
    return table
