"""Templates, sentences and encoded numbers of all pages; text is escaped."""

from __future__ import annotations

import functools
import json
import math
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, Template
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import FloatArray, runs
from limbtorque.errors import PART_OF_TRIAL
from limbtorque.figures.palette import LINE_COLOURS, SHADE, STATUS_COLOURS, TERM_COLOURS, WASH
from limbtorque.figures.templates import environment
from limbtorque.quality.checks import CHECKS, FLAGS


def page_template(name: str) -> Template:
    """Compiled template of a page, by its path in the package.

    Loaded at import, the template is compiled before jobs are forked.
    """
    for shared in ("report/page.html.jinja", "report/page.elements.html.jinja"):
        _pages().get_template(shared)
    return _pages().get_template(name)


@functools.cache
def _pages() -> Environment:
    """Templates of the package with the filters of the pages."""
    made = environment().overlay()
    made.filters = {**made.filters, "amount": amount, "code": code_words, "json": json_text}
    return made


def amount(value: float, unit: str) -> str:
    """Number with its unit, for sentences.

    Examples
    --------
    >>> amount(0.012345, "m"), amount(2.0, "1")
    ('0.01235 m', '2')
    """
    return f"{value:.4g}" + ("" if unit == "1" else f" {unit}")


def value_of(cell: str) -> float:
    """Number of a cell of a table; NaN where it is empty."""
    return float(cell) if cell else math.nan


def number(cell: str, form: str = ".3g", scale: float = 1.0) -> str:
    """Number of a cell as text; empty where it is missing.

    >>> number("0.03125"), number("0.0125", ".1f", 1e3), number("")
    ('0.0312', '12.5', '')
    """
    return f"{scale * float(cell):{form}}" if cell else ""


def code_words(text: str) -> Markup:
    """Text with words between backticks marked as code.

    Examples
    --------
    >>> code_words("set `a < b`")
    Markup('set <code>a &lt; b</code>')
    """
    parts = enumerate(text.split("`"))
    return Markup().join(Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in parts)


def json_text(data: Any) -> Markup:
    r"""JSON for the page's scripts, without characters that could end the block.

    Examples
    --------
    >>> json_text("</script>")
    Markup('"\\u003c/script\\u003e"')
    """
    return htmlsafe_json_dumps(data, json.dumps, separators=(",", ":"), allow_nan=False)


def style_sheet() -> str:
    """Style of all pages, with the colours of the figures as properties."""
    colours = {f"{status}-fill": colour for status, colour in STATUS_COLOURS.items()}
    colours |= {
        "external": TERM_COLOURS["external"],
        "muscle": LINE_COLOURS[0],
        "shade": str(SHADE),
        "strength": f"{WASH:.0%}",
    }
    named = "".join(f" --{name}: {value};" for name, value in colours.items())
    return f":root {{{named} }}\n" + (files("limbtorque.report") / "data/report.css").read_text(encoding="utf-8")


BY_FLAG = {name: tuple(check for check in CHECKS if check.flag == name) for name in FLAGS}
REASONS = {
    "read": "The file cannot be read, or its content is contradictory. `limbtorque inspect <file>` lists its content.",
    "landmark": "A marker or landmark that the chain needs is missing or ambiguous. Compare the marker set of the settings with the labels "
    "that `limbtorque inspect <file>` lists.",
    "signal": "Gaps, the cut-off or the number of frames prevent the analysis. Inspect the gaps in the capture software, or choose another "
    f"part of the trial with {PART_OF_TRIAL}.",
    "segment": "The segment parameters cannot be determined. Check the landmarks between which the lengths are measured, "
    "and the subject's row in the table of subjects.",
    "load": "An external load is missing or contradicts the geometry. Check the column `load` of the table of trials, and the force plates.",
    "trial": "The trial cannot be analysed with these settings.",
    "settings": "The settings do not fit this trial. The message names the option.",
    "defect": "An error inside the program, not in the recording. Report it, with the log of the session (results/logs) and the file.",
}
AFFECTS = {"torques": "torques and muscle forces", "muscles": "muscle forces"}


MOST_FRAMES, FEWEST_FRAMES = 600, 60
MOST_NUMBERS = 60_000  # some 200 kB


def frame_step(n_frames: int, n_curves: int) -> int:
    """Step between displayed frames.

    Parameters
    ----------
    n_frames, n_curves : int
        Frames and curves of the trial.

    Returns
    -------
    int
        The least step with which there are at most 600 frames, and 60,000 numbers.

    Examples
    --------
    >>> [frame_step(n, 60) for n in (600, 601, 6000)]
    [1, 2, 10]
    """
    allowed = max(FEWEST_FRAMES, min(MOST_FRAMES, MOST_NUMBERS // max(n_curves, 1)))
    return max(1, math.ceil(n_frames / allowed))


def decimals_for(largest: float, digits: int) -> int:
    """Number of decimals, 0 to 9, for a given number of digits.

    Examples
    --------
    >>> [decimals_for(number, 4) for number in (0.0123, 9.99, 10.0, 123456.0, 0.0)]
    [5, 3, 2, 0, 0]
    """
    if not largest > 0.0:
        return 0
    return int(np.clip(digits - 1 - math.floor(math.log10(largest)), 0, 9))


def largest_of(*arrays: ArrayLike) -> float:
    """Largest magnitude, ignoring missing numbers; 0 if all are missing."""
    return max((float(np.nanmax(np.abs(array), initial=0.0)) for array in map(np.asarray, arrays)), default=0.0)


def fixed_point(values: FloatArray, decimals: int) -> dict[str, Any]:
    """Encode a curve for JSON as its steps in integers of the last decimal.

    Most steps have fewer digits than the numbers. Null where a number is missing; the next step is from the last known one.

    Parameters
    ----------
    values : ndarray of shape (n_frames,)
        The curve.
    decimals : int
        Decimals.

    Examples
    --------
    >>> fixed_point(np.array([1.234, np.nan, -0.001]), 2)
    {'decimals': 2, 'steps': [123, None, -123]}
    """
    known = np.isfinite(values)
    whole = np.rint(values[known] * 10.0**decimals).astype(np.int64)
    steps = iter(np.diff(whole, prepend=0).tolist())
    return {"decimals": decimals, "steps": [next(steps) if k else None for k in known.tolist()]}


def spans(mask: NDArray[np.bool_], time_s: FloatArray) -> list[list[float]]:
    """Start and end times of the runs in a mask, half a frame around them.

    Examples
    --------
    >>> spans(np.array([False, True, True, False]), np.array([0.0, 0.1, 0.2, 0.3]))
    [[0.05, 0.25]]
    """
    half = (time_s[1] - time_s[0]) / 2.0 if len(time_s) > 1 else 0.0
    return [[round(float(time_s[a] - half), 5), round(float(time_s[b - 1] + half), 5)] for a, b in runs(mask)]
