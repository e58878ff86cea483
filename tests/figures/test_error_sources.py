"""Sources of error in figures and pages."""

import numpy as np
import pyarrow as pa

from limbtorque.figures.terms import GROUPS, error_parts, net_bands
from limbtorque.study.options.uncertainty import SOURCES


def test_every_source_is_in_one_group():
    named = [source for group in GROUPS.values() for source in group]
    assert sorted(named) == sorted(SOURCES)


def test_the_parts_of_the_limits_add_up_to_half_their_width():
    shares = {f"hip_torque_share_{source}": [1.0 / len(SOURCES)] * 2 for source in SOURCES}
    table = pa.table({"hip_torque_low_nm": [-3.0, 2.0], "hip_torque_high_nm": [5.0, 4.0], **shares})
    assert set(net_bands("hip")) == set(table.column_names)
    parts = error_parts(table, "hip")
    np.testing.assert_allclose(sum(parts.values()), [4.0, 1.0])
    np.testing.assert_allclose(parts["segment parameters"], [4.0 * 4 / len(SOURCES), 4 / len(SOURCES)])
    assert error_parts(table.drop(["hip_torque_share_filter"]), "hip") == {}
