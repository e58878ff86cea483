"""Hostile tables and settings: `limbtorque check` says what is wrong, in time and memory."""

import contextlib
import functools
import io
import multiprocessing
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hostile_tables import HostileTable, as_csv, attacked, hostile_study, hostile_tables, plain_rows
from limbtorque.cli.main import main
from limbtorque.study.settings import flattened, make_settings
from study_runs import demo_settings

OUTCOMES = ("accepted", "refused", "read otherwise", "traceback", "hang", "memory")
BROKEN = ("read otherwise", "traceback", "hang", "memory")
TIME_S, MEMORY_MB = 60.0, 1000
VALUES = (
    *('"12:30:00"', "12:30:00", "1e308", "1e-320", "-1", "0", "true", ".nan", ".inf", "-.inf", "[]", "{}", "null"),
    *("[1, 2]", "{a: 1}", '"\\0"', '"\\e[31m"', "/dev/zero", "..", '"<script>"'),
    *("!!python/object/apply:os.system [id]", "&a [*a]", "0x1F", "1_000", "0o17", "9" * 23, '""', "'  '"),
    *("*missing", "2020-01-01", "~", "yes", "1e5", '"=1+1"', "|\n    text\n    more"),
)


@dataclass(frozen=True)
class Settings:
    """Hostile settings of a study."""

    what: str
    content: bytes
    table: str = "config.yaml"


@dataclass(frozen=True)
class Outcome:
    """Outcome of one case, one of OUTCOMES, and the last words about it."""

    file: str
    damage: str
    kind: str
    words: str


def cases(*, number: int, seed: int) -> list[HostileTable | Settings]:
    """As many hostile files, three quarters of them tables and the others settings."""
    random = np.random.default_rng(seed)
    tables = [*hostile_tables(seed)]
    chosen = sorted(random.permutation(len(tables))[: number * 3 // 4])
    rest = number - len(chosen)
    options, files = _options(random), _yaml(random)
    settings = [next(files if k % 4 == 0 else options) for k in range(rest)]
    return [*(tables[k] for k in chosen), *settings]


def _options(random: np.random.Generator) -> Iterator[Settings]:
    """One option of the settings has another value."""
    names = sorted(flattened(make_settings({}).model_dump(mode="json")))
    blocks = _blocks(demo_settings())
    while True:
        name, value = names[int(random.integers(len(names)))], VALUES[int(random.integers(len(VALUES)))]
        section, *inner = name.split(".")
        own = f"{section}: {''.join(f'{{{part}: ' for part in inner)}{value}{'}' * len(inner)}\n"
        kept = [block for block in blocks if not block.startswith(f"{section}:")]
        yield Settings(f"{name}: {value}", ("".join(kept) + own).encode())


def _blocks(text: str) -> list[str]:
    """Sections of a YAML file, their comments left out."""
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        if line[:1].isalpha():
            found.append(line)
        elif found and line.strip() and not line.startswith("#"):
            found[-1] += line
    return found


def _yaml(random: np.random.Generator) -> Iterator[Settings]:
    """Settings that no reader of YAML should follow."""
    while True:
        n, depth = int(random.integers(5, 12)), int(random.integers(50, 5000))
        aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, n)
        )
        ways = {
            f"{n} levels of aliases": aliases,
            f"{depth} open brackets": "title: " + "[" * depth,
            f"{depth} levels of mappings": "{a: " * depth + "}" * depth,
            f"{depth} indented keys": "".join(" " * k + "a:\n" for k in range(depth)),
            "a merge of itself": "a: &a\n  <<: *a\n",
            "a tag": "title: !!python/object/apply:os.system ['id']\n",
            "two documents": "title: a\n---\ntitle: b\n",
            "a list": "- a\n- b\n",
            "a number": "1\n",
            "a key of 1 MB": "x" * 1_000_000 + ": 1\n",
            "a key twice": "title: a\ntitle: b\n",
            "a long number": "title: " + "9" * 100_000 + "\n",
            "tabs": "\ttitle: a\n",
            "bytes": bytes(random.integers(0, 256, 300, dtype=np.uint8)).decode("latin-1"),
            "the table is a device": "trials: /dev/zero\n",
            "the table is a folder": "trials: config\n",
            "the table is endless": "subjects: /dev/urandom\n",
            "the table is the settings": "trials: config/config.yaml\n",
        }
        name = list(ways)[int(random.integers(len(ways)))]
        yield Settings(name, ways[name].encode("utf-8", "replace"))


def check_all(chosen: list[HostileTable | Settings], folder: Path, *, cores: int) -> list[Outcome]:
    """Outcome of each case, each in a process of its own."""
    batches = [chosen[k::cores] for k in range(cores)]
    places = [folder / f"tables {k}" for k in range(cores)]
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [one for found in pool.map(_check_batch, batches, places) for one in found]


def _check_batch(batch: list[HostileTable | Settings], place: Path) -> list[Outcome]:
    study = hostile_study(place / "study")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["check", str(study)]) == 0  # and all imports, once
    good = (study / "config" / "config.yaml").read_bytes()
    found = []
    for case in batch:
        work = functools.partial(_read_settings if isinstance(case, Settings) else _read_table, study, case)
        found.append(Outcome(case.table, case.what, *guarded(work, place / "output.txt")))
        (study / "config" / "config.yaml").write_bytes(good)
        for table, rows in plain_rows().items():
            (study / "config" / table).write_bytes(as_csv(rows))
    return found


def _read_settings(study: Path, case: Settings) -> int:
    """Exit code of `limbtorque check`."""
    (study / "config" / "config.yaml").write_bytes(case.content)
    return main(["check", str(study)])


def _read_table(study: Path, case: HostileTable) -> int:
    """0 and 1 as of `limbtorque check`, 3 where the table was read otherwise than it stands."""
    outcome = attacked(study, case)
    print(outcome)
    return {"read": 0, "refused": 1}.get(outcome, 3)


def guarded(work: Callable[[], int], output: Path) -> tuple[str, str]:
    """Do work in a forked process within limits of time and memory; its outcome and last words."""
    process = multiprocessing.get_context("fork").Process(target=_limited, args=(work, output))
    process.start()
    process.join(TIME_S)
    if process.exitcode is None:
        process.kill()
        process.join()
        return "hang", f"more than {TIME_S:g} s"
    text = output.read_text(encoding="utf-8", errors="replace")
    words = " ".join(text.split())[-300:]
    if "MemoryError" in text or process.exitcode == -signal.SIGKILL:
        return "memory", words
    kind = {0: "accepted", 1: "refused", 2: "refused", 3: "read otherwise"}.get(process.exitcode, "traceback")
    return "traceback" if "Traceback (" in text else kind, words


def _limited(work: Callable[[], int], output: Path) -> None:
    """Send the output to a file, and end with the exit code of the work."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(file, number)
        setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False))
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY_MB * 2**20,) * 2)
    code = 70
    try:
        code = work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
