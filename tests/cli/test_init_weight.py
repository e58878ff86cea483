"""The weight of a walking person, from the forces on two plates."""

import numpy as np
import pytest

from limbtorque import load_study, read_recording
from limbtorque.cli.init.survey import carried_n
from study_runs import ROOT


@pytest.mark.parametrize("name", ["S01", "S02", "S03"])
def test_the_demo_walks_carry_their_subjects(name):
    """Simulated with the dynamics of the whole body: the mean from midstance to midstance is the weight within 3 %."""
    mass_kg = {trial.subject.name: trial.subject.mass_kg for trial in load_study(ROOT).trials}[name]
    for speed in ("slow", "fast"):
        recording = read_recording(ROOT / "data" / "demo" / f"{name}_walk_{speed}_1.c3d")
        np.testing.assert_allclose(carried_n(recording.force_plates), 9.81 * mass_kg, rtol=0.03)


def test_reaches_carry_nobody():
    assert carried_n(read_recording(ROOT / "data" / "demo" / "S01_sagittal_fast.c3d").force_plates) == 0.0
