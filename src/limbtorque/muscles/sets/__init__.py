"""Muscle sets: muscles, moment arms, strengths and sources, read from YAML.

In: the YAML file of a set; the built-in ones as JSON, too, which is quicker to read.
Out: a checked `MuscleSet`.
Not here: motions and torques.
"""
