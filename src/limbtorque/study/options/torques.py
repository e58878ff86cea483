"""Sections `torques`, `integration` and `replay`: columns, forward simulation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from limbtorque.study.options.base import Options, option

Convention = Literal["segment_space", "torque_equation", "motion_equation", "interaction", "motion_dependent"]


class TorqueColumns(Options):
    """More columns in the torque tables."""

    conventions: tuple[Convention, ...] = option(
        (),
        "Further groupings of the torque terms as columns: 'segment_space', 'torque_equation', 'motion_equation',"
        " 'interaction', 'motion_dependent'; see docs/theory.md.",
    )
    power: bool = option(False, "Add the power of every term and the energy of every segment.")
    induced_accelerations: bool = option(
        False,
        "Add the accelerations of joints and endpoint due to each torque, gravity, velocity, the base and the load.",
    )
    bands: bool = option(
        False,
        "Add the standard deviation and the 95 % limits of every net torque and term, and the part of each source of "
        "error (section uncertainty).",
    )

    @field_validator("conventions", mode="before", json_schema_input_type=Convention | tuple[Convention, ...])
    @classmethod
    def _one_convention(cls, value: Any) -> Any:
        if isinstance(value, list):  # each once; what is not a name is for the next check
            return tuple(item for k, item in enumerate(value) if item not in value[:k])
        return (value,) if isinstance(value, str) else value


class Integration(Options):
    """Integration of the equations of motion, scipy's solve_ivp."""

    method: Literal["DOP853", "LSODA"] = option("DOP853", "Integrator.")
    rtol: float = option(1e-9, "Relative tolerance.", "1", ge=1e-13, le=1e-2)
    atol: float = option(1e-10, "Absolute tolerance of angles, velocities and work.", "rad, rad/s, J", gt=0.0)
    max_step_s: float | None = option(None, "Longest step; null: set by the tolerances.", "s", ge=1e-5)


class Replay(Options):
    """Forward simulation of every trial with the torques found for it."""

    enabled: bool = option(
        False, "Integrate the computed torques forward from the first frame and compare with the motion."
    )
    tolerance_deg: float = option(
        1.0, "Largest error of any joint angle at which the motion counts as reproduced.", "deg", gt=0.0
    )
    stop_deg: float = option(30.0, "Error of a joint angle at which the replay stops.", "deg", gt=0.0)
