"""A figure that a notebook shows without a plotting backend."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

DPI = 150


class NotebookFigure(Figure):
    """Figure that shows itself in notebooks without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        """Return the picture."""
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=DPI)
        return picture.getvalue()
