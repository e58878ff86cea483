"""The command `limbtorque`.

In: the words of a command line.
Out: text on the screen, exit codes, and the files that a command makes.
Not here: mathematics; each command calls one function of another room.
"""
