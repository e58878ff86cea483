"""Force plates and feet on them, made by hand."""

from dataclasses import replace

import numpy as np

from limbtorque.ground.assignment import Feet, Stretch
from limbtorque.ground.foot import find_foot, landed
from limbtorque.ground.plates import Smoothing, read_plates
from limbtorque.ground.reaction import ground_load
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import ForcePlate
from limbtorque.signals.smoothers import Smoother
from limbtorque.study.options.reading import Plates

UP = np.array([0.0, 0.0, 1.0])
SAGITTAL = PlaneFrame(np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]), "sagittal")
RATE_HZ, PLATE_HZ, N_FRAMES = 100.0, 1000.0, 160
PER_FRAME = round(PLATE_HZ / RATE_HZ)
FORCE_N = np.array([60.0, -25.0, 700.0])
STANCE = slice(50, 110)
BUTTERWORTH = Smoother("butterworth", 2)


def frames(*parts):
    """Mask of the frames of all parts, each (first, stop)."""
    mask = np.zeros(N_FRAMES, dtype=bool)
    for start, stop in parts:
        mask[start:stop] = True
    return mask


def walking_foot(x, y, stance=STANCE, length=0.2):
    """A foot that stands with its heel at (x, y) in these frames and is carried forward at 3 m/s before and after."""
    t = np.arange(N_FRAMES)
    away = np.minimum(t - stance.start, 0) + np.maximum(t - (stance.stop - 1), 0)
    heel = np.stack([x + 0.03 * away, np.full(N_FRAMES, y), np.where(away == 0, 0.02, 0.12)], axis=1)
    toe = heel + np.array([length, 0.0, 0.0])
    foot = find_foot({"heel": heel, "toe": toe}, ends=(heel, toe), rate_hz=RATE_HZ, belt_m_s=np.zeros(3))
    return landed(foot, rate_hz=RATE_HZ)


def plate(number=1, x=0.0, y=-0.3, size=0.6, loads=(), rate_hz=PLATE_HZ, offset=None):
    """A square plate with forces at points, each (stance, force, point)."""
    n = round(N_FRAMES * rate_hz / RATE_HZ)
    wrench = np.zeros((n, 6)) if offset is None else np.tile(np.asarray(offset, dtype=float), (n, 1))
    for stance, force, point in loads:
        part = slice(*(round(k * rate_hz / RATE_HZ) for k in (stance.start, stance.stop)))
        wrench[part] += wrench_at(np.array(point, dtype=float), np.asarray(force, dtype=float), 4.0)
    corners = np.array([[x, y, 0.0], [x + size, y, 0.0], [x + size, y + size, 0.0], [x, y + size, 0.0]])
    return ForcePlate(number, 2, corners, rate_hz, wrench[:, :3], wrench[:, 3:])


def ground(
    plates, foot, other=None, *, settings=None, cutoff_hz=None, smoother=BUTTERWORTH, frames=None, side="", **changes
):
    """The load with the ankle 0.03 m in front of and 0.08 m above the heel."""
    frames = frames or slice(0, N_FRAMES)
    ankle = foot.back_m[frames] @ SAGITTAL.axes[:2].T + [0.03, 0.08]
    cut = [
        f and replace(f, **{n: getattr(f, n)[frames] for n in ("back_m", "front_m", "contact")}) for f in (foot, other)
    ]
    arguments = {
        "readings": read_plates(plates, frames, RATE_HZ, settings=settings or Plates(), up=UP),
        "stretch": Stretch(frames, 1 + frames.start, RATE_HZ),
        "smoothing": None if cutoff_hz is None else Smoothing(smoother, cutoff_hz),
        "settings": settings or Plates(),
        "frame": SAGITTAL,
        "up": UP,
    }
    feet = Feet(replace(cut[0], side=side), cut[1], changes.pop("body_n", None))
    return ground_load(plates, feet, changes.pop("ankle_m", ankle), **{**arguments, **changes})


OWN = walking_foot(0.2, 0.0)
POINT = (0.32, 0.01, 0.0)  # under the foot, which stands from x = 0.2 to 0.4
UNDER = (STANCE, FORCE_N, POINT)


def wrench_at(point, force, free_moment=0.0, up=UP):
    """Force at a point with a free moment about the vertical, as force and moment about the laboratory's origin."""
    force = np.broadcast_to(force, np.shape(point))
    return np.concatenate([force, np.cross(point, force) + np.multiply.outer(free_moment, up)], axis=-1)
