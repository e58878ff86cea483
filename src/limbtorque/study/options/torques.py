"""Sections `torques` and `replay`: columns, forward simulation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from limbtorque.study.options.base import Options, option

Convention = Literal["segment_space", "torque_equation", "motion_equation", "interaction", "motion_dependent"]
More = Literal[
    "segment_space",
    "torque_equation",
    "motion_equation",
    "interaction",
    "motion_dependent",
    "power",
    "induced_accelerations",
]


class TorqueColumns(Options):
    """More columns in the torque tables."""

    columns: tuple[More, ...] = option(
        (),
        "Further columns: 'power', the power of every term and the energy of every segment; 'induced_accelerations', those of "
        "joints and endpoint due to each torque, gravity, velocity, the base and the load; other groupings of the torque terms: "
        "'segment_space', 'torque_equation', 'motion_equation', 'interaction', 'motion_dependent' (docs/theory.md).",
    )
    bands: bool = option(
        False,
        "Add the standard deviation and the 95 % limits of every net torque and term, and the part of each source of "
        "error (section uncertainty).",
    )

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


class Replay(Options):
    """Forward simulation of every trial with the torques found for it."""

    enabled: bool = option(
        False, "Integrate the computed torques forward from the first frame and compare with the motion."
    )
