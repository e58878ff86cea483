"""The methods of a study as a paragraph to paste, written from its settings and its ledger, and a checklist.

Every clause follows from `provenance.json` and `ledger.csv`; an option that is off is not mentioned. Where an option
differs between trials, each value is given with the number of its trials.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from limbtorque.joint_filter import SMOOTHED_BEFORE_M
from limbtorque.settings import ChainModel, Settings, flattened

REFERENCES = {
    "anderson": "Anderson FC, Pandy MG (2001) Static and dynamic optimization solutions for gait are practically equivalent. Journal "
    "of Biomechanics 34, 153-161.",
    "challis": "Challis JH (1999) A procedure for the automatic determination of filter cutoff frequency for the processing of "
    "biomechanical data. Journal of Applied Biomechanics 15, 303-317.",
    "craven": "Craven P, Wahba G (1979) Smoothing noisy data with spline functions. Numerische Mathematik 31, 377-403.",
    "crowninshield": "Crowninshield RD, Brand RA (1981) A physiologically based criterion of muscle force prediction in locomotion. "
    "Journal of Biomechanics 14, 793-801.",
    "degroote": "De Groote F, Kinney AL, Rao AV, Fregly BJ (2016) Evaluation of direct collocation optimal control problem "
    "formulations for solving the muscle redundancy problem. Annals of Biomedical Engineering 44, 2922-2936.",
    "dempster": "Dempster WT (1955) Space requirements of the seated operator. WADC Technical Report 55-159, Wright-Patterson Air "
    "Force Base, Ohio.",
    "derrick": "Derrick TR, van den Bogert AJ, Cereatti A, Dumas R, Fantozzi S, Leardini A (2020) ISB recommendations on the "
    "reporting of intersegmental forces and moments during human motion analysis. Journal of Biomechanics 99, 109533.",
    "ehrig": "Ehrig RM, Taylor WR, Duda GN, Heller MO (2006) A survey of formal methods for determining the centre of rotation of "
    "ball joints. Journal of Biomechanics 39, 2798-2809.",
    "gloersen": "Gloersen O, Federolf P (2016) Predicting missing marker trajectories in human motion data using marker "
    "intercorrelations. PLoS ONE 11, e0152616.",
    "rasmussen": "Rasmussen J, Damsgaard M, Voigt M (2001) Muscle recruitment by the min/max criterion: a comparative numerical "
    "study. Journal of Biomechanics 34, 409-415.",
    "robertson": "Robertson DGE, Dowling JJ (2003) Design and responses of Butterworth and critically damped digital filters. "
    "Journal of Electromyography and Kinesiology 13, 569-573.",
    "savitzky": "Savitzky A, Golay MJE (1964) Smoothing and differentiation of data by simplified least squares procedures. "
    "Analytical Chemistry 36, 1627-1639.",
    "winter": "Winter DA (2009) Biomechanics and Motor Control of Human Movement, 4th edition. Wiley, Hoboken.",
    "woltring": "Woltring HJ (1986) A FORTRAN package for generalized, cross-validatory spline smoothing and differentiation. "
    "Advances in Engineering Software 8, 104-113.",
    "zajac": "Zajac FE, Gordon ME (1989) Determining muscle's force and action in multi-articular movement. Exercise and Sport "
    "Sciences Reviews 17, 187-230.",
}
CITED = {
    "anderson": "Anderson and Pandy 2001",
    **{"challis": "Challis 1999", "craven": "Craven and Wahba 1979", "crowninshield": "Crowninshield and Brand 1981"},
    **{"degroote": "De Groote et al. 2016", "dempster": "Dempster 1955", "derrick": "Derrick et al. 2020"},
    **{"ehrig": "Ehrig et al. 2006", "gloersen": "Gloersen and Federolf 2016", "rasmussen": "Rasmussen et al. 2001"},
    **{"robertson": "Robertson and Dowling 2003", "savitzky": "Savitzky and Golay 1964", "winter": "Winter 2009"},
    **{"woltring": "Woltring 1986", "zajac": "Zajac and Gordon 1989"},
}
FAILED = {
    "read": "the recording could not be read",
    "landmark": "a marker or landmark was missing",
    "signal": "gaps or too few frames",
    "segment": "segment parameters could not be had",
    "load": "the external load was missing or contradictory",
}
CRITERIA = {
    "expected_error": "the least expected error of the second derivative, from the signal's own spectrum",
    "residual": "residual analysis {winter}",
    "autocorrelation": "the autocorrelation of the residual {challis}",
    "gcv": "generalised cross-validation {craven}",
}
SCOPES = {
    "trial": "for all joint centres of a trial together",
    "joint": "for each joint centre by itself",
    "study": "for all trials of the study together",
}
CHECKLIST_HEAD = (
    "Derrick et al. (2020) end in a checklist. Its abstract, which names the coordinate system, the normalisation and the internal or "
    "external perspective, was read for this table; the checklist itself was not, so compare with it before you submit. The other rows "
    "are what changes a moment in this program."
)
Row = Mapping[str, Any]


@dataclass
class _Study:
    """The study as the clauses ask for it; references are noted as they are cited."""

    settings: Settings
    provenance: Mapping[str, Any]
    ledger: Sequence[Row]
    cited: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = flattened(self.settings.model_dump(mode="json"))
        self.done = [row for row in self.ledger if row["status"] != "failed"]

    def cite(self, *names: str) -> str:
        self.cited |= dict.fromkeys(names)
        return f"({'; '.join(CITED[name] for name in names)})"

    def row(self, trial: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.provenance.get("trials", {}).get(trial, {}).get("row", {})
        return found

    def value(self, trial: Row, option: str) -> Any:
        return self.row(str(trial["trial"])).get("options", {}).get(option, self.whole[option])

    def options(self, *names: str, of: Iterable[Row] | None = None) -> Counter[tuple[Any, ...]]:
        """Values of some options together, and how many trials have them."""
        rows = self.done if of is None else list(of)
        return Counter(tuple(_hashable(self.value(row, name)) for name in names) for row in rows)

    def clauses(self, *names: str, say: Callable[..., str], of: Iterable[Row] | None = None) -> str:
        """A clause for every combination of values, with the number of its trials where there are several."""
        found: Counter[str] = Counter()
        for values, count in self.options(*names, of=of).items():
            found[say(*values)] += count
        if len(found) == 1:
            return next(iter(found))
        return "; ".join(f"{clause} ({_count(count, 'trial')})" for clause, count in found.most_common())

    def chain(self, name: str) -> ChainModel:
        return self.settings.chain(name)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def methods_page(provenance: Mapping[str, Any], ledger: Sequence[Row]) -> str:
    """Paragraph, table of landmarks, references and checklist of a study, in Markdown.

    Parameters
    ----------
    provenance : mapping
        Content of ``provenance.json``.
    ledger : sequence of mapping
        Rows of ``ledger.csv``, as text or as values.

    Returns
    -------
    str
        The page.
    """
    study = _Study(Settings.model_validate(provenance["settings"]), provenance, ledger)
    paragraph = methods_paragraph(study)
    checks = _checklist(study)
    study.cite("derrick")
    lines = [
        "# Methods" + (f": {study.settings.title}" if study.settings.title else ""),
        "",
        "Written from the settings and the ledger of this run; what the program cannot know (the participants, consent, the markers' size",
        "and placement, the cameras) is yours to add.",
        "",
        paragraph,
        "",
        *_landmarks(study),
        "## References",
        "",
        *(f"- {REFERENCES[name]}" for name in sorted(study.cited)),
        "",
        "## Checklist",
        "",
        CHECKLIST_HEAD,
        "",
        "| what to report | this study |",
        "| --- | --- |",
        *(f"| {asked} | {answer.replace('|', '/')} |" for asked, answer in checks),
    ]
    return "\n".join(lines) + "\n"


def methods_paragraph(study: _Study) -> str:
    """The paragraph."""
    if not study.done:
        return " ".join((_trials(study), "No trial could be analysed, so there is nothing to describe."))
    parts = (
        _trials,
        _joints,
        _gaps,
        _plane,
        _filter,
        _derivatives,
        _segments,
        _dynamics,
        _loads,
        _muscles,
        _more,
        _flags,
        _software,
    )
    return " ".join(filter(None, (part(study) for part in parts)))


def _trials(study: _Study) -> str:
    done, failed = study.done, [row for row in study.ledger if row["status"] == "failed"]
    subjects = list(dict.fromkeys(str(row["subject"]) for row in done))
    masses = [study.row(str(row["trial"])).get("body_mass_kg") for row in done]
    known = sorted({float(mass) for mass in masses if mass is not None})
    span = f"{known[0]:g} kg" if len(known) == 1 else f"{known[0]:g} to {known[-1]:g} kg" if known else ""
    limbs = Counter(f"{row['side']} {row['chain']}" for row in done)
    text = f"{_count(len(done), 'trial')} of {_count(len(subjects), 'participant')}"
    text += f" (body mass {span})" if span else ""
    text += (
        f" {_was(len(done))} analysed: {', '.join(f'{limb} ({count})' for limb, count in sorted(limbs.items()))}."
        if done
        else f" {_was(len(done))} analysed."
    )
    if failed:
        reasons = Counter(str(row["reason"]).split(" ")[0] for row in failed)
        why = ", ".join(
            f"{FAILED.get(reason, reason or 'no reason given')} ({count})" for reason, count in reasons.most_common()
        )
        text += f" {_count(len(failed), 'further trial')} {_was(len(failed))} excluded: {why}."
    return _capital(text)


def _joints(study: _Study) -> str:
    sets = _used_sets(study)
    stand_ins: dict[str, str] = {}
    functional: list[str] = []
    for name, chains in sets.items():
        rules = study.settings.marker_sets.get(name, {})
        for landmark in _needed(study, chains):
            by = study.settings.substitutes.get(name, {}).get(landmark)
            if landmark not in rules and by in rules:
                stand_ins[landmark] = by
            if hasattr(rules.get(landmark, stand_ins.get(landmark)), "functional"):
                functional.append(landmark)
    text = "Joint centres and segment ends were taken from the markers listed below."
    if functional:
        text += (
            f" {_capital(_and([_plain(name) for name in dict.fromkeys(functional)]))} {_was(len(set(functional)))} found from the movement as symmetrical "
            f"centre of rotation, in the plane {study.cite('ehrig')}."
        )
    if stand_ins:
        stood = _and([f"{_plain(by)} stood for {_plain(name)}" for name, by in stand_ins.items()])
        text += f" {_capital(stood)}."
    rigid = study.clauses(
        "motion.angles",
        say=lambda kind: (
            "a chain of links of constant length was fitted to the joints of all frames by least squares"
            if kind == "rigid_chain"
            else "each segment's direction was that of the line between its joints"
        ),
    )
    return f"{text} {_capital(rigid)}."


def _gaps(study: _Study) -> str:
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
    longer = study.clauses(
        "gaps.longer",
        say=lambda kind: (
            "trials with a longer gap were refused"
            if kind == "fail"
            else "where a gap was longer, the longest stretch without one was analysed"
        ),
    )
    spikes = "; spikes of up to three frames were treated as gaps" if ("fill",) in study.options("gaps.spikes") else ""
    return f"{text}; {longer}{spikes}."


def _plane(study: _Study) -> str:
    names = {
        "sagittal": "the sagittal plane",
        "horizontal": "the horizontal plane",
        "best_fit": "the plane that fits the segments' directions best",
    }

    def say(kind: str, up: str, forward: str) -> str:
        ahead = "the direction of travel" if forward == "travel" else f"the laboratory's {forward} axis"
        return f"{names[kind]} ({up} up, forward {ahead})"

    text = study.clauses("plane.kind", "plane.up_axis", "plane.forward_axis", say=say)
    return f"Joint centres were projected on {text}."


def _filter(study: _Study) -> str:
    def method(kind: str, order: int) -> str:
        return {
            "butterworth": f"a Butterworth filter of order {order}, run forwards and backwards (order {2 * order} in all, no phase lag)",
            "critically_damped": f"a critically damped filter of order {order}, run forwards and backwards {{robertson}}",
            "savitzky_golay": f"local polynomials of degree {2 * order - 1} {{savitzky}}",
            "cubic_spline": "a cubic smoothing spline {woltring}",
            "quintic_spline": "a quintic smoothing spline {woltring}",
            "none": "no filter",
        }[kind]

    rows = study.done
    smoothed = [row for row in rows if study.value(row, "filter.method") != "none"]
    if not smoothed:
        return "Joint positions were not filtered."
    how = study.clauses("filter.method", "filter.order", say=method, of=smoothed)
    text = f"Joint positions were low-pass filtered with {how}."
    if len(smoothed) < len(rows):
        text += f" Those of {_count(len(rows) - len(smoothed), 'trial')} were not filtered."
    chosen = [row for row in smoothed if isinstance(study.value(row, "filter.cutoff_hz"), str)]
    given = [row for row in smoothed if row not in chosen]
    if given:
        text += f" The cut-off was {study.clauses('filter.cutoff_hz', say=lambda hz: f'{float(hz):g} Hz', of=given)}"
        text += f" ({_count(len(given), 'trial')})." if chosen else "."
    if chosen:
        by = study.clauses(
            "filter.cutoff_hz", "filter.scope", say=lambda c, scope: f"{CRITERIA[c]}, {SCOPES[scope]}", of=chosen
        )
        text += (
            f" The cut-off{' of the others' if given else ''} was chosen by {by}: {_range(chosen, 'cutoff_hz', 'Hz')}."
        )
        text += _limit(study, chosen)
    text += " At the cut-off the gain is 1/sqrt(2), of both passes together where there are two."
    for name in ("robertson", "savitzky", "woltring", "winter", "challis", "craven"):
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", study.cite(name))
    return text


def _limit(study: _Study, chosen: Sequence[Row]) -> str:
    """Which chosen cut-offs were limited, and where the recordings had been smoothed before."""
    limit = study.clauses("filter.highest_cutoff_hz", say=lambda hz: f"{float(hz):g} Hz", of=chosen)
    above = [
        row
        for row in chosen
        if float(row.get("own_cutoff_hz") or "nan") > 1.0001 * float(study.value(row, "filter.highest_cutoff_hz"))
    ]
    text = f" No cut-off that was chosen was above {limit}"
    if above:
        text += f": {_count(len(above), 'trial')} of {len(chosen)} would have had one of {_range(above, 'own_cutoff_hz', 'Hz')}"
    smooth = sum(float(row.get("noise_m") or "nan") < SMOOTHED_BEFORE_M for row in study.done)
    return f"{text}." + (
        f" {_count(smooth, 'recording')} had less noise than any camera has, and so had been smoothed before."
        if smooth
        else ""
    )


def _derivatives(study: _Study) -> str:
    def say(method: str, accuracy: int) -> str:
        if method in ("cubic_spline", "quintic_spline"):
            return f"derivatives of a {method.replace('_', ' ')} through the joint angles"
        return f"central differences of order {accuracy}"

    return f"Velocities and accelerations are {study.clauses('filter.method', 'differentiation.accuracy', say=say)}."


def _segments(study: _Study) -> str:
    def say(table: str) -> str:
        if table == "dempster_winter":
            return f"those of Dempster {study.cite('dempster')} as printed by Winter {study.cite('winter')}"
        return f"those of the table {table}"

    text = f"Segment masses, centres of mass and moments of inertia were {study.clauses('segments.table', say=say)}, "
    text += "as shares of body mass and of the length between the table's own landmarks."
    measured = {str(row["subject"]) for row in study.done if study.row(str(row["trial"])).get("measured")}
    return text + (
        f" Measured parameters took their place in {_count(len(measured), 'participant')}." if measured else ""
    )


def _dynamics(study: _Study) -> str:
    chains = list(dict.fromkeys(str(row["chain"]) for row in study.done))
    links = "; ".join(f"{name}: {', '.join(joint.name for joint in study.chain(name).joints)}" for name in chains)
    worst = _numbers(study.done, "closure_nm")
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
    odd = f" Gravity was {_and([f'{g:g}' for g in sorted(gravity)])} m/s^2." if gravity != {9.80665} else ""
    return f"{text}.{odd}"


def _loads(study: _Study) -> str:
    named = Counter(str(study.row(str(row["trial"])).get("load") or "") for row in study.done)
    text = []
    for name, count in named.items():
        if name and name in study.settings.loads:
            text.append(
                f"{_load(study.settings.loads[name], name)} acted on the last segment in {_count(count, 'trial')}"
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
        text.append(f"no external load acted in {_count(without, 'trial')}" if text else "no external load acted")
    joined = ". ".join(map(_capital, text))
    return f"{joined}."


def _load(load: Any, name: str) -> str:
    if load.type == "spring":
        rest = f" and a rest length of {load.rest_length_m:g} m" if load.rest_length_m else ""
        return f"a spring ({name}) of {load.stiffness_n_m:g} N/m{rest}"
    return f"a constant force ({name}) of {math.hypot(*load.force_n):g} N"


def _plates(study: _Study, ground: Sequence[Row]) -> str:
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
    unknown = [number for number in _numbers(ground, "unmeasured_share") if number > 0.0]
    if unknown:
        text += (
            f"; frames with ground contact but no usable plate were left out ({_count(len(unknown), 'trial')}, up to "
            f"{100.0 * max(unknown):.0f} % of the frames)"
        )
    belt = {values[0] for values in study.options("plates.belt_speed_m_s", of=ground)} - {0.0}
    return text + (f"; the belt ran at {_and([f'{speed:g}' for speed in sorted(belt)])} m/s" if belt else "")


def _muscles(study: _Study) -> str:
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
        f"; every muscle was held at {_and([f'{h:g}' for h in sorted(held)])} of the most active one's activation at its joints"
        if held
        else ""
    )
    if (True,) in study.options("muscles.force_length_velocity", of=shared):
        text += f"; strength depended on fibre length and velocity, with a rigid tendon {study.cite('degroote')}"
    if ("segment_length",) in study.options("muscles.scale_moment_arms", of=shared):
        text += "; moment arms were scaled to segment lengths"
    if ("mass",) in study.options("muscles.scale_strength", of=shared):
        text += "; strengths were scaled to body mass"
    short = [number for number in _numbers(shared, "reserve_share") if number > 0.0]
    text += (
        f". The torques were beyond the muscles' reach in up to {100.0 * max(short):.2g} % of the frames of a trial"
        if short
        else ""
    )
    return f"{text}."


def _more(study: _Study) -> str:
    text = []
    if (True,) in study.options("replay.enabled"):
        within = study.clauses("replay.tolerance_deg", say=lambda deg: f"{deg:g} degrees")
        lost = sum(number > 0.0 for number in _numbers(study.done, "replay_lost"))
        text.append(
            f"Integrated forward from the first frame, the torques lost the recorded motion in {lost} of {len(study.done)} trials "
            f"(reproduced: within {within})."
        )
    if (True,) in study.options("torques.induced_accelerations"):
        text.append(f"Accelerations induced by each torque were computed {study.cite('zajac')}.")
    return " ".join(text)


def _flags(study: _Study) -> str:
    flagged = [row for row in study.done if row["status"] == "flagged"]
    edges = "Frames within reach of the filter's ends were left out of all summaries."
    if not flagged:
        return edges
    names = Counter(name for row in flagged for name in str(row["reason"]).split())
    return f"{edges} {_count(len(flagged), 'trial')} {_was(len(flagged))} flagged: {', '.join(f'{n} ({c})' for n, c in names.most_common())}."


def _software(study: _Study) -> str:
    versions = study.provenance.get("libraries", {})
    used = ", ".join(f"{name} {versions[name]}" for name in ("numpy", "scipy", "snakemake") if name in versions)
    program = study.provenance["program"]
    return f"All was computed with {program['name']} {program['version']} (Python {study.provenance['python']}{f', {used}' if used else ''})."


def _checklist(study: _Study) -> list[tuple[str, str]]:
    """What to report, and what this study says."""
    if not study.done:
        return []
    plates = any(study.chain(str(row["chain"])).ground_contact for row in study.done)
    axes = sorted({str(values[0]) for values in study.options("plane.up_axis")})
    return [
        (
            "coordinate system (named in the abstract)",
            f"{_plane(study)} x forward, y up (to the left in a horizontal plane); laboratory up {', '.join(axes)}",
        ),
        (
            "internal or external moments (named in the abstract)",
            "internal: what the proximal segment does to the distal one",
        ),
        ("normalisation (named in the abstract)", "none in the tables: N m, N, W, J"),
        (
            "sign of moments",
            "counter-clockwise positive in the plane; the summary's column positive_is says what that is to the joint",
        ),
        ("point about which moments are taken", "the joint centres of the table of landmarks"),
        (
            "model",
            f"planar chain; {_and(sorted({str(row['chain']) for row in study.done}))}; the base moves as recorded",
        ),
        ("joint centres", "see the table of landmarks"),
        ("body segment parameters", _segments(study)),
        ("filter of positions", _filter(study)),
        ("filter of forces", _force_filter(study) if plates else "no force plates"),
        ("differentiation", _derivatives(study)),
        ("external loads", _loads(study)),
        ("missing data", _gaps(study)),
        ("sampling rate of the markers", _range(study.done, "rate_hz", "Hz")),
        ("frames left out", "within reach of the filter's ends, out of the plane, or of unknown ground force"),
        ("excluded trials", _trials(study)),
        ("checks", f"{_dynamics(study)}"),
        ("software", _software(study)),
        ("participants, consent, markers' placement, cameras, instructions", "not known to the program: to be added"),
    ]


def _force_filter(study: _Study) -> str:
    ground = [row for row in study.done if study.chain(str(row["chain"])).ground_contact]
    return study.clauses(
        "filter.force_cutoff_hz",
        say=lambda hz: (
            "the same filter and cut-off as the positions"
            if hz is None
            else f"cut-off {hz:g} Hz, not that of the positions"
        ),
        of=ground,
    )


def _landmarks(study: _Study) -> list[str]:
    rows = []
    for name, chains in _used_sets(study).items():
        rules = study.settings.marker_sets.get(name, {})
        for landmark in _needed(study, chains):
            by = study.settings.substitutes.get(name, {}).get(landmark, "")
            if landmark in rules:
                rows.append((name, landmark, _rule(rules[landmark])))
            elif by in rules:
                rows.append((name, landmark, f"{by} stands for it: {_rule(rules[by])}"))
    if not rows:
        return []
    head = ["| marker set | landmark | markers |", "| --- | --- | --- |"]
    return ["## Landmarks", "", *head, *(f"| {' | '.join(row)} |" for row in rows), ""]


def _rule(rule: Any) -> str:
    if hasattr(rule, "functional"):
        first, second = (", ".join(labels) for labels in rule.functional)
        return f"centre of rotation of ({first}) and ({second}); in depth {_rule(rule.anatomical)}"
    if hasattr(rule, "between"):
        return f"{rule.fraction:g} of the way from {rule.between[0]} to {rule.between[1]}"
    return rule if isinstance(rule, str) else f"mean of {', '.join(rule)}"


def _used_sets(study: _Study) -> dict[str, list[str]]:
    """Marker sets of the analysed trials, with their chains."""
    only = next(iter(study.settings.marker_sets), "")
    used: dict[str, list[str]] = {}
    for row in study.done:
        chains = used.setdefault(str(study.row(str(row["trial"])).get("marker_set") or only), [])
        if row["chain"] not in chains:
            chains.append(str(row["chain"]))
    return used


def _needed(study: _Study, chains: Sequence[str]) -> list[str]:
    """Landmarks that chains need, from the joints, the end and the table of segment parameters that was used."""
    table = study.provenance.get("segment_table", {})
    names: dict[str, None] = {}
    for chain in chains:
        model = study.chain(chain)
        names |= dict.fromkeys((*(joint.landmark for joint in model.joints), model.end))
        for segment in model.segments:
            row = table.get(segment.row, {})
            names |= dict.fromkeys(row[end] for end in ("proximal", "distal") if end in row)
    return list(names)


def _numbers(rows: Iterable[Row], name: str) -> list[float]:
    found = []
    for row in rows:
        try:
            number = float(row.get(name, math.nan))
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            found.append(number)
    return found


def _range(rows: Iterable[Row], name: str, unit: str) -> str:
    numbers = _numbers(rows, name)
    if not numbers:
        return "not known"
    if f"{min(numbers):.3g}" == f"{max(numbers):.3g}":
        return f"{numbers[0]:.3g} {unit}"
    return f"{min(numbers):.3g} to {max(numbers):.3g} {unit}, median {median(numbers):.3g} {unit}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _and(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _plain(name: str) -> str:
    return f"the {name.replace('_', ' ')}"
