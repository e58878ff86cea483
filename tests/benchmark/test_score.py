"""Scores of results with a known fault, on a set of two trials that the test writes."""

import numpy as np
import pandas as pd
import pytest
import run_all
import score as scoring

RATE_HZ, MASS_KG = 100.0, 70.0
TRIALS = ("T001_walk", "T002_walk", "T003_squat")
JOINTS = [f"{side}_{joint}_flexion" for side in ("left", "right") for joint in ("hip", "knee", "ankle")]


def truth(number):
    """A walk whose joints and sides differ; the third trial is four times as slow, as a squat is."""
    time_s = np.arange(150) / RATE_HZ
    table = {"time_s": time_s}
    for k, name in enumerate(JOINTS):
        phase = 2.0 * np.pi * ((0.25 if number == 3 else 1.0) * time_s + 0.13 * k + 0.02 * number)
        table[f"{name}_rad"] = 0.4 * np.sin(phase) + 0.1 * np.cos((2.0 + k) * phase)
        table[f"{name}_nm"] = 60.0 * np.cos(phase) + 20.0 * np.sin((2.0 + k) * phase)
    return pd.DataFrame(table)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "truth").mkdir()
    for number, name in enumerate(TRIALS, start=1):
        truth(number).to_csv(tmp_path / "truth" / f"{name}.csv", index=False)
    about = f"body_given,{MASS_KG},0.7,0.7,0.7"
    (tmp_path / "trials.csv").write_text(
        "trial,movement,track,mass_kg,sampling_error_hip_nm,sampling_error_knee_nm,sampling_error_ankle_nm\n"
        + "".join(f"{name},{name[5:]},{about}\n" for name in TRIALS)
    )
    return tmp_path


def scored(folder, change, name="csv"):
    """Scores and sentences of the truth of the first trial after a change."""
    path = folder / f"T001_walk.{name}"
    change(truth(1)).to_csv(path, index=False)
    return scoring.score(folder, [path])


def test_truth_scores_exactly_zero(folder):
    scores, sentences = scoring.score(folder, sorted((folder / "truth").glob("*.csv")))
    assert len(scores) == len(TRIALS) * 2 * len(JOINTS)
    assert (scores[list(scoring.MEASURES)] == 0.0).all(axis=None)
    assert (scores["frames"] == 1.0).all()
    assert sentences == []
    moments = scores[scores["kind"] == "moment"]
    np.testing.assert_allclose(moments["sampling"], 0.7 / MASS_KG)


def test_measures_by_hand():
    """A triangle one higher, and its peak a frame later."""
    time_s, values = np.arange(5.0) * 0.1, np.array([0.0, 1.0, 3.0, 1.0, 0.0])
    later = np.array([0.0, 0.0, 1.0, 4.0, 1.0])
    by_hand = {
        "rms": np.sqrt(15.0 / 5.0),
        "bias": 0.2,
        "spread": np.sqrt(3.0 - 0.04),
        "peak_error": 1.0,
        "peak_time_error_s": 0.1,
    }
    assert scoring.measures(time_s, values, later) == pytest.approx(by_hand)
    assert scoring.measures(time_s, values, values + 1.0)["bias"] == 1.0


def flipped(table):
    return table.assign(right_knee_flexion_nm=-table["right_knee_flexion_nm"])


def other_sides(table):
    return table.rename(
        columns=lambda name: (
            {"left": "right", "right": "left"}.get(name.split("_")[0], "time") + name[name.index("_") :]
        )
    )


def late(frames):
    return lambda table: table.assign(time_s=table["time_s"] + frames / RATE_HZ)


def degrees(table):
    return table.assign(left_hip_flexion_rad=np.degrees(table["left_hip_flexion_rad"]))


def by_mass(table):
    return table.assign(left_hip_flexion_nm=table["left_hip_flexion_nm"] / MASS_KG)


def external(table):
    return table.assign(left_hip_flexion_nm=-table["left_hip_flexion_nm"] / MASS_KG)


def from_the_vertical(table):
    return table.assign(left_hip_flexion_rad=table["left_hip_flexion_rad"] + 0.5 * np.pi)


def turned(table):
    return table.assign(left_hip_flexion_rad=np.pi - table["left_hip_flexion_rad"])


def other_joint(table):
    return table.assign(right_hip_flexion_nm=table["right_knee_flexion_nm"])


def slower(table):
    return table.iloc[::2]


def unknown(table):
    return pd.concat([table, table["left_hip_flexion_nm"].rename("neck_nm")], axis=1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (flipped, "The sign is wrong: right_knee_flexion_nm; T001_walk."),
        (other_sides, "Sides are exchanged: left_hip_flexion_rad, left_hip_flexion_nm, left_knee_flexion_rad, "
                      "left_knee_flexion_nm and 8 more; T001_walk."),
        (late(1), "1 frame too late: left_hip_flexion_rad, left_hip_flexion_nm, left_knee_flexion_rad, left_knee_flexion_nm "
                  "and 8 more; T001_walk."),
        (late(-2), "2 frames too early: left_hip_flexion_rad, left_hip_flexion_nm, left_knee_flexion_rad, left_knee_flexion_nm "
                   "and 8 more; T001_walk."),
        (degrees, "Angles in degrees: left_hip_flexion_rad; T001_walk."),
        (by_mass, "Moments in N m/kg: left_hip_flexion_nm; T001_walk."),
        (external, "External moments in N m/kg: left_hip_flexion_nm; T001_walk."),
        (from_the_vertical, "Angles with another zero: left_hip_flexion_rad; T001_walk."),
        (other_joint, "Values of another joint, the knee: right_hip_flexion_nm; T001_walk."),
        (slower, "Another rate, 50 Hz where the truth has 100 Hz (interpolated): T001_walk."),
        (unknown, "Other joints than those of the truth: neck_nm; T001_walk."),
            ],
)  # fmt: skip
def test_faults_are_named(folder, change, sentence):
    _, sentences = scored(folder, change)
    assert sentences == [sentence]


def test_sign_and_zero_of_an_angle_are_named_together(folder):
    _, sentences = scored(folder, turned)
    assert sentences == [
        f"{fault}: left_hip_flexion_rad; T001_walk." for fault in ("The sign is wrong", "Angles with another zero")
    ]


def test_constant_moments_have_no_other_zero(folder):
    _, sentences = scored(folder, lambda table: table.assign(left_hip_flexion_nm=table["left_hip_flexion_nm"] + 300.0))
    assert sentences == []


def test_a_frame_late_in_a_slow_movement_is_named():
    """The error is half a hundredth of the range."""
    slow = truth(3)
    values, right = (np.roll(slow["left_hip_flexion_nm"], by) for by in (1, 0))
    assert np.sqrt(np.mean((values - right)[5:-5] ** 2)) < 0.01 * np.ptp(right)
    assert scoring.explanations("left_hip_flexion_nm", values, slow, MASS_KG) == ["1 frame too late"]


def test_a_fault_of_few_trials_is_chance(folder):
    """The sign is named where it is wrong in two of three trials that have the column, not in one."""
    for wrong in (1, 2):
        for number, name in enumerate(TRIALS, start=1):
            (flipped if number <= wrong else pd.DataFrame)(truth(number)).to_csv(folder / f"{name}.csv", index=False)
        _, sentences = scoring.score(folder, sorted(folder.glob("T*.csv")))
        assert sentences == ["The sign is wrong: right_knee_flexion_nm; T001_walk, T002_walk."][: wrong - 1]


def test_frames_and_trials_without_results_are_counted(folder):
    """Of two walks the first lacks a third of its frames, the second has no hip."""
    late_start = truth(1).iloc[50:]
    late_start.to_csv(folder / "T001_walk.csv", index=False)
    truth(2).drop(columns="left_hip_flexion_nm").to_csv(folder / "T002_walk.csv", index=False)
    scores, sentences = scoring.score(folder, sorted(folder.glob("T*_walk.csv")))
    assert [sentence.partition(":")[0] for sentence in sentences] == ["Frames are missing", "No results"]
    assert sentences[1] == "No results: left_hip_flexion_nm; T002_walk."
    table = scoring.summary(scores).query("kind == 'moment' and joint == 'hip'").set_index("movement")
    assert table.loc["walk", ["trials", "without"]].tolist() == [2, 0]
    assert table.loc["walk", "frames"] == pytest.approx((2.0 / 3.0 + 2.0 / 3.0 + 0.0 + 1.0) / 4.0)
    assert list(table.index) == ["walk"]
    assert (scores[scores["trial"] == "T003_squat"]["frames"] == 0.0).all()


def test_noise_is_no_fault(folder):
    rng = np.random.default_rng(1)
    noise = 0.05 * rng.standard_normal(truth(1).shape) * [0.0, *truth(1).std().iloc[1:]]
    _, sentences = scored(folder, lambda table: table + noise)
    assert sentences == []


def test_files_and_names_of_opensim(folder):
    """Angles of a MOT file in degrees and moments of a STO file are joined."""
    table = truth(1)
    for kind, ending, suffix, factor in (
        ("angles.mot", "_rad", "", 180.0 / np.pi),
        ("moments.sto", "_nm", "_moment", 1.0),
    ):
        columns = {name: name.removesuffix(ending) + suffix for name in table if name.endswith(ending)}
        part = table[["time_s", *columns]].rename(columns={"time_s": "time"} | columns)
        part[list(columns.values())] *= factor
        head = f"name\nversion=1\ninDegrees={'yes' if factor > 1.0 else 'no'}\nendheader\n"
        (folder / f"T001_walk_{kind}").write_text(head + part.to_csv(sep="\t", index=False))
    scores, sentences = scoring.score(folder, sorted(folder.glob("T001_walk_*")))
    assert (scores["trial"] == "T001_walk").sum() == 2 * len(JOINTS)
    assert scores["rms"].max() < 1e-12
    assert sentences == []


def test_map_of_columns(folder):
    (folder / "map.csv").write_text("result,truth,sign,factor\nknee extensors,right_knee_flexion_nm,-1,70\n")
    path = folder / "T001_walk_mine.csv"
    table = truth(1)
    pd.DataFrame({"time": table["time_s"], "knee extensors": -table["right_knee_flexion_nm"] / 70.0}).to_csv(
        path, index=False
    )
    scores, sentences = scoring.score(folder, [path], folder / "map.csv")
    assert scores["rms"].dropna().item() < 1e-12
    assert sentences == []


def test_results_that_cannot_be_scored(folder):
    for name, text, message in (
        ("mine.csv", "time_s\n0\n", "begins with no trial"),
        ("T001_walk.csv", "frame,right_hip_flexion_nm\n1,2\n", "no column time_s or time"),
        ("T001_walk.sto", "time\n0\n", "no line 'endheader'"),
        (
            "T001_walk_b.csv",
            "time_s,left_hip_flexion_nm\n9,1\n9.01,2\n",
            "from 9.000 s where the truth ends at 1.490 s",
        ),
        ("T001_walk_a.csv", "time_s,neck_nm\n0,1\n0.01,2\n", "truth: neck_nm; T001_walk.\nNothing to score"),
        ("T001_walk_c.csv", "time_s,knee_angle_r\n0,1\n0.01,2\n", "truth: knee_angle_r; T001_walk.\nNothing"),
    ):
        (folder / name).write_text(text)
        with pytest.raises(scoring.ScoreError, match=message):
            scoring.score(folder, [folder / name])


def test_files_that_are_missing_and_columns_that_are_there_twice(folder):
    for name in ("a", "b"):
        truth(1).to_csv(folder / f"T001_walk_{name}.csv", index=False)
    both = sorted(folder.glob("T001_walk_*"))
    with pytest.raises(
        scoring.ScoreError, match=r"_b.csv: left_hip_flexion_rad is in .*_a.csv, too; score one of them"
    ):
        scoring.score(folder, both)
    for text, message in (
        (None, r"map.csv: no table can be read"),
        ("result,sign\n", r"map.csv: no column truth"),
        ("result,truth,sign\nknee,right_knee_flexion_nm,minus\n", "sign and factor are numbers; row 1 has text"),
    ):
        if text:
            (folder / "map.csv").write_text(text)
        with pytest.raises(scoring.ScoreError, match=message):
            scoring.score(folder, both[:1], folder / "map.csv")
    with pytest.raises(scoring.ScoreError, match=r"T001_walk.sto: no table can be read"):
        scoring.score(folder, [folder / "T001_walk.sto"])
    with pytest.raises(scoring.ScoreError, match=r"no trials.csv; name the folder"):
        scoring.score(folder / "truth", both)


def test_a_map_to_no_column_of_the_truth(folder):
    (folder / "map.csv").write_text("result,truth\nknee,right_nee_flexion_nm\n")
    truth(1).assign(knee=1.0).to_csv(folder / "T001_walk.csv", index=False)
    _, sentences = scoring.score(folder, [folder / "T001_walk.csv"], folder / "map.csv")
    assert sentences == ["Other joints than those of the truth: knee (the map says right_nee_flexion_nm); T001_walk."]


def test_the_page_of_all_programs(folder, tmp_path, monkeypatch):
    """The tables of the page are written from results that are there; a program without results is told."""
    for part in ("figures", "leg2d", "opensim_tools"):
        (tmp_path / "out" / part).mkdir(parents=True)
    page = tmp_path / "out" / "page.md"
    page.write_text("".join(f"<!-- table {k} -->\nold\n<!-- end of table {k} -->\n" for k in (1, 2, 3)))
    half = truth(1) + 0.5 * MASS_KG * truth(1).columns.str.endswith("_nm")
    half.to_csv(tmp_path / "out" / "leg2d" / "T001_walk.csv", index=False)
    command = ["run_all.py", str(folder), "--out", str(tmp_path / "out"), "--scored", "--write", str(page)]
    monkeypatch.setattr("sys.argv", command)
    run_all.main()
    assert "| Body given | walk | hip | 0.010 | 0.500 |" in page.read_text()
    assert "old" not in page.read_text()
    assert (tmp_path / "out" / "figures" / "page.png").stat().st_size > 1000
