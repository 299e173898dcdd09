// What somebody has seen and does not see any more, kept for this tab, so that loading the page again loses nothing

const UNSEEN = "?";

export class Memory {
  constructor(key, cell) {
    this.key = key;
    this.cell = cell;
    this.forget();
    const kept = sessionStorage.getItem(key);
    if (kept) Object.assign(this, JSON.parse(kept));
  }

  forget() {
    this.t = -1;
    this.rows = [];
    this.things = {};
  }

  // Take in a frame, `looks` being the markup of all looks known; what it shows now and what is only remembered
  see(frame, looks) {
    if (frame.t < this.t) this.forget();
    this.t = frame.t;
    this.rows = frame.rows.map((row, y) => this.join(row, this.rows[y]));
    const here = new Set(frame.parts.map(([name]) => name));
    for (const [name, { x, y }] of Object.entries(this.things)) {
      if (here.has(name) || this.sees(frame, x, y)) delete this.things[name];
    }
    const remembered = Object.values(this.things);
    for (const [name, look, x, y] of frame.parts) {
      if (!/^(agent|held)-/.test(name)) this.things[name] = { markup: looks.get(String(look)) || "", x, y, t: frame.t };
    }
    this.keep();
    return { rows: this.rows, things: remembered };
  }

  join(row, old = "") {
    return [...row].map((square, x) => (square === UNSEEN ? old[x] || UNSEEN : square)).join("");
  }

  sees(frame, x, y) {
    return (frame.rows[Math.floor(y / this.cell)]?.[Math.floor(x / this.cell)] ?? UNSEEN) !== UNSEEN;
  }

  keep() {
    const { t, rows, things } = this;
    try {
      sessionStorage.setItem(this.key, JSON.stringify({ t, rows, things }));
    } catch {
      sessionStorage.removeItem(this.key); // full: what is seen now matters more than a reload
    }
  }
}
