"""Columns of `curves`, `ensembles.csv` and `windows.csv`."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.study.chains import Joint
from limbtorque.tables.column import (
    FLEXION,
    GROUP_COLUMNS,
    INTO_SEGMENTS,
    N_REJECTED,
    OF_UNIT,
    SPREAD_OVER,
    TOO_FEW,
    TORQUE_STATUS,
    TRIAL_COLUMNS,
    Column,
)
from limbtorque.tables.torque_columns import term_columns

_QUANTITY = (
    Column("quantity", "", "quantity, defined in table curves.quantity of the data dictionary", kind=str),
    Column("unit", "", "unit of the quantity", kind=str),
    Column("percent", "%", "point of the window, from 0 at its start to 100 at its end (windows.csv)"),
)
_SIGN = f"angles, velocities, torques: {FLEXION}; powers: energy into the segments"
_BY_ERRORS = "standard deviation of value by errors of the inputs that"
_KNOWN = "of net torques of trials with torques.bands, else empty"
OWNERS = (  # in the order of `uncertainty.bands.OWNERS`
    Column("sd_by_study", OF_UNIT, f"{_BY_ERRORS} all trials of the study share; {_KNOWN}"),
    Column("sd_by_subject", OF_UNIT, f"{_BY_ERRORS} the trials of a subject share; {_KNOWN}"),
    Column("sd_by_trial", OF_UNIT, f"{_BY_ERRORS} are of this trial alone; {_KNOWN}"),
)
CURVE_COLUMNS = (
    *TRIAL_COLUMNS,
    *_QUANTITY,
    Column(
        "value",
        OF_UNIT,
        "value of the quantity, interpolated between frames by cubic splines; empty where a neighbouring frame has no value or has edge effects (column edge)",
        _SIGN,
    ),
    *OWNERS,
)
ENSEMBLE_COLUMNS = (
    *GROUP_COLUMNS,
    *_QUANTITY,
    SPREAD_OVER,
    Column("mean", OF_UNIT, f"mean over the units of spread_over{TOO_FEW}", _SIGN),
    Column("sd", OF_UNIT, f"standard deviation (n - 1) over the units of spread_over{TOO_FEW}"),
    Column(
        "mean_error",
        OF_UNIT,
        "standard deviation of the mean by errors of the inputs, apart from sd; those that trials share are not averaged away; of "
        "net torques of trials with torques.bands, else empty",
    ),
    Column("n_subjects", "1", "number of subjects with a value at this point", kind=int),
    Column("n_trials", "1", "number of trials with a value at this point", kind=int),
    N_REJECTED,
)
WINDOW_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    Column("window", "", "definition of 0 to 100 %: movement, events, cycles or trial", kind=str),
    Column("start_s", "s", "start of the window, from the first frame of the recording"),
    Column("end_s", "s", "end of the window, from the first frame of the recording"),
    Column(
        "cycle",
        "1",
        "number of the window between events, or of the cycle, that was used (ensembles.cycle), from 1; 0 where there is none",
        kind=int,
    ),
    Column("n_cycles", "1", "number of such windows in the analysed frames", kind=int),
    Column(
        "events",
        "",
        "source of the events: file, or the method that found foot strikes and offs (docs/events.md); empty for windows without events",
        kind=str,
    ),
    Column("known_share", "1", "share of the points of the curve with a known torque"),
    Column("included", "1", "1 where the trial is in curves and ensembles", kind=int),
    Column("rejected_joints", "", "joints left out because their torques were rejected", kind=str),
    Column("note", "", "reason why the trial was left out, or the missing part of its curve", kind=str),
)


def curve_columns(joints: Sequence[Joint], *, per_body_mass: bool) -> list[Column]:
    """Quantities of `results/curves` and `results/ensembles.csv`.

    Parameters
    ----------
    joints : sequence of Joint
        Joints of the chain, proximal first.
    per_body_mass : bool
        Divide torques and powers by body mass; their names then end in ``_kg`` and their units in ``/kg``.
    """
    names = [joint.name for joint in joints]
    over, ending = (" over body mass", "_kg") if per_body_mass else ("", "")
    per = ending.replace("_", "/")
    columns = []
    for joint in joints:
        sign, name = f"{joint.flexion_name} positive", joint.name
        columns += [
            Column(f"{name}_flexion_deg", "deg", f"{joint.flexion_name} angle of the {name}", sign),
            Column(f"{name}_velocity_deg_s", "deg/s", f"angular velocity of the {name}", sign),
        ]
        net = Column(f"{name}_torque_nm", "N m", f"net {name} torque: the sum of its terms")
        columns += [
            Column(f"{c.name}{ending}", f"{c.unit}{per}", f"{c.definition}{over}", sign)
            for c in (net, *term_columns(name, names))
        ]
        text = f"power of the net {name} torque: torque times angular velocity{over}"
        columns.append(Column(f"{name}_power_w{ending}", f"W{per}", text, INTO_SEGMENTS))
    return columns
