import { make } from "./dom.js";
import { STAGES } from "./pages.js";
import { attempt, get } from "./server.js";

// Every page that participants can see, one at a time; nothing can be entered, and nothing is sent

const id = location.pathname.split("/")[2];
const [places, shown, problem] = ["pages", "shown", "problem"].map((name) => document.querySelector(`[data-${name}]`));
const NAMES = {
  consent: "Consent",
  closed: "Declined",
  instructions: "Instructions",
  tutorial: "Tutorial",
  lobby: "Waiting for a partner",
  ready: "Before a round",
  game: "Round",
  questions: "Questions about the facilitator",
  reveal: "How a round ended",
  thanks: "Farewell",
};

let now = null;

// What a page would say to the server stays here; it keeps nothing of what was entered before
const seat = () => ({ token: `preview ${Math.random()}`, looks: new Map(), send: () => 0 });

function name({ stage, data }) {
  const more = { tutorial: `page ${data.at + 1}`, thanks: data.text?.slice(0, 40), reveal: data.text?.slice(0, 40) }[stage];
  const which = stage === "form" ? `Questionnaire: ${data.title}` : NAMES[stage] || stage;
  const again = stage === "tutorial" && data.wrong.length ? "after a wrong answer" : stage === "tutorial" && data.at >= data.pages.length ? "questions" : more;
  return again ? `${which} (${again})` : which;
}

function show(all) {
  const at = Math.min(all.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
  const { stage, data } = all[at];
  now?.end?.();
  now = STAGES[stage](data, seat());
  document.body.classList.remove("playing"); // the frame of this page stays
  shown.replaceChildren(now.element);
  if (data.frame) now.hear(data.frame);
  shown.inert = true;
  shown.classList.toggle("playing", stage === "game");
  const select = make("select", { "aria-label": "Page" }, ...all.map((one, i) => make("option", { value: i + 1 }, `${i + 1}. ${name(one)}`)));
  select.value = String(at + 1);
  select.addEventListener("change", () => { location.hash = select.value; });
  const step = (label, to) => make("button", { type: "button", disabled: to < 1 || to > all.length, onclick: () => { location.hash = String(to); } }, label);
  places.replaceChildren(step("Back", at), select, step("Next", at + 2), make("a", { href: `/studies/${encodeURIComponent(id)}` }, "To the study"));
}

attempt(problem, async () => {
  const { title, pages } = await get(`/api/studies/${encodeURIComponent(id)}/preview`);
  document.title = `Every page: ${title || id} – otherminds`;
  addEventListener("hashchange", () => show(pages));
  show(pages);
});
