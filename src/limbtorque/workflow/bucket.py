"""Studies in a bucket, through the storage plugins of Snakemake.

Jobs read and write below the study's folder. This folder must be Snakemake's local copy of the bucket.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limbtorque.errors import StudyError
from limbtorque.study.files import SETTINGS_FILE
from limbtorque.study.settings import load_settings
from limbtorque.study.table_file import table_rows

FILE_COLUMNS = ("file", "forces_file", "emg_file", "static_file")  # of recordings


def retrieve_recordings(workflow: Any, folder: Path, config: Mapping[str, Any]) -> None:
    """Retrieve from the default storage the recordings missing in the folder.

    The study is checked before any job starts, so its recordings are needed then. They keep their time in
    the bucket.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow.
    folder : Path
        The study's folder.
    config : mapping
        Options of ``--config``.

    Raises
    ------
    SettingsError
        The settings are wrong.
    StudyError
        The study's folder is not the local copy of the bucket, or would be emptied after the run.
    """
    if workflow.storage_settings.default_storage_provider is None:
        return
    provider = workflow.storage_registry.default_storage_provider
    prefix = (workflow.storage_settings.default_storage_prefix or "").rstrip("/")
    copy = Path(provider.object(f"{prefix}/{SETTINGS_FILE}").local_path())
    if copy.absolute() != (folder / SETTINGS_FILE).absolute():
        place = copy.absolute().parents[len(Path(SETTINGS_FILE).parts) - 1]
        raise StudyError([f"{folder.absolute()}: not the local copy of {prefix}, which is {place}; {_ADVICE}"])
    if not provider.keep_local:
        raise StudyError(
            [f"{prefix}: the study's folder would be emptied after the run; add --keep-storage-local-copies"]
        )
    settings = load_settings(folder / SETTINGS_FILE, config or None)
    rows = table_rows(folder / settings.trials, (), [])  # its faults are reported when the study is checked
    named = {row[name] for _, row in rows for name in FILE_COLUMNS if row.get(name)}
    for file in sorted(named | set(settings.emg.max_voluntary_files)):
        if not Path(file).is_absolute() and not (folder / file).exists():
            stored = provider.object(f"{prefix}/{file}")
            if stored.exists():
                path = Path(stored.local_path())
                path.parent.mkdir(parents=True, exist_ok=True)
                stored.retrieve_object()
                changed_s = stored.mtime()
                os.utime(path, (changed_s, changed_s))


_ADVICE = "put config/ there and give it as --directory, or set --local-storage-prefix (docs/cluster.md)"
