"""Sections `torques`, `ensembles`, `tables`, `figures`, `report`, `run`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import PositiveInt, field_validator, model_validator

from limbtorque.study.options.base import ONE_OR_MORE, Options, option

Convention = Literal["segment_space", "torque_equation", "motion_equation", "interaction", "motion_dependent"]
More = Literal[Convention, "power", "induced_accelerations"]
Drawn = Literal["torques", "kinematics", "power", "limb", "muscles", "emg"]
TrialFigure = Literal[Drawn, "cutoff", "flagged_cutoff"]
StudyFigure = Literal["ensembles", "mean_terms", "contrasts"]


class TorqueColumns(Options):
    """Additional columns in the torque tables."""

    columns: tuple[More, ...] = ()
    """Further columns: 'power', the power of every term and the energy of every segment; 'induced_accelerations', those
    of joints and endpoint due to each torque, gravity, velocity, the base and the load; other groupings of the torque
    terms: 'segment_space', 'torque_equation', 'motion_equation', 'interaction', 'motion_dependent' (docs/theory.md)."""
    bands: bool = False
    """Write a table of bands beside each torque table: standard deviation and 95 % limits of every term, the part of each
    source of error in the net torques, and standard deviations of the motion (section uncertainty). The torque table
    itself has the limits of the net torques."""
    in_space: bool = False
    """Write a table of net moments in space beside each torque table: about the plane's normal, about the joint's own flexion
    axis, of abduction and of rotation; and compare the plane with that axis (docs/plane.md)."""

    @field_validator("columns", mode="before", json_schema_input_type=str | tuple[str, ...])
    @classmethod
    def _one_kind(cls, value: Any) -> Any:
        if isinstance(value, list):  # each once; what is not a name is for the next check
            return tuple(item for k, item in enumerate(value) if item not in value[:k])
        return (value,) if isinstance(value, str) else value

    @property
    def conventions(self) -> tuple[Convention, ...]:
        """Groupings of the terms, in their given order."""
        return tuple(kind for kind in self.columns if kind not in ("power", "induced_accelerations"))  # type: ignore[misc]


class Ensembles(Options):
    """Curves over 0 to 100 % of a movement or cycle, and means (docs/tables.md)."""

    enabled: bool = option(True, "Write results/curves, results/ensembles.csv and results/windows.csv.")
    window: Literal["movement", "events", "cycles", "trial"] = "movement"
    """Definition of 0 to 100 %: 'movement', from where the endpoint's speed in the plane first exceeds a fraction of
    its peak to where it last falls below it; 'events', from one event of the recording to another; 'cycles', from one
    turning point of the endpoint's movement back and forth to the next of the same kind (cycle_start); 'trial', all
    frames except those at the ends that the summary omits."""
    onset_share: float = option(0.05, unit="1", gt=0.0, lt=1.0)
    """Fraction of the peak speed at which a movement begins and ends."""
    max_rest_s: float = option(0.3, unit="s", gt=0.0)
    """Longest time that the endpoint's speed may stay below onset_share within one movement. Longer rests indicate
    several movements, or the stance phases of walking: such a trial has no window, with a note."""
    start_event: str = ""
    """Event at 0 %, named as `limbtorque inspect` shows it: 'Foot Strike Left', or 'Foot Strike' for all except the
    other side's; {side} is replaced by right or left, the trial's side."""
    end_event: str = ""
    """Event at 100 %: the next one after the start; the same name as start_event gives a whole cycle."""
    events: Literal["auto", "file", "plates_and_markers", "plates", "zeni_2008", "oconnor_2007"] = "auto"
    """Source of foot strikes and foot offs for 'events' (docs/events.md): 'file', the recording's events;
    'plates_and_markers', the plate's force where one measures the step, else the markers; 'plates', 'zeni_2008' or
    'oconnor_2007', that method alone; 'auto', those of the file, and of plates and markers only where the recording has
    none of this side."""
    cycle_start: Literal["rearmost", "foremost", "highest", "lowest"] = "rearmost"
    """Turning point at which each of the 'cycles' begins: position of the endpoint relative to the first joint, along
    the plane's x axis (foremost, rearmost) or y axis (highest, lowest)."""
    cycle: Literal["most_known", "first"] | PositiveInt = option("most_known", allowed="most_known | first | 1, 2, ...")
    """Choice among several windows between events, or cycles: 'most_known', the one with the largest fraction of frames
    with a known torque, such as the stride on the force plate (the earlier of two equal ones); 'first'; or its number,
    from 1."""
    n_points: int = option(101, "Number of points of a curve, evenly spaced from 0 to 100 %.", "1", ge=2, le=10001)
    include: Literal["ok", "caution"] = "caution"
    """Joints of trials that are averaged, by their torque_status: 'caution', all except rejected and failed ones; 'ok',
    these only. Also applies to results/summary_by_condition.csv."""
    spread_over: Literal["subjects", "trials"] = "subjects"
    """Units of mean and standard deviation: 'subjects', each counted once by the mean of its trials; 'trials', all
    alike, whose spread and number are no basis for tests between subjects. A study of one subject uses its trials. Also
    applies to results/summary_by_condition.csv."""
    min_units: int = option(2, unit="1", ge=1)
    """Least number of units (see spread_over) with a value; with fewer there is no mean, only the counts. Also applies
    to results/summary_by_condition.csv."""
    min_known_share: float = option(0.9, unit="1", gt=0.0, le=1.0)
    """Least share of the frames of a window (or of its stance) with a known torque; with less, peaks, means and
    integrals of results/summary.csv and muscle_summary.csv, and the agreement in emg_summary.csv, are empty."""
    per_body_mass: bool = False
    """Divide torques and powers of curves and ensembles by the subject's body mass: N m/kg and W/kg."""

    @model_validator(mode="after")
    def _events_named(self) -> Ensembles:
        if self.window == "events" and not (self.start_event.strip() and self.end_event.strip()):
            raise ValueError(
                "window events needs start_event and end_event, named as `limbtorque inspect` shows them; "
                "the same name twice makes a whole cycle"
            )
        return self


class Tables(Options):
    """Formats of the tables."""

    csv: tuple[Literal["kinematics", "torques", "muscles"], ...] = option(
        ("torques",), "Tables of trials that are also written as CSV."
    )


class Figures(Options):
    """Figures."""

    kinds: Annotated[tuple[Literal[TrialFigure, StudyFigure], ...], ONE_OR_MORE] = (
        *("torques", "emg", "flagged_cutoff", "ensembles", "mean_terms", "contrasts"),
    )
    """Figures of each trial: 'torques', net torques and their terms; 'kinematics'; 'power'; 'limb', the limb in the plane
    with the forces on it; 'muscles', forces with their possible range; 'emg', envelopes of electromyograms behind the
    activations, for trials with emg.channels; 'cutoff', the data from which the cut-off was chosen; 'flagged_cutoff', the same only for trials with a flag that concerns it (noise_m,
    acceleration_lost_share, shortest_period_share). Of the study, for each chain: 'ensembles', mean curves and spread
    by condition and side; 'mean_terms', mean net torques with their terms; 'contrasts', the difference of each declared contrast with its limits and terms."""
    joints: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    """Joints that have panels, in this order; all where a chain has none of them. A figure of one column has at most
    six panels; its title names the joints for which there is no room."""
    rows: Annotated[tuple[Literal["flexion", "velocity", "torque", "power"], ...], ONE_OR_MORE] = (
        *("flexion", "torque", "power"),
    )
    """Quantities of the figure 'ensembles'. Where one column has no room for all, the last are left out, never the net
    torque."""
    width: Literal["one_column", "two_columns"] = "two_columns"
    """Width of figures: 85 or 180 mm, as journals print them; the figure of a limb that does not travel is 85 mm wide."""
    formats: Annotated[tuple[Literal["png", "pdf", "svg"], ...], ONE_OR_MORE] = ("png",)
    """File formats of each figure."""


class Report(Options):
    """HTML report."""

    enabled: bool = option(True, "Make results/report: an index page, and a page for each trial.")


class Run(Options):
    """Division of the study into jobs."""

    max_trials_per_job: int = option(100, "Largest number of trials in one job; longer sessions are split.", "1", ge=1)
    max_failed_fraction: float = option(0.5, unit="1", ge=0.0, le=1.0)
    """Largest fraction of failed trials; above it the run ends with an error."""
