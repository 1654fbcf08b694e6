// Numbers as the page's data hold them: lists or base64, infinities by name.

const INFINITE = { inf: Infinity, "-inf": -Infinity };

export function number(x) {
  return typeof x === "string" ? INFINITE[x] : x;
}

// A flat Float64Array of a list of numbers or of {"f8": base64}.
export function numbers(x) {
  if (x === null || x === undefined) return new Float64Array(0);
  return Array.isArray(x) ? Float64Array.from(x, number) : new Float64Array(bytesOf(x.f8));
}

// A flat Int32Array of a list of whole numbers or of {"i4": base64}.
export function integers(x) {
  if (x === null || x === undefined) return new Int32Array(0);
  return Array.isArray(x) ? Int32Array.from(x) : new Int32Array(bytesOf(x.i4));
}

export function shapeOf(x) {
  return Array.isArray(x) ? [x.length] : x.shape;
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes.buffer; // typed arrays are little-endian on every machine that a browser runs on
}
