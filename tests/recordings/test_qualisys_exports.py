"""Exports of Qualisys: times of a part of a capture, numbered markers."""

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


def test_numbers_before_the_names_of_markers_are_left_out(tmp_path):
    path = text_files.write_qualisys(tmp_path / "walk.tsv")
    options = ReadOptions(length_unit="mm")
    names = read_recording(path, options).labels
    numbered = "\t".join(f"{k} - {name}" for k, name in enumerate(names, start=7))
    path.write_text(
        path.read_text("utf-8").replace("MARKER_NAMES\t" + "\t".join(names), f"MARKER_NAMES\t{numbered}"), "utf-8"
    )
    found = read_recording(path, options)
    assert found.labels == names
    assert any(finding.item == "names of markers" for finding in found.audit.findings)
