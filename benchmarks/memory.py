"""Peak memory of one job, against the number of its trials and the length of the longest."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAKE = """
import sys
from pathlib import Path
from synthetic import study
study(Path(sys.argv[1]), n_trials=int(sys.argv[2]), n_sessions=1, n_frames=int(sys.argv[3]))
"""
JOB = """
import resource, sys
from pathlib import Path
from limbtorque.stages import kinematics, layout, muscles, torques
from limbtorque.study import load_study
folder = Path(sys.argv[1])
loaded = load_study(folder)
for stage, module in (("kinematics", kinematics), ("torques", torques), ("muscles", muscles)):
    for batch in loaded.batches:
        module.run(folder=folder, batch=batch, key=layout.batch_key(stage, loaded, batch))
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(own, child)
"""


def main() -> None:
    print("trials  frames   job (MB)   its reading process (MB)")
    for n_trials, n_frames in ((1, 1000), (10, 1000), (100, 1000), (1, 10000), (10, 10000), (40, 10000), (1, 60000)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "study"
            # in a process of its own: the peak of a process counts that of the one it was started from
            made = [sys.executable, "-c", MAKE, str(folder), str(n_trials), str(n_frames)]
            subprocess.run(made, check=True, cwd=HERE)
            text = subprocess.run(
                [sys.executable, "-c", JOB, str(folder)],
                check=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "PYTHONHASHSEED": "0"},
            ).stdout
        own, child = (int(value) / 1024 for value in text.split())
        print(f"{n_trials:6d} {n_frames:7d} {own:10.0f} {child:12.0f}")


if __name__ == "__main__":
    main()
