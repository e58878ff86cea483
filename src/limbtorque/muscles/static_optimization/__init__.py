"""Static optimization of muscle forces that produce given joint torques, for all frames at once.

In: arrays: moment arms, torques, strengths, bounds.
Out: arrays: forces, with an optimality certificate.
Not here: muscle names, files, settings, tables.
"""
