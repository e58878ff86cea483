"""Draw the pictures of docs/gallery.md and docs/examples.md: run every example, and write its figures smaller."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, FIGURES = ROOT / "examples", ROOT / "docs" / "figures"
WIDTH, COLOURS = 1000, 256


def main() -> None:
    sys.path.insert(0, str(EXAMPLES))  # examples import their neighbours
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(EXAMPLES.glob("[!_]*.py")):
            importlib.import_module(path.stem).main(Path(folder))
        for picture in sorted(Path(folder).glob("*.png")):
            reduce(picture, FIGURES / f"{'' if picture.stem == 'signs' else 'examples_'}{picture.name}")


def reduce(source: Path, target: Path) -> None:
    """Write a picture with the width and the number of colours of the documentation."""
    with Image.open(source) as picture:
        size = WIDTH, round(picture.height * WIDTH / picture.width)
        small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    small.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
