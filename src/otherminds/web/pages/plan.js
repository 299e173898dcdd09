import { make, spelt } from "./dom.js";

const WORLDS = ["overcooked", "doors-keys-gems"];
const KINDS = { not_needed: "Help not needed", useful: "Help useful", necessary: "Help necessary" };

// Lines of a paragraph belong together
const flowing = (text) => text.replace(/([^\n])\n(?!\n)/g, "$1 ");

// The form of a plan: `element`s to put into a form, and `read()` for what has been filled in
export function planForm({ levels, facilitators, plan }) {
  const fields = {};
  const of = (name, kind = {}, value = plan[name]) => {
    const { tag = "input", ...attributes } = kind;
    fields[name] = make(tag, { name, ...attributes });
    fields[name].value = String(value ?? "");
    return fields[name];
  };
  const field = (label, input, hint) => make("label", { class: "field" }, label, input, hint ? make("span", { class: "hint" }, hint) : null);
  const number = (label, name, limits, hint) => field(label, of(name, { type: "number", ...limits }), hint);
  const tick = (label, name, hint) => {
    fields[name] = make("input", { type: "checkbox", name });
    fields[name].checked = Boolean(plan[name]);
    return make("label", { class: "option" }, fields[name], make("span", {}, label, hint ? make("span", { class: "hint" }, hint) : null));
  };
  const choice = (label, name, options, hint) => {
    const shown = field(label, of(name, { tag: "select" }, ""), hint);
    fields[name].append(...options.map(([value, text]) => make("option", { value }, text)));
    fields[name].value = String(plan[name]);
    return shown;
  };
  const several = (name, options) => options.map(([value, text]) => {
    const box = make("input", { type: "checkbox", name, value });
    box.checked = plan[name].includes(value);
    return make("label", { class: "option" }, box, text);
  });
  const kinds = [...new Set(levels.map(({ kind }) => kind))];
  const worlds = [...new Set(levels.map(({ world }) => world))].sort((a, b) => WORLDS.indexOf(a) - WORLDS.indexOf(b));
  const column = (world, kind) => {
    const found = levels.filter((one) => one.world === world && one.kind === kind).map(({ name }) => [name, spelt(name)]);
    return found.length ? make("fieldset", {}, make("legend", {}, Object.hasOwn(KINDS, kind) ? KINDS[kind] : spelt(kind || "other")), ...several("levels", found)) : null;
  };
  const chosen = (world) => levels.some((one) => one.world === world && plan.levels.includes(one.name));
  const columns = worlds.map((world) => make(
    "details",
    { open: chosen(world) },
    make("summary", {}, { overcooked: "Kitchens", "doors-keys-gems": "Doors, keys and gems" }[world] || "Levels"),
    make("div", { class: "columns" }, ...kinds.map((kind) => column(world, kind))),
  ));
  const tally = make("p", { class: "hint", role: "status" });
  const element = make(
    "div",
    {},
    field("Title", of("title", { maxlength: "200", required: true, size: "40" }), "Participants see it above the consent."),
    ...columns,
    tally,
    make("fieldset", {}, make("legend", {}, "Facilitators, one per round, in balanced order"), ...several("facilitators", facilitators.map(({ name, title }) => [name, title]))),
    make(
      "fieldset",
      { class: "abreast" },
      number("Pairs", "pairs", { min: "1", max: "500" }),
      choice("The partner is", "partner", [["person", "another person"], ["simulated", "simulated"]]),
      choice("The clock", "waits", [["true", "waits until both have chosen"], ["false", "goes on by itself"]]),
      number("Seconds a step", "seconds", { min: "0", max: "600", step: "any" }, "If the clock waits: at most. 0 is for ever."),
      number("Minutes a round", "round_minutes", { min: "0", max: "600", step: "any" }, "At most. 0 is for ever."),
    ),
    asked(plan.questionnaires),
    field("Consent", of("consent", { tag: "textarea", rows: "9", maxlength: "20000" }, flowing(plan.consent)), "Paragraphs are separated by blank lines."),
    field("Instructions", of("instructions", { tag: "textarea", rows: "5", maxlength: "20000" }), "Shown before the tutorial, if there are any. Markdown: # headings, lists, **bold**, *italics*, [links](https://…)."),
    make(
      "details",
      {},
      make("summary", {}, "More"),
      make("fieldset", {}, tick("Tutorial", "tutorial", "The rules, and questions about them."), tick("Practice round", "practice"), tick("Questions about the facilitator after each round", "ratings"), tick("Participants can say together: we cannot do this", "give_up", "The round then ends."), tick("Keep the names given to links in exports", "keep_labels"), tick("The clock waits for the facilitator, too", "patient", "Otherwise it may decide too late on a slow machine; the page of the study says so.")),
      make(
        "fieldset",
        { class: "abreast" },
        number("Minutes announced", "minutes", { min: "0", max: "600" }, "0: estimated from the plan."),
        number("Minutes in the lobby", "lobby_minutes", { min: "0.1", max: "600", step: "any" }, "At most, for a partner to come."),
        number("Seconds to come back", "grace", { min: "1", max: "3600", step: "any" }, "For a participant whose connection was lost."),
        choice("Who does not come back", "dropout", [["simulated", "is replaced by a simulated person"], ["end", "ends the game"]]),
        field("Parameters of the invitation to keep", of("recruiting", { type: "text", maxlength: "250" }, plan.recruiting.join(", ")), "If names are kept. Nobody joins twice with the same first one: PROLIFIC_PID, STUDY_ID."),
        number("Seed", "seed", { min: "0", max: "2147483647" }, "Of the order of conditions and of everything random."),
      ),
      field("Where to go afterwards", of("hand_off", { type: "text", size: "50", maxlength: "1000", placeholder: "https://survey.example/?code={code}" }), "{code} becomes the completion code. Empty: nowhere."),
    ),
  );
  const ticked = (name) => [...element.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value);
  const tell = () => {
    const [n, turns] = [ticked("levels").length, ticked("facilitators")];
    const m = turns.filter((name) => name !== "none").length;
    const who = [...(m ? [`with ${m} ${m === 1 ? "facilitator" : "facilitators"}`] : []), ...(m < turns.length ? ["without one"] : [])].join(" and ");
    tally.textContent = `${n} ${n === 1 ? "level" : "levels"}: every pair plays ${n === 1 ? "one round" : `${n} rounds`}${who ? `, ${who}${turns.length > 1 ? " in turn" : ""}` : ""}.`;
  };
  element.addEventListener("change", tell);
  tell();
  const read = () => {
    const found = { ...plan, levels: ticked("levels"), facilitators: ticked("facilitators") };
    for (const [name, input] of Object.entries(fields)) {
      const old = plan[name];
      if (input.type === "checkbox") found[name] = input.checked;
      else if (name === "recruiting") found[name] = input.value.split(/[,\s]+/).filter(Boolean);
      else if (name === "waits") found[name] = input.value === "true";
      else found[name] = typeof old === "number" ? Number(input.value) : input.value;
    }
    if (!found.levels.length) throw new Error("Choose at least one level.");
    if (!found.facilitators.length) throw new Error("Choose at least one facilitator, if only nobody.");
    return found;
  };
  return { element, read };
}

// Questionnaires come from a study file: the form tells which there are, and keeps them
const WHEN = { before: "before the first round", after_round: "after each round", after: "at the end" };

function asked(questionnaires) {
  if (!questionnaires.length) return null;
  const told = questionnaires.map(({ title, when, questions }) => make("li", {}, `${title} (${WHEN[when]}): ${questions.length === 1 ? "one question" : `${questions.length} questions`}`));
  return make("fieldset", {}, make("legend", {}, "Questionnaires, from the study file"), make("ul", {}, ...told));
}
