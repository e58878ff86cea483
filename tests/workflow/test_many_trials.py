"""Work at the start of a study with many trials: what they share is found once."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.analysis.reading import TrialReader
from limbtorque.analysis.study import KEPT_BYTES
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study import settings as study_settings
from limbtorque.study.options.reading import Reading
from limbtorque.study.study import load_study
from limbtorque.workflow import keys, results_folder
from limbtorque.workflow.layout import RECORD, session_files, session_folder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def demo():
    return load_study(ROOT)


def test_keys_of_many_trials_hash_the_settings_once(demo, monkeypatch):
    hashed = []
    whole = study_settings.settings_hash
    monkeypatch.setattr(keys.study_settings, "settings_hash", lambda *what: hashed.append(what) or whole(*what))
    settings = demo.settings.model_copy()  # of which nothing is known yet
    trial = replace(demo.trials[0], settings=settings)
    trials = tuple(replace(trial, name=f"t{k}") for k in range(300))
    study = replace(demo, settings=settings, trials=trials, batches={"s": trials})
    found = [keys.session_key(stage, study, "s") for stage in ("kinematics", "torques", "muscles")]
    assert len(hashed) == 3
    assert keys.session_key("torques", replace(study, batches={"s": trials[:-1]}), "s") != found[1]


def test_keys_follow_a_changed_setting(demo):
    other = demo.settings.model_copy(update={"gravity_m_s2": 1.62})
    for sections in (("gravity_m_s2",), ("gravity_m_s2", "filter")):
        for settings in (demo.settings, other, demo.settings):
            assert keys.settings_hash(settings, sections) == study_settings.settings_hash(settings, sections)
    assert keys.settings_hash(other, ("gravity_m_s2",)) != keys.settings_hash(demo.settings, ("gravity_m_s2",))
    assert keys.settings_hash(other, ("filter",)) == keys.settings_hash(demo.settings, ("filter",))


def test_names_of_made_files_are_those_of_the_sessions(demo):
    made = results_folder.made_names(demo)
    for stage in ("kinematics", "figures", "pages", "curves"):
        for session in demo.batches:
            folder = session_folder(stage, session)
            files = {*session_files(stage, demo, session), folder / RECORD}
            assert {folder / name for name in made[folder]} == files


def test_check_reads_a_small_recording_once(monkeypatch):
    read = []

    def recording(_, path, **options):
        read.append((path, options["time_limit_s"]))
        frames = 10 if path.name == "small.c3d" else KEPT_BYTES // 24 + 1
        return Recording(path.name, "", "", ("A",), np.broadcast_to(np.zeros((1, 1, 3)), (frames, 1, 3)), 100.0, 1)

    monkeypatch.setattr(GuardedReader, "read", recording)
    small, large = Path("small.c3d"), Path("large.c3d")

    def trial(path):
        settings = SimpleNamespace(reading=Reading())
        return SimpleNamespace(file=path, forces_file=None, static_file=None, settings=settings)

    with GuardedReader() as guarded:
        reader = TrialReader(guarded, keep_bytes=KEPT_BYTES)
        first = reader.recording(trial(small))
        assert reader.recording(trial(small)) is first
        for path in (large, large):
            reader.recording(trial(path))
    assert [path for path, _ in read] == [small, large, large]
