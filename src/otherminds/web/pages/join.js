import { make } from "./dom.js";
import { attempt, get, post } from "./server.js";

// An open invitation. Opening it changes nothing; who clicks gets a link of their own, which this browser remembers.

const invitation = location.pathname.split("/")[2];
const problem = document.querySelector("[data-problem]");
const shown = document.querySelector("[data-shown]");
const label = new URLSearchParams(location.search).get("pid") || "";
const key = `joined:${invitation}:${label}`;
const SAYS = {
  404: "This invitation is not valid, or has expired. Please ask the person who gave it to you.",
  409: "Somebody has already joined with the label in this link. If that was you, go on in the browser that you joined with, or ask the researcher for a new link.",
};

async function join(button) {
  await attempt(problem, async () => {
    const { link } = await post(`/join/${encodeURIComponent(invitation)}${location.search}`).catch(refused);
    localStorage.setItem(key, link);
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

async function show() {
  const mine = await known();
  const { title, minutes } = await get(`/api/join/${encodeURIComponent(invitation)}`).catch((error) => {
    if (mine) return {};
    return refused(error);
  });
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
