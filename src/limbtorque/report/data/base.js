"use strict";
// Elements, names and numbers for all scripts of the report.
// Text from files reaches the page as text only (textContent), and plotly as escaped text (plain).

const byId = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const words = (name) => name.replace(/_/g, " ");
const SVG = "http://www.w3.org/2000/svg";

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
  let sum = 0;
  return curve.steps.map((step) => (step === null ? null : (sum += step) / unit));
}

/** Run a script of the page when the page is there, with the data that the page carries under this name. */
function start(id, run) {
  document.addEventListener("DOMContentLoaded", () => { if (byId(id)) run(JSON.parse(byId(id).textContent)); });
}
