"""Processes that read recordings, kept from test to test."""

import pytest

from limbtorque.recordings import sandbox


@pytest.fixture(scope="session")
def idle_readers():
    """Processes whose test has ended."""
    idle = []
    yield idle
    for child in idle:
        child.kill()
        child.communicate()


@pytest.fixture(autouse=True)
def readers_go_on(idle_readers, monkeypatch):
    """To start one takes more than most of these tests; that they end with their context is tested in tests/recordings."""

    def leave(reader, *_):
        child, reader._child = reader._child, None
        if child is not None:
            idle_readers.append(child)

    start = sandbox._start
    monkeypatch.setattr(sandbox, "_start", lambda: idle_readers.pop() if idle_readers else start())
    monkeypatch.setattr(sandbox.GuardedReader, "__exit__", leave)
