"""The methods paragraph: every clause follows from the settings and the ledger, and nothing else is said."""

import re

import pytest

from limbtorque.cli import main
from limbtorque.methods.page import methods_page
from limbtorque.methods.references import CITED, REFERENCES
from limbtorque.segments import DEMPSTER_WINTER
from limbtorque.settings import make_settings

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


def page(settings=None, rows=None, of=None):
    """Page of a study with these settings, ledger rows, and what the table of trials says of each trial."""
    raw = {"plane": {"up_axis": "+z"}, "marker_sets": {"lab": ARM_SET}, **(settings or {})}
    rows = rows or [row()]
    told = {
        r["trial"]: {
            "row": {"body_mass_kg": 70.0, "marker_set": "lab", "options": {}, **(of or {}).get(r["trial"], {})}
        }
        for r in rows
    }
    provenance = {
        "program": {"name": "limbtorque", "version": "9.8.7"},
        "python": "3.12.1",
        "libraries": {"numpy": "2.1.0", "scipy": "1.15.0"},
        "settings": make_settings(raw).model_dump(mode="json"),
        "segment_table": {name: vars(one) for name, one in DEMPSTER_WINTER.items()},
        "trials": told,
    }
    return methods_page(provenance, rows)


def paragraph(*args, **options):
    return page(*args, **options).split("\n\n")[2]


def leg(**settings):
    return {
        "marker_sets": {"lab": LEG_SET},
        "substitutes": {"lab": {"greater_trochanter": "hip_axis"}},
        **settings,
    }


def test_the_paragraph_of_the_defaults():
    text = paragraph()
    for clause in (
        "1 trial of 1 participant (body mass 70 kg) was analysed: right arm (1).",
        "Gaps of up to 0.1 s were filled by cubic interpolation; where a gap was longer, the longest stretch without one was analysed.",
        "projected on the sagittal plane (+z up, forward the direction of travel).",
        "a Butterworth filter of order 3, run forwards and backwards (order 6 in all, no phase lag).",
        "chosen by the least expected error of the second derivative, from the signal's own spectrum, for all joint centres of a trial together: 5 Hz.",
        "Velocities and accelerations are central differences of order 4.",
        "those of Dempster (Dempster 1955) as printed by Winter (Winter 2009)",
        "planar chains on a moving base (arm: shoulder, elbow, wrist)",
        "differed by at most 2e-14 N m",
        "No external load acted.",
        "the sum of the squared activations (force over strength) (Anderson and Pandy 2001) was as small as can be",
        "All was computed with limbtorque 9.8.7 (Python 3.12.1, numpy 2.1.0, scipy 1.15.0).",
    ):
        assert clause in text
    for silent in (
        "excluded",
        "flagged",
        "replay",
        "Integrated",
        "spring",
        "plates",
        "weights",
        "co-contraction",
        "Gravity was",
        "fibre",
        "scaled",
    ):
        assert silent not in text


@pytest.mark.parametrize(
    ("settings", "says", "not_any_more"),
    [
        ({"filter": {"cutoff_hz": 6}}, "The cut-off was 6 Hz.", "chosen"),
        ({"filter": {"cutoff_hz": "residual"}}, "chosen by residual analysis (Winter 2009), for all joint centres of a trial", "expected error"),
        ({"filter": {"cutoff_hz": "autocorrelation"}}, "the autocorrelation of the residual (Challis 1999)", "expected error"),
        ({"filter": {"cutoff_hz": "gcv", "scope": "study"}}, "generalised cross-validation (Craven and Wahba 1979), for all trials of the study together", "of a trial together"),
        ({"filter": {"scope": "joint"}}, "for each joint centre by itself", "of a trial together"),
        ({"filter": {"order": 2}}, "of order 2, run forwards and backwards (order 4 in all", "order 3"),
        ({"filter": {"method": "critically_damped"}}, "a critically damped filter of order 3, run forwards and backwards (Robertson and Dowling 2003)", "Butterworth filter"),
        ({"filter": {"method": "savitzky_golay", "cutoff_hz": "gcv"}}, "local polynomials of degree 5 (Savitzky and Golay 1964)", "Butterworth filter"),
        ({"filter": {"method": "quintic_spline"}}, "derivatives of a quintic spline through the joint angles", "central differences"),
        ({"filter": {"method": "none"}}, "Joint positions were not filtered.", "cut-off"),
        ({"differentiation": {"accuracy": 2}}, "central differences of order 2", "order 4"),
        ({"gaps": {"max_gap_s": 0}}, "Gaps were not filled", "interpolation"),
        ({"gaps": {"method": "principal_components"}}, "by principal components (Gloersen and Federolf 2016)", "cubic"),
        ({"gaps": {"longer": "fail"}}, "trials with a longer gap were refused", "longest stretch"),
        ({"gaps": {"spikes": "fill"}}, "spikes of up to three frames were treated as gaps", "nothing"),
        ({"plane": {"up_axis": "+y", "kind": "horizontal", "forward_axis": "-x"}}, "the horizontal plane (+y up, forward the laboratory's -x axis)", "sagittal"),
        ({"motion": {"angles": "rigid_chain"}}, "A chain of links of constant length was fitted", "line between its joints"),
        ({"gravity_m_s2": 1.62}, "Gravity was 1.62 m/s^2.", "nothing"),
        ({"replay": {"enabled": True}}, "lost the recorded motion in 0 of 1 trials", "nothing"),
        ({"torques": {"induced_accelerations": True}}, "Accelerations induced by each torque were computed (Zajac and Gordon 1989)", "nothing"),
        ({"muscles": {"exponent": 3, "criterion": "stress"}}, "cubed stresses (force over cross-section) (Crowninshield and Brand 1981)", "squared"),
        ({"muscles": {"exponent": "min_max"}}, "the largest of the activations (force over strength), then the next, and so on (Rasmussen et al. 2001)", "the sum of"),
        ({"muscles": {"reserve": "none"}}, "frames whose torque is beyond the muscles' reach have no forces", "least that suffices"),
        ({"muscles": {"co_contraction": 0.1}}, "held at 0.1 of the most active one's activation", "nothing"),
        ({"muscles": {"force_length_velocity": True}}, "with a rigid tendon (De Groote et al. 2016)", "nothing"),
        ({"muscles": {"weights": {"BICshort": 2}}}, "with weights for BICshort", "nothing"),
        ({"muscles": {"scale_strength": "mass"}}, "strengths were scaled to body mass", "nothing"),
        ({"muscles": {"scale_moment_arms": "segment_length"}}, "moment arms were scaled to segment lengths", "nothing"),
    ],
)  # fmt: skip
def test_an_option_changes_its_clause_and_no_other_says_the_old_value(settings, says, not_any_more):
    text = paragraph(settings)
    assert says in text
    assert says not in paragraph()
    assert not_any_more not in text


def test_the_limit_of_a_chosen_cut_off_is_told_and_only_then():
    assert "No cut-off that was chosen was above 12 Hz." in paragraph()
    rows = [
        row("a", own_cutoff_hz="14", noise_m="1e-8"),
        row("b", own_cutoff_hz="33", noise_m="1e-4"),
        row("c", own_cutoff_hz="4"),
    ]
    text = paragraph(rows=rows)
    assert (
        "above 12 Hz: 2 trials of 3 would have had one of 14 to 33 Hz, median 23.5 Hz. 1 recording had less noise"
        in text
    )
    assert "above 15 Hz" in paragraph({"filter": {"highest_cutoff_hz": 15.0}})
    assert "No cut-off that was chosen" not in paragraph({"filter": {"cutoff_hz": 6.0}})


def test_range_and_median_of_the_chosen_cut_offs():
    rows = [row("t1", cutoff_hz="4.0"), row("t2", cutoff_hz="5.0"), row("t3", cutoff_hz="9.0")]
    assert "of a trial together: 4 to 9 Hz, median 5 Hz." in paragraph(rows=rows)


def test_trials_with_options_of_their_own_are_counted():
    rows = [row("t1"), row("t2"), row("t3", cutoff_hz="12.0")]
    of = {"t3": {"options": {"filter.cutoff_hz": 12.0, "plane.kind": "horizontal"}}}
    text = paragraph(rows=rows, of=of)
    assert "The cut-off was 12 Hz (1 trial). The cut-off of the others was chosen by the least expected error" in text
    assert "of a trial together: 5 Hz." in text  # that of the third is not a chosen one
    assert "the sagittal plane (+z up, forward the direction of travel) (2 trials); the horizontal plane" in text


def test_excluded_trials_are_counted_by_their_reason_and_describe_nothing():
    rows = [
        row("t1"),
        *(
            row(f"f{k}", status="failed", reason=reason, muscle_status="failed", cutoff_hz="")
            for k, reason in enumerate(("read", "landmark", "landmark"))
        ),
    ]
    text = paragraph(rows=rows, of={"f0": {"options": {"plane.kind": "horizontal"}}})
    assert (
        "3 further trials were excluded: a marker or landmark was missing (2), the recording could not be read (1)."
        in text
    )
    assert "1 trial of 1 participant" in text
    assert "horizontal" not in text


def test_flags_are_named():
    rows = [row("t1", status="flagged", reason="tilt_deg gap_share"), row("t2", status="flagged", reason="tilt_deg")]
    assert "2 trials were flagged: tilt_deg (2), gap_share (1)." in paragraph(rows=rows)


def test_a_study_without_a_trial_that_could_be_analysed():
    text = paragraph(rows=[row(status="failed", reason="read", muscle_status="failed")])
    assert text.endswith(
        "1 further trial was excluded: the recording could not be read (1). No trial could be analysed, so there is nothing to describe."
    )
    assert "filter" not in text


def test_loads_are_those_that_trials_name():
    loads = {
        "spring": {"type": "spring", "stiffness_n_m": 40, "anchor_m": [0, 0, 1], "rest_length_m": 0.3},
        "weight": {"type": "constant_force", "force_n": [0, 3, -4]},
        "unused": {"type": "constant_force", "force_n": [0, 0, -99]},
    }
    rows = [row(f"t{k}") for k in range(4)]
    of = {"t0": {"load": "spring"}, "t1": {"load": "spring"}, "t2": {"load": "weight"}}
    text = paragraph({"loads": loads}, rows=rows, of=of)
    assert "A spring (spring) of 40 N/m and a rest length of 0.3 m acted on the last segment in 2 trials." in text
    assert "A constant force (weight) of 5 N acted on the last segment in 1 trial." in text  # 3-4-5
    assert "No external load acted in 1 trial." in text
    assert "unused" not in text


def test_legs_have_force_plates_and_substitutes():
    text = paragraph(leg(), rows=[row(chain="leg", unmeasured_share="0.25")])
    assert (
        "Ground reaction forces were those of force plates, given to the feet by geometry above 20 N, filtered like the markers, at the same cut-off"
        in text
    )
    assert "frames with ground contact but no usable plate were left out (1 trial, up to 25 % of the frames)" in text
    assert "The hip axis stood for the greater trochanter." in text
    other = paragraph(
        leg(filter={"force_cutoff_hz": 50}, plates={"assignment": [1, 2], "threshold_n": 10}), rows=[row(chain="leg")]
    )
    assert "plates 1, 2 above 10 N, filtered at 50 Hz, apart from the markers" in other
    assert "No external load acted." in paragraph(leg(plates={"assignment": "none"}), rows=[row(chain="leg")])


def test_functional_joint_centres_are_told_with_their_source():
    functional = {"functional": [["A", "B"], ["C", "D"]], "anatomical": "ELB"}
    text = page({"marker_sets": {"lab": {**ARM_SET, "elbow_axis": functional}}})
    assert (
        "The elbow axis was found from the movement as symmetrical centre of rotation, in the plane (Ehrig et al. 2006)"
        in text
    )
    assert "| lab | elbow_axis | centre of rotation of (A, B) and (C, D); in depth ELB |" in text


def test_muscles_that_were_not_asked_for_are_not_told():
    assert "muscle" not in paragraph({"muscles": {"enabled": False}}, rows=[row(muscle_status="none")])


@pytest.mark.parametrize(
    "settings", [{}, {"filter": {"method": "quintic_spline", "cutoff_hz": "gcv"}}, {"muscles": {"exponent": "min_max"}}]
)
def test_the_references_are_those_that_are_cited(settings):
    text = page(settings)
    listed = set(re.findall(r"^- (.+)$", text, flags=re.MULTILINE))
    cited = {REFERENCES[name] for name, words in CITED.items() if words in text or name == "derrick"}
    assert listed == cited
    assert set(CITED) == set(REFERENCES)


def test_the_checklist_says_what_was_not_read_and_answers_row_by_row():
    text = page()
    assert "the checklist itself was not, so compare with it before you submit" in text
    table = text.split("## Checklist")[1]
    assert (
        "| internal or external moments (named in the abstract) | internal: what the proximal segment does to the distal one |"
        in table
    )
    assert "| sampling rate of the markers | 100 Hz |" in table
    assert "| filter of forces | no force plates |" in table
    assert all(line.count("|") == 3 for line in table.splitlines() if line.startswith("|"))


def test_the_command_wants_results(tmp_path, capsys):
    assert main(["methods", str(tmp_path)]) == 1
    assert "give a folder 'results' of a finished run" in capsys.readouterr().err
