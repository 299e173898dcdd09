import { make, within } from "./dom.js";
import { saying } from "./stages.js";

// What one thinks of the facilitator, on scales; answers not yet sent are kept for this tab
export function questions(data, seat) {
  const key = `ratings:${seat.token}:${data.trial}`;
  const draft = { ratings: {}, comment: "", ...JSON.parse(sessionStorage.getItem(key) || "{}") };
  const missing = make("p", { class: "quiet sans", role: "status" });
  const comment = make("textarea", { maxlength: "2000", rows: "3" });
  comment.value = draft.comment;
  const send = saying(seat, "Send", () => ({ do: "rate", ratings: draft.ratings, comment: draft.comment.trim() }));
  const update = () => {
    sessionStorage.setItem(key, JSON.stringify(draft));
    const left = data.aspects.filter((aspect) => !(aspect.key in draft.ratings)).length;
    if (!("said" in send.dataset)) send.disabled = left > 0;
    missing.textContent = left ? `${data.aspects.length - left} of ${data.aspects.length} answered` : "All answered. Thank you.";
  };
  comment.addEventListener("input", () => { draft.comment = comment.value; update(); });
  const points = Array.from({ length: data.points }, (_, i) => i + 1);
  const scales = data.aspects.map(({ key: name, text }) => scale({ name: `aspect-${name}`, legend: [text], points, words: [], ends: [data.low, data.high] }, draft.ratings[name], (value) => {
    draft.ratings[name] = value;
    update();
  }));
  update();
  const element = make(
    "section",
    { class: "calm questions" },
    make("h1", {}, `What do you think of ${within(data.facilitator)}?`),
    make("p", { class: "quiet sans" }, `Round ${data.trial} of ${data.trials}. Please answer for this round only.`),
    ...scales,
    make("label", { class: "field" }, data.comment, comment),
    make("div", { class: "row" }, send, missing),
  );
  return { title: "Questions", element };
}

// A scale of `points`, with words for both ends or for each point
export function scale({ name, legend, points, words, ends }, chosen, choose) {
  const [low, high] = ends;
  const choices = points.map((value, i) => {
    const said = words[i] || (i === 0 ? low : i === points.length - 1 ? high : "");
    const radio = make("input", { type: "radio", name, value: String(value), "aria-label": said ? `${value}, ${said}` : String(value) });
    radio.checked = chosen === value;
    radio.addEventListener("change", () => choose(value));
    const word = words[i] ? make("span", { class: "points" }, words[i]) : null;
    return make("label", {}, radio, make("span", { "aria-hidden": "true" }, String(value), word));
  });
  const under = low || high ? make("div", { class: "ends", "aria-hidden": "true" }, make("span", {}, low), make("span", {}, high)) : null;
  return make("fieldset", {}, make("legend", {}, ...legend), make("div", { class: words.length ? "scale worded" : "scale" }, ...choices), under);
}
