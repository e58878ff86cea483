# in:  results/kinematics/{session}; the recordings and the shared cut-off again, for trials with spikes
# out: results/torques/{session}: the torque component table of every trial
use rule kinematics as torques with:
    input:
        "results/kinematics/{session}",
        recordings_of,
        cutoff=study_cutoff_of,
    output:
        directory("results/torques/{session}"),
    log:
        "results/logs/torques/{session}.log",
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="torques"),
    params:
        job=command,
        stage="torques",
        key=partial(session_key, stage="torques"),
        code=code_key("torques"),
        cutoffs="",  # the kinematics alone depend on them
    message:
        "Torque terms of session {wildcards.session}"
