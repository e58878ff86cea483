"""The last step: the verdict on a trial, from the records of earlier steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from limbtorque.quality.verdict import Verdict, assess, judge
from limbtorque.study.settings import Settings
from limbtorque.tables.trial_record import TrialRecord


def trial_verdict(records: Mapping[str, TrialRecord], joints: Sequence[str], settings: Settings) -> Verdict:
    """Verdict on a trial, joint by joint.

    Parameters
    ----------
    records : mapping of str to TrialRecord
        Records of the steps ``kinematics``, ``torques`` and ``muscles``.
    joints : sequence of str
        Joints of the chain.
    settings : Settings
        Thresholds: the section `quality`.
    """
    torques, muscles = records["torques"], records.get("muscles")
    if torques.failed:
        return Verdict()
    verdict = judge(
        metrics_of(records),
        settings.quality,
        torques.joint_metrics,
        joints=joints,
        muscles=bool(muscles and muscles.metrics),
        notes=(*records["kinematics"].notes, *torques.notes),
    )
    return replace(verdict, muscles="failed") if muscles and muscles.failed else verdict


def metrics_of(records: Mapping[str, TrialRecord]) -> dict[str, float]:
    """Metrics of a trial from all steps; a later step replaces earlier values."""
    return {name: value for record in records.values() for name, value in record.metrics.items()}


def outside_window(records: Mapping[str, TrialRecord], settings: Settings, verdict: Verdict) -> str:
    """Note on flags outside the judged frames; empty if there are none."""
    whole = assess(records["kinematics"].metrics, settings.quality)
    names = dict.fromkeys(flag.check.flag for flag in whole if flag.check.flag not in verdict.names)
    return f"only outside the judged frames, no effect on the status: {', '.join(names)}" if names else ""
