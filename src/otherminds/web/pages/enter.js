import { attempt, post } from "./server.js";

const form = document.querySelector("[data-form]");
const wanted = new URLSearchParams(location.search).get("to") || "";

// The address that the server prints has the key behind a #, which is never sent anywhere
const printed = decoded(location.hash.slice(1));
if (printed) {
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.key.value = printed;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(document.querySelector("[data-problem]"), async () => {
    await post("/api/enter", { key: form.elements.key.value.trim() });
    location.assign(/^\/studies(\/[\w-]+)?$/.test(wanted) ? wanted : "/studies");
  }, form.querySelector("button"));
});

if (printed) form.requestSubmit();
