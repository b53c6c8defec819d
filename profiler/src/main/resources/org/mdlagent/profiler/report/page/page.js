"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/* Numbers for people. Unknown values are a dash. */

function scaled(value, units, digits) {
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const text = unit === 0 && Number.isInteger(value) ? String(value) : value.toPrecision(digits);
  return (text.includes("e") ? String(Math.round(value)) : text) + units[unit];
}

const duration = (nanos) => (nanos === undefined ? "-" : scaled(nanos, [" ns", " us", " ms", " s"], 3));
/** From a minute on, as on a clock. */
function elapsed(nanos) {
  const seconds = Math.floor(nanos / 1e9);
  const two = (n) => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) {
    return `${hours}:${two(minutes)}:${two(seconds % 60)} h`;
  }
  return minutes > 0 ? `${minutes}:${two(seconds % 60)} min` : duration(nanos);
}
const tick = (nanos) => duration(nanos).replace(/\.0+ /, " ");
const count = (n) => (n === undefined ? "-" : scaled(n, ["", " k", " M", " G", " T"], 3));
const grouped = (n) => n.toLocaleString("en");
const percent = (part) => (part === undefined ? "-" : `${part < 0.1 ? part.toFixed(2) : part.toFixed(1)} %`);
const time = (text) => (text ? new Date(text).toLocaleString() : "-");
const plural = (n, one, many) => `${grouped(n)} ${n === 1 ? one : many}`;
const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);

/* Elements. Text of the session enters the page only as text, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function facts(list, pairs) {
  list.replaceChildren(...pairs.map(([term, value]) =>
    element("div", {}, element("dt", {}, term), element("dd", {}, value))));
  return list;
}

/* Latency. A function's slots are pairs of duration and calls, shortest first. */

function slots(f) {
  const pairs = [];
  for (let i = 0; i < f.latency.length; i += 2) {
    pairs.push({ nanos: Math.max(1, f.latency[i]), calls: f.latency[i + 1] });
  }
  return pairs;
}

const log = Math.log10;

/** Calls in `bins` ranges of equal width on a logarithmic axis from 10^low to 10^high. */
function binned(f, low, high, bins) {
  const calls = new Array(bins).fill(0);
  for (const slot of slots(f)) {
    const bin = Math.floor((log(slot.nanos) - low) / (high - low) * bins);
    calls[Math.min(bins - 1, Math.max(0, bin))] += slot.calls;
  }
  return calls;
}

/** Powers of ten that enclose the durations of some functions; at least one decade. */
function decades(functions) {
  const timed = functions.filter((f) => f.latency.length > 0);
  let low = Infinity;
  let high = 1;
  for (const f of timed) {
    low = Math.min(low, log(Math.max(1, f.latency[0])));
    high = Math.max(high, log(Math.max(1, f.latency[f.latency.length - 2])));
  }
  low = timed.length > 0 ? Math.floor(low) : 0;
  return [low, Math.max(low + 1, Math.ceil(high))];
}

/* Charts. */

const CHART = { left: 64, right: 26, top: 22, bottom: 24 };

/** An empty chart as wide as the panel, with functions that map a fraction (0 to 1) to each axis. */
function chart(label) {
  const style = getComputedStyle(byId("detail"));
  const width = byId("detail").clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const height = Math.min(340, Math.max(200, width * 0.4));
  const picture = svg("svg", {
    class: "chart", role: "img", "aria-label": label, viewBox: `0 0 ${width} ${height}`, height,
  });
  return {
    picture,
    x: (part) => CHART.left + part * (width - CHART.left - CHART.right),
    y: (part) => height - CHART.bottom - part * (height - CHART.top - CHART.bottom),
  };
}

function line(c, x1, y1, x2, y2, kind) {
  c.picture.append(svg("line", { class: kind, x1: c.x(x1), y1: c.y(y1), x2: c.x(x2), y2: c.y(y2) }));
}

function text(c, x, y, dx, dy, anchor, words, kind = "") {
  c.picture.append(svg("text", { class: kind, x: c.x(x) + dx, y: c.y(y) + dy, "text-anchor": anchor }, words));
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}
