"use strict";
// Colours, layout and legends of the plots, on light, dark and printed paper.

const LEFT = 62, RIGHT = 16; // margins of a plot, px
const PRINT_WIDTH = 680; // px of a plot on paper
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

/** The area between two curves: a closed outline for each stretch in which both are known. */
function between(x, low, high) {
  const known = x.map((_, k) => low[k] !== null && high[k] !== null), outline = [];
  for (let start = 0, stop; start < x.length; start = stop + 1) {
    stop = start;
    while (known[stop]) stop++;
    const run = Array.from({ length: stop - start }, (_, k) => start + k);
    if (run.length) outline.push(...run.map((k) => [x[k], low[k]]), ...run.reverse().map((k) => [x[k], high[k]]), [null, null]);
  }
  return { x: outline.map((point) => point[0]), y: outline.map((point) => point[1]), mode: "lines", line: { width: 0 }, hoverinfo: "skip", fill: "toself" };
}

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
