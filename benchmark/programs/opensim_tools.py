"""OpenSim's inverse kinematics and inverse dynamics with its setup files, coordinates filtered at 6 and 20 Hz.

The package has no generic model, and none may be copied: `mass_and_height` is analysed with the model of the first given body, scaled
by OpenSim's scale tool with the standing trial (distances of markers, body mass), as a generic model is.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from common import SIDES, given, read_body, read_trc, run

CUTOFFS_HZ = (6, 20)
LEG = {"pelvis": ("RASI", "LASI"), "trunk": ("C7", "T10"), "whole_arm": ("C7", "T10"), "thigh": ("{S}THF", "{S}KNE"),
       "shank": ("{S}KNE", "{S}ANK"), "foot": ("{S}HEE", "{S}TOE")}  # fmt: skip
ARM = {"trunk": ("C7", "T10"), "whole_arm": ("C7", "T10"), "upper_arm": ("{S}SHO", "{S}ELB"),
       "forearm": ("{S}ELB", "{S}WRR"), "hand": ("{S}WRR", "{S}KNU")}  # fmt: skip


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Run OpenSim's tools on every trial."""
    import opensim

    opensim.Logger.setLevelString("Error")
    models, setups = {}, {}
    for subject, about in trials.drop_duplicates("subject").set_index("subject").iterrows():
        models[subject] = folder / "bodies" / str(subject) / "model.osim"
        own = trials.index[trials["subject"] == subject][0]
        if about["track"] != "body_given":
            models[subject], own = _scaled(opensim, folder, trials, str(subject), about, out)
        setups[subject] = own
    for trial, subject in trials["subject"].items():
        if models[subject] is not None:
            _trial(opensim, folder / "recordings", str(trial), setups[subject], models[subject], out)


def _trial(opensim, recordings: Path, trial: str, setup: str, model: Path, out: Path) -> None:
    """Run the tools on a trial with the setup files of a trial, which is another where the body is not given."""
    os.chdir(recordings)  # the setups name files of this folder
    rate, markers = read_trc(recordings / f"{trial}.trc")
    end_s = (len(next(iter(markers.values()))) - 1) / rate
    kinematics = opensim.InverseKinematicsTool(f"{setup}_ik.xml", False)
    kinematics.set_model_file(str(model))
    kinematics.set_marker_file(f"{trial}.trc")
    kinematics.setEndTime(end_s)
    kinematics.setOutputMotionFileName(str(out / f"{trial}_angles.mot"))
    kinematics.set_report_errors(False)
    kinematics.run()
    loads = f"{trial}_external_loads.xml"
    for cutoff in CUTOFFS_HZ:
        tool = opensim.InverseDynamicsTool(f"{setup}_id.xml", False)
        tool.setModelFileName(str(model))
        tool.setCoordinatesFileName(str(out / f"{trial}_angles.mot"))
        tool.setExternalLoadsFileName(loads if Path(loads).exists() else "")
        tool.setEndTime(end_s)
        tool.setLowpassCutoffFrequency(cutoff)
        tool.setResultsDir(str(out / f"{cutoff}_hz"))
        tool.setOutputGenForceFileName(f"{trial}.sto")
        tool.run()


def _scaled(
    opensim, folder: Path, trials: pd.DataFrame, subject: str, about: pd.Series, out: Path
) -> tuple[Path | None, str]:
    """Model of the first given body with the same markers, scaled by the standing trial, and a trial of that body."""
    static, target = folder / "recordings" / f"{subject}_static.trc", out / f"{subject}.osim"
    labels = set(read_trc(static)[1])
    for other in dict.fromkeys(given(trials)["subject"]):
        generic = folder / "bodies" / other / "model.osim"
        model = opensim.Model(str(generic))
        markers, bodies = ([part.getName() for part in parts] for parts in (model.getMarkerSet(), model.getBodySet()))
        if set(markers) == labels:
            break
    else:
        return None, ""
    measured = ""
    for body in bodies:
        side, _, part = body.partition("_")
        side, part = (side, part) if side in SIDES else ("", body)
        pair = " ".join((LEG if about["chain"] == "leg" else ARM)[part]).replace("{S}", side[:1].upper())
        measured += (
            f'<Measurement name="{body}"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>{pair}</markers></MarkerPair>'
            f'</objects></MarkerPairSet><BodyScaleSet><objects><BodyScale name="{body}"><axes>X Y Z</axes></BodyScale></objects>'
            "</BodyScaleSet></Measurement>\n"
        )
    tasks = "".join(
        f'<IKMarkerTask name="{label}"><apply>true</apply><weight>1</weight></IKMarkerTask>\n' for label in markers
    )
    # an arm's model holds a part of the body
    held_kg = sum(float(str(segment["mass_kg"])) for segment in read_body(folder, other).values())
    mass_kg = about["mass_kg"] * held_kg / trials.loc[trials["subject"] == other, "mass_kg"].iloc[0]
    span = f"<marker_file>{os.path.relpath(static, out)}</marker_file><time_range>0 0.9</time_range><output_model_file>{target.name}</output_model_file>"
    setup = out / f"{subject}_scale.xml"
    setup.write_text(
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<OpenSimDocument Version="40000"><ScaleTool name="{subject}"><mass>{mass_kg}</mass>\n'
        f"<GenericModelMaker><model_file>{os.path.relpath(generic, out)}</model_file></GenericModelMaker>\n<ModelScaler><apply>true</apply>"
        "<scaling_order>measurements</scaling_order><preserve_mass_distribution>true</preserve_mass_distribution>\n"
        f"<MeasurementSet><objects>\n{measured}</objects></MeasurementSet>{span}</ModelScaler>\n"
        f"<MarkerPlacer><apply>true</apply><IKTaskSet><objects>\n{tasks}</objects></IKTaskSet>{span}</MarkerPlacer></ScaleTool></OpenSimDocument>\n",
        encoding="utf-8",
    )
    tool = opensim.ScaleTool(str(setup))
    if not tool.run():
        raise SystemExit(f"OpenSim's scale tool failed for {subject}.")
    return target, str(trials.index[trials["subject"] == other][0])


if __name__ == "__main__":
    run(__doc__, analyse, "opensim")
