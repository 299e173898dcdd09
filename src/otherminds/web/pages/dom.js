// Elements, made without parsing anything but the drawings of squares and things

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["g", "rect", "circle", "polygon", "polyline", "path", "text", "title", "line", "ellipse"]);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const drawn = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// Markup of shapes as a group; whatever is not a shape is left out
export function drawing(markup) {
  const parsed = new DOMParser().parseFromString(`<svg xmlns="${SVG}"><g>${markup}</g></svg>`, "image/svg+xml");
  const group = parsed.documentElement.firstElementChild;
  if (parsed.querySelector("parsererror") || !group || group.localName !== "g") return drawn("g");
  for (const element of [...group.querySelectorAll("*")]) {
    if (element.namespaceURI !== SVG || !SHAPES.has(element.localName)) element.remove();
    else strip(element);
  }
  return document.importNode(group, true);
}

function strip(element) {
  for (const { name, localName } of [...element.attributes]) {
    if (/^on/i.test(localName) || localName === "href" || localName === "style") element.removeAttribute(name);
  }
}

// A picture of one square or thing, drawn around (0, 0)
export function look(markup, cell = 48, name = "") {
  const box = `${-cell / 2} ${-cell / 2} ${cell} ${cell}`;
  const known = name ? { role: "img", "aria-label": name } : { "aria-hidden": "true" };
  return drawn("svg", { viewBox: box, class: "look", ...known }, drawing(markup));
}

// What stands for a goal: a small gem or a dish, so that goals never look like people; its name is always beside it
const ICONS = {
  gem: (fill) => [drawn("polygon", { points: "-10,-13 10,-13 18,-4 0,17 -18,-4", fill })],
  dish: (fill) => [drawn("circle", { r: 18.5, cy: 2, class: "plate" }), drawn("circle", { r: 14, cy: 2, fill })],
  none: () => [drawn("rect", { x: -13, y: -11, width: 26, height: 26, rx: 6, class: "nothing" })],
};

export function goalIcon({ label, colour, ink, icon }) {
  const size = label.length > 1 ? 13 - 2 * (label.length - 2) : 17;
  const letters = drawn("text", { y: icon === "gem" ? 5 : 7.5, "font-size": size, fill: icon === "none" ? "currentColor" : ink }, label);
  const shape = (ICONS[icon] || ICONS.dish)(colour);
  return drawn("svg", { viewBox: "-20 -16 40 36", class: "goal", "aria-hidden": "true" }, ...shape, letters);
}

// A table; a cell is something to show, or [class, something]
export function table(heads, rows, { caption = "", stacks = false } = {}) {
  const cell = (tag, content, head) => {
    const [name, shown] = Array.isArray(content) ? content : ["", content];
    return make(tag, { class: name || null, "data-head": head, scope: tag === "th" ? "col" : null }, shown);
  };
  const head = make("tr", {}, ...heads.map((one) => cell("th", one)));
  const titles = heads.map((one) => (Array.isArray(one) ? one[1] : one));
  const body = rows.map((row) => make("tr", {}, ...row.map((one, i) => cell("td", one, titles[i]))));
  const shown = make("table", { class: stacks ? "stacks" : null });
  if (caption) shown.append(make("caption", {}, caption));
  shown.append(make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "table" }, shown);
}

// Text of paragraphs separated by blank lines
export const paragraphs = (text) => text.split(/\n\s*\n/).filter((one) => one.trim()).map((one) => make("p", {}, one.trim()));

export const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
export const spelt = (name) => name.replace(/[-_]/g, " ").replace(/^./, (first) => first.toUpperCase());

// "The facilitator" in the middle of a sentence
export const within = (name) => name.replace(/^The /, "the ");

// A button that copies a text, wherever the browser lets it
export function copyButton(text, label = "Copy") {
  const button = make("button", { type: "button", class: "bare" }, label);
  button.addEventListener("click", async () => {
    button.textContent = (await copied(text)) ? "Copied ✓" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = make("textarea", { class: "away", readonly: true });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
