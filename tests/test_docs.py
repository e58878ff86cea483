"""Pages that are made from the code are up to date, and what README says runs."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def make_docs():
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_made_from_the_code_are_up_to_date():
    module = make_docs()
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == module.settings_page()
    assert (ROOT / "docs" / "quality.md").read_text(encoding="utf-8") == module.quality_page()


def test_the_python_of_the_readme_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(block, names)
    assert len(names["torques"]) == 251


def test_yaml_of_the_settings_page_is_valid():
    import yaml

    from limbtorque.settings import make_settings

    blocks = re.findall(
        r"```yaml\n(.*?)```", (ROOT / "docs" / "settings.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert len(blocks) == 4
    for block in blocks:
        make_settings(yaml.safe_load(block))


@pytest.mark.parametrize(
    "page", [README, *(p.read_text(encoding="utf-8") for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (ROOT / target).exists() or (ROOT / "docs" / target).exists(), target
