"""Quality of a trial: metrics, their checks, and the verdict.

In: the placed joints, the motion with its load, and the torques of a trial.
Out: metrics by name, the flags of those above their thresholds, and the status that follows.
Not here: changes of the judged values.
"""
