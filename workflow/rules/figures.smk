# in:  results/kinematics/{session}, results/torques/{session}; results/muscles/{session} where muscles are drawn
# out: results/figures/{session}: the figures of every trial
use rule muscles as figures with:
    input:
        "results/kinematics/{session}",
        "results/torques/{session}",
        muscles=branch(draws_muscles, then="results/muscles/{session}", otherwise=[]),
    output:
        directory("results/figures/{session}"),
    log:
        "results/logs/figures/{session}.log",
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="figures"),
    params:
        job=command,
        stage="figures",
        key=partial(session_key, stage="figures"),
        code=code_key("figures"),
    message:
        "Figures of session {wildcards.session}"
