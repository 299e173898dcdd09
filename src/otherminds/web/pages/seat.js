import { make } from "./dom.js";
import { Link } from "./link.js";
import { STAGES, unknown } from "./pages.js";

// Whatever a participant sees: one stage after the other, as the server says

const NOTED = 6000;

class Seat {
  constructor(path) {
    this.token = path.split("/")[2];
    this.main = document.querySelector("main");
    this.notes = document.querySelector("[data-notes]");
    this.status = document.querySelector("[data-link]");
    this.shown = null;
    this.looks = new Map();
    this.link = new Link(`/p/${this.token}`, tab(), {
      hear: (message) => this.hear(message),
      state: (name, why) => this.linked(name, why),
    });
    this.link.open();
    document.addEventListener("visibilitychange", () => this.entitle());
  }

  send(message) {
    return this.link.send(message);
  }

  hear(message) {
    if (message.type === "page") this.page(message);
    else if (message.type === "note") this.note(message.text);
    else {
      if (message.type === "refused") this.refused(message);
      this.shown?.hear?.(message);
    }
  }

  page({ stage, data }) {
    const told = JSON.stringify([stage, data]);
    if (told === this.told) return; // connected again: what is half filled in stays
    this.told = told;
    const before = this.stage;
    this.stage = stage;
    this.shown?.end?.();
    this.shown = (STAGES[stage] || unknown)(data, this);
    document.body.dataset.stage = stage;
    this.main.replaceChildren(this.shown.element);
    this.called = before === "lobby" && stage !== "lobby" && document.hidden;
    this.entitle();
    if (before && stage !== "game") this.focus();
    scrollTo(0, 0);
  }

  focus() {
    const heading = this.main.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }

  entitle() {
    if (!document.hidden) this.called = false;
    document.title = `${this.called ? "● Your partner is here" : this.shown?.title || "otherminds"} – otherminds`;
  }

  refused({ why }) {
    for (const button of this.main.querySelectorAll("button[data-said]")) {
      button.disabled = false;
      delete button.dataset.said;
    }
    this.note(why);
  }

  note(text) {
    const shown = make("p", {}, text);
    this.notes.append(shown);
    setTimeout(() => shown.remove(), NOTED);
  }

  linked(name, why) {
    const says = {
      open: [],
      lost: [why || "The connection is lost. Trying again … Nothing that you have done is lost."],
      elsewhere: ["This is open in another tab. ", make("button", { type: "button", onclick: () => this.link.open(true) }, "Use this tab")],
      invalid: ["This link is not valid, or has expired. Please ask the person who gave it to you."],
    }[name];
    this.status.replaceChildren(...says);
    this.status.hidden = !says.length;
    this.main.inert = name === "elsewhere";
    if (name === "invalid") {
      this.shown?.end?.();
      this.main.replaceChildren();
    }
  }
}

// A name for this tab, so that loading it again takes over its own connection
function tab() {
  const known = sessionStorage.getItem("tab");
  if (known) return known;
  const fresh = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  sessionStorage.setItem("tab", fresh);
  return fresh;
}

new Seat(location.pathname);
