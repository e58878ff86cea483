"""Results that were emptied, cut, edited, deleted or replaced, and made again by the next run."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attack.studies import environment, make_study, results, run

KINDS = {
    "tables of trials": ("kinematics/*/*.parquet", "torques/*/*.csv", "muscles/*/*.parquet", "curves/*/*.parquet"),
    "figures": ("figures/*/*.png", "study_figures/*.png", "study_figures/captions.md"),
    "pages": ("report/trials/*/*.html", "report/index.html", "report/plots.js", "report/report.css"),
    "summaries": (
        "results.csv",
        "summary.csv",
        "summary_bands.csv",
        "summary_by_condition.csv",
        "muscle_summary.csv",
        "contact_summary.csv",
        "compared_with_file.csv",
    ),
    "ledger and means": (
        "ledger.csv",
        "metrics.csv",
        "notes/*.txt",
        "verdict.txt",
        "ensembles.csv",
        "windows.csv",
    ),
    "what was done": ("methods.md", "provenance.json", "data_dictionary.csv", "datapackage.json"),
    "records": ("*/*/_session.jsonl", "report/trials/*/_session.jsonl", "records/*.json"),
    "settings": ("settings.json",),
}


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _edited(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _edited_at_the_same_time(path: Path) -> None:
    state = path.stat()
    _edited(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def _longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    """A link to a file that has other contents of the same size."""
    study = next(place for place in path.parents if place.name == "results").parent
    other = study / "elsewhere" / path.relative_to(study)
    other.parent.mkdir(parents=True, exist_ok=True)
    path.rename(other)
    _edited(other)
    path.symlink_to(other)


def _broken_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("no such file")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "emptied": _emptied,
    "cut in half": _cut,
    "edited": _edited,
    "edited, time set back": _edited_at_the_same_time,
    "longer": _longer,
    "deleted": Path.unlink,
    "replaced by a folder": _folder,
    "replaced by a link": _link,
    "replaced by a broken link": _broken_link,
}
MIXED = "mixed"  # each result in another way


@dataclass(frozen=True)
class Touched:
    """One damaged result, and what was found; `faults` is empty where it was named and made again to the byte."""

    how: str
    kind: str
    name: str
    faults: tuple[str, ...] = ()


def touch(folder: Path, *, damages: Sequence[str] = tuple(DAMAGES)) -> list[Touched]:
    """Damage one result of every kind in all ways: first all but the records, then the records."""
    study = make_study(folder / "touched")
    code, said = run(study, folder / "tmp")
    assert code == 0, said
    expected = results(study)
    rounds = [[kind for kind in KINDS if kind != "records"], ["records"]]
    found = [one for how in damages for kinds in rounds for one in _round(study, folder, how, kinds, expected)]
    shutil.rmtree(study)
    return found


def _chosen(study: Path, kind: str) -> list[Path]:
    """First file of each pattern of a kind."""
    place = study / "results"
    if kind == "records":  # of every stage one
        folders = {path.parent.parent for path in place.glob("*/*/_session.jsonl")}
        sessions = [min(one.glob("*/_session.jsonl")) for one in sorted({*folders, place / "report" / "trials"})]
        return [*sessions, *sorted(place.glob("records/*.json"))]
    return [min(place.glob(pattern)) for pattern in KINDS[kind]]


def _round(study: Path, folder: Path, how: str, kinds: list[str], expected: dict[str, str]) -> list[Touched]:
    """Damage files of some kinds alike, verify, run, and compare."""
    shutil.rmtree(study / "results" / "left_over", ignore_errors=True)
    chosen = {path.relative_to(study).as_posix(): kind for kind in kinds for path in _chosen(study, kind)}
    alias = {name: [name, *_sealed(study / name, kind)] for name, kind in chosen.items()}
    for name, way in zip(chosen, itertools.cycle(DAMAGES)):
        DAMAGES[way if how == MIXED else how](study / name)
    named = _verified(study, folder)
    code, said = run(study, folder / "tmp", *["--verify"] * (how in ("edited, time set back", MIXED)))
    after = results(study)
    found = []
    for name, kind in chosen.items():
        faults = {
            "not named": not any(each in named for each in alias[name]),
            "not made again": after.get(name) != expected[name],
        }
        found.append(Touched(how, kind, name, tuple(fault for fault, there in faults.items() if there)))
    others = sorted(path for path in {*expected, *after} - {*chosen} if after.get(path) != expected.get(path))
    faults = [f"differs: {path}" for path in others]
    faults += [f"the run ended with {code}: {said[-300:]}"] * bool(code)
    faults += ["traceback"] * ("Traceback (" in said + named)
    found.append(Touched(how, "all other files", "the run", tuple(faults)))
    if any(one.faults for one in found):
        shutil.rmtree(study)
        run(make_study(study), folder / "tmp")
    return found


def _sealed(path: Path, kind: str) -> list[str]:
    """Beginnings of the names of the files that a record seals: where it is edited, they differ from it."""
    if kind != "records":
        return []
    return (
        [*json.loads(path.read_bytes())]
        if path.suffix == ".json"
        else [str(Path(*path.parts[path.parts.index("results") :]).parent)]
    )


def _verified(study: Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "limbtorque.cli.start", "verify", str(study)],
        env=environment(folder / "tmp"),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr
