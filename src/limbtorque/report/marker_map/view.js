"use strict";
// The picture: markers of one frame in three dimensions, without perspective, so that lengths can be compared.

const AXES = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const along = (a, b, s, t) => [s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2]];

function axisOf(name) {
  return AXES[name[1]].map((value) => (name[0] === "-" ? -value : value));
}

function middleOf(list) {
  const sorted = Float64Array.from(list).sort();
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

function prepareView(canvas, data, positions) {
  const pen = canvas.getContext("2d");
  const camera = { yaw: 0.6, pitch: 0.25, zoom: 1, shift: [0, 0] };
  const places = data.labels.map(() => ({ x: 0, y: 0, depth: 0, seen: false }));
  const point = [0, 0, 0];
  let up = [0, 0, 1], first = [1, 0, 0], second = [0, 1, 0], floor = 0;
  let markers = [], extent = 1, still = [0, 0, 0];
  let size = { width: 1, height: 1, ratio: 1 };
  let colours = {};
  let basis = { right: first, top: up, depth: second, centre: still, scale: 1 };

  /** The axis that points up, and whose markers are shown: the size of the picture follows from a hundred frames. */
  function show(upAxis, chosen) {
    up = axisOf(upAxis);
    first = AXES[{ x: "y", y: "z", z: "x" }[upAxis[1]]];
    second = cross(up, first);
    markers = chosen;
    const all = [[], [], []], reach = [], heights = [];
    for (let frame = 0; frame < data.n_frames; frame += Math.max(1, Math.floor(data.n_frames / 100))) {
      const centre = centreAt(frame);
      for (const marker of markers) {
        if (!positions.at(marker, frame, point)) continue;
        point.forEach((value, axis) => all[axis].push(value));
        reach.push(Math.hypot(point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]));
        heights.push(dot(point, up));
      }
    }
    still = all.map(middleOf);
    reach.sort((a, b) => a - b);
    heights.sort((a, b) => a - b);
    extent = 2.2 * (reach[Math.floor(0.98 * (reach.length - 1))] || 0.5);
    const lowest = heights[Math.floor(0.01 * (heights.length - 1))] || 0;
    floor = lowest > -0.1 && lowest < 0.3 ? 0 : lowest;
  }

  function centreAt(frame) {
    const all = [[], [], []];
    for (const marker of markers) if (positions.at(marker, frame, point)) point.forEach((value, axis) => all[axis].push(value));
    return all[0].length ? all.map(middleOf) : still;
  }

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    size = { width: canvas.clientWidth, height: canvas.clientHeight, ratio };
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    colours = Object.fromEntries(["ink", "quiet", "rule", "paper", "link", "rejected"].map((name) => [name, css(`--${name}`)]));
  }

  function aim(centre) {
    const right = along(first, second, Math.cos(camera.yaw), Math.sin(camera.yaw));
    const away = along(first, second, -Math.sin(camera.yaw), Math.cos(camera.yaw));
    basis = {
      right,
      top: along(up, away, Math.cos(camera.pitch), Math.sin(camera.pitch)),
      depth: along(away, up, Math.cos(camera.pitch), -Math.sin(camera.pitch)),
      centre,
      scale: (camera.zoom * Math.min(size.width, size.height)) / extent,
    };
  }

  function project(from, place) {
    const way = [from[0] - basis.centre[0], from[1] - basis.centre[1], from[2] - basis.centre[2]];
    place.x = size.width / 2 + camera.shift[0] + basis.scale * dot(way, basis.right);
    place.y = size.height / 2 + camera.shift[1] - basis.scale * dot(way, basis.top);
    place.depth = dot(way, basis.depth);
    return place;
  }

  function line(from, to) {
    const a = project(from, {}), b = project(to, {});
    pen.moveTo(a.x, a.y);
    pen.lineTo(b.x, b.y);
  }

  function drawFloor() {
    const [a, b] = [first, second].map((axis) => Math.round(2 * dot(basis.centre, axis)) / 2);
    const base = along(first, second, a, b);
    const corner = (s, t) => along(along(base, first, 1, s), along(second, up, t, floor), 1, 1);
    pen.beginPath();
    for (let k = -4; k <= 4; k += 1) {
      line(corner(k / 2, -2), corner(k / 2, 2));
      line(corner(-2, k / 2), corner(2, k / 2));
    }
    pen.strokeStyle = colours.rule;
    pen.lineWidth = 1;
    pen.stroke();
    pen.beginPath();
    for (const plate of data.plates_m) plate.forEach((at, k) => line(at, plate[(k + 1) % 4]));
    pen.strokeStyle = colours.quiet;
    pen.stroke();
  }

  /** Directions of the laboratory's axes, in the lower left corner. */
  function drawAxes() {
    const [x, y] = [38, size.height - 38];
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.strokeStyle = pen.fillStyle = colours.ink;
    pen.lineWidth = 1.5;
    for (const [name, axis] of Object.entries(AXES)) {
      const to = [x + 22 * dot(axis, basis.right), y - 22 * dot(axis, basis.top)];
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(...to);
      pen.stroke();
      pen.fillText(name, x + 1.4 * (to[0] - x), y + 1.4 * (to[1] - y));
    }
  }

  function write(text, x, y, weight) {
    pen.font = `${weight} 13px system-ui, sans-serif`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.lineWidth = 3;
    pen.strokeStyle = colours.paper;
    pen.fillStyle = colours.ink;
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }

  function drawMarkers(scene) {
    pen.fillStyle = colours.quiet;
    pen.beginPath();
    for (const marker of markers) {
      const place = places[marker];
      if (!place.seen) continue;
      const radius = Math.max(2, Math.min(6, 3.6 - (2.4 * place.depth) / extent));
      pen.moveTo(place.x + radius, place.y);
      pen.arc(place.x, place.y, radius, 0, 2 * Math.PI);
    }
    pen.fill();
    if (scene.names) for (const marker of markers) if (places[marker].seen) write(data.labels[marker], places[marker].x + 7, places[marker].y, 400);
  }

  /** The limb as far as it is mapped: lines between joints, squares on landmarks, names of the joints and of the landmark chosen. */
  function drawLimb(scene) {
    const joints = scene.limb.map((markersOf) => (positions.meanAt(markersOf, scene.frame, point) ? project(point, {}) : null));
    pen.strokeStyle = colours.link;
    pen.lineWidth = 5;
    pen.lineCap = "round";
    pen.beginPath();
    joints.slice(1).forEach((joint, k) => {
      if (!joint || !joints[k]) return;
      pen.moveTo(joints[k].x, joints[k].y);
      pen.lineTo(joint.x, joint.y);
    });
    pen.stroke();
    for (const [name, markersOf] of scene.given) {
      for (const marker of markersOf) if (places[marker].seen) {
        pen.strokeStyle = colours.ink;
        pen.lineWidth = 2;
        pen.strokeRect(places[marker].x - 6, places[marker].y - 6, 12, 12);
      }
      if (!positions.meanAt(markersOf, scene.frame, point)) continue;
      const place = project(point, {});
      pen.fillStyle = colours.link;
      pen.fillRect(place.x - 4, place.y - 4, 8, 8);
      if (name === scene.current || scene.joints.includes(name)) write(words(name), place.x + 10, place.y - 10, name === scene.current ? 700 : 400);
    }
  }

  function drawPointed(marker) {
    const place = places[marker];
    if (!place || !place.seen) return;
    pen.strokeStyle = colours.rejected;
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.arc(place.x, place.y, 10, 0, 2 * Math.PI);
    pen.stroke();
    write(data.labels[marker], place.x + 13, place.y + 12, 700);
  }

  function draw(scene) {
    aim(scene.follow ? centreAt(scene.frame) : still);
    for (const marker of markers) {
      const place = places[marker];
      place.seen = positions.at(marker, scene.frame, point);
      if (place.seen) project(point, place);
    }
    pen.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    drawFloor();
    drawMarkers(scene);
    drawLimb(scene);
    drawPointed(scene.pointed);
    drawAxes();
  }

  /** The marker at a place of the picture, the nearest to the eye of those within 12 pixels; -1 without one. */
  function pick(x, y) {
    let best = -1, least = Infinity;
    for (const marker of markers) {
      const place = places[marker];
      const apart = Math.hypot(place.x - x, place.y - y);
      if (place.seen && apart <= 12 && apart + place.depth / extent < least) [best, least] = [marker, apart + place.depth / extent];
    }
    return best;
  }

  function turn(way, step = 0.15) {
    if (way === "left") camera.yaw += step;
    if (way === "right") camera.yaw -= step;
    if (way === "up") camera.pitch = Math.min(Math.PI / 2, camera.pitch + step);
    if (way === "down") camera.pitch = Math.max(-Math.PI / 2, camera.pitch - step);
    if (way === "nearer") camera.zoom = Math.min(30, camera.zoom * (1 + step));
    if (way === "farther") camera.zoom = Math.max(0.2, camera.zoom / (1 + step));
    if (way === "reset") Object.assign(camera, { yaw: 0.6, pitch: 0.25, zoom: 1, shift: [0, 0] });
  }

  function move(dx, dy) {
    camera.shift = [camera.shift[0] + dx, camera.shift[1] + dy];
  }

  return { show, resize, draw, pick, turn, move, place: (marker) => ({ ...places[marker] }) };
}
