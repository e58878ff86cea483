"use strict";
// The table of trials: sorted, filtered, searched.

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

document.addEventListener("DOMContentLoaded", () => trialTable(byId("ledger")));
