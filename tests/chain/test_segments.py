"""Body segment parameters against Winter's Table 4.1 and the rule that a length has its landmarks."""

import numpy as np
import pytest

from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.segments import DEMPSTER_WINTER, table_row
from limbtorque.errors import SegmentError

# Winter (2009), Biomechanics and Motor Control of Human Movement, 4th ed., Table 4.1: mass over body mass, centre of mass
# from proximal over length, radius of gyration about it over length, and the landmarks of the length.
WINTER = {
    "hand": (0.006, 0.506, 0.297, "wrist_axis", "knuckle_2_middle_finger"),
    "forearm": (0.016, 0.430, 0.303, "elbow_axis", "ulnar_styloid"),
    "upper_arm": (0.028, 0.436, 0.322, "glenohumeral_axis", "elbow_axis"),
    "forearm_and_hand": (0.022, 0.682, 0.468, "elbow_axis", "ulnar_styloid"),
    "foot": (0.0145, 0.50, 0.475, "lateral_malleolus", "head_of_metatarsal_2"),
    "shank": (0.0465, 0.433, 0.302, "femoral_condyles", "medial_malleolus"),
    "thigh": (0.100, 0.433, 0.323, "greater_trochanter", "femoral_condyles"),
    "total_arm": (0.050, 0.530, 0.368, "glenohumeral_axis", "ulnar_styloid"),
    "foot_and_shank": (0.061, 0.606, 0.416, "femoral_condyles", "medial_malleolus"),
    "total_leg": (0.161, 0.447, 0.326, "greater_trochanter", "medial_malleolus"),
}


def chain_of(rows, lengths, measured=None, between=None, mass=80.0):
    pairs = {
        name: (DEMPSTER_WINTER[name].proximal, DEMPSTER_WINTER[name].distal, length)
        for name, length in zip(rows, lengths, strict=True)
    }
    return segment_chain(
        rows,
        table=DEMPSTER_WINTER,
        body_mass_kg=mass,
        link_length_m=lengths,
        measured_between={**pairs, **(between or {})},
        measured=measured or {},
    )


@pytest.mark.parametrize("name", WINTER)
def test_table_is_winters(name):
    row = table_row(DEMPSTER_WINTER, name)
    assert (row.mass, row.com, row.gyration, row.proximal, row.distal) == WINTER[name]


def test_an_arm_by_hand():
    """80 kg; upper arm 0.3 m, forearm 0.25 m between its landmarks but 0.26 m between the joints, hand 0.08 m."""
    between = {"forearm": ("elbow_axis", "ulnar_styloid", 0.25)}
    between["hand"] = ("wrist_axis", "knuckle_2_middle_finger", 0.08)
    chain = chain_of(["upper_arm", "forearm", "hand"], [0.3, 0.26, 0.09], between=between)
    np.testing.assert_array_equal(chain.length_m, [0.3, 0.26, 0.09])
    np.testing.assert_allclose(chain.mass_kg, [2.24, 1.28, 0.48], rtol=1e-15)
    np.testing.assert_allclose(chain.com_m, [0.1308, 0.1075, 0.04048], rtol=1e-15)
    inertia = [2.24 * 0.0966**2, 1.28 * 0.07575**2, 0.48 * 0.02376**2]
    np.testing.assert_allclose(chain.inertia_kgm2, inertia, rtol=1e-14)


def test_forearm_and_hand_to_the_fingertip_is_refused():
    """The two-link document takes shares of elbow - styloid (0.146 H) of a length to the fingertip (0.253 H)."""
    long_m = 0.253 * 1.75
    between = {"forearm_and_hand": ("elbow_axis", "fingertip", long_m)}
    with pytest.raises(SegmentError, match=r"from elbow_axis to fingertip.*from elbow_axis to ulnar_styloid"):
        chain_of(["forearm_and_hand"], [long_m], between=between)
    right = chain_of(["forearm_and_hand"], [0.146 * 1.75], mass=70.0)
    assert 0.682 * 0.253 * 1.75 / right.com_m[0] == pytest.approx(1.73, abs=0.005)
    wrong_inertia = 0.022 * 70.0 * (0.468 * 0.253 * 1.75) ** 2
    assert wrong_inertia / right.inertia_kgm2[0] == pytest.approx(3.0, abs=0.01)


@pytest.mark.parametrize("length", [0.0, -0.2, float("nan")])
def test_lengths_that_are_no_lengths_are_refused(length):
    with pytest.raises(SegmentError, match=r"segment forearm: length from elbow_axis to ulnar_styloid is"):
        chain_of(["forearm"], [0.26], between={"forearm": ("elbow_axis", "ulnar_styloid", length)})


@pytest.mark.parametrize("length", [0.0, float("nan"), float("inf")])
def test_links_without_a_length_are_refused(length):
    row = DEMPSTER_WINTER["forearm"]
    with pytest.raises(SegmentError, match=r"segments forearm: length_m\[0\]"):
        chain_of(["forearm"], [length], between={"forearm": (row.proximal, row.distal, 0.25)})


@pytest.mark.parametrize("mass", [-70.0, float("nan")])
def test_a_body_without_a_mass_is_refused(mass):
    with pytest.raises(SegmentError, match=r"body mass is (-70|nan) kg, expected 1 to 400 kg"):
        chain_of(["forearm"], [0.26], mass=mass)


def test_measured_values_take_the_place_of_the_tables():
    own = {"forearm_mass_kg": 1.5, "hand_com_m": 0.05, "hand_inertia_kgm2": 0.001, "foot_mass_kg": 9.0}
    chain = chain_of(["forearm", "hand"], [0.25, 0.08], measured=own)
    np.testing.assert_allclose(chain.mass_kg, [1.5, 0.48])
    np.testing.assert_allclose(chain.com_m, [0.43 * 0.25, 0.05])
    np.testing.assert_allclose(chain.inertia_kgm2, [1.5 * (0.303 * 0.25) ** 2, 0.001])


def test_the_centre_of_mass_of_a_foot_may_be_at_its_ankle():
    assert chain_of(["foot"], [0.2], measured={"foot_com_m": 0.0}).com_m[0] == 0.0
    with pytest.raises(SegmentError, match=r"centre of mass is -0\.01 m, expected 0 or more and at most 0\.2 m"):
        chain_of(["foot"], [0.2], measured={"foot_com_m": -0.01})


def test_a_measured_length_scales_the_tables_shares_only():
    chain = chain_of(["forearm"], [0.26], measured={"forearm_length_m": 0.24})
    assert chain.length_m[0] == 0.26
    assert chain.com_m[0] == pytest.approx(0.43 * 0.24)
    assert chain.inertia_kgm2[0] == pytest.approx(80 * 0.016 * (0.303 * 0.24) ** 2)
