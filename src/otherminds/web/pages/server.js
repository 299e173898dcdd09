// Asking the server. What it refuses is thrown as an Error with its one line and its status; who has no key is sent to fetch it.

async function ask(method, path, body) {
  const json = () => ({ headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const sent = body === undefined ? {} : body instanceof Blob ? { body } : json();
  let answer;
  try {
    answer = await fetch(path, { method, ...sent });
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  if (answer.status === 401) {
    location.assign(`/enter?to=${encodeURIComponent(location.pathname)}`);
    return new Promise(() => {});
  }
  const text = await answer.text();
  const found = readable(text);
  if (!answer.ok) throw Object.assign(new Error(refusal(found) || `The server refused this (${answer.status}).`), { status: answer.status });
  return found;
}

function readable(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function refusal(found) {
  const detail = found?.detail;
  if (Array.isArray(detail)) return detail.map((one) => `${(one.loc || []).slice(1).join(".")}: ${one.msg}`).join("; ");
  return detail;
}

export const get = (path) => ask("GET", path);
export const post = (path, body) => ask("POST", path, body);
export const send = (path, file) => ask("POST", path, file);
export const remove = (path) => ask("DELETE", path);

// Do something on a click or a submit, and say beside it what went wrong
export async function attempt(place, work, ...buttons) {
  place.hidden = true;
  for (const button of buttons) button.disabled = true;
  try {
    return await work();
  } catch (error) {
    place.textContent = error.message;
    place.hidden = false;
    return undefined;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}
