"""Joint centres of a limb, landmarks of both sides, and inertial constants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs
from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.model import Chain
from limbtorque.chain.segments import LONGEST_M, Row
from limbtorque.errors import PART_OF_TRIAL, LandmarkError, SegmentError, SignalError
from limbtorque.motion.functional_centres import functional_landmarks
from limbtorque.motion.landmarks import (
    ACROMION,
    FRONT_OF_PELVIS,
    LandmarkMap,
    carried_landmark,
    contact_landmarks,
    is_carried,
    locate,
    needed_markers,
)
from limbtorque.motion.limb import Limb
from limbtorque.motion.markers import PreparedMarkers, fill_needed, prepare_markers
from limbtorque.motion.plane import (
    MIN_PROJECTION,
    Planarity,
    PlaneFrame,
    find_plane,
    mean_facing,
    planarity,
)
from limbtorque.motion.predicted_centres import ERRORS, CarriedLandmark
from limbtorque.recordings.recording import Recording
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.motion import Gaps, axis_vector
from limbtorque.study.settings import Settings

MIN_FUNCTIONAL_RANGE_DEG = 20.0  # between two segments: Ehrig et al. 2006 (docs/signals.md)

SHORTEST_SEGMENT_M = 0.01
MAX_VARIATION = 0.04  # of a length over its mean: more, and its landmarks are not on one rigid segment
NOTED_M = 0.01  # distance of a centre of mass from the line between the joints


Side = dict[str, FloatArray]
SIDED = {  # landmarks whose line from left to right is the body's, the most rigid first
    "pelvis": (FRONT_OF_PELVIS, "hip_axis", "greater_trochanter"),
    "thorax": (ACROMION, "glenohumeral_axis"),
}
WIDEST_DEG = 45.0  # a body that turns more has no single plane of motion


def opposite(mapping: LandmarkMap) -> LandmarkMap:
    """Return the anatomical landmarks of the other side."""
    return mapping.anatomical().mirrored()


def sides_share_markers(mapping: LandmarkMap, names: Collection[str]) -> bool:
    """Return True where both sides share a marker: there is one side only.

    Landmarks that are predicted from both sides of pelvis or trunk do not count.
    """
    own, other = (
        {label for name in names for label in side.own_labels(name)} for side in (mapping, mapping.mirrored())
    )
    return bool(own & other)


def side_landmarks(
    recording: Recording, mapping: LandmarkMap, names: Collection[str], *, gaps: Gaps, frames: slice
) -> Side:
    """Landmarks of one side of the body.

    Parameters
    ----------
    recording : Recording
        The markers.
    mapping : LandmarkMap
        Markers of the side.
    names : collection of str
        The landmarks.
    gaps : Gaps
        Options of gaps.
    frames : slice
        The analysed frames.

    Returns
    -------
    dict of str to ndarray of shape (n_frames, 3)
        Positions by landmark, m; empty without the markers of both sides, or where the sides share one.
    """
    try:
        own, _ = (needed_markers(recording, side, names) for side in (mapping, opposite(mapping)))
    except LandmarkError:
        return {}
    both = (mapping, opposite(mapping))
    if sides_share_markers(mapping, names) or not all(is_carried(side, names, recording.static) for side in both):
        return {}
    positions = fill_needed(recording, list(own.values()), gaps).markers_m[frames]
    index, static = {label: i for i, label in enumerate(own)}, recording.static
    return {name: locate(name, mapping, markers=index, positions_m=positions, static=static) for name in sorted(names)}


def both_sides(recording: Recording, limb: Limb, settings: Settings, frames: slice) -> tuple[Side, Side] | None:
    """Landmarks of the limb and of the opposite limb, where both are mapped.

    Parameters
    ----------
    recording : Recording
        The markers.
    limb : Limb
        The limb; functional centres are replaced by anatomical ones.
    settings : Settings
        Marker sets and options of gaps.
    frames : slice
        The analysed frames.

    Returns
    -------
    pair of dict, or None
        Positions of shape (n_frames, 3) by landmark, m; None where a marker of the other side is not in the recording.
    """
    model, mapping = limb.model(settings), limb.landmarks(settings).anatomical()
    names = {*(joint.landmark for joint in model.joints), model.end}
    names |= set(contact_landmarks(model, mapping, settings.plates))
    own, other = (
        side_landmarks(recording, side, names, gaps=settings.gaps, frames=frames)
        for side in (mapping, opposite(mapping))
    )
    return (own, other) if own else None  # without the markers of either side both are empty


def body_faces(
    recording: Recording, mapping: LandmarkMap, settings: Settings, *, frames: slice
) -> tuple[FloatArray | None, tuple[str, ...]]:
    """Mean direction that pelvis or thorax face, by `plane.forward_axis`.

    Parameters
    ----------
    recording : Recording
        The markers.
    mapping : LandmarkMap
        Landmarks of the limb's side; those of the other side follow by the same rules.
    settings : Settings
        Plane, and options of gaps.
    frames : slice
        The analysed frames.

    Returns
    -------
    forward : ndarray of shape (3,) or None
        Horizontal unit vector; None where `plane.forward_axis` is neither pelvis nor thorax.
    notes : tuple of str
        The landmark it follows from, for the ledger.

    Raises
    ------
    LandmarkError
        No landmark of pelvis or thorax is in the recording on both sides.
    SignalError
        The body turns by too much for one direction.
    """
    asked = settings.plane.forward_axis
    if asked not in SIDED:
        return None, ()
    for name, right_m in left_to_right(recording, mapping, asked, settings, frames=frames):
        forward, spread_deg = mean_facing(right_m, axis_vector(settings.plane.up_axis))
        if np.isnan(forward).any():
            continue
        if spread_deg > WIDEST_DEG:
            raise SignalError(
                f"{recording.source}: the {asked} turns by {spread_deg:.0f} deg (circular standard deviation), expected at most "
                f"{WIDEST_DEG:g} deg for one plane of motion; give {PART_OF_TRIAL}, or plane.forward_axis as an axis or travel"
            )
        return forward, (f"forward is where the {asked} faces, from {name} of both sides, +- {spread_deg:.1f} deg",)
    raise LandmarkError(
        f"{recording.source}: plane.forward_axis is {asked}, and none of {', '.join(SIDED[asked])} has markers on both sides; "
        "map one of them with {S} for the side, or give plane.forward_axis as an axis or travel"
    )


def left_to_right(
    recording: Recording, mapping: LandmarkMap, part: str, settings: Settings, *, frames: slice
) -> Iterator[tuple[str, FloatArray]]:
    """Lines from the left to the right side of pelvis or thorax, the most rigid first.

    Parameters
    ----------
    recording, mapping, settings, frames
        As of `body_faces`.
    part : {"pelvis", "thorax"}
        Part of the body.

    Yields
    ------
    landmark : str
        Landmark of both sides.
    right_m : ndarray of shape (n_frames, 3)
        From the left one to the right one, m.
    """
    ways = {side.side: side for side in (mapping.anatomical(), opposite(mapping))}
    for name in (name for name in SIDED[part] if mapping.has(name)):
        ends = {
            side: side_landmarks(recording, own, {name}, gaps=settings.gaps, frames=frames)
            for side, own in ways.items()
        }
        if all(ends.values()):
            yield name, ends["right"][name] - ends["left"][name]


@dataclass(frozen=True)
class Placement:
    """Joint centres of a limb over the frames in which all are known.

    Attributes
    ----------
    prepared : PreparedMarkers
        The markers, and the stretch.
    plane : PlaneFrame
        The plane of motion.
    landmarks : dict of str to ndarray of shape (n_frames, 3)
        Landmarks in the laboratory frame, m; functional centres replace anatomical ones where the study defines them.
    joints_m : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and endpoint in the laboratory frame, m.
    planarity : Planarity
        Metrics of planarity.
    metrics : dict of str to float
        Gaps, functional centres, and landmarks carried from a static trial.
    kinds : dict of str to str
        Kind of each landmark (`LandmarkMap.kind`), on which its uncertainty depends.
    notes : tuple of str
        Decisions, for the ledger.
    """

    prepared: PreparedMarkers
    plane: PlaneFrame
    landmarks: dict[str, FloatArray]
    joints_m: FloatArray
    planarity: Planarity
    metrics: dict[str, float]
    kinds: dict[str, str]
    notes: tuple[str, ...]


def place_joints(recording: Recording, limb: Limb, settings: Settings) -> Placement:
    """Find the joint centres of a limb in a recording.

    Parameters
    ----------
    recording : Recording
        The recording.
    limb : Limb
        Chain, side, markers and window of the recording.
    settings : Settings
        Gaps, plane, plates and functional centres.

    Returns
    -------
    Placement
        Joint centres over the longest stretch in which all are known; not filtered.

    Raises
    ------
    TrialError
        A marker or landmark is missing, no stretch is long enough, no plane or functional centre is defined, or a segment
        has an implausible length.
    """
    model, mapping = limb.model(settings), limb.landmarks(settings)
    joint_names = [*(joint.landmark for joint in model.joints), model.end]
    needed = {*joint_names, *(name for row in limb.segment_rows(settings) for name in (row.proximal, row.distal))}
    needed |= set(contact_landmarks(model, mapping, settings.plates))
    prepared = prepare_markers(
        recording,
        markers=needed_markers(recording, mapping, needed),
        chain_labels={label for name in joint_names for label in mapping.labels(name)},
        settings=settings,
        start_s=limb.start_s,
        end_s=limb.end_s,
    )
    positions = prepared.markers_m[prepared.stretch]
    at = partial(locate, mapping=mapping, markers=prepared.index, positions_m=positions, static=recording.static)
    anatomical = {name: at(name) for name in sorted(needed)}
    seen_m = np.stack([anatomical[name] for name in joint_names], axis=1)
    facing, facing_notes = body_faces(recording, mapping, settings, frames=prepared.stretch)
    plane = find_plane(settings.plane, seen_m, facing=facing)
    carrying = partial(carried_landmark, markers=prepared.index, positions_m=positions, static=recording.static)
    carried_metrics, carried_notes = _carried(mapping, sorted(needed), carrying)
    landmarks, functional_metrics, functional_notes = functional_landmarks(
        anatomical,
        functional={name: (mapping.resolve(name), parts) for name in anatomical if (parts := mapping.segments(name))},
        markers=prepared.index,
        positions_m=positions,
        plane=plane,
        counted=~foreshortened_frames(seen_m, plane, reach=0, min_projection=MIN_PROJECTION),
        min_range_deg=MIN_FUNCTIONAL_RANGE_DEG,
    )
    joints_m = np.stack([landmarks[name] for name in joint_names], axis=1)
    planar = planarity(plane, joints_m)
    lengths_note = _lengths_note(model, planar, recording)
    substitutes = [(name, mapping.resolve(name)) for name in sorted(needed) if mapping.resolve(name) != name]
    return Placement(
        prepared,
        plane,
        landmarks,
        joints_m,
        planar,
        metrics={
            "gap_error_m": prepared.gap_error_m,
            "max_unfilled_gap_s": prepared.longest_gap_frames / recording.rate_hz,
            **functional_metrics,
            **carried_metrics,
        },
        kinds={name: mapping.kind(name) for name in sorted(needed)},
        notes=(
            *(f"landmark {name}: replaced by {stand_in}" for name, stand_in in substitutes),
            *prepared.notes,
            *_predicted_notes(mapping, needed),
            *carried_notes,
            *functional_notes,
            *facing_notes,
            lengths_note,
        ),
    )


def foreshortened_frames(joints_m: FloatArray, plane: PlaneFrame, *, reach: int, min_projection: float) -> BoolArray:
    """Find frames with a foreshortened segment, and frames that the filter affects.

    Parameters
    ----------
    joints_m : ndarray of shape (n_frames, n_joints + 1, 3)
        Joint centres and endpoint in the laboratory frame, m.
    plane : PlaneFrame
        The plane of motion.
    reach : int
        Frames on both sides affected by the filter and the differences.
    min_projection : float
        Least projection of a segment, as a share of its length.

    Returns
    -------
    ndarray of bool, shape (n_frames,)
        True where the orientation of a segment in the plane is undefined.
    """
    segments = np.diff(joints_m, axis=1)
    small = lengths(plane.project(segments)) < min_projection * lengths(segments)
    short: BoolArray = np.asarray(small.any(axis=1))
    for start, stop in runs(short):
        short[max(start - reach, 0) : stop + reach] = True
    return short


def _carried(
    mapping: LandmarkMap, names: Iterable[str], carrying: Callable[[str, LandmarkMap], CarriedLandmark]
) -> tuple[dict[str, float], list[str]]:
    """Metrics and notes of every cluster, including those for predicted centres."""
    clusters, notes = [], []
    for side, name in dict.fromkeys((side.side, side.resolve(name)) for side, name in mapping.with_parts(names)):
        own = mapping if side == mapping.side else mapping.mirrored()
        if cluster := own.cluster(name):
            clusters.append(carrying(name, own))
            notes.append(
                f"landmark {name}{f' ({side})' if side != mapping.side else ''}: carried from the static trial by "
                f"{', '.join(cluster)}: residual {1e3 * clusters[-1].residual_m:.2g} mm, expected error "
                f"{1e3 * clusters[-1].expected_error_m:.2g} mm or more"
            )
    if not clusters:
        return {}, []
    return {
        "cluster_residual_m": max(cluster.residual_m for cluster in clusters),
        "cluster_error_m": max(cluster.expected_error_m for cluster in clusters),
    }, notes


def _predicted_notes(mapping: LandmarkMap, names: Iterable[str]) -> list[str]:
    """Sentence on each predicted joint centre, with its error by imaging."""
    found = []
    for name in sorted({mapping.resolve(name) for name in names}):
        if (kind := mapping.kind(name)) in ERRORS:
            error = ERRORS[kind]
            size = "not known" if np.isnan(error.mean_m) else f"{1e3 * error.mean_m:.0f} mm on average"
            found.append(f"landmark {name}: predicted by {kind}; error by imaging {size} ({error.source})")
    return found


def _lengths_note(model: ChainModel, planar: Planarity, recording: Recording) -> str:
    """Note on inclinations and variations of length, after a check of lengths."""
    for segment, length in zip(model.segments, planar.length_m, strict=True):
        if not SHORTEST_SEGMENT_M < length < LONGEST_M:
            raise SegmentError(
                f"{recording.source}: segment {segment.name} is {length:.4g} m long, expected {SHORTEST_SEGMENT_M} to "
                f"{LONGEST_M} m; check the marker mapping and the unit of the file (reading.length_unit)"
            )
    parts = [
        f"{segment.name} {tilt:.0f} deg and {100 * variation:.1f} %"
        for segment, tilt, variation in zip(model.segments, planar.tilt_deg, planar.length_variation, strict=True)
    ]
    return f"inclination to the plane and variation of length: {', '.join(parts)}"


def inertial_constants(
    limb: Limb, settings: Settings, placed: Placement, joint_m: FloatArray
) -> tuple[Chain, tuple[str, ...]]:
    """Constants of a limb's chain from its table of segment parameters.

    Parameters
    ----------
    limb : Limb
        Chain, subject and body mass.
    settings : Settings
        Table of segment parameters, and added masses.
    placed : Placement
        Landmarks and joints in the laboratory frame.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints and endpoint in the plane, m.

    Returns
    -------
    chain : Chain
        Lengths and inertial constants; lengths are projected (docs/decisions/0002): the table's length of a segment inclined to
        the plane is shortened like its projection.
    notes : tuple of str
        Segments with a centre of mass beside the line between their joints.

    Raises
    ------
    LandmarkError
        A length is unknown in all frames.
    SegmentError
        A length varies too much for one rigid segment, or a parameter is impossible.
    """
    model, rows = limb.model(settings), limb.segment_rows(settings)
    link_length = lengths(np.diff(joint_m, axis=1)).mean(axis=0)
    shares = link_length / placed.planarity.length_m
    between, coms, notes = {}, {}, []
    for link, (segment, row) in enumerate(zip(model.segments, rows, strict=True)):
        length_m = _length(segment.name, row, placed.landmarks)
        between[segment.row] = (row.proximal, row.distal, length_m * float(shares[link]))
        if row.com_from == "landmark":
            own_m = limb.measured.get(f"{segment.row}_length_m", length_m)
            along, beside = _com_on_link(row, placed, link, own_m / length_m)
            coms[f"{segment.row}_com_m"] = along * float(shares[link])
            if beside > NOTED_M and f"{segment.row}_com_m" not in limb.measured:
                notes.append(
                    f"segment {segment.name}: the centre of mass, from {row.proximal} to {row.distal}, is {1e3 * beside:.0f} mm "
                    "from the line between the joints, and is projected on it"
                )
    chain = segment_chain(
        [segment.row for segment in model.segments],
        table={segment.row: row for segment, row in zip(model.segments, rows, strict=True)},
        body_mass_kg=limb.body_mass_kg,
        link_length_m=link_length.tolist(),
        measured_between=between,
        measured={**coms, **_shortened(limb.measured, model, shares)},
    )
    for link, segment in enumerate(model.segments):
        if added := settings.segments.added.get(segment.name):
            chain = chain.holding(added.mass_kg, link=link, along_m=added.fraction * float(link_length[link]))
    return chain, tuple(notes)


def _length(segment: str, row: Row, landmarks: Mapping[str, FloatArray]) -> float:
    """Mean distance between the landmarks of a row, m."""
    distances = lengths(landmarks[row.distal] - landmarks[row.proximal])
    known = distances[~np.isnan(distances)]
    if not known.size:
        raise LandmarkError(
            f"segment {segment}: no frame has both {row.proximal} and {row.distal}, so its length is unknown; "
            "check their markers"
        )
    mean, sd = float(known.mean()), float(known.std())
    if row.com_from == "landmark" and sd > MAX_VARIATION * mean:
        raise SegmentError(
            f"segment {segment}: the length from {row.proximal} to {row.distal} varies by {100.0 * sd / mean:.0f} % (standard "
            f"deviation), expected at most {100.0 * MAX_VARIATION:.0f} %: they are not on one rigid segment; choose another "
            "segments.table, or check the markers"
        )
    return mean


def _com_on_link(row: Row, placed: Placement, link: int, stretched: float) -> tuple[float, float]:
    """Mean distance of a centre of mass along and across the link, m."""
    near, far = placed.joints_m[:, link], placed.joints_m[:, link + 1]
    way = (far - near) / lengths(far - near)[:, None]
    proximal = placed.landmarks[row.proximal]
    from_joint = proximal + row.com * stretched * (placed.landmarks[row.distal] - proximal) - near
    along = np.sum(from_joint * way, axis=1)
    beside = lengths(from_joint - along[:, None] * way)
    return float(np.nanmean(along)), float(np.nanmean(beside))


def _shortened(measured: Mapping[str, float], model: ChainModel, shares: FloatArray) -> dict[str, float]:
    """Segment parameters with lengths and inertias projected on the plane."""
    powers = {"length_m": 1, "com_m": 1, "inertia_kgm2": 2, "mass_kg": 0}
    return {
        name: measured[name] * share**power
        for segment, share in zip(model.segments, shares.tolist(), strict=True)
        for quantity, power in powers.items()
        if (name := f"{segment.row}_{quantity}") in measured
    }
