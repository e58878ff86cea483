"""Tables of trials and subjects as spreadsheets and editors break them, from a seed, with the reading that is right.

A hostile table is refused with a sentence, or read as it stands: nothing else. `attacked` says which of the two happened.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbtorque.errors import SettingsError, StudyError
from limbtorque.study.study import Study, load_study
from study_runs import make_study

Rows = list[dict[str, str]]
TRIALS, SUBJECTS = "trials.csv", "subjects.csv"
RECORDING = "S01_sagittal_fast"
OTHER_RECORDING = "S02_sagittal_fast"
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
UNREADABLE = "a reader must refuse it"

_NUMBERS = """72,5 7_2 1'000 1,000.5 1.000,5 12:30:00 2026-11-22 22.11.2026 nan NaN inf -inf Infinity 1e999 -1e999 1e308
1e-320 1e-999 -0.0 0 -1 --1 0x48 0b11 7d1 72f 72% ½ ٧٢ \uff17\uff12 ७२ \u221272 +72 72. .72e2 7.2E+1 072 true false TRUE yes
null None NA N/A #N/A #REF! #DIV/0! #VALUE! - ? ~ \u200f72 72\u200b \ufeff72 '72 "72" =72 =36*2 [72] {72} (72) 72; 72/1
1e5 1e0 4.5035E+15 44887"""
_WITH_BLANKS = ("72.5 kg", "7 2", "Jan 72", "\u00a072", "72\u00a0", "7\u00a02", "7\u202f2")
NUMBERS = (*_NUMBERS.split(), *_WITH_BLANKS, "9" * 400, "0." + "0" * 400 + "1")
_TEXTS = """a,b a"b " "" a;b a|b a#b # ' ` \\ %s =1+1 +1 -1 @SUM(A1) <script>alert(1)</script> [a](b) ![a](b) ../../etc/passwd
/etc/passwd ~ C:\\x a/b .. . -rf --help $HOME $(id) `id` {side} con nul 𝛀 é ﬁst 速い שלום سريع İ ß ẞ nan null None true
TODO todo 0 1 1e5 2026-11-22 12:30:00 1-2 #N/A S01 s01 left LEFT right both arm Arm leg sagittal data/demo"""
TEXTS = (
    *("", " ", "\u00a0", "\u200b", "\u200f", "\u202e", "\ufeff", "\0", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028"),
    *("a\nb", "a\r\nb", "a\rb", "a\tb", "# a", "=cmd|' /C calc'!A0", "<img src=x>", "S01 ", " S01", "Mar 4"),
    *("a" * 101, "a" * 10_000, "ü" * 200, "e\u0301", "$(a b)"),
    *_TEXTS.split(),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "latin-1", "cp1252", "cp1254")
ENCODINGS += ("gb18030", "cp037", "mac-roman", "iso8859-15", "utf-8-sig")


@dataclass(frozen=True)
class HostileTable:
    """A damaged table of a study.

    Attributes
    ----------
    what : str
        What was done to it.
    table : str
        `TRIALS` or `SUBJECTS`.
    content : bytes
        The file.
    rows : list of dict, or None
        Cells as a person reads them; None where no reading is right.
    """

    what: str
    table: str
    content: bytes
    rows: Rows | None


def plain_rows() -> dict[str, Rows]:
    """Both tables before the damage: two trials and two subjects, an option column, a text outside of ASCII."""
    trial = {
        "trial": "S01_fast",
        "session": "S01_sagittal",
        "subject": "S01",
        "file": f"data/demo/{RECORDING}.c3d",
        "chain": "arm",
        "side": "right",
        "condition": "schnell für sich",
        "load": "",
        "start_s": "0.1",
        "end_s": "1.9",
        "plane.kind": "sagittal",
        "filter.cutoff_hz": "8",
        "filter.order": "3",
        "note": "café",
    }
    subject = {
        "subject": "S01",
        "mass_kg": "72.5",
        "height_m": "1.78",
        "sex": "m",
        "forearm_mass_kg": "1.16",
        "note": "naïve",
    }
    return {
        TRIALS: [
            trial,
            {
                **trial,
                "trial": "S02_fast",
                "session": "S02_sagittal",
                "subject": "S02",
                "file": f"data/demo/{OTHER_RECORDING}.c3d",
                "note": "",
            },
        ],
        SUBJECTS: [
            subject,
            {**subject, "subject": "S02", "mass_kg": "58.5", "height_m": "1.66", "sex": "f", "note": ""},
        ],
    }


def hostile_study(folder: Path) -> Path:
    """A study of two of the demo's recordings whose tables are those of `plain_rows`."""
    study = make_study(folder, (RECORDING, OTHER_RECORDING))
    config = study / "config" / "config.yaml"
    off = "".join(f"{section}:\n  enabled: false\n" for section in ("muscles", "report"))
    config.write_text(config.read_text("utf-8") + off, "utf-8")
    for table, rows in plain_rows().items():
        (study / "config" / table).write_bytes(as_csv(rows))
    return study


def hostile_tables(seed: int = 0) -> Iterator[HostileTable]:
    """Yield hostile tables: over a thousand, the random ones from a seed."""
    for table, rows in plain_rows().items():
        for what, content, right in (*_bytes(rows), *_layouts(rows), *_headers(rows), *_cells(rows)):
            yield HostileTable(what, table, content, right)
        yield from _random(table, rows, np.random.default_rng([seed, len(table)]))


def attacked(folder: Path, case: HostileTable) -> str:
    """Put a hostile table into a study, read it, and put the plain one back.

    Parameters
    ----------
    folder : Path
        A study of `hostile_study`.
    case : HostileTable
        The table.

    Returns
    -------
    str
        "read", "refused", or a sentence that begins with "changed" on what was read otherwise than it stands. Any other
        exception than a refusal passes through.
    """
    path, plain = folder / "config" / case.table, plain_rows()
    path.write_bytes(case.content)
    try:
        study = load_study(folder)
    except (StudyError, SettingsError) as error:
        return "refused" if str(error).strip() and "\x1b" not in str(error) else f"changed: a bare message {error!r}"
    finally:
        path.write_bytes(as_csv(plain[case.table]))
    if case.rows is None:
        return f"changed: {UNREADABLE}"
    plain[case.table] = case.rows
    return _difference(study, plain) or "read"


def _difference(study: Study, tables: Mapping[str, Rows]) -> str:
    """First difference between a study and the cells of its tables."""
    known = {row["subject"].strip(): row for row in tables[SUBJECTS]}
    if [trial.name for trial in study.trials] != [row["trial"].strip() for row in tables[TRIALS]]:
        return f"changed: trials {[trial.name for trial in study.trials]}"
    for trial, row in zip(study.trials, tables[TRIALS], strict=True):
        settings, subject = trial.settings, trial.subject
        read = {
            **{name: getattr(trial, name) for name in ("session", "chain", "side", "condition", "load", "note")},
            **{"subject": subject.name, "file": _file(study.folder, row["file"].strip(), trial.file)},
            **{"start_s": trial.start_s, "end_s": trial.end_s, "plane.kind": settings.plane.kind},
            **{"filter.cutoff_hz": settings.filter.cutoff_hz, "filter.order": settings.filter.order},
        }
        person = {name: getattr(subject, name) for name in ("mass_kg", "height_m", "sex", "note")}
        person["forearm_mass_kg"] = subject.measured.get("forearm_mass_kg")
        for found, cells in ((read, row), (person, known[subject.name])):
            for name, value in found.items():
                if name in cells and not _says(cells[name].strip(), value, default=_default(study, name)):
                    return f"changed: {name} {cells[name]!r} was read as {value!r}"
    return ""


def _file(folder: Path, cell: str, path: Path) -> str:
    return cell if path == folder / cell else str(path)


def _default(study: Study, name: str) -> object:
    section, _, option = name.partition(".")
    return getattr(getattr(study.settings, section), option) if option else None


def _says(cell: str, value: object, *, default: object) -> bool:
    """True where a cell, stripped, says this value and no other."""
    if cell == "":
        return value in ("", None, default) or value != value
    if isinstance(value, str):
        return cell == value or (value in ("f", "m") and cell.lower() == value)
    return NUMBER.fullmatch(cell) is not None and float(cell) == value


def as_csv(rows: Sequence[Mapping[str, str]], **options: object) -> bytes:
    """Rows as a CSV file in UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), **{"lineterminator": "\n", **options})  # type: ignore[arg-type]
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "surrogatepass")


Damage = tuple[str, bytes, Rows | None]


def _bytes(rows: Rows) -> Iterator[Damage]:
    """Encodings, foreign files, and characters that no text has."""
    text = as_csv(rows).decode()
    for encoding in ENCODINGS:
        yield f"in {encoding}", text.encode(encoding), rows if encoding == "utf-8-sig" else None
    yield "two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf" + text.encode(), rows
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    for what, content in (
        ("a workbook", zipped.getvalue()),
        ("a PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
        ("HTML", b"<!doctype html><table><tr><td>trial</td></tr></table>"),
        ("JSON", b'[{"trial": "a"}]'),
        ("nothing", b""),
        ("blanks", b" \n\t\n\n"),
        ("zeros", bytes(4096)),
        ("a lone byte order mark", b"\xef\xbb\xbf"),
        ("no header", b"\n".join(as_csv(rows).splitlines()[1:])),
        ("bytes that are no UTF-8", text.encode().replace(b"\xc3", b"\xc3\x28", 1)),
        ("cut inside a character", text.encode()[: text.encode().index(b"\xc3") + 1]),
        ("half of a surrogate pair", text.replace("S01", "S\ud83d01", 1).encode("utf-8", "surrogatepass")),
    ):
        yield what, content, None


def _layouts(rows: Rows) -> Iterator[Damage]:
    """Line ends, separators, quotes, empty lines and lines that are cut."""
    text = as_csv(rows).decode()
    lines = text.splitlines()
    for name, end in (("\\r\\n", "\r\n"), ("\\r", "\r"), ("\\n\\r", "\n\r"), ("\\r\\r\\n", "\r\r\n")):
        yield f"line ends {name}", end.join([*lines, ""]).encode(), rows
    for end in ("\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c", "\x1e", "|"):
        yield f"line ends {end!r}", end.join([*lines, ""]).encode(), None
    yield "mixed line ends", (lines[0] + "\r\n" + lines[1] + "\r" + lines[2] + "\n").encode(), rows
    for separator in (";", "\t", "|", ":", " ", "\u3001", "\uff0c", "\x1f", ",,"):
        yield f"separated by {separator!r}", text.replace(",", separator).encode(), None
    yield "semicolons and decimal commas", text.replace(",", ";").replace(".", ",").encode(), None
    yield "the line of Excel on separators", ("sep=,\n" + text).encode(), None
    yield "all cells quoted", as_csv(rows, quoting=csv.QUOTE_ALL), rows
    yield "quotes of another kind", as_csv(rows, quoting=csv.QUOTE_ALL).replace(b'"', b"'"), None
    yield "typographic quotes", as_csv(rows, quoting=csv.QUOTE_ALL).decode().replace('"', "\u201c").encode(), None
    yield "quoted lines", "\n".join(f'"{line}"' for line in [*lines, ""]).encode(), None
    for k in range(1, len(lines)):
        for what, line in (
            ("a quote that is not closed", '"' + lines[k]),
            ("a quote inside", lines[k].replace(",", ',"', 1)),
            ("a cell more", lines[k] + ",x"),
            ("a cell less", lines[k].rpartition(",")[0]),
            ("a decimal comma", re.sub(r"([0-9])\.([0-9])", r"\1,\2", lines[k], count=1)),
            ("the header again", lines[0]),
            ("the line twice", f"{lines[k]}\n{lines[k]}"),
        ):
            yield f"line {k}: {what}", "\n".join([*lines[:k], line, *lines[k + 1 :], ""]).encode(), None
        for what, more in (
            ("empty", ""),
            ("blanks", "  \t "),
            ("commas", "," * lines[0].count(",")),
            ("quoted blanks", '" "' + "," * lines[0].count(",")),
            ("a comment", "# a, b"),
            ("a comment after blanks", "  # a, b"),
            ("a no-break space", "\u00a0" + "," * lines[0].count(",")),
        ):
            yield f"{what} before line {k}", "\n".join([*lines[:k], more, *lines[k:], ""]).encode(), rows
    quote = [{**row, last: row[last] + '"'} for row in rows for last in [list(row)[-1]]]
    yield "a quote at the end of all lines", text.replace("\n", '"\n').replace('"', "", 1).encode(), quote
    yield "no line end at the end", text.rstrip("\n").encode(), rows
    yield "a hundred empty lines", (text + "\n" * 100).encode(), rows
    yield "blanks around all cells", re.sub(r"([^,\n]+)", r"  \1\t ", text).encode(), rows
    yield "columns in another order", as_csv([dict(reversed(row.items())) for row in rows]), rows
    yield "only a header", (lines[0] + "\n").encode(), None
    yield "only comments", b"# a\n# b\n", None
    for share in np.linspace(0.05, 0.7, 14):
        cut = int(share * len(text))
        if text[cut - 1 : cut + 1].strip("\n") == text[cut - 1 : cut + 1]:
            yield f"cut after {cut} characters", text[:cut].encode(), None


def _headers(rows: Rows) -> Iterator[Damage]:
    """Columns that are missing, double, misspelt, hidden, or too many."""
    for name in rows[0]:
        left = [{key: value for key, value in row.items() if key != name} for row in rows]
        yield f"without column {name}", as_csv(left), left
        for what, other in (
            ("in capitals", name.upper()),
            ("misspelt", name[::-1]),
            ("with a hidden character", name[:1] + "\u200b" + name[1:]),
            ("turned", "\u202e" + name),
            ("with a control character", name + "\x07"),
            ("with a line break", f"{name[:1]}\n{name[1:]}"),
            ("with a no-break space inside", name[:1] + "\u00a0" + name[1:]),
            ("without a name", ""),
            ("with a dot", name + "."),
            ("of Python", "__class__"),
        ):
            yield (
                f"column {name} {what}",
                as_csv([{other if k == name else k: v for k, v in row.items()} for row in rows]),
                None,
            )
        yield f"column {name} twice", _wider(rows, name, [row[name] for row in rows]), None
        yield f"column {name} twice with others", _wider(rows, f" {name} ", ["1"] * len(rows)), None
        blank = {f" {name}\u00a0" if k == name else k: v for k, v in rows[0].items()}
        yield (
            f"blanks around column {name}",
            as_csv([dict(zip(blank, row.values(), strict=True)) for row in rows]),
            rows,
        )
    for count, name in ((3, ""), (100_000, ""), (100_000, "x{}"), (20_000, "filter.{}")):
        names = "," + ",".join(name.format(k) for k in range(count))
        first, *others = as_csv(rows).decode().splitlines()
        wide = "\n".join([first + names, *(line + "," * count for line in others), ""])
        yield f"{count} columns more, named {name!r}", wide.encode(), None


def _wider(rows: Rows, name: str, cells: Sequence[str]) -> bytes:
    lines = as_csv(rows).decode().splitlines()
    return "\n".join(f"{line},{cell}" for line, cell in zip(lines, [name, *cells], strict=True)).encode() + b"\n"


def _cells(rows: Rows) -> Iterator[Damage]:
    """One cell of the first row replaced, in every column."""
    for name, cell in rows[0].items():
        texts = NUMBERS if NUMBER.fullmatch(cell) else TEXTS
        for text in (*texts, "a" * 200_000):
            changed = [{**rows[0], name: text}, *rows[1:]]
            yield f"{name} is {text[:60]!r}", as_csv(changed), _read(changed, name, text)


def _read(rows: Rows, name: str, text: str) -> Rows | None:
    """Rows as they stand; one that begins with a number sign is a comment."""
    first = next(iter(rows[0]))
    if name == first and text.lstrip().startswith("#") and not set(text) & set(',"\r\n'):
        return rows[1:]
    return None if re.search("[\0-\x08\x0a-\x1f\x7f-\x9f]", text.strip()) else rows


def _random(table: str, rows: Rows, random: np.random.Generator) -> Iterator[HostileTable]:
    """Some cells at once, each with a text from the lists, and the file written in one of many ways."""
    ways: tuple[Callable[[bytes], bytes], ...] = (
        lambda content: content,
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: content.replace(b"\n", b"\r\n"),
        lambda content: b"# a comment, and more\n\n" + content,
    )
    for k in range(200):
        changed = [dict(row) for row in rows]
        for _ in range(random.integers(1, 4)):
            row, name = changed[random.integers(len(rows))], str(random.choice(list(rows[0])))
            texts = NUMBERS if NUMBER.fullmatch(rows[0][name]) else TEXTS
            row[name] = texts[random.integers(len(texts))]
        hidden = any(re.search("[\0-\x08\x0a-\x1f\x7f-\x9f]", cell.strip()) for row in changed for cell in row.values())
        comment = any(next(iter(row.values())).lstrip().startswith("#") for row in changed)
        if not comment:
            content = ways[random.integers(len(ways))](as_csv(changed))
            yield HostileTable(f"random {k}", table, content, None if hidden else changed)
