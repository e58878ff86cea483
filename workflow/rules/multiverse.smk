# in:  results/universes/{session}
# out: results/multiverse.csv, results/report/multiverse.html, results/multiverse_figures: contrasts in all universes
use rule ensembles as multiverse with:
    input:
        expand("results/universes/{session}", session=SESSIONS),
    output:
        "results/multiverse.csv",
        "results/report/multiverse.html",
        figures=[str(path) for path in layout.multiverse_figure_files(STUDY)],
    log:
        "results/logs/multiverse.log",
    priority: 0
    params:
        job=command,
        stage="multiverse",
        key=keys.multiverse_key(STUDY),
        code=code_key("multiverse"),
    message:
        "Contrasts in all universes"
