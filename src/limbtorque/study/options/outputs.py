"""Sections `tables`, `figures`, `report` and `run`: outputs and jobs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from limbtorque.study.options.base import Options, option


class Tables(Options):
    """Formats of the tables."""

    csv: bool = option(True, "Write CSV beside Parquet.")
    sto: bool = option(False, "Write OpenSim storage files (.sto) beside Parquet; text columns are omitted.")
    xlsx: bool = option(
        False,
        "Write results/summary.xlsx: a row for each trial, definitions of its columns, and the ledger; see "
        "docs/tables.md.",
    )


class Figures(Options):
    """Figures."""

    kinds: tuple[
        Literal["torques", "contributions", "kinematics", "power", "limb", "muscles", "emg", "cutoff"], ...
    ] = option(
        ("torques", "emg", "cutoff"),
        "Figures of each trial: 'torques', net torques and their terms; 'contributions', the same terms stacked; "
        "'kinematics'; 'power'; 'limb', the limb in the plane with the forces on it; 'muscles', forces with their"
        " possible range; 'emg', envelopes of electromyograms behind the activations, for trials with emg.channels; 'cutoff', the data from which the cut-off was chosen.",
    )
    cutoff: Literal["flagged", "always"] = option(
        "flagged",
        "The figure 'cutoff' of the trials with a flag that concerns the cut-off (noise_m, acceleration_lost_share, "
        "shortest_period_share), or of all trials.",
    )
    study: tuple[Literal["ensembles", "peak_terms", "flags"], ...] = option(
        ("ensembles", "peak_terms", "flags"),
        "Figures of the study, for each chain: 'ensembles', mean curves and spread by condition and side; "
        "'peak_terms', terms side by side at the peak of the mean torque; 'flags', a matrix of quality flags.",
    )
    width: Literal["one_column", "two_columns"] = option(
        "two_columns",
        "Width of figures: 85 or 180 mm, as journals print them; the figure of the limb is always 85 mm wide.",
    )
    formats: tuple[Literal["png", "pdf", "svg"], ...] = option(("png",), "File formats of each figure.")

    @field_validator("kinds", "study", "formats", mode="before", json_schema_input_type=str | tuple[str, ...])
    @classmethod
    def _one_entry(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


class Report(Options):
    """HTML report."""

    enabled: bool = option(True, "Make results/report: an index page, and a page for each trial.")


class Run(Options):
    """Division of the study into jobs."""

    max_trials_per_job: int = option(100, "Largest number of trials in one job; longer sessions are split.", "1", ge=1)
    max_failed_fraction: float = option(
        0.5, "Largest fraction of failed trials; above it the run ends with an error.", "1", ge=0.0, le=1.0
    )
