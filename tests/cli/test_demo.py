"""The command that writes the demo study."""

from pathlib import Path

from limbtorque.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_study_is_that_of_the_clone_and_overwrites_nothing(tmp_path, capsys):
    study = tmp_path / "demo study"
    assert main(["demo", str(study)]) == 0
    written = [path.relative_to(study) for path in sorted(study.rglob("*")) if path.is_file()]
    assert len(written) == 3 + 24
    assert all((study / path).read_bytes() == (ROOT / path).read_bytes() for path in written)
    assert "next: limbtorque run-study" in capsys.readouterr().out
    assert main(["demo", str(study)]) == 1
    assert "nothing is overwritten" in capsys.readouterr().err
