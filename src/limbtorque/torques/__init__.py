"""Net joint torques of a motion, term by term, checked by a second method.

In: a `ChainMotion`.
Out: torque terms, wrenches, powers, and the torque component table.
Not here: muscles, recordings, paths of files.
"""
