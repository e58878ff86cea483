"""Describe a recording: the text of `limbtorque inspect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.ground.foot import centre_of_pressure
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.signals.labels import fault_notes, find_faults

LOADED_N = 20.0


@np.errstate(over="ignore", invalid="ignore")  # numbers no body can have are shown, too
def describe(recording: Recording) -> str:
    """Describe the contents of a recording, with warnings.

    Parameters
    ----------
    recording : Recording
        The recording.

    Returns
    -------
    str
        A few lines for every kind of content, then the warnings.
    """
    last = recording.first_frame + recording.n_frames - 1
    warnings = recording_warnings(recording)
    lines = [f"{recording.source}  (sha256 {recording.sha256[:16]}, read by {recording.reader})"]
    if recording.forces_source:
        lines.append(f"forces of   {recording.forces_source}  (sha256 {recording.forces_sha256[:16]})")
    lines += [
        f"frames      {recording.n_frames} at {recording.rate_hz:g} Hz, numbers {recording.first_frame} to {last}, "
        f"{recording.n_frames / recording.rate_hz:.3f} s; positions in m",
        _extent(recording),
        f"markers     {len(recording.labels)}",
        *_markers(recording),
    ]
    modelled, analog = recording.modelled_labels, recording.analog_labels
    names = f": {_first(modelled, 8)}" if modelled else ""
    lines.append(f"modelled    {len(modelled)} points that are not markers{names}")
    if recording.model_outputs:
        n_outputs = len(recording.model_outputs)
        lines.append(f"results     {n_outputs} joint angles, moments and powers of another program")
    names = f" at {recording.analog_rate_hz:g} Hz: {_first(analog, 12)}" if analog else ""
    lines += [
        f"analog      {len(analog)} channels{names}",
        f"plates      {len(recording.force_plates)}",
        *(_plate(plate) for plate in recording.force_plates),
        f"events      {len(recording.events)}",
        *(f"  {event.time_s:8.3f} s  {event.name}" for event in recording.events),
        *_audit(recording),
        "warnings" if warnings else "no warnings",
        *(f"  - {sentence}" for sentence in warnings),
    ]
    return "\n".join(lines)


def _first(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + " ..." * (len(names) > most)


def recording_warnings(recording: Recording) -> list[str]:
    """Warnings about a recording, as sentences."""
    sentences = [*recording.notes]
    sentences += fault_notes(find_faults(recording.markers_m), recording.labels, first_frame=recording.first_frame)
    count = Counter(label.rpartition(":")[2] for label in recording.labels)
    if repeated := sorted(label for label, number in count.items() if number > 1):
        sentences.append(f"labels that occur twice, or need a prefix: {_first(repeated, 10)}")
    missing: BoolArray = np.asarray(np.isnan(recording.markers_m).any(axis=2))
    for marker, label in enumerate(recording.labels):
        present = recording.markers_m[~missing[:, marker], marker]
        if len(present) > 1 and bool((present == present[0]).all()):
            sentences.append(f"marker {label} has exactly the same position in all frames")
    return sentences


def _audit(recording: Recording) -> list[str]:
    """Statements of the file with their interpretation; guesses are marked."""
    findings = recording.audit.findings
    if not findings:
        return []
    guesses = len(recording.audit.guesses)
    width = max(len(finding.item) for finding in findings)
    lines = [f"statements of the file -> interpretation; guesses: {guesses or 'none'}"]
    for finding in findings:
        lines.append(f"  {finding.item:{width}s}  {finding.stated}")
        settle = f" (a guess: {finding.to_settle})" if finding.guessed else ""
        lines.append(f"  {'':{width}s}  -> {finding.interpretation}{settle}")
    return lines


def _extent(recording: Recording) -> str:
    """Extent and travel of the markers, axis by axis."""
    seen = recording.markers_m[~np.isnan(recording.markers_m).any(axis=2)]
    if not len(seen):
        return "extent      no marker has a sample"
    low, high = np.percentile(seen, 1.0, axis=0), np.percentile(seen, 99.0, axis=0)
    centre = np.nanmedian(recording.markers_m[~np.isnan(recording.markers_m).all(axis=(1, 2))], axis=1)
    travel = centre[-1] - centre[0]
    parts = [f"{axis} {low[k]:.2f} to {high[k]:.2f} (travel {travel[k]:+.2f})" for k, axis in enumerate("xyz")]
    return f"extent      {', '.join(parts)} m; 98 % of the samples, travel of the median marker"


def _markers(recording: Recording) -> list[str]:
    gone: BoolArray = np.asarray(np.isnan(recording.markers_m).any(axis=2))
    whole = [label for label, missing in zip(recording.labels, gone.T, strict=True) if not missing.any()]
    lines = [f"  complete ({len(whole)}): {', '.join(whole)}"] if whole else []
    for label, missing in zip(recording.labels, gone.T, strict=True):
        gaps = runs(missing)
        if gaps:
            longest = max(stop - start for start, stop in gaps) / recording.rate_hz
            seen = [f"{recording.first_frame + a}-{recording.first_frame + b - 1}" for a, b in runs(~missing)]
            lines.append(
                f"  {label:24s} {100 * missing.mean():5.1f} % missing, gaps: {len(gaps)}, longest {longest:.2f} s; present in "
                f"frames {_first(seen, 3)}"
            )
    return lines


def _plate(plate: ForcePlate) -> str:
    up = _normal(plate)
    vertical = plate.force_n @ up
    loaded = vertical > LOADED_N
    low, high = plate.corners_m.min(axis=0), plate.corners_m.max(axis=0)
    where = f"x {low[0]:.3f} to {high[0]:.3f} m, y {low[1]:.3f} to {high[1]:.3f} m"
    text = (
        f"  plate {plate.number} type {plate.kind}, {where if plate.kind else 'wrench only, corners unknown'}, "
        f"{plate.rate_hz:g} Hz, largest vertical force {np.nanmax(vertical, initial=0.0):.0f} N"
    )
    if loaded.any():
        wrench = np.hstack([plate.force_n, plate.moment_nm])[loaded]
        centre = np.nanmean(centre_of_pressure(wrench, up=up, level_m=float((plate.corners_m @ up).mean())), axis=0)
        first, last = np.flatnonzero(loaded)[[0, -1]] / plate.rate_hz
        text += f", loaded {first:.2f} to {last:.2f} s, mean centre of pressure ({centre[0]:.3f}, {centre[1]:.3f}, {centre[2]:.3f}) m"
    return text


def _normal(plate: ForcePlate) -> FloatArray:
    """Laboratory axis nearest to the plate's normal, towards its mean force."""
    edges = np.diff(plate.corners_m, axis=0)
    normal = np.cross(edges[0], edges[1])
    if not normal.any():  # corners not known: along the largest force
        normal = np.nan_to_num(np.abs(plate.force_n)).mean(axis=0) if len(plate.force_n) else np.ones(3)
    axis: FloatArray = np.eye(3)[int(np.abs(normal).argmax())]
    mean = np.nan_to_num(plate.force_n).mean(axis=0) @ axis if len(plate.force_n) else 1.0
    return axis if mean >= 0.0 else -axis
