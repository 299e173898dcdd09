import { Advices } from "./advice.js";
import { Board } from "./board.js";
import { Clock } from "./clock.js";
import { goalIcon, look, make, spelt, within } from "./dom.js";
import { Memory } from "./memory.js";

const ARROWS = { up: "↑", down: "↓", left: "←", right: "→", stay: "·" };
const MOVES = ["up", "left", "stay", "right", "down"].map((action) => ({ action, label: action === "stay" ? "Wait" : spelt(action), key: "" }));
const STEER = { w: "ArrowUp", a: "ArrowLeft", s: "ArrowDown", d: "ArrowRight", Spacebar: " " };
const SOON = 300; // ms: who presses again as quickly as this means the step after
const PLACES = { overcooked: "Kitchen", "doors-keys-gems": "Map" };

// A button that a pointer does not focus: the focus stays where the keys work
function shy(button) {
  for (const kind of ["pointerdown", "mousedown"]) button.addEventListener(kind, (event) => event.preventDefault());
  return button;
}

// A game: the board, what one wants, what one can do, and what one is told
export class Game {
  constructor(data, seat) {
    this.data = data;
    this.seat = seat;
    const place = PLACES[data.world] || "Board";
    this.round = data.practice ? "Practice" : data.trials > 1 ? `Round ${data.trial} of ${data.trials}` : "";
    this.name = data.level ? `${place}: ${spelt(data.level).toLowerCase()}` : place; // only who plays alone is told the level
    this.title = this.round || (data.level ? spelt(data.level) : place);
    const which = data.practice ? "practice" : data.trial;
    this.memory = new Memory(`seen:${seat.token}:${which}`, data.cell);
    this.board = new Board(data, `The ${(PLACES[data.world] || "board").toLowerCase()}, seen by ${data.you}`, seat.looks);
    this.clock = new Clock(data);
    this.advices = new Advices(seat, which, (at) => this.board.aim(at));
    this.actions = [];
    this.chosen = null;
    this.since = 0;
    this.next = null;
    this.element = this.layout();
    this.offer(data.actions);
    this.press = (event) => this.key(event);
    document.addEventListener("keydown", this.press);
    document.body.classList.add("playing");
  }

  end() {
    document.removeEventListener("keydown", this.press);
    document.body.classList.remove("playing");
    this.clock.stop();
    this.advices.end();
    clearInterval(this.timer);
  }

  // What the server tells

  hear(message) {
    if (message.type === "frame") this.frame(message);
    if (message.type === "chosen") this.clock.tell(message.who);
    if (message.type === "advice") this.advices.hear(message);
    if (message.type === "pause") this.pause(message);
    if (message.type === "go") this.go(message);
    if (message.type === "refused") this.refused();
  }

  frame(frame) {
    const fresh = frame.t !== this.t;
    this.t = frame.t;
    this.board.learn(frame);
    this.board.show(frame, this.memory.see(frame, this.board.looks));
    this.words.textContent = frame.text || "";
    this.steps.textContent = `Step ${frame.t} of ${this.data.steps}`;
    if (frame.left !== undefined) this.limit(frame.left);
    if (frame.actions) this.offer(frame.actions);
    const chosen = frame.chosen || [];
    const mine = chosen.includes(this.data.you);
    if (fresh || !mine) this.chosen = null; // or connected again, and what was chosen did not get through
    this.clock.frame(fresh, mine, chosen);
    this.mark();
    const next = this.next;
    this.next = null;
    if (fresh && next) this.act(next);
  }

  // The time that is left for the round, in minutes until it is short
  limit(seconds) {
    clearInterval(this.timer);
    const until = performance.now() + 1000 * seconds;
    const tell = () => {
      const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      this.time.textContent = left > 90 ? ` · ${Math.ceil(left / 60)} min left` : ` · ${left} s left`;
    };
    tell();
    this.timer = setInterval(tell, 1000);
    this.time.hidden = false;
  }

  pause({ who, seconds }) {
    this.paused = true;
    clearInterval(this.timer);
    this.clock.pause(who, seconds);
    this.element.classList.add("paused");
  }

  go({ left }) {
    this.paused = false;
    if (left !== undefined) this.limit(left);
    this.clock.go();
    this.element.classList.remove("paused");
  }

  refused() {
    this.chosen = null;
    this.clock.chose(false);
    this.mark();
  }

  // What one does

  act(action) {
    if (this.t === undefined || this.paused || !this.actions.some((one) => one.action === action)) return;
    if (this.chosen === action) return;
    if (this.chosen && performance.now() - this.since < SOON) {
      this.next = action;
      return;
    }
    if (!this.seat.send({ do: "act", action, t: this.t })) return;
    this.chosen = action;
    this.since = performance.now();
    this.clock.chose(true);
    this.mark();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const on = event.target instanceof Element ? event.target : document.body;
    if (on.closest("input, select, textarea, [contenteditable]")) return;
    const pressing = event.key === " " || event.key === "Enter";
    if (pressing && on.closest("button, a, summary")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!event.repeat && this.advices.key(key)) {
      event.preventDefault();
      return;
    }
    const found = this.actions.find((one) => one.key === key) || this.actions.find((one) => one.key === STEER[key]);
    if (!found) return;
    event.preventDefault();
    this.act(found.action);
  }

  // The buttons for what one can do now. Those to move stay where they are, and keep the focus.
  offer(actions) {
    const told = JSON.stringify(actions);
    if (told === this.offered) return;
    this.offered = told;
    this.actions = actions;
    if (!this.moves) {
      this.moves = new Map(MOVES.map((one) => [one.action, this.button(one)]));
      this.cross.replaceChildren(...this.moves.values());
    }
    for (const [action, button] of this.moves) button.setAttribute("aria-disabled", String(!actions.some((one) => one.action === action)));
    const uses = actions.filter((one) => !this.moves.has(one.action)).map((one) => [one.action, this.button(one)]);
    this.uses.replaceChildren(...uses.map(([, button]) => button));
    this.buttons = new Map([...this.moves, ...uses]);
  }

  button({ action, label, key }) {
    const moves = action in ARROWS;
    const sign = moves && action !== "stay" ? make("span", { class: "sign", "aria-hidden": "true" }, ARROWS[action]) : null;
    const hint = moves ? null : make("kbd", {}, key === " " ? "space" : key);
    const button = make("button", { type: "button", class: `act ${moves ? action : "use"}`, "aria-label": label }, sign, sign ? null : label, hint);
    button.addEventListener("click", () => this.act(action));
    return shy(button);
  }

  mark() {
    this.board.choose(this.chosen);
    for (const [action, button] of this.buttons) button.setAttribute("aria-pressed", String(action === this.chosen));
  }

  // How it is laid out

  layout() {
    const { data } = this;
    this.steps = make("span", {}, `Step 0 of ${data.steps}`);
    this.time = make("span", { class: "time", role: "timer", hidden: true });
    this.words = make("p", { class: "words away", "aria-live": "off" });
    this.cross = make("div", { class: "cross", role: "group", "aria-label": "Move" });
    this.uses = make("div", { class: "uses", role: "group", "aria-label": "Other actions" });
    const pad = make("div", { class: "game-pad" }, this.cross, this.uses, make("p", { class: "keys" }, "Arrow keys or W A S D move, space waits."));
    const advice = make("div", { class: "game-advice", role: "status", "aria-label": "Advice" }, this.advices.element);
    const board = make("div", { class: "game-board" }, this.board.element, this.clock.overlay);
    const turn = make("div", { class: "game-turn" }, this.clock.element);
    return make(
      "section",
      { class: "game", "data-world": data.world, "aria-label": [this.name, this.round].filter(Boolean).join(", ") },
      make("div", { class: "game-table" }, this.bar(), this.goal(), board, turn, advice, pad),
      make("div", { class: "game-below" }, this.legend(), data.hopeless ? this.giving() : "", this.words),
    );
  }

  bar() {
    const { data } = this;
    const read = make("button", { type: "button", class: "bare", "aria-pressed": "false" }, "Describe");
    read.title = "Say in words what can be seen, after every step";
    read.addEventListener("click", () => this.describe(read));
    shy(read);
    const named = data.facilitator && within(data.facilitator) === data.facilitator;
    const helper = named ? ["Facilitator: ", make("b", {}, data.facilitator)] : [data.facilitator ? "A facilitator looks on" : "No facilitator"];
    return make(
      "header",
      { class: "game-bar" },
      make("h1", {}, this.name),
      this.round ? make("span", { class: "quiet" }, this.round) : "",
      make("span", { class: "helper" }, ...helper),
      make("span", { class: "steps" }, this.steps, this.time),
      read,
      this.leaving(),
    );
  }

  describe(button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    this.words.setAttribute("aria-live", on ? "polite" : "off");
    this.words.classList.toggle("away", !on);
  }

  // For those who cannot reach their goals; the round ends once everybody has said so
  giving() {
    const button = make("button", { type: "button", class: "bare quiet", disabled: this.data.gave_up, onclick: () => ask.showModal() }, "We cannot do this");
    const on = make("button", { type: "button", class: "primary", onclick: () => ask.close() }, "Play on");
    const end = make("button", { type: "button", onclick: () => { ask.close(); button.disabled = true; button.dataset.said = ""; this.seat.send({ do: "give up" }); } }, "We cannot do this");
    const text = make("p", {}, "The round ends once everybody has said so; until then, play on. The study goes on with what comes next.");
    const ask = make("dialog", { "aria-label": "Give this round up?" }, make("h2", {}, "Give this round up?"), text, make("div", { class: "row" }, on, end));
    return make("div", { class: "giving" }, shy(button), ask);
  }

  leaving() {
    const stay = make("button", { type: "button", class: "primary", onclick: () => ask.close() }, "Play on");
    const leave = make("button", { type: "button", onclick: () => { ask.close(); this.seat.send({ do: "leave" }); } }, "Leave the game");
    const text = make("p", {}, this.data.solo ? "The game ends." : "That ends your part in the study, and you cannot come back to it. Your partner can play on.");
    const ask = make("dialog", { "aria-label": "Leave the game?" }, make("h2", {}, "Leave the game?"), text, make("div", { class: "row" }, stay, leave));
    const button = make("button", { type: "button", class: "bare", onclick: () => ask.showModal() }, "Leave");
    return make("span", {}, shy(button), ask);
  }

  goal() {
    const { goal, you, others } = this.data;
    const needs = goal?.needs ? make("span", { class: "needs" }, ...goal.needs.split(", ").map((part) => make("span", {}, part))) : null;
    const wants = goal
      ? make("div", { class: "with" }, goalIcon(goal), make("div", {}, make("b", {}, goal.name), needs))
      : make("p", { class: "quiet" }, "None.");
    const who = make("p", { class: "quiet small" }, `${others.join(" and ")} ${others.length === 1 ? "has a goal" : "have goals"} of their own, and you do not know which.`);
    return make("div", { class: "game-goal" }, make("h2", {}, `You are ${you}. Your goal:`), wants, who);
  }

  legend() {
    const { legend, cell, world } = this.data;
    const entries = legend.map(({ svg, text }) => make("li", {}, look(svg, cell), text));
    const fog = ["never", "mist"].map((kind) => make("i", { class: `swatch ${kind}`, "aria-hidden": "true" }));
    if (world === "overcooked") {
      entries.push(make("li", {}, fog[0], "dark: not seen yet"), make("li", {}, fog[1], "dim: as last seen"));
    }
    const rules = (this.data.rules || []).map(({ title, text }) => [make("dt", {}, title), make("dd", {}, text)]);
    const told = rules.length ? make("details", { class: "rules" }, make("summary", {}, "How to play"), make("dl", {}, ...rules.flat())) : "";
    return make("aside", { class: "game-legend", "aria-label": "Legend" }, told, make("ul", {}, ...entries));
  }
}
