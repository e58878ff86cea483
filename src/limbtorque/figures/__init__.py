"""Figures for papers, with captions; the only room that imports matplotlib.

In: tables of results.
Out: figures with fixed sizes, colours and bytes.
Not here: how a number was computed, where files lie.
"""
