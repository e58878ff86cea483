"""Standard streams that are closed, full or read no further: no traceback, and no other result."""

import subprocess
import sys

import pytest

from study_runs import make_plain_study, make_study

COMMAND = f'"{sys.executable}" -m limbtorque.cli.start'
FULL = "limbtorque: the output cannot be written: No space left on device"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("streams") / "study", ["S01_sagittal_fast"])


def shell(words, cwd):
    done = subprocess.run(words, shell=True, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("settings > /dev/full", 1, FULL),
        ("settings >&-", 0, ""),
        ("check study 2> /dev/full", 0, ""),
        ("settings | head -1", 0, ""),
        ("diff no_study no_study > /dev/full", 2, "limbtorque: "),
    ],
)
def test_a_command_whose_streams_are_gone_ends_in_order(words, code, says, study):
    found, _, err = shell(f"{COMMAND} {words}", study.parent)
    assert found == code
    assert says in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err


@pytest.mark.workflow
def test_a_run_does_its_work_without_streams(tmp_path):
    folder = make_plain_study(tmp_path / "study", ["S01_sagittal_fast"])
    code, _, _ = shell(f"{COMMAND} run-study study --cores 2 >&- 2>&- <&-", tmp_path)
    assert (folder / "results" / "verdict.txt").is_file()
    assert code == 0
