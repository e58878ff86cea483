"""Reasons of jobs are forgotten after a checkpoint, but not those of jobs that run or are done."""

import asyncio
from types import SimpleNamespace

from limbtorque.workflow.snakemake_faults import forget_reasons


def test_waiting_jobs_find_their_reason_anew():
    cleared, updated = [], []
    reasons = {job: SimpleNamespace(clear=lambda job=job: cleared.append(job)) for job in ("done", "runs", "waits")}

    async def update():
        updated.append(list(cleared))

    dag = SimpleNamespace(
        jobs=list(reasons),
        finished=lambda job: job == "done",
        _running={"runs"},
        reason=reasons.get,
        postprocess_after_update=update,
    )
    assert forget_reasons(SimpleNamespace(dag=dag))
    asyncio.run(dag.postprocess_after_update())
    assert updated == [["waits"]]


def test_a_snakemake_without_this_graph_is_left_alone():
    assert not forget_reasons(SimpleNamespace())
    assert not forget_reasons(SimpleNamespace(dag=SimpleNamespace()))
