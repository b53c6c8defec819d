/* The views of a page, of which one is shown. Keys in words are element names in brackets, as in a keyboard's picture. */

/** What each is called in the page: its `keys` in words, those that it `takes`, whether it `holds` something, and how it is drawn. */
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

/** Offers the views that hold something. */
function offerViews() {
  const offered = Object.keys(VIEWS).filter((name) => {
    byId(`show-${name}`).hidden = !VIEWS[name].holds();
    return VIEWS[name].holds();
  });
  byId("views").hidden = offered.length < 2;
}

function closeDetail() {
  byId("detail").hidden = true;
  byId(view.name).focus();
  drawView();
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
}
