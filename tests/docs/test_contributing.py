"""The page on architecture names the rooms in their order; it and CONTRIBUTING.md name files and commands that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8") + ARCHITECTURE


def test_the_rooms_are_those_of_the_package_in_their_order():
    module = ast.parse((ROOT / "tests" / "test_rooms.py").read_text(encoding="utf-8"))
    (order,) = (
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "ORDER"
    )
    table = ARCHITECTURE.partition("| --- | --- |\n")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == order


def test_files_and_folders_exist():
    paths = re.findall(r"`((?:src|tests|docs|tools|workflow|\.ci)/[\w./]*)`", TEXT)
    assert len(paths) > 12
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert not missing


def test_make_targets_exist():
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^    make ([\w-]+)|`make ([\w-]+)`", TEXT, flags=re.MULTILINE):
        assert re.search(rf"^{''.join(target)}:", rules, flags=re.MULTILINE), target
