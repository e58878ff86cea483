"""Sets of muscles and their moment arms.

A moment arm is positive where the muscle flexes the joint. With L the musculotendon length and q the flexion,
r = -dL/dq: a muscle that shortens as the joint flexes is a flexor, and its tension makes a flexing torque (virtual
work; An et al. 1984, J Biomech Eng 106:280-282).
"""

from __future__ import annotations

import difflib
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from limbtorque.errors import SettingsError

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

BUILT_IN = Path(__file__).parent / "sets"
LARGEST_ARM_M = 0.15  # no limb muscle's moment arm is longer; one that is, is probably in millimetres
SENSES = {"flexor": 1.0, "extensor": -1.0}
ARM_KEYS = {
    "zero": set[str](),
    "not_sampled": set[str](),
    "constant": {"arm_m"},
    "polynomial": {"coefficients", "range_deg"},
    "spline": {"knots_deg", "arms_m"},
}
ARM_EXTRAS = {"form", "range_deg", "largest_departure_m", "departs_at_deg", "note"}
MUSCLE_KEYS = {"name", "max_isometric_force_n", "source", "function", "moment_arms"}
MUSCLE_EXTRAS = {"full_name", "optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad"}
SET_KEYS = {"name", "joints", "flexion", "muscles"}


@dataclass(frozen=True, eq=False)
class MomentArm:
    """Moment arm of one muscle at one joint as a function of the joint's flexion: piecewise polynomial.

    Parameters
    ----------
    form : str
        zero, constant, polynomial, spline or not_sampled (the muscle crosses the joint, but its source gives no
        moment arm there: taken as zero).
    range_rad : tuple of float
        Flexion over which the arm was sampled; infinite for zero and constant.
    breaks_rad : ndarray of shape (n_pieces - 1,)
        Flexion at which one piece passes into the next.
    origins_rad : ndarray of shape (n_pieces,)
        Flexion from which each piece's powers count.
    coefficients : ndarray of shape (n_powers, n_pieces)
        Coefficients of rising powers of flexion minus origin [m, m/rad, ...].
    largest_departure_m : float or None
        Largest absolute departure of a fit from the table it was fitted to.
    note : str
        What was decided about this moment arm.
    """

    form: str
    range_rad: tuple[float, float]
    breaks_rad: Floats
    origins_rad: Floats
    coefficients: Floats
    largest_departure_m: float | None = None
    note: str = ""

    @property
    def is_zero(self) -> bool:
        """Whether the arm is zero at every flexion."""
        return not self.coefficients.any()


@dataclass(frozen=True, eq=False)
class Muscle:
    """A muscle, or the lumped muscles, that act as one.

    Parameters
    ----------
    name, full_name : str
        Short name, as in the tables, and the anatomical one.
    max_isometric_force_n : float
        Strength.
    optimal_fibre_length_m, tendon_slack_length_m, pennation_rad : float or None
        None where the source does not say.
    source : dict of str to str
        ``model`` and ``licence`` of the numbers.
    function : dict of str to str
        ``flexor`` or ``extensor`` for each joint that the muscle moves, in the anatomical position.
    moment_arms : dict of str to MomentArm
        For each joint of the set.
    """

    name: str
    full_name: str
    max_isometric_force_n: float
    optimal_fibre_length_m: float | None
    tendon_slack_length_m: float | None
    pennation_rad: float | None
    source: dict[str, str]
    function: dict[str, str]
    moment_arms: dict[str, MomentArm]


@dataclass(frozen=True, eq=False)
class MuscleSet:
    """The muscles of a limb.

    Parameters
    ----------
    name : str
        Name of the set.
    joints : tuple of str
        Joints that the moment arms speak of, from proximal to distal.
    flexion : dict of str to str
        For each joint, what its flexion is and where it is zero.
    muscles : tuple of Muscle
        The muscles, in the order of every array.
    """

    name: str
    joints: tuple[str, ...]
    flexion: dict[str, str]
    muscles: tuple[Muscle, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the muscles."""
        return tuple(muscle.name for muscle in self.muscles)

    @property
    def max_force_n(self) -> Floats:
        """Strengths, shape (n_muscles,)."""
        return np.array([muscle.max_isometric_force_n for muscle in self.muscles])

    @property
    def not_sampled(self) -> tuple[tuple[str, str], ...]:
        """Pairs of muscle and joint whose moment arm nobody sampled and is taken as zero."""
        return tuple(
            (muscle.name, joint)
            for muscle in self.muscles
            for joint, arm in muscle.moment_arms.items()
            if arm.form == "not_sampled"
        )


@dataclass(frozen=True, eq=False)
class MomentArms:
    """Moment arms over the frames of a trial.

    Parameters
    ----------
    moment_arm_m : ndarray of shape (n_frames, n_joints, n_muscles)
        Positive flexes. NaN where the joint's angle is NaN.
    out_of_range : ndarray of bool of shape (n_frames, n_joints)
        Frames in which some muscle's arm is held at the value of the end of its sampled range.
    """

    moment_arm_m: Floats
    out_of_range: Bools


def polynomial_arm(
    coefficients: Sequence[float], range_deg: Sequence[float], *, departure_m: float | None = None, note: str = ""
) -> MomentArm:
    """Build a moment arm that is one polynomial.

    Parameters
    ----------
    coefficients : sequence of float
        Of rising powers of the flexion in radians [m, m/rad, ...].
    range_deg : sequence of two floats
        Flexion over which it holds.
    departure_m : float, optional
        Largest departure from the table it was fitted to.
    note : str, optional
        What was decided about it.

    Returns
    -------
    MomentArm
    """
    powers = np.array(coefficients, dtype=float)[:, None]
    return MomentArm("polynomial", _radians(range_deg), np.zeros(0), np.zeros(1), powers, departure_m, note)


def spline_arm(
    knots_deg: Sequence[float],
    arms_m: Sequence[float],
    range_deg: Sequence[float],
    *,
    departure_m: float | None = None,
    note: str = "",
) -> MomentArm:
    """Build a moment arm that is a shape-preserving cubic spline: no overshoot between the knots.

    Parameters
    ----------
    knots_deg : sequence of float
        Flexion at the knots, rising; at least two.
    arms_m : sequence of float
        Moment arm at each knot.
    range_deg, departure_m, note
        As for `polynomial_arm`.

    Returns
    -------
    MomentArm

    Notes
    -----
    Slopes after Fritsch F.N., Carlson R.E. (1980) SIAM J Numer Anal 17:238-246, with the weighted harmonic mean of
    Fritsch and Butland (1984), as in SciPy's ``PchipInterpolator``.
    """
    knots, arms = np.radians(np.array(knots_deg, dtype=float)), np.array(arms_m, dtype=float)
    width, chord = np.diff(knots), np.diff(arms) / np.diff(knots)
    slope = _knot_slopes(width, chord)
    bend = (3 * chord - 2 * slope[:-1] - slope[1:]) / width
    twist = (slope[:-1] + slope[1:] - 2 * chord) / width**2
    powers = np.array([arms[:-1], slope[:-1], bend, twist])
    return MomentArm("spline", _radians(range_deg), knots[1:-1], knots[:-1], powers, departure_m, note)


def _knot_slopes(width: Floats, chord: Floats) -> Floats:
    """Slopes at the knots of a shape-preserving spline, from the widths and slopes of the chords between them."""
    if len(chord) == 1:
        return np.repeat(chord, 2)
    slope = np.zeros(len(chord) + 1)
    before, after = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    monotone = chord[:-1] * chord[1:] > 0
    flat = np.where(chord == 0, 1.0, chord)
    slope[1:-1] = np.where(monotone, (before + after) / (before / flat[:-1] + after / flat[1:]), 0.0)
    slope[0] = _end_slope(width[0], width[1], chord[0], chord[1])
    slope[-1] = _end_slope(width[-1], width[-2], chord[-1], chord[-2])
    return slope


def _end_slope(width: float, next_width: float, chord: float, next_chord: float) -> float:
    """Slope at an end from three points, kept from turning the curve round."""
    slope = ((2 * width + next_width) * chord - width * next_chord) / (width + next_width)
    if slope * chord <= 0:
        return 0.0
    if chord * next_chord < 0 and abs(slope) > 3 * abs(chord):
        return 3 * chord
    return slope


def constant_arm(arm_m: float, *, form: str = "constant", note: str = "") -> MomentArm:
    """Build a moment arm that is the same at every flexion.

    Parameters
    ----------
    arm_m : float
        The arm.
    form : str, optional
        constant, zero or not_sampled.
    note : str, optional
        What was decided about it.

    Returns
    -------
    MomentArm
    """
    return MomentArm(form, (-math.inf, math.inf), np.zeros(0), np.zeros(1), np.array([[float(arm_m)]]), None, note)


def _radians(range_deg: Sequence[float]) -> tuple[float, float]:
    return math.radians(range_deg[0]), math.radians(range_deg[1])


def evaluate_moment_arm(arm: MomentArm, flexion_rad: ArrayLike) -> Floats:
    """Evaluate one moment arm; outside its range it keeps the value of the range's end.

    Parameters
    ----------
    arm : MomentArm
        Moment arm.
    flexion_rad : array_like of shape (n_frames,)
        Flexion of the joint.

    Returns
    -------
    ndarray of shape (n_frames,)
        Moment arm [m], positive flexes; NaN where the flexion is.

    Examples
    --------
    >>> arm = polynomial_arm([0.02, 0.01], [0.0, 90.0])
    >>> evaluate_moment_arm(arm, [0.5, 9.0]).round(4).tolist()
    [0.025, 0.0357]
    """
    flexion = np.clip(np.asarray(flexion_rad, dtype=float), *arm.range_rad)
    powers: Any = arm.coefficients[:, 0]
    offset = flexion - arm.origins_rad[0] if arm.origins_rad[0] else flexion
    if arm.breaks_rad.size:
        piece = np.searchsorted(arm.breaks_rad, flexion)
        offset = flexion - arm.origins_rad[piece]
        powers = np.take(arm.coefficients, piece, axis=1)
    value = np.full_like(flexion, 0.0) + powers[-1]
    for power in powers[-2::-1]:
        value *= offset
        value += power
    if len(powers) == 1:
        value[np.isnan(flexion)] = np.nan
    return np.asarray(value)


def moment_arm_matrix(
    muscle_set: MuscleSet, flexion_rad: ArrayLike, *, joints: Sequence[str] | None = None
) -> MomentArms:
    """Moment arms of every muscle at every joint and frame.

    Parameters
    ----------
    muscle_set : MuscleSet
        The muscles.
    flexion_rad : array_like of shape (n_frames, n_joints)
        Flexion of each joint, as the set defines it.
    joints : sequence of str, optional
        The joints that the columns of `flexion_rad` are; the set's own when not given.

    Returns
    -------
    MomentArms
        Arms, and the frames in which an arm was held at the end of its range.

    Raises
    ------
    SettingsError
        A joint that the set does not know.

    Examples
    --------
    >>> arms = moment_arm_matrix(load_muscle_set("arm"), [[0.3, 1.5]], joints=["shoulder", "elbow"])
    >>> arms.moment_arm_m.shape, arms.out_of_range.tolist()
    ((1, 2, 15), [[False, False]])
    """
    names = muscle_set.joints if joints is None else tuple(joints)
    for joint in names:
        if joint not in muscle_set.joints:
            known = ", ".join(muscle_set.joints)
            raise SettingsError(
                f"muscle set '{muscle_set.name}' has no joint '{joint}'"
                f"{_hint(joint, muscle_set.joints)}; it has {known}"
            )
    flexion = np.asarray(flexion_rad, dtype=float)
    if flexion.ndim != 2 or flexion.shape[1] != len(names):
        raise ValueError(f"flexion_rad of shape {flexion.shape}: expected (n_frames, {len(names)}), one column a joint")
    arms = np.zeros((len(names), len(muscle_set.muscles), len(flexion)))
    outside = np.zeros(flexion.shape, dtype=bool)
    for j, joint in enumerate(names):
        angle = np.ascontiguousarray(flexion[:, j])
        limits = set()
        for m, muscle in enumerate(muscle_set.muscles):
            arm = muscle.moment_arms[joint]
            if not arm.is_zero:
                arms[j, m] = evaluate_moment_arm(arm, angle)
                limits.add(arm.range_rad)
        if limits:
            low, high = max(low for low, _ in limits), min(high for _, high in limits)
            outside[:, j] = (angle < low) | (angle > high)
        gaps = np.isnan(angle)
        if gaps.any():
            arms[j][:, gaps] = np.nan
    return MomentArms(np.transpose(arms, (2, 0, 1)), outside)


@functools.lru_cache(maxsize=32)
def _read(path: Path, stamp: tuple[int, int]) -> MuscleSet:  # noqa: ARG001 (a changed file is another key)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"muscle set {path.name}: not readable as YAML: {error}") from error
    return muscle_set_from_mapping(content, name=path.stem)


def load_muscle_set(name_or_path: str | Path) -> MuscleSet:
    """Load a set of muscles and check it.

    Parameters
    ----------
    name_or_path : str or Path
        ``arm`` or ``leg``, or the path of a YAML file laid out like those.

    Returns
    -------
    MuscleSet

    Raises
    ------
    SettingsError
        The file is missing, or has faults; all of them are listed.

    Examples
    --------
    >>> load_muscle_set("leg").names[:3]
    ('hamstrings', 'bifemsh', 'glut_max')
    """
    built_in = sorted(path.stem for path in BUILT_IN.glob("*.yaml"))
    path = BUILT_IN / f"{name_or_path}.yaml" if str(name_or_path) in built_in else Path(name_or_path)
    if not path.is_file():
        hint = _hint(str(name_or_path), built_in)
        raise SettingsError(
            f"muscle set '{name_or_path}': neither a built-in set ({', '.join(built_in)}) nor a file{hint}"
        )
    about = path.stat()
    return _read(path.resolve(), (about.st_mtime_ns, about.st_size))


def muscle_set_from_mapping(content: Any, *, name: str = "muscles") -> MuscleSet:
    """Check a set of muscles given as plain mappings and lists, and build it.

    Parameters
    ----------
    content : Any
        What a YAML file of a set holds.
    name : str, optional
        What to call the set in messages when it has no name itself.

    Returns
    -------
    MuscleSet

    Raises
    ------
    SettingsError
        All faults, one sentence each.
    """
    faults: list[str] = []
    built = _build_set(content, faults)
    if faults or built is None:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise SettingsError(f"muscle set '{name}' has {count}:\n" + "\n".join(f"  - {fault}" for fault in faults))
    return built


def _build_set(content: Any, faults: list[str]) -> MuscleSet | None:
    if not _keys_fit(content, SET_KEYS, {"description"}, "the set", faults):
        return None
    joints, flexion, entries = content["joints"], content["flexion"], content["muscles"]
    if not (isinstance(joints, list) and joints and all(isinstance(joint, str) for joint in joints)):
        faults.append(f"joints is {joints!r}; expected a list of names from proximal to distal")
        return None
    if len(set(joints)) < len(joints):
        faults.append(f"joints names a joint twice: {', '.join(joints)}")
    if not (isinstance(flexion, dict) and set(flexion) == set(joints) and all(_is_text(v) for v in flexion.values())):
        faults.append(
            f"flexion has to say in a sentence for each of {', '.join(joints)} what its flexion is and where it is 0"
        )
    if not (isinstance(entries, list) and entries):
        faults.append("muscles is empty; expected a list of muscles")
        return None
    muscles = [_build_muscle(entry, i, joints, faults) for i, entry in enumerate(entries)]
    names = [muscle.name for muscle in muscles if muscle]
    faults += [
        f"muscle '{twice}' is there {names.count(twice)} times"
        for twice in dict.fromkeys(names)
        if names.count(twice) > 1
    ]
    if faults:
        return None
    kept = tuple(muscle for muscle in muscles if muscle)
    return MuscleSet(str(content["name"]), tuple(joints), dict(flexion), kept)


def _build_muscle(entry: Any, index: int, joints: list[str], faults: list[str]) -> Muscle | None:
    name = entry.get("name") if isinstance(entry, dict) else None
    where = f"muscle '{name}'" if _is_text(name) else f"muscle {index + 1}"
    before = len(faults)
    if not _keys_fit(entry, MUSCLE_KEYS, MUSCLE_EXTRAS, where, faults):
        return None
    if not _is_text(name):
        faults.append(f"{where}: name is {name!r}; expected a text")
    for key in ("max_isometric_force_n", "optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad"):
        _check_parameter(key, entry.get(key), where, faults)
    _check_source(entry["source"], where, faults)
    arms = _build_arms(entry["moment_arms"], joints, where, faults)
    _check_function(entry["function"], arms, joints, where, faults)
    if len(faults) > before:
        return None
    optional = {key: entry.get(key) for key in ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")}
    return Muscle(
        name=str(name),
        full_name=str(entry.get("full_name") or name),
        max_isometric_force_n=float(entry["max_isometric_force_n"]),
        source={key: str(value) for key, value in entry["source"].items()},
        function=dict(entry["function"]),
        moment_arms=arms,
        **{key: None if value is None else float(value) for key, value in optional.items()},
    )


def _check_parameter(key: str, value: Any, where: str, faults: list[str]) -> None:
    if key == "max_isometric_force_n":
        if not _is_number(value) or value <= 0:
            faults.append(f"{where}: {key} is {value!r}; expected a force above 0 N")
    elif key == "pennation_rad":
        if value is not None and not (_is_number(value) and 0 <= value < math.pi / 2):
            faults.append(f"{where}: {key} is {value!r}; expected an angle from 0 to below 1.57 rad, or null")
    elif value is not None and not (_is_number(value) and 0 < value < 1):
        faults.append(f"{where}: {key} is {value!r}; expected a length above 0 and below 1 m, or null")


def _check_source(source: Any, where: str, faults: list[str]) -> None:
    if not (isinstance(source, dict) and _is_text(source.get("model")) and _is_text(source.get("licence"))):
        faults.append(f"{where}: source is {source!r}; name the model or paper (model) and its licence (licence)")


def _build_arms(entries: Any, joints: list[str], where: str, faults: list[str]) -> dict[str, MomentArm]:
    if not isinstance(entries, dict):
        faults.append(f"{where}: moment_arms is {entries!r}; expected one entry for each of {', '.join(joints)}")
        return {}
    faults += [
        f"{where}: moment_arms has joint '{joint}', which the set does not have{_hint(str(joint), joints)}"
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
        arm = _build_arm(entries[joint], f"{where} at the {joint}", faults)
        if arm is not None:
            arms[joint] = arm
    return arms


def _build_arm(entry: Any, where: str, faults: list[str]) -> MomentArm | None:
    form = entry.get("form") if isinstance(entry, dict) else None
    if not isinstance(form, str) or form not in ARM_KEYS:
        faults.append(
            f"{where}: the moment arm's form is {form!r}; expected {', '.join(ARM_KEYS)}{_hint(str(form), ARM_KEYS)}"
        )
        return None
    if not _keys_fit(entry, ARM_KEYS[form], ARM_EXTRAS, where, faults):
        return None
    for key in ARM_KEYS[form] | ({"range_deg"} & set(entry)):
        values = entry[key] if isinstance(entry[key], list) else [entry[key]]
        if not values or not all(_is_number(value) for value in values):
            faults.append(f"{where}: {key} is {entry[key]!r}; expected numbers")
            return None
    if form in {"zero", "not_sampled", "constant"}:
        arm = constant_arm(entry.get("arm_m", 0.0), form=form, note=entry.get("note", ""))
    else:
        built = _build_curve(entry, where, faults)
        if built is None:
            return None
        arm = built
    longest = _longest(arm)
    if longest > LARGEST_ARM_M:
        faults.append(
            f"{where}: the arm reaches {longest:.3g} m, expected {LARGEST_ARM_M} m at most; is it in millimetres?"
        )
        return None
    return arm


def _build_curve(entry: dict[str, Any], where: str, faults: list[str]) -> MomentArm | None:
    knots, arms = entry.get("knots_deg", []), entry.get("arms_m", [])
    is_spline = entry["form"] == "spline"
    if is_spline and not (isinstance(knots, list) and isinstance(arms, list) and len(knots) == len(arms) > 1):
        faults.append(f"{where}: knots_deg and arms_m have to be two lists of the same length, two knots at least")
        return None
    if not all(a < b for a, b in itertools.pairwise(knots)):
        faults.append(f"{where}: knots_deg has to rise from knot to knot; found {knots}")
        return None
    ends = entry["range_deg"] if "range_deg" in entry else [knots[0], knots[-1]]
    if not (isinstance(ends, list) and len(ends) == 2 and ends[0] < ends[1]):
        faults.append(f"{where}: range_deg is {ends!r}; expected [lowest, highest] flexion in degrees")
        return None
    about: dict[str, Any] = {"departure_m": entry.get("largest_departure_m"), "note": entry.get("note", "")}
    if not is_spline:
        powers = entry["coefficients"] if isinstance(entry["coefficients"], list) else [entry["coefficients"]]
        return polynomial_arm(powers, ends, **about)
    if ends[0] < knots[0] or ends[1] > knots[-1]:
        faults.append(f"{where}: range_deg {ends} goes beyond the knots, {knots[0]:g} to {knots[-1]:g} deg")
        return None
    return spline_arm(knots, arms, ends, **about)


def _longest(arm: MomentArm) -> float:
    low, high = arm.range_rad
    angles = np.linspace(low, high, 200) if math.isfinite(low) else np.zeros(1)
    return float(np.abs(evaluate_moment_arm(arm, angles)).max())


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
                f"{where}: function has joint '{joint}', which the set does not have{_hint(str(joint), joints)}"
            )
        elif sense not in SENSES:
            faults.append(f"{where}: its function at the {joint} is {sense!r}; expected flexor or extensor")
        elif joint in arms:
            value = float(evaluate_moment_arm(arms[joint], np.zeros(1))[0])
            if value * SENSES[sense] <= 0:
                faults.append(
                    f"{where} is called {_article(sense)} of the {joint}, but its moment arm at 0 flexion is "
                    f"{value:+.4f} m; positive has to flex (r = -dL/dq)"
                )
    for joint, arm in arms.items():
        if not arm.is_zero and joint not in function:
            faults.append(f"{where} has a moment arm at the {joint}; function has to say flexor or extensor for it")


def _article(sense: str) -> str:
    return f"{'an' if sense == 'extensor' else 'a'} {sense}"


def _keys_fit(content: Any, needed: set[str], extras: set[str], where: str, faults: list[str]) -> bool:
    """Whether the content is a mapping with the needed keys; unknown keys are faults too."""
    if not isinstance(content, dict):
        faults.append(f"{where} is {content!r}; expected a mapping")
        return False
    known = sorted(needed | extras)
    faults += [f"{where}: unknown key '{key}'{_hint(str(key), known)}" for key in content if key not in known]
    missing = sorted(needed - set(content))
    faults += [f"{where}: {key} is missing" for key in missing]
    return not missing


def _hint(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
