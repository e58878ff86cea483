"""Channels of electromyography whose muscle the muscle set lacks are refused before anything runs."""

import pytest

from limbtorque.errors import StudyError
from limbtorque.workflow.load_checked import checked_study
from staged_study import make_study

TRIAL = "S01_sagittal_fast"


def loaded(tmp_path, extra):
    return checked_study(make_study(tmp_path / "study", names=(TRIAL,), extra=extra))


def test_a_muscle_that_no_set_has_is_refused_with_the_sets_muscles(tmp_path):
    with pytest.raises(StudyError) as raised:
        loaded(tmp_path, "emg: {channels: {EMG1: BIClong, EMG2: [BICshort, BICshrt], EMG3: gastroc}}\n")
    message = str(raised.value)
    assert (
        "emg.channels: 'EMG2' is of 'BICshrt', which the muscle set does not have; did you mean 'BICshort'?" in message
    )
    assert "'EMG3' is of 'gastroc'" in message
    assert "expected TRIlong, TRIlat" in message
    assert "(set arm)" in message
    assert "muscles.enabled: false" in message
    assert "'EMG1'" not in message
    assert "of 'BICshort'," not in message


@pytest.mark.parametrize("more", ["muscles: {enabled: false}\n", "muscles: {sets: {arm: pairs}}\n"])
def test_the_set_in_use_counts_and_envelopes_alone_may_have_any_name(tmp_path, more):
    extra = f"emg: {{channels: {{EMG1: BIClong}}}}\n{more}"
    if "pairs" not in more:
        assert loaded(tmp_path, extra).trials
        return
    with pytest.raises(StudyError, match="set pairs"):
        loaded(tmp_path, extra)
