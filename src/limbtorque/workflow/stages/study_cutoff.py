"""`results/cutoffs` -> `results/study_cutoff.json`: one by chain and condition."""

from __future__ import annotations

import json
from pathlib import Path

from limbtorque.analysis.cutoffs import shared_cutoffs
from limbtorque.study.files import write_text
from limbtorque.workflow.layout import STUDY_CUTOFF, record_path, sessions_of
from limbtorque.workflow.records import wait_for
from limbtorque.workflow.run_session import whole_study


def run(*, folder: Path, key: str = "") -> None:
    """Choose a cut-off for each chain and condition from those of their trials."""
    study = whole_study("study_cutoff", folder=folder, key=key)
    own: dict[str, float] = {}
    for session in sessions_of("cutoffs", study):
        wait_for(["cutoffs"], session, folder)
        lines = (folder / record_path("cutoffs", session)).read_text(encoding="utf-8").splitlines()[1:]
        own |= {found["trial"]: found["cutoff_hz"] for found in map(json.loads, lines)}
    found = {"cutoff_hz": shared_cutoffs(study, own), "own_cutoff_hz": own}
    write_text(folder / STUDY_CUTOFF, json.dumps(found, sort_keys=True) + "\n")
