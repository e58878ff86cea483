"""Compare filters of force plates on impacts with known torques."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from parts.impact_cases import PLATE_HZ, Impact, impacts
from parts.run_cases import runs

from limbtorque.arrays import FloatArray
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.inverse import fit_rigid_chain
from limbtorque.chain.model import Kinematics, Load
from limbtorque.ground.impacts import Impacts
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.signals.cutoff import choose_cutoff
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.smoothers import (
    HIGHEST,
    Smoother,
    impact_weight,
    smooth_values,
    smooth_with_impacts,
    smoother_reach,
)

G = 9.80665
SMOOTHER = Smoother()
HIGHEST_HZ, LOWEST_HZ = 12.0, 3.0  # filter.max_cutoff_hz, filter.min_cutoff_hz
AFTER_S = 0.15  # the peak after an impact
JOINTS = ("hip", "knee", "ankle")
FACTOR = 1.5  # filter.impact_factor
SHARES = "the same, by the share that markers show"

Filter = Callable[[FloatArray, float, float, FloatArray], FloatArray]  # values, rate, cut-off, times of the impacts


def alike(values: FloatArray, rate_hz: float, cutoff_hz: float, _: FloatArray) -> FloatArray:
    """The cut-off of the markers (Bisseling and Hof 2006)."""
    return smooth_values(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=SMOOTHER)


def fixed(own_hz: float) -> Filter:
    """A cut-off of their own."""

    def filtered(values: FloatArray, rate_hz: float, _: float, __: FloatArray) -> FloatArray:
        return smooth_values(values, rate_hz=rate_hz, cutoff_hz=own_hz, smoother=SMOOTHER)

    return filtered


def aware(impact_hz: float | None, *, times: float = 2.0) -> Filter:
    """A higher cut-off around the impacts, given or in proportion to that of the markers."""

    def filtered(values: FloatArray, rate_hz: float, cutoff_hz: float, strikes_s: FloatArray) -> FloatArray:
        return smooth_with_impacts(
            values,
            rate_hz=rate_hz,
            cutoff_hz=cutoff_hz,
            smoother=SMOOTHER,
            impact_hz=impact_hz or times * cutoff_hz,
            impacts_s=strikes_s,
        )

    return filtered


def highest(values: FloatArray, rate_hz: float, _: float, __: FloatArray) -> FloatArray:
    """The highest cut-off without aliasing."""
    return smooth_values(values, rate_hz=PLATE_HZ, cutoff_hz=HIGHEST * rate_hz, smoother=SMOOTHER)


def around(values: FloatArray, rate_hz: float, cutoff_hz: float, strikes_s: FloatArray) -> FloatArray:
    """The highest cut-off, but like the markers around impacts."""
    like_markers = aware(None, times=FACTOR)(values, PLATE_HZ, cutoff_hz, strikes_s)
    weight = impact_weight(len(values), PLATE_HZ, strikes_s)[:, None]
    return weight * like_markers + (1.0 - weight) * highest(values, rate_hz, cutoff_hz, strikes_s)


METHODS: dict[str, tuple[Filter, Filter]] = {  # of the markers, of the plates
    "alike": (alike, alike),
    "plates at 20 Hz": (alike, fixed(20.0)),
    "plates at 40 Hz": (alike, fixed(40.0)),
    "aware of impacts, 20 Hz": (aware(20.0), aware(20.0)),
    "aware of impacts, 30 Hz": (aware(30.0), aware(30.0)),
    "aware of impacts, 1.5 times": (aware(None, times=1.5), aware(None, times=1.5)),
    "aware of impacts, twice": (aware(None), aware(None)),
    "aware of impacts, 2.5 times": (aware(None, times=2.5), aware(None, times=2.5)),
    "plates at 0.4 of the rate": (aware(None, times=FACTOR), highest),
    "the same, but around impacts": (aware(None, times=FACTOR), around),
    SHARES: (aware(None, times=FACTOR), aware(None, times=FACTOR)),
}


def main() -> None:
    argparse.ArgumentParser(description=f"{__doc__} Prints tables in Markdown.").parse_args()
    found: dict[tuple[str, str, float], list[tuple[FloatArray, FloatArray]]] = defaultdict(list)
    for case in (*impacts(), *runs()):
        kind = (
            "run"
            if case.movement.name.startswith("run")
            else case.movement.name.split(" at " if "landing" in case.movement.name else ",")[0]
        )
        strike = "soft walk" if "soft" in case.movement.name else kind
        for method, filters in METHODS.items():
            found[method, strike, case.noise_m].append(errors(case, *filters, shares=method == SHARES))
    for name, k in (("Error over the whole movement", 0), ("Error of the peak after the impact", 1)):
        _table(name, found, k, lambda _: True)
    for kind in dict.fromkeys(key[1] for key in found):
        _table(f"{kind}, whole", found, 0, lambda key, a=kind: key[1] == a)
        _table(f"{kind}, peak", found, 1, lambda key, a=kind: key[1] == a)


def errors(case: Impact, markers: Filter, plates: Filter, *, shares: bool = False) -> tuple[FloatArray, FloatArray]:
    """Root mean square error, and mean size of the error of the largest torque after the impacts, over the range."""
    rate_hz = case.movement.rate_hz
    net, reach = torques(case, markers, plates, shares=shares)
    inner = slice(reach, len(net) - reach)
    size = np.ptp(case.torque_nm[inner], axis=0)
    whole = np.sqrt(((net - case.torque_nm)[inner] ** 2).mean(axis=0)) / size
    peaks = []
    for strike_s in case.strikes_s:
        part = slice(max(round(strike_s * rate_hz), reach), min(round((strike_s + AFTER_S) * rate_hz), inner.stop))
        if part.stop - part.start < AFTER_S * rate_hz - 2:
            continue
        true, seen = case.torque_nm[part], net[part]
        sign = np.sign(np.take_along_axis(true, np.abs(true).argmax(axis=0)[None], axis=0)[0])
        peaks.append(np.abs((sign * seen).max(axis=0) - (sign * true).max(axis=0)) / size)
    return whole, np.mean(peaks, axis=0)


def by_shares(case: Impact, joints: FloatArray, wrench: FloatArray, cutoff_hz: float) -> FloatArray:
    """Load with the share of each impact that the markers show (`ground.impacts`), the default."""
    rate_hz, strikes_s = case.movement.rate_hz, tuple(case.strikes_s.tolist())
    smoothed = SmoothedJoints(joints, 0, SMOOTHER, (cutoff_hz,), (), {}, (), 4, FACTOR * cutoff_hz, strikes_s)
    smoothed = replace(smoothed, values=smoothed.smooth(case.joint_m, rate_hz))
    motion = SimpleNamespace(chain=case.movement.chain, joint_m=joints, rate_hz=rate_hz)
    return Impacts.of(motion, smoothed, case.joint_m).filtered(wrench)[0]


def torques(case: Impact, markers: Filter, plates: Filter, *, shares: bool = False) -> tuple[FloatArray, int]:
    """Net torques with true segment parameters, and the frames at each end that the filter affects."""
    movement, rate_hz = case.movement, case.movement.rate_hz
    own_hz = choose_cutoff(case.joint_m, rate_hz=rate_hz, smoother=SMOOTHER).cutoff_hz
    cutoff_hz = min(max(own_hz, LOWEST_HZ), HIGHEST_HZ)
    joints = fit_rigid_chain(markers(case.joint_m, rate_hz, cutoff_hz, case.strikes_s)).joint_m
    wrench = np.column_stack([case.force_n, case.moment_nm])
    if plates in (highest, around) or shares:
        wrench = (highest if shares else plates)(wrench, rate_hz, cutoff_hz, case.strikes_s)
    else:
        wrench = plates(wrench, PLATE_HZ, cutoff_hz, case.strikes_s)
    wrench = wrench[:: round(PLATE_HZ / rate_hz)]
    if shares:
        wrench = by_shares(case, joints, wrench, cutoff_hz)
    steps = np.diff(joints, axis=1)
    theta = np.unwrap(np.arctan2(steps[..., 1], steps[..., 0]), axis=0)
    values = np.hstack([np.diff(theta, axis=1, prepend=0.0), joints[:, 0]])
    first, second = differentiate(values, rate_hz=rate_hz, accuracy=4)
    n = theta.shape[1]
    kinematics = Kinematics(values[:, :n], first[:, :n], second[:, :n], joints[:, 0], first[:, n:], second[:, n:])
    ankle, force = joints[:, -2], wrench[:, :2]
    couple = wrench[:, 2] - (ankle[:, 0] * force[:, 1] - ankle[:, 1] * force[:, 0])
    loads = [Load(n - 1, force, ankle, couple)]
    terms = torque_terms(movement.chain, kinematics, gravity_m_s2=(0.0, -G), loads=loads, joint_m=joints)
    return terms.net, smoother_reach(cutoff_hz, rate_hz=rate_hz, smoother=SMOOTHER) + 2


def _table(title: str, found: dict, k: int, chosen: Callable) -> None:
    print(
        f"\n{title}, % of the range, mean:\n\n| filter | {' | '.join(JOINTS)} | mean |\n| --- | --- | --- | --- | --- |"
    )
    for method in METHODS:
        rows = [pair[k] for key, pairs in found.items() if key[0] == method and chosen(key) for pair in pairs]
        numbers = 100.0 * np.mean(rows, axis=0)
        print(f"| {method} | {' | '.join(f'{number:.2f}' for number in (*numbers, numbers.mean()))} |")


if __name__ == "__main__":
    main()
