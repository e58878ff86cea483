"""A landmark that is not filled in stops a study only where a trial uses its marker set."""

import pytest

import limbtorque as lt
import study_runs as workflow

OPEN = "marker_sets:\n  others: {hip_axis: TODO}\n"


@pytest.mark.parametrize(("used", "expected"), [(False, []), (True, ["marker_sets.others.hip_axis is not filled in"])])
def test_only_marker_sets_in_use_count(tmp_path, used, expected):
    folder = workflow.make_study(tmp_path / "study", ["S01_sagittal_fast", "S02_horizontal_fast"])
    path = folder / "config" / "config.yaml"
    path.write_text(path.read_text("utf-8").replace("marker_sets:\n", OPEN, 1), "utf-8")
    rows = workflow.demo_rows(["S01_sagittal_fast", "S02_horizontal_fast"])
    for row, name in zip(rows, ("limb_markers", "others" if used else "limb_markers"), strict=True):
        row["marker_set"] = name
    workflow.write_trials(folder, rows)
    if not expected:
        assert len(lt.load_study(folder).trials) == 2
        return
    with pytest.raises(lt.StudyError) as raised:
        lt.load_study(folder)
    assert [fault.partition(" (")[0] for fault in raised.value.faults] == expected
