"""Results of a finished run, read as tables of pandas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from limbtorque import __version__
from limbtorque.errors import LimbtorqueError, did_you_mean
from limbtorque.tables.files import BANDS, SPACE, read_rows, read_table, unquoted

if TYPE_CHECKING:
    import xarray

STAGES = ("kinematics", "torques", "muscles")
OF_TRIALS = ("subject", "session", "condition", "chain", "side")  # coordinates of the trials of curves
TEXT = ("session", "subject", "condition", "trial", "file")  # names, which may look like numbers


@dataclass(frozen=True)
class Results:
    """Tables of a finished run; each is read when it is asked for.

    Attributes
    ----------
    folder : Path
        The folder ``results``.

    Examples
    --------
    ::

        results = lt.open_results("results")
        peaks = results.table("results")
        knees = results.frames("torques", columns=["knee_torque_nm"])
    """

    folder: Path

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables of the study."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.csv")))

    @cached_property
    def trials(self) -> tuple[str, ...]:
        """Names of all trials, in the order of the study."""
        return tuple(self.table("ledger")["trial"])

    def table(self, name: str) -> pd.DataFrame:
        """Read a table of the study, such as ``"results"``, ``"summary"`` or ``"ledger"``.

        Parameters
        ----------
        name : str
            Its file's name without ``.csv``.

        Returns
        -------
        pandas.DataFrame
            A row as in the file; ``attrs["units"]`` and ``attrs["signs"]`` have unit and sign of each column.

        Raises
        ------
        LimbtorqueError
            There is no such table.
        """
        if name not in self.tables:
            raise LimbtorqueError(
                f"{self.folder} has no table {name!r}{did_you_mean(name, self.tables)}; it has {', '.join(self.tables)}"
            )
        frame = pd.read_csv(self.folder / f"{name}.csv", dtype=dict.fromkeys(TEXT, str), keep_default_na=True)
        for column in (column for column in frame if frame[column].dtype == object):
            frame[column] = frame[column].fillna("").map(unquoted)
        return self._described(frame, name)

    def frames(
        self, stage: str, *, trials: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Read the tables of a stage, with a row for each frame, of several trials as one.

        Parameters
        ----------
        stage : {"kinematics", "torques", "muscles"}
            The stage. With the torques come their bands and moments in space, where the run wrote them.
        trials : sequence of str, optional
            By default all.
        columns : sequence of str, optional
            Columns to read, beside ``trial``, ``frame`` and ``time_s``; by default all.

        Returns
        -------
        pandas.DataFrame
            The trials below each other; a trial that failed has no rows. Counter-clockwise is positive, as in the files.

        Raises
        ------
        LimbtorqueError
            No such stage, trial or column, or a table that is missing.
        """
        if stage not in STAGES:
            raise LimbtorqueError(f"stage is {stage!r}, expected {', '.join(STAGES)}")
        read = [self._frames_of(stage, trial, columns) for trial in (self.trials if trials is None else trials)]
        frame = pd.concat(read, ignore_index=True) if read else pd.DataFrame(columns=["trial", "frame", "time_s"])
        lacking = [name for name in columns or () if name not in frame]
        if lacking and len(frame.columns):
            known = self._dictionary.get(stage, {})
            raise LimbtorqueError(f"{stage} has no column {lacking[0]!r}{did_you_mean(lacking[0], known)}")
        return self._described(frame, stage)

    def curves(self, *, quantities: Sequence[str] | None = None) -> xarray.DataArray:
        """Read the curves of all trials over 0 to 100 % as one array of xarray.

        Parameters
        ----------
        quantities : sequence of str, optional
            Such as ``"knee_torque_nm"``; by default all.

        Returns
        -------
        xarray.DataArray
            Dimensions ``trial``, ``quantity`` and ``percent``. Trials have the coordinates ``subject``, ``session``,
            ``condition``, ``chain`` and ``side``, quantities ``unit`` and ``sign``. NaN where not known; trials without
            curves are left out.

        Raises
        ------
        LimbtorqueError
            The package xarray is not installed, the run wrote no curves, or they have no such quantity.

        Examples
        --------
        ::

            knees = results.curves(quantities=["knee_torque_nm"])
            means = knees.groupby("subject").mean("trial")  # (subject, quantity, percent)
        """
        try:
            import xarray  # an extra
        except ImportError as error:
            raise LimbtorqueError('curves needs xarray: pip install "limbtorque[xarray]"') from error
        files = sorted(self.folder.glob("curves/*/curves.parquet"))
        if not files:
            raise LimbtorqueError(f"{self.folder} has no curves; set ensembles.enabled: true and run the study again")
        known = self._dictionary.get("curves.quantity", {})
        names = list(known if quantities is None else quantities)
        if lacking := [name for name in names if name not in known]:
            raise LimbtorqueError(f"there are no curves of {lacking[0]!r}{did_you_mean(lacking[0], known)}")
        rows = pa.concat_tables([_curves_of(path, names) for path in files]).to_pandas()
        percents, points = np.unique(rows["percent"], return_inverse=True)
        there = set(rows["trial"])
        trials = self.table("ledger").set_index("trial").loc[[trial for trial in self.trials if trial in there]]
        places = [
            pd.Index(labels).get_indexer(rows[of]) for of, labels in (("trial", trials.index), ("quantity", names))
        ]
        values = np.full((len(trials), len(names), len(percents)), np.nan)
        values[(*places, points)] = rows["value"]
        about = {name: ("trial", trials[name].to_list()) for name in OF_TRIALS}
        about |= {what: ("quantity", [known[name][k] for name in names]) for k, what in enumerate(("unit", "sign"))}
        coordinates = {"trial": trials.index.to_list(), "quantity": names, "percent": percents, **about}
        return xarray.DataArray(values, coordinates, ("trial", "quantity", "percent"), name="curves")

    def _frames_of(self, stage: str, trial: str, columns: Sequence[str] | None) -> pd.DataFrame:
        """Table of one trial, with those beside it."""
        if trial not in self.trials:
            raise LimbtorqueError(f"the run has no trial {trial!r}{did_you_mean(trial, self.trials)}")
        path = next(self.folder.glob(f"{stage}/*/{trial}.parquet"), None)
        if path is None:
            raise LimbtorqueError(f"{self.folder / stage} has no table of trial {trial!r}; run the study again")
        asked = None if columns is None else {"frame", "time_s", *columns}
        wanted = None if asked is None else asked.__contains__
        frame: pd.DataFrame = read_table(path, columns=wanted)[0].to_pandas()
        for added in sorted(path.parent.glob(f"{trial}+*.parquet")):
            more = read_table(added, columns=wanted)[0].to_pandas()
            frame = pd.concat([frame, more.drop(columns=["frame", "time_s"])], axis=1)
        frame.insert(0, "trial", trial)
        return frame

    @cached_property
    def _dictionary(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Unit and sign by table and column."""
        found: dict[str, dict[str, tuple[str, str]]] = {}
        for row in read_rows(self.folder / "data_dictionary.csv"):
            found.setdefault(row["table"], {})[row["column"]] = row["unit"], row["sign"]
        return found

    def _described(self, frame: pd.DataFrame, table: str) -> pd.DataFrame:
        """Table with unit and sign of its columns as attributes."""
        known = {
            **self._dictionary.get(f"{table}{BANDS}", {}),
            **self._dictionary.get(f"{table}{SPACE}", {}),
            **self._dictionary.get(table, {}),
        }
        about = {str(name): known[str(name)] for name in frame if str(name) in known}
        frame.attrs["units"] = {name: unit for name, (unit, _) in about.items()}
        frame.attrs["signs"] = {name: sign for name, (_, sign) in about.items()}
        return frame


def _curves_of(path: Path, quantities: Sequence[str]) -> pa.Table:
    """Curves of a session, of these quantities."""
    with pyarrow.parquet.ParquetFile(path, read_dictionary=["trial", "quantity"]) as file:
        rows = file.read(columns=["trial", "quantity", "percent", "value"])
    return rows.filter(pyarrow.compute.is_in(rows["quantity"], pa.array(quantities)))


def open_results(folder: Path | str) -> Results:
    """Open the results of a finished run.

    Parameters
    ----------
    folder : Path or str
        The folder ``results``, or the study it is in.

    Returns
    -------
    Results
        Tables by name, and frames of all trials.

    Raises
    ------
    LimbtorqueError
        There are no results, the run is not finished, or another version of the program wrote them.
    """
    given = Path(folder)
    place = given if (given / "ledger.csv").is_file() or not (given / "results").is_dir() else given / "results"
    if not place.is_dir():
        raise LimbtorqueError(f"{given} does not exist; give the folder 'results' of a finished run, or its study")
    lacking = [
        name for name in ("provenance.json", "ledger.csv", "data_dictionary.csv") if not (place / name).is_file()
    ]
    if lacking:
        raise LimbtorqueError(f"{place} has no {lacking[0]}: the run is not finished; run the study again")
    program = json.loads((place / "provenance.json").read_text(encoding="utf-8")).get("program", {})
    if program.get("version") != __version__:
        raise LimbtorqueError(
            f"{place} was written by version {program.get('version')}, this is {__version__}; run the study again, or use that version"
        )
    return Results(place)
