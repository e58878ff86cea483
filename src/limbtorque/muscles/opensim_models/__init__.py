"""OpenSim models -> muscle sets: coordinates, sampled lengths and arms, fits, lines of action.

Only `model` imports the package ``opensim`` (the extra ``limbtorque[opensim]``).
"""
