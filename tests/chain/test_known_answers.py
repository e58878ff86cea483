"""Inverse dynamics of a two-link arm by another program: OpenSim's arm26, angles in and joint moments out.

OpenSim's own processing: a third-order Butterworth at 6 Hz run both ways, with no correction of the cut-off for the two
passes (so its gain at 6 Hz is 1/2), and the derivatives of a quintic spline. Its shoulder and elbow axes are tilted by 3
degrees against each other and against the plane's normal; that is what the tolerances are for.
"""

import numpy as np
import pytest
from opensim_storage import read_storage
from scipy import interpolate, signal

from limbtorque.chain.dynamics import newton_euler, torque_terms
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.filters import low_pass

RATE_HZ, G = 120.0, 9.80665
UPPER_ARM = {"mass_kg": 1.864572, "com_m": 0.180496, "inertia_kgm2": 0.013193}
FOREARM_AND_HAND = {"mass_kg": 1.534315, "com_m": 0.181479, "inertia_kgm2": 0.020062}
LENGTH_M, ELBOW_FORWARD_M = 0.2904, 0.0061  # elbow against the shoulder, along the humerus and at right angles to it
PLANAR = np.array([0.042, 0.0054])  # N m at shoulder and elbow, of 2.8: the model is not exactly planar


@pytest.fixture(scope="module")
def angles(recordings):
    """Shoulder elevation and elbow flexion, rad, as measured."""
    table = read_storage(recordings / "arm26" / "arm26_InverseKinematics.mot")
    np.testing.assert_allclose(table["time"], np.arange(121) / RATE_HZ, atol=1e-7)
    return np.radians(np.stack([table["r_shoulder_elev"], table["r_elbow_flex"]], axis=1))


@pytest.fixture(scope="module")
def moments(recordings):
    """Shoulder and elbow moments of OpenSim, N m."""
    table = read_storage(recordings / "arm26" / "std_arm26_InverseDynamics.sto")
    return np.stack([table["r_shoulder_elev_moment"], table["r_elbow_flex_moment"]], axis=1)


def spline(angle):
    """The angle and the derivatives of a quintic spline through it."""
    curve = interpolate.make_interp_spline(np.arange(len(angle)) / RATE_HZ, angle, k=5)
    return angle, *(curve(np.arange(len(angle)) / RATE_HZ, nu) for nu in (1, 2))


def differences(angle, accuracy):
    return angle, *differentiate(angle, rate_hz=RATE_HZ, accuracy=accuracy)


def opensim_filter(angle):
    """Sixty points of reflection let the 6 Hz filter settle; OpenSim pads too, by how much it does not say."""
    sections = signal.butter(3, 6.0, fs=RATE_HZ, output="sos")
    return signal.sosfiltfilt(sections, angle, axis=0, padlen=60)


def net(constants, kinematics, offset_rad, method):
    """Net torque with the arm hanging at elevation 0, which is -90 degrees from the forward axis; both angles flex
    counter-clockwise, so they are joint angles as they stand."""
    angle, velocity, acceleration = kinematics
    n = len(constants["mass_kg"])
    zero = np.array([offset_rad - np.pi / 2, -offset_rad])
    result = method(
        Chain(**constants),
        Kinematics((angle + zero)[:, :n], velocity[:, :n], acceleration[:, :n]),
        gravity_m_s2=(0.0, -G),
    )
    torque = result.torque_nm if method is newton_euler else result.net
    return np.pad(torque, ((0, 0), (0, 2 - n)))


def arm_moments(kinematics, *, forward_m=ELBOW_FORWARD_M, method=torque_terms):
    """Moments of the arm whose elbow is not on the line from the shoulder through the centre of mass.

    Torques are linear in the masses: the upper arm alone, plus forearm and hand on a massless link to the elbow.
    """
    own = {"length_m": [LENGTH_M], **{name: [value] for name, value in UPPER_ARM.items()}}
    carried = {"length_m": [np.hypot(LENGTH_M, forward_m), 0.3]}
    carried |= {name: [0.0, value] for name, value in FOREARM_AND_HAND.items()}
    offset = np.arctan2(forward_m, LENGTH_M)
    return net(own, kinematics, 0.0, method) + net(carried, kinematics, offset, method)


@pytest.mark.parametrize("method", [torque_terms, newton_euler])
def test_arm26_moments_are_those_of_opensim(angles, moments, method):
    found = arm_moments(spline(opensim_filter(angles)), method=method)
    error = np.abs(found - moments).max(axis=0)
    assert (error < PLANAR).all()
    assert error == pytest.approx([0.041, 0.0053], abs=0.0005)
    assert np.abs(moments).max() == pytest.approx(2.8, abs=0.05)


def test_arm26_moments_by_our_own_filter(angles, moments):
    """Stated at the frequency where OpenSim's filter has a gain of 1/root 2, ours is the same filter.

    It is (root 2 - 1)^(1/6) of 6 Hz on the tangent's scale: 5.19 Hz. The ends are extended otherwise; that is felt in
    the last frames only.
    """
    tangent = np.tan(np.pi * 6.0 / RATE_HZ) * (np.sqrt(2.0) - 1.0) ** (1.0 / 6.0)
    cutoff_hz = np.arctan(tangent) * RATE_HZ / np.pi
    smooth = low_pass(angles, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, order=3)
    error = np.abs(arm_moments(differences(smooth, 4)) - moments)[4:-4].max(axis=0)
    assert (error < PLANAR + 0.001).all()
