/* Metrics: the value of each, and its history. */

const inUnits = (metric, value) => `${value < 0 ? "-" : ""}${count(Math.abs(value))} ${metric.units}`;

/** Corners of a curve, as pairs of time and value. A rate is the mean since the previous point; an amount starts at 0. */
function corners(metric) {
  const points = metric.series;
  if (metric.unitsType === "rate") {
    return points.flatMap(([seconds, value], i) => [[i > 0 ? points[i - 1][0] : 0, value], [seconds, value]]);
  }
  return metric.unitsType === "amount" ? [[0, 0], ...points] : points;
}

/** The history, with functions that map seconds and values to percent. */
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
  const found = data.metrics.filter((metric) => {
    const searched = [metric.name, metric.title, ...metric.focus].join("\n").toLowerCase();
    return table.matches({ searched });
  });
  byId("metrics").replaceChildren(...found.map(card));
  byId("count").textContent = `${grouped(found.length)} of ${plural(data.metrics.length, "metric", "metrics")}`;
}

VIEWS.metrics = { keys: [["/"], " filter"], holds: () => data.metrics.length > 0, draw: drawMetrics, takes: {} };
