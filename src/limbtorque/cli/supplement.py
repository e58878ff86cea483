"""Archive of a study for its paper: settings, tables, results and hashes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from limbtorque import __version__
from limbtorque.cli.moved_files import Moved, muscle_sets, new_trials, settings_with_moved_files
from limbtorque.cli.run_study import planned_jobs
from limbtorque.cli.terminal import quoted
from limbtorque.errors import LimbtorqueError, StudyError
from limbtorque.recordings.text.qualisys import plate_files
from limbtorque.study.files import SETTINGS_FILE, parse_yaml, yaml_text
from limbtorque.study.study import Study, load_study
from limbtorque.study.trials import frame_files
from limbtorque.workflow.frozen import FROZEN
from limbtorque.workflow.layout import ACCEPTED, ON_REQUEST, RESULTS, all_study_files
from limbtorque.workflow.records import Seal, content_seal, differing_outputs, file_seal

FORMAT = 1  # of the archive
MANIFEST = "supplement.json"
STUDY = "study"  # folder of the archive with settings and tables; beside it RESULTS
TEXTS = (".csv", ".json", ".md", ".txt")  # ends of names of results that are archived
NOT_INPUTS = ("results", "expected", "profiles", "workflow")  # folders of a study that a run makes or executes
HOW = "pip install limbtorque=={}; limbtorque reproduce supplement.zip --recordings FOLDER"
DATE = (1980, 1, 1, 0, 0, 0)
UNIX, READABLE = 3, 0o644 << 16


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
            "reference.results is another study, which the supplement would lack; make its subjects a group of this study "
            "(reference.group)"
        )
    _refuse_unfinished(study)
    moved, recordings = _recordings(study)
    trials, subjects = study.settings.trials, study.settings.subjects
    copied = [folder / subjects, *[folder / FROZEN] * (folder / FROZEN).is_file(), *muscle_sets(study)]
    inputs = {path.relative_to(folder) if path.is_relative_to(folder) else path: path.read_bytes() for path in copied}
    inputs[Path(SETTINGS_FILE)] = _settings(folder, moved)
    inputs[Path(trials)] = new_trials(folder / trials, moved)
    contents = {f"{STUDY}/{path.as_posix()}": content for path, content in inputs.items()}
    if outside := [f"{name}: move the file into the study's folder" for name in contents if is_unsafe(name)]:
        raise StudyError(outside)
    files = [path for stage, path in all_study_files(study) if path.suffix in TEXTS and stage not in ON_REQUEST]
    contents |= {path.as_posix(): (folder / path).read_bytes() for path in files if (folder / path).is_file()}
    manifest = {
        "format": FORMAT,
        "limbtorque": __version__,
        "repeat": HOW.format(__version__),
        "files": {name: content_seal(content) for name, content in contents.items()},
        "recordings": recordings,
    }
    return zipped({**contents, MANIFEST: f"{json.dumps(manifest, indent=1, sort_keys=True)}\n".encode()})


def _refuse_unfinished(study: Study) -> None:
    """Refuse results that a run would change, or that differ from their records.

    A verdict against the study is made again by every run.
    """
    planned = [f"{stage} {n}" for stage, n in planned_jobs(study.folder).items() if stage != "verdict"]
    differing = [line for line in differing_outputs(study) if not line.startswith(str(ACCEPTED))]
    if planned or differing:
        found = f"a run would do: {', '.join(planned)}" if planned else differing[0]
        raise LimbtorqueError(
            f"{study.folder}: the results are not those of its settings, tables and recordings with this version ({found}); "
            f"next: limbtorque run-study {quoted(study.folder)} --verify"
        )


def _settings(folder: Path, moved: Moved) -> bytes:
    """Settings as they are, unless they name recordings."""
    content = (folder / SETTINGS_FILE).read_bytes()
    values = parse_yaml(content.decode()) or {}
    changed = settings_with_moved_files(values, moved)
    return content if changed == values else yaml_text(changed).encode()


def _recordings(study: Study) -> tuple[Moved, dict[str, Seal]]:
    """New path of each recording; size and hash of each file by its name in the zip.

    Files of frames and plates are beside the one that is named.
    """
    named = dict.fromkeys(path for trial in study.trials for path in trial.named_files)
    places = {path: Path("recordings", str(number)) for number, path in enumerate(named, start=1)}
    seals = {
        f"{STUDY}/{(place / file.name).as_posix()}": file_seal(file)
        for path, place in places.items()
        for file in {*frame_files(path), *plate_files(path).values()}
    }

    def moved(cell: str) -> str:
        path = study.folder / cell
        path = path if path in places else study.folder / cell.replace("\\", "/")
        return (places[path] / path.name).as_posix()

    return moved, seals


def is_unsafe(name: str) -> bool:
    """Return True for a name that is no plain path of an input or result.

    Paths that leave the folder, hidden files, and inputs where a run writes or Snakemake looks for commands.
    """
    top, *parts = name.split("/")
    plain = all(part.strip() and not part.startswith(".") for part in parts) and name.isprintable()
    is_input = top == STUDY and bool(parts) and parts[0] not in NOT_INPUTS
    return not plain or bool(set(name) & set("\\:")) or not (is_input or (top == str(RESULTS) and bool(parts)))


def zipped(contents: Mapping[str, bytes]) -> bytes:
    """Zip archive in the order of names, with one date for all files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system, entry.external_attr = UNIX, READABLE
            file.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()
