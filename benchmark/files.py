"""Files of the benchmark: C3D, TRC, MOT, OpenSim model and setup files, all with the same bytes from the same numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from bodies import SIDES, Person
from limbtorque.recordings.c3d import write
from limbtorque.recordings.recording import Event, ForcePlate, Recording
from limbtorque.study.files import write_text
from space import MOTIONS, FloatArray, G, Segment

Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from x forward, y up, z right
FORCE_COLUMNS = [
    f"{side}_{kind}{axis}" for side in SIDES for kind in ("force_v", "force_p", "torque_") for axis in "xyz"
]


def rows(values: FloatArray, decimals: int | Sequence[int], separator: str) -> str:
    """Lines of a table; missing values are empty."""
    places = np.broadcast_to(decimals, values.shape[1])
    line = separator.join(f"%.{digits}f" for digits in places) + "\n"
    rounded = np.rint(values * 10.0**places) / 10.0**places + 0.0  # no negative zeros
    return (line * len(values) % tuple(rounded.ravel())).replace("nan", "")


def coordinates(person: Person) -> dict[str, list[str]]:
    """Names of the coordinates of each segment's joint."""
    motions = {name: ("rotation", "list", "tilt") if name == of.joint else MOTIONS for name, of in person.body.items()}
    return {name: [f"{person.body[name].joint}_{motion}" for motion in motions[name]] for name in person.body}


def write_c3d(
    path: Path,
    markers_m: Mapping[str, FloatArray],
    rate_hz: float,
    *,
    plates: Sequence[tuple[FloatArray, FloatArray, FloatArray]] = (),
    force_rate_hz: float = 0.0,
    events: Iterable[tuple[float, str, str]] = (),
    z_up: bool = True,
) -> None:
    """Write markers, plates and events as a C3D file.

    Parameters
    ----------
    path : Path
        The file.
    markers_m : mapping of str to ndarray of shape (n_frames, 3)
        Markers; missing samples are NaN.
    rate_hz, force_rate_hz : float
        Rates of markers and plates.
    plates : sequence of (corners, force, moment)
        Corners (4, 3), and force on the foot and its moment about the laboratory's origin, each (n_samples, 3).
    events : iterable of (float, str, str)
        Time, side and name.
    z_up : bool, optional
        False: y is up.
    """
    turn = (Z_UP if z_up else np.eye(3)).T
    recording = Recording(
        *(path.name, "", "", tuple(markers_m)),
        np.stack([values @ turn for values in markers_m.values()], axis=1),
        rate_hz,
        first_frame=1,
        events=tuple(Event(name, side.capitalize(), at) for at, side, name in events),
        force_plates=tuple(
            ForcePlate(k, 2, corners @ turn, force_rate_hz, force @ turn, moment @ turn)
            for k, (corners, force, moment) in enumerate(plates, start=1)
        ),
    )
    write.write_c3d(recording, path)


def write_trc(path: Path, markers_m: Mapping[str, FloatArray], rate_hz: float) -> None:
    """Write markers as OpenSim reads them: m, y up."""
    places = np.concatenate(list(markers_m.values()), axis=1)
    n_frames, count = len(places), len(markers_m)
    head = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate_hz:g}\t{rate_hz:g}\t{n_frames}\t{count}\tm\t{rate_hz:g}\t1\t{n_frames}",
        "Frame#\tTime\t" + "\t\t\t".join(markers_m) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{k}" for k in range(1, count + 1) for axis in "XYZ"),
        "",
    ]
    table = np.column_stack([np.arange(1.0, n_frames + 1), np.arange(n_frames) / rate_hz, places])
    body = rows(table, [0, 5, *([6] * 3 * count)], "\t").replace(
        "\n", "\t\n"
    )  # OpenSim drops an empty value at a line's end
    write_text(path, "\n".join(head) + "\n" + body)


def write_mot(path: Path, columns: Sequence[str], values: FloatArray, rate_hz: float, *, decimals: int = 6) -> None:
    """Write a table that OpenSim reads."""
    head = f"{path.stem}\nversion=1\nnRows={len(values)}\nnColumns={len(columns) + 1}\ninDegrees=no\nendheader\n"
    table = np.column_stack([np.arange(len(values)) / rate_hz, values])
    write_text(path, head + "\t".join(["time", *columns]) + "\n" + rows(table, decimals, "\t"))


def write_body(path: Path, person: Person) -> None:
    """Write mass, geometry and markers of every segment as JSON."""
    about = {"subject": person.name, "sex": person.sex, "mass_kg": person.mass_kg, "height_m": person.height_m}
    about["segments"] = {name: asdict(segment) for name, segment in person.body.items()}
    text = json.dumps(about, default=np.ndarray.tolist)
    rounded = json.loads(text, parse_float=lambda digits: round(float(digits), 12) + 0.0)
    write_text(path, json.dumps(rounded, indent=1) + "\n")


def write_xml(path: Path, content: object) -> None:
    """Write a document of OpenSim; keys are elements with their attributes."""
    head = '<?xml version="1.0" encoding="UTF-8" ?>\n'
    document = ElementTree.fromstring(f'<OpenSimDocument Version="40000">{_elements(content)}</OpenSimDocument>')
    ElementTree.indent(document)
    write_text(path, head + ElementTree.tostring(document, encoding="unicode") + "\n")


def _elements(content: object) -> str:
    """Elements as text; numbers with 12 digits."""
    if isinstance(content, dict):
        return "".join(f"<{key}>{_elements(value)}</{key.split()[0]}>" for key, value in content.items())
    if isinstance(content, str):
        return content
    return " ".join(f"{value + 0.0:.12g}" for value in np.ravel(content))


def write_model(path: Path, person: Person) -> None:
    """Write the body as an OpenSim model whose coordinates are those of the truth."""
    bodies, joints, markers = {}, {}, {}
    for name, segment in person.body.items():
        inertia = (*np.diag(segment.inertia_kgm2), 0.0, 0.0, 0.0)
        mass = {"mass": segment.mass_kg, "mass_center": segment.com_m, "inertia": inertia}
        bodies[f'Body name="{name}"'] = mass
        joints[f'CustomJoint name="{name}_joint"'] = _joint(segment, coordinates(person)[name])
        for label, place in segment.markers_m.items():
            frame = {"socket_parent_frame": f"/bodyset/{name}", "location": place}
            markers[f'Marker name="{label}"'] = frame
    sets = {"BodySet": bodies, "JointSet": joints, "MarkerSet": markers}
    model = {"gravity": (0.0, -G, 0.0), **{name: {"objects": objects} for name, objects in sets.items()}}
    write_xml(path, {f'Model name="{person.name}"': model})


def _joint(segment: Segment, coordinates: Sequence[str]) -> dict[str, object]:
    """Custom joint of a segment; the first one also translates."""
    name, moves = segment.name, {"LinearFunction": {"coefficients": "1 0"}}
    axes: dict[str, object] = {}
    for number, (coordinate, axis) in enumerate(zip(coordinates, segment.axes, strict=True), start=1):
        axes[f'TransformAxis name="rotation{number}"'] = {"coordinates": coordinate, "axis": axis, **moves}
    if not segment.parent:
        coordinates = [*coordinates, *(f"{name}_t{axis}" for axis in "xyz")]
        for number, axis in enumerate(np.eye(3), start=1):
            placed = {"coordinates": coordinates[2 + number], "axis": axis, **moves}
            axes[f'TransformAxis name="translation{number}"'] = placed
    placed = {"socket_parent": f"/bodyset/{segment.parent}" if segment.parent else "/ground"}
    return {
        "socket_parent_frame": "in_parent",
        "socket_child_frame": "in_child",
        "coordinates": {f'Coordinate name="{coordinate}"': {"range": "-10 10"} for coordinate in coordinates},
        "frames": {
            'PhysicalOffsetFrame name="in_parent"': placed | {"translation": segment.centre_m},
            'PhysicalOffsetFrame name="in_child"': {"socket_parent": f"/bodyset/{name}"},
        },
        "SpatialTransform": axes,
    }


def write_setups(folder: Path, trial: str, subject: str, end_s: float, *, on_ground: bool) -> None:
    """Write the setups of OpenSim's inverse kinematics and dynamics, and of the ground forces; paths are those of the set."""
    common = {"model_file": f"../bodies/{subject}/model.osim", "time_range": (0.0, end_s)}
    kinematics = {"marker_file": f"{trial}.trc", "accuracy": "1e-9", "output_motion_file": f"{trial}_ik.mot"}
    dynamics = {"coordinates_file": f"{trial}_ik.mot", "output_gen_force_file": f"{trial}_id.sto"}
    dynamics |= {"lowpass_cutoff_frequency_for_coordinates": "6"}
    if on_ground:
        dynamics["external_loads_file"] = f"{trial}_external_loads.xml"
        forces = {}
        for side in SIDES:
            force = {"applied_to_body": f"{side}_foot", "force_identifier": f"{side}_force_v"}
            force |= {"point_identifier": f"{side}_force_p", "torque_identifier": f"{side}_torque_"}
            force |= dict.fromkeys(("force_expressed_in_body", "point_expressed_in_body"), "ground")
            forces[f'ExternalForce name="{side}"'] = force
        loads = {f'ExternalLoads name="{trial}"': {"objects": forces, "datafile": f"{trial}_forces.mot"}}
        write_xml(folder / f"{trial}_external_loads.xml", loads)
    write_xml(folder / f"{trial}_ik.xml", {"InverseKinematicsTool": common | kinematics})
    write_xml(folder / f"{trial}_id.xml", {"InverseDynamicsTool": common | dynamics})
