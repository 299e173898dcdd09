import { make } from "./dom.js";
import { scale } from "./questions.js";
import { saying } from "./stages.js";

// A questionnaire. Answers not yet sent are kept for this tab; what may be left out says so.

const KINDS = { scale: onScale, choice, number, text };
const EMPTY = (value) => value === undefined || value === null || value === "";

export function form(data, seat) {
  const key = `form:${seat.token}:${data.form}:${data.trial}`;
  const draft = JSON.parse(sessionStorage.getItem(key) || "{}");
  const missing = make("p", { class: "quiet sans", role: "status" });
  const given = () => Object.fromEntries(Object.entries(draft).filter(([, value]) => !EMPTY(value)));
  const send = saying(seat, "Send", () => ({ do: "answer", form: data.form, answers: given() }));
  const needed = data.questions.filter(({ required }) => required);
  const update = () => {
    sessionStorage.setItem(key, JSON.stringify(draft));
    const left = needed.filter((one) => !answered(one, draft[one.key])).length;
    if (!("said" in send.dataset)) send.disabled = left > 0;
    missing.textContent = left ? `${needed.length - left} of ${needed.length} answered` : "";
  };
  const asked = data.questions.map((question) => KINDS[question.kind](question, draft[question.key], (value) => {
    draft[question.key] = value;
    update();
  }));
  update();
  const about = data.trials ? make("p", { class: "quiet sans" }, `Round ${data.trial} of ${data.trials}. Please answer for this round only.`) : null;
  const element = make("section", { class: "calm questions" }, make("h1", {}, data.title), about, ...asked, make("div", { class: "row" }, send, missing));
  return { title: data.title, element };
}

// Whether the server will take an answer, as far as the page can tell
function answered({ kind, min, max }, value) {
  if (kind === "number") return typeof value === "number" && value >= min && value <= max;
  return !EMPTY(value) && String(value).trim() !== "";
}

const optional = ({ required }) => (required ? null : make("span", { class: "optional" }, " (optional)"));

function onScale(question, chosen, choose) {
  const { key, low, high, labels } = question;
  const points = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  const words = labels.length > 2 ? labels : [];
  const ends = labels.length === 2 ? labels : ["", ""];
  return scale({ name: `form-${key}`, legend: [question.text, optional(question)], points, words, ends }, chosen, choose);
}

function choice(question, chosen, choose) {
  const options = question.options.map((option) => {
    const radio = make("input", { type: "radio", name: `form-${question.key}` });
    radio.checked = option === chosen;
    radio.addEventListener("change", () => choose(option));
    return make("label", {}, radio, option);
  });
  return make("fieldset", {}, make("legend", {}, question.text, optional(question)), make("div", { class: "chips column" }, ...options));
}

function number(question, given, choose) {
  const { min, max } = question;
  const input = make("input", { type: "number", min, max, step: "any", inputmode: "decimal" });
  input.value = given ?? "";
  input.addEventListener("input", () => choose(Number.isNaN(input.valueAsNumber) ? null : input.valueAsNumber));
  const limits = max < 1e9 ? make("span", { class: "hint" }, `From ${min} to ${max}.`) : null;
  return make("fieldset", {}, make("label", { class: "field" }, make("span", {}, question.text, optional(question)), input, limits));
}

function text(question, given, choose) {
  const input = make("textarea", { maxlength: question.max, rows: question.max > 200 ? "4" : "2" });
  input.value = given ?? "";
  input.addEventListener("input", () => choose(input.value));
  return make("fieldset", {}, make("label", { class: "field" }, make("span", {}, question.text, optional(question)), input));
}
