"""Text exports: TRC, OpenSim storage, Vicon, Qualisys, plain tables.

In: lines of a text file.
Out: its contents as a `Recording`.
Not here: C3D.
"""
