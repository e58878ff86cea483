"""Muscle forces from net joint torques, by moment arms and static optimization.

In: net joint torques, joint angles and a muscle set.
Out: forces, activations, joint contact forces, and the ranges that mechanics allows.
Not here: recordings, filters, paths of files.
"""
