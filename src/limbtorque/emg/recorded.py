"""Electromyography of a trial: normalised envelopes and activity of its muscles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.emg.channel_checks import FAULTS, UNDERSHOOT, Metrics, channel_metrics
from limbtorque.emg.processing import METHODS, Method, at_times, band_pass, linear_envelope, quietest
from limbtorque.errors import did_you_mean
from limbtorque.recordings.emg_channels import SMALLEST_UV, comparable, emg_channels, microvolts
from limbtorque.recordings.recording import Recording
from limbtorque.signals.channels import power_shares
from limbtorque.study.options.muscles import Emg

BASELINE_S = 0.25  # length of the quietest part of a channel, which onset and offset take as rest
CHECK_HZ = 100.0  # samples of the envelopes that the checks look at
NO_CHANNEL: dict[str, str | float] = {
    "channel": "",
    "unit": "",
    "faults": "no channel",
    "normalised_by": "",
    "rms_uv": math.nan,
}
LISTED = 6  # labels in a sentence
LARGEST_UV = 2e4  # peak of a surface electromyogram: 5 to 10 mV at most (De Luca 1997), twice that is amplified


@dataclass(frozen=True, eq=False)
class Channels:
    """Processed channels at the rate of the recording.

    Attributes
    ----------
    labels, units : tuple of str
        As in the file.
    band : ndarray of shape (n_samples, n_channels)
        Band-passed signals; envelopes as recorded; zero where samples are missing.
    envelope : ndarray of shape (n_samples, n_channels)
        Envelopes in the channel's unit.
    is_envelope : ndarray of bool, shape (n_channels,)
        Channels that were recorded as envelopes.
    peak : ndarray of shape (n_channels,)
        Largest envelope.
    size : ndarray of shape (n_channels,)
        Largest recorded value, without its sign.
    metrics : Metrics
        Metrics of their faults.
    rate_hz : float
        Samples per second.
    """

    labels: tuple[str, ...]
    units: tuple[str, ...]
    band: FloatArray
    envelope: FloatArray
    is_envelope: BoolArray
    peak: FloatArray
    size: FloatArray
    metrics: Metrics
    rate_hz: float


@dataclass(frozen=True, eq=False)
class Electromyography:
    """Electromyography of a trial's muscles at its frames.

    Attributes
    ----------
    muscles : tuple of str
        The muscles.
    envelope : ndarray of shape (n_frames, n_muscles)
        Normalised envelopes, later by the electromechanical delay; NaN without a channel or samples.
    activity : mapping of str to ndarray of shape (n_frames, n_muscles)
        By method: 1 active, 0 not, NaN unknown; without the delay.
    usable : ndarray of bool, shape (n_muscles,)
        Muscles with a channel without a fault; others are compared with nothing.
    facts : tuple of dict
        For each muscle: channel, unit, faults, normalised_by, rms_uv.
    notes : tuple of str
        Sentences on missing and faulty channels, units and maximal trials.
    sha256 : str
        Hash of the recording's file.
    """

    muscles: tuple[str, ...]
    envelope: FloatArray
    activity: Mapping[Method, FloatArray]
    usable: BoolArray
    facts: tuple[dict[str, str | float], ...]
    notes: tuple[str, ...]
    sha256: str


def process_channels(recording: Recording, labels: list[str], options: Emg) -> Channels:
    """Filter and judge all channels of electromyography of a recording.

    Parameters
    ----------
    recording : Recording
        The recording.
    labels : list of str
        Labels of channels to process besides those that are recognised (`recordings.emg_channels`).
    options : Emg
        Section `emg` of the settings.

    Raises
    ------
    SignalError
        The sampling rate is too low, or there are too few samples.
    """
    chosen = sorted({one.index for one in emg_channels(recording)} | {recording.analog_labels.index(x) for x in labels})
    values, rate_hz = recording.analog[:, chosen], recording.analog_rate_hz
    whole: BoolArray = np.asarray(np.isfinite(values).all(axis=0))
    filled = values if whole.all() else np.where(whole, values, 0.0)
    is_envelope = _envelopes(filled, whole, rate_hz, options)
    raw = ~is_envelope
    limits = dict(zip(("high_pass_hz", "low_pass_hz"), options.band_hz, strict=True))
    band, envelope = filled.copy(), np.maximum(filled, 0.0)
    if raw.any():
        band[:, raw] = passed = band_pass(filled[:, raw], rate_hz=rate_hz, **limits)
        envelope[:, raw] = linear_envelope(passed, rate_hz=rate_hz, cutoff_hz=options.envelope_cutoff_hz)
    units = tuple(recording.analog_units[k].strip() or options.unit for k in chosen)
    metrics = channel_metrics(
        values,
        band,
        envelope[:: max(int(rate_hz / CHECK_HZ), 1)],
        rate_hz=rate_hz,
        high_pass_hz=options.band_hz[0],
        is_envelope=is_envelope,
        units=units,
    )
    return Channels(
        labels=tuple(recording.analog_labels[k] for k in chosen),
        units=units,
        band=band,
        envelope=envelope,
        is_envelope=is_envelope,
        peak=envelope.max(axis=0, initial=0.0),
        size=np.abs(filled).max(axis=0, initial=0.0),
        metrics=metrics,
        rate_hz=rate_hz,
    )


def _envelopes(filled: FloatArray, whole: BoolArray, rate_hz: float, options: Emg) -> BoolArray:
    """Mask of channels that contain envelopes, not electromyograms."""
    if options.signal != "auto":
        return np.full(filled.shape[1], options.signal == "envelope")
    high, low = filled.max(axis=0, initial=0.0), -filled.min(axis=0, initial=0.0)
    one_sign = np.minimum(high, low) <= UNDERSHOOT * np.maximum(high, low)
    smooth = np.zeros(filled.shape[1], dtype=bool)
    if one_sign.any() and len(filled) > 1:
        _, slow = power_shares(filled[:, one_sign], rate_hz=rate_hz, lines_hz=(50.0,), low_hz=options.band_hz[0])
        smooth[one_sign] = slow > 0.95
    return np.asarray(smooth & whole)


Maxima = dict[tuple[str, str], float]
"""Largest envelopes of maximal trials by label and unit: microvolts, or the file's unit where that is no voltage."""


def peaks(recording: Recording, options: Emg) -> Maxima:
    """Largest envelope of every channel without a fault."""
    named = [label for side in ("left", "right") for label in options.channels_of(side)]
    channels = process_channels(recording, [label for label in named if label in recording.analog_labels], options)
    found = {}
    for k in range(len(channels.labels)):
        key, size = _amplitude(channels, k)
        if size > 0.0 and channels.metrics.faults(k) in ((), ("dead",)):
            found[key] = size
    return found


def _amplitude(channels: Channels, k: int) -> tuple[tuple[str, str], float]:
    """Label and unit of a channel in `Maxima`, and its largest envelope in that unit."""
    unit, factor = comparable(channels.units[k])
    return (channels.labels[k], unit), factor * float(channels.peak[k])


def electromyography(
    recording: Recording,
    times_s: FloatArray,
    side: str,
    options: Emg,
    *,
    start_s: float = 0.0,
    maxima: Maxima | None = None,
) -> Electromyography:
    """Normalised envelopes and activity of a trial's muscles.

    Parameters
    ----------
    recording : Recording
        Recording with the channels.
    times_s : ndarray of shape (n_frames,)
        Times of the trial's frames, s.
    side : str
        ``"left"`` or ``"right"``.
    options : Emg
        Section `emg` of the settings.
    start_s : float, optional
        Time of the first sample on the clock of `times_s`, s.
    maxima : dict, optional
        Largest envelopes in maximal trials (`peaks`); else a channel is normalised by its own peak.

    Raises
    ------
    SignalError
        The sampling rate is too low, or there are too few samples.
    """
    wanted = options.channels_of(side)
    there = [label for label in wanted if label in recording.analog_labels]
    notes = [
        f"electromyography: {recording.source} has no channel {label!r}{did_you_mean(label, recording.analog_labels)}; "
        "correct emg.channels"
        for label in wanted
        if label not in there
    ]
    n_frames, n_muscles = len(times_s), len(options.muscles)
    envelope = np.full((n_frames, n_muscles), math.nan)
    activity = {method: envelope.copy() for method in METHODS}
    usable, facts = np.zeros(n_muscles, dtype=bool), [{**NO_CHANNEL, "muscle": muscle} for muscle in options.muscles]
    if there:
        channels = process_channels(recording, there, options)
        column = {label: channels.labels.index(label) for label in there}
        taken = list(column.values())
        notes += _notes(channels, taken, recording.source, maxima)
        values = at_times(
            channels.envelope[:, taken], times_s, rate_hz=channels.rate_hz, start_s=start_s, delay_s=options.delay_s
        )
        by_method = _activity(channels, taken, times_s, start_s)
    for m, muscle in enumerate(options.muscles):
        of_muscle = [column[label] for label in there if muscle in wanted[label]]
        good = [k for k in of_muscle if not channels.metrics.faults(k)]
        chosen, usable[m] = good or of_muscle, bool(good)
        if not chosen:
            continue
        references = [_reference(channels, k, maxima) for k in chosen]
        if len({origin for _, origin in references}) > 1:
            references = [_reference(channels, k, None) for k in chosen]
            notes.append(
                f"electromyography: {recording.source}: {muscle}: only some of its channels have a maximal trial, so all of "
                "them are normalised by their own peaks; check emg.max_voluntary_files"
            )
        at = [taken.index(k) for k in chosen]
        envelope[:, m] = np.mean(values[:, at] / [size for size, _ in references], axis=1)
        for method in METHODS:
            activity[method][:, m] = by_method[method][:, at].max(axis=1)
        facts[m] = {
            "muscle": muscle,
            "channel": _listed(channels.labels[k] for k in chosen),
            "unit": _listed(channels.units[k] for k in chosen),
            "faults": _listed(name for k in chosen for name in channels.metrics.faults(k)),
            "normalised_by": _listed(origin for _, origin in references),
            "rms_uv": float(np.mean([_rms_uv(channels, k) for k in chosen])),
        }
    return Electromyography(
        options.muscles, envelope, activity, usable, tuple(facts), tuple(notes), sha256=recording.sha256
    )


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _activity(channels: Channels, chosen: list[int], times_s: FloatArray, start_s: float) -> dict[Method, FloatArray]:
    """Activity at the samples nearest to the frames; NaN where unknown."""
    values, rate_hz = channels.band[:, chosen], channels.rate_hz
    rest = quietest(values, rate_hz=rate_hz, length_s=BASELINE_S)
    nearest = np.round((times_s - start_s) * rate_hz).astype(int)
    inside = (nearest >= 0) & (nearest < len(values))
    nearest = np.clip(nearest, 0, len(values) - 1)
    activity: dict[Method, FloatArray] = {}
    for method, active in METHODS.items():
        taken = active(values, rate_hz=rate_hz, baselines=rest)[nearest]
        unknown = ~inside[:, np.newaxis] | (channels.is_envelope[chosen] & (method == "bonato"))  # a method for noise
        activity[method] = np.where(unknown, math.nan, taken)
    return activity


def _reference(channels: Channels, k: int, maxima: Maxima | None) -> tuple[float, str]:
    """Reference value of an envelope, normalised to 1, and its source."""
    key, _ = _amplitude(channels, k)
    if maxima and (largest := maxima.get(key, 0.0)) > 0.0:
        return largest / comparable(channels.units[k])[1], "maximal trial"
    peak = float(channels.peak[k])
    return (peak, "own peak") if peak > 0.0 else (math.nan, "own peak")


def _rms_uv(channels: Channels, k: int) -> float:
    """Root mean square of a channel's band, uV; NaN where its amplitude is unknown."""
    factor = microvolts(channels.units[k])
    if factor is None or channels.is_envelope[k] or _doubtful(channels, k, factor):
        return math.nan
    return factor * float(np.sqrt(np.mean(channels.band[:, k] ** 2)))


def _doubtful(channels: Channels, k: int, factor_uv: float) -> str:
    """Sentence on an amplitude that is implausible for skin electrodes; else empty."""
    size_uv = float(channels.size[k]) * factor_uv
    if size_uv > LARGEST_UV:
        found = f"above {LARGEST_UV / 1e3:g} mV, more than skin electrodes measure: amplified, or in another unit"
    elif 0.0 < size_uv < SMALLEST_UV:
        found = f"below {SMALLEST_UV:g} uV, less than the noise of an amplifier: probably not in {channels.units[k]}"
    else:
        return ""
    return f"{found}; the amplitude is not reported (normalised envelopes are); correct the unit in the file"


def _notes(channels: Channels, chosen: list[int], source: str, maxima: Maxima | None) -> list[str]:
    """Sentences on channels, each once with the labels concerned."""
    labels: dict[str, list[str]] = {}
    for k in chosen:
        for sentence in _sentences(channels, k, maxima):
            labels.setdefault(sentence, []).append(repr(channels.labels[k]))
    notes = []
    for sentence, which in labels.items():
        more = f" and {len(which) - LISTED} more" if len(which) > LISTED else ""
        notes.append(f"electromyography: {source}: {', '.join(which[:LISTED])}{more}: {sentence}")
    return notes


def _sentences(channels: Channels, k: int, maxima: Maxima | None) -> list[str]:
    """Sentences on a channel: faults, unit, maximal trial."""
    unit, metrics = channels.units[k], channels.metrics
    said = []
    for name in metrics.faults(k):
        fault, measured = FAULTS[name], ""
        if fault.share_of:
            share = float(getattr(metrics, name)[k])
            measured = f" ({'less than 1%' if share < 0.01 else f'{share:.0%}'} of the {fault.share_of})"
        elif name == "copy":
            measured = f" ({channels.labels[metrics.alike[k]]!r})"
        said.append(f"{fault.sentence}{measured}; not compared; {fault.remedy}")
    factor = microvolts(unit)
    if factor is None and not channels.is_envelope[k]:
        stated = f"the unit {unit!r} is not a voltage" if unit else "the unit is not stated"
        said.append(f"{stated}, so the amplitude is unknown (normalised envelopes are not affected); give emg.unit")
    elif factor is not None and not channels.is_envelope[k] and (doubt := _doubtful(channels, k, factor)):
        said.append(doubt)
    return said + ([] if maxima is None else _of_maximal(channels, k, maxima))


def _of_maximal(channels: Channels, k: int, maxima: Maxima) -> list[str]:
    """Sentence on unusable maximal trials of a channel."""
    key, size = _amplitude(channels, k)
    label, unit = key
    others = [other or "no unit" for same, other in maxima if same == label and other != unit]
    if others and not maxima.get(key):
        return [
            f"in {unit or 'no unit'} here and {', '.join(others)} in the maximal trial: not comparable, so it is normalised by "
            "its own peak; give emg.unit"
        ]
    if not maxima.get(key):
        return [
            "no maximal trial (emg.max_voluntary_files) has this channel without faults; it is normalised by its own peak; check "
            "labels and faults there"
        ]
    if size > maxima[key]:
        return [
            f"the maximal trial is below this trial ({maxima[key] / size:.0%} of its peak), so the envelope exceeds 1; "
            "check emg.max_voluntary_files"
        ]
    return []
