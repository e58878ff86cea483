"""The methods of a study as a paragraph to paste, written from its settings and its ledger, and a checklist.

Every clause follows from `provenance.json` and `ledger.csv`; an option that is off is not mentioned. Where an option
differs between trials, each value is given with the number of its trials.
"""
