"""Write the pages of docs that are made from the code: settings, quality, marker sets, interface, names, open recordings."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import limbtorque
from limbtorque.cli.init.known_sets import KnownSet, known_sets
from limbtorque.cli.init.open_recordings import OpenRecordings, open_recordings
from limbtorque.cli.main import COMMANDS
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.quality.check import BENCHMARK, CONVENTION, NO_TOLERANCE, ONCE, TWICE, Check
from limbtorque.quality.checks import CHECKS
from limbtorque.study.chains import ARM, LEG, ChainModel
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import Settings, make_settings, options_page
from limbtorque.study.trials import PER_TRIAL
from limbtorque.uncertainty.input_errors import centre_error_m

DOCS = Path(__file__).resolve().parents[1] / "docs"

SETTINGS_HEAD = """# Settings

Options are set in the study's `config/config.yaml`; those not set there have their defaults. The first table has the options that many studies set, the second the rare ones. `limbtorque settings` prints both (made by `tools/make_docs.py`). Options of PER_TRIAL
can differ between trials: add a column to `trials.csv` named like the option (`filter.cutoff_hz`); an empty cell means the study's value.

The file is YAML 1.2: `no`, `on` and `12:30:00` are text where an option expects text, and a key given twice is an error.

"""
SETTINGS_TAIL = """

## Marker sets

```yaml
marker_sets:
  my_markers:                             # any name; trials.csv names it where there are several
    wrist_axis: RWRI                      # a marker,
    elbow_axis: [RELL, RELM]              # the mean of markers,
    hip_axis: {between: [RASI, RGTR], fraction: 0.4}   # a point between two
    knee_axis:                            # the centre of rotation between two segments,
      functional: [["{S}TH1", "{S}TH2", "{S}TH3"], ["{S}TB1", "{S}TB2"]]   # from two or more markers of each,
      anatomical: ["{S}KNL", "{S}KNM"]    # with any other rule for the plane (docs/signals.md)
    heel: "{S}HEE"                        # {S}: R or L, {s}: r or l, {side}: right or left, by the trial's side
substitutes:
  my_markers:
    greater_trochanter: hip_axis          # required: used in its place; every use is noted in the ledger
```

Joint centres that have no markers may be predicted (`{hip_centre: harrington_2007}`, `{shoulder_centre: rab_2002}`) or carried from a static trial (`{static: ..., cluster: [...]}`):
[joint centres](joint_centres.md).

With the default table of [segment parameters](segments.md) the arm needs `glenohumeral_axis`, `elbow_axis`, `wrist_axis`, `ulnar_styloid` and `knuckle_2_middle_finger`; the leg
`hip_axis`, `knee_axis`, `ankle_axis`, `greater_trochanter`, `femoral_condyles`, `medial_malleolus`, `lateral_malleolus`,
`head_of_metatarsal_2`, and, for ground contact, better also `heel`.
The chains `arm_without_hand` and `leg_without_foot` end at `wrist_axis` and `ankle_axis` and need no landmark beyond ([keypoints](keypoints.md)). Labels are matched
exactly, otherwise ignoring case.

## Loads

```yaml
loads:
  weight_in_hand: {type: constant_force, force_n: [0, 0, -19.6], fraction: 0.5}   # N, laboratory frame
  spring: {type: spring, stiffness_n_m: 40, anchor_m: [-0.2, 0, 1.1], rest_length_m: 0.3}
```

A trial uses a load by its name in the column `load`. `fraction` is its point of application: 0 at the last joint, 1 at the end of the
last segment. A held weight has inertia, a constant force has none: add it to its segment (`segments.added`), or add a subject with the
loaded hand's `hand_mass_kg`, `hand_com_m` and `hand_inertia_kgm2` (`limbtorque.Chain.holding` computes them).

## More columns, a rigid chain

```yaml
motion:
  angles: segments                        # from joint to joint; or rigid_chain, inertial_chain
torques:
  columns: [interaction, segment_space, power, induced_accelerations]
```

## Your own chains

```yaml
chains:
  forearm_only:                           # one to any number of links, proximal first
    joints:
      - {name: elbow, landmark: elbow_axis, one_way: true}
    segments:
      - {name: forearm_with_hand, row: forearm_and_hand}
    end: wrist_axis
    muscles: null
```
"""
QUALITY_HEAD = """# Quality: ok, caution, rejected, failed

Every trial and joint is judged by metrics with thresholds; the [glossary](glossary.md#status-of-a-trial) says what each status means.

- **Judged frames**: the window of the trial's curve (a stride, a movement), else all frames of known torque without edge effects. Elsewhere a metric above its threshold is only noted. Noise, cut-off, functional centres, plates and the up axis are judged over the whole recording.
- **Joints**: a check with values by joint applies to that joint (`rejected_joints` in the ledger). Muscle forces are rejected if a joint is.
- **Spikes**: a joint is rejected where filling the spikes changes its net torque or a term by more than `quality.spike_change_share` of the range.
- **Stated errors** (the sizes of `uncertainty`) seldom raise a flag: each is on for at most 5 % of simulated legs and arms with exactly these errors, any at all for 5.5 %; with errors of twice the size 75 to 77 % are flagged (`benchmarks/stated_errors.py`).

Errors that the files cannot show, with the error of the torques (of their range) that passes as `ok`:

- Markers of an arm too far apart by 5 %: 5 to 8 %, with a spring 40 %. Give the height, and calibrate.
- Forces early or late by up to 18 ms: 15 ms err by 7 % in walks. Synchronise plates and cameras, by a tap on a plate.
- Masses of two people exchanged with an arm alone: as many percent as the masses differ, and more against a spring (a fifth: 18 to 31 %). Weigh; with a height, a factor of two is flagged.
- Markers smoothed before the export: walks at 4 Hz err by 6 to 8 %, at 3 Hz by 9 to 12 %. Export unfiltered markers.
- Plates 3 cm off: a simulated knee errs by 37 %.
- Another person of the same size in the static trial. Cameras tilted by 1 degree against level plates: 4 to 5 %.

Above the threshold a trial or joint is `caution`, above the number in parentheses `rejected`. An asterisk marks an option of `quality` with the metric's name; changing it computes no torques again. Limits by joint apply to no other joint; `"` is the action of the row above.

| flag: metric | threshold (rejected) | definition | action |
| --- | --- | --- | --- |
"""


QUALITY_TAIL = """
Sources of the thresholds, in full in the report (*benchmark*: [simulated damage](damage_benchmark.md); all legs in recorded straight walks are below the threshold). At a threshold of 0 every occurrence counts.

"""


MARKER_SETS_HEAD = """# Built-in marker sets

`limbtorque init` knows these names, in any spelling of the side, and writes the rules into the settings, where you can change them. Made from the code by `tools/make_docs.py`.

The number is the standard deviation of the joint centre along each axis of the plane, in mm, by the kind of its rule ([sources](uncertainty.md)). Several numbers: a joint centre of the file, and the rules that are used where the file has none. A dash means no marker. The model of Plug-in Gait places the hip by Davis's regression, the shoulder by an offset from the acromion.

Where another landmark replaces a joint centre, `init` writes its error into `uncertainty.sets`, the distance divided by the root of 3:

| stands for | distance | from |
| --- | --- | --- |
| acromion, for the shoulder | 66 mm | assumed: Rab's offset, 17 % of 0.39 m |
| greater trochanter, for the hip | 23.5 mm | Weinhandl and O'Connor (2010), Journal of Biomechanics 43, doi 10.1016/j.jbiomech.2010.05.023 |
| first row of knuckles, for the second | 48 mm | centre of mass of the hand by Dempster's and de Leva's tables ([segments](segments.md)) |
| great toe, for the head of metatarsal 2 | 68 mm | assumed: foot length less ball-of-foot length ([keypoints](keypoints.md)) |
| metatarsal 5, for metatarsal 2 | 26 mm | assumed: 2 cm, and a marker's error |
"""
KEYPOINTS = ("coco_17", "halpe_26", "mediapipe", "opencap", "theia")  # docs/keypoints.md


def settings_page() -> str:
    """Text of docs/settings.md."""
    sections = ", ".join(f"`{section}`" for section in PER_TRIAL)
    return SETTINGS_HEAD.replace("PER_TRIAL", sections) + options_page() + SETTINGS_TAIL


def quality_page() -> str:
    """Text of docs/quality.md."""
    thresholds = Settings().quality
    rows, action = [], ""
    sources: dict[str, list[str]] = {}
    for check in CHECKS:
        name = f"`{check.flag}`" + f": `{check.name}`" * (check.flag != check.name)
        same, action = check.advice == action, check.advice
        cells = (name, _limits(check, thresholds), check.definition, '"' if same else action)
        rows.append(f"| {' | '.join(cells)} |")
        sources.setdefault(_short_source(check.source), []).append(f"`{check.name}`")
    listed = [f"- {source}: {', '.join(names)}" for source, names in sources.items() if source != "no tolerance"]
    return QUALITY_HEAD + "\n".join(rows) + "\n" + QUALITY_TAIL + "\n".join(listed) + "\n"


def _limits(check: Check, thresholds: Quality) -> str:
    """Threshold of a check, in parentheses the value that rejects, and an asterisk if it is an option."""
    allowed = check.allowed(thresholds)
    limits = allowed.items() if isinstance(allowed, Mapping) else [("", allowed)]
    caution, rejected = (
        ", ".join(f"{joint} {times * limit:g}".strip() for joint, limit in limits)
        for times in (ONCE, check.rejects_from)
    )
    shown = {ONCE: f"({caution})", TWICE: f"{caution} ({rejected})"}.get(check.rejects_from, caution)
    return shown + f" {check.unit}" * (check.unit != "1") + "\\*" * (check.threshold is None)


def _short_source(source: str) -> str:
    """Kind of source of a threshold, or the studies that it cites."""
    for sentence, word in ((BENCHMARK, "benchmark"), (CONVENTION, "convention"), (NO_TOLERANCE, "no tolerance")):
        if source.startswith(sentence):
            return word
    studies = re.findall(r"[A-Z]\w+(?: et al\.)? (?:19|20)\d\d", source)
    return ", ".join(studies) or ("recordings" if "record" in source else re.split("[:;(]", source)[0].strip())


def marker_sets_page() -> str:
    """Text of docs/marker_sets.md."""
    return MARKER_SETS_HEAD + _errors_of_sets("Legs", LEG) + _errors_of_sets("Arms", ARM)


def _errors_of_sets(title: str, model: ChainModel) -> str:
    """Table of the errors of a chain's joint centres, for each set that has half of them."""
    landmarks = model.landmarks
    lines = [
        f"\n## {title}\n",
        f"| marker set | {' | '.join(name.replace('_', ' ') for name in landmarks)} |",
        f"| --- |{' --- |' * len(landmarks)}",
    ]
    for known in known_sets():
        cells = [_error_of(known, name) for name in landmarks]
        if 2 * sum(cell != "-" for cell in cells) >= len(cells):
            lines.append(f"| `{known.name}`: {known.title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _error_of(known: KnownSet, landmark: str) -> str:
    """Error of a joint centre in mm with the kind of its rule; a dash without a rule."""
    by, _ = known.substitutes.get(landmark, ("", ""))
    found = []
    for name in dict.fromkeys((landmark, by)):
        rules: list[object] = (
            [{kind: rule} for kind, rule in [known.predicted[name]]] if name in known.predicted else []
        )
        if labels := known.rules.get(name):
            line = {"between": labels, "fraction": known.fractions.get(name)}
            rules.insert(0, line if name in known.fractions else labels[0] if len(labels) == 1 else labels)
        errors = known.errors if name == landmark else {name: known.errors_of_substitutes.get(landmark)}
        found += [_size(known, name, rule, errors.get(name)) for rule in rules]
    return "; ".join(found) or "-"


def _size(known: KnownSet, landmark: str, rule: object, error: str | float | None) -> str:
    """Error of a landmark by a rule in mm, with the rule's kind; `error` goes before that of the kind."""
    own = {} if error is None else {landmark: error}
    settings = make_settings({"marker_sets": {known.name: {landmark: rule}}, "uncertainty": {"landmarks": own}})
    mapping = LandmarkMap(settings.marker_sets[known.name], {}, "right")
    kind = "keypoint" if known.name in KEYPOINTS else mapping.kind(landmark).replace("_", " ")
    return f"{1e3 * centre_error_m(landmark, mapping, settings.uncertainty):.3g}, {kind}"


NAMES_HEAD = """# Names of the Python interface

Every name of `import limbtorque as lt` with its signature, by the room that it comes from. `help(lt.torque_terms)` prints shapes, units, signs and errors; the Python reference of the site has them too. [Public interface](interface.md) says what is promised. Made by `tools/make_docs.py`.
"""
SIMPLE = (int, float, str, tuple, type(None))


def names_page() -> str:
    """Text of docs/names.md: every public name with its signature and its first sentence, by room."""
    by_room: dict[str, list[str]] = {}
    stub = Path(limbtorque.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    rooms = {
        name: room
        for room, names in re.findall(r"from \.(\w+)[\w.]* import (\([^)]*\)|.*)", stub)
        for name in re.findall(r"(\w+) as", names)
    }
    for name in sorted(limbtorque.__all__, key=str.casefold):
        value = getattr(limbtorque, name)
        about = inspect.getdoc(value) if hasattr(value, "__module__") else "A dictionary."
        first = (about or "").partition("\n\n")[0].replace("\n", " ")
        lines = [f"- `{name}{signature(value)}`: {first}"]
        if members := [f"`{each}`" for each in public_members(value)]:
            lines.append(f"  Also {', '.join(members)}.")
        by_room.setdefault(rooms[name], []).append("\n".join(lines))
    parts = [f"## {room}\n\n" + "\n".join(by_room[room]) for room in sorted(by_room)]
    return "\n\n".join([NAMES_HEAD.rstrip("\n"), *parts]) + "\n"


def signature(value: object) -> str:
    """Parameters with their defaults, and the type of a function's result; nothing for settings and exceptions."""
    if not (inspect.isfunction(value) or dataclasses.is_dataclass(value)):
        return ""
    shown = []
    places = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    for place in places:
        if place.kind is place.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        default = "" if place.default is place.empty else f"={_default(place.default)}"
        shown += [f"{place.name}{default}"] if place.name not in ("self", "cls") else []
    result = inspect.signature(value).return_annotation if inspect.isfunction(value) else "None"  # type: ignore[arg-type]
    return f"({', '.join(shown)})" + f" -> {result}" * (result not in ("None", inspect.Signature.empty))


def _default(value: object) -> str:
    """A default that is short to read, or dots."""
    return repr(value) if isinstance(value, SIMPLE) else "..."


def public_members(value: object) -> list[str]:
    """Methods of a class with their signatures, and properties."""
    if not inspect.isclass(value) or issubclass(value, Exception):
        return []
    members = {name: member for name, member in vars(value).items() if not name.startswith("_")}
    inner = {name: getattr(member, "__func__", member) for name, member in members.items()}
    return [
        name + (signature(member) if inspect.isfunction(member) else "")
        for name, member in inner.items()
        if inspect.isfunction(member) or isinstance(member, property | functools.cached_property)
    ]


def interface_page() -> str:
    """Text of docs/interface.md: the page as it is written, with the commands of the code."""
    text = (DOCS / "interface.md").read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- commands -->\n")
    lines = []
    for each in COMMANDS:
        places = [names[0] for names, _ in each.arguments]
        given = " ".join([each.name, *(place.upper() for place in places if place[0] != "-")])
        options = ", ".join(f"`{place}`" for place in places if place[0] == "-")
        lines.append(f"- `{given}`: {each.about}." + f" Options: {options}." * bool(options))
    block = "\n".join(
        [
            "<!-- commands -->",
            "",
            '<div class="whole" markdown>',
            "",
            *lines,
            "",
            "</div>",
            "",
            "<!-- end of commands -->",
            "",
        ]
    )
    return before + block + rest.partition("<!-- end of commands -->\n")[2]


OPEN_RECORDINGS_HEAD = """# Open recordings of people

Published recordings to try the program on, none of which is in this repository. Download a set from where it is published, into a folder of its own; the commands below take the
folders' names of the first table. Made by `tools/make_docs.py` from `src/limbtorque/cli/init/open_recordings.toml`.

## From a folder to the report

"""
OPEN_RECORDINGS_TRIED = """
A command leaves files as they are and writes `config` and `maps` into a new folder. Fill in what is `TODO`, mostly a body mass (70 kg gave the numbers below, and the kilograms only scale the torques of a limb
without plates), for `tennis_serve` and `arm_box_task` the direction in which the trunk looks and the side; then, for each study:

    limbtorque check children
    limbtorque run-study children

`init` knows these files by size and SHA-256, under any name, and prints their licence and citation; they are in `config/config.yaml`, too. Whoever publishes results cites the recordings.

## What comes out

"""
OPEN_RECORDINGS_OTHERS = """
A rejected trial is a result: the numbers must not be used, for the reason that is given ([quality](quality.md)). [Validation](recordings.md) compares flags with the recordings by hand,
[folders of other laboratories](any_folder.md) has times and questions.

## Not tried

These sets were not at hand: neither their formats nor their marker names were tried with this program, and licences are those that others report. Read the licence where you download. Begin with
`limbtorque inspect` of one file, then `init` as above; markers that it does not know are [assigned by a click](howto.md#use-markers-with-other-names).

"""


def open_recordings_page() -> str:
    """Text of docs/open_recordings.md."""
    tried = [each for each in open_recordings() if each.folder]
    others = [each for each in open_recordings() if not each.folder]
    commands = [f"    limbtorque init {_study(each)} --from {each.folder} {each.options}".rstrip() for each in tried]
    rows = [f"| {_study(each)} | {each.trials} | {each.meaning} |" for each in tried]
    results = ["| study | trials | why |", "| --- | --- | --- |", *rows]
    parts = [
        _sets(tried),
        "",
        *commands,
        OPEN_RECORDINGS_TRIED + "\n".join(results),
        OPEN_RECORDINGS_OTHERS + _sets(others),
    ]
    return OPEN_RECORDINGS_HEAD + "\n".join(parts) + "\n"


def _study(recordings: OpenRecordings) -> str:
    """Name of the study: that of the children, else of the folder."""
    return {"cohort": "children"}.get(recordings.folder, f"my_{recordings.folder}")


def _sets(sets: list[OpenRecordings]) -> str:
    """Table of sets with licence and citation."""
    lines = ["| folder | what it shows | licence | cite | published |", "| --- | --- | --- | --- | --- |"]
    for each in sets:
        cells = (
            f"`{each.folder}`" if each.folder else "",
            f"{each.name}: {each.shows}",
            each.licence,
            each.citation,
            each.published,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines if sets[0].folder else [re.sub(r"^\| (folder|---|) \|", "|", line) for line in lines])


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "quality.md": quality_page,
    "marker_sets.md": marker_sets_page,
    "interface.md": interface_page,
    "names.md": names_page,
    "open_recordings.md": open_recordings_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
