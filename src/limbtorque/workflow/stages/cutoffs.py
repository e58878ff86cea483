"""Recordings -> `results/cutoffs`: cut-off of each trial alone (`scope: study`)."""

from __future__ import annotations

import json
from pathlib import Path

from limbtorque.analysis.cutoffs import own_cutoffs
from limbtorque.analysis.reading import TrialReader
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.workflow.run_session import finish, planned_study


def run(*, folder: Path, session: str, key: str) -> None:
    """Choose a cut-off for each trial of a session alone."""
    study = planned_study("cutoffs", folder=folder, session=session, key=key)
    with GuardedReader() as reader:
        cutoffs_hz = own_cutoffs(study.batches[session], study, TrialReader(reader))
    lines = [json.dumps({"trial": name, "cutoff_hz": cutoff_hz}) for name, cutoff_hz in cutoffs_hz.items()]
    finish("cutoffs", study, session, lines)
