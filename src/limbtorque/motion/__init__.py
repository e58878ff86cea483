"""Motion of a planar chain from a recording.

In: a `Recording` and the settings of a trial.
Out: `ChainMotion`: angles, derivatives, base, external load.
Not here: torques, muscles, paths of files.
"""
