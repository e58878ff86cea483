"""A reach of the demo study in memory, analysed with other options."""

from dataclasses import replace
from pathlib import Path

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.simulation.demo import demo_trials
from limbtorque.study.settings import load_settings, override

SETTINGS = load_settings(Path(__file__).resolve().parents[1] / "config" / "config.yaml")
DEMO = replace(demo_trials()[1], gaps=())  # a fast reach of a right arm in the sagittal plane
EXACT = DEMO.recording(noise_m=0.0)
ARM = Limb("arm", side="right", body_mass_kg=72.0, marker_set="limb_markers")


def settings_with(settings=SETTINGS, **changes):
    """Settings with other options, each given as `section__option`."""
    return override(settings, {k.replace("__", "."): str(v) for k, v in changes.items()}, source="test")


def arm_motion(recording, *, limb=None, **changes):
    """Motion of the demo's right arm; of its limb and its settings something may be different."""
    return chain_motion(recording, replace(ARM, **limb or {}), settings_with(**changes))
