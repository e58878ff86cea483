"""Attack the program: damaged recordings, hostile tables, killed runs, changed results.

PYTHONPATH=tests python -m attack --seed 17 --files 20000 --tables 2000 --kills 60 --write docs/reliability.md

Prints the counts, and every case that did not end as docs/reliability.md promises; the exit code is 1 where there is one.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from attack import files, kills, page, tables, touched

SHOWN = 40


def main() -> int:
    """Run the attack that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--files", type=int, default=20_000, help="damaged recordings")
    parser.add_argument("--tables", type=int, default=2000, help="hostile tables and settings")
    parser.add_argument("--kills", type=int, default=60, help="killed runs")
    parser.add_argument("--damages", type=int, default=len(touched.DAMAGES), help="ways to touch the results")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--write", type=Path, help="page of the docs whose counts are replaced")
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        parts, wrong = attack(Path(place), options)
    parts["when"] = page.when(options.seed, options.cores, time.monotonic() - start)
    for name, part in parts.items():
        print(f"\n{name}\n{part}")
    print(f"\nnot as guaranteed: {len(wrong)}", *wrong[:SHOWN], sep="\n")
    if options.write:
        page.write(options.write, parts)
    return int(bool(wrong))


def attack(place: Path, options: argparse.Namespace) -> tuple[dict[str, str], list[str]]:
    """Tables of counts by name, and all cases that did not end as guaranteed."""
    parts: dict[str, str] = {}
    wrong: dict[str, list[str]] = {}
    number: dict[str, int] = {}
    if options.files:
        read = files.read_all(files.cases(place, number=options.files, seed=options.seed), place, cores=options.cores)
        parts["files"] = page.files_table(read)
        print(f"\nchanged silently\n{page.silent_table(read)}")
        number["damaged recordings"] = len(read)
        wrong["damaged recordings"] = [
            f"{one.case.name}, {one.case.damage}: {one.kind}: {one.words[:300]}"
            for one in read
            if one.kind in files.BROKEN
        ]
    if options.tables:
        checked = tables.check_all(tables.cases(number=options.tables, seed=options.seed), place, cores=options.cores)
        parts["tables"] = page.tables_table(checked)
        number["tables and settings"] = len(checked)
        wrong["tables and settings"] = [
            f"{one.file}, {one.damage[:100]}: {one.kind}: {one.words}" for one in checked if one.kind in tables.BROKEN
        ]
    if options.kills:
        killed = kills.kills(place, number=options.kills, seed=options.seed)
        parts["kills"] = page.kills_table(killed)
        number["kills"] = len(killed)
        wrong["kills"] = [f"{one.name}: {'; '.join(one.faults)}" for one in killed if one.faults]
    if options.damages:
        damaged = touched.touch(place, damages=[*touched.DAMAGES][: options.damages])
        parts["touched"] = page.touched_table(damaged)
        number["changed results"] = len(damaged)
        wrong["changed results"] = [f"{one.how}, {one.name}: {'; '.join(one.faults)}" for one in damaged if one.faults]
    parts["promised"] = page.promised(number, {kind: len(cases) for kind, cases in wrong.items()})
    return parts, [case for cases in wrong.values() for case in cases]


if __name__ == "__main__":
    sys.exit(main())
