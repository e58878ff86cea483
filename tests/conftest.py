"""Fixtures that many tests use."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of real recordings; the tests that need it are skipped where it is missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(
            f"the real recordings are not here: no folder {folder.parent.name}/{folder.name} beside the project"
        )
    return folder
