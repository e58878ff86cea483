"""Columns of values for contrasts, and of the effects of input errors on them.

A table for each session, `results/torques/<session>/_effects.parquet`.
"""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, OF_UNIT, Column, columns
from limbtorque.tables.study_columns import SUMMARY_KEYS

EFFECT_TERMS = ("net", "inertial", "centripetal", "coriolis", "gravity", "base", "external")
EFFECT_STATISTICS = ("mean_nm", "impulse_nms", "max_nm", "min_nm")
EFFECT_KEYS = (
    *SUMMARY_KEYS[:-1],
    *columns(
        {
            "term:text": "net torque, or the sum of its terms of a kind; these add up to it",
            "statistic:text": "mean_nm, impulse_nms, max_nm or min_nm; for terms max_nm and min_nm are their values where the net torque has "
            "its maximum and minimum",
            "unit:text": "unit of value and effects",
            "value:value": ("value of the statistic", FLEXION),
        }
    ),
)
_EFFECT = "effect_"
EFFECT_OWNERS = {
    "study": "all trials of the study",
    "subject": "the trials of a subject",
    "session": "the trials of a subject in a session",
    "trial": "the trial alone",
}


def effect_column(owner: str, source: str, name: str = "") -> Column:
    """Column of the effect of one direction of input errors.

    Parameters
    ----------
    owner : str
        One of `EFFECT_OWNERS`.
    source, name : str
        Source of the error, and its part.

    Examples
    --------
    >>> effect_column("session", "joint_centres", "right knee across").name
    'effect_session_joint_centres_right_knee_across'
    """
    where = f" ({name})" if name else ""
    text = f"change of value with one standard deviation of {source}{where}, an error of {EFFECT_OWNERS[owner]}"
    return Column("_".join([_EFFECT + owner, source, *name.split()]), OF_UNIT, text, FLEXION)


EFFECT_COLUMNS = (  # of the data dictionary
    *EFFECT_KEYS,
    Column(
        f"{_EFFECT}<owner>_<source>_<part>",
        OF_UNIT,
        f"change of value with one standard deviation of an error of the section uncertainty; owner: trials that share it ({', '.join(EFFECT_OWNERS)})",
        FLEXION,
    ),
)


def owner_of_effect(name: str) -> str:
    """Owner of the error of an effect's column; empty for other columns."""
    return name.removeprefix(_EFFECT).split("_")[0] if name.startswith(_EFFECT) else ""
