/* The views of a page, of which one is shown. In key descriptions, element names in brackets become key caps. */

/**
 * Each view: the description of its `keys`, the keys that it `takes`, whether it `holds` something, and how it is
 * drawn.
 */
const VIEWS = { grid: { keys: [...byId("keys").childNodes], takes: {}, holds: () => true, draw: () => {} } };

const words = (keys) => keys.map((key) => (Array.isArray(key) ? element("kbd", {}, key[0]) : key));

function drawView() {
  VIEWS[view.name].draw();
}

function switchView(to) {
  view.name = to;
  for (const name of Object.keys(VIEWS)) {
    byId(name).hidden = name !== to;
    byId(`show-${name}`).setAttribute("aria-pressed", name === to);
  }
  byId("also")?.toggleAttribute("hidden", to !== "grid");
  byId("keys").replaceChildren(...words(VIEWS[to].keys));
  byId(to).focus();
  table.select();
  drawView();
}

/** Offers the views that have something to show. */
function offerViews() {
  const offered = Object.keys(VIEWS).filter((name) => {
    byId(`show-${name}`).hidden = !VIEWS[name].holds();
    return VIEWS[name].holds();
  });
  byId("views").hidden = offered.length < 2;
}

/** Other contents of the address: `keep` puts one there, and `take` shows it. */
const KEPT = [];

/** The page's address describes what is shown, so that it can be saved and shared. */
function keepPlace() {
  const place = new URLSearchParams();
  const put = (name, value) => value && place.set(name, value);
  put("view", view.name !== "grid" && view.name);
  put("sort", table.sort && (table.descending ? "-" : "") + table.sort);
  put("filter", byId("filter").value);
  put("regex", byId("regex").checked && "on");
  KEPT.forEach(({ keep }) => keep(put));
  put("function", !byId("detail").hidden && view.shown?.name);
  history.replaceState(null, "", `#${place}`);
}

/** Shows what the address asks for; parts that this page lacks are left out. */
function takePlace() {
  if (location.hash === "") {
    return;
  }
  const place = new URLSearchParams(location.hash.slice(1));
  byId("filter").value = place.get("filter") ?? "";
  byId("regex").checked = place.has("regex");
  const [, down, key] = /^(-?)(.*)$/.exec(place.get("sort") ?? "");
  if (table.columns.some((column) => column.key && column.key === key)) {
    table.sort = key;
    table.descending = down === "-";
  }
  KEPT.forEach(({ take }) => take(place));
  table.search();
  const name = place.get("view");
  if (Object.hasOwn(VIEWS, name ?? "") && VIEWS[name].holds()) {
    switchView(name);
  }
  const shown = data.functions.find((f) => f.name === place.get("function"));
  if (shown) {
    show(shown);
  }
}

function closeDetail() {
  byId("detail").hidden = true;
  byId(view.name).focus();
  drawView();
  keepPlace();
}

function takeKey(event, writing) {
  const { takes } = VIEWS[view.name];
  if (!writing && event.key in takes && !event.target.closest("#detail, button, summary")) {
    takes[event.key]();
  } else if (event.key === "Escape") {
    closeDetail();
  } else {
    return view.name === "grid" && table.press(event);
  }
  return true;
}

function startViews() {
  byId("filter").addEventListener("input", drawView);
  byId("regex").addEventListener("change", drawView);
  byId("theme").addEventListener("click", switchTheme);
  followKeys(takeKey);
  for (const name of Object.keys(VIEWS)) {
    byId(`show-${name}`).addEventListener("click", () => switchView(name));
    name === "grid" || new ResizeObserver(drawView).observe(byId(name));
  }
  addEventListener("resize", () => byId("detail").hidden || show(view.shown));
  // Its keys work at once.
  byId("grid").focus();
  // After all scripts of the page have added their views.
  addEventListener("DOMContentLoaded", () => {
    takePlace();
    table.selected = keepPlace;
  });
}
