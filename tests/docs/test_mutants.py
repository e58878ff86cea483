"""The command that changes the code and runs the tests: which places, which changes, which tests."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray")
ROOT = Path(__file__).resolve().parents[2]
CODE = '''"""A module."""
LIMIT: float | None = 3.0


@lru_cache(maxsize=64)
def f(a: int | str, *, b=2):
    """Add."""
    if a > LIMIT and not b:
        return zip([a & b], [b.reshape(7, -1)], strict=True)
    return (
        a
        + b
    )
'''


@pytest.fixture(scope="module")
def mutants():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    module = sys.modules["mutants"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def module(mutants, tmp_path, monkeypatch):
    path = tmp_path / "src" / "limbtorque" / "chain" / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text(CODE)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return path


def test_what_is_changed(mutants, module):
    changes = [{mutant.change[2] for mutant in place} for place in mutants.places(module)]
    assert {"LIMIT: float | None = 4.0", "LIMIT: float | None = 2.0"} in changes  # not its annotation
    assert any("if a <= LIMIT and not b:" in each for each in changes)
    assert any("if a > LIMIT or not b:" in each for each in changes)
    after = "b], [b.reshape(7, -1)], strict=True)"
    assert any(each == {f"return zip([a {sign} {after}" for sign in "|^"} for each in changes)
    texts = [text for each in changes for text in each]
    assert not any("strict=False" in text or "int &" in text or " is " in text for text in texts)
    assert not any("lru_cache" in text or "maxsize" in text for text in texts)
    assert not any("Decorator" in mutant.operator for place in mutants.places(module) for mutant in place)
    assert sorted(text for text in texts if "reshape" in text and after not in text) == [
        f"return zip([a & b], [b.reshape( {size}, -1)], strict=True)" for size in (6, 8)
    ]


def test_a_sample_is_that_of_its_seed_and_compiles(mutants, module):
    one, same, other = ([mutant.change for mutant in mutants.sample(["chain"], 4, seed)] for seed in (1, 1, 2))
    assert one == same != other
    assert len(set(one)) == 4
    every = mutants.sample(["chain"], 100, 3)
    for mutant in every:
        compile(mutant.after, "module.py", "exec")
        assert mutant.diff.count("\n+") >= 1
    assert len(every) == len(mutants.places(module))


def test_every_explanation_is_of_a_mutant_of_this_code(mutants):
    explained = mutants.explanations()
    assert mutants.out_of_date(explained) == []
    assert all(len(reason) > 20 for reason in explained.values())
