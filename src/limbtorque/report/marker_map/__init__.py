"""The page for assigning markers to landmarks.

In: positions and labels of a recording, chains, proposed landmarks.
Out: one self-contained HTML page.
Not here: which landmarks are proposed, and files.
"""
