"""Read motion-capture files of any format into a `Recording`, with an audit.

In: paths of recordings and the reading options.
Out: `Recording`: markers in m, force plates in N and N m, events, audit.
Not here: chains, filters, settings files, tables, and other uses of a recording.

`read.read_recording` reads a file, `read.read_with_forces` markers and forces from two files, and `sandbox.GuardedReader`
either in a separate process; `read.READERS` lists the formats.
"""
