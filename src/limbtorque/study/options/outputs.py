"""Options of the sections `tables`, `figures`, `report` and `run`: what is written, and in which jobs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from limbtorque.study.options.base import Options, option


class Tables(Options):
    """Formats of the tables."""

    csv: bool = option(True, "Write CSV beside Parquet.")
    sto: bool = option(False, "Write OpenSim storage files (.sto) beside Parquet; columns of text are left out.")
    xlsx: bool = option(
        False,
        "Write results/summary.xlsx: a row for every trial, what its columns are, and the ledger; docs/tables.md.",
    )


class Figures(Options):
    """Figures."""

    kinds: tuple[Literal["torques", "contributions", "kinematics", "power", "limb", "muscles", "cutoff"], ...] = option(
        ("torques", "cutoff"),
        "What is drawn of each trial: 'torques', net torques and their terms; 'contributions', the same terms piled up; 'kinematics'; 'power'; "
        "'limb', the limb in the plane with the forces on it; 'muscles', forces with their possible range; 'cutoff', what the cut-off was chosen from.",
    )
    study: tuple[Literal["ensembles", "peak_terms", "flags"], ...] = option(
        ("ensembles", "peak_terms", "flags"),
        "What is drawn of the study, for each chain: 'ensembles', mean curves and spread by condition and side; 'peak_terms', terms side by side at "
        "the peak of the mean torque; 'flags', a matrix of quality flags.",
    )
    width: Literal["one_column", "two_columns"] = option(
        "two_columns", "Width of figures: 85 or 180 mm, as journals print them; that of the limb is 85 mm wide."
    )
    formats: tuple[Literal["png", "pdf", "svg"], ...] = option(("png",), "Formats of each figure.")

    @field_validator("kinds", "study", "formats", mode="before", json_schema_input_type=str | tuple[str, ...])
    @classmethod
    def _one_entry(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


class Report(Options):
    """Pages that open in a browser."""

    enabled: bool = option(True, "Make results/report: a first page, and a page for each trial.")


class Run(Options):
    """How the work is cut up."""

    max_trials_per_job: int = option(100, "Trials in one job at the most; longer sessions are split.", "1", ge=1)
    max_failed_fraction: float = option(
        0.5, "The run ends with an error where a larger share of the trials failed.", "1", ge=0.0, le=1.0
    )
