"""Options of the section `ensembles`: time-normalised curves and their means."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveInt, model_validator

from limbtorque.study.options.base import Options, option


class Ensembles(Options):
    """Curves over 0 to 100 % of a movement or cycle, and means (docs/tables.md)."""

    enabled: bool = option(True, "Write results/curves, results/ensembles.csv and results/windows.csv.")
    window: Literal["movement", "events", "cycles", "trial"] = option(
        "movement",
        "Definition of 0 to 100 %: 'movement', from where the endpoint's speed in the plane first exceeds a "
        "fraction of its peak to where it last falls below it; 'events', from one event of the recording to "
        "another; 'cycles', from one turning point of the endpoint's movement back and forth to the next of the same kind "
        "(cycle_start); 'trial', all frames except those at the ends that the summary omits.",
    )
    onset_share: float = option(
        0.05, "Fraction of the peak speed at which a movement begins and ends.", "1", gt=0.0, lt=1.0
    )
    max_rest_s: float = option(
        0.3,
        "Longest time that the endpoint's speed may stay below onset_share within one movement. Longer rests "
        "indicate several movements, or the stance phases of walking: such a trial has no window, with a note.",
        "s",
        gt=0.0,
    )
    start_event: str = option(
        "",
        "Event at 0 %, named as `limbtorque inspect` shows it: 'Foot Strike Left', or 'Foot Strike' for all "
        "except the other side's; {side} is replaced by right or left, the trial's side.",
    )
    end_event: str = option(
        "", "Event at 100 %: the next one after the start; the same name as start_event gives a whole cycle."
    )
    events: Literal["auto", "file", "plates_and_markers", "plates", "zeni_2008", "oconnor_2007"] = option(
        "auto",
        "Source of foot strikes and foot offs for 'events' (docs/events.md): 'file', the recording's events; "
        "'plates_and_markers', the plate's force where one measures the step, else the markers; 'plates', 'zeni_2008' or "
        "'oconnor_2007', that method alone; 'auto', those of the file, and of plates and markers only where the recording has "
        "none of this side.",
    )
    cycle_start: Literal["rearmost", "foremost", "highest", "lowest"] = option(
        "rearmost",
        "Turning point at which each of the 'cycles' begins: position of the endpoint relative to the first joint, along the "
        "plane's x axis (foremost, rearmost) or y axis (highest, lowest).",
    )
    cycle: Literal["most_known", "first"] | PositiveInt = option(
        "most_known",
        "Choice among several windows between events, or cycles: 'most_known', the one with the largest fraction of frames "
        "with a known torque, such as the stride on the force plate (the earlier of two equal ones); 'first'; or "
        "its number, from 1.",
        allowed="most_known | first | 1, 2, ...",
    )
    n_points: int = option(101, "Number of points of a curve, evenly spaced from 0 to 100 %.", "1", ge=2, le=10001)
    include: Literal["ok", "caution"] = option(
        "caution",
        "Joints of trials that are averaged, by their torque_status: 'caution', all except rejected and failed ones; "
        "'ok', these only. Also applies to results/summary_by_condition.csv.",
    )
    spread_over: Literal["subjects", "trials"] = option(
        "subjects",
        "Units of mean and standard deviation: 'subjects', each counted once by the mean of its trials; 'trials', all "
        "alike, whose spread and number are no basis for tests between subjects. A study of one subject uses its "
        "trials. Also applies to results/summary_by_condition.csv.",
    )
    min_units: int = option(
        2,
        "Least number of units (see spread_over) with a value; with fewer there is no mean, only the counts. Also "
        "applies to results/summary_by_condition.csv.",
        "1",
        ge=1,
    )
    min_known_share: float = option(
        0.9,
        "Least share of the frames of a window (or of its stance) with a known torque; with less, peaks, means and "
        "integrals of results/summary.csv and muscle_summary.csv, and the agreement in emg_summary.csv, are empty.",
        "1",
        gt=0.0,
        le=1.0,
    )
    per_body_mass: bool = option(
        False, "Divide torques and powers of curves and ensembles by the subject's body mass: N m/kg and W/kg."
    )

    @model_validator(mode="after")
    def _events_named(self) -> Ensembles:
        if self.window == "events" and not (self.start_event.strip() and self.end_event.strip()):
            raise ValueError(
                "window events needs start_event and end_event, named as `limbtorque inspect` shows them; "
                "the same name twice makes a whole cycle"
            )
        return self
