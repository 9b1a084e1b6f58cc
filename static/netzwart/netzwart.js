// Comfort only: every page works without this file. Listeners sit on the document, so what htmx swaps in is served too.
"use strict";

const by = (id) => document.getElementById(id);
const silent = document.documentElement.dataset.singleKeys === "off"; // this person's choice: no single letter or sign does anything
const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

// Copy buttons: copy the bare value and say so.
async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  button.dataset.said = button.dataset.says;
  button.setAttribute("aria-live", "polite");
  setTimeout(() => delete button.dataset.said, 1600);
}

// Without a clipboard (http, old browser) the value is selected, ready for the keyboard.
function select(button) {
  const value = button.parentElement.querySelector("code") ?? button.parentElement;
  getSelection().selectAllChildren(value);
}

if (silent) document.querySelectorAll("[aria-keyshortcuts]").forEach((each) => each.removeAttribute("aria-keyshortcuts"));

// The tab of this page stands in sight, also where the row of tabs is wider than a phone.
document.querySelectorAll(".nw-tabs [aria-current]").forEach((tab) => {
  const row = tab.parentElement;
  row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
});

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-copy], [data-opens], [data-hides], [data-close], [data-dialog]");
  document.querySelectorAll("details.nw-menu[open]").forEach((menu) => menu.contains(event.target) || menu.removeAttribute("open"));
  if (event.target.matches("dialog.nw-dialog")) event.target.close();
  if (!target) return;
  if (target.dataset.copy !== undefined) copy(target).catch(() => select(target));
  if (target.dataset.opens) by(target.dataset.opens).showModal();
  if (target.dataset.hides) by(target.dataset.hides).hidden = true;
  if (target.dataset.close !== undefined && target.closest("dialog")) { event.preventDefault(); target.closest("dialog").close(); }
  if (target.dataset.dialog !== undefined && !event.ctrlKey && !event.metaKey) { event.preventDefault(); ask(target, event); }
});

// <a data-dialog href="…/confirm">: the confirmation of that page, in a dialog over this one. A form inside it posts to that address.
// A request that is refused swaps nothing: then the page itself says why, and not the question that was asked before.
async function ask(link, event) {
  const dialog = by("dialog");
  dialog.replaceChildren();
  await htmx.ajax("GET", link.href, { target: dialog, select: "form.nw-confirm", swap: "innerHTML", source: link, event });
  const form = dialog.querySelector("form.nw-confirm");
  if (!form) { location.href = link.href; return; }
  if (!form.getAttribute("action")) form.action = link.href;
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") escape();
  if (silent || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (event.key === "/" && by("search")) { event.preventDefault(); by("search").focus(); by("search").select(); }
  if (event.key === "?" && by("keys") && !document.querySelector("dialog[open]")) { event.preventDefault(); by("keys").showModal(); }
});

// Escape closes an open menu first; only then it clears the selected rows.
function escape() {
  const menu = document.querySelector("details.nw-menu[open]");
  if (menu) { menu.removeAttribute("open"); menu.querySelector("summary").focus(); return; }
  if (document.querySelector("dialog[open], :popover-open")) return;
  document.querySelectorAll("form:has(.nw-bulk):has(.nw-pick :checked)").forEach((form) => form.reset());
}

// The theme changes at once; the server is told so that the next page comes in it.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-theme-switch]");
  if (!form) return;
  event.preventDefault();
  const theme = event.submitter.value;
  document.documentElement.dataset.bsTheme = theme;
  form.querySelectorAll("[aria-pressed]").forEach((button) => button.setAttribute("aria-pressed", String(button.value === theme)));
  fetch(form.action, { method: "POST", body: new FormData(form, event.submitter), redirect: "manual" });
  document.dispatchEvent(new CustomEvent("netzwart:theme", { detail: theme }));
});

// Rows: the box in the head picks the page, shift picks what lies between, the bar counts.
let last = null;
const boxes = (form) => [...form.querySelectorAll("tbody .nw-pick input[type=checkbox]")];

document.addEventListener("click", (event) => {
  const box = event.target.closest("tbody .nw-pick input[type=checkbox]");
  if (!box) return;
  const all = boxes(box.form);
  if (event.shiftKey && last?.form === box.form) {
    const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
    all.slice(from, to + 1).forEach((each) => (each.checked = box.checked));
    count(box.form);
  }
  last = box;
});

function count(form) {
  const all = boxes(form), picked = all.filter((box) => box.checked).length;
  const head = form.querySelector("thead .nw-pick input"), said = form.querySelector("[data-selected]"), every = form.querySelector("[name=all]");
  if (head) { head.checked = picked > 0 && picked === all.length; head.indeterminate = picked > 0 && picked < all.length; }
  if (said && picked) said.textContent = picked === 1 ? said.dataset.one : said.dataset.many.replace("#", picked);
  if (every && picked < all.length) every.checked = false;
}

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form?.querySelector(".nw-bulk")) return;
  if (event.target.matches("thead .nw-pick input")) boxes(form).forEach((box) => (box.checked = event.target.checked));
  if (event.target.matches("[name=all]") && event.target.checked) boxes(form).forEach((box) => (box.checked = true));
  count(form);
});
document.addEventListener("reset", (event) => setTimeout(() => { boxes(event.target).forEach((box) => (box.checked = false)); count(event.target); }));

// Boxes in groups: the one at the head of a column picks the column, and shows how much of it is picked.
const column = (head) => [...head.closest(".nw-boxes-group").querySelectorAll(`[data-column="${head.dataset.picks}"]`)];

function heads() {
  document.querySelectorAll("[data-picks]").forEach((head) => {
    const all = column(head), picked = all.filter((box) => box.checked).length;
    head.parentElement.hidden = false;
    head.checked = picked === all.length;
    head.indeterminate = picked > 0 && picked < all.length;
  });
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-picks]")) column(event.target).forEach((box) => (box.checked = event.target.checked));
  if (event.target.matches("[data-picks], [data-column]")) heads();
});
heads();

// htmx: focus goes to the first error, or to what asks for it. (What waits and what failed: requests.js.)
// What asks for itself again and again does not while nobody looks.
document.addEventListener("htmx:beforeRequest", (event) => { if (document.hidden && event.target.matches("[data-live]")) event.preventDefault(); });
document.addEventListener("htmx:afterSettle", (event) => {
  document.querySelectorAll("form:has(.nw-bulk)").forEach(count);
  event.target.querySelector?.("[aria-invalid=true], [autofocus]")?.focus();
});

// A part of the page that comes anew keeps open what the reader opened, and shut what they shut.
const opened = new Map();
document.addEventListener("toggle", ({ target }) => { if (target.matches("details[id]")) opened.set(target.id, target.open); }, true);
document.addEventListener("htmx:afterSwap", () => opened.forEach((open, id) => { if (by(id)) by(id).open = open; }));

document.querySelectorAll("form:has(.nw-bulk)").forEach(count);
document.querySelector(".nw-errors[autofocus]")?.focus();

// A gateway on trial: the seconds run down between two answers of the server; said aloud at the start, at ten seconds and at the end.
const counting = new WeakMap();
const announced = new Set();

function countDown() {
  document.querySelectorAll("[data-left]").forEach((element) => {
    if (!counting.has(element)) counting.set(element, Date.now() + Number(element.dataset.left) * 1000);
    const left = Math.max(0, Math.ceil((counting.get(element) - Date.now()) / 1000));
    element.querySelector("[data-seconds]").textContent = left;
    element.querySelector("progress").value = left;
    announce(element, "start");
    if (left === 10 || left === 9) announce(element, "ten");
    if (left === 0) announce(element, "end");
  });
}

function announce(element, moment) {
  const key = `${element.dataset.trial} ${moment}`;
  if (announced.has(key) || !by("countdown-says")) return;
  announced.add(key);
  by("countdown-says").textContent = element.dataset[moment];
}

setInterval(countDown, 1000);
document.addEventListener("htmx:afterSettle", countDown);
countDown();
