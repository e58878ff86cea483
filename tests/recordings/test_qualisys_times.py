"""Markers and forces of Qualisys from a part of a capture: both files have its times."""

import numpy as np

import text_files
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces

LATE_S = 15.805


def later(path):
    """The same file with later times, in the second column of its rows."""
    lines = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    for cells in lines:
        if len(cells) > 9 and cells[0].replace(".", "").isdigit():
            cells[1] = f"{float(cells[1]) + LATE_S:.6f}"
    path.write_text("\n".join("\t".join(cells) for cells in lines) + "\n", "utf-8")
    return path


def test_forces_keep_the_time_of_their_file(tmp_path):
    options = ReadOptions(length_unit="mm", forces_length_unit="mm")
    markers = text_files.write_qualisys(tmp_path / "walk.tsv")
    forces = text_files.write_plate(tmp_path / "walk_f_1.tsv")
    expected = read_with_forces(markers, forces, options).force_plates[0].force_n
    late = later(forces)
    assert read_recording(late, options).start_s == LATE_S
    found = read_with_forces(later(markers), late, options)
    np.testing.assert_array_equal(found.force_plates[0].force_n, expected)
    assert "clock" not in {guess.item for guess in found.audit.guesses}
