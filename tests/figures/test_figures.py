"""Figures against the numbers they show."""

from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis import analyse_recording
from limbtorque.figures.style import MINUS, failure_figure, save_figure
from limbtorque.figures.term_kinds import TERM_NAMES
from limbtorque.figures.torque_figures import torque_figure
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.chains import ARM
from limbtorque.study.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
JOINTS = ("shoulder", "elbow", "wrist")


@pytest.fixture(scope="module")
def table():
    result = analyse_recording(
        read_c3d(ROOT / "data" / "demo" / "S01_sagittal_spring.c3d"),
        Limb("arm", side="right", body_mass_kg=72.0, load="spring"),
        load_settings(ROOT / "config" / "config.yaml"),
    )
    return result.torque_table


def lines(axes):
    return {line.get_label(): line.get_ydata() for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_the_lines_are_the_tables_columns_and_add_up(table):
    figure = torque_figure(table, title="x", model=ARM, flexion_sign=[1.0, 1.0, 1.0])
    frame = table.to_pandas()
    for axes, joint in zip(figure.axes, JOINTS, strict=True):
        drawn = lines(axes)
        net = drawn.pop("net")
        np.testing.assert_array_equal(net, frame[f"{joint}_torque_nm"])
        assert set(drawn) <= set(TERM_NAMES.values())
        np.testing.assert_allclose(sum(drawn.values()), net, atol=1e-9)
        np.testing.assert_array_equal(drawn["external"], frame[f"{joint}_torque_external_nm"])


@pytest.mark.parametrize(
    ("sign", "says"), [(1.0, f"+ flexion   {MINUS} extension"), (-1.0, f"+ extension   {MINUS} flexion")]
)
def test_the_sense_of_a_positive_torque_is_written_on_the_axes(table, sign, says):
    figure = torque_figure(table, title="x", model=ARM, flexion_sign=[sign] * 3)
    assert all(axes.get_title(loc="right") == says for axes in figure.axes)


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_the_same_figure_gives_the_same_bytes(table, tmp_path, suffix):
    for name in "ab":
        save_figure(
            torque_figure(table, title="x", model=ARM, flexion_sign=[1.0, 1.0, 1.0]), tmp_path / f"{name}.{suffix}"
        )
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_a_failed_trial_gets_a_figure_that_says_why(tmp_path):
    figure = failure_figure("reach", "marker 'RWRI' is missing")
    save_figure(figure, tmp_path / "x.png")
    assert "marker 'RWRI' is missing" in figure.axes[0].texts[0].get_text()
