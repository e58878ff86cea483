"""Meaning of flags and failures."""

from __future__ import annotations

from limbtorque.quality.checks import CHECKS

BY_NAME = {check.name: check for check in CHECKS}
REASONS = {
    "read": "The file cannot be read, or its content is contradictory. `limbtorque inspect <file>` lists its content.",
    "landmark": "A marker or landmark that the chain needs is missing or ambiguous. Compare the marker set of the settings with the labels "
    "that `limbtorque inspect <file>` lists.",
    "signal": "Gaps, the cut-off or the number of frames prevent the analysis. Inspect the gaps in the capture software, or choose another "
    "part of the trial with start_s and end_s.",
    "segment": "The segment parameters cannot be determined. Check the landmarks between which the lengths are measured, "
    "and the subject's row in the table of subjects.",
    "load": "An external load is missing or contradicts the geometry. Check the column `load` of the table of trials, and the force plates.",
    "trial": "The trial cannot be analysed with these settings.",
    "settings": "The settings do not fit this trial. The message names the option.",
    "defect": "An error inside the program, not in the recording. Report it, with the log of the session (results/logs) and the file.",
}
AFFECTS = {"torques": "torques and muscle forces", "muscles": "muscle forces"}
