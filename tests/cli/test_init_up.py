"""The axis that points up, judged by file and by person: no laboratory's axis is lent to another's files."""

from dataclasses import replace

import numpy as np
import pytest
from proposed_study import rows
from proposed_study import seen as surveyed

from c3d_files import write_c3d
from limbtorque.cli.init.init import init_study
from limbtorque.cli.init.study_settings import judge_up_by_file
from limbtorque.cli.init.survey import Clue
from limbtorque.cli.init.text import first_screen

SCREEN, BODY = (Clue(kind, "+z", kind) for kind in ("screen", "body"))
OTHER = Clue("body", "+x", "lies")


def seen(name, *up):
    return surveyed(name, up=up)


def judged(*ones, given=""):
    """Axis of the study, and of the files that differ; the person is the folder."""
    axis, evidence, others = judge_up_by_file(ones, {one.name: one.name.partition("/")[0] for one in ones}, given=given)
    return axis, others, evidence[-1] if evidence else ""


def test_two_kinds_of_evidence_of_two_people_are_no_axis():
    """Before, a screen of one laboratory and a body of another made an axis for both."""
    assert judged(seen("a/x.c3d", SCREEN), seen("b/y.c3d", BODY))[:2] == ("", {})
    assert judged(seen("a/x.c3d", SCREEN), seen("a/y.c3d", BODY))[:2] == ("+z", {})


def test_an_axis_is_not_lent_to_another_persons_file():
    axis, others, said = judged(seen("a/x.c3d", SCREEN, BODY), seen("b/y.c3d"), seen("a/z.c3d"))
    assert (axis, others) == ("+z", {"b/y.c3d": "TODO"})
    assert "b/y.c3d differ from +z, or do not show it" in said


def test_an_axis_is_not_lent_to_another_format():
    """A text file of the same person may be exported with other axes."""
    assert judged(seen("a/x.c3d", SCREEN, BODY), seen("a/y.trc"))[1] == {"a/y.trc": "TODO"}


def test_a_person_who_lies_is_asked_for():
    axis, others, _ = judged(seen("a/x.c3d", SCREEN, BODY), seen("a/lies.c3d", OTHER), seen("a/bed.c3d", OTHER, SCREEN))
    assert (axis, others) == ("+z", {"a/lies.c3d": "TODO", "a/bed.c3d": "TODO"})


def test_a_file_of_forces_counts_for_the_recording_of_its_name():
    forces = replace(seen("a/walk_grf.mot", Clue("plates", "+z", "force")), bodies=())
    ones = seen("a/walk.trc", BODY), seen("a/jump.trc")
    axis, _, others = judge_up_by_file((*ones, forces), {one.name: "a" for one in ones})
    assert (axis, others) == ("+z", {})


def test_an_axis_that_is_typed_holds_and_what_contradicts_it_is_named():
    axis, others, said = judged(seen("a/x.c3d", SCREEN, BODY), seen("b/y.c3d"), given="+y")
    assert (axis, others, said) == ("+y", {}, "contradicted by a/x.c3d")


LABELS = ["LFHD", *(side + name for side in "RL" for name in ("FEP", "FEO", "TIO", "ANK", "TOE", "HEE"))]
PLACES_M = {"LFHD": 1.7, "FEP": 0.9, "FEO": 0.5, "TIO": 0.1, "ANK": 0.1, "TOE": 0.03, "HEE": 0.05}


def leg_lifts(path, axis, *, screen=None, offset_m=0.0):
    """A body along an axis of the laboratory; the feet come and go by 10 cm."""
    xyz = np.zeros((201, len(LABELS), 3))
    lift = 0.1 * np.sin(np.linspace(0.0, 9.0, 201))
    for k, label in enumerate(LABELS):
        xyz[:, k, axis] = PLACES_M.get(label, PLACES_M.get(label[1:])) + offset_m
        xyz[:, k, (axis + 1) % 3] = (0.1 if label[0] == "R" else -0.1) + 0.2
        xyz[:, k, (axis + 2) % 3] = (
            0.6 + lift * (label[1:] in ("TIO", "ANK", "TOE", "HEE")) + 0.1 * (label[1:] == "TOE")
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    xyz += np.random.default_rng(1).normal(scale=3e-4, size=xyz.shape)
    write_c3d(path, xyz, labels=LABELS, groups={"POINT": {"Y_SCREEN": [screen]}} if screen else None)


@pytest.mark.parametrize(("screen", "offset_m"), [("+Z", 0.0), (None, 0.5)])
def test_a_recording_of_somebody_who_lies_leaves_the_axis_open(tmp_path, screen, offset_m):
    """Feet at the origin beside a screen that says z; or feet away from it: neither has an axis without contradiction."""
    leg_lifts(tmp_path / "data" / "S01" / "stands.c3d", 2, screen="+Z")
    leg_lifts(tmp_path / "data" / "S02" / "lies.c3d", 0, screen=screen, offset_m=offset_m)
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data", chains=("leg",))
    assert {(row["subject"], row["plane.up_axis"]) for row in rows(study)} == {("S01", ""), ("S02", "TODO")}
    assert "missing: plane.up_axis of 2 trials" in first_screen(proposal)
