"""Files that would take far more memory than they have bytes: refused before it is taken, by every reader.

Peak memory of a reading, over what the process had before: at most 20 times the file or 300 MB, in at most 10 s of processor time.
"""

import json
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import text_files
from c3d_files import raw_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording

MANY = 2_000_000
TRC = "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tNumFrames\tNumMarkers\tUnits\n100\t200\t{n}\tmm\nFrame#\tTime\t{names}\n\t\tX1\tY1\tZ1\n"


def trc_of_many_labels(folder: Path, n: int = MANY) -> Path:
    """Virtual markers without columns: four megabytes with two million labels, for each of 200 frames."""
    rows = "".join(f"{k + 1}\t{0.01 * k:.2f}\t1\t2\t3\n" for k in range(200))
    return text(folder / "a.trc", TRC.format(n=n, names="a\t" * n) + rows)


def trc_of_many_frames(folder: Path) -> Path:
    """Fewer labels, and a hundred thousand lines without a marker's column."""
    names = "\t\t\t".join(f"m{k}" for k in range(6000))
    rows = "".join(f"{k + 1}\t{0.01 * k:.2f}\t1\t2\t3\n" for k in range(100_000))
    return text(folder / "a.trc", TRC.format(n=6000, names=names) + rows)


def lines_of_nothing(folder: Path) -> Path:
    return text(folder / "a.csv", "time_s,A_x_mm,A_y_mm,A_z_mm\n" + "1\n" * (2 * MANY))


def empty_cells(folder: Path) -> Path:
    names = ",".join(f"M{k}_{axis}_mm" for k in range(500) for axis in "xyz")
    rows = [f"{0.01 * k:.2f}" + "," * 1500 for k in range(4000)]
    return text(folder / "a.csv", "\n".join([f"time_s,{names}", *rows]) + "\n")


def storage_of_many_columns(folder: Path) -> Path:
    names = "\t".join(f"m{k}_tx" for k in range(MANY // 4))
    return text(folder / "a.sto", f"a\nDataType=Vec3\nUnits=mm\nendheader\ntime\t{names}\n0\t1\n0.01\t1\n")


def qualisys_of_many_markers(folder: Path) -> Path:
    head = f"NO_OF_FRAMES\t999999999\nNO_OF_MARKERS\t{MANY}\nFREQUENCY\t100\nMARKER_NAMES\t"
    return text(folder / "a.tsv", head + "a\t" * MANY + "\n1\t2\t3\n")


def vicon_of_many_columns(folder: Path) -> Path:
    return text(folder / "a.csv", f"Devices\n1000\n{',a' * MANY}\nFrame,Sub Frame{',Fx' * MANY}\n,,\n1,0,1\n")


def optitrack_of_many_points(folder: Path) -> Path:
    n = MANY // 4
    head = (
        f"Format Version,1.23,Length Units,Meters\n\n,Type{',Marker' * n}\n,Name{',a' * n}\n,ID\n,{',Position' * n}\n"
    )
    return text(folder / "a.csv", f"{head}Frame,Time{',X' * n}\n0,0,1\n1,0.01,1\n")


def forces_of_many_plates(folder: Path) -> Path:
    return text(folder / "a.forces", "[Force Data]\nNumberOfForcePlates=999999\nSampleRate=1000\n#Sample FX1\n1 2\n")


def channels_of_many(folder: Path) -> Path:
    heads = f"File_Type:\tAnalog\nBitDepth:\t16\tPreciseRate:\t1000\nName{chr(9) + 'a'}" + "\ta" * MANY
    return text(folder / "a.anc", f"{heads}\nRange{chr(9) + '1'}\n0\t1\n")


def keypoints_of_ever_new_names(folder: Path) -> Path:
    frames = [{f"k{f}_{k}": [1.0, 2.0, 0.9] for k in range(60)} for f in range(3000)]
    return text(folder / "a.json", json.dumps({"rate_hz": 100, "unit": "m", "frames": frames}))


def lists_in_lists(folder: Path) -> Path:
    return text(folder / "a.json", '{"frames": [' + "[]," * (4 * MANY) + "[]]}")


def many_people(folder: Path) -> Path:
    """Everybody is elsewhere in every frame, and nobody can be followed."""
    person = [{"keypoints": [[100 * f + 7 * p, 3, 1], [100 * f + 7 * p, 4, 1]]} for f in (0,) for p in range(50)]
    frames = [
        {"people": [{"keypoints": [[1e4 * f + 50 * k, 0, 1]] * 17} for k in range(len(person))]} for f in range(150)
    ]
    return text(folder / "a.json", json.dumps({"fps": 100, "frames": frames}))


def overlapping_parameters(folder: Path) -> Path:
    """Entries of twelve bytes, each with a content of four megabytes that is the rest of the section."""
    n, blocks = 300_000, 9000
    base = bytearray(raw_c3d(folder / "a.c3d", text_files.positions_mm()).read_bytes())
    start = struct.unpack_from("<H", base, 16)[0]
    entry = struct.pack("<bb", 1, 1) + b"A" + struct.pack("<H", 10) + struct.pack("<bB", -1, 3) + bytes([255, 255, 60])
    section = bytes([1, 80, 255, 84]) + struct.pack("<bb", 5, -1) + b"POINT" + struct.pack("<H", 3) + b"\0" + entry * n
    struct.pack_into("<H", base, 16, 2 + blocks)
    (folder / "a.c3d").write_bytes(base[:512] + section.ljust(512 * blocks, b"\0") + base[512 * (start - 1) :])
    return folder / "a.c3d"


def text(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8", newline="\n")
    return path


BOMBS: list[Callable[[Path], Path]] = [
    *(trc_of_many_labels, trc_of_many_frames, lines_of_nothing, empty_cells, storage_of_many_columns),
    *(qualisys_of_many_markers, vicon_of_many_columns, optitrack_of_many_points, forces_of_many_plates),
    *(channels_of_many, keypoints_of_ever_new_names, lists_in_lists, many_people, overlapping_parameters),
]


QUICK = (trc_of_many_labels, storage_of_many_columns, lists_in_lists, overlapping_parameters)
MARKED = [pytest.param(bomb, marks=[pytest.mark.slow] * (bomb not in QUICK), id=bomb.__name__) for bomb in BOMBS]


def measured(path: Path) -> tuple[float, float, str]:
    """Peak memory of reading a file, MB, processor time, s, and what it said; in a process of its own."""
    code = (
        "import re, sys, time; from pathlib import Path; import scipy.optimize\n"
        "from limbtorque.errors import ReadError; from limbtorque.recordings.options import ReadOptions\n"
        "from limbtorque.recordings.read import read_recording\n"
        "def mb(name): return int(re.search(name + r':\\s*(\\d+)', Path('/proc/self/status').read_text())[1]) / 1024\n"
        "before, start = mb('VmRSS'), time.process_time()\n"
        "try: read_recording(Path(sys.argv[1]), ReadOptions(length_unit='mm')); said = 'read'\n"
        "except ReadError as error: said = str(error)\n"
        "took = time.process_time() - start\n"
        "print(mb('VmHWM') - before, took, said[:300].replace(chr(10), ' '))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    peak, took, said = done.stdout.strip().split(" ", 2)
    return float(peak), float(took), said


@pytest.mark.parametrize("bomb", MARKED)
def test_reading_takes_no_more_than_the_file_explains(tmp_path: Path, bomb: Callable[[Path], Path]) -> None:
    path = bomb(tmp_path)
    peak_mb, took_s, said = measured(path)
    assert said.startswith(path.name), said
    assert "reading failed" not in said
    assert peak_mb < max(20 * path.stat().st_size / 1e6, 300.0), said
    assert took_s < 10.0


def test_a_file_as_wide_as_recordings_get_is_read(tmp_path: Path) -> None:
    """Three hundred markers, most of them missing: 21 bytes of memory for each of its cells."""
    n, names = 300, "\t\t\t".join(f"m{k}" for k in range(300))
    rows = "".join(
        f"{k + 1}\t{0.01 * k:.2f}\t1.0\t2.0\t{k / 1000:.3f}" + "\t" * 3 * (n - 1) + "\n" for k in range(3000)
    )
    path = text(tmp_path / "a.trc", TRC.format(n=n, names=names) + rows)
    read = read_recording(path, ReadOptions())
    assert read.markers_m.shape == (3000, n, 3)
    assert np.isnan(read.markers_m[:, 1:]).all()
