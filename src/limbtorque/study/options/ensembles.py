"""Options of the section `ensembles`: time-normalised curves and their means."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveInt, model_validator

from limbtorque.study.options.base import Options, option


class Ensembles(Options):
    """Curves over 0 to 100 % of a movement or cycle, and their means. See docs/tables.md."""

    enabled: bool = option(True, "Write results/curves, results/ensembles.csv and results/windows.csv.")
    window: Literal["movement", "events", "trial"] = option(
        "movement",
        "What is 0 to 100 %: 'movement', from where the endpoint's speed in the plane first rises above a share of its peak to where "
        "it last falls below; 'events', from one event of the recording to another; 'trial', all frames but those at its ends that the summary leaves out.",
    )
    onset_share: float = option(
        0.05, "Share of the peak speed at which a movement begins and ends.", "1", gt=0.0, lt=1.0
    )
    max_rest_s: float = option(
        0.3,
        "Longest time that the endpoint may stay below onset_share inside one movement. Longer rests mean several movements, or the stances of "
        "a walk: such a trial has no window, with a note.",
        "s",
        gt=0.0,
    )
    start_event: str = option(
        "",
        "Event at 0 %, as `limbtorque inspect` shows it: 'Foot Strike Left', or 'Foot Strike' for those that are not of the other "
        "side; {side} stands for right or left, by the trial's side.",
    )
    end_event: str = option(
        "", "Event at 100 %: the next one after the start; the same name as start_event makes a whole cycle."
    )
    cycle: Literal["most_known", "first"] | PositiveInt = option(
        "most_known",
        "Which of several windows between events: 'most_known', that with the largest share of frames with a known torque, such as the stride on "
        "the force plate, the earlier of two alike; 'first'; or its number, from 1.",
        allowed="most_known | first | 1, 2, ...",
    )
    n_points: int = option(101, "Points of a curve, evenly from 0 to 100 %.", "1", ge=2, le=10001)
    include: Literal["ok", "flagged"] = option(
        "flagged",
        "Trials that are averaged, by their torque_status: 'flagged', all but failed ones; 'ok', without flagged ones. Holds for "
        "results/summary_by_condition.csv, too.",
    )
    spread_over: Literal["trials", "subjects"] = option(
        "trials",
        "What mean and spread are of: all trials alike, or the means of the subjects. Holds for results/summary_by_condition.csv, too.",
    )
    per_body_mass: bool = option(
        False, "Torques and powers of curves and ensembles over the subject's body mass, in N m/kg and W/kg."
    )

    @model_validator(mode="after")
    def _events_named(self) -> Ensembles:
        if self.window == "events" and not (self.start_event.strip() and self.end_event.strip()):
            raise ValueError(
                "window events needs start_event and end_event, named as `limbtorque inspect` shows them; "
                "the same name twice makes a whole cycle"
            )
        return self
