/* Single calls: the slowest of the last ones of each thread, on a time line and in a list. */

/** Calls in the list. */
const LISTED = 200;
const LANE_DEPTH = 12;
const trace = { calls: [], chosen: null, zoomed: null, lanes: [] };

/**
 * The same call in newly read data, where a better estimate of the clock's frequency may have moved its times a
 * little.
 */
function sameCall(call, calls) {
  const near = (a, b, part) => Math.abs(a - b) <= 1000 + part * b;
  const same = calls.filter(({ tid, f, start, nanos }) =>
    tid === call.tid && f === call.f && near(start, call.start, 1e-4) && near(nanos, call.nanos, 1e-3));
  return same.toSorted((a, b) => Math.abs(a.start - call.start) - Math.abs(b.start - call.start))[0] ?? call;
}

/** In the data, a call is four numbers: thread, function, start, and duration. */
function readCalls() {
  const calls = [];
  for (let i = 0; i < (data.calls ?? []).length; i += 4) {
    const [tid, position, start, nanos] = data.calls.slice(i, i + 4);
    // A served page may not know the function yet.
    data.functions[position] && calls.push({ tid, f: data.functions[position], start, nanos });
  }
  trace.chosen &&= sameCall(trace.chosen, calls);
  trace.calls = calls.toSorted((a, b) => b.nanos - a.nanos);
  // Within a thread, a call that began later and ended earlier than another was made by it or by its callees.
  trace.lanes = [...Map.groupBy(calls.toSorted((a, b) => a.start - b.start || b.nanos - a.nanos), ({ tid }) => tid)].map(([tid, own]) => {
    const open = [];
    for (const call of own) {
      while (open.length > 0 && open.at(-1).start + open.at(-1).nanos <= call.start) {
        open.pop();
      }
      call.depth = Math.min(LANE_DEPTH - 1, open.length);
      open.push(call);
    }
    return { tid, calls: own, deepest: Math.max(...own.map(({ depth }) => depth)) };
  });
}

const threadName = (tid) => (tid < 0 ? "threads that have ended" : nameOfThread(tid));
const since = (nanos) => `+${(nanos / 1e9).toFixed(6)} s`;

function describeCall({ f, tid, start, nanos }) {
  return [element("b", {}, f.name), ` ${duration(nanos)}, began ${since(start)} after the program, ${threadName(tid)}`];
}

/** The range of time shown: all, or that of a call plus the same again. */
function shownTime() {
  const { zoomed, calls } = trace;
  if (zoomed) {
    return [zoomed.start - zoomed.nanos / 2, zoomed.start + zoomed.nanos * 1.5];
  }
  const begin = calls.reduce((least, { start }) => Math.min(least, start), Infinity);
  return [begin, calls.reduce((most, { start, nanos }) => Math.max(most, start + nanos), begin + 1)];
}

function drawCalls() {
  byId("count").textContent = plural(trace.calls.length, "call", "calls");
  if (trace.calls.length === 0) {
    byId("call").textContent = "No call has been timed yet.";
    return;
  }
  const width = byId("lanes").clientWidth;
  const [begin, end] = shownTime();
  const x = (nanos) => (nanos - begin) / (end - begin) * width;
  const shapes = [];
  let top = 0;
  for (const lane of trace.lanes) {
    shapes.push(svg("text", { x: 4, y: top + 14 }, threadName(lane.tid)));
    top += FRAME;
    for (const call of lane.calls.filter(({ start, nanos }) => start < end && start + nanos > begin)) {
      shapes.push(bar(call, x, top + call.depth * FRAME));
    }
    top += (lane.deepest + 1) * FRAME + 6;
  }
  byId("lanes").replaceChildren(svg("svg", { width, height: top }, ...shapes));
  const listed = trace.calls.filter(({ f }) => table.matches(f)).slice(0, LISTED);
  trace.listed = listed;
  const row = (call) => {
    const cells = [fittingName(call.f, NAME_LETTERS), duration(call.nanos), since(call.start), threadName(call.tid)];
    const line = element("tr", { "aria-selected": call === trace.chosen }, ...cells.map((text) => element("td", {}, text)));
    line.addEventListener("click", () => chooseCall(call));
    return line;
  };
  byId("slowest").querySelector("tbody").replaceChildren(...listed.map(row));
  byId("call").replaceChildren(...trace.chosen
    ? describeCall(trace.chosen)
    : [`The slowest of the last calls of each thread that were timed, from ${since(begin)} to ${since(end)}. What is between them was not idle.`]);
}

function bar(call, x, y) {
  const left = Math.max(0, x(call.start));
  const w = Math.max(1.5, Math.min(byId("lanes").clientWidth, x(call.start + call.nanos)) - left);
  const letters = Math.floor((w - 8) / 6.7);
  const kinds = [table.matches(call.f) ? "" : "other", call === trace.chosen ? "chosen" : ""];
  const group = svg("g", { class: kinds.join(" ") },
    svg("title", {}, `${call.f.name}\n${duration(call.nanos)}`),
    svg("rect", { x: left, y, width: w, height: FRAME - 2, fill: colourOf(call.f) }),
    svg("text", { x: left + 4, y: y + 13, class: "inside" }, letters > 2 ? fittingName(call.f, letters) : ""));
  group.addEventListener("click", () => chooseCall(call));
  return group;
}

function chooseCall(call) {
  trace.chosen = call ?? trace.chosen;
  byId("detail").hidden || !trace.chosen || show(trace.chosen.f);
  drawCalls();
  byId("slowest").querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
}

function zoomCall(call) {
  trace.zoomed = call;
  drawCalls();
}

/** The next call in the list or, on its thread, in time. */
const inList = (step) => chooseCall(trace.listed[Math.max(0, trace.listed.indexOf(trace.chosen) + step)]);
const inTime = (step) => {
  const own = trace.lanes.find(({ tid }) => tid === trace.chosen?.tid)?.calls ?? trace.lanes[0].calls;
  chooseCall(own[Math.max(0, own.indexOf(trace.chosen) + step)]);
};

VIEWS.calls = {
  keys: [
    ["/"], " filter ", ["↑"], ["↓"], " slower, faster ", ["←"], ["→"], " before, after ", ["Enter"], " zoom in ", ["Esc"], " zoom out ",
    ["o"], " open"],
  holds: () => data.calls?.length > 0,
  draw: drawCalls,
  takes: {
    ArrowDown: () => inList(1),
    ArrowUp: () => inList(-1),
    ArrowRight: () => inTime(1),
    ArrowLeft: () => inTime(-1),
    Enter: () => trace.chosen && zoomCall(trace.chosen),
    o: () => trace.chosen && show(trace.chosen.f),
    Escape: () => (byId("detail").hidden ? zoomCall(null) : closeDetail()),
  },
};
