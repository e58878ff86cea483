"""Figures that are used again show their own trial only, and have the bytes of new ones."""

import itertools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from limbtorque.analysis.trial import analyse_recording
from limbtorque.figures.muscle_figures import muscle_figure
from limbtorque.figures.palette import EDGE, TERM_COLOURS, UNKNOWN
from limbtorque.figures.panels import reused_figures
from limbtorque.figures.pictures import figure_palette
from limbtorque.figures.style import save_figure
from limbtorque.figures.trial_figures import kinematics_figure, power_figure, torque_figure
from limbtorque.motion.limb import Limb
from limbtorque.quality.checks import CHECKS, CUTOFF_CHECKS
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.chains import ARM
from limbtorque.study.settings import load_settings
from limbtorque.tables.files import read_table, write_table
from limbtorque.workflow.layout import drawn_kinds

ROOT = Path(__file__).resolve().parents[2]
SIGN = [1.0, -1.0, 1.0]
DRAW = {
    "torques": lambda table, title: torque_figure(table, title=title, model=ARM, flexion_sign=SIGN),
    "power": lambda table, title: power_figure(table, title=title, model=ARM),
    "kinematics": lambda table, title: kinematics_figure(
        table, title=title, model=ARM, flexion_sign=SIGN, flexion_zero_rad=[0.0] * 3
    ),
    "muscles": lambda table, title: muscle_figure(table, title=title, at_most=2 if title == "a" else 3),
    "few muscles": lambda table, title: muscle_figure(table, title=title, at_most=1, width_mm=85.0),
}


def replaced(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.fixture(scope="module")
def trials():
    """Two trials: the second is shorter, with larger numbers, unknown frames, other terms, and a longer title."""
    made = analyse_recording(
        read_c3d(ROOT / "data" / "demo" / "S01_sagittal_spring.c3d"),
        Limb("arm", side="right", body_mass_kg=72.0, load="spring"),
        load_settings(ROOT / "config" / "config.yaml"),
    )
    tables = {"kinematics": made.kinematics_table, "muscles": made.muscle_table}
    first = {kind: tables.get(kind.removeprefix("few "), made.torque_table) for kind in DRAW}
    second = {}
    for kind, table in first.items():
        table = table.slice(0, 2 * len(table) // 3)
        for name in table.column_names:
            values = table.column(name).to_numpy(zero_copy_only=False)
            if values.dtype.kind == "f" and name != "time_s":
                values = np.where(np.arange(len(values)) // 20 == 5, np.nan, 37.0 * values)
                table = replaced(table, name, 0.0 * values if "_torque_external_" in name else values)
        second[kind] = table
    return {"a": first, "long title " * 20: second}


def saved(kind, trials, title, path):
    save_figure(DRAW[kind](trials[title][kind], title), path, palette=True)
    return path.read_bytes()


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_a_figure_used_again_has_the_bytes_of_a_new_one_in_any_order(trials, tmp_path, form):
    kinds = ["torques", "muscles"] if form == "pdf" else [*DRAW]  # a PDF takes three times as long
    new = {
        (kind, title): saved(kind, trials, title, tmp_path / f"new.{form}")
        for kind, title in itertools.product(kinds, trials)
    }
    first, second = trials
    assert all(new[kind, first] != new[kind, second] for kind in kinds)
    with reused_figures():
        for title, kind in itertools.product((first, second, first), kinds):
            assert saved(kind, trials, title, tmp_path / f"used.{form}") == new[kind, title], (kind, title)


def test_a_new_process_draws_the_same_bytes(trials, tmp_path):
    table = trials["a"]["torques"]
    write_table(table, tmp_path / "table.parquet")
    text = (
        "import sys; from limbtorque.figures.trial_figures import torque_figure\n"
        "from limbtorque.figures.style import save_figure; from limbtorque.study.chains import ARM\n"
        "from limbtorque.tables.files import read_table\n"
        "figure = torque_figure(read_table(sys.argv[1])[0], title='a', model=ARM, flexion_sign=[1.0, -1.0, 1.0])\n"
        "save_figure(figure, sys.argv[2], palette=True)\n"
    )
    path = tmp_path / "other.png"
    subprocess.run([sys.executable, "-c", text, tmp_path / "table.parquet", path], check=True)
    trials = {"a": {"torques": read_table(tmp_path / "table.parquet")[0]}}
    assert path.read_bytes() == saved("torques", trials, "a", tmp_path / "own.png")


def test_only_figures_of_the_context_are_used_again(trials):
    def draw():
        return DRAW["torques"](trials["a"]["torques"], "a")

    assert draw() is not draw()
    with reused_figures():
        assert draw() is draw()
    assert draw() is not draw()


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def test_256_colours_look_like_all(trials, tmp_path):
    """Lines, areas and paper have their own colours; the steps between two colours are nearer than the eye tells apart."""
    for title in trials:
        figure = DRAW["torques"](trials[title]["torques"], title)
        save_figure(figure, tmp_path / "all.png")
        save_figure(figure, tmp_path / "few.png", palette=True)
        full, few = (pixels(tmp_path / f"{name}.png") for name in ("all", "few"))
        assert (few[(full == 255).all(axis=2)] == 255).all()
        difference = np.abs(full - few).max(axis=2)
        assert (difference > 24).mean() < 0.005
        assert np.sqrt((difference**2).mean()) < 2.5
    palette = np.array(figure_palette(figure).getpalette()).reshape(-1, 3).tolist()
    for colour in (*TERM_COLOURS.values(), UNKNOWN, EDGE):
        if colour != TERM_COLOURS["external"]:  # not drawn in the second trial
            assert [int(colour[k : k + 2], 16) for k in (1, 3, 5)] in palette


def trial(*, channels=(), **figures):
    chosen = load_settings(ROOT / "config" / "config.yaml").figures.model_copy(update=figures)
    return SimpleNamespace(settings=SimpleNamespace(figures=chosen, emg=SimpleNamespace(channels=channels)))


@pytest.mark.parametrize("flag", sorted(CUTOFF_CHECKS))
def test_the_figure_of_the_cutoff_is_drawn_where_a_flag_concerns_it(flag):
    assert flag in {check.name for check in CHECKS}
    assert drawn_kinds(trial(), SimpleNamespace(names=(flag,))) == ["torques", "cutoff"]
    for others in ((), ("tilt_deg", "gap_share")):
        assert drawn_kinds(trial(), SimpleNamespace(names=others)) == ["torques"]
        assert drawn_kinds(trial(kinds=("torques", "cutoff")), SimpleNamespace(names=others)) == ["torques", "cutoff"]
    assert drawn_kinds(trial(kinds=("torques",)), SimpleNamespace(names=(flag,))) == ["torques"]


def test_the_figure_of_electromyography_is_drawn_of_trials_with_channels():
    none = SimpleNamespace(names=())
    assert drawn_kinds(trial(channels=("EMG1",)), none) == ["torques", "emg"]
    assert drawn_kinds(trial(channels=("EMG1",), kinds=("torques",)), none) == ["torques"]
