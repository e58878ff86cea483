"""Scale, offset and kind of analog numbers at their limits, from parameters made by hand after the C3D user guide."""

import struct

import numpy as np
import pytest

from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import Header, Parameter
from limbtorque.recordings.c3d.samples import analog_scale, is_unsigned, refuse_unreadable_scale, scale_findings

INTEL = 84


def real(*values):
    return Parameter(4, (len(values),), struct.pack(f"<{len(values)}f", *values))


def whole(*values, kind="h"):
    return Parameter(2, (len(values),), struct.pack(f"<{len(values)}{kind}", *values))


def text(said):
    return Parameter(-1, (len(said),), said.encode())


def header(n_channels=2, *, scale=-0.1, samples=4, **analog):
    return Header(
        n_points=1,
        n_frames=10,
        first_frame=1,
        n_analog=n_channels * samples,
        samples_per_frame=samples,
        rate_hz=100.0,
        n_events=0,
        point={},
        processor=INTEL,
        scale=scale,
        data_start=1024,
        parameters={"ANALOG": analog},
        counted_by="the header",
        broken_at=None,
    )


GOOD = {"GEN_SCALE": real(0.5), "SCALE": real(2.0, -4.0), "OFFSET": whole(10, -20), "USED": whole(2)}


def items(made, analog=None):
    return [finding.item for finding in scale_findings(made, np.zeros((40, 2)) if analog is None else analog)]


# --- scale and offset ------------------------------------------------------------------------------------------------


def test_the_scale_of_a_channel_is_the_product_of_both():
    scale, offset = analog_scale(header(**GOOD))
    assert scale.tolist() == [1.0, -2.0]
    assert offset.tolist() == [10.0, -20.0]


def test_continued_parameters_are_joined_in_order():
    parts = {"SCALE": real(1.0, 2.0), "SCALE2": real(3.0), "SCALE3": real(4.0, 5.0), "SCALE5": real(9.0)}
    scale, _ = analog_scale(header(4, **parts))
    assert scale.tolist() == [1.0, 2.0, 3.0, 4.0]
    scale, _ = analog_scale(header(6, **parts))
    np.testing.assert_array_equal(scale, [1.0, 2.0, 3.0, 4.0, 5.0, np.nan])


@pytest.mark.parametrize(
    ("factor", "known"),
    [(2e-12, True), (5e-13, False), (-2e-12, True), (5e11, True), (2e12, False), (-2e12, False), (0.0, False)],
)
def test_a_scale_has_a_possible_size(factor, known):
    """From 1e-12 to 1e12; the other channel keeps its own."""
    scale, offset = analog_scale(header(SCALE=real(factor, 1.0), OFFSET=whole(3, 4)))
    assert np.isfinite(scale).tolist() == [known, True]
    assert np.isfinite(offset).tolist() == [known, True]
    assert not known or scale[0] == pytest.approx(factor)


def test_the_largest_scale_is_possible():
    """1e12 is 2^12 times 5^12, to which four bytes come nearest from below."""
    assert np.isfinite(analog_scale(header(1, SCALE=real(1e12)))[0]).all()


@pytest.mark.parametrize(("offset", "known"), [(65535.0, True), (65536.0, False), (-65535.0, True), (-65536.0, False)])
def test_an_offset_has_at_most_sixteen_bits(offset, known):
    _, found = analog_scale(header(1, OFFSET=real(offset)))
    assert np.isfinite(found).all() == known


@pytest.mark.parametrize(
    ("said", "unsigned"),
    [("UNSIGNED", True), (" unsigned\0", True), ("SIGNED", False), ("UNSIGNED2", False), ("", False)],
)
def test_offsets_are_unsigned_where_the_format_says_so(said, unsigned):
    made = header(1, FORMAT=text(said), OFFSET=whole(-2), SCALE=real(1.0))
    assert is_unsigned(made) == unsigned
    assert analog_scale(made)[1].tolist() == [65534.0 if unsigned else -2.0]
    assert not is_unsigned(header(1))


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "analog",
    [
        {"GEN_SCALE": real(float("inf"))},
        {"SCALE": real(1.0, float("nan"))},
        {"SCALE": real(float("inf"), 1.0)},
        {"OFFSET": real(float("nan"), 0.0)},
    ],
)
def test_scales_that_are_no_numbers_are_refused(analog):
    with pytest.raises(ReadError, match="ANALOG:GEN_SCALE, SCALE or OFFSET is not a number; the file is damaged"):
        refuse_unreadable_scale(header(**analog), "a.c3d")


def test_what_is_beyond_the_channels_does_not_matter():
    refuse_unreadable_scale(header(2, SCALE=real(1.0, 1.0, float("nan"))), "a.c3d")
    refuse_unreadable_scale(header(0, GEN_SCALE=real(0.0)), "a.c3d")
    refuse_unreadable_scale(header(**GOOD), "a.c3d")


@pytest.mark.parametrize(
    ("general", "said"),
    [
        (text("one"), "not a number"),
        (real(), "not a number"),
        (real(0.0), "0"),
        (real(1e30), "1e[+]30"),
        (real(-1e-30), "-1e-30"),
    ],
)
def test_a_general_scale_of_an_impossible_size_is_refused(general, said):
    with pytest.raises(ReadError, match=rf"GEN_SCALE is {said}, expected a size from 1e-12 to 1e[+]12"):
        refuse_unreadable_scale(header(GEN_SCALE=general), "a.c3d")
    refuse_unreadable_scale(header(GEN_SCALE=real(-3.0)), "a.c3d")


# --- findings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["GEN_SCALE", "SCALE", "OFFSET"])
def test_each_missing_parameter_is_a_finding(name):
    left = {key: value for key, value in GOOD.items() if key != name}
    [finding] = scale_findings(header(**left), np.zeros((40, 2)))
    assert (finding.item, finding.stated) == (f"ANALOG:{name}", "not stated")
    assert (
        finding.interpretation
        == {"GEN_SCALE": "1", "SCALE": "1 for every channel", "OFFSET": "0 for every channel"}[name]
    )


@pytest.mark.parametrize(
    ("change", "subject", "stated"),
    [
        ({"GEN_SCALE": real(0.5, 3.0)}, "general scale", "ANALOG:GEN_SCALE is 0.5, 3"),
        ({"GEN_SCALE": real(0.5, 3.0, 4.0, 5.0)}, "general scale", "ANALOG:GEN_SCALE is 0.5, 3, 4"),
        ({"GEN_SCALE": real(-0.5)}, "general scale", "ANALOG:GEN_SCALE is -0.5"),
        ({"GEN_SCALE": whole(2)}, "kind of scale", "ANALOG:GEN_SCALE stored as integers, expected real numbers"),
        ({"SCALE": whole(2, 3)}, "kind of scale", "ANALOG:SCALE stored as integers, expected real numbers"),
        ({"USED": whole(3)}, "analog channels", "ANALOG:USED is 3, the header counts 2"),
        ({"USED": whole(1)}, "analog channels", "ANALOG:USED is 1, the header counts 2"),
        ({"USED": whole(-1)}, "analog channels", "ANALOG:USED is 65535, the header counts 2"),
        ({"USED": whole(2, 2)}, "analog channels", "ANALOG:USED is 2, the header counts 2"),
        ({"USED": text("two")}, "analog channels", "ANALOG:USED is not a number, the header counts 2"),
    ],
)
def test_each_odd_parameter_is_a_finding(change, subject, stated):
    [finding] = scale_findings(header(**GOOD | change), np.zeros((40, 2)))
    assert (finding.item, finding.stated) == (subject, stated)


# --- sign of the numbers ---------------------------------------------------------------------------------------------


def stored(*numbers):
    """Analog values of two channels from numbers of the first, by the scales and offsets of GOOD."""
    values = np.array(numbers, dtype=float)
    return np.column_stack([(values - 10.0) * 1.0, np.zeros(len(values))])


@pytest.mark.parametrize(("said", "found"), [("SIGNED", False), ("UNSIGNED", False), ("FLOAT", True), ("", True)])
def test_a_format_is_one_of_two_words(said, found):
    made = header(scale=0.1, **GOOD | {"FORMAT": text(said)})
    assert ("sign of analog numbers" in items(made)) == found
    assert "sign of analog numbers" not in items(header(scale=-0.1, **GOOD | {"FORMAT": text(said)}))


@pytest.mark.parametrize(
    ("numbers", "wraps"),
    [
        ([32766, 32767, -32767, -32765], True),  # 32768 read as negative
        ([0, 16383, -16385, 0], False),  # a step of 32768 is possible
        ([10, 20, 30, 20], False),
        ([-30000, 30000, -30000, 30000], True),  # 5536 apart as unsigned
        ([-20000, 20000, -20000, 20000], True),  # 45536 to 20000: 25536 apart as unsigned
    ],
)
def test_signed_numbers_that_wrap_round_are_unsigned(numbers, wraps):
    made = header(scale=0.1, **GOOD)
    assert ("sign of analog numbers" in items(made, stored(*numbers))) == wraps


def test_unsigned_numbers_that_wrap_round_are_signed():
    made = header(scale=0.1, **GOOD | {"FORMAT": text("UNSIGNED"), "OFFSET": whole(10, 0)})
    [finding] = scale_findings(made, stored(5, 65530, 3, 65535))
    assert (
        "ANALOG:FORMAT is UNSIGNED, but 3 steps between samples are over half of the range of 16 bits" in finding.stated
    )
    assert finding.interpretation == "unsigned"
    assert "make ANALOG:FORMAT SIGNED" in finding.to_settle
    assert list(scale_findings(made, stored(32760, 32775, 32767, 32768))) == []
    [finding] = scale_findings(header(scale=0.1, **GOOD), stored(32767, -32768))
    assert "ANALOG:FORMAT is not stated, but 1 steps" in finding.stated
    assert (finding.interpretation, "make ANALOG:FORMAT UNSIGNED" in finding.to_settle) == ("signed", True)
