"""Signals over time: gaps, filters, cut-offs, derivatives.

In: arrays of samples and their rate.
Out: arrays of samples, smoothed or differentiated, and what was chosen from them.
Not here: files, settings, tables, what a sample is of.
"""
