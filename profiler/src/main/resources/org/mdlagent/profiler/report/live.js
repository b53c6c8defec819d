
/* A page that is served: it asks for what is new, again and again, and stays as its reader has left it. */

const NEWS_MILLIS = 1000;
/** News that rates go back: hot functions are counted in windows, seconds apart. */
const RATE_NEWS = 10;

const live = { paused: false, held: false, answered: new Date(), counts: [] };

/** Functions that are not in the news were not called meanwhile, and keep what is known of them. */
function merge(news) {
  const { functions } = data;
  news.positions.forEach((position, i) => Object.assign(functions[position] ??= {}, news.functions[i]));
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

/** The same path among those that were read since. */
function again(path) {
  if (!path || path === flame.root) {
    return path;
  }
  return again(path.from)?.children.find((child) => child.name === path.name && child.image === path.image);
}

function update(news) {
  const { zoomed, chosen } = flame;
  merge(news);
  countCalls();
  read();
  flame.zoomed = again(zoomed) ?? flame.root;
  flame.chosen = again(chosen) ?? null;
  table.select();
  drawFlame();
  drawMetrics();
  redrawDetail();
}

function redrawDetail() {
  const detail = byId("detail");
  if (detail.hidden) {
    return;
  }
  const { scrollTop } = detail;
  const focused = [...detail.querySelectorAll("button")].indexOf(document.activeElement);
  show(view.shown);
  detail.scrollTop = scrollTop;
  detail.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
}

async function follow() {
  // Whoever looks elsewhere costs the server nothing.
  if (!live.paused && !document.hidden) {
    try {
      const answer = await fetch(`${data.source}?since=${data.look}`, { signal: AbortSignal.timeout(20 * NEWS_MILLIS) });
      if (!answer.ok) {
        throw new Error(await answer.text());
      }
      const news = await answer.json();
      live.answered = new Date();
      // What is pressed must still be there when it is released; the next answer holds these news, too.
      live.held || live.paused || update(news);
      showState("");
    } catch {
      showState(`no answer since ${live.answered.toLocaleTimeString()}`);
    }
  }
  data.runs && setTimeout(follow, NEWS_MILLIS);
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
  showState("");
  countCalls();
  data.runs && setTimeout(follow, NEWS_MILLIS);
}

startLive();
