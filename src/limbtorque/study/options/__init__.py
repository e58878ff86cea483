"""Options by section: default, range, unit and sentence.

In: values from the settings file or a column of the table of trials.
Out: frozen, checked models.
Not here: files, trials, and effects of options.
"""
