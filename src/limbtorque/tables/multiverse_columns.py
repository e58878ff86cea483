"""Columns of the tables of the multiverse."""

from __future__ import annotations

from collections.abc import Iterable

from limbtorque.tables.column import FLEXION, SIZE, Column, columns
from limbtorque.tables.contrast_columns import DIFFERENCE, MEASURED_COVARIATES, OF_CONTRAST
from limbtorque.tables.effect_columns import EFFECT_TERMS

UNIVERSE_COLUMNS = columns(
    {
        "trial:text": "name of the trial",
        "universe:count": "number of the universe, 0 for the study's own options",
        "outcome:count": "number of the outcome among those of all contrasts",
        "rejected:count": "1 where the joint was rejected",
        "loaded:count": "1 where the external load is known, or does not matter",
        "net:value": ("value of the outcome", FLEXION),
        **{f"{term}:value": (f"its {term} term", FLEXION) for term in EFFECT_TERMS[1:]},
        **dict.fromkeys(MEASURED_COVARIATES, "as in windows.csv"),
    }
)
MULTIVERSE_COLUMNS = (
    *OF_CONTRAST,
    *columns(
        {
            "universe:count": "number of the universe; 0 has the study's own options; of universes that an option cannot set apart there is one",
            "estimate:value": ("first minus second, over the subjects that have a value in all universes", DIFFERENCE),
            "low:value": ("lower limit of the 95 % interval over subjects, without errors of the inputs", DIFFERENCE),
            "high:value": ("upper limit of the 95 % interval over subjects, without errors of the inputs", DIFFERENCE),
            "standard_error:value": ("standard error by the spread between subjects", SIZE),
            "p_flips": "two-sided p by flips of signs of the residuals, the same in all universes",
            "p_adjusted": "p_flips adjusted for all universes, outcomes and terms of the family",
            "p_multiverse": "p of the largest |t| over all universes: small where at least one universe shows an effect, not that the study's own does",
            "p_multiverse_adjusted": "p_multiverse adjusted for all outcomes and terms of the family: the smallest p_adjusted",
            "n_subjects:count": "subjects with a value in all universes",
            "n_trials:count": "trials with a value",
            "n_lost:count": "trials that have a value with the study's own options and none here: rejected or failed",
            "note:text": "why there is no test, and who is left out",
        }
    ),
)


def option_columns(options: Iterable[str]) -> list[Column]:
    """Columns with the value of each option; empty where it changes nothing."""
    return [
        Column(option, "", "value of this option; empty where it does not change the outcome", "", str)
        for option in options
    ]
