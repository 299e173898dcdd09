"use strict";

// The episode viewer. Everything shown comes from the JSON beside it and is set as text, never as markup.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PACE = 600; // milliseconds of a step at normal speed
  const GLIDE = 300;
  const SIGNS = { completed: "✓", impossible: "×", ignored: "–" };
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  }

  function drawn(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function token(label, colour, ink = "#fff") {
    const element = make("span", "token", label);
    element.style.background = colour;
    element.style.color = ink;
    return element;
  }

  // What stands for a goal: a small gem or a dish, so that goals never look like people
  const ICONS = {
    gem: (colour) => [drawn("polygon", { points: "-10,-13 10,-13 18,-4 0,17 -18,-4", fill: colour })],
    dish: (colour) => [drawn("circle", { r: 18.5, cy: 2, class: "plate" }), drawn("circle", { r: 14, cy: 2, fill: colour })],
    none: () => [drawn("rect", { x: -13, y: -11, width: 26, height: 26, rx: 6, class: "nothing" })],
  };
  const DROPS = { gem: 5, dish: 7.5, none: 8 };

  function goalIcon([name, label, colour, ink, kind]) {
    const icon = drawn("svg", { viewBox: "-20 -16 40 36", class: "goal", role: "img", "aria-label": name });
    const size = label.length > 1 ? 13 - 2 * (label.length - 2) : 17;
    const letter = drawn("text", { y: DROPS[kind], "font-size": size, "font-weight": 700, "text-anchor": "middle", fill: kind === "none" ? "currentColor" : ink });
    letter.textContent = label;
    icon.append(...ICONS[kind](colour), letter);
    return icon;
  }

  const percent = (share) => `${100 * share}%`;
  const signed = (x, digits) => (x === null ? "–" : x.toFixed(digits).replace("-", "−"));

  // Whether the address asks for the first episode of the page to play: #play=1
  function wished(root) {
    const first = document.querySelector(".replay") === root;
    return first && !still.matches && new URLSearchParams(window.location.hash.slice(1)).get("play") === "1";
  }

  // The viewer that a key is for: the one in which it is pressed, or else the first whose map is on the screen
  function addressed(target) {
    return target.closest(".replay") ?? [...document.querySelectorAll(".replay")].find((root) => {
      const box = root.querySelector(".map-box").getBoundingClientRect();
      return box.bottom >= 0 && box.top <= window.innerHeight;
    });
  }

  class Replay {
    constructor(root, number) {
      const parts = root.querySelectorAll("[data-at]");
      this.root = root;
      this.at = Object.fromEntries([...parts].map((part) => [part.dataset.at, part]));
      this.data = JSON.parse(this.at.data.textContent);
      this.maps = [...root.querySelectorAll("[data-map]")];
      this.looks = [...this.at.looks.content.firstElementChild.children];
      this.lists = {};
      this.group = `replay-subject-${number}`;
      this.eyes = `replay-eyes-${number}`;
      this.level = 0;
      this.cursors = [];
      this.bars = [];
      this.eye = -1;
      this.subject = Math.max(0, this.data.subjects.findIndex(([key]) => key === "protom"));
      this.t = 0;
      this.timer = 0;
      this.listen();
      if (!this.readHash()) this.choose();
      if (wished(root)) this.play();
    }

    // What is shown

    get episode() { return this.data.episodes[this.level][this.subject]; }
    get steps() { return this.episode.moves.length; }
    get place() { return this.data.levels[this.level]; }
    word(number) { return this.data.words[number]; }

    choose() {
      const played = this.data.episodes[this.level];
      if (!played[this.subject]) this.subject = played.findIndex(Boolean);
      this.t = Math.min(this.t, this.steps);
      if (this.at.level) this.at.level.value = String(this.level);
      this.at.scrubber.max = String(this.steps);
      this.maps.forEach((map, i) => { map.hidden = i !== this.level; });
      if (this.at.subjects) this.drawSubjects(played);
      this.drawEyes();
      this.drawTrack();
      if (this.episode.wants.length) this.drawCharts();
      this.at.outcome.textContent = this.episode.outcome;
      this.at.outcome.hidden = !this.episode.outcome;
      this.shown = null;
      this.show();
    }

    show() {
      this.at.scrubber.value = String(this.t);
      this.at.scrubber.setAttribute("aria-valuetext", `step ${this.t} of ${this.steps}`);
      this.at.clock.textContent = `step ${this.t} of ${this.steps}`;
      this.at.back.disabled = this.t === 0;
      this.at.next.disabled = this.t === this.steps;
      this.at.earlier.disabled = this.earlier === undefined;
      this.at.later.disabled = this.later === undefined;
      this.showMap();
      this.showBeliefs();
      this.showNotes();
      this.showAccount();
      if (!this.timer) this.tell();
    }

    // The step and the most likely goals for screen readers; silent during play
    tell() {
      const now = this.episode.beliefs?.[Math.min(this.t, this.steps - 1)] ?? [];
      const likely = now.map((belief, i) => {
        const most = belief.indexOf(Math.max(...belief));
        return `${this.place.people[i][0]}: ${this.place.goals[most][0]}, ${(belief[most] / 1000).toFixed(2)}`;
      });
      const believed = likely.length ? ` Most likely goals: ${likely.join("; ")}.` : "";
      this.at.spoken.textContent = `Step ${this.t} of ${this.steps}.${believed}`;
    }

    // The steps of the events before and after this one
    get earlier() { return this.episode.marks.findLast(([t]) => t < this.t)?.[0]; }
    get later() { return this.episode.marks.find(([t]) => t > this.t)?.[0]; }

    get pace() { return PACE / Number(this.at.speed.value); }

    go(t) {
      const next = Math.max(0, Math.min(this.steps, t));
      const pace = this.timer ? this.pace : PACE;
      this.at.maps.style.setProperty("--glide", `${Math.min(pace, GLIDE)}ms`);
      this.at.maps.classList.toggle("gliding", Math.abs(next - this.t) === 1 && pace > 50);
      this.t = next;
      this.show();
      if (!this.timer) this.writeHash();
    }

    // The picture

    showMap() {
      const places = this.places();
      const map = this.maps[this.level];
      const [outline, hidden] = this.view();
      map.querySelector("[data-fog]")?.setAttribute("d", outline);
      this.place.parts.forEach((name, i) => {
        const part = map.querySelector(`[data-part="${name}"]`);
        const place = hidden.includes(i) ? null : places[i];
        part.setAttribute("display", place ? "inline" : "none");
        if (!place) return;
        const [x, y, look] = place;
        part.style.transform = `translate(${x}px, ${y}px)`;
        if (part.dataset.look === String(look)) return;
        part.dataset.look = String(look);
        part.replaceChildren(...this.looks[look].cloneNode(true).childNodes);
      });
    }

    // What each holds, in the lines below the map
    showNotes() {
      const latest = [];
      for (const [line, t, note] of this.episode.notes) if (t <= this.t) latest[line] = note;
      latest.forEach((note, line) => {
        const cells = this.at.notes.children[line].querySelectorAll("[data-cell]");
        this.data.notes[note].forEach((value, i) => { cells[i].textContent = String(value); });
      });
    }

    // Where every part is, x, y, and the number of its look; or null
    places() {
      const places = [...this.place.start];
      for (const moves of this.episode.moves.slice(0, this.t)) {
        for (const [part, x, y, look] of moves) places[part] = x === undefined ? null : [x, y, look ?? places[part][2]];
      }
      return places;
    }

    // The fog before somebody's eyes, and the parts that it hides
    view(eye = this.eye) {
      const { sights } = this.episode;
      return sights && eye >= 0 ? this.place.views[sights[this.t][eye]] : ["", []];
    }

    // Choices and what became of them

    drawSubjects(played) {
      const legend = this.at.subjects.querySelector("legend");
      const choices = this.data.subjects.map(([, title], i) => {
        const radio = make("input");
        Object.assign(radio, { type: "radio", name: this.group, checked: i === this.subject, disabled: !played[i] });
        radio.addEventListener("change", () => { this.subject = i; this.stop(); this.choose(); this.writeHash(); });
        return make("label", "", radio, title, make("span", "quiet", played[i]?.length ?? "not played"));
      });
      const focused = this.at.subjects.contains(document.activeElement);
      this.at.subjects.replaceChildren(legend, ...choices);
      if (focused) this.at.subjects.querySelectorAll("input")[this.subject].focus();
    }

    drawEyes() {
      const { eyes } = this.at;
      if (!eyes) return;
      const { people } = this.place;
      eyes.hidden = !this.episode.sights;
      if (eyes.hidden || this.eye >= people.length) this.eye = -1;
      const choices = ["everything", ...people.map(([name]) => `what ${name} sees`)].map((title, i) => {
        const radio = make("input");
        Object.assign(radio, { type: "radio", name: this.eyes, checked: i - 1 === this.eye });
        radio.addEventListener("change", () => this.look(i - 1));
        return make("label", "", radio, title);
      });
      eyes.replaceChildren(eyes.querySelector("legend"), ...choices);
    }

    // Show what somebody sees, or everything
    look(eye) {
      this.eye = eye;
      this.at.eyes.querySelectorAll("input")[eye + 1].checked = true;
      this.lookers.forEach((looker, i) => looker.setAttribute("aria-pressed", String(i === eye)));
      this.showMap();
      this.writeHash();
    }

    // The events along the time axis: what was said and until when, or how much was paid

    drawTrack() {
      const { marks } = this.episode;
      const elements = marks.flatMap(([t, title, end, status, height]) => {
        if (height !== null) {
          const bar = make("span", `bar ${height < 0 ? "lost" : ""} ${status}`);
          bar.style.left = percent(t / this.steps);
          bar.style.height = percent(0.1 + 0.4 * Math.abs(height));
          return [bar];
        }
        const run = make("span", `run ${status}`);
        run.style.left = percent(t / this.steps);
        run.style.width = percent((end - t) / this.steps);
        const button = make("button", "", "“");
        button.type = "button";
        button.title = this.word(title);
        button.setAttribute("aria-label", button.title);
        button.style.left = percent(t / this.steps);
        button.addEventListener("click", () => { this.stop(); this.go(t); });
        const stopped = make("span", "end", SIGNS[status] ?? "");
        stopped.style.left = percent(end / this.steps);
        return SIGNS[status] ? [run, stopped, button] : [run, button];
      });
      this.at.track.replaceChildren(...(marks.length || !this.at.subjects ? elements : ["Nothing is said."]));
    }

    // What was believed

    drawCharts() {
      const { beliefs, wants } = this.episode;
      this.cursors = [];
      this.bars = [];
      const charts = this.place.people.map(([name, label, colour], i) => {
        const goal = this.place.goals[wants[i]];
        const head = make("h3", "", token(label, colour), name);
        if (goal) head.append(make("span", "quiet", `wants the ${goal[0]}`), goalIcon(goal));
        const mind = make("div", "mind", head);
        if (beliefs) mind.append(this.plot(i), this.drawBars(i));
        return mind;
      });
      const note = beliefs ? "P(goal), what each person is believed to want" : "This facilitator does not infer what people want.";
      this.at.charts.replaceChildren(make("p", "quiet", note), ...charts);
    }

    // The goals to stack, what the person really wants at the bottom
    order(i) {
      const goals = this.place.goals.map((_, g) => g);
      return goals.sort((a, b) => (b === this.episode.wants[i]) - (a === this.episode.wants[i]) || a - b);
    }

    plot(i) {
      const { beliefs, wants } = this.episode;
      const curve = [...beliefs, beliefs[beliefs.length - 1]].map((everybody) => everybody[i]);
      const picture = drawn("svg", { viewBox: `0 0 ${this.steps} 1000`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const plot = make("div", "plot", picture);
      let below = curve.map(() => 0);
      for (const goal of this.order(i)) {
        const above = curve.map((belief, t) => below[t] + belief[goal]);
        picture.append(...this.band(goal, below, above, goal === wants[i]));
        const tag = this.tag(goal, below, above);
        if (tag) plot.append(tag);
        below = above;
      }
      const cursor = make("div", "cursor");
      this.cursors.push(cursor);
      for (const [text, top] of [["1", 0], ["0", "calc(100% - 0.65rem)"]]) {
        const mark = make("span", "scale", text);
        mark.style.top = String(top);
        plot.append(mark);
      }
      plot.append(cursor);
      this.makeScrubbable(plot);
      return plot;
    }

    band(goal, below, above, wanted) {
      const there = above.map((p, t) => `${t},${1000 - p}`);
      const back = below.map((p, t) => `${t},${1000 - p}`).reverse();
      const colour = this.place.goals[goal][2];
      const area = drawn("polygon", { points: [...there, ...back].join(" "), fill: colour, class: wanted ? "true" : "" });
      return wanted ? [area, drawn("polyline", { points: there.join(" "), stroke: colour })] : [area];
    }

    // The letter of a goal, where its band is widest
    tag(goal, below, above) {
      const widths = above.map((p, t) => Math.min(p - below[t], 600) - Math.abs(t - this.steps / 2) / this.steps);
      const t = widths.indexOf(Math.max(...widths.slice(1, -1), -1000));
      if (t < 0 || above[t] - below[t] < 250) return null;
      const tag = goalIcon(this.place.goals[goal]);
      tag.classList.add("tag");
      tag.style.left = percent(t / this.steps);
      tag.style.top = percent(1 - (above[t] + below[t]) / 2000);
      return tag;
    }

    drawBars(i) {
      const list = make("ul", "bars");
      for (const goal of this.order(i)) {
        const [name, , colour] = this.place.goals[goal];
        const value = make("b");
        const bar = make("i");
        bar.style.background = colour;
        const line = make("li", goal === this.episode.wants[i] ? "true" : "", goalIcon(this.place.goals[goal]), make("span", "", bar), value);
        line.title = name;
        list.append(line);
        this.bars.push({ i, goal, value, bar });
      }
      return list;
    }

    showBeliefs() {
      const now = this.episode.beliefs?.[Math.min(this.t, this.steps - 1)];
      for (const cursor of this.cursors) cursor.style.left = percent(this.t / this.steps);
      for (const { i, goal, value, bar } of this.bars) {
        value.textContent = (now[i][goal] / 1000).toFixed(2);
        bar.style.width = percent(now[i][goal] / 1000);
      }
    }

    makeScrubbable(plot) {
      const jump = (event) => {
        const box = plot.getBoundingClientRect();
        this.stop();
        this.go(Math.round(this.steps * (event.clientX - box.left) / box.width));
      };
      plot.addEventListener("pointerdown", (event) => { plot.setPointerCapture(event.pointerId); jump(event); });
      plot.addEventListener("pointermove", (event) => { if (event.buttons) jump(event); });
    }

    // The account: captions as headings, texts, lines for people, tables and bars

    showAccount() {
      const [, numbers] = this.episode.captions.findLast(([t]) => t <= this.t);
      if (String(numbers) === this.shown) return;
      this.shown = String(numbers);
      this.lookers = [];
      const captions = numbers.map((number) => this.data.captions[number]);
      this.at.account.replaceChildren(...captions.map(([kind, ...rest]) => this.caption(kind, rest)));
      for (const [kind, name, lines, least, most] of captions) if (kind === "bars") this.fill(this.lists[name], lines, least, most);
    }

    caption(kind, rest) {
      if (kind === "heading") return make("h3", "", this.word(rest[0]));
      if (kind === "quote") return make("blockquote", "", this.word(rest[0]));
      if (kind === "bars") return (this.lists[rest[0]] ??= make("ul", `held ${rest[0]}`));
      if (kind === "table") return this.table(...rest);
      if (kind === "people" || kind === "eyes") return make("ul", "deeds", ...rest[0].map(([i, word]) => this.person(i, word, kind === "eyes")));
      return make("p", kind === "quiet" ? "quiet" : "", this.word(rest[0]));
    }

    // A line about somebody, perhaps with a button to look through their eyes
    person(i, word, eyes) {
      const [name, label, colour] = this.place.people[i];
      const line = make("li", "", token(label, colour), make("span", "", this.word(word)));
      if (!eyes) return line;
      const looker = make("button", "", `Look as ${name}`);
      looker.type = "button";
      looker.setAttribute("aria-pressed", String(i === this.eye));
      looker.addEventListener("click", () => this.look(this.eye === i ? -1 : i));
      this.lookers.push(looker);
      line.append(looker);
      return line;
    }

    table(head, rows, marked) {
      const titles = head.map((word, i) => make("th", i ? "number" : "", this.word(word)));
      const lines = rows.map(([word, first, second], n) =>
        make("tr", n === marked ? "said" : "",
          make("td", "", this.word(word)), make("td", "number", signed(first, 1)), make("td", "number", signed(second, 2))));
      return make("div", "prices", make("table", "", make("thead", "", make("tr", "", ...titles)), make("tbody", "", ...lines)));
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
      for (const [word, value, sprite] of lines) {
        let key = this.word(word);
        while (list.bars.has(key)) key += " ";
        const bar = known.get(key) ?? this.bar(this.word(word), sprite, least < 0);
        bar.figure.textContent = signed(value, 2);
        Object.assign(bar, { from: bar.to ?? extent(0), to: extent(value) });
        Object.assign(bar.fill.style, bar.to);
        list.bars.set(key, bar);
      }
      list.replaceChildren(...[...list.bars.values()].map(({ line }) => line));
      if (still.matches) return;
      for (const [key, { line, fill, from, to }] of list.bars) {
        const moved = tops.has(key) ? tops.get(key) - line.getBoundingClientRect().top : 0;
        if (moved) line.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: GLIDE, easing: "ease-out" });
        fill.animate([from, to], { duration: GLIDE, easing: "ease-out" });
      }
    }

    bar(text, sprite, signedBar) {
      const words = make("span", "text", text), figure = make("b"), fill = make("i");
      words.title = text;
      const line = make("li", "", words, figure, make("span", signedBar ? "bar signed" : "bar", fill));
      if (sprite !== null) {
        const icon = drawn("svg", { viewBox: "-24 -24 48 48", class: "kind" });
        icon.append(...this.looks[sprite].cloneNode(true).childNodes);
        line.prepend(icon);
      }
      return { line, figure, fill };
    }

    // Moving through time

    listen() {
      this.at.level?.addEventListener("change", () => {
        this.level = Number(this.at.level.value);
        this.t = 0;
        this.stop();
        this.choose();
        this.writeHash();
      });
      const jump = (where) => () => { this.stop(); this.go(where() ?? this.t); };
      this.keys = {
        ArrowLeft: jump(() => this.t - 1),
        ArrowRight: jump(() => this.t + 1),
        PageUp: jump(() => this.earlier),
        PageDown: jump(() => this.later),
        " ": () => this.toggle(),
      };
      const { scrubber, back, next, earlier, later, play, speed } = this.at;
      const buttons = [[back, "ArrowLeft"], [next, "ArrowRight"], [earlier, "PageUp"], [later, "PageDown"], [play, " "]];
      for (const [button, key] of buttons) button.addEventListener("click", this.keys[key]);
      scrubber.addEventListener("input", jump(() => Number(scrubber.value)));
      speed.addEventListener("change", () => { if (this.timer) { this.stop(); this.play(); } });
      document.addEventListener("keydown", (event) => this.press(event));
      window.addEventListener("hashchange", () => this.readHash());
    }

    press(event) {
      const { key, target } = event;
      const busy = target.closest("select, input, textarea, summary, a");
      if (!this.keys[key] || event.ctrlKey || event.altKey || event.metaKey || addressed(target) !== this.root) return;
      if ((busy && busy !== this.at.scrubber) || (key === " " && target.closest("button"))) return;
      if (key.startsWith("Page") && !this.episode.marks.length) return;
      event.preventDefault();
      this.keys[key]();
    }

    toggle() {
      if (this.timer) { this.stop(); this.writeHash(); } else this.play();
    }

    play() {
      if (this.t === this.steps) this.go(0);
      this.at.play.textContent = "Pause";
      this.at.account.setAttribute("aria-live", "off");
      this.timer = window.setInterval(() => {
        this.go(this.t + 1);
        if (this.t === this.steps) { this.stop(); this.writeHash(); }
      }, this.pace);
    }

    stop() {
      window.clearInterval(this.timer);
      this.timer = 0;
      this.at.play.textContent = "Play";
      this.at.account.setAttribute("aria-live", "polite");
      this.tell();
    }

    // The address of a moment: #level=far%20key&who=protom&t=12, in a world with rooms perhaps &by=Ana

    readHash() {
      const wanted = new URLSearchParams(window.location.hash.slice(1));
      const level = this.data.levels.findIndex(({ name }) => name === wanted.get("level"));
      if (level < 0) return false;
      const subject = this.data.subjects.findIndex(([key]) => key === wanted.get("who"));
      this.stop();
      this.level = level;
      if (subject >= 0) this.subject = subject;
      this.eye = this.place.people.findIndex(([name]) => name === wanted.get("by"));
      this.t = Math.max(0, Math.floor(Number(wanted.get("t"))) || 0);
      this.choose();
      this.root.scrollIntoView();
      return true;
    }

    writeHash() {
      const address = new URLSearchParams({ level: this.place.name, who: this.data.subjects[this.subject][0], t: String(this.t) });
      if (this.eye >= 0) address.set("by", this.place.people[this.eye][0]);
      try {
        window.history.replaceState(null, "", `#${address}`);
      } catch {
        // some browsers refuse after many changes in a short time, or in a sandbox; nothing depends on it
      }
    }
  }

  document.querySelectorAll("[data-replay]").forEach((root, i) => new Replay(root, i));
})();
