"""Options of the section `emg`: electromyography."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from limbtorque.study.options.base import Options, option


class Emg(Options):
    """Electromyography beside the predicted activations; see docs/emg.md."""

    channels: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Channel of the recording -> its muscle or muscles of the muscle set, {'Voltage.{S} Hams': hamstrings}; {S}, {s} "
        "and {side} as in marker_sets, {Side} and {SIDE} for Right and RIGHT. Several channels of one muscle are averaged. Empty: no electromyography.",
    )
    signal: Literal["auto", "raw", "envelope"] = option(
        "auto",
        "Content of the channels: 'raw' electromyograms, 'envelope', processed already; 'auto': an envelope where a channel is hardly ever "
        "negative and hardly varies above the lower limit of emg.band_hz.",
    )
    unit: Literal["", "V", "mV", "uV"] = option(
        "", "Unit of channels whose file does not state one; it affects absolute amplitudes only."
    )
    band_hz: tuple[float, float] = option(
        (20.0, 450.0), "Limits of the band-pass; the upper one is without effect above 0.45 of the rate.", "Hz"
    )
    envelope_cutoff_hz: float = option(6.0, "Cut-off of the envelope's low-pass.", "Hz", gt=0.0, le=100.0)
    max_voluntary_files: tuple[str, ...] = option(
        (),
        "Recordings of maximum voluntary contractions, by whose largest envelope a channel is normalised; relative paths start at the "
        "study's folder. Empty: by its own peak in the recording.",
    )
    delay_s: float = option(
        0.04, "Electromechanical delay: envelopes are later by it when compared with activations.", "s", ge=0.0, le=0.2
    )
    max_lag_s: ClassVar[float] = 0.15  # largest shift tried for the lag of an activation
    baseline_s: ClassVar[float] = 0.25  # length of the quietest part of a channel, which onset and offset take as rest
    antagonists: tuple[tuple[str, str], ...] = option(
        (), "Pairs of muscles with co-contraction indices, [[tib_ant, soleus]]; both are in emg.channels."
    )
    file_offset_s: float = option(0.0, "Added to the times of emg_file (trials.csv).", "s", ge=-1e6, le=1e6)

    @field_validator("channels", mode="before", json_schema_input_type=dict[str, str | tuple[str, ...]])
    @classmethod
    def _one_muscle(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {channel: (muscles,) if isinstance(muscles, str) else muscles for channel, muscles in value.items()}

    @field_validator("max_voluntary_files", mode="before", json_schema_input_type=str | tuple[str, ...])
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _agree(self) -> Emg:
        low_hz, high_hz = self.band_hz
        if not 0.0 < low_hz < min(high_hz, 500.0):
            raise ValueError(
                f"band_hz is [{low_hz:g}, {high_hz:g}], expected a limit above 0 Hz and below 500, and a larger one"
            )
        known = self.muscles
        if unknown := sorted({name for pair in self.antagonists for name in pair} - set(known)):
            raise ValueError(
                f"antagonists name {', '.join(unknown)}, which no channel has; the channels are of {', '.join(known)}"
            )
        return self

    @property
    def muscles(self) -> tuple[str, ...]:
        """Muscles of the channels, each once."""
        return tuple(dict.fromkeys(name for names in self.channels.values() for name in names))

    def channels_of(self, side: str) -> dict[str, tuple[str, ...]]:
        """Muscles of each channel's label for a side."""
        letter = side[:1]
        words = {"{S}": letter.upper(), "{s}": letter, "{side}": side}
        words |= {"{Side}": side.capitalize(), "{SIDE}": side.upper()}
        found: dict[str, tuple[str, ...]] = {}
        for label, muscles in self.channels.items():
            for word, text in words.items():
                label = label.replace(word, text)
            found[label] = muscles
        return found
