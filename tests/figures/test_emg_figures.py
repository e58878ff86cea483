"""Figure of electromyography against the numbers it shows."""

import math

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import PolyCollection

from limbtorque.emg.summary import agreement_text
from limbtorque.figures.muscle_figures import ROOM, emg_figure

TIME_S = np.arange(200) / 100.0
ACTIVATION = 0.2 * np.sin(np.pi * TIME_S / 2.0) ** 2
ENVELOPE = np.cos(np.pi * TIME_S / 2.0) ** 2
ACTIVE = (ENVELOPE > 0.5).astype(float)
ROW = {"muscle": "soleus", "r": 0.884, "rms": 0.321, "lag_s": -0.04, "faults": ""}


def table(**columns):
    zero = np.zeros(len(TIME_S), dtype=int)
    frames = {"frame": np.arange(len(TIME_S)), "time_s": TIME_S, "edge": zero, "foreshortened": zero}
    muscle = {"soleus_envelope": ENVELOPE, "soleus_active_bonato": ACTIVE, "soleus_active_hodges_bui": ACTIVE}
    return pa.table(frames | muscle | columns)


def outline(axes):
    """Largest height of the envelope's area at each time."""
    area = next(one for one in axes.collections if isinstance(one, PolyCollection) and "envelope" in one.get_label())
    points = area.get_paths()[0].vertices
    return np.array([points[np.isclose(points[:, 0], t), 1].max() for t in TIME_S])


def test_the_envelope_has_the_height_of_the_activation():
    axes = emg_figure(table(soleus_activation=ACTIVATION), [ROW], title="walk").axes[0]
    line = next(one for one in axes.get_lines() if one.get_label() == "activation by static optimization")
    np.testing.assert_allclose(line.get_ydata(), ACTIVATION)
    np.testing.assert_allclose(outline(axes), ENVELOPE * ACTIVATION.max(), atol=1e-12)
    assert axes.get_ylim() == (0.0, pytest.approx(ROOM * ACTIVATION.max()))
    assert axes.get_title(loc="left") == "soleus\nr 0.88, rms 0.32, lag -40 ms"


def test_without_an_activation_the_envelope_stands_alone():
    axes = emg_figure(table(), [], title="walk").axes[0]
    np.testing.assert_allclose(outline(axes), ENVELOPE, atol=1e-12)
    assert axes.get_ylabel() == "envelope"


@pytest.mark.parametrize("faults", ["", "mains"])
def test_an_envelope_alone_states_what_its_scale_is(faults):
    row = {"muscle": "soleus", "normalised_by": "maximal trial", "faults": faults}
    axes = emg_figure(table(), [row], title="walk").axes[0]
    assert axes.get_title(loc="left") == f"soleus\n1: maximal trial{'; mains' if faults else ''}"


def test_a_method_without_values_is_replaced_by_the_other():
    figure = emg_figure(table(soleus_active_bonato=np.full(len(TIME_S), np.nan)), [], title="walk")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "active by Hodges and Bui (1996)" in labels
    assert "active by Bonato et al. (1998)" not in labels


def test_a_fault_is_named_in_place_of_the_agreement():
    nothing = dict.fromkeys(("r", "rms", "lag_s"), math.nan)
    assert agreement_text({**nothing, "not_compared": "dead"}) == "not compared: dead"
    assert agreement_text({**ROW, "lag_s": math.nan}) == "r 0.88, rms 0.32"


@pytest.mark.parametrize("predicted", [False, True])
def test_a_dead_channel_has_neither_envelope_nor_activity(predicted):
    row = {**ROW, "r": math.nan, "faults": "dead", "not_compared": "dead", "normalised_by": "own peak"}
    columns = {"soleus_activation": ACTIVATION} if predicted else {}
    axes = emg_figure(table(**columns), [row], title="walk").axes[0]
    assert not any(isinstance(one, PolyCollection) for one in axes.collections)
    about = "not compared: dead" if predicted else "1: own peak; dead"
    assert axes.get_title(loc="left") == f"soleus\n{about}; not drawn"
    other = emg_figure(table(**columns), [{**row, "faults": "mains"}], title="walk").axes[0]
    assert any(isinstance(one, PolyCollection) for one in other.collections)
