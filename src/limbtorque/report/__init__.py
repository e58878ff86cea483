"""The HTML report: a first page, a page for every trial, and the methods section.

In: tables of results, provenance, figures' names.
Out: self-contained pages.
Not here: how a number was computed.
"""
