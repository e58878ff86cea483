"""Methods page: paragraph, landmarks, references and checklist."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from limbtorque.chain.segments import MEASURED
from limbtorque.figures.templates import fill
from limbtorque.motion.smoothing import SMOOTHED_BEFORE_M
from limbtorque.report.methods.references import REFERENCES
from limbtorque.report.methods.study import MethodsStudy, Row, known_numbers, span, used_errors, with_counts
from limbtorque.statistics.mean_and_spread import unit_of_spread
from limbtorque.statistics.wording import Percent, has_curve, reasons, statuses_in_means
from limbtorque.study.chains import Carried, Functional, HipCentre, ShoulderCentre
from limbtorque.study.settings import Settings

FAILED = {
    "read": "the recording could not be read",
    "landmark": "a marker or landmark was missing",
    "signal": "gaps or too few frames",
    "segment": "the segment parameters could not be determined",
    "load": "the external load was missing or contradictory",
}
LONGEST_STRETCH = "longest part without gaps analysed"  # in the notes of a trial with a gap too long to be filled
SAME_CUTOFF_HZ = 0.005  # below, the cut-offs of two limbs are the same
USED_PLATE = re.compile(r"plate (\d+) frames \d+-\d+: this foot(?: \(\w+\))?(?:, as given)?, centre of pressure")


def methods_page(provenance: Mapping[str, Any], ledger: Sequence[Row], windows: Sequence[Row] = ()) -> str:
    """Paragraph, table of landmarks, references and checklist of a study, in Markdown.

    Parameters
    ----------
    provenance : mapping
        Content of ``provenance.json``.
    ledger : sequence of mapping
        Rows of ``ledger.csv``, as text or as values.
    windows : sequence of mapping, optional
        Rows of ``windows.csv``, where there is one.

    Returns
    -------
    str
        Text of ``page.md.jinja`` with the values of this study.
    """
    study = MethodsStudy(Settings.model_validate(provenance["settings"]), provenance, ledger, windows)
    template = "report/methods/page.md.jinja"
    return fill(
        template, study=study, cite=study.cite, each=study.each, span=span, all_references=REFERENCES, **facts(study)
    )


def facts(study: MethodsStudy) -> dict[str, Any]:
    """All template values, by name."""
    return {
        "failures": failures(study),
        **(
            {
                **trials(study),
                **frames(study),
                **landmarks(study),
                **gaps(study),
                **cutoffs(study),
                **dynamics(study),
                "errors": used_errors(study),
                **loads(study),
                **plates(study),
                **muscles(study),
                **electromyography(study),
                "induced": any("induced_accelerations" in kinds for (kinds,) in study.options("torques.columns")),
                **curves(study),
            }
            if study.done
            else {}
        ),
    }


def failures(study: MethodsStudy) -> dict[str, int]:
    """Number of trials that could not be analysed, by reason, the most frequent first."""
    failed = Counter(str(row["reason"]).split(" ")[0] for row in study.ledger if row["status"] == "failed")
    return {FAILED.get(reason, reason or "no reason given"): count for reason, count in failed.most_common()}


def trials(study: MethodsStudy) -> dict[str, Any]:
    """Participants, their masses, limbs, recordings and flags."""
    masses = [study.row(row).get("body_mass_kg") for row in study.done]
    limbs = Counter(f"{row['side']} {row['chain']}" for row in study.done)
    flags = Counter(
        name for row in study.done if row["status"] in ("caution", "rejected") for name in str(row["reason"]).split()
    )
    return {
        "n_trials": len(study.done),
        "n_participants": len({str(row["subject"]) for row in study.done}),
        "n_recordings": len({_recording(row) for row in study.done}),
        "n_caution": sum(row["status"] == "caution" for row in study.done),
        "n_rejected": sum(row["status"] == "rejected" for row in study.done),
        "masses_kg": sorted({float(mass) for mass in masses if mass is not None}),
        "limbs": dict(sorted(limbs.items())),
        "flags": dict(flags.most_common()),
    }


def _recording(row: Row) -> str:
    """Recording of a trial; trials without a known file count separately."""
    return str(row.get("file") or row["trial"])


def frames(study: MethodsStudy) -> dict[str, Any]:
    """Recorded and analysed frames, if the ledger has them for every trial."""
    recorded, analysed = (
        [int(number) for number in known_numbers(study.done, name)] for name in ("n_frames_recorded", "n_frames")
    )
    if not recorded or not len(recorded) == len(analysed) == len(study.done):
        return {"n_frames_recorded": 0}
    once = dict(zip((_recording(row) for row in study.done), recorded, strict=True))
    return {
        "n_frames_recorded": sum(once.values()),
        "all_analysed": recorded == analysed,
        "one_trial_each": len(once) == len(study.done),
        "analysed": analysed,
        "analysed_percent": [100.0 * some / whole for some, whole in zip(analysed, recorded, strict=True)],
    }


def landmarks(study: MethodsStudy) -> dict[str, Any]:
    """Rules of the landmarks: anatomical, functional, or from another landmark."""
    rows = []
    for name, chains in used_sets(study).items():
        rules = study.settings.marker_sets.get(name, {})
        for landmark in needed_landmarks(study, chains):
            by = study.settings.substitutes.get(name, {}).get(landmark, "")
            if landmark in rules:
                rows.append((name, landmark, "", rules[landmark]))
            elif by in rules:
                rows.append((name, landmark, by, rules[by]))
    by_rule: dict[str, dict[str, None]] = {}
    for _, landmark, by, rule in rows:
        if isinstance(rule, Functional | Carried | HipCentre | ShoulderCentre) and not by:
            method = getattr(rule, "hip_centre", "") or getattr(rule, "shoulder_centre", "") or type(rule).__name__
            by_rule.setdefault(method, {})[landmark] = None
    return {
        "landmarks": rows,
        "functional": list(by_rule.pop("Functional", ())),
        "carried": list(by_rule.pop("Carried", ())),
        "predicted": {rule: list(names) for rule, names in by_rule.items()},
        "replaced": {landmark: by for _, landmark, by, _ in rows if by},
    }


def used_sets(study: MethodsStudy) -> dict[str, list[str]]:
    """Marker sets of the analysed trials, with their chains."""
    only = next(iter(study.settings.marker_sets), "")
    used: dict[str, list[str]] = {}
    for row in study.done:
        chains = used.setdefault(str(study.row(row).get("marker_set") or only), [])
        if row["chain"] not in chains:
            chains.append(str(row["chain"]))
    return used


def needed_landmarks(study: MethodsStudy, chains: Sequence[str]) -> list[str]:
    """Landmarks that chains need for joints, end and segment parameters."""
    table = study.provenance.get("segment_table", {})
    names: dict[str, None] = {}
    for chain in map(study.settings.chain, chains):
        names |= dict.fromkeys((*(joint.landmark for joint in chain.joints), chain.end))
        for segment in chain.segments:
            row = table.get(segment.row, {})
            names |= dict.fromkeys(row[end] for end in ("proximal", "distal") if end in row)
    return list(names)


def gaps(study: MethodsStudy) -> dict[str, Any]:
    """Trials with a gap too long to fill."""
    failed = [row for row in study.ledger if row["status"] == "failed"]
    return {
        "n_shortened": sum(LONGEST_STRETCH in str(row.get("notes", "")) for row in study.done),
        "n_refused": sum("gaps.longer" in str(row.get("message", "")) for row in failed),
    }


def cutoffs(study: MethodsStudy) -> dict[str, Any]:
    """Trials by cut-off: given, chosen or limited; limbs filtered differently."""
    filtered = [row for row in study.done if study.value(row, "filter.method") != "none"]
    chosen: list[Row] = []
    given: list[Row] = []
    for row in filtered:
        (chosen if isinstance(study.value(row, "filter.cutoff_hz"), str) else given).append(row)
    limits = {float(study.value(row, "filter.max_cutoff_hz")) for row in chosen}
    limited = [row for row in chosen if _is_limited(study, row)]
    pairs, apart_hz = _pairs_of_sides(study, filtered)
    return {
        "filtered": filtered,
        "given": given,
        "chosen": chosen,
        "limited": limited,
        "limit_hz": limits.pop() if len(limits) == 1 and len(limited) == len(chosen) else 0.0,
        "n_smoothed_before": sum(noise_m < SMOOTHED_BEFORE_M for noise_m in known_numbers(study.done, "noise_m")),
        "camera_noise_mm": 1e3 * SMOOTHED_BEFORE_M,
        "n_pairs": pairs,
        "apart_hz": apart_hz,
    }


def _is_limited(study: MethodsStudy, row: Row) -> bool:
    """Return True if the cut-off of a trial would exceed the limit."""
    own_hz = float(row.get("own_cutoff_hz") or "nan")
    return own_hz > 1.0001 * float(study.value(row, "filter.max_cutoff_hz"))


def _pairs_of_sides(study: MethodsStudy, filtered: Iterable[Row]) -> tuple[int, list[float]]:
    """Number of pairs of limbs, and the differences of their cut-offs, Hz."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in filtered:
        about = study.row(row)
        window = (str(about.get("start_s")), str(about.get("end_s")))
        key = (_recording(row), str(row["subject"]), str(row["chain"]), *window)
        for cutoff_hz in known_numbers([row], "cutoff_hz"):
            found.setdefault(key, {})[str(row["side"])] = cutoff_hz
    pairs = [list(sides.values()) for sides in found.values() if len(sides) == 2]
    return len(pairs), [abs(one - other) for one, other in pairs if abs(one - other) > SAME_CUTOFF_HZ]


def _added_masses(study: MethodsStudy, trial: Row) -> str:
    """Point masses on the segments of a trial's limb (`segments.added`)."""
    values = {**study.whole, **study.row(trial).get("options", {})}
    return ", ".join(
        f"{mass_kg:g} kg on the {segment.name.replace('_', ' ')}, at {100.0 * fraction:g} % of its length"
        for segment in study.chain(trial).segments
        if (mass_kg := values.get(f"segments.added.{segment.name}.mass_kg")) is not None
        for fraction in [values[f"segments.added.{segment.name}.fraction"]]
    )


def dynamics(study: MethodsStudy) -> dict[str, Any]:
    """Chains with their joints, terms with their trials, largest closure error, N m."""
    chains = dict.fromkeys(str(row["chain"]) for row in study.done)
    every, several = len(study.done), sum(len(study.chain(row).joints) > 1 for row in study.done)
    terms = {"inertial": every, "centripetal": several, "Coriolis": several, "gravity": every, "base motion": every}
    terms["external load"] = sum(_named_loads(study).values()) + len(_on_plates(study))
    return {
        "chains": {name: [joint.name for joint in study.settings.chain(name).joints] for name in chains},
        "terms": {name: count for name, count in terms.items() if count},
        "closure_nm": max(known_numbers(study.done, "closure_nm"), default=None),
        "measured": {
            str(row["subject"]) for row in study.done if set(study.row(row).get("measured", ())) & set(MEASURED)
        },
        "own_rows": sorted(name.replace("_", " ") for name in study.settings.segments.rows),
        "added": with_counts(Counter(filter(None, (_added_masses(study, row) for row in study.done)))),
        "standard_gravity": set(study.options("gravity_m_s2")) == {(9.80665,)},
    }


def loads(study: MethodsStudy) -> dict[str, Any]:
    """Trials by their external load; the size of a constant force, N."""
    named = _named_loads(study)
    ground, unused = _on_plates(study), [row for row in _on_ground(study) if row not in _on_plates(study)]
    grounded = [row for row in study.done if study.chain(row).ground_contact]
    known = study.settings.loads
    return {
        "size_n": lambda load: math.hypot(*load.force_n),
        "named_loads": [(name, known[name], count) for name, count in named.items() if name in known],
        "ground": ground,
        "plates_unused": unused,
        "on_ground": grounded,
        "n_unloaded": len(study.done) - len(ground) - len(unused) - sum(named.values()),
        "unloaded_chains": sorted({str(row["chain"]) for row in study.done if row not in grounded}),
    }


def _named_loads(study: MethodsStudy) -> Counter[str]:
    """Loads that the table of trials names, and the number of their trials."""
    named = (study.row(row).get("load") for row in study.done)
    return Counter(str(name) for name in named if name)


def _on_plates(study: MethodsStudy) -> list[Row]:
    """Trials whose external load is that of force plates."""
    return [row for row in _on_ground(study) if study.value(row, "plates.assignment") != "none"]


def _on_ground(study: MethodsStudy) -> list[Row]:
    """Trials of limbs with ground contact and no load in the table of trials."""
    return [row for row in study.done if study.chain(row).ground_contact and not study.row(row).get("load")]


def plates(study: MethodsStudy) -> dict[str, Any]:
    """Plates with their trials, and frames with unknown ground reaction force, %."""
    ground = _on_plates(study)
    noted = [row for row in ground if row.get("notes")]
    used = Counter(int(number) for row in noted for number in set(USED_PLATE.findall(str(row["notes"]))))
    return {
        "plates": dict(sorted(used.items())),
        "n_off_plates": sum(not USED_PLATE.search(str(row["notes"])) for row in noted),
        "on_used_plate": [row for row in ground if not row.get("notes") or USED_PLATE.search(str(row["notes"]))],
        "unmeasured_percent": [100.0 * share for share in known_numbers(ground, "unmeasured_share") if share > 0.0],
    }


def muscles(study: MethodsStudy) -> dict[str, Any]:
    """Trials with muscle forces, their muscle sets, weights and reserves."""
    rows = [row for row in study.done if row["muscle_status"] not in ("none", "failed")]
    weights = Counter(", ".join(sorted(_weights(study, row))) for row in rows)
    sets = study.provenance.get("muscle_sets", {})
    trials = study.provenance.get("trials", {})
    used = Counter(str(trials.get(str(row["trial"]), {}).get("muscle_set", "")) for row in rows)
    several = Counter(sets[key]["chain"] for key in used if key in sets)
    return {
        "optimized": rows,
        "weights": with_counts(Counter({names and f"with weights for {names}": n for names, n in weights.items()})),
        "muscle_sets": [(sets[key], count, several[sets[key]["chain"]]) for key, count in used.items() if key in sets],
        "reserve_percent": [100.0 * share for share in known_numbers(rows, "reserve_share") if share > 0.0],
    }


def electromyography(study: MethodsStudy) -> dict[str, Any]:
    """Trials with electromyography, and trials with contact forces."""
    trials = study.provenance.get("trials", {})

    def recorded(row: Row) -> bool:
        return "emg_sha256" in trials.get(str(row["trial"]), {}).get("stages", {}).get("muscles", {})

    rows = [row for row in study.done if recorded(row)]
    optimized = [row for row in study.done if row["muscle_status"] not in ("none", "failed")]
    return {
        "with_emg": rows,
        "compared_emg": [row for row in rows if row in optimized],
        "emg_muscles": list(study.settings.emg.muscles),
        "emg_pairs": [f"{first} with {second}" for first, second in study.settings.emg.antagonists],
        "emg_known_percent": 100.0 * study.settings.ensembles.min_known_share,
        "with_contact": [row for row in optimized if study.value(row, "muscles.contact_forces")],
    }


def _weights(study: MethodsStudy, row: Row) -> list[str]:
    """Muscles with an individual weight in a trial."""
    start = "muscles.weights."
    options = {**study.whole, **study.row(row).get("options", {})}
    return [name.removeprefix(start) for name, value in options.items() if name.startswith(start) and value is not None]


def curves(study: MethodsStudy) -> dict[str, Any]:
    """Trials with and without a time-normalised curve."""
    done = {str(row["trial"]) for row in study.done}
    without = [row for row in study.windows if str(row["trial"]) in done and not has_curve(row)]
    names = {str(row["trial"]) for row in without}
    several = {str(row["trial"]) for row in study.windows if has_curve(row) and int(row.get("n_cycles") or 0) > 1}
    return {
        "no_curve": bool(study.windows) and not any(map(has_curve, study.windows)),
        "held": statuses_in_means(study.windows),
        "without_curve": len(without),
        "why_without": reasons(without),
        "with_curve": [row for row in study.done if row["trial"] not in names] or study.done,
        "with_several": [row for row in study.done if row["trial"] in several],
        "percent": lambda *options: Percent(*options).phrase,
        "found_events": Counter(
            str(row["events"]) for row in study.windows if has_curve(row) and row.get("events", "") not in ("", "file")
        ),
        **spread(study),
    }


def spread(study: MethodsStudy) -> dict[str, str]:
    """Units of means and standard deviations: participants, or trials."""
    participants = [str(row["subject"]) for row in study.ledger]
    unit = unit_of_spread(study.settings.ensembles.spread_over, participants)
    if unit == "subjects":
        return {"unit": "participant", "spread": "participants, of the mean of each participant's trials"}
    if len(set(participants)) == 1:
        return {"unit": "trial", "spread": "the trials of the only participant"}
    return {"unit": "trial", "spread": "trials, all weighted equally, not the means of the participants"}
