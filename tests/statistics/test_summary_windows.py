"""Windows of the summaries, on simulated walks on force plates."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.motion.ground_reaction import ExternalLoad
from limbtorque.statistics.summary_windows import summary_windows
from limbtorque.study.study import load_study
from limbtorque.tables.trial_record import Window
from staged_study import ROOT
