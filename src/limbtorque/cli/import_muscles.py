"""`limbtorque muscles import`: write a muscle set from an OpenSim model."""

from __future__ import annotations

import argparse
import multiprocessing
import shlex
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from limbtorque.errors import ModelError
from limbtorque.muscles.opensim_models.import_set import (
    ImportedMuscle,
    ImportedSet,
    ImportOptions,
    between,
    import_muscle_set,
)
from limbtorque.muscles.opensim_models.joints import JointChoice
from limbtorque.study.files import write_text, yaml_text

T = TypeVar("T")
HALF_TURN_DEG = 180.0


def import_model(options: argparse.Namespace) -> int:
    """Run `limbtorque muscles import`; returns the exit code.

    Raises
    ------
    ModelError
        The model cannot become a set, an option is not readable, or the file exists.
    """
    choice = JointChoice(
        _pairs("--coordinate", options.coordinate, "JOINT=NAME"),
        {joint: _range(joint, text) for joint, text in _pairs("--range", options.range, "JOINT=LOW:HIGH").items()},
    )
    held = {
        name: _number("--hold", name, text) for name, text in _pairs("--hold", options.hold, "NAME=DEGREES").items()
    }
    output = options.output or Path(f"{options.model.stem}_{options.side}.yaml")
    if output.exists():
        raise ModelError(f"{output}: exists, and is not overwritten; remove it, or choose another file (--output)")
    wanted = ImportOptions(options.side, options.chain, choice, held)
    imported = in_child(options.model, import_muscle_set, options.model, wanted)
    write_text(output, yaml_text(imported.content))
    print("\n".join(report(imported)))
    print(f"written: {output}")
    print(
        f"next: in a study's settings, muscles: sets: {{{options.chain}: {shlex.quote(str(output))}}}, a path in the study's folder"
    )
    return 0


def in_child(model: Path, work: Callable[..., T], *arguments: object) -> T:
    """Run a function on a model in a child process, because OpenSim can crash.

    Raises
    ------
    ModelError
        It crashed.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(work, *arguments).result()
        except BrokenProcessPool:
            raise ModelError(
                f"{model}: OpenSim crashed; open the model in OpenSim, correct its joints and paths, and save it"
            ) from None


def _pairs(option: str, given: Sequence[str], form: str) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in given)
    wrong = [text for text in given if not all(part.strip() for part in text.partition("="))]
    if wrong:
        raise ModelError(f"{option} {wrong[0]}: expected {form}")
    return {name.strip(): value.strip() for name, value in pairs.items()}


def _range(joint: str, text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    return _number("--range", joint, low), _number("--range", joint, high)


def _number(option: str, name: str, text: str) -> float:
    try:
        angle_deg = float(text)
    except ValueError:
        raise ModelError(f"{option} {name}: '{text}' is not a number of degrees") from None
    if not abs(angle_deg) <= HALF_TURN_DEG:
        raise ModelError(f"{option} {name}: {angle_deg:g} degrees, expected -180 to 180")
    return angle_deg


def report(imported: ImportedSet) -> Iterator[str]:
    """Printed lines: muscles with errors, the worst muscle, notes."""
    yield f"{'muscle':16} {'joint':9} {'rms mm':>7} {'max mm':>7}   remarks"
    for muscle in imported.muscles:
        for joint in muscle.fit.joints:
            rms, largest = 1e3 * muscle.fit.arm_rms_m[joint], 1e3 * muscle.fit.arm_max_m[joint]
            remarks = _remarks(muscle, joint)
            yield f"{muscle.name:16} {joint:9} {rms:7.2f} {largest:7.2f}   {'; '.join(remarks)}".rstrip()
    errors = [(rms, muscle.name, joint) for muscle in imported.muscles for joint, rms in muscle.fit.arm_rms_m.items()]
    middle = sorted(rms for rms, _, _ in errors)[len(errors) // 2]
    rms, name, joint = max(errors)
    yield (
        f"{len(imported.muscles)} muscles; error of the moment arms against the model over the sampled range: median "
        f"{1e3 * middle:.2f} mm rms, worst {1e3 * rms:.2f} mm, {name} at the {joint}"
    )
    other = [
        (max(map(abs, muscle.other_planes_m.values())), muscle.name)
        for muscle in imported.muscles
        if muscle.other_planes_m
    ]
    if other:
        yield (
            f"{len(other)} muscles also have moment arms about other coordinates, which a planar set leaves out, by up to {1e3 * max(other)[0]:.0f} mm "
            f"({max(other)[1]}); listed in the file (source: other_planes)"
        )
    yield from (f"note: {note}" for note in imported.notes)


def _remarks(muscle: ImportedMuscle, joint: str) -> list[str]:
    """Remarks on a muscle at a joint; at its first joint also on other planes."""
    remarks = [
        f"arm steps by {1e3 * broken.size_m:.0f} mm {between(broken)}: the range ends there"
        for broken in muscle.breaks
        if broken.joint == joint
    ]
    if muscle.jump and muscle.jump.joint == joint:
        remarks.append(f"length jumps by {1e3 * muscle.jump.size_m:.1f} mm {between(muscle.jump)}")
    if muscle.other_planes_m and joint == muscle.fit.joints[0]:
        name, arm_m = next(iter(muscle.other_planes_m.items()))
        remarks.append(f"{name} {1e3 * arm_m:+.0f} mm")
    return remarks
