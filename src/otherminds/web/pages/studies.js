import { make, table } from "./dom.js";
import { planForm } from "./plan.js";
import { attempt, get, post } from "./server.js";

const problem = document.querySelector("[data-problem]");
const form = document.querySelector("[data-form]");

async function list() {
  const studies = await get("/api/studies");
  const rows = studies.map(({ id, title, made, state, pairs, finished, running }) => [
    make("a", { href: `/studies/${encodeURIComponent(id)}` }, title || id),
    new Date(made).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }),
    state,
    ["number", `${finished} of ${pairs}`],
    ["number", String(running)],
  ]);
  const shown = rows.length
    ? table(["Study", "Made", "State", ["number", "Pairs finished"], ["number", "Playing now"]], rows, { stacks: true })
    : make("p", { class: "quiet" }, "There are none yet. Make one below.");
  document.querySelector("[data-list]").replaceChildren(shown);
}

async function fresh() {
  const { element, read } = planForm(await get("/api/studies/new"));
  const button = make("button", { class: "primary" }, "Make the study");
  form.replaceChildren(element, make("div", { class: "row" }, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(problem, async () => {
      const { id } = await post("/api/studies", read());
      location.assign(`/studies/${encodeURIComponent(id)}`);
    }, button);
  });
}

attempt(problem, async () => { await list(); await fresh(); });
