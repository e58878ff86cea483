"""Tables in files: CSV and Parquet."""

from __future__ import annotations

import base64
import csv
import errno
import functools
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from limbtorque.errors import WriteError
from limbtorque.study.files import whole_file
from limbtorque.tables.column import DECIMALS, Column
from limbtorque.tables.trial_record import TrialRecord

BANDS, SPACE = "+bands", "+space"  # ends of names of tables beside a trial's torques, whose own name has no plus
# text that spreadsheets take for a formula, also in full-width characters, after any apostrophes
FORMULA = "^'*[=+\\-@\\t\\r＝＋－＠]"  # noqa: RUF001 (full-width characters are meant)
_FORMULA = re.compile(FORMULA)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def added_to(path: Path) -> str:
    """End of the name of a table beside a trial's table; empty for that itself.

    >>> added_to(Path("S01+bands.csv")), added_to(Path("S01.csv"))
    ('+bands', '')
    """
    _, plus, name = path.stem.partition("+")
    return plus + name


def unquoted(cell: str) -> str:
    """Text of a cell, without the apostrophe added before a formula.

    >>> unquoted("'=1+1"), unquoted("-1.5"), unquoted("'s-Hertogenbosch")
    ('=1+1', '-1.5', "'s-Hertogenbosch")
    """
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def quoted(cell: str) -> str:
    """Text for a cell, with an apostrophe before formulas so that they do not run.

    >>> quoted("=1+1"), quoted("'=1+1"), quoted("control"), quoted("-1.5")
    ("'=1+1", "''=1+1", 'control', '-1.5')
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def unquoted_rows(rows: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Rows with the text of their cells."""
    for row in rows:
        yield {name: unquoted(cell) for name, cell in row.items()}


def read_rows(path: Path) -> list[dict[str, str]]:
    """Rows of a table of `results`, each a dictionary by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(unquoted_rows(csv.DictReader(file)))


_ASSUMED = "assumed: "


def notes_text(notes: Iterable[str], guesses: Iterable[str]) -> str:
    """Text of the notes on a trial, a line for each; assumptions first."""
    lines = [*(f"{_ASSUMED}{guess}" for guess in guesses), *notes]
    return "".join(" ".join(line.split()) + "\n" for line in lines)


def read_trials(results: Path) -> list[dict[str, str]]:
    """Rows of the ledger with the metrics of each trial, and the text of its notes.

    Parameters
    ----------
    results : Path
        Folder of the results.
    """
    metrics = {row["trial"]: row for row in read_rows(results / "metrics.csv") if not row["joint"]}
    rows = []
    for row in read_rows(results / "ledger.csv"):
        lines = (results / row["notes"]).read_text(encoding="utf-8").splitlines()
        notes = "; ".join(line for line in lines if not line.startswith(_ASSUMED))
        rows.append({**metrics[row["trial"]], **row, "notes": notes})
    return rows


META_KEY = b"limbtorque"
PIECE_ROWS = 2000  # of a table that is written piece by piece
Write = Callable[[pa.Table], None]
"""Takes the rows of a table, one stretch of frames after the other."""
_ARROW_TYPES = {float: pa.float64(), int: pa.int64(), str: pa.string()}


def make_table(columns: Sequence[Column], values: Mapping[str, Any]) -> pa.Table:
    """Table of exactly these columns, with units and signs as metadata.

    Parameters
    ----------
    columns : sequence of Column
        Columns, in order.
    values : mapping of str to array_like
        Values of each column.

    Returns
    -------
    pyarrow.Table
        The table.

    Raises
    ------
    ValueError
        A column without values, or values without a column.
    """
    names = [column.name for column in columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice or set(names) != set(values):
        raise ValueError(f"duplicate columns: {twice}; without values: {sorted(set(names) ^ set(values))}")
    return pa.Table.from_arrays([arrow_array(values[c.name], c.kind) for c in columns], schema=_schema(tuple(columns)))


@functools.lru_cache(maxsize=64)
def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema(pa.field(c.name, _ARROW_TYPES[c.kind], metadata={"unit": c.unit, "sign": c.sign}) for c in columns)


def arrow_array(values: Any, kind: type) -> pa.Array:
    """Values of a column for Arrow, without copying; minus zero becomes zero.

    As `pyarrow.array`, without its import of pandas, 0.2 s in every job.

    Parameters
    ----------
    values : array_like or pyarrow.Array
        Numbers, or texts.
    kind : {float, int, str}
        Type of the column.

    Raises
    ------
    ValueError
        Numbers of another shape than (n,).
    """
    if isinstance(values, pa.Array):
        return values
    if kind is str:
        texts = [value.encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))
    array: np.ndarray[Any, Any] = np.asarray(values, dtype=kind)
    if array.ndim != 1:
        raise ValueError(f"a column has one dimension, not {array.ndim}")
    found = np.ascontiguousarray(array + 0.0 if kind is float else array)
    return pa.Array.from_buffers(_ARROW_TYPES[kind], len(found), [None, pa.py_buffer(found)])


def repeated(text: str, n: int) -> pa.Array:
    """Column with the same text n times."""
    return pa.repeat(arrow_array([text], str)[0], n)


def empty_table(columns: Sequence[Column]) -> pa.Table:
    """Table without rows, for a trial that failed."""
    return make_table(columns, {column.name: [] for column in columns})


def write_table(table: pa.Table, path: Path, *, record: TrialRecord | None = None, rounded: bool = False) -> None:
    """Write a table as .parquet or .csv; equal tables give equal bytes.

    Missing numbers are empty cells in CSV and NaN in Parquet. Rounded numbers, of tables by frame, have the decimals of
    their unit in CSV (`DECIMALS`), and are those of `rounded_table` in Parquet. Text in CSV that a spreadsheet would
    take for a formula begins with an apostrophe, which `limbtorque.tables.files.unquoted` takes away. A record is stored in
    Parquet only.
    """
    if path.suffix == ".parquet":
        held = (rounded_table(table) if rounded else table).replace_schema_metadata(_metadata(record))
        with whole_file(path) as part:
            pyarrow.parquet.write_table(held, part, **_compression(table.schema))
        return
    with _csv_writer(path, table.schema) as writer:
        writer.write_table(_blank(table, rounded=rounded))


def _compression(schema: pa.Schema) -> dict[str, Any]:
    """Options of Parquet for a table of smooth curves."""
    # bytes of the same place of all numbers lie together: the first ones repeat
    streams = {field.name: "BYTE_STREAM_SPLIT" for field in schema if pa.types.is_floating(field.type)}
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": False,
        "column_encoding": streams,
        "write_statistics": False,
    }


def rounded_table(table: pa.Table) -> pa.Table:
    """Table by frame as in its Parquet file, to the last decimal of each unit.

    They are multiples of a power of two, whose last bytes are zero and take no space in a compressed file (Zender 2016, Geosci Model
    Dev 9:3199; Kouznetsov 2021, Geosci Model Dev 14:377). The error is at most half of the last decimal (`DECIMALS`). Times stay as
    they are: tables are joined by them.

    Parameters
    ----------
    table : pyarrow.Table
        A table from `make_table`.
    """
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        decimals = _decimals(field)
        if decimals is not None and field.name != "time_s":
            step = 2.0 ** -math.ceil(decimals * math.log2(10))
            column = arrow_array(np.rint(column_values(table, field.name) / step) * step, float)
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=table.schema)


def _decimals(field: pa.Field) -> int | None:
    """Decimals of a column by frame, from its unit; None where they are not limited."""
    return DECIMALS.get((field.metadata or {}).get(b"unit", b"").decode()) if pa.types.is_floating(field.type) else None


class TrialTable:
    """Table of a trial, written in parts in all its formats.

    Parameters
    ----------
    paths : sequence of Path
        Its files; the Parquet file is always among them.
    files : ExitStack
        Closes them.
    exact : bool
        The Parquet file holds the numbers as they are, not those of `rounded_table`.
    """

    def __init__(self, paths: Sequence[Path], files: ExitStack, *, exact: bool) -> None:
        self._paths, self._files, self._exact = {path.suffix: path for path in paths}, files, exact
        self._parquet: pyarrow.parquet.ParquetWriter | None = None
        self._csv: pyarrow.csv.CSVWriter | None = None

    @property
    def begun(self) -> bool:
        """True after the first part is written."""
        return self._parquet is not None

    def write(self, rows: pa.Table) -> None:
        """Write the rows of some frames."""
        with _writing(self._paths[".parquet"]):
            writer = self._parquet or self._open(rows.schema.remove_metadata())
            held = rows if self._exact else rounded_table(rows)
            writer.write_table(held.replace_schema_metadata(), row_group_size=max(len(rows), 1))
            if self._csv is not None:
                self._csv.write_table(_blank(rows, rounded=True))

    def _open(self, schema: pa.Schema) -> pyarrow.parquet.ParquetWriter:
        part = self._files.enter_context(whole_file(self._paths[".parquet"]))
        writer = pyarrow.parquet.ParquetWriter(part, schema, **_compression(schema))
        self._parquet = self._files.enter_context(writer)
        if ".csv" in self._paths:
            self._csv = self._files.enter_context(_csv_writer(self._paths[".csv"], schema))
        return writer

    def finish(self, record: TrialRecord) -> None:
        """Add the trial's record after all rows, and move the files to their final paths."""
        with _writing(self._paths[".parquet"]):
            if self._parquet is not None:
                self._parquet.add_key_value_metadata(_metadata(record))
            self._files.close()


@contextmanager
def trial_table(paths: Sequence[Path], *, exact: bool = False) -> Iterator[TrialTable]:
    """Write all files of a trial's table in parts, or none.

    Parameters
    ----------
    paths : sequence of Path
        A Parquet file, and its like in other formats.
    exact : bool, optional
        Do not round the numbers of the Parquet file: later stages compute with them.

    Yields
    ------
    TrialTable
        Takes the rows of one stretch of frames after the other, then the record. After an error the files are as before.

    Raises
    ------
    WriteError
        A file cannot be written: the disk is full, or files are limited in size.
    """
    with ExitStack() as files:
        yield TrialTable(paths, files, exact=exact)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn disk errors into messages with a remedy."""
    try:
        yield
    except OSError as error:
        raise WriteError(_not_written(path, error)) from error


def _not_written(path: Path, error: OSError) -> str:
    """Sentence about a table that cannot be written, and what to do."""
    advice = {
        errno.ENOSPC: "make room",
        errno.EDQUOT: "make room within the quota",
        errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    }.get(error.errno or 0, "mend it")
    stage, session = path.parent.parent.name, path.parent.name
    why = os.strerror(error.errno) if error.errno else str(error)
    return (
        f"the table {stage}/{session}/{path.stem} cannot be written: {why}; {advice} (tables.csv: [] needs "
        "a quarter less space)"
    )


@contextmanager
def csv_pieces(path: Path, columns: Sequence[Column]) -> Iterator[Callable[[Sequence[Mapping[str, Any]]], None]]:
    """Write a CSV table piece by piece, with the same bytes as `write_table`.

    Parameters
    ----------
    path : Path
        File to write.
    columns : sequence of Column
        Its columns.

    Yields
    ------
    callable
        Writes rows, each a mapping with a value for every column.
    """
    waiting: list[Mapping[str, Any]] = []

    def flush() -> None:
        if waiting:
            writer.write_table(_blank(table_of_rows(columns, waiting)))
            waiting.clear()

    def write(rows: Sequence[Mapping[str, Any]]) -> None:
        waiting.extend(rows)
        if len(waiting) >= PIECE_ROWS:
            flush()

    with _csv_writer(path, _schema(tuple(columns))) as writer:
        yield write
        flush()


def table_of_rows(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Table of rows, each a mapping with a value for every column."""
    names = [column.name for column in columns]
    values = [[row[name] for name in names] for row in rows]  # a row at a time: a row lies together in memory
    of_columns = zip(*values, strict=True) if rows else ([] for _ in names)
    return make_table(columns, dict(zip(names, map(list, of_columns), strict=True)))


@contextmanager
def _csv_writer(path: Path, schema: pa.Schema) -> Iterator[pyarrow.csv.CSVWriter]:
    options = pyarrow.csv.WriteOptions(quoting_style="needed")
    with (
        whole_file(path) as part,
        pyarrow.csv.CSVWriter(part, schema.remove_metadata(), write_options=options) as writer,
    ):
        yield writer


def _blank(table: pa.Table, *, rounded: bool = False) -> pa.Table:
    """Table as in CSV: missing numbers null, formulas quoted."""
    columns = [
        _no_formula(column)
        if pa.types.is_string(column.type)
        else _shown(column, _decimals(field) if rounded else None)
        for column, field in zip(table.columns, table.schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=table.schema.remove_metadata())


@contextmanager
def long_table_writer(path: Path, columns: Sequence[Column]) -> Iterator[pyarrow.parquet.ParquetWriter]:
    """Write a Parquet table piece by piece; repeated values take little space.

    Parameters
    ----------
    path : Path
        File to write.
    columns : sequence of Column
        Its columns.

    Yields
    ------
    pyarrow.parquet.ParquetWriter
        Its `write_table` takes pieces from `make_table`.
    """
    repeated = [column.name for column in columns if column.name != "value"]
    schema = _schema(tuple(columns))
    with (
        whole_file(path) as part,
        pyarrow.parquet.ParquetWriter(part, schema, compression="zstd", use_dictionary=repeated) as writer,
    ):
        yield writer


def _no_formula(column: pa.ChunkedArray) -> pa.ChunkedArray:
    from pyarrow import compute  # most tables have no text

    return compute.replace_substring_regex(column, f"({FORMULA})", r"'\1")


def _shown(column: pa.ChunkedArray, decimals: int | None) -> pa.ChunkedArray:
    """Numbers of a column as in CSV."""
    if not pa.types.is_floating(column.type):
        return column
    values = np.from_dlpack(column.combine_chunks()).astype(float)
    values = values if decimals is None else np.round(values, decimals) + 0.0
    known = pa.py_buffer(np.packbits(~np.isnan(values), bitorder="little"))
    return pa.chunked_array(
        [pa.Array.from_buffers(column.type, len(values), [known, pa.py_buffer(np.ascontiguousarray(values))])]
    )


def read_table(
    path: Path | str, *, columns: Sequence[str] | Callable[[str], bool] | None = None
) -> tuple[pa.Table, TrialRecord]:
    """Read a Parquet table and the record of its trial.

    Parameters
    ----------
    path : Path
        A file that `write_table` wrote.
    columns : sequence of str or callable, optional
        Only these columns, or those for whose names it returns True.

    Returns
    -------
    table : pyarrow.Table
        The table.
    record : TrialRecord
        The record it was written with; an empty one in tables that are not of one trial.
    """
    with pyarrow.parquet.ParquetFile(path) as file:
        wanted = list(filter(columns, file.schema_arrow.names)) if callable(columns) else columns
        return file.read(columns=wanted, use_threads=False), _record(file.metadata)


def read_extremes(path: Path, *, at_most: int) -> tuple[pa.Table, int]:
    """Read a table for a figure; for long tables only the extremes of columns.

    Parameters
    ----------
    path : Path
        A file that was written by `trial_table`.
    at_most : int
        Rows up to which the table is read as it is, and about the number of rows of a longer one.

    Returns
    -------
    table : pyarrow.Table
        The rows, in order.
    step : int
        Rows of each stretch of which those with the least and greatest value of every column are read, and the first one
        without a value; 1 where the whole table is read.
    """
    with pyarrow.parquet.ParquetFile(path) as file:
        n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
        if n_rows <= at_most:
            return file.read(use_threads=False), 1
        step = math.ceil(2 * n_columns * n_rows / at_most)
        groups = (file.read_row_group(k, use_threads=False) for k in range(file.num_row_groups))
        return pa.concat_tables([group.take(_extremes(group, step)) for group in groups]), step


def _extremes(table: pa.Table, step: int) -> np.ndarray:
    """Rows with the extremes of every column, for blocks of rows."""
    found = {0, len(table) - 1}
    for field in table.schema:
        if pa.types.is_string(field.type):
            continue
        values = column_values(table, field.name).astype(float)
        missing = np.isnan(values)
        for start in range(0, len(values), step):
            some, gap = values[start : start + step], missing[start : start + step]
            if gap.any():
                found.add(start + int(gap.argmax()))
                some = np.where(gap, some[~gap][0] if not gap.all() else 0.0, some)
            found |= {start + int(some.argmin()), start + int(some.argmax())}
    return np.array(sorted(found))


def read_record(path: Path) -> TrialRecord:
    """Read the record of a trial from its Parquet table, without the rows."""
    return _record(pyarrow.parquet.read_metadata(path))


def _record(about: pyarrow.parquet.FileMetaData) -> TrialRecord:
    packed = (about.metadata or {}).get(META_KEY)
    return TrialRecord.from_json(zlib.decompress(base64.b64decode(packed))) if packed else TrialRecord()


def _metadata(record: TrialRecord | None) -> dict[bytes, bytes]:
    """Metadata of a Parquet file with the record, compressed."""
    return {} if record is None else {META_KEY: base64.b64encode(zlib.compress(record.to_json().encode(), 1))}


def column_array(table: pa.Table, *names: str) -> np.ndarray:
    """Columns of a table side by side as floats, shape (n_rows, n_names)."""
    return np.column_stack([column_values(table, name) for name in names]).astype(float)


def column_values(table: pa.Table, name: str) -> np.ndarray:
    """Numbers of a column, shape (n_rows,), without an import of pandas."""
    return np.from_dlpack(table.column(name).combine_chunks())
