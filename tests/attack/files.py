"""Damaged recordings, read as the program reads them, and the outcome of each."""

import multiprocessing
import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import c3d_damage
import damage
from attack.judge import traces
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Audit, Recording
from limbtorque.recordings.sandbox import GuardedReader

MEMORY_MB, TIME_S = 512, 10.0
UNITS = ReadOptions(length_unit="mm", force_unit="N")  # of text files, which do not state theirs
SAID, SEEN, UNSEEN = "changed, said", "changed, silent, could be seen", "changed, silent, cannot be seen"
SILENT = (SEEN, UNSEEN)
OUTCOMES = ("as before", "refused", SAID, UNSEEN, SEEN, "traceback", "hang", "memory")
BROKEN = (SEEN, "traceback", "hang", "memory")
_BATCH = 200


@dataclass(frozen=True)
class Case:
    """A damaged file, and the good file it was made of."""

    name: str  # of the file, whose suffix names the format
    damage: str
    content: bytes
    base: bytes


@dataclass(frozen=True)
class Outcome:
    """Outcome of one file, one of OUTCOMES, and its message or the first fields that changed."""

    case: Case
    kind: str
    words: str


def cases(folder: Path, *, number: int, seed: int) -> list[Case]:
    """As many damaged files, alike many of every good file."""
    random = np.random.default_rng(seed)
    sources = [*_sources(folder, number // 10, seed)]
    order = random.permutation(len(sources))
    found: list[Case] = []
    for k, made in enumerate([*sources[n]] for n in order):
        share = -(-(number - len(found)) // (len(sources) - k))
        found += [made[n] for n in sorted(random.permutation(len(made))[:share])]
    return found


def _sources(folder: Path, number: int, seed: int) -> Iterator[Iterator[Case]]:
    for k, (name, raw) in enumerate(damage.c3d_bases(folder).items()):
        yield _of(f"{name}.c3d", raw, damage.damaged_c3d(raw, seed=seed + k, n_flips=number))
    for k, (name, raw) in enumerate(c3d_damage.force_bases(folder).items()):
        yield _of(f"{name}.c3d", raw, c3d_damage.parameter_cases(raw, seed=seed + k))
    for k, (name, raw) in enumerate(damage.text_bases(folder).items()):
        yield _of(name, raw, damage.damaged_text(raw, seed=seed + k, n_flips=number))


def _of(name: str, base: bytes, made: Iterator[damage.Case]) -> Iterator[Case]:
    yield from (Case(name, what, content, base) for what, content in made)


def read_all(chosen: list[Case], folder: Path, *, cores: int) -> list[Outcome]:
    """Outcome of each file, read in the guarded process."""
    batches = [chosen[k : k + _BATCH] for k in range(0, len(chosen), _BATCH)]
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn")) as pool:
        places = [folder / f"batch {k}" for k in range(len(batches))]
        return [one for found in pool.map(_read_batch, batches, places) for one in found]


def _read_batch(batch: list[Case], place: Path) -> list[Outcome]:
    place.mkdir(parents=True)
    good: dict[bytes, Recording] = {}
    with GuardedReader() as reader:
        for case in batch:
            if case.base not in good:
                good[case.base] = _read(reader, place / case.name, case.base)
        return [_outcome(reader, place / case.name, case, good[case.base]) for case in batch]


def _read(reader: GuardedReader, path: Path, content: bytes) -> Recording:
    damage.put(path, content)
    options = ReadOptions() if path.suffix == ".c3d" else UNITS
    return reader.read(path, options=replace(options, memory_limit_mb=MEMORY_MB))


def _outcome(reader: GuardedReader, path: Path, case: Case, good: Recording) -> Outcome:
    start = time.monotonic()
    try:
        found = _read(reader, path, case.content)
        damage.check_sense(found, max(len(case.content), 1000))
    except ReadError as error:
        return Outcome(case, _refusal(str(error), path.name, time.monotonic() - start), str(error))
    except Exception as error:  # that is what is looked for
        return Outcome(case, "traceback", f"{type(error).__name__}: {error}")
    muted = replace(found, notes=(), audit=Audit())
    changed = c3d_damage.silently_changed(good, muted)
    if not changed:
        return Outcome(case, "as before", "")
    silent = c3d_damage.silently_changed(good, found)
    found_traces = traces(case.name, case.content, found) if silent else []
    kind = (SEEN if found_traces else UNSEEN) if silent else SAID
    return Outcome(case, kind, ", ".join([*changed, *found_traces]))


def _refusal(message: str, name: str, took_s: float) -> str:
    """Kind of a message: a sentence about the file, or another end of the reading."""
    if "reading was stopped after" in message or took_s > TIME_S:
        return "hang"
    if "reading needs more than" in message:
        return "memory"
    foreseen = message.startswith(name) and "reading failed with" not in message and "reading process" not in message
    return "refused" if foreseen else "traceback"


def damage_of(case: Case) -> str:
    """Kind of a damage, without its places and numbers."""
    if case.name.endswith(".c3d") and re.match(r"[A-Z_]+:", case.damage):
        return ":".join(case.damage.split(":")[:2])
    return re.sub(r"[ :]*(['0-9-].*|in line.*)", "", case.damage) or case.damage
