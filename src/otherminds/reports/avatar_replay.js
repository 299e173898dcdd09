"use strict";

// The viewer of matrix worlds. Everything shown comes from the JSON beside it and is set as text, never as markup.
(() => {
  const PACE = 400;
  const GLIDE = { duration: 350, easing: "ease-out" };
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  }

  const percent = (share) => `${100 * share}%`;
  const number = (x, digits) => x.toFixed(digits).replace("-", "−");

  // Whether the address asks for the first episode of the page to play: #play=1
  function wished(root) {
    const first = document.querySelector(".replay") === root;
    return first && !still.matches && new URLSearchParams(window.location.hash.slice(1)).get("play") === "1";
  }

  class Viewer {
    constructor(root) {
      this.at = Object.fromEntries([...root.querySelectorAll("[data-at]")].map((part) => [part.dataset.at, part]));
      this.data = JSON.parse(this.at.data.textContent);
      this.looks = [...this.at.looks.content.firstElementChild.children];
      this.parts = this.data.parts.map((name) => root.querySelector(`[data-part="${name}"]`));
      this.icons = this.at.holdings.firstElementChild.querySelectorAll("svg");
      this.meetings = this.data.meetings;
      this.steps = this.data.moves.length;
      this.t = 0;
      this.timer = 0;
      this.at.scrubber.max = String(this.steps);
      this.drawTrack();
      this.listen(root);
      this.show();
      if (wished(root)) this.play();
    }

    show() {
      const { scrubber, clock, back, next, earlier, later } = this.at;
      scrubber.value = String(this.t);
      clock.textContent = `step ${this.t} of ${this.steps}`;
      scrubber.setAttribute("aria-valuetext", clock.textContent);
      back.disabled = this.t === 0;
      next.disabled = this.t === this.steps;
      this.last = this.meetings.filter(({ t }) => t <= this.t).pop();
      this.next = this.meetings.find(({ t }) => t > this.t);
      earlier.disabled = !this.meetings.some(({ t }) => t < this.t);
      later.disabled = !this.next;
      this.showMap();
      this.showHoldings();
      this.showThought();
    }

    // The picture

    showMap() {
      const { start, moves, cell } = this.data;
      const spots = [...start];
      for (const changes of moves.slice(0, this.t)) {
        for (const [part, x, y, look] of changes) spots[part] = x === undefined ? null : [x, y, look ?? spots[part][2]];
      }
      this.parts.forEach((part, i) => {
        part.setAttribute("display", spots[i] ? "inline" : "none");
        if (!spots[i]) return;
        const [x, y, look] = spots[i];
        part.style.transform = `translate(${(x + 0.5) * cell}px, ${(y + 0.5) * cell}px)`;
        if (part.dataset.look === String(look)) return;
        part.dataset.look = String(look);
        part.replaceChildren(...this.looks[look].cloneNode(true).childNodes);
      });
    }

    showHoldings() {
      const latest = [];
      for (const [t, agent, note] of this.data.held) if (t <= this.t) latest[agent] = note;
      latest.forEach((note, agent) => {
        const cells = this.at.holdings.children[agent].querySelectorAll("[data-cell]");
        this.data.notes[note].forEach((value, i) => { cells[i].textContent = String(value); });
      });
    }

    // What the meetings paid, along the time axis
    drawTrack() {
      const most = this.meetings.reduce((most, { reward }) => Math.max(most, Math.abs(reward)), 1e-9);
      for (const { t, reward, right } of this.meetings) {
        const mark = make("span", `met ${reward < 0 ? "lost" : ""} ${right === false ? "wrong" : ""}`);
        mark.style.left = percent(t / this.steps);
        mark.style.height = percent(0.1 + 0.4 * Math.abs(reward) / most);
        this.at.track.append(mark);
      }
    }

    // What is thought of the partner of the next meeting, and what came of the last one

    showThought() {
      const { whom, when, held, expecting, expected, outcome } = this.at;
      const met = this.next ?? this.last;
      outcome.textContent = this.last?.outcome ?? "There was none yet.";
      if (!met) return;
      const none = met.held.length ? "" : ": no hypothesis is recorded";
      when.textContent = `${this.next ? "For the next" : "Before the last"} meeting, at step ${met.t}${none}`;
      if (met === this.met) return;
      this.met = met;
      whom.textContent = `What ${this.data.me} thinks of ${met.who}`;
      expecting.hidden = !met.expected.length;
      this.fill(held, met.held.map(([word, value]) => [this.data.words[word], value]), ...this.data.scale);
      this.fill(expected, met.expected.map((p, kind) => [this.data.kinds[kind], p, kind]), 0, 1);
    }

    // Bars from zero; each glides from where and how long it was
    fill(list, lines, least, most) {
      const known = list.bars ?? new Map();
      const tops = new Map([...known].map(([key, bar]) => [key, bar.line.getBoundingClientRect().top]));
      const extent = (value) => {
        const [low, high] = [Math.min(0, value), Math.max(0, value)].map((end) => (end - least) / (most - least));
        return { left: percent(low), width: percent(high - low) };
      };
      list.bars = new Map();
      for (const [text, value, kind] of lines) {
        let key = text;
        while (list.bars.has(key)) key += " ";
        const bar = known.get(key) ?? this.bar(text, kind, least < 0);
        bar.figure.textContent = number(value, 2);
        Object.assign(bar, { from: bar.to ?? extent(0), to: extent(value) });
        Object.assign(bar.fill.style, bar.to);
        list.bars.set(key, bar);
      }
      list.replaceChildren(...[...list.bars.values()].map(({ line }) => line));
      if (still.matches) return;
      for (const [key, { line, fill, from, to }] of list.bars) {
        const moved = tops.has(key) ? tops.get(key) - line.getBoundingClientRect().top : 0;
        if (moved) line.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], GLIDE);
        fill.animate([from, to], GLIDE);
      }
    }

    bar(text, kind, signed) {
      const words = make("span", "text", text), figure = make("b"), fill = make("i");
      words.title = text;
      const line = make("li", "", ...(kind === undefined ? [] : [this.icons[kind].cloneNode(true)]), words, figure, make("span", signed ? "bar signed" : "bar", fill));
      return { line, figure, fill };
    }

    // Moving through time

    get pace() { return PACE / Number(this.at.speed.value); }

    go(t) {
      const to = Math.max(0, Math.min(this.steps, t));
      const pace = this.timer ? this.pace : PACE;
      this.at.map.classList.toggle("gliding", Math.abs(to - this.t) === 1 && pace > 50);
      this.at.map.style.setProperty("--glide", `${Math.min(pace, 300)}ms`);
      this.t = to;
      this.show();
    }

    stop() {
      window.clearInterval(this.timer);
      this.timer = 0;
      this.at.play.textContent = "Play";
      this.at.outcome.setAttribute("aria-live", "polite");
    }

    play() {
      if (this.t === this.steps) this.go(0);
      this.at.play.textContent = "Pause";
      this.at.outcome.setAttribute("aria-live", "off");
      this.timer = window.setInterval(() => {
        this.go(this.t + 1);
        if (this.t === this.steps) this.stop();
      }, this.pace);
    }

    listen(root) {
      const { scrubber, back, next, earlier, later, play, speed } = this.at;
      const jump = (where) => () => { this.stop(); this.go(where()); };
      const acts = {
        ArrowLeft: jump(() => this.t - 1),
        ArrowRight: jump(() => this.t + 1),
        PageUp: jump(() => this.meetings.filter(({ t }) => t < this.t).pop()?.t ?? this.t),
        PageDown: jump(() => this.next?.t ?? this.t),
        " ": () => (this.timer ? this.stop() : this.play()),
      };
      const buttons = [[back, "ArrowLeft"], [next, "ArrowRight"], [earlier, "PageUp"], [later, "PageDown"], [play, " "]];
      for (const [button, key] of buttons) button.addEventListener("click", acts[key]);
      scrubber.addEventListener("input", jump(() => Number(scrubber.value)));
      speed.addEventListener("change", () => { if (this.timer) { this.stop(); this.play(); } });
      root.addEventListener("keydown", (event) => {
        event.stopPropagation();
        const { key, target } = event;
        if (!acts[key] || event.ctrlKey || event.altKey || event.metaKey || target === speed) return;
        if (key === " " && target.closest("button")) return;
        event.preventDefault();
        acts[key]();
      });
    }
  }

  document.querySelectorAll("[data-avatar-replay]").forEach((root) => new Viewer(root));
})();
