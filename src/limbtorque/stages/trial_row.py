"""What the tables of a study say of a trial, for `provenance.json`: what compares and describes runs reads it there."""

from __future__ import annotations

from typing import Any

from limbtorque.settings import Settings, flattened
from limbtorque.study import Trial


def trial_row(study: Settings, trial: Trial) -> dict[str, Any]:
    """What the tables say of a trial.

    Parameters
    ----------
    study : Settings
        The study's settings.
    trial : Trial
        The trial.

    Returns
    -------
    dict
        ``options`` has the options that differ from the study's, by their dotted names; None for entries of the study's
        mappings, such as weights of muscles, that the trial does not have.
    """
    whole, own = (flattened(settings.model_dump(mode="json")) for settings in (study, trial.settings))
    left_out = [name for name in whole if name not in own and not any(one.startswith(f"{name}.") for one in own)]
    return {
        "body_mass_kg": trial.subject.mass_kg,
        "measured": trial.subject.measured,
        "marker_set": trial.marker_set,
        "prefix": trial.prefix,
        "load": trial.load,
        "start_s": trial.start_s,
        "end_s": trial.end_s,
        "options": {
            **{name: value for name, value in own.items() if whole.get(name) != value},
            **dict.fromkeys(left_out),
        },
    }
