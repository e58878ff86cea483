"""Two result folders, compared byte by byte."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from limbtorque.tables.files import write_table
from limbtorque.tables.trial_record import TrialRecord

ROOT = Path(__file__).resolve().parents[1]


def compared(*folders: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    spec = importlib.util.spec_from_file_location("compare_results", ROOT / "tools" / "compare_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["compare_results", *map(str, folders)])
    with pytest.raises(SystemExit) as ended:
        module.main()
    return int(ended.value.code)  # type: ignore[arg-type]


def results(folder: Path, *, code: str = "a1", number: float = 1.0, text: str = "1\n2\n", note: str = "") -> Path:
    (folder / "torques" / "s1").mkdir(parents=True)
    record = TrialRecord(notes=(note,), provenance={"torques": {"code": code}})
    write_table(pa.table({"x": [number, float("nan")]}), folder / "torques" / "s1" / "t.parquet", record=record)
    (folder / "torques" / "s1" / "t.csv").write_text(text)
    (folder / "provenance.json").write_text(f'{{\n "code": {{\n  "torques": "{code}"\n }},\n "n": 1\n}}\n')
    return folder


def test_only_hashes_of_the_code_may_differ(tmp_path, monkeypatch, capsys):
    before = results(tmp_path / "a")
    assert compared(before, results(tmp_path / "b", code="b2"), monkeypatch=monkeypatch) == 0
    assert "3 files compared (1 .csv, 1 .json, 1 .parquet), 0 differ" in capsys.readouterr().out
    for change, message in (
        ({"number": 1.0 + 2.3e-16}, "torques/s1/t.parquet: other numbers in x"),
        ({"note": "flagged"}, "torques/s1/t.parquet: another record"),
        ({"text": "1\n2.0\n"}, "torques/s1/t.csv: 4 and 6 bytes, from line 2 on"),
        (None, "torques/s1/t.csv: not after"),
    ):
        shutil.rmtree(tmp_path / "b")
        after = results(tmp_path / "b", **(change or {}))
        if change is None:
            (after / "torques" / "s1" / "t.csv").unlink()
        assert compared(before, after, monkeypatch=monkeypatch) == 1
        assert message in capsys.readouterr().out
