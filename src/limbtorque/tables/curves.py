"""Columns of `results/curves`, `ensembles.csv` and `windows.csv`: time-normalised curves and their means."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.study.settings import Joint
from limbtorque.tables.column import FLEXION, GROUP_COLUMNS, OF_UNIT, TRIAL_COLUMNS, Column
from limbtorque.tables.torques import term_columns

_PERCENT = Column("percent", "%", "point of the window, from 0 at its start to 100 at its end (results/windows.csv)")
_QUANTITY = (
    Column("quantity", "", "quantity; the dictionary's table 'curves.quantity' defines each", kind=str),
    Column("unit", "", "unit of the quantity", kind=str),
    _PERCENT,
)
_CURVE_SIGN = f"angles, velocities, torques: {FLEXION}; powers: energy into the segments"
CURVE_COLUMNS = (
    *TRIAL_COLUMNS,
    *_QUANTITY,
    Column(
        "value",
        OF_UNIT,
        "value of the quantity, by cubic splines of time through the frames; missing where the frames around it have none, or are at the ends (column edge)",
        _CURVE_SIGN,
    ),
)
ENSEMBLE_COLUMNS = (
    *GROUP_COLUMNS,
    *_QUANTITY,
    Column(
        "mean",
        OF_UNIT,
        "mean of the trials, or of the subjects' means where ensembles.spread_over is subjects",
        _CURVE_SIGN,
    ),
    Column("sd", OF_UNIT, "standard deviation (n - 1) of what the mean is of; empty for one"),
    Column("n_trials", "1", "trials with a value at this point", kind=int),
    Column("n_subjects", "1", "subjects with a value at this point", kind=int),
)
WINDOW_COLUMNS = (
    *TRIAL_COLUMNS,
    Column(
        "torque_status",
        "",
        "ok, flagged or failed: whether the ledger has a flag on the torques of this trial",
        kind=str,
    ),
    Column("window", "", "what is 0 to 100 %: movement, events or trial", kind=str),
    Column("start_s", "s", "start of the window, from the first frame of the recording"),
    Column("end_s", "s", "end of the window, from the first frame of the recording"),
    Column(
        "cycle",
        "1",
        "which of the windows between events was taken (ensembles.cycle), from 1; 0 where there is none",
        kind=int,
    ),
    Column("n_cycles", "1", "how many there are in the analysed frames", kind=int),
    Column("known_share", "1", "share of the points of the curve with a known torque"),
    Column("included", "1", "1 where the trial is in curves and ensembles", kind=int),
    Column("note", "", "why a trial was left out, or which part of its curve is missing", kind=str),
)


def curve_columns(joints: Sequence[Joint], *, per_body_mass: bool) -> list[Column]:
    """Quantities of `results/curves` and `results/ensembles.csv`.

    Parameters
    ----------
    joints : sequence of Joint
        Joints of the chain, proximal first.
    per_body_mass : bool
        Torques and powers over body mass: their names and units end so.
    """
    names = [joint.name for joint in joints]
    over, ending = (" over body mass", "_kg") if per_body_mass else ("", "")
    columns = []
    for joint in joints:
        sign, name = f"{joint.flexion_name} positive", joint.name
        columns += [
            Column(f"{name}_flexion_deg", "deg", f"{joint.flexion_name} angle of the {name}", sign),
            Column(f"{name}_velocity_deg_s", "deg/s", f"angular velocity of the {name}", sign),
        ]
        net = Column(f"{name}_torque_nm", "N m", f"net {name} torque: the sum of its terms")
        columns += [
            Column(f"{c.name}{ending}", f"{c.unit}{ending.replace('_', '/')}", f"{c.definition}{over}", sign)
            for c in (net, *term_columns(name, names))
        ]
        text = f"power of the net {name} torque: torque times angular velocity{over}"
        unit = f"W{ending.replace('_', '/')}"
        columns.append(Column(f"{name}_power_w{ending}", unit, text, "positive: energy into the segments"))
    return columns
