/* What two runs say of a function: `before` and `after`, one of which may not be there. */

const SIGNIFICANT = 0.05;

const change = (was, is) => (was > 0 && is !== undefined ? (is / was - 1) * 100 : undefined);
const stars = (rate) => (rate <= 0.001 ? " ***" : rate <= 0.01 ? " **" : rate <= SIGNIFICANT ? " *" : "");

/** Whether a change is none with the digits that are shown. */
const isSlight = (percentage) => Math.abs(percentage) < 0.05;

function changeText(percentage) {
  if (percentage === undefined) {
    return "-";
  }
  const text = percentage >= 999.5 ? `×${(percentage / 100 + 1).toPrecision(3)}` : `${Math.abs(percentage).toFixed(1)} %`;
  return isSlight(percentage) ? "0.0 %" : `${percentage > 0 ? "▲" : "▼"} ${text}`;
}

/**
 * A change, and, where it was tested, its significance: coloured only where it is beyond chance, and the figure that is
 * shown says the same as the test of the whole.
 */
function drawChange(key, test) {
  return (f, cell) => {
    cell.append(f.before ? (f.after ? changeText(f[key]) : "gone") : "new");
    if (test) {
      const { rate, worse } = test(f);
      cell.append(stars(rate));
      const clear = rate <= SIGNIFICANT && !isSlight(f[key]) && worse === f[key] > 0;
      cell.classList.add(clear ? (worse ? "worse" : "better") : "chance");
    }
  };
}

const latencyTest = (f) => ({ rate: f.latencyRate, worse: f.slower > 0.5 });
const totalTest = (f) => ({ rate: f.totalRate, worse: f.totalChange > 0 });

function side(name, member) {
  return (f, cell) => cell.append(duration(f[name]?.[member]));
}

const COLUMNS = [
  { key: "name", title: "Function", draw: (f, cell) => cell.append(f.name) },
  { key: "p50Before", title: "p50", draw: side("before", "p50Nanos") },
  { key: "p50After", title: "now", draw: side("after", "p50Nanos") },
  { key: "p50Change", title: "p50 change", draw: drawChange("p50Change", latencyTest) },
  { key: "p99Before", title: "p99", draw: side("before", "p99Nanos") },
  { key: "p99After", title: "now", draw: side("after", "p99Nanos") },
  { key: "p99Change", title: "p99 change", draw: drawChange("p99Change") },
  { key: "totalBefore", title: "Total", draw: side("before", "totalNanos") },
  { key: "totalAfter", title: "now", draw: side("after", "totalNanos") },
  { key: "totalChange", title: "Total change", draw: drawChange("totalChange", totalTest) },
  { key: "callsChange", title: "Calls", draw: drawChange("callsChange") },
];

function measure(f) {
  for (const name of ["p50", "p99", "total"]) {
    const [was, is] = [f.before?.[`${name}Nanos`], f.after?.[`${name}Nanos`]];
    f[`${name}Before`] = was;
    f[`${name}After`] = is;
    f[`${name}Change`] = change(was, is);
  }
  f.callsChange = change(f.before?.calls, f.after?.calls);
  f.significant = f.latencyRate <= SIGNIFICANT || f.totalRate <= SIGNIFICANT;
  f.regression = f.latencyRegression || f.totalRegression;
  f.searched = [f.name, f.file, f.image].join("\n").toLowerCase();
}

/* The runs. */

function describe(run) {
  return [
    time(run.started),
    duration(run.elapsedNanos),
    run.exact ? "exact" : "sampled",
    `build ${run.build?.slice(0, 12) ?? "-"}`,
    `session ${run.id}`,
  ].join(" · ");
}

function showRuns() {
  const { before, after, functions } = data;
  const names = [...new Set([fileName(before.program), fileName(after.program)])];
  document.title = `${names.join(", ")} - mdl diff`;
  byId("program").textContent = names.join(" → ");
  byId("before").textContent = `before: ${describe(before)}`;
  byId("after").textContent = `after: ${describe(after)}`;
  const significant = functions.filter((f) => f.significant);
  const threshold = data.thresholdPercent;
  facts(byId("summary"), [
    ["Functions", grouped(functions.length)],
    ["Changed beyond chance", grouped(significant.length)],
    ...(threshold === undefined ? [] : [[`Slower by more than ${percent(threshold)}`, grouped(data.regressions)]]),
  ]);
}

/* The table. Only rows in view exist as elements. */

const ROW = 28;
const COLLATOR = new Intl.Collator("en");
const view = { rows: [], filter: "", significant: false, sort: null, descending: true, chosen: -1, shown: null };

function compare(a, b) {
  const [x, y] = [a[view.sort], b[view.sort]];
  const known = (x === undefined) - (y === undefined);
  const order = view.sort === "name" ? COLLATOR.compare(x, y) : x - y;
  return known || (view.descending ? -order : order) || 0;
}

function select() {
  const words = view.filter.toLowerCase().split(/\s+/).filter((word) => word);
  const chosen = view.rows[view.chosen];
  view.rows = data.functions.filter(
    (f) => (!view.significant || f.significant) && words.every((word) => f.searched.includes(word)));
  if (view.sort) {
    view.rows.sort(compare);
  }
  view.chosen = view.rows.indexOf(chosen);
  byId("rows").style.height = `${Math.max(1, view.rows.length) * ROW}px`;
  byId("grid").setAttribute("aria-rowcount", view.rows.length + 1);
  byId("count").textContent = `${grouped(view.rows.length)} of ${plural(data.functions.length, "function", "functions")}`;
  for (const cell of byId("head").querySelectorAll("[data-key]")) {
    const sorted = cell.dataset.key === view.sort;
    cell.toggleAttribute("aria-sort", sorted);
    if (sorted) {
      cell.setAttribute("aria-sort", view.descending ? "descending" : "ascending");
    }
    cell.firstChild.textContent = cell.dataset.title + (sorted ? (view.descending ? " ▾" : " ▴") : "");
  }
  drawRows();
}

function drawRows() {
  const grid = byId("grid");
  const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - 5);
  const last = Math.min(view.rows.length, first + Math.ceil(grid.clientHeight / ROW) + 10);
  const drawn = view.rows.slice(first, last).map((f, i) => row(f, first + i));
  if (view.rows.length === 0) {
    drawn.push(element("div", { id: "empty" }, "No function matches."));
  }
  byId("rows").replaceChildren(...drawn);
  if (view.chosen >= first && view.chosen < last) {
    grid.setAttribute("aria-activedescendant", `row-${view.chosen}`);
  } else {
    grid.removeAttribute("aria-activedescendant");
  }
}

function row(f, index) {
  const line = element("div", {
    class: f.regression ? "row regression" : "row",
    id: `row-${index}`,
    role: "row",
    "aria-rowindex": index + 2,
    "aria-selected": index === view.chosen,
    style: `top: ${index * ROW}px`,
  });
  for (const column of COLUMNS) {
    const cell = element("div", { class: "cell", role: "gridcell" });
    column.draw(f, cell);
    line.append(cell);
  }
  line.firstChild.title = f.regression ? `${f.name}: slower than the threshold allows` : f.name;
  line.append(element("div", { class: "cell", role: "gridcell" }, spark(f)));
  line.addEventListener("click", () => choose(index, true));
  return line;
}

const sides = (f) => [f.before, f.after].filter((one) => one?.latency.length > 0);
const [LOW, HIGH] = decades(data.functions.flatMap(sides));

/** The parts of all calls that fall into each of some ranges. */
function parts(one, low, high, bins) {
  const calls = one?.latency.length > 0 ? binned(one, low, high, bins) : new Array(bins).fill(0);
  const sum = calls.reduce((a, b) => a + b, 0);
  return calls.map((n) => (sum > 0 ? n / sum : 0));
}

/** The outline of bars. */
function outline(heights, x, y) {
  return heights.map((h, i) => `${i === 0 ? "M" : "L"}${x(i)},${y(h)}H${x(i + 1)}`).join("");
}

function spark(f) {
  const bins = 28;
  const height = 20;
  const [was, is] = [parts(f.before, LOW, HIGH, bins), parts(f.after, LOW, HIGH, bins)];
  const most = Math.max(...was, ...is, 1e-9);
  const picture = svg("svg", { class: "spark", viewBox: `0 0 ${bins * 4} ${height}`, "aria-hidden": "true" });
  is.forEach((n, i) => {
    if (n > 0) {
      const h = Math.max(1.5, n / most * height);
      picture.append(svg("rect", { class: "bar", x: i * 4, y: height - h, width: 4, height: h }));
    }
  });
  picture.append(svg("path", { class: "was", d: outline(was, (i) => i * 4, (h) => height - 0.5 - h / most * (height - 1)) }));
  return picture;
}

function showHead() {
  for (const { key, title } of COLUMNS) {
    const button = element("button", { type: "button", tabindex: "-1" }, title);
    button.addEventListener("click", () => sortBy(key));
    byId("head").append(
      element("div", { class: "cell", role: "columnheader", "data-key": key, "data-title": title }, button));
  }
  const axis = `${tick(10 ** LOW)} .. ${tick(10 ** HIGH)}`;
  byId("head").append(element(
    "div", { class: "cell", role: "columnheader", title: "Calls by latency: the line is before, the bars are after" }, axis));
}

function sortBy(key) {
  view.descending = view.sort === key ? !view.descending : key !== "name";
  view.sort = key;
  byId("grid").scrollTop = 0;
  select();
}

function choose(index, open = !byId("detail").hidden) {
  if (view.rows.length === 0) {
    return;
  }
  view.chosen = Math.min(view.rows.length - 1, Math.max(0, index));
  const grid = byId("grid");
  const top = view.chosen * ROW;
  grid.scrollTop = Math.max(top - grid.clientHeight + 2 * ROW, Math.min(grid.scrollTop, top));
  drawRows();
  if (open) {
    show(view.rows[view.chosen]);
  }
}

/* One function. */

function certainty(rate) {
  if (rate === undefined) {
    return "too little is known to tell whether that is chance";
  }
  return rate <= SIGNIFICANT
    ? `beyond chance: at most one such statement in ${grouped(Math.min(10_000, Math.floor(1 / rate)))} is wrong`
    : "that may be chance";
}

function verdict(f) {
  if (!f.before || !f.after) {
    return [f.after ? "It was not called before." : "It is not called any more."];
  }
  const slower = f.slower === undefined
    ? "Too few calls were timed to compare their durations"
    : `Of two calls, one from each run, the later one takes longer in ${percent(f.slower * 100)} of the cases`;
  return [
    `${slower}; ${certainty(f.latencyRate)}.`,
    `Time altogether: ${changeText(f.totalChange)}; ${certainty(f.totalRate)}.`,
    ...(f.regression ? [`It is slower by more than ${percent(data.thresholdPercent)}, beyond chance.`] : []),
  ];
}

function figures(f) {
  const rows = [["Calls", "calls", count], ...[["p50", "p50Nanos"], ["p99", "p99Nanos"], ["mean", "meanNanos"], ["total", "totalNanos"]]
    .map(([title, key]) => [title, key, duration])];
  const line = (cells, tag = "td") => element("tr", {}, ...cells.map((cell) => element(tag, {}, cell)));
  return element("table", {},
    element("thead", {}, line(["", "before", "after", "change"], "th")),
    element("tbody", {}, ...rows.map(([title, key, text]) => line([
      title, text(f.before?.[key]), text(f.after?.[key]), changeText(change(f.before?.[key], f.after?.[key]))]))));
}

function distributions(f) {
  const [low, high] = decades(sides(f));
  const bins = (high - low) * Math.max(6, Math.min(24, Math.round(60 / (high - low))));
  const [was, is] = [parts(f.before, low, high, bins), parts(f.after, low, high, bins)];
  const most = Math.max(...was, ...is);
  const c = chart(`Latency of ${f.name} in both runs`);
  for (let power = low; power <= high; power++) {
    const x = (power - low) / (high - low);
    line(c, x, 0, x, 1, "grid");
    text(c, x, 0, 0, 17, "middle", tick(10 ** power));
  }
  text(c, 0, 1, -8, 4, "end", percent(most * 100));
  text(c, 0, 0, -8, 4, "end", "0");
  const width = c.x(1 / bins) - c.x(0);
  is.forEach((n, i) => {
    const range = `${duration(10 ** (low + (high - low) * i / bins))} to ${duration(10 ** (low + (high - low) * (i + 1) / bins))}`;
    c.picture.append(
      svg("rect", { class: "bar", x: c.x(i / bins), y: c.y(n / most), width, height: c.y(0) - c.y(n / most) }),
      svg("rect", { class: "hit", x: c.x(i / bins), y: c.y(1), width, height: c.y(0) - c.y(1) },
        svg("title", {}, `${range}: before ${percent(was[i] * 100)}, after ${percent(n * 100)}`)));
  });
  c.picture.append(svg("path", { class: "was", d: outline(was, (i) => c.x(i / bins), (h) => c.y(h / most)) }));
  return c.picture;
}

function show(f) {
  view.shown = f;
  const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", closeDetail);
  const detail = byId("detail");
  detail.hidden = false;
  detail.replaceChildren(close, element("h2", {}, f.name), element("p", {}, [f.file, f.image].filter((part) => part).join(" · ")),
    ...verdict(f).map((sentence) => element("p", {}, sentence)), element("h3", {}, "Before and after"), figures(f));
  if (sides(f).length > 0) {
    detail.append(element("h3", {}, "Calls by latency: the line is before, the bars are after"), distributions(f));
  }
}

function closeDetail() {
  byId("detail").hidden = true;
  byId("grid").focus();
}

/* Keys and switches. */

const page = () => Math.max(1, Math.floor(byId("grid").clientHeight / ROW) - 2);

const MOVES = {
  ArrowDown: () => view.chosen + 1,
  ArrowUp: () => view.chosen - 1,
  PageDown: () => view.chosen + page(),
  PageUp: () => view.chosen - page(),
  Home: () => 0,
  End: () => view.rows.length - 1,
};

function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return;
  }
  const writing = event.target.id === "filter";
  const moving = event.target.id === "grid" || writing;
  if (event.key === "/" && !writing) {
    byId("filter").focus();
  } else if (event.key === "Escape") {
    closeDetail();
  } else if (event.key in MOVES && moving && (!writing || event.key.startsWith("Arrow"))) {
    choose(MOVES[event.key]());
  } else if (event.key === "Enter" && moving) {
    choose(view.chosen, true);
  } else {
    return;
  }
  event.preventDefault();
}

function start() {
  data.functions.forEach(measure);
  showRuns();
  showHead();
  select();
  byId("grid").addEventListener("scroll", drawRows, { passive: true });
  byId("filter").addEventListener("input", (event) => {
    view.filter = event.target.value;
    byId("grid").scrollTop = 0;
    select();
  });
  byId("significant").addEventListener("change", (event) => {
    view.significant = event.target.checked;
    select();
  });
  byId("theme").addEventListener("click", switchTheme);
  document.addEventListener("keydown", key);
  new ResizeObserver(drawRows).observe(byId("grid"));
  addEventListener("resize", () => byId("detail").hidden || show(view.shown));
}

start();
