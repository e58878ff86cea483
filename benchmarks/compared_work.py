"""Work that `two_versions.py` times: one row in a process of its own, with the package of one version.

python benchmarks/compared_work.py ROW TREE FOLDER

The version is a tree of its sources. It says `ready`, or `absent` and why, and then answers every line with one turn: processor time
in ms, time in s, largest memory in MB.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Work = Callable[[], object]
LIMB_STAGES = ("kinematics", "torques", "muscles")
SESSION_STAGES = (*LIMB_STAGES, "figures", "pages", "curves")
STUDY_STAGES = ("ensembles", "collect", "study_figures", "report")
N_FRAMES = 1000
PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
JOB = """
import importlib, sys
from pathlib import Path
from limbtorque.study.study import load_study
from limbtorque.workflow import keys
names, folder = sys.argv[1].split("+"), Path.cwd()
study = load_study(folder)
for name in names:
    module = importlib.import_module(f"limbtorque.workflow.stages.{name}")
    if name in sys.argv[2].split("+"):
        (session,) = study.batches
        module.run(folder=folder, session=session, key=keys.session_key(name, study, session))
    else:
        module.run(folder=folder)
"""


@dataclass(frozen=True)
class Place:
    """Tree of a version's sources, and a folder to work in."""

    tree: Path
    folder: Path

    def study(self, n_trials: int, n_sessions: int = 1, *, n_frames: int = N_FRAMES, figures: bool = True) -> Path:
        """Write a study with the version's own `synthetic.py` and `config.yaml`; with figures, all is as by default."""
        folder = self.folder / "study"
        module = importlib.import_module("synthetic")
        module.study(folder, n_trials=n_trials, n_sessions=n_sessions, n_frames=n_frames, figures=figures)
        if not figures:
            with (folder / "config" / "config.yaml").open("a", encoding="utf-8") as file:
                file.write("\nreport:\n  enabled: false\n")
        return folder

    def run(self, folder: Path, *words: str) -> None:
        """Run Python in a study, and wait for all that it starts."""
        done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr).strip()[-2000:])
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()

    def stages(self, folder: Path, *names: str) -> None:
        """Run stages of a study of one session in one process."""
        self.run(folder, "-c", JOB, "+".join(names), "+".join(SESSION_STAGES))


def trial() -> tuple[Any, Any, Any]:
    """Recording of an arm, its limb, and the settings of the demo."""
    from synthetic import ROOT, recording

    from limbtorque.motion.limb import Limb
    from limbtorque.study.settings import load_settings

    settings = load_settings(Path(ROOT / "config" / "config.yaml"))
    return recording(N_FRAMES), Limb("arm", side="right", body_mass_kg=72.0, marker_set="limb_markers"), settings


def analysed() -> Any:
    """Return the results of that trial in memory."""
    from limbtorque import analyse_recording

    return analyse_recording(*trial())


def motion(place: Place) -> Work:  # noqa: ARG001 - as all rows
    from limbtorque.analysis.chain_motion import chain_motion

    recording, limb, settings = trial()
    return lambda: chain_motion(recording, limb, settings)


def torques(place: Place) -> Work:  # noqa: ARG001
    from limbtorque.torques.joint_torques import joint_torques

    moved = analysed().motion
    return lambda: joint_torques(moved)


def muscles(place: Place) -> Work:  # noqa: ARG001
    from limbtorque.muscles.forces import muscle_forces
    from limbtorque.muscles.sets.muscle_set import load_muscle_set

    of, chosen = analysed(), load_muscle_set("arm")
    loads = {"body_mass_kg": 72.0, "reaction_n": of.torques.wrenches.reaction_n}
    return lambda: muscle_forces(of.motion, of.torques.terms.net, chosen, options=of.settings.muscles, **loads)


def tables(place: Place) -> Work:  # noqa: ARG001
    from limbtorque.motion.table import kinematics_table
    from limbtorque.muscles.force_table import muscle_table
    from limbtorque.torques.joint_torques import torque_table

    of = analysed()
    return lambda: (
        kinematics_table(of.motion),
        torque_table(of.motion, of.torques),
        muscle_table(of.motion, of.muscles, options=of.settings.muscles),
    )


def written(suffix: str) -> Callable[[Place], Work]:
    """Row that writes the three tables of a trial."""

    def row(place: Place) -> Work:
        from limbtorque.tables.files import write_table

        of = analysed()
        named = {"kinematics": of.kinematics_table, "torques": of.torque_table, "muscles": of.muscle_table}
        paths = {place.folder / f"{name}{suffix}": table for name, table in named.items()}
        return lambda: [write_table(table, path) for path, table in paths.items()]

    return row


def in_process(stage: str) -> Callable[[Place], Work]:
    """Row of a stage in a warm process, of a session of two trials."""

    def row(place: Place) -> Work:
        from limbtorque.study.study import load_study
        from limbtorque.workflow import keys

        folder = place.study(2)
        place.stages(folder, *LIMB_STAGES)
        study = load_study(folder)
        (session,) = study.batches
        module = importlib.import_module(f"limbtorque.workflow.stages.{stage}")
        key = keys.session_key(stage, study, session)
        return lambda: module.run(folder=folder, session=session, key=key)

    return row


DOWN = (0.0, -9.81)


def limb() -> tuple[Any, Any]:
    """Chain of three links and one state of it: angles, velocities, and accelerations or torques."""
    import numpy as np

    import limbtorque as lt

    chain = lt.Chain([0.3, 0.25, 0.08], [2.0, 1.2, 0.4], [0.13, 0.11, 0.04], [0.02, 0.008, 0.0008])
    return chain, np.random.default_rng(0).normal(size=(3, 3))


def one_frame_terms(place: Place) -> Work:  # noqa: ARG001
    import limbtorque as lt

    chain, state = limb()
    if hasattr(lt, "PreparedChain"):
        ready = lt.PreparedChain(chain, gravity_m_s2=DOWN)
        return lambda: ready.torque_terms(*state)
    frame = tuple(values[None] for values in state)
    return lambda: lt.torque_terms(chain, lt.Kinematics(*frame), gravity_m_s2=DOWN)


def one_frame_accelerations(place: Place) -> Work:  # noqa: ARG001
    import limbtorque as lt

    chain, (angle, velocity, torque) = limb()
    if hasattr(lt, "PreparedChain"):
        ready = lt.PreparedChain(chain, gravity_m_s2=DOWN)
        return lambda: ready.forward_dynamics(angle, velocity, torque)
    frame = lt.Kinematics(angle[None], velocity[None])
    return lambda: lt.forward_dynamics(chain, frame, torque[None], gravity_m_s2=DOWN)


def simulated(place: Place) -> Work:  # noqa: ARG001
    import numpy as np

    from limbtorque.simulation.forward import State, simulate

    time_s, (chain, (angle, velocity, _)) = np.linspace(0.0, 0.4, 81), limb()
    return lambda: simulate(chain, time_s, State(angle, velocity), None, gravity_m_s2=DOWN)


def simulated_by_muscles(place: Place) -> Work:  # noqa: ARG001
    import numpy as np

    import limbtorque as lt
    from limbtorque.simulation.forward import State, simulate
    from limbtorque.simulation.muscle_driven import Musculature, muscle_drive

    muscle_set, time_s = lt.load_muscle_set("pairs"), np.linspace(0.0, 0.4, 81)
    joints = muscle_set.joints[:2]
    driven = Musculature(muscle_set, joints, np.ones(2), np.array([-np.pi / 2.0, 0.0]))
    still = np.full(len(muscle_set.muscles), 0.03)
    chain = lt.Chain([0.31, 0.36], [2.1, 1.7], [0.135, 0.16], [0.0205, 0.021])
    bent = State(np.radians([-60.0, 75.0]), np.zeros(2))
    return lambda: simulate(chain, time_s, bent, muscle_drive(driven, still, activation=still), gravity_m_s2=DOWN)


def one_frame_optimization(place: Place) -> Work:  # noqa: ARG001
    import limbtorque as lt

    of, k = analysed(), N_FRAMES // 2
    arm = of.muscles.geometry.moment_arm_m[k]
    strength = of.muscles.muscle_set.max_force_n
    torque = (of.muscles.geometry.moment_arm_m[k] * of.muscles.force_n[k]).sum(axis=1)
    return lambda: lt.share_torques(arm[None], torque[None], strength)


def filtered(place: Place) -> Work:  # noqa: ARG001
    import numpy as np

    from limbtorque.signals.smoothers import Smoother, smooth_values

    values = np.random.default_rng(0).normal(size=(N_FRAMES, 40, 3)).cumsum(axis=0)
    smoother = Smoother()
    return lambda: smooth_values(values, rate_hz=100.0, cutoff_hz=6.0, smoother=smoother)


def reading(place: Place) -> Work:
    from synthetic import recording

    from limbtorque.recordings.c3d.read import read_c3d
    from limbtorque.recordings.c3d.write import write_c3d

    path = place.folder / "trial.c3d"
    write_c3d(recording(N_FRAMES), path)
    return lambda: read_c3d(path)


def check(place: Place) -> Work:
    folder = place.study(4)
    return lambda: place.run(folder, "-m", "limbtorque.cli.start", "check", str(folder))


def job(place: Place) -> Work:
    folder = place.study(4)
    return lambda: place.stages(folder, *LIMB_STAGES)


def whole(*, figures: bool) -> Callable[[Place], Work]:
    """Row of a study of two trials in two sessions, by Snakemake from nothing on two cores."""

    def row(place: Place) -> Work:
        import shutil

        folder = place.study(2, 2, n_frames=400, figures=figures)

        def work() -> None:
            for name in ("results", ".snakemake"):
                shutil.rmtree(folder / name, ignore_errors=True)
            words = ("-m", "snakemake", "-s", str(place.tree / "Snakefile"), "--directory", str(folder))
            place.run(folder, *words, "--cores", "2", "--quiet", "all")

        return work

    return row


def stage(*names: str) -> Callable[[Place], Work]:
    """Row of stages in a process of their own, of four trials whose recordings and results are not in memory.

    The rows of a version share a study, in which the stages before have been done.
    """

    def row(place: Place) -> Work:
        folder = place.folder / "study"
        if not folder.exists():
            place.study(4)

        def work() -> float:
            forget(folder)
            start = time.perf_counter()
            place.stages(folder, *names)
            return time.perf_counter() - start

        return work

    return row


def forget(folder: Path) -> None:
    """Ask the system to drop a study's files from the page cache.

    Python, its libraries and the package stay there, and so do the names of folders and files. A file system in memory, and a disk
    with a cache of its own, still answer at once.
    """
    for path in folder.rglob("*"):
        if path.is_file():
            number = os.open(path, os.O_RDONLY)
            try:
                os.fsync(number)  # what is not yet written cannot be dropped
                os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(number)


@dataclass(frozen=True)
class Row:
    """Work of a row, its description, and how often it is done in one turn; 0 for processes of their own."""

    prepare: Callable[[Place], Work]
    about: str
    times: int = 0


ROWS = {
    "motion": Row(motion, "motion of the chain, 1000 frames of an arm with 40 markers", 5),
    "torques": Row(torques, "torque terms of that trial", 20),
    "muscles": Row(muscles, "muscle forces of that trial", 5),
    "tables": Row(tables, "its three tables in memory", 10),
    "csv": Row(written(".csv"), "its three tables as CSV", 1),
    "parquet": Row(written(".parquet"), "its three tables as Parquet", 2),
    "figures": Row(in_process("figures"), "figures of a session of two such trials (PNG), as by default", 1),
    "pages": Row(in_process("pages"), "pages of that session", 2),
    "one frame, terms": Row(one_frame_terms, "torque terms of one frame, three links", 200),
    "one frame, optimization": Row(one_frame_optimization, "static optimization of one frame of the arm", 50),
    "one state, accelerations": Row(
        one_frame_accelerations, "accelerations of a state from its torques, three links", 200
    ),
    "simulation": Row(simulated, "forward simulation of three free links, 0.4 s", 1),
    "simulation, muscles": Row(simulated_by_muscles, "the same of two links, driven by the muscles of `pairs`", 1),
    "filter": Row(filtered, "dual-pass filter of an array, 1000 frames of 40 markers", 5),
    "reading": Row(reading, "reading the recording of that trial, C3D", 5),
    "check": Row(check, "`limbtorque check` of a study of four such trials"),
    "job": Row(job, "kinematics, torques and muscle forces of a session of four such trials, one process"),
    "study, no figures": Row(
        whole(figures=False), "Snakemake, two trials of 400 frames in two sessions; no figures and pages"
    ),
    "study": Row(whole(figures=True), "the same with all defaults"),
}
STAGES = {name: Row(stage(name), f"{name}, four trials of 1000 frames") for name in SESSION_STAGES}
STAGES["whole study"] = Row(stage(*STUDY_STAGES), "mean curves, tables, figures and first page of the study")


def used_s() -> float:
    """Processor time of this process and of all it has waited for, s."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    name, tree, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    row = STAGES[name.removeprefix("stage ")] if name.startswith("stage ") else ROWS[name]
    sys.path[:0] = [str(tree / "src"), str(tree / "benchmarks")]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the work prints is no answer
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # processes that outlive their parent are waited for here
    try:
        work = row.prepare(Place(tree, folder))
        if row.times:
            work()  # once before it is timed
    except (ImportError, AttributeError, TypeError, KeyError) as error:
        print(f"absent {type(error).__name__}: {error}".replace("\n", " "), file=answers)
        return
    print("ready", file=answers)
    for _ in sys.stdin:
        print(*turn(work, row.times), file=answers)


def turn(work: Work, times: int) -> tuple[float, float, float]:
    """Processor time in ms, time in s, and the largest memory of a process it started in MB."""
    import resource

    clock = time.process_time if times else used_s
    began, used = time.perf_counter(), clock()
    for _ in range(max(1, times)):
        cold_s = work()
    used, took_s = clock() - used, time.perf_counter() - began
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return 1e3 * used / max(1, times), cold_s if isinstance(cold_s, float) else took_s, peak_mb


if __name__ == "__main__":
    main()
