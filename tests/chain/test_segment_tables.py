"""Tables by sex against their published figures, each other, and the landmarks they need."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.segments import DE_LEVA, DEMPSTER_WINTER, TABLES, ZATSIORSKY, segment_table, table_row
from limbtorque.errors import SegmentError

# de Leva (1996), Table 4: mean lengths, mm, between the landmarks of the rows
LENGTH_MM = {
    "f": {"upper_arm": 275.1, "forearm": 264.3, "hand": 78.0, "thigh": 368.5, "shank": 438.6, "foot": 228.3},
    "m": {"upper_arm": 281.7, "forearm": 268.9, "hand": 86.2, "thigh": 422.2, "shank": 440.3, "foot": 258.1},
}
# Zatsiorsky et al. (1990): mean masses, kg, and moments of inertia about the transverse axis, kg cm^2
SEGMENTS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")
MASS_KG = {"f": [1.58, 0.86, 0.35, 9.16, 3.0, 0.88], "m": [1.98, 1.177, 0.447, 10.36, 3.16, 0.997]}
INERTIA_KGCM2 = {"f": [80.7, 39.7, 4.4, 1647.3, 399.7, 35.6], "m": [114.4, 60.2, 8.76, 1999.4, 371.0, 40.0]}


# Mass, % of the body's; centre of mass from the proximal landmark and radius of gyration, % of the length: as printed.
# De Leva (1996), Table 4: transverse radius; forearm to the wrist's centre, hand to the third metacarpal, shank to the ankle's.
PRINTED = {
    ("de_leva", "f"): {
        "upper_arm": (2.55, 57.54, 26.0),
        "forearm": (1.38, 45.59, 25.7),
        "hand": (0.56, 74.74, 45.4),
        "thigh": (14.78, 36.12, 36.4),
        "shank": (4.81, 43.52, 26.3),
        "foot": (1.29, 40.14, 27.9),
    },
    ("de_leva", "m"): {
        "upper_arm": (2.71, 57.72, 26.9),
        "forearm": (1.62, 45.74, 26.5),
        "hand": (0.61, 79.00, 51.3),
        "thigh": (14.16, 40.95, 32.9),
        "shank": (4.33, 43.95, 24.6),
        "foot": (1.37, 44.15, 24.5),
    },
    # Zatsiorsky et al. (1990), between bony landmarks; the hand to the third fingertip
    ("zatsiorsky", "f"): {
        "forearm": (1.38, 42.58, 27.5),
        "hand": (0.56, 35.02, 20.6),
        "thigh": (14.78, 46.08, 27.0),
        "shank": (4.81, 40.30, 29.3),
        "foot": (1.29, 40.14, 27.9),
    },
    ("zatsiorsky", "m"): {
        "forearm": (1.62, 42.74, 28.4),
        "hand": (0.61, 36.91, 23.3),
        "thigh": (14.16, 45.49, 26.7),
        "shank": (4.33, 40.47, 27.5),
        "foot": (1.37, 44.15, 24.5),
    },
}


@pytest.mark.parametrize(("table", "sex"), PRINTED)
def test_every_number_is_the_printed_one(table, sex):
    rows = segment_table(table, sex)
    assert list(rows) == list(PRINTED[table, sex])
    for name, printed in PRINTED[table, sex].items():
        row = rows[name]
        assert 100.0 * np.array([row.mass, row.com, row.gyration]) == pytest.approx(printed, rel=1e-12), name


def test_every_table_is_compared_with_the_printed_one():
    every = {(table, sex) for table, by_sex in TABLES.items() for sex in by_sex}
    assert every == {*PRINTED, ("dempster_winter", "")}  # that one in test_segments


@pytest.mark.parametrize("sex", ["f", "m"])
@pytest.mark.parametrize("name", DE_LEVA["f"])
def test_radii_of_gyration_give_the_published_moments_of_inertia(sex, name):
    """De Leva's share of his length against the radius that follows from the mean inertia; both are rounded to two digits."""
    mass, inertia = (values[sex][SEGMENTS.index(name)] for values in (MASS_KG, INERTIA_KGCM2))
    radius_cm = DE_LEVA[sex][name].gyration * LENGTH_MM[sex][name] / 10.0
    assert radius_cm == pytest.approx(np.sqrt(inertia / mass), rel=0.015)


def shifted(sex, name):
    """Places of the proximal and distal landmark of Zatsiorsky below de Leva's proximal one, mm: same mass, same radius."""
    ours, theirs, length = DE_LEVA[sex][name], ZATSIORSKY[sex][name], LENGTH_MM[sex][name]
    their_length = length * ours.gyration / theirs.gyration
    proximal = ours.com * length - theirs.com * their_length
    return proximal, proximal + their_length


@pytest.mark.parametrize("sex", ["f", "m"])
def test_both_tables_put_the_bony_landmarks_in_the_same_place(sex):
    """Tibiale by the thigh and by the shank; stylion and sphyrion at the ends that de Leva gives from the joints."""
    spine, tibiale = shifted(sex, "thigh")
    assert -110.0 < spine < -50.0  # above the hip joint
    assert tibiale - LENGTH_MM[sex]["thigh"] == pytest.approx(shifted(sex, "shank")[0], abs=5.0)
    to_sphyrion, to_stylion = {"f": (426.0, 262.4), "m": (427.7, 266.9)}[sex]
    assert shifted(sex, "shank")[1] == pytest.approx(to_sphyrion, abs=10.0)
    assert shifted(sex, "forearm")[1] == pytest.approx(to_stylion, abs=3.0)
    to_fingertip = {"f": 172.0, "m": 189.9}[sex]
    assert np.subtract(*shifted(sex, "hand")[::-1]) == pytest.approx(to_fingertip, rel=0.01)
    assert ZATSIORSKY[sex]["foot"] == DE_LEVA[sex]["foot"]


@pytest.mark.parametrize("table", ["de_leva", "zatsiorsky"])
def test_tables_by_sex_are_refused_without_the_sex(table):
    with pytest.raises(SegmentError, match=rf"table {table} depend on the sex.*column sex of subjects\.csv"):
        segment_table(table)
    assert segment_table(table, "f") != segment_table(table, "m")
    assert segment_table("dempster_winter") == segment_table("dempster_winter", "f")


def test_a_segment_that_a_table_lacks_is_refused():
    with pytest.raises(SegmentError, match=r"no segment 'upper_arm'; it has forearm, hand.*segments\.rows"):
        table_row(segment_table("zatsiorsky", "m"), "upper_arm")


def test_both_sexes_are_measured_between_the_same_landmarks():
    for by_sex in TABLES.values():
        ends = [
            {name: (row.proximal, row.distal, row.com_from) for name, row in rows.items()} for rows in by_sex.values()
        ]
        assert all(one == ends[0] for one in ends)


def chain_of(rows, lengths, table, *, mass=70.0, between=None):
    return segment_chain(
        rows, table=table, body_mass_kg=mass, link_length_m=lengths, measured_between=between or {}, measured={}
    )


def test_a_womans_thigh_by_hand():
    """60 kg, 0.4 m from hip to knee."""
    between = {"thigh": ("hip_axis", "knee_axis", 0.4)}
    chain = chain_of(["thigh"], [0.4], segment_table("de_leva", "f"), mass=60.0, between=between)
    assert chain.mass_kg[0] == pytest.approx(8.868)
    assert chain.com_m[0] == pytest.approx(0.14448)
    assert chain.inertia_kgm2[0] == pytest.approx(8.868 * 0.1456**2)


def test_a_centre_of_mass_from_a_landmark_needs_its_place():
    with pytest.raises(SegmentError, match=r"segment foot: distance of the centre of mass is nan m"):
        chain_of(["foot"], [0.15], segment_table("de_leva", "m"), between={"foot": ("heel", "toe_tip", 0.26)})


def test_segments_with_the_whole_body_are_refused():
    rows = segment_table("de_leva", "m")
    heavy = {name: replace(row, mass=0.45) for name, row in rows.items()}
    with pytest.raises(SegmentError, match=r"together 135 % of the body mass"):
        chain_of(["thigh", "shank", "upper_arm"], [0.4, 0.4, 0.3], heavy)


@pytest.mark.parametrize(("sex", "beyond_mm", "share"), [("m", 48.0, 0.36), ("f", 37.0, 0.32)])
def test_dempsters_hand_ends_at_the_second_knuckle(sex, beyond_mm, share):
    """Its centre of mass is de Leva's where the end is that much beyond the metacarpal's head, and too near without it."""
    length_mm, theirs, ours = LENGTH_MM[sex]["hand"], segment_table("de_leva", sex)["hand"], DEMPSTER_WINTER["hand"]
    assert ours.com * (length_mm + beyond_mm) == pytest.approx(theirs.com * length_mm, abs=0.5)
    assert 1.0 - ours.com / theirs.com == pytest.approx(share, abs=0.005)
