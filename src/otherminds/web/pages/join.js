import { make } from "./dom.js";
import { attempt, get, post } from "./server.js";

// An open invitation. Opening it changes nothing; who clicks gets a link of their own, which this browser remembers.

const invitation = location.pathname.split("/")[2];
const problem = document.querySelector("[data-problem]");
const shown = document.querySelector("[data-shown]");
const asked = `label:${invitation}`; // which parameter of the address tells people apart
let parameter = "pid";
let label = "";
let key = "";
const SAYS = {
  404: "This invitation is not valid, or has expired. Please ask the person who gave it to you.",
  409: "Somebody has already joined with the label in this link. If that was you, go on in the browser that you joined with, or ask the researcher for a new link.",
};

// What this browser joins with: if the answer is lost, asking again brings the same link
function visit() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  const fresh = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
  const kept = sessionStorage.getItem(key) || fresh;
  sessionStorage.setItem(key, kept);
  return kept;
}

async function join(button) {
  await attempt(problem, async () => {
    const wish = new URLSearchParams(location.search);
    wish.set("visit", visit());
    const { link } = await post(`/join/${encodeURIComponent(invitation)}?${wish}`).catch(refused);
    sessionStorage.removeItem(key);
    localStorage.setItem(key, link);
    localStorage.setItem(asked, parameter);
    location.assign(link);
  }, button);
}

// In words for participants; what is refused for good has no button any more
function refused(error) {
  if (SAYS[error.status]) shown.replaceChildren();
  throw SAYS[error.status] ? new Error(SAYS[error.status]) : error;
}

// The link that this browser was given before, if it is still valid
async function known() {
  const link = localStorage.getItem(key);
  if (!link) return "";
  try {
    await get(`${link}/alive`);
    return link;
  } catch (error) {
    if (error.status === 404) localStorage.removeItem(key);
    return "";
  }
}

// Whoever comes with another label in the same browser is somebody else
function identify(name) {
  parameter = name;
  label = new URLSearchParams(location.search).get(parameter) || "";
  key = `joined:${invitation}:${label}`;
}

async function show() {
  const found = await get(`/api/join/${encodeURIComponent(invitation)}`).catch((error) => error);
  identify(found.label || localStorage.getItem(asked) || parameter);
  const mine = await known();
  if (found instanceof Error && !mine) refused(found);
  const { title, minutes } = found instanceof Error ? {} : found;
  if (title) {
    document.querySelector("[data-title]").textContent = title;
    document.title = `${title} – otherminds`;
  }
  const button = make("button", { type: "button", class: mine ? "" : "primary", onclick: () => join(button) }, mine ? "Join as somebody else" : "Take part");
  shown.replaceChildren(
    make("p", {}, mine ? "You have joined this study in this browser already." : "You are invited to take part in a study. Nothing begins, and nothing is stored, before you click."),
    minutes && !mine ? make("p", { class: "quiet sans" }, `This takes about ${minutes} minutes. Keep the address of the page that follows: it is yours alone, and brings you back if you close it.`) : "",
    make("div", { class: "row" }, mine ? make("a", { class: "button primary", href: mine }, "Go on") : "", minutes && !(mine && label) ? button : ""),
  );
}

attempt(problem, show).then(() => { if (!problem.hidden) shown.replaceChildren(); });
