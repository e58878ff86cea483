"""Clauses of the methods from the motion to the muscles: segments, torques, external loads, sharing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from limbtorque.report.methods.study import MethodsStudy, Row, known_numbers
from limbtorque.tables.words import capital, counted, listed

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
        f"were computed term by term from Lagrange's equations: {_terms(study)}"
    )
    text += (
        f"; a recursive Newton-Euler computation of the same motion gave the same net torques within {max(worst):.1g} N m"
        if worst
        else ""
    )
    gravity = study.clauses("gravity_m_s2", say=lambda g: f"{g:g} m/s^2")
    odd = f" Gravity was {gravity}." if set(study.options("gravity_m_s2")) != {(9.80665,)} else ""
    return f"{text}.{odd}"


def _terms(study: MethodsStudy) -> str:
    """Terms of the torques, each with the number of its trials where not all have it: a single joint has no velocity terms."""
    several = sum(len(study.chain(str(row["chain"])).joints) > 1 for row in study.done)
    every = len(study.done)
    terms = {
        **{"inertial": every, "centripetal": several, "Coriolis": several, "gravity": every, "base motion": every},
        "external load": sum(_named_loads(study).values()) + len(_on_plates(study)),
    }
    return listed(
        [name if count == every else f"{name} ({counted(count, 'trial')})" for name, count in terms.items() if count]
    )


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
        feet = sum(study.chain(str(row["chain"])).ground_contact for row in study.done)
        some = "" if len(ground) == feet else f"in {counted(len(ground), 'trial')} "
        text.append(f"{some}{_plates(study, ground)}")
    unused = [row for row in _on_ground(study) if study.value(row, "plates.assignment") == "none"]
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
    return [row for row in _on_ground(study) if study.value(row, "plates.assignment") != "none"]


def _on_ground(study: MethodsStudy) -> list[Row]:
    """Trials of limbs that meet the ground, and for which the table of trials names no load."""
    return [
        row
        for row in study.done
        if study.chain(str(row["chain"])).ground_contact and not study.row(str(row["trial"])).get("load")
    ]


def force_filter(study: MethodsStudy) -> str:
    """The filter of the ground reaction forces, of the trials that used a plate."""
    if not any(study.chain(str(row["chain"])).ground_contact for row in study.done):
        return "no force plates"
    used = [row for row in _on_plates(study) if not row.get("notes") or USED_PLATE.search(str(row["notes"]))]
    if not used:
        return "no force plate was used"

    def say(hz: float | None, method: str) -> str:
        if hz is not None:
            return f"cut-off {hz:g} Hz, not that of the positions"
        return "not filtered" if method == "none" else "the same filter and cut-off as the positions"

    return study.clauses("filter.force_cutoff_hz", "filter.method", say=say, of=used)


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

    def smoothed(hz: float | None, method: str) -> str:
        if hz is not None:
            return f"filtered at {hz:g} Hz, which is not the cut-off of the positions"
        return "not filtered" if method == "none" else "filtered with the filter and cut-off of the positions"

    text = f"ground reaction forces were measured with force plates, {which}, and "
    text += study.clauses("filter.force_cutoff_hz", "filter.method", say=smoothed, of=ground) + _used_plates(ground)
    unknown = [number for number in known_numbers(ground, "unmeasured_share") if number > 0.0]
    if unknown:
        margin = study.clauses("plates.min_contact_s", say=lambda s: f"{s:g} s before and after", of=ground)
        text += (
            f"; frames with the foot on the ground but not on a usable plate, and {margin}, have no torques (up to "
            f"{100.0 * max(unknown):.0f} % of the frames of a trial, in {counted(len(unknown), 'trial')})"
        )
    belt = study.clauses(
        "plates.belt_speed_m_s", say=lambda speed: f"the belt ran at {speed:g} m/s" if speed else "", of=ground
    )
    return text + (f"; {belt}" if belt else "")


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
    some = "" if len(shared) == len(study.done) else f" of {len(shared)} of {counted(len(study.done), 'trial')}"
    text = f"{_sets(study, shared)}Joint torques{some} were shared among the muscles by minimising {by}"
    weighted = (sorted(study.entries(row, "muscles.weights")) for row in shared)
    weights = study.tell(f"with weights for {', '.join(names)}" if names else "" for names in weighted)
    text += f", {weights}" if weights else ""
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

    def fibres(on: bool) -> str:
        if not on:
            return ""
        return f"strength depended on fibre length and velocity, with a rigid tendon {study.cite('degroote')}"

    further = {
        "co_contraction": lambda share: (
            f"every muscle was held at {share:g} of the most active one's activation at its joints" if share else ""
        ),
        "force_length_velocity": fibres,
        "scale_moment_arms": lambda how: "moment arms were scaled to segment lengths" if how != "none" else "",
        "scale_strength": lambda how: "strengths were scaled to body mass" if how != "none" else "",
    }
    for name, told in further.items():
        clause = study.clauses(f"muscles.{name}", say=told, of=shared)
        text += f"; {clause}" if clause else ""
    short = [number for number in known_numbers(shared, "reserve_share") if number > 0.0]
    text += (
        f". The torques were beyond the muscles' strength in up to {100.0 * max(short):.2g} % of the frames of a trial"
        if short
        else ""
    )
    return f"{text}."


def _sets(study: MethodsStudy, shared: Sequence[Row]) -> str:
    """The muscles of each chain, and where their moment arms and strengths are from: a sentence for each chain and set."""
    told = study.provenance.get("muscle_sets", {})
    trials = study.provenance.get("trials", {})
    used = Counter(str(trials.get(str(row["trial"]), {}).get("muscle_set", "")) for row in shared)
    sets_of = Counter(told[key]["chain"] for key in used if key in told)
    sentences = []
    for key, n_trials in used.items():
        if key not in told:
            continue
        chain, sources = told[key]["chain"], told[key]["sources"]
        count = sum(len(one["muscles"]) for one in sources)
        several = len(sources) > 1
        of = [one["model"] + (f" ({counted(len(one['muscles']), 'muscle')})" if several else "") for one in sources]
        where = f", {told[key]['file']}" if told[key]["file"] else ""
        in_some = f"in {counted(n_trials, 'trial')} the" if sets_of[chain] > 1 else "the"
        sentences.append(
            f"{capital(in_some)} {chain} had {counted(count, 'muscle')} (muscle set {told[key]['name']}{where}), with moment arms and strengths from "
            f"{'; '.join(of)}. "
        )
    return "".join(sentences)
