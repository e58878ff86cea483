"""Arms of a man of 1.70 m and 70 kg, with segment parameters by Dempster.

Segment lengths are shares of body height. Masses, centres of mass and radii of gyration are the rows of Dempster's
table as printed in Winter (2009, Table 4.1); each share of a length is of the distance between the landmarks of its
row.
"""

import limbtorque as lt

HEIGHT_M, MASS_KG = 1.70, 70.0
UPPER_ARM_M = 0.188 * HEIGHT_M  # shoulder to elbow
FOREARM_M = 0.146 * HEIGHT_M  # elbow to ulnar styloid
FINGERTIP_M = 0.253 * HEIGHT_M  # elbow to fingertip
HAND_M = 0.085  # wrist to knuckle II

VERTICAL = (0.0, -9.81)  # gravity in a sagittal plane, x forward and y up, m/s^2
HORIZONTAL = (0.0, 0.0)  # gravity in a horizontal plane


def dempster(rows: dict[str, float], link_length_m: list[float]) -> lt.Chain:
    """Chain of rows of Dempster's table, each with the length between its landmarks."""
    return lt.segment_chain(
        list(rows),
        table=lt.DEMPSTER_WINTER,
        body_mass_kg=MASS_KG,
        link_length_m=link_length_m,
        measured_between={
            row: (lt.DEMPSTER_WINTER[row].proximal, lt.DEMPSTER_WINTER[row].distal, length)
            for row, length in rows.items()
        },
        measured={},
    )


def straight_arm() -> lt.Chain:
    """The whole arm as one link, from the shoulder to the wrist."""
    length = UPPER_ARM_M + FOREARM_M
    return dempster({"total_arm": length}, [length])


def two_link_arm() -> lt.Chain:
    """Upper arm, and forearm with hand; the endpoint is the fingertip."""
    return dempster({"upper_arm": UPPER_ARM_M, "forearm_and_hand": FOREARM_M}, [UPPER_ARM_M, FINGERTIP_M])


def three_link_arm() -> lt.Chain:
    """Upper arm, forearm and hand; the endpoint is the knuckle."""
    lengths = {"upper_arm": UPPER_ARM_M, "forearm": FOREARM_M, "hand": HAND_M}
    return dempster(lengths, list(lengths.values()))
