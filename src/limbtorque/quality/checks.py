"""Checks of a trial: metric, definition, advice, threshold and its source."""

from __future__ import annotations

from limbtorque.quality.body_thresholds import BODY_CHECKS
from limbtorque.quality.check import BENCHMARK, CONVENTION, NO_TOLERANCE, ONCE, PROGRAM_DEFECT, TWICE, Check
from limbtorque.quality.muscle_checks import MUSCLE_CHECKS
from limbtorque.recordings.differences import DIFFERS
from limbtorque.signals.labels import EXCHANGED, SPIKES

A_TWENTIETH = "a stride is comparable with 5 % of its frames missing (statistics/mean_and_spread.py)"
CHECKS = (
    Check(
        "closure_nm",
        "largest difference between the sum of the terms and the net torque by recursive Newton-Euler",
        PROGRAM_DEFECT,
        "rounding: the two methods differ by 1e-13 N m on the recordings (docs/examples.md); torques of 1000 N m allow for four more digits",
        part_of="closure",
        threshold=1e-09,
        rejects_from=ONCE,
    ),
    Check(
        "power_closure_w",
        "largest difference between the sum of all powers and the rate of the segments' energy",
        PROGRAM_DEFECT,
        "rounding: at most 2e-13 W on the recordings (docs/recordings.md), with a margin for fast and heavy chains",
        part_of="closure",
        threshold=1e-08,
        rejects_from=ONCE,
    ),
    Check(
        "energy_rate_share",
        "root mean square difference between powers and frame-to-frame change of energy, over that change (at least 0.1 W)",
        "raise differentiation.accuracy, or record at a higher rate",
        f"{CONVENTION}; 0.22 % at most on the recordings (docs/recordings.md)",
        threshold=0.05,
    ),
    Check(
        "fit_error_share",
        "chain_fit_m beyond the stated errors, times the joint's reaction force, over the range of its net torque",
        "check for swapped or loose markers",
        f"{BENCHMARK}: 0.006 to 0.041 there; 0.02 to 0.15 in their shoulders and elbows and 0.09 to 0.27 in their wrists, whose torques are small",
        rejects_from=TWICE,
    ),
    Check(
        "gap_share",
        "share of the judged frames in which a marker of the chain was filled",
        "check the filled frames in the report, or lower gaps.max_gap_s",
        f"{CONVENTION}: filled gaps of up to gaps.max_gap_s never caused an error above 10 % (docs/damage_benchmark.md)",
    ),
    Check(
        "swapped_frames",
        "judged frames with a required marker exchanged with another",
        "correct the labels, or exclude these frames (start_s, end_s)",
        f"{NO_TOLERANCE}; 26 recorded files have two, both in one serve at 50 Hz, both confirmed by eye",
        where=EXCHANGED,
        rejects_from=ONCE,
    ),
    Check(
        "spike_frames",
        "judged frames in which a required marker has a jump or a spike of up to three frames",
        "correct the spikes, or set gaps.spikes to fill",
        f"{NO_TOLERANCE}; 26 recorded files at 50 to 250 Hz have spikes in two movements, both confirmed by eye, and jumps in two",
        where=SPIKES,
        part_of="spikes",
    ),
    Check(
        "spike_change_share",
        "largest change of the net torque or a term when spikes are filled, over its range",
        "correct the spikes, or set gaps.spikes to fill",
        f"{CONVENTION}: 10 % of the range",
        where=SPIKES,
        part_of="spikes",
        rejects_from=ONCE,
    ),
    Check(
        "torque_nm_kg",
        "largest net torque of a joint per body mass",
        "check body mass, force plates, and the markers at the peak",
        "at least twice the reported values: about 4 N m/kg at the hip in sprints at 9 m/s (Schache et al. 2011); arms: at least three times isometric strength (Holzbaur et al. 2007)",
        part_of="joint_effort",
        rejects_from=ONCE,
    ),
    Check(
        "power_w_kg",
        "largest power of a joint per body mass",
        "check body mass, force plates, and the markers at the peak",
        f"at least twice the values reported for legs: about 25 W/kg at the ankle in one-legged jumps (Bobbert et al. 1986: 1790 W); arms: {CONVENTION}",
        part_of="joint_effort",
        rejects_from=ONCE,
    ),
    Check(
        "flexion_deg",
        "largest flexion of a joint",
        "check these frames for swapped markers, a misplaced joint centre, or rotation out of the plane",
        "20 degrees beyond the range of motion: knee 157 degrees in kneeling (Hemmerich et al. 2006), ankle 40 in a lunge, elbow 150 and wrist 80 (AAOS 1965)",
        part_of="joint_range",
        rejects_from=ONCE,
    ),
    Check(
        "extension_deg",
        "largest extension of a joint beyond zero flexion",
        "check these frames for swapped markers, a misplaced joint centre, or rotation out of the plane",
        "20 degrees beyond the range of motion: elbow and knee 10 degrees (Beighton et al. 1973), ankle 55 of plantarflexion, wrist 70 (AAOS 1965)",
        part_of="joint_range",
        rejects_from=ONCE,
    ),
    Check(
        "noise_m",
        "standard deviation of the joint centres' white noise, by their spectrum",
        "recalibrate the cameras; check for flickering markers",
        "noise of 3 mm causes errors of 7 %, of 5 mm 11 % in walks (docs/damage_benchmark.md); optical systems have 0.15 mm error at rest (Merriaux et al. 2017)",
    ),
    Check(
        "acceleration_lost_share",
        "share of the joint centres' acceleration that the filter removes, less if no torque needs it",
        "raise filter.cutoff_hz if a number, filter.max_cutoff_hz if below own_cutoff_hz",
        "a movement at the cut-off itself loses 0.29; simulated landings lose up to 0.41, which is worth 0.05 of the range of their torques; with 6 Hz simulated reaches lose 0.03, steps 0.1, impacts 0.34; the estimate is accurate to 0.1 in nine of ten impacts and to 0.04 elsewhere",
        rejects_from=TWICE,
    ),
    Check(
        "shortest_period_share",
        "shortest_period_s divided by the period of the movement",
        "export the markers without a filter, or with a higher cut-off",
        f"{BENCHMARK}: 0.11 to 0.13 there, whose markers were smoothed",
        threshold=0.18,
        rejects_from=TWICE,
    ),
    Check(
        "out_of_plane_share",
        "variance of the segments' out-of-plane components over their total variance",
        "choose another plane (plane.kind), or exclude this movement",
        f"{BENCHMARK}: at most 0.04 there, 0.19 to 0.55 where children turn by 90 degrees (docs/recordings.md)",
        rejects_from=TWICE,
    ),
    Check(
        "tilt_deg",
        "largest mean inclination of a segment to the plane",
        "choose another plane (plane.kind)",
        f"{CONVENTION}: at 30 degrees the projection is 13 % shorter than the segment; feet of straight walks point out by up to 26 degrees",
    ),
    Check(
        "length_variation",
        "largest standard deviation of a segment's length, less what stated errors explain, over its mean",
        "check for swapped or loose markers, and for a point that is not a joint centre",
        f"{BENCHMARK}: 0.02 to 0.032 there, 0.06 to 0.07 where an acromion marker is used as the shoulder's centre",
    ),
    Check(
        "functional_residual_m",
        "largest root mean square distance between two segments' predictions of a functional centre",
        "check for skin movement, swapped markers or a wrong plane, or use the anatomical centre",
        "0.005 to 0.012 m for knees, ankles, hips and an elbow of the recordings, 0.026 m and more in an unsuitable plane",
        part_of="functional_centre",
    ),
    Check(
        "functional_offset_m",
        "largest mean distance between a functional joint centre and the anatomical one",
        "check that each marker moves with its segment, by enough",
        "0.015 to 0.037 m for knees, ankles, hips and an elbow of the recordings",
        part_of="functional_centre",
        threshold=0.05,
    ),
    Check(
        "cluster_residual_m",
        "largest root mean square distance of a cluster's markers from their shape in the static trial",
        "check for markers swapped, or moved after the static trial",
        "skin of thigh and shank deforms by 4 to 16 mm (docs/joint_centres.md)",
    ),
    Check(
        "reversed_flexion_deg",
        "median hyperextension of an elbow or knee; the limb may be mirrored",
        "check the columns side and marker_set, plane.forward_axis and plane.up_axis",
        "hypermobility of elbows and knees begins at 10 degrees (Beighton et al. 1973)",
        part_of="reversed_flexion",
        threshold=10.0,
        rejects_from=ONCE,
    ),
    Check(
        "reversed_flexion_share",
        "largest share of frames in which an elbow or knee is hyperextended by more than 10 degrees",
        "check these frames for swapped markers, a misplaced joint centre, or rotation out of the plane",
        f"{NO_TOLERANCE}; 0.31 in a serving elbow and 0.03 in the elbow of a turning child, 0 in the other limbs of the recordings",
        part_of="reversed_flexion",
        threshold=0.0,
    ),
    Check(
        "foreshortened_share",
        "share of the judged frames in which a segment points out of the plane; their torques are empty",
        "choose another plane (plane.kind), or exclude this movement",
        A_TWENTIETH,
    ),
    Check(
        "unmeasured_share",
        "share of the judged frames with ground contact (or shortly after) but no known force; their torques are empty",
        "use frames with external_status 0 or 1; the notes name unused plates",
        A_TWENTIETH,
    ),
    Check(
        "plate_drift_n",
        "drift of the unloaded vertical force of a plate in use",
        "let the plate warm up, zero it before every trial, and record it unloaded",
        "30 N of drift cause 2.4 % error (docs/damage_benchmark.md); at most 0.9 N on the recordings",
    ),
    Check(
        "plate_height_error_m",
        "distance of the foot's lower end from 0.04 m above the plate; largest median",
        "check height and unit of FORCE_PLATFORM:CORNERS; on a step raise the threshold",
        "markers of standing feet are 0.020 to 0.054 m above the plate in 12 recorded stances, barefoot and in shoes; "
        "none is below the surface, and few shoes raise both ends to 0.09 m",
        part_of="plate_place",
        rejects_from=TWICE,
    ),
    Check(
        "plate_slope_deg",
        "largest slope of a plate in use",
        "correct FORCE_PLATFORM:CORNERS or plane.up_axis; for a ramp raise quality.plate_slope_deg",
        "plates of 7 recorded walks are level; 3 degrees change hip torques of a simulated walk by 12 %",
        part_of="plate_place",
    ),
    Check(
        "slope_in_force_share",
        "inclination of a stance's mean force towards the normal of a sloping plate, over the slope",
        "correct FORCE_PLATFORM:CORNERS: the plate is level, or slopes less",
        "the mean force of a stance leans by 0.03 to 0.05 of the weight in 8 recorded steps straight ahead, a third of a slope of 8.5 "
        "degrees (in turns by up to 0.19); by the whole slope where the corners are wrong",
        part_of="plate_place",
        threshold=0.6,
        rejects_from=ONCE,
    ),
    Check(
        "no_contact",
        "1 if no ground contact was detected although the limb can touch the ground",
        "if the foot never touched the ground, set plates.assignment to none; on a treadmill plates.belt_speed_m_s",
        NO_TOLERANCE,
        threshold=0.0,
    ),
    *BODY_CHECKS,
    Check(
        "up_axis_deg",
        "largest angle between the up axis and the mean direction from foot to hip, or of a plate's force",
        "check plane.up_axis against `limbtorque inspect`",
        "halfway between a vertical and a horizontal axis",
        part_of="vertical",
        threshold=45.0,
    ),
    Check(
        "unused_share",
        "share of the window's (else all analysed) frames near the ends or without torque",
        "record or analyse a longer trial",
        CONVENTION,
    ),
    Check(
        "second_reader_differences",
        "values in the file that another library reads differently (reading.second_reader)",
        "compare with the capture software, and report the difference",
        f"{NO_TOLERANCE} beyond the rounding of 32 bits; 0 in 28 recorded files (docs/reading.md)",
        where=DIFFERS,
        threshold=0.0,
    ),
    *MUSCLE_CHECKS,
)
BY_NAME = {check.name: check for check in CHECKS}
FLAGS = tuple(dict.fromkeys(check.flag for check in CHECKS))
CUTOFF_CHECKS = frozenset(
    {"noise_m", "acceleration_lost_share", "shortest_period_share"}
)  # concern the filter's cut-off
