"""`limbtorque init`: from a folder of recordings to a proposed study.

In: a folder of recordings.
Out: config.yaml, trials.csv and subjects.csv, with TODO where a file does not say.
Not here: how a trial is analysed.
"""
