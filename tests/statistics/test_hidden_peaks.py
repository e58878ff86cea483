"""Peaks of a stride of which a stretch is unknown: the reason for the default of ensembles.min_known_share."""

import numpy as np
import pytest

from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.model import Load
from limbtorque.simulation.gait import Walker, walk
from limbtorque.study.options.outputs import Ensembles

N_FRAMES, REPETITIONS = 1000, 1000


def stride():
    """Net torques of a simulated stride, shape (n_frames, 3), and its frames of stance."""
    walker = Walker()
    leg = walk(walker, np.linspace(0.0, walker.stride_s, N_FRAMES, endpoint=False))["right"]
    load = Load(2, leg.force_n, leg.pressure_m)
    terms = torque_terms(walker.chain, leg.kinematics, gravity_m_s2=(0.0, -9.80665), loads=[load], joint_m=leg.joint_m)
    return terms.net, leg.contact


def errors(net, unknown_share):
    """Errors of maximum and minimum of each joint over its range, with a stretch unknown at a random place."""
    random, length = np.random.default_rng(16), round(unknown_share * N_FRAMES)
    found = []
    for first in random.integers(0, N_FRAMES - length + 1, REPETITIONS):
        known = np.delete(net, np.s_[first : first + length], axis=0)
        found.append([net.max(0) - known.max(0), known.min(0) - net.min(0)])
    return np.array(found) / np.ptp(net, axis=0)


@pytest.mark.parametrize(("unknown", "wrong"), [(0.05, 0.01), (0.1, 0.06), (0.2, 0.16)])
def test_peaks_hidden_by_an_unknown_stretch(unknown, wrong):
    """A peak is hidden by the beginnings of a stretch that cover it; those wrong by more than 5 % of the range are fewer."""
    net, length = stride()[0], round(unknown * N_FRAMES)
    peaks, last = np.concatenate([net.argmax(0), net.argmin(0)]), N_FRAMES - length
    covering = np.minimum(peaks, last) - np.maximum(peaks - length + 1, 0) + 1
    found = errors(net, unknown)
    assert (found > 0.0).mean() == pytest.approx(np.mean(covering) / (last + 1), abs=0.02)
    assert (found > 0.05).mean() < wrong


def test_with_the_default_share_a_peak_is_wrong_by_a_twentieth_in_about_a_twentieth_of_the_cases():
    least = Ensembles().min_known_share
    assert (errors(stride()[0], 1.0 - least) > 0.05).mean() < 0.07
    assert (errors(stride()[0], 2.0 * (1.0 - least)) > 0.05).mean() > 0.09


def test_the_peaks_of_knee_and_ankle_in_swing_are_not_those_of_the_stride():
    net, contact = stride()
    swing = np.abs(net[~contact]).max(axis=0) / np.abs(net).max(axis=0)
    assert (swing[1:] < [0.8, 0.1]).all()
