/* One function. */

function show(f) {
  view.shown = f;
  const detail = openDetail(f, closeDetail);
  keepPlace();
  if (f.symbol !== f.name) {
    detail.append(element("p", {}, f.symbol));
  }
  detail.append(element("p", {}, [f.file && f.file + (f.line ? `:${f.line}` : ""), f.image].filter((x) => x).join(" · ")));
  detail.append(facts(element("dl"), [
    ["Calls", callsOf(f)],
    ["Timed", f.damage === undefined ? grouped(f.sampled) : "-"],
    ["Total", estimate(f, "total")],
    ["Self", estimate(f, "self")],
    ...(f.cpuNanos === undefined ? [] : [["CPU", `≈ ${duration(f.cpuNanos)}${certainty(f.cpuNanos, f.cpuError)}`]]),
    ...(f.cpuTotalNanos === undefined
      ? []
      : [["CPU with callees", `≈ ${duration(f.cpuTotalNanos)}${certainty(f.cpuTotalNanos, f.cpuTotalError)}`]]),
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
  detail.append(...sourceOf(f));
  detail.append(...neighbours("Called by", f.callers), ...neighbours("It calls", f.callees));
  view.opened(f);
}

/** The lines of its own code, with the CPU time of samples in the whole session. */
function sourceOf(f) {
  return (data.sources ?? []).filter((source) => data.functions[source.function] === f).flatMap((source) => {
    const samples = new Map();
    for (let i = 0; i < source.lines.length; i += 2) {
      samples.set(source.lines[i], source.lines[i + 1]);
    }
    const all = [...samples.values()].reduce((sum, n) => sum + n, 0);
    const most = Math.max(...samples.values());
    const numbers = source.text.length > 0 ? source.text.map((_, i) => source.firstLine + i) : [...samples.keys()];
    const rows = numbers.map((number) => {
      const met = samples.get(number);
      const cell = element("td", { class: "share", style: `--share: ${(met ?? 0) / most * 100}%` }, met ? percent(met / all * 100) : "");
      return element("tr", {}, cell, element("td", {}, String(number)), element("td", {}, source.text[number - source.firstLine] ?? ""));
    });
    const why = source.text.length > 0 ? [] : [element("p", {}, "The file is not here, or has changed since the program began.")];
    return [
      element("h3", {}, `Source: ${fileName(source.file)}, ${plural(all, "sample", "samples")}`),
      element("p", {}, source.file),
      ...why,
      element("div", { class: "source" }, element("table", {}, element("tbody", {}, ...rows))),
    ];
  });
}

/** Why there are no durations to show. */
function withoutLatency(f) {
  if (f.damage !== undefined) {
    return `Its figures are withheld: ${f.damage}.`;
  }
  if (f.calls > 0) {
    return "Its calls were counted, not timed.";
  }
  return f.cpuNanos === undefined ? "It was never called." : "It ran, and no call of it was seen.";
}

/** The functions at the other ends of edges, most time first. */
function neighbours(title, edges) {
  if (edges.length === 0) {
    return [];
  }
  const whole = edges.reduce((sum, edge) => sum + edge.nanos, 0);
  const rows = edges.toSorted((a, b) => b.nanos - a.nanos).map(({ other, calls, nanos, error }) => {
    const name = other === undefined
      ? "code without probes"
      : element("button", { type: "button", title: other.name }, fittingName(other, NAME_LETTERS));
    other && name.addEventListener("click", () => show(other));
    const off = error < 0 ? "±?" : `±${error > 999 ? ">999" : error}%`;
    const texts = [`${count(calls)} ${off}`, `≈ ${duration(nanos)}`, whole > 0 ? percent(nanos / whole * 100) : "-"];
    return element("tr", {}, element("td", {}, name), ...texts.map((text) => element("td", {}, text)));
  });
  const head = ["Function", "Calls", "Total", "Share"].map((word) => element("th", {}, word));
  return [
    element("h3", {}, title),
    element("table", { class: "calls-table" },
      element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  ];
}

function callsOf(f) {
  if (isCoverage()) {
    return callsShown(f);
  }
  if (!saysCalls(f)) {
    return "-";
  }
  if (f.callsExact) {
    return grouped(f.calls);
  }
  if (f.callsError === undefined) {
    return `at least ${count(f.calls)}`;
  }
  const error = f.calls * f.callsError;
  return `≈ ${count(f.calls)}, with 95 % certainty ${count(Math.max(0, f.calls - error))} to ${count(f.calls + error)}`;
}

function estimate(f, name) {
  const nanos = f[`${name}Nanos`];
  const error = f[`${name}Error`];
  if (nanos === undefined) {
    return "-";
  }
  return (eachTimed(f) ? "" : "≈ ") + duration(nanos) + (error === undefined ? "" : certainty(nanos, error));
}

function certainty(nanos, error) {
  return `, with 95 % certainty ${duration(Math.max(0, nanos * (1 - error)))} to ${duration(nanos * (1 + error))}`;
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

/** As HdrHistogram plots it: 90 %, 99 %, 99.9 % ... at equal distances. */
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
  const step = Math.ceil(64 * nines / (c.x(1) - c.x(0)));
  for (let n = 0; n <= nines; n++) {
    line(c, n / nines, 0, n / nines, 1, "grid");
    if (n < nines && (n % step > 0 || n > nines - step)) {
      continue;
    }
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
