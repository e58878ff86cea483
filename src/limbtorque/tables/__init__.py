"""Columns of every table; reading and writing of tables.

In: arrays and rows.
Out: tables with units in their metadata: CSV, Parquet, STO, XLSX.
Not here: computation of any number.
"""
