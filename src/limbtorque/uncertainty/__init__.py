"""Uncertainty of the torque terms from the errors of their inputs.

In: a `ChainMotion`, its limb, and the errors of the section `uncertainty`.
Out: standard deviations of every torque term, by source, and of sums over frames.
Not here: recordings, tables, paths of files.
"""
