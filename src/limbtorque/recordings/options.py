"""Options of the readers, for properties that a file does not state."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class ReadOptions:
    """Options of every reader; the settings' section `reading` has the same names.

    Attributes
    ----------
    length_unit : {"mm", "cm", "m"}, optional
        Unit of positions; where it is given it holds, whatever the file says.
    marker_names : {"labels", "descriptions"}
        Parameter of a C3D file that names its markers.
    force_unit : {"N", "kN"}, optional
        Unit of forces in text files that do not say it.
    rate_hz : float, optional
        Frames per second of text files that have no time; elsewhere it has to agree with the file.
    text_encoding : str, optional
        Encoding of text that is not UTF-8, by Python's name, e.g. ``"shift_jis"``.
    strict : bool
        Refuse a file of which anything has to be guessed.
    memory_limit_mb : float
        Most memory that reading may take, MB.
    metres_per_pixel : float, optional
        Scale of two-dimensional keypoints, m.
    known_length_m : float, optional
        Length between two keypoints, which gives that scale, m.
    known_length_between : pair of str, optional
        The two keypoints.
    min_confidence : float
        Confidence below which a keypoint is missing.
    keypoints : str, optional
        Order of keypoints without names, a key of `keypoints.layouts.LAYOUTS`; None: by their number.
    forces_length_unit : {"mm", "cm", "m"}, optional
        The same as ``length_unit`` for a second file with the force plates.
    forces_rate_hz : float, optional
        The same as ``rate_hz`` for that file.
    forces_offset_s : float, optional
        Added to the times of that file, s.
    analog_only : bool
        Only the analog channels are read, as of a file of electromyography: positions and forces are left out, and their units
        are not needed. It is not an option of the settings.
    """

    length_unit: str | None = None
    marker_names: str = "labels"
    force_unit: str | None = None
    rate_hz: float | None = None
    text_encoding: str | None = None
    strict: bool = False
    memory_limit_mb: float = math.inf
    metres_per_pixel: float | None = None
    known_length_m: float | None = None
    known_length_between: tuple[str, str] | None = None
    min_confidence: float = 0.3
    keypoints: str | None = None
    forces_length_unit: str | None = None
    forces_offset_s: float | None = None
    forces_rate_hz: float | None = None
    analog_only: bool = False

    @classmethod
    def of(cls, reading: Any, *, analog_only: bool = False) -> ReadOptions:
        """Create from the section `reading` of the settings."""
        stated = {field.name: getattr(reading, field.name) for field in fields(cls) if field.name != "analog_only"}
        return cls(**stated, analog_only=analog_only)


NO_OPTIONS = ReadOptions()
