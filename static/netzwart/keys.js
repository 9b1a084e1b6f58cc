// Keys for lists and tickets; comfort only. data-keys: a table whose rows j and k go through; data-key="r": what r goes to, or opens.
"use strict";

(() => {
  const busy = (event) =>
    event.ctrlKey || event.metaKey || event.altKey || event.isComposing ||
    event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null ||
    document.querySelector("dialog[open], :popover-open, details.nw-menu[open]") !== null;

  // The row with the focus; the first or the last one, where there is none yet.
  function move(step) {
    const rows = [...document.querySelectorAll("[data-keys] tbody tr")];
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    const next = here < 0 ? (step > 0 ? 0 : rows.length - 1) : here + step;
    const link = rows[next]?.querySelector("th a");
    link?.focus();
    link?.closest("tr").scrollIntoView({ block: "nearest" });
    return link;
  }

  function pick() {
    const box = document.activeElement?.closest("[data-keys] tbody tr")?.querySelector(".nw-pick input");
    box?.click();
    return box;
  }

  function named(key) {
    const found = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key);
    found?.matches("a") ? found.click() : found?.focus();
    return found;
  }

  if (document.documentElement.dataset.singleKeys === "off") return;
  document.addEventListener("keydown", (event) => {
    if (busy(event) || event.key.length !== 1) return;
    const does = { j: () => move(1), k: () => move(-1), x: pick };
    if ((does[event.key] ?? (() => named(event.key)))()) event.preventDefault();
  });
})();
