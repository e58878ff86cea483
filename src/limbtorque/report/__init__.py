"""The report: pages that open from the file system. Pure functions from tables to text."""
