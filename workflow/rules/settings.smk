# in:  config/config.yaml, options of --config
# out: results/settings.json: what holds in this run; rules take it as ancient(), since a key says which of them depend on a change
rule settings:
    output:
        "results/settings.json",
    log:
        "results/logs/settings.log",
    localrule: True
    params:
        job=command,
        key=keys.settings_key(STUDY.settings),
        code=code_key("settings"),
        config=json.dumps(dict(config)),
    message:
        "Settings of the run"
    shell:
        "{params.job} settings --log={log:q} --key={params.key} --config={params.config:q}"
