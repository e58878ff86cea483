"""List the licence of every package that limbtorque needs; refuse the GPL outside the peers of the tests.

The licences are those that pip-licenses reads from the packages installed here. Packages of the extra `peers` that are not
installed are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = {"run": "", "development": "dev", "peers": "peers"}  # by group of packages
FROM_TEXT = {  # licences that the metadata leave out, from the text of the licence in the package
    "atheris": "Apache-2.0",
    "cmeel-qhull": "Qhull License",
    "conda-inject": "MIT",
    "ezc3d": "MIT",
    "snakemake-interface-common": "MIT",
    "snakemake-interface-logger-plugins": "MIT",
    "snakemake-interface-report-plugins": "MIT",
    "snakemake-interface-scheduler-plugins": "MIT",
    "snakemake-interface-storage-plugins": "MIT",
}
PARTS = {"docutils": "its file under the GPL, a mode of Emacs, is not in its wheel"}  # several licences, by file
GPL = re.compile(r"\bA?GPL|(?<!Lesser )General Public License|Affero", re.IGNORECASE)


def needed(*asked: tuple[str, str]) -> set[str]:
    """Installed packages that packages with an extra need, with them."""
    found: set[tuple[str, str]] = set()
    waiting = list(asked)
    while waiting:
        name, chosen = waiting.pop()
        try:
            texts = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add((name, chosen))
        for each in map(Requirement, texts):
            if each.marker is None or each.marker.evaluate({"extra": chosen}):
                waiting += {(canonicalize_name(each.name), one) for one in ("", *each.extras)} - found
    return {name for name, _ in found} - {"limbtorque"}


def packages() -> dict[str, set[str]]:
    """Packages of limbtorque by group."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = [Requirement(text).name for text in project["dependency-groups"]["build"]]
    return {
        **{group: needed(("limbtorque", extra)) for group, extra in EXTRAS.items()},
        "build": needed(*((name, "") for name in build)),
    }


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
        elif GPL.search(licence) and group != "peers" and name not in PARTS:
            found.append(f"{name}: {licence}; only peers of the tests may have it")
    return found


def main() -> int:
    """Print the licences; return 1 at a fault."""
    rows = grouped(installed_licences(), packages())
    for group, name, licence in rows:
        print(f"{group:12} {name:40} {licence}{f' ({PARTS[name]})' if name in PARTS else ''}")
    wrong = faults(rows)
    print(f"{len(rows)} packages, {len(wrong)} faults")
    print("\n".join(f"make licences: {fault}" for fault in wrong), file=sys.stderr, end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
