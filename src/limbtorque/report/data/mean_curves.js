"use strict";
// The mean curves of the study, by joint and quantity.

function meanCurves(data) {
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
  const several = (number, units) => `${number} ${number === 1 ? units.replace(/s$/, "") : units}`;
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
        const end = (sign) => points.map((k) => (wanted[k] && mean[k] !== null && sd[k] !== null ? mean[k] + sign * sd[k] : null));
        traces.push({ ...between(x, end(-1), end(1)), visible: on, fillcolor: faded(style.colour, strength) });
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
      if (curve.counts.length) {
        band(near, 0.07);
        line(near, 0.9);
        line(whole, 2.2);
      }
      traces.push({ x, y: mean, customdata: points.map((k) => several(curve.unit_counts[k] ?? curve.unit_counts[0], curve.units)), mode: "lines", visible: on, name: plain(style.name),
        line: { color: drawn(style.colour), dash: style.dash, width: curve.counts.length ? 0 : 2.2 },
        hovertemplate: `%{y:.4~g} ${plain(curve.unit)} (%{customdata})` });
      const fewer = curve.most && points.some((k) => !whole[k] && mean[k] !== null) ? `; thin: fewer than ${curve.most} trials` : "";
      legend.append(legendButton(`${style.name} (${curve.number}${fewer})`, style.colour, style.dash, 2.2, on, () => {
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

start("ensembles_data", meanCurves);
