"""`limbtorque diff`: two runs of a study compared.

In: two folders of results.
Out: a report of what differs, as text, CSV and HTML.
Not here: how a number was computed.
"""
