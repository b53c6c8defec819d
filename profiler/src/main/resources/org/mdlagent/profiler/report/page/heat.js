/* Latency over time: columns are slices of time, rows are durations on a logarithmic axis, the colour is calls. */

const HEATS = 7;
const clock = (millis) => new Date(millis).toTimeString().slice(0, 8);
/** Starts and ends of columns, alternating; in a served page each function has its own. */
const columnsOf = (f) => f.columns ?? data.columns;

/** Cells of a function: in the data, each is three numbers, column, row and calls. Empty if nothing is known by time. */
function heatCells(f) {
  const cells = [];
  for (let i = 0; i < (f.heat ?? []).length; i += 3) {
    const [column, row, calls] = f.heat.slice(i, i + 3);
    cells.push({ column, row, calls });
  }
  return cells;
}

/** The shortest duration of a row; the first rows would have no logarithm, or are below what can be measured. */
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
  // Per second: merged slices, and columns of several slices, are not bursts.
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

/** Axes, and the positions of cells and columns in them. */
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

/** The duration that a share `part` of some cells' calls does not exceed: the upper bound of a row. */
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

/** Selects a column by mouse or keys, and describes its contents. */
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
  // The selection is kept when the map is redrawn, or drawn for another function.
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
