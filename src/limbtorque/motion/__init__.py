"""From a recording to the motion of a planar chain: landmarks, gaps, plane, filter, angles, derivatives, load.

In: a `Recording` and the settings of a trial.
Out: `ChainMotion`: angles, derivatives, base, external load.
Not here: torques, muscles, where files lie.
"""
