# in:  the recordings
# out: results/study_cutoff.json; results/kinematics, results/torques, results/muscles, results/figures and results/report/trials, one set of files for each trial;
#      results/curves, a file for each session
#
# One rule for each stage and batch, with the files of its trials: the unit of a job is a session, not a trial, and
# every table is tracked. A job writes what it kept of its trials (results/batches) last, and later stages wait for that
# instead of for every table, which Snakemake would note down for every output. 'code' and 'key' are what makes a job
# run again after a change of the package or the study.
#
# Groups and resources are for clusters (profiles/slurm): all stages of a session are one job there. 'cutoffs' are not in
# that job, because study_cutoff stands between them and it.
#
# What is asked for is the file that a job writes last, and a table only where it is missing beside that file: of
# everything that is asked for by name, Snakemake keeps three more copies in memory, and looks for what makes it.
TARGETS = []

# Trials whose filter.scope is 'study' wait for one cut-off, which is chosen from all of them first.
SHARING = {name: STUDY.batches[name] for name in layout.batches_sharing_a_cutoff(STUDY)}

for batch, trials in SHARING.items():

    rule:
        name:
            layout.rule_name("cutoffs", batch)
        input:
            sorted({str(file) for trial in trials for file in trial.files}),
        output:
            str(layout.batch_path("cutoffs", batch)),
        log:
            f"results/logs/cutoffs/{batch}.log",
        group:
            "cutoffs"
        conda:
            "../envs/limbtorque.yaml"
        resources:
            mem_mb=partial(asked_mb, trials=trials),
            runtime=partial(asked_minutes, stage="cutoffs", trials=trials),
        params:
            job=command,
            stage="cutoffs",
            batch=batch,
            key=layout.batch_key("cutoffs", STUDY, batch),
            code=layout.code_key("cutoffs"),
        message:
            f"cut-offs of session {batch}: {len(trials)} trials"
        shell:
            "{params.job} {params.stage} --log {log:q} --batch={params.batch:q} --key={params.key}"


if SHARING:

    rule study_cutoff:
        input:
            [str(layout.batch_path("cutoffs", batch)) for batch in SHARING],
        output:
            str(layout.STUDY_CUTOFF),
        log:
            "results/logs/study_cutoff.log",
        localrule: True
        conda:
            "../envs/limbtorque.yaml"
        params:
            job=command,
            stage="study_cutoff",
            key=layout.WHOLE["study_cutoff"](STUDY),
            code=layout.code_key("study_cutoff"),
        message:
            f"one cut-off for {len(SHARING)} sessions"
        shell:
            "{params.job} {params.stage} --log {log:q} --key={params.key}"


for stage, sources in layout.SOURCES.items():
    for batch, trials in STUDY.batches.items():
        made = layout.batch_outputs(stage, STUDY, batch)
        if not made:
            continue
        done = layout.batch_path(stage, batch)
        missing = [path for path in made if not path.exists()] if done.exists() else []
        TARGETS += map(str, [done, *missing])

        rule:
            name:
                layout.rule_name(stage, batch)
            input:
                recordings=([] if sources else sorted({str(file) for trial in trials for file in trial.files})),
                batches=[str(layout.batch_path(source, batch)) for source in layout.needed(stage, trials)],
                cutoff=([str(layout.STUDY_CUTOFF)] if stage == "kinematics" and batch in SHARING else []),
            output:
                [str(path) for path in made],
                batch=str(done),
            log:
                f"results/logs/{stage}/{batch}.log",
            # what the curves wait for goes first, so that the ensembles are made beside the rest and not after it
            priority: int(stage in ("curves", *layout.SOURCES["curves"]))
            group:
                resources.group(trials)
            conda:
                "../envs/limbtorque.yaml"
            resources:
                mem_mb=partial(asked_mb, trials=trials),
                runtime=partial(asked_minutes, stage=stage, trials=trials),
            params:
                job=command,
                stage=stage,
                batch=batch,
                key=layout.batch_key(stage, STUDY, batch),
                code=layout.code_key(stage),
            message:
                f"{stage} of session {batch}: {len(trials)} trials"
            shell:
                "{params.job} {params.stage} --log {log:q} --batch={params.batch:q} --key={params.key}"
