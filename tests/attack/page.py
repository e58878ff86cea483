"""Counts of an attack as Markdown tables, and the page of the docs that they stand in."""

import datetime
import os
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from attack import files, tables
from attack.kills import SIGNALS, TARGETS, Kill
from attack.touched import Touched

FORMATS = {  # by name or suffix of the good files in tests/damage.py
    **{"c3d": "C3D", "trc": "TRC", "sto": "STO, MOT", "mot": "STO, MOT", "tsv": "Qualisys TSV"},
    **{"n.csv": "Vicon CSV", "p.csv": "CSV", "o.csv": "OptiTrack CSV", "w.txt": "two headings"},
    **{"forces": "Cortex forces", "anc": "Cortex analog", "json": "keypoints JSON"},
}


def machine() -> str:
    """Cores and processor of this machine."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").is_file() else []
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine()
    )
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}"


def when(seed: int, cores: int, took_s: float) -> str:
    """Date, seed, machine and duration."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{day}, seed {seed}, {cores} processes on {machine()}, {took_s / 60:.0f} minutes."


def promised(number: dict[str, int], wrong: dict[str, int]) -> str:
    """Number of cases of each kind that did not end as guaranteed."""
    parts = ", ".join(f"{wrong[kind]:,} of {n:,} {kind}" for kind, n in number.items())
    count = sum(wrong.values())
    return f"Cases that did not end as guaranteed: {count:,} of {sum(number.values()):,} ({parts})."


def files_table(found: Sequence[files.Outcome]) -> str:
    """Damaged recordings by format and outcome."""
    count = Counter((format_of(one.case.name), one.kind) for one in found)
    names = sorted({name for name, _ in count})
    return _table(
        ("format", "files", *files.OUTCOMES),
        [(name, *_sum_and_parts([count[name, kind] for kind in files.OUTCOMES])) for name in names]
        + [("all", *_sum_and_parts([sum(count[name, kind] for name in names) for kind in files.OUTCOMES]))],
    )


def silent_table(found: Sequence[files.Outcome]) -> str:
    """Recordings whose numbers changed and nothing was said, by what was damaged."""
    silent = [one for one in found if one.kind in files.SILENT]
    count = Counter((format_of(one.case.name), files.damage_of(one.case), one.kind) for one in silent)
    rows = [
        (name, what, "yes" if kind == files.SEEN else "no", number)
        for (name, what, kind), number in sorted(count.items())
    ]
    return _table(("format", "damage", "can be seen", "files"), rows)


def format_of(name: str) -> str:
    """Format of a file of the corpus."""
    return FORMATS.get(name, FORMATS.get(name.rpartition(".")[2], name))


def tables_table(found: Sequence[tables.Outcome]) -> str:
    """Hostile tables and settings by outcome."""
    count = Counter((one.file, one.kind) for one in found)
    names = sorted({name for name, _ in count})
    return _table(
        ("file", "number", *tables.OUTCOMES),
        [(f"`{name}`", *_sum_and_parts([count[name, kind] for kind in tables.OUTCOMES])) for name in names],
    )


def kills_table(found: Sequence[Kill]) -> str:
    """Kills by target and signal, and those after which something was not as guaranteed."""
    count = Counter((one.target, one.signal) for one in found if one.hit)
    late, faults = (Counter(one.target for one in found if wanted(one)) for wanted in (_late, _faulty))
    rows = [
        (target, *(count[target, number.name] for number in SIGNALS), late[target], faults[target])
        for target in TARGETS
    ]
    return _table(("killed", *(number.name for number in SIGNALS), "had ended before", "not as guaranteed"), rows)


def _late(one: Kill) -> bool:
    return not one.hit


def _faulty(one: Kill) -> bool:
    return bool(one.faults)


def touched_table(found: Sequence[Touched]) -> str:
    """Results that were touched: named by `verify` and made again to the byte, of all."""
    hows = list(dict.fromkeys(one.how for one in found))
    kinds = list(dict.fromkeys(one.kind for one in found))
    good = Counter((one.kind, one.how) for one in found if not one.faults)
    every = Counter((one.kind, one.how) for one in found)
    return _table(
        ("result", *hows), [(kind, *(f"{good[kind, how]} of {every[kind, how]}" for how in hows)) for kind in kinds]
    )


def write(path: Path, parts: dict[str, str]) -> None:
    """Replace the page's parts between the markers ``<!-- name -->`` and ``<!-- end -->``."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition("<!-- end -->")
        text = f"{before}<!-- {name} -->\n{part}\n<!-- end -->{after}"
    path.write_text(text, encoding="utf-8")


def _sum_and_parts(counts: list[int]) -> list[int]:
    return [sum(counts), *counts]


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = [*head]
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
