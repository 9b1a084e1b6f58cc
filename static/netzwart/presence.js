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
    event.detail.parameters.entries = document.querySelectorAll(".nw-thread [id^=message-]").length;
  });
  // What was new has been shown: then it is not new any more.
  document.addEventListener("htmx:afterRequest", (event) => {
    const sign = event.target.closest?.("[data-presence]");
    if (sign && sign !== event.target) htmx.trigger(sign, "netzwart:news");
  });
  document.addEventListener("input", (event) => {
    const sign = document.querySelector("[data-presence]");
    if (sign && event.target === text() && writing() !== said) { said = writing(); htmx.trigger(sign, "netzwart:news"); }
  });
})();
