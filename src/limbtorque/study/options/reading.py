"""Options of the section `reading`: how recordings are read."""

from __future__ import annotations

from typing import Literal

from limbtorque.study.options.base import Options, option


class Reading(Options):
    """Reading of recordings."""

    memory_limit_mb: int = option(2048, "Memory the reading process may use for one file.", "MB", ge=128)
    time_limit_s: float = option(120.0, "Time the reading of one file may take.", "s", gt=0.0)
    max_speed_m_s: float = option(40.0, "Speed no joint centre can have.", "m/s", gt=0.0)
    length_unit: Literal["mm", "cm", "m"] | None = option(
        None, "Unit of positions, for files that do not say it, or say it wrongly; it holds whatever the file says."
    )
    force_unit: Literal["N", "kN"] | None = option(None, "Unit of forces in text files that do not say it.")
    rate_hz: float | None = option(
        None, "Frames per second of text files without times; other files have to agree with it.", "Hz", gt=0.0
    )
    text_encoding: str | None = option(
        None, "Encoding of text that is not UTF-8, by Python's name, e.g. 'shift_jis'; null: Windows-1252, a guess."
    )
    forces_length_unit: Literal["mm", "cm", "m"] | None = option(
        None, "The same as length_unit for the file of the column forces_file, for which length_unit does not hold."
    )
    forces_offset_s: float | None = option(
        None, "Added to the times of forces_file, where they are not of the same clock as the markers'.", "s"
    )
    strict: bool = option(False, "Refuse a file of which anything has to be guessed; the error lists the guesses.")
