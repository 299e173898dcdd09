import { copyButton, make, paragraphs } from "./dom.js";

// The calm stages: each makes what is shown from its data, as { title, element }

const page = (title, ...children) => ({ title, element: make("section", { class: "calm" }, make("h1", {}, title), ...children.filter(Boolean)) });

// A button that says something to the server, once
export function saying(seat, label, message, look = "primary") {
  const button = make("button", { type: "button", class: look }, label);
  button.addEventListener("click", () => {
    seat.send(message());
    button.disabled = true;
    button.dataset.said = "";
  });
  return button;
}

export function consent(data, seat) {
  if (data.declined) {
    return page(
      "You have declined",
      make("p", {}, "That is fine. You take no part, and you can close this page."),
      make("div", { class: "row" }, saying(seat, "I have changed my mind: I agree", () => ({ do: "consent" }), "")),
    );
  }
  return page(
    data.title || "Before you begin",
    make("p", { class: "quiet sans" }, `This takes about ${data.minutes} minutes.`),
    ...paragraphs(data.text),
    make("div", { class: "row" }, saying(seat, "I agree", () => ({ do: "consent" })), saying(seat, "I do not agree", () => ({ do: "decline" }), "")),
  );
}

export function instructions(data, seat) {
  return page(
    data.title || "What this is about",
    make("div", { class: "blocks" }, ...data.blocks.map(block)),
    make("div", { class: "row" }, saying(seat, "Go on", () => ({ do: "instructed" }))),
  );
}

// A block of instructions. Its text is never parsed again; links lead to web pages only.
function block({ kind, level, ordered, spans, items }) {
  if (kind === "heading") return make(`h${Math.min(4, Math.max(2, level))}`, {}, ...spans.map(span));
  if (kind === "list") return make(ordered ? "ol" : "ul", {}, ...items.map((one) => make("li", {}, ...one.map(span))));
  return make("p", {}, ...spans.map(span));
}

function span({ text, bold, italic, url }) {
  let shown = text;
  if (italic) shown = make("em", {}, shown);
  if (bold) shown = make("strong", {}, shown);
  return url && /^https?:/i.test(url) ? make("a", { href: url, target: "_blank", rel: "noreferrer" }, shown) : shown;
}

export function lobby(data, seat) {
  const since = performance.now() - 1000 * data.waiting;
  const waited = make("p", { class: "quiet sans", role: "timer" });
  const tell = () => { waited.textContent = `You have waited ${clock(performance.now() - since)}.`; };
  tell();
  const timer = setInterval(tell, 1000);
  const dots = make("div", { class: "waiting", "aria-hidden": "true" }, make("i"), make("i"), make("i"));
  const shown = page(
    "Waiting for your partner",
    dots,
    ...paragraphs(data.text),
    waited,
    make("p", { class: "quiet small" }, "You can look at something else meanwhile: the title of this tab changes when your partner is there."),
    make("div", { class: "row" }, saying(seat, "I cannot wait any longer", () => ({ do: "leave" }), "")),
  );
  return { ...shown, end: () => clearInterval(timer) };
}

const clock = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

export function ready(data, seat) {
  const names = data.waits.join(" and ");
  const free = data.facilitator ? make("p", { class: "aside" }, "You are free to follow the advice of ", make("b", {}, data.facilitator), ", or not.") : null;
  const state = make("p", { class: "quiet sans", role: "status" });
  const button = saying(seat, "I am ready", () => ({ do: "ready" }));
  const wait = () => { state.textContent = names ? `Waiting for ${names} …` : "A moment …"; };
  button.addEventListener("click", wait);
  if (data.ready) {
    button.disabled = true;
    wait();
  }
  return page(
    !data.trials ? "A round to practise" : data.trials > 1 ? `Round ${data.trial} of ${data.trials}` : "Ready?",
    ...paragraphs(data.text),
    free,
    make("div", { class: "row" }, button, state),
  );
}

export function thanks(data) {
  const code = data.code
    ? [
        make("p", {}, "Your completion code:"),
        make("div", { class: "row" }, make("output", { class: "code" }, data.code), copyButton(data.code, "Copy the code")),
      ]
    : [];
  const url = data.url && /^https?:/i.test(data.url)
    ? make("div", { class: "row" }, make("a", { class: "button primary", href: data.url, rel: "noreferrer" }, "Go on to the survey"))
    : data.solo
      ? make("div", { class: "row" }, make("a", { class: "button primary", href: "/play" }, "Play again"))
      : null;
  return page("Thank you", ...paragraphs(data.text), ...code, url);
}

export const closed = (data) => page("Nothing to do here", ...paragraphs(data.text));
