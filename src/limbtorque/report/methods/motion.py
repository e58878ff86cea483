"""Clauses of the methods from the markers to the motion: joint centres, gaps, plane, filter, derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from limbtorque.motion.smoothing import SMOOTHED_BEFORE_M
from limbtorque.report.methods.study import MethodsStudy, Row, known_numbers, needed_landmarks, plain, span, used_sets
from limbtorque.tables.words import capital, counted, listed, was

CRITERIA = {
    "expected_error": "the least expected error of the second derivative, from the signal's own spectrum",
    "residual": "residual analysis {winter}",
    "autocorrelation": "the autocorrelation of the residual {challis}",
    "gcv": "generalised cross-validation {craven}",
}
SAME_CUTOFF_HZ = 0.005  # below, the cut-offs of two limbs are the same
KEPT_STRETCH = "the longest stretch was kept"  # in the notes of a trial with a gap too long to be filled
SCOPES = {
    "trial": "for all joint centres of a trial together",
    "joint": "for each joint centre by itself",
    "study": "for all trials of the study together",
}


def joints(study: MethodsStudy) -> str:
    """Joint centres, what stood for a landmark, and the kind of chain."""
    sets = used_sets(study)
    stand_ins: dict[str, str] = {}
    functional: list[str] = []
    for name, chains in sets.items():
        rules = study.settings.marker_sets.get(name, {})
        for landmark in needed_landmarks(study, chains):
            by = study.settings.substitutes.get(name, {}).get(landmark)
            if landmark not in rules and by in rules:
                stand_ins[landmark] = by
            if hasattr(rules.get(landmark, stand_ins.get(landmark)), "functional"):
                functional.append(landmark)
    text = "Joint centres and segment ends were taken from the markers in the table of landmarks."
    if functional:
        text += (
            f" {capital(listed([plain(name) for name in dict.fromkeys(functional)]))} {was(len(set(functional)))} found from the movement as the symmetrical "
            f"centre of rotation, in the plane {study.cite('ehrig')}."
        )
    if stand_ins:
        stood = listed([f"{plain(by)} for {plain(name)}" for name, by in stand_ins.items()])
        text += f" Landmarks without a marker were replaced: {stood}."
    rigid = study.clauses(
        "motion.angles",
        say=lambda kind: (
            "a chain of links of constant length was fitted to the joints of all frames by least squares"
            if kind == "rigid_chain"
            else "the direction of each segment was that of the line between its two ends"
        ),
    )
    return f"{text} {capital(rigid)}."


def gaps(study: MethodsStudy) -> str:
    """Gaps and spikes of the markers."""
    filled = {
        "cubic": "cubic interpolation",
        "pchip": "shape-preserving cubic interpolation",
        "rigid_segment": "the other markers of the rigid segment",
        "principal_components": f"the other markers by principal components {study.cite('gloersen')}"
        if any(values[0] == "principal_components" for values in study.options("gaps.method"))
        else "",
    }
    text = study.clauses(
        "gaps.max_gap_s",
        "gaps.method",
        say=lambda longest, how: (
            f"Gaps of up to {longest:g} s were filled by {filled[how]}" if longest else "Gaps were not filled"
        ),
    )
    cut = sum(KEPT_STRETCH in str(row.get("notes", "")) for row in study.done)
    longer = (
        f"; in {counted(cut, 'trial')} with a longer gap, the longest stretch without one was analysed" if cut else ""
    )
    refused = sum(row["status"] == "failed" and "gaps.longer" in str(row.get("message", "")) for row in study.ledger)
    longer += f"; {counted(refused, 'trial')} with a longer gap {was(refused)} refused" if refused else ""
    spikes = study.clauses(
        "gaps.spikes",
        say=lambda how: "spikes of up to three frames were treated as gaps" if how == "fill" else "",
    )
    return f"{text}{longer}{f'; {spikes}' if spikes else ''}."


def plane(study: MethodsStudy) -> str:
    """The plane of analysis."""
    names = {
        "sagittal": "the sagittal plane",
        "horizontal": "the horizontal plane",
        "best_fit": "the plane that fits the segments' directions best",
    }

    def say(kind: str, up: str, forward: str) -> str:
        ahead = "the direction of travel" if forward == "travel" else f"the laboratory's {forward} axis"
        return f"{names[kind]} ({up} up, {ahead} forward)"

    text = study.clauses("plane.kind", "plane.up_axis", "plane.forward_axis", say=say)
    return f"Joint centres were projected onto {text}."


def position_filter(study: MethodsStudy) -> str:
    """The filter of the joint centres and its cut-off."""

    def method(kind: str, order: int) -> str:
        return {
            "butterworth": f"a Butterworth filter of order {order}, run forwards and backwards (order {2 * order} in total, no phase lag)",
            "critically_damped": f"a critically damped filter of order {order}, run forwards and backwards {{robertson}}",
            "savitzky_golay": f"local polynomials of degree {2 * order - 1} {{savitzky}}",
            "cubic_spline": "a cubic smoothing spline {woltring}",
            "quintic_spline": "a quintic smoothing spline {woltring}",
            "none": "no filter",
        }[kind]

    rows = study.done
    smoothed = [row for row in rows if study.value(row, "filter.method") != "none"]
    if not smoothed:
        return "The positions of the joint centres were not filtered."
    how = study.clauses("filter.method", "filter.order", say=method, of=smoothed)
    text = f"The positions of the joint centres were low-pass filtered with {how}."
    if len(smoothed) < len(rows):
        text += f" Those of {counted(len(rows) - len(smoothed), 'trial')} were not filtered."
    chosen = [row for row in smoothed if isinstance(study.value(row, "filter.cutoff_hz"), str)]
    given = [row for row in smoothed if not isinstance(study.value(row, "filter.cutoff_hz"), str)]
    if given:
        text += f" The cut-off was {study.clauses('filter.cutoff_hz', say=lambda hz: f'{float(hz):g} Hz', of=given)}"
        text += f" ({counted(len(given), 'trial')})." if chosen else "."
    if chosen:
        by = study.clauses(
            "filter.cutoff_hz", "filter.scope", say=lambda c, scope: f"{CRITERIA[c]}, {SCOPES[scope]}", of=chosen
        )
        limits = {float(study.value(row, "filter.max_cutoff_hz")) for row in chosen}
        others = " for the other trials" if given else ""
        if len(limits) == 1 and len(_limited(study, chosen)) == len(chosen):
            text += (
                f" A cut-off of {limits.pop():g} Hz was used{others}, the limit set (filter.max_cutoff_hz); the criterion "
                f"({by}) would have given {span(chosen, 'own_cutoff_hz', 'Hz')}."
            )
        else:
            text += f" The cut-off{' of the others' if given else ''} was chosen by {by}: {span(chosen, 'cutoff_hz', 'Hz')}."
            text += _limit(study, chosen)
        text += _smoothed_before(study)
    text += _sides(study, smoothed)
    text += " The cut-off is the frequency at which the gain of the whole filter is 1/sqrt(2)."
    for name in ("robertson", "savitzky", "woltring", "winter", "challis", "craven"):
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", study.cite(name))
    return text


def _limited(study: MethodsStudy, chosen: Sequence[Row]) -> list[Row]:
    """Trials whose cut-off would have been above the limit."""
    return [
        row
        for row in chosen
        if float(row.get("own_cutoff_hz") or "nan") > 1.0001 * float(study.value(row, "filter.max_cutoff_hz"))
    ]


def _limit(study: MethodsStudy, chosen: Sequence[Row]) -> str:
    """Which chosen cut-offs were limited."""
    limit = study.clauses("filter.max_cutoff_hz", say=lambda hz: f"{float(hz):g} Hz", of=chosen)
    above = _limited(study, chosen)
    text = f" Chosen cut-offs were limited to {limit}"
    if above:
        text += f"; without this limit, {len(above)} of {counted(len(chosen), 'trial')} would have had {span(above, 'own_cutoff_hz', 'Hz')}"
    return f"{text}."


def _smoothed_before(study: MethodsStudy) -> str:
    """In how many trials the recordings had been smoothed before."""
    smooth = sum(noise_m < SMOOTHED_BEFORE_M for noise_m in known_numbers(study.done, "noise_m"))
    return (
        f" In {counted(smooth, 'trial')} the markers had less noise than any camera (below {1e3 * SMOOTHED_BEFORE_M:g} mm), "
        "so they had been smoothed before they were exported."
        if smooth
        else ""
    )


def _sides(study: MethodsStudy, smoothed: Sequence[Row]) -> str:
    """Whether both sides of the same recording were filtered alike; nothing where no recording has both, or all were."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in smoothed:
        about = study.row(str(row["trial"]))
        window = (str(about.get("start_s")), str(about.get("end_s")))
        key = (str(row.get("file") or row["trial"]), str(row["subject"]), str(row["chain"]), *window)
        for cutoff_hz in known_numbers([row], "cutoff_hz"):
            found.setdefault(key, {})[str(row["side"])] = cutoff_hz
    pairs = [list(sides.values()) for sides in found.values() if len(sides) == 2]
    apart = [abs(one - other) for one, other in pairs if abs(one - other) > SAME_CUTOFF_HZ]
    if not apart:
        return ""
    return (
        f" The left and the right limb of a recording had different cut-offs in {len(apart)} of {counted(len(pairs), 'such pair')} "
        f"(by up to {max(apart):.3g} Hz)."
    )


def derivatives(study: MethodsStudy) -> str:
    """How velocities and accelerations were found."""

    def say(method: str, accuracy: int) -> str:
        if method in ("cubic_spline", "quintic_spline"):
            return f"derivatives of a {method.replace('_', ' ')} through the joint angles"
        return f"central differences of order {accuracy}"

    return f"Velocities and accelerations were {study.clauses('filter.method', 'differentiation.accuracy', say=say)}."
