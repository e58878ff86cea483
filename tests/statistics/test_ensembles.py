"""Curves, ensembles and windows of the demo study, stage by stage, and their keys."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from limbtorque.analysis.reading import TrialReader
from limbtorque.analysis.study import check_study
from limbtorque.analysis.trial import analyse_recording
from limbtorque.cli.main import main
from limbtorque.errors import LimbtorqueError, SettingsError, StudyError
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.recording import Event
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.options.outputs import Ensembles
from limbtorque.study.settings import make_settings, override
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table
from limbtorque.tables.study_columns import curve_columns
from limbtorque.workflow import keys as keys_of
from limbtorque.workflow import layout
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.stages import collect, ensembles, torques, verdict
from staged_study import ROOT, make_study, run_ensembles, run_stages


def test_events_have_to_be_named():
    with pytest.raises(SettingsError, match="window events needs start_event and end_event"):
        make_settings({"ensembles": {"window": "events", "start_event": "Foot Strike"}})
    changes = {"ensembles.window": "events", "ensembles.start_event": "A", "ensembles.end_event": "B"}
    assert override(make_settings({}), changes, source="x").ensembles.end_event == "B"


def test_a_column_of_the_trials_may_change_the_window_and_nothing_that_all_trials_share(tmp_path):
    with_window = make_study(tmp_path / "a", change=lambda rows: [{**r, "ensembles.onset_share": "0.1"} for r in rows])
    assert {t.settings.ensembles.onset_share for t in load_study(with_window).trials} == {0.1}
    for k, option in enumerate(("n_points", "include", "spread_over", "min_units", "per_body_mass", "enabled")):
        folder = make_study(
            tmp_path / f"b{k}", change=lambda rows, o=option: [{**r, f"ensembles.{o}": ""} for r in rows]
        )
        with pytest.raises(StudyError, match=f"ensembles.{option} is an option of the whole study"):
            load_study(folder)


def test_quantities_have_the_names_of_the_torque_table_and_end_in_their_unit():
    names = [column.name for column in curve_columns(ARM.joints, per_body_mass=False)]
    assert names[:3] == ["shoulder_flexion_deg", "shoulder_velocity_deg_s", "shoulder_torque_nm"]
    columns = [column.name for column in torques.columns(load_study(ROOT).trials[0], ROOT)]
    extra = re.compile("_torque_(low|high|inertial|centripetal|coriolis|closure)_nm$")
    assert [n for n in names if "_torque_" in n] == [n for n in columns if "_torque_" in n and not extra.search(n)]
    per_mass = {column.name: column for column in curve_columns(LEG.joints, per_body_mass=True)}
    assert per_mass["knee_torque_gravity_nm_kg"].unit == "N m/kg"
    assert per_mass["knee_power_w_kg"].unit == "W/kg"
    assert per_mass["ankle_flexion_deg"].sign == "dorsiflexion positive"
    assert len(per_mass) == 3 * (2 + 1 + 12 + 1)


# ---- through the stages ----


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Means of any number are wanted; the slow reach has a cut-off of 2.0 Hz, whose edges leave its curve without its ends."""
    extra = "ensembles:\n  spread_over: trials\n  min_units: 1\nfilter: {cutoffs_hz: {'arm, slow': 2.0}}\n"
    return run_stages(make_study(tmp_path_factory.mktemp("ensembles") / "demo", extra=extra))


@pytest.fixture
def changed(demo, tmp_path):
    """A function that makes the tables again with more settings."""

    def make(extra):
        means = {"spread_over": "trials", "min_units": 1}
        options = {"filter": {"cutoffs_hz": {"arm, slow": 2.0}}} | (parse_yaml(extra) or {})
        options["ensembles"] = means | options.get("ensembles", {})
        folder = make_study(tmp_path / "changed", extra=yaml_text(options))
        shutil.copytree(demo.folder, folder / "results")
        study = load_study(folder)
        before = load_study(demo.folder.parent)
        for session in study.batches:  # the window of a trial is found with its torques
            old, new = (keys_of.session_key("torques", of, session) for of in (before, study))
            if new != old:
                torques.run(folder=folder, session=session, key=new)
        return run_ensembles(folder)

    return make


INTERVAL = ["mean_low", "mean_high", "sd_within"]


def test_columns_are_in_the_order_others_rely_on(demo):
    about = ["trial", "session", "subject", "condition", "chain", "side"]
    owners = ["sd_by_study", "sd_by_subject", "sd_by_trial"]
    assert list(demo.curves) == [*about, "quantity", "unit", "percent", "value", *owners]
    expected = ["chain", "condition", "side", "quantity", "unit", "percent", "spread_over", "mean", "sd"]
    assert list(demo.ensembles) == [*expected, "mean_error", "n_subjects", "n_trials", "n_rejected", *INTERVAL]
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


def test_the_net_values_with_effects_are_those_of_the_summary(demo):
    """Of left and right arms, in two planes, with and without flexion counter-clockwise."""
    keys = ["trial", "window", "joint"]
    effects = pd.concat([pd.read_parquet(path) for path in demo.folder.glob("torques/*/_effects.parquet")])
    summary = pd.read_csv(demo.folder / "summary.csv").query("term == 'net'").set_index(keys)
    net = effects[effects.term == "net"].pivot_table(index=keys, columns="statistic", values="value")
    names = ["impulse_nms", "max_nm", "mean_nm", "min_nm"]
    np.testing.assert_allclose(net[names], summary.loc[net.index, names], rtol=1e-12)
    assert len(net) == len(summary)


def test_the_window_is_in_the_record_of_the_torques_and_the_same_in_memory(demo):
    study = load_study(demo.folder.parent)
    for trial in study.trials[:2]:
        record = read_table(demo.table("torques", trial.name))[1]
        row = demo.windows.loc[trial.name]
        assert (record.window.start_s, record.window.end_s) == (row.start_s, row.end_s)
        limb = Limb(trial.chain, side=trial.side, body_mass_kg=trial.subject.mass_kg, marker_set=trial.marker_set)
        limb = replace(limb, prefix=trial.prefix, measured=trial.subject.measured, load=trial.load)
        found = analyse_recording(read_c3d(trial.file), limb, trial.settings)
        assert found.window == record.window


@pytest.mark.parametrize("option", ["onset_share", "max_rest_s", "cycle"])
def test_an_option_of_the_window_concerns_the_torques_and_one_of_the_means_does_not(option, tmp_path):
    trial = load_study(make_study(tmp_path)).trials[0]
    value = {"onset_share": "0.1", "max_rest_s": "0.5", "cycle": "first"}[option]
    for changes, same in (({f"ensembles.{option}": value}, False), ({"ensembles.n_points": "51"}, True)):
        other = replace(trial, settings=override(trial.settings, changes, source="x"))
        keys = [keys_of.trial_key("torques", one, tmp_path) for one in (trial, other)]
        assert (keys[0] == keys[1]) == same


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


def test_the_terms_of_a_curve_add_up(demo):
    wide = demo.curves.pivot_table(index=["trial", "percent"], columns="quantity", values="value")
    terms = [name for name in wide if name.startswith("elbow_torque_") and name != "elbow_torque_nm"]
    assert len(terms) == 12
    rounding = 13 * 0.5e-5  # half of the last decimal of the terms and the net torque in the torque tables
    np.testing.assert_allclose(wide[terms].sum(axis=1), wide.elbow_torque_nm, rtol=0, atol=rounding)


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


def test_both_sides_of_all_trials_alike_are_their_mean(demo):
    """Fast: two reaches of one subject to the right, two of another to the left."""
    keys = ["condition", "quantity", "percent"]
    found = demo.curves[demo.curves.condition == "fast"].groupby(keys, sort=False).value.agg(["mean", "std"])
    both = demo.both[demo.both.condition == "fast"].set_index(keys)
    np.testing.assert_allclose(both[["mean", "sd"]], found.loc[both.index], rtol=1e-9, atol=1e-12)


def test_errors_that_trials_share_are_not_averaged_away(demo):
    """Two trials of one subject: their shared errors add up, their own ones are halved twice; apart from the spread."""
    net = demo.curves[(demo.curves.quantity == "elbow_torque_nm") & (demo.curves.condition == "fast")]
    net = net[net.side == "right"]
    owners = ["sd_by_study", "sd_by_subject", "sd_by_trial"]
    study, subject, own = (net.pivot_table(index="percent", columns="trial", values=name).to_numpy() for name in owners)
    assert study.shape[1] == 2
    expected = np.sqrt(study.mean(axis=1) ** 2 + subject.mean(axis=1) ** 2 + (own**2).sum(axis=1) / 4.0)
    means = demo.ensembles[(demo.ensembles.condition == "fast") & (demo.ensembles.side == "right")]
    of_net = means[means.quantity == "elbow_torque_nm"]
    np.testing.assert_allclose(of_net.mean_error, expected, rtol=1e-9)
    assert of_net.mean_error.notna().any()
    assert (
        means[means.quantity != "elbow_torque_nm"]
        .query("not quantity.str.contains('_torque_nm')")
        .mean_error.isna()
        .all()
    )


def test_the_errors_of_a_curve_are_those_of_its_torques(demo):
    """The squares of the parts by owner add up to the variance of the torque table, resampled between its frames."""
    net = demo.curves[(demo.curves.quantity == "shoulder_torque_nm") & (demo.curves.trial == "S01_sagittal_fast")]
    (path,) = (demo.folder / "torques").rglob("S01_sagittal_fast+bands.parquet")
    table = read_table(path)[0].to_pandas()
    window = demo.windows.loc["S01_sagittal_fast"]
    at = window.start_s + net.percent / 100.0 * (window.end_s - window.start_s)
    expected = np.interp(at, table.time_s, table.shoulder_torque_sd_nm)
    sd = np.sqrt(net.sd_by_study**2 + net.sd_by_subject**2 + net.sd_by_trial**2)
    np.testing.assert_allclose(sd, expected, rtol=0.05)


def test_a_study_of_one_subject_averages_its_trials(tmp_path):
    names = ("S01_sagittal_fast", "S01_horizontal_fast")
    folder = make_study(tmp_path / "study", names=names, extra="ensembles:\n  spread_over: subjects\n")
    tables = run_stages(folder)
    net = tables.ensembles[tables.ensembles.quantity == "elbow_torque_nm"]
    assert (set(net.spread_over), set(net.n_subjects), set(net.n_trials)) == ({"trials"}, {1}, {2})
    both = np.array([tables.curve(name, "elbow_torque_nm") for name in names])
    np.testing.assert_allclose(net["mean"], both.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(net["sd"], both.std(axis=0, ddof=1), rtol=1e-9)
    summary = pd.read_csv(tables.folder / "summary_by_condition.csv")
    assert set(summary.spread_over) == {"trials"}
    assert summary[(summary.term == "net") & (summary.statistic == "rms_nm")]["mean"].notna().all()


def test_rejected_joints_stay_in_their_own_tables_and_are_left_out_and_counted_elsewhere(demo, changed):
    """A limit that every elbow exceeds and no other joint has."""
    found = changed("quality:\n  torque_nm_kg:\n    elbow: 1.0e-6\n")
    assert set(found.windows.rejected_joints) == {"elbow"}
    assert found.windows.included.eq(1).all()
    assert found.windows.note.str.startswith("left out by its status: elbow").all()
    ledger = pd.read_csv(found.folder / "ledger.csv")
    assert set(ledger.rejected_joints) == {"elbow"}
    assert set(ledger.rejected_by) == {"joint_effort"}
    assert set(ledger.status) == set(ledger.torque_status) == {"rejected"}
    rows = pd.read_csv(found.folder / "summary.csv")
    of_elbow = rows.joint == "elbow"
    assert set(rows[of_elbow].torque_status) == {"rejected"}
    assert set(rows[~of_elbow].torque_status) == {"ok"}
    assert rows[of_elbow][["peak_nm", "mean_nm", "peak_power_w", "negative_work_j"]].isna().all(axis=None)
    assert rows[~of_elbow]["mean_nm"].notna().all()
    muscles = pd.read_csv(found.folder / "muscle_summary.csv")
    assert set(muscles.muscle_status) == {"rejected"}
    assert muscles["peak_n"].isna().all()
    assert np.isnan(found.curve("S01_sagittal_fast", "elbow_torque_nm")).all()
    assert pd.read_parquet(found.table("torques", "S01_sagittal_fast")).elbow_torque_nm.notna().all()
    verdict.run(folder=found.folder.parent)
    text = (found.folder / "records" / "accepted.txt").read_text(encoding="utf-8")
    assert text.startswith("5 trials: 0 ok, 0 caution, 5 rejected, 0 failed\n  joint_effort: 5 trials, it rejects 5")
    assert set(demo.windows.rejected_joints) == {""}
    joint = found.ensembles.quantity.str.split("_").str[0]
    elbow, rest = found.ensembles[joint == "elbow"], found.ensembles[joint != "elbow"]
    assert elbow["mean"].isna().all()
    assert set(elbow.n_trials) == set(rest.n_rejected) == {0}
    trials = demo.windows.groupby(["condition", "side"]).size()
    for group, rows in elbow.groupby(["condition", "side"]):
        assert set(rows.n_rejected) == {trials[group]}
    expected = demo.ensembles[joint != "elbow"]
    np.testing.assert_array_equal(rest["mean"], expected["mean"])
    np.testing.assert_array_equal(rest.n_trials, expected.n_trials)
    summary = pd.read_csv(found.folder / "summary_by_condition.csv")
    counts = summary[(summary.condition == "fast") & (summary.side == "right")].groupby("joint").n_rejected.max()
    assert counts.to_dict() == {"shoulder": 0, "elbow": 2, "wrist": 0}
    assert summary[summary.joint == "elbow"]["mean"].isna().all()


def test_over_body_mass(demo, changed):
    per_mass = changed("ensembles:\n  per_body_mass: true\n  n_points: 11\n")
    mass_kg = {trial.name: trial.subject.mass_kg for trial in load_study(ROOT).trials}
    for name in ("S01_sagittal_fast", "S02_horizontal_fast"):
        for quantity in ("elbow_torque_nm", "elbow_power_w"):
            expected = demo.curve(name, quantity)[::10] / mass_kg[name]
            np.testing.assert_allclose(per_mass.curve(name, f"{quantity}_kg"), expected, rtol=1e-9, atol=1e-14)
    assert set(per_mass.ensembles[per_mass.ensembles.quantity == "elbow_torque_nm_kg"].unit) == {"N m/kg"}


def test_trials_that_are_not_ok_are_left_out_where_only_ok_ones_are_wanted(demo, changed):
    """A threshold below the noise of the demo, so that caution is due in all of its trials."""
    extra = "quality:\n  noise_m: 1.0e-6\nensembles:\n  include: ok\n"
    tables = changed(extra)
    assert set(demo.windows.torque_status) == {"ok"}
    assert set(tables.windows.torque_status) == {"caution"}
    assert (tables.windows.note == "caution, and ensembles.include is ok").all()
    assert tables.curves.empty
    assert tables.ensembles.empty
    assert pd.read_csv(tables.folder / "summary_by_condition.csv").empty
    with pytest.raises(LimbtorqueError, match=r"0 ok, 5 caution, .* set ensembles.include to caution") as raised:
        verdict.run(folder=tables.folder.parent)
    assert "results/windows.csv" in str(raised.value)
    assert not (tables.folder / "records" / "accepted.txt").exists()
    assert (tables.folder / "verdict.txt").read_text().rstrip() == str(raised.value)


def test_a_study_without_means_ends_with_a_sentence_where_its_torques_are_ok(demo, tmp_path):
    """Torques of a walk are known in part where a plate is missing: no peak, and no mean."""
    assert set(demo.windows.torque_status) == {"ok"}
    folder = shutil.copytree(demo.folder.parent, tmp_path / "study")
    summary = folder / "results" / "summary_by_condition.csv"
    pd.read_csv(summary).assign(n_trials=0).to_csv(summary, index=False)
    verdict.run(folder=folder)
    accepted = folder / "results" / "records" / "accepted.txt"
    assert "no trial enters the means by condition" in accepted.read_text()


def test_the_whole_trial_is_all_frames_that_the_summary_uses(changed):
    tables = changed("ensembles:\n  window: trial\n")
    row = tables.windows.loc["S01_sagittal_fast"]
    frames = pd.read_parquet(tables.table("torques", "S01_sagittal_fast"))
    used = frames[frames.edge == 0]
    assert (row.start_s, row.end_s) == (used.time_s.iloc[0], used.time_s.iloc[-1])
    curve = tables.curve("S01_sagittal_fast", "elbow_torque_nm")
    assert curve[[0, -1]] == pytest.approx(used.elbow_torque_nm.iloc[[0, -1]].to_numpy(), abs=1e-12)
    assert set(tables.windows.known_share) == {1.0}


@pytest.fixture
def study_of_events(tmp_path, monkeypatch):
    """A function that makes a study with events from 0.6 to 1.4 s; one trial has fewer, one fails, one has no need of them."""
    read = TrialReader.recording
    own = {
        "S01_horizontal_fast": {"ensembles.window": "movement"},
        "S01_sagittal_slow": {"start_s": "90", "end_s": "91"},
    }
    empty = {"ensembles.window": "", "start_s": "", "end_s": ""}

    def make(n_events, **more):
        def with_events(reader, trial):
            events = (Event("go", "", 0.6), Event("Stop", "General", 1.4))
            return replace(read(reader, trial), events=events[: n_events if trial.name == "S02_sagittal_fast" else 2])

        monkeypatch.setattr(TrialReader, "recording", with_events)
        return make_study(
            tmp_path / "study",
            extra="ensembles:\n  window: events\n  start_event: go\n  end_event: stop\n  n_points: 5\n",
            change=lambda rows: [{**row, **empty, **(own | more).get(row["trial"], {})} for row in rows],
        )

    return make


def test_a_failed_trial_and_one_without_its_window_are_left_out_with_a_reason(study_of_events):
    tables = run_stages(study_of_events(0))
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
    assert (
        rows.loc["S02_sagittal_fast"].note
        == "no event 'go' of this side at 0 s or later; the recording has none; check ensembles.start_event"
    )
    assert set(tables.curves.trial) == set(rows.index[rows.included == 1])
    frames = pd.read_parquet(tables.table("torques", "S01_sagittal_fast"))
    assert tables.curve("S01_sagittal_fast", "elbow_torque_nm")[0] == pytest.approx(
        frames.elbow_torque_nm[np.isclose(frames.time_s, 0.6)].item(), abs=1e-12
    )


def test_check_lists_trials_without_a_curve(study_of_events, capsys):
    """In one trial there is the start only, and one begins in the middle of its movement."""
    folder = study_of_events(1, S01_sagittal_fast={"ensembles.window": "movement", "start_s": "0.6"})
    answers = {trial: (bool(fault), no_curve) for trial, fault, _, no_curve in check_study(checked_study(folder))}
    assert answers["S01_sagittal_slow"] == (True, "")  # a trial that fails is told once
    assert answers["S01_horizontal_fast"] == answers["S02_horizontal_fast"] == (False, "")
    assert answers["S02_sagittal_fast"] == (
        False,
        "no event 'stop' of this side after 0.6 s; the recording has go; check ensembles.end_event",
    )
    assert answers["S01_sagittal_fast"][1].startswith("no rest: at the first frame the endpoint has ")
    assert main(["check", str(folder), "--verbose"]) == 1
    assert "2 would have no curve (ensembles.window)" in capsys.readouterr().out


def test_check_knows_of_trials_that_are_left_out_and_of_studies_without_curves(tmp_path):
    extra = "quality:\n  noise_m: 1.0e-6\nensembles:\n  include: ok\n"
    left_out = list(check_study(checked_study(make_study(tmp_path / "ok", extra=extra))))
    assert {no_curve for *_, no_curve in left_out} == {"its torques are caution, and ensembles.include is ok"}
    off = list(check_study(checked_study(make_study(tmp_path / "off", extra=extra + "  enabled: false\n"))))
    assert {no_curve for *_, no_curve in off} == {""}


# ---- repeated steps ----


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


def test_reports_and_ensembles_leave_the_tables_of_trials_alone():
    study = load_study(ROOT)
    trial = study.trials[0]
    for changes in ({"report": {"enabled": False}}, {"ensembles": {"n_points": 51}}):
        section, options = next(iter(changes.items()))
        update = {section: getattr(trial.settings, section).model_copy(update=options)}
        other = replace(trial, settings=trial.settings.model_copy(update=update))
        for stage in ("kinematics", "torques", "muscles", "figures"):
            assert keys_of.trial_key(stage, other, ROOT) == keys_of.trial_key(stage, trial, ROOT)
    csv_off = trial.settings.model_copy(update={"tables": trial.settings.tables.model_copy(update={"csv": ()})})
    assert keys_of.trial_key("torques", replace(trial, settings=csv_off), ROOT) != keys_of.trial_key(
        "torques", trial, ROOT
    )


def test_a_study_that_changed_meanwhile_is_refused(demo):
    with pytest.raises(LimbtorqueError, match="changed while ensembles was waiting"):
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
    with pytest.raises(LimbtorqueError, match=f"changed while {name} was waiting"):
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


def test_without_ensembles_old_ones_are_moved(demo, tmp_path):
    folder = make_study(tmp_path / "off", extra="ensembles:\n  enabled: false\n")
    (folder / "results").mkdir()
    for stage in ("kinematics", "torques", "muscles"):
        shutil.copytree(demo.folder / stage, folder / "results" / stage)
    (folder / "results" / "curves" / "S01_sagittal").mkdir(parents=True)
    for name in ("ensembles.csv", "curves/S01_sagittal/curves.parquet"):
        (folder / "results" / name).write_text("old\n", encoding="utf-8")
    collect.run(folder=folder)
    assert layout.study_files("ensembles", load_study(folder)) == []
    for name in ("ensembles.csv", "curves/S01_sagittal/curves.parquet"):
        assert not (folder / "results" / name).exists()
        assert (folder / "results" / "left_over" / name).read_text(encoding="utf-8") == "old\n"
    dictionary = pd.read_csv(folder / "results" / "data_dictionary.csv")
    assert not {"curves", "ensembles", "windows"} & set(dictionary.table)


def test_names_of_events_without_their_window_are_a_fault(tmp_path):
    folder = make_study(tmp_path / "study", extra="ensembles:\n  start_event: go\n  end_event: stop\n")
    place = "config/config.yaml: ensembles.start_event and ensembles.end_event have no effect without"
    with pytest.raises(StudyError, match=place):
        checked_study(folder)


def test_the_dictionary_defines_every_column_and_quantity(demo):
    dictionary = pd.read_csv(demo.folder / "data_dictionary.csv").set_index(["table", "column"])
    tables = {"curves": demo.curves, "ensembles": demo.ensembles, "windows": demo.windows.reset_index()}
    for name, table in tables.items():
        assert {(name, column) for column in table} <= set(dictionary.index)
    for quantity, unit in demo.curves[["quantity", "unit"]].drop_duplicates().itertuples(index=False):
        assert dictionary.loc[("curves.quantity", quantity), "unit"] == unit


def test_the_curves_of_a_trial_are_a_row_group(demo):
    """So that a session of any length is in memory a trial at a time."""
    files = [pq.ParquetFile(path) for path in sorted((demo.folder / "curves").glob("*/*.parquet"))]
    assert sum(file.metadata.num_rows for file in files) == len(demo.curves) == 5 * 48 * 101
    assert {file.metadata.row_group(k).num_rows for file in files for k in range(file.num_row_groups)} == {48 * 101}
