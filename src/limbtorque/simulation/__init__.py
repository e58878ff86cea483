"""Simulated movements: minimum jerk, forward dynamics, muscles, demo study.

In: chains, drives and boundary conditions.
Out: movements whose torques are known, and the recordings of the demo study.
Not here: the workflow and its results.
"""
