"""The report in a browser, from the file system: chromium and its driver, as Debian packs them."""

import json
import time

import numpy as np
import pytest

from in_chromium import IN_CHROMIUM, choose, find, keys, soon
from limbtorque.quality.verdict import Verdict
from limbtorque.report.panels import draw_trial
from limbtorque.report.subject import subject_page
from limbtorque.report.trial import TrialContents, trial_page
from limbtorque.statistics.reference import CURVE, Shown, Side, beside_reference
from limbtorque.study.chains import ARM
from limbtorque.study.subjects import Subject
from limbtorque.tables.files import read_table
from limbtorque.workflow.stages import report
from reports import BAD, ENDS, TRIALS, analyse, make_study, page, page_file, table_file, write_ensembles

pytestmark = IN_CHROMIUM


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = analyse(make_study(tmp_path_factory.mktemp("browser") / "a study"))
    write_ensembles(folder)
    report.run(folder=folder)
    return folder


def visit(browser, folder, trial=None):
    browser.get(page_file(folder, trial).as_uri())


def rows(browser):
    """Names of the trials that the table shows, in order."""
    script = "return [...document.querySelectorAll('#ledger tbody tr')].filter((r) => !r.hidden).map((r) => r.cells[0].textContent)"
    return browser.execute_script(script)


def test_the_table_sorts_by_keyboard(browser, study):
    visit(browser, study)
    assert rows(browser) == list(TRIALS)
    head = find(browser, "#ledger thead th")
    assert head.get_attribute("aria-sort") == "none"
    keys(head.find_element("css selector", "button"), "ENTER")
    assert rows(browser) == sorted(TRIALS)
    assert head.get_attribute("aria-sort") == "ascending"
    keys(head.find_element("css selector", "button"), "SPACE")
    assert rows(browser) == sorted(TRIALS, reverse=True)
    keys(head.find_element("css selector", "button"), "ENTER")
    assert rows(browser) == list(TRIALS)


def test_numbers_sort_as_numbers_and_empty_cells_come_last(browser, study):
    visit(browser, study)
    find(browser, "#ledger thead th:nth-child(7) button").click()
    assert set(rows(browser)[-2:]) == {"window", "not_a_file"}


def test_the_table_filters_and_searches(browser, study):
    visit(browser, study)
    choose(browser, "#only_status", "failed")
    assert rows(browser) == ["window", "not_a_file"]
    choose(browser, "#only_reason", "signal")
    assert rows(browser) == ["window"]
    assert find(browser, "#shown").text == "1 of 5 trials"
    find(browser, "#reset").click()
    assert rows(browser) == list(TRIALS)
    choose(browser, "#only_condition", BAD)
    assert rows(browser) == ["labelled"]
    find(browser, "#reset").click()
    find(browser, "#search").send_keys("NOT_A plain")
    assert rows(browser) == ["not_a_file"]
    find(browser, "#reset").click()
    find(browser, "button[data-reason=read]").click()
    assert rows(browser) == ["not_a_file"]


def test_the_cursor_moves_by_keyboard_and_the_limb_follows(browser, study):
    visit(browser, study, "spring")
    slider = find(browser, "#cursor")
    limb = "return document.querySelector('#stick .limb').getAttribute('points')"
    shown = "return document.querySelector('tr[data-curve=elbow_torque_nm] td').textContent"
    keys(slider, "HOME")
    first, start = browser.execute_script(limb), find(browser, "#cursor_time").text
    assert start == "0.000 s, frame 1"
    keys(slider, *["ARROW_RIGHT"] * 3)
    assert find(browser, "#cursor_time").text == "0.030 s, frame 4"
    assert slider.get_attribute("aria-valuetext") == "0.030 s, frame 4"
    keys(slider, "END", "ARROW_LEFT")
    assert find(browser, "#cursor_time").text == "3.490 s, frame 350"
    browser.execute_script(
        "const s = document.getElementById('cursor'); s.value = 150; s.dispatchEvent(new Event('input'))"
    )
    assert browser.execute_script(limb) != first
    numbers = json.loads(page(study, "spring").split('id="trial">')[1].split("</script>")[0])["curves"]
    curve = numbers["elbow_torque_nm"]
    assert float(browser.execute_script(shown)) == pytest.approx(
        sum(curve["steps"][:151]) / 10 ** curve["decimals"], rel=1e-3
    )
    ends = [numbers[f"endpoint_position_{axis}_m"] for axis in "xy"]
    wrist = [sum(end["steps"][:151]) / 10 ** end["decimals"] for end in ends]
    last = [float(part) for part in browser.execute_script(limb).split(" ")[-1].split(",")]
    assert last == pytest.approx([wrist[0], -wrist[1]])
    assert browser.execute_script("return document.querySelectorAll('#stick .force').length") == 1
    assert "External force" in find(browser, "#stick_text").text
    text = "return document.getElementById('said').textContent"
    soon(browser, lambda: "elbow net torque" in browser.execute_script(text).lower())


def visible(browser, panel):
    script = f"return document.querySelector('#panel_{panel} .plot').data.filter((t) => t.visible).map((t) => t.name)"
    return browser.execute_script(script)


def test_terms_are_switched_on_and_off(browser, study):
    visit(browser, study, "spring")
    assert {"net", "gravity", "inertial", "external"} <= set(visible(browser, "torque_elbow"))
    keys(find(browser, "[data-kind=gravity]"), "SPACE")
    for joint in ("shoulder", "elbow", "wrist"):
        assert "gravity" not in visible(browser, f"torque_{joint}")
    buttons = browser.find_elements("css selector", "#panel_torque_elbow .legend button")
    inertial = next(button for button in buttons if button.text == "inertial")
    keys(inertial, "ENTER")
    assert "inertial" not in visible(browser, "torque_elbow")
    assert "inertial" in visible(browser, "torque_wrist")
    assert browser.switch_to.active_element.text == "inertial"  # the focus stays where it was
    find(browser, "[value=single]").click()
    assert "inertial shoulder" in visible(browser, "torque_elbow")
    assert "gravity" not in visible(browser, "torque_elbow")


def test_signs_turn_to_flexion(browser, study):
    visit(browser, study, "spring")
    read = "return document.querySelector('#panel_angles .plot').data[0].y[0]"
    assert find(browser, "[value=flexion]").is_selected()
    before = browser.execute_script(read)
    find(browser, "[value=tables]").click()
    assert browser.execute_script(read) == pytest.approx(before - 90.0)  # the shoulder counts from the hanging arm


def test_a_panel_of_several_joints_states_the_sign_of_each(browser, study):
    """An elbow whose flexion is clockwise, beside another program's torques."""
    read = [read_table(table_file(study, stage, "spring")) for stage in ("kinematics", "torques", "muscles")]
    kinematics, torques, muscles = (table for table, _ in read)
    for joint in ARM.joints:
        for quantity, unit in (("torque", "nm"), ("power", "w")):
            values = torques.column(f"{joint.name}_{quantity}_{unit}")
            kinematics = kinematics.append_column(f"{joint.name}_file_{quantity}_{unit}", values)
    motion = {**vars(read[0][1].motion), "flexion_sign": [1.0, -1.0, 1.0]}
    drawing = draw_trial(kinematics, torques, muscles, model=ARM, motion=motion)
    made = page_file(study, "spring").with_name("mixed.html")
    made.write_text(trial_page(TrialContents("mixed", "", Verdict(), "", "", {}, drawing=drawing)), encoding="utf-8")
    browser.get(made.as_uri())
    first = "return document.querySelector('#panel_file_torque .plot').data[2].y[100]"
    sense = "#panel_file_torque .sense"
    assert find(browser, sense).text == "N m; + flexion, \u2212 extension"
    elbow = browser.execute_script(first)
    assert elbow == pytest.approx(-torques.column("elbow_torque_nm")[100].as_py(), rel=1e-2)
    find(browser, "[value=tables]").click()
    assert browser.execute_script(first) == -elbow
    turned = "N m; shoulder, wrist: + flexion, \u2212 extension; elbow: + extension, \u2212 flexion"
    assert find(browser, sense).text == turned


def test_every_panel_marks_the_window(browser, study):
    visit(browser, study, "spring")
    window = read_table(table_file(study, "torques", "spring"))[1].window
    script = """return [...document.querySelectorAll('.panel .plot')].map((plot) => plot.layout.shapes
      .filter((shape) => shape.type === 'line').map((shape) => [shape.x0, shape.label.text]))"""
    panels = browser.execute_script(script)
    expected = [[pytest.approx(window.start_s, abs=1e-5), "0 %"], [pytest.approx(window.end_s, abs=1e-5), "100 %"]]
    assert len(panels) == len(browser.find_elements("css selector", ".panel"))
    assert all(marks == expected for marks in panels)
    drawn = browser.execute_script("return document.querySelector('#panel_power .plot').textContent")
    assert "0 %" in drawn
    assert "100 %" in drawn
    times = f"0 to 100 %: {window.start_s:.4g} to {window.end_s:.4g} s"
    assert times in find(browser, "#summary").text


def test_all_panels_zoom_together(browser, study):
    visit(browser, study, "spring")
    ranges = "return [...document.querySelectorAll('.panel .plot')].map((p) => p.layout.xaxis.range.map((x) => x.toFixed(3)).join())"
    assert set(browser.execute_script(ranges)) == {"0.000,3.500"}
    browser.execute_script(
        "Plotly.relayout(document.querySelector('#panel_power .plot'), {'xaxis.range[0]': 1, 'xaxis.range[1]': 2})"
    )
    assert set(browser.execute_script(ranges)) == {"1.000,2.000"}
    time.sleep(0.2)
    find(browser, "[data-zoom=all]").click()
    soon(browser, lambda: set(browser.execute_script(ranges)) == {"0.000,3.500"})


def test_limits_have_an_outline_for_each_stretch_without_a_gap(browser, study):
    visit(browser, study)
    area = browser.execute_script("return between([0, 1, 2, 3, 4], [1, 2, null, 4, 5], [6, 7, 8, 9, 10])")
    assert area["x"] == [0, 1, 1, 0, None, 3, 4, 4, 3, None]
    assert area["y"] == [1, 2, 7, 6, None, 4, 5, 10, 9, None]
    assert area["fill"] == "toself"


def test_mean_curves_are_chosen(browser, study):
    visit(browser, study)
    names = "return document.getElementById('ensemble_plot').data.filter((t) => t.name).map((t) => t.y[20])"
    assert browser.execute_script(names) == [10.0, 20.0]
    band = browser.execute_script("return document.getElementById('ensemble_plot').data[0]")
    assert (band["fill"], band["x"].count(None)) == ("toself", 1)  # no gap, one outline
    choose(browser, "#ensemble_quantity", "torque: gravity")
    assert find(browser, "#ensemble_title").text == "arm: torque: gravity"
    assert BAD in find(browser, "#ensemble .legend").text
    drawn = browser.execute_script("return document.getElementById('ensemble_plot').data[3].name")
    assert drawn == "&lt;img src=x onerror=alert(1)&gt;, right"


def test_curves_of_a_subject_are_drawn_with_the_band_of_the_reference(browser, study):
    """Angles, net torques and a chosen term together; names are HTML. The term that deviates is drawn first."""
    percent, rng = np.linspace(0.0, 1.0, 11), np.random.default_rng(1)
    names = [
        Shown("knee", "flexion", "", CURVE, "deg"),
        *(Shown("knee", "torque", term, CURVE, "N m/kg") for term in ("net", "gravity", "base")),
    ]

    def side(name, condition, shift):
        curves = rng.normal(size=(4, 1)) + np.sin(percent)
        curves[2:] += shift
        means = {shown: np.array([curve, 0.1 + 0.0 * curve]) for shown, curve in zip(names, curves, strict=True)}
        return Side("leg", condition, name, "right", 2, np.nan, means)

    group = [side(f"C{k}", BAD, 0.0) for k in range(12)]
    found = beside_reference([side(BAD, BAD, np.array([[9.0], [0.0]]))], group, seed=1)
    subject = Subject(BAD, 70.0, np.nan, "f", {}, group=ENDS)
    text = subject_page(subject, title=ENDS, reference=BAD, trials=[], compared=found, axes={("leg", BAD): "cycle (%)"})
    path = study / "results" / "report" / "subjects" / "1.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    browser.get(path.as_uri())
    titles = "return [...document.querySelectorAll('.mean_curves h3')].map((h) => h.textContent)"
    assert browser.execute_script(titles) == [
        f"leg, {BAD}: {name}" for name in ("flexion", "net torque", "torque: gravity")
    ]
    drawn = "return [...document.querySelectorAll('.plot')].map((p) => p.data.filter((t) => t.fill === 'toself' && t.x.length).length)"
    assert browser.execute_script(drawn) == [1, 1, 1]
    assert "Only 12 reference subjects: means and bands are rough" in find(browser, "header").text
    choose(browser, "#ensemble_quantity", "torque: base motion")
    assert browser.execute_script(titles)[2].endswith("torque: base motion")


def test_sides_are_apart_or_averaged(browser, study):
    """Left and both of the plain condition; the other one has one side."""
    path = study / "results" / "ensembles.csv"
    whole = path.read_text("utf-8")
    more = [
        row.replace(",right,", f",{side},") for side in ("left", "both") for row in whole.splitlines() if "plain" in row
    ]
    path.write_text(whole + "\n".join(more) + "\n", "utf-8")
    try:
        report.run(folder=study)
        visit(browser, study)
        names = (
            "return document.getElementById('ensemble_plot').data.filter((t) => t.name).map((t) => t.name.slice(0, 11))"
        )
        assert browser.execute_script(names) == ["plain, righ", "&lt;img src", "plain, left"]
        choose(browser, "#ensemble_sides", "averaged")
        assert browser.execute_script(names) == ["&lt;img src", "plain, both"]
    finally:
        path.write_text(whole, "utf-8")
        report.run(folder=study)
    visit(browser, study)
    assert not find(browser, "#ensemble_sides").is_displayed()


def test_means_of_fewer_trials_are_thin_and_hovering_tells_how_many(browser, study):
    path = study / "results" / "ensembles.csv"
    whole = path.read_text("utf-8")
    fewer = [line.replace(",2,4,1", ",2,3,1") if "m,80," in line else line for line in whole.splitlines()]
    path.write_text("\n".join(fewer) + "\n", "utf-8")
    try:
        report.run(folder=study)
        visit(browser, study)
        lines = "return document.getElementById('ensemble_plot').data.filter((t) => !t.fill && t.line.dash !== 'dot').map((t) => [t.line.width, t.y])"
        thin, thick, hovered, other = browser.execute_script(lines)[:4]
        mean = [percent / 10 for percent in range(0, 101, 5)]
        assert (thin[0], thick[0], hovered[0], other[0]) == (0.9, 2.2, 0, 0.9)
        assert thick[1] == [None if percent == 8.0 else percent for percent in mean]
        assert thin[1] == [percent if percent in (7.5, 8.0, 8.5) else None for percent in mean]
        assert hovered[1] == mean
        named = "return document.getElementById('ensemble_plot').data.filter((t) => t.name)[0].customdata"
        assert browser.execute_script(named) == ["2 subjects"] * len(mean)
        assert (
            "2 subjects, 3 to 4 trials; 1 trial rejected; thin: fewer than 4 trials"
            in find(browser, "#ensemble .legend").text
        )
    finally:
        path.write_text(whole, "utf-8")
        report.run(folder=study)


def test_a_condition_of_200_characters_does_not_make_the_page_scroll_sideways(browser, study):
    saved = {
        path: path.read_text("utf-8") for name in ("ledger", "ensembles") for path in [study / f"results/{name}.csv"]
    }
    for path, text in saved.items():
        path.write_text(text.replace("plain", 200 * "c"), "utf-8")
    size = {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        report.run(folder=study)
        visit(browser, study)
        assert 200 * "c" in find(browser, "#ensemble .legend").text
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 420
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        for path, text in saved.items():
            path.write_text(text, "utf-8")
        report.run(folder=study)
