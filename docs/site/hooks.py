"""Add the Python reference and copies of files beside docs to the site.

Pages link to files beside docs as GitHub shows them (../data/README.md); on the site the links lead to the copies.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "limbtorque"

# Page of the Python reference -> its packages, each with its modules.
REFERENCE = {
    "Analyse a recording": ["analysis", "recordings", "recordings.c3d", "recordings.writers"],
    "Settings and studies": ["study", "errors"],
    "Chains": ["chain", "arrays"],
    "Signals": ["signals"],
    "From markers to motion": ["motion"],
    "Torques": ["torques"],
    "Muscles": ["muscles", "muscles.sets", "muscles.static_optimization"],
    "Simulation": ["simulation"],
    "Tables and means": ["tables", "statistics"],
    "Figures": ["figures"],
}
# Internal: nothing that a script calls. tests/docs/test_docs.py checks that every room is here or above.
NOT_PUBLIC = ["cli", "report", "study.whole_file", "workflow"]

# files beside docs -> their place in the site
COPIES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "data/README.md": "study_folder.md"}
WIDE = ("quality.md", "settings.md")


def modules(name: str) -> list[str]:
    """Module, or package with its public modules unless it has ``__all__``; names below limbtorque."""
    folder = SOURCE.joinpath(*name.split("."))
    if folder.is_dir() and "__all__" in (folder / "__init__.py").read_text(encoding="utf-8"):
        return [name]
    inside = sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))
    return [name, *(f"{name}.{stem}" for stem in inside)]


def reference_page(title: str, names: list[str]) -> str:
    """Text of a page of the Python reference."""
    parts = [f"# {title}\n"]
    for module in (module for name in names for module in modules(name)):
        parts.append(f"::: limbtorque.{module}\n")
    return "\n".join(parts)


def slug(title: str) -> str:
    """File name of a page."""
    return title.lower().replace(" ", "_")


def on_config(config: Any) -> Any:
    """Name the pages of the Python reference in the navigation."""
    for entry in config.nav:
        if "Python reference" in entry:
            entry["Python reference"] = [f"python/{slug(title)}.md" for title in REFERENCE]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add reference pages, copies and scripts."""
    for title, names in REFERENCE.items():
        files.append(File.generated(config, f"python/{slug(title)}.md", content=reference_page(title, names)))
    for source, target in COPIES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    for script in sorted((ROOT / "examples").glob("*.py")):
        files.append(File.generated(config, f"scripts/{script.name}", content=script.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Point links that leave docs to the copies; hide the table of contents beside wide tables."""
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    changes = {
        "../examples/": "scripts/",
        "../README.md": "index.md",
        "../docs/": "",
        "(docs/": "(",
        "(decisions)": "(decisions/index.md)",
    }
    changes |= {f"../{source}": target for source, target in COPIES.items()}
    return re.sub(r"\]\([^)]+\)", lambda link: _changed(link.group(), changes), markdown)


def _changed(link: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        link = link.replace(old, new)
    return link
