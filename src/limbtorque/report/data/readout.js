"use strict";
// The table of all values at the cursor.

/** A number with four digits, and no more decimals than its curve has. */
function fourDigits(value, decimals) {
  if (value === null) return "not known";
  const before = Math.floor(Math.log10(Math.abs(value) || 1)) + 1;
  return value.toFixed(Math.min(Math.max(4 - Math.max(before, 1), 0), decimals));
}

function trialReadout(view) {
  const { data, state, curve, there, values, senses } = view;
  const cells = [];
  function build() {
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
    fill();
  }
  function fill() {
    for (const { panel, k, line, value, rest, numbers } of cells) {
      const number = numbers[state.at];
      const { decimals } = data.curves[line.curve];
      const at = (name) => fourDigits(curve(name)[state.at], decimals);
      value.textContent = fourDigits(number, decimals);
      const sense = number === null || panel.angle ? null : senses(panel, k);
      const range = line.greatest ? ` (${at(line.least)} to ${at(line.greatest)})` : "";
      rest.textContent = `${panel.unit}${sense && number ? ` ${number > 0 ? sense[0] : sense[1]}` : ""}${range}`;
    }
  }
  /** The net torques in words, for a screen reader. */
  function spoken() {
    const nets = cells.filter((cell) => cell.line.kind === "net");
    return nets.map(({ panel, value, rest }) => `${panel.title.split(":")[0]} net torque ${value.textContent} ${rest.textContent}`).join(", ");
  }
  return { build, fill, spoken };
}
