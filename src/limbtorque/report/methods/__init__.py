"""The methods section of a paper, from the provenance of a study.

In: provenance, ledger and windows of a study.
Out: methods.md: a paragraph, a checklist, references.
Not here: recordings and tables of trials.
"""
