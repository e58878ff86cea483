# in:  results/curves, with results/batches
# out: results/ensembles.csv, results/windows.csv, where ensembles.enabled
ENSEMBLE_FILES = [str(path) for path in layout.ensemble_outputs(STUDY)]

if ENSEMBLE_FILES:

    rule ensembles:
        input:
            curves=[str(layout.curves_path(batch)) for batch in STUDY.batches],
            batches=[str(layout.batch_path("curves", batch)) for batch in STUDY.batches],
        output:
            ENSEMBLE_FILES,
        log:
            "results/logs/ensembles.log",
        priority: 1
        group:
            "study"
        conda:
            "../envs/limbtorque.yaml"
        resources:
            mem_mb=study_mb,
            runtime=study_minutes,
        params:
            job=command,
            stage="ensembles",
            key=layout.WHOLE["ensembles"](STUDY),
            code=layout.code_key("ensembles"),
        message:
            f"ensembles of {len(STUDY.trials)} trials"
        shell:
            "{params.job} {params.stage} --log {log:q} --key={params.key}"
