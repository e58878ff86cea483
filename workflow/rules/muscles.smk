# in:  results/kinematics/{session}, results/torques/{session}
# out: results/muscles/{session}: the muscle forces of every trial
use rule torques as muscles with:
    input:
        "results/kinematics/{session}",
        "results/torques/{session}",
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
