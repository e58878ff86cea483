# in:  the recordings of trials whose filter.scope is 'study'
# out: results/cutoffs/{session}, results/study_cutoff.json: one cut-off for each chain and condition
rule cutoffs:
    input:
        recordings_of,
    output:
        directory("results/cutoffs/{session}"),
    log:
        "results/logs/cutoffs/{session}.log",
    group:
        "cutoffs"
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="cutoffs"),
    params:
        job=command,
        stage="cutoffs",
        key=partial(session_key, stage="cutoffs"),
        code=code_key("cutoffs"),
    message:
        "Cut-offs of session {wildcards.session}"
    shell:
        "{params.job} {params.stage} --session={wildcards.session:q} --log={log:q} --key={params.key}"


checkpoint study_cutoff:
    input:
        expand("results/cutoffs/{session}", session=layout.sessions_of("cutoffs", STUDY)),
    output:
        "results/study_cutoff.json",
    log:
        "results/logs/study_cutoff.log",
    localrule: True
    params:
        job=command,
        key=keys.cutoff_key(STUDY),
        code=code_key("study_cutoff"),
    message:
        "One cut-off for each chain and condition"
    shell:
        "{params.job} study_cutoff --log={log:q} --key={params.key}"
