"""OpenSim model: lengths, moment arms and paths of muscles in given postures."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ModelError, did_you_mean

LARGEST_FILE = 50_000_000  # bytes; a full-body model has one or two million
MISSING = (
    "evaluating the model needs the package opensim; install it: pip install 'limbtorque[opensim]' "
    "(only for some systems and Python versions)"
)


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a model.

    Parameters
    ----------
    name : str
        Its name.
    rotates : bool
        True for an angle, False for a distance.
    default : float
        Its value where nothing else is set, rad or m.
    range_rad : pair of float
        Its range in the model.
    driven : bool
        True if it is prescribed or the function of another.
    locked : bool
        True if the model locks it.
    parent, child : str
        Bodies that its joint connects.
    """

    name: str
    rotates: bool
    default: float
    range_rad: tuple[float, float]
    driven: bool
    locked: bool
    parent: str
    child: str


@dataclass(frozen=True)
class MuscleData:
    """Strength and fibre parameters of a muscle of a model.

    Parameters
    ----------
    max_isometric_force_n, optimal_fibre_length_m, tendon_slack_length_m, pennation_rad : float
        As in a muscle set.
    bodies : tuple of str
        Bodies of its path, without those of wrapping surfaces.
    wrapped : bool
        True if it wraps over a surface or has a point that moves or comes and goes.
    tendon_strain : float or None
        Strain of the tendon at the strength; None for kinds of muscles that state none.
    """

    max_isometric_force_n: float
    optimal_fibre_length_m: float
    tendon_slack_length_m: float
    pennation_rad: float
    bodies: tuple[str, ...]
    wrapped: bool
    tendon_strain: float | None = None

    def has_fibres(self, longest_m: float) -> bool:
        """Return True if fibres and tendon fit the muscle's greatest length."""
        return (
            0 < self.optimal_fibre_length_m < 1.0
            and 0 < self.tendon_slack_length_m < min(longest_m, 1.0)
            and 0 <= self.pennation_rad < np.pi / 2
        )


@dataclass(frozen=True, eq=False)
class Opened:
    """OpenSim model object with its state.

    Parameters
    ----------
    model, state : object
        Of the package.
    locked : set of str
        Coordinates that the file locks. They are unlocked, because assembling a posture would put them back; none is clamped
        to its range.
    followers : dict of str to callable
        Coordinates that are a function of others, with that function of the others' values.
    assembles : bool
        True if constraints of another kind have to be met, too, by OpenSim's assembly.
    """

    model: Any
    state: Any
    locked: set[str]
    followers: dict[str, Callable[[Mapping[str, float]], float]]
    assembles: bool


@dataclass(frozen=True, eq=False)
class OpenSimModel:
    """A model with its state, which `pose` changes.

    Parameters
    ----------
    name : str
        The model's name.
    file : str
        Name of its file.
    publication : str
        Its authors and publications, as the file states them.
    mass_kg : float
        Mass of all bodies.
    coordinates : dict of str to Coordinate
        All coordinates.
    muscles : dict of str to MuscleData
        Muscles that apply a force.
    held : dict of str to float
        Coordinates held at another value than their default, rad or m.
    opened : Opened
        The package's model.
    """

    name: str
    file: str
    publication: str
    mass_kg: float
    coordinates: dict[str, Coordinate]
    muscles: dict[str, MuscleData]
    held: dict[str, float]
    opened: Opened

    def named(self, name: str, purpose: str) -> Coordinate:
        """Coordinate named by the user; raises ModelError if it does not exist."""
        if name not in self.coordinates:
            near = did_you_mean(name, self.coordinates) or f"; it has {', '.join(self.coordinates)[:300]}"
            raise ModelError(f"{self.file}: has no coordinate '{name}' {purpose}{near}")
        return self.coordinates[name]

    def pose(self, values: Mapping[str, float]) -> None:
        """Set coordinates, rad or m; others are held or at defaults."""
        wanted = {name: self.held.get(name, one.default) for name, one in self.coordinates.items()} | dict(values)
        one = self.opened
        coordinates = {name: one.model.getCoordinateSet().get(name) for name in wanted}
        values = {**wanted, **{name: follows(wanted) for name, follows in one.followers.items()}}
        for name, value in values.items():
            if coordinates[name].getValue(one.state) != value:
                coordinates[name].setValue(one.state, value, False)
        if one.assembles:
            one.model.assemble(one.state)
        one.model.realizePosition(one.state)

    def length(self, muscle: str) -> float:
        """Length of muscle and tendon in the posture, m."""
        return float(self.opened.model.getMuscles().get(muscle).getLength(self.opened.state))

    def arm(self, muscle: str, coordinate: str) -> float:
        """Moment arm about a coordinate in the posture as OpenSim counts it, m."""
        model, state = self.opened.model, self.opened.state
        return float(model.getMuscles().get(muscle).computeMomentArm(state, model.getCoordinateSet().get(coordinate)))

    def path(self, muscle: str) -> list[tuple[str, FloatArray]]:
        """Points of a muscle's path, with those on surfaces: body, and place in ground, m."""
        model, state = self.opened.model, self.opened.state
        points = model.getMuscles().get(muscle).getGeometryPath().getCurrentPath(state)
        return [
            (_body(point.getParentFrame()), point.getLocationInGround(state).to_numpy())
            for point in (points.get(i) for i in range(points.getSize()))
        ]

    def place(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Orientation (3, 3) and origin (3,) of a body in ground."""
        model, state = self.opened.model, self.opened.state
        ground = model.getGround()
        return _placed(ground if body == ground.getName() else model.getBodySet().get(body), state)

    def joint_centre(self, coordinate: str) -> FloatArray:
        """Origin of the distal frame of a coordinate's joint, in ground, m."""
        model, state = self.opened.model, self.opened.state
        return _placed(model.getCoordinateSet().get(coordinate).getJoint().getChildFrame(), state)[1]


def read_model(path: Path, *, held: Mapping[str, float] | None = None) -> OpenSimModel:
    """Read an OpenSim model.

    Parameters
    ----------
    path : Path
        The model (.osim).
    held : mapping of str to float, optional
        Values of coordinates in place of their defaults, rad or m.

    Returns
    -------
    OpenSimModel

    Raises
    ------
    ModelError
        The file is missing or no model, or the package ``opensim`` is not installed.
    """
    check_model(path)
    try:
        import opensim
    except ImportError:
        raise ModelError(MISSING) from None
    opensim.Logger.setLevelString("off")
    first = _opened(opensim, path)
    model = first.model
    coordinates = {one.name: one for one in (_coordinate(c, first) for c in _all(model.getCoordinateSet()))}
    return OpenSimModel(
        name=model.getName() or path.stem,
        file=path.name,
        publication=" ".join(f"{model.get_credits()} {model.get_publications()}".split()),
        mass_kg=float(model.getTotalMass(first.state)),
        coordinates=coordinates,
        muscles={m.getName(): _muscle(opensim, m) for m in _all(model.getMuscles()) if m.get_appliesForce()},
        held=dict(held or {}),
        opened=first,
    )


def check_model(path: Path) -> None:
    """Check that a file is an OpenSim document with a model.

    Raises
    ------
    ModelError
        The file is missing, no XML, no OpenSim document, or one of another kind.
    """
    expected = "an OpenSim model (.osim)"
    if not path.is_file():
        raise ModelError(f"{path}: {'is a folder' if path.is_dir() else 'there is no such file'}, expected {expected}")
    if path.stat().st_size > LARGEST_FILE:
        raise ModelError(
            f"{path}: has {path.stat().st_size / 1e6:.0f} MB, expected {expected} of {LARGEST_FILE / 1e6:.0f} MB at most"
        )
    try:
        root = ET.parse(path).getroot()
    except (ET.ParseError, LookupError, ValueError) as error:
        raise ModelError(
            f"{path}: is not readable as XML ({error}), expected {expected}; open and save it in OpenSim"
        ) from None
    kinds = [child.tag for child in root]
    if root.tag != "OpenSimDocument" or "Model" not in kinds:
        found = (
            f"an OpenSim document with {', '.join(kinds) or 'nothing'}" if root.tag == "OpenSimDocument" else root.tag
        )
        raise ModelError(f"{path}: is {found[:100]}, expected {expected}")


def _opened(opensim: Any, path: Path) -> Opened:
    """Open a model with its coordinates unlocked."""
    try:
        model = opensim.Model(str(path))
        model.finalizeConnections()
        locked = {
            coordinate.getName() for coordinate in _all(model.getCoordinateSet()) if coordinate.getDefaultLocked()
        }
        for coordinate in _all(model.updCoordinateSet()):
            coordinate.setDefaultLocked(False)
            coordinate.setDefaultClamped(False)
        state = model.initSystem()
    except RuntimeError as error:
        remedy = "open it in OpenSim, mend what it reports, and save it"
        raise ModelError(f"{path}: OpenSim cannot use it ({_reason(error)}); {remedy}") from None
    constraints = [one for one in _all(model.getConstraintSet()) if one.isEnforced(state)]
    couplers = [opensim.CoordinateCouplerConstraint.safeDownCast(one) for one in constraints]
    followers = {one.getDependentCoordinateName(): _follower(opensim, one) for one in couplers if one}
    return Opened(model, state, locked, followers, len(followers) < len(constraints))


def _reason(error: RuntimeError) -> str:
    r"""Message of an OpenSim exception, without function names.

    >>> _reason(RuntimeError("std::exception in 'A::B()': No muscle 'x'.\n\tThrown at C.h:8 in D()."))
    "No muscle 'x'."
    """
    said = " ".join(str(error).split()).partition("Thrown at")[0].strip()
    return re.sub(r"^std::exception in '.*?': ", "", said)[:200]


def _follower(opensim: Any, coupler: Any) -> Callable[[Mapping[str, float]], float]:
    """Value of a coordinate that depends on others."""
    names = coupler.getIndependentCoordinateNames()
    leaders = [names.get(i) for i in range(names.getSize())]
    function = coupler.getFunction()

    def follow(values: Mapping[str, float]) -> float:
        arguments = opensim.Vector(len(leaders), 0.0)
        for i, name in enumerate(leaders):
            arguments.set(i, values[name])
        return float(function.calcValue(arguments))

    return follow


def _all(of: Any) -> Iterable[Any]:
    return (of.get(i) for i in range(of.getSize()))


def _coordinate(one: Any, of: Opened) -> Coordinate:
    joint = one.getJoint()
    return Coordinate(
        name=one.getName(),
        rotates=one.getMotionType() != 2,
        default=float(one.getDefaultValue()),
        range_rad=(float(one.getRangeMin()), float(one.getRangeMax())),
        driven=one.isPrescribed(of.state) or one.isDependent(of.state),
        locked=one.getName() in of.locked,
        parent=_body(joint.getParentFrame()),
        child=_body(joint.getChildFrame()),
    )


def _tendon_strain(opensim: Any, muscle: Any) -> float | None:
    """Tendon strain at maximum isometric force, if the muscle model states it."""
    kind = muscle.getConcreteClassName()
    if kind == "Millard2012EquilibriumMuscle":
        curve = opensim.Millard2012EquilibriumMuscle.safeDownCast(muscle).getTendonForceLengthCurve()
        return float(curve.getStrainAtOneNormForce())
    name = {"Thelen2003Muscle": "FmaxTendonStrain", "DeGrooteFregly2016Muscle": "tendon_strain_at_one_norm_force"}
    return float(opensim.PropertyHelper.getValueDouble(muscle.getPropertyByName(name[kind]))) if kind in name else None


def _muscle(opensim: Any, muscle: Any) -> MuscleData:
    path = muscle.getGeometryPath()
    points = list(_all(path.getPathPointSet()))
    changing = any(point.getConcreteClassName() != "PathPoint" for point in points)
    return MuscleData(
        max_isometric_force_n=float(muscle.getMaxIsometricForce()),
        optimal_fibre_length_m=float(muscle.getOptimalFiberLength()),
        tendon_slack_length_m=float(muscle.getTendonSlackLength()),
        pennation_rad=float(muscle.getPennationAngleAtOptimalFiberLength()),
        bodies=tuple(dict.fromkeys(_body(point.getParentFrame()) for point in points)),
        wrapped=changing or path.getWrapSet().getSize() > 0,
        tendon_strain=_tendon_strain(opensim, muscle),
    )


def _body(frame: Any) -> str:
    return str(frame.findBaseFrame().getName())


def _placed(frame: Any, state: Any) -> tuple[FloatArray, FloatArray]:
    transform = frame.getTransformInGround(state)
    turn = transform.R()
    orientation = np.array([[turn.get(i, j) for j in range(3)] for i in range(3)])
    return orientation, np.asarray(transform.p().to_numpy(), dtype=float)
