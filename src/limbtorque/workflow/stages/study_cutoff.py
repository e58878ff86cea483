"""What the trials say of their cut-off, in `results/batches` -> `results/study_cutoff.json`: one for all (`filter.scope: study`)."""

from __future__ import annotations

import json
from pathlib import Path

from limbtorque.errors import SignalError
from limbtorque.motion.table import choice_of
from limbtorque.signals.cutoff import CutoffChoice, study_cutoff
from limbtorque.workflow.batch import whole_study
from limbtorque.workflow.layout import STUDY_CUTOFF, batch_path, batches_sharing_a_cutoff


def run(*, folder: Path, key: str = "") -> None:
    """Choose one cut-off from what the trials of all batches say."""
    choices: dict[str, CutoffChoice] = {}
    for batch in batches_sharing_a_cutoff(whole_study("study_cutoff", folder=folder, key=key)):
        notes = map(json.loads, (folder / batch_path("cutoffs", batch)).read_text(encoding="utf-8").splitlines())
        choices |= {note["trial"]: choice_of(note["choice"]) for note in notes}
    own = {name: choice.cutoff_hz for name, choice in choices.items()}
    shared_hz, reason = None, "no trial that shares it can be analysed"
    if choices:
        try:
            shared_hz, reason = study_cutoff(list(choices.values())), ""
        except SignalError as error:
            reason = str(error)
    found = {"cutoff_hz": shared_hz, "own_cutoff_hz": own, "reason": reason}
    (folder / STUDY_CUTOFF).write_text(json.dumps(found, sort_keys=True) + "\n", encoding="utf-8")
