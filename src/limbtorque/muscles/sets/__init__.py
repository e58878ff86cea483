"""Muscle sets: muscles, moment arms, strengths and sources, read from YAML.

In: the YAML file of a set; the built-in ones as JSON, too, which one tool writes beside it and which is read in 0.5 ms
instead of 100 ms.
Out: a checked `MuscleSet`.
Not here: motions and torques.
"""
