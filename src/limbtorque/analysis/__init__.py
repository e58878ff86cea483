"""Analysis of a trial, from its recording to its tables and its verdict.

In: a recording, a limb, settings, and values shared by the study: cut-off, strengths, envelopes.
Out: motion, torques, muscle forces, the rows of their tables, and a `TrialRecord` of each step.
Not here: paths of files. The jobs of the workflow, `limbtorque check` and `analyse_recording` all call these steps.
"""
