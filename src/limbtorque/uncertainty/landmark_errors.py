"""Errors of joint centres by the kinds of their rules."""

from __future__ import annotations

from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.study.chains import ChainModel
from limbtorque.study.marker_rules import Between, Carried, Functional, HipCentre
from limbtorque.study.options.uncertainty import CENTRE_KINDS, CentreKind, Uncertainty
from limbtorque.study.settings import Settings


def centre_errors_m(limb: Limb, settings: Settings) -> list[float]:
    """Standard deviation of each joint centre and of the endpoint along an axis, m.

    Parameters
    ----------
    limb : Limb
        Chain and marker set.
    settings : Settings
        Errors by kind and by landmark.
    """
    mapping, errors, name = limb.landmarks(settings), settings.uncertainty, limb.set_name(settings)
    return [centre_error_m(landmark, mapping, errors, name) for landmark in centre_landmarks(limb.model(settings))]


def centre_landmarks(model: ChainModel) -> list[str]:
    """Landmarks of the joint centres and of the endpoint, proximal first."""
    return [*(joint.landmark for joint in model.joints), model.end]


def centre_error_m(landmark: str, mapping: LandmarkMap, errors: Uncertainty, set_name: str = "") -> float:
    """Standard deviation of a landmark's position along an axis, m.

    Parameters
    ----------
    landmark, mapping, errors, set_name
        As in `options_of_centre`.
    """
    found = _options(landmark, mapping, errors, set_name)
    return float(next(value for value in found.values() if isinstance(value, float)))


def options_of_centre(landmark: str, mapping: LandmarkMap, errors: Uncertainty, set_name: str = "") -> tuple[str, ...]:
    """Options of the section `uncertainty` that give a landmark its size.

    Parameters
    ----------
    landmark : str
        The landmark.
    mapping : LandmarkMap
        Its rule.
    errors : Uncertainty
        Errors by kind and by landmark.
    set_name : str, optional
        Its marker set, which may have errors of its own.

    Returns
    -------
    tuple of str
        That of the landmark, where it has one, and that of its kind, where no number is given.
    """
    return tuple(_options(landmark, mapping, errors, set_name))


def _options(landmark: str, mapping: LandmarkMap, errors: Uncertainty, set_name: str) -> dict[str, CentreKind | float]:
    """Options of a landmark's size with their values; the last one is a number."""
    source = mapping.resolve(landmark)
    given: list[tuple[str, CentreKind | float]] = [
        *((f"landmarks.{name}", errors.landmarks[name]) for name in (landmark, source) if name in errors.landmarks),
        *((f"sets.{set_name}.{name}", size) for name, size in errors.sets.get(set_name, {}).items() if name == source),
    ]
    found = dict(given[:1])
    value = given[0][1] if given else _kind(landmark, mapping)
    if not isinstance(value, float):
        option = f"centre_{value}_m"
        found[option] = errors.sizes[option]
    return found


def _kind(landmark: str, mapping: LandmarkMap) -> CentreKind:
    """Kind of a landmark's rule in the marker set."""
    rule = mapping.rules[mapping.resolve(landmark)]
    if isinstance(rule, Carried):  # what the cluster adds is in its residual, far smaller
        rule = rule.static
    if isinstance(rule, Functional):
        return "functional"
    if isinstance(rule, Between):
        return "between"
    if isinstance(rule, str):
        return "marker"
    if isinstance(rule, tuple):
        return "marker" if len(set(rule)) == 1 else "midpoint"
    method = rule.hip_centre if isinstance(rule, HipCentre) else rule.shoulder_centre
    return next(kind for kind in CENTRE_KINDS if method.startswith(f"{kind}_"))
