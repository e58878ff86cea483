"""Columns of the tables of the multiverse."""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, SIZE, columns
from limbtorque.tables.contrast_columns import DIFFERENCE, OF_CONTRAST

UNIVERSE_COLUMNS = columns(
    {
        "trial:text": "name of the trial",
        "universe:count": "number of the universe, 0 for the study's own options",
        "outcome:count": "number of the outcome among those of all contrasts, from 1; 0 for covariates",
        "term:text": "net torque, or the sum of its terms of a kind; name of a covariate",
        "value:value": ("value of the outcome", FLEXION),
        "rejected:count": "1 where the joint was rejected",
        "loaded:count": "1 where the external load is known; -1 where it does not matter",
    }
)
OF_FLIPS = "by flips of signs of the residuals, the same in all universes"
MULTIVERSE_COLUMNS = (
    *OF_CONTRAST,
    *columns(
        {
            "universe:count": "number of the universe; 0 has the study's own options; universes that an option cannot change are left out",
            "choices:text": "options of the universe that differ from the study's",
            "estimate:value": ("first minus second, over the subjects that all universes have", DIFFERENCE),
            "low:value": ("lower limit of the 95 % interval over subjects, without errors of the inputs", DIFFERENCE),
            "high:value": ("upper limit of the 95 % interval over subjects, without errors of the inputs", DIFFERENCE),
            "standard_error:value": ("standard error by the spread between subjects", SIZE),
            "p_flips": f"two-sided p {OF_FLIPS}",
            "p_adjusted": "p_flips adjusted for all outcomes and terms of the family, in this universe alone",
            "p_multiverse": "p of the largest |t| over all universes: small where at least one universe shows an effect, not that the study's own does",
            "p_multiverse_adjusted": "p_multiverse adjusted for all outcomes and terms of the family",
            "n_subjects:count": "subjects with a value in all universes",
            "n_trials:count": "trials with a value",
            "n_rejected:count": "trials that this universe rejects and the study's own options do not",
            "note:text": "why there is no test, and who is left out",
        }
    ),
)
