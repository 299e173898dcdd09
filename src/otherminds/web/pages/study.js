import { copyButton, count, make, spelt, table } from "./dom.js";
import { RoomView } from "./room.js";
import { attempt, get, post, remove } from "./server.js";

// The dashboard of a study, asked for again every two seconds

const id = location.pathname.split("/")[2];
const api = `/api/studies/${id}`;
const at = (name) => document.querySelector(`[data-${name}]`);
const problem = at("problem");
const EVERY = 2000;
const LEAST = 0.95; // share of decisions that should come in time
const STAGES = { game: "playing", reveal: "reading how it ended", questions: "answering questions", form: "answering a questionnaire", instructions: "reading the instructions", closed: "declined", new: "not here yet" };

let watched = null;
let room = null;
const told = new Map();

// Change a part of the page only if there is something new, so that what has the focus or is selected stays
function renew(name, data, content) {
  const now = JSON.stringify(data);
  if (told.get(name) === now) return;
  told.set(name, now);
  at(name).replaceChildren(...content().flat().filter(Boolean));
}

function show(study) {
  document.title = `${study.title || study.id} – otherminds`;
  renew("head", [study.title, study.state, study.finished, study.invitation], () => head(study));
  accompany(study);
  renew("pairs", [study.pairs, study.trials, watched], () => pairs(study));
  renew("links", links(study).told, () => links(study).content);
  renew("events", study.events, () => events(study.events));
  renew("plan", study.plan, () => plan(study));
}

// Above: what it is, the invitation, and what can be done

function head({ title, state, finished, plan: { pairs: planned }, invitation }) {
  const open = state === "open";
  const doing = (label, work, look = "") => {
    const button = make("button", { type: "button", class: look }, label);
    button.addEventListener("click", () => attempt(problem, async () => { await work(); await poll(); }, button));
    return button;
  };
  const exports = ["zip", "csv", "jsonl", "parquet"].map((kind) => make("a", { class: "button", href: `${api}/export.${kind}`, download: true, title: kind === "zip" ? "All tables, with codebooks" : "Decisions only" }, kind.toUpperCase()));
  const tried = async () => {
    const tab = window.open("", "_blank");
    const { link } = await post(`${api}/try`);
    if (tab) tab.location.assign(link);
    else location.assign(link);
  };
  return [
    make("h1", {}, title || id),
    make("p", { class: "sans" }, make("b", {}, open ? "Open" : "Closed"), ` · ${finished} of ${count(planned, "pair")} finished`),
    invitation && open && make("label", { class: "field" }, "Open invitation: everybody who follows it can join as a new participant", address(invitation, "Open invitation")),
    make(
      "div",
      { class: "row" },
      doing("Try it yourself", tried, "primary"),
      make("a", { class: "button", href: `/studies/${encodeURIComponent(id)}/preview` }, "See every page"),
      open ? doing("Close the study", () => post(`${api}/close`)) : doing("Open it again", () => post(`${api}/open`)),
      make("span", { class: "quiet" }, "Export:"),
      ...exports,
    ),
  ];
}

function address(link, label) {
  const whole = new URL(link, location.origin).href;
  const field = make("input", { readonly: true, "aria-label": label });
  field.value = whole;
  field.addEventListener("focus", () => field.select());
  return make("span", { class: "address" }, field, copyButton(whole));
}

// Pairs, their rounds, and a way to look into a room

function pairs(study) {
  if (!study.pairs.length) return [make("p", { class: "quiet" }, "No pair has met yet.")];
  const rows = study.pairs.map((pair) => {
    const now = watched === pair.pair;
    const look = { type: "button", class: "bare", "aria-pressed": String(now), onclick: () => watch(now ? null : pair.pair, study) };
    const button = (pair.room || now) && make("button", look, now ? "Stop watching" : "Watch");
    const [inTime, of] = pair.decided;
    const share = of ? make("span", { class: inTime < LEAST * of ? "late" : "" }, `${Math.round((100 * inTime) / of)} %`) : "–";
    return [String(pair.pair), pair.people.filter(Boolean).join(" and ") || "simulated", progress(pair, study.trials), pair.state, ["number", pair.room ? String(pair.t) : "–"], ["number", share], button || ""];
  });
  return [...delivered(study.pairs), table(["Pair", "People", "Round", "State", ["number", "Step"], ["number", "Decided in time"], ["", "Live"]], rows, { stacks: true })];
}

// Whether the facilitator acts in the rooms as planned, or this machine is too slow for it
function delivered(all) {
  const [inTime, of] = [0, 1].map((i) => all.reduce((sum, pair) => sum + pair.decided[i], 0));
  if (!of || inTime >= LEAST * of) return [];
  return [make("p", { class: "problem", role: "alert" }, `The facilitator decides too late: in time in ${Math.round((100 * inTime) / of)} % of the steps of all rounds. Fewer rooms at a time, a slower clock, or one that waits for the facilitator would help.`)];
}

// Before anybody comes: how many rooms this machine can serve
async function pace() {
  const found = await get(`${api}/pace`);
  if (!found) return;
  const { ms, seconds, rooms, pairs: planned } = found;
  const enough = rooms >= planned;
  const text = `ProToM needs ${ms} ms for a decision here, so at a step every ${seconds} s this machine serves ${rooms} rooms at a time${enough ? "." : `; ${planned} pairs are planned. If they all come at once, it will decide too late.`}`;
  at("pace").replaceChildren(make("p", { class: enough ? "quiet" : "problem" }, text));
}

function progress({ pair, trial, trials }, all) {
  const own = all.filter((one) => one.pair === pair);
  const now = own.find((one) => one.trial === trial);
  const fill = make("i");
  fill.style.transform = `scaleX(${trials ? Math.min(1, trial / trials) : 0})`;
  const text = now ? `: ${spelt(now.level)}, ${now.facilitator}${now.codename ? ` as ${now.codename}` : ""}` : "";
  const order = own.map((one) => `${one.trial} ${one.level}: ${one.facilitator}`).join("; ");
  return make("span", { title: order }, make("span", {}, `${trial} of ${trials}${text}`), make("span", { class: "bar" }, fill));
}

function watch(pair, study) {
  watched = pair;
  told.delete("pairs");
  show(study);
  if (pair) at("room").scrollIntoView({ block: "start" });
}

// The view goes along with the pair, from round to round
function accompany(study) {
  const name = study.pairs.find(({ pair }) => pair === watched)?.room || null;
  if (watched && (!name || room?.name === name)) return;
  room?.stop();
  room = name ? new RoomView(`${api}/rooms/${encodeURIComponent(name)}`, name, at("room")) : null;
  at("room").hidden = !room;
}

// Participants and their links

function links({ links: all }) {
  const since = (seconds) => (seconds < 60 ? "just now" : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`);
  const told = all.map((one) => ({ ...one, since: since(one.since) }));
  const here = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  const only = here ? [make("p", { class: "quiet" }, "These links are of this computer only. Others need a server that they can reach: serve with --host and --allowed-origin.")] : [];
  const content = () => [...only, copyButton(all.map((one) => new URL(one.link, location.origin).href).join("\n"), "Copy all links"), table(
    ["Who", "Here", "Stage", "For", "Pair", "Link", ["", ""]],
    told.map((one) => [
      one.id + (one.label ? ` (${one.label})` : "") + (one.kind === "try" ? " (trying)" : ""),
      make("span", {}, make("span", { class: one.here ? "dot here" : "dot", "aria-hidden": "true" }), one.here ? "here" : "away"),
      STAGES[one.stage] || one.stage,
      one.since,
      one.pair ? String(one.pair) : "–",
      address(one.link, `Link of ${one.id}`),
      make("span", { class: "chips" }, renewed(one.id), forget(one.id)),
    ]),
    { stacks: true },
  )];
  return { told, get content() { return content(); } };
}

const participant = (who) => `${api}/participants/${encodeURIComponent(who)}`;
const forget = (who) => twice("Forget", `Really forget ${who}?`, "Delete the answers, the comments and the label of this participant", () => remove(participant(who)));
const renewed = (who) => twice("New link", `End the old link of ${who}?`, "For somebody who has lost their link: the old one is no longer valid", async () => {
  await post(`${participant(who)}/link`);
  await poll();
});

// A button that does something once it is clicked twice
function twice(label, question, title, work) {
  const button = make("button", { type: "button", class: "bare plain", title }, label);
  let sure = false;
  button.addEventListener("click", () => {
    if (sure) {
      attempt(problem, work, button);
      return;
    }
    sure = true;
    button.textContent = question;
    setTimeout(() => { sure = false; button.textContent = label; }, 4000);
  });
  return button;
}

function events(all) {
  if (!all.length) return [make("p", { class: "quiet" }, "Nothing yet.")];
  const time = (when) => new Date(when).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return [make("ul", { class: "events" }, ...all.map(({ at: when, text }) => make("li", {}, make("time", { datetime: when }, time(when)), text)))];
}

function plan({ plan: found }) {
  const long = ["consent", "instructions"];
  const told = (value) => (Array.isArray(value) ? value.map((one) => one.name || one).join(", ") : String(value)) || "–";
  const rows = Object.entries(found).filter(([name]) => !long.includes(name)).map(([name, value]) => [spelt(name), told(value)]);
  return [make("details", {}, make("summary", {}, "Everything that was set"), table(["What", "Value"], rows), ...long.map((name) => make("p", { class: "consent" }, found[name])))];
}

async function poll() {
  try {
    show(await get(api));
    if (problem.dataset.lost) problem.hidden = true;
    delete problem.dataset.lost;
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    problem.dataset.lost = "yes";
  }
}

async function follow() {
  if (!document.hidden) await poll();
  setTimeout(follow, EVERY);
}

follow();
attempt(problem, pace);
