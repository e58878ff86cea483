# in:  results/ledger.csv, results/summary.csv, results/ensembles.csv where ensembles.enabled
# out: results/figures/study, and the captions of all figures
STUDY_FIGURES = [str(path) for path in layout.study_figures(STUDY)]

if STUDY_FIGURES:

    rule study_figures:
        input:
            str(layout.STUDY_TABLES["ledger"]),
            str(layout.STUDY_TABLES["summary"]),
            [str(path) for path in layout.ensemble_outputs(STUDY)],
        output:
            STUDY_FIGURES,
        log:
            "results/logs/study_figures.log",
        group:
            "study"
        conda:
            "../envs/limbtorque.yaml"
        resources:
            mem_mb=study_mb,
            runtime=study_minutes,
        params:
            job=command,
            stage="study_figures",
            key=layout.WHOLE["study_figures"](STUDY),
            code=layout.code_key("study_figures"),
        message:
            "figures of the study"
        shell:
            "{params.job} {params.stage} --log {log:q} --key={params.key}"
