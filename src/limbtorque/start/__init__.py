"""A study proposed from a folder of recordings: what was found, what was guessed, and what is left to fill in.

`survey` looks at the recordings. `names`, `up_axis`, `marker_sets`, `trials` and `subjects` judge one matter each,
`proposal` puts them together, `text` writes them down with comments. `known_sets` and `sets/` hold the marker sets that
are known.
"""
