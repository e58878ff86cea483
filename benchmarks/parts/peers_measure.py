"""Run the same work with several programs: availability, agreement, times."""

from __future__ import annotations

import importlib
import importlib.metadata
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray

OURS = "limbtorque"
DISAGREES = "does not agree: "
SAMPLE_S = 0.01  # one time is taken over as many repetitions as last this long


@dataclass(frozen=True)
class Program:
    """Where a program comes from.

    Attributes
    ----------
    distribution : str
        What pip installs.
    module : str
        What Python imports.
    """

    distribution: str
    module: str


PROGRAMS = {
    OURS: Program("limbtorque", "limbtorque"),
    "Pinocchio": Program("pin", "pinocchio"),
    "MuJoCo": Program("mujoco", "mujoco"),
    "OpenSim": Program("opensim", "opensim"),
    "biorbd": Program("biorbd", "biorbd"),
    "SLSQP (SciPy)": Program("scipy", "scipy"),
    "quadprog": Program("quadprog", "quadprog"),
    "daqp": Program("daqp", "daqp"),
    "OSQP": Program("osqp", "osqp"),
    "Clarabel": Program("clarabel", "clarabel"),
    "py-c3d": Program("c3d", "c3d"),
    "ezc3d": Program("ezc3d", "ezc3d"),
    "kineticstoolkit": Program("kineticstoolkit", "kineticstoolkit"),
    "pyomeca": Program("pyomeca", "pyomeca"),
}


class DisagreementError(Exception):
    """Two programs do not give the same numbers."""


@dataclass(frozen=True)
class Way:
    """One way of doing the work.

    Attributes
    ----------
    program : str
        A name of `PROGRAMS`.
    how : str
        Which of the program's ways.
    prepare : callable
        Imports the program, makes its model of the work, and returns what is timed.
    result : callable
        Takes what the timed function returns to the numbers that are compared; not timed.
    """

    program: str
    how: str
    prepare: Callable[[], Callable[[], Any]]
    result: Callable[[Any], FloatArray] = np.asarray


@dataclass(frozen=True)
class Work:
    """What several programs do with the same inputs.

    Attributes
    ----------
    title, note : str
        Heading, and what one has to know of the inputs.
    unit : str
        Of the times.
    per_second : float
        How many of that unit a second is for the whole work.
    agree : callable
        Says how well the numbers of a way fit ours, or raises `DisagreementError`. Takes ours first.
    ways : sequence of Way
        Ours first.
    """

    title: str
    note: str
    unit: str
    per_second: float
    agree: Callable[[FloatArray, FloatArray], str]
    ways: Sequence[Way]


@dataclass(frozen=True)
class Row:
    """What was found of one way; without times it was not measured, and `why` says why.

    Attributes
    ----------
    program, version, how : str
        Which.
    agreement : str
        How well its numbers fit ours.
    times : tuple of float
        In the unit of the work.
    why : str
        Why there are no times.
    """

    program: str
    version: str
    how: str
    agreement: str = ""
    times: tuple[float, ...] = ()
    why: str = ""

    @property
    def median(self) -> float:
        """Median of the times; NaN without."""
        return float(np.median(self.times)) if self.times else math.nan

    @property
    def quartiles(self) -> tuple[float, float]:
        """Lower and upper quartile of the times; NaN without."""
        if not self.times:
            return math.nan, math.nan
        low, high = np.quantile(self.times, [0.25, 0.75])
        return float(low), float(high)

    @property
    def disagrees(self) -> bool:
        """Whether it was not timed because its numbers are others."""
        return self.why.startswith(DISAGREES)


@dataclass(frozen=True)
class Measured:
    """A work and what was found, ours first."""

    title: str
    note: str
    unit: str
    rows: tuple[Row, ...]


def missing(program: str, reasons: Mapping[str, str]) -> str:
    """Why a program is not there, or nothing."""
    if program in reasons:
        return reasons[program]
    try:
        importlib.import_module(PROGRAMS[program].module)
    except Exception as error:  # whatever its import does: it goes into the table
        return f"{type(error).__name__}: {error}"
    return ""


def version(program: str) -> str:
    """Installed version, or nothing."""
    try:
        return importlib.metadata.version(PROGRAMS[program].distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def measure(work: Work, *, runs: int, reasons: Mapping[str, str]) -> Measured:
    """Check that all ways agree, then time them in turns.

    Parameters
    ----------
    work : Work
        What is done.
    runs : int
        Times taken of each way.
    reasons : mapping of str to str
        Programs that could not be installed, and why.

    Returns
    -------
    Measured
        A row for every way, also for those that were not measured.
    """
    rows: list[Row] = []
    jobs: dict[int, Callable[[], Any]] = {}
    ours: FloatArray | None = None
    for k, way in enumerate(work.ways):
        row = Row(way.program, version(way.program), way.how)
        why = missing(way.program, reasons)
        agreement = ""
        if not why:
            try:
                job = way.prepare()
                found = way.result(job())
                agreement = "" if ours is None else work.agree(ours, found)
                ours = found if ours is None else ours
                jobs[k] = job
            except DisagreementError as error:
                why = f"{DISAGREES}{error}"
            except Exception as error:
                if way.program == OURS:
                    raise
                why = f"{type(error).__name__}: {error}"
        rows.append(Row(row.program, row.version, row.how, agreement, (), " ".join(why.split())))
    repeats = {k: max(1, math.ceil(SAMPLE_S / _seconds(job, 1))) for k, job in jobs.items()}
    times: dict[int, list[float]] = {k: [] for k in jobs}
    for _ in range(runs):  # in turns, so that a slow moment of the machine meets all of them
        for k, job in jobs.items():
            times[k].append(work.per_second * _seconds(job, repeats[k]))
    rows = [
        Row(row.program, row.version, row.how, row.agreement, tuple(times.get(k, ())), row.why)
        for k, row in enumerate(rows)
    ]
    return Measured(work.title, work.note, work.unit, tuple(rows))


def _seconds(job: Callable[[], Any], repeats: int) -> float:
    """Time of one call, of several in a row, s."""
    start = time.perf_counter()
    for _ in range(repeats):
        job()
    return (time.perf_counter() - start) / repeats
