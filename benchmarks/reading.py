"""Time the reading of C3D files: bare bytes, our reader, and the comparison with a second reader."""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from limbtorque.recordings.c3d.header import read_header
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.samples import read_samples
from limbtorque.recordings.compare_readers import compare_c3d
from limbtorque.recordings.libraries import SECOND_READERS


def best_ms(function: Callable[[], object], runs: int) -> float:
    """Shortest processor time of several runs, ms."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def bare(path: Path) -> Callable[[], object]:
    """Read the numbers of the data section into an array of doubles, and nothing else."""
    header = read_header(path.read_bytes(), path.name)
    n = header.n_frames * (4 * header.n_points + header.n_analog)
    kind = "<f4" if header.scale < 0 else "<i2"
    return lambda: np.fromfile(path, dtype=kind, count=n, offset=header.data_start).astype(float)


def own(path: Path) -> Callable[[], object]:
    """Read bytes and numbers by the own reader."""
    header = read_header(path.read_bytes(), path.name)
    return lambda: read_samples(path.read_bytes(), header)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with C3D files, searched through")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    print(
        f"{'file':32s} {'MB':>6s} {'bare':>7s} {'own':>7s} {'ratio':>6s} {'header':>7s} {'whole':>7s} {'+ezc3d':>7s} {'+c3d':>7s}  (ms)"
    )
    ratios, totals_ms = [], np.zeros(3)
    for path in sorted(p for p in options.folder.rglob("*") if p.suffix.lower() == ".c3d"):
        raw = path.read_bytes()
        bare_ms, own_ms = best_ms(bare(path), options.runs), best_ms(own(path), options.runs)
        header_ms = best_ms(functools.partial(read_header, raw, path.name), options.runs)
        whole_ms = best_ms(functools.partial(read_c3d, path), 3)
        second_ms = [best_ms(functools.partial(compare_c3d, path, library), 2) for library in SECOND_READERS]
        totals_ms += [whole_ms, *second_ms]
        ratios.append(own_ms / bare_ms)
        print(
            f"{path.name:32s} {len(raw) / 1e6:6.2f} {bare_ms:7.3f} {own_ms:7.3f} {ratios[-1]:6.1f} {header_ms:7.3f} {whole_ms:7.2f} "
            f"{second_ms[0]:7.2f} {second_ms[1]:7.2f}"
        )
    print(f"all files: whole {totals_ms[0]:.0f} ms, with ezc3d {totals_ms[1]:.0f} ms, with c3d {totals_ms[2]:.0f} ms")
    print(f"own / bare: median {np.median(ratios):.1f}, largest {max(ratios):.1f}")


if __name__ == "__main__":
    main()
