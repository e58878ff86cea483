"""Storage files of OpenSim."""

import numpy as np


def read_storage(path):
    """Columns of a storage file, by name."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    start = lines.index("endheader") + 1
    rows = np.array([line.split() for line in lines[start + 1 :] if line], dtype=float)
    return dict(zip(lines[start].split(), rows.T, strict=True))
