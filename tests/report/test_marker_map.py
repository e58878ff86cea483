"""The page of markers: its positions are those of the recording, its text stays text, its bytes are always the same."""

import base64
import functools
import hashlib
import re
import zlib

import numpy as np
import pytest

from limbtorque.report.marker_map import page as page_module
from limbtorque.report.marker_map.page import MISSING, MapBody, MapChain, MapLandmark, MarkerMap, marker_map_page, pack
from reports import BAD, ENDS, Elements, embedded


def unpacked(packed, n_markers):
    """Positions, m, as the page's script computes them; NaN where they are missing."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(packed.text)), dtype=np.uint8).astype(int)
    low, high = raw.reshape(2, 3 * n_markers, packed.n_frames)
    whole = (np.cumsum(low + 256 * high, axis=1) + 2**15) % 2**16 - 2**15
    positions_m = np.where(whole == MISSING, np.nan, packed.quantum_m * whole)
    return positions_m.reshape(n_markers, 3, -1).transpose(2, 0, 1) + packed.origin_m


def walk(n_frames=300, n_markers=7, *, seed=0):
    """Markers that travel 6 m, with noise and gaps."""
    rng = np.random.default_rng(seed)
    markers_m = rng.normal(scale=0.4, size=(1, n_markers, 3)) + rng.normal(scale=2e-4, size=(n_frames, n_markers, 3))
    markers_m[..., 0] += np.linspace(0.0, 6.0, n_frames)[:, None]
    markers_m[40:60, 2] = np.nan
    markers_m[0, 3, 1] = np.nan
    return markers_m


def contents(markers_m, **changes):
    landmarks = (MapLandmark("hip_axis", "centre of the hip", "", True), MapLandmark("end", "", "", True))
    n_markers = markers_m.shape[1]
    given = {
        "source": "walk.c3d",
        "labels": tuple(f"M{k}" for k in range(n_markers)),
        "templates": {"right": {}, "left": {}},
        "mates": {},
        "bodies": (MapBody("", tuple(range(n_markers)), {}, {}, {"trial": "walk", "file": "walk.c3d"}),),
        "chains": {"leg": MapChain(("hip_axis", "end"), ("thigh",), landmarks)},
        "markers_m": markers_m,
        "rate_hz": 100.0,
        "first_frame": 1,
    }
    return MarkerMap(**(given | changes))


def unit(markers_m):
    """A tenth of a millimetre, or so much that 32767 of them reach the farthest position."""
    known_m = markers_m[np.isfinite(markers_m).all(axis=2)]
    return max(1e-4, np.abs(known_m - np.median(known_m, axis=0)).max() / 32767)


def test_the_page_has_the_positions_of_the_recording():
    markers_m = walk()
    packed = pack(markers_m)
    found = unpacked(packed, 7)
    gone = np.isnan(markers_m).any(axis=2)
    assert (np.isnan(found).any(axis=2) == gone).all()
    assert packed.quantum_m == pytest.approx(unit(markers_m))
    assert np.abs(found - markers_m)[~gone].max() <= 0.5 * packed.quantum_m + 1e-12
    assert (packed.step, packed.n_frames, packed.n_far) == (1, 300, 0)


def test_the_finest_unit_is_a_tenth_of_a_millimetre():
    assert pack(walk() * [0.1, 1.0, 1.0]).quantum_m == 1e-4


def test_a_spike_does_not_take_the_resolution_from_the_others():
    markers_m = walk()
    markers_m[100, 4] += 1e4
    packed = pack(markers_m)
    assert packed.n_far == 1
    assert packed.quantum_m == pytest.approx(unit(walk()), rel=0.01)
    assert np.isnan(unpacked(packed, 7)[100, 4]).all()


def test_a_wide_laboratory_has_larger_units():
    markers_m = walk()
    markers_m[..., 0] *= 10.0  # 60 m
    packed = pack(markers_m)
    assert packed.n_far == 0
    assert packed.quantum_m == pytest.approx(unit(markers_m))
    assert packed.quantum_m > 9e-4
    gone = np.isnan(markers_m).any(axis=2)
    assert np.abs(unpacked(packed, 7) - markers_m)[~gone].max() <= 0.5 * packed.quantum_m + 1e-12


@pytest.mark.parametrize("n_frames", [1, 2])
def test_markers_that_are_never_seen_are_missing(n_frames):
    packed = pack(np.full((n_frames, 2, 3), np.nan))
    assert np.isnan(unpacked(packed, 2)).all()


def test_of_a_long_recording_the_page_has_every_third_frame_and_says_so(monkeypatch):
    markers_m = walk()
    packed = pack(markers_m, max_positions=700)
    assert (packed.step, packed.n_frames) == (3, 100)
    assert np.nanmax(np.abs(unpacked(packed, 7) - markers_m[::3])) <= packed.quantum_m
    monkeypatch.setattr(page_module, "pack", functools.partial(pack, max_positions=700))
    text = marker_map_page(contents(markers_m))
    assert "Every third frame is shown, 100 of 300" in text
    data = embedded(text, "recording")
    assert (data["step"], data["n_frames"]) == (3, 100)
    assert "frame is shown" not in marker_map_page(contents(markers_m[:100]))


def test_the_same_recording_gives_the_same_bytes():
    assert marker_map_page(contents(walk())) == marker_map_page(contents(walk()))
    assert marker_map_page(contents(walk())) != marker_map_page(contents(walk(seed=1)))


def test_names_in_the_file_stay_text():
    labels = (BAD, ENDS, *(f"M{k}" for k in range(5)))
    made = contents(walk(), source=f"{BAD}.c3d", labels=labels, marker_set=ENDS, notes=(BAD,), up_evidence=BAD)
    text = marker_map_page(made)
    shown = Elements(text)
    assert not shown.all("img")
    assert f"Markers of {BAD}.c3d" in shown.text
    assert embedded(text, "recording")["labels"] == list(labels)
    for _, attributes in shown.elements:
        assert not any(name.startswith("on") for name in attributes)


def test_the_page_runs_its_own_scripts_only_and_loads_nothing():
    text = marker_map_page(contents(walk()))
    shown = Elements(text)
    policy = next(a["content"] for a in shown.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert all("src" not in script for script in shown.all("script"))
    assert set(re.findall(r"https?://[^\"'\s)]+", text)) <= {"http://www.w3.org/2000/svg"}
    for word in ("innerHTML", "fetch(", "eval(", "localStorage"):
        assert word not in text
