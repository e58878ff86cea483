"""Add the Python reference, executed notebooks and copies of files beside docs to the site; set equations.

Pages link to files beside docs as GitHub shows them (../data/README.md); on the site the links lead to the copies.
Equations between dollars become MathML here, so that a browser needs no script and no network for them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "limbtorque"

# Page of the Python reference -> its packages, each with its modules.
REFERENCE = {
    "Analyse a recording": ["analysis", "recordings", "recordings.c3d", "recordings.writers"],
    "Settings and studies": ["study", "errors"],
    "Chains": ["chain", "arrays"],
    "Signals": ["signals"],
    "From markers to motion": ["motion", "ground"],
    "Torques": ["torques"],
    "Uncertainty": ["uncertainty"],
    "Quality": ["quality"],
    "Muscles": ["muscles", "muscles.sets", "muscles.static_optimization"],
    "Electromyography": ["emg"],
    "Simulation": ["simulation"],
    "Tables and means": ["tables", "statistics"],
    "Figures": ["figures"],
}
# Internal: nothing that a script calls. tests/docs/test_docs.py checks that every room is here or above.
NOT_PUBLIC = ["cli", "report", "study.files", "workflow"]

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


def notebook_page(notebook: Path, *, execute: bool) -> tuple[str, dict[str, bytes]]:
    """Page of a notebook as Markdown, and its figures by name. A cell that fails ends the build."""
    cells = nbformat.read(notebook, as_version=4)
    if execute:
        NotebookClient(cells, timeout=600, resources={"metadata": {"path": str(notebook.parent)}}).execute()
    page, resources = MarkdownExporter().from_notebook_node(cells, {"unique_key": notebook.stem})
    page = described(page)
    note = f'<a href="{notebook.name}">This notebook</a> ran when the site was built.\n'
    title, _, rest = page.lstrip().partition("\n")
    return f"{title}\n\n{note}\n{rest}", resources["outputs"]


def described(page: str) -> str:
    """Page whose figures without a text of their own have that of the heading above them."""
    lines, words = [], ""
    for line in page.splitlines():
        if line.startswith("#"):
            words = re.sub(r"[\[\]\\]", "", line.strip("# "))
        lines.append(re.sub(r"!\[(?:png|svg)?\]\(", f"![Figure: {words}](", line))
    return "\n".join(lines) + "\n"


def notebook_files(config: Any) -> Iterator[File]:
    """Pages and figures of the notebooks."""
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page, figures = notebook_page(notebook, execute=config.extra["execute_notebooks"])
        yield File.generated(config, f"notebooks/{notebook.stem}.md", content=page)
        for name, figure in figures.items():
            yield File.generated(config, f"notebooks/{name}", content=figure)


def slug(title: str) -> str:
    """File name of a page."""
    return title.lower().replace(" ", "_")


def on_config(config: Any) -> Any:
    """Name the pages of the Python reference in the navigation."""
    [reference] = (entry["Reference"] for entry in config.nav if "Reference" in entry)
    for entry in reference:
        if "Python reference" in entry:
            entry["Python reference"] = [f"python/{slug(title)}.md" for title in REFERENCE]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add reference pages, copies and scripts."""
    for title, names in REFERENCE.items():
        files.append(File.generated(config, f"python/{slug(title)}.md", content=reference_page(title, names)))
    for source, target in COPIES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    for file in notebook_files(config):
        files.append(file)
    for script in sorted((ROOT / "examples").glob("*.py")):
        files.append(File.generated(config, f"scripts/{script.name}", content=script.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Point links that leave docs to the copies; hide the table of contents beside wide tables."""
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    changes = {
        "../examples/": "scripts/",
        ".ipynb": ".md",
        "../README.md": "index.md",
        "../docs/": "",
        "(docs/": "(",
        "(decisions)": "(decisions/index.md)",
    }
    changes |= {f"../{source}": target for source, target in COPIES.items()}
    return re.sub(r"\]\([^)]+\)", lambda link: _changed(link.group(), changes), markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Set the equations that the Markdown extension arithmatex has marked."""
    return re.sub(r'<(span|div) class="arithmatex">(.*?)</\1>', _equation, content, flags=re.DOTALL)


def _equation(marked: re.Match[str]) -> str:
    tag, text = marked.groups()
    display = "block" if tag == "div" else "inline"
    return convert(html.unescape(text).strip()[2:-2].strip(), display=display)


def _changed(link: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        link = link.replace(old, new)
    return link
