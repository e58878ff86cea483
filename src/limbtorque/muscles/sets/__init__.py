"""Muscle sets: muscles, moment arms, strengths and sources, read from YAML.

In: the YAML file of a set; the built-in sets also as JSON, written by a tool and read in 0.5 ms instead
of 100 ms.
Out: a checked `MuscleSet`.
Not here: motions and torques.
"""
