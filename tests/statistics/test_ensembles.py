"""Curves over 0 to 100 %: windows, resampling, means in one pass, and the tables that the demo study makes of them."""

import hashlib
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from limbtorque.cli.main import main
from limbtorque.errors import LimbtorqueError, SettingsError, StudyError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.recording import Event
from limbtorque.simulate.minimum_jerk import minimum_jerk
from limbtorque.statistics.time_normalisation import (
    Window,
    add,
    ensemble,
    find_between,
    find_movement,
    merge,
    no_moments,
    resample,
)
from limbtorque.study.settings import ARM, LEG, Ensembles, make_settings, override
from limbtorque.study.study import load_study
from limbtorque.tables.tables import curve_columns
from limbtorque.workflow import check, layout
from limbtorque.workflow import keys as keys_of
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.stages import collect, ensembles, kinematics, torques, verdict
from staged_study import ROOT, make_study, run_ensembles, run_stages

# ---- windows ----


def speed_of(*reaches, time_s):
    """Speed of minimum-jerk reaches, each (onset, duration, way)."""
    made = [minimum_jerk(time_s - t0, start=[0.0, 0.0], end=[way, 0.0], duration_s=d) for t0, d, way in reaches]
    return np.hypot(*sum(reach.velocity for reach in made).T)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
@pytest.mark.parametrize(("onset_s", "duration_s", "way_m"), [(0.313, 0.8, 0.4), (0.5, 2.0, 0.1)])
def test_onset_and_end_of_a_minimum_jerk_reach(share, onset_s, duration_s, way_m):
    """Its speed over its peak is 16 u^2 (1 - u)^2, so that it is the share at u (1 - u) = sqrt(share) / 4.

    A line between two frames errs by h^2 / 8 of the second derivative over the first, in time.
    """
    time_s = np.arange(400) / 100.0
    found = find_movement(time_s, speed_of((onset_s, duration_s, way_m), time_s=time_s), onset_share=share)
    u = (1.0 - np.sqrt(1.0 - np.sqrt(share))) / 2.0
    slope, bend = 32.0 * u * (1.0 - u) * (1.0 - 2.0 * u), 32.0 * (1.0 - 6.0 * u + 6.0 * u**2)
    bound = 2.0 * 0.01**2 / 8.0 * bend / slope / duration_s + 0.01**2  # twice, and the peak between two frames
    assert found.start_s == pytest.approx(onset_s + u * duration_s, abs=bound)
    assert found.end_s == pytest.approx(onset_s + (1.0 - u) * duration_s, abs=bound)
    assert bound < 2e-3
    assert found.note == ""


def test_a_way_there_and_back_is_one_movement_unless_it_rests_for_long_in_between():
    """The speed is below the share for the pause of 0.1 s and u seconds before and after it."""
    time_s = np.arange(500) / 100.0
    speed = speed_of((0.5, 1.0, 0.3), (1.6, 1.0, -0.3), time_s=time_s)
    u = (1.0 - np.sqrt(1.0 - np.sqrt(0.05))) / 2.0
    found = find_movement(time_s, speed, onset_share=0.05, max_rest_s=0.1 + 2.0 * u + 0.01)
    assert (found.start_s, found.end_s) == pytest.approx((0.5 + u, 2.6 - u), abs=1e-3)
    found = find_movement(time_s, speed, onset_share=0.05, max_rest_s=0.1 + 2.0 * u - 0.01)
    assert np.isnan([found.start_s, found.end_s]).all()
    assert f"2 movements: the endpoint rests from {1.5 - u:.2f} to {1.6 + u:.2f} s" in found.note


def test_a_pause_of_one_frame_is_a_rest_as_long_as_the_lines_around_it():
    """Lines between 1, 0 and 1 cross a quarter at 0.75 before and after the frame at rest: 1.5 in all."""
    speed = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    assert find_movement(np.arange(5.0), speed, onset_share=0.25, max_rest_s=0.51).note == ""
    assert "from 1.75 to 2.25 s" in find_movement(np.arange(5.0), speed, onset_share=0.25, max_rest_s=0.49).note


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_a_walk_from_standing_to_standing_is_not_one_movement(share):
    """The foot swings for 0.4 s and stands for 0.6 s, four times."""
    time_s = np.arange(500) / 100.0
    speed = speed_of(*((0.5 + k, 0.4, 1.3) for k in range(4)), time_s=time_s)
    found = find_movement(time_s, speed, onset_share=share, max_rest_s=Ensembles().max_rest_s)
    assert found.note.startswith("4 movements")
    assert "window to events" in found.note


@given(st.floats(1e-3, 1e3), st.floats(-100.0, 100.0))
def test_the_window_does_not_depend_on_the_unit_of_speed_and_moves_with_the_clock(scale, shift_s):
    time_s = np.arange(200) / 100.0
    speed = speed_of((0.5, 1.0, 0.3), time_s=time_s)
    first = find_movement(time_s, speed, onset_share=0.05)
    second = find_movement(time_s + shift_s, scale * speed, onset_share=0.05)
    assert (second.start_s, second.end_s) == pytest.approx((first.start_s + shift_s, first.end_s + shift_s), abs=1e-9)


@pytest.mark.parametrize(
    ("speed", "note"),
    [
        ([1.0, 2.0, 0.0, 0.0], "at the first frame the endpoint has 50 %"),
        ([0.0, 2.0, 2.0, 0.5], "at the last frame the endpoint has 25 %"),
        ([0.0, 0.0, 0.0, 0.0], "no movement"),
        ([np.nan] * 4, "no movement"),
        ([2.0], "no rest"),
    ],
)
def test_a_window_that_is_not_there_says_why(speed, note):
    found = find_movement(np.arange(len(speed)), speed, onset_share=0.05)
    assert np.isnan([found.start_s, found.end_s]).all()
    assert note in found.note


GAIT = [
    Event("Foot Strike", "Right", 0.05),
    Event("Foot Off", "Left", 0.15),
    Event("Foot Strike", "Left", 0.60),
    Event("Foot Off", "Right", 0.70),
    Event("Foot Strike", "Right", 1.23),
    Event("Foot Strike", "Left", 1.75),
    Event("sync", "", 0.30),
]


def between(start, end, side="right", first_s=0.0, last_s=2.0, known=lambda time_s: time_s >= 0.0, cycle="most_known"):
    time_s = np.linspace(first_s, last_s, 201)
    found = find_between(GAIT, start=start, end=end, side=side, time_s=time_s, known=known(time_s), cycle=cycle)
    return (found.start_s, found.end_s) if not found.note else found.note


@pytest.mark.parametrize(
    ("start", "end", "side", "expected"),
    [
        ("Foot Strike Right", "Foot Strike Right", "right", (0.05, 1.23)),
        ("Foot Strike", "Foot Strike", "right", (0.05, 1.23)),
        ("Foot Strike", "Foot Strike", "left", (0.60, 1.75)),
        ("Foot Strike {side}", "Foot Off {side}", "right", (0.05, 0.70)),
        ("foot  strike LEFT", "Foot Strike Right", "right", (0.60, 1.23)),
        ("sync", "Foot Off", "right", (0.30, 0.70)),
    ],
)
def test_a_window_between_events(start, end, side, expected):
    assert between(start, end, side) == expected


def test_events_before_the_first_frame_do_not_count():
    assert between("Foot Strike", "Foot Off", first_s=0.05) == (0.05, 0.70)
    assert "no event 'Foot Strike' of this side after 1.23 s" in between("Foot Strike", "Foot Strike", first_s=0.1)


def test_events_that_are_missing_or_too_late_say_so():
    assert "no event 'Toe Off' of this side at 0 s or later; the recording has Foot Strike Right" in between(
        "Toe Off", "x"
    )
    assert "no event 'Foot Off' of this side after 1.23 s" in between("Foot Strike", "Foot Off", first_s=1.0)
    assert "at 1.23 s is after the last frame that is analysed, 1.2 s" in between("sync", "Foot Strike", last_s=1.2)


def test_of_several_cycles_the_one_with_the_most_known_torque_is_taken():
    """Any event to the next: 0.05 to 0.60, 0.60 to 1.23, 1.23 to 1.75 s; torques are known from 1 s on."""
    either = [Event(e.label, "", e.time_s) for e in GAIT]

    def taken(known_from_s, cycle="most_known"):
        time_s = np.arange(201) / 100.0
        known = time_s >= known_from_s
        return find_between(
            either, start="Foot Strike", end="Foot Strike", side="right", time_s=time_s, known=known, cycle=cycle
        )

    assert taken(1.0) == Window(1.23, 1.75, cycle=3, n_cycles=3)
    assert taken(0.6) == Window(0.60, 1.23, cycle=2, n_cycles=3)  # as known as the next one, and earlier
    assert taken(9.0) == Window(0.05, 0.60, cycle=1, n_cycles=3)
    assert taken(1.0, "first") == Window(0.05, 0.60, cycle=1, n_cycles=3)
    assert taken(1.0, 2) == Window(0.60, 1.23, cycle=2, n_cycles=3)
    assert taken(1.0, 4).note == "ensembles.cycle is 4, and the trial has 3"


# ---- resampling ----


def test_a_cubic_comes_back_exactly_and_quantities_do_not_mix():
    time_s = 0.3 + np.arange(12) / 20.0
    values = np.column_stack([time_s**3 - time_s, 2.0 - time_s])
    found = resample(time_s, values, start_s=0.31, end_s=0.81, n_points=11)
    at = 0.31 + 0.05 * np.arange(11)
    np.testing.assert_allclose(found, np.column_stack([at**3 - at, 2.0 - at]), atol=1e-14)


def test_the_error_of_a_sine_is_that_of_a_cubic_spline():
    """A sine of 6 Hz at 100 frames per second: 5/384 (2 pi 0.06)^4, in the middle of the frames; a line errs by 1.8 %."""
    time_s = np.arange(200) / 100.0
    found = resample(time_s, np.sin(12.0 * np.pi * time_s)[:, None], start_s=0.5, end_s=1.5, n_points=333)[:, 0]
    error = np.abs(found - np.sin(12.0 * np.pi * np.linspace(0.5, 1.5, 333))).max()
    assert error < 1.05 * 5.0 / 384.0 * (0.12 * np.pi) ** 4
    assert error > 1e-5


def test_missing_frames_stay_missing_as_far_as_they_go():
    time_s = np.arange(10.0)
    values = np.column_stack([time_s**2, time_s**2])
    values[[3, 4], 0] = np.nan
    found = resample(time_s, values, start_s=0.0, end_s=9.0, n_points=19)
    missing = np.flatnonzero(np.isnan(found[:, 0])) / 2.0
    assert missing.tolist() == [2.5, 3.0, 3.5, 4.0, 4.5]
    np.testing.assert_allclose(found[:, 1], (np.arange(19) / 2.0) ** 2, atol=1e-12)
    np.testing.assert_allclose(found[10:, 0], (np.arange(10, 19) / 2.0) ** 2, atol=1e-12)


def test_short_runs_and_points_beyond_the_frames():
    time_s = np.arange(6.0)
    values = np.array([1.0, np.nan, 3.0, 5.0, np.nan, 7.0])[:, None]
    found = resample(time_s, values, start_s=0.0, end_s=6.0, n_points=13)[:, 0]
    np.testing.assert_array_equal(found[[0, 4, 5, 6, 10]], [1.0, 3.0, 4.0, 5.0, 7.0])
    assert np.isnan(np.delete(found, [0, 4, 5, 6, 10])).all()


# ---- means ----

SHAPE = (3, 2)
TRIALS = st.lists(
    arrays(float, SHAPE, elements=st.one_of(st.floats(-1e3, 1e3), st.just(float("nan")))), min_size=1, max_size=9
)


def moments_of(trials):
    found = no_moments(SHAPE)
    for trial in trials:
        found = add(found, trial)
    return found


def assert_numpy(found, trials):
    stack = np.array(trials)
    n = (~np.isnan(stack)).sum(axis=0)
    np.testing.assert_array_equal(found.n, n)
    for i, j in np.ndindex(SHAPE):
        known = stack[~np.isnan(stack[:, i, j]), i, j]
        mean = known.mean() if known.size else np.nan
        sd = known.std(ddof=1) if known.size > 1 else np.nan
        np.testing.assert_allclose(found.known_mean[i, j], mean, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(found.sd[i, j], sd, rtol=1e-9, atol=1e-6)


@given(TRIALS)
def test_mean_and_sd_in_one_pass_are_numpys(trials):
    assert_numpy(moments_of(trials), trials)


@given(TRIALS, TRIALS)
def test_two_lots_make_one(first, second):
    assert_numpy(merge(moments_of(first), moments_of(second)), [*first, *second])


def test_a_small_spread_on_a_large_mean_survives():
    """Differences of 1 about 1e9: a sum of squares would keep none of their digits."""
    found = moments_of([np.full(SHAPE, 1e9 + k) for k in (0.0, 1.0, 2.0)])
    np.testing.assert_allclose(found.sd, 1.0, rtol=1e-9)


def test_spread_over_trials_and_over_subjects_by_hand():
    """Subject A: 1, 3, 5; B: 9; C has no value. Trials: mean 4.5, squares 12.25 + 2.25 + 0.25 + 20.25; subjects: 3 and 9."""
    of_a, of_b, of_c = (moments_of([np.full(SHAPE, x) for x in values]) for values in ((1, 3, 5), (9,), (np.nan,)))
    trials = ensemble([of_a, of_b, of_c], spread_over="trials")
    subjects = ensemble([of_a, of_b, of_c], spread_over="subjects")
    np.testing.assert_allclose(trials.mean, 4.5)
    np.testing.assert_allclose(trials.sd, np.sqrt(35.0 / 3.0))
    np.testing.assert_allclose(subjects.mean, 6.0)
    np.testing.assert_allclose(subjects.sd, np.sqrt(18.0))
    for found in (trials, subjects):
        assert (found.n_trials == 4).all()
        assert (found.n_subjects == 2).all()


# ---- options ----


def test_events_have_to_be_named():
    with pytest.raises(SettingsError, match="window events needs start_event and end_event"):
        make_settings({"ensembles": {"window": "events", "start_event": "Foot Strike"}})
    changes = {"ensembles.window": "events", "ensembles.start_event": "A", "ensembles.end_event": "B"}
    assert override(make_settings({}), changes, source="x").ensembles.end_event == "B"


def test_a_column_of_the_trials_may_change_the_window_and_nothing_that_all_trials_share(tmp_path):
    with_window = make_study(tmp_path / "a", change=lambda rows: [{**r, "ensembles.onset_share": "0.1"} for r in rows])
    assert {t.settings.ensembles.onset_share for t in load_study(with_window).trials} == {0.1}
    for k, option in enumerate(("n_points", "include", "spread_over", "per_body_mass", "enabled")):
        folder = make_study(
            tmp_path / f"b{k}", change=lambda rows, o=option: [{**r, f"ensembles.{o}": ""} for r in rows]
        )
        with pytest.raises(StudyError, match=f"ensembles.{option} is an option of the whole study"):
            load_study(folder)


def test_quantities_have_the_names_of_the_torque_table_and_end_in_their_unit():
    names = [column.name for column in curve_columns(ARM.joints, per_body_mass=False)]
    assert names[:3] == ["shoulder_flexion_deg", "shoulder_velocity_deg_s", "shoulder_torque_nm"]
    columns = [column.name for column in torques.columns(load_study(ROOT).trials[0])]
    assert [n for n in names if "_torque_" in n] == [n for n in columns if "_torque_" in n and "closure" not in n]
    per_mass = {column.name: column for column in curve_columns(LEG.joints, per_body_mass=True)}
    assert per_mass["knee_torque_gravity_nm_kg"].unit == "N m/kg"
    assert per_mass["knee_power_w_kg"].unit == "W/kg"
    assert per_mass["ankle_flexion_deg"].sign == "dorsiflexion positive"
    assert len(per_mass) == 3 * (2 + 1 + 12 + 1)


# ---- through the stages ----


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return run_stages(make_study(tmp_path_factory.mktemp("ensembles") / "demo"))


@pytest.fixture
def changed(demo, tmp_path):
    """A function that makes the tables again with more settings."""

    def make(extra):
        folder = make_study(tmp_path / "changed", extra=extra)
        shutil.copytree(demo.folder, folder / "results")
        return run_ensembles(folder)

    return make


def test_columns_are_in_the_order_others_rely_on(demo):
    about = ["trial", "session", "subject", "condition", "chain", "side"]
    assert list(demo.curves) == [*about, "quantity", "unit", "percent", "value"]
    expected = ["chain", "condition", "side", "quantity", "unit", "percent", "mean", "sd", "n_trials", "n_subjects"]
    assert list(demo.ensembles) == expected
    quantities = [column.name for column in curve_columns(ARM.joints, per_body_mass=False)]
    assert demo.curves.quantity.drop_duplicates().tolist() == quantities
    assert demo.curves.groupby(["trial", "quantity"]).percent.apply(list).map(lambda p: p == list(range(101))).all()


def test_windows_of_the_demo_are_those_of_its_reaches(demo):
    """The hand goes there from 0.5 s on and is back 0.5 s before the end; the joints move by minimum jerk, so that the

    hand's speed is near 5 % of its peak about 6 % of a reach's duration (0.5 s, or 2 s) later, and noise of 1 mm and the
    filter move that by some frames of 10 ms.
    """
    for name, length_s in (("S01_sagittal_fast", 2.5), ("S01_sagittal_slow", 5.5)):
        row = demo.windows.loc[name]
        duration_s = (length_s - 1.5) / 2.0
        assert row.start_s == pytest.approx(0.5 + 0.06 * duration_s, abs=0.02)
        assert row.end_s == pytest.approx(length_s - 0.5 - 0.06 * duration_s, abs=0.02)
        assert row.included == 1
    assert demo.windows.loc["S01_sagittal_fast"].note == ""
    assert "no torque in part of the curve: at the ends" in demo.windows.loc["S01_sagittal_slow"].note
    assert 0.9 < demo.windows.loc["S01_sagittal_slow"].known_share < 1.0


def test_a_curve_goes_through_the_frames_with_flexion_positive(demo):
    """The left arm in the horizontal plane: counter-clockwise is extension."""
    name = "S02_horizontal_fast"
    frames = pd.read_parquet(demo.table("torques", name))
    moving = pd.read_parquet(demo.table("kinematics", name))
    row = demo.windows.loc[name]
    at = np.linspace(row.start_s, row.end_s, 101)
    used = frames.edge == 0
    for column, quantity, sign in (
        (frames.elbow_torque_nm, "elbow_torque_nm", -1.0),
        (frames.elbow_torque_inertial_wrist_nm, "elbow_torque_inertial_wrist_nm", -1.0),
        (frames.elbow_power_w, "elbow_power_w", 1.0),
        (np.degrees(moving.elbow_velocity_rad_s), "elbow_velocity_deg_s", -1.0),
        (np.degrees(moving.elbow_angle_rad), "elbow_flexion_deg", -1.0),
    ):
        expected = sign * np.interp(at, frames.time_s[used], column[used])
        np.testing.assert_allclose(demo.curve(name, quantity), expected, atol=5e-3 * np.abs(expected).max())


def test_a_hanging_arm_is_not_flexed(demo):
    """In the sagittal plane the shoulder's angle is -90 deg where the arm hangs; the demo's reaches begin near it."""
    moving = pd.read_parquet(demo.table("kinematics", "S01_sagittal_fast"))
    row = demo.windows.loc["S01_sagittal_fast"]
    expected = 90.0 + np.interp(row.start_s, moving.time_s, np.degrees(moving.shoulder_angle_rad))
    assert demo.curve("S01_sagittal_fast", "shoulder_flexion_deg")[0] == pytest.approx(expected, abs=0.1)
    assert 0.0 < expected < 30.0


def test_left_and_right_reaches_agree_in_sign(demo):
    right, left = (demo.curve(f"{s}_horizontal_fast", "elbow_velocity_deg_s") for s in ("S01", "S02"))
    assert np.corrcoef(right, left)[0, 1] > 0.99


def test_the_terms_of_a_curve_add_up(demo):
    wide = demo.curves.pivot_table(index=["trial", "percent"], columns="quantity", values="value")
    terms = [name for name in wide if name.startswith("elbow_torque_") and name != "elbow_torque_nm"]
    assert len(terms) == 12
    np.testing.assert_allclose(wide[terms].sum(axis=1), wide.elbow_torque_nm, atol=1e-12)


def test_ensembles_are_the_means_of_the_curves(demo):
    keys = ["chain", "condition", "side", "quantity", "unit", "percent"]
    found = demo.curves.groupby(keys, sort=False).value.agg(["mean", "std", "count"]).reset_index()
    merged = demo.ensembles.merge(found, on=keys, validate="one_to_one", suffixes=("", "_expected"))
    assert len(merged) == len(demo.ensembles) == len(found)
    np.testing.assert_allclose(merged["mean"], merged["mean_expected"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(merged["sd"], merged["std"], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(merged["n_trials"], merged["count"])
    fast = merged[(merged.condition == "fast") & (merged.side == "right")]
    assert set(fast.n_trials) == {2}
    assert set(fast.n_subjects) == {1}
    nobody = merged[merged.n_trials == 0]
    assert set(nobody.condition) == {"slow"}
    assert nobody["mean"].isna().all()


def test_the_same_study_gives_the_same_bytes(demo, changed):
    again = changed("")
    for name in (
        "ensembles.csv",
        "windows.csv",
        "curves/S01_sagittal/curves.parquet",
        "curves/S02_horizontal/curves.parquet",
    ):
        first, second = (hashlib.sha256((t.folder / name).read_bytes()).hexdigest() for t in (demo, again))
        assert first == second


def test_over_body_mass(demo, changed):
    per_mass = changed("ensembles:\n  per_body_mass: true\n  n_points: 11\n")
    mass_kg = {trial.name: trial.subject.mass_kg for trial in load_study(ROOT).trials}
    for name in ("S01_sagittal_fast", "S02_horizontal_fast"):
        for quantity in ("elbow_torque_nm", "elbow_power_w"):
            expected = demo.curve(name, quantity)[::10] / mass_kg[name]
            np.testing.assert_allclose(per_mass.curve(name, f"{quantity}_kg"), expected, rtol=1e-9, atol=1e-14)
    assert set(per_mass.ensembles[per_mass.ensembles.quantity == "elbow_torque_nm_kg"].unit) == {"N m/kg"}


def test_flagged_trials_are_left_out_where_only_ok_ones_are_wanted(demo, changed):
    """A threshold below the noise of the demo, so that all of its trials are flagged."""
    extra = "quality:\n  noise_m: 1.0e-6\nensembles:\n  include: ok\n"
    tables = changed(extra)
    assert set(demo.windows.torque_status) == {"ok"}
    assert set(tables.windows.torque_status) == {"flagged"}
    assert (tables.windows.note == "flagged, and ensembles.include is ok").all()
    assert tables.curves.empty
    assert tables.ensembles.empty
    assert pd.read_csv(tables.folder / "summary_by_condition.csv").empty
    verdict.run(folder=tables.folder.parent)
    text = (tables.folder / "verdict.txt").read_text(encoding="utf-8")
    assert "5 trials are not in the ensembles: results/windows.csv says why" in text


def test_the_whole_trial_is_all_frames_that_the_summary_uses(changed):
    tables = changed("ensembles:\n  window: trial\n")
    row = tables.windows.loc["S01_sagittal_fast"]
    frames = pd.read_parquet(tables.table("torques", "S01_sagittal_fast"))
    used = frames[frames.edge == 0]
    assert (row.start_s, row.end_s) == (used.time_s.iloc[0], used.time_s.iloc[-1])
    curve = tables.curve("S01_sagittal_fast", "elbow_torque_nm")
    assert curve[[0, -1]] == pytest.approx(used.elbow_torque_nm.iloc[[0, -1]].to_numpy(), abs=1e-12)
    assert set(tables.windows.known_share) == {1.0}


def test_a_failed_trial_and_one_without_its_window_are_left_out_with_a_reason(tmp_path, monkeypatch):
    """Events of the recording; one trial has none, one fails, and one has a column of its own."""
    read = kinematics.read_trial

    def with_events(trial, reader):
        events = (Event("go", "", 0.6), Event("Stop", "General", 1.4)) if trial.name != "S02_sagittal_fast" else ()
        return replace(read(trial, reader), events=events)

    monkeypatch.setattr(kinematics, "read_trial", with_events)
    own = {
        "S01_horizontal_fast": {"ensembles.window": "movement"},
        "S01_sagittal_slow": {"start_s": "90", "end_s": "91"},
    }
    empty = {"ensembles.window": "", "start_s": "", "end_s": ""}
    folder = make_study(
        tmp_path / "study",
        extra="ensembles:\n  window: events\n  start_event: go\n  end_event: stop\n  n_points: 5\n",
        change=lambda rows: [{**row, **empty, **own.get(row["trial"], {})} for row in rows],
    )
    tables = run_stages(folder)
    rows = tables.windows
    assert rows.included.to_dict() == {
        "S01_sagittal_slow": 0,
        "S01_sagittal_fast": 1,
        "S01_horizontal_fast": 1,
        "S02_sagittal_fast": 0,
        "S02_horizontal_fast": 1,
    }
    assert (rows.loc["S01_sagittal_fast"].start_s, rows.loc["S01_sagittal_fast"].end_s) == ("0.6", "1.4")
    assert rows.loc["S01_horizontal_fast"].window == "movement"
    assert rows.loc["S01_sagittal_slow"].note == "the trial failed: signal"
    assert rows.loc["S02_sagittal_fast"].note == "no event 'go' of this side at 0 s or later; the recording has none"
    assert set(tables.curves.trial) == set(rows.index[rows.included == 1])
    frames = pd.read_parquet(tables.table("torques", "S01_sagittal_fast"))
    assert tables.curve("S01_sagittal_fast", "elbow_torque_nm")[0] == pytest.approx(
        frames.elbow_torque_nm[np.isclose(frames.time_s, 0.6)].item(), abs=1e-12
    )


def test_check_says_which_trials_would_have_no_curve(tmp_path, monkeypatch, capsys):
    """Events from 0.6 to 1.4 s; in one trial the start only, and one begins in the middle of its movement."""
    read = kinematics.read_trial

    def with_events(trial, reader):
        events = (Event("go", "", 0.6), Event("stop", "", 1.4))
        return replace(read(trial, reader), events=events[: 1 + (trial.name != "S02_sagittal_fast")])

    monkeypatch.setattr(check, "read_trial", with_events)
    empty = {"ensembles.window": "", "start_s": "", "end_s": ""}
    own = {
        "S01_horizontal_fast": {"ensembles.window": "movement"},
        "S01_sagittal_fast": {"ensembles.window": "movement", "start_s": "0.6"},
        "S01_sagittal_slow": {"start_s": "90", "end_s": "91"},
    }
    folder = make_study(
        tmp_path / "study",
        extra="ensembles:\n  window: events\n  start_event: go\n  end_event: stop\n",
        change=lambda rows: [{**row, **empty, **own.get(row["trial"], {})} for row in rows],
    )
    answers = {trial: (bool(fault), no_curve) for trial, fault, _, no_curve in check.check_study(folder)}
    assert answers["S01_sagittal_slow"] == (True, "")  # a trial that fails is told once
    assert answers["S01_horizontal_fast"] == answers["S02_horizontal_fast"] == (False, "")
    assert answers["S02_sagittal_fast"] == (
        False,
        "no event 'stop' of this side after 0.6 s; the recording has go",
    )
    assert answers["S01_sagittal_fast"][1].startswith("no rest: at the first frame the endpoint has ")
    assert main(["check", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "  this trial will have no curve over 0 to 100 %: no event 'stop' of this side after 0.6 s" in out
    assert out.endswith("; 2 would have no curve (ensembles.window)\n")


def test_check_knows_of_flagged_trials_that_are_left_out_and_of_studies_without_curves(tmp_path):
    extra = "quality:\n  noise_m: 1.0e-6\nensembles:\n  include: ok\n"
    flagged = list(check.check_study(make_study(tmp_path / "ok", extra=extra)))
    assert {no_curve for *_, no_curve in flagged} == {"it is flagged, and ensembles.include is ok"}
    off = list(check.check_study(make_study(tmp_path / "off", extra=extra + "  enabled: false\n")))
    assert {no_curve for *_, no_curve in off} == {""}


def test_the_events_of_a_real_recording_make_a_cycle(tmp_path, recordings):
    """Foot strike to foot strike of the right foot, of which test_readers knows that they are where the heel comes down."""
    text = (ROOT / "tests" / "recordings_study" / "config" / "config.yaml").read_text(encoding="utf-8")
    (tmp_path / "config").mkdir()
    more = "\nensembles:\n  window: events\n  start_event: Foot Strike {side}\n  end_event: Foot Strike {side}\n"
    (tmp_path / "config" / "config.yaml").write_text(text + more, encoding="utf-8")
    for name in ("subjects.csv", "trials.csv"):
        lines = (ROOT / "tests" / "recordings_study" / "config" / name).read_text(encoding="utf-8").splitlines()
        kept = [lines[0], *(line for line in lines[1:] if line.startswith(("HC030A,", "HC030A05_")))]
        (tmp_path / "config" / name).write_text("\n".join(kept) + "\n", encoding="utf-8")
    (tmp_path / "recordings").symlink_to(recordings)
    tables = run_stages(tmp_path)
    right = tables.windows.loc["HC030A05_right"]
    read = read_c3d(recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d")
    strikes = [event.time_s for event in read.events if (event.label, event.context) == ("Foot Strike", "Right")]
    assert len(strikes) == 2
    assert [float(right.start_s), float(right.end_s)] == pytest.approx(strikes, abs=1e-12)
    assert right.included == 1
    assert len(tables.curve("HC030A05_right", "elbow_flexion_deg")) == 101


# ---- what is made again ----


def test_the_keys_are_of_what_curves_and_ensembles_depend_on():
    study = load_study(ROOT)
    batch = study.trials[0].session

    def keys(settings=None, **row):
        def changed(trial):
            own = trial.settings.model_copy(update=settings or {})
            return replace(trial, settings=own, **(row if trial.session == batch else {}))

        batches = {name: tuple(map(changed, trials)) for name, trials in study.batches.items()}
        if "session" in row:
            batches = {row["session"] if name == batch else name: them for name, them in batches.items()}
        trials = tuple(trial for them in batches.values() for trial in them)
        whole = study.settings.model_copy(update=settings or {})
        other = replace(study, settings=whole, trials=trials, batches=batches)
        return keys_of.session_key("curves", other, row.get("session", batch)), keys_of.ensembles_key(other)

    def differ(**changes):
        return [new != old for new, old in zip(keys(**changes), keys(), strict=True)]

    no_muscles = make_settings({"muscles": {"enabled": False}}).muscles
    assert differ(settings={"title": "x", "muscles": no_muscles}) == [False, False]
    assert differ(settings={"ensembles": Ensembles(n_points=51)}) == [True, True]
    assert differ(settings={"quality": make_settings({"quality": {"noise_m": 1e-6}}).quality}) == [True, False]
    assert differ(session="x") == [True, True]
    assert differ(condition="x") == [True, True]
    assert differ(note="x") == [False, False]
    one = replace(study, batches={"one": study.trials})
    assert (
        keys_of.ensembles_key(one) != keys_of.ensembles_key(study) != keys_of.study_key(one) != keys_of.study_key(study)
    )
    fewer = replace(study, trials=study.trials[:-1])
    assert keys_of.ensembles_key(fewer) != keys_of.ensembles_key(study)


def test_a_workbook_and_ensembles_leave_the_tables_of_trials_alone():
    study = load_study(ROOT)
    trial = study.trials[0]
    for changes in ({"tables": {"xlsx": True}}, {"ensembles": {"n_points": 51}}):
        section, options = next(iter(changes.items()))
        update = {section: getattr(trial.settings, section).model_copy(update=options)}
        other = replace(trial, settings=trial.settings.model_copy(update=update))
        for stage in ("kinematics", "torques", "muscles", "figures"):
            assert keys_of.trial_key(stage, other, ROOT) == keys_of.trial_key(stage, trial, ROOT)
    csv_off = trial.settings.model_copy(update={"tables": trial.settings.tables.model_copy(update={"csv": False})})
    assert keys_of.trial_key("torques", replace(trial, settings=csv_off), ROOT) != keys_of.trial_key(
        "torques", trial, ROOT
    )


def test_a_study_that_changed_meanwhile_is_refused(demo):
    with pytest.raises(LimbtorqueError, match="were changed while ensembles was waiting"):
        ensembles.run(folder=demo.folder.parent, key="0" * 16)


@pytest.mark.parametrize("stage", [collect, ensembles])
def test_rows_that_changed_places_meanwhile_are_no_rows_of_other_trials(demo, tmp_path, stage):
    """With the key that was planned, and without any."""
    folder = make_study(tmp_path / "changed")
    shutil.copytree(demo.folder, folder / "results")
    before = {path: path.read_bytes() for path in (folder / "results").glob("*.csv")}
    name = stage.__name__.rpartition(".")[2]
    planned = keys_of.WHOLE[name](load_study(folder))
    table = folder / "config" / "trials.csv"
    head, first, second, *rest = table.read_text(encoding="utf-8").splitlines()
    assert load_study(folder).trials[0].session == load_study(folder).trials[1].session
    table.write_text("\n".join([head, second, first, *rest]) + "\n", encoding="utf-8")
    with pytest.raises(LimbtorqueError, match=f"were changed while {name} was waiting"):
        stage.run(folder=folder, key=planned)
    assert {path: path.read_bytes() for path in (folder / "results").glob("*.csv")} == before
    with pytest.raises(LimbtorqueError, match="line 2 is not of trial"):
        stage.run(folder=folder)


def test_the_order_of_ensembles_is_that_of_the_table_of_trials(tmp_path):
    """Sessions that take turns in the table change nothing."""
    turns = {"S01_sagittal_slow": "a", "S01_horizontal_fast": "b", "S01_sagittal_fast": "a", "S02_sagittal_fast": "b"}

    def change(rows):
        rows = {row["trial"]: row for row in rows}
        return [{**rows[name], "session": session, "condition": name} for name, session in turns.items()]

    tables = run_stages(make_study(tmp_path / "study", change=change))
    assert tables.ensembles.condition.drop_duplicates().tolist() == list(turns)


def test_without_ensembles_old_ones_are_put_aside(demo, tmp_path):
    folder = make_study(tmp_path / "off", extra="ensembles:\n  enabled: false\n")
    (folder / "results").mkdir()
    for stage in ("kinematics", "torques", "muscles"):
        shutil.copytree(demo.folder / stage, folder / "results" / stage)
    (folder / "results" / "curves" / "S01_sagittal").mkdir(parents=True)
    for name in ("ensembles.csv", "curves/S01_sagittal/curves.parquet"):
        (folder / "results" / name).write_text("old\n", encoding="utf-8")
    collect.run(folder=folder)
    assert layout.ensemble_outputs(load_study(folder)) == []
    for name in ("ensembles.csv", "curves/S01_sagittal/curves.parquet"):
        assert not (folder / "results" / name).exists()
        assert (folder / "results" / "left_over" / name).read_text(encoding="utf-8") == "old\n"
    dictionary = pd.read_csv(folder / "results" / "data_dictionary.csv")
    assert not {"curves", "ensembles", "windows"} & set(dictionary.table)


def test_names_of_events_without_their_window_are_a_fault(tmp_path):
    folder = make_study(tmp_path / "study", extra="ensembles:\n  start_event: go\n  end_event: stop\n")
    with pytest.raises(StudyError, match="no meaning without"):
        checked_study(folder)


def test_the_dictionary_defines_every_column_and_quantity(demo):
    dictionary = pd.read_csv(demo.folder / "data_dictionary.csv").set_index(["table", "column"])
    for table in (demo.curves, demo.ensembles, demo.windows.reset_index()):
        name = {10: "curves" if "value" in table else "ensembles"}.get(table.shape[1], "windows")
        assert {(name, column) for column in table} <= set(dictionary.index)
    for quantity, unit in demo.curves[["quantity", "unit"]].drop_duplicates().itertuples(index=False):
        assert dictionary.loc[("curves.quantity", quantity), "unit"] == unit


def test_the_curves_of_a_trial_are_a_row_group(demo):
    """So that a session of any length is in memory a trial at a time."""
    files = [pq.ParquetFile(path) for path in sorted((demo.folder / "curves").glob("*/*.parquet"))]
    assert sum(file.metadata.num_rows for file in files) == len(demo.curves) == 5 * 48 * 101
    assert {file.metadata.row_group(k).num_rows for file in files for k in range(file.num_row_groups)} == {48 * 101}
