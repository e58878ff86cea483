"""Sentences and a table on the uncertainty of net torques."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from limbtorque.study.options.uncertainty import Source
from limbtorque.uncertainty.bands import LIMITS

NAMES: dict[Source, str] = {
    "segment_mass": "segment masses",
    "segment_com": "centres of mass",
    "segment_inertia": "moments of inertia",
    "body_mass": "body mass",
    "joint_centres": "joint centres",
    "soft_tissue": "soft tissue",
    "marker_noise": "marker noise",
    "gaps": "filled gaps",
    "filter": "the filter",
    "plane": "the plane",
    "plate_gain": "the gain of the plates",
    "plate_offset": "the offset of the plates",
    "pressure": "the centre of pressure",
    "synchronisation": "the synchronisation of plates and cameras",
}
REMEDIES: dict[Source, str] = {
    "segment_mass": "measured segment masses (columns of subjects.csv)",
    "segment_com": "measured centres of mass (columns of subjects.csv)",
    "segment_inertia": "measured moments of inertia (columns of subjects.csv)",
    "body_mass": "a better body mass",
    "joint_centres": "more accurate joint centres (by imaging, or functional instead of a regression)",
    "soft_tissue": "markers on bone or on rigid clusters",
    "marker_noise": "less noise, or a higher rate",
    "gaps": "markers visible to more cameras",
    "filter": "a higher cut-off: less noise, or a higher filter.max_cutoff_hz or filter.cutoff_hz where that limits it",
    "plane": "another plane (plane.kind), or moments about the flexion axes (torques.in_space)",
    "plate_gain": "calibrated plates",
    "plate_offset": "plates zeroed before the trial",
    "pressure": "a test of the plates' centre of pressure with a rod",
    "synchronisation": "a common trigger",
}

BAND_HEADS = (
    *("chain", "window", "joint", "trials", "size of the peak (N m)", "its sd (N m)", "its 95 % limits (N m)"),
    *("95 % limits over the window (N m)", "largest source there", "its share (%)", "most useful improvement"),
    *("narrower by (%)", "best single input at the peak", "narrower by (%)"),
)
BAND_COLUMNS = (
    *("trial", "chain", "window", "joint", "term", "torque_status", "peak_nm", "peak_sd_nm", "peak_low_nm"),
    *("peak_high_nm", "band_rms_nm", "band_main_source", "band_main_share", "peak_main_input", "peak_main_input_share"),
)


def band_table(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Cells of `BAND_HEADS` for every chain, window and joint of a study.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of the summary with `BAND_COLUMNS`.

    Returns
    -------
    list of tuple of str
        Medians over the trials with a band and a torque that is not rejected. The largest source is that of most trials, with
        the median of its share in these.
    """
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["term"] == "net" and row["torque_status"] != "rejected" and row["band_main_source"]:
            groups.setdefault((row["chain"], row["window"], row["joint"]), []).append(row)
    return [(*group, str(len(some)), *_medians(some), *_main_cells(some)) for group, some in groups.items()]


def _medians(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Magnitude of the peak, its sd and limits, and the half-width over the window."""
    peaks = [_upwards(row) for row in rows if not math.isnan(row["peak_nm"] + row["peak_sd_nm"])]
    half = LIMITS * median(row["band_rms_nm"] for row in rows)
    if not peaks:
        return "", "", "", f"±{_size(half)}"
    size, sd, low, high = (median(values) for values in zip(*peaks, strict=True))
    digits = 0 if high - low >= 10.0 else 1 if high - low >= 1.0 else 2
    return f"{size:.3g}", _size(sd), f"{low + 0.0:.{digits}f} to {high + 0.0:.{digits}f}", f"±{_size(half)}"


def _upwards(row: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Peak, standard deviation and limits, with the peak made positive."""
    peak, sd, low, high = (row[name] for name in ("peak_nm", "peak_sd_nm", "peak_low_nm", "peak_high_nm"))
    return (peak, sd, low, high) if peak >= 0.0 else (-peak, sd, -high, -low)


def _main_cells(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Largest source with its remedy, and the most influential input at the peak."""
    source, share, often = _most(rows, "band_main_source", "band_main_share")
    known: Source = source  # type: ignore[assignment]
    single, at_peak, how_often = _most(
        [row for row in rows if row["peak_main_input"]], "peak_main_input", "peak_main_input_share"
    )
    name = NAMES.get(single, single.replace("_", " ")) if single else ""  # type: ignore[call-overload]
    return (
        f"{NAMES[known]}{often}",
        f"{100.0 * share:.0f}",
        REMEDIES[known],
        f"{narrower(share):.0f}",
        f"{name}{how_often}",
        f"{narrower(at_peak):.0f}" if single else "",
    )


def _most(rows: Sequence[Mapping[str, Any]], name: str, share: str) -> tuple[str, float, str]:
    """Most frequent name, its median share, and its number of rows if not all."""
    if not rows:
        return "", math.nan, ""
    found, count = Counter(str(row[name]) for row in rows).most_common(1)[0]
    often = f" (in {count} of {len(rows)})" if count < len(rows) else ""
    return found, median(row[share] for row in rows if row[name] == found), often


def narrower(share: float) -> float:
    """Reduction of the limits, %, without a given share of the variance.

    >>> round(narrower(0.64))
    40
    """
    return 100.0 * (1.0 - math.sqrt(max(1.0 - share, 0.0)))


def band_sentences(rows: Sequence[Mapping[str, Any]], rejected: Sequence[str] = ()) -> list[str]:
    """Sentences on the net torque of each joint and window.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the summary, flexion positive, with the columns of their uncertainty.
    rejected : sequence of str, optional
        Joints whose torques are rejected: limits say nothing where a fault of the recording is larger than they are.

    Returns
    -------
    list of str
        Its 95 % limits over the frames, their main source and what is left without it, the error of the peak with its own
        main source, and the single joint centre that matters most there; none for unknown and rejected torques.
    """
    known = [row for row in rows if row["term"] == "net" and row["joint"] not in rejected and row["band_main_source"]]
    return [_window(row) + _peak(row) for row in known]


def _window(row: Mapping[str, Any]) -> str:
    """Sentences on the band over the window."""
    source: Source = row["band_main_source"]
    share, half = row["band_main_share"], LIMITS * row["band_rms_nm"]
    rest = half * math.sqrt(max(1.0 - share, 0.0))
    return (
        f"{row['joint']}, {row['window']}: the net torque is known to within {_size(half)} N m (95 %, root mean square over the "
        f"frames). {100 * share:.0f} % of the variance is from {NAMES[source]}; without these errors it would be "
        f"{_size(rest)} N m. Most useful improvement: {REMEDIES[source]}."
    )


def _peak(row: Mapping[str, Any]) -> str:
    """Sentences on the peak, its largest source, and a competing peak."""
    if math.isnan(row["peak_sd_nm"]):
        return ""
    sign = "" if row["peak_sign_certain"] else "; its sign is not certain"
    found = [f"Standard deviation of the peak of {row['peak_nm']:.3g} N m: {_size(row['peak_sd_nm'])} N m{sign}."]
    sampled = not math.isnan(row.get("peak_time_sd_s", math.nan))
    source: Source = row["peak_main_source"]
    if source and source != row["band_main_source"]:
        by = ", by the linear bands," if sampled else ""
        share = 100.0 * row[f"peak_share_{source}"]
        found.append(
            f"At the peak{by} {share:.0f} % is from {NAMES[source]}; there, the most useful improvement is: {REMEDIES[source]}."
        )
    single = row["peak_main_input"]
    if single and single not in NAMES and not sampled:  # its share is of the linear limits, not of the sampled ones
        less = narrower(row["peak_main_input_share"])
        found.append(f"There, an exact {single} alone would make the limits {less:.0f} % narrower.")
    return "".join(f" {text}" for text in found) + ("" if sampled else _other_peak(row))


def _other_peak(row: Mapping[str, Any]) -> str:
    """Sentence on an extreme of opposite sign that may be the peak.

    Empty unless the limits of both magnitudes overlap.
    """
    peak, other = ("max", "min") if row["peak_nm"] >= 0.0 else ("min", "max")
    turn = 1.0 if peak == "max" else -1.0
    least = turn * row[f"{peak}_{'low' if turn > 0.0 else 'high'}_nm"]
    most = -turn * row[f"{other}_{'low' if turn > 0.0 else 'high'}_nm"]
    if not (most > least and turn * row[f"{other}_nm"] < 0.0):
        return ""
    return (
        f" The torque of {row[f'{other}_nm']:.3g} N m at {row[f'{other}_time_s']:.3g} s may be the larger one, given the limits of "
        "both; limits from uncertainty.samples account for this."
    )


def _size(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"
