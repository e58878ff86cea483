"use strict";
// What the choices mean in a study: sections of the settings, a row of the table of trials, a command.

const keyOf = (name) => (/^[a-z][a-z0-9_]*$/.test(name) && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].includes(name) ? name : JSON.stringify(name));
const cellOf = (text) => (/[",\n\r#]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
const wordOf = (text) => (/^[\w./+=:][\w./+=:-]*$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

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
  const { chain, side, given, up, setName } = choice;
  const both = servesBoth(data, side, given);
  const label = (marker) => JSON.stringify(both ? data.templates[side][marker] : data.labels[marker]);
  const rules = [], substitutes = [], errors = [];
  for (const landmark of data.chains[chain].landmarks) {
    const markers = given.get(landmark.name) || [];
    if (markers.length) rules.push(`    ${keyOf(landmark.name)}: ${ruleOf(markers, label)}`);
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
    ...(row.prefix ? { prefix: row.prefix } : {}),
    "plane.forward_axis": forward,
    ...(event ? { "ensembles.window": "events", "ensembles.start_event": event, "ensembles.end_event": event } : {}),
    ...(found ? { "ensembles.events": "plates_and_markers" } : {}),
    ...(chain === "leg" && row.belt_speed ? { "plates.belt_speed_m_s": row.belt_speed } : {}),
  };
  return `${Object.keys(cells).join(",")}\n${Object.values(cells).map(cellOf).join(",")}\n`;
}

/** Command that analyses the recording with the saved settings. */
function commandOf(data, choice) {
  const { chain, side, body, forward, setName } = choice;
  const row = data.bodies[body].row;
  return [
    "limbtorque run", wordOf(row.file.startsWith("-") ? `./${row.file}` : row.file), "--chain", wordOf(chain), "--side", side, "--mass-kg MASS",
    "--settings", wordOf(`${setName}.yaml`),
    ...(row.prefix ? ["--prefix", wordOf(row.prefix)] : []),
    ...(forward === "travel" || forward === "TODO" ? [] : ["--set", `plane.forward_axis=${forward}`]),
  ].join(" ");
}
