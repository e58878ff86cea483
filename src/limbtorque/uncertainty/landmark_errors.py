"""Errors of joint centres by the kinds of their rules."""

from __future__ import annotations

from collections.abc import Mapping

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
    model, mapping = limb.model(settings), limb.landmarks(settings)
    errors = settings.uncertainty
    of_set = errors.sets.get(limb.set_name(settings), {})
    return [centre_error_m(landmark, mapping, errors, of_set=of_set) for landmark in centre_landmarks(model)]


def centre_landmarks(model: ChainModel) -> list[str]:
    """Landmarks of the joint centres and of the endpoint, proximal first."""
    return [*(joint.landmark for joint in model.joints), model.end]


def centre_error_m(
    landmark: str, mapping: LandmarkMap, errors: Uncertainty, *, of_set: Mapping[str, CentreKind | float] | None = None
) -> float:
    """Standard deviation of a landmark's position along an axis, m.

    Parameters
    ----------
    landmark : str
        The landmark.
    mapping : LandmarkMap
        Its rule.
    errors : Uncertainty
        Errors by kind and by landmark.
    of_set : mapping of str to str or float, optional
        Errors of its marker set.
    """
    named = {**(of_set or {}), **errors.landmarks}
    given = errors.landmarks.get(landmark, named.get(mapping.resolve(landmark)))
    if isinstance(given, float):
        return given
    return float(getattr(errors, f"centre_{given or _kind(landmark, mapping)}_m"))


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
