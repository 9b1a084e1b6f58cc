// Who else is at this ticket: each sign says whether something is being written here, and the first letter says it at once.
"use strict";

(() => {
  const text = () => document.querySelector("#answer textarea");
  const writing = () => Boolean(text()?.value.trim());
  let said = false;

  document.addEventListener("htmx:configRequest", (event) => {
    if (!event.target.matches("[data-presence]")) return;
    said = writing();
    event.detail.parameters.writing = said ? "1" : "";
  });
  document.addEventListener("input", (event) => {
    const sign = document.querySelector("[data-presence]");
    if (sign && event.target === text() && writing() !== said) { said = writing(); htmx.trigger(sign, "netzwart:news"); }
  });
})();
