# in:  the tables of the study
# out: results/report/index.html and the files that all pages share
rule report:
    input:
        [str(path) for path in layout.STUDY_TABLES.values()],
        [str(path) for path in layout.ensemble_outputs(STUDY)],
    output:
        report(
            str(layout.REPORT["index"]),
            caption="../report/index.rst",
            category="Study",
            labels={"item": "report"},
        ),
        [str(path) for name, path in layout.REPORT.items() if name != "index"],
    log:
        "results/logs/report.log",
    group:
        "study"
    conda:
        "../envs/limbtorque.yaml"
    resources:
        mem_mb=study_mb,
        runtime=study_minutes,
    params:
        job=command,
        stage="report",
        key=STUDY_KEY,
        code=layout.code_key("report"),
    message:
        f"report of {len(STUDY.trials)} trials"
    shell:
        "{params.job} {params.stage} --log {log:q} --key={params.key}"
