// The pages work without this script. It keeps a form from being sent twice, shows the progress of an
// upload, and shows the result of a verification when there is one.
"use strict";

document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = form.querySelector("button[type=submit]");
  if (button.getAttribute("aria-disabled") === "true") {
    event.preventDefault();
    return;
  }
  button.setAttribute("aria-disabled", "true");
  const file = form.querySelector("input[type=file]")?.files[0];
  if (!file) return;
  event.preventDefault();
  if (file.size > Number(form.dataset.max)) {
    stop(form, form.dataset.large);
  } else {
    upload(form);
  }
});

// A page that the browser kept, and shows again, may be out of date: it is loaded again, as one that it did not keep.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
  for (const button of document.querySelectorAll("button[aria-disabled]")) button.removeAttribute("aria-disabled");
});

focusProblems();

const note = document.querySelector("[data-automatic]");
if (note) {
  note.textContent = note.dataset.automatic;
  const timer = setInterval(async () => {
    const response = await fetch(location.pathname, { signal: AbortSignal.timeout?.(10_000) }).catch(() => null); // perhaps the next time
    if (!response || response.status >= 500) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (page.querySelector("[data-automatic]") || !page.querySelector("main")) return;
    clearInterval(timer);
    show(page);
    document.querySelector("main").focus();
  }, 10_000);
}

// show shows the content of another page.
function show(page) {
  document.title = page.title;
  document.querySelector("main").replaceWith(page.querySelector("main"));
}

function focusProblems() {
  const summary = document.querySelector(".problems[role=alert]");
  if (summary) summary.focus();
}

// stop says why nothing was uploaded. The form can be sent again.
function stop(form, ...texts) {
  form.querySelector(".progress").replaceChildren(...texts.map((text) => {
    const line = document.createElement("p");
    line.className = "problem";
    line.textContent = text;
    return line;
  }));
  form.querySelector("button[type=submit]").removeAttribute("aria-disabled");
}

function upload(form) {
  const bar = document.createElement("progress");
  const text = document.createElement("p");
  bar.max = 100;
  bar.setAttribute("aria-label", form.dataset.progress);
  form.querySelector(".progress").replaceChildren(text, bar);
  text.textContent = form.dataset.progress;
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) bar.value = Math.round((100 * event.loaded) / event.total);
  });
  request.addEventListener("error", () => stop(form, form.dataset.failed));
  request.addEventListener("abort", () => stop(form, form.dataset.failed));
  request.addEventListener("load", () => {
    if (request.status < 400) {
      location.assign(new URL(request.responseURL).pathname);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const main = page.querySelector("main");
    if (!main) {
      stop(form, form.dataset.failed);
    } else if (main.querySelector("form")) {
      show(page);
      focusProblems();
    } else { // what was entered stays
      stop(form, ...[...main.querySelectorAll("h1, h1 + p")].map((line) => line.textContent));
    }
  });
  request.open("POST", form.action);
  request.send(new FormData(form));
}
