"""Jobs of the workflow: plan, run, record, resume; `stages` has one module for each rule.

In: a study. Out: everything in its folder `results`. Only `cli` and the rules in `workflow/rules` import it.
"""
