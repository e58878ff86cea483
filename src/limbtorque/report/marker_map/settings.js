"use strict";
// What the choices mean in a study: sections of the settings, a row of the table of trials, a command.

const keyOf = (name) => (/^[a-z][a-z0-9_]*$/.test(name) && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].includes(name) ? name : JSON.stringify(name));
const cellOf = (text) => (/[",\n\r#]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
const wordOf = (text) => (/^[\w./+=:][\w./+=:-]*$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
const fileOf = (name) => wordOf(name.startsWith("-") ? `./${name}` : name);

/** Return true if every chosen marker has one of the same name on the other side, so that a placeholder serves both. */
function servesBoth(data, side, given) {
  const markers = [...given.values()].flat();
  return markers.length > 0 && markers.every((marker) => data.templates[side][marker] !== undefined);
}

/** Rule of a landmark: a marker, the mean of some, or a point between two. */
function ruleOf(markers, label) {
  const labels = markers.map(label);
  if (markers.fraction !== undefined) return `{between: [${labels.join(", ")}], fraction: ${markers.fraction}}`;
  return labels.length > 1 ? `[${labels.join(", ")}]` : labels[0];
}

/** Sections plane, marker_sets, substitutes, and uncertainty where the error of a known set is not that of its rule. */
function yamlOf(data, choice) {
  const { chain, side, given, elsewhere, kept, up, setName } = choice;
  const both = servesBoth(data, side, given);
  const label = (marker) => JSON.stringify(both ? data.templates[side][marker] : data.labels[marker]);
  const rules = [], substitutes = [], errors = [];
  const here = new Set(data.chains[chain].landmarks.map((landmark) => landmark.name));
  const others = new Set([...Object.keys(kept.rules), ...Object.keys(kept.substitutes)].filter((name) => !here.has(name)));
  const own = [...data.chains[chain].landmarks, ...[...others].map((name) => ({ name }))];
  const idle = new Set(Object.keys(kept.substitutes).filter((name) => (given.get(name) || []).length).map((name) => kept.substitutes[name])); // stood for one that has a marker now
  for (const landmark of own) {
    const markers = (here.has(landmark.name) ? given : elsewhere).get(landmark.name) || [];
    const stays = !markers.length && (!here.has(landmark.name) || landmark.name in kept.says); // as it was proposed
    if (stays && landmark.name in kept.errors && !idle.has(landmark.name)) errors.push(`      ${keyOf(landmark.name)}: ${kept.errors[landmark.name]}`);
    if (markers.length) rules.push(`    ${keyOf(landmark.name)}: ${markers.kept ? kept.rules[landmark.name] : ruleOf(markers, label)}`);
    else if (stays && landmark.name in kept.rules) rules.push(`    ${keyOf(landmark.name)}: ${kept.rules[landmark.name]}`);
    else if (stays && landmark.name in kept.substitutes) substitutes.push(`    ${keyOf(landmark.name)}: ${keyOf(kept.substitutes[landmark.name])}`);
    else if (landmark.stand_in) substitutes.push(`    ${keyOf(landmark.name)}: ${keyOf(landmark.stand_in)}`);
    else if (landmark.required) rules.push(`    ${keyOf(landmark.name)}: TODO`);
    if (markers.error !== undefined) errors.push(`      ${keyOf(landmark.name)}: ${markers.error}`);
  }
  const name = keyOf(setName);
  return [
    "plane:", up ? `  up_axis: "${up}"` : "  up_axis: null # TODO: choose it below the picture",
    "marker_sets:", `  ${name}:`, ...rules,
    ...(substitutes.length ? ["substitutes:", `  ${name}:`, ...substitutes] : []),
    ...(errors.length ? ["uncertainty:", "  sets:", `    ${name}:`, ...errors] : []),
    "",
  ].join("\n");
}

/** Head and row of the table of trials. */
function rowOf(data, choice) {
  const { chain, side, body, forward, setName } = choice;
  const row = data.bodies[body].row;
  const found = chain === "leg" && !row[`event_${side}`] ? row.found_event : ""; // by plates and markers
  const event = row[`event_${side}`] || found;
  const trial = row.trial.replace(/[^A-Za-z0-9_.-]/g, "_");
  const cells = {
    trial: `${trial}_${side}_${chain}`, session: row.session, subject: row.subject, file: row.file,
    chain, side, condition: row.condition, marker_set: setName,
    ...Object.fromEntries(["prefix", "forces_file", "static_file"].filter((name) => row[name]).map((name) => [name, row[name]])),
    "plane.forward_axis": forward || "TODO",
    ...(row.plane_kind && chain === data.chain ? { "plane.kind": row.plane_kind } : {}),
    ...(event ? { "ensembles.window": "events", "ensembles.start_event": event, "ensembles.end_event": event } : {}),
    ...(found ? { "ensembles.events": "plates_and_markers" } : {}),
  };
  return `${Object.keys(cells).join(",")}\n${Object.values(cells).map(cellOf).join(",")}\n`;
}

/** Command that analyses the recording with the saved settings. */
function commandOf(data, choice) {
  const { chain, side, body, forward, setName } = choice;
  const row = data.bodies[body].row;
  return [
    "limbtorque run", fileOf(row.file), ...(row.forces_file ? ["--forces", fileOf(row.forces_file)] : []), ...(row.static_file ? ["--static", fileOf(row.static_file)] : []), "--chain", wordOf(chain), "--side", side, "--mass-kg MASS",
    "--settings", wordOf(`${setName}.yaml`),
    ...(row.prefix ? ["--prefix", wordOf(row.prefix)] : []),
    ...(row.plane_kind && chain === data.chain ? ["--set", `plane.kind=${row.plane_kind}`] : []),
    ...(forward === "" || forward === "travel" || forward === "TODO" ? [] : ["--set", `plane.forward_axis=${forward}`]),
    ...Object.entries(data.options).flatMap(([name, text]) => ["--set", wordOf(`${name}=${text}`)]),
  ].join(" ");
}
