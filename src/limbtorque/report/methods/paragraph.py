"""The methods of a study as a paragraph to paste."""

from __future__ import annotations

from collections import Counter

from limbtorque.report.methods.curves import curves
from limbtorque.report.methods.forces import dynamics, loads, muscles, segments
from limbtorque.report.methods.motion import derivatives, gaps, joints, plane, position_filter
from limbtorque.report.methods.study import MethodsStudy, Row, known_numbers, span
from limbtorque.tables.words import capital, counted, listed, was

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
        return " ".join((excluded(study), "No trial could be analysed, so there is nothing to describe."))
    parts = (
        trials,
        excluded,
        frames,
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
        curves,
        _flags,
        software,
    )
    return " ".join(filter(None, (part(study) for part in parts)))


def trials(study: MethodsStudy) -> str:
    """Trials that were analysed, of how many recordings and participants, and which limbs."""
    done = study.done
    subjects = {str(row["subject"]) for row in done}
    masses = [study.row(str(row["trial"])).get("body_mass_kg") for row in done]
    known = sorted({f"{float(mass):g}" for mass in masses if mass is not None}, key=float)
    mass = listed(known) if len(known) < 3 else f"{known[0]} to {known[-1]}"
    whose = counted(len(subjects), "participant") + (f" (body mass {mass} kg)" if known else "")
    limbs = Counter(f"{row['side']} {row['chain']}" for row in done)
    each = listed([f"{limb} ({count})" for limb, count in sorted(limbs.items())])
    files = len({_recording(row) for row in done})
    if files < len(done):
        return (
            f"{capital(counted(files, 'recording'))} of {whose} {was(files)} analysed as {counted(len(done), 'trial')}, "
            f"one for each limb: {each}."
        )
    return f"{capital(counted(len(done), 'trial'))} of {whose} {was(len(done))} analysed: {each}."


def _recording(row: Row) -> str:
    """Recording of a trial; one of which no file is known counts as one of its own."""
    return str(row.get("file") or row["trial"])


def excluded(study: MethodsStudy) -> str:
    """Trials that could not be analysed, and why; nothing where there are none."""
    failed = [row for row in study.ledger if row["status"] == "failed"]
    if not failed:
        return ""
    reasons = Counter(str(row["reason"]).split(" ")[0] for row in failed)
    why = ", ".join(
        f"{FAILED.get(reason, reason or 'no reason given')} ({count})" for reason, count in reasons.most_common()
    )
    return f"{counted(len(failed), 'further trial' if study.done else 'trial')} {was(len(failed))} excluded: {why}."


def frames(study: MethodsStudy) -> str:
    """Frames that were recorded and analysed, in all and per trial; nothing where the ledger does not say."""
    recorded, analysed = (
        [int(number) for number in known_numbers(study.done, name)] for name in ("n_frames_recorded", "n_frames")
    )
    if not recorded or not len(recorded) == len(analysed) == len(study.done):
        return ""
    each = f"{min(analysed)}" if min(analysed) == max(analysed) else f"{min(analysed)} to {max(analysed)}"
    each = f" ({each} in each trial)" if len(analysed) > 1 else ""
    whole = dict(zip((_recording(row) for row in study.done), recorded, strict=True))  # each recording once
    text = f"{sum(whole.values())} frames were recorded (at {span(study.done, 'rate_hz', 'Hz')})"
    if recorded == analysed:
        return f"{text} and all were analysed{each}."
    if len(whole) == len(study.done):
        return f"{text} and {sum(analysed)} of them analysed{each}."
    shares = [100.0 * some / of for some, of in zip(analysed, recorded, strict=True)]
    return f"{text}; {min(shares):.0f} to {max(shares):.0f} % of a recording were analysed in a trial{each}."


def _more(study: MethodsStudy) -> str:
    text = []
    replayed = [row for row in study.done if study.value(row, "replay.enabled")]
    if replayed:
        ended = known_numbers(replayed, "replay_lost")
        within = study.clauses("replay.tolerance_deg", say=lambda deg: f"{deg:g} degrees", of=replayed)
        lost = sum(number > 0.0 for number in ended)
        asked = "" if len(replayed) == len(study.done) else " for which this was done (replay.enabled)"
        without = len(replayed) - len(ended)
        text.append(
            f"Integrated forward from the first frame, the torques lost the recorded motion in {lost} of {counted(len(ended), 'trial')}{asked} "
            f"(reproduced: within {within})"
            + (f"; {counted(without, 'trial')} had too few frames with a known torque for that." if without else ".")
        )
    if (True,) in study.options("torques.induced_accelerations"):
        text.append(f"Accelerations induced by each torque were computed {study.cite('zajac')}.")
    return " ".join(text)


def _flags(study: MethodsStudy) -> str:
    flagged = [row for row in study.done if row["status"] == "flagged"]
    edges = (
        "Frames so close to the ends of a trial that they depend on how the filter treats its ends were left out of "
        "all summaries and mean curves."
    )
    if not flagged:
        return edges
    names = Counter(name for row in flagged for name in str(row["reason"]).split())
    raised = ", ".join(f"{name} ({count})" for name, count in names.most_common())
    return f"{edges} Quality flags were raised in {len(flagged)} of {counted(len(study.done), 'trial')}: {raised}."


def software(study: MethodsStudy) -> str:
    """Program and libraries with their versions."""
    versions = study.provenance.get("libraries", {})
    used = ", ".join(f"{name} {versions[name]}" for name in ("numpy", "scipy", "snakemake") if name in versions)
    program = study.provenance["program"]
    return f"All computations were done with {program['name']} {program['version']} (Python {study.provenance['python']}{f', {used}' if used else ''})."
