"""The page of `limbtorque map` in chromium: size, time to open, pictures a second, processor time of a picture.

python benchmarks/marker_map.py                                  200 markers, 10,000 frames
python benchmarks/marker_map.py --markers 50 --frames 100000
python benchmarks/marker_map.py --recording walk.c3d --page walk.html

Needs chromium, its driver and selenium. A leg of three segments is mapped, the person turns, and all names are shown.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.cli.map_recording import BUILT_IN, MapChoices, map_page
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording

RATE_HZ = 200.0
WATCHED_S = 10.0
PLAY = """
const draws = [], frames = new Set(), done = arguments[arguments.length - 1];
page.data.chains[page.data.chain].joints.forEach((landmark, k) => {
  const box = document.querySelector(`#landmarks select[data-landmark="${landmark}"]`);
  box.selectedIndex = 1 + k;
  box.dispatchEvent(new Event('change', { bubbles: true }));
});
document.getElementById('names').checked = arguments[1];
const clear = CanvasRenderingContext2D.prototype.clearRect, view = document.getElementById('view');
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  if (this.canvas === view) { draws.push(performance.now()); frames.add(page.state.at); page.view.turn('left', 0.01); }
  return clear.apply(this, box);
};
document.getElementById('speed').value = '1';
page.play(true);
setTimeout(() => { page.play(false); done({ draws, frames: frames.size }); }, 1000 * arguments[0]);
"""


def made_recording(n_markers: int, n_frames: int) -> Recording:
    """A person of many markers who walks to and fro: sines, noise of 0.2 mm, gaps in every twentieth marker."""
    rng = np.random.default_rng(0)
    time_s = np.arange(n_frames)[:, None] / RATE_HZ
    markers_m = np.empty((n_frames, n_markers, 3))
    home_m = rng.uniform([-0.3, -0.3, 0.0], [0.3, 0.3, 1.8], size=(n_markers, 3))
    for axis, (way_m, period_s) in enumerate(((1.5, 8.0), (0.1, 1.1), (0.05, 0.55))):
        phase = rng.uniform(0.0, 1.0, size=n_markers)
        markers_m[..., axis] = home_m[:, axis] + way_m * np.sin(2.0 * np.pi * (time_s / period_s + 0.1 * phase))
    markers_m += rng.normal(scale=2e-4, size=markers_m.shape)
    markers_m[n_frames // 3 : n_frames // 2, ::20] = np.nan
    labels = tuple(f"M{k:03d}" for k in range(n_markers))
    return Recording("made.c3d", "", "benchmark", labels, markers_m, RATE_HZ, 1)


def driver() -> Any:
    """Chromium without a window, and its metrics."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1400,1000")
    made = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    made.set_script_timeout(60 + WATCHED_S)
    made.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    return made


def task_s(browser: Any) -> float:
    """Processor time of the page's main thread, s."""
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def watch(browser: Any, page: Path, *, names: bool) -> dict[str, float]:
    """Open a page, play it in real time while it turns, and measure."""
    begin_s = time.monotonic()
    browser.get(page.as_uri())
    while not browser.execute_script("return page !== null"):
        time.sleep(0.02)
    opened_s, opening_s = time.monotonic() - begin_s, task_s(browser)
    found = browser.execute_async_script(PLAY, WATCHED_S, names)
    steps = np.diff(found["draws"])
    return {
        "opened (s)": opened_s,
        "processor time to open (s)": opening_s,
        "pictures a second": 1e3 * len(steps) / float(np.sum(steps)),
        "95 % of pictures within (ms)": float(np.percentile(steps, 95.0)),
        "processor time a picture (ms)": 1e3 * (task_s(browser) - opening_s) / len(steps),
        "different frames": float(found["frames"]),
    }


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markers", type=int, default=200)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--recording", type=Path, help="a recording instead of a made one")
    parser.add_argument("--page", type=Path, help="keep the page under this name")
    chosen = parser.parse_args()
    made = read_recording(chosen.recording) if chosen.recording else made_recording(chosen.markers, chosen.frames)
    begin_s = time.process_time()
    text = map_page(made, MapChoices(made.source, BUILT_IN, up_axis="+z"))
    wrote_s = time.process_time() - begin_s
    print(
        f"{len(made.labels)} markers, {made.n_frames} frames: {len(text) / 1e6:.1f} MB, {wrote_s:.1f} s of processor time to write\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        page = (chosen.page or Path(folder) / "map.html").absolute()
        page.write_text(text, encoding="utf-8", newline="\n")
        browser = driver()
        try:
            found = {
                words: watch(browser, page, names=names)
                for words, names in (("markers", False), ("markers and all names", True))
            }
        finally:
            browser.quit()
    print(f"| | {' | '.join(found)} |\n| --- |{' ---: |' * len(found)}")
    for row in next(iter(found.values())):
        print(f"| {row} | {' | '.join(f'{one[row]:.3g}' for one in found.values())} |")


if __name__ == "__main__":
    main()
