# in:  the recordings
# out: results/universes/{session}: outcomes of the contrasts, of every trial in all universes (limbtorque multiverse)
use rule kinematics as universes with:
    input:
        recordings_of,
    output:
        directory("results/universes/{session}"),
    log:
        "results/logs/universes/{session}.log",
    priority: 0
    resources:
        mem_mb=session_mb,
        runtime=partial(session_minutes, stage="universes"),
    params:
        job=command,
        stage="universes",
        key=partial(session_key, stage="universes"),
        code=code_key("universes"),
    message:
        "All universes of session {wildcards.session}"
