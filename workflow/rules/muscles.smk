# in:  results/kinematics/{session}, results/torques/{session}; the recordings with electromyography
# out: results/muscles/{session}: the muscle forces of every trial
use rule torques as muscles with:
    input:
        "results/kinematics/{session}",
        "results/torques/{session}",
        emg=emg_files_of,
    output:
        directory("results/muscles/{session}"),
    log:
        "results/logs/muscles/{session}.log",
    priority: 0
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="muscles"),
    params:
        job=command,
        stage="muscles",
        key=partial(session_key, stage="muscles"),
        code=code_key("muscles"),
    message:
        "Muscle forces of session {wildcards.session}"
