"""Columns of the study's tables: summary, curves, comparison, dictionary."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.study.chains import Joint
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.tables.column import (
    FIRST_ORDER,
    FLEXION,
    GROUP_COLUMNS,
    INTO_SEGMENTS,
    MECHANICAL,
    MUSCLE_STATUS,
    N_REJECTED,
    OF_UNIT,
    SIZE,
    SPREAD_OVER,
    TOO_FEW,
    TORQUE_STATUS,
    TRIAL_COLUMNS,
    Column,
)
from limbtorque.tables.frame_columns import term_columns

_JOINT = Column("joint", "", "joint", kind=str)
_TERM = Column("term", "", "net torque or one of its terms", kind=str)
WINDOW = Column(
    "window",
    "",
    "frames of the row: movement, events, cycles or trial (the window of the curves, windows.csv; trial also where a trial has none), or "
    "stance, the part of it in which the limb meets the ground",
    kind=str,
)
_USED_SHARE = Column(
    "used_share",
    "1",
    "share of the frames of the window that were used; below ensembles.min_known_share the rest is empty",
)
STANCE = "stance"  # in the column window
_TORQUES = ("_nm", "_nms", "_w", "_j")
MEASURED = (
    Column("peak_nm", "N m", "value of largest magnitude", MECHANICAL),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("max_nm", "N m", "maximum", MECHANICAL),
    Column("max_time_s", "s", "time of the maximum from the first frame of the recording"),
    Column("min_nm", "N m", "minimum", MECHANICAL),
    Column("min_time_s", "s", "time of the minimum from the first frame of the recording"),
    Column("mean_nm", "N m", "mean", MECHANICAL),
    Column("rms_nm", "N m", "root mean square"),
    Column("impulse_nms", "N m s", "time integral over the frames used", MECHANICAL),
    Column("peak_power_w", "W", "power of this torque of largest magnitude", INTO_SEGMENTS),
    Column("max_power_w", "W", "maximum power of this torque: generation", INTO_SEGMENTS),
    Column("min_power_w", "W", "minimum power of this torque: absorption", INTO_SEGMENTS),
    Column("positive_work_j", "J", "time integral of the positive power"),
    Column("negative_work_j", "J", "time integral of the negative power"),
)
STATISTICS = (
    *MEASURED,
    *(
        Column(f"{c.name}_kg", f"{c.unit}/kg", f"{c.definition}, over body mass", c.sign)
        for c in MEASURED
        if c.name.endswith(_TORQUES)
    ),
)
_SD = "standard deviation of {} by the errors of the section uncertainty, {}"
_LIMIT = "{} 95 % limit of {}"
_SAMPLES = "of the samples; empty without uncertainty.samples"
_SHARED = "share of the variance of {} by errors that all trials of {} have in common: they do not average out over these trials"
_CERTAIN = "1 where both 95 % limits of {} have its sign, else 0"


def _bands(name: str, unit: str, *, signs: bool) -> list[Column]:
    """Columns of the uncertainty of a statistic."""
    start = name.rsplit("_", 1)[0]
    return [
        *_limits(name, unit, FIRST_ORDER, MECHANICAL),
        *([Column(f"{start}_sign_certain", "1", _CERTAIN.format(name))] if signs else []),
        Column(f"{start}_shared_by_study", "1", _SHARED.format(name, "the study")),
        Column(f"{start}_shared_by_subject", "1", _SHARED.format(name, "a subject alone")),
    ]


def _limits(name: str, unit: str, how: str, sign: str = "") -> list[Column]:
    """Columns of the standard deviation and the limits of a statistic."""
    start, end = name.rsplit("_", 1)
    return [
        Column(f"{start}_sd_{end}", unit, _SD.format(name, how), SIZE),
        Column(f"{start}_low_{end}", unit, _LIMIT.format("lower", name), sign),
        Column(f"{start}_high_{end}", unit, _LIMIT.format("upper", name), sign),
    ]


BANDS = (
    *_bands("peak_nm", "N m", signs=True),
    *_bands("max_nm", "N m", signs=False),
    *_bands("min_nm", "N m", signs=False),
    *_bands("mean_nm", "N m", signs=True),
    *_bands("impulse_nms", "N m s", signs=False),
    *(
        band
        for c in MEASURED
        if c.name.endswith(("_time_s", "_w", "_j"))
        for band in _limits(c.name, c.unit, _SAMPLES, c.sign)
    ),
    Column(
        "band_rms_nm",
        "N m",
        "standard deviation of this torque by the errors of the section uncertainty, to first order: root mean square over the "
        "frames used",
        SIZE,
    ),
    Column(
        "band_main_source", "", "source of error with the largest share of the variance over these frames", kind=str
    ),
    Column("band_main_share", "1", "its share of that variance"),
    Column("peak_main_source", "", "source of error with the largest share of the variance of peak_nm", kind=str),
    Column(
        "peak_main_input",
        "",
        "landmark of the joint centre, or else source of error, with the largest share of the variance of peak_nm; of net torques",
        kind=str,
    ),
    Column("peak_main_input_share", "1", "its share of that variance, to first order"),
    *(
        Column(f"peak_share_{source}", "1", f"share of the variance of peak_nm by {source} (uncertainty.off names all)")
        for source in SOURCES
    ),
)
# Statistics whose uncertainty is that of the samples where there are some: all but the root mean square.
SAMPLED = tuple(c.name for c in MEASURED if c.name != "rms_nm")
SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    WINDOW,
    _JOINT,
    _TERM,
    Column("positive_is", "", "anatomical direction of a positive torque at this joint in this trial", kind=str),
    Column("n_frames", "1", "number of frames used: torque known, no edge effects", kind=int),
    _USED_SHARE,
    Column(
        "loaded_share",
        "1",
        "share of the used frames with a known external load (external_status 1), such as a measured stance",
    ),
    Column("peak_sense", "", "anatomical direction of the torque at its peak", kind=str),
    Column(
        "peak_at_gap",
        "1",
        "1 where a frame next to the peak was not used: the peak is the largest known value, and the true one may be larger",
        kind=int,
    ),
    *STATISTICS,
    *BANDS,
)
_FORCES = (
    Column("peak_n", "N", "largest force", "tension positive"),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("peak_activation", "1", "largest activation"),
    Column("mean_n", "N", "mean force", "tension positive"),
    Column("impulse_ns", "N s", "time integral of the force over the frames used"),
    Column("min_impulse_ns", "N s", "time integral of the least possible force"),
    Column("max_impulse_ns", "N s", "time integral of the greatest possible force"),
)
SAMPLED_FORCES = ("peak_n", "mean_n", "impulse_ns")
MUSCLE_STATISTICS = (
    *_FORCES,
    *(band for c in _FORCES if c.name in SAMPLED_FORCES for band in _limits(c.name, c.unit, _SAMPLES, c.sign)),
)
MUSCLE_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    WINDOW,
    Column("muscle_set", "", "muscle set", kind=str),
    Column("criterion", "", "quantity minimised by static optimization", kind=str),
    Column("muscle", "", "muscle", kind=str),
    Column("strength_n", "N", "maximum isometric force, scaled to the subject where muscles.scale has strength"),
    Column(
        "n_frames",
        "1",
        "number of frames used: force known, no edge effects, inside the range of moment arms and fibre curves",
        kind=int,
    ),
    _USED_SHARE,
    *MUSCLE_STATISTICS,
)
_ANY, _LIMITED = "at the same torques", "at the same torques with limited effort"
CONTACT_STATISTICS = (
    Column("peak_bw", "1", "largest contact force over body weight"),
    Column("peak_time_s", "s", "time of the peak from the first frame of the recording"),
    Column("min_peak_bw", "1", f"largest of the least possible contact forces over body weight, {_ANY}"),
    Column("max_peak_bw", "1", f"largest of the greatest possible contact forces over body weight, {_ANY}"),
    Column("effort_min_peak_bw", "1", f"largest of the least contact forces over body weight, {_LIMITED}"),
    Column("effort_max_peak_bw", "1", f"largest of the greatest contact forces over body weight, {_LIMITED}"),
    Column("mean_bw", "1", "mean contact force over body weight"),
    Column("effort_range_bw", "1", f"median width of the range of the contact force over body weight, {_LIMITED}"),
)
CONTACT_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    WINDOW,
    _JOINT,
    Column("n_frames", "1", "number of frames used: contact force known, no edge effects", kind=int),
    _USED_SHARE,
    *CONTACT_STATISTICS,
)
FLEXION_SIGNED = tuple(
    f"{name}{per}" for name in ("peak_nm", "max_nm", "min_nm", "mean_nm", "impulse_nms") for per in ("", "_kg")
)
_OVER = "over the units of spread_over"
_MIXED = "; empty for peaks, and times of peaks, that are positive in some trials and negative in others"
_CONDITION_SIGN = f"torques (peak_nm, max_nm, min_nm, mean_nm, impulse_nms, also over body mass): {FLEXION}; power and work: energy into the segments"
CONDITION_SUMMARY_COLUMNS = (
    *GROUP_COLUMNS,
    WINDOW,
    _JOINT,
    _TERM,
    Column("statistic", "", "column of summary.csv", kind=str),
    Column("unit", "", "unit of the statistic", kind=str),
    SPREAD_OVER,
    Column("mean", OF_UNIT, f"mean {_OVER}{TOO_FEW}{_MIXED}", _CONDITION_SIGN),
    Column("sd", OF_UNIT, f"standard deviation (n - 1) {_OVER}{TOO_FEW}{_MIXED}"),
    Column(
        "mean_error",
        OF_UNIT,
        "standard deviation of the mean by the errors of the section uncertainty, apart from sd: errors that trials of a subject "
        "or of the study share do not average out; empty for rms_nm, times, powers and works",
        SIZE,
    ),
    Column("median", OF_UNIT, f"median {_OVER}{TOO_FEW}{_MIXED}", _CONDITION_SIGN),
    Column("min", OF_UNIT, f"minimum {_OVER}{TOO_FEW}; over the trials for peaks of both signs", _CONDITION_SIGN),
    Column("max", OF_UNIT, f"maximum {_OVER}{TOO_FEW}; over the trials for peaks of both signs", _CONDITION_SIGN),
    Column("n_subjects", "1", "number of subjects with a value", kind=int),
    Column("n_trials", "1", "number of trials with a value", kind=int),
    N_REJECTED,
    Column(
        "min_used_share",
        "1",
        "smallest used_share of these trials; trials with very different shares are not comparable",
    ),
    Column("max_used_share", "1", "largest used_share of these trials"),
    Column(
        "n_unloaded",
        "1",
        "number of trials of the group left out because no frame has a known external load while other trials have one: their stance was not measured",
        kind=int,
    ),
)


DICTIONARY_COLUMNS = (
    Column("table", "", "table of the column", kind=str),
    Column("column", "", "name of the column", kind=str),
    Column("unit", "", "unit; 1 for a pure number, empty for text", kind=str),
    Column("definition", "", "definition of the quantity", kind=str),
    Column("sign", "", "meaning of a positive value", kind=str),
)


_QUANTITY = (
    Column("quantity", "", "quantity, defined in table curves.quantity of the data dictionary", kind=str),
    Column("unit", "", "unit of the quantity", kind=str),
    Column("percent", "%", "point of the window, from 0 at its start to 100 at its end (windows.csv)"),
)
_CURVE_SIGN = f"angles, velocities, torques: {FLEXION}; powers: energy into the segments"
_BY_ERRORS = "standard deviation of value by errors of the inputs that"
_KNOWN = "of net torques of trials with torques.bands, else empty"
OWNERS = (  # in the order of `uncertainty.bands.OWNERS`
    Column("sd_by_study", OF_UNIT, f"{_BY_ERRORS} all trials of the study share; {_KNOWN}"),
    Column("sd_by_subject", OF_UNIT, f"{_BY_ERRORS} the trials of a subject share; {_KNOWN}"),
    Column("sd_by_trial", OF_UNIT, f"{_BY_ERRORS} are of this trial alone; {_KNOWN}"),
)
CURVE_COLUMNS = (
    *TRIAL_COLUMNS,
    *_QUANTITY,
    Column(
        "value",
        OF_UNIT,
        "value of the quantity, interpolated between frames by cubic splines; empty where a neighbouring frame has no value or has edge effects (column edge)",
        _CURVE_SIGN,
    ),
    *OWNERS,
)
ENSEMBLE_COLUMNS = (
    *GROUP_COLUMNS,
    *_QUANTITY,
    SPREAD_OVER,
    Column("mean", OF_UNIT, f"mean over the units of spread_over{TOO_FEW}", _CURVE_SIGN),
    Column("sd", OF_UNIT, f"standard deviation (n - 1) over the units of spread_over{TOO_FEW}"),
    Column(
        "mean_error",
        OF_UNIT,
        "standard deviation of the mean by errors of the inputs, apart from sd; those that trials share are not averaged away; of "
        "net torques of trials with torques.bands, else empty",
    ),
    Column("n_subjects", "1", "number of subjects with a value at this point", kind=int),
    Column("n_trials", "1", "number of trials with a value at this point", kind=int),
    N_REJECTED,
)
WINDOW_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    Column("window", "", "definition of 0 to 100 %: movement, events, cycles or trial", kind=str),
    Column("start_s", "s", "start of the window, from the first frame of the recording"),
    Column("end_s", "s", "end of the window, from the first frame of the recording"),
    Column(
        "cycle",
        "1",
        "number of the window between events, or of the cycle, that was used (ensembles.cycle), from 1; 0 where there is none",
        kind=int,
    ),
    Column("n_cycles", "1", "number of such windows in the analysed frames", kind=int),
    Column(
        "events",
        "",
        "source of the events: file, or the method that found foot strikes and offs (docs/events.md); empty for windows without events",
        kind=str,
    ),
    Column("known_share", "1", "share of the points of the curve with a known torque"),
    Column("included", "1", "1 where the trial is in curves and ensembles", kind=int),
    Column("rejected_joints", "", "joints left out because their torques were rejected", kind=str),
    Column("note", "", "reason why the trial was left out, or the missing part of its curve", kind=str),
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
    columns = []
    for joint in joints:
        sign, name = f"{joint.flexion_name} positive", joint.name
        columns += [
            Column(f"{name}_flexion_deg", "deg", f"{joint.flexion_name} angle of the {name}", sign),
            Column(f"{name}_velocity_deg_s", "deg/s", f"angular velocity of the {name}", sign),
        ]
        net = Column(f"{name}_torque_nm", "N m", f"net {name} torque: the sum of its terms")
        columns += [
            Column(f"{c.name}{ending}", f"{c.unit}{per}", f"{c.definition}{over}", sign)
            for c in (net, *term_columns(name, names))
        ]
        text = f"power of the net {name} torque: torque times angular velocity{over}"
        columns.append(Column(f"{name}_power_w{ending}", f"W{per}", text, INTO_SEGMENTS))
    return columns


_BESIDE_SIGN = FLEXION + "; power: positive is generation"
BESIDE_FILE_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    Column("joint", "", "joint", kind=str),
    Column("quantity", "", "angle, torque (net) or power", kind=str),
    Column("unit", "", "unit of rms, mean_difference, peak and file_peak: torques and powers per body mass", kind=str),
    Column("n_frames", "1", "frames of the trial's window with both results, without edge effects", kind=int),
    Column("start_s", "s", "time of the first of these frames"),
    Column("end_s", "s", "time of the last of these frames"),
    Column("r", "1", "correlation of our result with the file's"),
    Column("rms", OF_UNIT, "root mean square of the difference, an offset included"),
    Column("mean_difference", OF_UNIT, "mean of our result minus the file's", _BESIDE_SIGN),
    Column("peak", OF_UNIT, "extreme of our result in the direction of file_peak", _BESIDE_SIGN),
    Column("file_peak", OF_UNIT, "value of largest magnitude of the file's result", _BESIDE_SIGN),
    Column("peak_ratio", "1", "peak over file_peak"),
    Column("file_label", "", "label of the angle, moment or power in the file", kind=str),
    Column("file_unit", "", "its unit as the file states it", kind=str),
    Column("file_per_kg", "1", "1 where the file's numbers are per kilogram of body mass", kind=int),
    Column(
        "file_sign",
        "1",
        "factor that makes the file's number flexion positive, from the file's own power and from our angle; 1 for powers",
        kind=int,
    ),
    Column("file_convention", "", "convention of the file's numbers", kind=str),
)
