// The connection of a seat. What is said arrives exactly once: it is numbered, and said again until it is on disk.

const WAITS = [500, 1000, 2000, 3000];
const PATIENCE = 3;
const ELSEWHERE = 4409;
const INVALID = 4404;
const OFTEN = 4429;
const LARGE = 1009;

export class Link {
  // hear(message) for everything but acknowledgements; state("open" | "lost" | "elsewhere" | "invalid", why)
  constructor(path, tab, { hear, state }) {
    this.path = path;
    this.tab = tab;
    this.hear = hear;
    this.state = state;
    this.pending = [];
    this.failures = 0;
    this.last = 0;
  }

  // take: whether another tab that shows the same is to give way
  open(take = false) {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${this.path}/ws?tab=${encodeURIComponent(this.tab)}${take ? "&take=1" : ""}`);
    this.socket = socket;
    this.counted = false;
    socket.addEventListener("message", (event) => { if (socket === this.socket) this.take(JSON.parse(event.data)); });
    socket.addEventListener("close", (event) => { if (socket === this.socket) this.closed(event.code); });
  }

  // Say something; its number, or 0 if it could not be said and will not be
  send(message) {
    if (!this.counted && message.do === "act") return 0;
    const numbered = { ...message, n: this.last + 1 };
    this.last += 1;
    this.pending.push(numbered);
    if (this.counted) this.socket.send(JSON.stringify(numbered));
    return numbered.n;
  }

  take(message) {
    if (message.type === "page") this.count(message.n);
    if (message.type === "ack" || message.type === "refused") this.pending = this.pending.filter(({ n }) => n !== message.n);
    if (message.type !== "ack") this.hear(message);
  }

  // The number of what the server has taken last
  count(n) {
    if (this.counted) {
      this.last = Math.max(this.last, n);
      return;
    }
    const again = this.pending.filter((one) => one.n > n && one.do !== "act");
    this.pending = again.map((one, i) => ({ ...one, n: n + 1 + i }));
    this.last = n + again.length;
    this.counted = true;
    this.known = true;
    this.failures = 0;
    for (const one of this.pending) this.socket.send(JSON.stringify(one));
    this.state("open");
  }

  async closed(code) {
    this.failures = this.counted ? 0 : this.failures + 1;
    this.counted = false;
    if (code === ELSEWHERE) {
      this.pending = [];
      this.state("elsewhere");
    } else if (code === INVALID || (this.failures >= (this.known ? PATIENCE : 1) && (await this.invalid()))) {
      this.state("invalid");
    } else {
      if (code === LARGE) this.pending = [];
      const wait = code === OFTEN ? 3000 : WAITS[Math.min(this.failures, WAITS.length - 1)];
      this.state("lost", code === OFTEN ? "That was more than the server can take in. A moment …" : this.known ? "" : "Connecting …");
      this.timer = setTimeout(() => this.open(), wait);
    }
  }

  async invalid() {
    try {
      return (await fetch(`${this.path}/alive`)).status === 404;
    } catch {
      return false;
    }
  }
}
