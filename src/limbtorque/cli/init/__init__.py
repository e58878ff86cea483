"""`limbtorque init`: from a folder of recordings to a proposed study.

In: a folder of recordings.
Out: config.yaml, trials.csv and subjects.csv, with TODO where the files lack information.
Not here: how a trial is analysed.
"""
