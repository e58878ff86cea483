"""Options of the section `muscles`: static optimization."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from limbtorque.study.options.base import Options, option

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Muscles(Options):
    """Muscle forces: how the joint torques are shared. See docs/muscles.md."""

    enabled: bool = option(True, "Share the joint torques among muscles.")
    sets: dict[str, str] = Field(
        default_factory=dict,
        description="Muscle set of a chain in place of its own, {arm: pairs}: a built-in name (arm, leg, pairs) or a file in the "
        "study.",
    )
    criterion: Literal["activation", "stress"] = option(
        "activation",
        "What is kept small: 'activation', force over strength; 'stress', force over physiological cross-section "
        "(the muscle set has to give pcsa_cm2).",
    )
    exponent: float | Literal["min_max"] = option(
        2.0,
        "The sum of its powers with this exponent, from 1 to 10, is as small as can be; 'min_max': the largest one, "
        "then the next, and so on.",
        "1",
        "1 to 10 | min_max",
    )
    weights: dict[str, Annotated[float, Field(gt=0.0)]] = Field(
        default_factory=dict,
        description="Weight of a muscle's power in the sum, {soleus: 2}, or {leg.soleus: 2} for the set leg only; 1 where not "
        "given.",
    )
    min_activation: float = option(0.0, "No muscle is less active than this.", "1", ge=0.0, lt=1.0)
    activation_bounds: dict[str, tuple[Share, Share]] = Field(
        default_factory=dict,
        description="Least and largest activation of a muscle, {soleus: [0.1, 0.8]}, named as for weights; those of the muscle set "
        "where not given.",
    )
    reserve: Literal["least", "priced", "none"] = option(
        "least",
        "Torque that no muscle makes: 'least', only where the muscles cannot reach the torque, and then as little as "
        "possible; 'priced', everywhere, at a cost; 'none', no forces where the torque is out of reach.",
    )
    reserve_nm: float = option(
        1.0,
        "Priced reserve that adds 1 to the sum: as much as a fully active muscle of weight 1 (criterion: activation).",
        "N m",
        gt=0.0,
    )
    co_contraction: float = option(
        0.0,
        "Every muscle is held at this share, at least, of the activation that the most active one at a joint it crosses has "
        "without co-contraction; what that adds to the cost is a column.",
        "1",
        ge=0.0,
        le=1.0,
    )
    ranges: bool = option(True, "Least and greatest force that each muscle could have with the same torques.")
    force_length_velocity: bool = option(
        False,
        "Strength depends on fibre length and velocity, and passive tension is taken off the torque (De Groote et al. "
        "2016, rigid tendon); muscles without fibre parameters keep their strength.",
    )
    max_fibre_velocity_lopt_s: float = option(
        10.0, "Fastest shortening, in optimal fibre lengths per second.", "1/s", gt=0.0
    )
    scale_moment_arms: Literal["none", "segment_length"] = option(
        "none",
        "'segment_length': moment arms and lengths grow with the subject's segment distal to the joint, against the "
        "muscle set's reference.",
    )
    scale_strength: Literal["none", "mass"] = option(
        "none", "'mass': strengths grow with body mass, against the muscle set's reference."
    )
    contact_forces: bool = option(
        False, "Force in each joint, where the line of action of every muscle that pulls across it is known."
    )

    @field_validator("exponent", mode="before")
    @classmethod
    def _number_or_limit(cls, value: Any) -> Any:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if value != "min_max" and not 1.0 <= number <= 10.0:
            raise ValueError("expected a number from 1 to 10, or min_max")
        return value if value == "min_max" else number

    @field_validator("activation_bounds", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        pairs = value.items() if isinstance(value, dict) else ()
        if wrong := [name for name, pair in pairs if not (isinstance(pair, list | tuple) and len(pair) == 2)]:
            raise ValueError(f"{wrong[0]}: expected its least and largest activation, such as [0.1, 0.8]")
        return value

    @model_validator(mode="after")
    def _agree(self) -> Muscles:
        if self.exponent == "min_max" and self.weights:
            raise ValueError("weights have no meaning with exponent min_max: in the limit they cancel; leave them out")
        if self.exponent == "min_max" and self.reserve == "priced":
            raise ValueError("reserve 'priced' has no meaning with exponent min_max: use 'least' or 'none'")
        for muscle, (least, largest) in self.activation_bounds.items():
            if least > largest:
                raise ValueError(f"activation_bounds of {muscle}: least {least} is above largest {largest}")
        return self
