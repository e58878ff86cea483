"""Our torques beside Plug-in Gait's on the straight walks of the cohort: a standing test against another program."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.reading import limb_of
from limbtorque.cli.init.init import init_study
from limbtorque.motion.table import beside, file_outputs, kinematics_table
from limbtorque.recordings.read import read_recording
from limbtorque.study.study import load_study
from limbtorque.tables.files import column_values

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.workflow, pytest.mark.slow]

# Least correlation and largest rms difference, N m/kg, by joint. The program sees the same joint centres and plates, so that the
# differences that remain are known: forces smoothed like markers, and axes up to 23 deg from the plane's normal
# (docs/plug_in_gait.md). At the ankle, whose torque in stance is that of the load alone, 6 mm of a plate's position make the
# rms of the limit; upwards the inertia, the smoothed force and the frontal moment add to it. A side, sign or unit that is
# wrong is far beyond every limit.
LIMITS = {"hip": (0.90, 0.15), "knee": (0.95, 0.10), "ankle": (0.99, 0.06)}


@pytest.fixture(scope="module")
def made(recordings, tmp_path_factory):
    """Rows of the straight walks and the page with its tables, as the one command of the page makes them."""
    folder = tmp_path_factory.mktemp("walks")
    for path in (recordings / "cohort").glob("*/Straight"):
        shutil.copytree(path, folder / "cohort" / path.parent.name / "Straight")
    page = shutil.copy(ROOT / "docs" / "plug_in_gait.md", folder)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        import plug_in_gait

        compared = plug_in_gait.compared
        patch.setattr(plug_in_gait, "PAGE", Path(page))

        def compared_once(*args, **more):
            """The first run's rows stand in for those of the other cut-off, which no test reads."""
            if not found:
                found.append(compared(*args, **more))
            return found[0]

        patch.setattr(plug_in_gait, "compared", compared_once)
        patch.setattr(sys, "argv", ["plug_in_gait.py", str(folder / "cohort"), "--write"])
        plug_in_gait.main()
    return found[0], Path(page).read_text(encoding="utf-8")


def test_the_command_of_the_page_writes_its_tables(made):
    rows, text = made
    torques = [row for row in rows if row["quantity"] == "torque"]
    for row in torques:
        about = f"| {row['trial'].partition('_')[0]}, {row['side']} | {row['joint']} |"
        assert f"{about} {float(row['r']):.3f} | {float(row['rms']):.3f} |" in text
    table, _, _ = text.partition("<!-- end of table 1 -->")
    assert table.count(", right |") == table.count(", left |") == 9
    assert {(row["condition"], int(row["n_frames"]) > 50) for row in torques} == {("straight", True)}
    assert len({(row["trial"], row["joint"]) for row in torques}) == 6 * 3
    told = {
        (row["quantity"], re.sub(".(Hip|Knee|Ankle)", "", row["file_label"]), row["file_unit"], row["file_per_kg"])
        for row in rows
    }
    assert told == {("angle", "Angles", "deg", "0"), ("torque", "Moment", "Nmm", "1"), ("power", "Power", "W", "1")}
    signs = {(row["quantity"], row["file_sign"]) for row in rows if row["quantity"] != "power"}
    assert signs == {("torque", "-1"), ("angle", "1")}


def test_torques_agree_with_those_of_plug_in_gait(made):
    for row in made[0]:
        if row["quantity"] == "torque":
            least, largest = LIMITS[row["joint"]]
            assert float(row["r"]) >= least, row
            assert float(row["rms"]) <= largest, row


def test_knee_angles_are_the_same_numbers(recordings, tmp_path):
    """Both are the angle between the same two lines, where no chain is fitted, seen along axes that are up to 23 deg apart."""
    init_study(tmp_path, recordings / "cohort", chains=("leg",))
    study = load_study(tmp_path, overrides={"motion.angles": "segments"})
    walks = [trial for trial in study.trials if trial.condition == "straight"]
    for trial in walks:
        recording, limb = read_recording(trial.file), limb_of(trial)
        motion = chain_motion(recording, limb, trial.settings)
        added, *_ = file_outputs(recording, motion, limb)
        table = beside(kinematics_table(motion), added)
        inside = ~motion.edge
        apart = column_values(table, "knee_angle_rad") - column_values(table, "knee_file_angle_rad")
        assert np.degrees(np.sqrt(np.nanmean(apart[inside] ** 2))) <= 1.0, trial.name
    assert len(walks) == 6
