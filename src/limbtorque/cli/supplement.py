"""Archive of a study for its paper: settings, tables, results and hashes, without recordings."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from limbtorque import __version__
from limbtorque.cli.moved_files import muscle_sets
from limbtorque.cli.run_study import planned_jobs
from limbtorque.cli.terminal import quoted
from limbtorque.errors import LimbtorqueError, StudyError
from limbtorque.recordings.text.qualisys import plate_files
from limbtorque.study.files import SETTINGS_FILE
from limbtorque.study.study import Study, load_study
from limbtorque.study.trials import frame_files
from limbtorque.workflow.frozen import FROZEN
from limbtorque.workflow.layout import ACCEPTED, RESULTS, all_study_files
from limbtorque.workflow.records import Seal, content_seal, differing_outputs, file_seal

FORMAT = 1  # of the archive
MANIFEST, README = "supplement.json", "README.txt"
STUDY = "study"  # folder of the archive with settings and tables; beside it RESULTS
TEXTS = (".csv", ".json", ".md", ".txt")  # ends of names of results that are archived
NOT_INPUTS = (
    "results",
    "expected",
    "recordings",
    "profiles",
    "workflow",
)  # folders of a study that a run makes or executes
_DATE = (1980, 1, 1, 0, 0, 0)
_TEXT = """Supplement of a study with limbtorque {version} (Python {python}).

study/             settings, tables of trials and subjects, frozen contrasts, muscle sets
results/           tables of the study, methods paragraph; provenance.json: versions, hashes of recordings, settings and code
supplement.json    SHA-256 of every file of the archive and of every recording

To repeat the study from the same recordings, whatever their names, and compare every number:

    pip install limbtorque=={version}
    limbtorque reproduce supplement.zip --recordings FOLDER
"""


def supplement_of(folder: Path) -> bytes:
    """Archive of a finished study; the same study gives the same bytes.

    Parameters
    ----------
    folder : Path
        The study.

    Raises
    ------
    LimbtorqueError
        The results are not those of the study as it is, a file of its settings is outside its folder, or its reference is
        another study.
    """
    study = load_study(folder)
    if study.settings.reference.results:
        raise LimbtorqueError(
            "reference.results is another study, which the supplement would lack; make that study's subjects a group of this one "
            "(reference.group)"
        )
    _refuse_unfinished(study)
    inputs = [
        SETTINGS_FILE,
        study.settings.trials,
        study.settings.subjects,
        *[str(FROZEN)] * (folder / FROZEN).is_file(),
    ]
    paths = [*(folder / name for name in inputs), *muscle_sets(study)]
    names = {path: f"{STUDY}/{name_in_study(path, folder)}" for path in paths}
    if outside := [f"{path}: move it into the study's folder" for path, name in names.items() if is_unsafe(name)]:
        raise StudyError(outside)
    results = [path for _, path in all_study_files(study) if path.suffix in TEXTS and (folder / path).is_file()]
    contents = {name: path.read_bytes() for path, name in names.items()}
    contents |= {path.as_posix(): (folder / path).read_bytes() for path in results}
    python = json.loads(contents[f"{RESULTS}/provenance.json"])["python"]
    contents[README] = _TEXT.format(version=__version__, python=python).encode()
    manifest = {
        "format": FORMAT,
        "limbtorque": __version__,
        "files": {name: content_seal(content) for name, content in contents.items()},
        "recordings": recordings_of(study),
    }
    contents[MANIFEST] = f"{json.dumps(manifest, indent=1, sort_keys=True)}\n".encode()
    return zipped(contents)


def _refuse_unfinished(study: Study) -> None:
    """Refuse results that a run would change, or that differ from their records.

    A verdict against the study is made again by every run.
    """
    planned = [f"{stage} {n}" for stage, n in planned_jobs(study.folder).items() if stage != "verdict"]
    faults = (
        [f"a run would do: {', '.join(planned)}"]
        if planned
        else [line for line in differing_outputs(study) if not line.startswith(str(ACCEPTED))]
    )
    if faults:
        raise LimbtorqueError(
            f"{study.folder}: the results are not those of its settings, tables and recordings with this version ({faults[0]}); "
            f"run it first: limbtorque run-study {quoted(study.folder)} --verify"
        )


def name_in_study(path: Path, folder: Path) -> str:
    """Path as the study's tables have it: relative to its folder, or absolute."""
    return (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()


def recordings_of(study: Study) -> dict[str, dict[str, Seal]]:
    """Sizes and hashes of the files of each recording that the tables name."""
    named = dict.fromkeys(path for trial in study.trials for path in trial.named_files)
    return {
        name_in_study(path, study.folder): {
            file.name: file_seal(file) for file in sorted({*frame_files(path), *plate_files(path).values()})
        }
        for path in named
    }


def is_unsafe(name: str) -> bool:
    """Return True for a name in an archive that is no plain path of an input or result.

    Paths that leave the folder, hidden files, and inputs where a run writes or Snakemake looks for commands.
    """
    parts = name.split("/")
    hidden = any(part.startswith(".") or not part.strip() for part in parts)
    is_input = parts[0] == STUDY and len(parts) > 1 and parts[1] not in NOT_INPUTS
    return (
        hidden or not name.isprintable() or bool(set(name) & set("\\:")) or not (is_input or parts[0] == str(RESULTS))
    )


def zipped(contents: Mapping[str, bytes]) -> bytes:
    """Zip archive in the order of names, with one date for all files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            file.writestr(entry, content)
    return archive.getvalue()
