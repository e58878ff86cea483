"""Page for assigning markers to landmarks, with packed positions."""

from __future__ import annotations

import base64
import hashlib
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.report.page import page_template, style_sheet

SCRIPTS = ("data/base.js", *(f"marker_map/{name}.js" for name in ("positions", "view", "lengths", "settings", "map")))
TEXTS = ("markers_m", "up_evidence", "forward_axes", "notes", "run_in")  # not for the scripts


@dataclass(frozen=True)
class MapLandmark:
    """A landmark of a chain.

    Attributes
    ----------
    name, about : str
        Its name in the settings, and its place on the body.
    stand_in : str
        Landmark that is used where it has no marker; empty where it needs one, or may be left out.
    required : bool
        The chain cannot be analysed without it.
    """

    name: str
    about: str
    stand_in: str
    required: bool


@dataclass(frozen=True)
class MapChain:
    """A chain: landmarks of its joints, proximal first, segments, and all landmarks."""

    joints: tuple[str, ...]
    segments: tuple[str, ...]
    landmarks: tuple[MapLandmark, ...]


@dataclass(frozen=True)
class MapKept:
    """Entries of a proposed marker set that the page does not edit.

    Attributes
    ----------
    rules : mapping of str to str
        Landmark -> rule in YAML.
    says : mapping of str to str
        Landmark that has no marker of its own -> what its place follows from.
    substitutes : mapping of str to str
        Landmark -> the one that stands for it.
    errors : mapping of str to str or float
        Landmark -> entry of `uncertainty.sets`.
    markers : mapping
        Side -> landmark -> its markers, to be drawn where it stands for a joint.
    side : str
        The only side that they are for; empty for both.
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    says: Mapping[str, str] = field(default_factory=dict)
    substitutes: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str | float] = field(default_factory=dict)
    markers: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    side: str = ""


@dataclass(frozen=True)
class MapBody:
    """Markers of one person.

    Attributes
    ----------
    prefix : str
        Subject prefix of the labels, or empty.
    markers : tuple of int
        Indices of the markers.
    proposed : mapping
        Chain -> side -> landmark -> markers.
    known : mapping
        The same, of landmarks of which a known marker set says more than the markers: ``fraction`` of the way from the first to
        the second, and ``error`` of the joint centre (`uncertainty.sets`).
    row : mapping of str to str
        Cells of the row of the table of trials, and the events at 0 and 100 % of each side's curves (`event_right`,
        `event_left`); the cells of chain, side and marker set follow from the choices.
    kept : MapKept
        Entries of the marker set that was proposed.
    """

    prefix: str
    markers: tuple[int, ...]
    proposed: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]
    known: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str | float]]]]
    row: Mapping[str, str]
    kept: MapKept = field(default_factory=MapKept)


@dataclass(frozen=True)
class MarkerMap:
    """Contents of the page.

    Attributes
    ----------
    source : str
        Name of the recording.
    labels : tuple of str
        Labels without their prefix.
    templates : mapping of str to mapping of int to str
        Side -> marker -> its label with {S}, {s} or {side}, where a marker of the other side has the same name.
    mates : mapping of int to int
        Marker -> the marker of the same name on the other side.
    bodies : tuple of MapBody
        People of the recording.
    chains : mapping of str to MapChain
        Chains to choose from.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where a marker was not seen.
    rate_hz : float
        Frames per second.
    first_frame : int
        Number of the first frame.
    plates_m : sequence of ndarray of shape (4, 3)
        Corners of the force plates, m.
    up_axis, up_evidence : str
        Axis that points up, e.g. ``"+z"``, or empty where a person has to choose it; and its source.
    likely_up : str
        Axis that points up in the picture until one is chosen.
    forward_axes : tuple of str
        Values of the option `plane.forward_axis`.
    chain, side, marker_set : str
        Choices when the page is opened.
    notes : tuple of str
        Sentences on the recording.
    run_in : str
        Folder from which the command finds the recording.
    options : mapping of str to str
        Options that the recording needs beside those of the page, for the command.
    """

    source: str
    labels: tuple[str, ...]
    templates: Mapping[str, Mapping[int, str]]
    mates: Mapping[int, int]
    bodies: tuple[MapBody, ...]
    chains: Mapping[str, MapChain]
    markers_m: FloatArray
    rate_hz: float
    first_frame: int
    plates_m: Sequence[FloatArray] = ()
    up_axis: str = ""
    up_evidence: str = ""
    likely_up: str = "+z"
    forward_axes: Sequence[str] = ("travel",)
    chain: str = "leg"
    side: str = "right"
    marker_set: str = "my_markers"
    notes: tuple[str, ...] = ()
    run_in: str = "the folder of this page"
    options: Mapping[str, str] = field(default_factory=dict)


def marker_map_page(contents: MarkerMap) -> str:
    """Text of the page, determined by the contents alone.

    Parameters
    ----------
    contents : MarkerMap
        The recording, and the choices there are.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    packed = pack(contents.markers_m)
    scripts = [_text(name) for name in SCRIPTS]
    step = packed.step
    return page_template("report/marker_map/map.html.jinja").render(
        root="",
        scripts=(),
        title=f"{contents.source}: markers",
        map=contents,
        policy=" ".join(f"'sha256-{_hash(text)}'" for text in scripts),
        code=[Markup(text) for text in scripts],  # of this package, not from a file of the study
        style=Markup(style_sheet() + _text("marker_map/map.css")),
        positions=Markup(packed.text),  # letters of base64
        step=step,
        nth={2: "second", 3: "third"}.get(step, f"{step}th"),
        n_frames=len(contents.markers_m),
        n_shown=packed.n_frames,
        n_far=packed.n_far,
        data=_data(contents, packed.n_frames, step) | {"origin_m": packed.origin_m, "quantum_m": packed.quantum_m},
    )


def _data(contents: MarkerMap, n_frames: int, step: int) -> dict[str, Any]:
    """Data of the scripts, without the positions."""
    chains = {
        name: {**vars(chain), "landmarks": [vars(landmark) for landmark in chain.landmarks]}
        for name, chain in contents.chains.items()
    }
    return {
        **{name: value for name, value in vars(contents).items() if name not in TEXTS},
        "bodies": [{**vars(body), "kept": vars(body.kept)} for body in contents.bodies],
        "chains": chains,
        "plates_m": [plate.round(4).tolist() for plate in contents.plates_m],
        "n_frames": n_frames,
        "step": step,
    }


def _text(name: str) -> str:
    """Text of a script or style of this package."""
    return (resources.files("limbtorque.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Hash that allows a script in the page's security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


MAX_POSITIONS = 2_000_000  # of a page: 200 markers in 10,000 frames
FINEST_M = 1e-4
LEVEL = 4  # of zlib; 9 takes twenty seconds for noise of one unit, and saves 4 %
FAR = 3.0  # times the distance within which 99 % of the positions are
MISSING = -32768
LARGEST = 32767


@dataclass(frozen=True)
class Packed:
    """Positions of markers as text.

    Attributes
    ----------
    text : str
        Base64 of the deflated bytes.
    origin_m : tuple of float
        Position that the numbers count from, m.
    quantum_m : float
        Length of one unit of the numbers, m.
    step : int
        Every which frame is contained.
    n_frames : int
        Number of frames contained.
    n_far : int
        Positions left out because they are far from all others.
    """

    text: str
    origin_m: tuple[float, float, float]
    quantum_m: float
    step: int
    n_frames: int
    n_far: int


def pack(markers_m: FloatArray, *, max_positions: int = MAX_POSITIONS) -> Packed:
    """Pack positions into text.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where a marker was not seen.
    max_positions : int
        Most positions of a page; of a longer recording every second, third ... frame is taken.

    Returns
    -------
    Packed
        The text, and the numbers that turn it back into metres.

    Notes
    -----
    A coordinate is a whole number of 16 bits: its distance from the median position in units of 0.1 mm, or larger ones
    where the recording is wider than 6.5 m. Positions more than three times as far out as 99 % of all are left out, or a
    single spike would take the resolution from the others. Of each marker and axis, the differences from frame to
    frame follow each other, first the low bytes of all, then the high bytes: the latter hardly differ, and deflate well.

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.zeros((9, 2, 3)), max_positions=10).step
    2
    """
    n_frames, n_markers, _ = markers_m.shape
    step = max(1, math.ceil(n_frames * n_markers / max_positions))
    shown = markers_m[::step]
    seen: BoolArray = np.asarray(np.isfinite(shown).all(axis=2))
    origin_m = np.median(shown[seen], axis=0) if seen.any() else np.zeros(3)
    offset_m = np.where(seen[..., None], shown - origin_m, 0.0)
    reach_m = np.abs(offset_m).max(axis=2)
    near = seen & (reach_m <= max(1.0, FAR * float(np.percentile(reach_m[seen], 99.0)) if seen.any() else 0.0))
    quantum_m = max(FINEST_M, float(reach_m[near].max(initial=0.0)) / LARGEST)
    whole = np.where(near[..., None], np.rint(offset_m / quantum_m).clip(-LARGEST, LARGEST), MISSING).astype(np.int16)
    x, y, z = origin_m.tolist()
    text = base64.b64encode(zlib.compress(_bytes(whole), LEVEL)).decode("ascii")
    return Packed(text, (x, y, z), quantum_m, step, len(shown), int((seen & ~near).sum()))


def _bytes(whole: NDArray[np.int16]) -> bytes:
    """Low bytes, then high bytes, of differences between frames.

    16-bit differences overflow, and sums reverse this.
    """
    columns = whole.transpose(1, 2, 0).reshape(-1, len(whole))
    steps = np.diff(columns, axis=1, prepend=np.int16(0)).astype("<i2")
    return steps.reshape(-1, 1).view(np.uint8).T.tobytes()
