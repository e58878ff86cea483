"""Options with which every column of the torque and muscle tables is there."""

from typing import get_args

from limbtorque.study.options.muscles import Muscles
from limbtorque.study.options.outputs import Convention, TorqueColumns

ALL_TORQUES = TorqueColumns(columns=(*get_args(Convention), "power", "induced_accelerations"), bands=True)
ALL_MUSCLES = Muscles(
    force_length_velocity=True, tendon="compliant", passive_moments="anderson", contact_forces=True, ranges=True
)
