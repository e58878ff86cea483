"""Contents that nobody writes on purpose are in the notes of a recording."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.recordings.c3d.header import parse_parameters
from limbtorque.recordings.doubts import doubts
from limbtorque.recordings.recording import Event, ForcePlate, Recording


def recording(**changes):
    time_s = np.arange(1000) / 1000.0
    force_n = 700.0 * np.sin(np.pi * time_s)[:, None] * np.array([0.1, 0.0, 1.0])
    plate = ForcePlate(1, 2, np.zeros((4, 3)), 1000.0, force_n, 0.0 * force_n)
    whole = Recording("a.c3d", "", "ezc3d", ("A", "B"), np.zeros((100, 2, 3)), 100.0, 1, force_plates=(plate,))
    return replace(whole, analog_labels=("FX", "FY"), events=(Event("Foot Strike", "Left", 0.1),), **changes)


def test_a_whole_recording_has_none():
    assert doubts(recording()) == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": ("A", "B\x01")}, "names with control characters: 'B\\x01'"),
        ({"labels": ("A", "\u202eB")}, "names with control characters: '\\u202eB'"),
        ({"analog_labels": ("N", "N")}, "all 2 analog channels are named 'N'"),
        ({"events": (Event("Foot Strike", "kN", 0.1),)}, "foot events of 'kN', which is no side"),
        ({"events": (Event("Foot Strike", "Left", 1.2),)}, "1 events lie outside the 1.000 s of the trial"),
        (
            {"events": (Event("Foot Strike", "Left", 0.1), Event("Foot Off", "Left", 0.105))},
            "Foot Strike and Foot Off Left are both at 0.100 s",
        ),
    ],
)
def test_odd_names_and_events_are_said(changes, said):
    (note,) = doubts(replace(recording(), **changes))
    assert note.startswith(said)


@pytest.mark.parametrize(("leap_n", "said"), [(90.0, False), (150.0, True)])
def test_a_sample_that_leaves_its_neighbours_is_said(leap_n, said):
    whole = recording()
    force_n = whole.force_plates[0].force_n.copy()
    force_n[300, 2] += leap_n
    notes = doubts(replace(whole, force_plates=(replace(whole.force_plates[0], force_n=force_n),)))
    assert bool(notes) == said
    assert not said or notes[0].startswith("plate 1: the force at 0.300 s is 150 N from its neighbours")


def test_corners_of_no_rectangle_are_said():
    """A corner 20 mm away: the diagonals' middles are 10 mm apart."""
    plate = recording().force_plates[0]
    corners_m = np.array([[0.3, 0.2, 0.0], [-0.3, 0.2, 0.0], [-0.3, -0.2, 0.0], [0.3, -0.2, 0.0]])
    assert doubts(replace(recording(), force_plates=(replace(plate, corners_m=corners_m),))) == ()
    corners_m[2, 2] = 0.02
    (note,) = doubts(replace(recording(), force_plates=(replace(plate, corners_m=corners_m),)))
    assert note.startswith("plate 1: its corners are 10 mm from a rectangle")


def test_events_and_plates_out_of_the_list_are_found(tmp_path):
    """A pointer past an entry, or a group with a broken name."""
    import c3d_damage

    raw = c3d_damage.force_bases(tmp_path)["intel real type 2"]
    assert parse_parameters(raw, raw[515])[1] is None
    at = raw.index(b"EVENT") - 2
    skipped = raw[:at] + b"\0" + raw[at + 1 :]  # the list ends there
    assert parse_parameters(skipped, raw[515])[1] is not None
    for name in (b"FO\xbaCE_PLATFORM", b"7ORCE_PLATFORM"):
        assert parse_parameters(raw.replace(b"FORCE_PLATFORM", name), raw[515])[1] is not None
