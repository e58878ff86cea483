"""OpenSim models -> muscle sets: sampled lengths and arms, fits, lines of action.

In: an OpenSim model, and the package ``opensim`` (the extra ``limbtorque[opensim]``), which only `model` imports.
Out: the content of a muscle set's file, with the error of every moment arm.
Not here: motions and torques; what a set is (`muscles.sets`).
"""
