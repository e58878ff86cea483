"""A limb refuses a name that is misspelt, with the name that was meant."""

import pytest

import limbtorque as lt

SETTINGS = lt.make_settings(
    {
        "plane": {"up_axis": "+z"},
        "marker_sets": {"lab": {"elbow_axis": "ELB"}},
        "loads": {"spring": {"type": "spring", "stiffness_n_m": 50.0, "anchor_m": [0.0, 0.0, 0.0]}},
    }
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("side", side) for side in ("rihgt", "Right", "", None)),
        *(("body_mass_kg", mass) for mass in (0.0, -70.0, float("nan"), float("inf"), "72", None, 7200)),
    ],
)
def test_a_side_and_a_mass_are_possible_ones(name, value):
    with pytest.raises(ValueError, match=f"{name} is .*; expected"):
        lt.Limb("arm", **{"side": "right", "body_mass_kg": 72.0, name: value})


@pytest.mark.parametrize(
    ("changes", "ask", "message"),
    [
        ({"chain": "amr"}, "model", r"chain is 'amr', expected .*; did you mean 'arm'\?"),
        ({"marker_set": "lap"}, "landmarks", r"marker_set 'lap' is not among .*; did you mean 'lab'\?"),
        ({"load": "sprng"}, "external_load", r"load 'sprng' is not among .*; did you mean 'spring'\?"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_one_that_was_meant(changes, ask, message):
    limb = lt.Limb(**{"chain": "arm", "side": "right", "body_mass_kg": 72.0, **changes})
    with pytest.raises(lt.TrialError, match=message):
        getattr(limb, ask)(SETTINGS)


def test_a_path_in_place_of_a_recording_says_how_to_read_it():
    limb = lt.Limb("arm", side="right", body_mass_kg=72.0)
    with pytest.raises(TypeError, match=r"recording is 'walk.c3d', expected a Recording: read_recording\(path\)"):
        lt.analyse_recording("walk.c3d", limb, SETTINGS)
