"""Clauses of the methods from the motion to the muscles: segments, torques, external loads, sharing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from limbtorque.methods.study import MethodsStudy, Row, capital, counted, known_numbers, listed

USED_PLATE = re.compile(r"plate (\d+) frames \d+-\d+: this foot(?: \(\w+\))?(?:, as given)?, centre of pressure")


def segments(study: MethodsStudy) -> str:
    """Segment masses, centres of mass and moments of inertia."""

    def say(table: str) -> str:
        if table == "dempster_winter":
            return f"those of Dempster {study.cite('dempster')} as tabulated by Winter {study.cite('winter')}"
        return f"those of the table {table}"

    text = f"Segment masses, centres of mass and moments of inertia were {study.clauses('segments.table', say=say)}, "
    text += "as fractions of body mass and of the distance between the landmarks that the table names."
    measured = {str(row["subject"]) for row in study.done if study.row(str(row["trial"])).get("measured")}
    return text + (
        f" Measured parameters replaced them in {counted(len(measured), 'participant')}." if measured else ""
    )


def dynamics(study: MethodsStudy) -> str:
    """Net joint torques, their terms and how they were checked."""
    chains = list(dict.fromkeys(str(row["chain"]) for row in study.done))
    links = "; ".join(f"{name}: {', '.join(joint.name for joint in study.chain(name).joints)}" for name in chains)
    worst = known_numbers(study.done, "closure_nm")
    text = (
        f"Net joint torques (internal moments, exerted by the proximal segment on the distal one) of planar chains on a moving base ({links}) "
        "were computed term by term from Lagrange's equations: inertial, centripetal, Coriolis, gravity, base motion"
    )
    text += " and external load" if _loaded(study) else ""
    text = text if _loaded(study) else text.replace("gravity, base motion", "gravity and base motion")
    text += (
        f"; a recursive Newton-Euler computation of the same motion gave the same net torques within {max(worst):.1g} N m"
        if worst
        else ""
    )
    gravity = {values[0] for values in study.options("gravity_m_s2")}
    odd = f" Gravity was {listed([f'{g:g}' for g in sorted(gravity)])} m/s^2." if gravity != {9.80665} else ""
    return f"{text}.{odd}"


def loads(study: MethodsStudy) -> str:
    """External loads: springs, constant forces, force plates, or none."""
    named = _named_loads(study)
    text = [
        f"in {counted(count, 'trial')} {_load(study.settings.loads[name], name)} acted on the last segment"
        for name, count in named.items()
        if name in study.settings.loads
    ]
    ground = _on_plates(study)
    if ground:
        text.append(_plates(study, ground))
    unused = [
        row
        for row in study.done
        if row not in ground
        and study.chain(str(row["chain"])).ground_contact
        and not study.row(str(row["trial"])).get("load")
    ]
    if unused:
        text.append(
            f"in {counted(len(unused), 'trial')} no ground reaction force was applied: force plates were not used "
            "(plates.assignment: none)"
        )
    without = len(study.done) - len(ground) - len(unused) - sum(named.values())
    if without and text:
        limbs = sorted({str(row["chain"]) for row in study.done if not study.chain(str(row["chain"])).ground_contact})
        only = f" ({listed(limbs)})" if ground or unused else ""
        others = "the other trial" if without == 1 else f"the other {without} trials"
        text.append(f"{others}{only} had no external load")
    elif without:
        text.append("there was no external load")
    joined = ". ".join(map(capital, text))
    return f"{joined}."


def _named_loads(study: MethodsStudy) -> Counter[str]:
    """Loads that the table of trials names, and how many trials have them."""
    named = (study.row(str(row["trial"])).get("load") for row in study.done)
    return Counter(str(name) for name in named if name)


def _on_plates(study: MethodsStudy) -> list[Row]:
    """Trials whose external load is that of force plates."""
    return [
        row
        for row in study.done
        if study.chain(str(row["chain"])).ground_contact
        and not study.row(str(row["trial"])).get("load")
        and study.value(row, "plates.assignment") != "none"
    ]


def _loaded(study: MethodsStudy) -> bool:
    """Whether any trial can have an external load."""
    return bool(_named_loads(study) or _on_plates(study))


def _load(load: Any, name: str) -> str:
    if load.type == "spring":
        rest = f" and rest length {load.rest_length_m:g} m" if load.rest_length_m else ""
        return f"a spring ({name}, stiffness {load.stiffness_n_m:g} N/m{rest})"
    return f"a constant force ({name}, {math.hypot(*load.force_n):g} N)"


def _plates(study: MethodsStudy, ground: Sequence[Row]) -> str:
    which = study.clauses(
        "plates.assignment",
        "plates.threshold_n",
        say=lambda assigned, newton: (
            f"assigned to the feet by their position on the plates (threshold {newton:g} N)"
            if assigned == "auto"
            else f"plates {', '.join(map(str, assigned))} (threshold {newton:g} N)"
        ),
        of=ground,
    )
    own = [row for row in ground if study.value(row, "filter.force_cutoff_hz") is not None]
    smoothed = [row for row in ground if row not in own and study.value(row, "filter.method") != "none"]
    text = f"ground reaction forces were measured with force plates, {which}"
    parts = []
    if smoothed:
        parts.append("filtered with the filter and cut-off of the positions")
    if own:
        parts.append(
            f"filtered at {study.clauses('filter.force_cutoff_hz', say=lambda hz: f'{hz:g} Hz', of=own)}, which is not the cut-off of the positions"
        )
    text += f", and {' or '.join(parts)}" if parts else ""
    text += _used_plates(ground)
    unknown = [number for number in known_numbers(ground, "unmeasured_share") if number > 0.0]
    if unknown:
        margin = study.clauses("plates.min_contact_s", say=lambda s: f"{s:g} s before and after", of=ground)
        text += (
            f"; frames with the foot on the ground but not on a usable plate, and {margin}, have no torques (up to "
            f"{100.0 * max(unknown):.0f} % of the frames of a trial, in {counted(len(unknown), 'trial')})"
        )
    belt = {values[0] for values in study.options("plates.belt_speed_m_s", of=ground)} - {0.0}
    return text + (f"; the belt ran at {listed([f'{speed:g}' for speed in sorted(belt)])} m/s" if belt else "")


def _used_plates(ground: Sequence[Row]) -> str:
    """Which plates were used by how many trials, from the notes of the ledger; nothing where they do not say."""
    noted = [row for row in ground if row.get("notes")]
    used = Counter(int(number) for row in noted for number in set(USED_PLATE.findall(str(row["notes"]))))
    if not used:
        return ""
    each = listed([f"plate {number} in {counted(count, 'trial')}" for number, count in sorted(used.items())])
    without = sum(not USED_PLATE.search(str(row["notes"])) for row in noted)
    return f"; a foot stood on {each}" + (f", and on no usable plate in {counted(without, 'trial')}" if without else "")


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
    text = f"{_sets(study, shared)}Joint torques were shared among the muscles by minimising {by}"
    weights = study.settings.muscles.weights
    text += f", with weights for {', '.join(sorted(weights))}" if weights else ""
    reserve = study.clauses(
        "muscles.reserve",
        say=lambda kind: {
            "least": "torque beyond the muscles' strength was assigned to reserve torques as small as possible",
            "priced": "a priced reserve torque was allowed at every joint",
            "none": "frames whose torque is beyond the muscles' strength have no muscle forces",
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
        f". The torques were beyond the muscles' strength in up to {100.0 * max(short):.2g} % of the frames of a trial"
        if short
        else ""
    )
    return f"{text}."


def _sets(study: MethodsStudy, shared: Sequence[Row]) -> str:
    """The muscles of each chain, and where their moment arms and strengths are from, one sentence for each chain."""
    sentences = []
    for chain in dict.fromkeys(str(row["chain"]) for row in shared):
        told = study.provenance.get("muscle_sets", {}).get(chain)
        if not told:
            continue
        sources = told["sources"]
        count = sum(len(one["muscles"]) for one in sources)
        several = len(sources) > 1
        of = [one["model"] + (f" ({counted(len(one['muscles']), 'muscle')})" if several else "") for one in sources]
        where = f", {told['file']}" if told["file"] else ""
        sentences.append(
            f"The {chain} had {counted(count, 'muscle')} (muscle set {told['name']}{where}), with moment arms and strengths from "
            f"{'; '.join(of)}. "
        )
    return "".join(sentences)
