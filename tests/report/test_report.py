"""The pages against the tables they show; what comes from files stays text; nothing comes from elsewhere."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from limbtorque.analysis.study import check_study
from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.ground.reaction import LOST
from limbtorque.quality.checks import CHECKS, FLAGS
from limbtorque.quality.verdict import Flag, Verdict
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.report.findings import findings
from limbtorque.report.index import ensemble_data, index_page
from limbtorque.report.page import REASONS, json_text
from limbtorque.report.panels import draw_trial, drawn_columns
from limbtorque.report.trial import BESIDE, SUMMARY, TrialContents, trial_page
from limbtorque.study.chains import ARM
from limbtorque.study.study import load_study
from limbtorque.tables.contrast_columns import CONTRAST_COLUMNS
from limbtorque.tables.files import read_table
from limbtorque.tables.trial_record import FileOutput
from limbtorque.workflow import keys, layout
from limbtorque.workflow.curve_notes import curve_notes
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.run_session import TrialTables
from limbtorque.workflow.stages import pages, report
from reports import (
    BAD,
    ENDS,
    TRIALS,
    Elements,
    analyse,
    embedded,
    make_study,
    page,
    page_file,
    table_file,
    write_ensembles,
)
from study_runs import ledger

JOINTS = ("shoulder", "elbow", "wrist")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return analyse(make_study(tmp_path_factory.mktemp("report") / "a study"))


@pytest.fixture(scope="module")
def data(study):
    return embedded(page(study, "spring"), "trial")


def table(study, stage, trial="spring"):
    return read_table(table_file(study, stage, trial))[0].to_pandas()


def decoded(curve):
    steps = np.array([np.nan if step is None else step for step in curve["steps"]])
    return np.where(np.isnan(steps), np.nan, np.nancumsum(steps)) / 10.0 ** curve["decimals"]


# --- numbers -------------------------------------------------------------------------------------------------------------


def test_curves_of_a_page_are_the_columns_of_the_tables(study, data):
    """To half of the last decimal, which is at most 5e-4 of the largest number that is drawn with it."""
    tables = {
        name: values for stage in ("kinematics", "torques", "muscles") for name, values in table(study, stage).items()
    }
    compared = 0
    for name, curve in data["curves"].items():
        if name in tables:
            expected = tables[name].to_numpy()[:: data["step"]]
            np.testing.assert_allclose(decoded(curve), expected, atol=0.501 * 10.0 ** -curve["decimals"], rtol=0)
            compared += 1
    assert compared > 50
    peak = np.abs(decoded(data["curves"]["elbow_torque_nm"])).max()
    assert 0.5 * 10.0 ** -data["curves"]["elbow_torque_nm"]["decimals"] < 5e-4 * peak


def test_angles_are_degrees_and_kinds_are_sums(study, data):
    kinematics, torques = table(study, "kinematics"), table(study, "torques")
    for joint in JOINTS:
        angle = data["curves"][f"{joint}_angle_deg"]
        np.testing.assert_allclose(
            decoded(angle), np.degrees(kinematics[f"{joint}_angle_rad"]), atol=0.6 * 10.0 ** -angle["decimals"]
        )
        inertial = torques[[f"{joint}_torque_inertial_{other}_nm" for other in JOINTS]].sum(axis=1)
        kind = data["curves"][f"{joint}_torque_kind_inertial_nm"]
        np.testing.assert_allclose(decoded(kind), inertial, atol=0.6 * 10.0 ** -kind["decimals"])


def test_the_terms_of_a_panel_add_up_to_the_net_torque(data):
    for panel in data["panels"]:
        if not panel["name"].startswith("torque_"):
            continue
        for grouped in (True, False):
            terms = [line["curve"] for line in panel["lines"] if line.get("grouped") is grouped]
            curves = [data["curves"][name] for name in terms]
            total = sum(map(decoded, curves))
            net = data["curves"][panel["lines"][0]["curve"]]
            rounding = 0.5 * (len(terms) + 1) * 10.0 ** -net["decimals"]
            np.testing.assert_allclose(total, decoded(net), atol=1.01 * rounding)


def test_every_muscle_that_pulls_has_a_line_with_its_range(study, data):
    muscles = table(study, "muscles")
    pulling = {
        c for c in muscles if c.endswith("_force_n") and f"{c[:-8]}_activation" in muscles and muscles[c].max() > 1e-3
    }
    panel = next(panel for panel in data["panels"] if panel["name"] == "muscles")
    assert {line["curve"] for line in panel["lines"]} == pulling
    assert all(line["least"] in data["curves"] and line["greatest"] in data["curves"] for line in panel["lines"])


def test_shaded_frames_are_those_of_the_tables(study, data):
    kinematics = table(study, "kinematics")
    for name in ("edge", "filled"):
        band = data["bands"][name]
        time = kinematics["time_s"].to_numpy()
        inside = np.any([(a < time) & (time < b) for a, b in band["spans"]], axis=0)
        np.testing.assert_array_equal(inside, kinematics[name] == 1)
        assert band["count"] == (kinematics[name] == 1).sum()
    assert "external_unknown" not in data["bands"]


def test_frames_without_a_known_force_are_shaded(study):
    kinematics, kept = read_table(table_file(study, "kinematics", "spring"))
    torques, _ = read_table(table_file(study, "torques", "spring"))
    muscles, _ = read_table(table_file(study, "muscles", "spring"))
    status = kinematics.column("external_status").to_numpy().copy()
    status[10:20] = 2
    changed = kinematics.set_column(kinematics.column_names.index("external_status"), "external_status", [status])
    drawing = draw_trial(changed, torques, muscles, model=ARM, motion=vars(kept.motion))
    assert drawing.bands["external_unknown"]["count"] == 10
    assert drawing.bands["external_unknown"]["spans"] == [[0.095, 0.195]]


@pytest.mark.parametrize("fault", ["spike", "swapped"])
def test_frames_of_a_spike_or_exchange_are_shaded_in_every_panel(study, fault):
    read = [read_table(table_file(study, stage, "spring")) for stage in ("kinematics", "torques", "muscles")]
    (kinematics, kept), (torques, _), (muscles, _) = read
    marked = np.zeros(kinematics.num_rows, dtype=int)
    marked[50] = 1
    changed = kinematics.set_column(kinematics.column_names.index(fault), fault, [marked])
    assert drawn_columns(JOINTS)(fault)
    drawing = draw_trial(changed, torques, muscles, model=ARM, motion=vars(kept.motion))
    assert drawing.bands[fault]["count"] == 1
    assert all(fault in panel.bands for panel in drawing.panels)


def test_long_trials_are_thinned_out_and_say_so(study):
    read = [read_table(table_file(study, stage, "spring")) for stage in ("kinematics", "torques", "muscles")]
    import pyarrow as pa

    longer = [pa.concat_tables([found[0]] * 10) for found in read]
    drawing = draw_trial(*longer, model=ARM, motion=vars(read[0][1].motion))
    assert drawing.n_frames == 3510
    shown = len(drawing.data["curves"]["time_s"]["steps"])
    assert 350 < shown == -(-3510 // drawing.step) <= 600
    assert len(json_text(drawing.data)) < 350_000
    contents = TrialContents(
        "long", "", Verdict((), "ok", "ok"), "", "", {}, tables={"torques.csv": "../long.csv"}, drawing=drawing
    )
    text = Elements(trial_page(contents)).text
    assert f"Every {drawing.step}th frame is drawn, {shown} of 3510; the tables have all of them: torques.csv" in text


# --- what the pages say ----------------------------------------------------------------------------------------------------


def test_status_and_flags_are_those_of_the_ledger(study):
    for trial, row in ledger(study).items():
        text = page(study, trial)
        shown = Elements(text)
        assert f'<span class="badge {row["status"]}">' in text
        names = [name for name in row["reason"].split() if name in FLAGS]
        cards = [
            attributes
            for attributes in shown.all("article")
            if attributes["class"] in ("card caution", "card rejected")
        ]
        raised = [check for check in CHECKS if f"{check.name} is " in row["message"]]
        assert {check.flag for check in raised} == set(names)
        assert len(cards) == row["message"].count(", allowed ")
        for check in CHECKS:
            if check in raised:
                assert check.definition in shown.text
                assert check.source in shown.text
                assert check.advice.replace("`", "") in shown.text


def test_a_failed_trial_says_why_and_what_to_do(study):
    rows = ledger(study)
    for trial, reason in (("window", "signal"), ("not_a_file", "read")):
        text = page(study, trial)
        shown = Elements(text).text
        assert rows[trial]["message"] in shown
        assert REASONS[reason].replace("`", "") in shown
        assert 'id="trial"' not in text
        assert "plotly" not in text
    assert "content of the file and its interpretation" in page(study, "window").lower()


def test_a_trial_without_muscles_has_no_panel_of_them(study):
    panels = {panel["name"] for panel in embedded(page(study, "no_muscles"), "trial")["panels"]}
    assert "muscles" not in panels
    assert {"angles", "torque_elbow", "power", "external"} <= panels


def test_without_a_load_there_is_no_force(study):
    kinematics, kept = read_table(table_file(study, "kinematics", "spring"))
    for name in ("external_force_x_n", "external_force_y_n"):
        kinematics = kinematics.set_column(kinematics.column_names.index(name), name, [np.zeros(kinematics.num_rows)])
    others = [read_table(table_file(study, stage, "spring"))[0] for stage in ("torques", "muscles")]
    drawing = draw_trial(kinematics, *others, model=ARM, motion=vars(kept.motion))
    assert "external" not in {panel.name for panel in drawing.panels}
    assert drawing.data["stick"]["loaded"] is False


def test_the_index_counts_and_explains(study):
    rows, shown = ledger(study).values(), Elements(page(study))
    counts = {
        status: sum(row["status"] == status for row in rows) for status in ("ok", "caution", "rejected", "failed")
    }
    for status, count in counts.items():
        assert re.search(rf"{count} {status} +{100 * count // len(rows)} %", shown.text)
    for name in {name for row in rows for name in row["reason"].split()}:
        checks = [check for check in CHECKS if check.flag == name]
        assert all(check.definition in shown.text and check.advice.replace("`", "") in shown.text for check in checks)
        assert checks or REASONS[name].replace("`", "") in shown.text
    assert {attributes["data-status"] for attributes in shown.all("tr") if "data-status" in attributes} <= set(counts)


def test_all_links_lead_to_files(study):
    for path in [study / layout.REPORT["index"], *(page_file(study, trial) for trial in TRIALS)]:
        shown = Elements(path.read_text(encoding="utf-8"))
        references = [a.get("href") or a.get("src") for tag in ("a", "link", "script", "img") for a in shown.all(tag)]
        local = [name for name in references if name and not name.startswith(("#", "data:"))]
        pictures = [name for name in local if "/figures/" in name]  # the stage figures was not run here
        for name in set(local) - set(pictures):
            assert (path.parent / name).is_file(), name


def test_mean_curves_are_those_of_the_table(study):
    write_ensembles(study)
    try:
        report.run(folder=study)
        data = embedded(page(study), "ensembles_data")
        curve = next(c for c in data["curves"] if c["quantity"] == "elbow_torque_nm" and c["style"] == 1)
        np.testing.assert_allclose(decoded(curve["mean"]), 2 * np.arange(0, 101, 5) / 10)
        np.testing.assert_allclose(decoded(curve["sd"]), 1.5)
        np.testing.assert_allclose(decoded(curve["limit"]), 1.96 * 0.25, atol=1e-3)
        assert next(c for c in data["curves"] if c["quantity"] == "elbow_flexion_deg")["limit"] is None
        assert "Dotted lines: 95 % limits of the mean net torque" in Elements(page(study)).text
        assert (curve["name"], curve["joint"], curve["unit"]) == ("net torque", "elbow", "N m")
        assert curve["number"] == "2 subjects, 4 trials; 1 trial rejected"
        assert data["spread"] == "subjects, each counted once with the mean of its trials"
        assert data["styles"][1]["name"] == f"{BAD}, right"
        assert BAD not in page(study)
    finally:
        (study / "results" / "ensembles.csv").unlink()
        report.run(folder=study)
    assert "ensembles_data" not in page(study)
    assert "plotly.min.js" not in page(study)
    assert ensemble_data([]) is None


def test_sides_are_averaged_where_a_condition_has_both_and_colours_are_those_of_the_figures():
    row = {"unit": "deg", "percent": "0", "spread_over": "subjects", "mean": "1.0", "sd": "", "mean_error": ""}
    row |= {"quantity": "knee_flexion_deg", "n_subjects": "2", "n_trials": "4", "n_rejected": "0"}
    groups = [("arm", "slow", "left"), *(("leg", "fast", side) for side in ("left", "right", "both"))]
    rows = [{**row, **dict(zip(("chain", "condition", "side"), group, strict=True))} for group in groups]
    data = ensemble_data(rows)
    assert [curve["averaged"] for curve in data["curves"]] == [None, False, False, True]
    assert {style["colour"] for style in data["styles"]} == {LINE_COLOURS[0]}  # of the first condition of each chain
    assert [style["dash"] for style in data["styles"]] == ["dash", "dash", "solid", "solid"]
    assert data["styles"][3]["name"] == "fast, both sides"
    pages_of = [
        index_page([], empty_provenance(), files={}, ensembles=ensemble_data(some)) for some in (rows, rows[:3])
    ]
    assert ["Sides averaged: each subject by the mean of its sides." in text for text in pages_of] == [True, False]


# --- safe, the same everywhere -----------------------------------------------------------------------------------------------


def test_text_from_files_stays_text(study):
    for trial in (None, *TRIALS):
        text = page(study, trial)
        shown = Elements(text)
        assert not shown.open
        assert BAD not in text
        assert "<!--" not in text
        assert "\u2028" not in text.split("<body>")[1].split("</header>")[1] or trial in (None, "labelled")
        for _, attributes in shown.elements:
            assert not any(name.startswith("on") for name in attributes)
        for script in shown.all("script"):
            assert script.get("src") or script.get("type") == "application/json"
    assert BAD in Elements(page(study)).text  # the condition
    odd = Elements(page(study, "labelled")).text
    assert f"{BAD} 121-123 cubic" in odd  # the gap that was filled
    assert ENDS in odd


def test_data_cannot_end_their_block():
    inside = json_text({BAD: ENDS, "&amp;": "]]>"})
    assert not set(inside) & set("<>&\u2028\u2029")
    assert json.loads(inside) == {BAD: ENDS, "&amp;": "]]>"}


def test_pages_name_no_place_outside(study):
    for trial in (None, *TRIALS):
        text = page(study, trial)
        assert "://" not in text
        assert str(study) not in text
        assert str(study.parent) not in text
        policy = next(
            a["content"] for a in Elements(text).all("meta") if a.get("http-equiv") == "Content-Security-Policy"
        )
        assert "default-src 'none'" in policy
        assert "http:" not in policy
    for name in set(layout.REPORT) - {"index", "plotly"}:
        text = (study / layout.REPORT[name]).read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\"'\s)]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert "innerHTML" not in text
        assert "fetch(" not in text


def test_a_page_depends_on_all_that_it_says(study):
    from dataclasses import replace as changed

    loaded = load_study(study)
    trial = loaded.trials[0]
    key = keys.trial_key("pages", trial, study)
    for other in (changed(trial, condition="x"), changed(trial, note="x"), changed(trial, session="x")):
        assert keys.trial_key("pages", other, study) != key
        assert keys.trial_key("torques", other, study) == keys.trial_key("torques", trial, study)
    stricter = trial.settings.model_copy(
        update={"quality": trial.settings.quality.model_copy(update={"tilt_deg": 1.0})}
    )
    assert keys.trial_key("pages", changed(trial, settings=stricter), study) != key


def test_pages_can_be_left_out(study):
    from limbtorque.study.settings import make_settings

    trial = load_study(study).trials[0]
    assert layout.trial_files("pages", "s", trial) == [layout.page_path("s", "spring")]
    object.__setattr__(trial, "settings", make_settings({"report": {"enabled": False}}))
    assert layout.trial_files("pages", "s", trial) == []


def test_the_first_page_has_the_error_of_a_mean_beside_the_spread():
    key = {"chain": "leg", "condition": "walk", "side": "left", "window": "stance", "joint": "hip", "unit": "N m/kg"}
    key |= {"spread_over": "subjects", "n_subjects": "3", "n_trials": "5"}
    known = {
        "max_nm_kg": {"mean": "0.8123", "sd": "0.1501", "mean_error": "0.0402"},
        "min_nm_kg": {"mean": "-1.1", "sd": "", "mean_error": ""},
    }
    rows = [{**key, "term": term, "statistic": name, **own} for term in ("net", "base") for name, own in known.items()]
    files = {"summary_by_condition.csv": "../summary_by_condition.csv"}
    shown = Elements(index_page([], empty_provenance(), files=files, means=rows)).text
    assert "mean over subjects" in shown
    cells = "leg walk left stance hip 0.812 0.150 0.040 -1.100 3 5"
    assert "".join(shown.split()).count(cells.replace(" ", "")) == 1
    contrast = dict.fromkeys((column.name for column in CONTRAST_COLUMNS), "") | {
        **key,
        "contrast": "turning",
        "term": "net",
    }
    contrast |= {
        "first": "walk",
        "second": "turn",
        "outcome": "max_nm_kg, stance",
        "mean_first": "0.8",
        "mean_second": "0.61",
    }
    contrast |= {"estimate": "0.19", "p_adjusted": "0.031", "n_subjects": "3"}
    others = ({"outcome": "max_nm_kg"}, {"joint": "knee"}, {"first": "run", "second": "turn"}, {"term": "gravity"})
    contrasts = [contrast, *({**contrast, **other, "contrast": "other"} for other in others)]
    beside = Elements(
        index_page(
            [],
            empty_provenance(),
            files={**files, "contrasts.csv": ""},
            means=[*rows, *({**row, "condition": "run"} for row in rows)],
            contrasts=contrasts,
        )
    )
    assert "35turning,maximum:0.8and0.61,p0.031" in "".join(beside.text.split())
    assert beside.text.count("other, maximum") == 1  # beside the runs
    assert "Net joint torques" not in index_page([], empty_provenance(), files={})


def test_findings_say_why_an_outcome_is_not_tested():
    row = dict.fromkeys((column.name for column in CONTRAST_COLUMNS), "")
    row |= {"contrast": "a minus b", "first": "a", "second": "b", "term": "net", "outcome": "max_nm", "joint": "hip"}
    few = {**row, "note": "not tested: 2 subjects, expected 3 or more; without a value: S3 (trials rejected)"}
    found = findings(
        [
            few,
            few,
            {
                **row,
                "p_adjusted": "0.03125",
                "estimate": "0.5",
                "low": "0.1",
                "high": "0.9",
                "unit": "N m",
                "smallest_p": "0.01",
            },
        ]
    )
    assert found["sentences"] == [
        "a minus b: hip max_nm differs by 0.5 N m (0.1 to 0.9), adjusted p 0.031; 2 outcomes not tested: 2 subjects, expected 3 or more."
    ]


def mean_rows(quantity, means, *, over="subjects", n_subjects=(2,), n_trials=(4,)):
    """Rows of a mean curve, one for each of its means; counts of one number hold for all of them."""
    key = {
        "chain": "leg",
        "condition": "walk",
        "side": "left",
        "unit": "deg",
        "quantity": quantity,
        "spread_over": over,
    }
    key |= {"sd": "", "mean_error": "", "n_rejected": "0"}
    counts = (numbers * (1 if len(numbers) > 1 else len(means)) for numbers in (n_subjects, n_trials))
    return [
        {**key, "percent": str(k), "mean": mean, "n_subjects": str(subjects), "n_trials": str(trials)}
        for k, (mean, subjects, trials) in enumerate(zip(means, *counts, strict=True))
    ]


@pytest.mark.parametrize(("over", "count"), [("subjects", "1 subject, 4 trials"), ("trials", "4 trials of 1 subject")])
def test_the_page_says_over_what_its_means_are(over, count):
    last = "" if over == "subjects" else "1.0"
    rows = mean_rows("knee_flexion_deg", ("1.0", last), over=over, n_subjects=(2, 1))
    text = index_page([], empty_provenance(), files={}, ensembles=ensemble_data(rows, min_units=2))
    assert f"Lines are means over {over}" in text
    assert ("No mean where fewer than 2 subjects have a value" in text) == (over == "subjects")
    alone = ensemble_data([{**row, "mean": "", "n_subjects": "1", "n_rejected": "1"} for row in rows], min_units=5)
    assert alone["curves"][0]["number"] == f"no mean: {count}; 1 trial rejected"
    page_of_none = index_page([], empty_provenance(), files={}, ensembles=alone)
    assert "No mean where fewer than 5" in page_of_none
    assert "ensembles_data" not in page_of_none


def empty_provenance():
    about = {"program": {"name": "", "version": ""}, "python": "", "libraries": {}, "code": {}, "settings_hash": ""}
    return {"settings": {"title": "", "quality": {}}, **about}


def test_pages_and_captions_say_what_0_to_100_percent_is_and_what_is_missing(study):
    """Two trials with a curve over the movement, and three without; the arm has no stance."""
    notes = ("", "", "2 movements: the endpoint rests", "the trial failed: signal", "the trial failed: read")
    rows = [
        f'{name},arm,plain,right,{status},movement,0.5,2,{int(not note)},"{note}"'
        for name, note, status in zip(TRIALS, notes, ("ok", "caution", "ok", "failed", "failed"), strict=True)
    ]
    path = study / layout.ENSEMBLE_TABLES["windows"]
    path.write_text(
        "\n".join(["trial,chain,condition,side,torque_status,window,start_s,end_s,included,note", *rows]) + "\n",
        encoding="utf-8",
    )
    write_ensembles(study)
    try:
        found = curve_notes(load_study(study), study)
        assert found.axes == {"arm": "movement (%)"}
        assert found.percent == {"arm": "the movement of the endpoint"}
        assert found.missing == {
            "arm": "2 of 5 trials have a curve; without one: the trial failed (2), several movements (1)."
        }
        assert found.uneven == {}
        report.run(folder=study)
        assert embedded(page(study), "ensembles_data")["axes"] == {"arm": "movement (%)"}
        assert "2 of 5 trials have a curve; without one" in page(study)
        assert "The means include 2 trials: 1 ok, 1 caution." in page(study)
        assert 'href="../windows.csv"' in page(study)
        path.write_text(path.read_text("utf-8").replace("movement", "trial", 1), encoding="utf-8")
        several = curve_notes(load_study(study), study)
        assert several.percent == {"arm": "the trial (1 trial) or the movement of the endpoint (1 trial)"}
    finally:
        path.unlink()
        (study / layout.ENSEMBLE_TABLES["ensembles"]).unlink()
        report.run(folder=study)
    assert curve_notes(load_study(study), study).axes == {}


@pytest.mark.parametrize(("form", "shown"), [("png", "img"), ("svg", "img"), ("pdf", "a")])
def test_a_page_without_scripts_shows_figures_or_links_to_them(study, form, shown):
    tables = [read_table(table_file(study, stage, "spring")) for stage in ("kinematics", "torques", "muscles")]
    drawing = draw_trial(*(found[0] for found in tables), model=ARM, motion=vars(tables[0][1].motion))
    pictures = {"figure: torques": f"../x.{form}"}
    contents = TrialContents("x", "", Verdict((), "ok", "ok"), "", "", {}, pictures=pictures, drawing=drawing)
    inside = trial_page(contents).split("<noscript>")[1].split("</noscript>")[0]
    (found,) = (about for name, about in Elements(inside).elements if name == shown)
    assert f"../x.{form}" in found.values()
    assert ("<img" in inside) == (shown == "img")


def test_the_frame_of_a_spike_is_in_its_flags_box_its_message_and_the_check(tmp_path):
    folder = make_study(tmp_path / "spiked")
    recording = read_c3d(folder / "good.c3d")
    markers = recording.markers_m.copy()
    markers[150, recording.labels.index("WRU")] += 0.05
    write_c3d(replace(recording, markers_m=markers), folder / "good.c3d", unit="mm")
    where = f"spikes (marker, frames): WRU {recording.first_frame + 150}"
    analyse(folder)
    box = Elements(re.findall(r"<article.*?</article>", page(folder, "spring"), re.DOTALL)[0]).text
    assert "spike_frames" in box
    assert where in box
    assert embedded(page(folder, "spring"), "trial")["bands"]["spike"]["count"] >= 1
    assert f"spike_frames is 1, allowed 0: {where};" in ledger(folder)["spring"]["message"]
    name, _, flags, _ = next(check_study(checked_study(folder)))
    assert name == "spring"
    assert any(f"spike_frames is 1, allowed 0: {where};" in flag.sentence for flag in flags)


def test_the_summary_of_a_page_is_flexion_positive(study):
    loaded = load_study(study)
    trial = next(trial for trial in loaded.trials if trial.name == "spring")
    rows = pages.contents(loaded, layout.places(loaded)[trial.name], trial, TrialTables(loaded)).summary
    senses = {(row["peak_sense"], row["peak_nm"] > 0.0) for row in rows if row["peak_sense"]}
    assert senses == {("flexion", True), ("extension", False)}
    assert "Net joint torques, flexion positive, over the window" in Elements(page(study, "spring")).text


NET = dict.fromkeys(SUMMARY, 1.0) | {"peak_main_source": "", "band_main_source": "", "peak_at_gap": 0, "term": "net"}


def test_a_page_names_the_filters_loss_and_the_labels_of_each_quantity():
    note = f"{LOST}: hip 43 %, knee 29 %"
    output = FileOutput("hip", {"angle": "RHipAngles", "moment": "RHipMoment"}, {}, True, 1, -1)
    compared = dict.fromkeys(BESIDE, 1.0) | {"joint": "hip", "file_per_kg": 0, "file_unit": "deg", "quantity": "torque"}
    compared |= {"file_label": "RHipMoment", "file_convention": output.convention("moment")}
    net = {**NET, "joint": "hip"}
    contents = TrialContents("x", "", Verdict(), "", "", {}, notes=[note], summary=[net], beside_file=[compared])
    shown = Elements(trial_page(contents)).text
    assert shown.count(note) >= 2
    assert "internal moment, extension positive" in shown
    assert "RHipMoment" in shown


def test_a_page_has_the_metrics_of_each_joint():
    metrics = {"tilt_deg": {"": 3.0}, "flexion_axis_deg": {"hip": 12.0, "knee": 31.5}, "noise_m": {"": math.nan}}
    text = Elements(trial_page(TrialContents("x", "", Verdict(), "", "", {}, metrics=metrics))).text
    assert "3 deg" in text
    assert "hip 12 deg, knee 31.5 deg" in text
    assert "noise_m" not in text


def test_a_page_marks_the_joint_that_is_rejected(study):
    check = next(check for check in CHECKS if check.name == "torque_nm_kg")
    joints = {"shoulder": "ok", "elbow": "rejected", "wrist": "ok"}
    flag = Flag(check, 9.0, 3.0, "elbow", where="spikes (marker, frames): ELB 247")
    rows = [{**NET, "peak_sense": "flexion", "joint": joint} for joint in joints]
    tables = [read_table(table_file(study, stage, "spring")) for stage in ("kinematics", "torques", "muscles")]
    drawing = draw_trial(*(table for table, _ in tables), model=ARM, motion=vars(tables[0][1].motion))
    verdict = Verdict((flag,), "rejected", "rejected", joints)
    text = trial_page(TrialContents("x", "", verdict, "", "", {}, summary=rows, drawing=drawing))
    shown = Elements(text).text
    assert "Do not use: torques of elbow." in shown
    assert "spikes (marker, frames): ELB 247" in shown[: shown.index("what to do")]
    assert re.search(r"elbow \(rejected\)", shown)
    assert not re.search(r"(shoulder|wrist) \(rejected\)", shown)
    panels = re.findall(r"<figcaption><h3>(.*?)</h3>", text)
    assert [panel.split(":")[0] for panel in panels if "rejected" in panel] == ["Elbow"]
    (card,) = (attributes for attributes in Elements(text).all("article") if attributes["class"].startswith("card"))
    assert card["class"] == "card rejected"
