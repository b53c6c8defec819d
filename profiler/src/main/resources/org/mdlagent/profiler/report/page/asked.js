/* The views of a served page that need more data than updates contain; it is requested while they are shown. */

/** Functions whose time is requested: more than are shown, because their order changes. */
const ASKED = 2 * PHASES;

/** The known time of functions: which functions, and the first slice that is not known. */
const spent = { known: new Set(), next: 0 };

/** Requests one thing at a time: at once or, while the program runs, some time after the last answer. */
function asker() {
  const state = { busy: false, after: 0 };
  return async (path, atOnce, take) => {
    if (state.busy || (!atOnce && (live.paused || !data.runs || performance.now() < state.after))) {
      return;
    }
    state.busy = true;
    const began = performance.now();
    let news = null;
    try {
      const answer = await fetch(`${data.source}/${path}`, { signal: AbortSignal.timeout(20 * NEWS_MILLIS) });
      news = answer.ok ? await answer.json() : null;
    } catch {
      // The page already says that there is no answer.
    }
    state.busy = false;
    state.after = performance.now() + Math.max(NEWS_MILLIS / 2, PATIENCE * (performance.now() - began));
    news && !live.held && take(news);
  };
}

/** Shifts positions, which are every third number starting with the first, by `by`. */
const shifted = (numbers, by) => numbers.map((n, i) => (i % 3 === 0 ? n + by : n));
/** Shifted after removing entries below the first `many` positions. */
const withoutFirst = (numbers, many) => shifted(numbers.filter((_, i) => numbers[i - i % 3] >= many), -many);

const askSpent = asker();
const askCalls = asker();

function forgetSpent(wanted) {
  data.functions.forEach((f, i) => (f.spent = wanted.has(i) ? [] : undefined));
  Object.assign(spent, { known: wanted, next: 0 });
  phases.columns = [];
}

function addSpent({ columns, functions, next }) {
  const known = phases.columns.length / 2;
  const excess = Math.max(0, known + columns.length / 2 - SLICES);
  functions.forEach((news) => data.functions[news.position].spent.push(...shifted(news.spent, known)));
  phases.columns = [...phases.columns, ...columns].slice(2 * excess);
  phases.column -= excess;
  excess > 0 && spent.known.forEach((i) => (data.functions[i].spent = withoutFirst(data.functions[i].spent, excess)));
  spent.next = next;
}

/** When new functions are shown, all are requested from the beginning. */
function drawSpent() {
  if (showsCpu()) {
    forgetSpent(new Set());
    drawPhases();
    return;
  }
  if (spent.known.size === 0) {
    phases.columns = [];
  }
  drawPhases();
  const positions = new Map(data.functions.map((f, i) => [f, i]));
  const wanted = table.rows.slice(0, ASKED).map((f) => positions.get(f));
  const strange = wanted.slice(0, PHASES).some((position) => !spent.known.has(position));
  const asked = strange ? wanted : [...spent.known];
  askSpent(`spent.json?functions=${asked}&from=${strange ? 0 : spent.next}`, strange, (news) => {
    strange && forgetSpent(new Set(wanted));
    addSpent(news);
    view.name === "phases" && drawSpent();
  });
}

function drawLastCalls() {
  drawCalls();
  askCalls("calls.json", data.calls === undefined, ({ calls }) => {
    data.calls = calls;
    readCalls();
    view.name === "calls" && drawCalls();
  });
}

/** What the address asked for at first. */
const FIRST_PLACE = new URLSearchParams(location.hash.slice(1));

const askSamples = asker();

/** Requests the samples again, for the strip and its parts. */
function askStrip() {
  const first = part.samples.length === 0;
  askSamples("samples.json", !part.asked, ({ frames, paths, nanosPerSample, sampledThreads, samples }) => {
    const threads = data.sampledThreads?.length;
    Object.assign(data, { nanosPerSample, sampledThreads, samples });
    readSamples({ frames, paths });
    if (first) {
      startPart();
      returnToPart(FIRST_PLACE);
    } else {
      threads === data.sampledThreads.length || offerThreads();
      isPart() && choosePart(part.from, part.to);
    }
    byId("part").hidden || drawStrip();
  });
  part.asked = true;
}

Object.assign(VIEWS.phases, { holds: () => data.rows.length > 0, draw: drawSpent });
Object.assign(VIEWS.calls, { holds: () => !data.exact && data.rows.length > 0, draw: drawLastCalls });
offerViews();
