"""Run a program of this folder on a set: `python -m programs leg2d SET OUT`, in the folder `benchmark`."""

import argparse
import importlib
from pathlib import Path

import pandas as pd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program", help="name of the script")
parser.add_argument("folder", type=Path, metavar="SET")
parser.add_argument("out", type=Path, metavar="OUT", help="folder of the results")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)
trials = pd.read_csv(options.folder / "trials.csv", index_col="trial", keep_default_na=False)
importlib.import_module(f"programs.{options.program}").analyse(options.folder.resolve(), trials, options.out.resolve())
