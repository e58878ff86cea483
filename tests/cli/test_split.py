"""A study for each subject of a large one: the same numbers, and what is not the same is refused."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from limbtorque.cli.main import main
from limbtorque.cli.split import split_study
from limbtorque.errors import StudyError
from limbtorque.study.files import yaml_text
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table
from staged_study import make_study, run_stages

ROOT = Path(__file__).resolve().parents[2]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A study and its parts, all analysed."""
    place = tmp_path_factory.mktemp("split")

    def change(rows):  # both subjects have a right arm
        return [{**row, "subject": "S02"} if row["trial"] == "S01_horizontal_fast" else row for row in rows]

    whole = make_study(place / "study", change=change)
    parts = split_study(whole, place / "parts")
    for folder in (whole, *parts):
        run_stages(folder)
    return place


def test_the_parts_have_the_tables_of_the_whole(places):
    parts = [places / "parts" / name for name in ("S01", "S02")]
    names = [trial.name for trial in load_study(places / "study").trials]
    assert sorted(names) == sorted(trial.name for part in parts for trial in load_study(part).trials)
    for part in parts:
        for trial in load_study(part).trials:
            assert trial.subject.name == part.name
            for stage in ("kinematics", "torques", "muscles"):
                path = Path("results", stage, trial.session, f"{trial.name}.parquet")
                of_part, of_whole = (read_table(folder / path)[0].to_pandas() for folder in (part, places / "study"))
                pd.testing.assert_frame_equal(of_part, of_whole, check_exact=True)
    for table in ("results", "summary", "summary_bands", "muscle_summary", "ledger", "metrics", "windows"):
        found = [row for part in parts for row in rows_of(part / "results" / f"{table}.csv")]
        expected = rows_of(places / "study" / "results" / f"{table}.csv")
        for row in (*found, *expected):
            row["file"] = Path(row.get("file", "")).name
        assert sorted(map(str, found)) == sorted(map(str, expected))


def test_the_recipe_joins_them(places, monkeypatch):
    """Its means over subjects are those of one study that averages subjects."""
    monkeypatch.chdir(places)
    recipe = (ROOT / "docs" / "howto.md").read_text(encoding="utf-8").split("## Analyse ten thousand trials")[1]
    names = {}
    exec(re.search(r"```python\n(.*?)```", recipe, flags=re.DOTALL).group(1), names)
    assert len(names["summary"]) == len(pd.read_csv("study/results/summary.csv"))
    expected = pd.read_csv("study/results/ensembles.csv").query("side != 'both'")
    keys = ["chain", "condition", "side", "quantity", "unit", "percent"]
    both = expected.merge(
        names["over_subjects"].reset_index(), on=keys, suffixes=("", "_joined"), validate="one_to_one"
    )
    assert len(both) == len(expected)
    assert both.n_subjects.max() == 2
    np.testing.assert_allclose(both["mean_joined"], both["mean"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both["std"], both["sd"], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(both["count"], both["n_subjects"])


def test_paths_and_odd_names(tmp_path):
    """Recordings and muscle sets are found from the parts, through links, and subjects may be called anything."""
    named = iter(["a b", "A_b", "a/b", "..", "Łukasz"])
    own = {"sets": {"arm": "config/own.yaml"}}

    def change(rows):
        (tmp_path / "study" / "recordings").symlink_to(ROOT / "data" / "demo")
        for row in rows:
            row |= {"subject": next(named), "file": f"recordings/{Path(row['file']).name}", "note": "1, 2"}
        rows[-1]["file"] = str((ROOT / rows[-1]["file"].replace("recordings", "data/demo")).resolve())
        return rows

    folder = make_study(tmp_path / "study", extra=yaml_text({"muscles": own}), change=change)
    source = ROOT / "src" / "limbtorque" / "muscles" / "sets" / "arm.yaml"
    (folder / "config" / "own.yaml").write_bytes(source.read_bytes())
    subjects = ["# masses of the demo", "subject,mass_kg,height_m,sex"]
    subjects += [f"{name},70,1.75,f" for name in ("a b", "A_b", "a/b", "..", "Łukasz")]
    (folder / "config" / "subjects.csv").write_text("\n".join(subjects) + "\n", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    parts = split_study(folder, tmp_path / "link" / "deep" / "parts")
    assert [part.name for part in parts] == ["a_b", "A_b_2", "a_b_3", "_", "Łukasz"]
    for part, trial in zip(parts, load_study(folder).trials, strict=True):
        (found,) = load_study(part).trials
        assert found.subject == trial.subject
        assert found.file.resolve() == trial.file.resolve()
        means = trial.settings.ensembles.model_copy(update={"min_units": 1})  # a part has one subject
        settings = trial.settings.model_copy(update={"ensembles": means})
        assert (found.name, found.note, found.settings) == (trial.name, trial.note, settings)
        assert found.settings.muscle_set("arm", part).read_bytes() == source.read_bytes()


def test_a_muscle_set_beside_the_study_is_refused(tmp_path):
    folder = make_study(tmp_path / "study", extra=yaml_text({"muscles": {"sets": {"arm": "../own.yaml"}}}))
    with pytest.raises(StudyError, match="is outside the study's folder"):
        split_study(folder, tmp_path / "parts")
    assert not (tmp_path / "parts").exists()


def test_nothing_is_overwritten(tmp_path, capsys):
    folder = make_study(tmp_path / "study")
    (tmp_path / "my parts" / "S02").mkdir(parents=True)
    words = ["split", str(folder), str(tmp_path / "my parts")]
    assert main(words) == 1
    assert "S02 exists" in capsys.readouterr().err
    assert list((tmp_path / "my parts").rglob("*")) == [tmp_path / "my parts" / "S02"]
    (tmp_path / "my parts" / "S02").rmdir()
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.count("written: ") == 2
    assert f"for part in '{tmp_path}/my parts'/*; do limbtorque run-study" in out
