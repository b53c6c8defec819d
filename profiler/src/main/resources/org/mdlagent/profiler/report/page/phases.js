/*
 * The whole program over time: a row is a function, a column is a group of time slices, and the colour is CPU time
 * with callees, or time in calls, which is shown where the calls ended. Threads are added up: a second can contain
 * more than one second of time.
 */

/** Rows: the first functions of the table. */
const PHASES = 60;
/** Values below this share of the maximum have the palest colour. */
const PHASES_LEAST = 1e-3;
/** Starts and ends of its columns, alternating, and the selection. */
const phases = { columns: data.columns, row: 0, column: 0, cpu: true };

/** Whether CPU time is shown: it comes from samples, so it is known for each function and slice alike. */
const showsCpu = () => phases.cpu && part.samples.length > 0;

/** By function: CPU time with callees, by column. */
function cpuCells(columns) {
  const byColumn = Map.groupBy(samplesIn(part.thread), ({ millis }) => columns.findLastIndex((edge, i) => i % 2 === 0 && edge <= millis) / 2);
  const cells = new Map();
  for (const [column, samples] of byColumn) {
    for (const [path, count] of countByPath(samples)) {
      eachFunction(path, (position) => {
        const f = data.functions[position];
        cells.has(f) || cells.set(f, new Map());
        const cell = cells.get(f).get(column) ?? { nanos: 0 };
        cells.get(f).set(column, { nanos: cell.nanos + count * data.nanosPerSample });
      });
    }
  }
  return cells;
}

/** As many columns as the strip has, for the selected part. */
function cpuColumns() {
  const [from, to] = partOf();
  const width = (to - from) / stripColumns();
  return Array.from({ length: stripColumns() }, (_, i) => [from + i * width, from + (i + 1) * width]).flat();
}

/** In the data, a cell is three numbers: column, nanoseconds and calls. */
function phaseCells(f) {
  const cells = new Map();
  for (let i = 0; i < (f.spent ?? []).length; i += 3) {
    cells.set(f.spent[i], { nanos: f.spent[i + 1], calls: f.spent[i + 2] });
  }
  return cells;
}

const columnSeconds = (column) => Math.max(1, phases.columns[2 * column + 1] - phases.columns[2 * column]) / 1000;

function describePhase(f, column, cell) {
  const when = `${preciseClock(phases.columns[2 * column])} to ${preciseClock(phases.columns[2 * column + 1])}`;
  const what = cell
    ? ` ≈ ${duration(cell.nanos / columnSeconds(column))} a second${showsCpu()
      ? " of CPU time with callees"
      : `, in ${count(cell.calls / columnSeconds(column))} calls/s`}`
    : showsCpu() ? " no sample" : " not called";
  return [`${when} `, element("b", {}, f.name), what];
}

function drawPhases() {
  const ofCpu = showsCpu() ? cpuCells(phases.columns = cpuColumns()) : null;
  if (!ofCpu && part.samples.length > 0 && !data.source) {
    phases.columns = data.columns;
  }
  byId("phase-cpu").hidden = part.samples.length === 0;
  byId("phase-cpu").setAttribute("aria-pressed", phases.cpu);
  const rows = table.rows.filter((f) => (ofCpu ? ofCpu.has(f) : f.spent?.length > 0)).slice(0, PHASES);
  const place = byId("phase-map");
  byId("count").textContent = `${grouped(rows.length)} of ${plural(data.functions.length, "function", "functions")}`;
  if (rows.length === 0) {
    byId("phase").textContent = "No function matches, or none of these has been kept by time.";
    place.replaceChildren();
    return;
  }
  const names = Math.min(260, place.clientWidth * 0.35);
  const columns = phases.columns.length / 2;
  phases.column = Math.min(phases.column, columns - 1);
  const [begin, end] = [phases.columns[0], phases.columns.at(-1)];
  const x = (millis) => names + (millis - begin) / (end - begin) * (place.clientWidth - names - 1);
  const cells = rows.map((f) => (ofCpu ? ofCpu.get(f) : phaseCells(f)));
  const rate = (row, column) => (cells[row].get(column)?.nanos ?? 0) / columnSeconds(column);
  const most = Math.max(...rows.flatMap((_, row) => [...cells[row].keys()].map((column) => rate(row, column))));
  // There is no less than one sample.
  const least = ofCpu ? Math.min(0.5, data.nanosPerSample / columnSeconds(0) / most / 1.1) : PHASES_LEAST;
  const shade = (part) => Math.max(0, Math.min(HEATS - 1, Math.floor(HEATS * (1 - log(part / most) / log(least)))));
  const shapes = new Array(HEATS).fill("");
  const box = (row, column) => [x(phases.columns[2 * column]), row * FRAME, Math.max(1, x(phases.columns[2 * column + 1]) - x(phases.columns[2 * column]))];
  for (const row of rows.keys()) {
    for (const [column, { nanos }] of cells[row]) {
      const [left, top, width] = box(row, column);
      shapes[nanos > 0 ? shade(rate(row, column)) : 0] += `M${left},${top}h${width}v${FRAME - 1}h${-width}z`;
    }
  }
  const cursor = svg("rect", { class: "cursor", height: FRAME - 1 });
  const choose = (row, column) => {
    phases.row = Math.max(0, Math.min(rows.length - 1, row));
    phases.column = Math.max(0, Math.min(columns - 1, column));
    const [left, top, width] = box(phases.row, phases.column);
    fill(cursor, { x: left, y: top, width }, []);
    byId("phase").replaceChildren(...describePhase(rows[phases.row], phases.column, cells[phases.row].get(phases.column)));
  };
  const ticks = Math.max(1, Math.min(6, Math.floor((place.clientWidth - names) / 90)));
  const picture = svg("svg", { width: place.clientWidth, height: rows.length * FRAME + 22, role: "img", "aria-label": "Time spent in functions over time" },
    ...shapes.map((d, i) => svg("path", { d, style: `fill: var(--heat-${i})` })),
    ...rows.map((f, row) => svg("text", { x: 4, y: row * FRAME + 14, class: "name" }, fittingName(f, Math.floor((names - 8) / 7.4)))),
    ...Array.from({ length: ticks + 1 }, (_, i) => svg("text", {
      x: x(begin + (end - begin) * i / ticks), y: rows.length * FRAME + 16, "text-anchor": i === 0 ? "start" : i === ticks ? "end" : "middle",
    }, clock(begin + (end - begin) * i / ticks))),
    cursor);
  const point = (event, act) => {
    const { left, top } = picture.getBoundingClientRect();
    const at = event.clientX - left;
    const column = Array.from({ length: columns }, (_, i) => i).findLast((i) => x(phases.columns[2 * i]) <= at) ?? 0;
    const row = Math.floor((event.clientY - top) / FRAME);
    row < rows.length && act(row, column);
  };
  picture.addEventListener("mousemove", (event) => point(event, choose));
  picture.addEventListener("click", (event) => point(event, (row) => show(rows[row])));
  Object.assign(phases, { choose, open: () => show(rows[phases.row]) });
  place.replaceChildren(picture);
  const scale = Array.from({ length: HEATS }, (_, i) => element("i", { style: `background: var(--heat-${i})` }));
  byId("phase-scale").replaceChildren(`≤ ${duration(most * least)}`, ...scale, `${duration(most)} a second`);
  choose(phases.row, phases.column);
}

function switchPhases() {
  phases.cpu = !phases.cpu;
  VIEWS.phases.draw();
}

byId("phase-cpu").addEventListener("click", switchPhases);
VIEWS.phases = {
  keys: [["/"], " filter ", ["↑"], ["↓"], ["←"], ["→"], " choose ", ["Enter"], " open ", ["Esc"], " close"],
  holds: () => part.samples.length > 0 || data.functions.some((f) => f.spent?.length > 0),
  draw: drawPhases,
  takes: {
    ArrowLeft: () => phases.choose?.(phases.row, phases.column - 1),
    ArrowRight: () => phases.choose?.(phases.row, phases.column + 1),
    ArrowUp: () => phases.choose?.(phases.row - 1, phases.column),
    ArrowDown: () => phases.choose?.(phases.row + 1, phases.column),
    Home: () => phases.choose?.(phases.row, 0),
    End: () => phases.choose?.(phases.row, Infinity),
    Enter: () => phases.open?.(),
    c: switchPhases,
  },
};
