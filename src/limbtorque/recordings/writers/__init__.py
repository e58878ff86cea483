"""Write recordings and tables over time: OpenSim storage, CSV, Parquet.

In: a `Recording`, or columns over time.
Out: a file that other programs read.
Not here: the tables of results.
"""

from limbtorque.recordings.writers.recordings import forces_table, recording_table, write_recording
from limbtorque.recordings.writers.sto import write_sto

__all__ = ["forces_table", "recording_table", "write_recording", "write_sto"]
