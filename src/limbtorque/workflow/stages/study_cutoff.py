"""`results/cutoffs` -> `results/study_cutoff.json`: one common cut-off."""

from __future__ import annotations

import json
from pathlib import Path

from limbtorque.errors import SignalError
from limbtorque.motion.table import choice_of
from limbtorque.signals.cutoff import CutoffChoice, study_cutoff
from limbtorque.study.whole_file import write_text
from limbtorque.workflow.layout import STUDY_CUTOFF, record_path, sessions_of
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.session_record import wait_for


def run(*, folder: Path, key: str = "") -> None:
    """Choose one cut-off from the curves of all trials that share it."""
    choices: dict[str, CutoffChoice] = {}
    for session in sessions_of("cutoffs", whole_study("study_cutoff", folder=folder, key=key)):
        wait_for(["cutoffs"], session, folder)
        lines = (folder / record_path("cutoffs", session)).read_text(encoding="utf-8").splitlines()[1:]
        choices |= {found["trial"]: choice_of(found["choice"]) for found in map(json.loads, lines)}
    own = {name: choice.cutoff_hz for name, choice in choices.items()}
    shared_hz, reason = None, "no trial that shares it can be analysed"
    if choices:
        try:
            shared_hz, reason = study_cutoff(list(choices.values())), ""
        except SignalError as error:
            reason = str(error)
    found = {"cutoff_hz": shared_hz, "own_cutoff_hz": own, "reason": reason}
    write_text(folder / STUDY_CUTOFF, json.dumps(found, sort_keys=True) + "\n")
