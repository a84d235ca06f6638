"use strict";
const find = document.getElementById("find");
const links = [...document.querySelectorAll("nav a.op")];

find.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const link of links) {
    const text = link.dataset.find.toLowerCase();
    link.hidden = !words.every((word) => text.includes(word));
  }
  for (const section of document.querySelectorAll("nav section")) {
    section.hidden = words.length > 0 && !section.querySelector("a.op:not([hidden])");
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== find) {
    event.preventDefault();
    find.focus();
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  await navigator.clipboard.writeText(button.closest("figure").querySelector("pre").textContent);
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1200);
});

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links) {
      link.toggleAttribute("aria-current", link.hash === "#" + entry.target.id);
    }
  }
}, { rootMargin: "-10% 0px -80% 0px" });
for (const operation of document.querySelectorAll("article.operation")) observer.observe(operation);
