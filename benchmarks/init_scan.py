"""Time `limbtorque init` on a folder of many simulated C3D files: the survey, and the whole command."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from limbtorque.cli.init.folder import files_in
from limbtorque.cli.init.init import init_study
from limbtorque.cli.init.scan import survey
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.recording import Recording

NAMES = (
    *("LFHD", "C7", "CLAV", "LSHO", "RSHO", "LASI", "RASI", "LPSI", "RPSI"),
    *(side + name for side in "LR" for name in ("THI", "KNE", "TIB", "ANK", "HEE", "TOE")),
)
HEIGHTS_M = {"FHD": 1.7, "C7": 1.5, "CLAV": 1.45, "SHO": 1.45, "ASI": 0.95, "PSI": 0.95, "THI": 0.7, "KNE": 0.5}
HEIGHTS_M |= {"TIB": 0.3, "ANK": 0.1, "HEE": 0.05, "TOE": 0.03}
N_FRAMES, RATE_HZ, N_FURTHER = 380, 100.0, 155


def walk(seed: int) -> Recording:
    """A walk of its own: markers with swing and noise, further points; 1.1 MB as a file."""
    random = np.random.default_rng(seed)
    labels = (*NAMES, *(f"P{k:02d}" for k in range(N_FURTHER)))
    time_s = np.arange(N_FRAMES) / RATE_HZ
    xyz = random.normal(scale=3e-4, size=(N_FRAMES, len(labels), 3))
    for k, label in enumerate(labels):
        height = HEIGHTS_M.get(label, HEIGHTS_M.get(label[1:], 0.2 + 0.01 * k))
        swing = 0.2 * np.sin(6.0 * time_s + 3.0 * (label[0] == "L") + seed) * (height < 0.9)
        xyz[:, k] += np.stack([1.2 * time_s + swing, np.full(N_FRAMES, 0.1 * (-1) ** k), np.full(N_FRAMES, height)], 1)
    xyz[:, :, :2] += random.normal(scale=0.5, size=2)
    return Recording("walk.c3d", "", "", labels, xyz, RATE_HZ, 1)


def write_folder(folder: Path, n_files: int, n_different: int) -> float:
    """Files of 50 subjects, links to some different ones; the size of one, MB."""
    first = [folder / f"walk{k}.c3d" for k in range(min(n_different, n_files))]
    for k, path in enumerate(first):
        write_c3d(walk(k), path)
    for k in range(len(first), n_files):
        place = folder / f"S{k % 50:02d}"
        place.mkdir(exist_ok=True)
        (place / f"walk{k}.c3d").hardlink_to(first[k % len(first)])
    return first[0].stat().st_size / 1e6


def processor_s() -> float:
    """Processor time of this process and of those that ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--different", type=int, default=100, help="the others are links to these")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        data.mkdir()
        size_mb = write_folder(data, options.files, options.different)
        print(f"{options.files} files of {size_mb:.2f} MB, {options.different} of them different")
        for what in ("survey", "init"):
            clock, worked = time.monotonic(), processor_s()
            if what == "survey":
                found = files_in(data)
                for _ in survey(found.recordings):
                    pass
            else:
                init_study(Path(name) / "study", data)
            took, work = time.monotonic() - clock, processor_s() - worked
            print(
                f"{what}: {took:.1f} s on the clock, {work:.1f} s of processor time, {1e3 * work / options.files:.1f} ms a file"
            )


if __name__ == "__main__":
    main()
