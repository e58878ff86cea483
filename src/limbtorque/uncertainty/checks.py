"""Faults of the section `uncertainty` beside the chains of a study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from limbtorque.errors import did_you_mean
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.uncertainty import Uncertainty
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.landmark_errors import centre_landmarks


def study_faults(settings: Settings, chains: Sequence[ChainModel]) -> list[str]:
    """Faults of errors that concern no limb of a study.

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
        that no chain at all has as a joint centre. Sizes of sources: `priors.faults_of_sizes`.
    """
    known = {name for model in chains for name in centre_landmarks(model)}
    return [*_unknown_landmarks(settings.uncertainty, known), *_unknown_in_sets(settings)]


def _unknown_landmarks(errors: Uncertainty, known: Iterable[str]) -> list[str]:
    """Faults of errors of landmarks that are no joint centre."""
    names = sorted(known)
    return [
        f"uncertainty.landmarks: {name!r} is no joint centre or endpoint of a trial's chain"
        f"{did_you_mean(name, names) or '; these are ' + ', '.join(names)}"
        for name in errors.landmarks
        if name not in names
    ]


def _unknown_in_sets(settings: Settings) -> list[str]:
    """Faults of errors of unknown marker sets and landmarks."""
    faults = []
    centres = {landmark for name in settings.chain_names for landmark in centre_landmarks(settings.chain(name))}
    for name, errors in settings.uncertainty.sets.items():
        if name not in settings.marker_sets:
            known = settings.marker_sets
            hint = did_you_mean(name, known) or f"; these are {', '.join(known) or 'none'}"
            faults.append(f"uncertainty.sets: {name!r} is no marker set of the settings{hint}")
            continue
        rules = settings.marker_sets[name]
        others = {by for landmark, by in settings.substitutes.get(name, {}).items() if landmark in centres}
        faults += [
            f"uncertainty.sets.{name}: {landmark!r} has no rule in this marker set{did_you_mean(landmark, rules) or '; remove it'}"
            if landmark not in rules
            else f"uncertainty.sets.{name}: {landmark!r} is no joint centre or endpoint of a chain; remove it"
            for landmark in errors
            if landmark not in rules or landmark not in centres | others
        ]
    return faults
