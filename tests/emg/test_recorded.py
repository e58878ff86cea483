"""Electromyography of a whole recording: envelopes at the frames, faults, units and maximal trials as sentences."""

import math

import numpy as np
import pytest
from emg_signals import RATE_HZ, bursts

from limbtorque.emg.recorded import electromyography, peaks
from limbtorque.emg.summary import co_contraction_rows, emg_summary, over_study
from limbtorque.recordings.recording import Recording
from limbtorque.study.options.muscles import Emg

N = 10000
FRAMES_S = np.arange(500) / 100.0
ON, OFF = [1.0, 2.2, 3.6], [1.4, 2.7, 4.1]


def recording(channels, units="mV"):
    analog = {
        "analog_labels": tuple(channels),
        "analog_units": (units,) * len(channels) if isinstance(units, str) else tuple(units),
        "analog": np.stack(list(channels.values()), axis=1),
        "analog_rate_hz": RATE_HZ,
    }
    return Recording("walk.c3d", "", "", (), np.zeros((500, 0, 3)), 100.0, 1, **analog)


def muscle(seed=1, *, rest=0.05):
    return bursts(N, ON, OFF, seed=seed, rest=rest)


def options(**more):
    channels = {"R Sol": "soleus", "R TA": "tib_ant"}
    return Emg.model_validate({"channels": channels, **more})


def read(channels, own=None, *, units="mV", **more):
    """Electromyography of channels at the frames, by settings of their own."""
    return electromyography(recording(channels, units), FRAMES_S, "right", own or options(), **more)


TWO = {"R Sol": muscle(1), "R TA": np.roll(muscle(2), 1000)}  # half a second apart


def test_envelopes_are_normalised_and_delayed():
    now = read(TWO, options(delay_s=0.0))
    later = read(TWO, options(delay_s=0.05))
    assert now.muscles == ("soleus", "tib_ant")
    assert now.usable.all()
    assert np.nanmax(now.envelope, axis=0) == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(later.envelope[5:], now.envelope[:-5], atol=1e-9)
    assert np.isnan(later.envelope[:5]).all()
    assert now.notes == ()


def test_sides_are_written_into_the_labels():
    made = Emg.model_validate({"channels": {"{S} Sol": "soleus", "{side}_{Side}_{SIDE}_{s}": "tib_ant"}})
    assert made.channels_of("left") == {"L Sol": ("soleus",), "left_Left_LEFT_l": ("tib_ant",)}


def test_activity_is_not_delayed_and_has_the_known_times():
    found = read(TWO, options(delay_s=0.2))
    for method, activity in found.activity.items():
        first = FRAMES_S[np.flatnonzero(activity[:, 0] == 1.0)[0]]
        assert first == pytest.approx(1.0, abs=0.045), method  # 25 ms ahead, half a period of 50 Hz, a frame


def test_several_channels_of_one_muscle_are_averaged_without_the_faulty_ones():
    channels = {"VL": muscle(1), "VM": 3.0 * muscle(2), "dead": np.zeros(N)}
    own = Emg.model_validate({"channels": dict.fromkeys(channels, "vasti")})
    found = read(channels, own)
    alone = [read({k: channels[k]}, Emg.model_validate({"channels": {k: "vasti"}})) for k in ("VL", "VM")]
    np.testing.assert_allclose(found.envelope, (alone[0].envelope + alone[1].envelope) / 2, equal_nan=True)
    assert found.facts[0]["channel"] == "VL, VM"
    assert any("'dead': no muscle signal" in note for note in found.notes)


def test_a_missing_channel_is_a_sentence_with_a_hint():
    found = read({"R Sol": muscle()})
    assert not found.usable[1]
    assert np.isnan(found.envelope[:, 1]).all()
    assert "no channel 'R TA'" in found.notes[0]
    lower = read({"R sol": muscle()})
    assert "did you mean 'R sol'?" in lower.notes[0]
    assert not lower.usable.any()


def test_units_and_amplitudes():
    found = read(TWO, units=["mV", "uV"])
    sizes = [float(fact["rms_uv"]) for fact in found.facts]
    assert sizes[0] == pytest.approx(1e3 * np.sqrt(np.mean(TWO["R Sol"] ** 2)), rel=0.02)
    assert sizes[1] == pytest.approx(np.sqrt(np.mean(TWO["R TA"] ** 2)), rel=0.02)


@pytest.mark.parametrize(
    ("unit", "sentence"),
    [("", "the unit is not stated"), ("N", "the unit 'N' is not a voltage"), ("V", "above 20 mV")],
)
def test_an_unknown_or_impossible_unit_is_a_sentence(unit, sentence):
    found = read(TWO, units=unit)
    assert len(found.notes) == 1
    assert f"'R Sol', 'R TA': {sentence}" in found.notes[0]
    assert math.isnan(found.facts[0]["rms_uv"])
    assert found.usable.all()


def test_the_option_settles_an_unstated_unit():
    found = read(TWO, options(unit="uV"), units="")
    assert found.notes == ()
    assert found.facts[0]["rms_uv"] > 0.0


def test_an_inverted_channel_gives_the_same_envelope():
    turned = {label: -values for label, values in TWO.items()}
    one, other = (read(of) for of in (TWO, turned))
    np.testing.assert_allclose(one.envelope, other.envelope, equal_nan=True)


def test_maximal_trials_normalise_and_one_below_the_trial_is_told():
    largest = peaks(recording({"R Sol": 2.0 * muscle(1), "R TA": 0.5 * TWO["R TA"]}), options())
    found = read(TWO, maxima=largest)
    assert np.nanmax(found.envelope, axis=0) == pytest.approx([0.5, 2.0], rel=0.01)
    assert [fact["normalised_by"] for fact in found.facts] == ["maximal trial"] * 2
    (note,) = found.notes
    assert "'R TA': the maximal trial is below this trial (50% of its peak)" in note


def test_a_muscle_whose_channels_do_not_all_have_a_maximal_trial_has_its_own_peaks():
    both = Emg.model_validate({"channels": {"R Sol": "soleus", "R Sol 2": "soleus", "R TA": "tib_ant"}, "delay_s": 0.0})
    of_trial = {"R Sol": muscle(1), "R Sol 2": 0.5 * muscle(3), "R TA": TWO["R TA"]}
    whole = read(of_trial, both)
    largest = peaks(recording({"R Sol": 4.0 * muscle(1), "R TA": 2.0 * TWO["R TA"]}), both)
    found = read(of_trial, both, maxima=largest)
    assert [fact["normalised_by"] for fact in found.facts] == ["own peak", "maximal trial"]
    np.testing.assert_allclose(found.envelope[:, 0], whole.envelope[:, 0], rtol=1e-12, equal_nan=True)
    assert np.nanmax(found.envelope[:, 1]) == pytest.approx(0.5, rel=0.01)
    assert any("soleus: only some of its channels have a maximal trial" in note for note in found.notes)
    windows = {"trial": np.ones(500, dtype=bool)}
    (row,) = co_contraction_rows(
        found, windows, [("soleus", "tib_ant")]
    )  # a share of a maximum beside a share of a peak
    assert math.isnan(row["falconer_winter"])
    assert math.isnan(row["rudolph"])
    assert math.isfinite(co_contraction_rows(whole, windows, [("soleus", "tib_ant")])[0]["falconer_winter"])


def test_a_maximal_trial_in_another_voltage_is_converted():
    """A maximal trial twice as large, in microvolts, beside a trial in millivolts."""
    largest = peaks(recording({label: 2e3 * values for label, values in TWO.items()}, "uV"), options())
    found = read(TWO, maxima=largest)
    assert np.nanmax(found.envelope, axis=0) == pytest.approx([0.5, 0.5], rel=0.01)
    assert not found.notes


@pytest.mark.parametrize(("unit", "of_maximal"), [("", "mV"), ("mV", ""), ("counts", "mV")])
def test_a_maximal_trial_of_unknown_unit_does_not_normalise(unit, of_maximal):
    largest = peaks(recording({label: 2.0 * values for label, values in TWO.items()}, of_maximal), options())
    found = read(TWO, units=unit, maxima=largest)
    assert [fact["normalised_by"] for fact in found.facts] == ["own peak"] * 2
    assert any("not comparable" in note and "give emg.unit" in note for note in found.notes)


def test_a_maximal_trial_serves_channels_that_only_the_settings_name():
    own = Emg.model_validate({"channels": {"CH {S}": "soleus"}})
    largest = peaks(recording({"CH R": 0.6 * muscle(1)}, "N"), own)  # no label or unit of electromyography
    found = read({"CH R": 0.3 * muscle(1)}, own, units="N", maxima=largest)
    assert np.nanmax(found.envelope) == pytest.approx(0.5, rel=0.01)


def test_channels_in_different_voltages_are_compared_in_one():
    """0.3 mV and 0.0003 V are of one size: none is faint beside the other."""
    found = read({"R Sol": 0.3 * muscle(1), "R TA": 3e-4 * TWO["R TA"]}, units=("mV", "V"))
    assert [fact["faults"] for fact in found.facts] == ["", ""]
    assert found.facts[1]["rms_uv"] == pytest.approx(found.facts[0]["rms_uv"], rel=0.15)


def test_an_amplitude_below_the_noise_of_amplifiers_is_left_out():
    found = read({label: 3e-4 * values for label, values in TWO.items()}, units="uV")
    assert np.isnan([fact["rms_uv"] for fact in found.facts]).all()
    assert "below 0.1 uV, less than the noise of an amplifier: probably not in uV" in found.notes[0]


def test_recorded_envelopes_are_taken_as_they_are():
    smooth = np.maximum(np.sin(2 * np.pi * np.arange(N) / RATE_HZ), -0.02)  # filters leave values below zero
    found = read({"R Sol": smooth, "R TA": muscle()}, options(delay_s=0.0))
    np.testing.assert_allclose(found.envelope[:, 0], np.maximum(np.sin(2 * np.pi * FRAMES_S), 0.0), atol=1e-4)
    assert np.isnan(found.activity["bonato"][:, 0]).all()
    assert np.isfinite(found.activity["hodges_bui"]).all()


def summary(activation, names, found=None, known=None):
    found = found or read(TWO, options(delay_s=0.0))
    every = np.ones(len(FRAMES_S), dtype=bool)
    return emg_summary(
        found,
        activation,
        names,
        time_s=FRAMES_S,
        known=every if known is None else known,
        windows={"trial": every},
        min_known_share=0.9,
    )


def test_rows_of_the_summary_name_agreement_and_neighbour():
    found = read(TWO, options(delay_s=0.0))
    rows = summary(np.nan_to_num(found.envelope[:, ::-1]), ["soleus", "tib_ant"], found)  # exchanged on purpose
    assert rows[0]["neighbour"] == "tib_ant"
    assert rows[0]["neighbour_r"] == pytest.approx(1.0)
    assert rows[0]["r"] < 0.5
    straight = summary(0.5 * np.nan_to_num(found.envelope), ["soleus", "tib_ant"], found)
    assert straight[1]["r"] == pytest.approx(1.0)
    assert straight[1]["scale"] == pytest.approx(0.5)
    assert straight[0]["onset_bonato_s"] in FRAMES_S
    assert straight[0]["offset_bonato_s"] - straight[0]["onset_bonato_s"] == pytest.approx(0.5, abs=0.03)


def test_without_activations_envelopes_and_bursts_remain():
    rows = summary(np.zeros((500, 0)), [])
    assert all(math.isnan(row["r"]) and row["used_share"] == 0.0 for row in rows)
    assert rows[0]["peak_envelope"] == pytest.approx(1.0, abs=0.01)


def test_every_empty_r_has_its_reason():
    found = read(TWO, options(delay_s=0.0))
    activation = np.nan_to_num(found.envelope)
    known = np.arange(500) < 390  # 78 % of the frames, less than the 90 % asked for
    rows = summary(activation, ["soleus", "tib_ant"], found, known)
    assert {row["not_compared"] for row in rows} == {"78 % known, limit 90 %"}
    rows = summary(activation[:, :1], ["soleus"], found)
    assert [row["not_compared"] for row in rows] == ["", "no activation"]
    rows = summary(0.0 * activation, ["soleus", "tib_ant"], found)
    assert {row["not_compared"] for row in rows} == {"constant or too short"}
    assert all(math.isnan(row["r"]) for row in rows)


def test_a_faulty_channel_is_compared_with_nothing():
    found = read({**TWO, "R TA": np.zeros(N)})
    rows = summary(np.random.default_rng(1).random((500, 2)), ["soleus", "tib_ant"], found)
    assert math.isfinite(rows[0]["r"])
    assert math.isnan(rows[1]["r"])
    assert rows[0]["neighbour"] == ""
    assert rows[1]["faults"] == rows[1]["not_compared"] == "dead"
    assert rows[0]["not_compared"] == ""
    pairs = co_contraction_rows(found, {"trial": np.ones(500, dtype=bool)}, [("soleus", "tib_ant")])
    assert math.isnan(pairs[0]["rudolph"])


def row(subject, r, neighbour_r=0.0):
    values = dict.fromkeys(("rms", "scaled_rms", "lag_s", "lag_r"), 0.1)
    about = {"chain": "leg", "window": "events", "muscle": "soleus", "subject": subject}
    return {**about, **values, "r": r, "neighbour_r": neighbour_r}


def test_over_the_study_subjects_count_alike():
    rows = [row("A", 0.9), row("A", 0.7), row("A", 0.8), row("B", 0.2, 0.5), row("C", math.nan)]
    (found,) = over_study(rows)
    assert found["r"] == pytest.approx(0.5)  # the median of 0.8 and 0.2
    assert (found["n_subjects"], found["n_trials"], found["n_left_out"]) == (2, 4, 1)
    assert (found["min_r"], found["max_r"]) == (0.2, pytest.approx(0.8))
    assert found["own_best_share"] == 0.75
