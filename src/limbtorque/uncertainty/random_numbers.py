"""Random numbers of the errors: the same for trials with the same errors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.uncertainty.directions import Direction, SharedBy


@dataclass(frozen=True)
class Draw:
    """Size and seed of the samples of a trial.

    Attributes
    ----------
    n_samples : int
        Number of samples, a power of two.
    seed : int
        Seed of the study.
    subject, trial : str
        Names of subject and trial.
    """

    n_samples: int
    seed: int
    subject: str = ""
    trial: str = ""

    def __post_init__(self) -> None:
        """Refuse numbers at which the sequence is not balanced."""
        n = self.n_samples
        if n < 2 or n & (n - 1):
            raise ValueError(f"n_samples is {n}; expected a power of two, such as 512")

    def generator(self, source: str, shared_by: SharedBy, names: Sequence[str] = ()) -> np.random.Generator:
        """Generator of a source: the same for the same seed, owner and names."""
        owners: Mapping[SharedBy, str] = {"study": "", "subject": self.subject, "trial": self.trial}
        text = "\n".join([str(self.seed), source, shared_by, owners[shared_by], *names])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def direction_numbers(directions: Sequence[Direction], draw: Draw) -> FloatArray:
    """Standard normal numbers for every direction in which an input may be wrong.

    Parameters
    ----------
    directions : sequence of Direction
        The directions of a trial.
    draw : Draw
        Number of samples, seed and owners.

    Returns
    -------
    ndarray of shape (n_samples, n_directions)
        Of mean 0 and variance 1.

    Notes
    -----
    The directions of a source are a block with a scrambled Sobol sequence of its own in an order of its own: Latin supercube
    sampling (Owen 1998, ACM Transactions on Modeling and Computer Simulation 8, 71-102). Its seed is that of the study
    with source, owner and names, so that trials with the same errors have the same numbers, in whatever order and session
    they are analysed.
    """
    found = np.empty((draw.n_samples, len(directions)))
    for source in dict.fromkeys(each.source for each in directions):
        places = [k for k, each in enumerate(directions) if each.source == source]
        names = [directions[k].name for k in places]
        generator = draw.generator(source, directions[places[0]].shared_by, names)
        found[:, places] = sobol_normal(generator, draw.n_samples, len(places))
    return found


def sobol_normal(generator: np.random.Generator, n_samples: int, n_directions: int) -> FloatArray:
    """Normal numbers of a Sobol sequence, shape (n_samples, n_directions).

    The sequence is scrambled, and in random order.
    """
    from scipy.special import ndtri  # slow imports that most studies do not need
    from scipy.stats import qmc

    uniform = qmc.Sobol(n_directions, rng=generator).random(n_samples)[generator.permutation(n_samples)]
    return np.asarray(ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12)))
