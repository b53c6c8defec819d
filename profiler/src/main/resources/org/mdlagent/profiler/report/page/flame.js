/* The flame graph: call paths, as wide as their time, from callers to callees or the other way round. */

const FRAME = 20;
const COLOURS = [[203, 80], [41, 95], [164, 50], [327, 45], [25, 85], [56, 70], [265, 45]];
const flame = { root: null, zoomed: null, chosen: null, upwards: false, reversed: false, wall: false };

/** The frame of time off the processors. */
const WAITING = -1;
const frameOf = (frame) => (frame === WAITING ? { name: "[waiting]", image: "" } : data.frames[frame]);

/** Whether the time off the processors is known. */
const knowsWaits = () => data.waits?.length > 0;

const beginning = () => ({ children: [], nanos: 0, self: 0, x: 0, depth: 0 });

/** A path that extends another one, without time yet. */
function goOn(from, frame) {
  const function_ = frameOf(frame);
  function_.searched ??= searchText(function_);
  const path = { ...function_, frame, from, nanos: 0, self: 0, x: 0, depth: from.depth + 1, children: [] };
  from.children.push(path);
  return path;
}

/** Adds the time off the processors: a frame of its own on each path on which threads have waited. */
function withWaits(paths) {
  const own = [...data.waits];
  paths.forEach((path, i) => {
    path.nanos += data.waits[i];
    path.from.from && (own[path.from.number] -= data.waits[i]);
  });
  const waiting = paths.filter((_, i) => own[i] > 0);
  return [...paths, ...waiting.map((path) => Object.assign(goOn(path, WAITING), { nanos: own[path.number], self: own[path.number] }))];
}

/** In the data, a path is four numbers: frame, parent path, total time, and self time. */
function readPaths() {
  const paths = [];
  const root = beginning();
  for (let i = 0; i < data.paths.length; i += 4) {
    const [frame, parent, nanos, self] = data.paths.slice(i, i + 4);
    paths.push(Object.assign(goOn(parent < 0 ? root : paths[parent], frame), { nanos, self, number: i / 4 }));
  }
  const zoomed = flame.reversed ? undefined : paths[flame.zoomed?.number];
  const all = flame.wall && knowsWaits() ? withWaits(paths) : paths;
  flame.root = flame.reversed ? reversed(all) : root;
  flame.root.nanos = flame.root.children.reduce((sum, path) => sum + path.nanos, 0);
  place(flame.root);
  flame.zoomed = zoomed?.nanos > 0 ? zoomed : flame.root;
  flame.images = imagesOf(all);
  flame.count = paths.filter(({ nanos }) => nanos > 0).length;
}

/** The time in each image's own code, most first: in functions with probes, and in other code. */
function imagesOf(paths) {
  const images = Map.groupBy(paths.filter(({ self }) => self > 0), (path) => `${hasProbes(path)} ${path.image || path.name}`);
  return [...images.values()]
    .map((own) => ({ path: own[0], nanos: own.reduce((sum, { self }) => sum + self, 0) }))
    .toSorted((a, b) => b.nanos - a.nanos);
}

/** The same time by the function that spent it itself, followed by its callers. */
function reversed(paths) {
  const root = beginning();
  for (const path of paths.filter(({ self }) => self > 0)) {
    let at = root;
    for (let caller = path; caller.from; caller = caller.from) {
      at.next ??= new Map();
      at.next.has(caller.frame) || at.next.set(caller.frame, goOn(at, caller.frame));
      at = at.next.get(caller.frame);
      at.nanos += path.self;
    }
    at.self += path.self;
  }
  return root;
}

/** Most time first. */
function place(path) {
  path.children.sort((a, b) => b.nanos - a.nanos);
  let { x } = path;
  for (const child of path.children) {
    child.x = x;
    x += child.nanos;
    place(child);
  }
}

const IMAGES = [];

/** Whether its calls are counted. Functions of the table have no frame. */
const hasProbes = (path) => path.frame === undefined || path.function !== undefined;

/** One hue per image, pale for code without probes. */
function colourOf(path) {
  if (path.frame === WAITING) {
    return "hsl(0 0% 85%)";
  }
  IMAGES.includes(path.image) || IMAGES.push(path.image);
  const [hue, saturation] = COLOURS[IMAGES.indexOf(path.image) % COLOURS.length];
  const shade = [...path.name].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 97, 7) % 17;
  return `hsl(${hue} ${hasProbes(path) ? saturation : saturation / 4}% ${(hasProbes(path) ? 66 : 76) + shade / 2}%)`;
}

/** Time of the paths that contain a searched function, each path counted once. */
function matchedNanos(paths) {
  return paths.reduce((sum, path) => sum + (table.matches(path) ? path.nanos : matchedNanos(path.children)), 0);
}

const IMAGES_SHOWN = 4;

/** Code in no image is named by its description. */
function imageName(path) {
  const name = path.image ? fileName(path.image) : path.name;
  return hasProbes(path) || !path.image ? name : `${name}, no probes`;
}

const ofAll = (path) => percent(path.nanos / flame.root.nanos * 100);

function describePath(path) {
  if (path === flame.root) {
    const order = flame.reversed ? "Time by the function that spent it, its callers next to it" : "All paths";
    const time = flame.wall && knowsWaits() ? " of all threads, on processors and waiting" : "";
    return [`${order}: ${duration(path.nanos)}${time}. Click a frame to zoom in, Esc to zoom out.`];
  }
  const own = flame.reversed ? "" : `; by itself ${duration(path.self)}`;
  return [element("b", {}, path.name), `${hasProbes(path) || path.frame === WAITING ? "" : " (no probes)"} ${duration(path.nanos)}, ${ofAll(path)}${own}${view.aboutPath(path)}`];
}

function drawFlame() {
  const width = byId("frames").clientWidth;
  const { root, zoomed } = flame;
  const scale = width / Math.max(1, zoomed.nanos);
  const drawn = [];
  let deepest = 0;
  const draw = (path, above) => {
    const x = above ? 0 : (path.x - zoomed.x) * scale;
    const w = above ? width : path.nanos * scale;
    if (w < 0.6) {
      return;
    }
    deepest = Math.max(deepest, path.depth);
    drawn.push([path, x, w, above]);
    above || path.children.forEach((child) => draw(child, false));
  };
  for (let path = zoomed.from; path?.from; path = path.from) {
    draw(path, true);
  }
  (zoomed === root ? root.children : [zoomed]).forEach((path) => draw(path, false));
  const y = (path) => (flame.upwards ? deepest - path.depth : path.depth - 1) * FRAME;
  const picture = svg("svg", { width, height: deepest * FRAME, role: "tree" },
    ...drawn.map(([path, x, w, above]) => frame(path, x, y(path), w, above)));
  byId("frames").replaceChildren(picture);
  byId("frames").classList.toggle("upwards", flame.upwards);
  byId("path").replaceChildren(...describePath(flame.chosen ?? zoomed));
  byId("images")?.replaceChildren(...flame.images.slice(0, IMAGES_SHOWN).map(({ path, nanos }) => element("span", {},
    element("i", { style: `background: ${view.colourPath(path)}` }), `${imageName(path)} ${percent(nanos / flame.root.nanos * 100)}`)));
  byId("flip").setAttribute("aria-pressed", flame.upwards);
  byId("reverse").setAttribute("aria-pressed", flame.reversed);
  byId("wall")?.setAttribute("aria-pressed", flame.wall);
  byId("wall")?.toggleAttribute("hidden", !knowsWaits());
  byId("count").textContent = table.searches
    ? `${percent(matchedNanos(root.children) / root.nanos * 100)} matches`
    : `${duration(root.nanos)} in ${plural(flame.count, "path", "paths")}`;
}

function frame(path, x, y, w, above) {
  const kinds = [above ? "above" : "", table.searches && !table.matches(path) ? "other" : "", path === flame.chosen ? "chosen" : ""];
  const letters = Math.floor((w - 8) / 6.7);
  const group = svg("g", { class: kinds.join(" "), role: "treeitem", "aria-label": path.name },
    svg("title", {}, `${path.name}\n${duration(path.nanos)}, ${ofAll(path)}${view.aboutPath(path)}`),
    svg("rect", { x, y, width: w, height: FRAME, fill: view.colourPath(path) }),
    svg("text", { x: x + 4, y: y + 14 }, letters > 2 ? fittingName(path, letters) : ""));
  group.addEventListener("click", () => {
    flame.chosen = path;
    zoom(path);
  });
  group.addEventListener("mouseenter", () => byId("path").replaceChildren(...describePath(path)));
  return group;
}

function zoom(path) {
  flame.zoomed = path;
  if (!byId("detail").hidden) {
    openPath();
  }
  drawFlame();
}

function openPath() {
  const f = data.functions[flame.chosen?.function];
  f && show(f);
  drawFlame();
}

function choosePath(path) {
  flame.chosen = path;
  drawFlame();
}

function sibling(step) {
  const all = flame.chosen?.from.children ?? [];
  choosePath(all[all.indexOf(flame.chosen) + step] ?? flame.chosen);
}

function deeper() {
  choosePath(flame.chosen ? flame.chosen.children[0] ?? flame.chosen : flame.zoomed.children[0]);
}

function shallower() {
  choosePath(flame.chosen?.from.from ? flame.chosen.from : flame.chosen);
}

function flip() {
  flame.upwards = !flame.upwards;
  drawFlame();
}

function reverse() {
  flame.reversed = !flame.reversed;
  flame.chosen = null;
  readPaths();
  drawFlame();
}

/** CPU time, or also the time off the processors. */
function switchWall() {
  flame.wall = !flame.wall;
  flame.chosen = null;
  readPaths();
  drawFlame();
  keepPlace();
}

KEPT.push({
  keep: (put) => put("wall", flame.wall && "on"),
  take: (place) => {
    flame.wall = place.has("wall");
    readPaths();
  },
});

VIEWS.flame = {
  keys: [
    ["/"], " search ", ["↑"], ["↓"], ["←"], ["→"], " choose ", ["Enter"], " zoom in ", ["Esc"], " zoom out ", ["o"], " open ",
    ["i"], " upside down ", ["r"], " callers ", ["w"], " wall clock"],
  holds: () => data.paths.length > 0,
  draw: drawFlame,
  takes: {
    ArrowDown: () => (flame.upwards ? shallower() : deeper()),
    ArrowUp: () => (flame.upwards ? deeper() : shallower()),
    ArrowLeft: () => sibling(-1),
    ArrowRight: () => sibling(1),
    Enter: () => flame.chosen && zoom(flame.chosen),
    o: openPath,
    i: flip,
    r: reverse,
    w: () => knowsWaits() && switchWall(),
    Escape: () => (byId("detail").hidden ? zoom(flame.zoomed.from ?? flame.root) : closeDetail()),
  },
};
byId("flip").addEventListener("click", flip);
byId("reverse").addEventListener("click", reverse);
byId("wall")?.addEventListener("click", switchWall);
