"""OpenSim's inverse kinematics and inverse dynamics with the set's setup files, coordinates filtered at 6 and 20 Hz.

The package has no generic model, and none may be copied: `mass_and_height` is analysed with the model of the first given body, scaled
by OpenSim's scale tool with the standing trial (distances of markers, body mass), as a generic model is.
"""

from __future__ import annotations

import os
from pathlib import Path

import opensim
import pandas as pd
from programs.common import SIDES, read_trc

from files import write_xml

CUTOFFS_HZ = (6, 20)
PAIRS = {"pelvis": "RASI LASI", "trunk": "C7 T10", "whole_arm": "C7 T10", "thigh": "{S}THF {S}KNE", "shank": "{S}KNE {S}ANK",
         "foot": "{S}HEE {S}TOE", "upper_arm": "{S}SHO {S}ELB", "forearm": "{S}ELB {S}WRR", "hand": "{S}WRR {S}KNU"}  # fmt: skip


def analyse(folder: Path, trials: pd.DataFrame, out: Path) -> None:
    """Run OpenSim's tools on every trial."""
    opensim.Logger.setLevelString("Error")
    subjects = trials.reset_index().groupby("subject", sort=False).first()
    models = {
        name: folder / "bodies" / name / "model.osim" for name in subjects.index[subjects["track"] == "body_given"]
    }
    for name in subjects.index.difference(list(models)):
        if model := _scaled(folder, subjects, name, out):
            models[name] = model
    os.chdir(folder / "recordings")  # the setups name files of this folder
    for trial, subject in trials["subject"].items():
        if subject in models:
            _run(str(trial), str(models[subject]), out)


def _run(trial: str, model: str, out: Path) -> None:
    """Run the tools on a trial."""
    kinematics = opensim.InverseKinematicsTool(f"{trial}_ik.xml", False)
    kinematics.set_model_file(model)
    kinematics.setOutputMotionFileName(str(out / f"{trial}_angles.mot"))
    kinematics.set_report_errors(False)
    kinematics.run()
    for cutoff in CUTOFFS_HZ:
        tool = opensim.InverseDynamicsTool(f"{trial}_id.xml", False)
        tool.setModelFileName(model)
        tool.setCoordinatesFileName(str(out / f"{trial}_angles.mot"))
        tool.setLowpassCutoffFrequency(cutoff)
        tool.setResultsDir(str(out / f"{cutoff}_hz"))
        tool.setOutputGenForceFileName(f"{trial}.sto")
        tool.run()


def _scaled(folder: Path, subjects: pd.DataFrame, name: str, out: Path) -> Path | None:
    """Model of the first given body with the same markers, scaled by the standing trial."""
    static = folder / "recordings" / f"{name}_static.trc"
    for other in subjects.index[subjects["track"] == "body_given"]:
        generic = folder / "bodies" / other / "model.osim"
        model = opensim.Model(str(generic))
        markers = [marker.getName() for marker in model.getMarkerSet()]
        if set(markers) == read_trc(static)[1].keys():
            break
    else:
        return None
    state = model.initSystem()  # an arm's model holds a part of the body
    mass_kg = subjects["mass_kg"][name] * model.getTotalMass(state) / subjects["mass_kg"][other]
    measurements = {}
    for body in (body.getName() for body in model.getBodySet()):
        side = body.partition("_")[0]
        pair = PAIRS[body.removeprefix(f"{side}_") if side in SIDES else body].replace("{S}", side[0].upper())
        scale = {"objects": {f'BodyScale name="{body}"': {"axes": "X Y Z"}}}
        pairs = {"objects": {"MarkerPair": {"markers": pair}}}
        measured = {"apply": "true", "MarkerPairSet": pairs, "BodyScaleSet": scale}
        measurements[f'Measurement name="{body}"'] = measured
    tasks = {f'IKMarkerTask name="{label}"': {"apply": "true", "weight": "1"} for label in markers}
    files = {"apply": "true", "marker_file": os.path.relpath(static, out), "time_range": "0 0.9"}
    files["output_model_file"] = f"{name}.osim"
    scaler = {"scaling_order": "measurements", "preserve_mass_distribution": "true"}
    setup = {
        "mass": mass_kg,
        "GenericModelMaker": {"model_file": os.path.relpath(generic, out)},
        "ModelScaler": files | scaler | {"MeasurementSet": {"objects": measurements}},
        "MarkerPlacer": files | {"IKTaskSet": {"objects": tasks}},
    }
    write_xml(out / f"{name}_scale.xml", {f'ScaleTool name="{name}"': setup})
    if not opensim.ScaleTool(str(out / f"{name}_scale.xml")).run():
        raise SystemExit(f"OpenSim's scale tool failed for {name}.")
    return out / f"{name}.osim"
