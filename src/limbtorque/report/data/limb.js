"use strict";
// The moving limb of a trial.

/** The limb as an SVG: all its positions faintly, one of them strongly, with the external force. */
function prepareStick(data, curve, last) {
  const { points, loaded } = data.stick;
  const joints = points.length - 1;
  const x = points.map((point) => curve(`${point}_position_x_m`));
  const y = points.map((point) => curve(`${point}_position_y_m`));
  const all = (columns) => columns.flat().filter((value) => value !== null);
  const force = loaded ? ["external_force_x_n", "external_force_y_n", "external_point_x_m", "external_point_y_m"].map(curve) : null;
  const lengthAt = (at) => points.slice(1).reduce((sum, _, k) => sum + Math.hypot(x[k + 1][at] - x[k][at], y[k + 1][at] - y[k][at]), 0);
  let limb = 0;
  for (let at = 0; at <= last; at += 1) limb = Math.max(limb, lengthAt(at) || 0);
  limb = limb || 1;
  let most = 0;
  if (force) for (let at = 0; at <= last; at += 1) most = Math.max(most, Math.hypot(force[0][at] ?? 0, force[1][at] ?? 0));
  const scale = most > 0 ? (0.6 * limb) / most : 0; // m of arrow for a newton
  const pad = 0.12 * limb;
  const ends = { x: [...all(x)], y: [...all(y)] };
  if (force) for (let at = 0; at <= last; at += 1) if (force[2][at] !== null && (force[0][at] || force[1][at])) {
    ends.x.push(force[2][at], force[2][at] + scale * force[0][at]);
    ends.y.push(force[3][at], force[3][at] + scale * force[1][at]);
  }
  const span = (list) => list.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const [left, right] = span(ends.x), [bottom, top] = span(ends.y);
  const follows = right - left > 2.2 * Math.max(top - bottom, limb);
  const width = follows ? 1.5 * Math.max(top - bottom, limb) : right - left + 2 * pad + 0.2 * limb; // room for a name
  const height = top - bottom + 2 * pad;
  const size = Math.max(width / 1.45, height); // what the picture's shorter side shows, m

  const svg = shape("svg", { preserveAspectRatio: "xMidYMid meet", "aria-hidden": "true" });
  const grid = shape("g", {}, svg), ghosts = shape("g", {}, svg), now = shape("g", {}, svg);
  byId("stick").replaceChildren(svg);
  const px = size / 300; // m for about a pixel
  const stroke = (width_px, opacity = 1) => ({ fill: "none", stroke: "currentColor", "stroke-width": width_px * px, "stroke-opacity": opacity, "stroke-linecap": "round", "stroke-linejoin": "round" });
  const pathAt = (at) => points.map((_, k) => (x[k][at] === null ? "" : `${x[k][at]},${-y[k][at]}`)).join(" ");
  for (let n = 0; n <= 10; n += 1) shape("polyline", { points: pathAt(Math.round((n * last) / 10)), ...stroke(1, 0.18) }, ghosts);
  shape("polyline", { points: x[0].map((_, at) => `${x[points.length - 1][at]},${-y[points.length - 1][at]}`).join(" "), ...stroke(1, 0.45), "stroke-dasharray": `${2 * px} ${3 * px}` }, ghosts);

  function arrow(from, to) {
    const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (!(long > 0)) return;
    const head = Math.min(0.05 * size, long), ux = (to[0] - from[0]) / long, uy = (to[1] - from[1]) / long;
    const neck = [to[0] - head * ux, to[1] - head * uy];
    const colour = drawn(css("--external"));
    shape("line", { x1: from[0], y1: -from[1], x2: neck[0], y2: -neck[1], ...stroke(3.5), stroke: colour, class: "force" }, now);
    const corner = (side) => `${neck[0] - side * 0.4 * head * uy},${-(neck[1] + side * 0.4 * head * ux)}`;
    shape("polygon", { points: `${to[0]},${-to[1]} ${corner(1)} ${corner(-1)}`, fill: colour }, now);
  }

  function rulerAt(box) {
    grid.replaceChildren();
    const bar = [0.02, 0.05, 0.1, 0.2, 0.5, 1].filter((m) => m < 0.4 * box[2]).pop() || 0.01;
    const [x0, y0] = [box[0] + 0.03 * box[2], box[1] + box[3] - 0.02 * box[3]];
    shape("line", { x1: x0, x2: x0 + bar, y1: y0, y2: y0, ...stroke(2, 0.7) }, grid);
    shape("text", { x: x0 + bar + 0.015 * box[2], y: y0, "font-size": 0.05 * size, "stroke-width": 0.015 * size, fill: "currentColor" }, grid).textContent = `${Math.round(100 * bar)} cm`;
    if (!follows) return;
    for (let at = Math.ceil(box[0] / 0.5) * 0.5; at < box[0] + 0.88 * box[2]; at += 0.5) {
      shape("line", { x1: at, x2: at, y1: box[1], y2: box[1] + box[3], ...stroke(1, 0.2) }, grid);
      shape("text", { x: at + 0.01 * size, y: box[1] + 0.05 * size, "font-size": 0.045 * size, "stroke-width": 0.015 * size, fill: "currentColor" }, grid).textContent = `${at.toFixed(1)} m`;
    }
  }

  function draw(at) {
    now.replaceChildren();
    const here = x.map((column) => column[at]).filter((value) => value !== null);
    const middle = here.length ? (Math.min(...here) + Math.max(...here)) / 2 : (left + right) / 2;
    const box = [follows ? middle - width / 2 : left - pad, -(top + pad), width, height];
    svg.setAttribute("viewBox", box.join(" "));
    rulerAt(box);
    shape("polyline", { points: pathAt(at), ...stroke(4), class: "limb" }, now);
    points.forEach((point, k) => {
      if (x[k][at] === null) return;
      shape("circle", { cx: x[k][at], cy: -y[k][at], r: (k < joints ? 0.02 : 0.012) * size, fill: "currentColor" }, now);
    });
    const [fx, fy, ax, ay] = force ? force.map((column) => column[at]) : [null];
    if (fx !== null && ax !== null) arrow([ax, ay], [ax + scale * fx, ay + scale * fy]);
    points.slice(0, joints).forEach((point, k) => {
      if (x[k][at] === null) return;
      const label = { x: x[k][at] + 0.035 * size, y: -y[k][at] - 0.02 * size, "font-size": 0.055 * size, "stroke-width": 0.015 * size };
      shape("text", { ...label, fill: "currentColor" }, now).textContent = words(point);
    });
    if (!force) return null;
    return fx === null || ax === null ? 0 : Math.hypot(fx, fy);
  }
  return { draw };
}
