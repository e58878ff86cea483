"""Options by section: default, range, unit and sentence.

In: values as the settings file or a column of the table of trials has them.
Out: frozen, checked models.
Not here: files, trials, and what an option does.
"""
