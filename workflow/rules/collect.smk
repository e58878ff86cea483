# in:  results/batches, what was kept of every trial; results/windows.csv where ensembles.enabled
# out: results/summary.csv and results/summary_by_condition.csv, results/muscle_summary.csv, results/ledger.csv, results/data_dictionary.csv,
#      results/provenance.json, results/methods.md, results/summary.xlsx where tables.xlsx, results/verdict.txt
rule collect:
    input:
        batches=[
            str(layout.batch_path(stage, batch))
            for stage in ("kinematics", "torques", "muscles")
            for batch in STUDY.batches
        ],
        windows=[path for path in ENSEMBLE_FILES if path == str(layout.ENSEMBLE_TABLES["windows"])],
    output:
        [
            (
                report(
                    str(path),
                    caption=f"../report/{path.stem}.rst",
                    category="Study",
                    labels={"item": path.name},
                )
                if path.name in ("summary.csv", "ledger.csv")
                else str(path)
            )
            for path in layout.study_outputs(STUDY)
        ],
    log:
        "results/logs/collect.log",
    group:
        "study"
    conda:
        "../envs/limbtorque.yaml"
    resources:
        mem_mb=study_mb,
        runtime=study_minutes,
    params:
        job=command,
        stage="collect",
        key=STUDY_KEY,
        code=layout.code_key("collect"),
        curves=layout.code_key("ensembles"),  # provenance.json names it
    message:
        f"summary, ledger, data dictionary and provenance of {len(STUDY.trials)} trials"
    shell:
        "{params.job} {params.stage} --log {log:q} --key={params.key}"


rule verdict:
    input:
        ledger=str(layout.STUDY_TABLES["ledger"]),
        windows=[path for path in ENSEMBLE_FILES if path == str(layout.ENSEMBLE_TABLES["windows"])],
    output:
        str(layout.VERDICT),
    log:
        "results/logs/verdict.log",
    localrule: True
    conda:
        "../envs/limbtorque.yaml"
    params:
        job=command,
        stage="verdict",
        key=layout.WHOLE["verdict"](STUDY),
        code=layout.code_key("verdict"),
    message:
        "which trials failed"
    shell:
        "{params.job} {params.stage} --log {log:q} --key={params.key}"
