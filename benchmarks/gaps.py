"""Error of gap filling in complete real recordings, by method and gap length."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from limbtorque.arrays import FloatArray
from limbtorque.figures.style import MM, STYLE, TWO_COLUMNS_MM, save_figure
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.recording import Recording
from limbtorque.signals.gaps import GapMethod, fill_gaps

METHODS: tuple[GapMethod, ...] = ("cubic", "principal_components")
LINES = (("#0072B2", "o"), ("#009E73", "D"))
NAMES = {
    "Straight": "walking (children)",
    "Turn": "turning (children)",
    "arm_box_task": "box lifting",
    "tennis_serve": "tennis serve (50 Hz)",
}
LENGTHS = (5, 10, 20, 50, 100)
CHILD = (
    "LFHD LBHD RFHD RBHD",
    "C7 T2 T6 T10 T12 RBAK CLAV STRN",
    "SACR RASI LASI",
    *(f"{s}WRA {s}WRB {s}FIN" for s in "LR"),
    *(f"{s}THI {s}KNE" for s in "LR"),
    *(f"{s}HFB {s}TUB {s}TIB {s}SHN {s}ANK" for s in "LR"),
    *(f"{s}HEE {s}CPG {s}LCA {s}STL {s}NAV {s}P1M {s}P5M {s}D5M {s}TOE" for s in "LR"),
    *(f"{s}SHO {s}ELB" for s in "LR"),
)
BOX = (
    "ASISr ASISl PSISr PSISl",
    "STERr STERl STER XIPH T1 T10",
    "ACRO_tip SCAP_AA SCAPl SCAPm SCAP_CP SCAP_RS SCAP_SA SCAP_IA",
    "DELT ARMl ARMm ARMp_up ARMp_do EPICl EPICm",
    "LARMm LARMl LARM_elb LARM_ant STYLr STYLr_up STYLu WRIST",
    "INDEX LASTC MEDH LATH",
    "gauche_ext gauche_int droite_int droite_ext avant_gauche avant_droit arriere_droit arriere_gauche",
)
PLAYER = (
    "LFHD RFHD LBHD RBHD",
    "C7 T10 CLAV STRN RBAK",
    "LASI RASI LPSI RPSI",
    *(f"{s}UPA {s}ELB {s}SHO" for s in "LR"),
    *(f"{s}FRM {s}WRA {s}WRB {s}FIN" for s in "LR"),
    *(f"{s}THI {s}KNE" for s in "LR"),
    *(f"{s}TIB {s}ANK {s}HEE {s}TOE" for s in "LR"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder with cohort/, arm_box_task/ and tennis_serve/")
    parser.add_argument("--gaps", type=int, default=60, help="gaps of each length in each recording")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--figures", type=Path, help="folder for the figure")
    options = parser.parse_args()
    warnings.simplefilter("error")
    trials = [
        *(
            (path, CHILD)
            for path in sorted(options.recordings.glob("cohort/*/[ST]*/*.c3d"))
            if "Static" not in path.parts
        ),
        (options.recordings / "arm_box_task" / "markers_analogs.c3d", BOX),
        (options.recordings / "tennis_serve" / "kinematics_tennis_serve.c3d", PLAYER),
    ]
    results: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for path, segments in trials:
        recording = read_c3d(path)
        kind = path.parent.name
        markers_m, groups = _complete(recording, segments)
        rng = np.random.default_rng([options.seed, len(markers_m)])
        for length in LENGTHS:
            for _ in range(options.gaps):
                marker = int(rng.choice(np.concatenate([g for g in groups if len(g) > 3])))
                start = int(rng.integers(10, len(markers_m) - length - 10))
                for method in METHODS:
                    row = _cut(markers_m, marker, start, length, method, recording.rate_hz)
                    results.setdefault((kind, method, length), []).append(row)
    print(
        "\n## Gaps\n\nPrinted by `benchmarks/gaps.py`: gaps cut into complete recordings, in markers with three others of their segment. Rms error,"
    )
    print("mm; in brackets the error that was expected from gaps cut beside them, over it (median).\n")
    print(
        "| recording | method | "
        + " | ".join(f"{n} frames" for n in LENGTHS)
        + " |\n"
        + "| --- " * (2 + len(LENGTHS))
        + "|"
    )
    for kind in dict.fromkeys(key[0] for key in results):
        for method in METHODS:
            cells = []
            for length in LENGTHS:
                errors = np.array(results[kind, method, length])
                known = errors[np.isfinite(errors[:, 1])]
                ratio = f"{np.median(known[:, 1] / known[:, 0]):.1f}" if len(known) else "-"
                cells.append(f"{1e3 * _rms(errors):.2f} ({ratio})")
            print(f"| {kind} | {method} | {' | '.join(cells)} |")
    if options.figures:
        _draw(results, options.figures / "signals_gaps.png")


def _rms(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(errors[:, 0] ** 2)))


def _draw(results: dict[tuple[str, str, int], list[tuple[float, float]]], path: Path) -> None:
    """Error over the length of the gap, a panel for each recording."""
    kinds = list(dict.fromkeys(key[0] for key in results))
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 62.0 * MM), layout="constrained")
        panels = figure.subplots(1, len(kinds), sharey=True)
        for axes, kind in zip(panels, kinds, strict=True):
            for method, (colour, mark) in zip(METHODS, LINES, strict=True):
                errors_mm = [1e3 * _rms(np.array(results[kind, method, length])) for length in LENGTHS]
                axes.plot(LENGTHS, errors_mm, marker=mark, color=colour, markersize=3.5, label=method.replace("_", " "))
            axes.set(xscale="log", yscale="log", title=NAMES.get(kind, kind), xlabel="gap (frames)", ylim=(0.1, 600.0))
            axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
            axes.minorticks_off()
        panels[0].set_yticks([0.1, 1.0, 10.0, 100.0], ["0.1", "1", "10", "100"])
        panels[0].set_ylabel("rms error (mm)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path)


def _complete(recording: Recording, segments: tuple[str, ...]) -> tuple[FloatArray, list[list[int]]]:
    """Markers of the segments that are never missing, and their indices by segment."""
    names = [label.split(":")[-1] for label in recording.labels]
    missing = np.isnan(recording.markers_m).any(axis=(0, 2))
    columns: list[int] = []
    groups = []
    for segment in segments:
        found = [names.index(name) for name in segment.split() if name in names and not missing[names.index(name)]]
        groups.append(list(range(len(columns), len(columns) + len(found))))
        columns += found
    return recording.markers_m[:, columns], groups


def _cut(
    markers_m: FloatArray,
    marker: int,
    start: int,
    length: int,
    method: GapMethod,
    rate_hz: float,
) -> tuple[float, float]:
    """Error of one gap, m, and what was expected."""
    holes = markers_m.copy()
    holes[start : start + length, marker] = np.nan
    filled = fill_gaps(holes, rate_hz=rate_hz, max_gap_s=1e3, method=method)
    wrong = (filled.markers_m - markers_m)[start : start + length, marker]
    return float(np.sqrt((wrong**2).sum(axis=1).mean())), filled.gaps[0].expected_error_m


if __name__ == "__main__":
    main()
