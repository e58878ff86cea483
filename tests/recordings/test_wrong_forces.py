"""A simulated walk over plates whose files are well formed and whose forces are wrong: what the reader and the verdict say."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from c3d_damage import real_values, text_rows, with_parameter
from c3d_files import INTEL
from damage import put
from limbtorque.analysis.trial import TrialResult, analyse_recording
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.header import Parameter, numbers, parse_parameters
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.simulation.gait import HALF_WIDTH_M, Walker, Walkway, walk_recording
from limbtorque.study.settings import Settings, make_settings

WALKER = Walker(strike_m_s=0.4)
N_PLATES = 5
MARKERS = {
    **{"hip_axis": "{S}HJC", "knee_axis": "{S}KJC", "ankle_axis": "{S}AJC"},
    **{"head_of_metatarsal_2": "{S}TOE", "heel": "{S}HEE"},
}


def settings(markers: dict[str, str]) -> Settings:
    """Options of the walk with these landmarks."""
    return make_settings(
        {
            "plane": {"up_axis": "+z", "forward_axis": "travel"},
            "marker_sets": {"simulated": markers},
            "substitutes": {
                "simulated": {
                    **{"greater_trochanter": "hip_axis", "femoral_condyles": "knee_axis"},
                    **{"lateral_malleolus": "ankle_axis", "medial_malleolus": "ankle_axis"},
                }
            },
            "ensembles": {
                "window": "events",
                "start_event": "Foot Strike {side}",
                "end_event": "Foot Strike {side}",
            },
            "muscles": {"enabled": False},
            "uncertainty": {"enabled": False},  # no verdict depends on the bands
        }
    )


SETTINGS = {
    "heel": settings(MARKERS),
    "no heel": settings({name: label for name, label in MARKERS.items() if name != "heel"}),
}
Change = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A person who walks over five plates, one for each step; its channels carry no names of axes."""
    plates = [(0.08 + k * WALKER.stride_m / 2, (1 if k % 2 else -1) * HALF_WIDTH_M) for k in range(N_PLATES)]
    way = Walkway(plates_m=tuple(plates), noise_m=0.0005, noise_n=1.0, seed=1)
    path = tmp_path_factory.mktemp("walk") / "a.c3d"
    write_c3d(walk_recording(WALKER, way, duration_s=3.2, first_strike_s=0.4), path)
    return with_parameter(path.read_bytes(), "ANALOG", "LABELS", text_rows([f"A{k}" for k in range(6 * N_PLATES)]))


def values(raw: bytes, group: str, name: str) -> np.ndarray:
    found = parse_parameters(raw, INTEL)[0][group][name]
    return numbers(found, INTEL).reshape(found.shape, order="F")


def with_values(raw: bytes, group: str, name: str, array: np.ndarray) -> bytes:
    return with_parameter(raw, group, name, real_values(array, INTEL))


def channels_in_order(*order: int) -> Change:
    """Take the channels of every plate in another order."""
    return lambda raw: with_values(
        raw, "FORCE_PLATFORM", "CHANNEL", values(raw, "FORCE_PLATFORM", "CHANNEL")[list(order)]
    )


def channels_times(factor: float, *channels: int) -> Change:
    """Multiply some channels of every plate."""

    def change(raw: bytes) -> bytes:
        scale = values(raw, "ANALOG", "SCALE").reshape(-1, 6)
        scale[:, list(channels)] *= factor
        return with_values(raw, "ANALOG", "SCALE", scale.ravel())

    return change


def turned(quarters: int) -> Change:
    """Begin the corners of every plate elsewhere, which turns it by quarters of a turn."""
    return lambda raw: with_values(
        raw, "FORCE_PLATFORM", "CORNERS", np.roll(values(raw, "FORCE_PLATFORM", "CORNERS"), quarters, axis=1)
    )


def exchanged(raw: bytes) -> bytes:
    """Exchange the channels of the second and third plate."""
    channel = values(raw, "FORCE_PLATFORM", "CHANNEL")
    return with_values(raw, "FORCE_PLATFORM", "CHANNEL", channel[:, [0, 2, 1, 3, 4]])


def lower(mm: float, slope: float = 0.0) -> Change:
    """Lower the corners of every plate, or let them rise along the way, each plate about its middle."""

    def change(raw: bytes) -> bytes:
        corners = values(raw, "FORCE_PLATFORM", "CORNERS").copy()
        corners[2] += slope * (corners[0] - corners[0].mean(axis=0)) - mm
        return with_values(raw, "FORCE_PLATFORM", "CORNERS", corners)

    return change


def moved(mm: float) -> Change:
    """Move every plate along the way."""

    def change(raw: bytes) -> bytes:
        corners = values(raw, "FORCE_PLATFORM", "CORNERS").copy()
        corners[0] += mm
        return with_values(raw, "FORCE_PLATFORM", "CORNERS", corners)

    return change


def on_one_plate(change: Change, number: int) -> Change:
    """Change this plate, and leave the others as they are."""

    def changed(raw: bytes) -> bytes:
        wrong = change(raw)
        for group, name in (("FORCE_PLATFORM", "CHANNEL"), ("FORCE_PLATFORM", "CORNERS"), ("ANALOG", "SCALE")):
            plates = values(raw, group, name).copy()
            mine = (slice(6 * number - 6, 6 * number),) if group == "ANALOG" else (..., number - 1)
            plates[mine] = values(wrong, group, name)[mine]
            raw = with_values(raw, group, name, plates)
        return raw

    return changed


WRONG: dict[str, Change] = {
    "Fx and Fy exchanged": channels_in_order(1, 0, 2, 3, 4, 5),
    "Fx and Fz exchanged": channels_in_order(2, 1, 0, 3, 4, 5),
    "Fy and Fz exchanged": channels_in_order(0, 2, 1, 3, 4, 5),
    "Mx and My exchanged": channels_in_order(0, 1, 2, 4, 3, 5),
    "x and y exchanged": channels_in_order(1, 0, 2, 4, 3, 5),
    "forces and moments exchanged": channels_in_order(3, 4, 5, 0, 1, 2),
    "sign of Fx": channels_times(-1.0, 0),
    "sign of Fy": channels_times(-1.0, 1),
    "sign of Fz": channels_times(-1.0, 2),
    "sign of Mx": channels_times(-1.0, 3),
    "sign of My": channels_times(-1.0, 4),
    "sign of all forces": channels_times(-1.0, 0, 1, 2),
    "sign of all channels": channels_times(-1.0, *range(6)),
    "sign of Fx and Fy": channels_times(-1.0, 0, 1),
    "forces doubled": channels_times(2.0, *range(6)),
    "forces of a tenth": channels_times(0.1, *range(6)),
    "forces of a thousandth": channels_times(1e-3, *range(6)),
    "moments times 1000": channels_times(1e3, 3, 4, 5),
    "moments of a thousandth": channels_times(1e-3, 3, 4, 5),
    "Fz of 70 %": channels_times(0.7, 2),
    "plates turned by 90 degrees": turned(1),
    "plates turned by 180 degrees": turned(2),
    "plates turned by 270 degrees": turned(3),
    "two plates exchanged": exchanged,
    "plates 100 mm along the way": moved(100.0),
    "plates 100 mm against the way": moved(-100.0),
    "plates 100 mm lower": lower(100.0),
    "plates 150 mm lower": lower(150.0),
    "plates 350 mm lower": lower(350.0),
    "plates 1 m lower": lower(1000.0),
    "plates 2.5 m lower": lower(2500.0),
    "plates 100 mm higher": lower(-100.0),
    "plates 150 mm higher": lower(-150.0),
    "plates 350 mm higher": lower(-350.0),
    "plates inclined by 3 degrees": lower(0.0, slope=0.05),
    "plates inclined by 8.5 degrees": lower(0.0, slope=0.15),
}
SEEN_BY_THE_READER = {
    *("Fx and Fz exchanged", "Fy and Fz exchanged", "forces and moments exchanged"),
    *("sign of Fz", "sign of all forces", "sign of all channels", "forces of a thousandth", "moments times 1000"),
    "plates 350 mm higher",
}
# The force and the centre of pressure to one side, which the sagittal plane does not have; and plates that are then under
# no foot, so that their steps are not measured and a cycle on the other plates is taken.
NO_OTHER_TORQUES = ("sign of Fx", "sign of My")
OTHER_STRIDE = "two plates exchanged"  # the strides on them are not used; that of the left leg ends beside one
BEFORE_STRIKE_S = (
    0.25  # the strike that ends the cycle is on a plate that is not used: no impact is allowed for in the filter
)
WALKER_RATE_HZ = 100.0


def read(folder: Path, content: bytes) -> Recording:
    put(folder / "a.c3d", content)
    return read_recording(folder / "a.c3d")


def said_by_the_reader(recording: Recording) -> list[str]:
    left_out = [note for note in recording.notes if "is left out" in note]
    return left_out + [g.sentence for g in recording.audit.guesses]


def analysed(recording: Recording, side: str, markers: str) -> TrialResult:
    return analyse_recording(recording, Limb("leg", side=side, body_mass_kg=WALKER.mass_kg), SETTINGS[markers])


Case = tuple[str, str]  # side, markers


@pytest.fixture(scope="module")
def right_torques(walk: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[Case, np.ndarray]:
    """Net torques of the walk itself, which nothing is said of."""
    recording = read(tmp_path_factory.mktemp("good"), walk)
    assert not said_by_the_reader(recording)
    found = {(side, markers): analysed(recording, side, markers) for side in ("right", "left") for markers in SETTINGS}
    assert {one.status for one in found.values()} == {"ok"}
    return {case: one.torques.terms.net for case, one in found.items()}


def assert_right_before_the_next_strike(found: TrialResult, right: np.ndarray) -> None:
    judged = np.flatnonzero(found.window.judged(found.motion.time_s, np.ones(len(right), dtype=bool)))
    before = judged[: -round(BEFORE_STRIKE_S * WALKER_RATE_HZ)]
    np.testing.assert_allclose(found.torques.terms.net[before], right[before], atol=0.05)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_force_is_said_or_refused(
    walk: bytes, tmp_path: Path, right_torques: dict[Case, np.ndarray], name: str
) -> None:
    """By the reader or by the verdict; or it is a component that torques in the sagittal plane do not have."""
    recording = read(tmp_path, WRONG[name](walk))
    said = said_by_the_reader(recording)
    assert bool(said) == (name in SEEN_BY_THE_READER), said
    for side, markers in (("right", "heel"), ("left", "no heel")):
        found, right = analysed(recording, side, markers), right_torques[side, markers]
        usable = {"ok", "caution"} if name == OTHER_STRIDE else {"ok"}
        assert (found.status in usable) == (name in (*NO_OTHER_TORQUES, OTHER_STRIDE)), (
            side,
            markers,
            found.verdict.flags,
        )
        if found.status == "ok":
            assert_right_before_the_next_strike(found, right)


def test_corners_that_slope_are_told_from_a_ramp(walk: bytes, tmp_path: Path) -> None:
    """On a ramp the force on the body stays vertical; wrong corners turn it with the plate."""
    wrong, level = read(tmp_path, WRONG["plates inclined by 8.5 degrees"](walk)), read(tmp_path, walk)
    corners = [plate.corners_m for plate in wrong.force_plates]
    ramp = replace(
        level, force_plates=tuple(replace(p, corners_m=c) for p, c in zip(level.force_plates, corners, strict=True))
    )
    for side in ("right", "left"):
        names = {flag.check.name for flag in analysed(wrong, side, "heel").verdict.flags}
        assert {"plate_slope_deg", "slope_in_force_share"} <= names
        assert analysed(wrong, side, "heel").status == "rejected"
        on_ramp = {flag.check.name for flag in analysed(ramp, side, "heel").verdict.flags}
        assert "plate_slope_deg" in on_ramp
        assert "slope_in_force_share" not in on_ramp


ON_ONE = sorted(set(WRONG) - SEEN_BY_THE_READER - {"two plates exchanged"})


@pytest.mark.parametrize(
    ("name", "plate"), list(zip(ON_ONE, itertools.cycle([(2, "left"), (3, "right")]), strict=False))
)
def test_one_wrong_plate_is_not_hidden_by_the_others(
    walk: bytes, tmp_path: Path, right_torques: dict[Case, np.ndarray], name: str, plate: tuple[int, str]
) -> None:
    """This foot steps on two or three plates, of which one is wrong."""
    number, side = plate
    recording = read(tmp_path, on_one_plate(WRONG[name], number)(walk))
    for markers in SETTINGS:
        found = analysed(recording, side, markers)
        assert (found.status == "ok") == (name in NO_OTHER_TORQUES), (markers, found.verdict.flags)
        if found.status == "ok":
            assert_right_before_the_next_strike(found, right_torques[side, markers])


@pytest.mark.parametrize(("group", "name"), [("ANALOG", "SCALE"), ("FORCE_PLATFORM", "CORNERS"), ("POINT", "LABELS")])
def test_a_parameter_that_stands_twice_is_a_guess(walk: bytes, tmp_path: Path, group: str, name: str) -> None:
    """Other readers take the last."""
    first = parse_parameters(walk, INTEL)[0][group][name]
    for content, contradicts in ((first.content, False), (first.content[::-1], True)):
        other = with_parameter(walk, group, name[:-1] + "?", Parameter(first.size, first.shape, content))
        path = tmp_path / "a.c3d"
        path.write_bytes(other.replace(name[:-1].encode() + b"?", name.encode()))
        guesses = [guess for guess in read_recording(path).audit.guesses if guess.item == "parameters given twice"]
        assert [guess.stated for guess in guesses] == (
            [f"{group}:{name}: several times, with different contents"] if contradicts else []
        )
