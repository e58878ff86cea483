"""Simulated movements: minimum jerk, forward dynamics, muscles, demo study.

In: chains, drives and boundary conditions.
Out: movements whose torques are known, and the recordings of the demo study.
Not here: the workflow and its results.
"""

from limbtorque.simulation.forward import AttachedLoad, Drive, Integration, Simulation, State, pid, simulate
from limbtorque.simulation.muscle_driven import MuscleState, Musculature, muscle_drive, muscle_state
from limbtorque.simulation.reach import MinimumJerk, minimum_jerk

__all__ = [
    "AttachedLoad",
    "Drive",
    "Integration",
    "MinimumJerk",
    "MuscleState",
    "Musculature",
    "Simulation",
    "State",
    "minimum_jerk",
    "muscle_drive",
    "muscle_state",
    "pid",
    "simulate",
]
