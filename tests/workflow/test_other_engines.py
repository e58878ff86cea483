"""A study by Snakemake's plugin for any scheduler: the same files as from one machine.

`.ci/slurm-node` starts a Slurm of one node. Where no node answers, or the plugin is not installed, the tests are skipped.
Debian's Grid Engine comes without a queue and starts nothing without systemd. As root, where NODE is the name of the machine:

    apt-get install gridengine-master gridengine-exec gridengine-client
    export SGE_ROOT=/var/lib/gridengine SGE_CELL=default
    echo "NODE localhost" > $SGE_ROOT/default/common/host_aliases    # where NODE has the address 127.0.0.1
    echo NODE > $SGE_ROOT/default/common/act_qmaster
    sge_qmaster
    qconf -as NODE; qconf -ah NODE; qconf -ae    # submits, administers, executes
    qconf -mconf global    # min_uid and min_gid 0, if root is to submit
    sge_execd
    qconf -aq all.q    # hostlist NODE, slots 2, shell_start_mode unix_behavior, load_thresholds NONE
"""

import re
import shutil
import subprocess
import time

import pytest

import study_runs as workflow

pytestmark = [pytest.mark.slurm, pytest.mark.workflow]
# profile: command that lists the states of nodes, what a node that answers has, command that ends jobs
ENGINES = {
    "cluster-generic": (("sinfo", "--noheader", "--format=%t"), r"^(idle|mix|alloc)", "scancel"),
    "sge": (("qhost",), r"^(?!global)\S+ +lx\S+ +\d", "qdel"),
}


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60).stdout


@pytest.fixture(params=ENGINES)
def engine(request):
    """Name of a profile whose scheduler answers here, and the command that ends its jobs."""
    pytest.importorskip(
        "snakemake_executor_plugin_cluster_generic", reason="the plugin cluster-generic is not installed"
    )
    states, answering, end = ENGINES[request.param]
    if not shutil.which(end):
        pytest.skip(f"{end} is not installed")
    if not re.search(answering, output(*states), re.MULTILINE):
        pytest.skip(f"no node answers to {states[0]}")
    return request.param, end


def command(folder, profile):
    """Command of a run that asks for its jobs every second."""
    words = workflow.command(folder, "--profile", str(workflow.ROOT / "profiles" / profile))
    return [*words, "--seconds-between-status-checks", "1", "--cores", "1"]


def submitted(text):
    return re.findall(r"external jobid '(\d+)'", text)


def test_a_job_that_is_killed_is_done_again_and_the_files_are_the_same(engine, tmp_path):
    profile, end = engine
    here = workflow.make_plain_study(tmp_path / "here", workflow.TRIALS[:1])
    workflow.run(here)
    folder = workflow.make_plain_study(tmp_path / "there", workflow.TRIALS[:1])
    log = tmp_path / "run.txt"
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command(folder, profile), stdout=file, stderr=subprocess.STDOUT)
        try:
            first = until_submitted(log, process)
            output(end, first)
            code = process.wait(500)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
            for number in submitted(log.read_text(encoding="utf-8")):
                output(end, number)
    text = log.read_text(encoding="utf-8")
    assert code == 0, text
    assert text.count("Trying to restart job") == 1
    assert len(submitted(text)) == 3  # the session, the session again, the study
    assert workflow.results(folder) == workflow.results(here)


def until_submitted(log, process):
    """Number of the first job."""
    end = time.monotonic() + 180
    while not (numbers := submitted(log.read_text(encoding="utf-8"))):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        assert time.monotonic() < end
        time.sleep(0.1)
    return numbers[0]
