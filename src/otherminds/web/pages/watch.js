// What to watch is chosen in a form, played by the server, and shown in a frame

import { make } from "/pages/dom.js";
import { get, post } from "/pages/server.js";

const EVERY = 300;
const COPIED = 1500;

const at = Object.fromEntries([...document.querySelectorAll("[data-at]")].map((part) => [part.dataset.at, part]));
const fields = at.form.elements;
let worlds = [];
let latest = 0; // which request the page is about: answers to earlier ones come too late

function say(status, problem = "") {
  at.status.textContent = status;
  at.problem.textContent = problem;
  at.problem.hidden = !problem;
}

// The form

const option = ({ id, title }) => make("option", { value: id }, title);
const chosen = () => worlds.find(({ id }) => id === fields.world.value) ?? worlds[0];

function drawWorld() {
  const world = chosen();
  const groups = world.groups.map(({ title, levels }) => make("optgroup", { label: title }, ...levels.map(option)));
  fields.level.replaceChildren(...groups);
  fields.who.replaceChildren(...world.who.map(option));
  at.role.textContent = world.field === "agent" ? "Agent" : "Facilitator";
  at.about.textContent = world.about;
}

// Set the form to what is wanted
function fill(wanted) {
  fields.world.value = wanted.world;
  drawWorld();
  fields.level.value = wanted.level;
  fields.who.value = wanted[chosen().field];
  fields.seed.value = String(wanted.seed);
}

function wanted() {
  const { id, field } = chosen();
  return { world: id, level: fields.level.value, [field]: fields.who.value, seed: Number(fields.seed.value) };
}

// The episode

async function begin() {
  const mine = ++latest;
  at.result.hidden = true;
  say("Asking …");
  try {
    const { id } = await post("/api/watch", wanted());
    if (mine !== latest) return;
    const path = `/watch/${encodeURIComponent(id)}`;
    if (window.location.pathname !== path) {
      const first = !window.location.pathname.startsWith("/watch/");
      window.history[first ? "replaceState" : "pushState"](null, "", path);
    }
    await follow(id, mine);
  } catch (problem) {
    if (mine === latest) say("", problem.message);
  }
}

// Wait until it is there; `mine` is the request that this is about
async function follow(id, mine, filled = true) {
  const began = performance.now();
  for (;;) {
    const told = await get(`/api/watch/${encodeURIComponent(id)}`);
    if (mine !== latest) return;
    if (!filled) fill(told.wanted);
    filled = true;
    if (told.state === "failed") throw new Error(told.message || "The episode could not be played.");
    if (told.state === "ready") break;
    const seconds = Math.floor((performance.now() - began) / 1000);
    say(seconds ? `Playing the episode, ${seconds} s so far …` : "Playing the episode …");
    await new Promise((done) => { setTimeout(done, EVERY); });
    if (mine !== latest) return;
  }
  show(id);
}

function show(id) {
  const episode = `/episodes/${encodeURIComponent(id)}`;
  at.alone.href = `${episode}#play=1`;
  at.download.href = `${episode}?download=1`;
  at.download.download = `episode-${id}.html`;
  at.result.hidden = false;
  at.frame.style.height = "";
  // not another entry in the history of the browser
  at.frame.contentWindow.location.replace(`${episode}#play=1`);
  say("The episode is below.");
}

// As high as what is in it, so that there is one thing to scroll; never lower, so that nothing jumps during play
function fit() {
  const page = at.frame.contentDocument?.documentElement;
  if (!page?.querySelector("main")) return;
  const high = Math.max(at.frame.offsetHeight, page.offsetHeight + 2);
  if (high > at.frame.offsetHeight) at.frame.style.height = `${high}px`;
}

at.frame.addEventListener("load", () => {
  fit();
  const page = at.frame.contentDocument?.documentElement;
  if (page) new ResizeObserver(fit).observe(page);
});
let wide = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === wide) return;
  wide = window.innerWidth;
  at.frame.style.height = "";
  fit();
});

async function copy() {
  const link = window.location.href;
  const done = await navigator.clipboard?.writeText(link).then(() => true, () => false);
  at.copy.textContent = done ? "Copied" : "Copy it from the address bar";
  setTimeout(() => { at.copy.textContent = "Copy link"; }, COPIED);
}

// The page of the address: its episode, or without one that which the form begins with
async function open() {
  const mine = ++latest;
  const [, id] = window.location.pathname.match(/^\/watch\/([^/]+)$/) ?? [];
  at.result.hidden = true;
  say("");
  if (!id) {
    await begin();
    return;
  }
  say("Playing the episode …");
  try {
    await follow(decodeURIComponent(id), mine, false);
  } catch (problem) {
    if (mine === latest) say("", problem.message);
  }
}

async function start() {
  try {
    const choices = await get("/api/watch");
    worlds = choices.worlds;
    fields.seed.min = String(choices.seed.least);
    fields.seed.max = String(choices.seed.most);
    fields.world.replaceChildren(...worlds.map(option));
    fill(choices.start);
  } catch (problem) {
    say("", problem.message);
    return;
  }
  at.watch.disabled = false;
  fields.world.addEventListener("change", drawWorld);
  at.form.addEventListener("submit", (event) => { event.preventDefault(); begin(); });
  at.copy.addEventListener("click", copy);
  window.addEventListener("popstate", open);
  await open();
}

start();
