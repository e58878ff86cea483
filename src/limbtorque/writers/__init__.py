"""Recordings and result tables as files for other programs: OpenSim storage, CSV, Parquet."""

from limbtorque.writers.recordings import forces_table, recording_table, write_recording
from limbtorque.writers.sto import write_sto

__all__ = ["forces_table", "recording_table", "write_recording", "write_sto"]
