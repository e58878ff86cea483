"""`make release` ends with 1 at a tree that cannot be released."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-release" / "bin" / "python"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-release: make .venv-release/installed"),
]


@pytest.fixture
def tree(tmp_path):
    """Copy of the files that are or would be committed."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def release(tree, *steps):
    return subprocess.run(
        [PYTHON, ROOT / "tools" / "release.py", "--tree", tree, "--only", *steps],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_without_a_licence_is_refused(tree):
    assert release(tree, "metadata").returncode == 0
    (tree / "notes").mkdir()
    (tree / "notes" / "idea.py").write_text("idea = 1\n")
    ended = release(tree, "metadata")
    assert ended.returncode == 1
    assert "reuse lint" in ended.stderr


def test_an_invalid_citation_file_is_refused(tree):
    path = tree / "CITATION.cff"
    path.write_text(path.read_text(encoding="utf-8").replace("authors:", "writers:"), encoding="utf-8")
    ended = release(tree, "metadata")
    assert ended.returncode == 1
    assert "cffconvert --validate" in ended.stderr


def test_a_module_that_is_missing_from_the_wheel_is_found(tree):
    (tree / "src" / "limbtorque" / "figures" / "style.py").unlink()
    ended = release(tree, "build", "install")
    assert ended.returncode == 1
    assert "release: build passed" in ended.stdout
    assert "release: install failed" in ended.stderr
