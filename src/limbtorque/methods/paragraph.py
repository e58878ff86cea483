"""The methods of a study as a paragraph to paste."""

from __future__ import annotations

from collections import Counter

from limbtorque.methods.forces import dynamics, loads, muscles, segments
from limbtorque.methods.motion import derivatives, gaps, joints, plane, position_filter
from limbtorque.methods.study import MethodsStudy, capital, counted, known_numbers, was

FAILED = {
    "read": "the recording could not be read",
    "landmark": "a marker or landmark was missing",
    "signal": "gaps or too few frames",
    "segment": "segment parameters could not be had",
    "load": "the external load was missing or contradictory",
}


def methods_paragraph(study: MethodsStudy) -> str:
    """The paragraph."""
    if not study.done:
        return " ".join((trials(study), "No trial could be analysed, so there is nothing to describe."))
    parts = (
        trials,
        joints,
        gaps,
        plane,
        position_filter,
        derivatives,
        segments,
        dynamics,
        loads,
        muscles,
        _more,
        _flags,
        software,
    )
    return " ".join(filter(None, (part(study) for part in parts)))


def trials(study: MethodsStudy) -> str:
    """Trials that were analysed and those that were not."""
    done, failed = study.done, [row for row in study.ledger if row["status"] == "failed"]
    subjects = list(dict.fromkeys(str(row["subject"]) for row in done))
    masses = [study.row(str(row["trial"])).get("body_mass_kg") for row in done]
    known = sorted({float(mass) for mass in masses if mass is not None})
    span = f"{known[0]:g} kg" if len(known) == 1 else f"{known[0]:g} to {known[-1]:g} kg" if known else ""
    limbs = Counter(f"{row['side']} {row['chain']}" for row in done)
    text = f"{counted(len(done), 'trial')} of {counted(len(subjects), 'participant')}"
    text += f" (body mass {span})" if span else ""
    text += (
        f" {was(len(done))} analysed: {', '.join(f'{limb} ({count})' for limb, count in sorted(limbs.items()))}."
        if done
        else f" {was(len(done))} analysed."
    )
    if failed:
        reasons = Counter(str(row["reason"]).split(" ")[0] for row in failed)
        why = ", ".join(
            f"{FAILED.get(reason, reason or 'no reason given')} ({count})" for reason, count in reasons.most_common()
        )
        text += f" {counted(len(failed), 'further trial')} {was(len(failed))} excluded: {why}."
    return capital(text)


def _more(study: MethodsStudy) -> str:
    text = []
    if (True,) in study.options("replay.enabled"):
        within = study.clauses("replay.tolerance_deg", say=lambda deg: f"{deg:g} degrees")
        lost = sum(number > 0.0 for number in known_numbers(study.done, "replay_lost"))
        text.append(
            f"Integrated forward from the first frame, the torques lost the recorded motion in {lost} of {len(study.done)} trials "
            f"(reproduced: within {within})."
        )
    if (True,) in study.options("torques.induced_accelerations"):
        text.append(f"Accelerations induced by each torque were computed {study.cite('zajac')}.")
    return " ".join(text)


def _flags(study: MethodsStudy) -> str:
    flagged = [row for row in study.done if row["status"] == "flagged"]
    edges = "Frames within reach of the filter's ends were left out of all summaries."
    if not flagged:
        return edges
    names = Counter(name for row in flagged for name in str(row["reason"]).split())
    return f"{edges} {counted(len(flagged), 'trial')} {was(len(flagged))} flagged: {', '.join(f'{n} ({c})' for n, c in names.most_common())}."


def software(study: MethodsStudy) -> str:
    """Program and libraries with their versions."""
    versions = study.provenance.get("libraries", {})
    used = ", ".join(f"{name} {versions[name]}" for name in ("numpy", "scipy", "snakemake") if name in versions)
    program = study.provenance["program"]
    return f"All was computed with {program['name']} {program['version']} (Python {study.provenance['python']}{f', {used}' if used else ''})."
