"""One module for each rule of the workflow, with a function `run`.

In: files of earlier stages.
Out: files of this stage.
Not here: internals of other stages.
"""
