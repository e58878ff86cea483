"""Peak memory of one job, against the number of its trials and the length of the longest."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from synthetic import study

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
    for n_trials, n_frames in ((1, 1000), (10, 1000), (100, 1000), (1, 10000), (10, 10000), (1, 60000)):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "study"
            study(folder, n_trials=n_trials, n_sessions=1, n_frames=n_frames)
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
