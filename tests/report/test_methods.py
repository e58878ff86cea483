"""The methods paragraph: every clause follows from the settings and the ledger, and nothing else is said."""

import re
from typing import get_args

import pytest

from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.report.methods.page import methods_page
from limbtorque.report.methods.references import REFERENCES, cited
from limbtorque.report.methods.study import ERRORS
from limbtorque.study.options.motion import Filter
from limbtorque.study.options.muscles import Muscles
from limbtorque.study.options.uncertainty import Uncertainty
from limbtorque.study.settings import make_settings
from limbtorque.uncertainty.sizes import options_of

ARM_SET = {
    "glenohumeral_axis": "SHO",
    "elbow_axis": ["ELBL", "ELBM"],
    "wrist_axis": "WRI",
    "ulnar_styloid": "WRU",
    "knuckle_2_middle_finger": "KNU",
}
LEG_SET = {
    name: name.upper() for name in ("hip_axis", "knee_axis", "ankle_axis", "femoral_condyles", "medial_malleolus")
}
LEG_SET |= {"lateral_malleolus": "LM", "head_of_metatarsal_2": "MT2"}


OWN_ROW = {"proximal": "wrist_axis", "distal": "elbow_axis", "mass": 0.01, "com": 0.4, "gyration": 0.3}
OWN_ROWS = {"hand": OWN_ROW, "foot": OWN_ROW}


def row(trial="t1", **more):
    base = {
        "trial": trial,
        "subject": "Ann",
        "chain": "arm",
        "side": "right",
        "status": "ok",
        "reason": "",
        "muscle_status": "ok",
    }
    return {
        **base,
        "cutoff_hz": "5.0",
        "rate_hz": "100.0",
        "closure_nm": "2e-14",
        "unmeasured_share": "",
        "reserve_share": "0.0",
        **more,
    }


def page(settings=None, rows=None, of=None, muscle_sets=None, windows=(), set_of=None, emg_of=()):
    """Page of a study with these settings, ledger rows, and what the table of trials says of each trial."""
    raw = {"plane": {"up_axis": "+z"}, "marker_sets": {"lab": ARM_SET}, **(settings or {})}
    rows = rows or [row()]
    told = {
        r["trial"]: {
            "row": {"body_mass_kg": 70.0, "marker_set": "lab", "options": {}, **(of or {}).get(r["trial"], {})},
            "muscle_set": (set_of or {}).get(r["trial"], ""),
            "stages": {"muscles": {"emg_sha256": "x"} if r["trial"] in emg_of else {}},
        }
        for r in rows
    }
    provenance = {
        "program": {"name": "limbtorque", "version": "9.8.7"},
        "python": "3.12.1",
        "libraries": {"numpy": "2.1.0", "scipy": "1.15.0"},
        "settings": make_settings(raw).model_dump(mode="json"),
        "segment_table": {name: vars(one) for name, one in DEMPSTER_WINTER.items()},
        "muscle_sets": muscle_sets or {},
        "trials": told,
    }
    return methods_page(provenance, rows, windows)


def paragraph(*args, **options):
    return page(*args, **options).split("\n\n")[2]


def leg(**settings):
    return {
        "marker_sets": {"lab": LEG_SET},
        "substitutes": {"lab": {"greater_trochanter": "hip_axis"}},
        **settings,
    }


STRIDE = {"window": "events", "start_event": "Foot Strike {side}", "end_event": "Foot Strike {side}"}
CHANGES = [  # options of which each has words of its own
    *({"filter": {"cutoff_hz": cutoff}} for cutoff in (6, "residual", "autocorrelation", "gcv")),
    *({"filter": {"method": name}} for name in get_args(Filter.model_fields["method"].annotation)[1:]),
    *({"filter": change} for change in ({"scope": "joint"}, {"order": 2}, {"max_cutoff_hz": 15.0})),
    *({"gaps": change} for change in ({"max_gap_s": 0}, {"method": "principal_components"}, {"spikes": "fill"})),
    *({"segments": change} for change in ({"table": "de_leva"}, {"table": "zatsiorsky"}, {"rows": OWN_ROWS})),
    {"segments": {"added": {"forearm": {"mass_kg": 0.4}}}},
    {"plane": {"up_axis": "+y", "kind": "horizontal", "forward_axis": "-x"}},
    *({"motion": {"angles": angles}} for angles in ("segments", "inertial_chain")),
    *({"differentiation": {"accuracy": 2}}, {"gravity_m_s2": 1.62}),
    {"torques": {"columns": ["induced_accelerations"]}},
    *({"muscles": {"criterion": name}} for name in get_args(Muscles.model_fields["criterion"].annotation)[1:]),
    *({"muscles": {"exponent": exponent}} for exponent in (3, "min_max")),
    *({"muscles": {"force_length_velocity": True, "tendon": tendon}} for tendon in ("rigid", "compliant")),
    *({"muscles": {"passive_moments": source}} for source in ("riener_edrich", "anderson")),
    *(
        {"muscles": change}
        for change in ({"weights": {"BICshort": 2}}, {"scale": "strength"}, {"scale": "moment_arms"})
    ),
    *({"ensembles": change} for change in (STRIDE, {**STRIDE, "end_event": "Foot Off {side}"}, {"window": "cycles"})),
    *({"ensembles": change} for change in ({"window": "trial"}, {"n_points": 51}, {"spread_over": "trials"})),
    *({"ensembles": change} for change in ({"min_units": 1}, {"per_body_mass": True}, {"include": "ok"})),
    {"ensembles": {"enabled": False}},
]


def test_every_option_has_a_clause_of_its_own():
    """An option that is added to the settings alone would be told as another one, or not at all."""
    two = [row("a"), row("b", subject="Bea")]
    texts = {paragraph(change, rows=two) for change in ({}, *CHANGES)}
    assert len(texts) == 1 + len(CHANGES)
    one = [row("a", cutoff_hz="6.0")]
    text = paragraph({"filter": {"cutoff_hz": 6}, "gravity_m_s2": 1.62, "ensembles": {"n_points": 51}}, rows=one)
    for number in ("6 Hz", "1.62 m/s^2", "51 even points"):
        assert number in text
    sources = ("plates_and_markers", "plates", "zeni_2008", "oconnor_2007", "file")
    windows = [{**window("a", included=1), "events": source} for source in sources]
    assert len({paragraph({"ensembles": STRIDE}, rows=one, windows=[each]) for each in windows}) == len(sources)


def test_the_limit_of_a_chosen_cut_off_is_told_and_only_then():
    own = (("14", "1e-8"), ("33", "1e-4"), ("4", ""))
    rows = [row(f"t{k}", own_cutoff_hz=cutoff, noise_m=noise) for k, (cutoff, noise) in enumerate(own)]
    text = paragraph(rows=rows)
    assert "limited to 12 Hz; without this limit, 2 of 3 trials would have had 14 to 33 Hz, median 23.5 Hz." in text
    assert "In 1 trial the markers had less noise than any camera" in text
    assert "limited to 15 Hz" in paragraph({"filter": {"max_cutoff_hz": 15.0}})
    assert "Chosen cut-offs" not in paragraph({"filter": {"cutoff_hz": 6.0}})


def test_trials_with_options_of_their_own_are_counted():
    rows = [row("t1"), row("t2"), row("t3", cutoff_hz="12.0")]
    of = {"t3": {"options": {"filter.cutoff_hz": 12.0, "plane.kind": "horizontal"}}}
    text = paragraph(rows=rows, of=of)
    assert "The cut-off was 12 Hz (1 trial). The cut-off of the others was chosen by the least expected error" in text
    assert ": 5 Hz." in text  # that of the third is not a chosen one
    assert "the sagittal plane (+z up, the direction of travel forward) (2 trials); the horizontal plane" in text


def test_excluded_trials_are_counted_by_their_reason_and_describe_nothing():
    failed = {"status": "failed", "muscle_status": "failed", "cutoff_hz": ""}
    rows = [row("t1"), *(row(f"f{k}", reason=why, **failed) for k, why in enumerate(("read", "landmark", "landmark")))]
    text = paragraph(rows=rows, of={"f0": {"options": {"plane.kind": "horizontal"}}})
    assert "3 further trials were excluded: a marker or landmark was missing (2), " in text
    assert "1 trial of 1 participant" in text
    assert "horizontal" not in text
    none = paragraph(rows=[row(reason="read", **failed)])
    assert "No trial could be analysed" in none
    assert "filter" not in none


def test_loads_are_those_that_trials_name():
    loads = {
        "spring": {"type": "spring", "stiffness_n_m": 40, "anchor_m": [0, 0, 1], "rest_length_m": 0.3},
        "weight": {"type": "constant_force", "force_n": [0, 3, -4]},
        "unused": {"type": "constant_force", "force_n": [0, 0, -99]},
    }
    rows = [row(f"t{k}") for k in range(4)]
    of = {"t0": {"load": "spring"}, "t1": {"load": "spring"}, "t2": {"load": "weight"}}
    text = paragraph({"loads": loads}, rows=rows, of=of)
    assert "In 2 trials a spring (spring, stiffness 40 N/m and rest length 0.3 m)" in text
    assert "In 1 trial a constant force (weight, 5 N)" in text  # 3-4-5
    assert "The other trial had no external load." in text
    assert "unused" not in text


def test_legs_have_force_plates_and_substitutes():
    legs = [row(chain="leg", unmeasured_share="0.25")]
    text = paragraph(leg(), rows=legs)
    for clause in ("threshold 20 N", "filtered at 0.4 of the frame rate", "up to 25 % of the frames of a trial"):
        assert clause in text
    assert "the hip axis for the greater trochanter" in text
    other = leg(filter={"force_cutoff_hz": 50}, plates={"assignment": [1, 2], "threshold_n": 10})
    assert "plates 1, 2 (threshold 10 N), and filtered at 50 Hz" in paragraph(other, rows=legs)
    none = paragraph(leg(plates={"assignment": "none"}), rows=[row(chain="leg"), row("t2")])
    assert "In 1 trial no ground reaction force was applied" in none


@pytest.mark.parametrize(
    ("landmark", "rule", "source"),
    [
        ("elbow_axis", {"functional": [["A", "B"], ["C", "D"]], "anatomical": "ELB"}, "Ehrig et al. 2006"),
        ("glenohumeral_axis", {"shoulder_centre": "rab_2002"}, "Rab et al. 2002"),
        ("hip_axis", {"hip_centre": "harrington_2007"}, "Harrington et al. 2007"),
        ("knee_axis", {"static": ["LFC", "MFC"], "cluster": ["T1", "T2", "T3"]}, "Cappozzo et al. 1995"),
    ],
)
def test_joint_centres_are_told_with_their_source(landmark, rule, source):
    arm = landmark in ARM_SET
    raw = {} if arm else leg(plane={"up_axis": "+z", "forward_axis": "pelvis"})
    raw["marker_sets"] = {"lab": {**(ARM_SET if arm else LEG_SET), landmark: rule}}
    text = page(raw, [row(chain="arm" if arm else "leg")])
    assert f"The {landmark.replace('_', ' ')} was " in text
    assert f"({source})" in text
    assert f"| lab | {landmark} | " in text
    assert ("that the pelvis faced" in text) != arm


EMG = {
    "emg": {
        "channels": {"A": "BIClong", "B": "TRIlong"},
        "antagonists": [["BIClong", "TRIlong"]],
        "envelope_cutoff_hz": 9,
    }
}


def test_electromyography_is_described_where_a_trial_has_it():
    text = page(EMG, emg_of=["t1"])
    for clause in ("Electromyograms of BIClong and TRIlong", "20 to 450 Hz", "low-pass of 9 Hz", "Hodges and Bui 1996"):
        assert clause in text
    for silent in ({}, EMG):  # no channel in the settings, none in the recordings
        assert "lectromyogra" not in page(silent).replace("| electromyography | none |", "")
    alone = paragraph({**EMG, "muscles": {"enabled": False}}, rows=[row(muscle_status="none")], emg_of=["t1"])
    assert "Electromyograms of BIClong" in alone
    assert "activation" not in alone


@pytest.mark.parametrize(
    "settings", [{}, {"filter": {"method": "quintic_spline", "cutoff_hz": "gcv"}}, {"muscles": {"exponent": "min_max"}}]
)
def test_the_references_are_those_that_are_cited(settings):
    text = page(settings)
    listed = set(re.findall(r"^- (.+)$", text, flags=re.MULTILINE))
    expected = {REFERENCES[name] for name in REFERENCES if cited(name) in text or name == "derrick"}
    assert listed == expected


def test_recorded_and_analysed_frames_are_added_up():
    rows = [
        row("t1", n_frames_recorded="100.0", n_frames="90.0"),
        row("t2", n_frames_recorded="300.0", n_frames="300.0", rate_hz="200.0"),
        row("f", status="failed", reason="read", muscle_status="failed", n_frames_recorded="50.0", n_frames=""),
    ]
    text = paragraph(rows=rows)
    assert "400 frames were recorded (at 100 to 200 Hz, median 150 Hz) and 390 of them analysed (90 to 300 in" in text
    whole = paragraph(rows=[row(n_frames_recorded="7.0", n_frames="7.0")])
    assert "7 frames were recorded (at 100 Hz) and all were analysed." in whole
    assert "frames were recorded" not in paragraph()  # the ledger does not say


def test_limbs_of_one_recording_are_told_apart_from_recordings():
    frames = {"n_frames_recorded": "10.0", "n_frames": "10.0"}
    both = [row("r", file="walk.c3d", cutoff_hz="6.0"), row("l", file="walk.c3d", side="left", cutoff_hz="8.5")]
    other = [row("r2", file="run.c3d"), row("l2", file="run.c3d", side="left")]
    text = paragraph(rows=[{**one, **frames} for one in (*both, *other)])
    assert "2 recordings of 1 participant (body mass 70 kg) were analysed as 4 trials" in text
    assert "left arm (2) and right arm (2)." in text
    assert "20 frames were recorded" in text
    assert "different cut-offs in 1 of 2 such pairs (by up to 2.5 Hz)" in text
    for alike in (other, [both[0], {**both[1], "file": "else.c3d"}], [both[0], {**both[1], "chain": "leg"}]):
        assert "had different cut-offs" not in paragraph(leg() if alike[-1]["chain"] == "leg" else {}, rows=alike)


def test_frames_of_parts_of_a_recording_are_shares_of_it():
    """Two recordings of 100 and 200 frames; the limbs of the second one are analysed in 50 and 150 frames of it."""
    limbs = (("a", 100, 100), ("a", 100, 100), ("b", 200, 50), ("b", 200, 150))
    rows = [
        row(f"t{k}", file=file, n_frames_recorded=f"{whole}.0", n_frames=f"{some}.0")
        for k, (file, whole, some) in enumerate(limbs)
    ]
    assert "300 frames were recorded (at 100 Hz); 25 to 100 % of a recording were analysed" in paragraph(rows=rows)


# ---- curves ----


def window(trial, note="", included=0):
    return {"trial": trial, "included": str(included), "torque_status": "caution", "note": note}


def test_trials_without_a_curve_are_told_with_their_reasons():
    rows = [*(row(f"t{k}") for k in range(4)), row("f", status="failed", reason="read", muscle_status="failed")]
    windows = [
        window("t0", included=1),
        window("t1", "4 movements: the endpoint rests from 0.78 to 1.24 s"),
        window("t2", "2 movements: the endpoint rests from 0.5 to 1 s"),
        window("t3", "no rest: at the first frame the endpoint has 88 % of its peak speed"),
        window("f", "the trial failed: read"),
    ]
    said = "3 of 4 analysed trials have no curve: several movements (2), "
    assert page(rows=rows, windows=windows).count(said) == 2  # in the paragraph and in the checklist
    one = page(windows=[window("t1", included=1)])
    assert "| excluded trials | none |" in one
    assert "The means include 1 trial: 1 caution." in one
    none = page(rows=[row("t1")], windows=[window("t1", "2 movements: the endpoint rests")])
    assert "| time normalisation and averaging | no trial has a curve |" in none
    assert "splines at" not in none


def test_plates_are_counted_from_the_notes():
    """As the notes of the ledger have them: two feet on plate 2, one of them on plate 1 too, one on none."""
    notes = (
        "plate 1 frames 355-419: other foot, centre of pressure 0.372 m from this foot (right), 0.001 m from the other; "
        "plate 2 frames 303-365: this foot (right), centre of pressure 0.003 m from this foot, 0.350 m from the other",
        "plate 1 frames 5-9: this foot (left), as given, centre of pressure 0.1 m from this foot, 0.3 m from the other; "
        "plate 2 frames 20-29: this foot (left), centre of pressure 0.1 m from this foot, 0.3 m from the other; "
        "plate 2 frames 40-49: this foot (left), centre of pressure 0.1 m from this foot, 0.3 m from the other",
        "plate 1 frames 234-269: this foot (left) is across the edge of the plate in 97 % of the frames, not used",
    )
    text = paragraph(leg(), rows=[row(f"t{k}", chain="leg", notes=said) for k, said in enumerate(notes)])
    assert "a foot stood on plate 1 in 1 trial and plate 2 in 2 trials, and on no usable plate in 1 trial." in text


def test_body_masses_of_participants():
    rows = [row("a"), row("b", subject="Bo"), row("c", subject="Cy")]
    of = {"b": {"body_mass_kg": 58.5}, "c": {"body_mass_kg": 90.0}}
    assert "of 3 participants (body mass 58.5 to 90 kg)" in paragraph(rows=rows, of=of)
    assert "of 2 participants (body mass 58.5 and 70 kg)" in paragraph(rows=rows[:2], of=of)
    assert "of 2 participants (body mass 70 kg)" in paragraph(rows=rows[:2])


def test_the_muscle_set_is_named_with_the_sources_of_its_numbers():
    mine = [{"model": "A", "muscles": ["b"]}, {"model": "B", "muscles": ["c", "d"]}]
    told = {
        "arm: mine.yaml": {"chain": "arm", "name": "mine", "file": "mine.yaml", "sources": mine},
        "arm: pairs": {"chain": "arm", "name": "pairs", "file": "", "sources": mine[1:]},
    }
    one = paragraph(muscle_sets=told, set_of={"t1": "arm: mine.yaml"})
    assert "The arm had 3 muscles (muscle set mine, mine.yaml), with" in one
    assert "from A (1 muscle); B (2 muscles). " in one
    assert "pairs" not in one
    assert "muscle set" not in paragraph(rows=[row(muscle_status="none")], muscle_sets=told)
    rows = [row("a"), row("b"), row("c"), row("d", muscle_status="failed")]
    set_of = {"a": "arm: mine.yaml", "b": "arm: pairs", "c": "arm: mine.yaml", "d": "arm: pairs"}
    text = paragraph(rows=rows, muscle_sets=told, set_of=set_of)
    assert "In 2 trials the arm had 3 muscles (muscle set mine, mine.yaml), " in text
    assert "In 1 trial the arm had 2 muscles (muscle set pairs), " in text
    assert "Muscle forces of 3 of 4 trials were computed" in text


def errors_of(*args, **options):
    """Size and source of every error in the table of errors."""
    text = page(*args, **options)
    if "## Errors" not in text:
        return {}
    table = text.split("## Errors")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return {what: tuple(more) for what, *more in lines[2:]}


def test_the_errors_of_an_arm_are_those_of_its_own_inputs():
    """No plates, no regressions, no samples; the elbow is a mean of two markers."""
    found = errors_of()
    assert found["joint centres at one marker"][0] == "10 mm"
    assert found["joint centres at the mean of several markers"] == ("6 mm", "assumed")
    assert not [name for name in found if "plates" in name or "regression" in name or "muscles" in name]
    text = page()
    assert "Della Croce U" in text
    assert "Exell" not in text


def test_the_errors_of_a_leg_on_plates_cite_what_they_are_from():
    found = errors_of(leg(), [row(chain="leg")])
    assert found["centres of pressure"] == ("2.5 mm", "Exell et al. 2011")
    loaded = errors_of(
        leg(loads={"spring": {"type": "spring", "stiffness_n_m": 40, "anchor_m": [0, 0, 1]}}),
        [row(chain="leg")],
        {"t1": {"load": "spring"}},
    )
    assert "centres of pressure" not in loaded


def test_a_size_of_the_study_has_no_reference_and_one_that_is_off_no_line():
    given = {
        "sizes": {"centre_marker_m": 0.02},
        "off": ["filter"],
        "landmarks": {"elbow_axis": 0.004, "wrist_axis": "imaged"},
    }
    found = errors_of({"uncertainty": given})
    assert found["joint centres at one marker"] == ("20 mm", "set in this study")
    assert found["the elbow axis"] == ("4 mm", "set in this study")
    assert found["the wrist axis"] == ("as joint centres by imaging", "set in this study")
    assert "movement removed by the filter, relative to its estimate" not in found
    assert "joint centres at the mean of several markers" not in found
    assert "Della Croce" not in page({"uncertainty": given})


def test_sizes_of_single_trials_are_counted_and_measured_segments_are_no_table():
    rows = [row("a"), row("b"), row("c")]
    own = {"b": {"options": {"uncertainty.sizes.body_mass": 0.03}}, "c": {"options": {"uncertainty.enabled": False}}}
    found = errors_of({}, rows, own)
    assert found["body mass"] == ("1 % (1 trial); 3 % (1 trial)", "set in this study")
    weighed = {"a": {"measured": {f"{name}_mass_kg": 1.0 for name in ("upper_arm", "forearm", "hand")}}}
    alone = errors_of({}, rows[:1], weighed)
    assert alone["measured segment parameters"] == ("2 %", "assumed")
    assert "segment masses, as shares of body mass" not in alone


def test_every_size_of_the_settings_has_words_for_the_methods():
    assert set(ERRORS) == set(options_of(Uncertainty()))
    assert {reference for *_, reference in ERRORS.values() if reference} <= set(REFERENCES)
