# in:  results/kinematics, results/torques, by way of results/batches
# out: results/curves.parquet, results/ensembles.csv, results/windows.csv, where ensembles.enabled
ENSEMBLE_FILES = [str(path) for path in layout.ensemble_outputs(STUDY)]

if ENSEMBLE_FILES:

    rule ensembles:
        input:
            batches=[
                str(layout.batch_path(stage, batch)) for stage in layout.ENSEMBLE_SOURCES for batch in STUDY.batches
            ],
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
            key=layout.ensembles_key(STUDY),
            code=layout.code_key("ensembles"),
        message:
            f"curves and ensembles of {len(STUDY.trials)} trials"
        script:
            "../scripts/ensembles.py"
