"""Figures of muscle forces against the numbers they show, and what the page on muscles says against the program."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import PolyCollection

from limbtorque.analysis.trial import analyse_recording
from limbtorque.figures.muscle_figures import muscle_figure
from limbtorque.motion.limb import Limb
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import load_muscle_set, muscle_set_from_mapping
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.files import parse_yaml
from limbtorque.study.settings import load_settings, override

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "muscles.md").read_text(encoding="utf-8")


def analyse(**changes):
    settings = load_settings(ROOT / "config" / "config.yaml")
    return analyse_recording(
        read_c3d(ROOT / "data" / "demo" / "S01_sagittal_fast.c3d"),
        Limb("arm", side="right", body_mass_kg=72.0),
        override(settings, {f"muscles.{name}": value for name, value in changes.items()}, source="test"),
    ).muscle_table


@pytest.fixture(scope="module")
def table():
    return analyse()


@pytest.fixture(scope="module")
def cubes():
    return analyse(exponent="3")


def lines(axes):
    return {line.get_label(): line.get_ydata() for line in axes.get_lines() if not line.get_label().startswith("_")}


def panels(figure):
    """Panels with a title, each with the one below it."""
    titled = [number for number, axes in enumerate(figure.axes) if axes.get_title(loc="left")]
    return {figure.axes[i].get_title(loc="left"): (figure.axes[i], figure.axes[i + 2]) for i in titled}


def replaced(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def area(axes, label):
    """Lower and upper edge of an area between two curves, as far as they differ."""
    (found,) = [c for c in axes.collections if isinstance(c, PolyCollection) and c.get_label().startswith(label)]
    return np.concatenate([path.vertices for path in found.get_paths()])


def test_lines_and_areas_are_the_tables_columns(table, cubes):
    figure = muscle_figure(table, title="x", label="p = 2", others={"p = 3": cubes}, at_most=4)
    shown = panels(figure)
    assert len(shown) == 4
    for muscle, pair in shown.items():
        least, greatest = (table.column(f"{muscle}_{end}_force_n").to_numpy() for end in ("min", "max"))
        for axes in pair:
            drawn = lines(axes)
            np.testing.assert_array_equal(drawn["p = 2"], table.column(f"{muscle}_force_n"))
            np.testing.assert_array_equal(drawn["p = 3"], cubes.column(f"{muscle}_force_n"))
            time_s = table.column("time_s").to_numpy()
            for label, low, high in (("possible", least, greatest), ("needed", np.zeros_like(least), least)):
                corners = {(x, y) for x, y in area(axes, label).tolist()}
                assert corners >= set(zip(time_s.tolist(), low.tolist(), strict=True))
                assert corners >= set(zip(time_s.tolist(), high.tolist(), strict=True))


def test_the_upper_panel_reaches_to_the_strength_and_the_lower_one_to_the_lines(table, cubes):
    strength = {muscle.name: muscle.max_isometric_force_n for muscle in load_muscle_set("arm").muscles}
    for muscle, (whole, close) in panels(muscle_figure(table, title="x", others={"p = 3": cubes})).items():
        assert whole.get_ylim() == (0.0, pytest.approx(strength[muscle]))
        largest = max(values.max() for values in lines(close).values())
        assert largest < close.get_ylim()[1] < 1.2 * largest


def test_muscles_are_chosen_by_their_largest_force_and_the_rest_is_counted(table):
    names = [name.removesuffix("_activation") for name in table.column_names if name.endswith("_activation")]
    inner = table.column("edge").to_numpy() == 0
    peaks = {name: table.column(f"{name}_force_n").to_numpy()[inner].max() for name in names}
    order = sorted((name for name in names if peaks[name] > 1e-3), key=peaks.get, reverse=True)
    assert 3 < len(order) < len(names) == 19
    figure = muscle_figure(table, title="A reach", at_most=3)
    assert list(panels(figure)) == order[:3]
    says = figure.get_suptitle()
    assert says.startswith("A reach\nNot drawn: ")
    assert f"{len(order) - 3} muscle" in says
    assert f"{19 - len(order)} muscle" in says
    assert f"{peaks[order[3]]:.3g} N" in says


def test_muscles_can_be_named_and_chosen(table):
    figure = muscle_figure(table, title="A reach", muscles=["TRIlat", "BRA", "BIClong"], names={"BRA": "brachialis"})
    assert list(panels(figure)) == ["TRIlat", "brachialis", "BIClong"]
    assert figure.get_suptitle() == "A reach"


def test_a_table_without_ranges_has_one_panel_a_muscle():
    figure = muscle_figure(analyse(ranges="false"), title="x", at_most=2)
    assert len([axes for axes in figure.axes if axes.axison]) == 2
    assert not [c for axes in figure.axes for c in axes.collections if "criterion" in str(c.get_label())]


def test_frames_that_are_not_as_they_should_be_are_marked(table):
    status = np.zeros(table.num_rows, dtype=np.int64)
    status[100:120] = 1
    marked = replaced(table, "moment_arm_status", status)
    muscle = next(iter(panels(muscle_figure(table, title="x"))))
    unknown = marked.column(f"{muscle}_force_n").to_numpy().copy()
    unknown[30:40] = np.nan
    figure = muscle_figure(replaced(marked, f"{muscle}_force_n", unknown), title="x", muscles=[muscle])
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"outside the range of a moment arm", "torque not known", "affected by filter edge effects"} <= set(texts)
    assert "beyond what the muscles can do" not in texts
    step = np.diff(table.column("time_s").to_numpy()[:2])[0]
    (bar,) = [p for p in figure.axes[2].patches if p.get_label() == "outside the range of a moment arm"]
    assert bar.get_width() == pytest.approx(20 * step)


def test_nothing_to_draw_is_no_error(table):
    for name in [name for name in table.column_names if name.endswith("_force_n")]:
        table = replaced(table, name, np.full(table.num_rows, np.nan))
    assert panels(muscle_figure(table, title="x")) == {}
    assert list(panels(muscle_figure(table, title="x", muscles=["BRA"]))) == ["BRA"]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_check_of_the_page_holds():
    (block,) = blocks("python")
    names = {}
    exec(block, names)
    shared = names["found"]
    assert shared.status.tolist() == [0, 1]
    assert np.abs(names["left_over"]).max() < 1e-10
    assert names["bound"][0] == pytest.approx(shared.cost[0], rel=1e-9)
    asked = (names["c"] * names["torque"]).sum(axis=1)
    assert asked[1] - names["most"][1] == pytest.approx(shared.shortfall_nm[1])
    assert shared.shortfall_nm[1] > 1.0


def test_the_set_of_the_page_loads_and_shares():
    (block,) = blocks("yaml")
    muscles = muscle_set_from_mapping(parse_yaml(block))
    assert muscles.names == ("flexors", "extensors", "brachioradialis")
    found = musculotendon(muscles, np.radians([[0.0], [45.0], [90.0], [135.0]]))
    assert not found.out_of_range.any()
    assert (np.sign(found.moment_arm_m[:, 0]) == [1.0, -1.0, 1.0]).all()
    np.testing.assert_allclose(found.length_m[:, 2], [0.330, 0.304, 0.262, 0.216], atol=1e-12)
    shared = share_torques(found.moment_arm_m, np.full((4, 1), 20.0), max_force_n=muscles.max_force_n)
    assert (shared.status == 0).all()


@pytest.mark.parametrize("exponent", [2.0, 3.0])
def test_a_muscle_of_weight_3_pulls_like_its_three_parts(exponent):
    """As the page says of weights."""
    arm, torque = np.array([[[0.04, 0.03, -0.03]]]), [[25.0]]
    whole = share_torques(arm, torque, max_force_n=[900.0, 800.0, 700.0], weight=[3.0, 1.0, 1.0], exponent=exponent)
    parts = share_torques(
        arm[..., [0, 0, 0, 1, 2]], torque, max_force_n=[300.0] * 3 + [800.0, 700.0], exponent=exponent
    )
    np.testing.assert_allclose(parts.force_n[0, :3].sum(), whole.force_n[0, 0], rtol=1e-7)
    np.testing.assert_allclose(parts.force_n[0, 3:], whole.force_n[0, 1:], rtol=1e-7, atol=1e-7)
