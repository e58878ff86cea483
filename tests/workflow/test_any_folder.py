"""Each folder of real recordings: what is asked, nothing more; what its files say is found; then the check and the run.

The answers are those of the list in docs/any_folder.md, which was written from the files before any of them was run.
"""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from limbtorque.cli.init.init import init_study
from limbtorque.errors import FolderError
from study_runs import ledger, run

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
LEGS, SHORT_ARMS = {"leg": 2}, {"arm_without_hand": 2}
# limbs that are proposed, and body masses that no file says; test_open_recordings.py has what becomes of the trials
EXPECTED = {
    "arm26": ({"arm_without_hand": 1}, 1),
    "arm_box_task": ({"arm": 1}, 1),
    "c3d_org": ({"leg": 4}, 1),
    "c3d_org/sample10": ({"leg": 4}, 1),
    "cohort": ({"leg": 12}, 0),
    "markerless": ({"leg": 3, **SHORT_ARMS}, 1),
    "running_opensim": (LEGS, 1),
    "tennis_serve": ({"arm": 10, "leg": 4}, 2),
    "trc_opensim": (SHORT_ARMS, 1),
    "walk_emg_opensim": (LEGS, 1),
    "walking_opensim": (LEGS, 1),
    "winter_A1": ({"leg": 1}, 1),
}
MASSES_KG = {"HC030A": 45.8, "HC032A": 60.3, "HC044A": 39.4}


@pytest.fixture
def any_folder(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import any_folder

    return any_folder


def propose(any_folder, recordings, folder, study):
    return init_study(study, recordings / folder, answers=any_folder.ANSWERS[folder])


def rows(any_folder, study, name):
    return any_folder.table_rows(study / "config" / name)


@pytest.mark.parametrize("folder", EXPECTED)
def test_what_is_asked(recordings, tmp_path, any_folder, folder):
    limbs, unknown = EXPECTED[folder]
    proposal = propose(any_folder, recordings, folder, tmp_path)
    left = any_folder.left_to_do(tmp_path)
    cells = [place for place in left if not re.fullmatch(r"subjects.csv \S+ mass_kg", place)]
    assert {place.split()[-1] for place in cells} == set(any_folder.CELLS.get(folder, ()))
    assert proposal.to_do == len(left) == unknown + len(cells)
    assert any_folder.fill_cells(tmp_path) == len(cells)
    assert Counter(row["chain"] for row in rows(any_folder, tmp_path, "trials.csv")) == limbs
    assert any_folder.fill_masses(tmp_path) == unknown


def test_folders_without_a_recording_are_refused_and_clusters_alone_get_a_page(recordings, tmp_path, any_folder):
    for folder in ("body_segment_parameters", "moment_arms", "pezzack"):
        with pytest.raises(FolderError, match=r"no file in .* can be read as a recording"):
            propose(any_folder, recordings, folder, tmp_path / "study")
        assert not (tmp_path / "study").exists()
    for folder in ("c3d_org/sample01", "c3d_org/sample08"):
        study = tmp_path / folder
        proposal = propose(any_folder, recordings, folder, study)
        assert rows(any_folder, study, "trials.csv") == []
        (subject,) = rows(any_folder, study, "subjects.csv")
        assert (subject["mass_kg"], subject["height_m"], subject["sex"]) == ("82.7", "1.63", "f")
        assert [(study / page).is_file() for page in proposal.maps] == [True]


def test_all_folders_as_one_share_nobodys_mass(recordings, tmp_path, any_folder):
    for name in any_folder.ANSWERS:
        if name != any_folder.ALL and "/" not in name:
            shutil.copytree(recordings / name, tmp_path / "data" / name)
    study = tmp_path / "study"
    proposal = propose(any_folder, tmp_path / "data", any_folder.ALL, study)
    whose: dict[str, set[str]] = {}
    for row in rows(any_folder, study, "trials.csv"):
        whose.setdefault(row["file"].partition("data/")[2].partition("/")[0], set()).add(row["subject"])
    assert whose.keys() == {name for name in EXPECTED if "/" not in name}
    assert whose["cohort"] == set(MASSES_KG)
    found = {row["subject"]: row["mass_kg"] for row in rows(any_folder, study, "subjects.csv")}
    assert {name: float(found[name]) for name in MASSES_KG} == MASSES_KG
    people = [name for names in whose.values() for name in names]
    assert len(people) == len(set(people)), "a subject is in two folders"
    unknown = sum(n_masses for name, (_, n_masses) in EXPECTED.items() if "/" not in name)
    assert len(people) - len(MASSES_KG) == unknown
    assert proposal.to_do == unknown + any_folder.fill_cells(study)


@pytest.mark.workflow
@pytest.mark.parametrize("folder", ["winter_A1", "arm26"])
def test_from_init_to_the_report(recordings, tmp_path, any_folder, folder):
    propose(any_folder, recordings, folder, tmp_path)
    any_folder.fill_masses(tmp_path)
    run(tmp_path)
    assert [row["status"] for row in ledger(tmp_path).values()] == ["caution"]
    assert (tmp_path / "results" / "report" / "index.html").is_file()
