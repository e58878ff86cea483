"""Columns of electromyography: in `results/muscles`, and of its own tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from limbtorque.tables.column import MUSCLE_STATUS, TRIAL_COLUMNS, Column
from limbtorque.tables.summary_columns import WINDOW

METHOD_TEXTS = {
    "hodges_bui": "threshold of Hodges and Bui (1996)",
    "bonato": "double threshold of Bonato et al. (1998)",
}
_MUSCLE = Column("muscle", "", "muscle", kind=str)
_AGREEMENT = (
    Column("r", "1", "correlation of activation and envelope at emg.delay_s; empty where they were not compared"),
    Column("rms", "1", "root mean square difference of activation and envelope"),
    Column("scaled_rms", "1", "root mean square difference of the activation and scale times the envelope"),
    Column(
        "lag_s",
        "s",
        "shift with the largest correlation; empty where it is the largest shift tried (0.15 s), which is no lag",
        "positive: activation after the delayed envelope",
    ),
    Column("lag_r", "1", "correlation at that shift"),
)
_SCALE = Column("scale", "1", "factor of the envelope with the smallest difference, at least 0")
_NEIGHBOUR_R = Column("neighbour_r", "1", "largest correlation of the activation with another muscle's envelope")
EMG_AGREEMENT = (*_AGREEMENT, _SCALE, _NEIGHBOUR_R)  # empty where the muscle forces are rejected


def envelope_columns(muscles: Sequence[str]) -> Iterator[Column]:
    """Columns of a trial's table, for the muscles of its channels."""
    for muscle in muscles:
        text = f"normalised envelope of the electromyogram of {muscle}, later by emg.delay_s; empty without samples"
        yield Column(f"{muscle}_envelope", "1", text)
        for method, by in METHOD_TEXTS.items():
            text = f"1 where the electromyogram of {muscle} is active by the {by}, 0 where not, without delay"
            yield Column(f"{muscle}_active_{method}", "1", text)


EMG_SUMMARY_COLUMNS = (
    *TRIAL_COLUMNS,
    MUSCLE_STATUS,
    WINDOW,
    _MUSCLE,
    Column("channel", "", "channels of the muscle", kind=str),
    Column("unit", "", "unit of the channels; empty where unknown", kind=str),
    Column(
        "faults",
        "",
        "faults of the channels: missing, dead, clipped, mains, artefact, negative, copy; no channel",
        kind=str,
    ),
    Column("normalised_by", "", "origin of the envelope's 1: own peak, or maximal trial", kind=str),
    Column(
        "rms_uv", "uV", "root mean square of the band-passed signal over the recording; empty where the unit is unknown"
    ),
    Column("mean_envelope", "1", "mean of the normalised envelope"),
    Column("peak_envelope", "1", "peak of the normalised envelope"),
    *(
        column
        for method, by in METHOD_TEXTS.items()
        for column in (
            Column(f"onset_{method}_s", "s", f"first active frame of the longest burst by the {by}"),
            Column(f"offset_{method}_s", "s", "last active frame of that burst"),
            Column(f"active_share_{method}", "1", f"share of the frames that are active by the {by}"),
        )
    ),
    Column("used_share", "1", "share of the window's frames with activation and envelope; 0 without an activation"),
    Column(
        "not_compared",
        "",
        "reason for an empty r: faults of the channels, no activation, used_share below ensembles.min_known_share, too few "
        "frames or a constant, rejected; empty where r is given",
        kind=str,
    ),
    *_AGREEMENT[:2],
    _SCALE,
    *_AGREEMENT[2:],
    Column("neighbour", "", "other muscle whose envelope the activation follows most", kind=str),
    _NEIGHBOUR_R,
)
EMG_BY_MUSCLE_COLUMNS = (
    TRIAL_COLUMNS[4],
    WINDOW,
    _MUSCLE,
    Column("n_subjects", "1", "number of subjects with a correlation", kind=int),
    Column("n_trials", "1", "number of trials with a correlation", kind=int),
    Column("n_left_out", "1", "number of trials without; not_compared in emg_summary says why", kind=int),
    *(
        Column(
            column.name,
            column.unit,
            f"median over subjects of their median over trials: {column.definition}",
            column.sign,
        )
        for column in (*_AGREEMENT, _NEIGHBOUR_R)
    ),
    Column("min_r", "1", "smallest subject's r"),
    Column("max_r", "1", "largest subject's r"),
    Column("own_best_share", "1", "share of the trials in which r is above neighbour_r"),
)
EMG_CO_CONTRACTION_COLUMNS = (
    *TRIAL_COLUMNS,
    WINDOW,
    Column("first", "", "muscle", kind=str),
    Column("second", "", "its antagonist", kind=str),
    Column(
        "falconer_winter",
        "1",
        "co-contraction index of Falconer and Winter (1985), 0 to 1; empty for a channel with a fault, and for muscles normalised differently",
    ),
    Column(
        "rudolph",
        "1",
        "co-contraction index of Rudolph et al. (2000), 0 to 2; empty for a channel with a fault, and for muscles normalised differently",
    ),
)
