"""Clauses of the methods from the motion to the muscles: segments, torques, external loads, sharing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from limbtorque.methods.study import MethodsStudy, Row, capital, counted, known_numbers, listed


def segments(study: MethodsStudy) -> str:
    """Segment masses, centres of mass and moments of inertia."""

    def say(table: str) -> str:
        if table == "dempster_winter":
            return f"those of Dempster {study.cite('dempster')} as printed by Winter {study.cite('winter')}"
        return f"those of the table {table}"

    text = f"Segment masses, centres of mass and moments of inertia were {study.clauses('segments.table', say=say)}, "
    text += "as shares of body mass and of the length between the table's own landmarks."
    measured = {str(row["subject"]) for row in study.done if study.row(str(row["trial"])).get("measured")}
    return text + (
        f" Measured parameters took their place in {counted(len(measured), 'participant')}." if measured else ""
    )


def dynamics(study: MethodsStudy) -> str:
    """Net joint torques, their terms and how they were checked."""
    chains = list(dict.fromkeys(str(row["chain"]) for row in study.done))
    links = "; ".join(f"{name}: {', '.join(joint.name for joint in study.chain(name).joints)}" for name in chains)
    worst = known_numbers(study.done, "closure_nm")
    text = (
        f"Net joint torques (internal moments, the proximal segment acting on the distal one) of planar chains on a moving base ({links}) "
        "were found by Lagrange's equations, term by term: inertial, centripetal, Coriolis, gravity, base motion and external load"
    )
    text += (
        f"; a recursive Newton-Euler computation of the same motion differed by at most {max(worst):.1g} N m"
        if worst
        else ""
    )
    gravity = {values[0] for values in study.options("gravity_m_s2")}
    odd = f" Gravity was {listed([f'{g:g}' for g in sorted(gravity)])} m/s^2." if gravity != {9.80665} else ""
    return f"{text}.{odd}"


def loads(study: MethodsStudy) -> str:
    """External loads: springs, constant forces, force plates, or none."""
    named = Counter(str(study.row(str(row["trial"])).get("load") or "") for row in study.done)
    text = []
    for name, count in named.items():
        if name and name in study.settings.loads:
            text.append(
                f"{_load(study.settings.loads[name], name)} acted on the last segment in {counted(count, 'trial')}"
            )
    ground = [
        row
        for row in study.done
        if study.chain(str(row["chain"])).ground_contact
        and not study.row(str(row["trial"])).get("load")
        and study.value(row, "plates.assignment") != "none"
    ]
    if ground:
        text.append(_plates(study, ground))
    without = len(study.done) - len(ground) - sum(count for name, count in named.items() if name)
    if without:
        text.append(f"no external load acted in {counted(without, 'trial')}" if text else "no external load acted")
    joined = ". ".join(map(capital, text))
    return f"{joined}."


def _load(load: Any, name: str) -> str:
    if load.type == "spring":
        rest = f" and a rest length of {load.rest_length_m:g} m" if load.rest_length_m else ""
        return f"a spring ({name}) of {load.stiffness_n_m:g} N/m{rest}"
    return f"a constant force ({name}) of {math.hypot(*load.force_n):g} N"


def _plates(study: MethodsStudy, ground: Sequence[Row]) -> str:
    which = study.clauses(
        "plates.assignment",
        "plates.threshold_n",
        say=lambda assigned, newton: (
            f"given to the feet by geometry above {newton:g} N"
            if assigned == "auto"
            else f"plates {', '.join(map(str, assigned))} above {newton:g} N"
        ),
        of=ground,
    )
    own = [row for row in ground if study.value(row, "filter.force_cutoff_hz") is not None]
    smoothed = [row for row in ground if row not in own and study.value(row, "filter.method") != "none"]
    text = f"ground reaction forces were those of force plates, {which}"
    parts = []
    if smoothed:
        parts.append("filtered like the markers, at the same cut-off")
    if own:
        parts.append(
            f"filtered at {study.clauses('filter.force_cutoff_hz', say=lambda hz: f'{hz:g} Hz', of=own)}, apart from the markers"
        )
    text += f", {' or '.join(parts)}" if parts else ""
    unknown = [number for number in known_numbers(ground, "unmeasured_share") if number > 0.0]
    if unknown:
        text += (
            f"; frames with ground contact but no usable plate were left out ({counted(len(unknown), 'trial')}, up to "
            f"{100.0 * max(unknown):.0f} % of the frames)"
        )
    belt = {values[0] for values in study.options("plates.belt_speed_m_s", of=ground)} - {0.0}
    return text + (f"; the belt ran at {listed([f'{speed:g}' for speed in sorted(belt)])} m/s" if belt else "")


def muscles(study: MethodsStudy) -> str:
    """The muscles and how torques were shared among them; nothing where none were."""
    shared = [row for row in study.done if row["muscle_status"] not in ("none", "failed")]
    if not shared:
        return ""

    def say(criterion: str, exponent: Any) -> str:
        ratio = (
            "activations (force over strength)" if criterion == "activation" else "stresses (force over cross-section)"
        )
        if exponent == "min_max":
            return f"the largest of the {ratio}, then the next, and so on {study.cite('rasmussen')}"
        power = {1.0: "", 2.0: "squared ", 3.0: "cubed "}.get(float(exponent), f"{float(exponent):g}th powers of the ")
        text = f"the sum of the {power}{ratio}"
        if criterion == "stress" and power == "cubed ":
            return f"{text} {study.cite('crowninshield')}"
        return f"{text} {study.cite('anderson')}" if criterion == "activation" and power == "squared " else text

    by = study.clauses("muscles.criterion", "muscles.exponent", say=say, of=shared)
    text = f"Joint torques were shared among muscles so that {by} was as small as can be"
    weights = study.settings.muscles.weights
    text += f", with weights for {', '.join(sorted(weights))}" if weights else ""
    reserve = study.clauses(
        "muscles.reserve",
        say=lambda kind: {
            "least": "torque beyond the muscles' reach was left to a reserve, the least that suffices",
            "priced": "a priced reserve torque was allowed at every joint",
            "none": "frames whose torque is beyond the muscles' reach have no forces",
        }[kind],
        of=shared,
    )
    text += f"; {reserve}"
    held = {values[0] for values in study.options("muscles.co_contraction", of=shared)} - {0.0}
    text += (
        f"; every muscle was held at {listed([f'{h:g}' for h in sorted(held)])} of the most active one's activation at its joints"
        if held
        else ""
    )
    if (True,) in study.options("muscles.force_length_velocity", of=shared):
        text += f"; strength depended on fibre length and velocity, with a rigid tendon {study.cite('degroote')}"
    if ("segment_length",) in study.options("muscles.scale_moment_arms", of=shared):
        text += "; moment arms were scaled to segment lengths"
    if ("mass",) in study.options("muscles.scale_strength", of=shared):
        text += "; strengths were scaled to body mass"
    short = [number for number in known_numbers(shared, "reserve_share") if number > 0.0]
    text += (
        f". The torques were beyond the muscles' reach in up to {100.0 * max(short):.2g} % of the frames of a trial"
        if short
        else ""
    )
    return f"{text}."
