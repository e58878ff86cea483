"""One trial through all rooms, in memory: the Python entry point."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from limbtorque.errors import LandmarkError
from limbtorque.motion import ChainMotion, chain_motion
from limbtorque.motion_table import kinematics_table
from limbtorque.muscles.forces import MuscleForces, muscle_forces, muscle_table
from limbtorque.muscles.muscle_set import load_muscle_set
from limbtorque.quality import assess
from limbtorque.recording import Recording
from limbtorque.replay import Replay, replay
from limbtorque.settings import Settings
from limbtorque.torques import Torques, joint_torques, torque_quality, torque_table


@dataclass(frozen=True)
class TrialResult:
    """Everything that is known about one trial.

    Attributes
    ----------
    motion : ChainMotion
        Motion of the chain, its constants and its load.
    torques : Torques
        Torque terms.
    muscles : MuscleForces or None
        Muscle forces; None where the chain has no muscle set.
    replay : Replay or None
        The motion integrated from the torques; None unless `replay.enabled`.
    kinematics_table, torque_table : pyarrow.Table
        The tables as they are written; ``.to_pandas()`` makes data frames of them.
    muscle_table : pyarrow.Table or None
        Likewise.
    """

    motion: ChainMotion
    torques: Torques
    muscles: MuscleForces | None
    replay: Replay | None
    kinematics_table: pa.Table
    torque_table: pa.Table
    muscle_table: pa.Table | None

    def flags(self, settings: Settings) -> list[str]:
        """What is above its threshold, in sentences."""
        figures = {
            **self.motion.quality,
            **torque_quality(self.motion, self.torques),
            **(self.muscles.quality if self.muscles else {}),
        }
        return [flag.sentence for flag in assess(figures, settings.quality)]


def analyse_recording(
    recording: Recording,
    *,
    chain: str,
    side: str,
    body_mass_kg: float,
    settings: Settings,
    marker_set: str | None = None,
    folder: Path = Path(),
    **trial: Any,
) -> TrialResult:
    """Analyse one trial in memory.

    Parameters
    ----------
    recording : Recording
        The recording, e.g. from `limbtorque.readers.c3d.read_c3d`.
    chain : str
        ``"arm"``, ``"leg"`` or a chain of the settings.
    side : {"left", "right"}
        Which limb.
    body_mass_kg : float
        Body mass, kg.
    settings : Settings
        All options, e.g. from `limbtorque.settings.make_settings`.
    marker_set : str, optional
        Marker set of the settings; may be left out where there is one only.
    folder : Path, optional
        Where the file of a muscle set of the settings is looked for.
    **trial
        `prefix`, `load`, `start_s`, `end_s`, `measured` as in `limbtorque.motion.chain_motion`.

    Returns
    -------
    TrialResult
        Motion, torque terms, muscle forces and the three tables.

    Raises
    ------
    TrialError
        The trial cannot be analysed; the message says why and what to do.
    """
    if marker_set is None and len(settings.marker_sets) != 1:
        known = ", ".join(settings.marker_sets) or "none"
        raise LandmarkError(f"marker_set is not given, and the settings have {known}; name one")
    motion = chain_motion(
        recording,
        chain=chain,
        side=side,
        marker_set=marker_set or next(iter(settings.marker_sets)),
        body_mass_kg=body_mass_kg,
        settings=settings,
        **trial,
    )
    torques = joint_torques(motion)
    set_name = settings.muscle_set(chain, folder)
    chosen = load_muscle_set(set_name) if set_name else None
    muscles = (
        muscle_forces(
            motion,
            torques.terms.net,
            chosen,
            options=settings.muscles,
            body_mass_kg=body_mass_kg,
            reaction_n=torques.wrenches.reaction_n,
        )
        if chosen
        else None
    )
    return TrialResult(
        motion,
        torques,
        muscles,
        replay(motion, torques, stop_deg=settings.replay.stop_deg, integration=settings.integration)
        if settings.replay.enabled
        else None,
        kinematics_table(motion),
        torque_table(motion, torques, options=settings.torques),
        muscle_table(motion, muscles, options=settings.muscles) if muscles else None,
    )
