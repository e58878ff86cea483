"""Draw predicted activations beside the envelopes of recorded electromyograms: an adult, and every walk of the children.

Usage: python benchmarks/emg_figure.py STUDY ADULT [FIGURE]

STUDY and ADULT as for ``criteria.py``, whose default criterion, delay, walks and frames these are: none is chosen. Both curves
are parts of their own peak, as r compares shapes only; the peak of the activation stands in the title. The figure goes to
``docs/figures/emg_walks.png`` when no other file is given.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from criteria import ADULT_CHANNELS, DELAY_S, Walk, crossed, predicted, walks
from matplotlib.axes import Axes

from limbtorque.figures.muscle_figures import ENVELOPE
from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.style import MINUS, paper_figure, paper_style, save_figure
from limbtorque.study.options.muscles import Muscles

PATH = Path(__file__).resolve().parents[1] / "docs" / "figures" / "emg_walks.png"
TITLES = {
    "gastroc": "gastrocnemius",
    "hamstrings": "hamstrings",
    "tib_ant": "tibialis anterior",
    "rect_fem": "rectus femoris",
    "soleus": "soleus",
    "vasti": "vasti",
    "glut_max": "gluteus maximus",
}
ACROSS = 4
ROW_MM, LEGEND_MM = 31.0, 12.0


def main(study: Path, folder: Path, path: Path) -> None:
    young, old = walks(study, folder)
    rows = [*rows_of(old[0], "adult"), *(row for walk, title in named(young) for row in rows_of(walk, title))]
    with paper_style():
        figure = paper_figure(ROW_MM * len(rows) + LEGEND_MM)
        panels = figure.subplots(len(rows), ACROSS, sharey=True, squeeze=False)
        for across, (walk, title, muscles) in zip(panels, rows, strict=True):
            draw_row(across, walk, title, muscles)
        for axes in panels[-1]:
            axes.set_xlabel("time (s)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        save_figure(figure, path)


def named(young: Sequence[Walk]) -> Iterator[tuple[Walk, str]]:
    """Walks with the names of their rows: children are numbered, and the walks of one child."""
    numbers = {subject: number for number, subject in enumerate(dict.fromkeys(walk.subject for walk in young), 1)}
    counts = Counter(walk.subject for walk in young)
    seen: Counter[str] = Counter()
    for walk in young:
        seen[walk.subject] += 1
        again = f", walk {seen[walk.subject]}" if counts[walk.subject] > 1 else ""
        yield walk, f"child {numbers[walk.subject]}{again}"


def rows_of(walk: Walk, title: str) -> list[tuple[Walk, str, list[str]]]:
    """Rows of a walk: the muscles of the tables in their order, those of the children in the first row."""
    order = list(ADULT_CHANNELS)
    rows = [order[start : start + ACROSS] for start in range(0, len(order), ACROSS)]
    return [(walk, title, row) for row in rows if set(row) & set(walk.envelopes.muscles)]


def draw_row(panels: np.ndarray, walk: Walk, title: str, muscles: Sequence[str]) -> None:
    """Draw some muscles of a walk; one whose channel has a fault is empty."""
    found, own = predicted(walk, Muscles()), walk.envelopes.muscles
    r = np.diag(crossed(walk, [found] * len(own)))
    panels[0].set_ylabel(f"{title}\npart of peak")
    for axes, muscle in zip(panels, [*muscles, *[""] * (ACROSS - len(muscles))], strict=True):
        if muscle not in own:
            axes.spines[:].set_visible(False)
            axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
            about = f"{TITLES[muscle]}:\nno channel without a fault" if muscle else ""
            axes.text(0.5, 0.5, about, ha="center", va="center", transform=axes.transAxes)
            continue
        k = own.index(muscle)
        activation = found.activation[walk.used, walk.problem.muscle_set.names.index(muscle)]
        draw_muscle(axes, activation, walk.envelopes.level[walk.used, k], walk.rate_hz)
        name = f"{TITLES[muscle]}\nr {r[k]:.2f}, peak activation {np.nanmax(activation):.2f}".replace("-", MINUS)
        axes.set_title(name, loc="left", fontsize=7.0)


def draw_muscle(axes: Axes, activation: np.ndarray, envelope: np.ndarray, rate_hz: float) -> None:
    """Draw an activation over its envelope, each as a part of its own peak."""
    time_s = np.arange(len(activation)) / rate_hz
    label = f"measured envelope, {1e3 * DELAY_S:.0f} ms later"
    axes.fill_between(time_s, envelope / np.nanmax(envelope), color=ENVELOPE, linewidth=0.0, label=label)
    axes.plot(
        time_s, activation / np.nanmax(activation), color=LINE_COLOURS[0], label="predicted activation, exponent 2"
    )
    axes.set(xlim=(0.0, time_s[-1]), ylim=(0.0, 1.05), yticks=(0.0, 0.5, 1.0))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else PATH)
