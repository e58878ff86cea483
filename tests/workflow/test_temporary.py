"""Temporary folders: of killed processes they are removed, those in use stay."""

import os
import subprocess
import sys
import tempfile

import pytest

from limbtorque.workflow import operating_system

HOLD = (
    "from limbtorque.workflow.operating_system import temporary_folder; print(temporary_folder(), flush=True); input()"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(operating_system, "_held", [])
    yield tmp_path
    for number in operating_system._held:
        os.close(number)


def holder(place):
    """A process that holds a folder of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )
    return process, process.stdout.readline().strip()


def test_the_folder_of_a_killed_process_is_removed_at_once_and_one_in_use_stays(place):
    killed, lost = holder(place)
    killed.kill()
    killed.communicate()
    used, kept = holder(place)
    try:
        for name in ("limbtorque-of-yesterday", "other-a"):
            (place / name).mkdir()
        (place / "limbtorque-link").symlink_to(place / "other-a")
        own = operating_system.temporary_folder()
        there = {path.name for path in place.iterdir()}
        assert lost.rpartition("/")[2] not in there
        assert there == {kept.rpartition("/")[2], own.name, "other-a", "limbtorque-link"}
    finally:
        used.communicate("\n")


def test_a_folder_that_another_process_removes_before_it_is_held_is_made_again(place, monkeypatch):
    made = []

    def make(prefix):
        made.append(place / f"{prefix}{len(made)}")
        if made[1:]:  # the first is removed by another process before it can be held
            made[-1].mkdir()
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", make)
    assert operating_system.temporary_folder() == made[1]
