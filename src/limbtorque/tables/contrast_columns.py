"""Columns of the tables of contrasts."""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, SIZE, columns
from limbtorque.tables.study_columns import WINDOW_COLUMNS

MEASURED_COVARIATES = tuple(c.name for c in WINDOW_COLUMNS if c.kind is float and c.name not in ("start_s", "end_s"))
DIFFERENCE = f"of torques, angles and velocities: {FLEXION}; of power and work: energy into the segments"
OF_CONTRAST = columns(
    {
        "contrast:text": "name of the contrast",
        "chain:text": "chain",
        "outcome:text": "statistic, or quantity of the curves and its part",
        "joint:text": "joint, or muscle",
        "term:text": "net torque, or the sum of its terms of a kind; their estimates add up to that of the net torque, as maximum and minimum of "
        "a term is its value where the net torque has it",
        "unit:text": "unit of the outcome",
    }
)
_LEVELS = columns(
    {
        "mean_first:value": ("mean over subjects of the first condition, group or side", DIFFERENCE),
        "mean_second:value": ("mean over subjects of the second", DIFFERENCE),
        "estimate:value": ("first minus second, adjusted for covariates", DIFFERENCE),
        "low:value": ("lower limit of the two-sided 95 % interval of the estimate", DIFFERENCE),
        "high:value": ("upper limit of the two-sided 95 % interval of the estimate", DIFFERENCE),
    }
)
_FLIPS = "by flips of signs of the residuals (docs/statistics.md)"
CONTRAST_COLUMNS = (
    *OF_CONTRAST,
    *columns(
        {
            "first:text": "condition, group or side",
            "second:text": "condition, group or side that is subtracted",
            "declared:text": "frozen with its date (limbtorque contrasts freeze), or exploratory",
        }
    ),
    *_LEVELS,
    *columns(
        {
            "standard_error:value": (
                "standard error of the interval, low and high being the estimate and t of the degrees of freedom times it: of the spread "
                "between subjects (HC2) and shared_error, or of the spread alone where that interval is wider (few subjects)",
                SIZE,
            ),
            "degrees_of_freedom": "degrees of freedom of standard_error (n - 1 of pairs, Welch's of groups; with shared_error by Satterthwaite)",
            "hedges_g": "Hedges' g; of pairs by the standard deviation of the differences",
            "p_flips": f"two-sided p {_FLIPS}; empty with fewer than 3 pairs, or 6 subjects in a group",
            "p_t": "two-sided p of Student's, or Welch's, t",
            "p_adjusted": "p_flips adjusted for all outcomes, terms and curves of the family; of a curve the smallest of its points",
            "smallest_p": "smallest p_flips and p_adjusted that these subjects can have, whatever the data; above 0.05 nothing can be found",
            "smallest_effect:value": ("smallest difference of interest, as declared", SIZE),
            "low_90:value": (
                "lower limit of the 90 % interval, the wider of both kinds (see standard_error)",
                DIFFERENCE,
            ),
            "high_90:value": (
                "upper limit of the 90 % interval, the wider of both kinds (see standard_error)",
                DIFFERENCE,
            ),
            "p_equivalence": "larger p of two one-sided t tests against smallest_effect",
            "detectable_effect:value": (
                "difference that these subjects find with 80 % power (with shared_error)",
                SIZE,
            ),
            "subjects_needed": "subjects that find smallest_effect with 80 % power; empty where shared_error, which they do not reduce, hides it",
            "n_subjects:count": "subjects with a value",
            "n_first:count": "subjects of the first group; of pairs n_subjects",
            "n_second:count": "subjects of the second group; of pairs n_subjects",
            "n_trials:count": "trials with a value",
            "n_rejected:count": "trials left out because the joint was rejected",
            "shared_error:value": (
                "standard deviation of the estimate due to errors of the inputs that all subjects share; the intervals contain it, see standard_error",
                SIZE,
            ),
            "own_error:value": (
                "standard deviation of a subject's value due to the other errors of the inputs, which is part of the spread between subjects",
                SIZE,
            ),
            "note:text": "why there is no test, trials that are caution, extremes of different events, subjects left out, disagreement of p and interval",
        }
    ),
)
CONTRAST_CURVE_COLUMNS = (
    *OF_CONTRAST,
    *columns({"percent": "point of the window, from 0 at its start to 100 at its end (windows.csv)"}),
    *_LEVELS,
    *columns(
        {
            "low_simultaneous:value": ("lower limit that holds for all points of the curve together", DIFFERENCE),
            "high_simultaneous:value": ("upper limit that holds for all points of the curve together", DIFFERENCE),
            "threshold:value": (
                "difference from which p_adjusted is at most 0.05, whatever else the family finds",
                SIZE,
            ),
            "p_adjusted": f"two-sided p {_FLIPS}, adjusted for all points, outcomes and curves of the family",
            "n_subjects:count": "subjects with a value at this point in all their trials",
        }
    ),
)
