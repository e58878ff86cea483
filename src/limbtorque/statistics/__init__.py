"""From trials to results: windows, curves over 0 to 100 %, means by condition.

In: curves and summaries of trials.
Out: ensembles, condition means, and sentences about them.
Not here: computation of torques, paths of files.
"""
