// “Is it me or the network?”: what this browser reaches over IPv4 and over IPv6. Each [data-reach] is the address of a picture at a host
// that has an address of one IP version alone; who gets it has reached us over that version. What is found stands in the page, and goes
// along when a ticket is opened. Without this file the page says that it was not tried.
"use strict";

const list = document.querySelector("[data-check]");

// True when the picture came in time; the picture is new each time, so that no cache answers.
function reaches(url, seconds) {
  return new Promise((done) => {
    const picture = new Image();
    const late = setTimeout(() => { picture.src = ""; done(false); }, seconds * 1000);
    picture.onload = () => { clearTimeout(late); done(true); };
    picture.onerror = () => { clearTimeout(late); done(false); };
    picture.src = `${url}?${Date.now()}`;
  });
}

async function look(row, seconds) {
  const good = await reaches(row.dataset.reach, seconds);
  row.querySelector("[data-trying]").hidden = true;
  row.querySelector(good ? "[data-yes]" : "[data-no]").hidden = false;
  return [row.dataset.version, good];
}

// One sentence for all ways together, in the words that the page brought.
function say(found) {
  const good = found.filter(([, reached]) => reached).map(([version]) => version);
  const key = good.length === found.length ? "all" : good.length ? `only${good[0]}` : "none";
  const place = document.querySelector("[data-browser]");
  place.textContent = place.dataset[key];
  place.hidden = false;
}

async function check() {
  const rows = [...list.querySelectorAll("[data-reach]")];
  if (!rows.length) return;
  rows.forEach((row) => {
    row.querySelector("[data-untried]").hidden = true;
    row.querySelector("[data-trying]").hidden = false;
  });
  const found = await Promise.all(rows.map((row) => look(row, Number(list.dataset.seconds))));
  const link = document.querySelector("[data-found]");
  const address = new URL(link.href);
  found.forEach(([version, good]) => address.searchParams.set(`ipv${version}`, good ? "yes" : "no"));
  link.href = address.href;
  say(found);
}

if (list) check();
