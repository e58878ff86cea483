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
    "plane": "the plane's direction",
    "plate_gain": "the gain of the plates",
    "plate_offset": "the offset of the plates",
    "pressure": "the centre of pressure",
    "synchronisation": "the synchronisation of plates and cameras",
}
REMEDIES: dict[Source, str] = {
    "segment_mass": "segments weighed or scanned (columns of subjects.csv)",
    "segment_com": "centres of mass of the subject's own (columns of subjects.csv)",
    "segment_inertia": "moments of inertia of the subject's own (columns of subjects.csv)",
    "body_mass": "a better body mass",
    "joint_centres": "more exact joint centres (by imaging, or functional where they come from a regression)",
    "soft_tissue": "markers on bone or on rigid clusters",
    "marker_noise": "less noise, or a higher rate",
    "gaps": "markers that more cameras see",
    "filter": "less noise, and so a higher cut-off",
    "plane": "a plane fitted to the movement, or a measured direction",
    "plate_gain": "calibrated plates",
    "plate_offset": "plates zeroed before the trial",
    "pressure": "a test of the plates' centre of pressure with a rod",
    "synchronisation": "a common trigger",
}

BAND_HEADS = (
    *("chain", "window", "joint", "trials", "size of the peak (N m)", "its sd (N m)", "its 95 % limits (N m)"),
    *(
        "95 % limits over the window (N m)",
        "largest source there",
        "its share (%)",
        "what would help most",
        "narrower by (%)",
    ),
    *("best single input at the peak", "narrower by (%)"),
)
BAND_COLUMNS = (
    *("chain", "window", "joint", "term", "torque_status", "peak_nm", "peak_sd_nm", "peak_low_nm", "peak_high_nm"),
    *("band_rms_nm", "band_main_source", "band_main_share", "peak_main_input", "peak_main_input_share"),
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
    """Size of the peak, its sd and limits, and the half-width over the window."""
    peaks = [_upwards(row) for row in rows if not math.isnan(row["peak_nm"] + row["peak_sd_nm"])]
    half = LIMITS * median(row["band_rms_nm"] for row in rows)
    if not peaks:
        return "", "", "", f"±{_size(half)}"
    size, sd, low, high = (median(values) for values in zip(*peaks, strict=True))
    digits = 0 if high - low >= 10.0 else 1 if high - low >= 1.0 else 2
    return f"{size:.3g}", _size(sd), f"{low + 0.0:.{digits}f} to {high + 0.0:.{digits}f}", f"±{_size(half)}"


def _upwards(row: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Peak, standard deviation and limits, with the sign that makes the peak positive."""
    peak, sd, low, high = (row[name] for name in ("peak_nm", "peak_sd_nm", "peak_low_nm", "peak_high_nm"))
    return (peak, sd, low, high) if peak >= 0.0 else (-peak, sd, -high, -low)


def _main_cells(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Largest source with its remedy, and the best single input at the peak."""
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
    """Name in most rows, its median share there, and in how many where not in all."""
    if not rows:
        return "", math.nan, ""
    found, count = Counter(str(row[name]) for row in rows).most_common(1)[0]
    often = f" (in {count} of {len(rows)})" if count < len(rows) else ""
    return found, median(row[share] for row in rows if row[name] == found), often


def narrower(share: float) -> float:
    """Per cent by which limits shrink without a share of the variance.

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
        Its 95 % limits over the frames, their main source and what is left without it, the error of the peak, and the single
        joint centre that matters most there; none for unknown and rejected torques.
    """
    known = [row for row in rows if row["term"] == "net" and row["joint"] not in rejected]
    return [_sentence(row) for row in known if row["band_main_source"]]


def _sentence(row: Mapping[str, Any]) -> str:
    source: Source = row["band_main_source"]
    share, half = row["band_main_share"], LIMITS * row["band_rms_nm"]
    rest = half * math.sqrt(max(1.0 - share, 0.0))
    return (
        f"{row['joint']}, {row['window']}: the net torque is known to within {_size(half)} N m (95 %, root mean square over the "
        f"frames). {100 * share:.0f} % of the variance is from {NAMES[source]}; with none of these errors at all it would be "
        f"{_size(rest)} N m. What would help most: {REMEDIES[source]}.{_peak(row)}"
    )


def _size(value: float) -> str:
    """Two digits, without an exponent."""
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def _peak(row: Mapping[str, Any]) -> str:
    """Sentence on the peak, and on the joint centre that matters most there."""
    if math.isnan(row["peak_sd_nm"]):
        return ""
    single, sign = row["peak_main_input"], "" if row["peak_sign_certain"] else "; its sign is not certain"
    best = (
        f" There, an exact {single} alone would make the limits {narrower(row['peak_main_input_share']):.0f} % narrower."
        if single and single not in NAMES
        else ""
    )
    return f" Standard deviation of the peak of {row['peak_nm']:.3g} N m: {_size(row['peak_sd_nm'])} N m{sign}.{best}"
