"""Entries of a trial in `provenance.json`, read by `diff` and `methods`."""

from __future__ import annotations

from typing import Any

from limbtorque.study.settings import Settings, flattened
from limbtorque.study.trials import Trial


class TrialRows:
    """Rows of the trials of a study.

    Parameters
    ----------
    study : Settings
        The study's settings.
    """

    def __init__(self, study: Settings) -> None:
        self._whole = flattened(study.model_dump(mode="json"))
        self._options: dict[int, dict[str, Any]] = {}  # by the settings that trials have in common

    def of(self, trial: Trial) -> dict[str, Any]:
        """Entries of a trial in the tables.

        ``options`` has the options that differ from the study's, by their dotted names; None for entries of the study's
        mappings, such as weights of muscles, that the trial does not have.
        """
        if id(trial.settings) not in self._options:
            self._options[id(trial.settings)] = self._own(trial.settings)
        return {
            "body_mass_kg": trial.subject.mass_kg,
            "measured": trial.subject.measured,
            "marker_set": trial.marker_set,
            "prefix": trial.prefix,
            "load": trial.load,
            "start_s": trial.start_s,
            "end_s": trial.end_s,
            "options": self._options[id(trial.settings)],
        }

    def _own(self, settings: Settings) -> dict[str, Any]:
        own = flattened(settings.model_dump(mode="json"))
        left_out = [
            name for name in self._whole if name not in own and not any(one.startswith(f"{name}.") for one in own)
        ]
        return {
            **{name: value for name, value in own.items() if self._whole.get(name) != value},
            **dict.fromkeys(left_out),
        }
