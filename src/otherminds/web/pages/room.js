import { Board } from "./board.js";
import { goalIcon, make, table } from "./dom.js";
import { believed, said } from "./reveal.js";
import { get } from "./server.js";

// What an experimenter sees of a game: everything there is, what the facilitator believes, and why it speaks or not

const EVERY = 1000;
const signed = (x) => (x === null || x === undefined ? "–" : x.toFixed(1).replace("-", "−"));

export class RoomView {
  constructor(path, name, place) {
    this.path = path;
    this.name = name;
    this.title = make("h2", {}, "A moment …");
    this.picture = make("div", { class: "room-board" });
    this.minds = make("div");
    this.thought = make("div", { "aria-live": "polite" });
    this.spoken = make("p", { class: "away", role: "status" });
    this.messages = make("div");
    const account = make("div", {}, make("h3", {}, "What the facilitator believes each of them wants"), this.minds, this.spoken, this.thought);
    place.replaceChildren(this.title, make("div", { class: "room" }, this.picture, account), make("h3", {}, "What was said"), this.messages);
    this.follow();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  async follow() {
    try {
      const found = document.hidden ? null : await get(this.path);
      if (found && !this.stopped) this.show(found);
    } catch (error) {
      this.title.textContent = this.board ? "This round is over; the next one comes by itself." : error.message;
      this.stop();
    }
    if (!this.stopped) this.timer = setTimeout(() => this.follow(), EVERY);
  }

  show(found) {
    const told = JSON.stringify([found.frame, found.people, found.thought, found.messages]);
    if (told === this.told) return;
    this.told = told;
    const { frame, people, facilitator, thought, messages } = found;
    if (!this.board) {
      this.board = new Board(found, "Everything in this game");
      this.picture.append(this.board.element);
    }
    const open = messages.findLast((one) => one.status === "Open");
    this.board.show(frame);
    this.board.aim(open?.at || null);
    this.title.textContent = `Live: step ${frame.t}, facilitator ${facilitator}`;
    this.minds.replaceChildren(...people.map(mind));
    this.spoken.textContent = people.map(likeliest).join(" ");
    this.thought.replaceChildren(...this.think(thought));
    this.messages.replaceChildren(said({ messages, facilitator }));
  }

  think(thought) {
    if (!thought) return [];
    const reason = thought.why ? `Silent: ${thought.why}.` : "Silent.";
    const told = thought.said ? [make("blockquote", {}, thought.said), thought.why && make("p", {}, thought.why)] : [make("p", { class: "quiet" }, reason)];
    const prices = [...(thought.prices || [])].sort((a, b) => (b.saves ?? 0) - (a.saves ?? 0));
    const rows = prices.map(({ message, saves, changes }) => [message, ["number", signed(saves)], ["number", changes === undefined || changes === null ? "–" : changes.toFixed(2)]]);
    return [
      make("h3", {}, `After step ${thought.t}`),
      ...told,
      rows.length ? make("div", { class: "prices", tabindex: "0" }, table(["Message", ["number", "Saves steps"], ["number", "Changes beliefs"]], rows)) : null,
    ].filter(Boolean);
  }
}

function mind({ name, goal, belief, surprise }) {
  const wants = goal ? [make("span", { class: "quiet" }, `wants the ${goal.name}`), goalIcon(goal)] : [];
  const held = belief.length ? believed(belief, goal) : make("p", { class: "quiet small" }, "Nothing is inferred.");
  return make("div", { class: "mind" }, make("h4", { class: "with" }, name, ...wants), held, surprise && make("p", { class: "small" }, `The last step was ${surprise}.`));
}

// The most likely goal of somebody, for screen readers
function likeliest({ name, belief }) {
  const most = belief.reduce((best, one) => (one.p > (best?.p ?? 0) ? one : best), null);
  return most ? `${name} most likely wants: ${most.goal.name}, ${most.p.toFixed(2)}.` : "";
}
