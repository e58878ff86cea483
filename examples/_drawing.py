"""Size, style, colours and legends of the examples' figures, and a drawn limb.

One colour means the same term as in every figure of the program. Line styles distinguish joints; three
colours of Tol's muted palette, which no term has, distinguish everything else.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import limbtorque as lt

INDIGO, WINE, OLIVE = "#332288", "#882255", "#999933"
JOINTS = ("shoulder", "elbow", "wrist")
LINES = (  # one for each joint
    {"color": "black", "linestyle": "-"},
    {"color": "0.35", "linestyle": "--"},
    {"color": "0.5", "linestyle": ":"},
)
RESULTS = Path(__file__).resolve().parents[1] / "results" / "examples"

paper_style = lt.paper_style()  # a decorator: everything drawn by the function has the style


def run(main: Callable[[Path], dict[str, float]], *names: str) -> None:
    """Run an example from the command line: its figures go to the folder given, or to results/examples."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=RESULTS, help="where the figures go")
    folder = parser.parse_args().folder
    for name, value in main(folder).items():
        print(f"{name:45s} {value:.6g}")
    for name in names:
        print(folder / f"{name}.png")


def show(example: ModuleType, *names: str) -> dict[str, float]:
    """Run an example in a notebook, show its figures there, and return its numbers."""
    from IPython.display import Image, display

    with tempfile.TemporaryDirectory() as folder:
        numbers = example.main(Path(folder))
        for name in names or (example.__name__,):
            display(Image((Path(folder) / f"{name}.png").read_bytes()))
    return {name: float(f"{value:.6g}") for name, value in numbers.items()}


def by_kind(terms: lt.TorqueTerms, joint: int) -> dict[str, np.ndarray]:
    """Terms of a joint's torque, those of one kind added up: kind -> torque over time, N m."""
    return {
        "inertial": terms.inertial[:, joint].sum(axis=1),
        "centripetal": terms.centripetal[:, joint].sum(axis=1),
        "coriolis": terms.coriolis[:, joint].sum(axis=1),
        "gravity": terms.gravity[:, joint],
        "base": terms.base[:, joint],
        "external": terms.external[:, joint],
    }


def zero(axes: Axes) -> None:
    """Draw a thin line at zero."""
    axes.axhline(0.0, color="0.6", linewidth=0.6, zorder=1)


def torque_terms(axes: Axes, time_s: np.ndarray, terms: lt.TorqueTerms, joint: int) -> None:
    """Draw the terms of one joint's torque that are not zero throughout, and their sum."""
    zero(axes)
    for kind, values in by_kind(terms, joint).items():
        if np.abs(values).max() > 1e-9:
            axes.plot(time_s, values, color=lt.TERM_COLOURS[kind], label=lt.TERM_NAMES[kind])
    axes.plot(time_s, terms.net[:, joint], color="black", linewidth=2.0, zorder=1.9, label="net torque")
    axes.set_xlim(time_s[0], time_s[-1])


def legend(figure: Figure, panels: Sequence[Axes] | np.ndarray, columns: int = 7) -> None:
    """Put one legend with the lines of all panels below them."""
    shown = {}
    for axes in np.ravel(panels):
        shown |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    last = [name for name in ("net torque", "sum") if name in shown]
    shown = {name: shown[name] for name in [*(name for name in shown if name not in last), *last]}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns, frameon=False)


def limb(axes: Axes, joint_m: np.ndarray, colour: str = "0.5", width: float = 1.5, marker: float = 3.0) -> None:
    """Draw one posture: links as lines, joints as open circles, the endpoint without one."""
    axes.plot(joint_m[:, 0], joint_m[:, 1], color=colour, linewidth=width, solid_capstyle="round", zorder=2)
    axes.plot(joint_m[:-1, 0], joint_m[:-1, 1], "o", color=colour, markerfacecolor="white", markersize=marker, zorder=3)
    axes.set_aspect("equal", adjustable="datalim")


def arrow(axes: Axes, tail: np.ndarray, vector: np.ndarray, colour: str, width: float = 1.2) -> None:
    """Draw an arrow from a point along a vector, both in the units of the axes."""
    style = {
        "arrowstyle": "-|>",
        "color": colour,
        "linewidth": width,
        "shrinkA": 0.0,
        "shrinkB": 0.0,
        "mutation_scale": 7,
    }
    axes.annotate("", xy=np.add(tail, vector), xytext=tail, arrowprops=style, zorder=4)


def label_ends(axes: Axes, x: float, labels: Sequence[tuple[float, str, str]], gap: float = 0.085) -> None:
    """Write what each line is beside its right end; texts that would overlap are moved apart.

    Each label is (y of the line's end, text, colour); `gap` is the least distance of two texts, as a share of the axes.
    """
    low, high = axes.get_ylim()
    ordered = sorted(labels)
    wanted = np.array([(y - low) / (high - low) for y, _, _ in ordered])
    offset = gap * np.arange(len(wanted))
    # neighbours that would overlap share the mean of their places (pool adjacent violators): least squares
    pools: list[list[float]] = []
    for place in wanted - offset:
        pools.append([place])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    places = np.concatenate([np.full(len(pool), np.mean(pool)) for pool in pools]) + offset
    for (_, text, colour), place in zip(ordered, places, strict=True):
        axes.text(x, low + place * (high - low), f" {text}", color=colour, va="center", fontsize=7.5, clip_on=False)
