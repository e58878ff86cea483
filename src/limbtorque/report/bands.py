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
    "joint_centres": "better joint centres (functional, or by imaging)",
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


def band_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on the net torque of each joint and window.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the summary, flexion positive, with the columns of their uncertainty.

    Returns
    -------
    list of str
        Its 95 % limits over the frames, their main source and what is left without it, the error of the peak, and the single
        joint centre that matters most there; none for unknown torques.
    """
    return [_sentence(row) for row in rows if row["term"] == "net" and row["band_main_source"]]


def _sentence(row: Mapping[str, Any]) -> str:
    source: Source = row["band_main_source"]
    share, half = row["band_main_share"], LIMITS * row["band_rms_nm"]
    rest = half * math.sqrt(max(1.0 - share, 0.0))
    return (
        f"{row['joint']}, {row['window']}: the net torque is known to within {half:.2g} N m (95 %, root mean square over the "
        f"frames). {100 * share:.0f} % of the variance is from {NAMES[source]}; without these errors it would be {rest:.2g} N m: "
        f"{REMEDIES[source]} would help most.{_peak(row)}"
    )


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
    return f" Standard deviation of the peak of {row['peak_nm']:.3g} N m: {row['peak_sd_nm']:.2g} N m{sign}.{best}"
