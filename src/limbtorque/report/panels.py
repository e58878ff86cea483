"""Drawing of a trial's page: panels of lines, shaded frames, and the moving limb."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.emg.summary import agreement_text, drawn_envelope
from limbtorque.figures.palette import FRAMES, LINE_COLOURS, NO_TORQUE, TERM_COLOURS
from limbtorque.figures.terms import TERM_MEANINGS, TERM_NAMES, error_parts, grouped_terms, kinds_of_terms, net_bands
from limbtorque.report.page import decimals_for, fixed_point, frame_step, largest_of, spans
from limbtorque.study.chains import ChainModel
from limbtorque.tables.column import capital
from limbtorque.tables.files import column_array
from limbtorque.tables.frame_columns import file_columns, term_columns
from limbtorque.tables.trial_record import Window

INK = "ink"  # the colour of the text: the net torque
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
KIND_DASHES = {"inertial": "solid", "centripetal": "dash", "coriolis": "dot", "base": "dashdot", "external": "longdash"}
PULLS_N = 1e-3
SHOWN_MUSCLES = 6  # lines of muscles that are on from the beginning
SHOWN_EMG = 2  # muscles whose activation and envelope are visible from the beginning


@dataclass(frozen=True)
class Line:
    """A line of a panel.

    Attributes
    ----------
    curve, name, colour, dash : str
        Name of its curve, its legend, its colour or ``"ink"``, and its dashes.
    width : float
        Width, px.
    kind : str
        Kind of term, for the switches of all panels; ``"net"`` for the sum.
    grouped : bool or None
        True: drawn with the terms of a kind added up; False: with every term by itself; None: always.
    shown : bool
        Visible from the beginning.
    least, greatest : str
        Curves of its possible range, if it has one.
    low, high : str
        Curves of its 95 % limits, if it has some.
    stack : str
        Name of the stack of areas it belongs to, if any.
    """

    curve: str
    name: str
    colour: str
    dash: str = "solid"
    width: float = 1.6
    kind: str = ""
    grouped: bool | None = None
    shown: bool = True
    least: str = ""
    greatest: str = ""
    low: str = ""
    high: str = ""
    stack: str = ""


@dataclass(frozen=True)
class Panel:
    """A panel of lines over time.

    Attributes
    ----------
    name, title, quantity, unit : str
        Its name in the page, and the quantity with its unit.
    lines : tuple of Line
        The lines.
    bands : tuple of str
        Kinds of shaded frames.
    joints : tuple of int
        Number of the joint of each line, whose sense of flexion the numbers have; empty where they have none.
    angle : bool
        The numbers are joint angles, which have another zero when counted from the anatomical position.
    about : str
        A sentence on how to read it.
    """

    name: str
    title: str
    quantity: str
    unit: str
    lines: tuple[Line, ...]
    bands: tuple[str, ...]
    joints: tuple[int, ...] = ()
    angle: bool = False
    about: str = ""


@dataclass(frozen=True)
class Drawing:
    """Drawing of the page of a trial.

    Attributes
    ----------
    panels : tuple of Panel
        Panels, from top to bottom.
    bands : dict of str to dict
        Shaded frames by kind: legend, colour, count and times.
    step, n_frames : int
        Every ``step``-th of ``n_frames`` frames is shown.
    resting : tuple of str
        Muscles that never pull; they have no line.
    data : dict
        Numbers for the page's scripts.
    """

    panels: tuple[Panel, ...]
    bands: dict[str, dict[str, Any]]
    step: int
    n_frames: int
    resting: tuple[str, ...]
    data: dict[str, Any]


@dataclass
class _Curves:
    """Curves of a page by name, with common decimals in a panel."""

    full: dict[str, tuple[FloatArray, int]] = field(default_factory=dict)

    def add(self, curves: Mapping[str, FloatArray], digits: int) -> None:
        decimals = decimals_for(largest_of(*curves.values()), digits)
        self.full |= {name: (values, decimals) for name, values in curves.items()}


_OF_MUSCLES = ("_force_n", "_activation", "_envelope", "_contact_bw")
_OF_FRAMES = ("time_s", "frame", "edge", "foreshortened", "filled", "spike", "swapped")
_STATUS = ("external_status", "moment_arm_status", "fibre_status", "optimization_status")
_ALWAYS = ("edge", "spike", "swapped")  # shaded in every panel
_NO_TORQUE = (*_ALWAYS, "foreshortened", "external_unknown")
_OF_FORCES = (*_NO_TORQUE, "moment_arm", "fibre", "beyond_muscles", "not_certified")
_RANGE = " For the chosen muscle: the least force that these torques need under any criterion, and the greatest possible force."
_FORCE = ("external_force_x_n", "external_force_y_n", "external_point_x_m", "external_point_y_m")


def drawn_columns(joints: Sequence[str]) -> Callable[[str], bool]:
    """Predicate on column names: True for columns on the page of a trial.

    Parameters
    ----------
    joints : sequence of str
        Joints of the chain, proximal first.

    Examples
    --------
    >>> list(map(drawn_columns(["elbow"]), ("elbow_torque_base_nm", "BRA_activation", "elbow_moment_arm_BRA_m")))
    [True, True, False]
    """
    chosen = {*_OF_FRAMES, *_STATUS, *_FORCE}
    chosen |= {f"{point}_position_{axis}_m" for point in (*joints, "endpoint") for axis in "xy"}
    chosen |= {f"{joint}_{what}" for joint in joints for what in ("angle_rad", "torque_nm", "power_w")}
    chosen |= {column.name for joint in joints for column in term_columns(joint, joints)}
    chosen |= {column.name for column in file_columns(joints)} | {name for joint in joints for name in net_bands(joint)}
    return lambda name: name in chosen or name.endswith(_OF_MUSCLES)


def draw_trial(
    kinematics: pa.Table,
    torques: pa.Table,
    muscles: pa.Table,
    *,
    model: ChainModel,
    motion: Mapping[str, Any],
    window: Window | None = None,
    emg: Sequence[Mapping[str, Any]] = (),
) -> Drawing:
    """Choose the panels of the page of a trial, and encode their numbers.

    Parameters
    ----------
    kinematics, torques, muscles : pyarrow.Table
        The trial's tables.
    model : ChainModel
        The chain.
    motion : mapping
        Entry ``motion`` of the kinematics table's record: senses and zeros of flexion.
    window : Window, optional
        The part that is 0 to 100 %, which is marked in every panel.
    emg : sequence of mapping, optional
        Rows of the trial's first window in `emg_summary.csv`.

    Notes
    -----
    Torques have the sign of the tables. Curves are named after their columns; sums of the terms of one kind are
    ``<joint>_torque_kind_<kind>_nm``, angles in degrees ``<joint>_angle_deg``. Terms that are zero throughout are left out.
    """
    joints = [joint.name for joint in model.joints]
    time_s = column_array(kinematics, "time_s")[:, 0]
    curves = _Curves()
    panels = [_angle_panel(kinematics, joints, curves)]
    for number in range(len(joints)):
        panels += [_torque_panel(torques, number, joints, curves), *_error_panel(torques, joints[number], curves)]
    panels += [
        _power_panel(torques, joints, curves),
        *_muscle_panel(muscles, curves),
        *_contact_panel(muscles, joints, curves),
        *_emg_panel(muscles, emg, curves),
        *_force_panel(kinematics, curves),
        *_file_panels(kinematics, torques, joints, curves),
    ]
    stick = _stick(kinematics, joints, [segment.name for segment in model.segments], curves)
    bands = dict(_bands(kinematics, torques, muscles, joints, time_s))
    names = {name.removesuffix("_force_n") for name in muscles.column_names if name.endswith("_activation")}
    names = {name.removesuffix("_activation") for name in names}
    drawn = {line.name for panel in panels if panel.name == "muscles" for line in panel.lines}
    step = frame_step(len(time_s), len(curves.full) + 1)
    kept = slice(None, None, step)
    encoded = {name: fixed_point(values[kept], decimals) for name, (values, decimals) in curves.full.items()}
    data = {
        "joints": _senses(model, motion),
        "first_frame": int(kinematics.column("frame")[0].as_py()),
        "step": step,
        "panels": [_panel_data(panel) for panel in panels],
        "bands": bands,
        "window": [round(float(at), 5) for at in (window.start_s, window.end_s)] if window and not window.note else [],
        "stick": stick,
        "curves": {"time_s": fixed_point(time_s[kept], 5), **encoded},
    }
    return Drawing(tuple(panels), bands, step, len(time_s), tuple(sorted(names - drawn)), data)


def _senses(model: ChainModel, motion: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": joint.name,
            "flexion": joint.flexion_name,
            "extension": joint.extension_name,
            "sign": int(sign),
            "zero_deg": round(float(np.degrees(zero)), 2),
        }
        for joint, sign, zero in zip(model.joints, motion["flexion_sign"], motion["flexion_zero_rad"], strict=True)
    ]


def _panel_data(panel: Panel) -> dict[str, Any]:
    lines = [{key: value for key, value in vars(line).items() if value not in ("", None)} for line in panel.lines]
    return {
        **{key: getattr(panel, key) for key in ("name", "title", "quantity", "unit", "bands", "joints", "angle")},
        "lines": lines,
    }


def _columns(table: pa.Table, names: Sequence[str]) -> dict[str, FloatArray]:
    return {name: column_array(table, name)[:, 0] for name in names}


def _joint_lines(joints: Sequence[str], ending: str) -> tuple[Line, ...]:
    """A line for each joint, from its column with a given suffix."""
    looks = zip(joints, itertools.cycle(LINE_COLOURS), itertools.cycle(DASHES), strict=False)
    return tuple(Line(f"{joint}_{ending}", joint, colour, dash) for joint, colour, dash in looks)


def _angle_panel(table: pa.Table, joints: Sequence[str], curves: _Curves) -> Panel:
    degrees = {f"{joint}_angle_deg": np.degrees(column_array(table, f"{joint}_angle_rad")[:, 0]) for joint in joints}
    curves.add(degrees, 5)
    lines, shaded = _joint_lines(joints, "angle_deg"), (*_ALWAYS, "foreshortened", "filled")
    about = "Flexion positive: from the anatomical position. As in the tables: of each segment relative to the proximal one, the first relative to the x axis."
    return Panel("angles", "Joint angles", "angle", "deg", lines, shaded, tuple(range(len(joints))), True, about)


def _torque_panel(table: pa.Table, number: int, joints: Sequence[str], curves: _Curves) -> Panel:
    joint = joints[number]
    net = f"{joint}_torque_nm"
    kinds = kinds_of_terms(joint, joints)
    single = _columns(table, [name for names in kinds.values() for name in names])
    single = {name: values for name, values in single.items() if largest_of(values) > 0.0}
    sums = {kind: values for kind, values in grouped_terms(table, joint, joints).items() if largest_of(values) > 0.0}
    summed = {f"{joint}_torque_kind_{kind}_nm": values for kind, values in sums.items()}
    curves.add({**_columns(table, [net]), **single, **summed}, 5)
    limits = [f"{joint}_torque_{end}_nm" for end in ("low", "high")]
    low, high = limits if set(limits) <= set(table.column_names) else ("", "")
    curves.add(_columns(table, limits if low else []), 5)
    lines = [Line(net, "net", INK, width=2.6, kind="net", low=low, high=high)]
    for kind, curve in zip(sums, summed, strict=True):
        look = (TERM_COLOURS[kind], KIND_DASHES.get(kind, "solid"))
        lines.append(Line(curve, TERM_NAMES[kind], *look, kind=kind, grouped=True))
    for kind, names in kinds.items():
        there = [name for name in names if name in single]
        lines += [
            Line(name, _term_name(name, joint, kind), TERM_COLOURS[kind], dash, kind=kind, grouped=False)
            for name, dash in zip(there, itertools.cycle(DASHES), strict=False)
        ]
    title = f"{joint.replace('_', ' ').capitalize()}: net torque and its terms"
    shaded = (*_NO_TORQUE, f"{joint}_unknown")
    limits_text = ", with its 95 % limits from errors of the inputs" if low else ""
    meanings = "; ".join(f"{TERM_NAMES[kind]}: {TERM_MEANINGS[kind]}" for kind in sums)
    about = f"Thick line: the net torque, the sum of its terms{limits_text}. {capital(meanings)}."
    of = (number,) * len(lines)
    return Panel(f"torque_{joint}", title, "torque", "N m", tuple(lines), shaded, of, about=about)


def _error_panel(table: pa.Table, joint: str, curves: _Curves) -> Iterator[Panel]:
    """Half the width of the 95 % limits, divided among the sources of error."""
    parts = error_parts(table, joint)
    named = {f"{joint}_error_{k}_nm": part for k, part in enumerate(parts.values())}
    if not largest_of(*named.values()) > 0.0:
        return
    curves.add(named, 4)
    lines = tuple(
        Line(curve, name, colour, width=4.0, stack="errors")
        for curve, name, colour in zip(named, parts, LINE_COLOURS, strict=False)
    )
    about = (
        "Height: half the width of the 95 % limits of the net torque. Colours: the share of each source of error in their "
        "variance (docs/uncertainty.md)."
    )
    title = f"{joint.replace('_', ' ').capitalize()}: uncertainty of the net torque, by source"
    shaded = (*_ALWAYS, f"{joint}_unknown")
    yield Panel(f"error_{joint}", title, "95 % limits", "N m", lines, shaded, about=about)


def _term_name(column: str, joint: str, kind: str) -> str:
    """Legend of a term: its kind and the joints whose motion causes it.

    >>> _term_name("elbow_torque_coriolis_shoulder_wrist_nm", "elbow", "coriolis")
    'Coriolis shoulder wrist'
    """
    by = column.removeprefix(f"{joint}_torque_{kind}").removesuffix("_nm").strip("_")
    return " ".join(filter(None, (TERM_NAMES[kind], by.replace("_", " "))))


def _power_panel(table: pa.Table, joints: Sequence[str], curves: _Curves) -> Panel:
    curves.add(_columns(table, [f"{joint}_power_w" for joint in joints]), 4)
    about = "Net torque times angular velocity; positive: power generation."
    return Panel("power", "Joint power", "power", "W", _joint_lines(joints, "power_w"), _NO_TORQUE, about=about)


def _muscle_colours(table: pa.Table) -> dict[str, tuple[str, str]]:
    """Colour and dashes of every muscle, the same in all trials."""
    suffixes = ("_activation", "_envelope")
    names = [name.removesuffix(end) for end in suffixes for name in table.column_names if name.endswith(end)]
    looks = zip(itertools.cycle(LINE_COLOURS), itertools.cycle(DASHES), strict=False)
    return dict(zip(dict.fromkeys(names), looks, strict=False))


def _muscle_panel(table: pa.Table, curves: _Curves) -> Iterator[Panel]:
    looks = _muscle_colours(table)
    names = [name for name in looks if f"{name}_force_n" in table.column_names]
    forces = _columns(table, [f"{name}_force_n" for name in names])
    peaks = {name: float(np.nanmax(forces[f"{name}_force_n"], initial=0.0)) for name in names}
    pulling = sorted((name for name in names if peaks[name] > PULLS_N), key=lambda name: -peaks[name])
    if not pulling:
        return
    ends = [f"{name}_{end}_force_n" for name in pulling for end in ("min", "max")]
    ends = [name for name in ends if name in table.column_names]
    curves.add({**{f"{name}_force_n": forces[f"{name}_force_n"] for name in pulling}, **_columns(table, ends)}, 4)
    lines = tuple(
        Line(
            f"{name}_force_n",
            name,
            *looks[name],
            shown=k < SHOWN_MUSCLES,
            least=f"{name}_min_force_n" if f"{name}_min_force_n" in ends else "",
            greatest=f"{name}_max_force_n" if f"{name}_max_force_n" in ends else "",
        )
        for k, name in enumerate(pulling)
    )
    about = "Tension positive; the strongest muscle first in the legend." + _RANGE * bool(ends)
    yield Panel("muscles", "Muscle forces", "force", "N", lines, _OF_FORCES, about=about)


def _contact_panel(table: pa.Table, joints: Sequence[str], curves: _Curves) -> Iterator[Panel]:
    """Contact forces of the joints where known in any frame."""
    given = [joint for joint in joints if f"{joint}_contact_bw" in table.column_names]
    known = [joint for joint in given if np.isfinite(column_array(table, f"{joint}_contact_bw")).any()]
    if not known:
        return
    ends = {joint: [f"{joint}_effort_{end}_contact_bw" for end in ("min", "max")] for joint in known}
    ranged = {joint: both for joint, both in ends.items() if both[0] in table.column_names}
    lines = [
        replace(line, least=least, greatest=greatest)
        for line in _joint_lines(known, "contact_bw")
        for least, greatest in [ranged.get(line.name, ("", ""))]
    ]
    curves.add(_columns(table, [line.curve for line in lines] + [name for both in ranged.values() for name in both]), 4)
    about = "Joint reaction and the forces of all muscles across the joint."
    if ranged:
        about += " The range: forces with the same torques and activations up to 1.25 times the smallest possible peak activation (docs/muscles.md)."
    yield Panel(
        "contact", "Joint contact forces", "contact force", "body weights", tuple(lines), _OF_FORCES, about=about
    )


def _emg_panel(table: pa.Table, rows: Sequence[Mapping[str, Any]], curves: _Curves) -> Iterator[Panel]:
    """Activations, and EMG envelopes in the same colour."""
    names = [name.removesuffix("_envelope") for name in table.column_names if name.endswith("_envelope")]
    dead = [f"{row['muscle']}_envelope" for row in rows if not drawn_envelope(row)]
    both = [f"{name}_{what}" for name in names for what in ("envelope", "activation")]
    there = [name for name in both if name in table.column_names and name not in dead]
    if not there:
        return
    curves.add(_columns(table, there), 4)
    looks = _muscle_colours(table)
    lines = []
    for column in there:
        name, _, what = column.rpartition("_")
        label, dash = ("EMG", "dot") if what == "envelope" else ("activation", "solid")
        lines.append(Line(column, f"{name} {label}", looks[name][0], dash, shown=names.index(name) < SHOWN_EMG))
    compared = [f"{row['muscle']}: {agreement_text(row)}" for row in rows]
    about = (
        "Dotted: normalised envelopes, shifted by the electromechanical delay"
        f"{'; those of dead channels are not drawn' if dead else ''}. {'; '.join(compared)}."
    )
    if any("known" in row.get("not_compared", "") for row in rows):
        about += " Known: share of the window's frames with activation and envelope (limit: ensembles.min_known_share)."
    title = "Activation and electromyogram"
    yield Panel("emg", title, "activation, envelope", "1", tuple(lines), _ALWAYS, about=about)


def _force_panel(table: pa.Table, curves: _Curves) -> Iterator[Panel]:
    names = ("external_force_x_n", "external_force_y_n")
    force = _columns(table, names)
    if not largest_of(*force.values()) > 0.0:
        return
    curves.add(force, 4)
    lines = (Line(names[0], "x, forward", LINE_COLOURS[6]), Line(names[1], "y", LINE_COLOURS[0], "dash"))
    about = "On the last segment, in the plane of motion; y is up (in a horizontal plane: to the left)."
    shaded = (*_ALWAYS, "external_unknown")
    yield Panel("external", "External force", "force", "N", lines, shaded, about=about)


def _file_panels(kinematics: pa.Table, torques: pa.Table, joints: Sequence[str], curves: _Curves) -> Iterator[Panel]:
    """Torques and powers compared with results stored in the recording."""
    there = [joint for joint in joints if f"{joint}_file_torque_nm" in kinematics.column_names]
    for quantity, unit in (("torque", "N m"), ("power", "W")):
        names = [f"{joint}_file_{quantity}_{unit.lower().replace(' ', '')}" for joint in there]
        if not there or not largest_of(*_columns(kinematics, names).values()) > 0.0:
            continue
        own = [name.replace("_file_", "_") for name in names]
        curves.add({**_columns(torques, own), **_columns(kinematics, names)}, 5)
        lines = [
            Line(name, text, LINE_COLOURS[k], dash)
            for k, joint in enumerate(there)
            for name, text, dash in ((own[k], joint, "solid"), (names[k], f"{joint}, file", "dot"))
        ]
        of = tuple(joints.index(joint) for joint in there for _ in range(2)) if quantity == "torque" else ()
        title = f"{quantity.capitalize()}s compared with those in the recording"
        about = "Dotted: Plug-in Gait results stored in the recording, with the signs of this page; not used here."
        yield Panel(f"file_{quantity}", title, quantity, unit, tuple(lines), _NO_TORQUE, of, about=about)


def _stick(table: pa.Table, joints: Sequence[str], segments: Sequence[str], curves: _Curves) -> dict[str, Any]:
    """The limb: its points in order, and the force at its end, if any."""
    points = [*joints, "endpoint"]
    curves.add(_columns(table, [f"{point}_position_{axis}_m" for point in points for axis in "xy"]), 5)
    loaded = largest_of(column_array(table, "external_force_x_n", "external_force_y_n")) > 0.0
    if loaded:
        curves.add(_columns(table, ["external_point_x_m", "external_point_y_m"]), 5)
    return {"points": points, "segments": list(segments), "loaded": loaded}


def _bands(
    kinematics: pa.Table, torques: pa.Table, muscles: pa.Table, joints: Sequence[str], time_s: FloatArray
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Shaded frames by kind that occurs: legend, colour, count and times."""

    def status(name: str) -> FloatArray:
        table = next((table for table in (kinematics, torques, muscles) if name in table.column_names), None)
        return np.zeros(len(time_s)) if table is None else column_array(table, name)[:, 0]

    masks = [(kind, text, colour, status(name) == value) for kind, (colour, name, value, text) in FRAMES.items()]
    no_torque = np.any([mask for kind, _, _, mask in masks if kind in ("foreshortened", "external_unknown")], axis=0)
    for joint in joints:
        missing = np.isnan(status(f"{joint}_torque_nm")) & ~no_torque
        masks.append((f"{joint}_unknown", f"{joint} torque not known", NO_TORQUE, missing))
    for name, label, colour, mask in masks:
        if mask.any():
            yield name, {"label": label, "colour": colour, "count": int(mask.sum()), "spans": spans(mask, time_s)}
