"""Atomic writing of files, and YAML 1.2."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SETTINGS_FILE = "config/config.yaml"  # of a study, from its folder
_PART = re.compile(r"\..*\.[0-9]+\.part(\.[^.]*)?")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Temporary path to write to; it replaces the file at the end.

    Parameters
    ----------
    path : Path
        The file; its folder is created.

    Yields
    ------
    Path
        Another name in the same folder, hidden, with the same suffix. After an error it is removed, and the file is as before.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem[:100]}.{socket.gethostname()[:40]}.{os.getpid()}.part{path.suffix}")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8 with Unix line ends."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes."""
    with whole_file(path) as part:
        part.write_bytes(content)


def is_part(path: Path) -> bool:
    """Return True for the name of an unfinished file."""
    return bool(_PART.fullmatch(path.name))


READ_OTHERWISE = re.compile(
    r"y|n|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9]*)?", re.IGNORECASE
)  # by YAML 1.1

LONGEST_NUMBER = 400  # characters, as the largest double written out
LARGEST_FILE = 200_000  # characters; settings with many marker sets have a tenth
MOST_ENTRIES = 20_000  # lines and commas, which take a second; the built-in set of the leg has 1,800
OTHER_VERSION = re.compile(r"^%YAML(?!\s+1\.2\s*$).*", re.MULTILINE)


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Any
        Its content; None for an empty file.

    Raises
    ------
    ValueError
        Not readable as YAML, with a key twice, or not in UTF-8: a sentence that goes on after the file's name.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"is {'a folder' if path.is_dir() else 'a device'}, expected a file")
    try:
        with path.open(encoding="utf-8") as file:
            return parse_yaml(file.read(LARGEST_FILE + 1))
    except UnicodeDecodeError as error:
        raise ValueError(f"is not in UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from None


def parse_yaml(text: str) -> Any:
    r"""Read YAML from a text; raises `ValueError` as `read_yaml` does.

    >>> parse_yaml("answer: no\ntime: 12:30:00\ndate: 2026-11-22\nparts: [1, 2.5, null, true]")
    {'answer': 'no', 'time': '12:30:00', 'date': '2026-11-22', 'parts': [1, 2.5, None, True]}
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.events import AliasEvent

    if len(text) > LARGEST_FILE:
        raise ValueError(f"has more than {LARGEST_FILE} characters, too many for settings; is it another file?")
    if (n := text.count("\n") + text.count(",")) > MOST_ENTRIES:
        raise ValueError(
            f"has {n} lines and commas, more than {MOST_ENTRIES}, too many for settings; is it another file?"
        )
    if other := OTHER_VERSION.search(text):
        raise ValueError(f"has the line {other[0][:40]!r}, expected YAML 1.2; remove this line")
    try:
        for event in _yaml().parse(text) if set("*!") & set(text) else ():
            if isinstance(event, AliasEvent):
                raise ValueError("has an alias (*name); write its values out")
            if getattr(event, "tag", None):
                raise ValueError(f"has a tag ({event.tag}); remove the tag")
        return _yaml().load(text)
    except RecursionError:
        raise ValueError("has lists or names nested too deeply; no setting has that") from None
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        problem = (error.problem if isinstance(error, MarkedYAMLError) else None) or str(error).splitlines()[0]
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        tab = "; indent with spaces, not tabs" if "\\t" in problem or "\t" in problem else ""
        raise ValueError(f"is not readable as YAML{where}: {problem}{tab}") from None


def yaml_text(content: Any) -> str:
    """Plain data as YAML, in the given order; lists without dictionaries on one line.

    Text that YAML 1.1 reads as a truth value or time is quoted.

    >>> print(yaml_text({"title": "no", "start": "12:30:00", "plates": [1, 2]}), end="")
    title: 'no'
    start: '12:30:00'
    plates: [1, 2]
    """
    text = io.StringIO()
    _yaml().dump(content, text)
    return re.sub(" +\n", "\n", text.getvalue())  # the ends of long texts that go on in the next line


def _yaml() -> Any:
    """New reader and writer, so that directives (%YAML) are not written again."""
    from ruamel.yaml import YAML  # here, because most jobs read no YAML

    yaml: Any = YAML(typ="safe", pure=True)
    yaml.Constructor, yaml.Representer = _constructor(), _representer()
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = False, False
    yaml.width, yaml.allow_unicode = 110, True
    return yaml


@functools.cache
def _constructor() -> Any:
    """Class that makes plain data."""
    from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
    from ruamel.yaml.error import MarkedYAMLError

    class Constructor(SafeConstructor):
        """Plain data; dates stay text."""

        def check_mapping_key(self, node: Any, key_node: Any, mapping: Any, key: Any, value: Any) -> bool:
            if key in mapping:
                problem = f"{key!r} occurs twice; keep one of them"
                raise DuplicateKeyError(None, None, problem, key_node.start_mark)
            return bool(super().check_mapping_key(node, key_node, mapping, key, value))

    def number(kind: str) -> Callable[[Any, Any], Any]:
        """Constructor of a number; its error shows the unreadable text."""
        build = SafeConstructor.yaml_constructors[f"tag:yaml.org,2002:{kind}"]

        def built(constructor: Any, node: Any) -> Any:
            try:
                if len(node.value) > LONGEST_NUMBER:
                    raise ValueError
                return build(constructor, node)
            except ValueError:
                problem = f"{str(node.value)[:40]!r} is not readable as a number"
                raise MarkedYAMLError(None, None, problem, node.start_mark) from None

        return built

    for kind in ("int", "float"):
        Constructor.add_constructor(f"tag:yaml.org,2002:{kind}", number(kind))
    Constructor.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)
    return Constructor


@functools.cache
def _representer() -> Any:
    """Class that writes plain data."""
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        """Quote what YAML 1.1 would read differently; write no anchors."""

        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the name is the base class's)
            return True

        def represent_str(self, data: str) -> Any:
            style = "'" if READ_OTHERWISE.fullmatch(data) else None
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

        def represent_float(self, data: float) -> Any:
            node = super().represent_float(data)
            node.value = re.sub(r"^(-?\d+)e", r"\1.0e", node.value)
            return node

        def represent_list(self, data: Any) -> Any:
            plain = not any(isinstance(value, dict) for value in data)
            return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=plain)

    Representer.add_representer(str, Representer.represent_str)
    Representer.add_representer(float, Representer.represent_float)
    for sequence in (list, tuple):
        Representer.add_representer(sequence, Representer.represent_list)
    return Representer
