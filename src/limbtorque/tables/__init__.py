"""Every column of every table, once: name, unit, definition, sign; reading, writing, quality checks.

In: arrays and rows.
Out: tables with units in their metadata: CSV, Parquet, STO, XLSX.
Not here: how a number was computed.
"""
