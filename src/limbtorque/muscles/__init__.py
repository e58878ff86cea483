"""Muscle forces from net joint torques, by moment arms and static optimization.

In: net joint torques, joint angles and a muscle set.
Out: forces, activations, joint contact forces, and what mechanics leaves open.
Not here: recordings, filters, where files lie.
"""
