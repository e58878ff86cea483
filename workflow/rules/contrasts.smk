# in:  results/summary.csv, results/muscle_summary.csv, results/windows.csv, results/curves/{session}, results/torques/{session}: its effects
# out: results/contrasts.csv, results/contrast_curves.csv: differences of conditions, groups or sides, with their tests
use rule ensembles as contrasts with:
    input:
        "results/summary.csv",
        "results/muscle_summary.csv",
        expand("results/torques/{session}", session=SESSIONS),
        windows="results/windows.csv" if ENSEMBLES else [],
        curves=expand("results/curves/{session}", session=SESSIONS) if ENSEMBLES else [],
    output:
        "results/contrasts.csv",
        "results/contrast_curves.csv",
    log:
        "results/logs/contrasts.log",
    priority: 0
    params:
        job=command,
        stage="contrasts",
        key=keys.contrasts_key(STUDY),
        code=code_key("contrasts"),
    message:
        "Contrasts"
