"""Every column of every table (one module for each table), quality checks, reading and writing.

In: arrays and rows.
Out: tables with units in their metadata: CSV, Parquet, STO, XLSX.
Not here: computation of any number.
"""
