"""Files of the benchmark: C3D, TRC, MOT, OpenSim model and setup files, all with the same bytes from the same numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import ezc3d
import numpy as np

from bodies import MEDIAL, SIDES, Person
from space import MOTIONS, FloatArray, G

ORIGIN_M = np.array(
    [0.0, 0.0, -0.04]
)  # from a plate's sensor to the middle of its surface, in the plate's axes: z down
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from x forward, y up, z right
FORCE_COLUMNS = [
    f"{side}_{kind}{axis}" for side in SIDES for kind in ("force_v", "force_p", "torque_") for axis in "xyz"
]


def write_text(path: Path, text: str) -> None:
    """Write text with a line feed at the end of every line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def rows(values: FloatArray, decimals: int | Sequence[int], separator: str) -> str:
    """Lines of a table; missing values are empty."""
    places = np.broadcast_to(decimals, values.shape[1])
    line = separator.join(f"%.{digits}f" for digits in places) + "\n"
    rounded = np.rint(values * 10.0**places) / 10.0**places + 0.0  # no negative zeros
    return (line * len(values) % tuple(rounded.ravel())).replace("nan", "")


def coordinates(person: Person) -> dict[str, list[str]]:
    """Names of the coordinates of each segment's joint."""
    free = {"ground": "pelvis" if person.chain == "leg" else "trunk", "lumbar": "trunk"}
    named = {name: free.get(segment.joint, segment.joint) for name, segment in person.body.items()}
    motions = {True: ("rotation", "list", "tilt"), False: MOTIONS}
    return {name: [f"{joint}_{motion}" for motion in motions[name == joint]] for name, joint in named.items()}


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
    turn = Z_UP if z_up else np.eye(3)
    places = np.stack([values @ turn.T for values in markers_m.values()], axis=1)
    file = ezc3d.c3d()
    file["data"]["points"] = np.ones((4, *places.shape[1::-1]))
    file["data"]["points"][:3] = 1000.0 * places.transpose(2, 1, 0)
    point = file["parameters"]["POINT"]
    point["LABELS"]["value"], point["UNITS"]["value"], point["RATE"]["value"] = list(markers_m), ["mm"], [rate_hz]
    for name, value in (("X_SCREEN", "+X"), ("Y_SCREEN", "+Z" if z_up else "+Y")):
        file.add_parameter("POINT", name, [value])
    if plates:
        channels, corners = zip(*(_channels(turn, *plate) for plate in plates), strict=True)
        number = range(1, len(plates) + 1)
        analog = file["parameters"]["ANALOG"]
        file["data"]["analogs"] = np.concatenate(channels, axis=1).T[None]
        analog["RATE"]["value"] = [force_rate_hz]
        analog["LABELS"]["value"] = [f"{kind}{axis}{k}" for k in number for kind in "FM" for axis in "xyz"]
        analog["UNITS"]["value"] = [*(["N"] * 3), *(["Nmm"] * 3)] * len(plates)
        plate = file["parameters"]["FORCE_PLATFORM"]
        plate["USED"]["value"], plate["TYPE"]["value"] = [len(plates)], [2] * len(plates)
        plate["CORNERS"]["value"] = 1000.0 * np.stack([corner.T for corner in corners], axis=2)
        plate["ORIGIN"]["value"] = 1000.0 * np.tile(ORIGIN_M[:, None], len(plates))
        plate["CHANNEL"]["value"] = np.arange(1, 6 * len(plates) + 1).reshape(-1, 6).T
    if events := list(events):
        file.add_parameter("EVENT", "USED", [len(events)])
        file.add_parameter("EVENT", "CONTEXTS", [side.capitalize() for _, side, _ in events])
        file.add_parameter("EVENT", "LABELS", [name for _, _, name in events])
        file.add_parameter("EVENT", "TIMES", np.array([[0.0] * len(events), [at for at, _, _ in events]]))
    path.parent.mkdir(parents=True, exist_ok=True)
    file.write(str(path))


def _channels(
    turn: FloatArray, corners: FloatArray, force: FloatArray, moment: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Six channels of a plate of type 2, N and N mm, and its corners, both in the file's axes."""
    corners, force, moment = corners @ turn.T, force @ turn.T, moment @ turn.T
    x, y = corners[0] + corners[3] - corners[1] - corners[2], corners[0] + corners[1] - corners[2] - corners[3]
    axes = np.stack([x / np.linalg.norm(x), y / np.linalg.norm(y)], axis=1)
    axes = np.column_stack([axes, np.cross(axes[:, 0], axes[:, 1])])
    about = (moment - np.cross(corners.mean(axis=0), force)) @ axes
    force = force @ axes
    return np.hstack([force, 1000.0 * (about + np.cross(ORIGIN_M, force))]), corners


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
    segments = {
        name: {
            "parent": segment.parent or "ground",
            "joint": segment.joint,
            "joint_centre_in_parent_m": segment.centre_m.tolist(),
            "joint_axes": segment.axes.tolist(),
            "mass_kg": segment.mass_kg,
            "centre_of_mass_m": segment.com_m.tolist(),
            "inertia_kgm2": segment.inertia_kgm2.tolist(),
            "length_m": segment.length_m,
            "markers_m": {label: place.tolist() for label, place in segment.markers_m.items()},
        }
        for name, segment in person.body.items()
    }
    about = {"subject": person.name, "sex": person.sex, "mass_kg": person.mass_kg, "height_m": person.height_m}
    rounded = json.loads(
        json.dumps(about | {"segments": segments}), parse_float=lambda text: round(float(text), 12) + 0.0
    )
    write_text(path, json.dumps(rounded, indent=1) + "\n")


def write_xml(path: Path, content: object) -> None:
    """Write a document of OpenSim; keys are elements with their attributes, lists hold elements of one kind."""
    head = '<?xml version="1.0" encoding="UTF-8" ?>\n'
    document = ElementTree.fromstring(f'<OpenSimDocument Version="40000">{_elements(content)}</OpenSimDocument>')
    ElementTree.indent(document)
    write_text(path, head + ElementTree.tostring(document, encoding="unicode") + "\n")


def _elements(content: object) -> str:
    """Elements as text; numbers with 12 digits."""
    if isinstance(content, dict):
        return "".join(f"<{key}>{_elements(value)}</{key.split()[0]}>" for key, value in content.items())
    if isinstance(content, list):
        return "".join(map(_elements, content))
    if isinstance(content, str):
        return content
    return " ".join(f"{value + 0.0:.12g}" for value in np.ravel(content))


def write_model(path: Path, person: Person) -> None:
    """Write the body as an OpenSim model whose coordinates are those of the truth."""
    segments = person.body.items()
    bodies = [
        {
            f'Body name="{name}"': {
                "mass": segment.mass_kg,
                "mass_center": segment.com_m,
                "inertia": (*np.diag(segment.inertia_kgm2), 0.0, 0.0, 0.0),
            }
        }
        for name, segment in segments
    ]
    markers = [
        {f'Marker name="{label}"': {"socket_parent_frame": f"/bodyset/{name}", "location": place}}
        for name, segment in segments
        for label, place in segment.markers_m.items()
    ]
    sets = {"BodySet": bodies, "JointSet": [_joint(person, name) for name in person.body], "MarkerSet": markers}
    model = {"gravity": (0.0, -G, 0.0), **{name: {"objects": objects} for name, objects in sets.items()}}
    write_xml(path, {f'Model name="{person.name}"': model})


def _joint(person: Person, name: str) -> dict[str, object]:
    """Custom joint of a segment; the first one also translates."""
    segment, names = person.body[name], [*coordinates(person)[name]]
    names += ["", "", ""] if segment.parent else [f"{name}_t{axis}" for axis in "xyz"]
    axes = []
    for number, (coordinate, axis) in enumerate(zip(names, [*segment.axes, *np.eye(3)], strict=True)):
        kind = f"{('rotation', 'translation')[number // 3]}{number % 3 + 1}"
        moves = {"LinearFunction": {"coefficients": "1 0"}} if coordinate else {"Constant": {"value": "0"}}
        axes.append({f'TransformAxis name="{kind}"': {"coordinates": coordinate, "axis": axis, **moves}})
    parent = f"/bodyset/{segment.parent}" if segment.parent else "/ground"
    frames = {
        f'PhysicalOffsetFrame name="{name}_in_parent"': {"socket_parent": parent, "translation": segment.centre_m},
        f'PhysicalOffsetFrame name="{name}_in_child"': {"socket_parent": f"/bodyset/{name}"},
    }
    joint = {
        "socket_parent_frame": f"{name}_in_parent",
        "socket_child_frame": f"{name}_in_child",
        "coordinates": [{f'Coordinate name="{coordinate}"': {"range": "-10 10"}} for coordinate in names if coordinate],
        "frames": frames,
        "SpatialTransform": axes,
    }
    return {f'CustomJoint name="{name}_joint"': joint}


def write_loads(folder: Path, trial: str) -> None:
    """Write how OpenSim is to apply the ground forces of a trial."""
    forces = [
        {
            f'ExternalForce name="{side}"': {
                "applied_to_body": f"{side}_foot",
                "force_expressed_in_body": "ground",
                "point_expressed_in_body": "ground",
                "force_identifier": f"{side}_force_v",
                "point_identifier": f"{side}_force_p",
                "torque_identifier": f"{side}_torque_",
            }
        }
        for side in SIDES
    ]
    loads = {"objects": forces, "datafile": f"{trial}_forces.mot"}
    write_xml(folder / f"{trial}_external_loads.xml", {f'ExternalLoads name="{trial}"': loads})


def write_setups(folder: Path, trial: str, person: Person, end_s: float, *, on_ground: bool) -> None:
    """Write the setups of OpenSim's inverse kinematics and dynamics; paths are those of the set."""
    labels = [label for segment in person.body.values() for label in segment.markers_m if label[1:] not in MEDIAL]
    common = {"model_file": f"../bodies/{person.name}/model.osim", "time_range": (0.0, end_s)}
    tasks = [{f'IKMarkerTask name="{label}"': {"apply": "true", "weight": "1"}} for label in labels]
    kinematics = {
        **common,
        "marker_file": f"{trial}.trc",
        "IKTaskSet": {"objects": tasks},
        "accuracy": "1e-9",
        "output_motion_file": f"{trial}_ik.mot",
    }
    dynamics = {
        **common,
        "coordinates_file": f"{trial}_ik.mot",
        **({"external_loads_file": f"{trial}_external_loads.xml"} if on_ground else {}),
        "lowpass_cutoff_frequency_for_coordinates": "6",
        "output_gen_force_file": f"{trial}_id.sto",
    }
    write_xml(folder / f"{trial}_ik.xml", {"InverseKinematicsTool": kinematics})
    write_xml(folder / f"{trial}_id.xml", {"InverseDynamicsTool": dynamics})
