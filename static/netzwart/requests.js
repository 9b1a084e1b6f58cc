// Requests and what people wrote: the page says within a tenth of a second that it works, a slow or refused request is said, and text is
// never lost. Comfort only.
"use strict";

const BUSY_AFTER = 100, STILL_AFTER = 4000, DRAFT = "draft ", SENT = "sent drafts", SUSPENDED = "suspended drafts", PERSON = "person";
const strip = (id, shown) => { const found = document.getElementById(id); if (found) found.hidden = !shown; };
const buttonsOf = (element) => element.matches("form") ? [...element.querySelectorAll("button:not([type=button])")] : element.matches("button") ? [element] : [];

// What waits, and the buttons that it disables. Without a button, a line at the top of the page says that it works.
const waiting = new Map();

function begin(key, buttons) {
  const timers = [
    setTimeout(() => buttons.forEach((each) => { each.disabled = true; }), 0), // after the form has taken the button's value
    setTimeout(() => { buttons.forEach((each) => each.classList.add("nw-working")); if (!buttons.length) strip("request-runs", true); }, BUSY_AFTER),
    setTimeout(() => strip("request-waits", true), STILL_AFTER),
  ];
  waiting.set(key, { buttons, timers });
}

function end(key) {
  const found = waiting.get(key);
  if (!found) return;
  found.timers.forEach(clearTimeout);
  found.buttons.forEach((each) => { each.disabled = false; each.classList.remove("nw-working"); });
  waiting.delete(key);
  if (!waiting.size) ["request-runs", "request-waits"].forEach((id) => strip(id, false));
}

// Signing in, in whichever tab, makes a new CSRF token: what this page sends takes it from the cookie, not as it was when the page came.
const TOKEN = "csrfmiddlewaretoken";
const cookie = `${document.querySelector("meta[name=netzwart-csrf-cookie]")?.content}=`;
const token = () => document.cookie.split("; ").find((each) => each.startsWith(cookie))?.slice(cookie.length);

document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector(`input[name=${TOKEN}]`), now = token();
  if (field && now) field.value = now;
}, true); // before all others that read the form
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const now = token();
  if (!now) return;
  if (detail.headers["X-CSRFToken"]) detail.headers["X-CSRFToken"] = now;
  if (detail.parameters[TOKEN]) detail.parameters[TOKEN] = now;
});

const changes = (event) => event.detail.requestConfig?.verb !== "get";
// Somebody waits for this request: it changes something, or they pressed or typed. A page that asks by itself shows nothing.
const awaited = (event) => changes(event) || event.detail.requestConfig?.triggeringEvent?.isTrusted;
// The request sends a form. Others that a form makes are previews while somebody types: they save nothing and leave its buttons alone.
const submits = (event) => event.detail.requestConfig?.triggeringEvent?.type === "submit";
const buttonsFor = (event) => event.target.matches("form") && !submits(event) ? [] : buttonsOf(event.target);

document.addEventListener("htmx:beforeRequest", (event) => {
  if (awaited(event) && !event.defaultPrevented) begin(event.detail.xhr, buttonsFor(event));
});
document.addEventListener("htmx:afterRequest", (event) => end(event.detail.xhr));
// Forms that the browser itself sends. htmx listens at its forms, before the document; a passkey is asked for first (passkey.js).
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post" || event.target.matches("[data-passkey]")) return;
  begin(event.target, buttonsOf(event.target));
  markSent(event.target);
});
// A preview that arrives after that does not replace the form, whose new buttons could be pressed once more.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (waiting.has(detail.requestConfig?.elt)) detail.shouldSwap = false;
});
window.addEventListener("pageshow", () => [...waiting.keys()].forEach(end)); // a page that comes back by the Back button waits for nothing

// A request that failed: signed out is not the same as no answer.
document.addEventListener("htmx:responseError", (event) => {
  const signedOut = [401, 403].includes(event.detail.xhr.status);
  strip("signed-out", signedOut);
  strip("request-error", !signedOut);
});
["htmx:sendError", "htmx:timeout"].forEach((name) => document.addEventListener(name, () => strip("request-error", true)));
document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  strip("request-error", false);
  strip("signed-out", false);
});

// Drafts: what is typed into a form that saves stays in this tab until it was saved, also when the session ended meanwhile. Secrets do not.
const LINES = ["text", "email", "url", "tel", "number", "date", "time", "datetime-local"]; // kinds of one-line fields
const drafted = (field) =>
  (field.matches("textarea[name]") || (field.matches("input[name]:not([autocomplete=one-time-code])") && LINES.includes(field.type))) &&
  field.form && (field.form.method === "post" || field.form.hasAttribute("hx-post"));
const fields = (root) => [...root.querySelectorAll("textarea, input")].filter(drafted);
// Where a field is: the query of a page, which its forms may send along, does not count.
const kept = ({ form, name }) => `${DRAFT}${location.pathname} ${form.id} ${(form.getAttribute("action") ?? "").split("?")[0]} ${name}`;
const draftsOf = (form) => fields(form).map(kept);
const forget = (drafts) => drafts.forEach((key) => sessionStorage.removeItem(key));
const plain = document.body.classList.contains("nw-plain-page"); // sign-in, or an error

// Beside the text, what stood in the field before: where somebody has changed that, or where two fields are alike, nothing is put in.
document.addEventListener("input", ({ target }) => {
  if (plain || !drafted(target)) return;
  if (target.value === target.defaultValue) sessionStorage.removeItem(kept(target));
  else sessionStorage.setItem(kept(target), JSON.stringify({ text: target.value, was: target.defaultValue }));
});

// The answer may replace the form that htmx sent, so its drafts are noted before. A refusal (422) keeps them.
const draftsOfRequest = new WeakMap();
document.addEventListener("htmx:beforeRequest", (event) => {
  if (submits(event)) draftsOfRequest.set(event.detail.xhr, draftsOf(event.target));
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.xhr.status < 400) forget(draftsOfRequest.get(detail.xhr) ?? []);
});

// What was sent and is refused, or suspended until somebody has confirmed who they are. The form that goes on with it saves these drafts.
const REFUSED = ".nw-errors, .errorlist, [aria-invalid=true]";
const resumes = (form) => form.matches("[data-resumes]") || (!plain && form.querySelector(REFUSED));
let unsettled = [];

function markSent(form) {
  if (new URL(form.action).pathname.endsWith("/logout/")) return clear();
  sessionStorage.setItem(SENT, JSON.stringify([...(resumes(form) ? unsettled : []), ...draftsOf(form)]));
}

function clear() {
  forget(Object.keys(sessionStorage).filter((key) => key.startsWith(DRAFT) || [SENT, SUSPENDED].includes(key)));
}

// A page of sign-in or of an error says that what was sent did not arrive, and errors beside fields that it was refused. Otherwise it is
// saved. A page that confirms who somebody is does not know yet, also when it comes again. What somebody else wrote in this tab is theirs.
function settle() {
  const { person } = document.documentElement.dataset;
  if (person && sessionStorage.getItem(PERSON) !== person) clear();
  if (person) sessionStorage.setItem(PERSON, person);
  const confirms = document.querySelector("[data-resumes]");
  const drafts = JSON.parse(sessionStorage.getItem(SENT) ?? (confirms && sessionStorage.getItem(SUSPENDED)) ?? "[]");
  if (!plain && !document.querySelector(REFUSED)) forget(drafts);
  else unsettled = drafts;
  if (confirms) sessionStorage.setItem(SUSPENDED, JSON.stringify(drafts));
  else sessionStorage.removeItem(SUSPENDED);
  sessionStorage.removeItem(SENT);
}

// Put drafts back into the fields within `root`, and say so if a person who has just come to the page would wonder.
function restore(root, says) {
  const here = fields(root), all = here.length ? fields(document) : [];
  here.forEach((field) => {
    const key = kept(field), draft = sessionStorage.getItem(key);
    if (!draft || all.some((each) => each !== field && kept(each) === key)) return; // which of two that are alike it belongs to is not known
    const { text, was } = JSON.parse(draft);
    if (field.value !== field.defaultValue || field.value !== was) return;
    field.value = text;
    if (says) strip("draft-restored", true);
  });
}

settle();
restore(document, true);
// What htmx puts in the place of a form that somebody fills in. The drafts of what was saved are forgotten by then; a dialog begins anew.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (!target.closest("dialog")) restore(target, false);
});
