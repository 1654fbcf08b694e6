// Moving and zooming the graph: kept outside the drawing, so that a moved graph is not drawn anew.

const SMALLEST = 0.04;
const LARGEST = 2.5;
const FAR = 0.5; // below this scale boxes show their names in large letters alone
const READABLE = 0.62; // a graph begins no smaller
const MOVED = 5; // pixels that make a press a drag

// What a graph's picture is moved by; svg and inner are its elements, size its layout.
export class Zooming {
  constructor(svg, inner, size) {
    Object.assign(this, { svg, inner, size, x: 0, y: 0, scale: 1, pressed: new Map(), dragged: false });
  }

  apply() {
    this.inner.setAttribute(
      "transform",
      `translate(${this.x.toFixed(1)} ${this.y.toFixed(1)}) scale(${this.scale.toFixed(4)})`,
    );
    this.svg.classList.toggle("far", this.scale < FAR);
  }

  // On paper the whole graph is drawn as wide as the sheet; afterwards it stands where it stood.
  forPaper(printing) {
    if (!printing) {
      this.svg.removeAttribute("viewBox");
      return this.apply();
    }
    this.svg.setAttribute("viewBox", `-8 -8 ${this.size.width + 16} ${this.size.height + 16}`);
    this.svg.classList.remove("far");
    return this.inner.removeAttribute("transform");
  }

  room() {
    return this.svg.getBoundingClientRect();
  }

  // The whole graph in sight; at first no smaller than can be read, its uppermost boxes in the middle.
  fit(atFirst = false) {
    const { width, height } = this.room();
    if (!width || !height) return;
    const whole = Math.min((width - 24) / this.size.width, (height - 24) / this.size.height, 1);
    this.scale = Math.max(SMALLEST, atFirst ? Math.max(whole, Math.min(READABLE, 1)) : whole);
    const middle = this.scale > whole ? this.middleOfTop(height / this.scale) : this.size.width / 2;
    this.x = width / 2 - this.scale * middle;
    this.y = Math.max(12, (height - this.scale * this.size.height) / 2);
    this.apply();
  }

  // Where the boxes of the upper part of the graph are, in the mean.
  middleOfTop(height) {
    const upper = this.size.places.filter((place) => place[1] < height);
    return upper.reduce((sum, place) => sum + place[0] + place[2] / 2, 0) / upper.length;
  }

  // Zoom about a point of the window, or about the middle.
  zoom(factor, clientX, clientY) {
    const { left, top, width, height } = this.room();
    const [x, y] = clientX === undefined ? [width / 2, height / 2] : [clientX - left, clientY - top];
    const scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.apply();
  }

  // Bring a box into sight: into the middle where it is asked for, else only if it is outside.
  bring([x, y, width, height], middle) {
    const room = this.room();
    if (middle && this.scale < READABLE) this.scale = READABLE;
    const left = this.x + this.scale * x;
    const top = this.y + this.scale * y;
    const inside =
      left >= 0 && top >= 0 && left + this.scale * width <= room.width && top + this.scale * height <= room.height;
    if (middle || !inside) {
      this.x = room.width / 2 - this.scale * (x + width / 2);
      this.y = room.height / 2 - this.scale * (y + height / 2);
    }
    this.apply();
  }

  press(event) {
    if (event.button > 0) return;
    if (this.pressed.size === 0) this.dragged = false;
    this.pressed.set(event.pointerId, {
      x: event.clientX,
      y: event.clientY,
      startX: event.clientX,
      startY: event.clientY,
    });
  }

  // One finger moves, two zoom; what has not moved far stays a click.
  drag(event) {
    const pointer = this.pressed.get(event.pointerId);
    if (!pointer) return;
    const before = spread([...this.pressed.values()]);
    if (!this.dragged && Math.hypot(event.clientX - pointer.startX, event.clientY - pointer.startY) < MOVED) return;
    if (!this.dragged) this.svg.setPointerCapture?.(event.pointerId);
    this.dragged = true;
    this.x += (event.clientX - pointer.x) / this.pressed.size;
    this.y += (event.clientY - pointer.y) / this.pressed.size;
    Object.assign(pointer, { x: event.clientX, y: event.clientY });
    const after = spread([...this.pressed.values()]);
    if (before && after) this.zoom(after.width / before.width, after.x, after.y);
    this.apply();
  }

  release(event) {
    this.pressed.delete(event.pointerId);
  }
}

// How far two pointers are apart, and where their middle is; null for fewer.
function spread([first, second]) {
  if (!second) return null;
  return {
    width: Math.max(1, Math.hypot(first.x - second.x, first.y - second.y)),
    x: (first.x + second.x) / 2,
    y: (first.y + second.y) / 2,
  };
}
