"use strict";

// The episode viewer. Everything shown comes from the JSON beside it and is set as text, never as markup.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PACE = 600;
  const GLIDE = 300;
  const ENDINGS = {
    completed: ["✓", "was carried out at step"],
    impossible: ["×", "could no longer be carried out from step"],
    ignored: ["–", "counted as ignored from step"],
    running: ["", "was still under way when the episode ended, at step"],
  };

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
  };
  const DROPS = { gem: 5, dish: 7.5 };

  function goalIcon(kind, [name, label, colour, ink]) {
    const icon = drawn("svg", { viewBox: "-20 -16 40 36", class: "goal", role: "img", "aria-label": name });
    const size = label.length > 1 ? 13 - 2 * (label.length - 2) : 17;
    const letter = drawn("text", { y: DROPS[kind], "font-size": size, "font-weight": 700, "text-anchor": "middle", fill: ink });
    letter.textContent = label;
    icon.append(...ICONS[kind](colour), letter);
    return icon;
  }

  const percent = (share) => `${100 * share}%`;
  const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const signed = (x, digits = 1) => (x === null ? "–" : x.toFixed(digits).replace("-", "−"));

  // Whether the address asks for the first episode of the page to play: #play=1
  function wished(root) {
    const first = document.querySelector(".replay") === root;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    return first && !still && new URLSearchParams(window.location.hash.slice(1)).get("play") === "1";
  }

  class Replay {
    constructor(root, number) {
      const parts = root.querySelectorAll("[data-at]");
      this.root = root;
      this.at = Object.fromEntries([...parts].map((part) => [part.dataset.at, part]));
      this.data = JSON.parse(this.at.data.textContent);
      this.maps = [...root.querySelectorAll("[data-map]")];
      this.looks = this.at.looks ? [...this.at.looks.content.firstElementChild.children] : [];
      this.group = `replay-subject-${number}`;
      this.eyes = `replay-eyes-${number}`;
      this.level = 0;
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
    get steps() { return this.episode.acts.length; }
    get place() { return this.data.levels[this.level]; }
    icon(goal) { return goalIcon(this.place.icon, goal); }
    word(number) { return number < 0 ? "" : this.data.words[number]; }

    choose() {
      const played = this.data.episodes[this.level];
      if (!played[this.subject]) this.subject = played.findIndex(Boolean);
      this.t = Math.min(this.t, this.steps);
      this.at.level.value = String(this.level);
      this.at.scrubber.max = String(this.steps);
      this.maps.forEach((map, i) => { map.hidden = i !== this.level; });
      this.drawSubjects(played);
      this.drawEyes();
      this.drawTrack();
      this.drawCharts();
      this.at.outcome.textContent = this.outcome();
      this.show();
    }

    show() {
      this.at.scrubber.value = String(this.t);
      this.at.scrubber.setAttribute("aria-valuetext", `step ${this.t} of ${this.steps}`);
      this.at.clock.textContent = `step ${this.t} of ${this.steps}`;
      this.at.back.disabled = this.t === 0;
      this.at.next.disabled = this.t === this.steps;
      this.showMap();
      this.showBeliefs();
      this.showAccount();
    }

    get pace() { return PACE / Number(this.at.speed.value); }

    go(t) {
      const next = Math.max(0, Math.min(this.steps, t));
      this.at.maps.style.setProperty("--glide", `${this.timer ? Math.min(this.pace, GLIDE) : GLIDE}ms`);
      this.at.maps.classList.toggle("gliding", Math.abs(next - this.t) === 1);
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
        if (look !== undefined) this.dress(part, String(look));
      });
    }

    // Where every part is: x, y, and the number of its look if that can change; or null
    places() {
      const places = [...this.place.start];
      for (const moves of this.episode.moves.slice(0, this.t)) {
        for (const [part, x, y, look] of moves) places[part] = x === undefined ? null : [x, y, look ?? places[part]?.[2]];
      }
      return places;
    }

    // The fog before somebody's eyes, and the parts that it hides
    view(eye = this.eye) {
      const { sights } = this.episode;
      return sights && eye >= 0 ? this.place.views[sights[this.t][eye]] : ["", []];
    }

    // Things change: show the part as it looks now
    dress(part, look) {
      if (part.dataset.look === look) return;
      part.dataset.look = look;
      part.replaceChildren(...this.looks[look].cloneNode(true).childNodes);
    }

    // Choices and what became of them

    drawSubjects(played) {
      const legend = this.at.subjects.querySelector("legend");
      const choices = this.data.subjects.map(([, title], i) => {
        const radio = make("input");
        Object.assign(radio, { type: "radio", name: this.group, checked: i === this.subject, disabled: !played[i] });
        radio.addEventListener("change", () => { this.subject = i; this.stop(); this.choose(); this.writeHash(); });
        return make("label", "", radio, title, make("span", "quiet", this.length(played[i])));
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

    length(episode) {
      if (!episode) return "not played";
      return episode.done ? `${episode.acts.length} steps` : "failed";
    }

    outcome() {
      const [reached, missed] = this.place.ends;
      const ended = this.episode.done
        ? `${reached} after ${count(this.steps, "step")}.`
        : `${missed} when time was up, after ${count(this.steps, "step")}.`;
      const none = this.data.subjects.findIndex(([key]) => key === "none");
      const alone = none < 0 ? null : this.data.episodes[this.level][none];
      if (!alone || none === this.subject) return ended;
      const saved = alone.acts.length - this.steps;
      if (!alone.done) return `${ended} Without a facilitator it did not come to that in ${alone.acts.length} steps.`;
      if (!saved) return `${ended} Without a facilitator it takes as many.`;
      return `${ended} That is ${Math.abs(saved)} ${saved > 0 ? "fewer" : "more"} than without a facilitator.`;
    }

    // What was said, along the time axis

    drawTrack() {
      const marks = this.episode.said.flatMap((said) => {
        const [sign] = ENDINGS[said.status] || [""];
        const run = make("span", `run ${said.status}`);
        run.style.left = percent(said.t / this.steps);
        run.style.width = percent((said.end - said.t) / this.steps);
        const button = make("button", "", "“");
        button.type = "button";
        button.title = `Step ${said.t}: ${this.word(said.message)}`;
        button.setAttribute("aria-label", button.title);
        button.style.left = percent(said.t / this.steps);
        button.addEventListener("click", () => { this.stop(); this.go(said.t); });
        const end = make("span", "end", sign);
        end.style.left = percent(said.end / this.steps);
        return sign ? [run, end, button] : [run, button];
      });
      this.at.track.replaceChildren(...(marks.length ? marks : ["Nothing is said."]));
    }

    // What was believed

    drawCharts() {
      const { beliefs, wants } = this.episode;
      this.cursors = [];
      this.bars = [];
      const charts = this.place.people.map(([name, label, colour], i) => {
        const goal = this.place.goals[wants[i]];
        const head = make("h4", "", token(label, colour), name);
        if (goal) head.append(make("span", "quiet", `wants the ${goal[0]}`), this.icon(goal));
        const mind = make("div", "mind", head);
        if (beliefs) mind.append(this.plot(i), this.drawBars(i));
        return mind;
      });
      const note = beliefs ? "P(goal), what the facilitator believes each person wants" : "This facilitator does not infer what people want.";
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
      const tag = this.icon(this.place.goals[goal]);
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
        const line = make("li", goal === this.episode.wants[i] ? "true" : "", this.icon(this.place.goals[goal]), make("span", "", bar), value);
        line.title = name;
        list.append(line);
        this.bars.push({ i, goal, value, bar });
      }
      return list;
    }

    showBeliefs() {
      const now = this.episode.beliefs && this.episode.beliefs[Math.min(this.t, this.steps - 1)];
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

    // What was said and why, and what everybody does

    showAccount() {
      this.lookers = [];
      const parts = this.t === this.steps ? [this.farewell()] : [this.deeds(), ...this.speech(), ...this.unseen(), ...this.prices()];
      this.at.account.replaceChildren(...parts.flat());
    }

    farewell() {
      const said = this.episode.said.map((one) => make("p", "", `Step ${one.t}: ${this.word(one.message)}. ${this.fate(one)}`));
      const heading = said.length ? "What was said" : "Nothing was said";
      return [make("h3", "", "The end"), make("p", "", this.outcome()), make("h3", "", heading), ...said];
    }

    deeds() {
      const acts = this.episode.acts[this.t];
      const lines = this.place.people.map(([name, label, colour], i) =>
        make("li", "", token(label, colour), `${name}: ${this.word(acts[i])}`));
      return [make("h3", "", "What everybody does next"), make("ul", "deeds", ...lines)];
    }

    speech() {
      const parts = [];
      for (const one of this.episode.said) {
        if (one.t === this.t) {
          const quote = make("blockquote", "", `${this.word(one.message)}.`);
          parts.push(make("h3", "", "The facilitator says"), quote);
          if (one.words >= 0) parts.push(make("p", "", this.word(one.words)));
          parts.push(make("p", "quiet", this.fate(one)));
        }
      }
      if (!parts.length) parts.push(make("h3", "", "The facilitator is silent"), make("p", "", this.reason()));
      for (const one of this.episode.said) {
        if (one.t < this.t && this.t <= one.end) parts.push(make("p", "quiet", `Step ${one.t}: ${this.word(one.message)}. ${this.fate(one)}`));
      }
      return parts;
    }

    // In a world with rooms: what each person cannot know of, and a way to look through their eyes
    unseen() {
      if (!this.episode.sights) return [];
      const places = this.places();
      const lines = this.place.people.map(([name, label, colour], i) => {
        const things = this.view(i)[1].filter((part) => places[part]).map((part) => this.title(places[part][2])).filter(Boolean);
        const counted = [...new Set(things)].map((thing) => [thing, things.filter((other) => other === thing).length]);
        const told = counted.map(([thing, many]) => (many > 1 ? `${thing} (${many})` : thing)).join(", ") || "nothing";
        const looker = make("button", "", `Look as ${name}`);
        looker.type = "button";
        looker.setAttribute("aria-pressed", String(i === this.eye));
        looker.addEventListener("click", () => this.look(this.eye === i ? -1 : i));
        this.lookers.push(looker);
        return make("li", "", token(label, colour), make("span", "", `${name}: ${told}`), looker);
      });
      return [make("h3", "", "What each does not see now"), make("ul", "deeds", ...lines)];
    }

    title(look) { return this.looks[look]?.querySelector("title")?.textContent ?? ""; }

    reason() {
      const why = this.word(this.episode.why[this.t]);
      return why ? `Because ${why}.` : "No reason is recorded.";
    }

    fate(said) {
      const promise = said.saves === null ? "" : `It was expected to save ${signed(said.saves)} steps and `;
      const text = `${(ENDINGS[said.status] || ENDINGS.running)[1]} ${said.end}.`;
      return promise ? promise + text : `It ${text}`;
    }

    prices() {
      const number = this.episode.prices[this.t];
      if (number < 0) return [];
      const said = this.episode.said.find((one) => one.t === this.t);
      const head = make("tr", "", make("th", "", "Message"), make("th", "number", "Steps saved"), make("th", "number", "What it would change"));
      const rows = this.data.words[number].map(([message, saves, changes]) =>
        make("tr", said && said.message === message ? "said" : "",
          make("td", "", this.word(message)), make("td", "number", signed(saves)), make("td", "number", signed(changes, 2))));
      const table = make("table", "", make("thead", "", head), make("tbody", "", ...rows));
      return [make("h3", "", "What it could say"), make("div", "prices", table)];
    }

    // Moving through time

    listen() {
      this.at.level.addEventListener("change", () => {
        this.level = Number(this.at.level.value);
        this.t = 0;
        this.stop();
        this.choose();
        this.writeHash();
      });
      this.at.scrubber.addEventListener("input", () => { this.stop(); this.go(Number(this.at.scrubber.value)); });
      this.at.back.addEventListener("click", () => { this.stop(); this.go(this.t - 1); });
      this.at.next.addEventListener("click", () => { this.stop(); this.go(this.t + 1); });
      this.at.play.addEventListener("click", () => this.toggle());
      this.at.speed.addEventListener("change", () => { if (this.timer) { this.stop(); this.play(); } });
      document.addEventListener("keydown", (event) => this.press(event));
      window.addEventListener("hashchange", () => this.readHash());
    }

    press(event) {
      const box = this.at.maps.getBoundingClientRect();
      const away = box.bottom < 0 || box.top > window.innerHeight;
      const busy = event.target.closest("select, input, textarea, summary, a");
      if (away || event.ctrlKey || event.altKey || event.metaKey) return;
      if (busy && !(busy === this.at.scrubber && event.key === " ")) return;
      if (event.key === " " && event.target.closest("button")) return;
      const act = { ArrowLeft: () => this.go(this.t - 1), ArrowRight: () => this.go(this.t + 1), " ": () => this.toggle() }[event.key];
      if (!act) return;
      event.preventDefault();
      if (event.key !== " ") this.stop();
      act();
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
