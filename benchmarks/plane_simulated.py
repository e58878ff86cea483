"""Errors of planar torques on simulated walks, turns and reaches in space with exact moments about exact axes.

The bodies of ``benchmark/`` walk and reach; a recording in memory holds their joint centres and points on the flexion axes, without
noise, and segment parameters are those of the body: what is left is the cost of the plane. For the calibration of the metrics these
points are displaced (`PLACED_M`). Writes tables and the picture of docs/plane.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from plug_in_gait import write
from scipy.stats import rankdata

import limbtorque as lt
from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.figures.style import MM, STYLE, TWO_COLUMNS_MM, save_figure
from limbtorque.quality.checks import BY_NAME
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import Settings, make_settings

ROOT = Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures"
sys.path.insert(0, str(ROOT / "benchmark"))
from bodies import ARM, LEG, SIDES, Person, make_person  # noqa: E402
from movements import reach_in_space  # noqa: E402
from space import net_moments  # noqa: E402
from walks import Moved, Style, walk_in_space  # noqa: E402

RATE_HZ, EDGE = 100.0, 3  # frames at the ends, whose derivatives are one-sided
HALF_M = 0.05  # from a joint centre to the points on its axis
PLACED_M = {"HJC": 0.01}  # standard deviation of a point along each axis, others:
OTHERS_M = 0.006
JOINTS = {"leg": ("hip", "knee", "ankle"), "arm": ("shoulder", "elbow", "wrist")}
LIMIT = 0.1  # error, relative to the range of the moment, that the metrics are to find
CALIBRATION, HELD_OUT = (37, 38, 39, 40), (137, 138, 139, 140)  # seeds: the thresholds were chosen by the first ones
RESAMPLED = 400  # times, for sampling errors
BINS_DEG = (0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 90.0)
COLOURS = {"straight": "#0072B2", "turn": "#D55E00"}
RULES = {
    "leg": {
        **{
            "hip_axis": "{S}HJC",
            "knee_axis": "{S}KJC",
            "ankle_axis": "{S}AJC",
            "anterior_superior_iliac_spine": "{S}ASI",
        },
        **{"lateral_condyle": "{S}KLA", "medial_condyle": "{S}KME", "lateral_malleolus": "{S}ALA"},
        **{"medial_malleolus": "{S}AME", "head_of_metatarsal_2": "{S}TOE", "heel": "{S}HEE"},
    },
    "arm": {
        **{"glenohumeral_axis": "{S}SJC", "elbow_axis": "{S}EJC", "wrist_axis": "{S}WJC"},
        **{
            "lateral_epicondyle": "{S}ELA",
            "medial_epicondyle": "{S}EME",
            "knuckle_2_middle_finger": "{S}KNU",
            "acromion": "{S}SHO",
        },
    },
}
SUBSTITUTES = {
    "leg": {"greater_trochanter": "hip_axis", "femoral_condyles": "knee_axis"},
    "arm": {"ulnar_styloid": "wrist_axis"},
}


@dataclass(frozen=True)
class Limb:
    """Planar torques of a limb beside exact moments, over the frames of both.

    Attributes
    ----------
    movement : str
        Kind of movement.
    angle_deg, off : dict of str to ndarray of shape (n_frames,)
        By joint: angle between its flexion axis and the plane's normal, and error of the planar torque, relative to the range
        of the exact moment.
    loaded : ndarray of bool, shape (n_frames,)
        Frames in stance.
    out_of_plane : float
        The metric `out_of_plane_share`.
    differences : mapping of str to float
        The metric `plane_difference`.
    """

    movement: str
    angle_deg: Mapping[str, FloatArray]
    off: Mapping[str, FloatArray]
    loaded: BoolArray
    out_of_plane: float
    differences: Mapping[str, float]

    def error(self, joint: str) -> float:
        """Root mean square error of a joint, relative to the range of its moment."""
        return _rms(self.off[joint])


@dataclass(frozen=True)
class Movement:
    """A person in motion, with exact moments about the flexion axes by segment."""

    name: str
    person: Person
    moved: Moved
    moments: Mapping[str, FloatArray]


LimbSet = tuple[list[Limb], list[Limb]]  # without and with misplaced points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=40, help="straight walks, and as many turns")
    parser.add_argument("--sets", type=int, default=len(HELD_OUT), help="sets of as many walks, and of those held out")
    parser.add_argument("--write", type=Path, help="page whose tables are replaced; the picture goes to docs/figures")
    options = parser.parse_args()
    rng = np.random.default_rng(CALIBRATION[0])
    calibration = [analysed_set(rng, options.walks), *sets_of(CALIBRATION[1 : options.sets], options.walks)]
    sets = {"calibration": calibration, "held out": sets_of(HELD_OUT[: options.sets], options.walks)}
    exact = calibration[0][0]
    tables = [
        property_table(),
        angle_table(exact),
        calibration_table({name: alarms(some) for name, some in sets.items()}),
        plane_table(rng, options.walks // 5),
    ]
    if options.write:
        write(options.write, tables, first=5)
        draw(exact, FIGURES)
    print("\n\n".join(tables))


def analysed_set(rng: np.random.Generator, number: int) -> LimbSet:
    """Every limb of walks and turns, without and with misplaced points."""
    moving = walks_of(rng, number)
    return [limb for each in moving for limb in limbs(each)], [
        limb for each in moving for limb in limbs(each, errors=rng)
    ]


def sets_of(seeds: Iterable[int], number: int) -> list[LimbSet]:
    """Sets of walks, by their seeds."""
    return [analysed_set(np.random.default_rng(seed), number) for seed in seeds]


# --- movements ------------------------------------------------------------------------------------------------------------


def walks_of(rng: np.random.Generator, number: int) -> list[Movement]:
    """Straight walks, and as many along arcs of 1 to 8 m, each of a person with a way of walking of their own."""
    straight = [drawn_walk("straight", rng) for _ in range(number)]
    return straight + [drawn_walk("turn", rng, radius_m=(1.0, 8.0)) for _ in range(number)]


def drawn_walk(name: str, rng: np.random.Generator, **given: float | tuple[float, float]) -> Movement:
    """A walk that a leg can reach; of two numbers the radius is drawn between them."""
    while True:
        chosen = {
            key: np.exp(rng.uniform(*np.log(value))) if isinstance(value, tuple) else value
            for key, value in given.items()
        }
        try:
            return walk(name, style_of(rng, **chosen))
        except ValueError:  # a long stride along a narrow arc
            continue


def style_of(rng: np.random.Generator, **given: float) -> Style:
    """Walk of a person."""
    return Style(
        stride_s=rng.uniform(1.0, 1.25),
        speed_m_s=rng.uniform(0.8, 1.3),
        width_m=rng.uniform(0.06, 0.15),
        toe_out_deg=rng.uniform(-5.0, 20.0),
        list_deg=rng.uniform(1.0, 8.0),
        rotation_deg=rng.uniform(0.0, 10.0),
        knee_rotation=rng.uniform(0.0, 0.25),
        knee_abduction=rng.uniform(-0.05, 0.1),
        **given,
    )


def walk(name: str, style: Style) -> Movement:
    """A walk of one and a half strides."""
    person = make_person("walker", "leg", mass_kg=70.0, height_m=1.75)
    time_s = np.arange(-0.1, 1.6 * style.stride_s, 1.0 / RATE_HZ)
    moved = walk_in_space(person, style, time_s)
    return Movement(name, person, moved, net_moments(person.body, moved.states, moved.loads))


def reach(name: str, *, yaw_deg: float, across_deg: float, time_s: float) -> Movement:
    """A reach forward from a bent elbow, of a body turned by `yaw_deg`, with the shoulder turned across the body."""
    person = make_person("sitter", "arm", mass_kg=70.0, height_m=1.75)
    at_rest = (yaw_deg, 0.0, 0.0, 5.0, 0.0, 0.0, 90.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    reached = (yaw_deg, 0.0, 0.0, 70.0, -across_deg, across_deg, 30.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    moved = reach_in_space(person, [(0.0, at_rest), (time_s, reached)], np.arange(-0.2, time_s + 0.2, 1.0 / RATE_HZ))
    return Movement(name, person, moved, net_moments(person.body, moved.states))


# --- recordings and analysis ----------------------------------------------------------------------------------------------


def points_of(movement: Movement) -> Iterator[tuple[str, str, FloatArray]]:
    """Label, segment and place in the segment of every point of the recording."""
    body = movement.person.body
    for side, limb in movement.person.limbs.items():
        letter, away = side[0].upper(), 1.0 if side == "right" else -1.0
        for joint, name in zip(JOINTS[movement.person.chain], limb, strict=True):
            yield f"{letter}{joint[0].upper()}JC", name, np.zeros(3)
            if joint in ("knee", "ankle", "elbow"):
                segment, axis = body[name], body[name].axes[0] * np.sign(body[name].axes[0][2]) * away
                yield f"{letter}{joint[0].upper()}LA", segment.parent, segment.centre_m + HALF_M * axis
                yield f"{letter}{joint[0].upper()}ME", segment.parent, segment.centre_m - HALF_M * axis
        if movement.person.chain == "arm":
            yield from ((label, "trunk", body["trunk"].markers_m[label]) for label in ("RSHO", "LSHO"))
        end = "TOE" if movement.person.chain == "leg" else "KNU"
        yield f"{letter}{end}", limb[-1], 2.0 * body[limb[-1]].com_m  # so that the centre of mass is on the line
        if movement.person.chain == "leg":
            yield f"{letter}HEE", limb[-1], body[limb[-1]].markers_m[f"{letter}HEE"]
            yield f"{letter}ASI", "pelvis", body["pelvis"].markers_m[f"{letter}ASI"]


def recording_of(movement: Movement, errors: np.random.Generator | None) -> Recording:
    """Recording of a movement, with misplaced points if asked."""
    labels, places = [], []
    for label, segment, place_m in points_of(movement):
        size_m = PLACED_M.get(label[1:], OTHERS_M) if errors else 0.0
        moved_m = errors.normal(0.0, size_m, 3) if errors else np.zeros(3)
        labels.append(label)
        places.append(movement.moved.states[segment].point(place_m + moved_m))
    plates = []
    for number, load in enumerate(movement.moved.loads, start=1):
        pressed = load.force_n[:, 1] > 20.0
        corners_m = np.tile(load.point_m[pressed].mean(axis=0), (4, 1))
        moment_nm = np.cross(load.point_m, load.force_n) + load.moment_nm
        plates.append(ForcePlate(number, 0, corners_m, RATE_HZ, load.force_n, moment_nm))
    return Recording(
        source=movement.name,
        sha256="",
        reader="simulation",
        labels=tuple(labels),
        markers_m=np.stack(places, axis=1),
        rate_hz=RATE_HZ,
        first_frame=1,
        modelled_labels=(),
        model_outputs=(),
        events=(),
        analog_labels=(),
        analog_units=(),
        analog=np.zeros((0, 0)),
        analog_rate_hz=0.0,
        force_plates=tuple(plates),
        notes=(),
    )


def settings_of(chain: str, plane: Mapping[str, str], number: int) -> Settings:
    """Settings without a filter; the plate of a foot has its number."""
    return make_settings(
        {
            "plane": {"up_axis": "+y", **plane},
            "marker_sets": {"m": RULES[chain]},
            "substitutes": {"m": SUBSTITUTES[chain]},
            "plates": {"assignment": number, "remove_offset": False} if chain == "leg" else {},
            "gaps": {"constant_marker": "accept"},
            "filter": {"method": "none"},
            "motion": {"angles": "segments"},
            "torques": {"in_space": True},
            "muscles": {"enabled": False},
            "uncertainty": {"enabled": False},
        }
    )


def limbs(
    movement: Movement, *, errors: np.random.Generator | None = None, plane: Mapping[str, str] | None = None
) -> Iterator[Limb]:
    """Every limb of a movement, analysed in a plane."""
    recording, person = recording_of(movement, errors), movement.person
    for number, side in enumerate(SIDES, start=1):
        if side not in person.limbs:
            continue
        names = dict(zip(JOINTS[person.chain], person.limbs[side], strict=True))
        measured: dict[str, float] = {}
        for row, name in zip(LEG if person.chain == "leg" else ARM, names.values(), strict=True):
            segment = person.body[name]
            measured[f"{row}_mass_kg"] = segment.mass_kg
            measured[f"{row}_com_m"] = float(np.linalg.norm(segment.com_m))
            measured[f"{row}_inertia_kgm2"] = float(segment.inertia_kgm2[2, 2])
        limb = lt.Limb(person.chain, side=side, body_mass_kg=person.mass_kg, measured=measured)
        result = lt.analyse_recording(recording, limb, settings_of(person.chain, plane or {}, number))
        yield limb_of(result, movement, names, number)


def limb_of(result: lt.TrialResult, movement: Movement, names: Mapping[str, str], number: int) -> Limb:
    """Errors and angles of an analysed limb."""
    frames, record = result.motion.frame - 1, result.records["torques"]
    planar = result.to_dataframe("torques", positive="flexion")
    torques = {joint: planar[f"{joint}_torque_nm"].to_numpy() for joint in names}
    known = np.isfinite(np.stack([*torques.values()])).all(axis=0)
    known[:EDGE] = known[-EDGE:] = False
    angle_deg, off = {}, {}
    for joint, name in names.items():
        exact = movement.moments[name][frames, 0]
        cosine = movement.moved.states[name].axes[frames, 0] @ result.motion.plane.normal
        angle_deg[joint] = np.degrees(np.arccos(np.clip(np.abs(cosine), 0.0, 1.0)))[known]
        off[joint] = ((torques[joint] - exact) / np.ptp(exact))[known]
    loads = movement.moved.loads
    loaded = loads[number - 1].force_n[frames, 1] > 20.0 if loads else np.zeros(len(frames), dtype=bool)
    differences = record.joint_metrics["plane_difference"]
    return Limb(movement.name, angle_deg, off, loaded[known], record.metrics["out_of_plane_share"], differences)


def analysed(some: Iterable[Movement], plane: Mapping[str, str]) -> list[Limb]:
    """The limbs whose analysis is not refused."""
    results: list[Limb] = []
    for movement in some:
        try:
            results += limbs(movement, plane=plane)
        except lt.LimbtorqueError as error:
            print(f"{movement.name}, {plane}: {error}")
    return results


# --- tables and picture ---------------------------------------------------------------------------------------------------


def property_table() -> str:
    """Error with one property of a planar walk changed at a time."""
    planar = {"toe_out_deg": 0.0, "list_deg": 0.0, "rotation_deg": 0.0, "knee_rotation": 0.0, "knee_abduction": 0.0}
    changes: dict[str, dict[str, float]] = {
        "none": {},
        "pelvis lists by 8 degrees": {"list_deg": 8.0},
        "pelvis rotates by 10 degrees": {"rotation_deg": 10.0},
        "toes out by 20 degrees": {"toe_out_deg": 20.0},
        "knee rotates by 1/4 of its flexion": {"knee_rotation": 0.25},
        "arc of 4 m": {"radius_m": 4.0},
        "arc of 1.25 m": {"radius_m": 1.25},
        "walk 10 degrees off the laboratory's axis": {"direction_deg": 10.0},
    }
    lines = ["| change | hip | knee | ankle | `out_of_plane_share` |", "| --- " + "| ---: " * 4 + "|"]
    for name, change in changes.items():
        plane = {"forward_axis": "+x" if "direction_deg" in change else "travel"}
        some = analysed([walk(name, Style(**planar | change))], plane)
        share = np.mean([limb.out_of_plane for limb in some])
        lines.append(f"| {name} | {' | '.join(_errors(some))} | {share:.2f} |")
    return "\n".join(lines)


def angle_table(some: Sequence[Limb]) -> str:
    """Error by joint, phase and angle out of the plane."""
    pairs = list(pairwise(BINS_DEG))
    lines = [
        f"| joint | phase | {' | '.join(f'{low:.0f} to {high:.0f}' for low, high in pairs)} |",
        "| --- | --- " + "| ---: " * len(pairs) + "|",
    ]
    for joint in JOINTS["leg"]:
        angle_deg, off, loaded = (
            np.concatenate([values(limb) for limb in some])
            for values in (partial(_of, "angle_deg", joint), partial(_of, "off", joint), lambda limb: limb.loaded)
        )
        for phase, inside in (("stance", loaded), ("swing", ~loaded)):
            chosen = [inside & (angle_deg >= low) & (angle_deg < high) for low, high in pairs]
            cells = [f"{100.0 * _rms(off[each]):.1f}" if each.sum() > 50 else "" for each in chosen]
            lines.append(f"| {joint} | {phase} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _of(name: str, joint: str, limb: Limb) -> FloatArray:
    values: FloatArray = getattr(limb, name)[joint]
    return values


@dataclass(frozen=True)
class Alarms:
    """Values of a metric over its threshold, of joints or legs.

    Attributes
    ----------
    metric, of : str
        Name of the metric, and what has its values.
    value : ndarray of shape (n_walks, n_values)
        Values, relative to the threshold.
    wrong, straight : ndarray of bool, shape (n_walks, n_values)
        An error of the plane above `LIMIT`; on a straight walk.
    """

    metric: str
    of: str
    value: FloatArray
    wrong: BoolArray
    straight: BoolArray

    def figures(self, walks: NDArray[np.int64] | slice = slice(None)) -> FloatArray:
        """Area, and shares of errors found, false alarms on straight walks, and all false alarms."""
        value, wrong, straight = (each[walks].ravel() for each in (self.value, self.wrong, self.straight))
        some = (wrong, straight & ~wrong, ~wrong)
        return np.array([area(value, wrong), *((value > 1.0)[each].mean() for each in some)])

    def sampling_error(self) -> FloatArray:
        """Standard deviation of the figures, by drawing walks with replacement."""
        rng, n = np.random.default_rng(1), len(self.value)
        with warnings.catch_warnings(action="ignore"):  # of a few walks none may have an error
            return np.nanstd([self.figures(rng.integers(0, n, n)) for _ in range(RESAMPLED)], axis=0)


def alarms(sets: Sequence[LimbSet]) -> list[Alarms]:
    """Metrics of legs with misplaced points, beside their errors; both legs of a walk in a row."""
    exact, misplaced = ([limb for some in sets for limb in some[k]] for k in (0, 1))
    joints, shape = JOINTS["leg"], (len(exact) // len(SIDES), -1)
    wrong = np.array([[limb.error(joint) > LIMIT for joint in joints] for limb in exact])
    straight = np.array([[limb.movement == "straight"] * len(joints) for limb in exact])
    allowed = np.array([BY_NAME["plane_difference"].allowed_at(joint, Quality()) for joint in joints])
    differences = np.array([[limb.differences[joint] for joint in joints] for limb in misplaced]) / allowed
    shares = np.array([limb.out_of_plane for limb in misplaced]) / Quality().out_of_plane_share
    of_joints = wrong.reshape(shape), straight.reshape(shape)
    of_legs = wrong.any(axis=1).reshape(shape), straight[:, 0].reshape(shape)
    return [
        Alarms("out_of_plane_share", "legs", shares.reshape(shape), *of_legs),
        Alarms("plane_difference", "joints", differences.reshape(shape), *of_joints),
        Alarms("plane_difference", "legs", differences.max(axis=1).reshape(shape), *of_legs),
    ]


def calibration_table(sets: Mapping[str, Sequence[Alarms]]) -> str:
    """Area and alarms of the metrics for errors of the plane above `LIMIT`, with misplaced points, by set of walks."""
    lines = [
        "| metric | of | walks | errors above 10 % | area | found, % | false alarms, straight, % | false alarms, all, % |",
        "| --- | --- | --- " + "| ---: " * 5 + "|",
    ]
    for rows in zip(*sets.values(), strict=True):
        for name, each in zip(sets, rows, strict=True):
            first, *others = zip(each.figures(), each.sampling_error(), strict=True)
            cells = [f"{each.wrong.sum()} of {each.wrong.size}", f"{first[0]:.3f} ± {first[1]:.3f}"]
            cells += [f"{100.0 * value:.1f} ± {100.0 * error:.1f}" for value, error in others]
            lines.append(f"| `{each.metric}` | {each.of} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def area(values: FloatArray, wrong: BoolArray) -> float:
    """Area under the curve of found errors over false alarms (Mann and Whitney 1947)."""
    n, m = wrong.sum(), (~wrong).sum()
    return float((rankdata(values)[wrong].sum() - n * (n + 1) / 2.0) / (n * m))


def plane_table(rng: np.random.Generator, number: int) -> str:
    """Error by movement and plane, of the joints from proximal to distal."""
    walks: dict[str, dict[str, float | tuple[float, float]]] = {
        "walk along the axis": {},
        "walk 20 degrees off it": {"direction_deg": 20.0},
        "arc of 3 to 8 m": {"radius_m": (3.0, 8.0)},
        "arc of 1 to 2 m": {"radius_m": (1.0, 2.0)},
    }
    movements = {name: [drawn_walk(name, rng, **given) for _ in range(number)] for name, given in walks.items()}
    for name, yaw_deg, across_deg in (
        ("forward", 0.0, 0.0),
        ("20 degrees off", 20.0, 0.0),
        ("across the body", 0.0, 30.0),
    ):
        reaches = [reach(name, yaw_deg=yaw_deg, across_deg=across_deg, time_s=s) for s in rng.uniform(0.5, 0.9, number)]
        movements[f"reach {name}"] = reaches
    lines = [
        "| movement | laboratory axis | `travel` | `pelvis`, `thorax` | `best_fit` |",
        "| --- " + "| ---: " * 4 + "|",
    ]
    for name, some in movements.items():
        leg = some[0].person.chain == "leg"
        planes: list[dict[str, str] | None] = [
            {"forward_axis": "+x"},
            {"forward_axis": "travel"} if leg else None,
            {"forward_axis": "pelvis" if leg else "thorax"},
            {"kind": "best_fit", "forward_axis": "travel" if leg else "+x"},
        ]
        each = [analysed(some, plane) if plane else [] for plane in planes]
        lines.append(f"| {name} | {' | '.join(' / '.join(_errors(part)) if part else '' for part in each)} |")
    return "\n".join(lines)


def _errors(some: Sequence[Limb]) -> list[str]:
    """Mean error of each joint, % of the range of its moment."""
    return [f"{100.0 * np.mean([limb.error(joint) for limb in some]):.1f}" for joint in some[0].off]


def draw(some: Sequence[Limb], folder: Path) -> None:
    """Error of each leg's joints over the angle between flexion axis and normal."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 62.0 * MM), layout="constrained")
        for panel, joint in zip(figure.subplots(1, 3, sharex=True, sharey=True), JOINTS["leg"], strict=True):
            for movement, mark in (("straight", "o"), ("turn", "^")):
                legs = [limb for limb in some if limb.movement == movement]
                angle_deg, error = (
                    [_rms(limb.angle_deg[joint]) for limb in legs],
                    [100.0 * limb.error(joint) for limb in legs],
                )
                panel.plot(angle_deg, error, mark, color=COLOURS[movement], markersize=3, label=movement)
            panel.axhline(100.0 * LIMIT, color="0.5", linewidth=0.6, linestyle="--")
            panel.set(title=joint, xlabel="flexion axis from normal (deg)")
        figure.axes[0].set(ylabel="error (% of the range)", xlim=(0.0, None), ylim=(0.0, None))
        figure.axes[0].legend(frameon=False, loc="upper left")
        save_figure(figure, folder / "plane.png")


def _rms(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


if __name__ == "__main__":
    main()
