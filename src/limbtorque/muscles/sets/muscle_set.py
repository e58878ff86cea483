"""Sets of muscles, read from a file and checked, and scaled to a subject."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from limbtorque.arrays import FloatArray
from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.muscles.sets.curve_entries import Entry, Text, check_joints
from limbtorque.muscles.sets.moment_arm_curves import evaluate_linear, times
from limbtorque.muscles.sets.muscle import LineOfAction, MomentArm, Muscle, MusculotendonLength
from limbtorque.muscles.sets.muscle_entries import LARGEST_LENGTH_M, MuscleEntry, build_muscle
from limbtorque.study.faults import checked
from limbtorque.study.files import read_yaml
from limbtorque.study.options.base import option

BUILT_IN = Path(__file__).parent


class Reference(Entry):
    """Reference body of a muscle set."""

    segment_length_m: dict[str, Annotated[float, Field(gt=0.0, lt=LARGEST_LENGTH_M)]] = option(
        ..., "Length of the segment distal to each joint.", "m", min_length=1
    )
    mass_kg: float | None = option(None, "Mass of the body.", "kg", gt=0.0)
    source: Text = option(..., "Source of the numbers.")
    note: str = option("", "A remark.")

    @field_validator("segment_length_m")
    @classmethod
    def _of_the_set(cls, value: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        check_joints(value, info)
        return value


class SetEntry(Entry):
    """A muscle set."""

    name: Text = option(..., "Name of the set.")
    description: str | None = option(None, "A remark.")
    joints: list[str] = option(..., "Joints from proximal to distal.", min_length=1)
    flexion: dict[str, Text] = option(..., "Sentence that defines flexion and its zero for each joint.")
    from_vertical: list[str] = option([], "Joints whose flexion may be measured from the vertical.")
    reference: Reference | None = option(None, "Body that the numbers belong to.")
    muscles: list[MuscleEntry] = option(..., "The muscles.", min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        joints, names = ", ".join(self.joints), [muscle.name for muscle in self.muscles]
        if len(set(self.joints)) < len(self.joints):
            raise ValueError(f"joints names a joint twice: {joints}")
        if set(self.flexion) != set(self.joints):
            raise ValueError(
                f"flexion has {', '.join(self.flexion) or 'no joint'}, expected a sentence on flexion and its zero for each "
                f"of {joints}"
            )
        if not set(self.from_vertical) <= set(self.joints):
            raise ValueError(f"from_vertical is {self.from_vertical!r}, expected joints of the set: {joints}")
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise ValueError(f"muscle '{twice[0]}' occurs {names.count(twice[0])} times")
        return self


@dataclass(frozen=True, eq=False)
class MuscleSet:
    """The muscles of a limb.

    Parameters
    ----------
    name : str
        Name of the set.
    joints : tuple of str
        Joints of the moment arms, from proximal to distal.
    flexion : dict of str to str
        Definition of each joint's flexion and its zero.
    muscles : tuple of Muscle
        The muscles, in the order of every array.
    reference : Reference or None
        Reference body of the numbers, if known.
    from_vertical : tuple of str
        Joints with flexion from the vertical where the proximal segment is not in the chain.
    """

    name: str
    joints: tuple[str, ...]
    flexion: dict[str, str]
    muscles: tuple[Muscle, ...]
    reference: Reference | None = None
    from_vertical: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the muscles."""
        return tuple(muscle.name for muscle in self.muscles)

    @property
    def max_force_n(self) -> FloatArray:
        """Strengths, shape (n_muscles,)."""
        return np.array([muscle.max_isometric_force_n for muscle in self.muscles])

    def fibres(self, unknown_joints: Collection[str] = ()) -> dict[str, FloatArray]:
        """Fibre arguments of `hill_limits`.

        Parameters
        ----------
        unknown_joints : collection of str, optional
            Joints of unknown angle: the fibres of muscles that cross them are unknown.

        Returns
        -------
        dict of str to ndarray of shape (n_muscles,)
            NaN where a parameter, or the length or velocity of the muscle, is unknown.
        """
        names = ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
        known = [m.fibres_known and set(m.crosses).isdisjoint(unknown_joints) for m in self.muscles]
        values = {name: np.array([getattr(m, name) for m in self.muscles], dtype=float) for name in names}
        return {name: np.where(known, value, np.nan) for name, value in values.items()}

    @property
    def not_sampled(self) -> tuple[tuple[str, str], ...]:
        """Pairs of muscle and joint with an unknown moment arm, taken as zero."""
        return tuple(
            (muscle.name, joint)
            for muscle in self.muscles
            for joint, arm in muscle.moment_arms.items()
            if arm.form == "not_sampled"
        )

    def crossing(self, joints: Collection[str]) -> MuscleSet:
        """Set with the muscles that cross any of the given joints.

        Parameters
        ----------
        joints : collection of str
            Joints; those that the set does not have are ignored.

        Returns
        -------
        MuscleSet
            With the muscles that have a moment arm, sampled or not, at one of the joints, in order; the same object for
            the same joints, for use as the key of caches.

        Examples
        --------
        >>> load_muscle_set("leg").crossing(["ankle"]).names
        ('gastroc', 'soleus', 'tib_ant')
        """
        return _crossing(self, frozenset(joints))


@functools.lru_cache(maxsize=32)
def _crossing(muscle_set: MuscleSet, joints: frozenset[str]) -> MuscleSet:
    crossing = tuple(muscle for muscle in muscle_set.muscles if not joints.isdisjoint(muscle.crosses))
    return muscle_set if len(crossing) == len(muscle_set.muscles) else replace(muscle_set, muscles=crossing)


@functools.lru_cache(maxsize=32)
def _read(path: Path, name: str, stamp: tuple[int, int]) -> MuscleSet:  # noqa: ARG001 (a changed file is another key)
    try:
        content = json.loads(path.read_bytes()) if path.suffix == ".json" else read_yaml(path)
    except ValueError as error:
        raise SettingsError(f"muscle set {name} {error}") from None
    if content is None:
        raise SettingsError(f"muscle set {name} is empty; docs/muscles.md has an example of a set")
    return muscle_set_from_mapping(content, name=name)


def load_muscle_set(name_or_path: str | Path) -> MuscleSet:
    """Load a set of muscles and check it.

    Parameters
    ----------
    name_or_path : str or Path
        The name of a built-in set (``arm``, ``leg``, ``pairs``), or the path of a YAML file laid out like those.

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
    built_in = sorted(path.stem for path in BUILT_IN.glob("*.json"))  # of the YAML file beside it, and quicker to read
    path = BUILT_IN / f"{name_or_path}.json" if str(name_or_path) in built_in else Path(name_or_path)
    if not path.is_file():
        near = did_you_mean(str(name_or_path), built_in)
        raise SettingsError(
            f"muscle set '{name_or_path}': neither a built-in set ({', '.join(built_in)}) nor a file{near}"
        )
    about = path.stat()
    return _read(path.resolve(), Path(name_or_path).name, (about.st_mtime_ns, about.st_size))


def muscle_set_from_mapping(content: Any, *, name: str = "muscles") -> MuscleSet:
    """Check a muscle set given as mappings and lists, and build it.

    Parameters
    ----------
    content : Any
        Content of the YAML file of a set.
    name : str, optional
        Name of the set in messages.

    Returns
    -------
    MuscleSet

    Raises
    ------
    SettingsError
        All faults, one sentence each.
    """
    parts = content if isinstance(content, dict) else {}
    joints, faults = parts.get("joints"), list[str]()
    known = [joint for joint in joints if isinstance(joint, str)] if isinstance(joints, list) else []
    entry = checked(SetEntry, content, where="the set", faults=faults, context=known)
    muscles = [build_muscle(muscle, entry.joints, faults) for muscle in entry.muscles] if entry else []
    if entry is None or faults:
        listed = "".join(f"\n  - {_with_name(fault, parts.get('muscles'))}" for fault in faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise SettingsError(f"muscle set '{name}' has {count}:{listed}")
    built = tuple(muscle for muscle in muscles if muscle)
    return MuscleSet(entry.name, tuple(entry.joints), entry.flexion, built, entry.reference, tuple(entry.from_vertical))


def _with_name(fault: str, entries: Any) -> str:
    """Sentence with a muscle's name in place of its index.

    >>> _with_name("the set: muscles.0.pcsa_cm2 is -3", [{"name": "BRA"}])
    "muscle 'BRA': pcsa_cm2 is -3"
    """

    def named(place: re.Match[str]) -> str:
        entry = entries[int(place[1])]
        name = entry.get("name") if isinstance(entry, dict) else None
        return f"muscle '{name}': " if isinstance(name, str) and name.strip() else f"muscle {int(place[1]) + 1}: "

    return re.sub(r"^the set: muscles\.(\d+)(?:\.|: | )", named, fault)


# --- scaling -----------------------------------------------------------------------------------------------------


def scaled(
    muscle_set: MuscleSet, *, length_factor: Mapping[str, float] | None, strength_factor: float = 1.0
) -> MuscleSet:
    """Scale the muscles of a set to a subject.

    Parameters
    ----------
    muscle_set : MuscleSet
        The set.
    length_factor : mapping of str to float, or None
        Factor of the moment arms at each joint; 1 for a joint that is not named, for all when None.
    strength_factor : float, optional
        Factor of every strength.

    Returns
    -------
    MuscleSet
        Without a reference, which no longer applies.

    Notes
    -----
    The change of length over a joint scales like the moment arm there, so r = -dL/dq still holds. The length at flexion 0,
    the optimal fibre length and the tendon slack length scale by the mean factor of the joints that the muscle crosses. A
    length that depends on several joints at once scales by that mean factor as a whole, and so do the muscle's arms at
    these joints. Points of a line of action scale like the arms. Cross-sections and strengths do not change with length.
    """
    factors = dict(length_factor or {})
    muscles = tuple(_scaled_muscle(muscle, factors, strength_factor) for muscle in muscle_set.muscles)
    return replace(muscle_set, muscles=muscles, reference=None if factors else muscle_set.reference)


def strengthened(muscle_set: MuscleSet, factors: Mapping[str, float]) -> MuscleSet:
    """Multiply the strengths of muscles by given factors.

    >>> strengthened(load_muscle_set("leg"), {"soleus": 0.5}).max_force_n[7] / load_muscle_set("leg").max_force_n[7]
    np.float64(0.5)
    """
    if not factors:
        return muscle_set
    muscles = tuple(
        replace(muscle, max_isometric_force_n=muscle.max_isometric_force_n * factors.get(muscle.name, 1.0))
        for muscle in muscle_set.muscles
    )
    return replace(muscle_set, muscles=muscles)


def _scaled_muscle(muscle: Muscle, length_factor: dict[str, float], strength_factor: float) -> Muscle:
    mean = float(np.mean([length_factor.get(joint, 1.0) for joint in muscle.crosses] or [1.0]))
    curves = muscle.length.curves if muscle.length else ()
    together = {joint for curve in curves if len(curve.joints) > 1 for joint in curve.joints}
    factor = {joint: mean if joint in together else length_factor.get(joint, 1.0) for joint in muscle.moment_arms}
    optimum_m, slack_m = muscle.optimal_fibre_length_m, muscle.tendon_slack_length_m
    return replace(
        muscle,
        max_isometric_force_n=muscle.max_isometric_force_n * strength_factor,
        optimal_fibre_length_m=None if optimum_m is None else optimum_m * mean,
        tendon_slack_length_m=None if slack_m is None else slack_m * mean,
        moment_arms={joint: _scaled_arm(arm, factor[joint]) for joint, arm in muscle.moment_arms.items()},
        length=_scaled_length(muscle.length, factor, mean) if muscle.length else None,
        lines_of_action={joint: _scaled_line(line, factor[joint]) for joint, line in muscle.lines_of_action.items()},
    )


def _scaled_arm(arm: MomentArm, factor: float) -> MomentArm:
    ends = ("lowest_m", "highest_m")
    published = arm.published and arm.published.model_copy(
        update={end: [factor * arm_m for arm_m in getattr(arm.published, end)] for end in ends}
    )
    return replace(arm, curve=times(arm.curve, factor), published=published)


def _scaled_length(length: MusculotendonLength, factor: dict[str, float], mean: float) -> MusculotendonLength:
    """Length scaled by the mean factor, changes of length by each joint's factor."""
    by_joint = [factor[curve.joints[0]] for curve in length.curves]  # the same for all joints of a curve
    starts = [float(evaluate_linear(curve, [0.0] * len(curve.joints))) for curve in length.curves]
    change = sum(of * start for of, start in zip(by_joint, starts, strict=True))
    curves = tuple(times(curve, of) for curve, of in zip(length.curves, by_joint, strict=True))
    return replace(length, offset_m=mean * (length.offset_m + sum(starts)) - change, curves=curves)


def _scaled_line(line: LineOfAction, factor: float) -> LineOfAction:
    points = {"proximal_m": line.proximal_m, "distal_m": line.distal_m}
    return line.model_copy(update={key: point and [factor * x for x in point] for key, point in points.items()})
