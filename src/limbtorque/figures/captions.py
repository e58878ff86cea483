"""Captions of the figures of a study: what is drawn, in which unit and sign, what colours and lines mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from limbtorque.figures.palette import (
    CHOSEN,
    COLOUR_NAMES,
    CRITERION,
    EDGE,
    GIVES,
    LINE_COLOURS,
    RESIDUAL,
    SHADE_NAMES,
    STATUS_NAMES,
    TAKES,
    TERM_COLOURS,
    UNKNOWN,
)
from limbtorque.figures.study_figures import condition_colours, drawn_quantities, trial_counts
from limbtorque.figures.term_kinds import TERM_MEANINGS, TERM_NAMES
from limbtorque.tables.words import capital

INTERNAL = "torques are internal: what the proximal segment exerts on the distal one"
SENSE = (
    "Counter-clockwise positive in the plane of motion (x forward, y up; in a horizontal plane y to the left); the panel "
    "says what that is at the joint"
)
CONTACT = "the foot is on the ground, or within plates.min_contact_s of it, and not on a usable plate"


@dataclass(frozen=True)
class Captioned:
    """What the captions of a study need to know.

    Attributes
    ----------
    joints : dict of str to sequence of str
        Joints of each chain of the study.
    terms : dict of str to collection of str
        Kinds of torque terms that are not zero throughout, of the trials of each chain.
    kinds : collection of str
        Figures that are drawn, of trials and of the study.
    curves : pandas.DataFrame or None
        `results/ensembles.csv`.
    percent : dict of str to str
        What 0 to 100 % of the mean curves of each chain is.
    missing : dict of str to str
        How many trials of each chain have a curve, and why others have none; empty where all have one.
    spread : str
        What mean and standard deviation are over.
    uneven : dict of str to sequence of str
        Sentences on means of trials that differ in how much of their stance has a known ground force, of each chain.
    ground : bool
        Whether a chain meets the ground: its force may not be known.
    ranges : tuple of int
        How many trials with muscle forces have their ranges (`muscles.ranges`), and how many trials have muscle forces.
    """

    joints: Mapping[str, Sequence[str]]
    terms: Mapping[str, Collection[str]]
    kinds: Collection[str]
    curves: pd.DataFrame | None = None
    percent: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    spread: str = "trials"
    uneven: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ground: bool = False
    ranges: tuple[int, int] = (1, 1)


def captions(study: Captioned) -> str:
    """Captions of all figures of a study, in Markdown: a paragraph for each kind of figure.

    Parameters
    ----------
    study : Captioned
        What is drawn.

    Returns
    -------
    str
        Captions; only terms that some trial has are defined.
    """
    chains = "; ".join(f"{chain}: {', '.join(joints)}" for chain, joints in study.joints.items())
    terms = [kind for kind in TERM_NAMES if any(kind in there for there in study.terms.values())]
    marks = _marks(study)
    drawn = {
        "torques": f"Net torque of each joint (black, N m) and its terms over time. {_terms(terms, 'black')} {SENSE}; {INTERNAL}. {marks}",
        "contributions": "Terms of the net torque of each joint (N m) piled up on both sides of zero over time; their sum is the net torque (black "
        f"line). {_terms(terms, 'black line')} Flexion upwards; {INTERNAL}. {marks}",
        "kinematics": f"Flexion of each joint (deg), its velocity (deg/s) and acceleration (deg/s²) over time, flexion positive. {_joints(study)} "
        f"{marks}",
        "power": f"Net joint torque times joint velocity (W) over time. Positive ({COLOUR_NAMES[GIVES]}): the torque gives energy to the segments; "
        f"negative ({COLOUR_NAMES[TAKES]}): it takes energy from them. {marks}",
        "limb": "The limb in the plane of motion (m, x forward, y up or, in a horizontal plane, to the left) at evenly spaced times, from light (first) to dark "
        f"(last); grey line: path of the endpoint.{_arrows(terms)}",
        "muscles": f"Force of each muscle (black line, N; tension positive) over time{_ranges(study)} {marks}",
        "cutoff": f"Root mean square difference between raw and filtered joint centres over the cut-off (mm, {COLOUR_NAMES[RESIDUAL]}), with the noise of "
        f"the joint centres together (dotted; the ledger's noise_m); and what was made small ({COLOUR_NAMES[CRITERION]}). "
        f"{COLOUR_NAMES[CHOSEN].capitalize()}: the cut-off that the data ask for; black, dashed: the one that was used, where it is another.",
    }
    paragraphs = ["# Captions", f"Chains and joints: {chains}."]
    paragraphs += [f"**{kind}** {text}" for kind, text in drawn.items() if kind in study.kinds]
    if study.curves is not None:
        for chain in study.joints:
            paragraphs += [f"**ensembles** ({chain}) {_ensembles(study, chain)}"] if "ensembles" in study.kinds else []
            paragraphs += [f"**peak_terms** ({chain}) {_peaks(study, chain)}"] if "peak_terms" in study.kinds else []
    if "flags" in study.kinds:
        paragraphs.append(
            f"**flags** Trials, or conditions where there are many, and the quality flags: {STATUS_NAMES['flagged']}: raised, with the share of the trials of a "
            f"condition; {STATUS_NAMES['ok']}: not raised; {STATUS_NAMES['failed']}: the trial failed, and has no flags. docs/quality.md explains each."
        )
    return "\n\n".join(paragraphs) + "\n"


def _marks(study: Captioned) -> str:
    """What shaded frames are."""
    why = f", among them frames in which {CONTACT}" if study.ground else ""
    return f"{SHADE_NAMES[EDGE].capitalize()}: frames within reach of the filter's ends; {SHADE_NAMES[UNKNOWN]}: not known{why}."


def _ranges(study: Captioned) -> str:
    """Ranges of the muscle forces, where they were asked for."""
    having, every = study.ranges
    if not having:
        return "."
    where = "" if having == every else f"In {having} of {every} trials (muscles.ranges), "
    colour = COLOUR_NAMES[LINE_COLOURS[0]]
    text = (
        f"dark {colour}: what it has to pull whatever the criterion; light {colour}: what it could pull with the same joint torques. "
        "The low panel goes up to the muscle's strength, the high one shows the line."
    )
    return f". {where}{text}" if where else f"; {text}"


def _terms(terms: Sequence[str], net: str) -> str:
    said = [f"{TERM_NAMES[kind]} ({COLOUR_NAMES[TERM_COLOURS[kind]]}): {TERM_MEANINGS[kind]}" for kind in terms]
    return f"{capital('; '.join(said))}; net ({net}): their sum." if said else ""


def _joints(study: Captioned) -> str:
    """Colours of the joints; of each chain where there are several."""
    several = len(study.joints) > 1
    said = []
    for chain, joints in study.joints.items():
        colours = ", ".join(
            f"{COLOUR_NAMES[colour]}: {joint}" for joint, colour in zip(joints, LINE_COLOURS, strict=False)
        )
        said.append(f"{chain}: {colours}" if several else colours)
    return f"{capital('; '.join(said))}."


def _arrows(terms: Sequence[str]) -> str:
    if "external" not in terms:
        return ""
    colour = COLOUR_NAMES[TERM_COLOURS["external"]].capitalize()
    return f" {colour} arrows: external force on the last segment; the panel says how much the longest is (N)."


def _ensembles(study: Captioned, chain: str) -> str:
    curves = _of_chain(study, chain)
    drawn = drawn_quantities(curves, study.joints[chain])
    units = dict(zip(curves["quantity"], curves["unit"], strict=True))
    kinds = {ending: units[name] for (_, ending), name in drawn.items()}
    names = {"flexion_deg": "flexion", "torque_nm": "net torque", "power_w": "power"}
    quantities = [f"{names[ending]} ({unit})" for ending, unit in kinds.items()]
    counts = trial_counts(curves, list(drawn.values()))
    if not counts:
        return _not_drawn(study, chain)
    colours = condition_colours(curves)
    shown = list(dict.fromkeys(condition for condition, _ in counts))
    conditions = "; ".join(f"{COLOUR_NAMES[colours[name]]}: {name or 'no condition'}" for name in shown)
    sides = {side for _, side in counts}
    lines = [f"{name}: {side}" for side, name in (("right", "solid"), ("left", "dashed")) if side in sides]
    text = (
        f"{capital(', '.join(quantities))} of {', '.join(study.joints[chain])} over 0 to 100 % of {study.percent[chain]}: mean (line) and one standard "
        f"deviation to each side (band) over {study.spread}. Flexion positive; power positive where the torque gives energy to the segments. "
        f"{capital(conditions)}. {capital('; '.join(lines))}."
    )
    spans = [str(most) if fewest == most else f"{fewest} to {most}" for fewest, most in counts.values()]
    if len(set(spans)) == 1:
        text += f" Trials in each mean: n = {spans[0]}."
    else:
        said = (f"{', '.join(filter(None, pair))}: n = {one}" for pair, one in zip(counts, spans, strict=True))
        text += f" Trials: {'; '.join(said)}."
    text += " No band where n = 1." if any(fewest == 1 for fewest, _ in counts.values()) else ""
    if any(fewest < most for fewest, most in counts.values()):
        text += (
            " Thin line and light band: fewer trials have a value there than the most that any point has; the mean steps where "
            "a trial begins or ends to count."
        )
    text += f" {missing} results/windows.csv names them." if (missing := study.missing.get(chain, "")) else ""
    return " ".join([text, *study.uneven.get(chain, ())])


def _not_drawn(study: Captioned, chain: str) -> str:
    return (
        f"Not drawn. {study.missing.get(chain) or 'No trial has a curve.'} results/windows.csv has the reason of each."
    )


def _peaks(study: Captioned, chain: str) -> str:
    curves = _of_chain(study, chain)
    torques = [name for name in curves["quantity"].unique() if "_torque_nm" in name]
    if not trial_counts(curves, torques):
        return _not_drawn(study, chain)
    unit = next((u for q, u in zip(curves["quantity"], curves["unit"], strict=True) if "_torque_nm" in q), "N m")
    there = _terms_of_means(curves, study.joints[chain])
    terms = [kind for kind in TERM_NAMES if kind in there]
    return (
        f"Terms of the mean torque of each joint ({unit}) at the moment when the mean net torque (black line) is largest, in % of {study.percent[chain]}; flexion positive; "
        f"{INTERNAL}. {_terms(terms, 'black line')} On grey ground, for the reason below: a larger torque may lie elsewhere, as "
        "less than 90 % of the mean curve is known, as fewer trials have a torque there than have a curve, or as the mean torque is not known just before or just after."
    )


def _terms_of_means(curves: pd.DataFrame, joints: Sequence[str]) -> set[str]:
    """Kinds of terms whose mean is not zero throughout: a trial without a curve may have had others."""
    some = curves.loc[curves["mean"].abs() > 0.0, "quantity"].unique()
    starts = tuple(f"{joint}_torque_" for joint in joints)
    return {name.removeprefix(start).split("_")[0] for name in some for start in starts if name.startswith(start)}


def _of_chain(study: Captioned, chain: str) -> pd.DataFrame:
    assert study.curves is not None
    return study.curves[study.curves["chain"] == chain]
