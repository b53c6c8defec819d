/*
 * A part of the session: a range of time and a thread, which the table and the flame graph show. The strip above them
 * shows all CPU time, and the part is selected in it. A served page requests the samples (asked.js).
 */

const STRIP = { column: 7, columnsMin: 60, columnsMax: 240, top: 4 };
/**
 * `from` and `to` are in milliseconds since 1970, null for the whole session; `thread` is a position, -1 for all. `of` has
 * the paths of the samples, `whole` what the page shows of the whole session. `asked`: a served page has requested samples.
 */
const part = { from: null, to: null, thread: -1, samples: [], begin: 0, end: 0, of: null, whole: null, asked: false };

/** Figures that a part has instead of those of the whole session. */
const FIGURES = [
  "calls", "callsExact", "callsError", "rate", "sampled", "totalNanos", "totalError", "selfNanos", "selfError", "meanNanos", "minNanos",
  "p50Nanos", "p90Nanos", "p99Nanos", "p999Nanos", "maxNanos", "cpuNanos", "cpuError", "cpuTotalNanos", "cpuTotalError", "latency"];

/** In the data, a sample is four numbers: milliseconds since the previous one, thread, path or -1, and weight. */
function readSamples({ frames, paths }) {
  const numbers = data.samples ?? [];
  let millis = Date.parse(data.session.started);
  Object.assign(part, { begin: millis, samples: [], of: { frames, paths } });
  for (let i = 0; i < numbers.length; i += 4) {
    millis += numbers[i];
    part.samples.push({ millis, thread: numbers[i + 1], path: numbers[i + 2], weight: numbers[i + 3] });
  }
  part.end = Math.max(millis + 1, part.begin + (data.elapsedNanos ?? 0) / 1e6);
}

function keepWhole() {
  const { frames, paths, waits } = data;
  part.whole = { frames, paths, waits, functions: data.functions.map((f) => Object.fromEntries(FIGURES.map((key) => [key, f[key]]))) };
}

function restoreWhole() {
  const { functions, ...others } = part.whole;
  Object.assign(data, others);
  functions.forEach((whole, i) => Object.assign(data.functions[i], whole));
}

const isPart = () => part.from !== null || part.thread >= 0;
const partOf = () => [part.from ?? part.begin, part.to ?? part.end];

/** The name of a thread; usually several threads have the same one. */
function nameOfThread(tid) {
  const name = data.sampledThreads?.find((thread) => thread.tid === tid)?.name;
  return name ? `${name} (${tid})` : `thread ${tid}`;
}

/* The paths of some samples. */

/** The number of samples of each path itself, by its position. */
function countByPath(samples) {
  const counts = new Map();
  for (const { path, weight } of samples) {
    counts.set(path, (counts.get(path) ?? 0) + weight);
  }
  counts.delete(-1);
  return counts;
}

/** The paths with the time of some samples, in the format of the data. */
function pathsOf(counts) {
  const paths = [...part.of.paths];
  for (let i = 0; i < paths.length; i += 4) {
    paths[i + 3] = (counts.get(i / 4) ?? 0) * data.nanosPerSample;
    paths[i + 2] = paths[i + 3];
  }
  for (let i = paths.length - 4; i >= 0; i -= 4) {
    const parent = paths[i + 1];
    if (parent >= 0) {
      paths[4 * parent + 2] += paths[i + 2];
    }
  }
  return paths;
}

/** Calls `tell` once for each function on a path, innermost first. */
function eachFunction(path, tell) {
  const met = new Set();
  const { frames, paths } = part.of;
  for (let at = path, last = true; at >= 0; at = paths[4 * at + 1], last = false) {
    const position = frames[paths[4 * at]].function;
    if (position !== undefined && !met.has(position)) {
      met.add(position);
      tell(position, last);
    }
  }
}

/* Figures of functions. */

/** The relative half-width of the 95 % interval for a number of samples, which is Poisson distributed. */
const errorOf = (samples) => 1.96 / Math.sqrt(samples);

function cpuOf(counts, mean) {
  const own = new Map();
  const all = new Map();
  for (const [path, count] of counts) {
    eachFunction(path, (position, last) => {
      all.set(position, (all.get(position) ?? 0) + count);
      last && own.set(position, (own.get(position) ?? 0) + count);
    });
  }
  const figures = (name, count) => (count
    ? { [`${name}Nanos`]: count * data.nanosPerSample, [`${name}Error`]: errorOf(count / mean) }
    : {});
  return (position) => ({ ...figures("cpu", own.get(position)), ...figures("cpuTotal", all.get(position)) });
}

/** The time slices whose middles are in the part; for a shorter part, the slice that contains the part's middle. */
function columnsIn([from, to]) {
  const all = Array.from({ length: data.columns.length / 2 }, (_, i) => i);
  const [begin, end] = [(i) => data.columns[2 * i], (i) => data.columns[2 * i + 1]];
  const within = all.filter((i) => begin(i) + end(i) >= 2 * from && begin(i) + end(i) < 2 * to);
  return new Set(within.length > 0 ? within : all.filter((i) => 2 * begin(i) <= from + to && from + to < 2 * end(i)));
}

/** Calls of a function in some slices, and durations at the resolution of its heat map's rows. */
function callsIn(f, columns) {
  if (!f.spent && !f.heat) {
    return { latency: [] };
  }
  const spent = [...phaseCells(f)].filter(([column]) => columns.has(column)).map(([, cell]) => cell);
  const byRow = new Map();
  for (const { column, row, calls } of heatCells(f)) {
    columns.has(column) && byRow.set(row, (byRow.get(row) ?? 0) + calls);
  }
  const rows = [...byRow].toSorted(([a], [b]) => a - b);
  const middle = (row) => Math.round(Math.sqrt(rowNanos(row) * rowNanos(row + 1)));
  const timed = rows.reduce((sum, [, calls]) => sum + calls, 0);
  const percentile = (share) => {
    let seen = 0;
    const found = rows.find(([, calls]) => (seen += calls) >= share * timed);
    return found && middle(found[0]);
  };
  const seconds = [...columns].reduce((sum, i) => sum + (data.columns[2 * i + 1] - data.columns[2 * i]) / 1000, 0);
  const calls = spent.reduce((sum, cell) => sum + cell.calls, 0);
  return {
    calls: f.spent ? calls : undefined,
    rate: f.spent && seconds > 0 ? calls / seconds : undefined,
    sampled: f.heat ? timed : undefined,
    p50Nanos: percentile(0.5),
    p90Nanos: percentile(0.9),
    p99Nanos: percentile(0.99),
    p999Nanos: percentile(0.999),
    maxNanos: rows.length > 0 ? rowNanos(rows.at(-1)[0] + 1) : undefined,
    latency: rows.flatMap(([row, n]) => [middle(row), n]),
  };
}

/** Gives paths and functions the figures of the part, or those of the session. */
function takePart() {
  restoreWhole();
  if (!isPart()) {
    return;
  }
  const chosen = samplesIn(part.thread);
  const counts = countByPath(chosen);
  const cpu = cpuOf(counts, chosen.reduce((sum, { weight }) => sum + weight, 0) / Math.max(1, chosen.length));
  const columns = columnsIn(partOf());
  // Time slices do not distinguish threads, and a served page does not have those of all functions.
  const knowsCalls = part.thread < 0 && !data.source;
  Object.assign(data, { frames: part.of.frames, paths: pathsOf(counts), waits: [] });
  data.functions.forEach((f, i) => {
    const { callsExact } = f;
    FIGURES.forEach((key) => (f[key] = key === "latency" ? [] : undefined));
    knowsCalls && Object.assign(f, callsIn(f, columns), { callsExact });
    Object.assign(f, cpu(i));
  });
}

function samplesIn(thread) {
  const [from, to] = partOf();
  return part.samples.filter((one) => one.millis >= from && one.millis < to && (thread < 0 || one.thread === thread));
}

/* The strip. */

const stripColumns = () => Math.max(STRIP.columnsMin, Math.min(STRIP.columnsMax, Math.floor(byId("strip").clientWidth / STRIP.column)));

/** CPU time by column and image, in processors. */
function stripParts(columns) {
  const width = (part.end - part.begin) / columns;
  const images = new Map();
  for (const { millis, thread, path, weight } of part.samples) {
    if (part.thread >= 0 && thread !== part.thread) {
      continue;
    }
    const frame = path < 0 ? null : part.of.frames[part.of.paths[4 * path]];
    const key = `${frame?.function === undefined ? "-" : "+"}${frame?.image ?? ""}`;
    images.has(key) || images.set(key, { frame, sum: 0, columns: new Array(columns).fill(0) });
    const of = images.get(key);
    of.sum += weight;
    of.columns[Math.min(columns - 1, Math.floor((millis - part.begin) / width))] += weight * data.nanosPerSample / (width * 1e6);
  }
  return [...images.values()].toSorted((a, b) => b.sum - a.sum);
}

function drawStrip() {
  const place = byId("strip");
  const columns = stripColumns();
  const { clientWidth: width, clientHeight: height } = place;
  const parts = stripParts(columns);
  const heights = new Array(columns).fill(0);
  parts.forEach((one) => one.columns.forEach((n, i) => (heights[i] += n)));
  const most = Math.max(...heights, 1e-9);
  const x = (millis) => (millis - part.begin) / (part.end - part.begin) * width;
  const room = height - STRIP.top;
  const base = new Array(columns).fill(height);
  const shapes = parts.map((one) => {
    let d = "";
    one.columns.forEach((n, i) => {
      if (n > 0) {
        const h = n / most * room;
        base[i] -= h;
        d += `M${i / columns * width},${base[i]}h${width / columns - 0.5}v${h}h${0.5 - width / columns}z`;
      }
    });
    return svg("path", { d, fill: one.frame ? colourOf({ ...one.frame, frame: 0, name: "" }) : "var(--faint)" });
  });
  const [from, to] = partOf();
  const marks = part.from === null ? [] : [
    svg("rect", { class: "outside", x: 0, y: 0, width: Math.max(0, x(from)), height }),
    svg("rect", { class: "outside", x: x(to), y: 0, width: Math.max(0, width - x(to)), height }),
    svg("rect", { class: "cursor", x: x(from), y: 1, width: Math.max(2, x(to) - x(from)), height: height - 2 }),
  ];
  place.replaceChildren(
    svg("svg", { width, height, role: "img", "aria-label": "CPU time over time" }, ...shapes, ...marks));
  byId("strip-most").textContent = `${most.toPrecision(2)} CPU`;
  byId("part-says").textContent = describePart();
  byId("part-all").hidden = !isPart();
}

function describePart() {
  const [from, to] = partOf();
  const nanos = samplesIn(part.thread).reduce((sum, { weight }) => sum + weight, 0) * data.nanosPerSample;
  const length = duration((to - from) * 1e6);
  const cpu = `≈ ${duration(nanos)} of CPU time in ${length}`;
  if (!isPart()) {
    return `${cpu}. Drag over it to choose a part; the white is idle.`;
  }
  const when = part.from === null ? "" : `${preciseClock(from)} to ${preciseClock(to)}: `;
  return `${when}${cpu}; ${part.thread >= 0
    ? "of one thread CPU time alone is known"
    : data.source ? "the report (mdl report) has the calls too" : describeSlices([...columnsIn([from, to])])}`;
}

/** Slices are consecutive. */
function describeSlices(columns) {
  return columns.length === 0
    ? "no calls are known of this part"
    : `calls of ${preciseClock(data.columns[2 * columns[0]])} to ${preciseClock(data.columns[2 * columns.at(-1) + 1])}, percentiles within 10 %`;
}

const preciseClock = (millis) => `${clock(millis)}.${String(Math.floor(millis % 1000)).padStart(3, "0")}`;

/** Selects a part of the session. */
function choosePart(from, to, thread = part.thread) {
  Object.assign(part, { from, to, thread });
  byId("thread").value = thread;
  takePart();
  measure();
  readPaths();
  table.select();
  drawStrip();
  byId("detail").hidden || show(view.shown);
  view.name === "grid" || drawView();
}

/** Selects the dragged range; a click selects all. */
function followBrush() {
  const place = byId("strip");
  let anchor = null;
  let frame = 0;
  const at = (event) => {
    const { left, width } = place.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    return part.begin + share * (part.end - part.begin);
  };
  const choose = (millis) => {
    const [from, to] = [Math.min(anchor, millis), Math.max(anchor, millis)];
    const least = (part.end - part.begin) / stripColumns() / 2;
    to - from < least ? choosePart(null, null) : choosePart(from, to);
  };
  place.addEventListener("pointerdown", (event) => {
    anchor = at(event);
    place.setPointerCapture(event.pointerId);
    event.preventDefault();
    place.focus();
  });
  place.addEventListener("pointermove", (event) => {
    if (anchor !== null) {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => choose(at(event)));
    }
  });
  place.addEventListener("pointerup", (event) => {
    cancelAnimationFrame(frame);
    anchor === null || choose(at(event));
    anchor = null;
  });
  place.addEventListener("pointercancel", () => {
    cancelAnimationFrame(frame);
    anchor = null;
  });
  place.addEventListener("keydown", (event) => {
    if (/^(ArrowLeft|ArrowRight|Escape)$/.test(event.key)) {
      moveBrush(event);
      event.preventDefault();
      event.stopPropagation();
    }
  });
}

/** An arrow key moves the part by a column, with Shift its end. */
function moveBrush({ key, shiftKey }) {
  const step = (part.end - part.begin) / stripColumns();
  const by = key === "ArrowLeft" ? -step : step;
  if (key === "Escape") {
    choosePart(null, null);
  } else if (part.from === null) {
    key === "ArrowLeft" ? choosePart(part.end - step, part.end) : choosePart(part.begin, part.begin + step);
  } else if (shiftKey) {
    choosePart(part.from, Math.min(part.end, Math.max(part.from + step, part.to + by)));
  } else if (part.from + by >= part.begin - 1 && part.to + by <= part.end + 1) {
    choosePart(part.from + by, part.to + by);
  }
}

/** The part in the page's address: milliseconds since the session began, and the thread's id. */
function keepPart(put) {
  part.from !== null && put("time", `${Math.round(part.from - part.begin)}-${Math.round(part.to - part.begin)}`);
  part.thread >= 0 && put("thread", String(data.sampledThreads[part.thread].tid));
}

function returnToPart(place) {
  const thread = (data.sampledThreads ?? []).findIndex(({ tid }) => String(tid) === place.get("thread"));
  const [, from, to] = /^(\d+)-(\d+)$/.exec(place.get("time") ?? "") ?? [];
  if (part.samples.length > 0 && (from !== undefined || thread >= 0)) {
    choosePart(from === undefined ? null : part.begin + Number(from), to === undefined ? null : part.begin + Number(to), thread);
  }
}

KEPT.push({ keep: keepPart, take: returnToPart });

function offerThreads() {
  const all = data.sampledThreads.reduce((sum, { samples }) => sum + samples, 0);
  const options = data.sampledThreads
    .map((thread, i) => ({ ...thread, i }))
    .filter(({ samples }) => samples > 0)
    .toSorted((a, b) => b.samples - a.samples)
    .map(({ i, tid, samples }) => element("option", { value: i },
      `${tid === 0 ? "other threads" : nameOfThread(tid)}, ${percent(samples / all * 100)}`));
  byId("thread").replaceChildren(element("option", { value: -1 }, "all threads"), ...options);
  byId("thread").value = part.thread;
  byId("thread").hidden = options.length < 2;
}

function startPart() {
  if (part.samples.length === 0) {
    return;
  }
  byId("part").hidden = false;
  offerThreads();
  byId("thread").addEventListener("change", (event) => choosePart(part.from, part.to, Number(event.target.value)));
  byId("part-all").addEventListener("click", () => choosePart(null, null, -1));
  followBrush();
  new ResizeObserver(drawStrip).observe(byId("strip"));
}
