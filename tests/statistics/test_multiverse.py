"""Contrasts in all universes: the test by enumeration, universes counted once, shares of the spread, and sentences."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from limbtorque.report.multiverse import sentences, share_rows, where_words
from limbtorque.statistics.contrast_design import contrast_design
from limbtorque.statistics.contrasts import Measured
from limbtorque.statistics.multiverse import Specified, multiverse_rows, spread_shares
from limbtorque.study.options.contrasts import Contrast
from limbtorque.study.study import load_study
from staged_study import ROOT

OUTCOME = {"statistic": "rms_nm", "joint": "knee"}
FASTER = Contrast.model_validate({"name": "c", "chain": "leg", "outcomes": [OUTCOME], "conditions": ["fast", "slow"]})
CHOICES = {"filter.cutoff_hz": ["6", "10", "auto"], "muscles.exponent": ["2", "3"], "motion.angles": ["a", "b"]}
IDLE = {"muscles.tendon": ["rigid", "compliant"]}  # changes nothing, as the exponent
N_SUBJECTS = 6


@pytest.fixture(scope="module")
def trials():
    """A fast and a slow walk of each subject."""
    walk = next(trial for trial in load_study(ROOT).trials if trial.chain == "leg")
    people = [replace(walk.subject, name=f"S{k:02}") for k in range(N_SUBJECTS)]
    return [replace(walk, name=c + p.name, subject=p, condition=c) for p in people for c in ("fast", "slow")]


def specified(trials, differences):
    """Outcome with differences of subjects in each universe, shape (n_universes, n_subjects); slow is 0."""
    values = np.zeros((len(differences), len(trials)))
    values[:, ::2] = differences
    about = FASTER.outcomes[0], "knee", "N m", ("net",)
    measured = [
        Measured(*about, each[:, None, None], np.zeros(0), np.zeros(len(trials), dtype=bool))
        for each in np.repeat(values, 2, axis=0)
    ]
    return Specified(contrast_design(FASTER, trials), measured, CHOICES | IDLE)


def rows_of(trials, *outcomes):
    """Rows of the first of several outcomes; universes without the last option, which is idle."""
    rows = pd.DataFrame(multiverse_rows([specified(trials, each) for each in outcomes], {}, seed=1)[0])
    assert not rows["universe"].mod(2).any()
    return rows.assign(universe=rows["universe"] // 2)


def differences(seed=4, effect=0.8):
    """Correlated differences; the exponent changes nothing."""
    rng = np.random.default_rng(seed)
    own = effect + rng.normal(size=N_SUBJECTS)
    grid = own + 0.4 * rng.normal(size=(3, 1, 2, N_SUBJECTS))
    return np.broadcast_to(grid, (3, 2, 2, N_SUBJECTS)).reshape(-1, N_SUBJECTS)


def t_of(values):
    return values.mean(axis=-1) / values.std(axis=-1, ddof=1) * np.sqrt(values.shape[-1])


def test_p_over_all_universes_is_that_of_all_flips(trials):
    values = differences()
    other = differences(seed=5, effect=0.0)  # smaller: the first outcome is judged beside all of it
    rows = rows_of(trials, values, other)
    flips = np.array(list(itertools.product([1.0, -1.0], repeat=N_SUBJECTS)))
    largest = np.abs(t_of(flips[:, None] * values)).max(axis=1)
    observed = np.abs(t_of(values))
    expected = (largest >= observed.max() * (1.0 - 1e-9)).mean()
    assert rows["p_multiverse"].unique() == [expected]
    of_both = np.maximum(largest, np.abs(t_of(flips[:, None] * other)).max(axis=1))
    adjusted = (of_both >= observed.max() * (1.0 - 1e-9)).mean()
    assert adjusted > expected
    assert np.abs(t_of(other)).max() < observed.max()
    assert rows["p_multiverse_adjusted"].unique() == [adjusted]
    assert rows["p_adjusted"].min() == adjusted
    alone = [(np.abs(t_of(flips * values[u])) >= observed[u] * (1.0 - 1e-9)).mean() for u in rows["universe"]]
    assert rows["p_flips"].tolist() == alone
    np.testing.assert_allclose(rows["estimate"], values[rows["universe"]].mean(axis=1))


def test_an_option_that_changes_nothing_is_left_out(trials):
    rows = rows_of(trials, differences())
    assert rows["universe"].tolist() == [0, 1, 4, 5, 8, 9]
    assert set(rows["muscles.exponent"]) == {""}
    assert rows.iloc[3]["filter.cutoff_hz"] == "10"
    assert rows.iloc[3]["motion.angles"] == "b"


def test_all_universes_have_the_subjects_that_are_usable_in_all(trials):
    values = differences().copy()
    values[4:8, 2] = np.nan  # rejected with 10 Hz
    values[8:] = np.nan  # auto fails everywhere
    rows = rows_of(trials, values)
    assert set(rows["n_subjects"]) == {N_SUBJECTS - 1}
    others = np.delete(values, 2, axis=1)
    np.testing.assert_allclose(rows["estimate"], others[rows["universe"]].mean(axis=1))
    assert rows.groupby("universe")["n_lost"].first().to_dict() == {0: 0, 1: 0, 4: 1, 5: 1, 8: 6, 9: 6}
    nothing = "cannot be found, whatever the data: the smallest p is 0.062; "  # of five pairs, 2 / 2^5
    assert rows["note"].iloc[0] == f"{nothing}left out, as a universe has no value: S02; 2 universes without any"
    assert np.isfinite(rows["p_multiverse"]).all()


def test_shares_are_those_of_an_analysis_of_variance():
    """Effects of sizes 2 (two values) and 1 (three values), and their product: squares 4, 2/3 and 2/3 of each size squared."""
    first, second = np.array([-1.0, 1.0]), np.array([-1.0, 0.0, 1.0])
    shares = spread_shares(2.0 * first[:, None] + second + 3.0 * first[:, None] * second)
    total = 4.0 + 2.0 / 3.0 + 6.0
    assert shares == pytest.approx({(0,): 4.0 / total, (1,): 2.0 / 3.0 / total, (0, 1): 6.0 / total})
    assert spread_shares(np.ones((2, 2))) == {}
    assert spread_shares(np.array([1.0, np.nan])) == {}


def finding(**columns):
    shape = {"filter.cutoff_hz": ["6", "10"], "motion.angles": ["a", "b"]}
    names = itertools.product(*shape.values())
    rows = pd.DataFrame([dict(zip(shape, each, strict=True)) for each in names])
    about = {
        "term": "net",
        "unit": "N m",
        "note": "",
        "n_subjects": 9,
        "n_lost": 0,
        "p_multiverse": 0.03,
        "p_multiverse_adjusted": 0.06,
    }
    return rows.assign(**about, **columns)


def test_sentences_say_where_a_finding_fails():
    low = np.array([0.2, 0.1, 0.3, -0.1])
    text = " ".join(sentences(finding(estimate=low + 0.5, low=low, high=low + 1.0)))
    assert (
        "difference is 0.7 N m (0.2 to 1.2); over 4 universes it goes from 0.4 to 0.8, of the same 9 subjects." in text
    )
    assert "holds in 3 of 4 analyses; not where filter.cutoff_hz is 10 and motion.angles is b." in text
    assert "At least one analysis shows an effect: p = 0.03 over all universes (0.06 with" in text
    rows = finding(estimate=np.ones(4), low=-low, high=low + 2.0).assign(p_multiverse=0.4, n_lost=[0, 1, 1, 0])
    text = " ".join(sentences(rows))
    assert "the interval has 0; without 0 where filter.cutoff_hz is 10 and motion.angles is b." in text
    assert "The test over all universes shows no effect: p = 0.4" in text
    assert "In 2 of 4 universes trials are rejected" in text
    text = " ".join(sentences(rows.assign(note="cannot be found, whatever the data: the smallest p is 0.25")))
    assert "Test over all universes: cannot be found, whatever the data" in text


def test_who_and_what_is_not_there_is_said(trials):
    values = differences().copy()
    values[:, 2] = np.nan  # a recording that no universe can read
    values[1, 3] = np.nan
    rows = rows_of(trials, values)
    note = "left out, as a universe has no value: S03; without a value in all universes: 1 trial"
    assert rows["note"].iloc[0].endswith(note)
    text = " ".join(sentences(rows.assign(note=note, p_multiverse=0.01)))
    assert "of the same 4 subjects." in text
    assert f"L{note[1:]}." in text


def test_a_universe_without_an_estimate_is_no_failure_of_the_finding():
    low = np.array([0.2, 0.1, 0.3, np.nan])
    text = " ".join(sentences(finding(estimate=low + 0.5, low=low, high=low + 1.0)))
    assert "holds in 3 of 3 analyses." in text
    assert "no estimate in 1 of 4 universes, where filter.cutoff_hz is 10 and motion.angles is b; they are not" in text
    text = " ".join(sentences(finding(estimate=low[::-1] + 0.5, low=low[::-1], high=low[::-1] + 1.0)))
    assert "With the options of the study there is no estimate; over 3 universes it goes from 0.6 to 0.8." in text
    assert "interval has 0" not in text
    text = " ".join(sentences(finding(estimate=np.ones(4), low=np.full(4, np.nan), high=np.full(4, np.nan))))
    assert "there is no interval" in text
    assert "interval has 0" not in text


def test_the_fewest_words_come_first():
    rows = finding(estimate=np.ones(4), low=np.ones(4), high=np.ones(4))
    assert where_words(rows, rows["filter.cutoff_hz"] == "6") == "where filter.cutoff_hz is 6"
    assert share_rows(rows.assign(estimate=[1.0, 1.0, 2.0, 2.0])) == [("filter.cutoff_hz", "100 %")]
