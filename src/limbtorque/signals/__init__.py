"""Signals over time: gaps, filters, cut-offs, derivatives.

In: arrays of samples and their rate.
Out: arrays of samples, smoothed or differentiated, and cut-offs chosen from the data.
Not here: files, settings, tables, meaning of a sample.
"""
