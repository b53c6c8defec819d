/* Slow calls, sorted by duration, with their callees and where they waited. */

/** A shorter wait may be an error of the CPU clock's last reading: a tenth of the call, as in the table report. */
const WAIT_PART_MIN = 0.1;

/** Trees shown. */
const TREES = 200;

function waited({ waitedNanos, totalNanos }) {
  if (waitedNanos === undefined) {
    return "?";
  }
  return waitedNanos >= WAIT_PART_MIN * totalNanos ? duration(waitedNanos) : "-";
}

const functionOf = (call) => data.functions.find(({ name, image }) => name === call.function && image === call.image);

/** The rows of a call and of its callees, indented. */
function slowRows(call, depth) {
  const f = functionOf(call);
  const texts = [duration(call.totalNanos), duration(call.ownNanos), waited(call)];
  const name = element("td", { style: `padding-left: ${10 + 16 * depth}px` }, call.function);
  const line = element("tr", { class: depth === 0 ? "request" : "" }, name, ...texts.map((text) => element("td", {}, text)),
    element("td", {}, call.waitedIn ?? (depth === 0 ? `${since(call.startNanos)}, ${threadName(call.tid)}` : "")));
  f && line.addEventListener("click", () => show(f));
  return [line, ...call.callees.flatMap((callee) => slowRows(callee, depth + 1))];
}

function drawSlow() {
  const { count: number, cut, thresholdNanos, calls } = data.slow ?? { count: 0, cut: 0, calls: [] };
  const isMatch = (f) => (f ? table.matches(f) : byId("filter").value === "");
  const matches = (call) => isMatch(functionOf(call)) || call.callees.some(matches);
  const shown = calls.filter(matches).slice(0, TREES);
  byId("count").textContent = plural(shown.length, "slow call", "slow calls");
  const threshold = thresholdNanos ? `of ${duration(thresholdNanos)} or more` : "beyond their function's own p99.9";
  const all = number > calls.length ? ` (${grouped(number)} in all: also those inside and around them, and older ones)` : "";
  byId("slow-says").textContent = `${plural(calls.length, "slow call", "slow calls")} ${threshold}${all}`
    + (cut > 0 ? `; ${plural(cut, "lacks", "lack")} some of their first callees` : "")
    + ". Own: without the calls below. Waited: off the processors, at least.";
  byId("slow-trees").querySelector("tbody").replaceChildren(...shown.flatMap((call) => slowRows(call, 0)));
}

VIEWS.slow = {
  keys: [["/"], " filter ", ["Esc"], " close "],
  holds: () => data.slow?.calls.length > 0,
  draw: drawSlow,
  takes: { Escape: () => byId("detail").hidden || closeDetail() },
};
