"""The methods section of a paper, from what a study's provenance says was done.

In: provenance, ledger and windows of a study.
Out: methods.md: a paragraph, a checklist, references.
Not here: recordings and tables of trials.
"""
