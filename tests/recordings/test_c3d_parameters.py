"""Each standard parameter of a C3D file wrong in each way: an error, a word, or the same numbers."""

from pathlib import Path

import numpy as np
import pytest
from c3d_damage import force_bases

from damage import put
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return force_bases(tmp_path_factory.mktemp("c3d"))


def read(path: Path, content: bytes) -> Recording:
    put(path, content)
    return read_recording(path)


def test_the_good_files_hold_the_same_forces(bases: dict[str, bytes], tmp_path: Path) -> None:
    found = {name: read(tmp_path / "a.c3d", raw) for name, raw in bases.items()}
    expected = found["intel real type 2"]
    for name, recording in found.items():
        assert not recording.notes, name
        assert not recording.audit.guesses, name
        for one, other in zip(recording.force_plates, expected.force_plates, strict=True):
            np.testing.assert_allclose(one.force_n, other.force_n, atol=2.0)  # integers of 12 bits, crosstalk
            if "type 1" not in name:  # which has a free moment of its own
                np.testing.assert_allclose(one.moment_nm, other.moment_nm, atol=1.0)
