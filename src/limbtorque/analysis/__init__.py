"""The one analysis of a trial, from its recording to its tables and its verdict.

In: a recording, a limb, settings, and what its study shares: cut-off, strengths, envelopes.
Out: motion, torques, muscle forces, the rows of their tables, and a `TrialRecord` of each step.
Not here: where files lie. The jobs of the workflow, `limbtorque check` and `analyse_recording` all call these steps.
"""
