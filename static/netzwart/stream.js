// The stream of live events. In a page it is that tab's own; run as a shared worker it is one for all tabs of a browser: with HTTP/1.1 a
// browser opens six connections to a host, and a stream for each tab would leave none for pages.
"use strict";

const KINDS = ["rollout", "step", "gateway", "failover", "approval", "hold", "ticket", "presence", "forward", "pinhole", "address", "several", "reset"];
const LATER = 60_000; // milliseconds until a stream that was refused is asked for again
const BEAT = 20_000, SILENT = 70_000; // how often a tab in sight says that it is there, and after how long without it is taken for gone

// Calls heard with { up } when the stream comes and goes, and with { kind, id } for each event.
function openStream(url, heard) {
  let source = null, again = null;
  const refused = () => source.readyState === EventSource.CLOSED;

  function open() {
    source = new EventSource(url, { withCredentials: true });
    source.onopen = () => heard({ up: true });
    source.onerror = () => { heard({ up: false }); if (refused()) again = setTimeout(open, LATER); };
    KINDS.forEach((kind) => source.addEventListener(kind, (event) => heard({ kind, id: JSON.parse(event.data).id })));
  }

  open();
  return { refused, close() { clearTimeout(again); source.close(); } };
}

// The shared worker: a tab says { look: url } while it is in sight, and { leave: true } when it is not; each in sight hears the same.
function share(scope) {
  const tabs = new Map(); // the ports of those in sight, and when each said so last
  let stream = null, up = false;

  function heard(said) {
    up = said.up ?? up;
    tabs.forEach((_at, port) => port.postMessage(said));
  }

  function end() {
    stream?.close();
    stream = null;
    up = false;
  }

  function look(port, url) {
    const fresh = !tabs.has(port);
    tabs.set(port, Date.now());
    if (fresh && stream?.refused()) end(); // whoever came may have signed in meanwhile
    stream ??= openStream(url, heard);
    port.postMessage({ up }); // also says that this script runs
  }

  function leave(port) {
    if (tabs.delete(port) && !tabs.size) end();
  }

  scope.onconnect = ({ ports: [port] }) => {
    port.onmessage = ({ data }) => (data.look ? look(port, data.look) : leave(port));
  };
  setInterval(() => tabs.forEach((at, port) => {
    if (Date.now() - at < SILENT) return;
    port.postMessage({ up: false }); // one that is still there says so, and then looks at everything
    leave(port);
  }), BEAT);
}

if ("onconnect" in globalThis) share(globalThis);
