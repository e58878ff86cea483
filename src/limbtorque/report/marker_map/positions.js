"use strict";
// Positions of the markers, unpacked.

const MISSING = -32768;

/** Bytes of a text in base64. */
function bytesOf(text) {
  const characters = atob(text.trim());
  const bytes = new Uint8Array(characters.length);
  for (let k = 0; k < characters.length; k += 1) bytes[k] = characters.charCodeAt(k);
  return bytes;
}

/** Whole numbers by marker, axis and frame: added up from the differences, which come as low bytes, then high bytes. */
async function unpack(text, markers, frames) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = 3 * markers * frames;
  const whole = new Int16Array(size);
  for (let start = 0; start < size; start += frames) {
    for (let k = start, last = 0; k < start + frames; k += 1) {
      last = ((last + (bytes[k] | (bytes[size + k] << 8))) << 16) >> 16;
      whole[k] = last;
    }
  }
  return whole;
}

/** Positions in metres: `at(marker, frame, into)` fills a point and returns false where the marker was not seen. */
function positionsOf(whole, data) {
  const frames = data.n_frames, unit = data.quantum_m, [x, y, z] = data.origin_m;
  function at(marker, frame, into) {
    const k = 3 * marker * frames + frame;
    if (whole[k] === MISSING) return false;
    into[0] = x + unit * whole[k];
    into[1] = y + unit * whole[k + frames];
    into[2] = z + unit * whole[k + 2 * frames];
    return true;
  }
  const point = [0, 0, 0];
  /** Mean of some markers, or the point at a fraction of the way between two, where all of them were seen. */
  function meanAt(markers, frame, into) {
    into[0] = into[1] = into[2] = 0;
    for (let k = 0; k < markers.length; k += 1) {
      if (!at(markers[k], frame, point)) return false;
      const share = markers.fraction === undefined ? 1 / markers.length : k ? markers.fraction : 1 - markers.fraction;
      for (let axis = 0; axis < 3; axis += 1) into[axis] += share * point[axis];
    }
    return markers.length > 0;
  }
  function missingShare(marker) {
    let gone = 0;
    for (let k = 3 * marker * frames; k < (3 * marker + 1) * frames; k += 1) gone += whole[k] === MISSING;
    return gone / frames;
  }
  return { at, meanAt, missingShare };
}
