"""Texts are plain English: no phrase of an old dialect, and docstrings begin with a short imperative or noun phrase."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "limbtorque"
# phrase -> the words to use; phrases may be broken over lines
PHRASES = {
    r"became of": "status",
    r"(?:is|are|was|were) told": "is flagged, is given, is noted",
    r"in(?:to)? doubt": "affects",
    r"made of (?:it|them|the file)": "interpreted as",
    r"no (?:row|chain) is (?:made|recognised)": "no trial created; no arm or leg recognised",
    r"takes? the # away": "remove the leading #",
    r"no way to a curve": "a curve needs two foot strikes of the same side",
    r"(?:in|within) reach of the (?:filter|cut)": "affected by filter edge effects",
    r"through all rooms, in": "in memory",
    r"has to say of": "reports",
    r"what a job kept": "session record",
    r"quality figures?": "quality metric",
    r"shar(?:e|es|ed|ing) (?:\w+ ){0,4}among": "static optimization",
    r"(?<![\w./-])(?<!load )sharing(?![\w./-])": "static optimization",
    r"(?:puts?|putting) aside": "moves, removes",
    r"without a word": "silently",
    r"has no say in": "does not affect",
}

PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "data/README.md", "benchmarks/README.md")
FOLDERS = ("docs/*.md", "docs/decisions/*.md", "src/limbtorque/**/*.py", "src/limbtorque/**/*.yaml", "examples/*.py")
FILES = [*(ROOT / page for page in PAGES), *(path for folder in FOLDERS for path in sorted(ROOT.glob(folder)))]


def room(path):
    """Room of a module, or a page's own path."""
    inside = path.is_relative_to(PACKAGE)
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py") if inside else path.relative_to(ROOT).as_posix()


def dialect(text):
    """Phrases of the dialect in a text, each with the words to use."""
    for phrase, better in PHRASES.items():
        for hit in re.finditer(rf"\b{phrase}\b" if phrase[0].isalpha() else phrase, text, flags=re.IGNORECASE):
            yield f"{hit.group()!r}: write {better!r}"


def bad_first_lines(text):
    """First lines of docstrings that begin like a question, or are too long."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if re.match(r"(?:What|Whether|How)\b", first) or len(first) > 80:
                yield first


@pytest.mark.parametrize("place", sorted({room(path) for path in FILES}))
def test_no_phrase_of_the_dialect_and_short_first_lines(place):
    for path in (path for path in FILES if room(path) == place):
        text = path.read_text(encoding="utf-8")
        assert not list(dialect(re.sub(r"[\s#]+", " ", text))), path
        assert not (path.is_relative_to(PACKAGE) and path.suffix == ".py" and list(bad_first_lines(text))), path
