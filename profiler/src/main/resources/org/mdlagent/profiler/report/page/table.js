/* The table of functions. Only rows in view exist as elements. */

const ROW = 28;
const COLLATOR = new Intl.Collator("en");

/** The text that the filter searches. */
const searchText = (f) => [f.name, f.file, f.image].join("\n").toLowerCase();

/** Maximum letters of a name without a column of fixed width. */
const NAME_LETTERS = 60;

/** Minimum width of names in pixels: in a narrow table, which lacks the small print after numbers, and in a wide one. */
const NAME_WIDTH = { narrow: 100, wide: 170 };
const NARROW = 640;
const LETTER_WIDTH = 7.5;
const PADDING = 20;

/** The name, or a shorter form of it that fits; a name that is still too long keeps both ends. */
function fittingName({ name, shorter = [] }, letters) {
  const fits = [name, ...shorter].find((form) => [...form].length <= letters);
  if (fits !== undefined) {
    return fits;
  }
  const shortest = [...(shorter.at(-1) ?? name)];
  const head = Math.floor((letters - 1) / 2);
  return `${shortest.slice(0, head).join("")}…${shortest.slice(shortest.length - (letters - 1 - head)).join("")}`;
}

/** Empty for an invalid pattern. */
function patternOf(text) {
  try {
    return new RegExp(text, "im");
  } catch {
    return null;
  }
}

class Table {
  rows = [];
  words = [];
  pattern = null;
  sort = null;
  descending = true;
  chosen = -1;
  shown = new Set();
  letters = 0;

  moves = {
    ArrowDown: () => this.chosen + 1,
    ArrowUp: () => this.chosen - 1,
    PageDown: () => this.chosen + this.page(),
    PageUp: () => this.chosen - this.page(),
    Home: () => 0,
    End: () => this.rows.length - 1,
  };

  /**
   * Columns have a title and draw a function into a cell; rows can be sorted by columns with a key. A column needs a
   * `width`, or two of them for a wide and a narrow table; its `rank` says which columns come first if there is no
   * room for all, and `has` whether a function has a value. The first column, of names, gets the remaining width. The
   * table has the functions that are `wanted`, lets `decorate` complete their rows, opens one with `show`, describes
   * the share of matching functions by `ofAll`, and sorts `by` the values of a key.
   */
  constructor(columns, { wanted, decorate, show, ofAll = () => "", by = (f, key) => f[key] }) {
    Object.assign(this, { columns, wanted, decorate, show, ofAll, by, selected: () => {} });
    byId("head").append(...columns.map((column) => this.head(column)));
    byId("grid").addEventListener("scroll", () => this.draw(), { passive: true });
    byId("filter").addEventListener("input", () => this.search());
    byId("regex").addEventListener("change", () => this.search());
    new ResizeObserver(() => this.layOut()).observe(byId("grid"));
  }

  head({ key, title, about }) {
    if (!key) {
      return element("div", { class: "cell", role: "columnheader", title: about }, title);
    }
    const button = element("button", { type: "button", tabindex: "-1" }, title);
    button.addEventListener("click", () => this.sortBy(key));
    return element("div", { class: "cell", role: "columnheader", "data-key": key, "data-title": title }, button);
  }

  sortBy(key) {
    this.descending = this.sort === key ? !this.descending : key !== "name";
    this.sort = key;
    byId("grid").scrollTop = 0;
    this.select();
  }

  /** For all words, or for a regular expression; the lines are name, file and image. */
  search() {
    const { value } = byId("filter");
    const isPattern = byId("regex").checked && value !== "";
    this.words = isPattern ? [] : value.toLowerCase().split(/\s+/).filter((word) => word);
    this.pattern = isPattern ? patternOf(value) : null;
    byId("filter").setAttribute("aria-invalid", isPattern && !this.pattern);
    byId("grid").scrollTop = 0;
    this.select();
  }

  get searches() {
    return this.words.length > 0 || this.pattern !== null;
  }

  matches({ searched }) {
    return this.pattern ? this.pattern.test(searched) : this.words.every((word) => searched.includes(word));
  }

  compare(a, b) {
    const [x, y] = [a, b].map((f) => this.by(f, this.sort));
    const known = (x === undefined) - (y === undefined);
    const order = this.sort === "name" ? COLLATOR.compare(x, y) : x - y;
    return known || (this.descending ? -order : order) || 0;
  }

  /** Selects the rows again; the chosen function stays chosen. */
  select() {
    const chosen = this.rows[this.chosen];
    this.rows = data.functions.filter((f) => this.wanted(f) && this.matches(f));
    if (this.sort) {
      this.rows.sort((a, b) => this.compare(a, b));
    }
    this.chosen = this.rows.indexOf(chosen);
    byId("rows").style.height = `${Math.max(1, this.rows.length) * ROW}px`;
    byId("grid").setAttribute("aria-rowcount", this.rows.length + 1);
    const all = plural(data.functions.length, "function", "functions");
    byId("count").textContent = byId("filter").ariaInvalid === "true"
      ? "not a regular expression"
      : `${grouped(this.rows.length)} of ${all}${this.searches ? this.ofAll(this.rows) : ""}`;
    this.markSorted();
    this.layOut();
    this.selected();
  }

  markSorted() {
    for (const cell of byId("head").querySelectorAll("[data-key]")) {
      const { key, title } = cell.dataset;
      if (key === this.sort) {
        cell.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      } else {
        cell.removeAttribute("aria-sort");
      }
      cell.firstChild.textContent = title + (key === this.sort ? (this.descending ? " ▾" : " ▴") : "");
    }
  }

  /** Selects the columns that have a value and for which there is room. */
  layOut() {
    const grid = byId("grid");
    const narrow = grid.clientWidth <= NARROW;
    const width = (column) => column.width[narrow ? 1 : 0];
    const least = narrow ? NAME_WIDTH.narrow : NAME_WIDTH.wide;
    const [names, ...others] = this.columns;
    let room = grid.clientWidth - least;
    const chosen = new Set();
    for (const column of others.toSorted((a, b) => a.rank - b.rank)) {
      const has = column.has ?? ((f) => f[column.key] !== undefined);
      if (width(column) <= room && data.functions.some(has)) {
        chosen.add(column);
        room -= width(column);
      }
    }
    const shown = others.filter((column) => chosen.has(column));
    this.shown = new Set([names, ...shown]);
    this.letters = Math.floor((least + room - PADDING) / LETTER_WIDTH);
    grid.style.setProperty(
      "--columns", ["minmax(0, 1fr)", ...shown.map((column) => `${width(column)}px`)].join(" "));
    [...byId("head").children].forEach((cell, i) => {
      cell.hidden = !this.shown.has(this.columns[i]);
    });
    this.draw();
  }

  /** The positions of the first row drawn, and of the one after the last. */
  range() {
    const grid = byId("grid");
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - 5);
    return [first, Math.min(this.rows.length, first + Math.ceil(grid.clientHeight / ROW) + 10)];
  }

  inView() {
    return this.rows.slice(...this.range());
  }

  draw() {
    const grid = byId("grid");
    const [first, last] = this.range();
    const drawn = this.inView().map((f, i) => this.row(f, first + i));
    if (this.rows.length === 0) {
      drawn.push(element("div", { id: "empty" }, "No function matches."));
    }
    byId("rows").replaceChildren(...drawn);
    if (this.chosen >= first && this.chosen < last) {
      grid.setAttribute("aria-activedescendant", `row-${this.chosen}`);
    } else {
      grid.removeAttribute("aria-activedescendant");
    }
  }

  row(f, index) {
    const line = element("div", {
      class: "row",
      id: `row-${index}`,
      role: "row",
      "aria-rowindex": index + 2,
      "aria-selected": index === this.chosen,
      style: `top: ${index * ROW}px`,
    });
    for (const column of this.columns) {
      const cell = element("div", { class: "cell", role: "gridcell" });
      cell.hidden = !this.shown.has(column);
      column.draw(f, cell, this.letters);
      line.append(cell);
    }
    line.firstChild.title = f.name;
    this.decorate(line, f);
    line.addEventListener("click", () => this.choose(index, true));
    return line;
  }

  choose(index, open = !byId("detail").hidden) {
    if (this.rows.length === 0) {
      return;
    }
    this.chosen = Math.min(this.rows.length - 1, Math.max(0, index));
    const grid = byId("grid");
    const top = this.chosen * ROW;
    grid.scrollTop = Math.max(top - grid.clientHeight + 2 * ROW, Math.min(grid.scrollTop, top));
    this.draw();
    if (open) {
      this.show(this.rows[this.chosen]);
    }
  }

  /** Rows that a page key skips. */
  page() {
    return Math.max(1, Math.floor(byId("grid").clientHeight / ROW) - 2);
  }

  /** Handles a key, and returns whether it was one for the table. */
  press({ key, target }) {
    const writing = target.id === "filter";
    // After a click outside of any element, keys still go to the table.
    if (target.id !== "grid" && target !== document.body && !writing) {
      return false;
    }
    if (key in this.moves && (!writing || key.startsWith("Arrow"))) {
      this.choose(this.moves[key]());
    } else if (key === "Enter") {
      this.choose(this.chosen, true);
    } else {
      return false;
    }
    return true;
  }
}

/** Gives a page its keys; `take` returns whether it handled one. Keys with modifiers are the browser's. */
function followKeys(take) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const writing = event.target.id === "filter";
    if (event.key === "/" && !writing) {
      byId("filter").focus();
    } else if (!take(event, writing)) {
      return;
    }
    event.preventDefault();
  });
}

/** Opens the panel for a function: empty except for its name. */
function openDetail(f, close) {
  const button = element("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  button.addEventListener("click", close);
  const detail = byId("detail");
  detail.hidden = false;
  detail.replaceChildren(button, element("h2", {}, f.name));
  return detail;
}
