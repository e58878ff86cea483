"""List the licence of every package that limbtorque needs; refuse the GPL outside the peers of the tests.

    licences.py                 # run, development, peers, build
    licences.py run buckets     # these groups

The licences are those that pip-licenses reads from the packages installed beside this Python. Buckets need an environment of
their own (Makefile: .venv-s3). A package that is not installed is a fault, but for the extra `peers`, which has no wheels for
some systems.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
GROUPS = {  # extras of limbtorque, "" for none, and dependency groups of pyproject.toml
    "run": (("",), ()),
    "development": (("dev",), ()),
    "peers": (("peers",), ()),
    "build": ((), ("build",)),
    "buckets": (("s3",), ("buckets",)),
    "release": ((), ("release",)),
}
TOOLS = ("peers", "release")  # programs that are compared or run, never imported: they may have the GPL
HERE = ("run", "development", "peers", "build")
FROM_TEXT = {  # licences that the metadata leave out, from the text of the licence in the package
    "cmeel-qhull": "Qhull License",
    "conda-inject": "MIT",
    "ezc3d": "MIT",
    "snakemake-interface-common": "MIT",
    "snakemake-interface-logger-plugins": "MIT",
    "snakemake-interface-report-plugins": "MIT",
    "snakemake-interface-scheduler-plugins": "MIT",
    "snakemake-interface-storage-plugins": "MIT",
    "spm1d": "GPL-3.0",
}
PARTS = {"docutils": "its file under the GPL, a mode of Emacs, is not in its wheel"}  # several licences, by file
GPL = re.compile(r"\bA?GPL|(?<!Lesser )General Public License|Affero", re.IGNORECASE)


def needed(*asked: tuple[str, str]) -> tuple[set[str], set[str]]:
    """Packages that packages with an extra need, with them: those installed, and those that are not."""
    found: set[tuple[str, str]] = set()
    absent: set[str] = set()
    waiting = list(asked)
    while waiting:
        name, chosen = waiting.pop()
        try:
            texts = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            absent.add(name)
            continue
        found.add((name, chosen))
        for each in map(Requirement, texts):
            if each.marker is None or each.marker.evaluate({"extra": chosen}):
                waiting += {(canonicalize_name(each.name), one) for one in ("", *each.extras)} - found
    return {name for name, _ in found} - {"limbtorque"}, absent


def packages(names: Iterable[str] = HERE) -> tuple[dict[str, set[str]], set[str]]:
    """Packages of limbtorque by group, and those that are not installed, but for the peers."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    found: dict[str, set[str]] = {}
    missing: set[str] = set()
    for name in names:
        extras, groups = GROUPS[name]
        own = [Requirement(text) for group in groups for text in listed[group]]
        asked = [(canonicalize_name(one.name), extra) for one in own for extra in ("", *one.extras)]
        found[name], absent = needed(*(("limbtorque", extra) for extra in extras), *asked)
        missing |= set() if name == "peers" else absent
    return found, missing


def installed_licences() -> dict[str, str]:
    """Licence of every package installed beside this Python, by name."""
    words = [sys.executable, "-m", "piplicenses", "--from=mixed", "--with-system", "--format=json"]
    rows = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return {canonicalize_name(row["Name"]): row["License"] for row in rows}


def grouped(licences: Mapping[str, str], groups: Mapping[str, Iterable[str]]) -> list[tuple[str, str, str]]:
    """Rows of group, package and licence; each package in the first group that needs it."""
    first: dict[str, str] = {}
    for group, names in groups.items():
        for name in sorted(names):
            first.setdefault(name, group)
    return [
        (group, name, FROM_TEXT.get(name, "UNKNOWN") if licences[name] == "UNKNOWN" else licences[name])
        for name, group in first.items()
    ]


def faults(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Sentences on packages under the GPL outside the peers, and on unknown licences."""
    found = []
    for group, name, licence in rows:
        if licence == "UNKNOWN":
            found.append(f"{name}: no licence in its metadata; read the text of its licence and add it to FROM_TEXT")
        elif GPL.search(licence) and group not in TOOLS and name not in PARTS:
            found.append(f"{name}: {licence}; only peers of the tests and tools of a release may have it")
    return found


def main(names: Sequence[str] = HERE) -> int:
    """Print the licences of these groups; return 1 at a fault."""
    groups, missing = packages(names)
    rows = grouped(installed_licences(), groups)
    for group, name, licence in rows:
        print(f"{group:12} {name:40} {licence}{f' ({PARTS[name]})' if name in PARTS else ''}")
    wrong = [*faults(rows), *(f"{name}: not installed, so its licence is not known" for name in sorted(missing))]
    print(f"{len(rows)} packages, {len(wrong)} faults")
    print("\n".join(f"make licences: {fault}" for fault in wrong), file=sys.stderr, end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or HERE))
