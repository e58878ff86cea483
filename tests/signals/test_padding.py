"""The extension beyond the ends is long enough: a straight line stays one."""

import re

import numpy as np
import pytest

from limbtorque.errors import SignalError
from limbtorque.signals.smoothers import Smoother, smooth_values, smoother_reach

LINE = np.arange(300.0)[:, None]


@pytest.mark.parametrize("cutoff_hz", [3.0, 6.0, 12.0])
@pytest.mark.parametrize(("method", "order"), [("butterworth", 2), ("butterworth", 4), ("critically_damped", 2)])
def test_a_line_is_not_bent_at_its_ends(method, order, cutoff_hz):
    """A response falls to a hundredth over the reach, to a millionth over the three that a line is extended by; it lags
    behind the line by less than the reach, which is what falls."""
    smoother = Smoother(method, order, 8)
    reach = smoother_reach(cutoff_hz, rate_hz=100.0, smoother=smoother)
    smooth = smooth_values(LINE, rate_hz=100.0, cutoff_hz=cutoff_hz, smoother=smoother)
    assert np.abs(smooth - LINE).max() < 1e-6 * reach


@pytest.mark.parametrize("method", ["butterworth", "critically_damped"])
def test_fewest_frames_of_a_filter(method):
    """The message names the number that is enough; one less is refused with the same message."""
    smoother = Smoother(method, 2, 8)

    def smooth(n):
        return smooth_values(LINE[:n], rate_hz=100.0, cutoff_hz=6.0, smoother=smoother)

    with pytest.raises(SignalError, match="2 frames are fewer than a 6 Hz filter at 100 Hz needs") as caught:
        smooth(2)
    needed = int(re.search(r"needs \((\d+)\)", str(caught.value))[1])
    assert smooth(needed).shape == (needed, 1)
    with pytest.raises(SignalError, match=rf"{needed - 1} frames are fewer .* needs \({needed}\)"):
        smooth(needed - 1)
