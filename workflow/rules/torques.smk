# in:  results/kinematics/{session}; the recordings again, for trials with spikes
# out: results/torques/{session}: the torque component table of every trial
use rule kinematics as torques with:
    input:
        "results/kinematics/{session}",
        recordings_of,
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
    message:
        "Torque terms of session {wildcards.session}"
