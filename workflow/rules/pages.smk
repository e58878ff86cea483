# in:  results/kinematics/{session}, results/torques/{session}, results/muscles/{session}
# out: results/report/trials/{session}: the page of every trial
use rule muscles as pages with:
    input:
        "results/kinematics/{session}",
        "results/torques/{session}",
        "results/muscles/{session}",
    output:
        directory("results/report/trials/{session}"),
    log:
        "results/logs/pages/{session}.log",
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="pages"),
    params:
        job=command,
        stage="pages",
        key=partial(session_key, stage="pages"),
        code=code_key("pages"),
    message:
        "Pages of session {wildcards.session}"
