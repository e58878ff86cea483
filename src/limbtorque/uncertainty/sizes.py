"""Sizes of errors that a limb's torques depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from limbtorque.errors import LandmarkError, did_you_mean
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smoother_of
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.uncertainty import CENTRE_KINDS, Source, Uncertainty
from limbtorque.study.settings import Settings, flattened
from limbtorque.uncertainty.input_errors import (
    centre_options,
)

OF_PLATES: dict[str, tuple[Source, ...]] = {  # options of sizes, with their sources
    "plate_gain": ("plate_gain",),
    "plate_offset_n": ("plate_offset",),
    "pressure_m": ("pressure",),
    "synchronisation_s": ("synchronisation",),
}
OF_SEGMENTS: dict[Source, str] = {  # sources that are also the options of their sizes, and the measured column
    "segment_mass": "mass_kg",
    "segment_com": "com_m",
    "segment_inertia": "inertia_kgm2",
}
OF_MUSCLES = ("moment_arm", "muscle_strength")


def study_faults(settings: Settings, chains: Sequence[ChainModel]) -> list[str]:
    """Faults: landmark errors that do not apply to any limb of a study.

    Parameters
    ----------
    settings : Settings
        The errors, and the marker sets.
    chains : sequence of ChainModel
        Chains of the trials.

    Returns
    -------
    list of str
        Landmarks that no chain of the trials has as a joint centre, those that a marker set lacks, and those of a marker set
        that no chain at all has as a joint centre.
    """
    names = sorted({name for model in chains for name in model.landmarks})
    faults = [
        f"uncertainty.landmarks: {name!r} is not a joint centre or endpoint of a trial's chain"
        f"{did_you_mean(name, names) or '; these are ' + ', '.join(names)}"
        for name in settings.uncertainty.landmarks
        if name not in names
    ]
    centres = {landmark for name in settings.chain_names for landmark in settings.chain(name).landmarks}
    for name, errors in settings.uncertainty.sets.items():
        rules = settings.marker_sets.get(name)
        if rules is None:
            sets = settings.marker_sets
            hint = did_you_mean(name, sets) or f"; these are {', '.join(sets) or 'none'}"
            faults.append(f"uncertainty.sets: {name!r} is not a marker set of the settings{hint}")
            continue
        stand_ins = {by for landmark, by in settings.substitutes.get(name, {}).items() if landmark in centres}
        for landmark in errors:
            if landmark not in rules:
                hint = did_you_mean(landmark, rules) or "; remove it"
                faults.append(f"uncertainty.sets.{name}: {landmark!r} has no rule in this marker set{hint}")
            elif landmark not in centres | stand_ins:
                faults.append(
                    f"uncertainty.sets.{name}: {landmark!r} is not a joint centre or endpoint of a chain; remove it"
                )
    return faults


def sizes_of(limb: Limb, settings: Settings, *, muscles: bool) -> dict[str, tuple[Source, ...]]:
    """Options of the section `uncertainty` that apply to a limb, with their sources.

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
    errors, rows = settings.uncertainty, [segment.row for segment in limb.model(settings).segments]
    measured = {source: [f"{row}_{column}" in limb.measured for row in rows] for source, column in OF_SEGMENTS.items()}
    tabled = tuple(source for source, each in measured.items() if not all(each))
    sizes: dict[str, tuple[Source, ...]] = {source: (source,) for source in tabled}
    if "segment_mass" in tabled:
        sizes |= {"rest_of_body_mass": ("segment_mass",), "body_mass": ("body_mass",)}
    if by_hand := tuple(source for source, each in measured.items() if any(each)):
        sizes["measured_parameters"] = by_hand
    if tabled and len(rows) > 1:
        sizes["segment_correlation"] = tabled
    try:
        mapping, set_name = limb.landmarks(settings), limb.set_name(settings)
        for landmark in limb.model(settings).landmarks:
            sizes |= dict.fromkeys(centre_options(landmark, mapping, errors, set_name), ("joint_centres",))
    except (LandmarkError, KeyError):  # not mapped: the analysis of the trial says so
        sizes |= {f"centre_{kind}_m": ("joint_centres",) for kind in CENTRE_KINDS}
    sizes |= {"soft_tissue_m": ("soft_tissue",), "marker_noise": ("marker_noise",), "plane_deg": ("plane",)}
    if errors.sizes["soft_tissue_m"]:
        sizes["soft_tissue_range_deg"] = ("soft_tissue",)
    if settings.gaps.max_gap_s:
        sizes["gaps"] = ("gaps",)
    if smoother_of(settings) is not None:
        sizes["filter"] = ("filter",)
    if limb.meets_ground(settings) and not limb.load:
        sizes |= OF_PLATES
    if muscles and errors.samples:
        sizes |= dict.fromkeys(OF_MUSCLES, ())
    return sizes


def used_sizes(limb: Limb, settings: Settings, *, muscles: bool) -> dict[str, Any]:
    """Error size options used in a limb's bands, with values.

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
    """Error sizes by option name, with a separate entry for each landmark."""
    own = flattened({"landmarks": errors.landmarks, "sets": errors.sets})
    return {**errors.sizes, **{name: value for name, value in own.items() if value != {}}}
