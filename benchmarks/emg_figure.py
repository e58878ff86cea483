"""Draw predicted activations beside the envelopes of recorded electromyograms: an adult and one child.

Usage: python benchmarks/emg_figure.py STUDY ADULT [FIGURE]

STUDY and ADULT as for ``criteria.py``, whose default criterion, delay and frames these are. The child is the one with most
channels without a fault, the first of them. The figure goes to ``docs/figures/emg_walks.png`` when no other file is given.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from criteria import ADULT_CHANNELS, DELAY_S, Walk, crossed, predicted, walks
from matplotlib.axes import Axes

from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.style import NAME_SIZE, paper_figure, paper_style, save_figure
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


def main(study: Path, folder: Path, path: Path) -> None:
    young, old = walks(study, folder)
    child = max(young, key=lambda walk: len(walk.envelopes.muscles))
    shown = [(old[0], "adult"), (child, f"child {child.subject}")]
    rows = [-(-len(walk.envelopes.muscles) // ACROSS) for walk, _ in shown]
    with paper_style():
        figure = paper_figure(36.0 * sum(rows) + 12.0)
        panels = figure.subplots(sum(rows), ACROSS)
        for (walk, title), first in zip(shown, (0, rows[0]), strict=True):
            block = panels[first:].ravel()
            draw_walk(block[: ACROSS * rows[0 if first == 0 else 1]], walk, title)
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        save_figure(figure, path)


def draw_walk(panels: np.ndarray, walk: Walk, title: str) -> None:
    """Draw all muscles with an envelope, in the order of the tables."""
    found = predicted(walk, Muscles())
    own = np.diag(crossed(walk, [found] * len(walk.envelopes.muscles)))
    order = [muscle for muscle in ADULT_CHANNELS if muscle in walk.envelopes.muscles]
    for axes in panels[len(order) :]:
        axes.set_axis_off()
    for axes, muscle in zip(panels, order, strict=False):
        k = walk.envelopes.muscles.index(muscle)
        activation = found.activation[:, walk.problem.muscle_set.names.index(muscle)]
        draw_muscle(axes, walk, activation, walk.envelopes.level[:, k])
        name = f"{TITLES[muscle]}, r {own[k]:.2f}".replace("-", "\N{MINUS SIGN}")
        axes.set_title(name, loc="left", fontsize=NAME_SIZE - 1.0)
    for axes in panels[::ACROSS]:
        axes.set_ylabel(f"{title}: activation")


def draw_muscle(axes: Axes, walk: Walk, activation: np.ndarray, envelope: np.ndarray) -> None:
    """Draw an activation over its envelope, which has the height of the panel."""
    some = walk.used
    time_s = np.flatnonzero(some) / walk.problem.rate_hz
    time_s, top = time_s - time_s[0], 1.1 * float(np.nanmax(activation[some]))
    height = top / 1.1 * envelope[some] / np.nanmax(envelope[some])
    axes.fill_between(
        time_s, height, color=("0.45", 0.35), linewidth=0.0, label=f"envelope, {1e3 * DELAY_S:.0f} ms later, own peak"
    )
    axes.plot(time_s, activation[some], color=LINE_COLOURS[0], label="predicted activation, exponent 2")
    axes.set(xlim=(0.0, time_s[-1]), ylim=(0.0, top), xlabel="time (s)")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else PATH)
