
/* A served page: it polls for updates and keeps the state its reader has chosen. */

const NEWS_MILLIS = 1000;
/** Back-off: after a slow answer, the next poll waits this many times as long as the answer took. */
const PATIENCE = 3;
/** Updates that rates cover: hot functions are counted in slices, seconds apart. */
const RATE_NEWS = 10;

const live = { paused: false, held: false, answered: new Date(), counts: [] };

/** Time slices shown: as many as a session keeps. */
const SLICES = 480;

/** Functions that are not in an update were not called meanwhile, and keep their data and histograms. */
function merge(news) {
  const { functions } = data;
  news.positions.forEach((position, i) => Object.assign(functions[position] ??= { latency: [] }, news.functions[i]));
  Object.assign(data, news, { functions });
}

function countCalls() {
  live.counts.push({ nanos: data.elapsedNanos, calls: data.functions.map((f) => f.calls) });
  if (live.counts.length > RATE_NEWS) {
    live.counts.shift();
  }
  const [before] = live.counts;
  const seconds = (data.elapsedNanos - before.nanos) / 1e9;
  if (seconds > 0) {
    data.functions.forEach((f, i) => (f.rate = Math.max(0, f.calls - (before.calls[i] ?? 0)) / seconds));
  }
}

/** The same path in newly read data. */
function again(path) {
  if (!path?.from) {
    return path && flame.root;
  }
  return again(path.from)?.children.find((child) => child.name === path.name && child.image === path.image);
}

function update(news) {
  const { zoomed, chosen } = flame;
  restoreWhole();
  merge(news);
  countCalls();
  keepWhole();
  isPart() && takePart();
  read();
  flame.zoomed = again(zoomed) ?? flame.root;
  flame.chosen = again(chosen) ?? null;
  table.select();
  drawView();
  redrawDetail();
  askStrip();
}

function redrawDetail() {
  const detail = byId("detail");
  if (detail.hidden) {
    return;
  }
  const { scrollTop } = detail;
  const focused = [...detail.querySelectorAll("button, .heat")].indexOf(document.activeElement);
  show(view.shown);
  detail.scrollTop = scrollTop;
  detail.querySelectorAll("button, .heat")[focused]?.focus({ preventScroll: true });
}

/** Appends an update to a function's heat map. */
function addSlices(f, news) {
  const known = (f.columns ?? []).length / 2;
  f.columns = [...(f.columns ?? []), ...news.columns];
  f.heat = [...(f.heat ?? []), ...shifted(news.heat, known)];
  f.nextSlice = news.next;
  const excess = f.columns.length / 2 - SLICES;
  if (excess > 0) {
    f.columns = f.columns.slice(2 * excess);
    f.heat = withoutFirst(f.heat, excess);
  }
}

/** Requests the time slices that a function's heat map lacks. */
async function readHeat(f) {
  if (f.reading) {
    return;
  }
  f.reading = true;
  try {
    const answer = await fetch(
      `${data.source}/heat.json?function=${data.functions.indexOf(f)}&from=${f.nextSlice ?? 0}`,
      { signal: AbortSignal.timeout(20 * NEWS_MILLIS) });
    const news = answer.ok ? await answer.json() : { columns: [] };
    if (news.columns.length > 0) {
      addSlices(f, news);
      view.shown === f && byId("heat") && !live.held && drawHeat(f);
    }
  } catch {
    // The page already says that there is no answer; the next answer has these slices as well.
  } finally {
    f.reading = false;
  }
}

/** Positions of the functions whose histograms are visible. */
function inView() {
  const shown = new Set([...table.inView(), ...(byId("detail").hidden ? [] : [view.shown])]);
  return data.functions.flatMap((f, i) => (shown.has(f) ? [i] : []));
}

async function follow() {
  // A hidden page costs the server nothing.
  const asked = performance.now();
  if (!live.paused && !document.hidden) {
    try {
      const answer = await fetch(`${data.source}/profile.json?since=${data.look}&shown=${inView()}`, { signal: AbortSignal.timeout(20 * NEWS_MILLIS) });
      if (!answer.ok) {
        throw new Error(await answer.text());
      }
      const news = await answer.json();
      live.answered = new Date();
      // A pressed element must still exist when it is released; the next answer has this update as well.
      live.held || live.paused || update(news);
      showState("");
    } catch {
      showState(`no answer since ${live.answered.toLocaleTimeString()}`);
    }
  }
  data.runs && setTimeout(follow, Math.max(NEWS_MILLIS, PATIENCE * (performance.now() - asked)));
}

function showState(trouble) {
  byId("state").textContent = trouble || (data.runs ? (live.paused ? "paused" : "live") : "ended");
  byId("pause").hidden = !data.runs;
}

function pause() {
  live.paused = !live.paused;
  byId("pause").setAttribute("aria-pressed", live.paused);
  showState("");
}

function startLive() {
  const button = element("button", { id: "pause", type: "button", "aria-pressed": "false", title: "Key: p" }, "pause");
  button.addEventListener("click", pause);
  byId("program").after(
    element("span", { id: "live" }, element("output", { id: "state" }), button, element("a", { href: "/" }, "all programs")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "p" && event.target.id !== "filter" && !event.ctrlKey && !event.altKey && !event.metaKey) {
      pause();
    }
  });
  addEventListener("pointerdown", () => (live.held = true));
  addEventListener("pointerup", () => (live.held = false));
  addEventListener("pointercancel", () => (live.held = false));
  view.opened = readHeat;
  showState("");
  countCalls();
  askStrip();
  data.runs && setTimeout(follow, NEWS_MILLIS);
}

startLive();
