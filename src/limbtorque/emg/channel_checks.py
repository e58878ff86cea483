"""Faults of recorded channels: no signal, clipping, mains, artefacts, copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.recordings.emg_channels import comparable
from limbtorque.signals.channels import power_shares


@dataclass(frozen=True)
class Fault:
    """A fault of a channel: sentence, remedy, and reference of its metric."""

    sentence: str
    remedy: str
    share_of: str = ""


FAULTS = {
    "missing": Fault("samples are missing", "export the channel without gaps", "samples"),
    "dead": Fault(
        "no muscle signal: constant, noise of a constant level, or 30 dB below the strongest good channel",
        "check the electrode, or remove it from emg.channels",
    ),
    "clipped": Fault("clipped at the limit of the amplifier or converter", "record with a lower gain", "samples"),
    "mains": Fault("mains interference", "check grounding and cables", "power"),
    "artefact": Fault(
        "motion artefact: most of the power is below the band",
        "secure electrode and cable, and check the sampling rate",
        "power",
    ),
    "negative": Fault("an envelope with negative values: inverted, or not an envelope", "invert it, or set emg.signal"),
    "copy": Fault("the same signal as another channel, or its inverse", "remove one of the two from emg.channels"),
}
STEADY = (
    2.7  # 95th over 5th percentile of an envelope without bursts: 8 dB, below which Bonato et al. (1998) detect none
)
FAINT = 10.0**-1.5  # 30 dB below the strongest good channel
CLIPPED_RUN, CLIPPED_SHARE = 3, 1e-4  # samples in a row at the limit; share of all samples
LEVELS = 64.0  # steps of the converter: of a coarser signal three equal samples are no sign
HUM_SHARE = 0.1  # of the power in the band: hum that changes the amplitude by 5 %
ARTEFACT_SHARE = 0.5  # of the power below twice the band's lower limit plus that in the band
UNDERSHOOT = 0.05  # of an envelope's size: filters leave values below zero
ALIKE = 0.99  # correlation of channels that are one
MAINS_HZ = (50.0, 60.0)


@dataclass(frozen=True)
class Metrics:
    """Metrics of the channels, each of shape (n_channels,).

    Attributes
    ----------
    missing : ndarray
        Share of samples that are not numbers.
    modulation : ndarray
        95th over 5th percentile of the envelope; about 1 for steady noise, 0 for a constant channel. Infinite for channels that were
        recorded as envelopes and change: how they were processed is not known.
    level : ndarray
        Root mean square of the band over that of the strongest channel without another fault; 1 for recorded envelopes.
    clipped : ndarray
        Share of samples in runs of three or more at the channel's largest or least value.
    mains : ndarray
        Share of the power of the band in lines of 50 or 60 Hz and their multiples, above the power beside the lines.
    artefact : ndarray
        Power below the band over that from there to the band's upper end.
    alike : ndarray of int
        Index of an earlier channel with the same or the inverse signal; -1 without one.
    negative : ndarray of bool
        Envelopes with values below minus a twentieth of their largest size.
    """

    missing: FloatArray
    modulation: FloatArray
    level: FloatArray
    clipped: FloatArray
    mains: FloatArray
    artefact: FloatArray
    alike: FloatArray
    negative: BoolArray

    def faults(self, channel: int) -> tuple[str, ...]:
        """Names of a channel's faults, keys of `FAULTS`."""
        found = {
            "missing": self.missing[channel] > 0.0,
            "dead": not (self.missing[channel] or self.negative[channel])
            and (self.modulation[channel] < STEADY or self.level[channel] < FAINT),
            "clipped": self.clipped[channel] > CLIPPED_SHARE,
            "mains": self.mains[channel] > HUM_SHARE,
            "artefact": self.artefact[channel] > ARTEFACT_SHARE,
            "negative": bool(self.negative[channel]),
            "copy": self.alike[channel] >= 0,
        }
        return tuple(name for name, is_so in found.items() if is_so)


def channel_metrics(
    values: FloatArray,
    band: FloatArray,
    envelopes: FloatArray,
    *,
    rate_hz: float,
    high_pass_hz: float,
    is_envelope: BoolArray,
    units: Sequence[str] = (),
) -> Metrics:
    """Metrics of recorded channels.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Channels as recorded.
    band : ndarray of shape (n_samples, n_channels)
        The same, band-passed; the recorded ones of channels that are envelopes. Zero for channels with missing samples.
    envelopes : ndarray of shape (n_frames, n_channels)
        Their envelopes, at any times within the trial.
    rate_hz, high_pass_hz : float
        Samples per second; lower limit of the band, Hz.
    is_envelope : ndarray of bool, shape (n_channels,)
        Channels that are envelopes: of them clipping, mains and artefacts cannot be seen.
    units : sequence of str, optional
        Units of the channels; only those that compare are compared in size. One for all by default.

    Notes
    -----
    Raw channels: motion artefacts lie below 20 Hz (De Luca et al. 2010), where little of a surface electromyogram is. The limits of
    `FAULTS` are conventions of this program; docs/emg.md says what they find in recorded channels.
    """
    missing = 1.0 - np.isfinite(values).mean(axis=0)
    whole = missing == 0.0
    known = values if whole.all() else np.nan_to_num(values)
    least, largest = known.min(axis=0), known.max(axis=0)
    extent = np.maximum(np.abs(least), np.abs(largest))
    clipped, mains, artefact = (np.zeros(values.shape[1]) for _ in range(3))
    raw = np.flatnonzero(whole & ~is_envelope)
    clipped[raw] = [_clipped(known[:, k]) for k in raw]
    mains[raw], artefact[raw] = power_shares(known[:, raw], rate_hz=rate_hz, lines_hz=MAINS_HZ, low_hz=high_pass_hz)
    low, high = np.percentile(envelopes, [5.0, 95.0], axis=0)
    modulation = np.where(high > 1e-9 * extent, high / np.maximum(low, np.maximum(1e-3 * high, 1e-300)), 0.0)
    modulation[is_envelope & (modulation > 1.01)] = np.inf
    shares = (clipped <= CLIPPED_SHARE) & (mains <= HUM_SHARE) & (artefact <= ARTEFACT_SHARE)
    good = whole & ~is_envelope & (modulation >= STEADY) & shares
    products = band.T @ band  # zero for channels with missing samples
    size = np.sqrt(np.diag(products) / len(band))
    return Metrics(
        missing=missing,
        modulation=modulation,
        level=np.where(is_envelope, 1.0, _levels(size, good, units)),
        clipped=clipped,
        mains=mains,
        artefact=artefact,
        alike=_alike(products),
        negative=is_envelope & (least < -UNDERSHOOT * extent),
    )


def _levels(size: FloatArray, good: BoolArray, units: Sequence[str]) -> FloatArray:
    """Ratio of each size to the strongest good channel with a comparable unit, or 1."""
    scales = [comparable(unit) for unit in units] or [("", 1.0)] * len(size)
    kinds, factors = (np.array(each) for each in zip(*scales, strict=True)) if scales else (np.zeros(0), np.zeros(0))
    levels = np.ones(len(size))
    for kind in set(kinds):
        of_kind = kinds == kind
        strongest = (size * factors)[good & of_kind].max(initial=0.0)
        if strongest > 0.0:
            levels[of_kind] = (size * factors)[of_kind] / strongest
    return levels


def _clipped(signal: FloatArray) -> float:
    """Share of samples in runs at the largest or least value."""
    limits = [signal == limit for limit in (signal.max(), signal.min())]
    limits = [at_limit for at_limit in limits if np.count_nonzero(at_limit) >= CLIPPED_RUN]
    # a step of the converter: smallest difference of successive samples that differ
    changes = np.abs(np.diff(signal)) if limits else np.zeros(0)
    step = np.min(changes[changes > 1e-9 * np.abs(signal).max()], initial=np.inf)
    if not limits or np.ptp(signal) < LEVELS * step:
        return 0.0
    lengths = [stop - first for at_limit in limits for first, stop in runs(at_limit)]
    return sum(length for length in lengths if length >= CLIPPED_RUN) / len(signal)


def _alike(products: FloatArray) -> FloatArray:
    """Index of an earlier channel with the same or the inverse signal, else -1."""
    sizes = np.sqrt(np.diag(products))
    together = (np.abs(products) > ALIKE * np.outer(sizes, sizes)) & (sizes > 0.0)
    found = np.full(len(sizes), -1)
    for k in np.flatnonzero(sizes > 0.0):
        earlier = np.flatnonzero(together[k, :k])
        if len(earlier):
            found[k] = earlier[0]
    return found
