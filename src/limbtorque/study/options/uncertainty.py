"""Section `uncertainty`: errors of the inputs, as standard deviations."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from limbtorque.study.options.base import Options, option

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
    "marker",
    "midpoint",
    "between",
    "functional",
    "harrington",
    "davis",
    "bell",
    "rab",
    "keypoint",
    "imaged",
]
CENTRE_KINDS: tuple[CentreKind, ...] = get_args(CentreKind)
LEAST_SAMPLES, MOST_SAMPLES = 256, 65536
ERROR = "standard deviation of"
ALONG = "along each axis of the plane"


class Uncertainty(Options):
    """Errors of the inputs, from which the uncertainty of every torque follows."""

    enabled: bool = option(True, "Compute the standard deviation of every torque and term, for the summaries.")
    max_frames: int = option(
        20_000,
        "Longest trial that gets bands: each of its frames takes 25 kB of memory. The ledger names longer ones.",
        "1",
        ge=1,
    )
    samples: int = option(
        0,
        "Samples of the torques of each trial, with errors drawn by quasi-random numbers: they give the uncertainty of times, "
        "powers and works, and take the place of the linear one in summaries; 0: none.",
        "1",
        f"0, or a power of two from {LEAST_SAMPLES} to {MOST_SAMPLES}",
    )
    seed: int = option(1, "Seed of the samples; the same seed gives the same results.", "1", ge=0)
    off: tuple[Source, ...] = option((), "Sources of error that are left out.")
    segment_mass: float = option(0.07, f"Relative {ERROR} a segment's share of body mass.", "1", ge=0.0, le=0.5)
    segment_com: float = option(
        0.04, f"{ERROR.capitalize()} the place of the centre of mass, in lengths of the segment.", "1", ge=0.0, le=0.3
    )
    segment_inertia: float = option(
        0.10, f"Relative {ERROR} the moment of inertia about the centre of mass.", "1", ge=0.0, le=1.0
    )
    segment_correlation: float = option(
        0.3,
        "Correlation between the errors of the same quantity of any two segments of a chain, before the shares of body "
        "mass are made to add up.",
        "1",
        gt=-1.0,
        lt=1.0,
    )
    rest_of_body_mass: float = option(
        0.02,
        f"Relative {ERROR} the share of body mass of all other segments together; all shares add up to 1.",
        "1",
        ge=0.0,
        le=0.5,
    )
    measured_parameters: float = option(
        0.02, f"Relative {ERROR} parameters that the table of subjects gives as measured.", "1", ge=0.0, le=0.5
    )
    centre_marker_m: float = option(
        0.010, f"{ERROR.capitalize()} a joint centre taken at one marker, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_midpoint_m: float = option(
        0.006, f"{ERROR.capitalize()} a joint centre at the mean of several markers, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_between_m: float = option(
        0.012, f"{ERROR.capitalize()} a joint centre on the line between two markers, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_functional_m: float = option(
        0.008, f"{ERROR.capitalize()} a functional joint centre, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_harrington_m: float = option(
        0.008, f"{ERROR.capitalize()} a hip centre by Harrington's regression, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_davis_m: float = option(
        0.015, f"{ERROR.capitalize()} a hip centre by Davis's regression, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_bell_m: float = option(
        0.0125, f"{ERROR.capitalize()} a hip centre by Bell's regression, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_rab_m: float = option(
        0.015,
        f"{ERROR.capitalize()} a shoulder centre by Rab's offset from the acromion, {ALONG}.",
        "m",
        ge=0.0,
        le=0.1,
    )
    centre_keypoint_m: float = option(
        0.023, f"{ERROR.capitalize()} a hip or knee by keypoints of video, {ALONG}.", "m", ge=0.0, le=0.1
    )
    centre_imaged_m: float = option(
        0.003, f"{ERROR.capitalize()} a joint centre measured by imaging, {ALONG}.", "m", ge=0.0, le=0.1
    )
    landmarks: dict[str, CentreKind | float] = Field(
        default_factory=dict,
        description="Landmark -> kind of its rule, or its own standard deviation in m; others have the kind of their rule in "
        "the marker set.",
    )
    sets: dict[str, dict[str, CentreKind | float]] = Field(
        default_factory=dict,
        description="Per marker set: landmark -> kind, or its own standard deviation in m, in place of the kind of its rule; "
        "`landmarks` goes before it.",
    )
    soft_tissue_m: float = option(
        0.005, f"{ERROR.capitalize()} the movement of a joint centre with the skin, {ALONG}.", "m", ge=0.0, le=0.05
    )
    soft_tissue_range_deg: float = option(
        40.0,
        "Change of the joint angle over which that movement changes by about its standard deviation.",
        "deg",
        ge=10.0,
        le=180.0,
    )
    plate_gain: float = option(0.005, f"Relative {ERROR} the force.", "1", ge=0.0, le=0.2)
    plate_offset_n: float = option(
        1.0, f"{ERROR.capitalize()} each component of the force at zero load.", "N", ge=0.0, le=50.0
    )
    pressure_m: float = option(
        0.0025, f"{ERROR.capitalize()} the centre of pressure along the way.", "m", ge=0.0, le=0.1
    )
    synchronisation_s: float = option(
        0.002, f"{ERROR.capitalize()} the delay between plates and cameras.", "s", ge=0.0, le=0.1
    )
    body_mass: float = option(0.01, f"Relative {ERROR} body mass.", "1", ge=0.0, le=0.2)
    plane_deg: float = option(
        2.0, f"{ERROR.capitalize()} the direction of the plane, about its vertical axis.", "deg", ge=0.0, le=45.0
    )
    moment_arm: float = option(
        0.1,
        f"Relative {ERROR} each moment arm of each muscle, in samples of muscle forces.",
        "1",
        ge=0.0,
        le=0.5,
    )
    muscle_strength: float = option(
        0.2, f"Relative {ERROR} each muscle's strength, in samples of muscle forces.", "1", ge=0.0, le=1.0
    )
    marker_noise: float = option(
        1.0,
        "Standard deviation of the markers' noise over that found in the trial's own spectrum.",
        "1",
        ge=0.0,
        le=10.0,
    )
    gaps: float = option(
        1.0,
        "Standard deviation of a joint centre in a filled gap, along each axis of the plane, over its largest expected error.",
        "1",
        ge=0.0,
        le=10.0,
    )
    filter: float = option(
        1.0,
        "Standard deviation of what the filter removes of the movement, over its estimate by filtering once more.",
        "1",
        ge=0.0,
        le=10.0,
    )

    @field_validator("samples")
    @classmethod
    def _balanced(cls, value: int) -> int:
        if value and (not LEAST_SAMPLES <= value <= MOST_SAMPLES or value & (value - 1)):
            raise ValueError(
                f"{value}: expected 0, or a power of two from {LEAST_SAMPLES} to {MOST_SAMPLES}, such as 512"
            )
        return value

    @field_validator("landmarks")
    @classmethod
    def _sizes(cls, value: dict[str, Any]) -> dict[str, Any]:
        _refuse_large(value)
        return value

    @field_validator("sets")
    @classmethod
    def _sizes_of_sets(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for errors in value.values():
            _refuse_large(errors)
        return value

    @field_validator("off", mode="before", json_schema_input_type=Source | tuple[Source, ...])
    @classmethod
    def _one_source(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _samples_of_errors(self) -> Uncertainty:
        if self.samples and not self.enabled:
            raise ValueError("samples needs enabled; switch both on, or samples to 0")
        return self

    @model_validator(mode="after")
    def _each_once(self) -> Uncertainty:
        if twice := sorted({name for name in self.off if self.off.count(name) > 1}):
            raise ValueError(f"off names {', '.join(twice)} twice; name every source once")
        return self


def _refuse_large(errors: dict[str, Any]) -> None:
    """Raise ValueError for a standard deviation of a landmark below 0 or above 0.1 m."""
    for name, error in errors.items():
        if isinstance(error, float) and not 0.0 <= error <= 0.1:
            raise ValueError(f"{name}: {error:g} m, expected a standard deviation from 0 to 0.1 m")
