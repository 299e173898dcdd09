import { make, table } from "./dom.js";
import { planForm } from "./plan.js";
import { attempt, get, post, send } from "./server.js";

const problem = document.querySelector("[data-problem]");
const form = document.querySelector("[data-form]");
const LARGEST = 65536; // bytes of a study file

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

// The form for a new study, filled in with a plan
function fill(choices) {
  const { element, read } = planForm(choices);
  const button = make("button", { class: "primary" }, "Make the study");
  form.replaceChildren(element, make("div", { class: "row" }, button));
  form.onsubmit = (event) => {
    event.preventDefault();
    attempt(problem, async () => {
      const { id } = await post("/api/studies", read());
      location.assign(`/studies/${encodeURIComponent(id)}`);
    }, button);
  };
}

// The server reads study files, and says what is wrong with one
function loading(choices) {
  const [field, wrong, loaded] = ["file", "wrong", "loaded"].map((name) => document.querySelector(`[data-${name}]`));
  field.disabled = false;
  field.addEventListener("change", () => attempt(wrong, async () => {
    const [file] = field.files;
    if (!file) return;
    loaded.textContent = "";
    try {
      if (file.size > LARGEST) throw new Error(`${file.name}: is larger than ${LARGEST.toLocaleString("en")} bytes`);
      fill({ ...choices, plan: await send(`/api/studies/read?name=${encodeURIComponent(file.name)}`, file) });
      loaded.textContent = `${file.name} is filled in below. Look it over, then make the study.`;
    } finally {
      field.value = ""; // so that the same file can be chosen again once it is mended
    }
  }));
}

attempt(problem, async () => {
  await list();
  const choices = await get("/api/studies/new");
  fill(choices);
  loading(choices);
});
