"""Proposed section `emg`: channels of electromyography and their muscles."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from limbtorque.cli.init.survey import Seen
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.recordings.emg_channels import microvolts, muscle_of, same_muscle, side_pattern
from limbtorque.study.chains import BUILT_IN

ANTAGONISTS = (
    ("tibialis_anterior", "gastrocnemius"),
    ("tibialis_anterior", "soleus"),
    ("vasti", "hamstrings"),
    ("rectus_femoris", "hamstrings"),
    ("biceps", "triceps"),
)
NO_SIDE = "the label does not state a side: remove the # if it is of the analysed side"


@dataclass(frozen=True)
class ProposedEmg:
    """Channels of electromyography.

    Attributes
    ----------
    channels : dict of str to tuple of str
        Muscles of each label, with a placeholder for the side.
    comments : dict of str to str
        Reasons for labels that are only comments.
    without_muscle : tuple of str
        Labels of channels without a muscle of the sets.
    antagonists, more_antagonists : tuple of (str, str)
        Pairs of muscles with co-contraction indices; those with a muscle whose channels are comments, besides.
    unit_unknown : bool
        The file does not state the unit of a channel.
    """

    channels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    without_muscle: tuple[str, ...] = ()
    antagonists: tuple[tuple[str, str], ...] = ()
    more_antagonists: tuple[tuple[str, str], ...] = ()
    unit_unknown: bool = False

    def lines(self) -> list[str]:
        """Lines of config/config.yaml; none without channels."""
        if not self.channels and not self.without_muscle:
            return []
        lines = ["emg: # electromyography beside the predicted activations: docs/emg.md"]
        lines.append("  channels: # channel: muscle; {S} is R or L, {side} is right or left, the trial's side")
        for label, muscles in self.channels.items():
            value = muscles[0] if len(muscles) == 1 else f"[{', '.join(muscles)}]"
            why = self.comments.get(label, "")
            lines.append(
                f"    {'# ' if why else ''}{json.dumps(label, ensure_ascii=False)}: {value}{f' # {why}' if why else ''}"
            )
        if all(label in self.comments for label in self.channels):
            lines[1] = "  channels: {} # replace {} by the lines below, without their #"
        if self.without_muscle:
            text = f"Channels without a muscle of the muscle sets: {', '.join(self.without_muscle)}"
            lines += [
                f"  # {line}" for line in textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False)
            ]
        if self.unit_unknown:
            lines.append(
                "  # unit: mV # the files do not state the unit of some channels; it affects absolute amplitudes only"
            )
        if self.antagonists:
            lines.append(f"  antagonists: {_listed(self.antagonists)}")
        if self.more_antagonists:
            every = _listed((*self.antagonists, *self.more_antagonists))
            instead = ", in place of the line above" if self.antagonists else ""
            lines.append(
                f"  # antagonists: {every} # remove this #, too, with those of these muscles' channels{instead}"
            )
        return [*lines, ""]


def _listed(pairs: Sequence[tuple[str, str]]) -> str:
    return f"[{', '.join(f'[{one}, {other}]' for one, other in pairs)}]"


def propose_emg(seen: Iterable[Seen], chains: Iterable[str]) -> ProposedEmg:
    """Propose muscles for the channels of recordings.

    Parameters
    ----------
    seen : iterable of Seen
        The recordings of the trials, and those of electromyography alone.
    chains : iterable of str
        Chains of the trials.

    Returns
    -------
    ProposedEmg
        Channels whose label states no side are comments: they could be of either leg.
    """
    names = _muscles_of(chains)
    channels: dict[str, tuple[str, ...]] = {}
    comments, without, unknown = dict[str, str](), list[str](), False
    for channel in dict.fromkeys(channel for one in seen for channel in one.emg):
        muscles = tuple(name for name, called in names.items() if same_muscle(called, channel.muscle))
        pattern = side_pattern(channel.label)
        if not muscles:
            without.append(pattern or channel.label)
            continue
        unknown = unknown or microvolts(channel.unit) is None
        channels[pattern or channel.label] = muscles
        if not pattern:
            comments[channel.label] = NO_SIDE
    mapped = {name for label, muscles in channels.items() if label not in comments for name in muscles}
    pairs = _pairs(names, mapped)
    more = [
        pair for pair in _pairs(names, {name for muscles in channels.values() for name in muscles}) if pair not in pairs
    ]
    return ProposedEmg(channels, comments, tuple(dict.fromkeys(without)), pairs, tuple(more), unknown)


def _muscles_of(chains: Iterable[str]) -> dict[str, str]:
    """Muscles of the built-in sets of chains, with their names in `emg_channels`."""
    found = {}
    for chain in sorted(set(chains)):
        set_name = BUILT_IN[chain].muscles if chain in BUILT_IN else None
        for muscle in load_muscle_set(set_name).muscles if set_name else ():
            found[muscle.name] = muscle_of(muscle.name) or muscle_of(muscle.full_name)
    return found


def _pairs(names: dict[str, str], mapped: set[str]) -> tuple[tuple[str, str], ...]:
    """Antagonists among the mapped muscles."""
    found = []
    for first, second in ANTAGONISTS:
        one = next((name for name in names if name in mapped and names[name] == first), None)
        other = next((name for name in names if name in mapped and names[name] == second), None)
        found += [(one, other)] if one and other else []
    return tuple(found)


def pair_emg(trials_of: Sequence[Seen], seen: Sequence[Seen]) -> dict[str, Seen]:
    """Files of electromyography alone, by recordings without channels.

    The two are in one folder, each the only one there of its kind, and overlap in time.
    """
    alone = _by_folder(one for one in seen if one.emg and not one.bodies and not one.n_plates)
    moving = _by_folder(one for one in trials_of if not one.still)
    found = {}
    for one in trials_of:
        near = alone.get(one.path.parent, [])
        if (
            not one.emg
            and len(near) == 1
            and len(moving.get(one.path.parent, [])) == 1
            and near[0].begin_s < one.end_s
            and near[0].end_s > one.begin_s
        ):
            found[one.name] = near[0]
    return found


def _by_folder(recordings: Iterable[Seen]) -> dict[Path, list[Seen]]:
    found: dict[Path, list[Seen]] = {}
    for one in recordings:
        found.setdefault(one.path.parent, []).append(one)
    return found
