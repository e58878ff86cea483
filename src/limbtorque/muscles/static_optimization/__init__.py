"""Static optimization of muscle forces, all frames at once.

In: arrays: moment arms, torques, strengths, bounds.
Out: arrays: forces, with an optimality certificate.
Not here: muscle names, files, settings, tables.
"""
