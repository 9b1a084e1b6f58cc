// Live events, comfort on top of polling. A tab that is in sight holds one stream; what polls asks at once when something happens that it
// watches (data-watches="rollout ticket:17"), and rarely while the stream is up. Without a stream everything polls as often as it says.
"use strict";

(() => {
  const url = document.querySelector("meta[name=netzwart-events]").content;
  const KINDS = ["rollout", "step", "gateway", "approval", "hold", "ticket", "presence", "forward", "pinhole", "address", "several", "reset"];
  const RARELY = 10_000, LATER = 60_000, TOGETHER = 50; // milliseconds
  const asked = new Map(); // when what polls last asked, by its id: each answer is a new element
  let source = null, up = false, before = false, soon = null;
  const due = new Set();

  const watches = (element, kind, id) => element.dataset.watches.split(" ").some((each) => each === kind || each === `${kind}:${id}`);

  function tell(kind, id) {
    document.querySelectorAll("[data-watches]").forEach((element) => {
      if (kind === "reset" || watches(element, kind, id)) due.add(element);
    });
    soon ??= setTimeout(ask, TOGETHER); // what happens together is asked for together
  }

  function ask() {
    soon = null;
    due.forEach((element) => element.isConnected && htmx.trigger(element, "netzwart:news"));
    due.clear();
  }

  function open() {
    if (source || document.hidden) return;
    source = new EventSource(url, { withCredentials: true });
    source.onopen = () => { if (before && !up) tell("reset"); up = before = true; };
    source.onerror = () => { up = false; if (source.readyState === EventSource.CLOSED) { close(); setTimeout(open, LATER); } };
    KINDS.forEach((kind) => source.addEventListener(kind, (event) => tell(kind, JSON.parse(event.data).id)));
  }

  function close() {
    source?.close();
    source = null;
    up = false;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);

  // A poll has no event that triggered it.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const element = event.target;
    if (!element.dataset?.watches || element.hasAttribute("data-presence") || event.defaultPrevented) return;
    const poll = !event.detail.requestConfig.triggeringEvent;
    if (poll && up && Date.now() - (asked.get(element.id) ?? 0) < RARELY) event.preventDefault();
    else asked.set(element.id, Date.now());
  });

  open();
})();
