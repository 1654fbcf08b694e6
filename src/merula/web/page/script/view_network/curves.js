// The density of a number as a small curve: a mixture of normal distributions, or a line where it is known.

const STEPS = 48;
const REACH = 3.5; // deviations to either side

export function curvePath(mixture, x, y, width, height) {
  const { mean, deviation, parts } = mixture;
  if (!(deviation > 0)) return `M${x + width / 2} ${y}v${height}`;
  const heights = Array.from({ length: STEPS + 1 }, (_, i) =>
    densityAt(parts, mean + (2 * (i / STEPS) - 1) * REACH * deviation),
  );
  const top = Math.max(...heights);
  const points = heights.map(
    (h, i) => `${(x + (width * i) / STEPS).toFixed(1)} ${(y + height * (1 - h / top)).toFixed(1)}`,
  );
  return `M${x} ${y + height}L${points.join("L")}L${x + width} ${y + height}z`;
}

function densityAt(parts, value) {
  let sum = 0;
  for (const { weight, mean, deviation } of parts) {
    sum += (weight / deviation) * Math.exp(-0.5 * ((value - mean) / deviation) ** 2);
  }
  return sum;
}
