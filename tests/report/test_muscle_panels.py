"""Panels of muscles on a trial's page: one muscle has one colour."""

import numpy as np
import pyarrow as pa
import pytest

from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.report import panels

FRAMES = np.linspace(0.0, 1.0, 20)


def lines(strongest, channels):
    """Lines of the panels of forces and of electromyograms, of a leg whose muscle `strongest` pulls most."""
    names = load_muscle_set("leg").names
    columns = {f"{name}_force_n": FRAMES * (9.0 if name == strongest else 1.0) for name in names}
    columns |= {f"{name}_activation": FRAMES for name in names} | {f"{name}_envelope": FRAMES for name in channels}
    table, curves = pa.table(columns), panels._Curves()
    forces, emg = [*panels._muscle_panel(table, curves)], [*panels._emg_panel(table, (), curves)]
    return forces[0].lines, emg[0].lines


@pytest.mark.parametrize(("strongest", "channels"), [("soleus", ["hamstrings", "gastroc"]), ("vasti", ["gastroc"])])
def test_a_muscle_has_one_colour_in_all_panels_and_trials(strongest, channels):
    colours = {line.name: line.colour for line in lines("tib_ant", ["soleus"])[0]}
    forces, emg = lines(strongest, channels)
    assert {line.name: line.colour for line in forces} == colours
    assert all(line.colour == colours[line.name.rpartition(" ")[0]] for line in emg)


def test_muscles_differ_by_colour_and_dashes():
    forces, _ = lines("soleus", ["soleus"])
    assert len({(line.colour, line.dash) for line in forces}) == len(forces) == 17


def test_the_panel_of_electromyograms_gives_reasons_and_no_dead_envelope():
    columns = {f"{name}_{what}": FRAMES for name in ("soleus", "tib_ant") for what in ("envelope", "activation")}
    nothing = {"r": float("nan"), "lag_s": float("nan"), "faults": ""}
    rows = [
        {**nothing, "muscle": "soleus", "faults": "dead", "not_compared": "dead"},
        {**nothing, "muscle": "tib_ant", "not_compared": "77.8 % known, limit 90 %"},
    ]
    (panel,) = panels._emg_panel(pa.table(columns), rows, panels._Curves())
    assert {line.name for line in panel.lines} == {"soleus activation", "tib_ant EMG", "tib_ant activation"}
    reasons = "soleus: not compared: dead; tib_ant: not compared: 77.8 % known, limit 90 %."
    assert f"; those of dead channels are not drawn. {reasons} Known: share of the window's frames" in panel.about
    assert panel.about.endswith("(limit: ensembles.min_known_share).")


@pytest.mark.parametrize("ranged", [False, True])
def test_the_panel_of_contact_forces_names_the_factor_of_its_range(ranged):
    ends = [f"knee_effort_{end}_contact_bw" for end in ("min", "max")] if ranged else []
    table = pa.table(dict.fromkeys(["knee_contact_bw", *ends], FRAMES))
    (panel,) = panels._contact_panel(table, ["knee"], panels._Curves())
    assert ("up to 1.25 times the smallest possible peak activation" in panel.about) == ranged
    assert ("range" in panel.about) == ranged
