# in:  results/ledger.csv, results/summary.csv, results/ensembles.csv, results/windows.csv, results/contrasts.csv, results/contrast_curves.csv
# out: results/study_figures: figures of the study, and the captions of all figures
use rule ensembles as study_figures with:
    input:
        "results/ledger.csv",
        "results/summary.csv",
        ensembles=["results/ensembles.csv", "results/windows.csv"] if ENSEMBLES else [],
        contrasts=["results/contrasts.csv", "results/contrast_curves.csv"] if STUDY.settings.contrasts.declared else [],
    output:
        expand("results/study_figures/{file}", file=[path.name for path in layout.study_figures(STUDY)]),
    log:
        "results/logs/study_figures.log",
    priority: 0
    params:
        job=command,
        stage="study_figures",
        key=keys.study_figures_key(STUDY),
        code=code_key("study_figures"),
    message:
        "Figures of the study"
