"""Small text recordings for tests, one builder for each format, with numbers that a formula gives."""

from pathlib import Path

import numpy as np

N_FRAMES, RATE_HZ = 12, 100.0
LABELS = ("S:RSHO", "S:RELB", "S:RWRI")


def positions_mm(n_frames: int = N_FRAMES, n_markers: int = len(LABELS)) -> np.ndarray:
    """Marker k of frame i at (100 k + i, 200 k - 2 i, 1000 + 3 i) mm: whole numbers, exact in every format."""
    i, k = np.meshgrid(np.arange(n_frames), np.arange(1, n_markers + 1), indexing="ij")
    return np.stack([100.0 * k + i, 200.0 * k - 2.0 * i, 1000.0 + 3.0 * i], axis=2)


def _rows(values: np.ndarray, separator: str) -> list[str]:
    return [separator.join("" if np.isnan(x) else f"{x:.5g}" for x in row) for row in values]


def _table(first_frame: int, xyz: np.ndarray, rate_hz: float, start_s: float = 0.0) -> np.ndarray:
    n = len(xyz)
    return np.column_stack([first_frame + np.arange(n), start_s + np.arange(n) / rate_hz, xyz.reshape(n, -1)])


def write_trc(
    path: Path,
    xyz: np.ndarray | None = None,
    *,
    unit: str = "mm",
    labels=LABELS,
    first_frame: int = 1,
    start_s: float = 0.0,
    rate_hz: float = RATE_HZ,
) -> Path:
    """TRC as OpenSim's documentation shows it."""
    xyz = positions_mm() if xyz is None else xyz
    n, m = len(xyz), len(labels)
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate_hz}\t{rate_hz}\t{n}\t{m}\t{unit}\t{rate_hz}\t1\t{n}",
        "Frame#\tTime\t" + "".join(f"{label}\t\t\t" for label in labels),
        "\t\t" + "\t".join(f"{axis}{k}" for k in range(1, m + 1) for axis in "XYZ"),
        "",
        *_rows(_table(first_frame, xyz, rate_hz, start_s), "\t"),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_marker_sto(
    path: Path, xyz: np.ndarray | None = None, *, head: str = "Units=mm\n", suffixes="tx ty tz"
) -> Path:
    """Markers in a storage file of doubles."""
    xyz = positions_mm() if xyz is None else xyz
    names = [f"{label.partition(':')[2]}_{suffix}" for label in LABELS for suffix in suffixes.split()]
    body = _rows(_table(1, xyz, RATE_HZ)[:, 1:], "\t")
    path.write_text(
        f"markers\nversion=1\nnRows={len(xyz)}\nnColumns={len(names) + 1}\ninDegrees=no\n{head}endheader\n"
        + "\n".join(["\t".join(["time", *names]), *body])
        + "\n",
        encoding="utf-8",
    )
    return path


def write_vec3_sto(path: Path) -> Path:
    """Markers in a storage file of vectors."""
    xyz = positions_mm()
    rows = [
        "\t".join([f"{i / RATE_HZ:g}", *(",".join(f"{x:g}" for x in point) for point in frame)])
        for i, frame in enumerate(xyz)
    ]
    names = "\t".join(["time", *(label.partition(":")[2] for label in LABELS)])
    head = f"DataRate={RATE_HZ:f}\nUnits=mm\nDataType=Vec3\nversion=3\nendheader\n"
    path.write_text(head + "\n".join([names, *rows]) + "\n", encoding="utf-8")
    return path


FORCE_N = np.array([30.0, 700.0, -20.0])  # y is up, as in OpenSim
POINT_M = np.array([1.1, 0.0, -0.4])
TORQUE_NM = np.array([0.0, 5.0, 0.0])


def write_grf_mot(
    path: Path,
    *,
    style: str = "ground_force",
    head: str = "Units are S.I. units (second, meters, Newtons)",
    n: int = 20,
    start_s: float = 0.5,
) -> Path:
    """Ground reaction forces of two feet, the second without load."""

    def names(number: int) -> list[str]:
        if style == "ground_force":
            of = "" if number == 1 else "1_"
            stems = [f"{of}ground_force_v", f"{of}ground_force_p", f"{of}ground_torque_"]
            return [f"{stem}{axis}" for stem in stems for axis in "xyz"]
        if style == "numbered":
            stems = [f"ground_force_{number}_v", f"ground_force_{number}_p", f"ground_moment_{number}_m"]
            return [f"{stem}{axis}" for stem in stems for axis in "xyz"]
        return [f"{letter}{number}_{axis}" for letter in "fpm" for axis in "123"]

    first = np.concatenate([FORCE_N, POINT_M, TORQUE_NM])
    rows = [np.concatenate([[start_s + i / 1000.0], first, np.zeros(9)]) for i in range(n)]
    body = ["\t".join(f"{x:.6f}" for x in row) for row in rows]
    text = f"grf\nversion=1\nnRows={n}\nnColumns=19\ninDegrees=yes\n\n{head}\n\nendheader\n"
    path.write_text(text + "\n".join(["\t".join(["time", *names(1), *names(2)]), *body]) + "\n", encoding="utf-8")
    return path


def write_qualisys(path: Path, *, times: bool = True, names: bool = True) -> Path:
    """3D data as Qualisys Track Manager exports them."""
    xyz = positions_mm()
    labels = [label.partition(":")[2] for label in LABELS]
    columns = (["Frame", "Time"] if times else []) + [f"{label} {axis}" for label in labels for axis in "XYZ"]
    values = _table(1, xyz, RATE_HZ)[:, 0 if times else 2 :]
    lines = [
        f"NO_OF_FRAMES\t{len(xyz)}",
        "NO_OF_CAMERAS\t8",
        f"NO_OF_MARKERS\t{len(labels)}",
        f"FREQUENCY\t{RATE_HZ:g}",
        "NO_OF_ANALOG\t0",
        "ANALOG_FREQUENCY\t0",
        "DESCRIPTION\t--",
        "TIME_STAMP\t2024-05-06, 10:11:12.345",
        "DATA_INCLUDED\t3D",
        "EVENT\tstart\t5\t0.040000",
        "MARKER_NAMES\t" + "\t".join(labels),
        *(["\t".join(columns)] if names else []),
        *_rows(values, "\t"),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_vicon(path: Path, xyz: np.ndarray | None = None, *, first_frame: int = 51, unit: str = "mm") -> Path:
    """Events, devices and trajectories as Vicon Nexus exports them."""
    xyz = positions_mm() if xyz is None else xyz
    n, frames = len(xyz), first_frame + np.arange(len(xyz))
    devices = np.column_stack([np.repeat(frames, 2), np.tile([0, 1], n), np.arange(2 * n), -np.arange(2 * n)])
    points = np.column_stack([frames, np.zeros(n), xyz.reshape(n, -1)])
    lines = [
        *("Events", f"{RATE_HZ:g}", "Subject,Context,Name,Time (s),Description"),
        *("S,Right,Foot Strike,0.55,The heel meets the ground", ""),
        *("Devices", "200", ",,Plate 1 - Force,", "Frame,Sub Frame,Fx,Fy", ",,N,N"),
        *_rows(devices, ","),
        "",
        *("Trajectories", f"{RATE_HZ:g}", ",," + "".join(f"{label},,," for label in LABELS)),
        "Frame,Sub Frame" + ",X,Y,Z" * len(LABELS),
        "," + f",{unit}" * 3 * len(LABELS),
        *_rows(points, ","),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


VICON_PLATE = "Imported AMTI OR6 Series Force Plate #{} - {}"


def vicon_plate(n_samples: int, *, sign=-1.0, number=1, sideways_mm=30.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force, moment about the plate's middle 20 mm below the floor, and centre of pressure as Nexus writes them: N, N.mm, mm.

    The force on the foot is (20 sin, 30 sin, 700 (1 - cos)) N, its free moment 5000 N.mm, and it acts at (300 n + 50 s, 400 + 30 sin, 0)
    mm; the sign -1 is that of the force on the plate.
    """
    s = np.linspace(0.0, 1.0, n_samples)
    force = np.column_stack([20.0 * np.sin(9 * s), 30.0 * np.sin(7 * s), 700.0 * (1.0 - np.cos(2 * np.pi * s))])
    force = sign * force
    point = np.column_stack([300.0 * number + 50.0 * s, 400.0 + sideways_mm * np.sin(5 * s), np.zeros(n_samples)])
    free = np.column_stack([np.zeros((n_samples, 2)), np.full(n_samples, sign * 5000.0)])
    middle = np.array([300.0 * number, 350.0, -20.0])
    return force, np.cross(point - middle, force) + free, point


def write_vicon_plates(
    path: Path,
    *,
    n=101,
    per_frame=10,
    sign=-1.0,
    outputs=("Force", "Moment", "CoP"),
    units=("N", "N.mm", "mm"),
    local=False,
    sideways_mm=30.0,
    trajectories=True,
    emg=True,
) -> Path:
    """Two force plates and two channels of EMG in Devices of Vicon Nexus, and a foot of four markers on the first."""
    samples = n * per_frame
    over, names, unit, columns = ["", ""], ["Frame", "Sub Frame"], ["", ""], []
    for number in (1, 2):
        values = dict(
            zip(
                ("Force", "Moment", "CoP"),
                vicon_plate(samples, sign=sign, number=number, sideways_mm=sideways_mm),
                strict=True,
            )
        )
        if local:  # axes of the plate, turned by 180 degrees about x
            values["Force"], values["Moment"] = (values[key] * [1.0, -1.0, -1.0] for key in ("Force", "Moment"))
        for output in outputs:
            letter = output[0]
            over += [VICON_PLATE.format(number, output), "", ""]
            names += [f"{letter}{axis}" for axis in "xyz"]
            unit += [units[("Force", "Moment", "CoP").index(output)]] * 3
            columns.append(values[output])
    if emg:
        over, names = [*over, "Noraxon Ultium - EMG", ""], [*names, "L Tib Ant", "R Soleus"]
        unit += ["V", "V"]
        columns.append(np.column_stack([np.sin(np.arange(samples)), np.cos(np.arange(samples))]) * 1e-4)
    frame = np.column_stack([1 + np.arange(samples) // per_frame, np.arange(samples) % per_frame])
    lines = ["Devices", f"{RATE_HZ * per_frame:g}", ",".join(over), ",".join(names), ",".join(unit)]
    lines += [",".join(f"{x:.9g}" for x in row) for row in np.column_stack([frame, *columns])] + [""]
    if trajectories:
        xyz = foot_mm(n)
        points = np.column_stack([1 + np.arange(n), np.zeros(n), xyz.reshape(n, -1)])
        labels = ("HEE", "TOE", "ANK", "KNE")
        lines += ["Trajectories", f"{RATE_HZ:g}", ",," + "".join(f"S:{label},,," for label in labels)]
        lines += ["Frame,Sub Frame" + ",X,Y,Z" * 4, "," + ",mm" * 12, *_rows(points, ",")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def foot_mm(n: int) -> np.ndarray:
    """Markers of a leg that stands on the first plate."""
    at = np.array([[280.0, 400.0, 30.0], [420.0, 400.0, 20.0], [300.0, 400.0, 90.0], [310.0, 400.0, 480.0]])
    return at + np.arange(n)[:, None, None] * 0.01


def write_csv(path: Path, *, name: str = "{label}_{axis}_mm", time: str = "time_s", separator: str = ",") -> Path:
    """A table with named columns."""
    xyz = positions_mm()
    columns = [time, *(name.format(label=label, axis=axis) for label in LABELS for axis in "xyz")]
    values = _table(1, xyz, RATE_HZ)[:, 1:]
    if time == "frame":
        values[:, 0] = 7 + np.arange(len(xyz))
    quoted = [f'"{c}"' if separator in c or '"' in c else c for c in columns]
    path.write_text("\n".join([separator.join(quoted), *_rows(values, separator)]) + "\n", encoding="utf-8")
    return path


def rows(values: np.ndarray, separator: str) -> list[str]:
    """Lines of numbers with six decimals; what is not a number is empty."""
    return [separator.join("" if np.isnan(x) else f"{x:.6f}" for x in row) for row in values]


CORNERS_M = np.array([[0.6, 0.6, 0.0], [0.6, 0.2, 0.0], [0.0, 0.2, 0.0], [0.0, 0.6, 0.0]])  # x = +Y, y = +X, z down
ON_FOOT_N, AT_M, FREE_NM = np.array([30.0, -20.0, 700.0]), np.array([0.4, 0.35, 0.0]), 5.0


def write_optitrack(path: Path, *, version="1.23", unit="Millimeters", timecode=False) -> Path:
    """Three markers, one also as rigid body marker 1 mm beside, an unlabelled one, a bone, and a rotation."""
    xyz = positions_mm(N_FRAMES, 6)
    points = [
        *(
            ("Rigid Body Marker", "S:RSHO", xyz[:, 0] + 1.0),
            ("Marker", "S:RSHO", xyz[:, 0]),
            ("Marker", "S:RELB", xyz[:, 1]),
        ),
        *(("Marker", "Unlabeled 1189", xyz[:, 2]), ("Bone", "S:RHand", xyz[:, 3])),
    ]
    first = ["", "Type"] if version == "1.23" else ["", ""]
    lead = ["", "TimeCode"][: 1 + timecode][1:]
    kinds, names, whats, axes, columns = [], [], [], [], []
    for kind, name, values in points:
        kinds += [kind] * 3
        names += [f'"{name}"'] * 3
        whats += ["Position"] * 3
        axes += ["X", "Y", "Z"]
        columns.append(values)
    kinds, names, whats, axes = (
        kinds + ["Bone"] * 4,
        names + ["S:RHand"] * 4,
        whats + ["Rotation"] * 4,
        [*axes, *"XYZW"],
    )
    body = np.column_stack([np.arange(N_FRAMES), np.arange(N_FRAMES) / 100.0, *columns, np.full((N_FRAMES, 4), 0.5)])
    body[5, 5:8] = np.nan  # the measured RSHO is not seen in frame 5
    lines = rows(body, ",")
    if timecode:
        lines = [",".join([*line.split(",")[:2], "15:26:46:12.02", *line.split(",")[2:]]) for line in lines]
    blank = [""] * len(lead)
    head = f"Format Version,{version},Take Name,reach,Capture Frame Rate,100.000000,Export Frame Rate,100.000000"
    text = [
        f"{head},Rotation Type,Quaternion,Length Units,{unit},Coordinate Space,Global",
        "",
        ",".join([*first, *blank, *kinds]),
        ",".join(["", "Name" if version == "1.23" else "", *blank, *names]),
        ",".join(["", "", *blank, *whats]),
        ",".join(["Frame", "Time (Seconds)", *lead, *axes]),
        *lines,
    ]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


def write_plate(path: Path, *, sign=1.0, local=True, columns=11) -> Path:
    """A constant force on the foot, at a point, with a free moment about the laboratory's z."""
    axes = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    centre = CORNERS_M.mean(axis=0)
    moment = np.cross(AT_M - centre, ON_FOOT_N) + np.array([0.0, 0.0, FREE_NM])
    parts = [ON_FOOT_N, moment, AT_M - centre] if local else [ON_FOOT_N, moment, AT_M]
    turned = [axes @ part if local else part for part in parts]
    row = np.concatenate([sign * turned[0], sign * turned[1], 1e3 * turned[2]])
    body = np.column_stack(
        [1 + np.arange(4 * N_FRAMES), np.arange(4 * N_FRAMES) / 400.0, np.tile(row, (4 * N_FRAMES, 1))]
    )[:, 11 - columns :]
    names = ("POSX_POSY", "NEGX_POSY", "NEGX_NEGY", "POSX_NEGY")
    corners = [
        f"FORCE_PLATE_CORNER_{name}_{axis}\t{1e3 * value:.3f}"
        for name, corner in zip(names, CORNERS_M, strict=True)
        for axis, value in zip("XYZ", corner, strict=True)
    ]
    where = "local (force plate)" if local else "world (lab)"
    lines = ["NO_OF_SAMPLES\t48", "FREQUENCY\t400", "TIME_STAMP\t--", "FIRST_SAMPLE\t1"]
    lines += [f"DESCRIPTION\tForce data in {where} coordinates", "DATA_INCLUDED\tForce", "FORCE_PLATE_TYPE\tAMTI"]
    lines += ["FORCE_PLATE_NAME\tForce-plate 1", *corners, "FORCE_PLATE_LENGTH\t600", "FORCE_PLATE_WIDTH\t400"]
    titles = [f"{what}_{axis}" for what in ("Force", "Moment", "COP") for axis in "XYZ"]
    lines += ["\t".join([*["SAMPLE", "TIME"][: columns - 9], *titles]), *rows(body, "\t")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_cortex_forces(path: Path, *, n_samples=10 * N_FRAMES) -> Path:
    row = [*ON_FOOT_N, *(1e3 * AT_M), 1e3 * FREE_NM]
    names = [f"{name}{k}" for k in (1, 2) for name in ("FX", "FY", "FZ", "X", "Y", "Z", "MZ")]
    head = ["[Force Data]", "NumberOfForcePlates=2", "SampleRate=1000.000000", f"NumberOfSamples={n_samples}"]
    body = ["\t".join(f"{x:.3f}" for x in [k + 1, *row, *[0.0] * 7]) for k in range(10 * N_FRAMES)]
    path.write_text("\n".join([*head, "#Sample\t" + "\t".join(names), *body]) + "\n", encoding="utf-8")
    return path


def write_winter(path: Path, *, tabs=False) -> Path:
    """Two markers of a sagittal movement in cm, 70 Hz, times to the millisecond."""
    xyz = positions_mm(N_FRAMES, 2) / 10.0
    names, axes = ["FRAME", "TIME", "RIGHT HIP", "RIGHT KNEE"], ["N", "S", "X", "Y", "X", "Y"]
    body = [[1 + k, round(k / 70.0, 3), *xyz[k, 0, :2], *xyz[k, 1, :2]] for k in range(N_FRAMES)]
    if tabs:
        lines = ["FRAME\tTIME\tRIGHT HIP\t\tRIGHT KNEE\t", "\t".join(axes)]
    else:
        lines = [" ".join(f"'{name}'" for name in names), " ".join(f"'{axis}'" for axis in axes)]
    lines += [("\t" if tabs else " ").join(f"{x:g}" for x in row) for row in body]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_anc(path: Path) -> Path:
    """Two analog channels of Cortex, of 10 and 5 V: numbers of a converter with 16 bits."""
    head = [
        "File_Type:\tAnalog R/C ASCII\tGeneration#:\t1",
        "Board_Type:\tNational\tPolarity:\tBipolar",
        "Trial_Name:\twalk\tTrial#:\t1\tDuration(Sec.):\t0.020000\t#Channels:\t2",
        "BitDepth:\t16\tPreciseRate:\t1000.000000",
        *["", "", "", ""],
        "Name\tSol_R\tTA_R\t",
        "Rate\t1000\t1000\t",
        "Range\t10000\t5000\t",
    ]
    body = [f"{k / 1000:.6f}\t{1000 * k}\t{-1000 * k}" for k in range(20)]
    path.write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")
    return path
