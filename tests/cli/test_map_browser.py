"""Mapping by eye in a browser, from the disk: a leg is clicked, and the study that results is run."""

import csv
import shlex
import shutil
from contextlib import chdir
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from in_chromium import IN_CHROMIUM, choose, find, keys, soon
from limbtorque.analysis.trial import analyse_recording
from limbtorque.cli.init.init import init_study
from limbtorque.cli.main import main
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.writers import write_sto
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.settings import load_settings, make_settings
from limbtorque.tables.files import read_table
from study_runs import run
from text_files import write_trc

pytestmark = IN_CHROMIUM
ROOT = Path(__file__).resolve().parents[2]
ACROSS_M = np.array([0.0, 0.045, 0.0])  # from the knee's centre to the markers on its sides
QUICK = {
    "report": {"enabled": False},
    "muscles": {"enabled": False},
    "figures": {"formats": []},
    "filter": {"cutoff_hz": 6.0},
}


def unnamed_walk(path):
    """A walk of the demo whose markers have numbers for names; the knees have a marker on each side. True names by label."""
    made = read_c3d(ROOT / "data" / "demo" / "S01_walk_fast_1.c3d")
    tracks, truth = [], {}
    joints = {
        "HJC": "HIP",
        "KJC": "KNE",
        "AJC": "ANK",
        "TOE": "TOE",
        "HEE": "HEE",
    }  # and no marker of pelvis and forefoot
    for k, label in enumerate(made.labels):
        if label[1:] not in joints:
            continue
        name = label[0] + joints[label[1:]]
        own = [-ACROSS_M, ACROSS_M] if name.endswith("KNE") else [0.0]
        for shift in own:
            label = f"M{7 * len(tracks) % 12 + 1:02d}"  # 12 is prime to 7: a name says nothing of its place
            tracks.append(made.markers_m[:, k] + shift)
            truth.setdefault(name, []).append(label)
    labels = tuple(label for labels in truth.values() for label in labels)
    write_c3d(replace(made, labels=labels, markers_m=np.stack(tracks, axis=1)), path, unit="mm")
    return truth


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A study proposed for the walk, its page, and the true names."""
    folder = tmp_path_factory.mktemp("map")
    (folder / "recordings").mkdir()
    truth = unnamed_walk(folder / "recordings" / "walk.c3d")
    proposal = init_study(folder / "study", folder / "recordings")
    (page,) = proposal.maps
    return folder / "study", folder / "study" / page, truth


def open_page(browser, page):
    browser.get(page.as_uri())
    soon(browser, lambda: browser.execute_script("return page !== null"))


def click(browser, label):
    """Click a marker in the picture, where it is drawn."""
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = find(browser, "#view")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'}); page.drawNow()", canvas)
    script = """const k = page.data.labels.indexOf(arguments[0]), place = page.view.place(k), view = arguments[1];
      return [place.x - view.clientWidth / 2, place.y - view.clientHeight / 2, place.seen]"""
    x, y, seen = browser.execute_script(script, label, canvas)
    assert seen
    ActionChains(browser).move_to_element_with_offset(canvas, round(x), round(y)).click().perform()


def value(browser, selector):
    return find(browser, selector).get_attribute("value")


def chosen(browser, landmark):
    """Names of the markers of a landmark, as the list shows them."""
    boxes = browser.find_elements("css selector", f"#landmarks select[data-landmark={landmark}]")
    script = "return arguments[0].map((b) => b.value === '' ? '' : b.selectedOptions[0].textContent)"
    return [name for name in browser.execute_script(script, boxes) if name]


def click_the_right_leg(browser, truth):
    """Hip, both markers of the knee, ankle, toe and heel, each by a click at a moment when no other hides it."""
    browser.execute_script("page.goTo(60); for (let k = 0; k < 4; k += 1) page.view.turn('left')")
    click(browser, truth["RHIP"][0])
    assert find(browser, "[name=landmark]:checked").get_attribute("value") == "knee_axis"
    find(browser, "[name=mode][value='2']").click()
    for label in truth["RKNE"]:
        click(browser, label)
    find(browser, "[name=mode][value='1']").click()
    click(browser, truth["RANK"][0])
    click(browser, truth["RTOE"][0])
    find(browser, "[name=landmark][value=heel]").click()
    click(browser, truth["RHEE"][0])


def test_a_leg_is_clicked_and_its_stick_figure_and_lengths_are_there_at_once(browser, walk):
    _, page, truth = walk
    open_page(browser, page)
    row = "return [...document.querySelectorAll('#length_table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    assert {cells[1] for cells in browser.execute_script(row)} == {"not mapped"}
    assert "TODO" in value(browser, "#yaml")
    click_the_right_leg(browser, truth)
    assert chosen(browser, "hip_axis") == truth["RHIP"]
    assert sorted(chosen(browser, "knee_axis")) == sorted(truth["RKNE"])
    assert chosen(browser, "heel") == truth["RHEE"]
    recording = read_c3d(page.parents[2] / "recordings" / "walk.c3d")
    names = list(recording.labels)
    places = [
        recording.markers_m[:, [names.index(label) for label in truth[name]]].mean(axis=1)
        for name in ("RHIP", "RKNE", "RANK", "RTOE")
    ]
    for cells, (near, far) in zip(browser.execute_script(row), pairwise(places), strict=True):
        length_m = np.linalg.norm(far - near, axis=1)
        low, high = (float(text) for text in cells[2:4])
        assert float(cells[1]) == pytest.approx(np.median(length_m), abs=1e-3)
        assert (low, high) == (pytest.approx(length_m.min(), abs=1e-3), pytest.approx(length_m.max(), abs=1e-3))
    assert "right side only" in find(browser, "#serves").text


@pytest.mark.workflow
def test_the_study_of_a_clicked_leg_runs_and_has_the_torques_of_the_true_names(browser, walk, tmp_path):
    study, page, truth = walk
    open_page(browser, page)
    click_the_right_leg(browser, truth)
    choose(browser, "#up", "+z")
    choose(browser, "#forward", "+x")
    mapped = parse_yaml(value(browser, "#yaml"))
    shutil.copytree(study.parent, tmp_path / "copy")
    folder = tmp_path / "copy" / "study"
    config = folder / "config" / "config.yaml"
    settings = {**parse_yaml(config.read_text(encoding="utf-8")), **mapped, **QUICK}
    config.write_text(yaml_text(settings), encoding="utf-8")
    (folder / "config" / "trials.csv").write_text(value(browser, "#row"), encoding="utf-8")
    (trial,) = csv.DictReader(value(browser, "#row").splitlines())
    subject = f"subject,mass_kg,height_m,sex\n{trial['subject']},66,,\n"
    (folder / "config" / "subjects.csv").write_text(subject, encoding="utf-8")
    run(folder)
    (table,) = (folder / "results" / "torques").glob(f"*/{trial['trial']}.parquet")
    own, _ = read_table(table)
    true = {
        "hip_axis": truth["RHIP"][0],
        "knee_axis": truth["RKNE"],
        "ankle_axis": truth["RANK"][0],
        "head_of_metatarsal_2": truth["RTOE"][0],
        "heel": truth["RHEE"][0],
    }
    by_hand = make_settings(
        {
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "marker_sets": {"by_hand": true},
            "substitutes": {
                "by_hand": {
                    "greater_trochanter": "hip_axis",
                    "femoral_condyles": "knee_axis",
                    "medial_malleolus": "ankle_axis",
                    "lateral_malleolus": "ankle_axis",
                }
            },
            **QUICK,
        }
    )
    assert trial["ensembles.start_event"] == "Foot Strike {side}"
    assert "walk_right_leg" in (folder / "results" / "summary.csv").read_text(encoding="utf-8")
    recording = read_c3d(folder.parent / "recordings" / "walk.c3d")
    expected = analyse_recording(
        recording, Limb("leg", side="right", body_mass_kg=66.0, marker_set="by_hand"), by_hand
    ).torque_table
    for joint in ("hip", "knee", "ankle"):
        column = f"{joint}_torque_nm"
        mine, theirs = (np.asarray(one.column(column)) for one in (own, expected))
        assert np.isfinite(theirs).sum() > 50
        assert np.allclose(mine, theirs, rtol=0.0, atol=1e-5, equal_nan=True)  # digits of files


def test_a_leg_is_mapped_by_keyboard_only(browser, walk):
    _, page, truth = walk
    open_page(browser, page)
    canvas = find(browser, "#view")
    browser.execute_script("page.goTo(60); arguments[0].focus()", canvas)
    names = sorted(label for labels in truth.values() for label in labels)
    for name in ("RHIP", "RKNE", "RANK", "RTOE"):
        label = truth[name][0]
        for _ in range(len(names)):
            canvas.send_keys("n")
            if find(browser, "#said").text.startswith(f"Marker {label}."):
                break
        keys(canvas, "ENTER")
    assert [chosen(browser, one) for one in ("hip_axis", "knee_axis", "ankle_axis", "head_of_metatarsal_2")] == [
        [truth[name][0]] for name in ("RHIP", "RKNE", "RANK", "RTOE")
    ]
    assert "Every landmark that is needed has a marker" in find(browser, "#said").text
    keys(canvas, "ARROW_LEFT", "ARROW_UP")
    before = find(browser, "#at").text
    canvas.send_keys(".")
    assert find(browser, "#at").text != before
    box = find(browser, "#landmarks select[data-landmark=heel]")
    box.send_keys(truth["RHEE"][0])
    assert chosen(browser, "heel") == truth["RHEE"]
    assert f'heel: "{truth["RHEE"][0]}"' in value(browser, "#yaml")


def test_the_text_is_settings_that_the_program_reads_and_changes_with_every_choice(browser, walk, tmp_path):
    _, page, truth = walk
    open_page(browser, page)
    assert "up_axis: null # TODO" in value(browser, "#yaml") or 'up_axis: "+z"' in value(browser, "#yaml")
    choose(browser, "#up", "+y")
    name = find(browser, "#set_name")
    name.clear()
    name.send_keys("our set: 2")
    click_the_right_leg(browser, truth)
    saved = tmp_path / "set.yaml"
    saved.write_text(value(browser, "#yaml"), encoding="utf-8")
    settings = load_settings(saved)
    assert settings.plane.up_axis == "+y"
    assert list(settings.marker_sets) == ["our_set__2"]
    assert set(settings.marker_sets["our_set__2"]["knee_axis"]) == set(truth["RKNE"])
    assert settings.substitutes["our_set__2"]["greater_trochanter"] == "hip_axis"
    command = value(browser, "#command")
    assert command.startswith("limbtorque run ../recordings/walk.c3d --chain leg --side right --mass-kg MASS")
    assert "--settings our_set__2.yaml" in command


def test_the_other_side_follows_where_its_markers_have_the_same_names(browser, tmp_path):
    shutil.copy(ROOT / "data" / "demo" / "S01_walk_fast_1.c3d", tmp_path / "walk.c3d")
    assert main(["map", str(tmp_path / "walk.c3d"), "--output", str(tmp_path / "map.html")]) == 0
    open_page(browser, tmp_path / "map.html")
    for landmark, label in {
        "hip_axis": "RHJC",
        "knee_axis": "RKJC",
        "ankle_axis": "RAJC",
        "head_of_metatarsal_2": "RTOE",
    }.items():
        choose(browser, f"#landmarks select[data-landmark={landmark}]", label)
    assert "serves the left side, too" in find(browser, "#serves").text
    assert 'knee_axis: "{S}KJC"' in value(browser, "#yaml")
    choose(browser, "#side", "left")
    assert chosen(browser, "knee_axis") == ["LKJC"]
    assert 'knee_axis: "{S}KJC"' in value(browser, "#yaml")
    assert ",left," in value(browser, "#row")


@pytest.mark.parametrize("width", [420, 1400])
def test_the_page_needs_no_sideways_scrolling(browser, walk, width):
    _, page, truth = walk
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 1000}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        open_page(browser, page)
        click_the_right_leg(browser, truth)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert chosen(browser, "ankle_axis") == truth["RANK"]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


PELVIS = ("RASI", "LASI", "SACR")
ON_LEGS = [side + name for side in "RL" for name in ("KNE", "ANK", "TOE", "HEE")]
ON_ARMS = [side + name for side in "RL" for name in ("SHO", "ELB", "WRA", "WRB", "FIN")]


@pytest.mark.parametrize(
    ("labels", "computed"),
    [
        ([*PELVIS, *ON_LEGS], {"hip_axis": {"hip_centre": "harrington_2007"}}),
        (ON_ARMS, {"glenohumeral_axis": {"shoulder_centre": "rab_2002"}}),
        ([*PELVIS, *ON_LEGS, *ON_ARMS], {}),  # the page shows the arm first
        ([name for name in ON_ARMS if name.startswith("R")], {}),
        ([side + name for side in "RL" for name in ("Hip", "Knee", "Ankle", "Heel", "BigToe")], {}),
        ([side + name for side in "RL" for name in ("Shoulder", "Elbow", "Wrist")], {}),
    ],
)
def test_the_page_of_a_proposed_set_begins_from_what_was_proposed(browser, tmp_path, labels, computed):
    """Unchanged, its sections are those of the study; a predicted centre stays so until a marker is chosen."""
    (tmp_path / "data").mkdir()
    places = np.random.default_rng(1).uniform(size=(1, len(labels), 3))
    way = np.linspace(0.0, 0.4, 40)[:, None, None] * np.random.default_rng(2).uniform(0.5, 1.0, size=places.shape)
    write_trc(tmp_path / "data" / "walk.trc", places + way, unit="m", labels=labels)
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data")
    config = parse_yaml((study / "config" / "config.yaml").read_text(encoding="utf-8"))
    for sheet in proposal.maps:  # one for each set; that with the computed landmarks
        open_page(browser, study / sheet)
        name = value(browser, "#set_name")
        page = parse_yaml(value(browser, "#yaml"))
        if computed.keys() <= page["marker_sets"][name].keys():
            break
    assert page["marker_sets"][name] == config["marker_sets"][name]
    assert page.get("substitutes", {}).get(name, {}) == config.get("substitutes", {}).get(name, {})
    errors = config.get("uncertainty", {}).get("sets", {})
    assert page.get("uncertainty", {}).get("sets", {}) == {key: of for key, of in errors.items() if key == name}
    for landmark, rule in computed.items():
        assert page["marker_sets"][name][landmark] == rule
        said = find(browser, f"#landmarks [data-about={landmark}]").text
        assert said.startswith("predicted from other landmarks: ")
        label = next(one for one in labels if one.startswith("R"))
        choose(browser, f"#landmarks select[data-landmark={landmark}]", label)
        assert parse_yaml(value(browser, "#yaml"))["marker_sets"][name][landmark] in (label, "{S}" + label[1:])


def test_the_command_names_the_second_file_and_what_the_files_do_not_state(browser, tmp_path):
    """As printed it runs from the study's folder, once the mass is written and the text is saved there."""
    made = read_c3d(ROOT / "data" / "demo" / "S01_walk_fast_1.c3d")
    new = {"HIP": "FEP", "KNE": "FEO", "ANK": "TIO"}
    labels = [label[0] + new.get(label[1:], label[1:]) for label in made.labels]
    (tmp_path / "data").mkdir()
    write_trc(tmp_path / "data" / "walk.trc", made.markers_m, unit="", labels=labels, rate_hz=made.rate_hz)
    names = [f"ground_force_{name}" for name in ("vx", "vy", "vz", "px", "py", "pz")] + [
        f"ground_torque_{axis}" for axis in "xyz"
    ]
    forces = dict(zip(names, [0.0, 0.0, 700.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0], strict=True))
    time_s = np.arange(10 * made.n_frames) / (10 * made.rate_hz)
    table = pa.table({"time_s": time_s, **{name: np.full(time_s.size, value) for name, value in forces.items()}})
    write_sto(table, tmp_path / "data" / "walk_grf.mot", units="m")
    study = tmp_path / "study"
    (page,) = init_study(study, tmp_path / "data", answers={"reading.length_unit": "m"}).maps
    open_page(browser, study / page)
    command = value(browser, "#command")
    assert command.startswith("limbtorque run ../data/walk.trc --forces ../data/walk_grf.mot --chain leg ")
    assert "--set reading.length_unit=m" in command
    assert "try it at once in the study's folder" in find(browser, "body").text
    assert ",../data/walk_grf.mot," in value(browser, "#row")
    saved = study / f"{value(browser, '#set_name')}.yaml"
    saved.write_text(value(browser, "#yaml").replace("up_axis: null", 'up_axis: "+z"'), encoding="utf-8")
    with chdir(study):
        assert main([*shlex.split(command.replace("MASS", "70"))[1:], "--output", str(tmp_path / "out")]) == 0
