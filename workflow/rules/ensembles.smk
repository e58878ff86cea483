# in:  results/curves/{session}
# out: results/ensembles.csv, results/windows.csv: mean curves by condition, and the window of every trial
rule ensembles:
    input:
        expand("results/curves/{session}", session=SESSIONS),
    output:
        "results/ensembles.csv",
        "results/windows.csv",
    log:
        "results/logs/ensembles.log",
    priority: 1
    group:
        "study"
    resources:
        mem_mb=study_mb,
        runtime=study_minutes,
    params:
        job=command,
        stage="ensembles",
        key=keys.ensembles_key(STUDY),
        code=code_key("ensembles"),
    message:
        "Mean curves"
    shell:
        "{params.job} {params.stage} --log={log:q} --key={params.key}"
