"""Section `uncertainty`: errors of the inputs, as standard deviations."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from limbtorque.errors import did_you_mean
from limbtorque.study.options.base import ONE_OR_MORE, Options, option

Source = Literal[
    "segment_mass",
    "segment_com",
    "segment_inertia",
    "body_mass",
    "joint_centres",
    "soft_tissue",
    "marker_noise",
    "gaps",
    "filter",
    "plane",
    "plate_gain",
    "plate_offset",
    "pressure",
    "synchronisation",
]
SOURCES: tuple[Source, ...] = get_args(Source)
CentreKind = Literal[
    "marker", "midpoint", "between", "functional", "harrington", "davis", "bell", "rab", "keypoint", "imaged"
]
CENTRE_KINDS: tuple[CentreKind, ...] = get_args(CentreKind)
LEAST_SAMPLES, MOST_SAMPLES = 256, 65536
SIZES = {  # error: default, smallest, largest; each has its line in docs/uncertainty.md, with its source
    "segment_mass": (0.07, 0.0, 0.5),
    "segment_com": (0.04, 0.0, 0.3),
    "segment_inertia": (0.1, 0.0, 1.0),
    "segment_correlation": (0.3, 0.0, 0.99),
    "rest_of_body_mass": (0.02, 0.0, 0.5),
    "measured_parameters": (0.02, 0.0, 0.5),
    "body_mass": (0.01, 0.0, 0.2),
    "centre_marker_m": (0.01, 0.0, 0.1),
    "centre_midpoint_m": (0.006, 0.0, 0.1),
    "centre_between_m": (0.012, 0.0, 0.1),
    "centre_functional_m": (0.008, 0.0, 0.1),
    "centre_harrington_m": (0.008, 0.0, 0.1),
    "centre_davis_m": (0.015, 0.0, 0.1),
    "centre_bell_m": (0.0125, 0.0, 0.1),
    "centre_rab_m": (0.015, 0.0, 0.1),
    "centre_keypoint_m": (0.023, 0.0, 0.1),
    "centre_imaged_m": (0.003, 0.0, 0.1),
    "soft_tissue_m": (0.005, 0.0, 0.05),
    "soft_tissue_range_deg": (40.0, 10.0, 180.0),
    "marker_noise": (1.0, 0.0, 10.0),
    "gaps": (1.0, 0.0, 10.0),
    "filter": (1.0, 0.0, 10.0),
    "plane_deg": (2.0, 0.0, 45.0),
    "plate_gain": (0.005, 0.0, 0.2),
    "plate_offset_n": (1.0, 0.0, 50.0),
    "pressure_m": (0.0025, 0.0, 0.1),
    "synchronisation_s": (0.002, 0.0, 0.1),
    "moment_arm": (0.1, 0.0, 0.5),
    "muscle_strength": (0.2, 0.0, 1.0),
}


class Uncertainty(Options):
    """Errors of the inputs that determine the uncertainty of every torque."""

    enabled: bool = option(True, "Compute the standard deviation of every torque and term, for the summaries.")
    samples: int = option(0, unit="1", allowed=f"0, or a power of two from {LEAST_SAMPLES} to {MOST_SAMPLES}")
    """Samples of the torques of each trial, with errors drawn by quasi-random numbers: they give the uncertainty of
    times, powers and works, and take the place of the linear one in summaries; 0: none."""
    seed: int = option(1, "Seed of the samples; the same seed gives the same results.", "1", ge=0)
    same_markers: bool = option(False)
    """Markers stay on a subject from one session to the next: in contrasts, errors of joint centres, soft tissue and plane
    are those of the subject; else they are new in each session."""
    off: Annotated[tuple[Source, ...], ONE_OR_MORE] = option((), "Sources of error to leave out.")
    sizes: dict[str, float] = Field(default_factory=lambda: {name: default for name, (default, *_) in SIZES.items()})
    """Standard deviations of the errors in place of their defaults, {body_mass: 0.03, centre_marker_m: 0.015}; a column
    of trials.csv for one of them is uncertainty.sizes.body_mass. Units, meanings and sources: docs/uncertainty.md."""
    landmarks: dict[str, CentreKind | float] = option({})
    """Landmark -> kind of its rule, or its own standard deviation in m; others have the kind of their rule in the
    marker set."""
    sets: dict[str, dict[str, CentreKind | float]] = option({})
    """Per marker set: landmark -> kind, or its own standard deviation in m, in place of the kind of its rule;
    `landmarks` goes before it."""

    @field_validator("sizes", mode="after")
    @classmethod
    def _known_sizes(cls, value: dict[str, float]) -> dict[str, float]:
        """Complete the sizes with default values."""
        faults = [f"{name} is unknown{did_you_mean(name, SIZES)}" for name in value if name not in SIZES]
        for name in value.keys() & SIZES.keys():
            _, smallest, largest = SIZES[name]
            if not smallest <= value[name] <= largest:
                faults.append(f"{name} is {value[name]:g}, expected from {smallest:g} to {largest:g}")
        if faults:
            raise ValueError("; ".join(faults))
        return {name: value.get(name, default) for name, (default, *_) in SIZES.items()}

    @field_validator("samples")
    @classmethod
    def _balanced(cls, value: int) -> int:
        if value and (not LEAST_SAMPLES <= value <= MOST_SAMPLES or value & (value - 1)):
            raise ValueError(
                f"{value}: expected 0, or a power of two from {LEAST_SAMPLES} to {MOST_SAMPLES}, such as 512"
            )
        return value

    @field_validator("landmarks", "sets")
    @classmethod
    def _small(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Refuse a standard deviation of a landmark below 0 or above 0.1 m."""
        for name, error in value.items():
            if isinstance(error, dict):
                cls._small(error)
            elif isinstance(error, float) and not 0.0 <= error <= 0.1:
                raise ValueError(f"{name}: {error:g} m, expected a standard deviation from 0 to 0.1 m")
        return value

    @model_validator(mode="after")
    def _agree(self) -> Uncertainty:
        if self.samples and not self.enabled:
            raise ValueError("samples needs enabled; switch both on, or samples to 0")
        if twice := sorted({name for name in self.off if self.off.count(name) > 1}):
            raise ValueError(f"off names {', '.join(twice)} twice; name each source once")
        return self
