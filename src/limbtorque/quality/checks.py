"""Checks of a trial: metric, unit, definition, advice, threshold and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from limbtorque.recordings.differences import DIFFERS
from limbtorque.signals.labels import EXCHANGED, SPIKES
from limbtorque.tables.column import Column

NO_TOLERANCE = "no tolerance: every occurrence counts"
A_TWENTIETH = "a stride without a twentieth of its frames is still comparable (statistics/known_stance.py)"
CONVENTION = "a convention of this program"
BENCHMARK = "simulated recordings with known damage (docs/damage_benchmark.md); the legs of all recorded straight walks are below it"
PROGRAM_DEFECT = "report a defect of the program, with the recording"


@dataclass(frozen=True)
class Check:
    """A quality metric that flags a trial or joint where it is above its threshold.

    The threshold is the option of `quality` with the name of the metric, or 0 where there is no such option. An option with
    a value for each joint is a limit for joints of these names; other joints are not judged by it.

    Attributes
    ----------
    name : str
        Name of the metric and of the flag.
    unit : str
        Unit of the metric.
    definition : str
        Definition of the metric.
    advice : str
        Action to take.
    source : str
        Origin of the threshold.
    affects : {"torques", "muscles"}
        Tables the flag affects.
    rejects : bool
        The numbers must not be used: status rejected, not caution.
    rejects_at_twice : bool
        The same where the metric is above `REJECTED_TIMES` its threshold.
    where : str
        Beginning of the note that names markers and frames (signals/labels.py); empty without such a note.
    """

    name: str
    unit: str
    definition: str
    advice: str
    source: str
    affects: Literal["torques", "muscles"] = "torques"
    rejects: bool = False
    rejects_at_twice: bool = False
    where: str = ""


CHECKS = (
    Check(
        "closure_nm",
        "N m",
        "largest difference between the sum of the terms and the net torque of the recursive Newton-Euler pass",
        PROGRAM_DEFECT,
        "rounding: the two methods differ by 1e-13 N m on the recordings (docs/examples.md); torques of 1000 N m leave room for four digits more",
        rejects=True,
    ),
    Check(
        "power_closure_w",
        "W",
        "largest difference between the sum of all powers and the rate of change of the segments' energy",
        PROGRAM_DEFECT,
        "rounding: at most 2e-13 W on the recordings (docs/recordings.md), with room for fast and heavy chains",
        rejects=True,
    ),
    Check(
        "energy_rate_share",
        "1",
        "root mean square difference between the powers and the frame-to-frame change of the energy, relative to that change (to 0.1 W at least)",
        "raise differentiation.accuracy, or record at a higher rate",
        f"{CONVENTION}; 0.22 % at most on the recordings (docs/recordings.md)",
    ),
    Check(
        "fit_error_share",
        "1",
        "chain_fit_m times the reaction force of the joint (root mean square), over the range of its net torque",
        "check the joint centres for swapped or loose markers",
        f"{BENCHMARK}: 0.006 to 0.041 there; 0.02 to 0.15 in their shoulders and elbows and 0.09 to 0.27 in their wrists, whose torques are small",
        rejects_at_twice=True,
    ),
    Check(
        "gap_share",
        "1",
        "share of the judged frames in which a marker of the chain was filled",
        "check the filled frames in the report; lower gaps.max_gap_s to leave long gaps out",
        f"{CONVENTION}: filled gaps of up to gaps.max_gap_s never erred by more than 10 % (docs/damage_benchmark.md)",
    ),
    Check(
        "swapped_frames",
        "1",
        "judged frames in which a needed marker is exchanged with another",
        "correct the labels in the capture software, or leave them out (start_s, end_s)",
        f"{NO_TOLERANCE}; 26 recorded files have two, both in one serve at 50 Hz, both confirmed by eye",
        rejects=True,
        where=EXCHANGED,
    ),
    Check(
        "spike_frames",
        "1",
        "number of judged frames in which a needed marker leaves its path for up to three frames, or jumps",
        "correct them in the capture software, or set gaps.spikes to fill",
        f"{NO_TOLERANCE}; 26 recorded files at 50 to 250 Hz have spikes in two movements, both confirmed by eye, and jumps in two",
        where=SPIKES,
    ),
    Check(
        "spike_change_share",
        "1",
        "largest change of the net torque or of a term, over its range, where spikes are filled",
        "correct the spikes in the capture software, or set gaps.spikes to fill",
        f"{CONVENTION}: a tenth of the range",
        rejects=True,
        where=SPIKES,
    ),
    Check(
        "torque_nm_kg",
        "N m/kg",
        "largest net torque of a joint per body mass",
        "check the body mass, the force plates, and the markers at the time of the peak",
        "at least twice what is reported: about 4 N m/kg at the hip in sprints at 9 m/s (Schache et al. 2011); arms: at least three times isometric strength (Holzbaur et al. 2007)",
        rejects=True,
    ),
    Check(
        "power_w_kg",
        "W/kg",
        "largest power of a joint per body mass",
        "check the body mass, the force plates, and the markers at the time of the peak",
        f"at least twice what is reported for legs: about 25 W/kg at the ankle in one-legged jumps (Bobbert et al. 1986: 1790 W); arms: {CONVENTION}",
        rejects=True,
    ),
    Check(
        "flexion_deg",
        "deg",
        "largest flexion of a joint",
        "check these frames for swapped markers, a misplaced joint centre, or rotation out of the plane",
        "20 degrees beyond the range of motion: knee 157 degrees in kneeling (Hemmerich et al. 2006), ankle 40 in a lunge, elbow 150 and wrist 80 (AAOS 1965)",
        rejects=True,
    ),
    Check(
        "extension_deg",
        "deg",
        "largest extension of a joint beyond zero flexion",
        "check these frames for swapped markers, a misplaced joint centre, or rotation out of the plane",
        "20 degrees beyond the range of motion: elbow and knee 10 degrees (Beighton et al. 1973), ankle 55 of plantarflexion, wrist 70 (AAOS 1965)",
        rejects=True,
    ),
    Check(
        "noise_m",
        "m",
        "standard deviation of the joint centres' white noise, from the high frequencies of their spectrum",
        "recalibrate the cameras, and check for flickering markers",
        "noise of 3 mm errs by 7 % and of 5 mm by 11 % in walks (docs/damage_benchmark.md); optical systems err by 0.15 mm at rest (Merriaux et al. 2017)",
    ),
    Check(
        "acceleration_lost_share",
        "1",
        "share of the joint centres' acceleration (root mean square, without noise) that the filter removes",
        "raise filter.cutoff_hz if a number, filter.max_cutoff_hz if below own_cutoff_hz",
        "a movement at the cut-off itself loses 0.29; with 6 Hz simulated reaches lose 0.03, steps 0.1, impacts 0.34; the error of the estimate is below 0.1 in nine of ten impacts and below 0.04 elsewhere",
        rejects_at_twice=True,
    ),
    Check(
        "shortest_period_share",
        "1",
        "shortest_period_s over the period of the movement",
        "export the markers without a filter, or with a higher cut-off",
        f"{BENCHMARK}: 0.11 to 0.13 there, whose markers were smoothed",
        rejects_at_twice=True,
    ),
    Check(
        "out_of_plane_share",
        "1",
        "variance of the segments' out-of-plane components relative to their total variance",
        "choose another plane (plane.kind), or leave this movement out of a planar analysis",
        f"{BENCHMARK}: at most 0.04 there, 0.19 to 0.55 where children turn by 90 degrees (docs/recordings.md)",
        rejects_at_twice=True,
    ),
    Check(
        "tilt_deg",
        "deg",
        "largest mean inclination of a segment to the plane, on which only its projection is analysed",
        "choose another plane (plane.kind)",
        f"{CONVENTION}: at 30 degrees the projection is 13 % shorter than the segment; feet of straight walks point out by up to 26 degrees",
    ),
    Check(
        "length_variation",
        "1",
        "largest standard deviation of a segment's length in space relative to its mean",
        "check the joint centres for swapped or loose markers, and for a point that is not a joint centre",
        f"{BENCHMARK}: 0.02 to 0.032 there, 0.06 to 0.07 where an acromion marker is used as the shoulder's centre",
    ),
    Check(
        "functional_residual_m",
        "m",
        "largest root mean square distance between the two segments' predictions of a functional joint centre",
        "check for skin movement, swapped markers or a wrong plane, or use the anatomical centre",
        "0.005 to 0.012 m for knees, ankles, hips and an elbow of the recordings, 0.026 m and more in an unsuitable plane",
    ),
    Check(
        "functional_offset_m",
        "m",
        "largest mean distance between a functional joint centre and the anatomical one",
        "check that each marker belongs to its segment and moves with it, and that the movement is large enough",
        "0.015 to 0.037 m for knees, ankles, hips and an elbow of the recordings",
    ),
    Check(
        "cluster_residual_m",
        "m",
        "largest root mean square distance of a cluster's markers from their shape in the static trial",
        "check for swapped markers, and for markers that were moved after the static trial",
        "skin over thigh and shank is deformed locally by 4 to 16 mm in walking and running (docs/joint_centres.md)",
    ),
    Check(
        "reversed_flexion_deg",
        "deg",
        "median bend of an elbow or knee beyond straight; the limb may be mirrored",
        "check the columns side and marker_set, and plane.forward_axis and plane.up_axis",
        "hypermobility of elbows and knees begins at 10 degrees (Beighton et al. 1973)",
        rejects=True,
    ),
    Check(
        "reversed_flexion_share",
        "1",
        "largest share of frames in which an elbow or knee is bent more than 10 degrees beyond straight",
        "check these frames for swapped markers, a misplaced joint centre, or rotation out of the plane",
        f"{NO_TOLERANCE}; 0.31 in a serving elbow and 0.03 in the elbow of a turning child, 0 in the other limbs of the recordings",
    ),
    Check(
        "foreshortened_share",
        "1",
        "share of the judged frames in which a segment points out of the plane; their torques are empty",
        "choose another plane (plane.kind), or leave this movement out of a planar analysis",
        A_TWENTIETH,
    ),
    Check(
        "unmeasured_share",
        "1",
        "share of the judged frames with ground contact (or shortly after) but no known force; their torques are empty",
        "use frames with external_status 0 or 1; see the notes for unused plates",
        A_TWENTIETH,
    ),
    Check(
        "plate_drift_n",
        "N",
        "change of a used plate's unloaded vertical force over the recording",
        "let the plate warm up, zero it before every trial, and record it unloaded before and after the movement",
        "30 N of drift err by 2.4 % (docs/damage_benchmark.md); at most 0.9 N on the recordings",
    ),
    Check(
        "plate_height_error_m",
        "m",
        "lower end of the foot against 0.04 m above its plate, largest median of a stance",
        "check height and unit of FORCE_PLATFORM:CORNERS; for a step on the plate raise quality.plate_height_error_m",
        "markers of standing feet are 0.020 to 0.054 m above the plate in 12 recorded stances, barefoot and in shoes; "
        "none is below its surface, and few shoes lift both ends to 0.09 m",
        rejects_at_twice=True,
    ),
    Check(
        "plate_slope_deg",
        "deg",
        "angle between the surface of a used plate and the horizontal, the largest",
        "correct the plate's corners (FORCE_PLATFORM:CORNERS) or plane.up_axis; for a ramp raise quality.plate_slope_deg",
        "plates of 7 recorded walks are level; 3 degrees change hip torques of a simulated walk by 12 %",
    ),
    Check(
        "slope_in_force_share",
        "1",
        "lean of the mean force of whole stances towards the normal of a sloping plate, over the slope",
        "correct the plate's corners (FORCE_PLATFORM:CORNERS): it is level, or slopes less than they say",
        "the mean force of a stance leans by 0.03 to 0.05 of the weight in 8 recorded steps straight ahead, a third of a slope of 8.5 "
        "degrees (in turns by up to 0.19); where the corners are wrong by the whole slope",
        rejects=True,
    ),
    Check(
        "no_contact",
        "1",
        "1 where the chain can meet the ground but no ground contact was detected in the whole trial",
        "if the foot was in the air throughout, set plates.assignment to none; on a treadmill set plates.belt_speed_m_s",
        NO_TOLERANCE,
    ),
    Check(
        "sides_reversed_share",
        "1",
        "share of frames in which the left hip or shoulder is on the right, seen along the forward direction",
        "check for exchanged labels of left and right, and plane.forward_axis",
        "half of the frames: bodies do not turn that far while they go forward",
        rejects=True,
    ),
    Check(
        "sides_unlike_m",
        "m",
        "largest median difference between left and right: of a segment's length, or of the hip's place",
        "check the markers of both sides, above all at the hips; a leg may be shorter",
        "at most 0.014 m in 11 recorded walks; legs differ by 5 mm (standard deviation 4 mm) in length (Knutson 2005)",
        rejects_at_twice=True,
    ),
    Check(
        "foot_reversed_share",
        "1",
        "share of frames in which the ankle is below the line from the heel to the front of the foot",
        "check for exchanged labels of ankle and heel",
        "half of the frames: ankles are 28 to 69 mm above that line in recorded straight walks",
        rejects=True,
    ),
    Check(
        "mass_for_height_factor",
        "1",
        "body mass over the usual one at the given height, or its inverse",
        "check mass_kg and height_m in subjects.csv",
        "body mass indices of twice or half the WHO's median at that height (quality/body_size.py); all subjects of the recordings "
        "are below 1.1",
        rejects_at_twice=True,
        where="mass for height",
    ),
    Check(
        "length_for_height_factor",
        "1",
        "length of the segments over the usual one at the given height, or its inverse, median over segments",
        "check height_m in subjects.csv, reading.length_unit, and the marker mapping",
        "proportions of Drillis and Contini 1966, with room for short legs of small children (quality/body_size.py)",
        rejects_at_twice=True,
        where="length for height",
    ),
    Check(
        "weight_error_share",
        "1",
        "difference between the plates' vertical impulse and that of the body mass, as a share of it",
        "check mass_kg in subjects.csv and the scale of the plates' channels",
        BENCHMARK,
        rejects_at_twice=True,
    ),
    Check(
        "stance_force_error_share",
        "1",
        "largest difference of a stance's vertical force from that which carries the body, mean over single support",
        "check the body mass, the plate's scale and the foot's place on it",
        "Newton's second law, with the hip's acceleration for the body's: at most 0.02 in 11 recorded walks and 0.03 in the demo's",
        rejects_at_twice=True,
    ),
    Check(
        "force_early_s",
        "s",
        "largest time by which the force on this foot begins before its strike in the file",
        "check the synchronisation of plates and cameras, and the events",
        "force and event differ by at most 9 ms in nine recorded steps (docs/events.md); a foot cannot be loaded before it lands",
        rejects_at_twice=True,
    ),
    Check(
        "force_tilt_deg",
        "deg",
        "inclination, forward or backward, of the mean force that carries the body, its acceleration taken off",
        "check plane.up_axis and the alignment of plates and cameras",
        BENCHMARK,
        rejects_at_twice=True,
    ),
    Check(
        "force_residual_share",
        "1",
        "root mean square vertical force that the body's movement does not explain, as a share of its weight",
        "check markers, plates and their synchronisation",
        BENCHMARK,
        rejects_at_twice=True,
    ),
    Check(
        "force_delay_s",
        "s",
        "time between the vertical force and the acceleration of the body that it causes",
        "check the synchronisation of force plates and cameras",
        BENCHMARK,
        rejects_at_twice=True,
    ),
    Check(
        "shear_error_share",
        "1",
        "difference of the horizontal force from one that points above the hip, over it; the largest of the stances",
        "check axes, scale and signs of the plates; a start, a stop or a run has such forces, too",
        f"{BENCHMARK}: at most 0.3 there, straight and turning",
        rejects_at_twice=True,
    ),
    Check(
        "pressure_off_toes_m",
        "m",
        "distance of the centre of pressure from the ball of the foot while the heel is raised, the largest of the stances",
        "check the places of the plates, and the marker at the front of the foot",
        BENCHMARK,
        rejects_at_twice=True,
    ),
    Check(
        "other_foot_unknown_share",
        "1",
        "share of frames in which a plate is used although the other foot's position is unknown",
        "map the other foot's markers in the marker set, or verify that this foot was not on the plate",
        NO_TOLERANCE,
    ),
    Check(
        "up_axis_deg",
        "deg",
        "largest angle between the up axis and the mean direction from foot to hip, or of a plate's force",
        "check plane.up_axis against `limbtorque inspect`",
        "halfway between a vertical and a horizontal axis",
    ),
    Check(
        "unused_share",
        "1",
        "share of the window's frames (of the analysed frames without a window) near the ends, or with unknown torque",
        "record or analyse a longer trial; see the notes for the frames without torque",
        CONVENTION,
    ),
    Check(
        "second_reader_differences",
        "1",
        "numbers of the file that another library reads differently (reading.second_reader)",
        "compare with the capture software, and report it with the file",
        f"{NO_TOLERANCE} beyond the rounding of 32 bits; 0 in 28 recorded files (docs/reading.md)",
        where=DIFFERS,
    ),
    Check(
        "reserve_share",
        "1",
        "share of frames in which the muscles cannot produce the torque of a joint with known moment arms",
        "check the reserve torques, the strengths of the muscle set and muscles.activation_bounds",
        f"{CONVENTION}: single frames may be rounding or noise",
        affects="muscles",
    ),
    Check(
        "arm_range_deg",
        "deg",
        "largest distance of a joint from the range of its moment-arm data",
        "do not use muscle forces of frames with moment_arm_status 1",
        "the built-in knee's arms change by 9 % (median) in the ten degrees next to straight, and healthy knees extend up to 10 degrees further (Beighton et al. 1973)",
        affects="muscles",
    ),
    Check(
        "reserve_part",
        "1",
        "largest priced reserve of a joint relative to its largest net torque (muscles.reserve: a number)",
        "lower muscles.reserve, or check why the muscles do not produce this torque",
        "OpenSim's guide to best practice asks for less than 10 %",
        affects="muscles",
    ),
    Check(
        "passive_part",
        "1",
        "largest passive force of a muscle relative to its maximum isometric force",
        "set muscles.scale, or muscles.tendon: compliant, or turn muscles.force_length_velocity off",
        CONVENTION,
        affects="muscles",
    ),
    Check(
        "fibre_range_share",
        "1",
        "share of frames in which a muscle fibre is outside the range of its curves",
        "scale the set to the subject (muscles.scale), or leave out frames with fibre_status 1",
        CONVENTION,
        affects="muscles",
    ),
    Check(
        "joints_without_moment_arms",
        "1",
        "number of joints without moment arms; the reserve produces their whole torque, and the notes name the reason",
        "do not use forces of muscles that cross these joints",
        NO_TOLERANCE,
        affects="muscles",
    ),
    Check(
        "optimization_failed_share",
        "1",
        "share of frames in which no static optimization passed its optimality certificate; their forces are empty",
        PROGRAM_DEFECT,
        NO_TOLERANCE,
        affects="muscles",
    ),
)
METRICS = (
    Column("n_frames_recorded", "1", "frames in the recording"),
    Column("n_frames", "1", "frames analysed"),
    Column("rate_hz", "Hz", "frames per second"),
    Column("speed_m_s", "m/s", "largest speed of a joint centre in the plane"),
    Column(
        "chain_fit_m",
        "m",
        "root mean square distance between fitted and measured joints, without foreshortened frames (motion.angles: rigid_chain)",
    ),
    Column(
        "shortest_period_s",
        "s",
        "shortest period at which the unfiltered joint centres move by more than 0.02 mm, less than any camera's noise",
    ),
    Column("gap_error_m", "m", "largest expected error of a filled gap"),
    Column(
        "max_unfilled_gap_s",
        "s",
        "longest time between two complete stretches; only the longest stretch is analysed",
    ),
    Column(
        "plate_saturated_share",
        "1",
        "share of frames in which a channel of a used plate stays at its limit; their torques are empty, see unmeasured_share",
    ),
    Column(
        "undecided_flexion", "1", "1 where no elbow or knee bends by 10 deg, so that a mirrored limb cannot be detected"
    ),
    Column("cutoff_hz", "Hz", "cut-off of the joint centres; the largest where each has its own (filter.scope: joint)"),
    Column(
        "load_moment_lost_share",
        "1",
        "largest moment of the ground reaction about a joint that the force plates' filter removes, relative to the largest "
        "moment there; the notes have it by joint",
    ),
    Column(
        "own_cutoff_hz",
        "Hz",
        "cut-off chosen from the trial's own data by the method of filter.cutoff_hz (expected_error where that is a number), "
        "before the limit filter.max_cutoff_hz; the largest where each joint centre has its own",
    ),
    Column(
        "bandwidth_hz", "Hz", "frequency up to which the acceleration of the joint centres is stronger than their noise"
    ),
    Column(
        "cutoff_at_limit",
        "1",
        "1 where own_cutoff_hz is the lowest or highest cut-off that was tried: no optimum in between",
    ),
    Column(
        "functional_range_deg",
        "deg",
        "smallest range of relative rotation that determined a functional joint centre",
    ),
    Column(
        "cluster_error_m",
        "m",
        "largest expected error of a landmark carried from the static trial, by its cluster's residual and size; a lower bound",
    ),
    Column("edge_share", "1", "share of frames with edge effects of the filter and the differences"),
    Column(
        "force_range_share",
        "1",
        "mean of (greatest - least possible force) / strength over muscles and frames: determined by the criterion, not by mechanics",
    ),
    Column("arm_range_share", "1", "share of the judged frames with a joint outside the range of its moment-arm data"),
    Column("co_contraction_cost_share", "1", "cost added by muscles.co_contraction, relative to the cost without it"),
    Column(
        "co_contraction_reduced_share",
        "1",
        "share of frames with less co-contraction than muscles.co_contraction, so that the muscles can produce the torque",
    ),
    Column("replay_lost", "1", "1 where the replay ended because a joint was 30 degrees off, 0 otherwise"),
    Column("replay_s", "s", "duration of the forward integration of the torques (replay.enabled)"),
    Column(
        "replay_within_s",
        "s",
        "time for which the integrated motion stays within 1 degree of the measured one",
    ),
    Column("replay_drift_deg", "deg", "largest difference of a joint angle at the end of the replay"),
)
CUTOFF_CHECKS = frozenset(
    {"noise_m", "acceleration_lost_share", "shortest_period_share"}
)  # concern the filter's cut-off
