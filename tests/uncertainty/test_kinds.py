"""Limits of the sums of the inertial, centripetal and Coriolis terms, whose errors are correlated."""

from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.linear import term_rows, with_kinds
from limbtorque.motion.limb import Limb
from limbtorque.recordings.read import read_recording
from limbtorque.study.study import load_study
from limbtorque.uncertainty.propagation import torque_bands, trial_errors

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("inertial", "centripetal", "coriolis")


@pytest.fixture(scope="module")
def reach():
    trial = load_study(ROOT).trials[0]
    limb = Limb("arm", side=trial.side, body_mass_kg=trial.subject.mass_kg, marker_set=trial.marker_set)
    torques = trial.settings.torques.model_copy(update={"bands": True})
    settings = trial.settings.model_copy(update={"torques": torques})
    return analyse_recording(read_recording(trial.file), limb, settings), limb, settings


def test_sums_of_a_table_of_terms():
    rows = np.arange(2.0 * 9).reshape(2, 9)  # two joints: net, 2 inertial, 2 centripetal, 1 Coriolis, 3 others
    kinds = with_kinds(rows)[:, 9:]
    np.testing.assert_array_equal(kinds, [[1 + 2, 3 + 4, 5], [10 + 11, 12 + 13, 14]])


def test_columns_hold_the_sums(reach):
    found, _, _ = reach
    for joint in found.motion.joints:
        for kind in KINDS:
            name = f"{joint}_torque_{kind}"
            low, high, sd = (found.band_table[f"{name}_{end}_nm"].to_numpy() for end in ("low", "high", "sd"))
            value = found.torque_table[f"{name}_nm"].to_numpy()
            np.testing.assert_allclose(high - low, 2 * 1.959964 * sd, rtol=1e-6)
            assert np.nanmax(np.abs((low + high) / 2 - value) - sd) <= 1e-9  # the noise's bias is within one sd
            terms = [c for c in found.band_table.column_names if c.startswith(f"{name}_") and c.endswith("_sd_nm")]
            sds = [found.band_table[c].to_numpy() for c in terms if c != f"{name}_sd_nm"]
            assert np.mean(sd**2) <= 1.01 * np.mean(np.sum(sds, axis=0) ** 2)


def test_the_summary_does_not_depend_on_the_table_of_bands(reach):
    found, limb, settings = reach
    torques = settings.torques.model_copy(update={"bands": False})
    recording = read_recording(load_study(ROOT).trials[0].file)
    other = analyse_recording(recording, limb, settings.model_copy(update={"torques": torques}))
    for row, same in zip(found.records["torques"].summary, other.records["torques"].summary, strict=True):
        np.testing.assert_equal(row, same)


def test_variance_is_of_the_summed_changes(reach):
    found, limb, settings = reach
    with_sums = torque_bands(found.motion, limb, settings)
    assert with_sums.sd_nm.shape == with_kinds(term_rows(found.torques.terms)).shape
    square = np.zeros_like(with_sums.sd_nm)
    errors = trial_errors(found.motion, limb, settings)
    for some, start, rows in errors.changes():
        own = [k for k in range(rows.shape[2]) if errors.directions[start + k].source == "segment_mass"]
        square[..., some] += (with_kinds(rows[:, :, own]) ** 2).sum(axis=2)
    np.testing.assert_allclose(with_sums.by_source["segment_mass"], square, rtol=2e-2, atol=1e-8)
