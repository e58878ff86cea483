"""Figures of a trial and of a study, compared with the numbers they show."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from limbtorque.analysis.trial import analyse_recording
from limbtorque.errors import SettingsError
from limbtorque.figures import style
from limbtorque.figures.captions import Captioned, captions
from limbtorque.figures.mean_figures import ensemble_figure, mean_counts, mean_terms_figure
from limbtorque.figures.palette import COLOUR_NAMES, LINE_COLOURS, TERM_COLOURS
from limbtorque.figures.quality_figures import cutoff_figure
from limbtorque.figures.style import ONE_COLUMN_MM, TWO_COLUMNS_MM, save_figure
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.figures.trial_figures import kinematics_figure, limb_figure, power_figure
from limbtorque.motion.limb import Limb
from limbtorque.signals.cutoff import CutoffChoice
from limbtorque.simulation.demo import demo_trials
from limbtorque.study.chains import BUILT_IN
from limbtorque.study.settings import load_settings, make_settings
from limbtorque.tables.files import column_array
from limbtorque.tables.study_columns import ENSEMBLE_COLUMNS, SUMMARY_COLUMNS
from limbtorque.workflow.curve_notes import study_table

SETTINGS = load_settings(Path(__file__).resolve().parents[2] / "config" / "config.yaml")
MODEL = SETTINGS.chain("arm")
JOINTS = [joint.name for joint in MODEL.joints]


@pytest.fixture(scope="module")
def result():
    """A reach of the left arm in the horizontal plane against a spring: flexion is clockwise, and there is a load."""
    demo = next(trial for trial in demo_trials() if trial.name == "S02_horizontal_spring")
    settings = SETTINGS.model_copy(update={"plane": SETTINGS.plane.model_copy(update={"kind": "horizontal"})})
    return analyse_recording(
        demo.recording(noise_m=0.0), Limb("arm", side="left", body_mass_kg=60.0, load="spring"), settings
    )


def line(axes, label):
    (found,) = [line for line in axes.lines if line.get_label() == label]
    return np.asarray(found.get_ydata())


def test_flexion_velocities_and_accelerations_are_drawn_in_degrees_flexion_positive(result):
    motion = result.motion
    figure = kinematics_figure(
        result.kinematics_table,
        title="reach",
        model=MODEL,
        flexion_sign=motion.flexion.sign,
        flexion_zero_rad=motion.flexion.zero_rad,
        width_mm=ONE_COLUMN_MM,
    )
    expected = (
        motion.kinematics.angle_rad - motion.flexion.zero_rad,
        motion.kinematics.velocity_rad_s,
        motion.kinematics.acceleration_rad_s2,
    )
    for axes, values in zip(figure.axes, expected, strict=True):
        for k, joint in enumerate(JOINTS):
            np.testing.assert_allclose(line(axes, joint), np.degrees(motion.flexion.sign[k] * values[:, k]))
    assert figure.get_size_inches()[0] == pytest.approx(85.0 / 25.4)


def test_power_is_that_of_the_table(result):
    figure = power_figure(result.torque_table, title="reach", model=MODEL)
    for axes, joint in zip(figure.axes, JOINTS, strict=True):
        power = column_array(result.torque_table, f"{joint}_power_w")[:, 0]
        assert any(
            len(drawn.get_ydata()) == len(power) and np.allclose(drawn.get_ydata(), power) for drawn in axes.lines
        )


def test_the_limb_is_drawn_where_it_is_with_the_force_on_it(result):
    figure = limb_figure(result.kinematics_table, title="reach", model=MODEL, postures=5)
    axes = figure.axes[0]
    postures = [drawn for drawn in axes.lines if len(drawn.get_xdata()) == len(JOINTS) + 1]
    assert len(postures) == 5
    first, last = result.motion.joint_m[0], result.motion.joint_m[-1]
    np.testing.assert_allclose(postures[0].get_xydata(), first)
    np.testing.assert_allclose(postures[-1].get_xydata(), last)
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == 5
    largest = np.hypot(*result.motion.load.force_n.T).max()
    scale_n, drawn_n = re.fullmatch(
        r"external force: 1 m = (\S+) N, up to (\S+) N", axes.get_title(loc="right")
    ).groups()
    assert 0.0 < float(drawn_n) <= 1.005 * largest  # three digits
    chosen = [int(np.argmin(np.abs(result.motion.joint_m[:, 0] - one.get_xydata()[0]).sum(axis=1))) for one in postures]
    force_n = result.motion.load.force_n[[chosen[0], chosen[-1]]]
    for arrow, newtons in zip((arrows[0], arrows[-1]), force_n, strict=True):
        np.testing.assert_allclose(np.subtract(arrow.xyann, arrow.xy), -newtons / float(scale_n), atol=1e-6)


def walked(travel_m, force_n):
    """Kinematics table of a leg of 1 m that swings and travels over a plate with one force."""
    time_s = np.linspace(0.0, 1.0, 50)
    hip = np.stack([travel_m * time_s, np.full(50, 1.0)], axis=1)
    angle = 0.3 * np.sin(6.0 * time_s)
    along = np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    points = {"hip": hip, "knee": hip + 0.5 * along, "ankle": hip + 0.9 * along, "endpoint": hip + along}
    columns = {f"{name}_position_{axis}_m": at[:, k] for name, at in points.items() for k, axis in enumerate("xy")}
    force = {"external_force_x_n": np.zeros(50), "external_force_y_n": np.full(50, force_n)}
    at = {"external_point_x_m": points["endpoint"][:, 0], "external_point_y_m": np.zeros(50)}
    return pa.table({"time_s": time_s, "foreshortened": np.zeros(50, dtype=int), **columns, **force, **at})


@pytest.mark.parametrize(
    ("travel_m", "force_n", "scale_n", "width_mm"), [(3.0, 800.0, 2000.0, 180.0), (0.0, 250.0, 500.0, 85.0)]
)
def test_the_limb_fills_its_figure_at_equal_scales(travel_m, force_n, scale_n, width_mm):
    table = walked(travel_m, force_n)
    figure = limb_figure(table, title="walk", model=BUILT_IN["leg"])
    axes = figure.axes[0]
    assert figure.get_size_inches()[0] == pytest.approx(width_mm / 25.4)
    assert axes.get_title(loc="right") == f"external force: 1 m = {scale_n:g} N, up to {force_n:g} N"
    figure.canvas.draw()
    box = axes.get_position()
    wide, high = box.width * figure.get_figwidth(), box.height * figure.get_figheight()
    (left, right), (below, above) = axes.get_xlim(), axes.get_ylim()
    assert (right - left) / wide == pytest.approx((above - below) / high, rel=1e-6)
    points = np.concatenate(
        [column_array(table, f"{p}_position_x_m", f"{p}_position_y_m") for p in ("hip", "knee", "ankle", "endpoint")]
    )
    low, top = min(points[:, 1].min(), 0.0), max(points[:, 1].max(), force_n / scale_n)
    assert below < low
    assert top < above
    assert left < points[:, 0].min()
    assert points[:, 0].max() < right
    assert (top - low) / (above - below) > 0.75  # margins of 5 % of the longer side


def ensembles():
    """Two conditions; the net torque of the elbow peaks at 40 % and at 70 %, with terms that add up to it."""
    rows = []
    percent = np.arange(0, 101, 10)
    for condition, peak in (("slow", 40), ("fast", 70)):
        shape = np.exp(-(((percent - peak) / 20.0) ** 2))
        terms = {
            "elbow_torque_gravity_nm": 2.0 * shape,
            "elbow_torque_inertial_elbow_nm": -0.5 * shape,
            "elbow_torque_centripetal_elbow_nm": 0.0 * shape,
            "elbow_torque_base_nm": 0.25 * shape,
            "elbow_torque_external_nm": 0.0 * shape,
        }
        curves = {
            **terms,
            "elbow_torque_nm": sum(terms.values()),
            "elbow_flexion_deg": 10.0 * shape,
            "elbow_power_w": shape,
        }
        unknown = (np.nan, np.nan, np.nan)  # interval of the mean, and spread within subjects
        for quantity, values in curves.items():
            error = 0.05 if quantity == "elbow_torque_nm" else np.nan
            unit = "deg" if "deg" in quantity else "W" if "power" in quantity else "N m"
            for at, value in zip(percent, values, strict=True):
                rows.append(
                    ("arm", condition, "right", quantity, unit, at, "subjects", value, 0.1, error, 2, 3, 0, *unknown)
                )
    return pd.DataFrame(rows, columns=[column.name for column in ENSEMBLE_COLUMNS])


def test_mean_curves_are_those_of_the_table():
    table = ensembles()
    figure = ensemble_figure(table, joints=["elbow"], title="study")
    torque = figure.axes[1]
    assert torque.get_ylabel() == "net torque (N m)"
    rows = table[(table["quantity"] == "elbow_torque_nm") & (table["condition"] == "fast")]
    np.testing.assert_array_equal(line(torque, "fast, right (2 subjects, 3 trials)"), rows["mean"])


def test_limits_of_a_mean_by_errors_of_the_inputs_are_dotted():
    """1.96 times 0.05 N m to each side of the net torque; the spread between subjects is the band."""
    figure = ensemble_figure(ensembles(), joints=["elbow"], title="study")
    dotted = [each for each in figure.axes[1].lines if each.get_linestyle() == ":"]
    rows = ensembles().query("quantity == 'elbow_torque_nm' and condition == 'slow'")
    for each, sign in zip(dotted[:2], (-1.0, 1.0), strict=True):
        np.testing.assert_allclose(each.get_ydata(), rows["mean"] + sign * 1.96 * 0.05, atol=1e-5)
    assert all(np.isnan(each.get_ydata()).all() for each in figure.axes[0].lines if each.get_linestyle() == ":")


def test_mean_terms_add_up_to_the_mean_net_torque():
    figure = mean_terms_figure(ensembles(), joints=["elbow"], title="study")
    slow, fast = figure.axes
    torques = ensembles().query("quantity == 'elbow_torque_nm'")
    for axes, condition in ((slow, "slow"), (fast, "fast")):
        rows = torques[torques["condition"] == condition]
        np.testing.assert_array_equal(line(axes, "net"), rows["mean"])
        terms = {each.get_label() for each in axes.lines} & set(TERM_NAMES.values())
        assert {"gravity", "inertial"} <= terms
        np.testing.assert_allclose(sum(line(axes, name) for name in terms), rows["mean"])
    assert slow.get_ylim() == fast.get_ylim()  # conditions compare
    assert [axes.texts[0].get_text() for axes in figure.axes] == [
        "slow, right (2 subjects, 3 trials)",
        "fast, right (2 subjects, 3 trials)",
    ]
    assert TERM_NAMES["gravity"] in {text.get_text() for text in figure.legends[0].get_texts()}


def test_mean_terms_are_those_of_both_sides_where_there_are_both():
    both = ensembles().query("condition == 'slow'").assign(side="both")
    left = both.assign(side="left")
    names = [
        each.texts[0].get_text()
        for each in mean_terms_figure(pd.concat([ensembles(), left, both]), joints=["elbow"], title="study").axes
    ]
    assert [name.split(" (")[0] for name in names] == ["fast, right", "slow, sides averaged"]


def test_mean_terms_are_thin_where_fewer_trials_have_a_torque():
    table = ensembles()
    late = table["quantity"].str.contains("torque") & (table["condition"] == "fast") & (table["percent"] >= 80)
    table.loc[late, "n_trials"] = 1
    fast = mean_terms_figure(table, joints=["elbow"], title="study").axes[1]
    assert np.flatnonzero(np.isnan(line(fast, "net"))).tolist() == [8, 9, 10]
    thin = [each for each in fast.lines if each.get_label() == "_fewer"]
    assert {each.get_linewidth() for each in thin} == {0.5}
    assert {tuple(np.flatnonzero(~np.isnan(each.get_ydata()))) for each in thin} == {(7, 8, 9, 10)}


@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_the_same_figure_has_the_same_bytes(tmp_path, form):
    for name in ("a", "b"):
        save_figure(mean_terms_figure(ensembles(), joints=["elbow"], title="study"), tmp_path / f"{name}.{form}")
    assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


def all_kinds():
    kinds = type(SETTINGS.figures).model_fields["kinds"].annotation.__args__[0].__args__
    return [kind for kind in kinds if kind != "flagged_cutoff"]


def captioned(**more):
    return captions(
        Captioned(
            **{
                "joints": {"arm": ["elbow"]},
                "terms": {"arm": list(TERM_NAMES)},
                "kinds": all_kinds(),
                "min_units": 2,
                "curves": ensembles(),
                "percent": {"arm": "the movement"},
                **more,
            }
        )
    )


def test_captions_name_every_figure_that_is_drawn_and_no_other():
    text = captioned()
    assert all(f"**{kind}**" in text for kind in all_kinds())
    assert re.findall(r"\*\*(.+?)\*\*", captioned(kinds=["power", "contrasts"])) == ["power", "contrasts"]
    assert "**ensembles**" not in captioned(curves=None)


def uneven():
    """The ensembles above, of which the fast ones have 5 trials, but 3 of them only from 80 %, and the slow ones none at 0 %."""
    table = ensembles()
    fast = (table["condition"] == "fast") & (table["quantity"] != "elbow_flexion_deg")
    table.loc[table["condition"] == "fast", "n_trials"] = 5
    table.loc[fast & (table["percent"] >= 80), "n_trials"] = 3
    table.loc[(table["condition"] == "slow") & (table["percent"] == 0), ["n_trials", "mean", "sd"]] = 0, np.nan, np.nan
    return table


def test_means_of_too_few_subjects_are_neither_drawn_nor_captioned_as_means():
    """Slow: one subject everywhere. Fast: one subject from 80 %."""
    table = ensembles()
    few = (table["condition"] == "slow") | (table["percent"] >= 80)
    table.loc[few, ["n_subjects", "mean", "sd"]] = 1, np.nan, np.nan
    torque = ensemble_figure(table, joints=["elbow"], title="study").axes[1]
    labels = [drawn.get_label() for drawn in torque.lines if not drawn.get_label().startswith("_")]
    assert labels == ["fast, right (2 subjects, 3 trials)"]
    (drawn,) = [line for line in torque.lines if line.get_label() == labels[0]]
    assert np.flatnonzero(np.isnan(drawn.get_ydata())).tolist() == [8, 9, 10]
    text = captioned(curves=table, min_units=2)
    assert (
        "No mean where fewer than 2 subjects have a value (ensembles.min_units); no mean at all: slow, right." in text
    )
    table["mean"] = np.nan
    none = captioned(curves=table, min_units=2)
    assert "(arm) Not drawn. No mean where fewer than 2 subjects have a value" in none
    assert "slow, right; fast, right. results/ensembles.csv has the numbers." in none


def test_parts_of_a_mean_of_fewer_trials_are_thin_and_both_parts_are_the_table():
    table = uneven()
    counts = mean_counts(table, ["elbow_torque_nm"])
    numbers = {pair: (of.fewest, of.most) for pair, of in counts.items()}
    assert numbers == {("slow", "right"): (3, 3), ("fast", "right"): (3, 5)}
    torque = ensemble_figure(table, joints=["elbow"], title="study").axes[1]
    rows = table[(table["quantity"] == "elbow_torque_nm") & (table["condition"] == "fast")]
    mean, whole = rows["mean"].to_numpy(), rows["n_trials"].to_numpy() == 5
    np.testing.assert_array_equal(
        line(torque, "fast, right (2 subjects, 3 to 5 trials; thin: fewer than 5 trials)"),
        np.where(whole, mean, np.nan),
    )
    thin = [drawn for drawn in torque.lines if drawn.get_label() == "_fewer" and not np.isnan(drawn.get_ydata()).all()]
    fewer = np.asarray(thin[-1].get_ydata())
    assert {drawn.get_linewidth() for drawn in thin} == {0.5}
    np.testing.assert_array_equal(fewer[~whole], mean[~whole])
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(fewer)), [7, 8, 9, 10])  # 70 % joins the two
    np.testing.assert_array_equal(
        line(torque, "slow, right (2 subjects, 3 trials)")[1:],
        table[(table["quantity"] == "elbow_torque_nm") & (table["condition"] == "slow")]["mean"][1:],
    )


@pytest.mark.parametrize("width_mm", [ONE_COLUMN_MM, TWO_COLUMNS_MM])
def test_every_figure_has_the_width_that_is_asked_for(width_mm):
    choice = CutoffChoice(2.0, "gcv", *(np.geomspace(1.0, 8.0, 4),) * 3, (np.nan, np.nan), 1e-3, 0.0, False)
    page = {"title": "x", "width_mm": width_mm}
    made = [
        cutoff_figure([choice], unit="m", **page),
        cutoff_figure([choice] * 3, names="abc", unit="m", **page),
        mean_terms_figure(ensembles(), joints=["elbow"], **page),
        ensemble_figure(ensembles(), joints=["elbow"], **page),
    ]
    for figure in made:
        assert figure.get_size_inches()[0] == pytest.approx(width_mm / 25.4)


def test_one_column_has_at_most_six_panels_and_names_what_is_left_out():
    """Residual and criterion of four signals are eight panels; flexion, torque and power of three joints are nine."""
    choice = CutoffChoice(2.0, "gcv", *(np.geomspace(1.0, 8.0, 4),) * 3, (np.nan, np.nan), 1e-3, 0.0, False)
    page = {"names": "abcd", "title": "x", "unit": "m", "width_mm": ONE_COLUMN_MM}
    figure = cutoff_figure([choice] * 4, **page)
    assert (len(figure.axes), figure.get_suptitle()) == (6, "x (not drawn: d)")
    chosen = cutoff_figure([choice] * 4, **page, only=["d", "b", "e"]).axes
    assert [axes.get_title(loc="left") for axes in chosen] == ["d 2.0 Hz", "", "b 2.0 Hz", ""]
    joints = ["hip", "knee", "elbow"]
    table = pd.concat([ensembles().assign(quantity=lambda t, j=j: t.quantity.str.replace("elbow", j)) for j in joints])
    means = ensemble_figure(table, joints=joints, rows=("flexion", "torque"), title="x", width_mm=ONE_COLUMN_MM)
    assert [axes.get_title(loc="left") for axes in means.axes] == ["hip", "", "knee", "", "elbow", ""]
    assert [axes.get_ylabel() for axes in means.axes] == ["flexion (deg)", "net torque (N m)"] * 3
    with pytest.raises(SettingsError, match=r"figures.joints names kneee, .* 'knee'"):
        make_settings({"figures": {"joints": "kneee"}})


def text_boxes(figure, texts):
    FigureCanvasAgg(figure).draw()
    return [text.get_window_extent() for text in texts if text.get_text()]


@pytest.mark.parametrize("width_mm", [ONE_COLUMN_MM, TWO_COLUMNS_MM])
def test_long_names_overprint_neither_each_other_nor_the_edge(width_mm):
    table = pd.concat(
        [ensembles().assign(condition=ensembles()["condition"] + f" condition with a long name {k}") for k in range(3)]
    )
    terms = mean_terms_figure(table, joints=["elbow"], title="study", width_mm=width_mm)
    means = ensemble_figure(table, joints=["elbow"], title="study", width_mm=width_mm)
    for figure, texts in (
        (terms, [axes.texts[0] for axes in terms.axes]),
        (means, means.legends[0].get_texts()),
    ):
        boxes = text_boxes(figure, texts)
        assert len(boxes) >= 4
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
        assert all(box.x0 >= 0.0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_the_noise_of_the_cut_offs_figure_is_the_ledgers():
    choice = CutoffChoice(2.0, "gcv", *(np.geomspace(1.0, 8.0, 4),) * 3, (np.nan, np.nan), 1e-3, 0.0, False)
    for noise, drawn_mm in ((2.5e-4, 0.25), (None, 1.0)):
        axes = cutoff_figure([choice], title="x", unit="m", noise=noise).axes[0]
        np.testing.assert_allclose(line(axes, "noise"), drawn_mm)


def test_figures_and_pages_have_one_list_of_colours_and_all_have_names():
    assert {*TERM_COLOURS.values(), *LINE_COLOURS} == set(COLOUR_NAMES)
    assert len(set(COLOUR_NAMES.values())) == len(COLOUR_NAMES) == len(TERM_COLOURS) + len(LINE_COLOURS)
    source = Path(style.__file__).parent
    for path in (*source.glob("*figures.py"), source.parent / "report" / "index.py"):
        assert not set(re.findall(r"#[0-9A-F]{6}", path.read_text("utf-8"))) & set(COLOUR_NAMES)


def test_chains_and_trials_called_na_keep_their_names(tmp_path):
    path = tmp_path / "summary.csv"
    path.write_text("trial,chain,term,rms_nm,peak_nm\nNA,NA,gravity,0.5,\nnull,nan,base,,1.0\n", encoding="utf-8")
    found = study_table(path, SUMMARY_COLUMNS)
    assert found["trial"].tolist() == ["NA", "null"]
    assert found["chain"].tolist() == ["NA", "nan"]
    assert found["rms_nm"].isna().tolist() == [False, True]


@pytest.mark.parametrize("width_mm", [ONE_COLUMN_MM, TWO_COLUMNS_MM])
@pytest.mark.parametrize("name", ["$1^2^3$", r"$\bad$ and a name that is longer than a column of a page is wide, " * 3])
def test_names_of_conditions_are_text_and_stay_inside_the_figure(name, width_mm):
    table = ensembles().replace({"condition": {"slow": name}})
    table.loc[table.index[::7], "n_trials"] = 2
    figure = ensemble_figure(table, joints=["elbow"], title=name, width_mm=width_mm)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent(canvas.get_renderer())
    assert box.x0 >= 0.0
    assert box.x1 <= figure.bbox.x1
    assert name.split()[0] in legend.get_texts()[0].get_text()
    FigureCanvasAgg(mean_terms_figure(table, joints=["elbow"], title=name, width_mm=width_mm)).draw()
