"""The C3D format: header, parameters and data blocks, and a writer.

In: the bytes of a C3D file.
Out: its contents as a `Recording`, or a file of simulated movement.
Not here: other formats.
"""
