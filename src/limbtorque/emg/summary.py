"""Agreement with predicted activations, bursts and co-contraction, as table rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.emg.processing import METHODS
from limbtorque.emg.recorded import Electromyography

MAX_LAG_S = 0.15  # largest shift tried for the lag of an activation
FEWEST = 10  # frames for a correlation


@dataclass(frozen=True)
class Agreement:
    """Agreement of an activation with an envelope.

    Attributes
    ----------
    r : float
        Pearson's correlation at the delay of the envelope; NaN where one of the two is constant or too short.
    rms : float
        Root mean square difference.
    scale : float
        Factor of the envelope, at least zero, with the least rms; it says how the two amplitudes compare.
    scaled_rms : float
        Root mean square difference with that factor.
    lag_s : float
        Shift with the largest r, s: positive where the activation comes after the (delayed) envelope. NaN where that is the
        largest shift tried: r then rises beyond it, and the shift is a limit of the search, not a lag.
    lag_r : float
        That r; NaN with it.
    """

    r: float = math.nan
    rms: float = math.nan
    scale: float = math.nan
    scaled_rms: float = math.nan
    lag_s: float = math.nan
    lag_r: float = math.nan


def correlations(activations: FloatArray, envelopes: FloatArray) -> FloatArray:
    """Correlation of every activation with every envelope.

    Parameters
    ----------
    activations, envelopes : ndarray of shape (n_frames, n)
        Columns of any number; all values are known.

    Returns
    -------
    ndarray of shape (n_activations, n_envelopes)
        NaN for columns that are constant to rounding, and with fewer than ten frames.
    """
    if len(activations) < FEWEST:
        return np.full((activations.shape[1], envelopes.shape[1]), math.nan)
    return np.asarray(_standard(activations).T @ _standard(envelopes) / len(activations))


def _standard(values: FloatArray) -> FloatArray:
    """Columns of mean 0 and standard deviation 1; NaN where they are constant."""
    size = np.abs(values).max(axis=0, initial=0.0)
    spread = values.std(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray((values - values.mean(axis=0)) / np.where(spread > 1e-9 * size, spread, math.nan))


def agreement(
    activation: FloatArray, envelope: FloatArray, used: BoolArray, *, rate_hz: float, max_lag_s: float
) -> Agreement:
    """Agreement of an activation with an envelope over some frames.

    Parameters
    ----------
    activation, envelope : ndarray of shape (n_frames,)
        At the same times; NaN where unknown.
    used : ndarray of bool, shape (n_frames,)
        Frames that are compared.
    rate_hz : float
        Frames per second.
    max_lag_s : float
        Largest shift that is tried, s; a lag is smaller.
    """
    known = used & np.isfinite(activation) & np.isfinite(envelope)
    if np.count_nonzero(known) < FEWEST:
        return Agreement()
    ours, theirs = activation[known], envelope[known]
    power = float(theirs @ theirs)
    scale = max(float(ours @ theirs) / power, 0.0) if power > 0.0 else math.nan
    most = int(max_lag_s * rate_hz + 1e-9)
    lags = sorted(range(-most, most + 1), key=abs)  # the smallest first: equals are settled for it
    by_lag = {lag: _shifted(activation, envelope, used, lag) for lag in lags}
    best = max(by_lag, key=lambda lag: -math.inf if math.isnan(by_lag[lag]) else by_lag[lag])
    inside = abs(best) < most and not math.isnan(by_lag[best])
    return Agreement(
        r=by_lag[0],
        rms=_rms(ours - theirs),
        scale=scale,
        scaled_rms=_rms(ours - scale * theirs),
        lag_s=best / rate_hz if inside else math.nan,
        lag_r=by_lag[best] if inside else math.nan,
    )


def _shifted(activation: FloatArray, envelope: FloatArray, used: BoolArray, lag: int) -> float:
    """Correlation of the activation with the envelope `lag` frames earlier."""
    theirs = np.full_like(envelope, math.nan)
    stop = len(envelope) - abs(lag)
    if stop > 0:
        theirs[max(lag, 0) : max(lag, 0) + stop] = envelope[max(-lag, 0) : max(-lag, 0) + stop]
    known = used & np.isfinite(activation) & np.isfinite(theirs)
    return float(correlations(activation[known, np.newaxis], theirs[known, np.newaxis])[0, 0])


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))


# --- co-contraction ----------------------------------------------------------------------------------------------------


def falconer_winter(first: FloatArray, second: FloatArray) -> float:
    """Co-contraction index of Falconer and Winter (1985).

    Parameters
    ----------
    first, second : ndarray of shape (n_frames,)
        Normalised envelopes, never negative; frames with NaN in either are left out.

    Returns
    -------
    float
        Twice the common area over the sum of both areas, 0 to 1; NaN without activity. One where both are alike, zero where
        they take turns.

    Notes
    -----
    Electromyogr Clin Neurophysiol 25: the antagonist is, at each time, the muscle with the smaller envelope. They give per cent.

    Examples
    --------
    >>> falconer_winter(np.array([1.0, 0.5]), np.array([0.0, 0.5]))
    0.5
    """
    low, high = _sorted(first, second)
    total = float((low + high).sum())
    return float(2.0 * low.sum() / total) if total > 0.0 else math.nan


def rudolph(first: FloatArray, second: FloatArray) -> float:
    """Co-contraction index of Rudolph et al. (2000).

    Parameters
    ----------
    first, second : ndarray of shape (n_frames,)
        As for `falconer_winter`.

    Returns
    -------
    float
        Mean over the frames of (smaller / larger) times (smaller + larger), 0 to 2; frames without activity count as zero.

    Notes
    -----
    Knee Surg Sports Traumatol Arthrosc 8(5). Unlike that of Falconer and Winter it grows with the amplitude.

    Examples
    --------
    >>> rudolph(np.array([1.0, 0.5]), np.array([0.0, 0.5]))
    0.5
    """
    low, high = _sorted(first, second)
    if not len(low):
        return math.nan
    ratio = np.divide(low, high, out=np.zeros_like(low), where=high > 0.0)
    return float(np.mean(ratio * (low + high)))


def _sorted(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smaller and larger envelope of the frames where both are known."""
    known = np.isfinite(first) & np.isfinite(second)
    return np.minimum(first, second)[known], np.maximum(first, second)[known]


# --- rows --------------------------------------------------------------------------------------------------------------


def emg_summary(
    found: Electromyography,
    activation: FloatArray,
    names: Sequence[str],
    *,
    time_s: FloatArray,
    known: BoolArray,
    windows: Mapping[str, BoolArray],
    min_known_share: float,
) -> list[dict[str, Any]]:
    """Agreement with the activation, and bursts, of every muscle over every window.

    Parameters
    ----------
    found : Electromyography
        Electromyography at the frames.
    activation : ndarray of shape (n_frames, n_names)
        Predicted activations; no columns where nothing is predicted.
    names : sequence of str
        Their muscles.
    time_s : ndarray of shape (n_frames,)
        Times of the frames, s.
    known : ndarray of bool, shape (n_frames,)
        Frames whose activations count.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    min_known_share : float
        Least share of a window's frames with activation and envelope; with less, the agreement is NaN.

    Returns
    -------
    list of dict
        Rows of `results/emg_summary.csv` without the trial's own columns.
    """
    rate_hz = (len(time_s) - 1) / float(time_s[-1] - time_s[0]) if len(time_s) > 1 else 1.0
    predicted = {name: activation[:, k] for k, name in enumerate(names)}
    rows = []
    for window, inside in windows.items():
        for m, muscle in enumerate(found.muscles):
            envelope = found.envelope[:, m]
            row: dict[str, Any] = {"window": window, **found.facts[m]}
            values = envelope[inside & np.isfinite(envelope)]
            row["mean_envelope"] = float(values.mean()) if len(values) else math.nan
            row["peak_envelope"] = float(values.max(initial=-math.inf)) if len(values) else math.nan
            for method in METHODS:
                row |= _longest(found.activity[method][:, m], inside, time_s, method)
            used = inside & known & np.isfinite(envelope)
            share = float(used.sum() / inside.sum()) if inside.any() else 0.0
            row["used_share"] = share if muscle in predicted else 0.0
            reason = f"{math.floor(1e3 * share) / 10:g} % known, limit {100.0 * min_known_share:g} %"
            reason = "no activation" if muscle not in predicted else reason if share < min_known_share else ""
            if not found.usable[m]:
                reason = str(found.facts[m]["faults"])
            chosen = predicted[muscle] if not reason else np.full(len(time_s), math.nan)
            row |= vars(agreement(chosen, envelope, used, rate_hz=rate_hz, max_lag_s=MAX_LAG_S))
            constant = "" if math.isfinite(row["r"]) else "constant or too short"
            row["not_compared"] = reason or constant
            row |= _neighbour(found, chosen, m, used)
            rows.append(row)
    return rows


def not_predicted(muscles: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Note on muscles of the channels that are not in the muscle set.

    Examples
    --------
    >>> print(*not_predicted(["soleus", "gastroc"], ["soleus", "gasmed", "gaslat"]))
    electromyography: the muscle set has no gastroc: not compared; name its muscles (results/muscle_summary.csv) in emg.channels
    """
    missing = [muscle for muscle in muscles if muscle not in names]
    if not missing:
        return ()
    listed = ", ".join(missing)
    return (
        f"electromyography: the muscle set has no {listed}: not compared; name its muscles (results/muscle_summary.csv) in emg.channels",
    )


def _longest(activity: FloatArray, inside: BoolArray, time_s: FloatArray, method: str) -> dict[str, float]:
    """Onset and offset of the longest burst in a window, and the active share."""
    names = [f"{what}_{method}" for what in ("onset", "offset", "active_share")]
    keys = [f"{names[0]}_s", f"{names[1]}_s", names[2]]
    values = activity[inside]
    if not len(values) or np.isnan(values).all():
        return dict.fromkeys(keys, math.nan)
    bursts = runs((activity == 1.0) & inside)
    if not bursts:
        return dict(zip(keys, (math.nan, math.nan, 0.0), strict=True))
    first, stop = max(bursts, key=lambda burst: burst[1] - burst[0])
    share = float(np.nanmean(values))
    return dict(zip(keys, (float(time_s[first]), float(time_s[stop - 1]), share), strict=True))


def _neighbour(found: Electromyography, activation: FloatArray, m: int, used: BoolArray) -> dict[str, Any]:
    """Other muscle with the best-correlated envelope, and its correlation."""
    others = [k for k in range(len(found.muscles)) if k != m and found.usable[k]]
    others = [k for k in others if found.facts[k]["channel"] != found.facts[m]["channel"]]
    usable = used & np.isfinite(activation) & np.isfinite(found.envelope[:, others]).all(axis=1)
    nothing = {"neighbour": "", "neighbour_r": math.nan}
    if not others or not usable.any():
        return nothing
    r = correlations(activation[usable, np.newaxis], found.envelope[usable][:, others])[0]
    if np.isnan(r).all():
        return nothing
    best = int(np.nanargmax(r))
    return {"neighbour": found.muscles[others[best]], "neighbour_r": float(r[best])}


def co_contraction_rows(
    found: Electromyography, windows: Mapping[str, BoolArray], pairs: Iterable[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Co-contraction indices of pairs of muscles over every window.

    They are NaN for a channel with a fault, and where one muscle is normalised by a maximal trial and the other by its own peak.
    """
    rows = []
    for window, inside in windows.items():
        for first, second in pairs:
            one, other = (found.muscles.index(name) for name in (first, second))
            row: dict[str, Any] = {"window": window, "first": first, "second": second}
            row |= {"falconer_winter": math.nan, "rudolph": math.nan}
            alike = found.facts[one]["normalised_by"] == found.facts[other]["normalised_by"]
            if found.usable[one] and found.usable[other] and alike:
                values = found.envelope[inside, one], found.envelope[inside, other]
                row |= {"falconer_winter": falconer_winter(*values), "rudolph": rudolph(*values)}
            rows.append(row)
    return rows


def agreement_text(row: Mapping[str, Any]) -> str:
    """Agreement of a muscle in a few words, from its row of `emg_summary.csv`.

    Examples
    --------
    >>> agreement_text({"r": 0.8849, "rms": 0.321, "lag_s": -0.04, "not_compared": ""})
    'r 0.88, rms 0.32, lag -40 ms'
    >>> agreement_text({"r": float("nan"), "rms": float("nan"), "lag_s": float("nan"), "not_compared": "dead, mains"})
    'not compared: dead, mains'
    """
    r = row.get("r", math.nan)
    if isinstance(r, float) and math.isfinite(r):
        lag = f", lag {1e3 * row['lag_s']:.0f} ms" if math.isfinite(row["lag_s"]) else ""
        return f"r {r:.2f}, rms {row['rms']:.2f}{lag}"
    return f"not compared: {row.get('not_compared') or 'not known'}"


def drawn_envelope(row: Mapping[str, Any]) -> bool:
    """Return False for a channel without signal, whose noise would be scaled to 1.

    Examples
    --------
    >>> drawn_envelope({"faults": "dead, mains"}), drawn_envelope({"faults": "mains"})
    (False, True)
    """
    return "dead" not in str(row.get("faults", "")).split(", ")


def over_study(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Agreement of every muscle over a study, subjects weighted equally.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of `results/emg_summary.csv`.

    Returns
    -------
    list of dict
        Rows of `results/emg_by_muscle.csv`: medians over subjects of each subject's median over its trials.
    """
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["chain"], row["window"], row["muscle"]), []).append(row)
    return [_over_trials(*group, members) for group, members in groups.items()]


def _over_trials(chain: str, window: str, muscle: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Row of one muscle."""
    compared = [row for row in rows if math.isfinite(row["r"])]
    subjects: dict[str, list[Mapping[str, Any]]] = {}
    for row in compared:
        subjects.setdefault(row["subject"], []).append(row)
    found: dict[str, Any] = {"chain": chain, "window": window, "muscle": muscle}
    found |= {"n_trials": len(compared), "n_subjects": len(subjects), "n_left_out": len(rows) - len(compared)}
    for name in ("r", "rms", "scaled_rms", "lag_s", "lag_r", "neighbour_r"):
        medians = [_median([row[name] for row in own]) for own in subjects.values()]
        found[name] = _median(medians)
        if name == "r":
            found |= {"min_r": min(medians, default=math.nan), "max_r": max(medians, default=math.nan)}
    judged = [row for row in compared if math.isfinite(row["neighbour_r"])]
    own_best = sum(row["r"] > row["neighbour_r"] for row in judged)
    return {**found, "own_best_share": own_best / len(judged) if judged else math.nan}


def _median(values: Sequence[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return float(np.median(known)) if known else math.nan
