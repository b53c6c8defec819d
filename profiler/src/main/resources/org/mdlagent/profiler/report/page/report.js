/* The session's own data. */

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
    isCoverage() ? "coverage: which functions were called, not how often" : data.exact ? "exact: every call recorded" : "sampled: calls and times of hot functions are estimates",
    session.time === "cpu" && "CPU time of the calling threads",
    data.notProbed,
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

/** The maxima of columns with bars. */
const most = { cpuNanos: 0, selfNanos: 0, totalNanos: 0 };

/** Whether each of its calls was timed, rather than a sample. */
const eachTimed = (f) => f.sampled >= f.calls && f.callsError === undefined;

/** Calls are not shown if not even their order of magnitude is known. */
const CALLS_ERROR_MAX = 10;
const TOTAL_ERROR_MAX = 0.25;
const saysCalls = (f) => f.damage === undefined && !(f.callsError > CALLS_ERROR_MAX);

/** Whether calls are a lower bound: the probes have been off since, or the end of the run was not seen. */
const callsAreLeast = (f) => !f.exact && !f.callsExact && f.callsError === undefined && f.damage === undefined;

/** Coverage knows whether a function was called, not how often. */
const isCoverage = () => data.session.collected === "coverage";

function callsShown(f) {
  if (isCoverage()) {
    return f.calls > 0 ? "called" : "-";
  }
  if (!callsAreLeast(f)) {
    return saysCalls(f) ? count(f.calls) : "-";
  }
  return f.calls > 0 ? `≥ ${count(f.calls)}` : "-";
}

/** The relative error of an estimate, in small print after it. */
function appendError(cell, error) {
  if (error >= 0.00005) {
    appendPlusMinus(cell, error);
  }
}

function appendPlusMinus(cell, error) {
  cell.append(" ", element("small", {}, `±${error < 0.1 ? percent(error * 100) : `${Math.round(error * 100)} %`}`));
}

/** The longest call of a sample is a lower bound of the longest of all. */
function durationOf(f, name) {
  const nanos = f[`${name}Nanos`];
  return (name === "max" && nanos !== undefined && !eachTimed(f) ? "≥ " : "") + duration(nanos);
}

function share(key) {
  return (f, cell) => {
    if (f[key] === undefined) {
      cell.append("-");
      return;
    }
    const sign = callsAreLeast(f) ? "≥ " : eachTimed(f) ? "" : "≈ ";
    cell.append(sign + duration(f[key]));
    appendError(cell, f[key.replace("Nanos", "Error")]);
    drawShare(f, key, cell);
  };
}

function drawShare(f, key, cell) {
  if (f[key] > 0) {
    cell.classList.add("share");
    cell.style.setProperty("--share", `${f[key] / most[key] * 100}%`);
  }
}

/** The time by samples, however its calls were counted. */
function drawCpu(f, cell) {
  if (f.cpuNanos === undefined) {
    cell.append("-");
    return;
  }
  cell.append(`≈ ${duration(f.cpuNanos)}`);
  appendPlusMinus(cell, f.cpuError);
  drawShare(f, "cpuNanos", cell);
}

/**
 * Whether CPU time with callees is better known than Total: Total is unknown, or its error is large and that of CPU
 * time smaller.
 */
function isCpuTotalBetter(f) {
  if (f.cpuTotalNanos === undefined || (f.exact && f.totalNanos !== undefined)) {
    return false;
  }
  const error = f.totalNanos === undefined ? Infinity : f.totalError ?? 0;
  return error > TOTAL_ERROR_MAX && (f.cpuTotalError ?? 0) < error;
}

const timeShown = (f, key) => (key === "totalNanos" && isCpuTotalBetter(f) ? f.cpuTotalNanos : f[key]);

function drawTotal(f, cell) {
  if (!isCpuTotalBetter(f)) {
    share("totalNanos")(f, cell);
    return;
  }
  cell.append(`≈ ${duration(f.cpuTotalNanos)}`, element("small", {}, " cpu"));
  appendPlusMinus(cell, f.cpuTotalError);
  cell.classList.add("share");
  cell.style.setProperty("--share", `${f.cpuTotalNanos / most.totalNanos * 100}%`);
}

/** A column's sort key. CPU time is a part of the other times, and all that is known of a call that has not returned. */
function sortedBy(f, key) {
  const known = key === "selfNanos" || key === "totalNanos"
    ? [timeShown(f, key), f.cpuNanos].filter((n) => n !== undefined)
    : [];
  return known.length > 0 ? Math.max(...known) : f[key];
}

const COLUMNS = [
  { key: "name", title: "Function", draw: (f, cell, letters) => cell.append(fittingName(f, letters)) },
  {
    key: "calls",
    title: "Calls",
    width: [122, 76],
    rank: 4,
    draw: (f, cell) => {
      cell.append(callsShown(f));
      appendError(cell, saysCalls(f) ? f.callsError : undefined);
    },
  },
  {
    key: "rate",
    title: "Rate",
    width: [84, 84],
    rank: 11,
    draw: (f, cell) => cell.append(f.rate === undefined || isCoverage() || !saysCalls(f) ? "-" : `${count(f.rate)}/s`),
  },
  { key: "cpuNanos", title: "CPU", width: [150, 88], rank: 2, draw: drawCpu },
  {
    key: "selfNanos",
    title: "Self",
    width: [140, 88],
    rank: 5,
    // In a sampled session CPU replaces it, which covers every function.
    has: (f) => f.selfNanos !== undefined && (data.exact || data.cpu === undefined),
    draw: share("selfNanos"),
  },
  {
    key: "totalNanos",
    title: "Total",
    width: [164, 88],
    rank: 1,
    has: (f) => timeShown(f, "totalNanos") !== undefined,
    draw: drawTotal,
  },
  {
    key: "sampled",
    title: "n",
    width: [68, 68],
    rank: 12,
    draw: (f, cell) => cell.append(f.damage === undefined ? count(f.sampled) : "-"),
  },
  ...[["p50", "p50", 6], ["p90", "p90", 8], ["p99", "p99", 3], ["p999", "p99.9", 10], ["max", "max", 7]].map(
    ([name, title, rank]) => ({
      key: `${name}Nanos`,
      title,
      width: [name === "max" ? 98 : 80, name === "max" ? 98 : 76],
      rank,
      draw: (f, cell) => cell.append(durationOf(f, name)),
    })),
  {
    title: "",
    about: "Calls by latency",
    width: [132, 132],
    rank: 9,
    has: (f) => f.latency.length > 0,
    draw: (f, cell) => cell.append(f.latency.length > 0 ? spark(f) : ""),
  },
];

/** The state of the view; a served page must know which function was opened. */
const view = {
  name: "grid", uncalled: false, shown: null, slice: null, opened: () => {}, colourPath: colourOf, aboutPath: () => "",
};

const table = new Table(COLUMNS, {
  wanted: (f) => view.uncalled || f.calls > 0 || f.damage !== undefined || f.cpuNanos !== undefined,
  decorate: (line, f) => line.classList.toggle("never", f.calls === 0 && f.cpuNanos === undefined),
  show,
  by: sortedBy,
  ofAll: (rows) => {
    const selves = (functions) => functions.reduce((sum, f) => sum + (f.selfNanos ?? 0), 0);
    const all = selves(data.functions);
    return all > 0 ? `, ≈ ${percent(selves(rows) / all * 100)} of the time in functions themselves` : "";
  },
});

/**
 * In the data, a caller is four numbers: its function or -1, calls, time, and the error of the calls in percent or
 * -1.
 */
function callersOf(numbers) {
  const callers = [];
  for (let i = 0; i < numbers.length; i += 4) {
    const [caller, calls, nanos, error] = numbers.slice(i, i + 4);
    callers.push({ other: data.functions[caller], calls, nanos, error });
  }
  return callers;
}

function readCallers() {
  for (const f of data.functions) {
    f.callees = [];
    f.callers = typeof f.callers[0] === "number" ? callersOf(f.callers) : f.callers;
  }
  for (const f of data.functions) {
    f.callers.forEach(({ other, ...edge }) => other?.callees.push({ other: f, ...edge }));
  }
}

/** Rates, and the scales of columns. */
function measure() {
  for (const f of data.functions) {
    f.rate ??= f.calls !== undefined && data.session.measuredNanos > 0 ? f.calls / (data.session.measuredNanos / 1e9) : undefined;
  }
  for (const key of Object.keys(most)) {
    most[key] = data.functions.reduce((max, f) => Math.max(max, timeShown(f, key) ?? 0), 0);
  }
  [axis.low, axis.high] = decades(data.functions);
  byId("head").lastChild.textContent = `${tick(10 ** axis.low)} .. ${tick(10 ** axis.high)}`;
}

/** Takes over the data, which a served page gets again with each update. */
function read() {
  data.functions.forEach((f) => (f.searched ??= searchText(f)));
  measure();
  readCallers();
  readPaths();
  readCalls();
  offerViews();
  showSession();
  showProcesses();
}

function start() {
  readSamples(data);
  keepWhole();
  read();
  table.sort = COLUMNS.map((column) => column.key).find((k) => k?.replace("Nanos", "") === data.sortedBy) ?? "calls";
  table.descending = table.sort !== "name";
  table.select();
  byId("uncalled").addEventListener("change", (event) => {
    view.uncalled = event.target.checked;
    table.select();
  });
  startViews();
  startPart();
}

start();
