"""Fixtures that many tests use."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parents[1]


# Long tests start first, so that no worker of pytest-xdist ends with one of them.
FIRST = ("slurm", "workflow", "slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: next((n for n, mark in enumerate(FIRST) if item.get_closest_marker(mark)), len(FIRST)))


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Folder of real recordings; tests that need it are skipped where it is missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real recordings: the folder {folder.parent.name}/{folder.name} beside the project is missing")
    return folder
