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
  const scales = data.aspects.map((aspect) => scale(aspect, data, draft.ratings[aspect.key], (value) => {
    draft.ratings[aspect.key] = value;
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

function scale({ key, text }, { low, high, points }, chosen, choose) {
  const choices = Array.from({ length: points }, (_, i) => {
    const value = i + 1;
    const name = value === 1 ? `1, ${low}` : value === points ? `${points}, ${high}` : String(value);
    const radio = make("input", { type: "radio", name: `aspect-${key}`, value: String(value), "aria-label": name });
    radio.checked = chosen === value;
    radio.addEventListener("change", () => choose(value));
    return make("label", {}, radio, make("span", { "aria-hidden": "true" }, String(value)));
  });
  const ends = make("div", { class: "ends", "aria-hidden": "true" }, make("span", {}, low), make("span", {}, high));
  return make("fieldset", {}, make("legend", {}, text), make("div", { class: "scale" }, ...choices), ends);
}
