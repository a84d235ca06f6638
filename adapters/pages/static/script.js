// The pages work without this script. It keeps a form from being sent twice, and shows the progress
// of an upload.
"use strict";

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    const button = form.querySelector("button[type=submit]");
    if (button.getAttribute("aria-disabled") === "true") {
      event.preventDefault();
      return;
    }
    button.setAttribute("aria-disabled", "true");
    const file = form.querySelector("input[type=file]");
    if (file && file.files.length > 0) {
      event.preventDefault();
      upload(form, button);
    }
  });
}

// A page that the browser kept, and shows again, has a form that can be sent again.
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[aria-disabled]")) button.removeAttribute("aria-disabled");
});

const summary = document.querySelector(".problems[role=alert]");
if (summary) summary.focus();

function upload(form, button) {
  const status = form.querySelector(".progress");
  const bar = document.createElement("progress");
  const text = document.createElement("p");
  bar.max = 100;
  bar.setAttribute("aria-label", form.dataset.progress);
  status.replaceChildren(text, bar);
  text.textContent = form.dataset.progress;
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) bar.value = Math.round((100 * event.loaded) / event.total);
  });
  const failed = () => {
    text.textContent = form.dataset.failed;
    bar.remove();
    button.removeAttribute("aria-disabled");
  };
  request.addEventListener("error", failed);
  request.addEventListener("abort", failed);
  request.addEventListener("load", () => {
    const target = new URL(request.responseURL);
    if (request.status < 400) {
      location.assign(target.pathname);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const main = page.querySelector("main");
    if (!main) {
      failed();
      return;
    }
    document.title = page.title;
    document.querySelector("main").replaceWith(main);
    const again = main.querySelector("form");
    if (again) again.addEventListener("submit", (event) => {
      const chosen = again.querySelector("input[type=file]");
      if (!chosen || chosen.files.length === 0) return;
      event.preventDefault();
      upload(again, again.querySelector("button[type=submit]"));
    });
    const problems = main.querySelector(".problems");
    if (problems) problems.focus();
  });
  request.open("POST", form.action);
  request.send(new FormData(form));
}
