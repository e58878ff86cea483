# in:  results/kinematics, results/torques, results/muscles, by way of results/batches
# out: results/summary.csv, results/ledger.csv, results/data_dictionary.csv, results/provenance.json, results/verdict.txt
rule collect:
    input:
        batches=[
            str(layout.batch_path(stage, batch))
            for stage in ("kinematics", "torques", "muscles")
            for batch in STUDY.batches
        ],
    output:
        [
            (
                report(
                    str(path),
                    caption=f"../report/{name}.rst",
                    category="Study",
                    labels={"item": path.name},
                )
                if name in ("summary", "ledger")
                else str(path)
            )
            for name, path in layout.STUDY_TABLES.items()
        ],
    log:
        "results/logs/collect.log",
    conda:
        "../envs/limbtorque.yaml"
    params:
        key=layout.study_key(STUDY),
        code=layout.code_key("collect"),
    message:
        f"summary, ledger, data dictionary and provenance of {len(STUDY.trials)} trials"
    script:
        "../scripts/collect.py"


rule verdict:
    input:
        ledger=str(layout.STUDY_TABLES["ledger"]),
    output:
        "results/verdict.txt",
    log:
        "results/logs/verdict.log",
    conda:
        "../envs/limbtorque.yaml"
    params:
        allowed=STUDY.settings.run.max_failed_fraction,
    message:
        "which trials failed"
    script:
        "../scripts/verdict.py"
