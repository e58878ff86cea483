"""Sections `muscles` and `emg`: static optimization, electromyography."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from limbtorque.study.options.base import ONE_OR_MORE, Options, number_of, option

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Muscles(Options):
    """Muscle forces by static optimization; see docs/muscles.md."""

    enabled: bool = option(True, "Compute muscle forces by static optimization.")
    sets: dict[str, str] = option({})
    """Muscle set of a chain in place of its default, {arm: pairs}: a built-in name (arm, leg, pairs) or a file in the
    study."""
    criterion: Literal["activation", "stress", "volume"] = "activation"
    """Quantity that is minimised: 'activation', force over strength; 'stress', force over physiological cross-sectional
    area (the muscle set needs pcsa_cm2); 'volume', activation weighted by muscle volume, strength times optimal fibre
    length (the set needs optimal_fibre_length_m)."""
    exponent: float | Literal["min_max"] = option(2.0, unit="1", allowed="1 to 10 | min_max")
    """Exponent of the minimised sum of powers, from 1 to 10; 'min_max': the largest value is minimised, then the next,
    and so on."""
    weights: dict[str, Annotated[float, Field(gt=0.0)]] = option({})
    """Weight of a muscle in the sum, {soleus: 2}, or {leg.soleus: 2} for the set leg only; 1 where not given."""
    change_time_s: float = option(0.0, unit="s", ge=0.0, le=10.0)
    """Cost of change: the rate of each activation times this time counts like the activation itself, over all frames of
    a trial together; 0: none. With exponent 2, and without priced reserve."""
    emg_weight: float = option(0.0, unit="1", ge=0.0, le=1e6)
    """Weight of the squared difference between an activation and its envelope (emg.channels), relative to the squared
    activation; 0: electromyography does not affect muscle forces. With exponent 2."""
    min_activation: float = option(0.0, "Lower bound of the activation of every muscle.", "1", ge=0.0, lt=1.0)
    activation_bounds: dict[str, tuple[Share, Share]] = option({})
    """Least and largest activation of a muscle, {soleus: [0.1, 0.8]}, named as for weights; the muscle set's where not
    given."""
    reserve: float | Literal["least", "none"] = option("least", unit="N m", allowed="least | none | > 0.0")
    """Torque beyond the muscles' capacity: 'least', only where the muscles cannot produce the torque, and as small as
    possible; 'none', no muscle forces in such frames; a number, N m, everywhere, at a price: that torque costs as much
    as one fully active muscle of weight 1 (criterion: activation)."""
    co_contraction: float = option(0.0, unit="1", ge=0.0, le=1.0)
    """Least activation of every muscle, as a fraction of the largest activation at the joints it crosses without
    co-contraction; the added cost is a column."""
    ranges: bool = True
    """Compute the least and greatest force of each muscle that is compatible with the same torques."""
    force_length_velocity: bool = False
    """Strength depends on fibre length and velocity, and passive tension is subtracted from the torque (De Groote et
    al. 2016); muscles without fibre parameters have constant strength."""
    tendon: Literal["rigid", "compliant"] = "rigid"
    """'compliant': fibres in equilibrium with a tendon that stretches (muscles.force_length_velocity); 'rigid': tendons
    keep their slack length."""
    tendon_strain: dict[str, Annotated[float, Field(gt=0.0, le=0.2)]] = option({})
    """Strain of a muscle's tendon at its strength, {soleus: 0.08}, named as for weights; the muscle set's, or 0.049 (De
    Groote et al. 2016), where not given."""
    passive_moments: Literal["none", "riener_edrich", "anderson"] = "none"
    """Passive moments of hip, knee and ankle, subtracted from the torque: 'riener_edrich', ligaments, capsules and
    relaxed muscles (Riener and Edrich 1999); 'anderson', ligaments only (Anderson 1999)."""
    scale: Annotated[tuple[Literal["moment_arms", "strength"], ...], ONE_OR_MORE] = ()
    """Scaling to the subject, relative to the muscle set's reference: 'moment_arms', and lengths, by the segment distal
    to the joint; 'strength', by body mass."""
    strength_factors: dict[str, dict[str, Annotated[float, Field(gt=0.0, le=100.0)]]] = option({})
    """Factor of a muscle's strength by subject, {S01: {soleus: 0.6}}, such as `limbtorque strength` finds from maximal
    trials; muscles are named as for weights; 1 where not given."""
    contact_forces: bool = False
    """Compute the force in each joint for which the lines of action of all muscles crossing it are known; with
    muscles.ranges also its least and greatest value at the same torques."""

    @field_validator("exponent", mode="before")
    @classmethod
    def _number_or_limit(cls, value: Any) -> Any:
        number = number_of(value)
        if value != "min_max" and not 1.0 <= number <= 10.0:
            raise ValueError("expected a number from 1 to 10, or min_max")
        return value if value == "min_max" else number

    @field_validator("reserve", mode="before")
    @classmethod
    def _price(cls, value: Any) -> Any:
        number = number_of(value)
        if value not in ("least", "none") and not number > 0.0:
            raise ValueError(
                "expected 'least', 'none', or a price: the torque in N m that costs as much as an active muscle"
            )
        return value if value in ("least", "none") else number

    @field_validator("activation_bounds", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        pairs = value.items() if isinstance(value, dict) else ()
        if wrong := [name for name, pair in pairs if not (isinstance(pair, list | tuple) and len(pair) == 2)]:
            raise ValueError(f"{wrong[0]}: expected its least and largest activation, such as [0.1, 0.8]")
        return value

    @model_validator(mode="after")
    def _agree(self) -> Muscles:
        min_max, priced = self.exponent == "min_max", isinstance(self.reserve, float)
        changing, compliant, fibres = self.change_time_s > 0.0, self.tendon == "compliant", self.force_length_velocity
        square = f"needs exponent 2, the exponent is {self.exponent}; set {{0}}: 0, or exponent: 2"
        faults = {
            "weights have no effect with exponent min_max; remove them": min_max and bool(self.weights),
            "a price of the reserve has no effect with exponent min_max: use 'least' or 'none'": min_max and priced,
            "criterion 'volume' has no effect with exponent min_max; choose another criterion": min_max
            and self.criterion == "volume",
            **{
                f"{name} {square.format(name)}": getattr(self, name) > 0.0 and self.exponent != 2.0
                for name in ("change_time_s", "emg_weight")
            },
            "change_time_s cannot be combined with a price of the reserve: use 'least' or 'none'": changing and priced,
            "tendon: compliant cannot be combined with change_time_s or emg_weight; set tendon: rigid": compliant
            and (changing or self.emg_weight > 0.0),
            "a compliant tendon needs fibres: set force_length_velocity: true, or leave tendon: rigid": not fibres
            and (compliant or bool(self.tendon_strain)),
            "tendon_strain has no effect with tendon: rigid; set tendon: compliant, or remove it": not compliant
            and bool(self.tendon_strain),
            "passive_moments: riener_edrich includes the passive muscle tension, which force_length_velocity also "
            "subtracts; use passive_moments: anderson": fibres and self.passive_moments == "riener_edrich",
            **{
                f"activation_bounds of {muscle}: least {least} is above largest {largest}": least > largest
                for muscle, (least, largest) in self.activation_bounds.items()
            },
        }
        for fault, is_so in faults.items():
            if is_so:
                raise ValueError(fault)
        return self


class Emg(Options):
    """Electromyography beside the predicted activations; see docs/emg.md."""

    channels: dict[str, tuple[str, ...]] = option({})
    """Channel of the recording -> its muscle or muscles of the muscle set, {'Voltage.{S} Hams': hamstrings}; {S}, {s}
    and {side} as in marker_sets, {Side} and {SIDE} for Right and RIGHT. Several channels of one muscle are averaged.
    Empty: no electromyography."""
    signal: Literal["auto", "raw", "envelope"] = "auto"
    """Content of the channels: 'raw' electromyograms, 'envelope', processed already; 'auto': an envelope where a
    channel is hardly ever negative and hardly varies above the lower limit of emg.band_hz."""
    unit: Literal["", "V", "mV", "uV"] = ""
    """Unit of channels whose file does not state one; it affects absolute amplitudes only."""
    band_hz: tuple[float, float] = option((20.0, 450.0), unit="Hz")
    """Limits of the band-pass; the upper one is without effect above 0.45 of the rate."""
    envelope_cutoff_hz: float = option(6.0, "Cut-off of the envelope's low-pass.", "Hz", gt=0.0, le=100.0)
    max_voluntary_files: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    """Recordings of maximum voluntary contractions, by whose largest envelope a channel is normalised; relative paths
    start at the study's folder. Empty: by its own peak in the recording."""
    delay_s: float = option(0.04, unit="s", ge=0.0, le=0.2)
    """Electromechanical delay: envelopes are later by it when compared with activations."""
    antagonists: tuple[tuple[str, str], ...] = ()
    """Pairs of muscles with co-contraction indices, [[tib_ant, soleus]]; both are in emg.channels."""
    file_offset_s: float = option(0.0, "Time added to the times of emg_file (trials.csv).", "s", ge=-1e6, le=1e6)

    @field_validator("channels", mode="before", json_schema_input_type=dict[str, str | tuple[str, ...]])
    @classmethod
    def _one_muscle(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {channel: (muscles,) if isinstance(muscles, str) else muscles for channel, muscles in value.items()}

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
