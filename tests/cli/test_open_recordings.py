"""Recordings whose hash the program knows: licence and citation in `init`, and the page that is made from the table."""

import csv
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest
from pydantic import ValidationError

from limbtorque.analysis.study import check_study
from limbtorque.cli.init import open_recordings as table
from limbtorque.cli.main import main
from limbtorque.workflow.load_checked import checked_study

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "open_recordings.md"
SETS = {each.folder: each for each in table.open_recordings() if each.folder}
NET_PEAK, HALFWAY = ("max_nm_kg", "net"), ("left minus right", "net", "50")
INIT = re.findall(r"^    (limbtorque init .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_table_is_complete():
    sets = table.open_recordings()
    assert len({each.name for each in sets}) == len(sets) >= 16
    for each in sets:
        assert bool(each.folder) == bool(each.files) == bool(each.trials) == bool(each.meaning), each.name
    hashes = [file.sha256 for each in sets for file in each.files.values()]
    assert len(set(hashes)) == len(hashes) > 40


@pytest.mark.parametrize(
    "change",
    [{"licence": ""}, {"published": "somewhere"}, {"files": {"a.c3d": {"bytes": 1, "sha256": "12"}}}, {"x": 1}],
)
def test_a_wrong_entry_is_refused(change):
    entry = table.open_recordings()[0].model_dump()
    with pytest.raises(ValidationError):
        table.OpenRecordings.model_validate({**entry, **change})


def test_only_files_of_a_known_size_are_read(tmp_path, monkeypatch):
    content = b"not a recording of anybody"
    (tmp_path / "same.c3d").write_bytes(content)
    (tmp_path / "same_size.c3d").write_bytes(content[::-1])
    (tmp_path / "other.c3d").write_bytes(content * 2)
    digest = table.hashlib.sha256(content).hexdigest()
    known = table.open_recordings()[0].model_copy(
        update={"files": {"same.c3d": table.KnownFile(bytes=len(content), sha256=digest)}}
    )
    monkeypatch.setattr(table, "open_recordings", lambda: (known,))
    read = []
    whole = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or whole(path))
    assert table.sources_of([*sorted(tmp_path.iterdir()), tmp_path / "gone.c3d"]) == [known]
    assert table.sources_of([tmp_path / "same_size.c3d"]) == []
    assert set(read) == {"same.c3d", "same_size.c3d"}


def test_init_prints_licence_and_citation(recordings, tmp_path, capsys):
    shutil.copy(recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d", tmp_path / "renamed.c3d")
    assert main(["init", str(tmp_path / "study"), "--from", str(tmp_path)]) == 0
    screen = capsys.readouterr().out
    assert "source: Walks and turns of three children, licence MIT; cite Dixon PC" in screen
    settings = (tmp_path / "study" / "config" / "config.yaml").read_text(encoding="utf-8")
    assert "doi 10.1016/j.cmpb.2016.11.007" in settings


def test_the_page_has_a_command_for_every_set_that_was_tried():
    assert [words[-1] if "--set" not in words else words[4] for words in map(shlex.split, INIT)] == list(SETS)


@pytest.mark.slow
@pytest.mark.parametrize("command", INIT)
def test_every_command_of_the_page(command, recordings, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import any_folder

    words = shlex.split(command)
    folder, study = words[4], tmp_path / words[2]
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).symlink_to(recordings / folder)
    assert main(words[1:]) == 0
    assert SETS[folder].credit in capsys.readouterr().out
    any_folder.fill_cells(study)
    any_folder.fill_masses(study)
    order = ("ok", "caution", "rejected", "failed")
    counts = Counter(
        "failed" if fault else max(["ok", *(flag.status for flag in flags)], key=order.index)
        for _, fault, flags, _ in check_study(checked_study(study))
    )
    assert ", ".join(f"{counts[status]} {status}" for status in order if counts[status]) == SETS[folder].trials


@pytest.mark.slow
@pytest.mark.workflow
def test_the_second_part_of_the_tutorial(recordings, tmp_path, monkeypatch):
    """Its commands run, and its numbers are those of the tables; without figures, report and muscles."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cohort").symlink_to(recordings / "cohort")
    part = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8").partition("\n## 7.")[2]
    first, *others = re.findall(r"^    (limbtorque .*)$", part, flags=re.MULTILINE)
    (block,) = re.findall(r"```yaml\n(.*?)```", part, flags=re.DOTALL)
    assert main(shlex.split(first)[1:]) == 0
    settings = Path("children/config/config.yaml")
    off = "muscles: {enabled: false}\nreport: {enabled: false}\nfigures: {kinds: []}\n"
    settings.write_text(f"{settings.read_text(encoding='utf-8')}\n{block}{off}", encoding="utf-8")
    for command in others:
        assert main(shlex.split(command)[1:]) == 0, command
    with Path("children/results/contrasts.csv").open(encoding="utf-8") as file:
        rows = {row["contrast"]: row for row in csv.DictReader(file) if (row["outcome"], row["term"]) == NET_PEAK}
    printed = re.findall(
        r"^\| (\w+ minus \w+) \| (\d) \| (.*?) \| (.*?) \| (.*?) \| (.*?) to (.*?) \|", part, flags=re.MULTILINE
    )
    assert [line[0] for line in printed] == list(rows)
    for name, *numbers in printed:
        columns = ("n_subjects", "mean_first", "mean_second", "estimate", "low", "high")
        assert [float(text) for text in numbers] == pytest.approx([float(rows[name][c]) for c in columns], abs=6e-4)
        assert rows[name]["declared"].startswith("frozen")
    with Path("children/results/contrast_curves.csv").open(encoding="utf-8") as file:
        (point,) = (row for row in csv.DictReader(file) if (row["contrast"], row["term"], row["percent"]) == HALFWAY)
    assert [float(point[c]) for c in ("estimate", "low", "high")] == pytest.approx([2.6, -8.5, 13.7], abs=0.06)
    assert point["low_simultaneous"] == ""
