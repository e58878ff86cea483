"""Entry of a muscle in a set's file: checked, with a sentence for every fault, and built."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.muscles.sets.curve_entry import CURVE_FORMS, curve_keys, hint, is_number, is_text, keys_fit, read_curve
from limbtorque.muscles.sets.curves import (
    EVERYWHERE,
    Curve,
    Range,
    constant,
    derivative,
    evaluate,
    extended,
    integral,
    times,
)
from limbtorque.muscles.sets.muscle import LineOfAction, MomentArm, Muscle, MusculotendonLength, narrowest

LARGEST_ARM_M = 0.15  # no limb muscle's moment arm is longer; one that is, is probably in millimetres
LARGEST_LENGTH_M = 1.0
LEAST_FORCE_N = 5.0
LEAST_AREA_CM2 = 0.1
MISSING = object()
FIBRES = ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
LARGEST_LINE_M = 0.6
AGREE_PART, AGREE_M = 0.2, 5e-3  # how far an arm may be from -dL/dq of the length given beside it
SENSES = {"flexor": 1.0, "extensor": -1.0}
ENDS = ("proximal", "distal")
DEPARTURES = {"max_departure_m", "departs_at_deg", "length_departure_m", "length_departs_at_deg"}
ARM_KEYS: dict[str, tuple[set[str], set[str]]] = {  # those that are needed and those that may be there
    "zero": (set(), set()),
    "not_sampled": (set(), set()),
    "constant": ({"arm_m"}, {"range_deg"} | DEPARTURES),
    "polynomial": (curve_keys("polynomial", "arms_m"), {"joints"} | DEPARTURES),
    "spline": (curve_keys("spline", "arms_m"), {"joints", "range_deg"} | DEPARTURES),
    "sampled": (curve_keys("sampled", "arms_m"), {"joints"}),
    "from_length": (set(), set()),
}
LENGTH_EXTRAS = {
    "polynomial": {"max_departure_m", "departs_at_deg"},
    "spline": {"range_deg", "max_departure_m", "departs_at_deg"},
    "sampled": set[str](),
}
MUSCLE_KEYS = {"name", "max_isometric_force_n", "source", "function", "moment_arms"}
PARAMETERS = ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad", "pcsa_cm2")
ACTIVATIONS = ("min_activation", "max_activation")
MUSCLE_EXTRAS = {"full_name", "length", "length_at_zero_m", "lines_of_action", *PARAMETERS, *ACTIVATIONS}


def build_muscle(entry: Any, index: int, joints: list[str], faults: list[str]) -> Muscle | None:
    """Build a muscle from its entry; None, and sentences among the faults, where it has faults.

    Parameters
    ----------
    entry : Any
        What the file holds for the muscle.
    index : int
        Where it stands in the list, from 0; for a muscle without a name.
    joints : list of str
        Joints of the set.
    faults : list of str
        Faults are added here.

    Returns
    -------
    Muscle or None
    """
    name = entry.get("name") if isinstance(entry, dict) else None
    where = f"muscle '{name}'" if is_text(name) else f"muscle {index + 1}"
    before = len(faults)
    if not keys_fit(entry, MUSCLE_KEYS, MUSCLE_EXTRAS, where, faults) and not isinstance(entry, dict):
        return None
    entry = {**dict.fromkeys(MUSCLE_KEYS, MISSING), **entry}  # what is missing has been told
    if not is_text(name) and name is not None:
        faults.append(f"{where}: name is {name!r}; expected a text")
    for key in ("max_isometric_force_n", *PARAMETERS):
        if entry.get(key) is not MISSING:
            _check_parameter(key, entry.get(key), where, faults)
    _check_together(entry, where, faults)
    _check_activations(entry, where, faults)
    if entry["source"] is not MISSING:
        _check_source(entry["source"], where, faults)
    given = _build_length(entry, joints, where, faults)
    arms = {}
    if entry["moment_arms"] is not MISSING:
        arms = _build_arms(entry["moment_arms"], joints, given, where, faults)
    if entry["function"] is not MISSING and entry["moment_arms"] is not MISSING:
        _check_function(entry["function"], arms, joints, where, faults)
    lines = _build_lines(entry.get("lines_of_action", {}), joints, arms, where, faults)
    length = _complete_length(entry, given, arms, where, faults) if len(faults) == before else None
    if len(faults) == before and length is not None:
        _check_slack(entry, length, where, faults)
    if len(faults) > before:
        return None
    return Muscle(
        name=str(name),
        full_name=str(entry.get("full_name") or name),
        max_isometric_force_n=float(entry["max_isometric_force_n"]),
        source={key: str(value) for key, value in entry["source"].items()},
        function=dict(entry["function"]),
        moment_arms=arms,
        length=length,
        lines_of_action=lines,
        min_activation=float(entry.get("min_activation", 0.0)),
        max_activation=float(entry.get("max_activation", 1.0)),
        **{key: None if entry.get(key) is None else float(entry[key]) for key in PARAMETERS},
    )


def _check_parameter(key: str, value: Any, where: str, faults: list[str]) -> None:
    if key == "max_isometric_force_n":
        if not is_number(value) or value <= 0:
            faults.append(f"{where}: {key} is {value!r}; expected a force above 0 N")
        elif value < LEAST_FORCE_N:
            faults.append(
                f"{where}: {key} is {value!r} N, expected {LEAST_FORCE_N:g} N at least; is it in kilonewtons?"
            )
    elif key == "pennation_rad":
        if value is not None and not (is_number(value) and 0 <= value < math.pi / 2):
            faults.append(f"{where}: {key} is {value!r}; expected an angle from 0 to below 1.57 rad, or null")
    elif key == "pcsa_cm2":
        if value is not None and not (is_number(value) and LEAST_AREA_CM2 <= value < 1000):
            faults.append(f"{where}: {key} is {value!r}; expected an area from {LEAST_AREA_CM2:g} to 1000 cm2, or null")
    elif value is not None and not (is_number(value) and 0 < value < 1):
        faults.append(f"{where}: {key} is {value!r}; expected a length above 0 and below 1 m, or null")


def _check_together(entry: dict[str, Any], where: str, faults: list[str]) -> None:
    given = [key for key in FIBRES if entry.get(key) is not None]
    if 0 < len(given) < len(FIBRES):
        faults.append(
            f"{where}: gives {' and '.join(given)} only; {', '.join(FIBRES)} belong together: give all three, or none"
        )


def _check_slack(entry: dict[str, Any], length: MusculotendonLength, where: str, faults: list[str]) -> None:
    """Check that the muscle is longer than its tendon somewhere in its range."""
    slack = entry.get("tendon_slack_length_m")
    if slack is None:
        return
    longest = length.offset_m + sum(float(_over_range(curve).max()) for curve in length.curves)
    if longest <= slack:
        faults.append(
            f"{where}: tendon_slack_length_m is {slack:g} m, but muscle and tendon together are {longest:.3f} m long at most; "
            "nothing is left for the fibres"
        )


def _check_activations(entry: dict[str, Any], where: str, faults: list[str]) -> None:
    least, largest = entry.get("min_activation", 0.0), entry.get("max_activation", 1.0)
    if not (is_number(least) and is_number(largest) and 0 <= least < largest <= 1):
        faults.append(
            f"{where}: min_activation is {least!r} and max_activation {largest!r}; expected 0 <= least < largest <= 1"
        )


def _check_source(source: Any, where: str, faults: list[str]) -> None:
    if not (isinstance(source, dict) and is_text(source.get("model")) and is_text(source.get("licence"))):
        faults.append(f"{where}: source is {source!r}; name the model or paper (model) and its licence (licence)")


# --- moment arms -------------------------------------------------------------------------------------------------


def _build_arms(
    entries: Any, joints: list[str], length: MusculotendonLength | None, where: str, faults: list[str]
) -> dict[str, MomentArm]:
    if not isinstance(entries, dict):
        faults.append(f"{where}: moment_arms is {entries!r}; expected one entry for each of {', '.join(joints)}")
        return {}
    faults += [
        f"{where}: moment_arms has joint '{joint}', which the set does not have{hint(str(joint), joints)}"
        for joint in entries
        if joint not in joints
    ]
    arms = {}
    for joint in joints:
        if joint not in entries:
            faults.append(
                f"{where}: moment_arms does not have the {joint}; write 'form: zero' if the muscle does not cross it"
            )
            continue
        arm = _build_arm(entries[joint], joint, joints, length, f"{where} at the {joint}", faults)
        if arm is not None:
            arms[joint] = arm
    return arms


def _build_arm(
    entry: Any, joint: str, joints: list[str], length: MusculotendonLength | None, where: str, faults: list[str]
) -> MomentArm | None:
    form = entry.get("form") if isinstance(entry, dict) else None
    if not isinstance(form, str) or form not in ARM_KEYS:
        near = hint(str(form), ARM_KEYS)
        faults.append(f"{where}: the moment arm's form is {form!r}; expected {', '.join(ARM_KEYS)}{near}")
        return None
    needed, extras = ARM_KEYS[form]
    if not keys_fit(entry, needed, {"form", "note", *extras}, where, faults) or not _about_fits(entry, where, faults):
        return None
    if form == "from_length":
        arm = _arm_from_length(entry, joint, length, where, faults)
    elif form == "constant" and not is_number(entry["arm_m"]):
        faults.append(f"{where}: arm_m is {entry['arm_m']!r}; expected numbers")
        return None
    elif form in CURVE_FORMS or "range_deg" in entry:
        one = {"coefficients": entry["arm_m"]} if form == "constant" else {}
        read = read_curve(
            {**entry, **one}, values_key="arms_m", own_joint=joint, known_joints=joints, where=where, faults=faults
        )
        arm = _described_arm(entry, read.curve, read.max_departure_m, read.departs_at_deg) if read else None
    else:
        arm = _described_arm(entry, constant(entry.get("arm_m", 0.0), joint=joint))
    if arm is None:
        return None
    longest = float(np.abs(_over_range(arm.curve)).max())
    if longest > LARGEST_ARM_M:
        faults.append(
            f"{where}: the arm reaches {longest:.3g} m, expected {LARGEST_ARM_M} m at most; is it in millimetres?"
        )
        return None
    return arm


def _about_fits(entry: dict[str, Any], where: str, faults: list[str]) -> bool:
    """Check what an entry says about departures and in its note."""
    before = len(faults)
    for key in sorted(DEPARTURES & set(entry)):
        values = entry[key] if isinstance(entry[key], list) else [entry[key]]
        if not all(is_number(value) for value in values):
            faults.append(f"{where}: {key} is {entry[key]!r}; expected a number")
    if not isinstance(entry.get("note", ""), str):
        faults.append(f"{where}: note is {entry['note']!r}; expected a text")
    return len(faults) == before


def _described_arm(
    entry: dict[str, Any], curve: Curve, departure_m: float | None = None, departs_at_deg: tuple[float, ...] = ()
) -> MomentArm:
    at = entry.get("length_departs_at_deg", [])
    return MomentArm(
        entry["form"],
        curve,
        departure_m,
        departs_at_deg,
        entry.get("length_departure_m"),
        tuple(float(q) for q in (at if isinstance(at, list) else [at])),
        entry.get("note", ""),
    )


def _arm_from_length(
    entry: dict[str, Any], joint: str, length: MusculotendonLength | None, where: str, faults: list[str]
) -> MomentArm | None:
    if length is None:
        faults.append(f"{where}: the moment arm is from_length, which needs a valid length of the muscle (length)")
        return None
    (curve,) = length.curves
    if joint not in curve.joints:
        faults.append(
            f"{where}: the moment arm is from_length, but the length depends on {', '.join(curve.joints)} only; "
            "write 'form: zero' if the muscle does not cross it"
        )
        return None
    held = replace(curve, range_rad=tuple(length.range_rad[name] for name in curve.joints))
    return _described_arm(entry, times(derivative(held, joint), -1.0))


def _over_range(curve: Curve) -> FloatArray:
    """Values of a curve on a grid over its range."""
    return evaluate(curve, _grid_over([*curve.range_rad]))


def _grid_over(ranges: list[Range]) -> list[FloatArray]:
    """Grid of flexions over ranges; flexion 0 where a range is infinite."""
    n = {1: 200, 2: 41}.get(len(ranges), 13)
    lines = [np.linspace(*ends, n) if math.isfinite(sum(ends)) else np.zeros(1) for ends in ranges]
    return list(np.meshgrid(*lines, indexing="ij"))


def _check_function(
    function: Any, arms: dict[str, MomentArm], joints: list[str], where: str, faults: list[str]
) -> None:
    """Check the signs: in the anatomical position (flexion 0) a flexor flexes and an extensor extends."""
    if not isinstance(function, dict):
        faults.append(f"{where}: function is {function!r}; expected flexor or extensor for each joint it moves")
        return
    for joint, sense in function.items():
        if joint not in joints:
            faults.append(
                f"{where}: function has joint '{joint}', which the set does not have{hint(str(joint), joints)}"
            )
        elif sense not in SENSES:
            faults.append(f"{where}: its function at the {joint} is {sense!r}; expected flexor or extensor")
        elif joint in arms:
            _check_sign(arms[joint], joint, sense, where, faults)
    for joint, arm in arms.items():
        if not arm.is_zero and joint not in function:
            faults.append(f"{where} has a moment arm at the {joint}; function has to say flexor or extensor for it")


def _check_sign(arm: MomentArm, joint: str, sense: str, where: str, faults: list[str]) -> None:
    called = f"{where} is called {'an' if sense == 'extensor' else 'a'} {sense} of the {joint}"
    at_zero = float(evaluate(arm.curve, [0.0] * len(arm.curve.joints)))
    if at_zero * SENSES[sense] <= 0:
        faults.append(
            f"{called}, but its moment arm at 0 flexion is {at_zero:+.4f} m; positive has to flex (r = -dL/dq)"
        )
        return
    middle = [sum(ends) / 2 if math.isfinite(sum(ends)) else 0.0 for ends in arm.curve.range_rad]
    value = float(evaluate(arm.curve, middle))
    if value * SENSES[sense] <= 0 and not arm.note.strip():
        at = ", ".join(f"{math.degrees(q):.0f}" for q in middle)
        faults.append(
            f"{called}, but in the middle of its range ({at} deg) its moment arm is {value:+.4f} m; "
            "if its function changes there, say so in a note"
        )


# --- lengths -----------------------------------------------------------------------------------------------------


def _build_length(
    entry: dict[str, Any], joints: list[str], where: str, faults: list[str]
) -> MusculotendonLength | None:
    """Build the length that an entry gives as a curve; None where it gives none or a wrong one."""
    if "length" not in entry:
        return None
    where = f"{where}: length"
    given = entry["length"]
    if "length_at_zero_m" in entry:
        faults.append(f"{where} and length_at_zero_m are both given; give one")
        return None
    form = given.get("form") if isinstance(given, dict) else None
    if not isinstance(form, str) or form not in CURVE_FORMS:
        faults.append(f"{where}: its form is {form!r}; expected {', '.join(CURVE_FORMS)}{hint(str(form), CURVE_FORMS)}")
        return None
    needed = {"form", "joints"} | curve_keys(form, "lengths_m")
    if not keys_fit(given, needed, {"note"} | LENGTH_EXTRAS[form], where, faults) or not _about_fits(
        given, where, faults
    ):
        return None
    read = read_curve(given, values_key="lengths_m", own_joint=None, known_joints=joints, where=where, faults=faults)
    if read is None:
        return None
    lengths = _over_range(read.curve)
    if not _length_fits(lengths, where, faults):
        return None
    ranges = dict(zip(read.curve.joints, read.curve.range_rad, strict=True))
    curve = extended(read.curve, linear=True) if len(ranges) == 1 else read.curve
    note = given.get("note", "")
    return MusculotendonLength(form, 0.0, (curve,), ranges, read.max_departure_m, read.departs_at_deg, note)


def _length_fits(lengths: FloatArray, where: str, faults: list[str]) -> bool:
    fits = lengths.min() > 0 and lengths.max() < LARGEST_LENGTH_M
    if not fits:
        faults.append(
            f"{where} goes from {lengths.min():.3g} to {lengths.max():.3g} m over its range; expected above 0 and "
            f"below {LARGEST_LENGTH_M:g} m; is it in millimetres?"
        )
    return bool(fits)


def _complete_length(
    entry: dict[str, Any],
    given: MusculotendonLength | None,
    arms: dict[str, MomentArm],
    where: str,
    faults: list[str],
) -> MusculotendonLength | None:
    """Length of a muscle, from its curve or from its arms; None over a joint that nobody sampled."""
    gaps = {joint for joint, arm in arms.items() if arm.form == "not_sampled"}
    if given:
        _check_agreement(given, arms, where, faults)
        return None if gaps - set(given.range_rad) else given
    if "length_at_zero_m" not in entry:
        return None
    length = _length_from_arms(entry["length_at_zero_m"], arms, where, faults)
    return None if gaps else length


def _length_from_arms(
    at_zero_m: Any, arms: dict[str, MomentArm], where: str, faults: list[str]
) -> MusculotendonLength | None:
    """L(q) = L(0) - sum over the joints of the integral of the arm from 0."""
    if not (is_number(at_zero_m) and 0 < at_zero_m < LARGEST_LENGTH_M):
        faults.append(
            f"{where}: length_at_zero_m is {at_zero_m!r}; expected a length above 0 and below {LARGEST_LENGTH_M:g} m"
        )
        return None
    moving = {joint: arm.curve for joint, arm in arms.items() if not arm.is_zero}
    others = [joint for joint, curve in moving.items() if curve.joints != (joint,)]
    faults += [
        f"{where}: length_at_zero_m needs moment arms that depend on their own joint only; the one at the {joint} "
        f"depends on {', '.join(moving[joint].joints)}: give the length as a curve (length)"
        for joint in others
    ]
    if others:
        return None
    curves = tuple(times(integral(curve), -1.0) for curve in moving.values())
    shortest = at_zero_m + sum(
        float(evaluate(curve, _grid_over([*arm.range_rad])).min())
        for curve, arm in zip(curves, moving.values(), strict=True)
    )
    if shortest <= 0:
        faults.append(
            f"{where}: from length_at_zero_m {at_zero_m:g} m and the moment arms its length falls to {shortest:.3g} m "
            "within their range"
        )
    return MusculotendonLength("at_zero", float(at_zero_m), curves)


def _check_agreement(length: MusculotendonLength, arms: dict[str, MomentArm], where: str, faults: list[str]) -> None:
    """Check the arms that are given beside a length against minus its slopes."""
    (curve,) = length.curves
    for joint, arm in arms.items():
        if arm.form in {"from_length", "not_sampled"} or (arm.is_zero and joint not in curve.joints):
            continue
        ranges = narrowest([*zip(arm.curve.joints, arm.curve.range_rad, strict=True), *length.range_rad.items()])
        names = list(dict.fromkeys([*arm.curve.joints, *curve.joints]))
        grid = dict(zip(names, _grid_over([ranges.get(name, EVERYWHERE) for name in names]), strict=True))
        value = evaluate(arm.curve, [grid[name] for name in arm.curve.joints])
        slope = evaluate(derivative(curve, joint), [grid[name] for name in curve.joints])
        off = np.abs(value + slope)
        allowed = max(AGREE_M, AGREE_PART * float(np.abs(value).max()))
        if off.max() > allowed:
            worst = int(off.argmax())
            at = ", ".join(f"{name} {math.degrees(grid[name].flat[worst]):.0f} deg" for name in names)
            faults.append(
                f"{where} at the {joint}: the moment arm is {value.flat[worst]:+.4f} m and minus the slope of the "
                f"length {-slope.flat[worst]:+.4f} m at {at}; expected them within {1e3 * allowed:.1f} mm (r = -dL/dq)"
            )


# --- lines of action ---------------------------------------------------------------------------------------------


def _build_lines(
    entries: Any, joints: list[str], arms: dict[str, MomentArm], where: str, faults: list[str]
) -> dict[str, LineOfAction]:
    if not isinstance(entries, dict):
        faults.append(f"{where}: lines_of_action is {entries!r}; expected one entry for each joint that has one")
        return {}
    lines = {}
    for joint, entry in entries.items():
        if joint not in joints:
            near = hint(str(joint), joints)
            faults.append(f"{where}: lines_of_action has joint '{joint}', which the set does not have{near}")
            continue
        if joint in arms and arms[joint].is_zero and arms[joint].form != "not_sampled":
            faults.append(f"{where}: lines_of_action has the {joint}, which the muscle does not cross")
        line = _build_line(entry, f"{where}: line of action at the {joint}", faults)
        if line:
            lines[joint] = line
    return lines


def _build_line(entry: Any, where: str, faults: list[str]) -> LineOfAction | None:
    before = len(faults)
    if not keys_fit(entry, {"source"}, {"parallel_to", "proximal_m", "distal_m", "note"}, where, faults):
        return None
    given = {"parallel_to", "proximal_m", "distal_m"} & set(entry)
    if given not in ({"parallel_to"}, {"proximal_m", "distal_m"}):
        faults.append(f"{where}: expected either parallel_to, or both proximal_m and distal_m")
        return None
    if "parallel_to" in entry and entry["parallel_to"] not in ENDS:
        faults.append(f"{where}: parallel_to is {entry['parallel_to']!r}; expected proximal or distal")
    for key in sorted(given - {"parallel_to"}):
        point = entry[key]
        is_point = isinstance(point, list) and len(point) == 2 and all(is_number(value) for value in point)
        if not (is_point and all(abs(value) < LARGEST_LINE_M for value in point)):
            faults.append(
                f"{where}: {key} is {point!r}; expected [distance along the segment, distance from its axis], "
                f"each below {LARGEST_LINE_M:g} m"
            )
    for key in ("source", "note"):
        if key in entry and not is_text(entry[key]):
            faults.append(f"{where}: {key} is {entry[key]!r}; expected a text")
    if len(faults) > before:
        return None
    points = {key: (float(entry[key][0]), float(entry[key][1])) for key in given - {"parallel_to"}}
    return LineOfAction(
        entry.get("parallel_to"),
        points.get("proximal_m"),
        points.get("distal_m"),
        entry["source"],
        entry.get("note", ""),
    )
