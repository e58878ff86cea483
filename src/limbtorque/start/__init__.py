"""A study proposed from a folder of recordings: what was found, what was guessed, and what is left to fill in.

`survey` looks at the recordings, `proposal` makes trials, subjects and marker sets of what was seen, `text` writes them
down with comments. `known_sets` and `sets/` hold the marker sets that are known.
"""
