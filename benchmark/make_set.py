"""Write a set of recordings with exact angles, moments and terms beside them.

python benchmark/make_set.py DIR --seed 1 --trials 60 [--small] [--faults]
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage

import files
import planar_movements as planar
from bodies import JOINTS, MEDIAL, SIDES, Person, make_person
from limbtorque.simulation.gait import Walker
from movements import Stance, movement_in_space, reach_in_space
from space import UP, FloatArray, Load, Motion, flexion_terms, net_moments, states_of
from walks import Moved, Style, walk_in_space

GROUPS = (("walk", "turn", "run", "squat", "reach"), ("walk", "walk", "jump", "run", "reach"))
TRACKS = ("body_given", "mass_and_height")
RATES_HZ = {"walk": 100, "turn": 100, "run": 200, "jump": 200, "squat": 100, "reach": 100}
DRAWS = 20  # of a movement that would be out of reach
FORCE_RATE_HZ, SMALL_FORCE_RATE_HZ = 1000, 200
SMALL = (*range(10), 12)  # numbers of the small set's trials
LOADED_N, PLATE_M, ROUNDS = 20.0, 0.5, 60  # ROUNDS: of moving plates apart
APART_M = 0.504  # between the middles of plates that would overlap
CORNERS_M = 0.5 * PLATE_M * np.array([[1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, 0.0, -1.0]])
ON_PLATE_M = 0.24  # the centre of pressure is nearer to the middle of its plate
SKIN_M = {"thigh": 0.008, "shank": 0.005, "upper_arm": 0.006, "forearm": 0.004, "pelvis": 0.003}  # largest displacement
FAULTS = ("plate_gain", "plate_moved", "forces_late", "markers_exchanged")


@dataclass(frozen=True)
class Plate:
    """Plate below a foot: its middle, and force on the foot and moment about the laboratory's origin, (n_samples, 3)."""

    foot: str
    middle_m: FloatArray
    force_n: FloatArray
    moment_nm: FloatArray


@dataclass(frozen=True)
class Trial:
    """A trial of the set.

    Attributes
    ----------
    name, movement, track : str
        Its name and kind.
    person : Person
        Who moves.
    moved : Moved
        Exact motion and loads at the rate of the markers.
    plates : list of Plate
        Plates under the feet.
    force_rate_hz : int
        Rate of the plates.
    noise_m : float
        Standard deviation of the noise of markers.
    fault : str
        Fault of the recording; none: empty.
    """

    name: str
    movement: str
    track: str
    person: Person
    moved: Moved
    plates: list[Plate]
    force_rate_hz: int
    noise_m: float
    fault: str = ""

    @property
    def rate_hz(self) -> int:
        """Rate of the markers."""
        return RATES_HZ[self.movement]

    @property
    def z_up(self) -> bool:
        """True where the laboratory's z axis is up, else y."""
        return int(self.person.name[1:]) % 4 < 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the set, new or empty")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--small", action="store_true", help=f"{len(SMALL)} trials, plates at {SMALL_FORCE_RATE_HZ} Hz")
    parser.add_argument("--faults", action="store_true", help="a fault in every third recording")
    options = parser.parse_args()
    if options.folder.exists() and any(options.folder.iterdir()):
        parser.error(f"{options.folder} is not empty")
    numbers, rate = (SMALL, SMALL_FORCE_RATE_HZ) if options.small else (range(options.trials), FORCE_RATE_HZ)
    write_set(options.folder, seed=options.seed, numbers=numbers, force_rate_hz=rate, faults=options.faults)


def write_set(folder: Path, *, seed: int, numbers: Iterable[int], force_rate_hz: int, faults: bool = False) -> None:
    """Write trials of the set and the hashes of its files."""
    table = []
    for number in numbers:
        trial = make_trial(seed, number, force_rate_hz)
        if faults and number % 3 == 2 and trial.plates:
            trial = replace(trial, fault=FAULTS[number // 3 % len(FAULTS)])
        if not (folder / "recordings" / f"{trial.person.name}_static.c3d").exists():
            write_subject(folder, trial.person, trial.track)
        write_recording(folder / "recordings", trial, np.random.default_rng([seed, number, 1]))
        table.append(write_truth(folder / "truth", trial))
    pd.DataFrame(table).to_csv(folder / "trials.csv", index=False, lineterminator="\n")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    files.write_text(folder / "hashes.json", json.dumps(hashes, indent=1) + "\n")


def make_subject(seed: int, group: int, movement: str) -> Person:
    """The person of a group of trials: of its legs, or of its arm."""
    rng = np.random.default_rng([seed, 1000 + group])
    height, sex = round(rng.uniform(1.50, 1.95), 3), ("female", "male")[int(rng.integers(2))]
    mass, side = round(rng.uniform(19.0, 28.0) * height**2, 1), ("right", "left")[int(rng.integers(2))]
    chain, unlike = "arm" if movement == "reach" else "leg", rng if group % 2 else None
    name = f"{chain[0].upper()}{group + 1:02d}"
    return make_person(name, chain, mass_kg=mass, height_m=height, sex=sex, side=side, unlike=unlike)


def in_plane(movement: str, track: str) -> bool:
    """True for a movement in a plane."""
    return movement in ("squat", "jump") and track == "body_given"


def make_trial(seed: int, number: int, force_rate_hz: int) -> Trial:
    """A movement of a person, each time a little different; drawn again where a foot, hand or plate would be out of reach."""
    group, place = divmod(number, len(GROUPS[0]))
    movement, track = GROUPS[group // 2 % 2][place], TRACKS[group % 2]
    person, rng = make_subject(seed, group, movement), np.random.default_rng([seed, number])
    every = 1 if movement == "reach" else max(force_rate_hz // RATES_HZ[movement], 1)
    for _ in range(DRAWS):
        try:
            moved = _drawn(rng, movement, person, in_plane(movement, track), every)
            plates = plates_of(moved)
        except ValueError as error:
            reason = error
            continue
        name, noise_m = f"T{number + 1:03d}_{movement}", round(rng.uniform(0.0002, 0.001), 5)
        moved = sampled(person, moved, every)
        return Trial(name, movement, track, person, moved, plates, every * RATES_HZ[movement], noise_m)
    raise ValueError(f"trial {number + 1} of seed {seed}: none of {DRAWS} draws suits: {reason}")


def _drawn(rng: np.random.Generator, movement: str, person: Person, is_planar: bool, every: int) -> Moved:
    """A movement by the generator's next numbers, at times of the plates, a whole number for each frame."""

    def times(duration_s: float) -> FloatArray:
        return np.arange(int(duration_s * RATES_HZ[movement]) * every) / (every * RATES_HZ[movement])

    pace = np.sqrt(person.height_m / 1.75)
    direction = 90.0 * int(rng.integers(4)) + rng.uniform(-20.0, 20.0)
    if movement == "reach":
        course = _reach(person, rng)
        return reach_in_space(person, course, times(course[-1][0] + 0.4))
    if movement in ("walk", "turn"):
        style = Style(
            stride_s=rng.uniform(1.0, 1.2) * pace,
            speed_m_s=rng.uniform(0.9, 1.0 if movement == "turn" else 1.3) * pace,
            toe_out_deg=rng.uniform(0.0, 15.0),
            width_m=0.07 * person.height_m,
            list_deg=rng.uniform(2.0, 6.0),
            rotation_deg=rng.uniform(2.0, 7.0),
            direction_deg=direction,
            radius_m=float(rng.choice([-1.0, 1.0])) * rng.uniform(1.5, 4.0) if movement == "turn" else np.inf,
            first_strike_s=rng.uniform(0.1, 0.4),
        )
        return walk_in_space(person, style, times(style.first_strike_s + 1.8 * style.stride_s))
    course, stance = _course(movement, person, rng, is_planar)
    return movement_in_space(person, course, replace(stance, direction_deg=direction), times(course.duration_s - 0.05))


def _course(movement: str, person: Person, rng: np.random.Generator, is_planar: bool) -> tuple[planar.Movement, Stance]:
    """Planar course of a run, jump or squat, and what is added in space."""
    pace, height = np.sqrt(person.height_m / 1.75), person.height_m
    walker = Walker(person.mass_kg, height, speed_m_s=rng.uniform(2.6, 3.6) * pace)
    if movement == "run":
        contact, flight = rng.uniform(0.19, 0.22) * pace, rng.uniform(0.09, 0.14) * pace
        out, sway = rng.uniform(0.0, 10.0), rng.uniform(3.0, 6.0)
        stance = Stance(
            0.06, out, sway_deg=sway, stride_s=2.0 * (contact + flight), hip_rotation_deg=-3.0, coupled=(0.0, 0.08)
        )
        return planar.run(walker, contact_s=contact, flight_s=flight, steps=4), stance
    hips, balanced = 2.0 * person.body["right_thigh"].centre_m[2], movement == "squat"
    stance = Stance(hips * rng.uniform(1.2, 1.9), rng.uniform(5.0, 20.0), balanced=balanced)
    if is_planar:
        stance = Stance(hips, 0.0, coupled=(0.0, 0.0), balanced=balanced)
    if movement == "jump":
        return planar.jump(walker, flight_s=rng.uniform(0.35, 0.5) * pace, down_s=rng.uniform(0.4, 0.55) * pace), stance
    down, way, lean = rng.uniform(0.1, 0.17) * height, rng.uniform(0.7, 1.1), rng.uniform(30.0, 50.0)
    return planar.on_the_spot("squat", walker, down_m=down, way_s=way, lean_deg=lean), stance


def _reach(person: Person, rng: np.random.Generator) -> list[tuple[float, FloatArray]]:
    """Times and postures of a reach to a target and back."""
    low = np.array([0.0, 0.0, 0.0, -10.0, 8.0, 0.0, 85.0, 4.0, 10.0, 0.0, 0.0, 0.0]) + rng.uniform(-4.0, 4.0, 12)
    far = np.array([8.0, 0.0, -8.0, 65.0, 20.0, 15.0, 30.0, 4.0, 40.0, 10.0, 5.0, 0.0]) + rng.uniform(-8.0, 8.0, 12)
    turn = np.array([-1.0 if "left_hand" in person.body else 1.0, 1.0, 1.0, *[1.0] * 9])
    way = rng.uniform(0.5, 0.9)
    return [(0.4, low * turn), (0.4 + way, far * turn), (0.8 + way, far * turn), (0.8 + 2.0 * way, low * turn)]


def write_subject(folder: Path, person: Person, track: str) -> None:
    """Write the standing trial of a person, and the body where it is given."""
    still, place = {name: np.zeros((3, 100, 3)) for name in person.body}, np.zeros((3, 100, 3))
    place[0, :, 1] = (0.536 if person.chain == "leg" else 0.35) * person.height_m
    states = states_of(person.body, Motion(still, {next(iter(person.body)): place}))
    markers = {
        label: states[name].point(at) for name in person.body for label, at in person.body[name].markers_m.items()
    }
    files.write_c3d(folder / "recordings" / f"{person.name}_static.c3d", markers, 100.0)
    files.write_trc(folder / "recordings" / f"{person.name}_static.trc", markers, 100.0)
    if track == "body_given":
        files.write_body(folder / "bodies" / person.name / "body.json", person)
        files.write_model(folder / "bodies" / person.name / "model.osim", person)


def changed(motion: Motion, change: Callable[[FloatArray], FloatArray]) -> Motion:
    """The motion with all its coordinates changed."""
    groups = (motion.angle_rad, motion.shift_m)
    return Motion(*({name: change(values) for name, values in group.items()} for group in groups))


def sampled(person: Person, moved: Moved, every: int) -> Moved:
    """Every frame of the markers of a movement."""
    part = slice(None, None, every)
    motion = changed(moved.motion, lambda values: values[:, part])
    loads = (Load(of.segment, *(each[part] for each in (of.force_n, of.point_m, of.moment_nm))) for of in moved.loads)
    return Moved(moved.time_s[part], motion, states_of(person.body, motion), tuple(loads), moved.events)


def recorded_markers(trial: Trial, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Markers with skin movement, noise and gaps, without medial ones."""
    moved, person, markers = trial.moved, trial.person, {}
    for name, segment in person.body.items():
        part, limbs = name.split("_", 1)[-1], sum(person.limbs.values(), ())
        flexion = moved.motion.angle_rad[name][0][:, 0 if name in limbs else 2]
        course = (flexion - flexion[0]) / max(np.abs(flexion - flexion[0]).max(), 0.2)
        for label, place in segment.markers_m.items():
            way, noise = rng.standard_normal(3), rng.standard_normal((moved.time_s.size, 3))
            if label[1:] in MEDIAL:
                continue
            slid = SKIN_M.get(part, 0.0) * course[:, None] * way / np.linalg.norm(way)
            slid = np.einsum("nij,nj->ni", moved.states[name].turn, slid)
            markers[label] = moved.states[name].point(place) + slid + trial.noise_m * noise
    for label in rng.choice(list(markers), 2, replace=False):
        start, frames = rng.integers(5, moved.time_s.size - 20), int(rng.uniform(0.03, 0.12) * trial.rate_hz)
        markers[label][start : start + frames] = np.nan
    if trial.fault == "markers_exchanged":
        knee, ankle, half = markers["RKNE"], markers["RANK"], moved.time_s.size // 2
        knee[half:], ankle[half:] = ankle[half:].copy(), knee[half:].copy()
    return markers


def plates_of(moved: Moved) -> list[Plate]:
    """A plate for each place where a foot stands; none overlaps another.

    Raises
    ------
    ValueError
        Plates that cannot be moved apart without losing their feet.
    """
    plates: list[Plate] = []
    for load in moved.loads:
        about = np.cross(load.point_m, load.force_n) + load.moment_nm
        steps, count = ndimage.label(load.force_n[:, 1] > 0.0)
        for number in range(1, count + 1):
            on = steps == number
            plate = Plate(load.segment, load.point_m[on].mean(axis=0), on[:, None] * load.force_n, on[:, None] * about)
            last = plates[-1] if plates else None
            if last and last.foot == plate.foot and np.abs(last.middle_m - plate.middle_m).max() < 0.25 * PLATE_M:
                plate = replace(last, force_n=last.force_n + plate.force_n, moment_nm=last.moment_nm + plate.moment_nm)
                plates.pop()
            plates.append(plate)
    middles = [plate.middle_m for plate in plates]
    for _ in range(ROUNDS):
        ways = [_way_apart(middle, middles) for middle in middles]
        middles = [middle + way for middle, way in zip(middles, ways, strict=True)]
    plates = [replace(plate, middle_m=np.round(middle, 3)) for plate, middle in zip(plates, middles, strict=True)]
    for first, second in combinations(plates, 2):
        if np.abs(first.middle_m - second.middle_m).max() < PLATE_M:
            raise ValueError(f"plates of {first.foot} and {second.foot} overlap")
    for plate in plates:
        point, loaded = point_of(plate.force_n, plate.moment_nm), plate.force_n[:, 1] > LOADED_N
        if np.abs(point - plate.middle_m * (1.0, 0.0, 1.0))[loaded].max() > ON_PLATE_M:
            raise ValueError(f"the {plate.foot} is beside its plate")
    return plates


def _way_apart(middle: FloatArray, middles: Sequence[FloatArray]) -> FloatArray:
    """Way by which a plate moves from those that it would overlap, half of it each."""
    way = np.zeros(3)
    for other in middles:
        between = middle - other
        axis = int(np.argmax(np.abs(between)))
        if other is not middle and np.abs(between[axis]) < APART_M:
            way[axis] += 0.5 * np.sign(between[axis]) * (APART_M - np.abs(between[axis]))
    return way


def point_of(force_n: FloatArray, moment_nm: FloatArray) -> FloatArray:
    """Centre of pressure on the ground, by force and moment about the laboratory's origin; 0 without a force."""
    upwards = np.where(force_n[:, 1] > 0.0, force_n[:, 1], np.inf)
    return np.stack([moment_nm[:, 2] / upwards, np.zeros(len(force_n)), -moment_nm[:, 0] / upwards], axis=1)


def disturbed(plate: Plate, fault: str, late: int, rng: np.random.Generator) -> Plate:
    """A plate with noise and a fault; `late` samples are 20 ms."""
    noise = 0.5 * rng.standard_normal(plate.force_n.shape)
    gain = 1.08 if fault == "plate_gain" else 1.0
    force, moment = gain * plate.force_n + noise, gain * plate.moment_nm + np.cross(plate.middle_m, noise)
    if fault == "plate_moved":
        moment = moment + np.cross([0.02, 0.0, 0.0], force)
    if fault == "forces_late":
        before = (np.arange(len(force)) - late).clip(0)
        force, moment = force[before], moment[before]
    return Plate(plate.foot, plate.middle_m, force, moment)


def write_recording(folder: Path, trial: Trial, rng: np.random.Generator) -> None:
    """Write the C3D file of a trial, and what OpenSim reads."""
    markers, rate, force_rate = recorded_markers(trial, rng), float(trial.rate_hz), float(trial.force_rate_hz)
    plates = [disturbed(plate, trial.fault, round(0.02 * force_rate), rng) for plate in trial.plates]
    corners = [(plate.middle_m + CORNERS_M, plate.force_n, plate.moment_nm) for plate in plates]
    about = {"plates": corners, "force_rate_hz": force_rate, "events": trial.moved.events, "z_up": trial.z_up}
    files.write_c3d(folder / f"{trial.name}.c3d", markers, rate, **about)
    files.write_trc(folder / f"{trial.name}.trc", markers, rate)
    if plates:
        files.write_mot(folder / f"{trial.name}_forces.mot", files.FORCE_COLUMNS, _foot_loads(plates), force_rate)
    files.write_setups(folder, trial.name, trial.person.name, trial.moved.time_s[-1], on_ground=bool(plates))


def _foot_loads(plates: Sequence[Plate]) -> FloatArray:
    """Force, centre of pressure and free moment of each foot, 0 where it is not loaded."""
    columns = []
    for side in SIDES:
        feet = [plate for plate in plates if plate.foot == f"{side}_foot"]
        force, moment = sum((of.force_n[:, 1:2] > LOADED_N) * np.stack([of.force_n, of.moment_nm]) for of in feet)
        point = point_of(force, moment)
        columns += [force, point, (moment - np.cross(point, force)) * UP]
    return np.concatenate(columns, axis=1)


def write_truth(folder: Path, trial: Trial) -> dict[str, object]:
    """Write the exact angles, moments, terms and events of a trial; return its row of the table."""
    moved, person = trial.moved, trial.person
    net, names = net_moments(person.body, moved.states, moved.loads), files.coordinates(person)
    rough = changed(moved.motion, lambda values: differences(values[0], trial.rate_hz))
    differenced = net_moments(person.body, states_of(person.body, rough), moved.loads)
    columns: dict[str, FloatArray] = {"time_s": moved.time_s}
    errors: dict[str, list[float]] = {joint: [] for joint in JOINTS[person.chain]}
    is_planar = in_plane(trial.movement, trial.track)
    for limb in person.limbs.values():
        terms = flexion_terms(person.body, moved.motion, moved.loads, limb, planar=is_planar)
        for k, (name, joint) in enumerate(zip(limb, errors, strict=True)):
            for unit, values in (("rad", moved.motion.angle_rad[name][0].T), ("nm", net[name].T)):
                columns |= {f"{column}_{unit}": value for column, value in zip(names[name], values, strict=True)}
            columns |= {f"{names[name][0]}_{term}_nm": values[:, k] for term, values in terms.items()}
            errors[joint].append(float(np.mean((differenced[name] - net[name])[1:-1, 0] ** 2)))
    table = np.stack(list(columns.values()), axis=1)
    decimals = [7 if name.endswith("_rad") else 5 for name in columns]
    files.write_text(folder / f"{trial.name}.csv", ",".join(columns) + "\n" + files.rows(table, decimals, ","))
    events = [f"{at:.6f},{side},{name}" for at, side, name in moved.events]
    files.write_text(folder / f"{trial.name}_events.csv", "\n".join(["time_s,side,event", *events]) + "\n")
    row = {"trial": trial.name, "subject": person.name, "movement": trial.movement, "track": trial.track}
    row |= {"chain": person.chain, "rate_hz": trial.rate_hz, "up_axis": "+z" if trial.z_up else "+y"}
    row |= {"force_rate_hz": str(trial.force_rate_hz) if moved.loads else ""}
    row |= {"mass_kg": person.mass_kg, "height_m": person.height_m, "sex": person.sex, "marker_noise_m": trial.noise_m}
    row |= {"faults": trial.fault}
    return row | {f"sampling_error_{joint}_nm": f"{np.sqrt(np.mean(squares)):.4f}" for joint, squares in errors.items()}


def differences(values: FloatArray, rate_hz: float) -> FloatArray:
    """Values with derivatives by differences of neighbouring frames, 0 at the ends."""
    before, here, after = values[:-2], values[1:-1], values[2:]
    inside = [(after - before) * 0.5 * rate_hz, (after - 2.0 * here + before) * rate_hz**2]
    return np.stack([values, *(np.pad(part, ((1, 1), (0, 0))) for part in inside)])


if __name__ == "__main__":
    main()
