"""Moment arms of the built-in sets against all published ones: the collection, attachments, closed forms of the range."""

import csv
from collections import defaultdict
from dataclasses import replace

import draw_moment_arms as tool
import draw_strength as strength
import numpy as np
import published_arms as published
import pytest

from limbtorque.muscles.sets.muscle_set import load_muscle_set

# Muscles and joints of the collection of published arms, as the set `arm` has them.
COLLECTED = {"PC": ["PECM1"], "DELTa": ["DELT1"], "DELTp": ["DELT3"], "CB": ["CORB"], "BIC": ["BIClong", "BICshort"]}
COLLECTED |= {"TRI": ["TRIlong", "TRIlat", "TRImed"]} | {
    name: [name] for name in ("BRA", "BRD", "FCR", "FCU", "ECU", "ECRL", "ECRB")
}
MM = {"mm": 1.0, "cm": 10.0, "m": 1000.0}
PURE_ELBOW = (0, 1, 4, 9)  # of the equation with the forearm's rotation: powers of the flexion alone


def collection(recordings):
    """Polynomials of the collection in mm, at no rotation of the forearm, by muscle and joint; zeros left out."""
    found = defaultdict(list)
    with (recordings / "moment_arms" / "upper_limb_moment_arm_coeffs.csv").open() as file:
        for row in csv.DictReader(file):
            powers = [MM[row["units"]] * float(row[key]) for key in row if key.startswith("c") and row[key]]
            if row["ramsay_eq"] == "2":
                powers = [powers[k] for k in PURE_ELBOW]
            if any(powers):
                for muscle in COLLECTED.get(row["muscle"], ()):
                    found[muscle, row["joint"].lower()].append(
                        (row["source"].split(";")[0], np.polynomial.Polynomial(powers))
                    )
    return found


def test_every_value_of_the_collection_is_listed(recordings):
    """Every author and estimate, used or not, for each muscle and joint that a muscle of the set crosses."""
    crossing = {muscle.name: muscle.crosses for muscle in load_muscle_set("arm").muscles}
    listed = defaultdict(list)
    for one in published.published_arms():
        listed[one.muscle, one.joint].append(one)
    count = 0
    for (muscle, joint), values in collection(recordings).items():
        if joint not in crossing[muscle]:
            continue  # the heads of the triceps that do not reach the shoulder
        for author, polynomial in values:
            count += 1
            assert any(  # coefficients are rounded to 1e-4 mm
                np.allclose(one.arm_mm, polynomial(np.radians(one.flexion_deg)), atol=5e-3)
                for one in listed[muscle, joint]
            ), (muscle, joint, author)
    assert count == 45  # two for the pectoralis, four for the anterior deltoid and so on, counted in the file


def test_every_arm_has_the_sign_of_its_published_values():
    """Of the whole collection, the abstracts and the attachments, but for single rows that say why not."""
    excepted = 0
    for one in published.published_arms():
        ours = tool.our_arm_mm(one.muscle, one.joint, one.flexion_deg)
        differ = published.signs_differ(ours, one.arm_mm)
        low, high = one.opposed_deg
        inside = (one.flexion_deg >= low) & (one.flexion_deg <= high)
        excepted += bool(one.opposed)
        assert not (differ & ~(inside & bool(one.opposed))).any(), (one.muscle, one.joint, one.source)
        assert differ.any() == bool(one.opposed), (one.muscle, one.joint, one.source)  # no exception without a cause
    assert excepted == 9  # coracobrachialis, long radial extensor, seven at the hip


@pytest.mark.parametrize(
    ("muscle", "cm"),
    [
        ("hamstrings", -5.0), ("glut_max", -4.6), ("glut_med", -1.3), ("iliopsoas", 1.8), ("rect_fem", 4.3),
        ("sartorius", 4.0), ("add_long", 4.1), ("add_brev", 2.1), ("gracilis", 1.3), ("tfl", 3.9),
    ],
)  # fmt: skip
def test_attachments_give_the_arms_that_were_published_of_the_same_specimen(muscle, cm):
    """Dostal et al. (1986) Phys Ther 66, 351-359: arms in the anatomical position, of the attachments of 1981."""
    (one,) = (a for a in published.published_arms() if a.muscle == muscle and a.joint == "hip" and "Dostal" in a.source)
    assert 0.1 * float(one.arm_mm[one.flexion_deg == 0][0]) == pytest.approx(cm, abs=0.25)


def test_arm_of_a_straight_line_is_its_distance_from_the_centre():
    """By hand: from 40 mm in front of the centre to 300 mm down the thigh, in its plane, r = 40 * 300 cos q / length."""
    q = np.array([0.0, 30.0, 60.0])
    row = {"joint": "hip", "parts": [[["pelvis", 40, 0, 0], ["femur", 0, -300, 0]]]}
    tibia = {"x": [[0, 0.0], [60, 0.0], [120, 0.0]], "y": [[0, -400.0], [60, -400.0], [120, -400.0]]}
    length = np.sqrt(40**2 + 300**2 - 2 * 40 * 300 * np.sin(np.radians(q)))
    expected = 40 * 300 * np.cos(np.radians(q)) / length
    np.testing.assert_allclose(published.arm_of_paths(row, q, tibia), expected, rtol=1e-6)


def test_arm_at_a_hinge_knee_by_hand():
    """From 200 mm up the thigh to 100 mm down the shank, 30 mm behind both: the arm of the bent knee flexes."""
    row = {"joint": "knee", "parts": [[["femur", -30, -200, 0], ["tibia", -30, -100, 0]]]}
    tibia = {"x": [[0, 0.0], [60, 0.0], [120, 0.0]], "y": [[0, -400.0], [60, -400.0], [120, -400.0]]}
    arm = published.arm_of_paths(row, np.array([0.0, 90.0]), tibia)
    # bent by 90 degrees the lower point is at (-100, 30) from the knee, the upper at (-30, 200): distance of the line
    bent = abs(-100 * 200 - 30 * -30) / np.hypot(70, 170)
    np.testing.assert_allclose(arm, [30.0, bent], rtol=1e-6)


def curve(arms_mm, flexion_deg=(0.0, 15.0, 30.0, 45.0, 60.0)):
    return published.PublishedArm("m", "hip", "s", np.array(flexion_deg), np.array(arms_mm, dtype=float))


def test_range_is_from_the_lowest_to_the_highest_arm_at_each_angle():
    flexion, arm = np.array([0.0, 30.0, 60.0]), np.array([20.0, 20.0, 20.0])
    assert published.range_of(flexion, arm, []) == {}
    found = published.range_of(
        flexion, arm, [curve([40.0, 30.0, 20.0, 10.0, 0.0]), curve([-5.0] * 4, (0.0, 15.0, 30.0, 31.0))]
    )
    assert found["published"] == {
        "flexion_deg": [0.0, 15.0, 30.0, 45.0, 60.0],
        "lowest_m": [-0.005, -0.005, -0.005, 0.01, 0.0],  # one source ends at 31 degrees
        "highest_m": [0.04, 0.03, 0.02, 0.02, 0.02],
        "other_sources": 2,
    }


def test_source_of_single_angles_counts_everywhere_by_its_ratio():
    flexion, arm = np.array([0.0, 30.0, 60.0]), np.array([10.0, 20.0, 30.0])
    found = published.range_of(flexion, arm, [curve([40.0, 30.0], (30.0, 60.0))])["published"]
    assert found["highest_m"] == [0.02, 0.03, 0.04, 0.0375, 0.03]  # twice the arm up to 30 degrees, then down to it
    assert found["lowest_m"] == [0.01, 0.015, 0.02, 0.025, 0.03]
    outside = [curve([9.0] * 4, (70.0, 80.0, 90.0, 100.0))]
    assert published.range_of(flexion, arm, outside) == {}


def test_a_source_that_repeats_another_does_not_count():
    flexion, arm = np.array([0.0, 30.0, 60.0]), np.array([20.0, 20.0, 20.0])
    own = curve([40.0, 30.0, 20.0, 10.0, 0.0])
    assert published.range_of(flexion, arm, [own])["published"]["other_sources"] == 1
    again = published.range_of(flexion, arm, [own, replace(own, repeats="s")])
    assert again == published.range_of(flexion, arm, [own])
    assert published.range_of(flexion, arm, [replace(own, repeats="s")]) == {}


def test_ranges_of_the_sets_follow_from_the_published_arms():
    """By hand: 33, 19 and 19 mm against the curve of Kuechle et al. (1997); 20 mm against -20; 2 and 51 mm."""
    arms = {muscle.name: muscle.moment_arms["shoulder"] for muscle in load_muscle_set("arm").muscles}
    q = np.radians([0.0, 60.0, 120.0])
    kuechle = 12.7929 + 11.7344 * q + 2.9275 * q**2 + 6.0579 * q**3 - 2.5787 * q**4
    low, high = (1e3 * end for end in arms["DELT1"].published.at(q))
    np.testing.assert_allclose(low, [kuechle[0], 19.0, 19.0], atol=0.02)
    np.testing.assert_allclose(high, [33.02, 33.02, kuechle[2]], atol=0.02)
    np.testing.assert_allclose(arms["CORB"].published.at(q), [[-0.02] * 3, [0.02] * 3])
    low, high = (1e3 * end for end in arms["PECM1"].published.at(np.zeros(1)))
    assert (round(float(low[0])), round(float(high[0]))) == (2, 51)
    assert arms["DELT2"].published is None  # no other source


@pytest.mark.parametrize("chain", ["arm", "leg"])
def test_every_arm_is_within_its_published_range(chain):
    """The arm of the set is one of them: by more than 2 mm it may leave the range only between the angles."""
    for muscle in load_muscle_set(chain).muscles:
        for joint in muscle.function:
            arm = muscle.moment_arms[joint]
            if arm.published is None:
                continue
            at = np.radians(arm.published.flexion_deg)
            ends = np.degrees(at[[0, -1]])
            inside = np.clip(np.degrees(at), ends[0] + 1e-6, ends[1] - 1e-6)
            ours = 1e-3 * tool.our_arm_mm(muscle.name, joint, inside)
            low, high = arm.published.at(at)
            assert ((ours > low - 2e-3) & (ours < high + 2e-3)).all(), (muscle.name, joint)


BEYOND_MM = {"add_brev": 27.0, "glut_max": 25.0}  # named in docs/muscle_validation.md


def test_no_hip_arm_is_beyond_all_published_ones():
    """Over its whole range by 15 mm at most, but for two muscles that the page names."""
    arms = defaultdict(list)
    for one in published.published_arms():
        if one.joint == "hip":
            arms[one.muscle].append(one)
    flexion = published.grid(-30.0, 120.0)
    for muscle, sources in arms.items():
        ours = tool.our_arm_mm(muscle, "hip", flexion)
        theirs = np.full((len(sources), len(flexion)), np.nan)
        for row, one in zip(theirs, sources, strict=True):
            row[: len(one.flexion_deg)] = one.arm_mm
        beyond = np.nanmax(np.maximum(ours - np.nanmax(theirs, axis=0), np.nanmin(theirs, axis=0) - ours))
        assert beyond < BEYOND_MM.get(muscle, 15.0), (muscle, beyond)
        assert muscle not in BEYOND_MM or beyond > 15.0, muscle


def test_difference_of_an_arm_from_a_line_by_hand():
    flexion = np.array([0.0, 60.0, 120.0])
    row = tool.difference("BICshort", "shoulder", flexion, np.array([29.21, 19.21, 29.21]))
    assert row == ("0 to 120", "5.8", "+10.0 at 60")  # 10 / sqrt 3


def test_every_published_arm_is_printed(recordings):
    rows = tool.arm_rows(recordings.parent / "reference" / "muscles")
    printed = {(muscle, joint, source) for muscles, joint, source, *_ in rows for muscle in muscles.split(", ")}
    assert printed >= {(one.muscle, one.joint, tool.short(one.source)) for one in published.published_arms()}


def test_the_page_has_every_row_of_strengths():
    page = (tool.ROOT / "docs" / "muscle_validation.md").read_text(encoding="utf-8")
    rows = strength.printed_rows()
    assert [row for row in rows if f"| {' | '.join(row)} |\n" not in page] == []
