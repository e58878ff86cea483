"""Open recordings of people that the program knows by the hashes of their files."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class KnownFile(BaseModel):
    """Size and hash of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bytes: int = Field(gt=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class OpenRecordings(BaseModel):
    """A published set of recordings, as `open_recordings.toml` describes it.

    A set without `folder` was not tried. `options` are those of `init` that its files need, `trials` is the status of
    its trials after a run, and `meaning` the reason.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    shows: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    citation: str = Field(min_length=1)
    published: str = Field(pattern=r"^doi 10\.\d{4,}/\S+")
    folder: str = ""
    options: str = ""
    trials: str = ""
    meaning: str = ""
    files: Mapping[str, KnownFile] = {}

    @property
    def credit(self) -> str:
        """Sentence on licence and citation."""
        return f"source: {self.name}, licence {self.licence}; cite {self.citation}, {self.published}"


@functools.cache
def open_recordings() -> tuple[OpenRecordings, ...]:
    """All sets of the table in the package.

    Raises
    ------
    pydantic.ValidationError
        The table has another key, an empty text, a hash that is none, or no DOI.
    """
    text = (resources.files("limbtorque.cli.init") / "open_recordings.toml").read_text(encoding="utf-8")
    return tuple(OpenRecordings.model_validate(entry) for entry in tomllib.loads(text)["sets"])


def sources_of(paths: Iterable[Path]) -> list[OpenRecordings]:
    """Sets to which files belong; only files of a known size are hashed.

    Parameters
    ----------
    paths : iterable of Path
        The files; those that cannot be read are passed over.
    """
    known = {(file.bytes, file.sha256): each for each in open_recordings() for file in each.files.values()}
    sizes = {size for size, _ in known}
    sources: dict[str, OpenRecordings] = {}
    for path in paths:
        try:
            size = path.stat().st_size
            if size in sizes and (source := known.get((size, hashlib.sha256(path.read_bytes()).hexdigest()))):
                sources[source.name] = source
        except OSError:
            continue
    return list(sources.values())
