/* What the session says of itself. */

function ending(exit) {
  if (!exit) {
    return "";
  }
  return exit.signal ? `killed by signal ${exit.signal}` : `exit status ${exit.status ?? "-"}`;
}

function showSession() {
  const { session, overhead, functions } = data;
  const called = functions.filter((f) => f.calls > 0).length;
  document.title = `${fileName(session.program)} ${session.pid} - mdl report`;
  byId("program").textContent = fileName(session.program);
  byId("program").title = session.program;
  byId("facts").textContent = [
    `pid ${session.pid}`,
    time(session.started),
    elapsed(data.elapsedNanos),
    !data.range && session.unseenNanos > 0 && `measured from ${elapsed(session.unseenNanos)}`,
    ending(session.exit),
    plural(data.threads, "thread", "threads"),
    `${plural(functions.length, "function", "functions")}, ${grouped(called)} called`,
    data.range && `${time(data.range.from)} to ${time(data.range.to)} only`,
    data.exact ? "exact: every call recorded" : "sampled: calls and times of hot functions are estimates",
    session.time === "cpu" && "CPU time of the calling threads",
    `session ${session.id}`,
  ].filter((fact) => fact).join(" · ");
  facts(byId("overhead"), [
    ["Overhead", percent(overhead.percent)],
    ["Budget", percent(overhead.budgetPercent)],
    ["Probes", percent(overhead.probePercent)],
    ["Agent's CPU", percent(overhead.agentPercent)],
    ["Toggles", count(overhead.toggles)],
    ["Samples", count(overhead.samples)],
  ]);
  byId("warnings").replaceChildren(...data.warnings.map((warning) => element("li", {}, warning)));
}

function showProcesses() {
  const { processes, processesForgotten } = data;
  if (processes.length + (processesForgotten?.count ?? 0) < 2) {
    return;
  }
  const cells = (texts) => element("tr", {}, ...texts.map((text) => element("td", {}, String(text))));
  const calls = (one) => (one.calls === undefined ? `${grouped(one.callsSeen)} seen` : grouped(one.calls));
  const panel = byId("processes");
  panel.hidden = false;
  panel.querySelector("summary").textContent = plural(
    processes.length + (processesForgotten?.count ?? 0), "process", "processes");
  const rows = processes.map((one) => cells([
    one.pid, one.parent, time(one.started), time(one.ended),
    one.runs ? "runs" : one.exit ? ending(one.exit) : "not known", calls(one)]));
  if (processesForgotten) {
    rows.push(cells([`${grouped(processesForgotten.count)} before`, "", "", "", "", calls(processesForgotten)]));
  }
  panel.querySelector("tbody").replaceChildren(...rows);
}

/* Latency in the table. */

/** The axis of the table's pictures. */
const axis = { low: 0, high: 1 };

function spark(f) {
  const bins = 28;
  const height = 20;
  const calls = binned(f, axis.low, axis.high, bins);
  const most = Math.max(...calls);
  const picture = svg("svg", { class: "spark", viewBox: `0 0 ${bins * 4} ${height}`, "aria-hidden": "true" });
  calls.forEach((n, i) => {
    if (n > 0) {
      const h = Math.max(1.5, n / most * height);
      picture.append(svg("rect", { class: "bar", x: i * 4, y: height - h, width: 3, height: h }));
    }
  });
  return picture;
}

/* The table. */

/** The greatest values of columns that have bars. */
const most = { selfNanos: 0, totalNanos: 0 };

/** Whether the duration of each of its calls is known, and not of a sample. */
const eachTimed = (f) => f.sampled >= f.calls;

/** The relative error of an estimate, small behind it. */
function appendError(cell, error) {
  if (error >= 0.00005) {
    cell.append(" ", element("small", {}, `±${percent(error * 100)}`));
  }
}

/** The longest call of a sample is the least that the longest of all can be. */
function durationOf(f, name) {
  const nanos = f[`${name}Nanos`];
  return (name === "max" && nanos !== undefined && !eachTimed(f) ? "≥ " : "") + duration(nanos);
}

/** An estimate of time that may be ten times as much says nothing, nor does a part of it. */
const ERROR_MAX = 10;
const saysTotal = (f) => !(f.totalError > ERROR_MAX);
const isShown = { totalNanos: saysTotal, selfNanos: (f) => saysTotal(f) && !(f.selfError > ERROR_MAX) };

function share(key) {
  return (f, cell) => {
    if (f[key] === undefined || !isShown[key](f)) {
      cell.append("-");
      return;
    }
    cell.append((eachTimed(f) ? "" : "≈ ") + duration(f[key]));
    appendError(cell, f[key.replace("Nanos", "Error")]);
    if (f[key] > 0) {
      cell.classList.add("share");
      cell.style.setProperty("--share", `${f[key] / most[key] * 100}%`);
    }
  };
}

const COLUMNS = [
  { key: "name", title: "Function", draw: (f, cell) => cell.append(fittingName(f, NAME_LETTERS)) },
  {
    key: "calls",
    title: "Calls",
    draw: (f, cell) => {
      cell.append(count(f.calls));
      appendError(cell, f.callsError);
    },
  },
  {
    key: "rate",
    title: "Rate",
    draw: (f, cell) => cell.append(f.rate === undefined || f.damage !== undefined ? "-" : `${count(f.rate)}/s`),
  },
  { key: "selfNanos", title: "Self", draw: share("selfNanos") },
  { key: "totalNanos", title: "Total", draw: share("totalNanos") },
  { key: "sampled", title: "n", draw: (f, cell) => cell.append(f.damage === undefined ? count(f.sampled) : "-") },
  ...[["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p999", "p99.9"], ["max", "max"]].map(([name, title]) => ({
    key: `${name}Nanos`,
    title,
    draw: (f, cell) => cell.append(durationOf(f, name)),
  })),
  { title: "", about: "Calls by latency", draw: (f, cell) => cell.append(f.latency.length > 0 ? spark(f) : "") },
];

/** What is shown; a page that is served wants to know of a function that it was opened. */
const view = { uncalled: false, flame: false, metrics: false, shown: null, slice: null, opened: () => {} };

const table = new Table(COLUMNS, {
  wanted: (f) => view.uncalled || f.calls > 0 || f.damage !== undefined,
  decorate: (line, f) => line.classList.toggle("never", f.calls === 0),
  show,
});

/* One function. */

function show(f) {
  view.shown = f;
  const detail = openDetail(f, closeDetail);
  if (f.symbol !== f.name) {
    detail.append(element("p", {}, f.symbol));
  }
  detail.append(element("p", {}, [f.file && f.file + (f.line ? `:${f.line}` : ""), f.image].filter((x) => x).join(" · ")));
  detail.append(facts(element("dl"), [
    ["Calls", calls(f)],
    ["Timed", f.damage === undefined ? grouped(f.sampled) : "-"],
    ["Total", estimate(f, "total")],
    ["Self", estimate(f, "self")],
    ["Mean", duration(f.meanNanos)],
  ]));
  if (f.latency.length > 0) {
    const [low, high] = decades([f]);
    detail.append(
      element("div", { id: "heat" }),
      element("h3", {}, "Calls by latency"),
      histogram(f, low, high),
      element("h3", {}, "Latency by percentile"),
      spectrum(f, low, high),
      percentiles(f));
    drawHeat(f);
  } else {
    detail.append(element("h3", {}, withoutLatency(f)));
  }
  detail.append(...neighbours("Called by", f.callers), ...neighbours("It calls", f.callees));
  view.opened(f);
}

/** Why there are no durations to show. */
function withoutLatency(f) {
  if (f.damage !== undefined) {
    return `Its figures are withheld: ${f.damage}.`;
  }
  return f.calls > 0 ? "Its calls were counted, not timed." : "It was never called.";
}

/** The functions at the other ends of edges, the most time first. */
function neighbours(title, edges) {
  if (edges.length === 0) {
    return [];
  }
  const whole = edges.reduce((sum, edge) => sum + edge.nanos, 0);
  const rows = edges.toSorted((a, b) => b.nanos - a.nanos).map(({ other, calls, nanos }) => {
    const name = other === undefined
      ? "code without probes"
      : element("button", { type: "button", title: other.name }, fittingName(other, NAME_LETTERS));
    other && name.addEventListener("click", () => show(other));
    const texts = [`≈ ${count(calls)}`, `≈ ${duration(nanos)}`, whole > 0 ? percent(nanos / whole * 100) : "-"];
    return element("tr", {}, element("td", {}, name), ...texts.map((text) => element("td", {}, text)));
  });
  const head = ["Function", "Calls", "Total", "Share"].map((word) => element("th", {}, word));
  return [
    element("h3", {}, title),
    element("table", { class: "calls-table" },
      element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  ];
}

function closeDetail() {
  byId("detail").hidden = true;
  byId(view.flame ? "flame" : view.metrics ? "metrics" : "grid").focus();
  drawFlame();
}

function calls(f) {
  if (f.damage !== undefined) {
    return "-";
  }
  if (f.callsExact) {
    return grouped(f.calls);
  }
  if (f.callsError === undefined) {
    return `≈ ${count(f.calls)}, error not known`;
  }
  const error = f.calls * f.callsError;
  return `≈ ${count(f.calls)}, with 95 % certainty ${count(Math.max(0, f.calls - error))} to ${count(f.calls + error)}`;
}

function estimate(f, name) {
  const nanos = f[`${name}Nanos`];
  const error = f[`${name}Error`];
  if (nanos === undefined || !isShown[`${name}Nanos`](f)) {
    return "-";
  }
  const sure = error === undefined
    ? ""
    : `, with 95 % certainty ${duration(Math.max(0, nanos * (1 - error)))} to ${duration(nanos * (1 + error))}`;
  return (eachTimed(f) ? "" : "≈ ") + duration(nanos) + sure;
}

function percentiles(f) {
  const known = [["min", "min"], ["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p999", "p99.9"], ["max", "max"]];
  return element("table", {},
    element("thead", {}, element("tr", {}, ...known.map(([, title]) => element("th", {}, title)))),
    element("tbody", {}, element("tr", {},
      ...known.map(([name]) => element("td", {}, durationOf(f, name))))));
}

function histogram(f, low, high) {
  const bins = (high - low) * Math.max(6, Math.min(24, Math.round(60 / (high - low))));
  const calls = binned(f, low, high, bins);
  const most = Math.max(...calls);
  const sum = calls.reduce((a, b) => a + b, 0);
  const c = chart(`Histogram of the latency of ${f.name}`);
  const bound = (bin) => 10 ** (low + (high - low) * bin / bins);
  for (let power = low; power <= high; power++) {
    const x = (power - low) / (high - low);
    line(c, x, 0, x, 1, "grid");
    text(c, x, 0, 0, 17, "middle", tick(10 ** power));
  }
  text(c, 0, 1, -8, 4, "end", percent(most / sum * 100));
  text(c, 0, 0, -8, 4, "end", "0");
  calls.forEach((n, i) => {
    const h = n === 0 ? 0 : Math.max(0.01, n / most);
    const width = c.x(1 / bins) - c.x(0);
    c.picture.append(
      svg("rect", { class: "bar", x: c.x(i / bins), y: c.y(h), width: Math.max(1, width - 1), height: c.y(0) - c.y(h) }),
      svg("rect", { class: "hit", x: c.x(i / bins), y: c.y(1), width, height: c.y(0) - c.y(1) },
        svg("title", {}, `${duration(bound(i))} to ${duration(bound(i + 1))}: ${percent(n / sum * 100)}`)));
  });
  for (const [nanos, title, side] of [[f.p50Nanos, "p50", "end"], [f.p99Nanos, "p99", "start"]]) {
    if (nanos === undefined) {
      continue;
    }
    const x = (log(Math.max(1, nanos)) - low) / (high - low);
    line(c, x, 0, x, 1, "mark");
    text(c, x, 1, 0, -6, side, title, "mark-text");
  }
  return c.picture;
}

/** As HdrHistogram plots it: 90 %, 99 %, 99.9 % ... lie at equal distances. */
function spectrum(f, low, high) {
  const all = slots(f);
  const sum = all.reduce((n, slot) => n + slot.calls, 0);
  const nines = Math.max(2, Math.ceil(log(sum)));
  const c = chart(`Percentiles of the latency of ${f.name}`);
  const y = (nanos) => (log(Math.max(1, nanos)) - low) / (high - low);
  for (let power = low; power <= high; power++) {
    line(c, 0, y(10 ** power), 1, y(10 ** power), "grid");
    text(c, 0, y(10 ** power), -8, 4, "end", tick(10 ** power));
  }
  for (let n = 0; n <= nines; n++) {
    line(c, n / nines, 0, n / nines, 1, "grid");
    const words = n === 0 ? "0 %" : n === nines ? "100 %" : `${(100 - 10 ** (2 - n)).toFixed(Math.max(0, n - 2))} %`;
    text(c, n / nines, 0, 0, 17, "middle", words);
  }
  let seen = 0;
  let path = `M${c.x(0)},${c.y(y(all[0].nanos))}`;
  const hits = [];
  for (const slot of all) {
    const before = seen;
    seen += slot.calls;
    const x = (n) => Math.min(1, -log(Math.max(1 - n / sum, 10 ** -nines)) / nines);
    path += `V${c.y(y(slot.nanos))}H${c.x(x(seen))}`;
    hits.push(svg("rect", {
      class: "hit", x: c.x(x(before)), y: c.y(1), width: c.x(x(seen)) - c.x(x(before)), height: c.y(0) - c.y(1),
    }, svg("title", {}, `${percent(before / sum * 100)} to ${percent(seen / sum * 100)}: ${duration(slot.nanos)}`)));
  }
  c.picture.append(svg("path", { class: "curve", d: path }), ...hits);
  return c.picture;
}

/* Latency over time: columns are slices of time, rows are durations on a logarithmic axis, the colour is calls. */

const HEATS = 7;
const clock = (millis) => new Date(millis).toTimeString().slice(0, 8);
/** Where columns begin and end, in turn; in a page that is served each function has its own. */
const columnsOf = (f) => f.columns ?? data.columns;

/** Cells of a function: in the data each is three numbers, column, row and calls. Empty where nothing is known by time. */
function heatCells(f) {
  const cells = [];
  for (let i = 0; i < (f.heat ?? []).length; i += 3) {
    const [column, row, calls] = f.heat.slice(i, i + 3);
    cells.push({ column, row, calls });
  }
  return cells;
}

/** The least duration of a row; the first ones would have no logarithm, or lie below what can be measured. */
const rowNanos = (row) => Math.max(1, data.rows[row] ?? data.rows.at(-1) * 1.2);

function drawHeat(f) {
  const place = byId("heat");
  const focused = place.contains(document.activeElement);
  place.replaceChildren(...heatMap(f));
  focused && place.querySelector("svg")?.focus({ preventScroll: true });
}

function heatMap(f) {
  if (columnsOf(f).length === 0) {
    return [];
  }
  const cells = heatCells(f);
  if (cells.length === 0) {
    const why = f.heat ? "None of its calls in the slices of time that are kept were timed." : "Kept for the first functions of a report only.";
    return [element("h3", {}, "Latency over time"), element("p", {}, why)];
  }
  const map = heatFrame(f, cells);
  // By the second: slices that were merged, and columns of several, are no bursts.
  const rates = cells.map(({ column, calls }) => calls / Math.max(0.001, map.seconds(column)));
  const least = Math.min(...rates);
  const most = Math.max(...rates);
  const shade = (rate) => Math.min(HEATS - 1, Math.floor(log(rate / least) / log(most / least * 1.001) * HEATS));
  const shapes = new Array(HEATS).fill("");
  cells.forEach(({ column, row }, i) => {
    const [x, y, w, h] = map.box(column, row);
    shapes[shade(rates[i])] += `M${x},${y}h${w}v${h}h${-w}z`;
  });
  map.c.picture.append(...shapes.map((d, i) => svg("path", { d, style: `fill: var(--heat-${i})` })));
  const says = element("output", { "aria-live": "polite" }, "Point at a slice, or choose one by the arrow keys.");
  followCursor(map, cells, says);
  return [
    element("h3", {}, "Latency over time"),
    map.c.picture,
    element("div", { class: "heat-note" }, says, heatScale(least, most)),
  ];
}

function heatScale(least, most) {
  const colours = Array.from({ length: HEATS }, (_, i) => element("i", { style: `background: var(--heat-${i})` }));
  return element("span", { class: "scale" }, count(least), ...colours, `${count(most)} timed calls/s`);
}

/** Axes, and where cells and columns lie in them. */
function heatFrame(f, cells) {
  const columns = columnsOf(f);
  const rows = cells.map((cell) => cell.row);
  const low = Math.floor(log(rowNanos(rows.reduce((a, b) => Math.min(a, b)))));
  const high = Math.max(low + 1, Math.ceil(log(rowNanos(rows.reduce((a, b) => Math.max(a, b)) + 1))));
  const last = columns.length / 2 - 1;
  const [begin, end] = [columns[0], columns.at(-1)];
  const c = chart(`Latency of ${f.name} over time`);
  const x = (millis) => (millis - begin) / (end - begin);
  const y = (nanos) => Math.min(1, Math.max(0, (log(nanos) - low) / (high - low)));
  for (let power = low; power <= high; power++) {
    line(c, 0, y(10 ** power), 1, y(10 ** power), "grid");
    text(c, 0, y(10 ** power), -8, 4, "end", tick(10 ** power));
  }
  const ticks = Math.max(2, Math.min(6, Math.floor((c.x(1) - c.x(0)) / 110)));
  for (let i = 0; i <= ticks; i++) {
    const anchor = i === 0 ? "start" : i === ticks ? "end" : "middle";
    text(c, i / ticks, 0, 0, 17, anchor, clock(begin + (end - begin) * i / ticks));
  }
  const box = (column, row) => {
    const left = c.x(x(columns[2 * column]));
    const top = c.y(y(rowNanos(row + 1)));
    return [left, top, Math.max(1, c.x(x(columns[2 * column + 1])) - left), Math.max(1, c.y(y(rowNanos(row))) - top)];
  };
  const seconds = (column) => (columns[2 * column + 1] - columns[2 * column]) / 1000;
  return { c, box, last, columns, seconds };
}

/** The duration that a part of some cells' calls does not exceed: the upper bound of a row. */
function heatPercentile(column, part) {
  const calls = column.reduce((sum, cell) => sum + cell.calls, 0);
  let seen = 0;
  const found = column.toSorted((a, b) => a.row - b.row).find((cell) => (seen += cell.calls) >= part * calls);
  return duration(rowNanos(found.row + 1));
}

function describeColumn(column, from, to) {
  const when = `${clock(from)} to ${clock(to)}`;
  if (column.length === 0) {
    return `${when}: no calls were timed`;
  }
  const calls = column.reduce((sum, cell) => sum + cell.calls, 0);
  return `${when}: ${count(calls)} calls, p50 ≤ ${heatPercentile(column, 0.5)}, p99 ≤ ${heatPercentile(column, 0.99)}, `
    + `max ≤ ${heatPercentile(column, 1)}`;
}

/** Lets a column be chosen by mouse or keys, and says what is in it. */
function followCursor(map, cells, says) {
  const { c, box, last, columns } = map;
  const byColumn = Map.groupBy(cells, (cell) => cell.column);
  const cursor = svg("rect", { class: "cursor", y: c.y(1), height: c.y(0) - c.y(1), visibility: "hidden" });
  let chosen = last + 1;
  const choose = (column) => {
    chosen = Math.min(last, Math.max(0, column));
    const [x, , width] = box(chosen, 0);
    fill(cursor, { x, width, visibility: "visible" }, []);
    const [from, to] = columns.slice(2 * chosen, 2 * chosen + 2);
    view.slice = from;
    says.textContent = describeColumn(byColumn.get(chosen) ?? [], from, to);
  };
  c.picture.append(cursor);
  // What was chosen before it was drawn anew, or of another function, stays chosen.
  const before = Array.from({ length: last + 1 }, (_, i) => i).find((i) => columns[2 * i] === view.slice);
  before === undefined || choose(before);
  fill(c.picture, { class: "chart heat", tabindex: 0 }, []);
  c.picture.addEventListener("mousemove", (event) => {
    const { left, width } = c.picture.getBoundingClientRect();
    const at = (event.clientX - left) / width * c.picture.viewBox.baseVal.width;
    choose(Array.from({ length: last + 1 }, (_, i) => i).findLast((i) => box(i, 0)[0] <= at) ?? 0);
  });
  const moves = { ArrowLeft: () => chosen - 1, ArrowRight: () => (chosen > last ? 0 : chosen + 1), Home: () => 0, End: () => last };
  c.picture.addEventListener("keydown", (event) => {
    if (event.key in moves) {
      choose(moves[event.key]());
      event.preventDefault();
      event.stopPropagation();
    }
  });
}

/* The flame graph: call paths, the callers above, as wide as the time that they took. */

const FRAME = 20;
const COLOURS = [[203, 80], [41, 95], [164, 50], [327, 45], [25, 85], [56, 70], [265, 45]];
const flame = { root: { children: [], nanos: 0, x: 0, depth: 0 }, zoomed: null, chosen: null };

/** In the data a path is four numbers: its frame, the path that it goes on from, its time, and the time of its own. */
function readPaths() {
  const paths = [];
  const end = new Map();
  flame.root.children = [];
  for (let i = 0; i < data.paths.length; i += 4) {
    const [frame, parent, nanos, self] = data.paths.slice(i, i + 4);
    const from = parent < 0 ? flame.root : paths[parent];
    const x = end.get(from) ?? from.x;
    const path = { ...data.frames[frame], from, nanos, self, x, depth: from.depth + 1, children: [] };
    path.searched = searchText(path);
    end.set(from, x + nanos);
    from.children.push(path);
    paths.push(path);
  }
  flame.root.nanos = flame.root.children.reduce((sum, path) => sum + path.nanos, 0);
  flame.zoomed = flame.root;
}

const IMAGES = [];

/** One hue for each image. */
function colourOf(path) {
  IMAGES.includes(path.image) || IMAGES.push(path.image);
  const [hue, saturation] = COLOURS[IMAGES.indexOf(path.image) % COLOURS.length];
  const shade = [...path.name].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 97, 7) % 17;
  return `hsl(${hue} ${saturation}% ${66 + shade}%)`;
}

/** Time of the paths that lead to a function that is searched for, each counted once. */
function matchedNanos(paths) {
  return paths.reduce((sum, path) => sum + (table.matches(path) ? path.nanos : matchedNanos(path.children)), 0);
}

const part = (path) => percent(path.nanos / flame.root.nanos * 100);

function describePath(path) {
  return path === flame.root
    ? [`All paths: ${duration(path.nanos)}. Click a frame to zoom in, Esc to zoom out.`]
    : [element("b", {}, path.name), ` ${duration(path.nanos)}, ${part(path)}; by itself ${duration(path.self)}`];
}

function drawFlame() {
  if (!view.flame) {
    return;
  }
  const width = byId("frames").clientWidth;
  const { zoomed } = flame;
  const scale = width / Math.max(1, zoomed.nanos);
  const picture = svg("svg", { width, role: "tree" });
  let deepest = 0;
  const draw = (path, above) => {
    const x = above ? 0 : (path.x - zoomed.x) * scale;
    const w = above ? width : path.nanos * scale;
    if (w < 0.6) {
      return;
    }
    deepest = Math.max(deepest, path.depth);
    picture.append(frame(path, x, w, above));
    above || path.children.forEach((child) => draw(child, false));
  };
  for (let path = zoomed.from; path && path !== flame.root; path = path.from) {
    draw(path, true);
  }
  (zoomed === flame.root ? flame.root.children : [zoomed]).forEach((path) => draw(path, false));
  picture.setAttribute("height", deepest * FRAME);
  byId("frames").replaceChildren(picture);
  byId("path").replaceChildren(...describePath(flame.chosen ?? zoomed));
  byId("count").textContent = table.words.length === 0
    ? `${duration(flame.root.nanos)} in ${plural(data.paths.length / 4, "path", "paths")}`
    : `${percent(matchedNanos(flame.root.children) / flame.root.nanos * 100)} matches`;
}

function frame(path, x, w, above) {
  const kinds = [above ? "above" : "", table.words.length > 0 && !table.matches(path) ? "other" : "", path === flame.chosen ? "chosen" : ""];
  const y = (path.depth - 1) * FRAME;
  const letters = Math.floor((w - 8) / 6.7);
  const group = svg("g", { class: kinds.join(" "), role: "treeitem", "aria-label": path.name },
    svg("title", {}, `${path.name}\n${duration(path.nanos)}, ${part(path)}; by itself ${duration(path.self)}`),
    svg("rect", { x, y, width: w, height: FRAME, fill: colourOf(path) }),
    svg("text", { x: x + 4, y: y + 14 }, letters > 2 ? fittingName(path, letters) : ""));
  group.addEventListener("click", () => {
    flame.chosen = path;
    zoom(path);
  });
  group.addEventListener("mouseenter", () => byId("path").replaceChildren(...describePath(path)));
  return group;
}

function zoom(path) {
  flame.zoomed = path;
  if (!byId("detail").hidden) {
    openPath();
  }
  drawFlame();
}

function openPath() {
  const f = data.functions[flame.chosen?.function];
  f && show(f);
  drawFlame();
}

function sibling(path, step) {
  const all = path.from.children;
  return all[all.indexOf(path) + step] ?? path;
}

const FLAME_KEYS = {
  ArrowDown: () => choosePath(flame.chosen ? flame.chosen.children[0] ?? flame.chosen : flame.zoomed.children[0]),
  ArrowUp: () => choosePath(flame.chosen && flame.chosen.from !== flame.root ? flame.chosen.from : flame.chosen),
  ArrowLeft: () => flame.chosen && choosePath(sibling(flame.chosen, -1)),
  ArrowRight: () => flame.chosen && choosePath(sibling(flame.chosen, 1)),
  Enter: () => flame.chosen && zoom(flame.chosen),
  o: () => openPath(),
  Escape: () => {
    if (!byId("detail").hidden) {
      closeDetail();
    } else {
      zoom(flame.zoomed.from ?? flame.root);
    }
  },
};

function choosePath(path) {
  flame.chosen = path;
  drawFlame();
}

/* Metrics: what each has come to, and how. */

const inUnits = (metric, value) => `${value < 0 ? "-" : ""}${count(Math.abs(value))} ${metric.units}`;

/** Corners of a curve, as times and values in turn. A rate is the mean since the point before; an amount began with 0. */
function corners(metric) {
  const points = metric.series;
  if (metric.unitsType === "rate") {
    return points.flatMap(([seconds, value], i) => [[i > 0 ? points[i - 1][0] : 0, value], [seconds, value]]);
  }
  return metric.unitsType === "amount" ? [[0, 0], ...points] : points;
}

/** The history, with functions that place seconds and values in percent. */
function plot(metric, x, y) {
  const curve = corners(metric).map(([seconds, value]) => [x(seconds), y(value)]);
  const hits = metric.series.map(([seconds, value], i, all) => {
    const from = i > 0 ? all[i - 1][0] : 0;
    return svg("rect", { class: "hit", x: x(from), y: 0, width: x(seconds) - x(from), height: 100 },
      svg("title", {}, `${inUnits(metric, value)} at ${duration(seconds * 1e9)}`));
  });
  return svg("svg", {
    class: "series", role: "img", "aria-label": `History of ${metric.title}`, viewBox: "0 0 100 100", preserveAspectRatio: "none",
  },
  svg("path", { class: "area", d: `M${curve[0][0]},${y(0)}L${curve.join("L")}V${y(0)}Z` }),
  svg("path", { class: "curve", d: `M${curve.join("L")}` }), ...hits);
}

function series(metric) {
  if (metric.series.length === 0) {
    return [element("p", {}, "It has no history.")];
  }
  const values = metric.series.map(([, value]) => value);
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const [end] = metric.series.at(-1);
  const axis = (...texts) => element("p", { class: "axis" }, ...texts.map((text) => element("span", {}, text)));
  return [
    ...(metric.unitsType === "amount" ? [] : [axis(inUnits(metric, high))]),
    plot(metric, (seconds) => seconds / end * 100, (value) => 100 - (value - low) / (high - low || 1) * 100),
    axis(inUnits(metric, low), `${duration(end * 1e9)} since it was enabled`),
  ];
}

function card(metric) {
  const focus = metric.focus.length > 0 ? metric.focus.join(" ") : "the whole program";
  const errors = metric.errors > 0 ? [element("p", {}, plural(metric.errors, "division by zero", "divisions by zero"))] : [];
  return element("article", {},
    element("h3", {}, metric.title),
    element("p", {}, `${metric.name} @ ${focus}`),
    element("p", { class: "value" }, metric.value === undefined ? "-" : inUnits(metric, metric.value)),
    ...errors, ...series(metric));
}

function drawMetrics() {
  if (!view.metrics) {
    return;
  }
  const found = data.metrics.filter((metric) => {
    const searched = [metric.name, metric.title, ...metric.focus].join("\n").toLowerCase();
    return table.matches({ searched });
  });
  byId("metrics").replaceChildren(...found.map(card));
  byId("count").textContent = `${grouped(found.length)} of ${plural(data.metrics.length, "metric", "metrics")}`;
}

const gridKeys = [...byId("keys").childNodes];

const KEYS = {
  grid: gridKeys,
  flame: [["/"], " search ", ["↑"], ["↓"], ["←"], ["→"], " choose ", ["Enter"], " zoom in ", ["Esc"], " zoom out ", ["o"], " open"],
  metrics: [["/"], " filter"],
};

function switchView(to) {
  view.flame = to === "flame";
  view.metrics = to === "metrics";
  for (const name of Object.keys(KEYS)) {
    byId(name).hidden = name !== to;
    byId(`show-${name}`).setAttribute("aria-pressed", name === to);
  }
  byId("also").hidden = to !== "grid";
  byId("keys").replaceChildren(...KEYS[to].map((key) => (Array.isArray(key) ? element("kbd", {}, key[0]) : key)));
  byId(to).focus();
  table.select();
  drawFlame();
  drawMetrics();
}

/* Keys and switches. */

function takeKey(event, writing) {
  if (view.flame && !writing && event.key in FLAME_KEYS) {
    FLAME_KEYS[event.key]();
  } else if (event.key === "Escape") {
    closeDetail();
  } else {
    return !view.metrics && table.press(event);
  }
  return true;
}

/** In the data a caller is three numbers: its function, or -1, calls and time. */
function callersOf(numbers) {
  const callers = [];
  for (let i = 0; i < numbers.length; i += 3) {
    const [caller, calls, nanos] = numbers.slice(i, i + 3);
    callers.push({ other: data.functions[caller], calls, nanos });
  }
  return callers;
}

function readCallers() {
  for (const f of data.functions) {
    f.callees = [];
    f.callers = typeof f.callers[0] === "number" ? callersOf(f.callers) : f.callers;
  }
  for (const f of data.functions) {
    f.callers.forEach(({ other, calls, nanos }) => other?.callees.push({ other: f, calls, nanos }));
  }
}

/** Takes over what is in the data, which a page that is served gets anew. */
function read() {
  for (const f of data.functions) {
    f.searched ??= searchText(f);
    f.rate ??= data.session.measuredNanos > 0 ? f.calls / (data.session.measuredNanos / 1e9) : undefined;
  }
  for (const key of Object.keys(most)) {
    most[key] = data.functions.reduce((max, f) => Math.max(max, f[key] ?? 0), 0);
  }
  [axis.low, axis.high] = decades(data.functions);
  byId("head").lastChild.textContent = `${tick(10 ** axis.low)} .. ${tick(10 ** axis.high)}`;
  readCallers();
  readPaths();
  byId("show-flame").hidden = data.paths.length === 0;
  byId("show-metrics").hidden = data.metrics.length === 0;
  byId("views").hidden = data.paths.length === 0 && data.metrics.length === 0;
  showSession();
  showProcesses();
}

function start() {
  read();
  table.sort = COLUMNS.map((column) => column.key).find((k) => k?.replace("Nanos", "") === data.sortedBy) ?? "calls";
  table.descending = table.sort !== "name";
  table.select();
  byId("filter").addEventListener("input", () => {
    drawFlame();
    drawMetrics();
  });
  byId("uncalled").addEventListener("change", (event) => {
    view.uncalled = event.target.checked;
    table.select();
  });
  byId("theme").addEventListener("click", switchTheme);
  followKeys(takeKey);
  for (const name of Object.keys(KEYS)) {
    byId(`show-${name}`).addEventListener("click", () => switchView(name));
  }
  new ResizeObserver(drawFlame).observe(byId("flame"));
  addEventListener("resize", () => byId("detail").hidden || show(view.shown));
}

start();
