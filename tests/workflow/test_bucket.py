"""Studies in a bucket: recordings read from it, results written to it, by Snakemake's plugin for S3 and moto's server."""

import csv
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import study_runs as workflow
from limbtorque.errors import StudyError
from limbtorque.workflow.bucket import retrieve_recordings


class Bucket:
    """Stands in for Snakemake's provider of a storage: a folder, copied below another one."""

    def __init__(self, stored, copy, *, keep_local=True):
        self.stored, self.copy, self.keep_local = stored, copy, keep_local

    def object(self, query):
        name = query.removeprefix("s3://bucket/study/")
        there, here = self.stored / name, self.copy / name
        return SimpleNamespace(
            local_path=lambda: here,
            exists=there.exists,
            mtime=lambda: there.stat().st_mtime,
            retrieve_object=lambda: shutil.copy(there, here),
        )

    def workflow(self):
        settings = SimpleNamespace(default_storage_provider="s3", default_storage_prefix="s3://bucket/study")
        return SimpleNamespace(
            storage_settings=settings, storage_registry=SimpleNamespace(default_storage_provider=self)
        )


@pytest.fixture
def studies(tmp_path):
    """A study with recordings, and the same without."""
    stored = workflow.make_study(tmp_path / "stored", workflow.TRIALS[:1])
    os.utime(next(stored.glob("data/demo/*.c3d")), (1.7e9, 1.7e9))
    shutil.copytree(stored / "config", tmp_path / "here" / "config")
    return stored, tmp_path / "here"


def test_missing_recordings_are_retrieved_with_their_time_into_the_local_copy(studies, tmp_path):
    stored, here = studies
    with pytest.raises(
        StudyError, match=r"not the local copy of s3://bucket/study, which is .*elsewhere;.*--directory"
    ):
        retrieve_recordings(Bucket(stored, tmp_path / "elsewhere").workflow(), here, {})
    with pytest.raises(StudyError, match="would be emptied after the run; add --keep-storage-local-copies"):
        retrieve_recordings(Bucket(stored, here, keep_local=False).workflow(), here, {})
    without = SimpleNamespace(storage_settings=SimpleNamespace(default_storage_provider=None))
    retrieve_recordings(without, here, {})
    assert not list(here.rglob("*.c3d"))
    retrieve_recordings(Bucket(stored, here).workflow(), here, {})
    (found,) = here.rglob("*.c3d")
    assert found.read_bytes() == (stored / found.relative_to(here)).read_bytes()
    assert found.stat().st_mtime == 1.7e9


def test_a_recording_that_is_in_neither_place_is_left_to_the_check_of_the_study(studies):
    stored, here = studies
    shutil.rmtree(stored / "data")
    retrieve_recordings(Bucket(stored, here).workflow(), here, {})
    assert not list(here.rglob("*.c3d"))


@contextmanager
def s3():
    """Server of moto on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, "moto's server did not start"
                assert time.monotonic() < end
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def run(copies, address, *more):
    """Run the study of which `copies` holds the local copy, and return what was printed."""
    study = copies / "s3" / "laboratory" / "study"
    storage = {"endpoint-url": address, "access-key": "testing", "secret-key": "testing"}
    words = [word for name, value in storage.items() for word in (f"--storage-s3-{name}", value)]
    profile = ("--profile", str(workflow.ROOT / "profiles" / "s3"), "--default-storage-prefix", "s3://laboratory/study")
    words = workflow.command(study, *profile, "--local-storage-prefix", str(copies), *words, *more)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def place(copies, study):
    """Folder for the local copy, with the study's settings and tables alone."""
    made = copies / "s3" / "laboratory" / "study"
    shutil.copytree(study / "config", made / "config")
    return made


@pytest.mark.s3
@pytest.mark.workflow
def test_recordings_are_read_from_a_bucket_and_results_written_to_it(tmp_path):
    pytest.importorskip("snakemake_storage_plugin_s3", reason="Snakemake's plugin for S3 is not installed")
    pytest.importorskip("moto.server", reason="moto is not installed")
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    plain = workflow.make_plain_study(tmp_path / "plain", workflow.TRIALS[:1])
    workflow.run(plain)
    expected = workflow.results(plain)
    with s3() as address:
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing", "region_name": "us-east-1"}
        bucket = boto3.resource("s3", endpoint_url=address, **keys).Bucket("laboratory")
        bucket.create()
        for path in plain.glob("data/demo/*.c3d"):
            bucket.upload_file(str(path), f"study/{path.relative_to(plain)}")
        first = place(tmp_path / "first", plain)
        run(tmp_path / "first", address)
        stored = {
            each.key.removeprefix("study/"): hashlib.sha256(each.get()["Body"].read()).hexdigest()
            for each in bucket.objects.filter(Prefix="study/results/")
        }
        tables = {name: found for name, found in expected.items() if name.endswith((".csv", ".parquet"))}
        assert workflow.results(first) == expected
        assert {name: stored.get(name) for name in tables} == tables
        with (first / "results" / "ledger.csv").open(encoding="utf-8") as file:
            assert {row["trial"] for row in csv.DictReader(file)} == {workflow.TRIALS[0]}
        place(tmp_path / "second", plain)  # another machine, to which only the recordings come
        assert "Nothing to be done" in run(tmp_path / "second", address)
        assert not list(Path(tmp_path / "second").rglob("*.parquet"))
