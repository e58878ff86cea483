"use strict";
// The page: choices, keys, and what follows from them.

const NOTHING_KEPT = { rules: {}, says: {}, substitutes: {}, errors: {}, markers: {} };
let page = null; // of the recording, once it is unpacked

function preparePage(data, whole) {
  const positions = positionsOf(whole, data);
  const view = prepareView(byId("view"), data, positions);
  const chart = prepareLengths(byId("lengths"), data.n_frames);
  const given = new Map(); // body, chain and side -> landmark -> markers; those of a known set with their fraction and error
  const state = { at: 0, playing: false, pointed: -1, current: "", segments: [] };
  let due = false;

  const chain = () => data.chains[byId("chain").value];
  const body = () => data.bodies[Number(byId("body").value)];
  const kept = () => (body().kept.side && body().kept.side !== side() ? NOTHING_KEPT : body().kept);
  const side = () => byId("side").value;
  const mode = () => Number(document.querySelector("[name=mode]:checked").value);
  const frameName = () => `${((state.at * data.step) / data.rate_hz).toFixed(3)} s, frame ${data.first_frame + state.at * data.step}`;

  /** Markers by landmark for the person, chain and side chosen; those of the other side where only it was mapped. */
  function chosen() {
    const key = (which) => JSON.stringify([byId("body").value, byId("chain").value, which]);
    if (!given.has(key(side()))) {
      const of = (what) => (body()[what][byId("chain").value] || {})[side()] || {};
      const proposed = Object.entries(of("proposed")).map(([name, markers]) => [name, Object.assign([...markers], of("known")[name], { kept: name in kept().rules })]);
      const other = given.get(key(side() === "right" ? "left" : "right")) || new Map();
      const mates = [...other].map(([name, markers]) => [name, Object.assign(markers.map((marker) => data.mates[marker]), { fraction: markers.fraction, error: markers.error })]);
      given.set(key(side()), new Map(proposed.length ? proposed : mates.filter(([, markers]) => markers.every((one) => one !== undefined))));
    }
    return given.get(key(side()));
  }

  function jointMarkers(name) {
    return chosen().get(name) || [];
  }

  /** Markers of the landmarks of other chains of this person and side that were looked at. */
  function elsewhere() {
    const others = Object.keys(data.chains).map((name) => given.get(JSON.stringify([byId("body").value, name, side()])));
    return new Map(others.flatMap((one) => (one ? [...one] : [])));
  }

  /** Markers that show where a joint is: its own, or those of the landmark that stands for it. */
  function shownMarkers(name) {
    const own = jointMarkers(name), by = kept().substitutes[name];
    return own.length || !by ? own : (kept().markers[side()] || {})[by] || [];
  }

  function choice() {
    return {
      chain: byId("chain").value, side: side(), body: Number(byId("body").value), given: chosen(), elsewhere: elsewhere(), kept: kept(),
      up: byId("up").value, forward: byId("forward").value, setName: byId("set_name").value.replace(/[^A-Za-z0-9_-]/g, "_") || "my_markers",
    };
  }

  // --- drawing ---

  function redraw() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; drawNow(); });
  }

  function drawNow() {
    const limb = chain().joints.map(shownMarkers);
    const own = [...chosen()].filter(([, markers]) => markers.length);
    view.draw({ frame: state.at, limb, joints: chain().joints, given: own, current: state.current, pointed: state.pointed, names: byId("names").checked, follow: byId("follow").checked });
    chart.draw(state.at);
  }

  function goTo(frame) {
    state.at = Math.max(0, Math.min(data.n_frames - 1, frame));
    byId("time").value = state.at;
    byId("time").setAttribute("aria-valuetext", frameName());
    byId("at").textContent = frameName();
    redraw();
  }

  function play(on) {
    state.playing = on;
    byId("play").setAttribute("aria-pressed", String(on));
    byId("play").textContent = on ? "Pause" : "Play";
    let last = null, exact = state.at;
    function tick(now) {
      if (!state.playing) return;
      if (last !== null) exact += (((now - last) / 1000) * data.rate_hz * Number(byId("speed").value)) / data.step;
      if (exact >= data.n_frames) exact = 0;
      if (last !== null && Math.floor(exact) !== state.at) goTo(Math.floor(exact));
      last = now;
      requestAnimationFrame(tick);
    }
    if (on) requestAnimationFrame(tick);
  }

  // --- landmarks ---

  function fillLandmarks() {
    const name = (marker) => data.labels[marker];
    const byName = [...body().markers].sort((a, b) => name(a).localeCompare(name(b), "en", { numeric: true }));
    const rows = chain().landmarks.map((landmark, k) => {
      const radio = element("input", { type: "radio", name: "landmark", id: `landmark_${k}`, value: landmark.name });
      const about = element("small", {}, landmark.about, ...(landmark.stand_in ? [` (else ${words(landmark.stand_in)})`] : landmark.required ? [] : [" (may be left out)"]));
      const selects = [0, 1].map((nth) => {
        const select = element("select", { "aria-label": `${words(landmark.name)}: ${nth ? "second marker" : "marker"}`, "data-landmark": landmark.name, "data-nth": nth });
        select.append(element("option", { value: "" }, nth ? "no second marker" : "no marker"), ...byName.map((marker) => element("option", { value: marker }, name(marker))));
        return select;
      });
      return element("div", { class: "landmark" }, element("label", { for: radio.id }, radio, " ", words(landmark.name)), about, element("div", { class: "bar" }, ...selects), element("p", { class: "quiet", "data-about": landmark.name }));
    });
    byId("landmarks").replaceChildren(...rows);
    select(firstEmpty() || chain().landmarks[0].name);
  }

  const firstEmpty = () => (chain().landmarks.find((landmark) => landmark.required && !jointMarkers(landmark.name).length && !(landmark.name in kept().says)) || {}).name;

  function select(landmark) {
    state.current = landmark;
    for (const radio of document.querySelectorAll("[name=landmark]")) radio.checked = radio.value === landmark;
    redraw();
  }

  function say(text) {
    byId("said").textContent = text;
  }

  /** Give a marker to the current landmark; go on to the next landmark without one when it has all. */
  function give(marker) {
    const landmark = state.current, had = jointMarkers(landmark);
    const adds = mode() === 2 && had.length === 1 && had[0] !== marker;
    chosen().set(landmark, adds ? [had[0], marker] : [marker]);
    const complete = mode() === 1 || adds;
    const next = complete ? firstEmpty() : landmark;
    const names = jointMarkers(landmark).map((one) => data.labels[one]).join(" and ");
    if (next) select(next);
    refresh();
    say(`${words(landmark)}: ${names}. ${complete ? (next ? `Next: ${words(next)}.` : "Every landmark that is needed has a marker.") : "Now the second marker."}`);
  }

  function choose(event) {
    const { landmark } = event.target.dataset;
    const markers = [0, 1].map((k) => document.querySelector(`[data-landmark="${CSS.escape(landmark)}"][data-nth="${k}"]`).value);
    const chosenNow = [...new Set(markers.filter((value) => value !== "").map(Number))];
    if (chosenNow.length) chosen().set(landmark, chosenNow); else chosen().delete(landmark);
    select(landmark);
    refresh();
    say(chosenNow.length ? `${words(landmark)}: ${chosenNow.map((one) => data.labels[one]).join(" and ")}.` : `${words(landmark)}: no marker.`);
  }

  /** All that follows from the choices: lists, lengths, texts. */
  function refresh() {
    for (const landmark of chain().landmarks) {
      const markers = jointMarkers(landmark.name);
      for (const box of document.querySelectorAll(`[data-landmark="${CSS.escape(landmark.name)}"]`)) box.value = markers[Number(box.dataset.nth)] ?? "";
      const gone = markers.map((marker) => [marker, positions.missingShare(marker)]).filter(([, share]) => share > 0);
      const labels = markers.map((marker) => data.labels[marker]);
      const more = !markers.length && landmark.name in kept().says ? [kept().says[landmark.name]] : markers.fraction !== undefined ? [`${markers.fraction} of the way from ${labels.join(" to ")}`] : markers.length > 2 ? [`mean of ${labels.join(", ")}`] : [];
      document.querySelector(`[data-about="${CSS.escape(landmark.name)}"]`).textContent = [...more, ...gone.map(([marker, share]) => `${data.labels[marker]} is missing in ${(100 * share).toFixed(1)} % of the frames`)].join("; ");
    }
    const ends = chain().joints.map(shownMarkers);
    state.segments = chain().segments.map((name, k) => ({ name, lengths: ends[k].length && ends[k + 1].length ? lengthsOf(positions, ends[k], ends[k + 1], data.n_frames) : null }));
    lengthTable(byId("length_table").tBodies[0], state.segments);
    chart.plot(state.segments);
    writeTexts();
    redraw();
  }

  function writeTexts() {
    const now = choice(), other = now.side === "right" ? "left" : "right";
    byId("yaml").value = yamlOf(data, now);
    byId("row").value = rowOf(data, now);
    byId("command").value = commandOf(data, now);
    byId("serves").textContent = !now.given.size ? "" : servesBoth(data, now.side, now.given)
      ? `This set serves the ${other} side, too: its markers have the same names but for the side.`
      : `This set serves the ${now.side} side only; the ${other} side needs a set of its own.`;
  }

  function changeBody() {
    byId("forward").value = body().row.forward;
    changeView();
    changeChain();
  }

  function changeView() {
    view.show(byId("up").value || data.likely_up, body().markers);
    redraw();
  }

  function changeChain() {
    fillLandmarks();
    refresh();
  }

  // --- mouse, fingers, keys ---

  function listen() {
    const canvas = byId("view");
    let drag = null;
    const where = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      drag = { at: where(event), moved: 0 };
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = where(event);
      if (drag) {
        const [dx, dy] = [x - drag.at[0], y - drag.at[1]];
        drag.moved += Math.hypot(dx, dy);
        drag.at = [x, y];
        if (drag.moved < 4) return;
        if (event.shiftKey) view.move(dx, dy);
        else { view.turn("right", 0.01 * dx); view.turn("up", 0.01 * dy); }
      } else state.pointed = view.pick(x, y);
      redraw();
    });
    canvas.addEventListener("pointerup", (event) => {
      const marker = drag && drag.moved < 4 ? view.pick(...where(event)) : -1;
      drag = null;
      if (marker >= 0) give(marker);
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      view.turn(event.deltaY < 0 ? "nearer" : "farther", 0.1);
      redraw();
    }, { passive: false });
    canvas.addEventListener("keydown", key);
    for (const button of document.querySelectorAll("[data-turn]")) button.addEventListener("click", () => { view.turn(button.dataset.turn); redraw(); });
    for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy));
    byId("save").addEventListener("click", save);
    byId("play").addEventListener("click", () => play(!state.playing));
    byId("time").addEventListener("input", () => { play(false); goTo(Number(byId("time").value)); });
    byId("landmarks").addEventListener("change", (event) => { if (event.target.name === "landmark") select(event.target.value); else choose(event); });
    byId("body").addEventListener("change", changeBody);
    byId("up").addEventListener("change", () => { changeView(); writeTexts(); });
    for (const id of ["chain", "side"]) byId(id).addEventListener("change", changeChain);
    byId("set_name").addEventListener("input", writeTexts);
    byId("forward").addEventListener("change", writeTexts);
    for (const id of ["names", "follow"]) byId(id).addEventListener("change", redraw);
    window.addEventListener("resize", resize);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
  }

  const KEYS = {
    ArrowLeft: () => view.turn("left"), ArrowRight: () => view.turn("right"), ArrowUp: () => view.turn("up"), ArrowDown: () => view.turn("down"),
    "+": () => view.turn("nearer"), "=": () => view.turn("nearer"), "-": () => view.turn("farther"),
    n: () => point(1), p: () => point(-1), Enter: () => { if (state.pointed >= 0) give(state.pointed); },
    ",": () => { play(false); goTo(state.at - 1); }, ".": () => { play(false); goTo(state.at + 1); }, " ": () => play(!state.playing),
  };

  function key(event) {
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    action();
    redraw();
  }

  /** Go to the next marker by name, among those seen in this frame. */
  function point(way) {
    const seen = body().markers.filter((marker) => view.place(marker).seen).sort((a, b) => data.labels[a].localeCompare(data.labels[b], "en", { numeric: true }));
    if (!seen.length) return;
    const k = seen.indexOf(state.pointed);
    state.pointed = seen[k < 0 ? (way > 0 ? 0 : seen.length - 1) : (k + way + seen.length) % seen.length];
    say(`Marker ${data.labels[state.pointed]}. Enter gives it to ${words(state.current)}.`);
  }

  async function copy(id) {
    const box = byId(id);
    box.select();
    try {
      await navigator.clipboard.writeText(box.value);
      say("Copied.");
    } catch {
      say(document.execCommand("copy") ? "Copied." : "The text is selected: copy it with Ctrl and C.");
    }
  }

  function save() {
    const link = element("a", { href: URL.createObjectURL(new Blob([byId("yaml").value], { type: "text/yaml" })), download: `${choice().setName}.yaml` });
    link.click();
    URL.revokeObjectURL(link.href);
    say(`Saved as ${choice().setName}.yaml, where your browser keeps downloads.`);
  }

  function resize() {
    view.resize();
    chart.resize();
    chart.plot(state.segments);
    redraw();
  }

  function open() {
    byId("chain").append(...Object.keys(data.chains).map((name) => element("option", {}, name)));
    byId("body").append(...data.bodies.map((one, k) => element("option", { value: k }, one.prefix || "no prefix")));
    byId("body_label").hidden = data.bodies.length < 2;
    byId("chain").value = data.chain;
    byId("side").value = data.side;
    byId("set_name").value = data.marker_set;
    byId("up").value = data.up_axis;
    byId("time").max = data.n_frames - 1;
    byId("map").hidden = false;
    listen();
    changeBody();
    resize();
    goTo(0);
  }

  open();
  return { view, state, data, goTo, play, drawNow };
}

async function openPage() {
  try {
    const data = JSON.parse(byId("recording").textContent);
    page = preparePage(data, await unpack(byId("positions").textContent, data.labels.length, data.n_frames));
  } catch (error) {
    byId("fault").textContent = typeof DecompressionStream === "undefined" ? "This browser is too old for this page: it needs Chrome or Edge 80, Firefox 113, Safari 16.4, or later." : `This page could not be opened: ${error.message}`;
    byId("fault").hidden = false;
  }
}

openPage();
