import { make } from "./dom.js";

const MARKS = { Completed: "✓", Ignored: "–", "Not executable": "×", open: "…" };
const LINGERS = 6000;

// What a facilitator says: a box until it is answered, then a small card until it has come to its end
export class Advices {
  constructor(seat, game, aim) {
    this.seat = seat;
    this.aim = aim;
    this.store = `answered:${seat.token}:${game}`;
    this.element = make("div", { class: "advices" });
    this.all = new Map();
    this.shown = new Map();
    this.gone = new Set();
  }

  end() {
    clearTimeout(this.timer);
  }

  hear(advice) {
    const old = this.all.get(advice.id);
    if (!old && advice.status !== "open") return; // over before this page was opened
    this.all.set(advice.id, advice);
    if (advice.reply) this.answers = { ...this.answers, [`${advice.id}:${advice.t}`]: advice.reply };
    if (!this.shown.has(advice.id)) this.shown.set(advice.id, performance.now());
    if (old && advice.status !== "open") setTimeout(() => this.drop(advice.id), LINGERS);
    this.show();
  }

  drop(id) {
    this.gone.add(id);
    this.show();
  }

  // G and I answer the advice in the box
  key(key) {
    if (!this.asking || (key !== "g" && key !== "i")) return false;
    this.answer(this.asking, key === "g" ? "got it" : "ignore");
    return true;
  }

  answer({ id, t }, reply) {
    const ms = Math.round(performance.now() - this.shown.get(id));
    this.seat.send({ do: "heard", advice: id, reply, ms });
    this.answers = { ...this.answers, [`${id}:${t}`]: reply };
    this.show();
  }

  get answers() {
    return JSON.parse(sessionStorage.getItem(this.store) || "{}");
  }

  set answers(all) {
    sessionStorage.setItem(this.store, JSON.stringify(all));
  }

  show() {
    const { answers } = this;
    const reply = ({ id, t }) => answers[`${id}:${t}`];
    const alive = [...this.all.values()].filter(({ id }) => !this.gone.has(id));
    this.asking = alive.findLast((one) => one.status === "open" && !reply(one)) || null;
    const cards = alive.filter((one) => one !== this.asking && reply(one) !== "ignore");
    const focused = this.element.contains(document.activeElement);
    this.element.replaceChildren(...(this.asking ? [this.box(this.asking)] : []), ...cards.reverse().slice(0, 2).map((one) => this.card(one)));
    if (focused && !this.element.contains(document.activeElement)) document.activeElement?.blur();
    const open = this.asking || cards.find((one) => one.status === "open");
    this.aim(open ? open.at : null);
  }

  box(advice) {
    const button = (text, reply, key) => {
      const shown = make("button", { type: "button", "aria-keyshortcuts": key }, text, make("kbd", { "aria-hidden": "true" }, key));
      shown.addEventListener("mousedown", (event) => event.preventDefault());
      shown.addEventListener("click", () => this.answer(advice, reply));
      return shown;
    };
    return make(
      "div",
      { class: "advice" },
      make("p", { class: "from" }, `${advice.from} says`),
      make("p", { class: "text" }, capital(advice.text)),
      advice.why ? make("p", { class: "why" }, advice.why) : null,
      make("div", { class: "answers" }, button("Got it", "got it", "G"), button("Ignore", "ignore", "I")),
    );
  }

  card({ from, text, status }) {
    const mark = make("span", { class: "mark", "aria-hidden": "true" }, MARKS[status] || "…");
    const ended = status === "open" ? "" : ` ${status}.`;
    return make("p", { class: "advice-card" }, mark, make("span", {}, `${from}: ${capital(text)}.`, make("b", {}, ended)));
  }
}

const capital = (text) => text.replace(/^./, (first) => first.toUpperCase());
