"""Commands of Snakemake, forked from a process that has imported it: most of a dry run is imports.

Run as a program, it is that process: it reads a command from each line of its input, and answers with the exit code.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

START = "limbtorque.workflow.start_snakemake"  # what `limbtorque run-study` runs
IMPORTED = (  # what Snakemake and the workflow import themselves before the first job starts
    "snakemake.cli",
    "snakemake_executor_plugin_slurm",
    "limbtorque.workflow.load_checked",
    "limbtorque.workflow.worker",
)


def run(words, *, package=None, environment=None, timeout_s=300.0):
    """Exit code and output of ``snakemake`` with some arguments, as a new process here would run it.

    With `package`, the folder of another copy of limbtorque, the command imports that one.
    """
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / name for name in ("out", "err")]
        request = {
            "words": [str(word) for word in words],
            "place": str(Path.cwd()),
            "package": package and str(package),
            "environment": {**os.environ, **({"PYTHONPATH": str(package)} if package else {}), **(environment or {})},
            "outputs": [str(path) for path in outputs],
        }
        process = _process()
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], timeout_s)
        code = process.stdout.readline() if ready else ""
        if not code:
            process.kill()
            _process.cache_clear()
        text = "".join(path.read_text(encoding="utf-8") for path in outputs if path.exists())
        assert code, f"no end after {timeout_s:g} s, or the process was killed:\n{text}"
        return int(code), text


class Ended:
    """Stands for the process of `run-study`, and has ended when it is made."""

    def __init__(self, words, *, env, **_):
        self.code, text = run(words[words.index(START) + 1 :], environment=env)
        print(text, end="", flush=True)

    def wait(self, _timeout_s):
        return self.code


def completed(words, **_):
    """Run the command of `status` to its end, as `subprocess.run` does."""
    return subprocess.CompletedProcess(words, *run(words[words.index(START) + 1 :]), stderr="")


# in place of the module `subprocess` of limbtorque.cli.run_study
FORKED = SimpleNamespace(
    Popen=Ended, run=completed, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired
)


@functools.cache
def _process():
    """The process, which ends with this one."""
    words = [sys.executable, "-P", __file__]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def serve():
    """Fork for every command until the input ends."""
    for name in IMPORTED:
        importlib.import_module(name)
    from limbtorque.workflow import stages
    from limbtorque.workflow.keys import code_key

    for stage in pkgutil.iter_modules(stages.__path__):
        code_key(stage.name)
    gc.freeze()
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            command(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def command(words, place, package, environment, outputs):
    """Do what ``python -m snakemake`` does, and end."""
    files = [
        os.open(os.devnull, os.O_RDONLY),
        *(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND) for path in outputs),
    ]
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(place)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, place)
    if package:
        sys.path.insert(1, package)
        for name in [name for name in sys.modules if name.partition(".")[0] == "limbtorque"]:
            del sys.modules[name]
    sys.argv = [importlib.import_module("snakemake").__file__, *words]
    importlib.import_module("snakemake.cli").main()


if __name__ == "__main__":
    serve()
