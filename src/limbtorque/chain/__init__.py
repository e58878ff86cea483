"""Planar chain of n rigid links on a moving base: kinematics, dynamics, energy.

In: arrays: angles, velocities, accelerations, loads; time is axis 0.
Out: arrays: torque terms, wrenches, energies, positions.
Not here: files, marker labels, settings, tables.

Everything here knows arrays only; time is axis 0 of every argument and result, but the last one in `linear`,
which has many directions for each frame. Angles are joint-space (relative)
angles ``alpha``; the orientation of a link is ``theta = cumsum(alpha)``, from the plane's x axis, counter-clockwise.
Torques are what the proximal link does to the distal one, counter-clockwise positive.
"""
