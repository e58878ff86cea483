"""Reading C3D files, beside py-c3d, ezc3d and kineticstoolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from parts.peers_measure import OURS, DisagreementError, FloatArray, Way, Work
from synthetic import recording

from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import write_c3d

AGREEMENT_M = 1e-9
RECORDED = ("cohort/HC030A/Straight/HC030A05.c3d",)

ABOUT = (
    " Ours includes hash, audit, units, missing samples and force plates; py-c3d and ezc3d give the numbers of the file, "
    "kineticstoolkit, by ezc3d, metres and force plates."
)


def works(*, folder: Path, recordings: Path | None) -> Iterator[Work]:
    """A file that is written into `folder`, and real ones where there are any."""
    made = folder / "made.c3d"
    write_c3d(recording(1000), made)
    yield _work(made, "a file that we wrote, markers only", ABOUT)
    for name in RECORDED if recordings else ():
        path = recordings / name
        yield _work(path, path.name)


def _work(path: Path, what: str, about: str = "") -> Work:
    trial = read_c3d(path)
    labels = trial.labels
    channels = 0 if trial.analog is None else trial.analog.shape[1]
    size = f"{trial.n_frames} frames, {len(labels)} markers"
    size += f", {len(trial.modelled_labels)} modelled outputs" if trial.modelled_labels else ""
    size += f", {channels} analog channels" if channels else ""
    return Work(
        f"Reading: {what}",
        f"{path.stat().st_size / 1e6:.1f} MB, {size}, from the page cache.{about}",
        "ms a file",
        1e3,
        _agree,
        [
            Way(OURS, "read_c3d", lambda: lambda: read_c3d(path), lambda found: found.markers_m),
            Way("py-c3d", "Reader.read_frames", lambda: by_c3d(path), lambda found: _columns(*found, labels)),
            Way("ezc3d", "c3d", lambda: by_ezc3d(path), lambda found: _from_ezc3d(found, labels)),
            Way(
                "kineticstoolkit",
                "read_c3d",
                lambda: by_kineticstoolkit(path),
                lambda found: np.stack([found["Points"].data[label][:, :3] for label in labels], axis=1),
            ),
        ],
    )


def _agree(ours: FloatArray, found: FloatArray) -> str:
    """Same samples missing, same positions; markers of which a program has no label are left out."""
    labelled = ~np.isinf(found).any(axis=(0, 2))
    if not labelled.any() or found.shape != ours.shape:
        raise DisagreementError("it has none of the markers, or not all frames")
    other = (np.isnan(found) != np.isnan(ours))[:, labelled].any(axis=2).sum()
    off_m = float(np.nanmax(np.abs(found - ours)[:, labelled]))
    if other or not off_m <= AGREEMENT_M:
        raise DisagreementError(f"{other} samples are missing in one only, positions differ by {off_m:.0e} m")
    few = "" if labelled.all() else f", of {labelled.sum()} markers"
    positions = f"to {off_m:.0e} m" if off_m else "equal"
    return f"{positions}{few}"


def _columns(names: Sequence[str], points: FloatArray, unit_m: float, labels: Sequence[str]) -> FloatArray:
    """Positions in metres of the labels; infinite where a label is not known, NaN where a sample is missing."""
    names = [name.strip() for name in names]
    columns = np.full((len(points), len(labels), 3), np.inf)
    for k, label in enumerate(labels):
        if label in names:
            point = np.asarray(points[:, names.index(label)], dtype=float)
            columns[:, k] = np.where(point[:, 3:4] < 0, np.nan, point[:, :3] * unit_m)
    return columns


def by_c3d(path: Path) -> Callable[[], Any]:
    import c3d

    def job() -> tuple[Sequence[str], FloatArray, float]:
        with path.open("rb") as file:
            reader = c3d.Reader(file)
            frames = list(reader.read_frames())
            unit_m = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}[reader.get("POINT:UNITS").string_value.strip(" \0")]
            return reader.point_labels, np.array([points for _, points, _ in frames]), unit_m

    return job


def by_ezc3d(path: Path) -> Callable[[], Any]:
    import ezc3d

    return lambda: ezc3d.c3d(str(path))


def _from_ezc3d(found: Any, labels: Sequence[str]) -> FloatArray:
    point = found["parameters"]["POINT"]
    names = [name for key in sorted(k for k in point if k.startswith("LABELS")) for name in point[key]["value"]]
    unit_m = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}[point["UNITS"]["value"][0]]
    return _columns(names, found["data"]["points"].transpose(2, 1, 0), unit_m, labels)


def by_kineticstoolkit(path: Path) -> Callable[[], Any]:
    import kineticstoolkit as ktk

    return lambda: ktk.read_c3d(str(path), convert_point_unit=True)
