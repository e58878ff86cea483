"""Image files of figures, in full colour or with 256 colours."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from limbtorque.arrays import FloatArray

DPI, SCREEN_DPI = 200, 150  # of files, and in notebooks
COMPRESSION = 3  # of a PNG: half the time of 6, and a fifth more bytes
COLOURS = 256  # of a palette
FEWEST_STEPS, MOST_STEPS = 5, 20  # between two colours of a palette
NEAR = 8  # of 255: colours less apart are one
IntArray: TypeAlias = NDArray[np.int_]


class NotebookFigure(Figure):
    """Figure that shows itself in notebooks without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        """Return the picture."""
        return screen_picture(self)


def screen_picture(figure: Figure) -> bytes:
    """Picture of a figure as PNG, for notebooks and pages."""
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=SCREEN_DPI)
    return picture.getvalue()


def write_picture(figure: Figure, part: Path, form: str, *, palette: bool) -> None:
    """Write a figure in a format: ``".png"``, ``".pdf"`` or ``".svg"``.

    Notes
    -----
    `Figure.savefig` draws every figure twice, the first time to find its places; figures without a layout engine do not
    need that.
    """
    canvas: Any
    with _kept(figure):
        if figure.get_layout_engine():
            figure.draw_without_rendering()
        if form == ".png":
            picture, colours = _drawn(figure), figure_palette(figure) if palette else None
            if colours is not None:
                picture = picture.quantize(palette=colours, dither=Image.Dither.NONE)
            picture.save(part, "png", compress_level=COMPRESSION)
        elif form == ".pdf":
            undated = dict.fromkeys(("CreationDate", "ModDate", "Producer", "Creator"))
            canvas = FigureCanvasPdf(figure)
            canvas.print_pdf(part, metadata=undated)
        else:
            canvas = FigureCanvasSVG(figure)
            canvas.print_svg(part, metadata={"Date": None})


@contextmanager
def _kept(figure: Figure) -> Iterator[None]:
    """Restore the canvas and resolution of a figure."""
    canvas, dpi = figure.canvas, figure.dpi
    try:
        yield
    finally:
        figure.set_canvas(canvas)
        figure.dpi = dpi


def _drawn(figure: Figure) -> Image.Image:
    figure.dpi = DPI
    canvas: Any = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def figure_palette(figure: Figure) -> Image.Image | None:
    """Palette of a figure: its colours, and the steps between them.

    None where it has too many colours.
    """
    lines, areas = {"#000000"}, {"#ffffff"}
    for axes in figure.axes:
        lines |= {_hex(line.get_color()) for line in axes.lines}
        areas |= {_hex(patch.get_facecolor()) for patch in axes.patches}
        areas |= {_hex(colour) for each in axes.collections for colour in each.get_facecolor()}
    return _palette(tuple(sorted(lines)), tuple(sorted(areas)))


def _hex(colour: Any) -> str:
    """Colour as it is seen on white."""
    red, green, blue, alpha = to_rgba(colour)
    return to_hex((1.0 - alpha * (1.0 - red), 1.0 - alpha * (1.0 - green), 1.0 - alpha * (1.0 - blue)))


@functools.cache
def _palette(lines: tuple[str, ...], areas: tuple[str, ...]) -> Image.Image | None:
    """Palette with as many steps as there is room for."""
    pairs = [*itertools.product(lines, areas), *itertools.combinations(areas, 2)]
    if FEWEST_STEPS * len(pairs) > 4 * COLOURS:  # near ones are left out
        return None
    pure = _levels(np.array([to_rgb(colour) for colour in (*areas, *lines)]))
    for steps in range(MOST_STEPS, FEWEST_STEPS - 1, -1):
        share = np.linspace(0.0, 1.0, steps)[1:-1, np.newaxis]
        blends = _levels(np.concatenate([share * to_rgb(a) + (1.0 - share) * to_rgb(b) for a, b in pairs]))
        colours = np.concatenate([pure, _apart(blends, pure)])
        if len(colours) <= COLOURS:
            picture = Image.new("P", (1, 1))
            picture.putpalette(colours.astype(np.uint8).tobytes())
            return picture
    return None


def _levels(colours: FloatArray) -> IntArray:
    levels: IntArray = np.rint(255.0 * colours).astype(int)
    return levels


def _apart(blends: IntArray, pure: IntArray) -> IntArray:
    """Blends that are distinct from pure colours and other blends.

    Similar colours would be confused in the palette.
    """
    far = (np.abs(blends[:, np.newaxis] - pure).max(axis=2) >= NEAR).all(axis=1)
    _, first = np.unique(blends[far] // NEAR, axis=0, return_index=True)
    kept: IntArray = blends[far][np.sort(first)]
    return kept
