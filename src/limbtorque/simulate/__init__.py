"""Movements that are made, not recorded: minimum-jerk movements, forward dynamics, and the demo study."""

from limbtorque.settings import Integration
from limbtorque.simulate.forward import AttachedLoad, Drive, Simulation, pid, simulate
from limbtorque.simulate.minimum_jerk import MinimumJerk, minimum_jerk

__all__ = ["AttachedLoad", "Drive", "Integration", "MinimumJerk", "Simulation", "minimum_jerk", "pid", "simulate"]
