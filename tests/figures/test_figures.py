"""Figures against the numbers they show."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from still_chains import N_FRAMES, motion_of

from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.figures.style import MINUS, note_figure, save_figure
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.figures.trial_figures import LIMITS_NAME, torque_figure
from limbtorque.motion.chain_motion import find_flexion
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.settings import load_settings
from limbtorque.torques.joint_torques import joint_torques, torque_table

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


def seated_leg():
    """Torque table of a right leg at rest, thigh and shank level, pointing forward: gravity would drop the shank.

    The knee muscles extend against it by m g d = 4 kg times 9.81 m/s2 times 0.2 m, and the hip muscles flex.
    """
    chain, angle = Chain([0.4, 0.4], [8.0, 4.0], [0.2, 0.2], [0.1, 0.05]), np.zeros((N_FRAMES, 2))
    motion = motion_of(
        chain, Kinematics(angle, 0.0 * angle, 0.0 * angle), joints=("hip", "knee"), segments=("thigh", "shank")
    )
    return motion, joint_torques(motion)


def test_a_torque_that_flexes_is_drawn_upwards():
    """Knee -4 g 0.2 (extension); hip 8 g 0.2 + 4 g 0.6 (flexion); the tables have both counter-clockwise positive."""
    motion, torques = seated_leg()
    table = torque_table(motion, torques)
    for end, off in (("low", -1.0), ("high", 3.0)):
        limits = table.column("knee_torque_nm").to_numpy() + off
        table = table.append_column(f"knee_torque_{end}_nm", pa.array(limits))
    flexion, _ = find_flexion(LEG, motion.plane, "right", {})
    model = LEG.model_copy(update={"joints": LEG.joints[:2]})
    figure = torque_figure(table, title="x", model=model, flexion_sign=flexion.sign)
    hip, knee = figure.axes
    extension_nm, flexion_nm = 4.0 * 9.81 * 0.2, 9.81 * (8.0 * 0.2 + 4.0 * 0.6)
    np.testing.assert_allclose(table.column("knee_torque_nm").to_numpy(), extension_nm)
    np.testing.assert_allclose(lines(knee)["net"], -extension_nm)
    np.testing.assert_allclose(lines(hip)["net"], flexion_nm)
    limits = [line.get_ydata()[0] for line in knee.get_lines() if line.get_linestyle() == "--"]
    np.testing.assert_allclose(sorted(limits), [-extension_nm - 3.0, -extension_nm + 1.0])
    assert [axes.get_title(loc="right") for axes in (hip, knee)] == [f"+ flexion   {MINUS} extension"] * 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_terms_have_the_sign_of_their_sum(table, sign):
    figure = torque_figure(table, title="x", model=ARM, flexion_sign=[sign] * 3)
    for axes, joint in zip(figure.axes, JOINTS, strict=True):
        drawn = lines(axes)
        net = drawn.pop("net")
        assert len(drawn.pop(LIMITS_NAME)) == len(net)
        np.testing.assert_array_equal(net, sign * table.column(f"{joint}_torque_nm").to_numpy())
        assert set(drawn) <= set(TERM_NAMES.values())
        np.testing.assert_allclose(sum(drawn.values()), net, atol=1e-9)
        external = table.column(f"{joint}_torque_external_nm").to_numpy()
        np.testing.assert_array_equal(drawn["external"], sign * external)
        assert axes.get_title(loc="right") == f"+ flexion   {MINUS} extension"


def test_a_failed_trial_gets_a_figure_that_says_why(tmp_path):
    figure = note_figure("reach: marker 'RWRI' is missing, and $1")
    save_figure(figure, tmp_path / "x.png")
    assert "marker 'RWRI' is missing" in figure.texts[0].get_text()


def test_the_lines_are_the_tables_columns_and_add_up(table):
    figure = torque_figure(table, title="x", model=ARM, flexion_sign=[1.0, 1.0, 1.0])
    frame = table.to_pandas()
    for axes, joint in zip(figure.axes, JOINTS, strict=True):
        drawn = lines(axes)
        net = drawn.pop("net")
        assert len(drawn.pop(LIMITS_NAME)) == len(net)
        np.testing.assert_array_equal(net, frame[f"{joint}_torque_nm"])
        assert set(drawn) <= set(TERM_NAMES.values())
        np.testing.assert_allclose(sum(drawn.values()), net, atol=1e-9)
        np.testing.assert_array_equal(drawn["external"], frame[f"{joint}_torque_external_nm"])
