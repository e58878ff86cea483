# in:  results/kinematics/{session}, results/torques/{session}
# out: results/curves/{session}: every trial over 0 to 100 % of its window
use rule torques as curves with:
    input:
        "results/kinematics/{session}",
        "results/torques/{session}",
    output:
        directory("results/curves/{session}"),
    log:
        "results/logs/curves/{session}.log",
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="curves"),
    params:
        job=command,
        stage="curves",
        key=partial(session_key, stage="curves"),
        code=code_key("curves"),
    message:
        "Time-normalised curves of session {wildcards.session}"
