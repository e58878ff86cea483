# in:  results/kinematics/{session}, results/torques/{session}, results/muscles/{session}: their session records; results/windows.csv
# out: results/results.csv, verdict.txt, summary.csv, ledger.csv, metrics.csv, notes/, provenance.json, methods.md and the other tables of the study
use rule ensembles as collect with:
    input:
        expand(
            "results/{stage}/{session}",
            stage=["kinematics", "torques", "muscles"],
            session=SESSIONS,
        ),
        windows="results/windows.csv" if ENSEMBLES else [],
    output:
        report("results/summary.csv", caption="../report/summary.rst", category="Study", labels={"item": "summary.csv"}),
        report("results/ledger.csv", caption="../report/ledger.rst", category="Study", labels={"item": "ledger.csv"}),
        "results/results.csv",
        "results/verdict.txt",
        "results/summary_bands.csv",
        "results/metrics.csv",
        directory("results/notes"),
        "results/summary_by_condition.csv",
        "results/muscle_summary.csv",
        "results/contact_summary.csv",
        "results/compared_with_file.csv",
        "results/data_dictionary.csv",
        "results/datapackage.json",
        "results/provenance.json",
        "results/methods.md",
        emg=[str(path) for path in layout.emg_outputs(STUDY)],
    log:
        "results/logs/collect.log",
    priority: 0
    params:
        job=command,
        stage="collect",
        key=STUDY_KEY,
        code=code_key("collect"),
        curves=code_key("ensembles"),  # provenance.json names it
    message:
        "Summary, ledger, data dictionary and provenance"
