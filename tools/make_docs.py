"""Write the pages of docs that are made from the code: docs/settings.md and docs/quality.md."""

from __future__ import annotations

from pathlib import Path

from limbtorque.study.settings import Settings, options_page
from limbtorque.study.trials import PER_TRIAL
from limbtorque.tables.quality_flags import CHECKS, METRICS

DOCS = Path(__file__).resolve().parents[1] / "docs"

SETTINGS_HEAD = """# Settings

Made from the code by `tools/make_docs.py`; `limbtorque settings` prints the same table. Options are set in the study's
`config/config.yaml`; those not set there have their defaults. Options of PER_TRIAL
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
      anatomical: ["{S}KNL", "{S}KNM"]    # with any of the rules above for the plane (docs/signals.md)
    heel: "{S}HEE"                        # {S}: R or L, {s}: r or l, {side}: right or left, by the trial's side
substitutes:
  my_markers:
    greater_trochanter: hip_axis          # required: used in its place; every use is noted in the ledger
```

The arm needs `glenohumeral_axis`, `elbow_axis`, `wrist_axis`, `ulnar_styloid` and `knuckle_2_middle_finger`; the leg
`hip_axis`, `knee_axis`, `ankle_axis`, `greater_trochanter`, `femoral_condyles`, `medial_malleolus`, `lateral_malleolus`,
`head_of_metatarsal_2`, and, for ground contact, better also `heel`.

## Loads

```yaml
loads:
  weight_in_hand: {type: constant_force, force_n: [0, 0, -19.6], fraction: 0.5}   # N, laboratory frame
  spring: {type: spring, stiffness_n_m: 40, anchor_m: [-0.2, 0, 1.1], rest_length_m: 0.3}
```

A trial takes one by its name in the column `load`. `fraction` is its point of application: 0 at the last joint, 1 at the end of the
last segment. A held weight has inertia, a constant force has none: for such trials add a subject with the
loaded hand's `hand_mass_kg`, `hand_com_m` and `hand_inertia_kgm2` (`limbtorque.chain.Chain.holding` computes them).

## More columns, a replay, a rigid chain

```yaml
motion:
  angles: segments                        # from joint to joint; or rigid_chain, inertial_chain
torques:
  conventions: [interaction, segment_space]
  power: true
  induced_accelerations: true
replay:
  enabled: true
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
QUALITY_HEAD = """# Quality flags

Made from the code by `tools/make_docs.py`. A trial is `failed` where no torque could be computed (the ledger says why), `flagged`
where a metric below is above its threshold, otherwise `ok`. Thresholds are options of `quality` in the settings.

| metric | unit | definition | flagged above | action | source of the threshold |
| --- | --- | --- | --- | --- | --- |
"""
METRICS_HEAD = """
Metrics of the ledger that raise no flag:

| metric | unit | definition |
| --- | --- | --- |
"""


def settings_page() -> str:
    """Text of docs/settings.md."""
    sections = ", ".join(f"`{section}`" for section in PER_TRIAL)
    return SETTINGS_HEAD.replace("PER_TRIAL", sections) + options_page() + SETTINGS_TAIL


def quality_page() -> str:
    """Text of docs/quality.md."""
    thresholds = Settings().quality
    rows = []
    for check in CHECKS:
        limit = getattr(thresholds, check.name, 0)
        rows.append(
            f"| `{check.name}` | {check.unit} | {check.definition} | {limit:g} | {check.advice} | {check.source} |"
        )
    metrics = [f"| `{metric.name}` | {metric.unit} | {metric.definition} |" for metric in METRICS]
    return QUALITY_HEAD + "\n".join(rows) + "\n" + METRICS_HEAD + "\n".join(metrics) + "\n"


def main() -> None:
    (DOCS / "settings.md").write_text(settings_page(), encoding="utf-8")
    (DOCS / "quality.md").write_text(quality_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
