"""Study definition: settings, table of trials, table of subjects.

In: config.yaml, trials.csv and subjects.csv.
Out: a checked `Study` of frozen values, and JSON schemas of all three files.
Not here: contents of recordings, and computation.
"""
