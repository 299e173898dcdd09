import { make } from "./dom.js";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

// Whose choice is awaited, how long still, and the curtain while somebody is away
export class Clock {
  constructor({ clock, you, others }) {
    this.rule = clock;
    this.you = you;
    this.others = others;
    this.text = make("span", { class: "turn" }, "A moment …");
    this.fill = make("i");
    this.bar = make("span", { class: "bar", "aria-hidden": "true", hidden: !clock.seconds }, this.fill);
    this.element = make("div", { class: "clock" }, this.text, this.bar);
    this.curtain = make("p", { role: "status" });
    this.overlay = make("div", { class: "curtain", hidden: true }, this.curtain);
  }

  frame(fresh, mine, chosen) {
    this.chosen = chosen;
    if (fresh) this.begin();
    this.chose(mine);
  }

  // Who has chosen since
  tell(chosen) {
    this.chosen = chosen;
    this.chose(this.mine);
  }

  chose(mine) {
    this.mine = mine;
    this.text.textContent = this.say();
    this.element.classList.toggle("yours", !mine);
  }

  say() {
    const { waits, seconds } = this.rule;
    if (!waits) return this.mine ? "Chosen: it happens with the next step." : `A step every ${seconds} s: choose what to do.`;
    if (!this.mine) return this.late() ? `Your move: ${this.late()} has chosen.` : "Your move: choose what to do.";
    const awaited = this.others.filter((name) => !(this.chosen || []).includes(name));
    return awaited.length ? `Waiting for ${awaited.join(" and ")} …` : "Everybody has chosen.";
  }

  late() {
    return (this.chosen || []).filter((name) => name !== this.you).join(" and ");
  }

  // The bar runs empty until the step happens at the latest
  begin() {
    const { seconds } = this.rule;
    if (!seconds) return;
    this.fill.getAnimations().forEach((one) => one.cancel());
    if (STILL.matches) return;
    this.fill.animate([{ transform: "scaleX(1)" }, { transform: "scaleX(0)" }], { duration: 1000 * seconds, fill: "forwards" });
  }

  pause(who, seconds) {
    this.fill.getAnimations().forEach((one) => one.pause());
    this.until = performance.now() + 1000 * seconds;
    this.stop();
    const tell = () => {
      const left = Math.max(0, Math.ceil((this.until - performance.now()) / 1000));
      this.curtain.textContent = `${who.join(" and ")} ${who.length === 1 ? "is" : "are"} away. The game waits, for at most ${left} s.`;
    };
    tell();
    this.timer = setInterval(tell, 1000);
    this.overlay.hidden = false;
  }

  go() {
    this.stop();
    this.overlay.hidden = true;
    this.begin();
    this.chose(this.mine);
  }

  stop() {
    clearInterval(this.timer);
  }
}
