"""What to analyse and how: the settings, the table of trials, the table of subjects.

In: config.yaml, trials.csv and subjects.csv.
Out: a checked `Study` of frozen values.
Not here: what is in a recording, and how anything is computed.
"""
