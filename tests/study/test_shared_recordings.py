"""One recording of two subjects is refused: one person would count as two."""

import shutil
from pathlib import Path

import pytest

from limbtorque.errors import StudyError
from limbtorque.workflow.load_checked import checked_study

ROOT = Path(__file__).resolve().parents[2]
OWN, OTHER = "data/demo/S01_sagittal_fast.c3d", "data/demo/S02_sagittal_fast.c3d"


@pytest.fixture
def study(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "data", tmp_path / "data")
    return tmp_path


def test_a_copy_under_another_name_is_found(study):
    checked_study(study)
    shutil.copy(study / OWN, study / OTHER)
    with pytest.raises(StudyError, match=r"S02_sagittal_fast\.c3d of subject S02 is the recording of subject S01"):
        checked_study(study)


def test_two_people_in_one_recording_have_prefixes(study):
    table = study / "config" / "trials.csv"
    header, *rows = table.read_text().replace(OTHER, OWN).splitlines()
    table.write_text("\n".join([header, *rows]))
    with pytest.raises(StudyError, match="expected one subject for each recording"):
        checked_study(study)
    table.write_text("\n".join([f"{header},prefix", *(f"{row},{'AB'['S02' in row]}" for row in rows)]))
    checked_study(study)
