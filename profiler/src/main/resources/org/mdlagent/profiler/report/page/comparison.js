/* A function in two runs: `before` and `after`, of which one may be missing. */

const change = (was, is) => (was > 0 && is !== undefined ? (is / was - 1) * 100 : undefined);

/** Whether a change rounds to zero with the digits shown. */
const isSlight = (percentage) => Math.abs(percentage) < 0.05;

function changeText(percentage) {
  if (percentage === undefined) {
    return "-";
  }
  const size = Math.abs(percentage);
  const text = percentage >= 999.5 ? `×${(percentage / 100 + 1).toPrecision(3)}` : `${size.toFixed(size < 99.95 ? 1 : 0)} %`;
  return isSlight(percentage) ? "0.0 %" : `${percentage > 0 ? "▲" : "▼"} ${text}`;
}

/** The relative error of the quotient of two estimates; undefined if nothing was sampled. */
const quotientError = (was, is) => (was === undefined && is === undefined ? undefined : Math.hypot(was ?? 0, is ?? 0));

/** In percentage points. */
function errorText(percentage, error) {
  const points = (percentage + 100) * error;
  return percentage === undefined || error === undefined
    ? ""
    : ` ±${points >= 999.5 ? ">999" : points.toFixed(points < 9.95 ? 1 : 0)}`;
}

function drawChange(key, errorKey) {
  return (f, cell) => {
    cell.append(f.before ? (f.after ? changeText(f[key]) + errorText(f[key], f[errorKey]) : "gone") : "new");
  };
}

/** Per nanosecond measured: runs may differ in length. */
const part = (figure, run) => (figure !== undefined && run.measuredNanos > 0 ? figure / run.measuredNanos : undefined);

function measure(f) {
  for (const name of ["p50", "p99"]) {
    const [was, is] = [f.before?.[`${name}Nanos`], f.after?.[`${name}Nanos`]];
    f[`${name}Before`] = was;
    f[`${name}After`] = is;
    f[`${name}Change`] = change(was, is);
  }
  f.totalBefore = part(f.before?.totalNanos, data.before);
  f.totalAfter = part(f.after?.totalNanos, data.after);
  f.totalChange = change(f.totalBefore, f.totalAfter);
  f.callsChange = change(part(f.before?.calls, data.before), part(f.after?.calls, data.after));
  f.totalError = quotientError(f.before?.totalError, f.after?.totalError);
  f.callsError = quotientError(f.before?.callsError, f.after?.callsError);
  f.searched = searchText(f);
}

/* The runs. */

function describe(run) {
  return [
    time(run.started),
    elapsed(run.elapsedNanos),
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
  facts(byId("summary"), [["Functions", grouped(functions.length)]]);
}

/* Latency in the table. */

const sides = (f) => [f.before, f.after].filter((one) => one?.latency.length > 0);
const [LOW, HIGH] = decades(data.functions.flatMap(sides));

/** The parts of all calls that fall into each of `bins` ranges. */
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

/* The table. */

const share = (ofTime) => percent(ofTime === undefined ? undefined : ofTime * 100);

function side(name, member) {
  return (f, cell) => cell.append(duration(f[name]?.[member]));
}

const COLUMNS = [
  { key: "name", title: "Function", draw: (f, cell, letters) => cell.append(fittingName(f, letters)) },
  { key: "p50Before", title: "p50", width: [80, 76], rank: 7, draw: side("before", "p50Nanos") },
  { key: "p50After", title: "now", width: [80, 76], rank: 6, draw: side("after", "p50Nanos") },
  { key: "p50Change", title: "p50 change", width: [118, 104], rank: 2, draw: drawChange("p50Change") },
  { key: "p99Before", title: "p99", width: [80, 76], rank: 9, draw: side("before", "p99Nanos") },
  { key: "p99After", title: "now", width: [80, 76], rank: 8, draw: side("after", "p99Nanos") },
  { key: "p99Change", title: "p99 change", width: [98, 104], rank: 3, draw: drawChange("p99Change") },
  { key: "totalBefore", title: "Total", width: [80, 76], rank: 11, draw: (f, cell) => cell.append(share(f.totalBefore)) },
  { key: "totalAfter", title: "now", width: [80, 76], rank: 10, draw: (f, cell) => cell.append(share(f.totalAfter)) },
  { key: "totalChange", title: "Total change", width: [122, 104], rank: 1, draw: drawChange("totalChange", "totalError") },
  { key: "callsChange", title: "Rate", width: [98, 98], rank: 4, draw: drawChange("callsChange", "callsError") },
  {
    title: `${tick(10 ** LOW)} .. ${tick(10 ** HIGH)}`,
    about: "Calls by latency: the line is before, the bars are after",
    width: [132, 132],
    rank: 5,
    has: () => true,
    draw: (f, cell) => cell.append(spark(f)),
  },
];

/** How much more or less of the time a function takes, in colours that differ in lightness as much as in hue. */
function colourChange(path) {
  const f = data.functions[path.function];
  const error = f ? (f.totalChange + 100) * (f.totalError ?? 0) : 0;
  if (!f || f.totalChange === undefined || Math.abs(f.totalChange) <= error) {
    return "var(--same)";
  }
  const step = Math.min(3, Math.ceil(Math.abs(Math.log2(1 + f.totalChange / 100)) * 2));
  return step === 0 ? "var(--same)" : `var(--${f.totalChange > 0 ? "more" : "less"}-${step})`;
}

function aboutChange(path) {
  const f = data.functions[path.function];
  return f ? `; total ${f.before ? changeText(f.totalChange) + errorText(f.totalChange, f.totalError) : "new"}` : "";
}

const view = { name: "grid", shown: null, colourPath: colourChange, aboutPath: aboutChange };

const table = new Table(COLUMNS, { wanted: () => true, decorate() {}, show });

/* One function. */

function summary(f) {
  if (!f.before || !f.after) {
    return f.after ? "It was not called before." : "It is not called any more.";
  }
  return `Time altogether: ${changeText(f.totalChange)}${errorText(f.totalChange, f.totalError)}.`;
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
  const detail = openDetail(f, closeDetail);
  keepPlace();
  detail.append(
    element("p", {}, [f.file, f.image].filter((part) => part).join(" · ")),
    element("p", {}, summary(f)), element("h3", {}, "Before and after"), figures(f));
  if (sides(f).length > 0) {
    detail.append(element("h3", {}, "Calls by latency: the line is before, the bars are after"), distributions(f));
  }
}

function start() {
  data.functions.forEach(measure);
  showRuns();
  table.select();
  readPaths();
  offerViews();
  startViews();
}

start();
