"""What `benchmarks/peers.py` says of other programs: those that are missing, that disagree, or that are faster. Nothing is timed here."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def peers(monkeypatch):
    """Its modules: measure, page and the script."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    measure = importlib.import_module("parts.peers_measure")
    monkeypatch.setattr(measure, "SAMPLE_S", 0.0)
    return measure, importlib.import_module("parts.peers_page"), importlib.import_module("peers")


def work(measure, *others):
    def agree(ours, found):
        if not np.array_equal(ours, found):
            raise measure.DisagreementError("by much")
        return "equal"

    def way(program, prepare):
        return measure.Way(program, "some way", prepare)

    ours = way(measure.OURS, lambda: lambda: [1.0, 2.0])
    return measure.Work("Counting", "To two.", "us", 1e6, agree, [ours, *(way(*other) for other in others)])


def not_there():
    raise ImportError("libnothing.so: no such file")


def test_what_does_not_agree_is_not_timed(peers):
    measure, page, _ = peers
    found = measure.measure(work(measure, ("SLSQP (SciPy)", lambda: lambda: [1.0, 2.5])), runs=2, reasons={})
    assert found.rows[1].disagrees
    assert not found.rows[1].times
    assert not found.rows[0].disagrees
    assert "not measured |  | does not agree: by much |" in page.table(found)


def test_a_fault_of_ours_is_not_hidden(peers):
    measure, _, _ = peers
    broken = work(measure)
    broken.ways[0] = measure.Way(measure.OURS, "some way", not_there)
    with pytest.raises(ImportError):
        measure.measure(broken, runs=1, reasons={})


def rows(measure, ours, other):
    return [measure.Row(name, "1", "way", "", times) for name, times in ((measure.OURS, ours), ("daqp", other))]


def test_every_program_is_pinned_and_at_the_version_of_the_tests(peers):
    measure, _, script = peers
    pins = dict(re.findall(r"^([\w-]+)==(\S+)$", script.REQUIREMENTS.read_text(encoding="utf-8"), flags=re.MULTILINE))
    others = {program.distribution for program in measure.PROGRAMS.values()} - {"limbtorque", "scipy"}
    assert set(pins) == others
    constraints = dict(
        re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), flags=re.MULTILINE)
    )
    assert {name: pin for name, pin in pins.items() if name in constraints} == {
        name: constraints[name] for name in pins if name in constraints
    }


@pytest.mark.usefixtures("peers")
def test_the_motion_has_its_own_derivatives():
    """Central differences err by h^2/6 times a third derivative below 3 rad (19 rad/s)^3 = 2e4, the next one by 4e5."""
    dynamics = importlib.import_module("parts.peers_dynamics")
    rate_hz = 2e4
    angle, velocity, acceleration = dynamics.smooth_motion(2000, rate_hz=rate_hz)
    error = rate_hz**-2 / 6.0 * 2.1e4
    slope = (angle[2:] - angle[:-2]) * rate_hz / 2.0
    np.testing.assert_allclose(slope, velocity[1:-1], rtol=0, atol=error)
    slope = (velocity[2:] - velocity[:-2]) * rate_hz / 2.0
    np.testing.assert_allclose(slope, acceleration[1:-1], rtol=0, atol=20.0 * error)
