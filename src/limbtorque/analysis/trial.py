"""Analyse one trial in memory: all steps, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from limbtorque.analysis.chain_motion import analyse_motion, place, space_motion, without_spikes
from limbtorque.analysis.muscles import analyse_muscles, muscle_set_of
from limbtorque.analysis.reading import Emg, emg_of
from limbtorque.analysis.torques import analyse_torques
from limbtorque.analysis.verdict import trial_verdict
from limbtorque.arrays import FloatArray, choice
from limbtorque.errors import LimbtorqueError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.muscles.force_result import MuscleForces
from limbtorque.quality.verdict import Verdict
from limbtorque.recordings.recording import Recording
from limbtorque.study.settings import Settings
from limbtorque.tables.trial_record import TrialRecord, Window
from limbtorque.torques.joint_torques import Torques, used_frames
from limbtorque.uncertainty.bands import TorqueBands

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Which = Literal["torques", "bands", "space", "kinematics", "muscles"]


@dataclass(frozen=True)
class TrialResult:
    """Motion, torques, muscle forces and tables of one trial.

    Attributes
    ----------
    motion : ChainMotion
        Motion of the chain, its constants and its load.
    torques : Torques
        Torque terms.
    window : Window
        The window of its curves, or why there is none.
    records : dict of str to TrialRecord
        Metrics over the frames that the trial is judged by, notes and rows of the summaries, by step: ``kinematics``,
        ``torques`` and ``muscles``.
    bands : TorqueBands or None
        Uncertainty of the torque terms; None where `uncertainty.enabled` is off or the trial is longer than
        `uncertainty.of_trial.MAX_FRAMES`.
    muscles : MuscleForces or None
        Muscle forces; None where the chain has no muscle set, and for a trial of more than 65,536 frames, which has its
        table only.
    kinematics_table, torque_table : pyarrow.Table
        The tables of the results, as the workflow writes them; ``.to_pandas()`` converts them to data frames.
    band_table : pyarrow.Table or None
        Uncertainty of torques, terms and motion by frame; None without `torques.bands`.
    space_table : pyarrow.Table or None
        Net moments in space by frame; None without `torques.in_space`.
    muscle_table : pyarrow.Table or None
        Table of the muscle forces.
    limb : Limb
        The analysed limb.
    settings : Settings
        All options of the analysis.
    source : str
        Name of the recording.
    """

    motion: ChainMotion
    torques: Torques
    window: Window
    records: Mapping[str, TrialRecord]
    bands: TorqueBands | None
    muscles: MuscleForces | None
    kinematics_table: pa.Table
    torque_table: pa.Table
    band_table: pa.Table | None
    space_table: pa.Table | None
    muscle_table: pa.Table | None
    limb: Limb
    settings: Settings
    source: str

    def __repr__(self) -> str:
        """Return the recording, the limb and the frames; a notebook shows a table."""
        frames = f"{len(self.motion.time_s)} frames at {self.motion.rate_hz:g} Hz"
        return f"<TrialResult of {self.source}: {self.limb.side} {self.limb.chain}, {frames}>"

    @property
    def verdict(self) -> Verdict:
        """Status of torques and muscle forces, joint by joint, with its flags."""
        return self._verdict(self.settings)

    @property
    def status(self) -> str:
        """Status: ok, caution or rejected."""
        return self.verdict.status

    def flags(self, settings: Settings | None = None) -> list[str]:
        """Return a sentence for each metric beyond its threshold."""
        return [flag.sentence for flag in self._verdict(settings or self.settings).flags]

    def _verdict(self, settings: Settings) -> Verdict:
        return trial_verdict(self.records, self.motion.joints, settings)

    def to_dataframe(
        self, which: Which = "torques", *, positive: Literal["counter-clockwise", "flexion"] = "counter-clockwise"
    ) -> pd.DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        which : {"torques", "bands", "space", "kinematics", "muscles"}
            The table.
        positive : {"counter-clockwise", "flexion"}, optional
            Sign of torques, angles and their derivatives: that of the files, or flexion (ankle: dorsiflexion) positive, with
            angles from the joint's neutral position. Powers, forces and positions are the same in both.

        Raises
        ------
        LimbtorqueError
            There is no such table: the chain has no muscles, or `torques.bands` or `torques.in_space` is off.
        """
        tables = {
            "torques": self.torque_table,
            "bands": self.band_table,
            "space": self.space_table,
            "kinematics": self.kinematics_table,
            "muscles": self.muscle_table,
        }
        table = tables.get(which)
        if table is None:
            missing = {
                "bands": "torques.bands is false",
                "space": "torques.in_space is false",
                "muscles": "the chain has no muscle set, or muscles.enabled is false",
            }
            why = missing.get(which, f"choose one of {', '.join(tables)}")
            raise LimbtorqueError(f"there is no table {which!r}: {why}")
        frame: pd.DataFrame = table.to_pandas()
        turn = choice("positive", positive, ("counter-clockwise", "flexion")) == "flexion"
        return self._flexion_positive(frame) if turn else frame

    def _flexion_positive(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Data frame with torques, angles and derivatives of every joint flexion positive."""
        flexion = self.motion.flexion
        for joint, sign, zero_rad in zip(self.motion.joints, flexion.sign, flexion.zero_rad, strict=True):
            angles = [name for name in (f"{joint}_angle_rad", f"{joint}_file_angle_rad") if name in frame]
            frame[angles] -= zero_rad
            signed = re.compile(f"{joint}_(file_)?(torque|angle|velocity|acceleration)_(?!.*sd_|share_)")
            names = [name for name in frame.columns.astype(str) if signed.match(name)]
            frame[names] *= sign
            if sign < 0.0:  # the upper limit becomes the lower one
                high = {name.replace("_low_", "_high_"): name for name in names if "_low_" in name}
                frame[[*high, *high.values()]] = frame[[*high.values(), *high]].to_numpy()
        return frame

    def plot(
        self,
        which: Literal["torques", "muscles"] = "torques",
        *,
        muscles: Sequence[str] | None = None,
        at_most: int = 8,
        width_mm: float = 180.0,
    ) -> Figure:
        """Figure of the torque terms of each joint, or of the muscle forces.

        Parameters
        ----------
        which : {"torques", "muscles"}
            The figure.
        muscles : sequence of str, optional
            Muscles to draw, in this order; those with the largest forces by default.
        at_most : int, optional
            Number of muscles to draw where `muscles` is not given.
        width_mm : float, optional
            Width, mm: 180 for two columns of a page, 85 for one.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it.

        Raises
        ------
        LimbtorqueError
            There are no muscle forces.
        """
        from limbtorque.figures.muscle_figures import muscle_figure
        from limbtorque.figures.trial_figures import torque_figure

        title = f"{self.source}: {self.limb.side} {self.limb.chain}"
        if choice("which", which, ("torques", "muscles")) == "muscles":
            self.to_dataframe("muscles")  # raises where there are none
            return muscle_figure(self.muscle_table, title=title, muscles=muscles, at_most=at_most, width_mm=width_mm)
        model, sign = self.limb.model(self.settings), self.motion.flexion.sign.tolist()
        return torque_figure(self.torque_table, title=title, model=model, flexion_sign=sign, width_mm=width_mm)

    def _repr_html_(self) -> str:
        """Return a short table for a notebook."""
        motion, used = self.motion, used_frames(self.motion, self.torques)
        rows = [
            ("recording", f"{self.source}, {self.limb.side} {self.limb.chain}, {motion.plane.view} plane"),
            ("frames", f"{len(motion.time_s)} at {motion.rate_hz:g} Hz, {int(used.sum())} in the summary"),
            ("cut-off", ", ".join(f"{hz:.3g} Hz" for hz in motion.cutoff_hz) or "no filter"),
        ]
        for joint, net in zip(motion.joints, self.torques.terms.net[used].T, strict=True):
            rows.append((f"{joint}, largest net torque", f"{max(net, key=abs):.3g} N m" if len(net) else "not known"))
        flags, verdict = self.flags(), self.verdict
        joints = f" (rejected: {', '.join(verdict.rejected_joints)})" if verdict.rejected_joints else ""
        rows.append(("status", verdict.status + joints))
        rows += [("flag", sentence) for sentence in flags] or [("flags", "none")]
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
        return f"<table>{cells}</table>"


def analyse_recording(
    recording: Recording, limb: Limb, settings: Settings, *, folder: Path = Path(), cutoff_hz: float | None = None
) -> TrialResult:
    """Analyse one recording in memory.

    Parameters
    ----------
    recording : Recording
        The recording, e.g. from `limbtorque.read_recording`.
    limb : Limb
        Chain, side and subject, e.g. ``Limb("arm", side="right", body_mass_kg=72.0)``.
    settings : Settings
        All options, e.g. from `limbtorque.load_settings`.
    folder : Path, optional
        Folder of the muscle set files that the settings name.
    cutoff_hz : float, optional
        Cut-off of the joint centres in place of that of the settings, Hz.

    Returns
    -------
    TrialResult
        Motion, torque terms, muscle forces and the three tables.

    Raises
    ------
    TrialError
        The trial cannot be analysed; the message names the reason and the remedy.
    """
    if not isinstance(recording, Recording):
        raise TypeError(f"recording is {recording!r}, expected a Recording: read_recording(path) reads a file")
    if cutoff_hz is not None:
        smoothed = settings.filter.model_copy(update={"cutoff_hz": float(cutoff_hz), "cutoffs_hz": {}})
        settings = settings.model_copy(update={"filter": smoothed})
    return analyse(
        lambda: recording,
        limb,
        settings,
        folder=folder,
        emg=lambda time_s: emg_of(recording, limb.side, settings, time_s),
    )


def analyse(
    read: Callable[[], Recording],
    limb: Limb,
    settings: Settings,
    *,
    folder: Path,
    emg: Callable[[FloatArray], Emg],
    compared: tuple[Mapping[str, float], tuple[str, ...]] = ({}, ()),
    verdict_only: bool = False,
) -> TrialResult:
    """Take a trial through all steps.

    Parameters
    ----------
    read : callable
        Returns the recording: once, and again for a trial with spikes.
    limb, settings, folder
        As of `analyse_recording`.
    emg : callable
        Returns electromyography at times, s.
    compared : pair of mapping and tuple of str, optional
        Metrics and notes of a second reading of the file.
    verdict_only : bool, optional
        Make no tables and no summaries.
    """
    rows: dict[str, list[pa.Table]] = {"kinematics": [], "torques": [], "muscles": []}
    write = {step: None if verdict_only else made.append for step, made in rows.items()}
    record = TrialRecord(limb.trial)
    placed, recording = place(read(), limb, settings)
    source = recording.source
    motion, moved, file_results = analyse_motion(
        recording,
        limb,
        settings,
        placed=placed,
        compared=compared,
        record=record,
        write=write["kinematics"],
    )
    del placed, recording
    step = analyse_torques(
        motion,
        moved,
        file_results,
        limb,
        settings,
        filled=lambda: without_spikes(read(), limb, settings),
        in_space=lambda: space_motion(read(), limb, settings),
        summaries=not verdict_only,
        record=record,
        write=write["torques"],
    )
    forces, loaded = analyse_muscles(
        motion,
        step.torques.terms.net,
        step.torques.wrenches.reaction_n,
        step.record,
        limb,
        settings,
        muscle_set=muscle_set_of(limb, settings, folder),
        emg=emg(motion.time_s),
        summaries=not verdict_only,
        record=record,
        write=write["muscles"],
    )
    records = {"kinematics": moved, "torques": step.record, "muscles": loaded}
    made = {name: pa.concat_tables(parts) if parts else None for name, parts in rows.items()}
    values = step.torques, step.window, records, step.bands, forces
    frames = made["kinematics"], made["torques"], step.band_table, step.space_table, made["muscles"]
    return TrialResult(motion, *values, *frames, limb, settings, source)
