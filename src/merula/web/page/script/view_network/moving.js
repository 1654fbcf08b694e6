// The next box in a direction, for those who go through the graph by the keyboard.

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The nearest box in the direction of an arrow key, what lies aside counting double; the same one where there is none.
export function neighbourBox(places, from, key) {
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  const [x, y] = middleOf(places[from]);
  let best = from;
  let least = Infinity;
  places.forEach((place, index) => {
    const [dx, dy] = [middleOf(place)[0] - x, middleOf(place)[1] - y];
    const ahead = dx * direction[0] + dy * direction[1];
    const aside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
    if (index === from || ahead <= 1 || aside > 4 * ahead + 200) return;
    if (ahead + 2 * aside < least) [best, least] = [index, ahead + 2 * aside];
  });
  return best;
}

function middleOf([x, y, width, height]) {
  return [x + width / 2, y + height / 2];
}
