# in:  the recordings
# out: results/kinematics/{session}: the motion of the chain of every trial
#
# A job works on a session; its folder holds the tables of the trials and, written last, the session record with their sizes.
# 'key' and 'code' are hashes of the settings and of the code that the stage uses: a change of either makes it again.
rule kinematics:
    input:
        recordings_of,
    output:
        directory("results/kinematics/{session}"),
    log:
        "results/logs/kinematics/{session}.log",
    priority: 1  # before what the mean curves do not wait for
    group:
        session_group
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="kinematics"),
    params:
        job=command,
        stage="kinematics",
        key=partial(session_key, stage="kinematics"),
        code=code_key("kinematics"),
    message:
        "Kinematics of session {wildcards.session}"
    shell:
        "{params.job} {params.stage} --session={wildcards.session:q} --log={log:q} --key={params.key}"
