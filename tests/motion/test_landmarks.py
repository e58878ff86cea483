"""Landmarks from markers: templates of sides, means, points between, substitutes, prefixes, and what is missing."""

import re

import numpy as np
import pytest

from limbtorque.errors import LandmarkError
from limbtorque.motion.landmarks import LandmarkMap, locate, needed_markers
from limbtorque.recordings.recording import Recording
from limbtorque.study.chains import Between


def recording(*labels, modelled=()):
    positions = np.random.default_rng(4).normal(size=(6, len(labels), 3))
    return Recording(
        "trial.c3d", "", "test", labels, positions, rate_hz=100.0, first_frame=1, modelled_labels=tuple(modelled)
    )


def mapping(rules, *, side="right", substitutes=None, prefix=""):
    return LandmarkMap(rules, substitutes or {}, side, prefix)


def position(landmark, chosen, recorded):
    markers = needed_markers(recorded, chosen, [landmark])
    return locate(landmark, chosen, markers=markers, positions_m=recorded.markers_m)


@pytest.mark.parametrize(
    ("template", "right", "left"),
    [
        ("{S}ELB", "RELB", "LELB"),
        ("{s}_elbow", "r_elbow", "l_elbow"),
        ("elbow_{side}", "elbow_right", "elbow_left"),
        ("{S}{S}_{s}_{side}", "RR_r_right", "LL_l_left"),
        ("ELB", "ELB", "ELB"),
    ],
)
def test_templates_of_the_side(template, right, left):
    recorded = recording(
        "RELB", "LELB", "r_elbow", "l_elbow", "elbow_right", "elbow_left", "RR_r_right", "LL_l_left", "ELB"
    )
    for side, label in (("right", right), ("left", left)):
        for rule in (template, (template,), Between(between=(template, "ELB"), fraction=0.0)):
            found = position("elbow", mapping({"elbow": rule}, side=side), recorded)
            np.testing.assert_array_equal(found, recorded.markers_m[:, recorded.labels.index(label)])


def test_mean_and_point_between_by_hand():
    recorded = recording("A", "B", "C")
    a, b, c = np.moveaxis(recorded.markers_m, 1, 0)
    rules = {
        "mean": ("A", "B", "C"),
        "middle": Between(between=("A", "B")),
        "third": Between(between=("A", "B"), fraction=0.3),
        "beyond": Between(between=("C", "B"), fraction=1.2),
        "before": Between(between=("C", "B"), fraction=-0.5),
    }
    expected = {
        "mean": (a + b + c) / 3,
        "middle": (a + b) / 2,
        "third": a + 0.3 * (b - a),
        "beyond": c + 1.2 * (b - c),
        "before": c - 0.5 * (b - c),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(position(name, mapping(rules), recorded), values, atol=1e-14)


def test_a_marker_named_twice_weighs_twice():
    """A mean of A, A and B is what it says; so is a point between a marker and itself."""
    recorded = recording("A", "B")
    a, b = np.moveaxis(recorded.markers_m, 1, 0)
    np.testing.assert_allclose(position("x", mapping({"x": ("A", "A", "B")}), recorded), (2 * a + b) / 3, atol=1e-14)
    same = Between(between=("A", "A"), fraction=0.3)
    np.testing.assert_allclose(position("x", mapping({"x": same}), recorded), a, atol=1e-14)


def test_a_missing_sample_of_any_marker_is_missing():
    recorded = recording("A", "B")
    recorded.markers_m[2, 1] = np.nan
    found = position("x", mapping({"x": ("A", "B")}), recorded)
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), np.arange(6) == 2)


def test_substitutes_stand_in_and_are_told():
    chosen = mapping(
        {"acromion": "SHO", "elbow_axis": "ELB"}, substitutes={"glenohumeral_axis": "acromion", "elbow_axis": "x"}
    )
    recorded = recording("SHO", "ELB")
    np.testing.assert_array_equal(position("glenohumeral_axis", chosen, recorded), recorded.markers_m[:, 0])
    assert chosen.has("glenohumeral_axis")
    assert chosen.has("elbow_axis")
    assert not chosen.has("wrist_axis")
    # a mapped landmark needs no substitute, even if one is named
    assert [chosen.resolve(name) for name in ("glenohumeral_axis", "elbow_axis")] == ["acromion", "elbow_axis"]
    np.testing.assert_array_equal(position("elbow_axis", chosen, recorded), recorded.markers_m[:, 1])


def test_a_landmark_that_is_not_mapped_is_named_with_those_that_are():
    chosen = mapping({"acromion": "SHO", "elbow_axis": "ELB"}, substitutes={"wrist_axis": "nowhere"})
    for landmark in ("glenohumeral_axis", "wrist_axis"):
        message = (
            f"landmark '{landmark}' is needed but not mapped; the marker set has acromion, elbow_axis; .*substitutes"
        )
        with pytest.raises(LandmarkError, match=message):
            needed_markers(recording("SHO", "ELB"), chosen, ["acromion", landmark])


def test_missing_markers_are_all_named_with_what_was_meant():
    chosen = mapping({"shoulder": "{S}SHO", "elbow": ("{S}ELBL", "{S}ELBM"), "wrist": "Q"})
    with pytest.raises(LandmarkError) as error:
        needed_markers(recording("RSHO", "RELB1", "RELM", "LSHO"), chosen, ["shoulder", "elbow", "wrist"])
    parts = str(error.value).split("; trial.c3d")
    assert len(parts) == 3
    assert "marker 'RELBL' is not among the 4 positions of the file; did you mean" in str(error.value)
    assert "'RELM'" in str(error.value)
    assert re.search(r"marker 'Q' is not among the 4 positions of the file(;|$)", str(error.value))


def test_prefixes():
    recorded = recording("Ann:SHO", "Ann:ELB", "Bob:SHO", "Bob:ELB", "WRI")
    rules = {"shoulder": "SHO", "full": "Ann:SHO", "wrist": "WRI"}
    with pytest.raises(LandmarkError, match=r"'SHO' is ambiguous, the file has 'Ann:SHO', 'Bob:SHO'; .*prefix"):
        needed_markers(recorded, mapping(rules), ["shoulder"])
    for prefix, index in (("Ann", 0), ("Bob", 2), ("Bob:", 2)):
        assert needed_markers(recorded, mapping(rules, prefix=prefix), ["shoulder"]) == {"SHO": index}
    assert needed_markers(recorded, mapping(rules, prefix="Bob"), ["full"]) == {"Ann:SHO": 0}
    assert needed_markers(recorded, mapping(rules), ["wrist", "full"]) == {"WRI": 4, "Ann:SHO": 0}
    alone = recording("Ann:SHO", "Ann:ELB")
    assert needed_markers(alone, mapping(rules), ["shoulder"]) == {"SHO": 0}


def test_a_label_that_occurs_twice_is_ambiguous():
    with pytest.raises(
        LandmarkError, match=r"'KNE' is ambiguous, the file has 'KNE', 'KNE'.*rename a label that occurs twice"
    ):
        needed_markers(recording("KNE", "ANK", "KNE"), mapping({"knee": "KNE"}), ["knee"])


def test_a_modelled_output_is_not_a_position():
    with pytest.raises(LandmarkError, match="'RElbowAngles' is a modelled output, not a position"):
        needed_markers(recording("A", modelled=["RElbowAngles"]), mapping({"x": "{S}ElbowAngles"}), ["x"])
