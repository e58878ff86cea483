"""One trial through all rooms, in memory: the Python entry point."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from limbtorque.errors import LandmarkError, LimbtorqueError
from limbtorque.motion.chain_motion import ChainMotion, chain_motion
from limbtorque.motion.table import kinematics_table
from limbtorque.muscles.forces import MuscleForces, muscle_forces, muscle_table
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.recordings.recording import Recording
from limbtorque.simulate.replay import Replay, replay
from limbtorque.study.settings import Settings
from limbtorque.tables.checks import assess
from limbtorque.torques.joint_torques import Torques, joint_torques, torque_quality, torque_table, used_frames

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Which = Literal["torques", "kinematics", "muscles"]


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
    settings : Settings
        All options it was analysed with.
    chain, side, source : str
        Chain and side, and the recording's name.
    """

    motion: ChainMotion
    torques: Torques
    muscles: MuscleForces | None
    replay: Replay | None
    kinematics_table: pa.Table
    torque_table: pa.Table
    muscle_table: pa.Table | None
    settings: Settings = field(default_factory=Settings)
    chain: str = ""
    side: str = ""
    source: str = ""

    def flags(self, settings: Settings | None = None) -> list[str]:
        """What is above its threshold, in sentences; by the thresholds of other settings where they are given."""
        figures = {
            **self.motion.quality,
            **torque_quality(self.motion, self.torques),
            **(self.muscles.quality if self.muscles else {}),
        }
        return [flag.sentence for flag in assess(figures, (settings or self.settings).quality)]

    def to_dataframe(self, which: Which = "torques") -> pd.DataFrame:
        """One of the three tables as a data frame.

        Parameters
        ----------
        which : {"torques", "kinematics", "muscles"}
            Which table.

        Raises
        ------
        LimbtorqueError
            There is no such table, or the chain has no muscles.
        """
        tables = {"torques": self.torque_table, "kinematics": self.kinematics_table, "muscles": self.muscle_table}
        table = tables.get(which)
        if table is None:
            why = (
                "the chain has no muscle set, or muscles.enabled is false"
                if which in tables
                else f"choose one of {', '.join(tables)}"
            )
            raise LimbtorqueError(f"there is no table {which!r}: {why}")
        frame: pd.DataFrame = table.to_pandas()
        return frame

    def plot(self, which: Literal["torques", "muscles"] = "torques", **options: Any) -> Figure:
        """Figure of the torque terms of each joint, or of the muscle forces.

        Parameters
        ----------
        which : {"torques", "muscles"}
            What is drawn.
        **options
            As in `limbtorque.figures.muscle_figures.muscle_figure`.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it.
        """
        from limbtorque.figures.muscle_figures import muscle_figure
        from limbtorque.figures.torque_figures import torque_figure

        title = f"{self.source}: {self.side} {self.chain}"
        if which not in ("torques", "muscles"):
            raise ValueError(f"which is {which!r}, expected 'torques' or 'muscles'")
        if which == "muscles":
            self.to_dataframe("muscles")  # says why where there are none
            return muscle_figure(self.muscle_table, title=title, **options)
        model = self.settings.chain(self.chain)
        return torque_figure(
            self.torque_table, title=title, model=model, flexion_sign=self.motion.flexion_sign.tolist(), **options
        )

    def _repr_html_(self) -> str:
        """Short table for a notebook: what the trial is, the largest torques, and what it is flagged for."""
        motion, used = self.motion, used_frames(self.motion, self.torques)
        rows = [
            ("recording", f"{self.source}, {self.side} {self.chain}, {motion.plane.view} plane"),
            ("frames", f"{len(motion.time_s)} at {motion.rate_hz:g} Hz, {int(used.sum())} in the summary"),
            ("cut-off", ", ".join(f"{hz:.3g} Hz" for hz in motion.cutoff_hz) or "no filter"),
        ]
        for joint, net in zip(motion.joints, self.torques.terms.net[used].T, strict=True):
            rows.append((f"{joint}, largest net torque", f"{max(net, key=abs):.3g} N m" if len(net) else "not known"))
        flags = self.flags()
        rows += [("flag", sentence) for sentence in flags] or [("flags", "none")]
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
        return f"<table>{cells}</table>"


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
        The recording, e.g. from `limbtorque.recordings.c3d.read.read_c3d`.
    chain : str
        ``"arm"``, ``"leg"`` or a chain of the settings.
    side : {"left", "right"}
        Which limb.
    body_mass_kg : float
        Body mass, kg.
    settings : Settings
        All options, e.g. from `limbtorque.study.settings.make_settings`.
    marker_set : str, optional
        Marker set of the settings; may be left out where there is one only.
    folder : Path, optional
        Where the file of a muscle set of the settings is looked for.
    **trial
        `prefix`, `load`, `start_s`, `end_s`, `measured` as in `limbtorque.motion.chain_motion.chain_motion`.

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
        settings=settings,
        chain=chain,
        side=side,
        source=recording.source,
    )
