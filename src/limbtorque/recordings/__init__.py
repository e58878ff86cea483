"""Files of motion capture, read into one kind of object, the `Recording`, with an audit of what was mended or guessed.

In: paths of recordings and the reading options.
Out: `Recording`: markers in m, force plates in N and N m, events, audit.
Not here: chains, filters, settings files, tables: what is done with a recording.
"""
