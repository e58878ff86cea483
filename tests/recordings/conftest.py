"""A small recording for the tests of the readers."""

from pathlib import Path

import pytest

from c3d_files import positions, write_c3d


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_c3d(tmp_path / "small.c3d", positions())
