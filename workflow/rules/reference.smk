# in:  results/curves/{session}, results/windows.csv, results/results.csv, results/ledger.csv; the results of another study (reference.results)
# out: results/compared_with_reference.csv, results/report/subjects: each subject beside the reference
use rule ensembles as reference with:
    input:
        "results/results.csv",
        "results/ledger.csv",
        windows="results/windows.csv" if ENSEMBLES else [],
        curves=expand("results/curves/{session}", session=SESSIONS) if ENSEMBLES else [],
        other=[str(path) for path in reference_faults.reference_files(STUDY)],
    output:
        "results/compared_with_reference.csv",
        [str(path) for path in layout.subject_pages(STUDY).values()],
    log:
        "results/logs/reference.log",
    priority: 0
    params:
        job=command,
        stage="reference",
        key=keys.reference_key(STUDY),
        code=code_key("reference"),
    message:
        "Subjects beside the reference"
