"""The file of frozen contrasts, edited by hand."""

import datetime

from limbtorque.study.settings import make_settings
from limbtorque.workflow.frozen import FROZEN, declared_as, freeze_contrasts

KNEE = {"statistic": "max_nm_kg", "joint": "knee"}


def settings(*names):
    of_each = {"chain": "leg", "conditions": ["a", "b"], "outcomes": [KNEE]}
    return make_settings({"contrasts": {"declared": [{"name": name, **of_each} for name in names]}})


def test_a_file_whose_last_newline_was_lost_stays_readable(tmp_path):
    (tmp_path / "config").mkdir()
    now = datetime.datetime(2026, 1, 1)
    freeze_contrasts(settings("x"), tmp_path, now=now)
    file = tmp_path / FROZEN
    file.write_text(file.read_text(encoding="utf-8").rstrip(), encoding="utf-8")
    freeze_contrasts(settings("x", "y"), tmp_path, now=now)
    assert declared_as(settings("x", "y"), tmp_path) == dict.fromkeys("xy", "frozen 2026-01-01")
