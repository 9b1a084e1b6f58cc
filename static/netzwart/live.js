// Live events, comfort on top of polling. Tabs in sight share one stream (stream.js), or hold one each where a browser has no shared workers;
// what polls asks at once when something happens that it watches (data-watches="rollout ticket:17"), and rarely while the stream is up.
// Without a stream everything polls as often as it says.
"use strict";

(() => {
  const { content: url, dataset: { of } } = document.querySelector("meta[name=netzwart-events]");
  const RARELY = 10_000, TOGETHER = 50, UNHEARD = 5_000; // milliseconds
  const asked = new Map(); // when what polls last asked, by its id: each answer is a new element
  let up = false, before = false, soon = null;
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

  function heard({ up: now, kind, id }) {
    if (kind) { tell(kind, id); return; }
    if (now && before && !up) tell("reset");
    up = now;
    before ||= now;
    document.documentElement.dataset.stream = up ? "up" : "down";
  }

  // A stream of this tab's own.
  function own() {
    let stream = null;
    return { look() { stream ??= openStream(url, heard); }, leave() { stream?.close(); stream = null; } };
  }

  // The one of all tabs of this person. Where its script cannot be run, this tab has its own: browsers mostly say so, and where none
  // is heard of for a while the tab takes its own until then.
  function shared() {
    const worker = new SharedWorker(document.getElementById("netzwart-stream").src, { name: `netzwart ${of}` });
    const say = (message) => worker.port.postMessage(message);
    const alone = own();
    let beat = null, doubt = null;
    const trust = () => { clearTimeout(doubt); alone.leave(); };
    worker.port.onmessage = ({ data }) => { trust(); heard(data); };
    worker.onerror = () => { link.leave(); link = own(); arrive(); };
    return {
      look() {
        say({ look: url });
        beat ??= setInterval(say, BEAT, { look: url });
        doubt ??= setTimeout(alone.look, UNHEARD);
      },
      leave() {
        say({ leave: true });
        clearInterval(beat);
        trust();
        beat = doubt = null;
      },
    };
  }

  const arrive = () => { if (!document.hidden) link.look(); };
  const leave = () => { link.leave(); heard({ up: false }); };
  let link = "SharedWorker" in window ? shared() : own();

  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : arrive()));
  addEventListener("pagehide", leave);
  addEventListener("pageshow", arrive);

  // A poll has no event that triggered it.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const element = event.target;
    if (!element.dataset?.watches || element.hasAttribute("data-presence") || event.defaultPrevented) return;
    const poll = !event.detail.requestConfig.triggeringEvent;
    if (poll && up && Date.now() - (asked.get(element.id) ?? 0) < RARELY) event.preventDefault();
    else asked.set(element.id, Date.now());
  });

  arrive();
})();
