"""Fixtures that many tests use."""

import json
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parents[1]


# What several tests import has no tests and no examples; to import it once more takes seconds.
collect_ignore = [str(path) for path in Path(__file__).parent.rglob("*.py") if not path.name.startswith("test_")]


# Long tests start first, so that no worker of pytest-xdist ends with one of them.
FIRST = ("slurm", "workflow", "slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: next((n for n, mark in enumerate(FIRST) if item.get_closest_marker(mark)), len(FIRST)))


# Files whose tests share one slow study: one worker runs all of a file, so that the study is made once. The mark xdist_group
# does nothing with pytest 9.2 (pytest-xdist, issue 1386).
ONE_WORKER = (
    "tests/cli/test_map_browser.py",
    "tests/cli/test_split.py",
    "tests/report/test_report.py",
    "tests/report/test_report_browser.py",
    "tests/statistics/test_ensembles.py",
    "tests/statistics/test_summaries.py",
    "tests/test_damages.py",
    "tests/workflow/test_emg.py",
    "tests/workflow/test_emg_informed.py",
    "tests/workflow/test_multiverse.py",
    "tests/workflow/test_plug_in_gait.py",
    "tests/workflow/test_recordings.py",
    "tests/workflow/test_reference_stage.py",
    "tests/workflow/test_slurm.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if file in ONE_WORKER else nodeid

    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def forked_snakemake():
    """Commands in this process fork Snakemake (loaded_snakemake.py); those in another process start it as users do."""
    import loaded_snakemake
    from limbtorque.cli import run_study

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_study, "subprocess", loaded_snakemake.FORKED)
        yield


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Folder of real recordings; tests that need it are skipped where it is missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real recordings: the folder {folder.parent.name}/{folder.name} beside the project is missing")
    return folder


@pytest.fixture(scope="module")
def chromium():
    pytest.importorskip("selenium")
    from in_chromium import start_chromium

    driver = start_chromium()
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    """The browser; at the end of a test nothing was fetched from elsewhere and nothing complained."""
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    yield chromium
    messages = [entry["message"] for entry in chromium.get_log("browser") if entry["level"] != "DEBUG"]
    assert messages == []
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    sent = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    assert {url for url in sent if not url.startswith(("file://", "data:", "blob:"))} == set()
