"""Direction of pull and implied arm of single lines of action, for tests."""

import numpy as np

from limbtorque.muscles.lines_of_action import (
    free_stretch,
    in_plane,
    line_arrays,
    stretch_length,
    stretch_moment,
    unit_pulls,
)


def pull_direction(line, *, proximal_rad, distal_rad, flexion_sign):
    """Direction in which a muscle pulls the distal segment, (n_frames, 2); as long as its part in the plane."""
    distal = np.asarray(distal_rad, dtype=float)
    flexion = flexion_sign * (distal - np.asarray(proximal_rad, dtype=float))
    return in_plane(
        unit_pulls(line_arrays([[line]], [[True]]), 0, [0], flexion)[:, 0], distal, flexion_sign=flexion_sign
    )


def implied_arm(line, *, proximal_rad, distal_rad, flexion_sign):
    """Moment arm of a muscle that runs straight between two points, positive where it flexes."""
    flexion = flexion_sign * (np.asarray(distal_rad, dtype=float) - np.asarray(proximal_rad, dtype=float))
    points = np.array([[*line.proximal_m, *line.distal_m]])
    return (stretch_moment(points, flexion) / stretch_length(free_stretch(points, flexion)))[0]
