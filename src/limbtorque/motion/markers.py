"""Markers of a recording, and the part in which the chain is complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, missing_samples, runs
from limbtorque.errors import PART_OF_TRIAL, SignalError
from limbtorque.recordings.recording import Recording
from limbtorque.signals.gaps import Filled, Gap, fill_gaps
from limbtorque.signals.labels import LabelFaults, fault_notes, find_faults, find_jumps
from limbtorque.study.options.motion import Gaps
from limbtorque.study.settings import Settings

MIN_STRETCH_S = 0.2  # the shortest that is analysed


@dataclass(frozen=True)
class PreparedMarkers:
    """Markers with short gaps filled, and the part with a complete chain.

    Attributes
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions of the needed markers in the whole recording, m.
    index : dict of str to int
        Label -> index along axis 1.
    filled : ndarray of bool, shape (n_frames,)
        Frames in which a marker of the chain was filled.
    stretch : slice
        The longest run of frames with all markers of the chain.
    longest_gap_frames : int
        Longest run of frames between two such stretches.
    gap_error_m : float
        Largest known expected error of a filled gap in the stretch, m; 0 without any.
    swapped, spike : ndarray of bool, shape (n_frames,)
        Frames with a needed marker exchanged with another one, and with an unfilled spike or jump of one.
    notes : tuple of str
        Frames left out, gaps filled.
    """

    markers_m: FloatArray
    index: dict[str, int]
    filled: BoolArray
    stretch: slice
    longest_gap_frames: int
    gap_error_m: float
    swapped: BoolArray
    spike: BoolArray
    notes: tuple[str, ...]


def _window(recording: Recording, start_s: float | None, end_s: float | None) -> slice:
    if recording.n_frames < 2:
        raise SignalError(f"{recording.source}: {recording.n_frames} frame, expected two or more")
    start = 0 if start_s is None else round(start_s * recording.rate_hz)
    stop = recording.n_frames if end_s is None else round(end_s * recording.rate_hz) + 1
    if not 0 <= start < stop <= recording.n_frames:
        last = (recording.n_frames - 1) / recording.rate_hz
        raise SignalError(
            f"{recording.source}: the window from {start_s} to {end_s} s is outside the recording, which runs from 0 to "
            f"{last:g} s; correct start_s and end_s"
        )
    return slice(start, stop)


def prepare_markers(
    recording: Recording,
    *,
    markers: Mapping[str, int],
    chain_labels: set[str],
    settings: Settings,
    start_s: float | None = None,
    end_s: float | None = None,
) -> PreparedMarkers:
    """Fill short gaps and find the part in which the chain is complete.

    Parameters
    ----------
    recording : Recording
        The recording.
    markers : mapping of str to int
        Label -> index into the recording's markers, of all markers that are needed.
    chain_labels : set of str
        Labels of the joints among them; the others may be missing.
    settings : Settings
        Options of gaps and spikes.
    start_s, end_s : float, optional
        Window of the recording, s from its first frame.

    Raises
    ------
    SignalError
        The window is outside the recording, a marker is missing or frozen throughout, or the complete stretch is too short.
    """
    window = _window(recording, start_s, end_s)
    labels = list(markers)
    faults = _needed_faults(recording, list(markers.values()), window)
    left = faults.spikes
    if settings.gaps.spikes == "fill":
        recording = replace(recording, markers_m=np.where(faults.spikes[..., None], np.nan, recording.markers_m))
        left = np.zeros_like(faults.spikes)
    raw = {label: recording.markers_m[window, column] for label, column in markers.items() if label in chain_labels}
    _check_markers(raw, recording.source, still_is_fault=settings.gaps.constant_marker == "fail")
    filled = fill_needed(recording, list(markers.values()), settings.gaps, window=window)
    needed = [labels.index(label) for label in sorted(chain_labels)]
    complete = ~missing_samples(filled.markers_m[:, needed]).any(axis=1)
    stretches = runs(complete)
    if not stretches:
        raise SignalError(
            f"{recording.source}: no frame has all of {', '.join(sorted(chain_labels))}; check these markers"
        )
    start, stop = max(stretches, key=lambda run: run[1] - run[0])
    longest = max((b - a for a, b in runs(~complete) if a > stretches[0][0] and b <= stretches[-1][0]), default=0)
    if longest and settings.gaps.longer == "fail":
        raise SignalError(
            f"{recording.source}: a gap in the limb's markers lasts {longest / recording.rate_hz:.2f} s, expected at most "
            f"{settings.gaps.max_gap_s:g} s (gaps.max_gap_s); set gaps.longer to trim, or give {PART_OF_TRIAL}"
        )
    if (stop - start) / recording.rate_hz < MIN_STRETCH_S:
        raise SignalError(
            f"{recording.source}: the longest part with all markers is {(stop - start) / recording.rate_hz:.2f} s long, "
            f"expected at least {MIN_STRETCH_S:g} s"
        )
    gaps = [gap for gap in filled.gaps if gap.method and gap.marker in needed and gap.start < stop and gap.stop > start]
    return PreparedMarkers(
        filled.markers_m,
        {label: i for i, label in enumerate(labels)},
        np.asarray(filled.filled[:, needed].any(axis=1)),
        slice(start, stop),
        longest,
        max((gap.expected_error_m for gap in gaps if np.isfinite(gap.expected_error_m)), default=0.0),
        np.asarray(faults.swapped.any(axis=1)),
        np.asarray(left.any(axis=1)),
        (
            *_label_notes(faults, slice(start, stop), recording, settings.gaps),
            *_gap_notes(recording, window, slice(start, stop), filled.filled[:, needed], stretches),
            *_fill_notes(gaps, labels, recording),
        ),
    )


def _needed_faults(recording: Recording, needed: Sequence[int], window: slice) -> LabelFaults:
    """Exchanges, spikes and jumps of required markers in the window."""
    found = find_faults(recording.markers_m[window], about=needed)
    shape = (recording.n_frames, len(recording.labels))
    swapped, spikes = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    columns = sorted(set(needed))
    swapped[window, columns], spikes[window, columns] = found.swapped[:, columns], found.spikes[:, columns]
    jumps = find_jumps(recording.markers_m[window][:, columns], rate_hz=recording.rate_hz)
    spikes[window, columns] |= jumps & ~swapped[window, columns]
    shifted = [replace(s, start=s.start + window.start, stop=s.stop + window.start) for s in found.swaps]
    return LabelFaults(tuple(shifted), swapped, spikes)


def _label_notes(faults: LabelFaults, stretch: slice, recording: Recording, gaps: Gaps) -> list[str]:
    """Notes on exchanges and spikes in the analysed part."""
    swaps = tuple(s for s in faults.swaps if s.start < stretch.stop and s.stop > stretch.start)
    spikes = np.zeros_like(faults.spikes)
    spikes[stretch] = faults.spikes[stretch]
    taken = ["spikes are treated as missing (gaps.spikes)"] if gaps.spikes == "fill" and spikes.any() else []
    inside = LabelFaults(swaps, faults.swapped, spikes)
    return [*fault_notes(inside, recording.labels, first_frame=recording.first_frame), *taken]


def fill_needed(recording: Recording, needed: Sequence[int], gaps: Gaps, *, window: slice = slice(None)) -> Filled:
    """Fill the gaps of given markers, from other markers where possible.

    Parameters
    ----------
    recording : Recording
        The recording.
    needed : sequence of int
        Indices of the markers.
    gaps : Gaps
        Options of gaps.
    window : slice, optional
        Frames that are used.

    Returns
    -------
    Filled
        The needed markers, in that order; nothing outside the window.
    """
    others = [] if gaps.method == "cubic" else [i for i in range(len(recording.labels)) if i not in set(needed)]
    columns = [*needed, *others]
    positions = recording.markers_m[:, columns].copy()
    positions[: window.start or 0] = np.nan
    positions[len(positions) if window.stop is None else window.stop :] = np.nan
    if others:  # exchanged markers and spikes would displace the filled marker
        faults = find_faults(positions)
        wrong = faults.swapped | faults.spikes
        wrong[:, : len(needed)] = False
        positions[wrong] = np.nan
    found = fill_gaps(
        positions,
        rate_hz=recording.rate_hz,
        max_gap_s=gaps.max_gap_s,
        method=gaps.method,
        wanted=range(len(needed)),
    )
    return replace(found, markers_m=found.markers_m[:, : len(needed)], filled=found.filled[:, : len(needed)])


def _fill_notes(gaps: Sequence[Gap], labels: Sequence[str], recording: Recording) -> list[str]:
    """Note on the filled gaps, the ten with the largest expected errors first."""
    gaps = sorted(gaps, key=lambda gap: -np.nan_to_num(gap.expected_error_m, nan=np.inf))
    first = recording.first_frame
    entries = [
        f"{labels[gap.marker]} {first + gap.start}-{first + gap.stop - 1} {gap.method} "
        + ("unknown" if np.isnan(gap.expected_error_m) else f"{1e3 * gap.expected_error_m:.2g} mm")
        for gap in gaps[:10]
    ]
    more = f", and {len(gaps) - 10} more" if len(gaps) > 10 else ""
    return [f"filled (marker, frames, method, expected error): {', '.join(entries)}{more}"] if entries else []


def _gap_notes(
    recording: Recording, window: slice, stretch: slice, filled: BoolArray, stretches: Sequence[tuple[int, int]]
) -> list[str]:
    notes = []
    dropped = (window.stop - window.start) - (stretch.stop - stretch.start)
    if dropped:
        inside = f"; {len(stretches) - 1} long gaps, longest part without gaps analysed" if len(stretches) > 1 else ""
        first = recording.first_frame
        notes.append(
            f"frames {first + stretch.start}-{first + stretch.stop - 1} analysed, {dropped} with missing markers left out{inside}"
        )
    if filled[stretch].any():
        notes.append(
            f"{int(filled[stretch].sum())} marker samples filled in {len(runs(filled[stretch].any(axis=1)))} places"
        )
    return notes


def _check_markers(raw: Mapping[str, FloatArray], source: str, *, still_is_fault: bool) -> None:
    """Refuse markers without samples, or (`still_is_fault`) without movement."""
    faults = []
    for label, positions_m in raw.items():
        present = positions_m[~missing_samples(positions_m)]
        if not len(present):
            faults.append(f"marker {label!r} is missing in all {len(positions_m)} frames")
        elif still_is_fault and len(present) > 1 and (present == present[0]).all():
            faults.append(
                f"marker {label!r} has the same position in all {len(present)} frames, expected movement; if the point is "
                "fixed, set gaps.constant_marker to accept"
            )
    if faults:
        raise SignalError(f"{source}: {'; '.join(faults)}")
