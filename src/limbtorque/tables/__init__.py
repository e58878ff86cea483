"""Columns of every table, a module each; quality checks; reading and writing.

In: arrays and rows.
Out: tables with units in their metadata: CSV, Parquet, STO, XLSX.
Not here: computation of any number.
"""
