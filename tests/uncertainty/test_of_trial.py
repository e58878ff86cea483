"""Uncertainty of a whole trial: long trials, frames out of the plane."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.trial import analyse_recording
from limbtorque.motion.limb import Limb
from limbtorque.recordings.read import read_recording
from limbtorque.study.study import load_study
from limbtorque.uncertainty.of_trial import too_long
from limbtorque.uncertainty.propagation import torque_bands

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reach():
    """A reach of the demo, its limb and its settings."""
    trial = load_study(ROOT).trials[0]
    limb = Limb("arm", side=trial.side, body_mass_kg=trial.subject.mass_kg, marker_set=trial.marker_set)
    return read_recording(trial.file), limb, trial.settings


def changed(settings, section, **options):
    return settings.model_copy(update={section: getattr(settings, section).model_copy(update=options)})


@pytest.fixture(scope="module")
def with_bands(reach):
    recording, limb, settings = reach
    return analyse_recording(recording, limb, changed(settings, "torques", bands=True))


def test_a_trial_longer_than_the_longest_has_empty_bands_and_the_same_torques(reach, with_bands, monkeypatch):
    recording, limb, settings = reach
    monkeypatch.setattr("limbtorque.uncertainty.of_trial.MAX_FRAMES", recording.n_frames - 1)
    short = changed(settings, "torques", bands=True)
    found = analyse_recording(recording, limb, short)
    assert found.bands is None
    assert with_bands.bands is not None
    empty, known = found.torque_table, with_bands.torque_table
    assert empty.column_names == known.column_names
    assert np.isnan(empty["shoulder_torque_low_nm"].to_numpy()).all()
    assert not np.isnan(known["shoulder_torque_low_nm"].to_numpy()).any()
    assert (found.band_table, len(with_bands.band_table)) == (None, recording.n_frames)
    for name in ("shoulder_torque_nm", "elbow_torque_nm"):
        assert found.torque_table[name].equals(with_bands.torque_table[name])
    note = too_long(found.motion)
    assert f"{recording.n_frames} frames, expected at most {recording.n_frames - 1};" in note
    monkeypatch.undo()
    assert not too_long(found.motion)


def test_frames_out_of_the_plane_leave_the_bands_of_the_others(reach):
    """By the angles of each segment: lengths come from the frames that are known."""
    recording, limb, settings = reach
    own = changed(settings, "motion", angles="segments")
    motion = chain_motion(recording, limb, own)
    turned = np.zeros(len(motion.time_s), dtype=bool)
    turned[300:330] = True
    parts = {name: np.where(turned[:, None], np.nan, part) for name, part in vars(motion.kinematics).items()}
    empty = replace(motion, kinematics=replace(motion.kinematics, **parts), foreshortened=turned)
    sd, expected = (torque_bands(each, limb, own).sd_nm[:, 0] for each in (empty, motion))
    assert np.isnan(sd[:, turned]).all()
    assert not np.isnan(sd[:, ~turned]).any()
    early = slice(20, 200)
    np.testing.assert_allclose(sd[:, early], expected[:, early], rtol=0.1)
