"""Angles, moments and powers of another program in a C3D file: their units, and that they are never positions."""

from pathlib import Path

import numpy as np
import pytest

from c3d_files import raw_c3d
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.model_outputs import model_outputs
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import ForcePlate
from limbtorque.recordings.source import Source

N_FRAMES, MASS_KG = 60, 45.8
LABELS = ("LHipAngles", "LHipMoment", "LHipPower", "LGroundReactionForce", "S:RKneeMoment", "LNeckMoment")
FORCE_N = np.array([30.0, -20.0, 500.0])


def read(*, unit="Nmm", power="W", divided_by=MASS_KG, mass_kg=MASS_KG, plates=1, labels=LABELS):
    """Outputs of a file whose ground reaction force is the plates' over a number."""
    xyz = np.tile(np.arange(1.0, 4.0), (N_FRAMES, len(labels), 1)) * np.arange(1, 1 + N_FRAMES)[:, None, None]
    if "LGroundReactionForce" in labels:
        xyz[:, labels.index("LGroundReactionForce")] = FORCE_N / divided_by
    seen = np.ones((N_FRAMES, len(labels)), dtype=bool)
    seen[0] = False
    plate = ForcePlate(
        1, 2, np.zeros((4, 3)), 1000.0, np.tile(FORCE_N, (10 * N_FRAMES, 1)), np.zeros((10 * N_FRAMES, 3))
    )
    source = Source("a.c3d", ReadOptions())
    found = model_outputs(
        {label: k for k, label in enumerate(labels)},
        xyz,
        seen,
        stated={"angle": "deg", "moment": unit, "power": power},
        plates=[plate] * plates,
        rate_hz=100.0,
        mass_kg=mass_kg,
        source=source,
    )
    return {output.label: output for output in found}, source.findings


def test_the_plates_show_that_newton_millimetres_are_per_kilogram():
    found, findings = read()
    assert list(found) == ["LHipAngles", "LHipMoment", "LHipPower", "S:RKneeMoment"]
    moment = found["LHipMoment"]
    assert (moment.side, moment.joint, moment.kind, moment.unit, moment.per_kg) == (
        "left",
        "hip",
        "moment",
        "Nmm",
        True,
    )
    np.testing.assert_allclose(moment.values[1], [0.002, 0.004, 0.006])
    assert np.isnan(moment.values[0]).all()
    np.testing.assert_allclose(found["LHipAngles"].values[1], np.radians([2.0, 4.0, 6.0]))
    assert not found["LHipAngles"].per_kg
    (finding,) = findings
    assert (
        "the plates' force is 45.8 times their ground reaction force, PROCESSING:BODYMASS is 45.8 kg" in finding.stated
    )
    assert "per kilogram of body mass" in finding.interpretation


def test_the_plates_show_that_moments_are_not_divided():
    found, _ = read(divided_by=1.0, unit="N.m")
    assert not found["LHipMoment"].per_kg
    np.testing.assert_allclose(found["LHipMoment"].values[1], [2.0, 4.0, 6.0])
    assert not found["LHipPower"].per_kg


@pytest.mark.parametrize(
    "doubt",
    [
        {"plates": 0},
        {"labels": LABELS[:3]},
        {"mass_kg": float("nan")},
        {"mass_kg": 60.0},
        {"divided_by": 9.81 * MASS_KG},
        {"unit": "", "power": ""},
        {"unit": "lbf in", "power": "hp"},
    ],
    ids=str,
)
def test_a_moment_that_may_be_per_kilogram_or_not_is_left_out(doubt):
    found, findings = read(**doubt)
    assert {output.kind for output in found.values()} == {"angle"}
    assert "for the others the unit, or division by body mass, is unknown" in findings[0].interpretation


@pytest.mark.parametrize("unit", ["Nmm/kg", "N.mm/kg", "N*mm*kg-1", "Nmm kg^-1"])
def test_a_unit_that_says_per_kilogram_needs_no_plates(unit):
    found, _ = read(unit=unit, plates=0)
    assert {output.kind for output in found.values()} == {"angle", "moment"}
    assert found["LHipMoment"].per_kg
    np.testing.assert_allclose(found["LHipMoment"].values[1], [0.002, 0.004, 0.006])


def test_outputs_of_a_file_are_not_among_its_positions(tmp_path: Path):
    xyz = np.random.default_rng(0).uniform(100.0, 900.0, (20, 3, 3))
    point = {
        "LABELS": ["LKNE", "LKneeAngles", "LKneeMoment"],
        "ANGLES": ["LKneeAngles"],
        "MOMENTS": ["LKneeMoment"],
        "ANGLE_UNITS": ["deg"],
        "MOMENT_UNITS": ["Nmm/kg"],
    }
    recording = read_c3d(raw_c3d(tmp_path / "a.c3d", xyz, parameters={"POINT": point}))
    assert recording.labels == ("LKNE",)
    assert recording.modelled_labels == ("LKneeAngles", "LKneeMoment")
    angle, moment = recording.model_outputs
    np.testing.assert_allclose(angle.values, np.radians(xyz[:, 1]), rtol=1e-6)
    np.testing.assert_allclose(moment.values, 1e-3 * xyz[:, 2], rtol=1e-6)


def test_a_file_without_outputs_says_nothing_of_them(tmp_path: Path):
    recording = read_c3d(raw_c3d(tmp_path / "a.c3d", np.full((20, 3, 3), 100.0) * np.arange(1, 4)[:, None]))
    assert recording.model_outputs == ()
    assert not any("another program" in finding.item for finding in recording.audit.findings)
