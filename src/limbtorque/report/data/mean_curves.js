"use strict";
// Mean curves, all joints of a limb side by side: a figure for the chosen quantity, and one for each that a page names.

const GAP = 0.07; // between two joints, of the width or height
const NARROW = 640, HEIGHT = 420; // px: below this width the joints stand one below the other

function meanCurves(data) {
  const limbs = byId("ensemble_limb"), quantities = byId("ensemble_quantity"), sides = byId("ensemble_sides");
  const figures = [...document.querySelectorAll("figure.mean_curves")];
  const fixed = figures.map((figure) => figure.dataset.quantity);
  const off = new Set();
  for (const name of new Set(data.curves.map((curve) => curve.chain))) limbs.append(element("option", {}, name));
  const ofLimb = () => data.curves.filter((curve) => curve.chain === limbs.value);
  /** A condition with one side has no mean of both: that side is drawn in either case. */
  const chosen = (curve, how) => (curve.averaged ?? (how === "averaged")) === (how === "averaged");
  function listSides() {
    if (!sides) return;
    const curves = ofLimb();
    sides.closest("label").hidden = !curves.some((curve) => curve.averaged);
    for (const option of sides.options) option.disabled = !curves.some((curve) => curve.drawn && chosen(curve, option.value));
    if (sides.selectedOptions[0].disabled) sides.value = [...sides.options].find((option) => !option.disabled).value;
  }
  function listQuantities() {
    const kept = quantities.value;
    const names = [...new Set(ofLimb().map((curve) => curve.name))].filter((name) => !fixed.includes(name));
    quantities.replaceChildren(...names.map((name) => element("option", {}, name)));
    quantities.value = [kept, data.first ?? "net torque"].find((name) => names.includes(name)) ?? names[0];
  }
  const several = (number, units) => `${number} ${number === 1 ? units.replace(/s$/, "") : units}`;
  const draw = () => figures.forEach(drawFigure);
  function drawFigure(figure) {
    const quantity = figure.dataset.quantity ?? quantities.value, plot = figure.querySelector(".plot");
    const wanted = ofLimb().filter((curve) => curve.name === quantity && chosen(curve, sides?.value));
    const shown = wanted.filter((curve) => curve.drawn), without = wanted.filter((curve) => !curve.drawn);
    const joints = [...new Set(wanted.map((curve) => curve.joint))];
    figure.querySelector("h3").textContent = `${limbs.value}: ${quantity}`;
    const legend = figure.querySelector(".legend");
    const focus = [...legend.children].indexOf(document.activeElement);
    legend.replaceChildren();
    const traces = [];
    const listed = new Set();
    for (const curve of shown) {
      const end = joints.indexOf(curve.joint) ? joints.indexOf(curve.joint) + 1 : "", axes = { xaxis: `x${end}`, yaxis: `y${end}` };
      const first = traces.length;
      const style = data.styles[curve.style], on = !off.has(curve.style);
      const [x, mean] = [curve.percent ?? data.percent, curve.mean].map(decode), trials = curve.counts ?? [];
      const sd = curve.sd ? decode(curve.sd) : x.map(() => null);
      const points = x.map((_, k) => k);
      const whole = points.map((k) => !trials.length || trials[k] === curve.most);
      const near = points.map((k) => [k - 1, k, k + 1].some((other) => whole[other] === false));  // neighbours: the parts meet
      const band = (wanted, strength) => {
        const edge = (sign) => points.map((k) => (wanted[k] && mean[k] !== null && sd[k] !== null ? mean[k] + sign * sd[k] : null));
        traces.push({ ...between(x, edge(-1), edge(1)), visible: on, fillcolor: faded(style.colour, strength) });
      };
      const line = (wanted, width) => traces.push({ x, y: points.map((k) => wanted[k] ? mean[k] : null), mode: "lines", visible: on, hoverinfo: "skip",
        line: { color: drawn(style.colour), dash: style.dash, width } });
      band(whole, 0.16);
      if (curve.limit) {
        const limit = decode(curve.limit);
        for (const sign of [-1, 1]) {
          traces.push({ x, y: points.map((k) => (mean[k] !== null && limit[k] !== null ? mean[k] + sign * limit[k] : null)), mode: "lines", visible: on, hoverinfo: "skip",
            line: { color: drawn(style.colour), dash: "dot", width: 1 } });
        }
      }
      if (trials.length) {
        band(near, 0.07);
        line(near, 0.9);
        line(whole, 2.2);
      }
      traces.push({ x, y: mean, customdata: points.map((k) => curve.units ? several(curve.unit_counts[k] ?? curve.unit_counts[0], curve.units) : curve.number), mode: "lines", visible: on, name: plain(style.name),
        line: { color: drawn(style.colour), dash: style.dash, width: trials.length ? 0 : 2.2 },
        hovertemplate: `%{y:.4~g} ${plain(curve.unit)} (%{customdata})` });
      for (const trace of traces.slice(first)) Object.assign(trace, axes);
      if (listed.has(curve.style)) continue;
      listed.add(curve.style);
      const counts = new Map();
      for (const other of shown.filter((each) => each.style === curve.style)) {
        const few = other.counts?.some((count, k) => count !== other.most && decode(other.mean)[k] !== null);
        const fewer = few ? `; thin: fewer than ${other.most} trials` : "";
        const text = `${other.number}${fewer}`;
        counts.set(text, [...(counts.get(text) ?? []), words(other.joint)]);
      }
      const number = [...counts].map(([text, of]) => (counts.size > 1 ? `${of.join(", ")}: ${text}` : text)).join("; ");
      legend.append(legendButton(`${style.name} (${number})`, style.colour, style.dash, 2.2, on, () => {
        off[on ? "add" : "delete"](curve.style);
        draw();
      }));
    }
    const names = new Set(without.map((curve) => `${data.styles[curve.style].name}: ${words(curve.joint)}`));
    figure.querySelector(".without").textContent = names.size ? `No mean: ${[...names].join("; ")}.` : "";
    if (focus >= 0) legend.children[focus]?.focus();
    const unit = wanted.length ? wanted[0].unit : "";
    const layout = layoutOf(plain(data.axes[limbs.value] ?? "%"), plain(`${quantity} (${unit})`), [0, 100]);
    const { xaxis, yaxis } = layout, n = joints.length, below = !printing.now && plot.clientWidth < NARROW;
    const size = (1 - GAP * (n - 1)) / n;
    layout.margin.t = 26;
    layout.height = below ? 300 * n : HEIGHT;
    layout.annotations = [];
    joints.forEach((joint, k) => {
      const start = (below ? n - 1 - k : k) * (size + GAP), part = [start, start + size], end = k ? k + 1 : "";
      const [x, y] = below ? [[0, 1], part] : [part, [0, 1]];
      layout[`xaxis${end}`] = { ...xaxis, title: below && k < n - 1 ? undefined : xaxis.title, domain: x, anchor: `y${end}` };
      layout[`yaxis${end}`] = { ...yaxis, title: k ? undefined : yaxis.title, domain: y, anchor: `x${end}` };
      layout.annotations.push({ text: plain(words(joint)), x: (x[0] + x[1]) / 2, y: y[1], xref: "paper", yref: "paper", xanchor: "center", yanchor: "bottom", showarrow: false });
    });
    if (printing.now) layout.width = PRINT_WIDTH;
    Plotly.react(plot, traces, layout, { ...CONFIG, responsive: !printing.now });
  }
  limbs.addEventListener("change", () => { listQuantities(); listSides(); draw(); });
  quantities.addEventListener("change", draw);
  sides?.addEventListener("change", draw);
  listQuantities();
  listSides();
  draw();
  followPaper(draw);
}

start("ensembles_data", meanCurves);
