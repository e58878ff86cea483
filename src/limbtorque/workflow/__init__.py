"""Jobs of the workflow: plan, run, record, resume.

In: a study's folder and the name of a stage.
Out: the files of results.
Not here: the mathematics, which is imported.
"""
