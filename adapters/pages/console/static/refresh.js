// Holds back what htmx reads again: while nobody sees the page, and where it would take something from a person: the focus, a selection, or
// what was opened.
(() => {
  const isUsed = (part) => {
    const selected = document.getSelection();
    return part.contains(document.activeElement) || part.querySelector("details[open]") !== null ||
      selected.rangeCount > 0 && !selected.isCollapsed && selected.getRangeAt(0).intersectsNode(part);
  };
  document.addEventListener("htmx:beforeRequest", (event) => {
    const part = event.detail.elt;
    if (part.matches("[data-refresh]") && (document.hidden || isUsed(part))) event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, xhr } = event.detail;
    if (!elt.matches("[data-refresh]")) return;
    // A page without the part is another one, such as that of signing in.
    if (isUsed(elt) || !xhr.responseText.includes(`id="${elt.id}"`)) event.detail.shouldSwap = false;
  });
})();
