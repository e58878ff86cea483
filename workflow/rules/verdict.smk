# in:  results/ledger.csv, results/windows.csv
# out: results/records/accepted.txt: verdict.txt, where the study may be used; fails where too many trials failed or none is left
rule verdict:
    input:
        ledger="results/ledger.csv",
        windows="results/windows.csv" if ENSEMBLES else [],
    output:
        "results/records/accepted.txt",
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
