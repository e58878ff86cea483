# in:  results/ledger.csv, results/windows.csv
# out: results/verdict.txt: counts of trials by status; fails where more trials failed than run.max_failed_fraction allows
rule verdict:
    input:
        ledger="results/ledger.csv",
        windows="results/windows.csv" if ENSEMBLES else [],
    output:
        "results/verdict.txt",
    log:
        "results/logs/verdict.log",
    localrule: True
    params:
        job=command,
        key=keys.verdict_key(STUDY),
        code=code_key("verdict"),
    message:
        "Trial status"
    shell:
        "{params.job} verdict --log={log:q} --key={params.key}"
