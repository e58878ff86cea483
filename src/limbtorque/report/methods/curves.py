"""Clauses of the methods on curves over 0 to 100 %: time normalisation, averaging, and trials without a curve."""

from __future__ import annotations

from limbtorque.report.methods.study import MethodsStudy, Row
from limbtorque.statistics.wording import Percent, has_curve, reasons
from limbtorque.tables.words import counted

OPTIONS = ("window", "start_event", "end_event", "onset_share", "max_rest_s")


def curves(study: MethodsStudy) -> str:
    """Time normalisation, averaging and trials without a curve; nothing where no curves were asked for."""
    if not study.settings.ensembles.enabled:
        return ""
    told = (
        (without_curve(study),) if no_curve(study) else (normalisation(study), averaging(study), without_curve(study))
    )
    return " ".join(filter(None, told))


def no_curve(study: MethodsStudy) -> bool:
    """Whether curves were asked for and no trial has one, so that there is nothing to describe."""
    return bool(study.windows) and not any(map(has_curve, study.windows))


def normalisation(study: MethodsStudy) -> str:
    """What 0 to 100 % is, at how many points, and how they were interpolated."""
    points = study.settings.ensembles.n_points
    missing = {str(row["trial"]) for row in _without(study)}
    shown = [row for row in study.done if row["trial"] not in missing]
    what = study.clauses(*(f"ensembles.{name}" for name in OPTIONS), say=_window, of=shown or study.done)
    text = f"Curves were interpolated by cubic splines at {points} even points, of which 0 to 100 % is {what}."
    return " ".join(filter(None, (text, _chosen(study))))


def _chosen(study: MethodsStudy) -> str:
    """Which of several windows of a trial was taken; nothing where no trial has several."""
    several = {str(row["trial"]) for row in study.windows if has_curve(row) and int(row.get("n_cycles") or 0) > 1}
    rows = [row for row in study.done if row["trial"] in several]
    if not rows:
        return ""
    which = study.clauses("ensembles.cycle", say=_cycle, of=rows)
    return f"Of {counted(len(rows), 'trial')} with several of these, {which} was used."


def _cycle(cycle: str) -> str:
    if cycle == "most_known":
        return "the one with the largest share of frames of known torque"
    return "the first" if cycle == "first" else f"number {cycle}"


def _window(window: str, start_event: str, end_event: str, onset_share: float, max_rest_s: float) -> str:
    percent = Percent(window, start_event, end_event)
    if window == "movement":
        return (
            f"the movement, from where the speed of the limb's end in the plane first exceeds {100.0 * onset_share:g} % of its peak "
            f"to where it last falls below that (without rests of more than {max_rest_s:g} s)"
        )
    if window == "trial":
        return "the trial, without the frames at its ends that depend on how the filter treats them"
    return percent.phrase


def averaging(study: MethodsStudy) -> str:
    """What mean and standard deviation are over, in which units, and what became of flagged trials."""
    options = study.settings.ensembles
    over = (
        "over trials"
        if options.spread_over == "trials"
        else "over participants, of the mean of each participant's trials"
    )
    unit = "divided by body mass (N m/kg and W/kg)" if options.per_body_mass else "not divided by body mass (N m and W)"
    text = f"Means and standard deviations, by condition and side, are {over}; flexion is positive; torques and powers were {unit}"
    return (
        f"{text}."
        if options.include == "flagged"
        else f"{text}; trials with a quality flag on their torques were left out."
    )


def without_curve(study: MethodsStudy) -> str:
    """How many analysed trials have no curve, and why; nothing where all have one."""
    missing = _without(study)
    if not missing:
        return ""
    have = "has" if len(missing) == 1 else "have"
    return f"{len(missing)} of {counted(len(study.done), 'analysed trial')} {have} no curve: {reasons(missing)}."


def _without(study: MethodsStudy) -> list[Row]:
    """Rows of windows.csv of analysed trials without a curve."""
    done = {str(row["trial"]) for row in study.done}
    return [row for row in study.windows if str(row["trial"]) in done and not has_curve(row)]
