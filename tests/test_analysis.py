"""The result of one trial as a notebook shows it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from limbtorque.analysis.trial import analyse_recording
from limbtorque.errors import LimbtorqueError
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "config" / "config.yaml"


def analyse(**changes):
    settings = load_settings(CONFIG).model_copy(update=changes)
    recording = read_c3d(ROOT / "data" / "demo" / "S01_sagittal_fast.c3d")
    return analyse_recording(recording, Limb("arm", side="right", body_mass_kg=72.0), settings)


@pytest.fixture(scope="module")
def result():
    return analyse()


def test_data_frames_are_the_tables(result):
    for which, table in (
        ("torques", result.torque_table),
        ("kinematics", result.kinematics_table),
        ("muscles", result.muscle_table),
    ):
        frame = result.to_dataframe(which)
        assert list(frame.columns) == table.column_names
        assert len(frame) == 251
    np.testing.assert_array_equal(result.to_dataframe()["elbow_torque_nm"], result.torques.terms.net[:, 1])
    with pytest.raises(LimbtorqueError, match="choose one of torques, bands, space, kinematics, muscles"):
        result.to_dataframe("forces")
    with pytest.raises(LimbtorqueError, match="the chain has no muscle set"):
        replace(result, muscle_table=None).plot("muscles")


def test_plots_are_figures_of_the_trial_that_a_notebook_shows(result):
    figure = result.plot()
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 3
    assert "S01_sagittal_fast.c3d: right arm" in figure.get_suptitle()
    for plot in (figure, result.plot("muscles", at_most=2)):
        assert plot._repr_png_().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_table_of_a_notebook_says_what_the_trial_is(result):
    """Names are escaped; flags are by the trial's own settings."""
    page = result._repr_html_()
    assert "S01_sagittal_fast.c3d, right arm, sagittal plane" in page
    assert "251 at 100 Hz" in page
    inner = result.torque_table.to_pandas()
    inner = inner[inner["edge"] == 0]["shoulder_torque_nm"]
    largest = inner.iloc[int(inner.abs().argmax())]
    assert f"<th>shoulder, largest net torque</th><td>{largest:.3g} N m</td>" in page
    assert "<th>flags</th><td>none</td>" in page
    strict = load_settings(CONFIG).quality.model_copy(update={"tilt_deg": 1e-9})
    page = replace(analyse(quality=strict), source="<b>.c3d")._repr_html_()
    assert "<th>flag</th><td>tilt_deg is " in page
    assert "&lt;b&gt;.c3d" in page
    assert "<b>" not in page


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_data_frame_is_flexion_positive_where_it_is_asked_for(result, sign):
    """Against the signs and zeros of the motion; powers are the same."""
    flexion = replace(result.motion.flexion, sign=np.full(3, sign))
    result = replace(result, motion=replace(result.motion, flexion=flexion))
    mechanical, flexion = result.to_dataframe(), result.to_dataframe(positive="flexion")
    moving, flexed = result.to_dataframe("kinematics"), result.to_dataframe("kinematics", positive="flexion")
    for joint, zero_rad in zip(result.motion.joints, result.motion.flexion.zero_rad, strict=True):
        for name in ("torque_nm", "torque_gravity_nm", "torque_closure_nm"):
            pd.testing.assert_series_equal(flexion[f"{joint}_{name}"], sign * mechanical[f"{joint}_{name}"])
        angle = moving[f"{joint}_angle_rad"]
        pd.testing.assert_series_equal(flexed[f"{joint}_angle_rad"], sign * (angle - zero_rad))
        low, high = (flexion[f"{joint}_torque_{end}_nm"] for end in ("low", "high"))
        assert (low <= flexion[f"{joint}_torque_nm"]).all()
        assert (flexion[f"{joint}_torque_nm"] <= high).all()
        pd.testing.assert_series_equal(flexion[f"{joint}_power_w"], mechanical[f"{joint}_power_w"])
    with pytest.raises(ValueError, match="positive"):
        result.to_dataframe(positive="extension")


def test_a_given_cut_off_stands_in_place_of_the_settings():
    recording = read_c3d(ROOT / "data" / "demo" / "S01_sagittal_fast.c3d")
    limb, settings = Limb("arm", side="right", body_mass_kg=72.0), load_settings(CONFIG)
    given = analyse_recording(recording, limb, settings, cutoff_hz=7.0)
    assert given.motion.cutoff_hz == (7.0,)
    assert given.settings.filter.cutoff_hz == 7.0
    assert analyse_recording(recording, limb, settings).motion.cutoff_hz != (7.0,)
