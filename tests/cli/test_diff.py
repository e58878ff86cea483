"""Two runs compared: changed inputs and changed numbers, with numbers by hand."""

import csv
import json
import math

import pandas as pd
import pytest

from limbtorque.cli.diff.compare import COMPARED_BY_CONDITION, causes, compare
from limbtorque.cli.diff.report import report_csv, report_text
from limbtorque.cli.diff.runs import CONTRASTS, CURVES, KEYS, Run, read_run
from limbtorque.cli.main import main
from limbtorque.errors import LimbtorqueError


def provenance(**more):
    base = {
        "program": {"name": "limbtorque", "version": "0.1.0"},
        "code": {"torques": "aaaa"},
        "python": "3.12.1",
        "libraries": {"numpy": "2.1.0"},
        "settings": {"filter": {"cutoff_hz": "expected_error", "order": 3}, "loads": {}},
        "segment_table": {"hand": {"mass": 0.006}},
        "trials": {"t1": {"sha256": "11", "forces_sha256": "", "row": {"body_mass_kg": 70.0, "options": {}}}},
    }
    return {**base, **more}


def ledger(trial="t1", status="ok", cutoff="6.0", **more):
    return {
        "trial": trial,
        "status": status,
        "torque_status": status,
        "reason": "",
        "cutoff_hz": cutoff,
        "notes": "x",
        **more,
    }


def summary(term, peak, *, trial="t1", joint="elbow", mean="1.0", time="0.5"):
    return {
        "trial": trial,
        "subject": "Ann",
        "joint": joint,
        "window": "movement",
        "term": term,
        "peak_nm": peak,
        "mean_nm": mean,
        "peak_time_s": time,
    }


def run(
    name="a", *, about=None, rows=None, ledgers=None, muscles=(), windows=(), conditions=(), curves=(), contrasts=()
):
    tables = {
        CONTRASTS: contrasts,
        "ledger": ledgers or [ledger()],
        "summary": rows or [summary("net", "10.0"), summary("gravity", "-0.1")],
        "muscle_summary": muscles,
        "windows": windows,
        "summary_by_condition": conditions,
        CURVES: curves,
    }
    frames = {
        table: pd.DataFrame(list(rows), columns=None if rows else [*KEYS[table]]) for table, rows in tables.items()
    }
    return Run(name, about or provenance(), frames)


def curves(mean=(0.0, 1.0, 2.0), *, side="right", quantity="elbow_torque_nm", n_trials=3):
    key = dict(zip(KEYS[CURVES], ("arm", "reach", side, quantity), strict=True))
    texts = ("" if math.isnan(value) else repr(value) for value in mean)
    return [
        {
            **key,
            "unit": "N m",
            "percent": str(50 * k),
            "mean": text,
            "sd": "",
            "n_trials": str(n_trials),
            "n_subjects": "1",
        }
        for k, text in enumerate(texts)
    ]


def condition(mean, *, term="net", statistic="peak_nm", n_trials="3"):
    place = dict(
        zip(KEYS["summary_by_condition"], ("arm", "reach", "right", statistic, "movement", "elbow", term), strict=True)
    )
    return {**place, "unit": "N m", "mean": mean, "sd": "", "n_trials": n_trials, "n_subjects": "1"}


def window(start="0.2", end="1.2", included="1", note="", kind="trial"):
    return {"trial": "t1", "window": kind, "start_s": start, "end_s": end, "included": included, "note": note}


def write(folder, one):
    folder.mkdir(parents=True)
    (folder / "provenance.json").write_text(json.dumps(one.provenance), encoding="utf-8")
    for name, frame in one.tables.items():
        frame.rename(columns={"curve": "quantity"}).to_csv(folder / f"{name}.csv", index=False)
    one.tables["summary"][[*KEYS["summary"]]].to_csv(folder / "summary_bands.csv", index=False)
    trials = one.tables["ledger"]
    (folder / "notes.txt").write_text("", encoding="utf-8")
    trials.assign(notes="notes.txt").to_csv(folder / "ledger.csv", index=False)
    trials.assign(joint="").to_csv(folder / "metrics.csv", index=False)
    return folder


def test_runs_of_opposite_signs_are_refused():
    rows = [{**summary("net", "10.0"), "positive_is": sense} for sense in ("flexion", "extension")]
    assert compare(run(rows=rows[:1]), run("b", rows=rows[:1])).same
    with pytest.raises(
        LimbtorqueError, match="trial t1: torques of the elbow are positive in flexion in A and in extension in B"
    ):
        compare(run(rows=rows[:1]), run("b", rows=rows[1:]))


def test_a_run_is_the_same_as_itself():
    found = compare(run(), run("b"))
    assert found.same
    assert found.causes == found.changes == ()
    assert found.n_compared == 4 + 2 * 3  # status, torque_status, reason, cutoff; peak, mean and time of two terms
    assert report_text(found).endswith("all numbers are the same")


def test_absolute_and_relative_change_and_share_by_hand():
    other = run("b", rows=[summary("net", "8.0"), summary("gravity", "-0.2")])
    first, second = compare(run(), other).changes
    assert (first.item, first.quantity, first.first, first.second) == ("movement elbow net", "peak_nm", "10.0", "8.0")
    assert (first.difference, first.relative, first.share) == pytest.approx((-2.0, -0.2, 0.2))
    assert (second.item, second.quantity) == ("movement elbow gravity", "peak_nm")
    # minus 0.1 to minus 0.2 doubles it: -100 % of its size, but a hundredth of the largest peak at the elbow
    assert (second.difference, second.relative, second.share) == pytest.approx((-0.1, -1.0, 0.01))


def contrast(estimate, p, *, term="net"):
    place = dict(zip(KEYS[CONTRASTS], ("faster", "max_nm", "elbow", term), strict=True))
    return {**place, "unit": "N m", "estimate": estimate, "low": "0.5", "high": "9.0", "p_adjusted": p, "note": "x"}


def test_contrasts_come_before_net_peaks():
    """From 2 to 3 N m: half of A; of the largest term at that joint, 4 N m, a quarter."""
    first = run(contrasts=[contrast("2.0", "0.04"), contrast("4.0", "0.04", term="gravity")])
    second = run(contrasts=[contrast("3.0", "0.04"), contrast("4.0", "0.04", term="gravity")])
    comparison = compare(first, second)
    (change,) = comparison.changes
    assert (change.trial, change.item, change.quantity) == ("faster max_nm elbow", "net", "estimate")
    assert (change.relative, change.share) == (0.5, 0.25)
    text = report_text(comparison)
    assert text.index("\ncontrasts\n") < text.index("net peaks")
    assert "contrasts" not in report_text(compare(run(), run()))


def test_a_peak_that_changed_its_sign_and_hardly_its_size_comes_after_one_that_grew():
    first = run(rows=[summary("net", "5.0"), summary("gravity", "1.0", joint="wrist")])
    second = run("b", rows=[summary("net", "-4.9"), summary("gravity", "1.5", joint="wrist")])
    found = compare(first, second)
    assert [change.item for change in found.changes if change.quantity == "peak_nm"] == [
        "movement wrist gravity",
        "movement elbow net",
    ]


def test_a_number_that_is_there_in_one_run_only_comes_first():
    other = run("b", rows=[summary("net", "5.0"), summary("gravity", "")])
    first, second = compare(run(), other).changes
    assert (first.item, first.first, first.second) == ("movement elbow gravity", "-0.1", "")
    assert math.isnan(first.difference)
    assert second.item == "movement elbow net"


def test_tolerance_is_a_share():
    other = run("b", rows=[summary("net", "9.0"), summary("gravity", "-0.1")])
    assert not compare(run(), other, tolerance=0.09).same
    assert compare(run(), other, tolerance=0.11).same


def test_status_of_a_trial_and_metrics_of_the_ledger():
    other = run("b", ledgers=[ledger(status="caution", cutoff="9.0", notes="y")])
    found = compare(run(), other)
    assert {(c.quantity, c.first, c.second) for c in found.changes} == {
        ("status", "ok", "caution"),
        ("torque_status", "ok", "caution"),
        ("cutoff_hz", "6.0", "9.0"),
    }
    text = report_text(found)
    assert "trial status\n  trial  column         A   B\n  t1     status         ok  caution\n" in text
    assert "t1     cutoff_hz  6  9  +3      +50 %  33.3 %" in text


def test_trials_of_one_run_only_are_named_and_not_compared():
    other = run(
        "b",
        ledgers=[ledger(), ledger("t2")],
        rows=[summary("net", "10.0"), summary("gravity", "-0.1"), summary("net", "3", trial="t2")],
    )
    found = compare(run(), other)
    assert (found.only_first, found.only_second, found.changes) == ((), ("t2",), ())
    assert not found.same
    assert "only in B: t2" in report_text(found)


def test_every_kind_of_cause_is_told():
    after = provenance(
        settings={"filter": {"cutoff_hz": 6.0, "order": 3}, "loads": {"box": {"type": "spring"}}},
        code={"torques": "bbbb"},
        libraries={"numpy": "2.2.0"},
        segment_table={"hand": {"mass": 0.007}},
        trials={
            "t1": {
                "sha256": "22",
                "forces_sha256": "",
                "row": {"body_mass_kg": 71.0, "options": {"plane.kind": "horizontal"}},
            }
        },
    )
    found = {(c.kind, c.name, c.first, c.second) for c in causes(provenance(), after)}
    assert found == {
        ("setting", "filter.cutoff_hz", "expected_error", "6.0"),
        ("setting", "loads", "{}", ""),
        ("setting", "loads.box.type", "", "spring"),
        ("version", "numpy", "2.1.0", "2.2.0"),
        ("code", "torques", "aaaa", "bbbb"),
        ("table", "hand.mass", "0.006", "0.007"),
        ("input", "t1 sha256", "11", "22"),
        ("trial", "t1 body_mass_kg", "70.0", "71.0"),
        ("trial", "t1 options", "{}", ""),
        ("trial", "t1 options.plane.kind", "", "horizontal"),
    }


def test_the_csv_has_every_change():
    other = run("b", about=provenance(python="3.13.0"), rows=[summary("net", "8.0"), summary("gravity", "-0.2")])
    rows = list(csv.DictReader(report_csv(compare(run(), other)).splitlines()))
    assert [(row["table"], row["quantity"], row["a"], row["b"]) for row in rows] == [
        ("version", "python", "3.12.1", "3.13.0"),
        ("summary", "peak_nm", "10.0", "8.0"),
        ("summary", "peak_nm", "-0.1", "-0.2"),
    ]
    assert float(rows[1]["relative"]) == pytest.approx(-0.2)


def test_exit_codes(tmp_path, capsys):
    a, b = write(tmp_path / "one" / "results", run()), write(tmp_path / "b", run(rows=[summary("net", "8.0")]))
    assert main(["diff", str(a), str(tmp_path / "one")]) == 0  # results, and the study they are in
    assert main(["diff", str(a), str(b), "--csv", str(tmp_path / "x.csv")]) == 1
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").count(
        "\n"
    ) == 3  # the heading, a peak, and a row of the first run only
    assert main(["diff", str(a), str(tmp_path / "none")]) == 2
    assert "provenance.json does not exist; give the folder 'results'" in capsys.readouterr().err


# --- curves, windows and means ----------------------------------------------------------------------------------------


def test_curves_that_vanished_are_no_sameness(tmp_path, capsys):
    """All mean curves are gone, and nothing else has changed but the windows."""
    a = write(tmp_path / "a", run(windows=[window()], curves=curves()))
    gone = window("", "", "0", "no rest", kind="movement")
    b = write(tmp_path / "b", run(windows=[gone]))
    assert main(["diff", str(a), str(b)]) == 1
    text = capsys.readouterr().out
    assert "mean curves over 0 to 100 %: only in A (1 curve)" in text
    assert "time normalisation of each trial  window    trial  movement  1" in text
    assert "t1 included 1 0 -1" in " ".join(text.split())
    assert "joint torques: the same" in text
    assert "all numbers are the same" not in text


def test_a_curve_is_compared_by_its_largest_difference():
    first = run(curves=[*curves(), *curves((0.0, -8.0, 0.0), quantity="elbow_torque_gravity_nm")])
    second = run("b", curves=[*curves((0.0, 1.5, 1.0)), *curves((0.0, -8.0, 0.0), quantity="elbow_torque_gravity_nm")])
    found = compare(first, second)
    (change,) = found.changes
    assert (change.table, change.trial, change.item, change.quantity) == (
        "ensembles",
        "arm reach right",
        "elbow_torque_nm",
        "mean at 100 %",
    )
    # 2 to 1 N m, of 8 N m, the largest of the condition's curves in N m
    assert (change.difference, change.relative, change.share) == pytest.approx((-1.0, -0.5, 0.125))
    assert "arm reach right  1 differs (N m)  elbow_torque_nm  100 %  2  1  -1      -50 %  12.5 %" in report_text(found)
    assert compare(first, second, tolerance=0.125).same


def test_a_curve_of_fewer_trials_or_points_differs():
    found = compare(run(curves=curves()), run("b", curves=curves((0.0, 1.0, math.nan), n_trials=2)))
    assert {(c.quantity, c.first, c.second) for c in found.changes} == {
        ("n_trials at 0 %", "3", "2"),
        ("a mean at 100 %", "there", "missing"),
    }
    text = report_text(found)
    assert "arm reach right: n_trials at 0 % 3 in A, 2 in B, of 1 curve" in text
    assert "arm reach right: a mean at 100 % there in A, missing in B, of 1 curve" in text


def test_means_by_condition():
    assert set(COMPARED_BY_CONDITION) <= set(condition("1"))
    gravity = condition("2", term="gravity"), condition("3", term="gravity", n_trials="2")
    first = run(conditions=[condition("10"), gravity[0], condition("500", statistic="peak_power_w")])
    second = run("b", conditions=[condition("10"), gravity[1]])
    found = compare(first, second)
    assert {(c.item, c.quantity, c.difference, c.share) for c in found.changes} == {
        ("peak_nm movement elbow gravity", "mean", 1.0, 0.1),
        ("peak_nm movement elbow gravity", "n_trials", -1.0, 1 / 3),
    }
    text = report_text(found)
    assert "arm reach right  1 differs  peak_nm movement elbow gravity  mean  2  3  +1      +50 %  10 %" in text
    assert "only in A: arm reach right (peak_power_w movement elbow net)" in text


def test_every_cell_is_compared_on_request():
    """Also standard deviations, points of a curve and columns that one run lacks."""
    first = run(rows=[{**summary("net", "10.0"), "old_nm": "2"}], curves=[{**point, "sd": "4"} for point in curves()])
    points = [{**point, "sd": "5" if point["percent"] == "50" else "4"} for point in curves()[:2]]
    second = run("b", rows=[summary("net", "10.0")], curves=points)
    assert compare(first, second).same
    found = {(c.item, c.quantity, c.first, c.second) for c in compare(first, second, every=True).changes}
    assert found == {
        ("movement elbow net", "old_nm", "2", ""),
        ("elbow_torque_nm", "sd at 50 %", "4", "5"),
        *(
            ("elbow_torque_nm", f"a {name} at 100 %", "there", "missing")
            for name in ("mean", "sd", "n_trials", "n_subjects", "unit")
        ),
    }


# --- what is in one run only, frames that were summed, and rounding ---------------------------------------------------


def test_other_frames_are_told_first():
    def sums(n, of, joint="knee"):
        return {**summary("net", "10.0", joint=joint), "n_frames": str(n), "used_share": repr(n / of)}

    first = run(rows=[sums(118, 131), sums(118, 131, "hip")], ledgers=[ledger(unmeasured_share="0")])
    second = run("b", rows=[sums(105, 131), sums(118, 131, "hip")], ledgers=[ledger(unmeasured_share="0.09923")])
    found = compare(first, second)
    assert not found.same
    assert "n_frames" not in {change.quantity for change in found.changes}
    text = report_text(found)
    said = "t1: A has 118 frames, B 105 (knee)"
    assert said in text
    assert text.index(said) < text.index("changed settings, inputs and code")
    assert "t1: A has 105 frames, B 118 (knee)" in report_text(compare(second, first))


@pytest.mark.parametrize(("second", "listed"), [("9e-14", False), ("9e-10", True), ("", True)])
def test_metrics_that_are_rounding_in_both_runs_are_no_changes(second, listed):
    """The threshold of closure_nm is 1e-9 N m."""
    found = compare(run(ledgers=[ledger(closure_nm="1e-14")]), run("b", ledgers=[ledger(closure_nm=second)]))
    assert [change.quantity for change in found.changes] == ["closure_nm"] * listed


def test_results_that_are_not_readable_are_a_sentence(tmp_path, capsys):
    folder = write(tmp_path / "a", run())
    (folder / "provenance.json").write_text("{", encoding="utf-8")
    assert main(["diff", str(folder), str(folder)]) == 2
    assert "the results are not readable" in capsys.readouterr().err
    assert read_run(write(tmp_path / "b", run())).tables["ledger"]["trial"].tolist() == ["t1"]
