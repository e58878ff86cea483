"use strict";
// The page of a trial: one cursor and one choice of terms for panels, readout and limb.

function trialPage(data) {
  const view = trialView(data);
  const { time, last, step_s, state, curve } = view;
  const readout = trialReadout(view);
  const panels = trialPanels(view, () => { syncKinds(); readout.build(); });
  const zoom = trialZoom(view, panels);
  const limb = prepareStick(data, curve, last);

  let speaking = 0;
  function moveTo(index) {
    state.at = Math.min(Math.max(Math.round(index), 0), last);
    const text = `${time[state.at].toFixed(3)} s, frame ${data.first_frame + state.at * data.step}`;
    byId("cursor").value = state.at;
    byId("cursor").setAttribute("aria-valuetext", text);
    byId("cursor_time").textContent = text;
    panels.placeCursors();
    readout.fill();
    drawLimb();
    clearTimeout(speaking);
    speaking = setTimeout(() => { byId("said").textContent = `${text}: ${readout.spoken()}`; }, 400);
  }
  const remarks = (at_s) => Object.values(data.bands).filter((band) => band.spans.some(([from, to]) => from <= at_s && at_s <= to)).map((band) => band.label);
  function drawLimb() {
    const newtons = limb.draw(state.at);
    const here = remarks(time[state.at]);
    const force = newtons === null ? "" : newtons > 0 ? `External force ${newtons.toPrecision(3)} N. ` : "No external force known. ";
    byId("stick_text").textContent = force + (here.length ? `This frame: ${here.join("; ")}.` : "");
  }
  function syncKinds() {
    for (const box of document.querySelectorAll("[data-kind]")) box.checked = !state.kindsOff.has(box.dataset.kind);
  }
  function switchKind(box) {
    state.kindsOff[box.checked ? "delete" : "add"](box.dataset.kind);
    for (const panel of data.panels) for (const line of panel.lines) if (box.checked && line.kind === box.dataset.kind) state.off.delete(line.curve);
    panels.drawAll();
  }
  function listen() {
    const kinds = new Set(data.panels.flatMap((panel) => panel.lines.map((line) => line.kind)));
    for (const box of document.querySelectorAll("[data-kind]")) {
      if (kinds.has(box.dataset.kind)) box.addEventListener("change", () => switchKind(box));
      else box.closest("label").hidden = true;
    }
    for (const radio of document.querySelectorAll("[name=grouping]")) radio.addEventListener("change", () => { state.grouped = radio.value === "grouped"; panels.drawAll(); });
    for (const radio of document.querySelectorAll("[name=signs]")) radio.addEventListener("change", () => { state.flexion = radio.value === "flexion"; panels.drawAll(); });
    for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom.zoomBy(button.dataset.zoom));
    byId("cursor").max = last;
    byId("cursor").addEventListener("input", () => moveTo(Number(byId("cursor").value)));
    for (const one of document.querySelectorAll(".bench [hidden], #terms")) one.hidden = false;
  }

  listen();
  panels.drawAll();
  for (const panel of data.panels) {
    const plot = panels.plotOf(panel);
    plot.on("plotly_hover", (event) => moveTo((event.points[0].x - time[0]) / step_s));
    plot.on("plotly_relayout", zoom.zoomed);
    new ResizeObserver(() => panels.placeCursors()).observe(plot);
  }
  followPaper(panels.drawAll);
  // The cursor begins at the largest net torque: a frame worth looking at.
  const net = data.panels.find((panel) => panel.lines.some((line) => line.kind === "net"));
  const sizes = net ? curve(net.lines[0].curve).map((value) => Math.abs(value ?? 0)) : [0];
  moveTo(sizes.indexOf(Math.max(...sizes)));
  document.documentElement.dataset.ready = "yes";
}

start("trial", trialPage);
