import { make, spelt } from "./dom.js";
import { attempt, get, post } from "./server.js";

const KINDS = {
  not_needed: ["Each on their own", "Both of you get there without any help."],
  useful: ["Better together", "You get there alone, but sooner if one does something for the other."],
  necessary: ["Only together", "One of you cannot get there without the other."],
};
const PLACES = {
  overcooked: "Cook a dish in a kitchen of rooms. You see only the room that you are in.",
  "doors-keys-gems": "Find your gem. Doors are locked, keys lie about, and you see everything.",
};
const PACES = [[0, "It waits for me"], [2, "A step every 2 s"], [1, "A step every second"]];
const FIRST = { kind: "useful", facilitator: "protom" };

const problem = document.querySelector("[data-problem]");
const form = document.querySelector("[data-form]");

// A group of choices that look like buttons
function group(title, name, choices, chosen, changed = () => {}) {
  const options = choices.map(([value, text, about], i) => {
    const radio = make("input", { type: "radio", name, value: String(value) });
    radio.checked = chosen === undefined ? i === 0 : value === chosen;
    radio.addEventListener("change", () => changed(value));
    return make("label", {}, radio, make("span", {}, make("b", {}, text), about ? make("span", { class: "hint" }, about) : null));
  });
  return make("fieldset", {}, make("legend", {}, title), make("div", { class: choices.some(([, , about]) => about) ? "chips column" : "chips" }, ...options));
}

// The class of a level, whether it is told in words or by its name
const kindOf = ({ kind }) => kind.replace(/^help /, "").replaceAll(" ", "_");

function choices({ worlds, facilitators }) {
  const at = { rules: make("div"), place: make("div"), levels: make("div"), seat: make("div") };
  let world = worlds[0];
  let level = null;
  const chooseLevel = (name) => {
    level = world.levels.find((one) => one.name === name);
    at.seat.replaceChildren(group("Who are you?", "seat", level.people.map((person) => [person, person])));
  };
  const chooseKind = (kind) => {
    const found = world.levels.filter((one) => kindOf(one) === kind);
    const select = make("select", { name: "level" }, ...found.map((one) => make("option", { value: one.name }, spelt(one.title || one.name))));
    select.addEventListener("change", () => chooseLevel(select.value));
    at.levels.replaceChildren(make("label", { class: "field" }, make("b", {}, `Which of the ${found.length}?`), select));
    chooseLevel(found[0].name);
  };
  const chooseWorld = (name) => {
    world = worlds.find((one) => one.world === name);
    const kinds = [...new Set(world.levels.map(kindOf))].sort((a, b) => Object.keys(KINDS).indexOf(a) - Object.keys(KINDS).indexOf(b));
    const first = kinds.includes(FIRST.kind) ? FIRST.kind : kinds[0];
    const told = kinds.map((kind) => [kind, ...(KINDS[kind] || [spelt(kind || "other"), ""])]);
    const pages = world.rules.map(({ title, text }) => [make("dt", {}, title), make("dd", {}, text)]);
    const shown = make("details", { class: "rules", open: true }, make("summary", {}, "How to play"), make("dl", {}, ...pages.flat()));
    at.rules.replaceChildren(shown);
    at.place.replaceChildren(group("How much do you need each other?", "kind", told, first, chooseKind));
    chooseKind(first);
  };
  const helpers = facilitators.map(({ name, title, about }) => [name, title, about]);
  const helper = facilitators.some(({ name }) => name === FIRST.facilitator) ? FIRST.facilitator : undefined;
  const button = make("button", { class: "primary" }, "Play");
  form.replaceChildren(
    make(
      "div",
      {},
      group("Where?", "world", worlds.map((one) => [one.world, one.title, PLACES[one.world]]), world.world, chooseWorld),
      at.rules,
      at.place,
      make("div", { class: "side" }, at.levels, at.seat),
    ),
    make("div", {}, group("Who helps?", "facilitator", helpers, helper), group("How fast?", "seconds", PACES, 0), button),
  );
  chooseWorld(world.world);
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(problem, () => play(level.name), button);
  });
}

async function play(level) {
  const { seat, facilitator, seconds } = Object.fromEntries(new FormData(form));
  const { link } = await post("/api/play", { level, seat, facilitator, seconds: Number(seconds) });
  location.assign(link);
}

attempt(problem, async () => choices(await get("/api/play")));
