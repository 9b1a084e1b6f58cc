// Charts that answer the pointer: each figure's SVG is drawn again by uPlot, with a line to read numbers from.
// What it says comes from the table below the chart, its colours from the SVG: nothing is known twice.
"use strict";

const HEIGHT = 176, COMPACT = 104, LEFT = 60, BELOW = 28, ABOVE = 8; // pixels, as in parts.css
const ours = new WeakMap();
const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => ours.get(target)?.setSize(size(target))));
const size = (figure) => ({ width: figure.clientWidth, height: figure.classList.contains("nw-compact") ? COMPACT : HEIGHT });

function draw(figure) {
  const svg = figure.querySelector("svg.nw-plot"), known = JSON.parse(figure.dataset.chart);
  if (!known.at.length || ours.has(figure)) return;
  const styles = (selector) => getComputedStyle(svg.querySelector(selector) ?? svg);
  const ratio = devicePixelRatio;
  const line = (selector, more) => ({ stroke: () => styles(selector).stroke, width: 1.5, points: { show: lonely }, ...more });
  const some = (marks, side) => (side === 2 && figure.clientWidth < 50 * marks.length ? marks.filter((_, place) => place % 2 === 0) : marks);
  const axis = (side, marks, more) => ({
    side, stroke: () => styles(".nw-tick").fill, font: `11px ${styles(".nw-tick").fontFamily}`, ticks: { show: false },
    splits: () => some(marks, side).map(([at]) => at), values: () => some(marks, side).map(([, words]) => words), ...more,
  });
  const chart = new uPlot({
    ...size(figure), legend: { show: false }, padding: [ABOVE, 1, 0, 0],
    scales: { x: { range: () => [known.from, known.to] }, y: { range: () => [0, known.ticks.at(-1)[0]] } },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 }, ...together(figure) },
    axes: [
      axis(2, known.marks, { size: BELOW, gap: 7, grid: { show: false } }),
      axis(3, known.ticks, { size: LEFT, gap: 8, grid: { stroke: () => styles(".nw-gridline").stroke, width: 1 } }),
    ],
    series: [{}, line(".nw-a", { fill: () => styles(".nw-fill").fill }), ...(known.lines[1] ? [line(".nw-b", { dash: [4, 3] })] : [])],
    hooks: {
      drawClear: [(plot) => known.gaps.forEach(([from, to]) => hatch(plot, from, to, styles(".nw-dot").fill, ratio))],
      draw: [(plot) => known.events.forEach(([at, fault]) => upright(plot, at, styles(fault ? ".nw-event.nw-bad" : ".nw-event:not(.nw-bad)").stroke, ratio)),
        (plot) => known.limit !== null && dotted(plot, known.limit, styles(".nw-limit").stroke, ratio)],
      setCursor: [(plot) => say(figure, plot.cursor.idx)],
    },
  }, [known.at, ...known.lines], figure);
  svg.after(chart.root);
  svg.classList.add("visually-hidden"); // still what a screen reader is told
  ours.set(figure, chart);
  watch.observe(figure);
}

// Charts over one time point at the same moment.
function together(figure) {
  const key = figure.closest("[data-together]")?.dataset.together;
  return key ? { sync: { key, scales: ["x", null] } } : {};
}

// A number between two gaps would be a line of no length.
function lonely(plot, series, from, to) {
  const values = plot.data[series];
  for (let at = from; at <= to; at++) if (values[at] !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null) return true;
  return false;
}

function hatch(plot, from, to, colour, ratio) {
  const left = plot.valToPos(from, "x", true), right = plot.valToPos(to, "x", true), { top, height } = plot.bbox;
  plot.ctx.fillStyle = colour;
  for (let y = 0; y < height; y += 2 * ratio) for (let x = left + ((y / ratio) % 4); x < right; x += 4 * ratio) plot.ctx.fillRect(x, top + y, ratio, ratio);
}

function dotted(plot, value, colour, ratio) {
  const y = plot.valToPos(value, "y", true), { left, width } = plot.bbox;
  plot.ctx.strokeStyle = colour;
  plot.ctx.lineWidth = ratio;
  plot.ctx.setLineDash([2 * ratio, 3 * ratio]);
  plot.ctx.beginPath();
  plot.ctx.moveTo(left, y);
  plot.ctx.lineTo(left + width, y);
  plot.ctx.stroke();
  plot.ctx.setLineDash([]);
}

function upright(plot, at, colour, ratio) {
  const x = plot.valToPos(at, "x", true), { top, height } = plot.bbox;
  plot.ctx.strokeStyle = colour;
  plot.ctx.lineWidth = 1.5 * ratio;
  plot.ctx.setLineDash([2 * ratio, 2 * ratio]);
  plot.ctx.beginPath();
  plot.ctx.moveTo(x, top);
  plot.ctx.lineTo(x, top + height);
  plot.ctx.stroke();
  plot.ctx.setLineDash([]);
}

function say(figure, at) {
  const row = at === null ? null : figure.querySelector("tbody").rows[at], names = [...figure.querySelectorAll("thead th")].slice(1);
  figure.querySelector(".nw-readout").textContent = row ? `${row.cells[0].textContent}: ${names.map((name, n) => `${row.cells[n + 1].textContent} ${name.textContent}`).join(", ")}` : "";
}

const all = (root) => [...root.querySelectorAll("figure[data-chart]"), ...(root.matches?.("figure[data-chart]") ? [root] : [])].forEach(draw);
const again = () => document.querySelectorAll("figure[data-chart]").forEach((figure) => ours.get(figure)?.redraw());
document.addEventListener("DOMContentLoaded", () => all(document));
document.addEventListener("htmx:load", (event) => all(event.detail.elt));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
