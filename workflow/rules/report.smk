# in:  the tables of the study
# out: results/report/index.html, and the files that all pages share
use rule ensembles as report with:
    input:
        rules.collect.output,
        ensembles=["results/ensembles.csv", "results/windows.csv"] if ENSEMBLES else [],
        contrasts=["results/contrasts.csv", "results/contrast_curves.csv"] if STUDY.settings.contrasts.declared else [],
    output:
        report(
            "results/report/index.html",
            caption="../report/index.rst",
            category="Study",
            labels={"item": "report"},
        ),
        "results/report/report.css",
        "results/report/base.js",
        "results/report/plots.js",
        "results/report/panels.js",
        "results/report/readout.js",
        "results/report/limb.js",
        "results/report/trial.js",
        "results/report/table.js",
        "results/report/mean_curves.js",
        "results/report/plotly.min.js",
    log:
        "results/logs/report.log",
    priority: 0
    params:
        job=command,
        stage="report",
        key=STUDY_KEY,
        code=code_key("report"),
    message:
        "First page of the report"
