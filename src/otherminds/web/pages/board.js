import { drawing, drawn } from "./dom.js";

// The board: squares in one of three states (seen, seen before, never seen), things remembered, and what is there now

const UNSEEN = "?";
const MARGIN = 17;
const TURNS = { right: 0, down: 90, left: 180, up: 270 };

export class Board {
  // looks: what the connection has told so far of what things look like, which it tells once, not once a game
  constructor({ size: [columns, rows], cell, squares }, label, looks = new Map()) {
    this.cell = cell;
    this.squares = squares;
    this.looks = looks;
    this.parts = new Map();
    this.drawn = new Map();
    const [width, height] = [columns * cell, rows * cell];
    this.layers = Object.fromEntries(["ground", "past", "target", "now"].map((name) => [name, drawn("g", { class: name })]));
    this.element = drawn(
      "svg",
      { viewBox: `${-MARGIN} ${-MARGIN} ${width + MARGIN + 2} ${height + MARGIN + 2}`, class: "board", role: "img", "aria-label": label },
      numbers(columns, rows, cell),
      drawn("rect", { x: 0, y: 0, width, height, class: "never" }),
      ...Object.values(this.layers),
    );
    this.element.style.aspectRatio = `${width + MARGIN + 2} / ${height + MARGIN + 2}`;
  }

  // Everything as it is now; `past`: the rows and things that are remembered
  show(frame, past = { rows: frame.rows, things: [] }) {
    this.learn(frame);
    past.rows.forEach((row, y) => [...row].forEach((square, x) => {
      const seen = (frame.rows[y]?.[x] ?? UNSEEN) !== UNSEEN;
      this.square(x, y, square, seen);
    }));
    this.layers.past.replaceChildren(...past.things.map((thing) => this.ghost(thing, frame.t)));
    this.place(frame.parts, frame.mine);
    this.choose(null);
  }

  learn(frame) {
    for (const [number, markup] of Object.entries(frame.looks || {})) this.looks.set(number, markup);
  }

  square(x, y, square, seen) {
    const key = `${x},${y}`;
    const told = square + seen;
    const old = this.drawn.get(key);
    if (old?.told === told) return;
    old?.group.remove();
    if (square === UNSEEN || !(square in this.squares)) {
      this.drawn.delete(key);
      return;
    }
    const half = this.cell / 2;
    const group = drawn("g", { transform: `translate(${x * this.cell + half} ${y * this.cell + half})` }, drawing(this.squares[square]));
    if (!seen) group.append(drawn("rect", { x: -half, y: -half, width: this.cell, height: this.cell, class: "mist" }));
    this.drawn.set(key, { told, group });
    this.layers.ground.append(group);
  }

  ghost({ markup, x, y, t }, now) {
    const shown = drawing(markup);
    const title = shown.querySelector("title");
    if (title) title.textContent = `${title.textContent}, last seen ${now - t} steps ago`;
    const ring = drawn("circle", { r: this.cell * 0.44, class: "ring" });
    return drawn("g", { transform: `translate(${x} ${y})`, class: "ghost" }, shown, ring);
  }

  // Parts keep their elements, and move
  place(parts, mine) {
    const there = new Set(parts.map(([name]) => name));
    for (const [name, part] of this.parts) {
      if (!there.has(name)) {
        part.group.remove();
        this.parts.delete(name);
      }
    }
    let next = null;
    for (const [name, number, x, y] of [...parts].reverse()) {
      const part = this.part(name, name === mine);
      const markup = this.looks.get(String(number)) || "";
      if (part.markup !== markup) {
        part.markup = markup;
        part.picture.replaceChildren(drawing(markup));
      }
      part.group.style.transform = `translate(${x}px, ${y}px)`;
      if (part.group.parentNode !== this.layers.now || part.group.nextSibling !== next) this.layers.now.insertBefore(part.group, next);
      next = part.group;
    }
    this.mine = mine;
  }

  part(name, own) {
    const known = this.parts.get(name);
    if (known) return known;
    const picture = drawn("g");
    const group = drawn("g", { class: /^(agent|held)-/.test(name) ? "person" : null }, own && drawn("circle", { r: this.cell * 0.46, class: "own" }), picture);
    const part = { group, picture, markup: null };
    this.parts.set(name, part);
    return part;
  }

  // The square that advice is about, or none
  aim(at) {
    this.layers.target.replaceChildren();
    if (!at) return;
    const [x, y] = at.map((n) => n * this.cell);
    const box = { x: x + 2, y: y + 2, width: this.cell - 4, height: this.cell - 4, rx: 7 };
    this.layers.target.append(drawn("rect", { ...box, class: "halo" }), drawn("rect", { ...box, class: "aim" }));
  }

  // What one has chosen to do next, on one's own token until it happens
  choose(action) {
    this.chosen?.remove();
    const own = this.parts.get(this.mine);
    if (!own || !action) return;
    const far = this.cell * 0.5;
    this.chosen = action in TURNS
      ? drawn("polygon", { points: `${far - 4},-9 ${far + 12},0 ${far - 4},9`, transform: `rotate(${TURNS[action]})`, class: "chosen" })
      : drawn("g", { class: "chosen", transform: `translate(0 ${-far})` }, ...[-8, 0, 8].map((cx) => drawn("circle", { cx, r: 3.2 })));
    own.group.append(this.chosen);
  }
}

function numbers(columns, rows, cell) {
  const text = (x, y, n) => drawn("text", { x, y: y + 4 }, String(n));
  const across = Array.from({ length: columns }, (_, x) => text((x + 0.5) * cell, -MARGIN / 2, x));
  const down = Array.from({ length: rows }, (_, y) => text(-MARGIN / 2, (y + 0.5) * cell, y));
  return drawn("g", { class: "numbers", "aria-hidden": "true" }, ...across, ...down);
}
