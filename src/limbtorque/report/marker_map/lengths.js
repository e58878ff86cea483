"use strict";
// Lengths of the segments over time: a picture, and a table with the same numbers.

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [12, 5]];

/** Length of a segment in every frame, m; NaN where an end was not seen. */
function lengthsOf(positions, from, to, frames) {
  const lengths = new Float32Array(frames).fill(NaN);
  const a = [0, 0, 0], b = [0, 0, 0];
  for (let frame = 0; frame < frames; frame += 1) {
    if (positions.meanAt(from, frame, a) && positions.meanAt(to, frame, b)) lengths[frame] = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  }
  return lengths;
}

function metricsOf(lengths) {
  const known = lengths.filter((value) => !Number.isNaN(value)).sort();
  if (!known.length) return null;
  const [smallest, median, largest] = [known[0], known[known.length >> 1], known[known.length - 1]];
  return { smallest, median, largest, change: (largest - smallest) / median, share: known.length / lengths.length };
}

/** Fill the table; a segment without both ends has a row that says so. */
function lengthTable(body, segments) {
  body.replaceChildren(...segments.map(({ name, lengths }) => {
    const row = element("tr", {}, element("th", { scope: "row" }, words(name)));
    const metrics = lengths && metricsOf(lengths);
    const cells = metrics
      ? [metrics.median.toFixed(3), metrics.smallest.toFixed(3), metrics.largest.toFixed(3), metrics.median > 0 ? `${(100 * metrics.change).toFixed(1)} %` : "no length", `${(100 * metrics.share).toFixed(0)} %`]
      : [lengths ? "never known" : "not mapped", "", "", "", ""];
    row.append(...cells.map((cell) => element("td", {}, cell)));
    return row;
  }));
}

function prepareLengths(canvas, frames) {
  const pen = canvas.getContext("2d");
  const picture = document.createElement("canvas");
  const left = 46, right = 84, top = 10, bottom = 8;
  let size = { width: 1, height: 1, ratio: 1 };

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    size = { width: canvas.clientWidth, height: canvas.clientHeight, ratio };
    for (const one of [canvas, picture]) {
      one.width = Math.round(size.width * ratio);
      one.height = Math.round(size.height * ratio);
    }
  }

  const xOf = (frame) => left + ((size.width - left - right) * frame) / Math.max(1, frames - 1);

  /** Draw the curves once: of each column of pixels the smallest and the largest length. */
  function plot(segments) {
    const known = segments.filter(({ lengths }) => lengths && lengths.some((value) => value >= 0));
    const most = Math.max(0.1, ...known.map(({ lengths }) => metricsOf(lengths).largest));
    const yOf = (value) => size.height - bottom - ((size.height - top - bottom) * value) / (1.1 * most);
    const ink = picture.getContext("2d");
    ink.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    ink.clearRect(0, 0, size.width, size.height);
    ink.font = "12px system-ui, sans-serif";
    ink.textBaseline = "middle";
    const step = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 100].find((one) => most / one < 5) || most;
    for (let value = 0; value <= 1.1 * most; value += step) {
      ink.fillStyle = css("--quiet");
      ink.textAlign = "right";
      ink.fillText(`${Number(value.toFixed(2))} m`, left - 6, yOf(value));
      ink.fillStyle = css("--rule");
      ink.fillRect(left, yOf(value), size.width - left - right, 1);
    }
    const ends = known.map(({ name, lengths }, k) => [yOf(curve(ink, lengths, yOf, DASHES[k % DASHES.length])), words(name)]);
    ends.sort((a, b) => a[0] - b[0]);
    ink.textAlign = "left";
    let lowest = -Infinity;
    for (const [y, name] of ends) { // one below the other where curves end side by side
      lowest = Math.max(y, lowest + 13);
      ink.fillText(name, size.width - right + 6, lowest);
    }
  }

  /** Draw a curve; returns its last length. */
  function curve(ink, lengths, yOf, dashes) {
    const columns = Math.max(1, Math.min(frames, Math.floor(size.width - left - right)));
    let drawing = false, last = NaN;
    ink.beginPath();
    for (let column = 0; column < columns; column += 1) {
      const begin = Math.floor((column * frames) / columns), end = Math.max(begin + 1, Math.floor(((column + 1) * frames) / columns));
      let low = Infinity, high = -Infinity;
      for (let frame = begin; frame < end; frame += 1) if (lengths[frame] >= 0) [low, high] = [Math.min(low, lengths[frame]), Math.max(high, lengths[frame])];
      if (high < 0) { drawing = false; continue; }
      const x = xOf(begin);
      if (drawing) ink.lineTo(x, yOf(low)); else ink.moveTo(x, yOf(low));
      ink.lineTo(x, yOf(high));
      drawing = true;
      last = (low + high) / 2;
    }
    ink.strokeStyle = ink.fillStyle = css("--ink");
    ink.setLineDash(dashes);
    ink.lineWidth = 1.5;
    ink.stroke();
    ink.setLineDash([]);
    return last;
  }

  function draw(frame) {
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    if (picture.width && picture.height) pen.drawImage(picture, 0, 0);
    pen.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    pen.fillStyle = css("--link");
    pen.fillRect(xOf(frame) - 0.75, top, 1.5, size.height - top - bottom);
  }

  return { resize, plot, draw };
}
