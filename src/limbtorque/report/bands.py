"""Sentences on the uncertainty of peak torques, its main source and its remedy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    narrower = 100 * (1.0 - math.sqrt(max(1.0 - row["peak_main_input_share"], 0.0))) if single else 0.0
    best = (
        f" There, an exact {single} alone would make the limits {narrower:.0f} % narrower."
        if single and single not in NAMES
        else ""
    )
    return f" Standard deviation of the peak of {row['peak_nm']:.3g} N m: {_size(row['peak_sd_nm'])} N m{sign}.{best}"
