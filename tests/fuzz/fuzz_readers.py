"""Fuzz the readers and the study's tables and settings, guided by coverage.

    python tests/fuzz/fuzz_readers.py --target c3d --seconds 300
    python tests/fuzz/fuzz_readers.py --seconds 60            # every target, one after the other
    python tests/fuzz/fuzz_readers.py --target trc --replay found/trc-crash-...

A finding is any exception but the package's own, a numpy warning, an inconsistent recording, more than 512 MB for one
input, or more than ten seconds. --keep names the folder for such inputs. Every target runs in a process of its own,
without the sandbox of the pipeline. --runs and --seed make a run repeatable.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
MEMORY = 512 * 2**20
LONGEST_INPUT = 20_000
LONGEST_S = 10
TEXT = {"trc": "a.trc", "sto": "a.sto", "qualisys": "a.tsv", "vicon": "n.csv", "csv": "p.csv"}
MORE_SEEDS = {"sto": ("v.sto", "f.mot")}
STUDY = {"trials": "trials.csv", "subjects": "subjects.csv", "settings": "config.yaml"}
TARGETS = ("c3d", *TEXT, "forces", *STUDY)
WORDS = (
    *("PathFileType", "DataRate", "NumFrames", "NumMarkers", "Units", "Frame#", "Time", "time", "endheader", "nRows=", "nColumns="),
    *("DataType=Vec3", "inDegrees=yes", "Units=mm", "S.I. units", "_tx", "_ty", "_tz", "ground_force_1_vx", "f1_1", "p1_1", "m1_1"),
    *("NO_OF_FRAMES", "NO_OF_MARKERS", "FREQUENCY", "MARKER_NAMES", "EVENT", "DATA_INCLUDED", "Trajectories", "Devices", "Events"),
    *("Sub Frame", "frame", "time_s", "_x_mm", "_y_mm", "_z_mm", "[0]", "[3]", "nan", "inf", "1e308", "-1e308", "1e-320", "9" * 30),
    *("POINT", "ANALOG", "FORCE_PLATFORM", "EVENT_CONTEXT", "TRIAL", "LABELS", "LABELS2", "UNITS", "SCALE", "OFFSET", "GEN_SCALE", "FORMAT"),
    *("UNSIGNED", "ACTUAL_START_FIELD", "LONG_FRAMES", "CORNERS", "ORIGIN", "CHANNEL", "TYPE", "USED", "CAL_MATRIX", "ZERO", "TIMES"),
    *("filter.cutoff_hz", "plane.kind", "marker_sets:", "loads:", "chains:", "muscles:", "null", "!!python/object", "&a", "*a", "<<: *a"),
)  # fmt: skip


def seeds(target: str, folder: Path) -> list[bytes]:
    """Small good inputs of a target."""
    from damage import c3d_bases, text_bases

    if target in STUDY:
        found = [(ROOT / "config" / STUDY[target]).read_bytes()]
        more = TESTS / "recordings_study" / "config" / STUDY[target]
        return [*found, more.read_bytes()] if target == "settings" else found
    if target == "c3d":
        return list(c3d_bases(folder).values())
    bases = text_bases(folder)
    if target == "forces":
        return [
            bases["f.mot"],
            bases["f.mot"].replace(b"\t700.0", b"\t70.0"),
            bases["f.mot"].replace(b"\n0.5", b"\n0.0"),
        ]
    return [bases[name] for name in (TEXT[target], *MORE_SEEDS.get(target, ()))]


def harness(target: str, folder: Path) -> Callable[[bytes], None]:
    """Function that gives one input to a target; what it raises is a finding."""
    if target in STUDY:
        return _study_harness(target, folder)
    if target == "forces":
        return _forces_harness(folder)
    from damage import check_sense
    from limbtorque.cli.inspect import describe
    from limbtorque.errors import LimbtorqueError
    from limbtorque.recordings.c3d import read as c3d
    from limbtorque.recordings.options import ReadOptions
    from limbtorque.recordings.plausibility import check_plausible
    from limbtorque.recordings.text import opensim_storage as storage
    from limbtorque.recordings.text import plain_csv, qualisys, trc, vicon

    options = ReadOptions(length_unit=None if target in ("c3d", "trc", "vicon") else "mm")
    read = {
        "c3d": c3d.read_c3d,
        "trc": trc.read_trc,
        "sto": storage.read_storage,
        "qualisys": qualisys.read_qualisys,
        "vicon": vicon.read_vicon,
        "csv": plain_csv.read_csv,
    }[target]
    path = folder / TEXT.get(target, "a.c3d")

    def one(content: bytes) -> None:
        path.write_bytes(content)
        try:
            recording = read(path, options)
            check_plausible(recording)
        except LimbtorqueError as error:
            if not str(error).startswith(path.name):
                raise AssertionError("the message does not name the file") from error
            return
        check_sense(recording, max(len(content), 1000))
        describe(recording)

    return one


def _forces_harness(folder: Path) -> Callable[[bytes], None]:
    from damage import check_sense
    from limbtorque.cli.inspect import describe
    from limbtorque.errors import LimbtorqueError
    from limbtorque.recordings.options import ReadOptions
    from limbtorque.recordings.read import read_with_forces
    from text_files import write_trc

    markers, path = write_trc(folder / "a.trc", start_s=0.5), folder / "a.mot"

    def one(content: bytes) -> None:
        path.write_bytes(content)
        try:
            recording = read_with_forces(markers, path, ReadOptions(forces_length_unit="m"))
        except LimbtorqueError as error:
            if path.name not in str(error):
                raise AssertionError("the message does not name the file") from error
            return
        check_sense(recording, 10_000)
        if any(
            len(plate.force_n) != recording.n_frames * round(plate.rate_hz / 100.0) for plate in recording.force_plates
        ):
            raise AssertionError("not the samples of the frames")
        describe(recording)

    return one


def _study_harness(target: str, folder: Path) -> Callable[[bytes], None]:
    import numpy as np

    from c3d_files import raw_c3d
    from limbtorque.errors import SettingsError, StudyError
    from limbtorque.study.study import load_study

    (folder / "config").mkdir(exist_ok=True)
    for name in STUDY.values():
        (folder / "config" / name).write_bytes((ROOT / "config" / name).read_bytes())
    for row in (ROOT / "config" / "trials.csv").read_text(encoding="utf-8").splitlines()[1:]:
        file = folder / next(cell for cell in row.split(",") if cell.endswith(".c3d"))
        file.parent.mkdir(parents=True, exist_ok=True)
        raw_c3d(file, np.ones((2, 1, 3)))
    path = folder / "config" / STUDY[target]

    def one(content: bytes) -> None:
        path.write_bytes(content)
        with contextlib.suppress(StudyError, SettingsError):
            load_study(folder)

    return one


def _allocate(content: bytes) -> None:
    """The defect of --break: memory that no input of its size needs."""
    if content:
        bytearray(2 * MEMORY)


def fuzz(target: str, folder: Path, arguments: list[str]) -> None:
    """Fuzz in this process, which ends with it."""
    import atheris

    sys.path.insert(0, str(TESTS))
    with atheris.instrument_imports(include=["limbtorque"]):
        one = _allocate if target == "broken" else harness(target, folder)
    warnings.simplefilter("error")
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, hard))
    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def run(
    target: str,
    *,
    seconds: int | None,
    runs: int | None,
    seed: int,
    keep: Path,
    replay: Path | None,
    broken: bool = False,
) -> int:
    """Fuzz a target in a process of its own; its status, 0 where nothing was found."""
    keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for k, content in enumerate(seeds(target, folder)):
            (corpus / f"seed{k}").write_bytes(content)
        (folder / "words").write_text("".join(f'"{word}"\n' for word in WORDS), encoding="ascii")
        arguments = [f"-seed={seed}", f"-max_len={LONGEST_INPUT}", f"-timeout={LONGEST_S}", f"-dict={folder / 'words'}"]
        arguments += [f"-artifact_prefix={keep.resolve() / target}-", "-print_final_stats=1"]
        arguments += [f"-max_total_time={seconds}"] if seconds else []
        arguments += [f"-runs={runs}"] if runs else []
        arguments += [str(replay.resolve())] if replay else [str(corpus)]
        command = [sys.executable, __file__, "--child", "broken" if broken else target, str(folder), *arguments]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
    said = done.stdout + done.stderr
    counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
    print(
        f"{target}: {counted[1] if counted else '?'} executions, {'nothing found' if not done.returncode else 'FOUND:'}"
    )
    if done.returncode:
        print(_essence(said))
    sys.stdout.flush()
    return done.returncode


def _essence(said: str) -> str:
    """What libFuzzer and Python say of a finding, without the progress."""
    dull = re.compile(r"INFO:|WARNING: Failed|#\d+\s|stat::|Dictionary:")
    return "\n".join([line for line in said.splitlines() if not dull.match(line)][-80:])


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=TARGETS, action="append", help="what to fuzz (default: everything)")
    parser.add_argument("--seconds", type=int, help="how long for each target")
    parser.add_argument("--runs", type=int, help="how many inputs for each target")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz_findings"), help="folder for inputs that found something"
    )
    parser.add_argument("--break", dest="broken", action="store_true", help="a defect in place of the target")
    parser.add_argument("--replay", type=Path, help="one input, instead of fuzzing; needs --target")
    options = parser.parse_args()
    if not (options.seconds or options.runs or options.replay):
        parser.error("say how long: --seconds or --runs")
    if options.replay and len(options.target or ()) != 1:
        parser.error("--replay needs one --target")
    sys.path.insert(0, str(TESTS))
    more = {name: getattr(options, name) for name in ("seconds", "runs", "seed", "keep", "replay", "broken")}
    found = [run(target, **more) for target in options.target or TARGETS]
    return int(any(found))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        fuzz(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        sys.exit(main())
