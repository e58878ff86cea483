"""Study to analyse: settings, table of trials, table of subjects.

In: config.yaml, trials.csv and subjects.csv.
Out: a checked `Study` of frozen values, and JSON schemas of all three files.
Not here: what is in a recording, and how anything is computed.
"""
