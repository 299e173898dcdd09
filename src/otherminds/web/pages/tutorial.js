import { look, make, paragraphs } from "./dom.js";
import { saying } from "./stages.js";

// The rules page by page, then questions about them; what was answered rightly need not be answered again

const given = new Map();

export function tutorial(data, seat) {
  const { pages, checks, wrong = [] } = data;
  const again = Boolean(data.tries) && wrong.length > 0;
  let at = again ? pages.length : data.at || 0;
  const element = make("section", { class: "calm tutorial" });
  const show = () => {
    element.replaceChildren(...(at < pages.length ? rules(pages[at], at, turn) : questions()));
    element.querySelector("h1").focus();
  };
  const turn = (by) => { at += by; show(); };
  const rules = (page, i) => [
    heading(page.title),
    make("p", { class: "quiet sans" }, `Page ${i + 1} of ${pages.length}`),
    ...paragraphs(page.text),
    make("ul", { class: "looks" }, ...(page.looks || []).map(({ svg, text }) => make("li", {}, look(svg), text))),
    make(
      "div",
      { class: "row" },
      i > 0 && step("Back", -1, ""),
      i < pages.length - 1 || checks.length ? step("Next", 1, "primary") : saying(seat, "I have understood", () => ({ do: "tutorial", answers: [] })),
    ),
  ];
  const step = (label, by, style) => make("button", { type: "button", class: style, onclick: () => turn(by) }, label);
  const questions = () => {
    const send = saying(seat, "Check my answers", () => ({ do: "tutorial", answers: checks.map((_, i) => given.get(i)) }));
    const update = () => { send.disabled = checks.some((_, i) => !given.has(i)); };
    if (again) wrong.forEach((i) => given.delete(i));
    const asked = checks.map((check, i) => question(check, i, again && wrong.includes(i), update));
    update();
    return [
      heading(again ? "Almost" : "Let us see whether that was clear"),
      make("p", {}, again ? told(wrong.length) : "A few questions before you play. You can go back and read again."),
      ...asked,
      make("div", { class: "row" }, step("Read the pages again", -pages.length, ""), send),
    ];
  };
  show();
  return { title: "How to play", element };
}

const heading = (text) => make("h1", { tabindex: "-1" }, text);
const told = (n) => `${n === 1 ? "One answer was" : `${n} answers were`} not right yet. That happens: think again, or read the pages once more. The others are right, and stay as they are.`;

function question({ question: text, options }, i, missed, update) {
  const choices = options.map((option, k) => {
    const radio = make("input", { type: "radio", name: `check-${i}` });
    radio.checked = given.get(i) === k;
    radio.addEventListener("change", () => { given.set(i, k); update(); });
    return make("label", {}, radio, option);
  });
  const note = missed ? make("p", { class: "problem" }, "Not quite. Please choose another answer.") : null;
  return make("fieldset", { class: missed ? "missed" : null }, make("legend", {}, text), note, make("div", { class: "chips column" }, ...choices));
}
