import { count, goalIcon, make, paragraphs, table, within } from "./dom.js";
import { saying } from "./stages.js";

const MARKS = { Completed: "✓", Ignored: "–", "Not executable": "×", Open: "…" };

// How it ended: who wanted what, what was said to whom, and what became of it
export function reveal(data, seat) {
  const on = data.solo
    ? make("a", { class: "button primary", href: "/play" }, "Play again")
    : saying(seat, data.last ? "Finish" : "Go on", () => ({ do: "next" }));
  const element = make(
    "section",
    { class: "calm wide" },
    make("p", { class: "quiet sans" }, data.practice ? "End of the practice" : data.solo ? "End of the game" : data.trials ? `End of round ${data.trial} of ${data.trials}` : "End of the round"),
    make("h1", {}, data.done ? `Done in ${count(data.steps, "step")}` : "Not everything was done"),
    ...paragraphs(data.text),
    compared(data),
    make("h2", {}, "Who wanted what"),
    make("ul", { class: "people" }, ...data.people.map(person)),
    make("h2", {}, data.facilitator ? `What ${within(data.facilitator)} said` : "What was said"),
    said(data),
    ...beliefs(data),
    ...unsaid(data),
    make("div", { class: "row" }, on, data.solo && make("a", { class: "button", href: `/p/${seat.token}/replay` }, "Watch it again, step by step")),
  );
  return { title: "How it ended", element };
}

function compared({ done, steps, of, alone, hopeless, people }) {
  if (hopeless) return make("p", {}, `Two simulated people without a facilitator do not manage this in ${count(of, "step")}.`);
  if (!alone) return null;
  const saved = alone - steps;
  const most = Math.max(alone, steps);
  const who = people.some(({ simulated }) => simulated) ? "This game" : "You two";
  const line = (name, n, own) => {
    const fill = make("i");
    fill.style.transform = `scaleX(${n / most})`;
    return [make("dt", {}, name), make("dd", { class: own ? "own" : null }, make("span", { class: "bar" }, fill), `${n} steps`)];
  };
  const told = !done
    ? `Two simulated people without a facilitator manage it in ${alone} of ${of} steps.`
    : saved > 0
      ? `${count(saved, "step")} fewer than two simulated people without a facilitator.`
      : saved < 0
        ? `${count(-saved, "step")} more than two simulated people without a facilitator.`
        : "Exactly as many as two simulated people without a facilitator.";
  return make("div", { class: "compared" }, make("dl", {}, ...line(who, steps, true), ...line("Simulated, no facilitator", alone, false)), make("p", {}, told));
}

function person({ name, goal, reached, you, simulated }) {
  const role = you ? "you" : simulated ? "simulated" : "your partner";
  const wanted = goal
    ? make("span", { class: "with" }, goalIcon(goal), make("span", {}, goal.name, goal.needs ? make("span", { class: "quiet small block" }, goal.needs) : null))
    : make("span", { class: "quiet" }, "no goal");
  const end = make("p", { class: reached ? "reached" : "missed" }, make("b", { "aria-hidden": "true" }, reached ? "✓ " : "× "), reached ? "reached" : "not reached");
  return make("li", {}, make("h3", {}, name, make("span", { class: "quiet" }, ` (${role})`)), wanted, end);
}

// P(goal) as bars, what the person wants in bold; no goal of the list is nobody's wish, and grey
export function believed(belief, goal) {
  const bars = belief.map((one) => {
    const fill = make("i");
    fill.style.transform = `scaleX(${one.p})`;
    const wanted = goal && one.goal.name === goal.name;
    return make(
      "li",
      { class: wanted ? "true" : one.goal.icon === "none" ? "none" : null },
      goalIcon(one.goal),
      make("span", {}, one.goal.name, wanted ? make("span", { class: "away" }, " (true)") : null),
      make("span", { class: "bar" }, fill),
      make("b", {}, one.p.toFixed(2)),
    );
  });
  return make("ul", { class: "belief" }, ...bars);
}

// Halfway, as in the end everybody has shown what they wanted
function beliefs({ people, halfway, facilitator }) {
  if (!people.some(({ belief }) => belief.length)) return [];
  const held = people.map(({ name, you, goal, belief, sure, surprises }) => {
    const certain = sure === null ? "It was not sure of the right goal in the end." : `It was sure of the right goal from step ${sure} on.`;
    const surprised = surprises.length ? make("p", { class: "small" }, `${surprises.join(", ").replace(/^./, (first) => first.toUpperCase())}.`) : null;
    return make("li", {}, make("h3", {}, name, you && make("span", { class: "quiet" }, " (you)")), believed(belief, goal), make("p", {}, certain), surprised);
  });
  return [make("h2", {}, `What ${within(facilitator)} believed halfway, after step ${halfway}`), make("ul", { class: "people" }, ...held)];
}

// The best of what the facilitator kept to itself
function unsaid({ unsaid: kept, facilitator }) {
  if (!kept.length) return [];
  const rows = kept.map(({ t, message, saves, why }) => [["number", String(t)], make("b", {}, message), ["number", steps(saves)], why]);
  const heads = [["number", "Step"], "Message", ["number", "Could save"], "Why it kept silent"];
  return [make("h2", {}, `What ${within(facilitator)} did not say`), table(heads, rows, { stacks: true })];
}

const steps = (saves) => `${saves.toFixed(1).replace("-", "−")} steps`;

export function said({ messages, facilitator }) {
  if (!messages.length) {
    return make("p", { class: "quiet" }, facilitator ? "Nothing, to nobody." : "There was no facilitator, so nothing was said.");
  }
  const heads = [["number", "Step"], "To", "Message", "Status", ["number", "Could save"]];
  const rows = messages.map(({ t, to, text, why, status, saves }) => [
    ["number", String(t)],
    to,
    make("span", {}, make("b", {}, text), why && why !== text ? make("span", { class: "quiet block" }, why) : null),
    make("span", { class: "status" }, make("span", { class: "mark", "aria-hidden": "true" }, MARKS[status] || ""), ` ${status}`),
    ["number", saves === null || saves === undefined ? "–" : steps(saves)],
  ]);
  return table(heads, rows, { stacks: true });
}
