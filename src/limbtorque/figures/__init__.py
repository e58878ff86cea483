"""Figures for papers, with captions; the only room that imports matplotlib.

In: tables of results.
Out: figures with fixed sizes, colours and bytes.
Not here: computation of results, paths of files.
"""
