"""Mass and lengths against the height: slips raise a flag, and people from the newborn to the adult raise nothing."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.reading import limb_of
from limbtorque.analysis.trial import analyse_recording
from limbtorque.cli.main import main
from limbtorque.errors import LimbtorqueError
from limbtorque.motion.joint_centres import place_joints
from limbtorque.motion.limb import Limb
from limbtorque.quality.body_size import body_size, length_ratio, mass_ratio
from limbtorque.quality.checks import BY_NAME
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_with_forces
from limbtorque.simulation.demo import demo_trials
from limbtorque.study.settings import Settings, load_settings
from limbtorque.study.study import load_study

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = load_settings(ROOT / "config" / "config.yaml")
DEMO = replace(demo_trials()[1], gaps=())
LEG_M = np.array([0.43, 0.43, 0.14])  # thigh, shank, foot of a person of 1.75 m
USUAL = {"mass_for_height_factor", "length_for_height_factor"}


def size(mass_kg, height_m, *, scale=1.0, lengths=LEG_M):
    limb = Limb("leg", side="right", body_mass_kg=mass_kg, height_m=height_m)
    return body_size(limb, Settings(), scale * lengths)


def raised(found):
    limits = Settings().quality
    return {name for name, value in found[0].items() if value > BY_NAME[name].allowed_at("", limits)}


@pytest.mark.parametrize(
    ("mass_kg", "height_m"),
    [
        *(
            (3.3, 0.50),
            (2.4, 0.46),
            (7.9, 0.68),
            (9.6, 0.76),
            (12.2, 0.87),
        ),  # newborn to two years (WHO 2006), and premature
        *(
            (18.3, 1.10),
            (14.6, 1.10),
            (24.4, 1.10),
            (31.2, 1.38),
            (24.4, 1.38),
            (49.7, 1.38),
        ),  # 5 and 10 years, -3 to +3 SD
        *((56.5, 1.69), (42.0, 1.69), (45.8, 1.48), (60.3, 1.58), (39.4, 1.45)),  # 15 years; children of the recordings
        *(
            (72.0, 1.78),
            (36.0, 1.66),
            (95.0, 1.50),
            (140.0, 1.80),
            (110.0, 2.15),
            (27.0, 1.22),
        ),  # adults, thin, heavy, short
    ],
)
def test_people_of_all_ages_raise_nothing(mass_kg, height_m):
    assert raised(size(mass_kg, height_m, scale=height_m / 1.75)) == set()


@pytest.mark.parametrize("share", [0.76, 0.81, 0.9, 1.1, 1.2])
def test_legs_of_toddlers_and_markers_beside_the_joints_raise_nothing(share):
    assert raised(size(12.2, 0.87, scale=share * 0.87 / 1.75)) == set()


@pytest.mark.parametrize(
    ("mass_kg", "height_m", "scale", "metrics"),
    [
        (7.2, 1.78, 1.0, {"mass_for_height_factor"}),
        (159.0, 1.78, 1.0, {"mass_for_height_factor"}),
        (11.3, 1.78, 1.0, {"mass_for_height_factor"}),
        (350.0, 1.46, 1.0 / 1.2, {"mass_for_height_factor"}),
        (72.0, 0.70, 1.0, USUAL),
        (72.0, 1.78, 1.0 / 2.54, {"length_for_height_factor"}),
        (72.0, 1.78, 0.1, {"length_for_height_factor"}),
        (72.0, 1.78, 1.0 / 0.3048, {"length_for_height_factor"}),
        (72.0, 1.78, 10.0, {"length_for_height_factor"}),
    ],
)
def test_slips_are_raised(mass_kg, height_m, scale, metrics):
    found = size(mass_kg, height_m, scale=scale)
    assert raised(found) == metrics
    assert len(found[1]) == len(metrics)


def test_ratios_by_hand():
    assert mass_ratio(20.0, 1.0) == pytest.approx(
        20.0 / (16.0 + (15.3 - 16.0) * 0.13 / 0.23)
    )  # between 0.87 and 1.10 m
    assert mass_ratio(22.2 * 1.8**2, 1.8) == pytest.approx(1.0)
    assert mass_ratio(20.0 * 1.6**2, 1.6) == 1.0  # between a boy's and an adult's
    assert mass_ratio(44.4 * 1.6**2, 1.6) == pytest.approx(2.0)
    assert length_ratio(["thigh", "shank"], np.array([0.245, 0.492]), 1.0) == pytest.approx(1.5)
    assert math.isnan(length_ratio(["hand"], np.array([0.1]), 1.8))


@pytest.mark.parametrize(
    ("mass_kg", "height_m", "status"), [(72.0, 1.78, "ok"), (7.2, 1.78, "rejected"), (72.0, 0.7, "rejected")]
)
def test_the_verdict_says_it(mass_kg, height_m, status):
    limb = Limb("arm", side="right", body_mass_kg=mass_kg, height_m=height_m)
    verdict = analyse_recording(DEMO.recording(noise_m=2e-4), limb, SETTINGS).verdict
    assert verdict.torques == status
    sentences = [flag.sentence for flag in verdict.flags if flag.check.name == "mass_for_height_factor"]
    assert ["mass for height: " in sentence for sentence in sentences] == [True] * (status == "rejected")


@pytest.mark.slow
def test_no_recorded_subject_raises_it(recordings, tmp_path):
    study = tmp_path / "study"
    assert main(["init", str(study), "--from", str(recordings / "cohort")]) == 0
    seen = set()
    for trial in load_study(study).trials:
        reading = ReadOptions.of(trial.settings.reading)
        limb, settings = limb_of(trial), trial.settings
        try:
            placed = place_joints(read_with_forces(trial.file, trial.forces_file, reading), limb, settings)
        except LimbtorqueError:
            continue
        factors = body_size(limb, settings, placed.planarity.length_m)[0]
        assert set(factors) == USUAL
        assert max(factors.values()) < 1.2, trial.name
        seen.add(trial.subject.name)
    assert len(seen) == 3
