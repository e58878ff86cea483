"use strict";
// The pages of the report: a table to sort and filter, curves over time with a cursor, mean curves.
// Text from files reaches the page as text only (textContent), and plotly as escaped text (plain).

const byId = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const words = (name) => name.replace(/_/g, " ");
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 62, RIGHT = 16; // margins of a plot, px

function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

function decode(curve) {
  const unit = 10 ** curve.decimals;
  return curve.values.map((value) => (value === null ? null : value / unit));
}

// --- colours -----------------------------------------------------------------------------------------------------------

const printing = { now: false };
const dark = () => !printing.now && matchMedia("(prefers-color-scheme: dark)").matches;
const ink = () => (printing.now ? "#000000" : css("--ink"));

/** A colour as it is drawn: dark ones are lightened on dark paper. */
function drawn(colour) {
  if (colour === "ink") return ink();
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const [r, g, b] = parts.map((part) => (part / 255) ** 2.2);
  if (!dark() || 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.14) return colour;
  return "#" + parts.map((part) => Math.round(part + 0.5 * (255 - part)).toString(16).padStart(2, "0")).join("");
}

function faded(colour, share) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(drawn(colour).slice(at, at + 2), 16));
  return `rgba(${r},${g},${b},${share})`;
}

// --- plots -------------------------------------------------------------------------------------------------------------

const CONFIG = { displaylogo: false, responsive: true, displayModeBar: "hover", modeBarButtons: [["toImage"]], toImageButtonOptions: { format: "svg" } };

function layoutOf(xTitle, yTitle, range) {
  const rule = printing.now ? "#bbbbbb" : css("--rule");
  const axis = { gridcolor: rule, linecolor: rule, zerolinecolor: printing.now ? "#444444" : css("--quiet"), zerolinewidth: 1, automargin: false };
  return {
    margin: { l: LEFT, r: RIGHT, t: 8, b: 38 },
    showlegend: false,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--quiet"), activecolor: ink() },
    hovermode: "x unified",
    dragmode: "zoom",
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: ink() },
    hoverlabel: { bgcolor: printing.now ? "#ffffff" : css("--paper"), bordercolor: rule, font: { color: ink() } },
    xaxis: { ...axis, title: { text: xTitle, standoff: 6 }, range: [...range], zeroline: false },
    yaxis: { ...axis, title: { text: yTitle, standoff: 4 } },
  };
}

const DASHES = { solid: "", dash: "5 3", dot: "1.5 2.5", dashdot: "5 2 1.5 2", longdash: "9 3" };

/** A button of a legend, which switches a line on and off. */
function legendButton(text, colour, dash, width, pressed, act) {
  const picture = shape("svg", { width: 28, height: 10, "aria-hidden": "true" });
  shape("line", { x1: 1, x2: 27, y1: 5, y2: 5, stroke: drawn(colour), "stroke-width": width, "stroke-dasharray": DASHES[dash] }, picture);
  const button = element("button", { type: "button", "aria-pressed": pressed }, picture, text);
  button.addEventListener("click", act);
  return button;
}

/** Draw again when the paper changes: light, dark, print. */
function followPaper(draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const open = [];
  const begin = () => {
    if (printing.now) return;
    printing.now = true;
    for (const one of document.querySelectorAll("details:not([open])")) { one.open = true; open.push(one); }
    draw();
  };
  const end = () => {
    if (!printing.now) return;
    printing.now = false;
    for (const one of open.splice(0)) one.open = false;
    draw();
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", (event) => (event.matches ? begin() : end()));
}

const PRINT_WIDTH = 680; // px of a plot on paper

// --- the page of a trial -----------------------------------------------------------------------------------------------

function trialPage(data) {
  const time = decode(data.curves.time_s);
  const last = time.length - 1;
  const step_s = last > 0 ? (time[last] - time[0]) / last : 1;
  const state = { at: 0, range: [time[0], time[last]], grouped: true, flexion: false, kindsOff: new Set(), off: new Set(), ranged: "" };
  const cache = {};
  const curve = (name) => (cache[name] ??= decode(data.curves[name]));
  for (const panel of data.panels) for (const line of panel.lines) if (line.shown === false) state.off.add(line.curve);

  // Numbers of a line, with the sign that was chosen.
  function values(panel, k) {
    const found = curve(panel.lines[k].curve);
    if (!panel.joints.length || !state.flexion) return found;
    const joint = data.joints[panel.joints[k]];
    const zero = panel.angle ? joint.zero_deg : 0;
    return found.map((value) => (value === null ? null : joint.sign * (value - zero)));
  }
  function senses(panel, k) {
    if (!panel.joints.length) return null;
    const joint = data.joints[panel.joints[k]];
    return state.flexion || joint.sign > 0 ? [joint.flexion, joint.extension] : [joint.extension, joint.flexion];
  }
  const there = (line) => line.grouped === undefined || line.grouped === state.grouped;
  const visible = (line) => there(line) && !state.off.has(line.curve) && !(line.kind && state.kindsOff.has(line.kind));

  const plotOf = (panel) => byId(`panel_${panel.name}`).querySelector(".plot");
  const legendOf = (panel) => byId(`panel_${panel.name}`).querySelector(".legend");

  function rangeTraces(panel) {
    const line = panel.lines.find((one) => one.curve === state.ranged);
    if (!line || !line.least || !line.greatest) return [];
    const base = { x: time, mode: "lines", line: { width: 0 }, hoverinfo: "skip" };
    return [
      { ...base, y: time.map(() => 0) },
      { ...base, y: curve(line.least), fill: "tonexty", fillcolor: faded("#332288", 0.45), name: "needed" },
      { ...base, y: curve(line.greatest), fill: "tonexty", fillcolor: faded("#332288", 0.15), name: "possible" },
    ];
  }

  function traces(panel) {
    const lines = panel.lines.map((line, k) => ({
      x: time, y: values(panel, k), mode: "lines", name: plain(words(line.name)), visible: visible(line), connectgaps: false,
      line: { color: drawn(line.colour), dash: line.dash, width: line.width },
      hovertemplate: `%{y:.4~g} ${plain(panel.unit)}`,
    }));
    return panel.name === "muscles" ? [...rangeTraces(panel), ...lines] : lines;
  }

  function shades(panel) {
    const spans = panel.bands.filter((name) => data.bands[name]).flatMap((name) => data.bands[name].spans.map((span) => [span, data.bands[name].colour]));
    return spans.map(([[from, to], colour]) => (
      { type: "rect", xref: "x", yref: "paper", x0: Math.max(from, time[0]), x1: Math.min(to, time[last]), y0: 0, y1: 1, layer: "below", line: { width: 0 }, fillcolor: colour, opacity: 0.22 }
    ));
  }

  function drawPanel(panel) {
    const layout = layoutOf("time (s)", `${panel.quantity} (${panel.unit})`, state.range);
    layout.shapes = shades(panel);
    if (printing.now) layout.width = PRINT_WIDTH;
    const line = panel.name === "muscles" && panel.lines.find((one) => one.curve === state.ranged && one.greatest);
    if (line) { // the possible forces may leave the panel at its top: the scale is that of the lines
      const tops = panel.lines.filter(visible).map((one) => Math.max(0, ...curve(one.curve).filter((value) => value !== null)));
      layout.yaxis.range = [0, 1.25 * Math.max(1e-3, ...tops)];
    }
    return Plotly.react(plotOf(panel), traces(panel), layout, { ...CONFIG, responsive: !printing.now });
  }

  function drawLegend(panel) {
    const legend = legendOf(panel);
    const focus = [...legend.querySelectorAll("button")].indexOf(document.activeElement);
    legend.replaceChildren();
    for (const [k, line] of panel.lines.entries()) {
      if (!there(line)) continue;
      const text = panel.angle ? `${words(line.name)} (+ ${senses(panel, k)[0]})` : words(line.name);
      legend.append(legendButton(text, line.colour, line.dash, line.width, visible(line), () => {
        const hide = visible(line);
        state.off[hide ? "add" : "delete"](line.curve);
        if (!hide && state.kindsOff.delete(line.kind)) syncKinds();
        refresh(panel);
      }));
    }
    if (panel.name === "muscles" && panel.lines.some((line) => line.greatest)) legend.append(rangeChoice(panel));
    if (focus >= 0) legend.querySelectorAll("button")[focus]?.focus();
    const sense = senses(panel, 0);
    const shown = sense && !panel.angle ? `${panel.unit}; + ${sense[0]}, − ${sense[1]}` : panel.unit;
    byId(`panel_${panel.name}`).querySelector(".sense").textContent = shown;
  }

  function rangeChoice(panel) {
    const select = element("select");
    select.append(element("option", { value: "" }, "no muscle"));
    for (const line of panel.lines) if (line.greatest) select.append(element("option", { value: line.curve }, words(line.name)));
    select.value = state.ranged;
    select.addEventListener("change", () => {
      state.ranged = select.value;
      state.off.delete(select.value);
      refresh(panel);
      legendOf(panel).querySelector("select").focus();
    });
    const text = state.ranged ? "needed (dark) and possible (light) force of " : "needed and possible force of ";
    return element("label", {}, text, select);
  }

  function refresh(panel) {
    drawLegend(panel);
    drawPanel(panel);
    placeCursor(panel);
    buildReadout();
  }
  const refreshAll = () => data.panels.forEach(refresh);

  // --- zoom: all panels together
  let zooming = false;
  function zoomTo(from, to) {
    zooming = true;
    const span = Math.max(to - from, 2 * step_s);
    state.range = [from, from + span];
    const done = data.panels.map((panel) => Plotly.relayout(plotOf(panel), { "xaxis.range": [...state.range] }));
    Promise.all(done).then(() => { zooming = false; });
    data.panels.forEach(placeCursor);
  }
  function zoomed(event) {
    if (zooming) return;
    if (event["xaxis.autorange"]) zoomTo(time[0], time[last]);
    else if ("xaxis.range[0]" in event) zoomTo(event["xaxis.range[0]"], event["xaxis.range[1]"]);
  }
  function zoomBy(how) {
    if (how === "all") { zoomTo(time[0], time[last]); return; }
    const span = Math.min((state.range[1] - state.range[0]) * (how === "in" ? 0.5 : 2), time[last] - time[0]);
    const from = Math.min(Math.max(time[state.at] - span / 2, time[0]), time[last] - span);
    zoomTo(from, from + span);
  }

  // --- cursor
  function placeCursor(panel) {
    const plot = plotOf(panel);
    const mark = plot.querySelector(":scope > .line") || plot.appendChild(element("div", { class: "line" }));
    const share = (time[state.at] - state.range[0]) / (state.range[1] - state.range[0]);
    mark.hidden = share < 0 || share > 1;
    mark.style.left = `${LEFT + share * (plot.clientWidth - LEFT - RIGHT)}px`;
    mark.style.top = "8px";
    mark.style.bottom = "38px";
  }

  /** A number with four digits, and no more decimals than its curve has. */
  function number(value, decimals) {
    if (value === null) return "not known";
    const before = Math.floor(Math.log10(Math.abs(value) || 1)) + 1;
    return value.toFixed(Math.min(Math.max(4 - Math.max(before, 1), 0), decimals));
  }
  const cells = [];
  function buildReadout() {
    const table = element("table", {}, element("caption", { class: "visually_hidden" }, "All values at the cursor"));
    cells.length = 0;
    for (const panel of data.panels) {
      const body = element("tbody", {}, element("tr", {}, element("th", { scope: "rowgroup", colspan: 3 }, panel.title)));
      for (const [k, line] of panel.lines.entries()) {
        if (!there(line)) continue;
        const value = element("td");
        const rest = element("td", { class: "far" });
        body.append(element("tr", { "data-curve": line.curve }, element("th", { scope: "row" }, words(line.name)), value, rest));
        cells.push({ panel, k, line, value, rest, numbers: values(panel, k) });
      }
      table.append(body);
    }
    byId("readout").replaceChildren(table);
    fillReadout();
  }
  function fillReadout() {
    for (const { panel, k, line, value, rest, numbers } of cells) {
      const found = numbers[state.at];
      const { decimals } = data.curves[line.curve];
      value.textContent = number(found, decimals);
      const sense = found === null || panel.angle ? null : senses(panel, k);
      const range = line.greatest ? ` (${number(curve(line.least)[state.at], decimals)} to ${number(curve(line.greatest)[state.at], decimals)})` : "";
      rest.textContent = `${panel.unit}${sense && found ? ` ${found > 0 ? sense[0] : sense[1]}` : ""}${range}`;
    }
  }

  let speaking = 0;
  function moveTo(index) {
    state.at = Math.min(Math.max(Math.round(index), 0), last);
    const frame = data.first_frame + state.at * data.step;
    const text = `${time[state.at].toFixed(3)} s, frame ${frame}`;
    byId("cursor").value = state.at;
    byId("cursor").setAttribute("aria-valuetext", text);
    byId("cursor_time").textContent = text;
    data.panels.forEach(placeCursor);
    fillReadout();
    drawStick();
    clearTimeout(speaking);
    speaking = setTimeout(() => { byId("said").textContent = spoken(text); }, 400);
  }
  function spoken(text) {
    const nets = cells.filter((cell) => cell.line.kind === "net");
    return `${text}: ` + nets.map(({ panel, value, rest }) => `${panel.title.split(":")[0]} net torque ${value.textContent} ${rest.textContent}`).join(", ");
  }
  const doubts = (at_s) => Object.values(data.bands).filter((band) => band.spans.some(([from, to]) => from <= at_s && at_s <= to)).map((band) => band.label);

  // --- the limb
  const stick = prepareStick(data, curve, last);
  function drawStick() {
    const newtons = stick.draw(state.at);
    const doubted = doubts(time[state.at]);
    const force = newtons === null ? "" : newtons > 0 ? `External force ${newtons.toPrecision(3)} N. ` : "No external force known. ";
    byId("stick_text").textContent = force + (doubted.length ? `This frame: ${doubted.join("; ")}.` : "");
  }

  // --- controls
  function syncKinds() {
    for (const box of document.querySelectorAll("[data-kind]")) box.checked = !state.kindsOff.has(box.dataset.kind);
  }
  const kinds = new Set(data.panels.flatMap((panel) => panel.lines.map((line) => line.kind)));
  for (const box of document.querySelectorAll("[data-kind]")) {
    if (!kinds.has(box.dataset.kind)) { box.closest("label").hidden = true; continue; }
    box.addEventListener("change", () => {
      state.kindsOff[box.checked ? "delete" : "add"](box.dataset.kind);
      for (const panel of data.panels) for (const line of panel.lines) if (box.checked && line.kind === box.dataset.kind) state.off.delete(line.curve);
      refreshAll();
    });
  }
  for (const radio of document.querySelectorAll("[name=grouping]")) radio.addEventListener("change", () => { state.grouped = radio.value === "grouped"; refreshAll(); });
  for (const radio of document.querySelectorAll("[name=signs]")) radio.addEventListener("change", () => { state.flexion = radio.value === "flexion"; refreshAll(); });
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoomBy(button.dataset.zoom));
  const slider = byId("cursor");
  slider.max = last;
  slider.addEventListener("input", () => moveTo(Number(slider.value)));
  for (const one of document.querySelectorAll(".bench [hidden], #terms")) one.hidden = false;

  refreshAll();
  for (const panel of data.panels) {
    const plot = plotOf(panel);
    plot.on("plotly_hover", (event) => moveTo((event.points[0].x - time[0]) / step_s));
    plot.on("plotly_relayout", zoomed);
    new ResizeObserver(() => placeCursor(panel)).observe(plot);
  }
  followPaper(refreshAll);
  // The cursor begins where the largest net torque is: a frame worth looking at.
  const net = data.panels.find((panel) => panel.lines.some((line) => line.kind === "net"));
  const sizes = net ? curve(net.lines[0].curve).map((value) => Math.abs(value ?? 0)) : [0];
  moveTo(sizes.indexOf(Math.max(...sizes)));
  document.documentElement.dataset.ready = "yes";
}

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
    const colour = drawn("#56B4E9");
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

// --- the table of trials -----------------------------------------------------------------------------------------------

function trialTable(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, place) => ({ row, place, text: row.textContent.toLowerCase() }));
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const heads = [...table.tHead.rows[0].cells];
  const key = (one, column) => one.row.cells[column].dataset.value ?? one.row.cells[column].textContent;
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", next);
    const sign = next === "descending" ? -1 : 1;
    const numeric = head.dataset.kind === "number";
    const sorted = [...rows].sort((a, b) => {
      if (next === "none") return a.place - b.place;
      const [one, other] = [key(a, column), key(b, column)];
      if (!one || !other) return (one ? 0 : 1) - (other ? 0 : 1) || a.place - b.place; // empty cells last
      return sign * (numeric ? parseFloat(one) - parseFloat(other) : order.compare(one, other)) || a.place - b.place;
    });
    body.append(...sorted.map((one) => one.row));
  }));

  const search = byId("search");
  const only = ["status", "condition", "reason"].map((name) => [name, byId(`only_${name}`)]).filter(([, select]) => select);
  function filter() {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { row, text } of rows) {
      const fits = wanted.every((word) => text.includes(word)) && only.every(([name, { value }]) => !value
        || (name === "reason" ? row.dataset.reason.split(" ").includes(value) : row.dataset[name] === value));
      row.hidden = !fits;
      shown += fits;
    }
    byId("shown").textContent = shown === rows.length ? `${rows.length} trials` : `${shown} of ${rows.length} trials`;
  }
  search.addEventListener("input", filter);
  for (const [, select] of only) select.addEventListener("change", filter);
  byId("reset").addEventListener("click", () => {
    search.value = "";
    for (const [, select] of only) select.value = "";
    filter();
  });
  for (const button of document.querySelectorAll("button[data-reason]")) button.addEventListener("click", () => {
    byId("reset").click();
    byId("only_reason").value = button.dataset.reason;
    filter();
    byId("trials").scrollIntoView();
    byId("only_reason").focus();
  });
  filter(); // a browser keeps what was chosen before a reload
}

// --- mean curves -------------------------------------------------------------------------------------------------------

function ensembles(data) {
  const joints = byId("ensemble_joint"), quantities = byId("ensemble_quantity"), plot = byId("ensemble_plot");
  const off = new Set();
  const place = (curve) => [curve.chain, words(curve.joint)].filter(Boolean).join(", ");
  for (const name of new Set(data.curves.map(place))) joints.append(element("option", {}, name));
  function listQuantities() {
    const kept = quantities.value;
    const here = data.curves.filter((curve) => place(curve) === joints.value);
    const names = [...new Set(here.map((curve) => curve.name))];
    quantities.replaceChildren(...names.map((name) => element("option", {}, name)));
    quantities.value = names.includes(kept) ? kept : names.includes("net torque") ? "net torque" : names[0];
  }
  function draw() {
    const shown = data.curves.filter((curve) => place(curve) === joints.value && curve.name === quantities.value);
    byId("ensemble_title").textContent = `${joints.value}: ${quantities.value}`;
    const legend = byId("ensemble").querySelector(".legend");
    const focus = [...legend.children].indexOf(document.activeElement);
    legend.replaceChildren();
    const traces = [];
    for (const curve of shown) {
      const style = data.styles[curve.style], on = !off.has(curve.style);
      const [x, mean, sd] = [curve.percent, curve.mean, curve.sd].map(decode);
      const points = x.map((_, k) => k);
      const whole = points.map((k) => !curve.counts.length || curve.counts[k] === curve.most);
      const near = points.map((k) => [k - 1, k, k + 1].some((other) => whole[other] === false));  // neighbours: the parts meet
      const band = (wanted, strength) => {
        const known = points.filter((k) => wanted[k] && mean[k] !== null && sd[k] !== null);
        const starts = known.filter((k, i) => i === 0 || known[i - 1] !== k - 1);  // a band for each stretch without a gap
        const outline = starts.map((start) => {
          const run = known.filter((k) => k >= start && !starts.some((other) => start < other && other <= k));
          return [...run.map((k) => [x[k], mean[k] - sd[k]]), ...run.reverse().map((k) => [x[k], mean[k] + sd[k]]), [null, null]];
        }).flat();
        traces.push({ x: outline.map((point) => point[0]), y: outline.map((point) => point[1]), mode: "lines", line: { width: 0 }, hoverinfo: "skip",
          visible: on, fill: "toself", fillcolor: faded(style.colour, strength) });
      };
      const line = (wanted, width) => traces.push({ x, y: points.map((k) => wanted[k] ? mean[k] : null), mode: "lines", visible: on, hoverinfo: "skip",
        line: { color: drawn(style.colour), dash: style.dash, width } });
      band(whole, 0.16);
      if (curve.counts.length) {
        band(near, 0.07);
        line(near, 0.9);
        line(whole, 2.2);
      }
      const counts = points.map((k) => curve.counts.length ? curve.counts[k] : curve.most);
      traces.push({ x, y: mean, customdata: counts, mode: "lines", visible: on, name: plain(style.name),
        line: { color: drawn(style.colour), dash: style.dash, width: curve.counts.length ? 0 : 2.2 },
        hovertemplate: `%{y:.4~g} ${plain(curve.unit)} (n = %{customdata})` });
      const fewer = curve.trials === String(curve.most) ? "" : `; thin: fewer than ${curve.most}`;
      const several = (number, word) => `${number} ${word}${String(number) === "1" ? "" : "s"}`;
      const count = `n = ${several(curve.trials, "trial")}, ${several(curve.subjects, "subject")}${fewer}`;
      legend.append(legendButton(`${style.name} (${count})`, style.colour, style.dash, 2.2, on, () => {
        off[on ? "add" : "delete"](curve.style);
        draw();
      }));
    }
    if (focus >= 0) legend.children[focus]?.focus();
    const unit = shown.length ? shown[0].unit : "";
    const layout = layoutOf(plain(data.axes[shown[0]?.chain] ?? "%"), plain(`${quantities.value} (${unit})`), [0, 100]);
    if (printing.now) layout.width = PRINT_WIDTH;
    Plotly.react(plot, traces, layout, { ...CONFIG, responsive: !printing.now });
  }
  joints.addEventListener("change", () => { listQuantities(); draw(); });
  quantities.addEventListener("change", draw);
  listQuantities();
  draw();
  followPaper(draw);
}

document.addEventListener("DOMContentLoaded", () => {
  const read = (id) => byId(id) && JSON.parse(byId(id).textContent);
  if (byId("ledger")) trialTable(byId("ledger"));
  const trial = read("trial"), means = read("ensembles_data");
  if (trial) trialPage(trial);
  if (means) ensembles(means);
});
