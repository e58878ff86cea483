"""Sizes of errors that a limb's torques depend on, of all in the section."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from limbtorque.errors import LandmarkError
from limbtorque.ground.reaction import meets_ground
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smoother_of
from limbtorque.study.options.uncertainty import CENTRE_KINDS, SIZES, Source, Uncertainty
from limbtorque.study.settings import Settings, flattened
from limbtorque.uncertainty.landmark_errors import centre_landmarks, options_of_centre

OF_PLATES: dict[Source, str] = {  # sources, and the options of their sizes
    "plate_gain": "plate_gain",
    "plate_offset": "plate_offset_n",
    "pressure": "pressure_m",
    "synchronisation": "synchronisation_s",
}
OF_SEGMENTS: dict[Source, tuple[str, str]] = {  # the options of their sizes, and the measured column
    "segment_mass": ("segment_mass", "mass_kg"),
    "segment_com": ("segment_com", "com_m"),
    "segment_inertia": ("segment_inertia", "inertia_kgm2"),
}
OF_MUSCLES = ("moment_arm", "muscle_strength")


def sizes_of(limb: Limb, settings: Settings, *, muscles: bool) -> dict[str, tuple[Source, ...]]:
    """Options of the section `uncertainty` that concern a limb, with their sources.

    Parameters
    ----------
    limb : Limb
        Chain, side, marker set, load and measured parameters.
    settings : Settings
        The settings.
    muscles : bool
        The limb has a muscle set.

    Returns
    -------
    dict of str to tuple of str
        By the option's name in the section, such as ``"pressure_m"`` or ``"landmarks.hip_axis"``, also those of sources
        that are switched off; empty sources for those of muscles.
    """
    errors = settings.uncertainty
    found: dict[str, tuple[Source, ...]] = {**_of_segments(limb, settings), **_of_centres(limb, settings)}
    found["soft_tissue_m"] = ("soft_tissue",)
    if errors.sizes["soft_tissue_m"]:
        found["soft_tissue_range_deg"] = ("soft_tissue",)
    found |= {"marker_noise": ("marker_noise",), "plane_deg": ("plane",)}
    if settings.gaps.max_gap_s:
        found["gaps"] = ("gaps",)
    if smoother_of(settings) is not None:
        found["filter"] = ("filter",)
    if meets_ground(limb, settings) and not limb.load:
        found |= {name: (source,) for source, name in OF_PLATES.items()}
    if muscles and errors.samples:
        found |= dict.fromkeys(OF_MUSCLES, ())
    return found


def used_sizes(limb: Limb, settings: Settings, *, muscles: bool) -> dict[str, Any]:
    """Options of sizes of errors that a limb's bands have, with their values.

    Parameters
    ----------
    limb, settings, muscles
        As in `sizes_of`.

    Returns
    -------
    dict of str to float or str
        Those of sources that are on; a landmark's own may be a kind. Empty without bands.
    """
    errors = settings.uncertainty
    if not errors.enabled:
        return {}
    values = options_of(errors)
    return {
        name: values[name]
        for name, sources in sizes_of(limb, settings, muscles=muscles).items()
        if not sources or set(sources) - set(errors.off)
    }


def options_of(errors: Uncertainty) -> dict[str, Any]:
    """Sizes of errors by the names of their options, those of landmarks one by one."""
    own = flattened({"landmarks": errors.landmarks, "sets": errors.sets})
    return {**errors.sizes, **{name: value for name, value in own.items() if value != {}}}


def faults_of_sizes(limbs: Iterable[tuple[Limb, Settings, bool]]) -> list[str]:
    """Faults of sizes of errors that concern no limb of a study.

    Parameters
    ----------
    limbs : iterable of (Limb, Settings, bool)
        Limb and settings of every trial, and whether it has a muscle set.

    Returns
    -------
    list of str
        Sizes other than the default that no trial uses, because nothing depends on them or because their source is switched off,
        and sources that are switched off and concern no trial. Trials without bands do not count.
    """
    default, given, off = options_of(Uncertainty()), _Given(), _Given()
    for limb, settings, muscles in limbs:
        errors = settings.uncertainty
        if not errors.enabled:
            continue
        concerned = sizes_of(limb, settings, muscles=muscles)
        sources = {source for some in concerned.values() for source in some}
        for name, value in options_of(errors).items():
            known = name in concerned  # of landmarks, `checks.study_faults` says which have no joint centre
            if value != default.get(name) and (known or not name.startswith(("landmarks.", "sets."))):
                on = known and (not concerned[name] or bool(set(concerned[name]) - set(errors.off)))
                given.add(name, value, used=on, switched_off=known)
        for source in errors.off:
            off.add(source, True, used=source in sources)
    return [
        *(f"uncertainty.off names {source}, but {_why(source)}; remove it" for source, _ in off.in_vain()),
        *(
            f"uncertainty.{'sizes.' if name in SIZES else ''}{name} is given, but {why or _why(name)}; remove it"
            for name, why in given.in_vain()
        ),
    ]


class _Given:
    """Values that are given, and whether a trial uses them."""

    def __init__(self) -> None:
        self.used: dict[tuple[str, Any], bool] = {}
        self.off: set[tuple[str, Any]] = set()

    def add(self, name: str, value: object, *, used: bool, switched_off: bool = False) -> None:
        """Add the value of a trial."""
        key = name, value
        self.used[key] = self.used.get(key, False) or used
        if switched_off:
            self.off.add(key)

    def in_vain(self) -> list[tuple[str, str]]:
        """Names of values that no trial uses, and why where a source is switched off."""
        text = "its source is switched off (uncertainty.off)"
        return list(
            dict.fromkeys((key[0], text if key in self.off else "") for key, used in self.used.items() if not used)
        )


def _why(name: str) -> str:
    """Reason why an option or a source concerns no trial."""
    if name in OF_PLATES or name in OF_PLATES.values():
        return "no limb of the trials meets the ground"
    if name.startswith("centre_"):
        kind = name.removeprefix("centre_").removesuffix("_m")
        return f"no joint centre of the trials is of the kind {kind!r}"
    if name == "measured_parameters":
        return "no segment of the trials has measured parameters (table of subjects)"
    if name in OF_MUSCLES:
        return "no muscle forces are sampled (uncertainty.samples, a muscle set)"
    return {
        "gaps": "no gap is filled (gaps.max_gap_s is 0)",
        "filter": "no trial is filtered",
        "soft_tissue_range_deg": "uncertainty.sizes.soft_tissue_m is 0",
        "segment_correlation": "no chain of the trials has two segments from the table",
    }.get(name, "all these parameters of the trials' segments are measured")


def _of_segments(limb: Limb, settings: Settings) -> dict[str, tuple[Source, ...]]:
    """Options of inertial parameters: by the table, measured, of body mass."""
    rows = [segment.row for segment in limb.model(settings).segments]
    tabled: list[Source] = []
    measured: list[Source] = []
    found: dict[str, tuple[Source, ...]] = {}
    for source, (option, column) in OF_SEGMENTS.items():
        own = [f"{row}_{column}" in limb.measured for row in rows]
        if not all(own):
            found[option] = (source,)
            tabled.append(source)
        if any(own):
            measured.append(source)
    if "segment_mass" in tabled:
        found |= {"rest_of_body_mass": ("segment_mass",), "body_mass": ("body_mass",)}
    if measured:
        found["measured_parameters"] = tuple(measured)
    if tabled and len(rows) > 1:
        found["segment_correlation"] = tuple(tabled)
    return found


def _of_centres(limb: Limb, settings: Settings) -> dict[str, tuple[Source, ...]]:
    """Options of the joint centres and endpoint; all kinds without known markers."""
    found: dict[str, tuple[Source, ...]] = {}
    try:
        mapping, set_name = limb.landmarks(settings), limb.set_name(settings)
        for landmark in centre_landmarks(limb.model(settings)):
            options = options_of_centre(landmark, mapping, settings.uncertainty, set_name)
            found |= dict.fromkeys(options, ("joint_centres",))
    except (LandmarkError, KeyError):  # not mapped: the analysis of the trial says so
        found = {f"centre_{kind}_m": ("joint_centres",) for kind in CENTRE_KINDS}
    return found
