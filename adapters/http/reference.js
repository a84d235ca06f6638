"use strict";
const find = document.getElementById("find");
const found = document.getElementById("found");
const others = document.getElementById("others");
const nav = document.querySelector("nav");
const links = [...nav.querySelectorAll("a.op")];
const linkOf = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const maxShown = 10; // of each kind

// The kinds of entries beside operations, with their names for one and for several.
const kinds = [["webhook type", "webhook types"], ["error code", "error codes"], ["test value", "test values"], ["guide", "guides"],
  ["field", "fields"]];
const kindOf = Object.fromEntries(kinds.map(([one], kind) => [one, kind]));

// collect returns what the search finds beside operations, one list for each kind. It is called when a list is
// first needed, because there are thousands of fields.
let collected;
function collect() {
  if (collected) return collected;
  collected = kinds.map(() => new Map());
  const add = (kind, element, name, key = name, text = name) => {
    const place = element.closest("article, section");
    const title = place.id === "top" ? "Introduction" : place.querySelector("h2, h3").textContent;
    const id = place.id + "." + key;
    if (collected[kind].has(id)) return; // a field of a request that is in its response too
    collected[kind].set(id, { id, element, name, title, lower: name.toLowerCase(), text: (text + " " + title).toLowerCase() });
  };
  for (const hook of document.querySelectorAll(".path .HOOK")) {
    for (const field of hook.closest("article").querySelectorAll(".text > .fields > li > .field")) {
      if (field.querySelector(".name").textContent !== "event") continue;
      for (const type of field.querySelector(".limit").textContent.split(" | ")) add(kindOf["webhook type"], field, type);
    }
  }
  for (const code of document.querySelectorAll(".errors dd:not(.about) code")) add(kindOf["error code"], code, code.textContent);
  for (const block of document.querySelectorAll(".intro > .about > *, .section > .about > *")) {
    const text = block.textContent;
    const name = text.length > 80 ? text.slice(0, 80).replace(/\s\S*$/, " …") : text;
    add(kindOf.guide, block, name, "guide-" + [...block.parentElement.children].indexOf(block), text);
  }
  for (const [kind, name, title, address] of JSON.parse(document.getElementById("index").textContent)) {
    const text = (name + " " + title).toLowerCase();
    collected[kindOf[kind]].set(address + " " + name, { address, name, title, lower: name.toLowerCase(), text });
  }
  for (const field of document.querySelectorAll(".field")) {
    const path = [];
    for (let item = field.parentElement; item; item = item.parentElement.closest(".fields li")) {
      path.unshift(item.querySelector(".name").textContent);
    }
    add(kindOf.field, field, path.join("."));
  }
  return collected;
}

// prepare gives an entry its id, and opens what it is in.
function prepare(entry) {
  entry.element.id = entry.id;
  for (let e = entry.element.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
}

// rank orders entries: those with the name that is looked for, those whose name begins or ends with it, and others;
// of each, short names come first, such as those of fields that are not nested.
function rank({ lower }, wanted) {
  const step = 1_000; // longer than any name
  if (lower === wanted) return 0;
  return (lower.startsWith(wanted) || lower.endsWith(wanted) ? 1 : 2) * step + lower.length;
}

function showOthers(kind, entries) {
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = kinds[kind][1] + (entries.length > maxShown ? ` (${maxShown} of ${entries.length})` : "");
  section.append(heading);
  for (const entry of entries.slice(0, maxShown)) {
    const link = document.createElement("a");
    const label = document.createElement("span");
    const place = document.createElement("small");
    link.className = "op";
    link.href = entry.address ?? "#" + entry.id;
    if (entry.element) link.addEventListener("click", () => prepare(entry));
    place.textContent = entry.title;
    label.append(entry.name, place);
    link.append(label);
    section.append(link);
  }
  others.append(section);
}

find.addEventListener("input", showFound);
function showFound() {
  const wanted = find.value.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const matches = (text) => words.every((word) => text.includes(word));
  for (const link of links) link.hidden = !matches(link.dataset.find.toLowerCase());
  others.replaceChildren();
  for (const section of nav.querySelectorAll("section")) {
    section.hidden = words.length > 0 && !section.querySelector("a.op:not([hidden])");
  }
  found.textContent = "";
  if (words.length === 0) {
    keepInView();
    return;
  }
  const operations = links.filter((link) => !link.hidden).length;
  const counts = operations > 0 ? [operations + (operations === 1 ? " operation" : " operations")] : [];
  collect().forEach((all, kind) => {
    const entries = [...all.values()].filter((entry) => matches(entry.text)).sort((a, b) => rank(a, wanted) - rank(b, wanted));
    if (entries.length === 0) return;
    counts.push(entries.length + " " + kinds[kind][entries.length === 1 ? 0 : 1]);
    showOthers(kind, entries);
  });
  found.textContent = counts.length > 0 ? counts.join(", ") : `Nothing matches "${find.value.trim()}". Try fewer or shorter words.`;
}

// The address of a field, a code or a guide works in another window too.
if (location.hash && !document.getElementById(location.hash.slice(1))) {
  const entry = collect().map((all) => all.get(location.hash.slice(1))).find(Boolean);
  if (entry) prepare(entry); // the browser goes there when the page is loaded
}

// The keys: / goes to the search, the arrows from there through what was found and back, Enter to the first, and Escape clears it.
document.addEventListener("keydown", (event) => {
  const active = document.activeElement;
  if (event.key === "/" && !active.matches("input, textarea, select")) {
    event.preventDefault();
    find.focus();
    find.select();
    return;
  }
  if (event.key === "Escape" && find.value && nav.contains(active)) {
    event.preventDefault();
    find.value = "";
    showFound();
    find.focus();
    return;
  }
  if (!find.value.trim() || active !== find && !active.matches("nav a.op")) return;
  const entries = [find, ...[...nav.querySelectorAll("a.op")].filter((link) => link.checkVisibility())];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    entries[entries.indexOf(active) + step]?.focus();
  } else if (event.key === "Enter" && active === find) {
    entries[1]?.click();
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  await navigator.clipboard.writeText(button.closest("figure").querySelector("pre").textContent);
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1200);
});

// Samples in other languages than that of the shell, and the requests to try, are in a file that is loaded when it is first needed.
let loading;
function loadExamples() {
  loading ??= fetch("docs/examples.json").then((response) => {
    if (!response.ok) throw new Error(response.statusText);
    return response.json();
  });
  loading.catch(() => { loading = undefined; }); // the next choice tries again
  return loading;
}

const languages = [["curl", "curl"], ["typescript", "TypeScript"], ["python", "Python"], ["go", "Go"]];
const samples = []; // of each example: the text of the page, where it is, and the choice of the language
for (const article of document.querySelectorAll("article.operation")) {
  article.querySelectorAll("figure.request").forEach((figure, index) => {
    const choice = document.createElement("select");
    choice.ariaLabel = "Language of the samples";
    choice.append(...languages.map(([value, name]) => new Option(name, value)));
    choice.addEventListener("change", () => chooseLanguage(choice.value, choice));
    figure.querySelector("figcaption").prepend(choice);
    const place = figure.querySelector("pre");
    samples.push({ id: article.id, index, curl: place.textContent, place, choice });
  });
}

async function chooseLanguage(language, chosen) {
  const before = chosen?.getBoundingClientRect().top;
  let file;
  try {
    file = language === "curl" ? undefined : await loadExamples();
  } catch (error) {
    if (chosen) chosen.closest("figure").querySelector("pre").textContent = `The samples could not be loaded: ${error.message}`;
    return;
  }
  for (const { id, index, curl, place, choice } of samples) {
    const sample = file?.operations[id][index].samples?.[language]; // a request that is refused has none
    place.textContent = sample ?? curl;
    choice.value = sample ? language : "curl";
  }
  const client = document.getElementById("client");
  client.hidden = !file;
  client.querySelector("pre").textContent = file?.clients[language] ?? "";
  if (chosen) scrollBy(0, chosen.getBoundingClientRect().top - before); // samples above may be longer or shorter now
  localStorage.setItem("causeway-language", language);
}
const remembered = localStorage.getItem("causeway-language");
if (remembered && remembered !== "curl" && languages.some(([value]) => value === remembered)) chooseLanguage(remembered);

// Requests to this service with a token of a sandbox platform. The secret is sent to where the page is from, and never in clear text
// over a network.
const dialog = document.getElementById("try");
const part = Object.fromEntries([...dialog.querySelectorAll("[id]")].map((e) => [e.id.slice("try-".length), e]));
const base = location.pathname.replace(/\/docs$/, "");
const lastIds = new Map(); // of each type, in responses: they replace those of the examples
const idPattern = /\b([A-Z][A-Za-z]+):[0-9a-f]{8}-[0-9a-f-]{27}\b/g;
const withLastIds = (text) => text.replace(idPattern, (id, type) => lastIds.get(type) ?? id);

if (isSecureContext) {
  for (const show of document.querySelectorAll("[data-try]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "try";
    button.textContent = "Try it";
    button.addEventListener("click", () => openTry(show.closest("article")));
    show.prepend(button);
  }
}

async function openTry(article) {
  part.title.textContent = article.querySelector("h3").textContent;
  part.result.replaceChildren();
  part.invalid.textContent = "";
  part.id.value = sessionStorage.getItem("causeway-client-id") ?? "";
  part.secret.value = sessionStorage.getItem("causeway-client-secret") ?? "";
  let example;
  try {
    example = (await loadExamples()).operations[article.id][0];
  } catch (error) {
    part.invalid.textContent = `The example could not be loaded: ${error.message}`;
  }
  part.method.textContent = example?.method ?? "";
  part.path.value = withLastIds(example?.path ?? "");
  part.headers.value = Object.entries(example?.headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n");
  part["headers-label"].hidden = !example?.headers;
  part.body.value = example?.body ? withLastIds(JSON.stringify(example.body, null, 2)) : "";
  part["body-label"].hidden = example?.method === "GET" || example?.method === "DELETE";
  part["key-label"].hidden = example?.method !== "POST";
  part.key.value = crypto.randomUUID();
  dialog.showModal();
}

part.close.addEventListener("click", () => dialog.close());
dialog.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  sendTry();
});

// readTry returns the request of the form, or says what is wrong with it.
function readTry() {
  const token = new TextEncoder().encode(`${part.id.value.trim()}:${part.secret.value.trim()}`);
  const headers = { Authorization: "Basic " + btoa(String.fromCharCode(...token)) };
  for (const line of part.headers.value.split("\n").filter((text) => text.trim())) {
    const [, name, value] = /^\s*([\w-]+)\s*:\s*(.*)$/.exec(line) ?? [];
    if (!name) throw new Error(`"${line}" is no header: write "Name: value".`);
    headers[name] = value;
  }
  const method = part.method.textContent;
  if (!part.path.value.startsWith("/")) throw new Error("The path must begin with /.");
  if (method === "POST") headers["Idempotency-Key"] = part.key.value;
  let body;
  if (part.body.value.trim() && !part["body-label"].hidden) {
    try {
      JSON.parse(part.body.value);
    } catch (error) {
      throw new Error(`The body is no JSON: ${error.message}`);
    }
    body = part.body.value;
    headers["Content-Type"] = "application/json";
  }
  return [part.path.value, { method, headers, body, credentials: "omit", cache: "no-store", redirect: "error" }];
}

async function sendTry() {
  part.invalid.textContent = "";
  part.result.replaceChildren();
  part.send.disabled = true;
  try {
    const [path, request] = readTry();
    if (await isSandbox(request.headers.Authorization)) {
      sessionStorage.setItem("causeway-client-id", part.id.value.trim());
      sessionStorage.setItem("causeway-client-secret", part.secret.value.trim());
      await showResponse(await fetch(base + path, request));
      part.key.value = crypto.randomUUID(); // until there is a response, the same request has the same key
    }
  } catch (error) {
    const lost = error instanceof TypeError;
    part.invalid.textContent = lost ? "No response. Send it again: the key is the same, so it is carried out once." : error.message;
  } finally {
    part.send.disabled = false;
  }
}

// isSandbox reports whether a token is of a sandbox platform, and says why not: it reads what only such a token may.
async function isSandbox(authorization) {
  const probe = "/sandbox/webhook-deliveries/Webhook:00000000-0000-7000-8000-000000000000/request";
  const response = await fetch(base + probe, { headers: { Authorization: authorization }, credentials: "omit", cache: "no-store" });
  if (response.status === 404) return true;
  const { message } = await response.json().catch(() => ({ message: response.statusText }));
  part.invalid.textContent = `Not sent. The token must be of a sandbox platform, with the permission MANAGE: ${message}`;
  return false;
}

async function showResponse(response) {
  const text = await response.text();
  for (const [id, type] of text.matchAll(idPattern)) lastIds.set(type, id);
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const block = (content) => {
    const pre = document.createElement("pre");
    pre.textContent = content;
    return pre;
  };
  const status = document.createElement("p");
  status.className = response.ok ? "status ok" : "status bad";
  status.textContent = `${response.status} ${response.statusText}`;
  part.result.append(status, block(lines));
  if (text) part.result.append(block(indented(text)));
}

// indented indents JSON without reading its numbers, which may have more digits than a script keeps. Other text stays as it is.
function indented(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let depth = 0;
  const line = () => "\n" + "  ".repeat(depth);
  return text.replace(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}\[\],:]|\s+/g, (token) => {
    switch (token) {
      case "{": case "[": depth++; return token + line();
      case "}": case "]": depth--; return line() + token;
      case ",": return token + line();
      case ":": return ": ";
    }
    return token.trim();
  });
}

let current;
function keepInView() {
  if (!current || current.getClientRects().length === 0) return; // hidden by a search
  const box = nav.getBoundingClientRect();
  const at = current.getBoundingClientRect();
  if (at.top < box.top || at.bottom > box.bottom) nav.scrollTop += at.top - box.top - nav.clientHeight / 3;
}

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    current?.removeAttribute("aria-current");
    current = linkOf.get(entry.target.id);
    current.setAttribute("aria-current", "location");
    keepInView();
  }
}, { rootMargin: "-10% 0px -80% 0px" });
for (const part of document.querySelectorAll("#top, article.operation, #objects")) observer.observe(part);
