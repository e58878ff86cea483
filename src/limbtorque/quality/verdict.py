"""Verdict on a trial and its joints, from the metrics above their thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from limbtorque.quality.check import TWICE, Check
from limbtorque.quality.checks import CHECKS
from limbtorque.study.options.quality import Quality

STATUSES = ("ok", "caution", "rejected", "failed")
OF_ITS_JOINT = "fit_error_share"  # rejects the joint, not the limb: what it costs at the others is in their bands
JointMetrics = Mapping[str, Mapping[str, float]]  # metric -> joint -> value


@dataclass(frozen=True)
class Flag:
    """A quality metric above its threshold.

    Attributes
    ----------
    check : Check
        The check that raised it.
    value, threshold : float
        Value of the metric and largest allowed one.
    joint : str
        The joint concerned; empty where it is the whole trial.
    where : str
        Markers and frames, where a note of the trial names them.
    """

    check: Check
    value: float
    threshold: float
    joint: str = ""
    where: str = ""

    @property
    def status(self) -> str:
        """Resulting status: caution or rejected."""
        return "rejected" if self.value > self.check.rejects_from * self.threshold else "caution"

    @property
    def rejects_at(self) -> float:
        """Twice the threshold where that rejects; else NaN."""
        return TWICE * self.threshold if self.check.rejects_from == TWICE else math.nan

    @property
    def allowed(self) -> str:
        """Threshold, and the value that rejects."""
        rejects = "" if math.isnan(self.rejects_at) else f", rejects at {self.rejects_at:.4g}"
        return f"allowed {self.threshold:.4g}{rejects}"

    @property
    def sentence(self) -> str:
        """Joint, value, threshold, location, definition and advice in one sentence."""
        unit = f" {self.check.unit}" if self.check.unit != "1" else ""
        joint = f"{self.joint}: " if self.joint else ""
        details = "; ".join(filter(None, (self.where, self.check.definition, self.check.advice)))
        return f"{joint}{self.check.name} is {self.value:.4g}{unit}, {self.allowed}: {details}"


def assess(
    metrics: Mapping[str, float], thresholds: Quality, by_joint: JointMetrics | None = None, notes: Sequence[str] = ()
) -> list[Flag]:
    """Flag every metric above its threshold.

    Parameters
    ----------
    metrics : mapping of str to float
        Quality metrics by name, in their units; a metric that is absent or NaN does not apply and raises no flag.
    thresholds : Quality
        Largest allowed values.
    by_joint : mapping of str to mapping of str to float, optional
        Metrics with a value for each joint.
    notes : sequence of str, optional
        Notes of the trial.

    Returns
    -------
    list of Flag
        In the order of `CHECKS`.

    Examples
    --------
    >>> [flag.check.name for flag in assess({"gap_share": 0.5, "tilt_deg": 1.0}, Quality())]
    ['gap_share']
    >>> [flag.joint for flag in assess({}, Quality(), {"torque_nm_kg": {"hip": 20.0, "knee": 1.0, "neck": 20.0}})]
    ['hip']
    """
    flags = []
    for check in CHECKS:
        values = {"": metrics[check.name]} if check.name in metrics else {}
        values |= (by_joint or {}).get(check.name, {})
        for joint, value in values.items():
            allowed = check.allowed_at(joint, thresholds)
            if value > allowed:
                flags.append(Flag(check, value, allowed, joint, note_that_begins(check.where, notes)))
    return flags


def note_that_begins(beginning: str, notes: Iterable[str]) -> str:
    """Return the first note with this beginning; empty if there is none.

    >>> note_that_begins("spikes", ["filter: none", "spikes (marker, frames): ELB 247"])
    'spikes (marker, frames): ELB 247'
    """
    return next((note for note in notes if beginning and note.startswith(beginning)), "")


@dataclass(frozen=True)
class Verdict:
    """Status of a trial: of its torques, joint by joint, and of its muscle forces.

    Attributes
    ----------
    flags : tuple of Flag
        Its flags.
    torques, muscles : str
        ``"ok"``, ``"caution"``, ``"rejected"`` or ``"failed"``; the muscles' is ``"none"`` without a muscle set. That of the
        torques is the worst of its joints, where one that `OF_ITS_JOINT` alone rejects counts as caution beside another one.
    joints : dict of str to str
        Status of the torques of each joint.
    """

    flags: tuple[Flag, ...] = ()
    torques: str = "failed"
    muscles: str = "failed"
    joints: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """The worse of the two."""
        return worst([self.torques, *([] if self.muscles == "none" else [self.muscles])])

    @property
    def rejected_joints(self) -> tuple[str, ...]:
        """Joints whose torques must not be used."""
        return tuple(joint for joint, status in self.joints.items() if status == "rejected")

    @property
    def rejected_by(self) -> tuple[str, ...]:
        """Names of the flags that reject the trial or a joint, each once."""
        return tuple(dict.fromkeys(flag.check.flag for flag in self.flags if flag.status == "rejected"))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the flags, each once."""
        return tuple(dict.fromkeys(flag.check.flag for flag in self.flags))


def worst(statuses: Iterable[str]) -> str:
    """Return the worst status; ok without any.

    >>> worst(["ok", "rejected", "caution"])
    'rejected'
    """
    return max(statuses, key=STATUSES.index, default="ok")


def judge(
    metrics: Mapping[str, float],
    thresholds: Quality,
    by_joint: JointMetrics | None = None,
    *,
    joints: Sequence[str],
    muscles: bool = True,
    notes: Sequence[str] = (),
) -> Verdict:
    """Verdict on a trial that did not fail.

    Parameters
    ----------
    metrics, thresholds, by_joint
        As of `assess`.
    joints : sequence of str
        Joints of the chain.
    muscles : bool, optional
        The trial has muscle forces.
    notes : sequence of str, optional
        Notes of the trial.

    Returns
    -------
    Verdict
        A flag of the whole trial concerns every joint. Muscle forces follow from the torques of all joints: where a joint is
        rejected, they have the status of the torques.

    Examples
    --------
    >>> found = judge({"gap_share": 0.5}, Quality(), {"torque_nm_kg": {"hip": 20.0}}, joints=["hip", "knee"])
    >>> found.status, dict(found.joints), found.muscles
    ('rejected', {'hip': 'rejected', 'knee': 'caution'}, 'rejected')
    """
    flags = tuple(assess(metrics, thresholds, by_joint, notes))
    of = {about: [flag for flag in flags if flag.check.affects == about] for about in ("torques", "muscles")}
    by_name = {joint: worst(flag.status for flag in of["torques"] if flag.joint in ("", joint)) for joint in joints}
    limb = [flag.status for flag in of["torques"] if not (flag.joint and flag.check.name == OF_ITS_JOINT)]
    rejected = [status == "rejected" for status in by_name.values()]
    torques = "caution" if any(rejected) and not all(rejected) and "rejected" not in limb else worst(by_name.values())
    follows = torques if any(rejected) else "ok"
    own = worst([*(flag.status for flag in of["muscles"]), follows])
    return Verdict(flags, torques, own if muscles else "none", by_name)
