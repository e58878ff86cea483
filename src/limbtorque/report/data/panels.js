"use strict";
// The panels of a trial's page: lines over one time axis, with the terms, signs and muscles that were chosen.

/** Numbers of a trial as they are shown: which lines, with which sign, at which time. */
function trialView(data) {
  const time = decode(data.curves.time_s);
  const last = time.length - 1;
  const step_s = last > 0 ? (time[last] - time[0]) / last : 1;
  const state = { at: 0, range: [time[0], time[last]], grouped: true, flexion: true, kindsOff: new Set(), off: new Set(), ranged: {} };
  for (const panel of data.panels) for (const line of panel.lines) if (line.shown === false) state.off.add(line.curve);

  const cache = {};
  const curve = (name) => (cache[name] ??= decode(data.curves[name]));
  const there = (line) => line.grouped === undefined || line.grouped === state.grouped;
  const visible = (line) => there(line) && !state.off.has(line.curve) && !(line.kind && state.kindsOff.has(line.kind));

  /** Numbers of a line, or of another curve of it, with the sign that was chosen. */
  function values(panel, k, name) {
    const numbers = curve(name ?? panel.lines[k].curve);
    if (!panel.joints.length || !state.flexion) return numbers;
    const joint = data.joints[panel.joints[k]];
    const zero = panel.angle ? joint.zero_deg : 0;
    return numbers.map((value) => (value === null ? null : joint.sign * (value - zero)));
  }

  /** Names of the positive and the negative sense of a line. */
  function senses(panel, k) {
    if (!panel.joints.length) return null;
    const joint = data.joints[panel.joints[k]];
    return state.flexion || joint.sign > 0 ? [joint.flexion, joint.extension] : [joint.extension, joint.flexion];
  }

  /** Senses of a panel in words; by the names of the joints where these differ. */
  function sensesText(panel) {
    const names = new Map();
    for (const [k, joint] of panel.joints.entries()) {
      const [positive, negative] = senses(panel, k);
      const text = `+ ${positive}, − ${negative}`;
      names.set(text, (names.get(text) ?? new Set()).add(words(data.joints[joint].name)));
    }
    if (names.size < 2) return [...names.keys()].join("");
    return [...names].map(([text, some]) => `${[...some].join(", ")}: ${text}`).join("; ");
  }
  return { data, time, last, step_s, state, curve, there, visible, values, senses, sensesText };
}

/** Draw the panels of a trial; `changed` is called after a panel was drawn for another choice of lines. */
function trialPanels(view, changed) {
  const { data, time, last, state, curve, there, visible, values, senses, sensesText } = view;
  const plotOf = (panel) => byId(`panel_${panel.name}`).querySelector(".plot");
  const legendOf = (panel) => byId(`panel_${panel.name}`).querySelector(".legend");

  function rangeTraces(panel) {
    const line = panel.lines.find((one) => one.curve === state.ranged[panel.name]);
    if (!line || !line.least || !line.greatest) return [];
    const [least, greatest] = [curve(line.least), curve(line.greatest)];
    return [
      { ...between(time, least.map((value) => (value === null ? null : 0)), least), fillcolor: faded(css("--muscle"), 0.45), name: "needed" },
      { ...between(time, least, greatest), fillcolor: faded(css("--muscle"), 0.13), name: "possible" },
    ];
  }

  /** Area between the limits of each line that has some. */
  function limitTraces(panel) {
    return panel.lines.flatMap((line, k) => (!line.low || !visible(line) ? [] : [
      { ...between(time, values(panel, k, line.low), values(panel, k, line.high)), fillcolor: faded(drawn(line.colour), 0.2), name: "95 % limits" },
    ]));
  }

  function traces(panel) {
    const lines = panel.lines.map((line, k) => ({
      x: time, y: values(panel, k), mode: "lines", name: plain(words(line.name)), visible: visible(line), connectgaps: false,
      line: { color: drawn(line.colour), dash: line.dash, width: line.stack ? 0 : line.width },
      hovertemplate: `%{y:.4~g} ${plain(panel.unit)}`,
      ...(line.stack ? { stackgroup: line.stack, fillcolor: faded(line.colour, 0.8) } : {}),
    }));
    return [...rangeTraces(panel), ...limitTraces(panel), ...lines];
  }

  function shades(panel) {
    const spans = panel.bands.filter((name) => data.bands[name]).flatMap((name) => data.bands[name].spans.map((span) => [span, data.bands[name].colour]));
    return spans.map(([[from, to], colour]) => (
      { type: "rect", xref: "x", yref: "paper", x0: Math.max(from, time[0]), x1: Math.min(to, time[last]), y0: 0, y1: 1, layer: "below", line: { width: 0 }, fillcolor: colour, opacity: Number(css("--shade")) }
    ));
  }

  /** The ends of the part that is 0 to 100 %: a thin dashed line each, with its name at the top. */
  function windowEnds() {
    return data.window.map((at, k) => (
      { type: "line", xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1, line: { width: 1, dash: "dash", color: ink() },
        label: { text: `${100 * k} %`, textposition: "end", textangle: 0, xanchor: k ? "right" : "left", yanchor: "top", padding: 3, font: { size: 11 } } }
    ));
  }

  function drawPlot(panel) {
    const layout = layoutOf("time (s)", `${panel.quantity} (${panel.unit})`, state.range);
    layout.shapes = [...shades(panel), ...windowEnds()];
    if (printing.now) layout.width = PRINT_WIDTH;
    const line = panel.name === "muscles" && panel.lines.find((one) => one.curve === state.ranged[panel.name] && one.greatest);
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
        if (!hide) state.kindsOff.delete(line.kind);
        draw(panel);
      }));
    }
    if (panel.lines.some((line) => line.greatest)) legend.append(rangeChoice(panel));
    if (focus >= 0) legend.querySelectorAll("button")[focus]?.focus();
    const sense = panel.angle ? "" : sensesText(panel);
    byId(`panel_${panel.name}`).querySelector(".sense").textContent = sense ? `${panel.unit}; ${sense}` : panel.unit;
  }

  function rangeChoice(panel) {
    const select = element("select");
    const what = panel.name === "muscles" ? "muscle" : "joint";
    select.append(element("option", { value: "" }, `no ${what}`));
    for (const line of panel.lines) if (line.greatest) select.append(element("option", { value: line.curve }, words(line.name)));
    select.value = state.ranged[panel.name] ?? "";
    select.addEventListener("change", () => {
      state.ranged[panel.name] = select.value;
      state.off.delete(select.value);
      draw(panel);
      legendOf(panel).querySelector("select").focus();
    });
    const [needed, possible] = panel.name === "muscles" ? ["needed", "possible"] : ["least", "greatest"];
    const text = state.ranged[panel.name] ? `${needed} (dark) and ${possible} (light) force of ` : `${needed} and ${possible} force of `;
    return element("label", {}, text, select);
  }

  function placeCursor(panel) {
    const plot = plotOf(panel);
    const mark = plot.querySelector(":scope > .line") || plot.appendChild(element("div", { class: "line" }));
    const share = (time[state.at] - state.range[0]) / (state.range[1] - state.range[0]);
    mark.hidden = share < 0 || share > 1;
    mark.style.left = `${LEFT + share * (plot.clientWidth - LEFT - RIGHT)}px`;
    mark.style.top = "8px";
    mark.style.bottom = "38px";
  }

  function draw(panel) {
    drawLegend(panel);
    drawPlot(panel);
    placeCursor(panel);
    changed();
  }
  return { draw, drawAll: () => data.panels.forEach(draw), placeCursors: () => data.panels.forEach(placeCursor), plotOf };
}

/** Zoom in all panels together. */
function trialZoom(view, panels) {
  const { data, time, last, step_s, state } = view;
  let zooming = false;
  function zoomTo(from, to) {
    zooming = true;
    const span = Math.max(to - from, 2 * step_s);
    state.range = [from, from + span];
    const done = data.panels.map((panel) => Plotly.relayout(panels.plotOf(panel), { "xaxis.range": [...state.range] }));
    Promise.all(done).then(() => { zooming = false; });
    panels.placeCursors();
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
  return { zoomed, zoomBy };
}
