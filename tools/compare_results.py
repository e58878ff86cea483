"""Compare all files of two result folders byte by byte.

python tools/compare_results.py before/results after/results

Left out is only what names a run and not its numbers: logs, locks, Snakemake's own files, and the hashes of the code, which a
change of the program changes by itself.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pyarrow.parquet

from limbtorque.tables.files import read_record

LEFT_OUT = ("logs/", ".snakemake", ".lock", "records/")
_HASHES = re.compile(rb'"(?:code|limbtorque)": ?(?:"[^"]*"|\{[^}]*\})')
_SEALS = re.compile(
    rb'^\{"files": .*\n'
)  # first line of a session record: hashes of files that are compared themselves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    names = sorted(files(options.before) | files(options.after))
    differ = {name: text for name in names if (text := difference(options.before / name, options.after / name))}
    for name, text in differ.items():
        print(f"{name}: {text}")
    by_kind = {
        suffix: sum(name.endswith(suffix) for name in names) for suffix in sorted({Path(n).suffix for n in names})
    }
    print(
        f"{len(names)} files compared ({', '.join(f'{n} {kind}' for kind, n in by_kind.items())}), {len(differ)} differ"
    )
    sys.exit(bool(differ) or not names)


def files(folder: Path) -> set[str]:
    """Files of a folder that are compared, by their paths in it."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in found if not any(part in name for part in LEFT_OUT)}


def difference(before: Path, after: Path) -> str:
    """Difference of two files; empty where they are equal."""
    for path, word in ((before, "before"), (after, "after")):
        if not path.is_file():
            return f"not {word}"
    if before.suffix == ".parquet":
        return _difference_of_tables(before, after)
    old, new = without_hashes(before.read_bytes()), without_hashes(after.read_bytes())
    if old == new:
        return ""
    pairs = zip(old.split(b"\n"), new.split(b"\n"), strict=False)
    at = next((k for k, (one, two) in enumerate(pairs, start=1) if one != two), "the end")
    return f"{len(old)} and {len(new)} bytes, from line {at} on"


def without_hashes(content: bytes) -> bytes:
    """Content of a file without hashes of code and of other files."""
    return _HASHES.sub(b"", _SEALS.sub(b"", content))


def _difference_of_tables(before: Path, after: Path) -> str:
    """Difference of two Parquet files: rows, groups of rows, types, encoding, and records."""
    if before.read_bytes() == after.read_bytes():
        return ""
    with pyarrow.parquet.ParquetFile(before) as one, pyarrow.parquet.ParquetFile(after) as two:
        if one.schema_arrow != two.schema_arrow:
            return "other columns"
        if one.metadata.num_row_groups != two.metadata.num_row_groups:
            return "other groups of rows"
        rows, others = one.read(), two.read()
        names = [name for name in rows.column_names if not _same(rows[name], others[name])]
        old, new = (without_hashes(read_record(path).to_json().encode()) for path in (before, after))
    if names:
        return f"other numbers in {', '.join(names)}"
    if old != new:
        return "another record"
    start, other = (_rows_as_stored(path) for path in (before, after))
    return "" if start == other else "other bytes of the same numbers"


def _same(one: pyarrow.ChunkedArray, two: pyarrow.ChunkedArray) -> bool:
    """Return True for equal values; missing numbers equal each other."""
    values, others = one.combine_chunks(), two.combine_chunks()
    return [None if b is None else b.to_pybytes() for b in values.buffers()] == [
        None if b is None else b.to_pybytes() for b in others.buffers()
    ]


def _rows_as_stored(path: Path) -> bytes:
    """Bytes of a Parquet file before its footer, which holds the record."""
    content = path.read_bytes()
    return content[: len(content) - 8 - int.from_bytes(content[-8:-4], "little")]


if __name__ == "__main__":
    main()
