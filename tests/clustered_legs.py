"""Leg of the simulated walk with clusters of markers, and its settings."""

from dataclasses import replace

import numpy as np

from limbtorque.study.settings import make_settings

CLUSTERS = {"TH": (("HJC", "KJC"), 0.5), "TB": (("KJC", "AJC"), 0.5)}  # on thigh and shank, by their ends
PLACES_M = np.array([[0.05, 0.06, 0.03], [-0.06, 0.05, -0.02], [0.01, 0.07, 0.09], [0.0, -0.05, -0.08]])
MEASURED = {"hip_axis": "{S}HJC", "knee_axis": "{S}KJC", "ankle_axis": "{S}AJC"}
FOOT = {"head_of_metatarsal_2": "{S}TOE", "heel": "{S}HEE"}
SUBSTITUTES = {
    **{"greater_trochanter": "hip_axis", "femoral_condyles": "knee_axis"},
    **{"lateral_malleolus": "ankle_axis", "medial_malleolus": "ankle_axis"},
}
LANDMARKS = {**MEASURED, **FOOT, **{name: MEASURED[joint] for name, joint in SUBSTITUTES.items()}}


def leg_settings(rules, **sections):
    return make_settings(
        {
            "plane": {"up_axis": "+z", **sections.pop("plane", {})},
            "marker_sets": {"m": {**FOOT, **rules}},
            "substitutes": {"m": SUBSTITUTES},
            "filter": {"method": "none"},
            **sections,
        }
    )


def walk_settings(**sections):
    """Settings of the simulated walk with the markers that it has."""
    plane = {"up_axis": "+z", "forward_axis": "travel", **sections.pop("plane", {})}
    return make_settings({"marker_sets": {"walk": LANDMARKS}, "plane": plane, **sections})


def with_clusters(recording):
    """Recording with four markers fixed on each thigh and shank, beside the line between its ends in the plane of motion."""
    place = {label: k for k, label in enumerate(recording.labels)}
    labels, added = list(recording.labels), []
    for side in "RL":
        for name, ((upper, lower), _) in CLUSTERS.items():
            ends = [recording.markers_m[:, place[side + end]] for end in (upper, lower)]
            along = ends[1] - ends[0]
            along = along / np.linalg.norm(along, axis=1, keepdims=True)
            across = np.tile([0.0, 1.0, 0.0], (len(along), 1))
            axes = np.stack([along, across, np.cross(along, across)], axis=1)
            added.append((ends[0] + ends[1])[:, None] / 2.0 + np.einsum("kj,njc->nkc", PLACES_M, axes))
            labels += [f"{side}{name}{k}" for k in range(1, 5)]
    return replace(recording, labels=tuple(labels), markers_m=np.concatenate([recording.markers_m, *added], axis=1))


def without(recording, *names):
    hidden = [k for k, label in enumerate(recording.labels) if label[1:] in names]
    markers = recording.markers_m.copy()
    markers[:, hidden] = np.nan
    return replace(recording, markers_m=markers)
