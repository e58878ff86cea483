"""Declared contrasts, frozen with their date before there are results."""

from __future__ import annotations

import datetime
import hashlib
import json
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import write_text
from limbtorque.study.options.contrasts import Contrast
from limbtorque.study.study import Study
from limbtorque.workflow.layout import STUDY_TABLES

FROZEN = Path("config/frozen_contrasts.jsonl")  # of a study: a line for each contrast that was frozen
EXPLORATORY = "exploratory"


def contrast_hash(contrast: Contrast, study: Study) -> str:
    """Hash of all that is declared of a contrast, and of who is compared.

    Members of its groups, and `ensembles.include`.
    """
    members = {(trial.subject.group, trial.subject.name) for trial in study.trials}
    declared = {
        "seed": study.settings.contrasts.seed,
        **study.settings.ensembles.model_dump(include={"include"}, exclude_defaults=True),
        **({"members": sorted(pair for pair in members if pair[0] in contrast.groups)} if contrast.groups else {}),
        **contrast.model_dump(mode="json", exclude_defaults=True),
    }
    return hashlib.sha256(json.dumps(declared, sort_keys=True).encode()).hexdigest()


def freeze_contrasts(study: Study, folder: Path, *, now: datetime.datetime) -> list[str]:
    """Append declared contrasts that are not yet frozen to the study's file.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    now : datetime
        Date of the entries.

    Returns
    -------
    list of str
        A sentence for each contrast.
    """
    if not study.settings.contrasts.declared:
        raise LimbtorqueError("the settings declare no contrasts; add them to contrasts.declared")
    entries, has_results = _entries(folder), (folder / STUDY_TABLES["summary"]).is_file()
    sentences = []
    for contrast in study.settings.contrasts.declared:
        digest = contrast_hash(contrast, study)
        if digest not in entries:
            declared = contrast.model_dump(mode="json", exclude_defaults=True)
            entry = {"date": now.date().isoformat(), "results": has_results, "sha256": digest, "contrast": declared}
            entries[digest] = json.dumps(entry, ensure_ascii=False) + "\n"
        sentences.append(f"{contrast.name}: {_status(entries.get(digest, ''))}")
    write_text(folder / FROZEN, "".join(entries.values()))
    return sentences


def declared_as(study: Study, folder: Path) -> dict[str, str]:
    """By name of each declared contrast: frozen with its date, or exploratory and why."""
    declared, entries = study.settings.contrasts.declared, _entries(folder)
    return {each.name: _status(entries.get(contrast_hash(each, study), "")) for each in declared}


def _status(line: str) -> str:
    if not line:
        return f"{EXPLORATORY}: not frozen as it is"
    entry = json.loads(line)
    frozen = f"frozen {entry['date']}"
    return f"{EXPLORATORY}: {frozen}, after results were made" if entry["results"] else frozen


def _entries(folder: Path) -> dict[str, str]:
    """Lines of the file by hash; of several the first."""
    path = folder / FROZEN
    entries: dict[str, str] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            entry = json.loads(line)
            entry["date"], entry["results"], entries.setdefault(entry["sha256"], line + "\n")
    except (ValueError, LookupError, TypeError):
        raise LimbtorqueError(f"{path} is not readable; restore it, or remove it and freeze again") from None
    return entries
