"""Detection of artificial label swaps and spikes in real recordings.

python benchmarks/labels.py shared/data
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray, lengths, missing_samples
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.labels import Swap, find_faults, find_spikes, find_swaps, spike_runs

APART_M = (0.03, 0.05, 0.1, 0.2, 0.5)
SPIKES_M = (0.01, 0.02, 0.03, 0.05, 0.1)
LONGEST = 50
MARGIN = 5
RECORDINGS = (
    "cohort/*/Straight/*.c3d",
    "cohort/*/Turn/*.c3d",
    "walking_opensim/*.c3d",
    "arm_box_task/*.c3d",
    "c3d_org/sample01/Eb015pi.c3d",
    "c3d_org/sample10/type-2a.c3d",
    "tennis_serve/kinematics_tennis_serve.c3d",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder of recordings")
    parser.add_argument(
        "--faults", type=int, default=100, help="exchanges of each distance, and spikes of each size, in each recording"
    )
    parser.add_argument("--every", type=int, default=1, help="take every so manieth frame only: a lower rate")
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    warnings.simplefilter("error")
    print("exchanges of 1 to 50 frames by the distance of the two markers, and spikes of 1 to 3 frames by their size:")
    print(
        "found with the right markers and frames, in brackets with the right markers and about the right frames (both ends within 2),"
    )
    print("and what else was found that is not in the recording as it is")
    spans = [f"{100 * a:g}-{100 * b:g} cm" for a, b in itertools.pairwise(APART_M)]
    print(f"{'recording':28s}" + "".join(f"{span:>25s}" for span in spans))
    for pattern in RECORDINGS:
        for path in sorted(options.recordings.glob(pattern)):
            recording = read_c3d(path)
            markers_m = recording.markers_m[:: options.every]
            rng = np.random.default_rng([options.seed, len(markers_m)])
            start = time.perf_counter()
            find_faults(markers_m)
            took_ms = 1e3 * (time.perf_counter() - start)
            cells = [_exchanges(markers_m, rng, *span, options.faults) for span in itertools.pairwise(APART_M)]
            print(f"{path.stem:28s}" + "".join(f"{cell:>25s}" for cell in cells), flush=True)
            cells = [_spikes(markers_m, rng, size, options.faults) for size in SPIKES_M]
            named = (f"{100 * size:g} cm: {cell}" for size, cell in zip(SPIKES_M, cells, strict=True))
            rest = f"{len(markers_m)} frames, {len(recording.labels)} markers, {recording.rate_hz / options.every:g} Hz, {took_ms:.1f} ms"
            print(f"{'':6s}spikes {', '.join(named)}; {rest}", flush=True)


def _exchanges(markers_m: FloatArray, rng: np.random.Generator, low_m: float, high_m: float, n: int) -> str:
    """Share found exactly, share found nearly, number of others."""
    usual = set(find_swaps(markers_m))
    exact = near = others = made = 0
    for _ in range(20 * n):
        if made == n:
            break
        length = int(rng.integers(1, LONGEST + 1))
        start = int(rng.integers(MARGIN, len(markers_m) - length - MARGIN))
        around = markers_m[start - MARGIN : start + length + MARGIN]
        present = np.flatnonzero(~missing_samples(around).any(axis=0))
        if not present.size:
            continue
        i = int(rng.choice(present))
        apart = np.minimum(*(lengths(markers_m[at, present] - markers_m[at, i]) for at in (start, start + length)))
        partners = present[(apart >= low_m) & (apart < high_m)]
        if not partners.size:
            continue
        j = int(rng.choice(partners))
        wrong = markers_m.copy()
        wrong[start : start + length, [i, j]] = wrong[start : start + length, [j, i]]
        found = set(find_swaps(wrong)) - usual
        true = Swap(min(i, j), max(i, j), start, start + length)
        close = {s for s in found if _close(s, true)}
        exact, near, others, made = exact + (true in found), near + bool(close), others + len(found - close), made + 1
    return f"{100 * exact / made:.0f} ({100 * near / made:.0f}) %, {others} of {made}" if made else "none so near"


def _close(found: Swap, true: Swap) -> bool:
    same = (found.first, found.second) == (true.first, true.second)
    return same and abs(found.start - true.start) <= 2 and abs(found.stop - true.stop) <= 2


def _spikes(markers_m: FloatArray, rng: np.random.Generator, size_m: float, n: int) -> str:
    """Share of spikes found exactly, number of others."""
    usual = set(spike_runs(find_spikes(markers_m)))
    exact = others = made = 0
    while made < n:
        length = int(rng.integers(1, 4))
        start = int(rng.integers(MARGIN, len(markers_m) - length - MARGIN))
        present = np.flatnonzero(~missing_samples(markers_m[start - MARGIN : start + length + MARGIN]).any(axis=0))
        if not present.size:
            continue
        marker = int(rng.choice(present))
        way = rng.normal(size=3)
        wrong = markers_m.copy()
        wrong[start : start + length, marker] += size_m * way / lengths(way)
        found = set(spike_runs(find_spikes(wrong))) - usual
        true = (marker, start, start + length)
        exact, others, made = exact + (true in found), others + len(found - {true}), made + 1
    return f"{100 * exact / made:.0f} % ({others})"


if __name__ == "__main__":
    main()
